"""`aop run` and `aop runs …` as typer sees them. What they do is in `cli.commands`."""

# ruff: noqa: PLC0415 - as in `cli.app`: a command imports what it needs when it is run

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import typer

from cli.app_options import HELP_OPTIONS, Shared
from cli.arguments import one_of, read_lang
from cli.extras import extra
from cli.trouble import Trouble

if TYPE_CHECKING:
    from aop_runtime.options import Format

FORMATS: Final[tuple[Format, ...]] = ("text", "jsonl")


def _many(flag: str, metavar: str, text: str) -> list[str] | None:
    found: list[str] | None = typer.Option(None, flag, metavar=metavar, help=text)
    return found


def _format(word: str | None) -> Format:
    return one_of("--format", word, FORMATS, "text")


def run_command(shared: Shared) -> Callable[..., int]:
    attachments = _many("--attach", "FILE", shared.text("run-attach"))
    features = _many("--feature", "NAME", shared.text("run-feature"))
    allowed = _many("--allow", "PATTERN", shared.text("run-allow"))
    limits = _many("--limit", "NAME=N", shared.text("run-limit"))

    place: str | None = typer.Argument(
        None, metavar="DOCUMENT|PROCEDURE", help=shared.text("run-target"), show_default=False
    )

    def command(
        *,
        target: str | None = place,
        input: str | None = shared.option("--input", "TEXT|@FILE|-", "run-input"),
        attach: list[str] | None = attachments,
        model: str | None = shared.option("--model", "PROVIDER:NAME", "run-model"),
        script: str | None = shared.option("--script", "FILE", "run-script"),
        mcp_config: str | None = shared.option("--mcp-config", "FILE", "run-mcp-config", "mcp.json"),
        permissions: str | None = shared.option("--permissions", "FILE", "run-permissions", ".aop/permissions.yaml"),
        plugins: str | None = shared.option("--plugins", "FOLDER", "run-plugins"),
        feature: list[str] | None = features,
        allow: list[str] | None = allowed,
        limit: list[str] | None = limits,
        catalog: list[str] | None = shared.catalog,
        org: list[str] | None = shared.org,
        library: str | None = shared.option("--library", "FOLDER", "run-library"),
        runs: str | None = shared.option("--runs", "FOLDER", "run-runs", ".aop/runs"),
        dry_run: bool = shared.flag("--dry-run", "run-dry-run"),
        resume: str | None = shared.option("--resume", "RUN", "run-resume"),
        format: str | None = shared.choice("--format", FORMATS, "format"),
        lang: str | None = shared.language,
    ) -> int:
        from aop_runtime.options import RunOptions

        options = RunOptions(
            input=input,
            attach=tuple(attach or ()),
            model=model,
            script=script,
            mcp_config=mcp_config,
            permissions=permissions,
            plugins=plugins,
            feature=tuple(feature or ()),
            allow=tuple(allow or ()),
            limit=tuple(limit or ()),
            library=library,
            runs=runs,
            dry_run=dry_run,
            format=_format(format),
            lang=read_lang(lang),
        )
        if resume is not None:
            with extra("run"):
                from cli.commands.runs import run_resume

            return run_resume(resume, options)
        if target is None:
            raise Trouble("usage.missing", name="DOCUMENT|PROCEDURE")
        from cli.commands.run import Target, run

        return run(Target(target, catalog or (), org or ()), options)

    return command


def runs_app(shared: Shared) -> typer.Typer:
    """`aop runs`."""
    app = typer.Typer(
        help=shared.text("runs-app"),
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings=HELP_OPTIONS,
    )
    app.command("list", help=shared.text("runs-list"))(_list_command(shared))
    app.command("show", help=shared.text("runs-show"))(_show_command(shared))
    app.command("resume", help=shared.text("runs-resume"))(_resume_command(shared))
    app.command("cancel", help=shared.text("runs-cancel"))(_cancel_command(shared))
    return app


def _list_command(shared: Shared) -> Callable[..., int]:
    def command(
        *,
        runs: str | None = shared.option("--runs", "FOLDER", "run-runs", ".aop/runs"),
        format: str | None = shared.choice("--format", FORMATS, "format"),
        lang: str | None = shared.language,
    ) -> int:
        from cli.commands.runs_list import run_list

        return run_list(runs, read_lang(lang), jsonl=_format(format) == "jsonl")

    return command


def _show_command(shared: Shared) -> Callable[..., int]:
    def command(
        *,
        run: str = shared.argument("RUN", "run-id"),
        runs: str | None = shared.option("--runs", "FOLDER", "run-runs", ".aop/runs"),
        format: str | None = shared.choice("--format", FORMATS, "format"),
        lang: str | None = shared.language,
    ) -> int:
        with extra("run"):
            from cli.commands.runs import run_show

        return run_show(run, runs, read_lang(lang), jsonl=_format(format) == "jsonl")

    return command


def _resume_command(shared: Shared) -> Callable[..., int]:
    approved = _many("--approve", "QUESTION", shared.text("runs-approve"))
    denied = _many("--deny", "QUESTION", shared.text("runs-deny"))
    answers = _many("--answer", "QUESTION=TEXT", shared.text("runs-answer"))
    allowed = _many("--allow", "PATTERN", shared.text("run-allow"))
    limits = _many("--limit", "NAME=N", shared.text("run-limit"))

    def command(
        *,
        run: str = shared.argument("RUN", "run-id"),
        approve: list[str] | None = approved,
        deny: list[str] | None = denied,
        answer: list[str] | None = answers,
        allow: list[str] | None = allowed,
        model: str | None = shared.option("--model", "PROVIDER:NAME", "run-model"),
        script: str | None = shared.option("--script", "FILE", "run-script"),
        limit: list[str] | None = limits,
        runs: str | None = shared.option("--runs", "FOLDER", "run-runs", ".aop/runs"),
        format: str | None = shared.choice("--format", FORMATS, "format"),
        lang: str | None = shared.language,
    ) -> int:
        with extra("run"):
            from cli.commands.runs import run_resume
        from aop_runtime.options import RunOptions

        options = RunOptions(
            model=model,
            script=script,
            allow=tuple(allow or ()),
            limit=tuple(limit or ()),
            runs=runs,
            format=_format(format),
            lang=read_lang(lang),
        )
        return run_resume(run, options, approve=approve or (), deny=deny or (), answer=answer or ())

    return command


def _cancel_command(shared: Shared) -> Callable[..., int]:
    def command(
        *,
        run: str = shared.argument("RUN", "run-id"),
        runs: str | None = shared.option("--runs", "FOLDER", "run-runs", ".aop/runs"),
    ) -> int:
        with extra("run"):
            from cli.commands.runs import run_cancel

        return run_cancel(run, runs)

    return command
