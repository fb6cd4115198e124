"""The command line as typer sees it: names, help, completion. What a command does is in `cli.commands`.

Built for one language at a time, because help is text like any other. Values stay words here; `cli.arguments` reads
them, so that a mistake is reported in the user's language and in the same way by every command. A command returns its
exit status, and imports what it needs when it is run.
"""

# ruff: noqa: PLC0415 - see above: `aop explain` must not load the compiler

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal

import typer

from cli.app_options import HELP_OPTIONS, Shared, is_json, setting_of
from cli.arguments import (
    COLORS,
    FORMATS,
    REUSES,
    Options,
    Words,
    filled,
    one_of,
    read_lang,
    read_options,
    read_path,
    read_size,
)
from cli.catalog_app import catalog_app, lock_command
from cli.run_app import run_command, runs_app
from cli.service_app import add_service
from pipeline.diagnostics.lang import Lang

DIFF_FORMATS: Final[tuple[Literal["text", "json", "markdown"], ...]] = ("text", "json", "markdown")


def _compile_documents(options: Options) -> int:
    from cli.commands.compile import run

    return run(options)


def build_app(lang: Lang, compile_documents: Callable[[Options], int] = _compile_documents) -> typer.Typer:
    """The application, its help in `lang`. `compile_documents`: what `compile` and `check` do."""
    shared = Shared(lang)
    # Rich would cut Japanese help where it does not fit a table's column.
    app = typer.Typer(
        help=shared.text("aop"), rich_markup_mode=None, pretty_exceptions_enable=False, context_settings=HELP_OPTIONS
    )
    _add_version(app, shared)
    for name, check in (("compile", False), ("check", True)):
        app.command(name, help=shared.text(name))(_compile_command(shared, compile_documents, check=check))
    app.command("verify", help=shared.text("verify"))(_verify_command(shared))
    app.command("why", help=shared.text("why"))(_why_command(shared))
    app.command("explain", help=shared.text("explain"))(_explain_command(shared))
    app.command("init", help=shared.text("init"))(_init_command(shared))
    app.command("graph", help=shared.text("graph"))(_graph_command(shared))
    app.command("diff", help=shared.text("diff"))(_diff_command(shared))
    app.command("lock", help=shared.text("lock"))(lock_command(shared))
    app.command("run", help=shared.text("run"))(run_command(shared))
    app.add_typer(runs_app(shared), name="runs")
    app.add_typer(catalog_app(shared), name="catalog")
    app.add_typer(_cache_app(shared), name="cache")
    add_service(app, shared)
    return app


def _codes(incomplete: str) -> list[str]:
    from pipeline.diagnostics.codes import CODES

    wanted = incomplete.casefold()
    return [word for entry in CODES.values() for word in entry[:2] if word.casefold().startswith(wanted)]


def _add_version(app: typer.Typer, shared: Shared) -> None:
    def show(wanted: bool) -> None:
        if wanted:
            from importlib.metadata import version

            typer.echo(f"aop {version('aop')}")
            raise typer.Exit

    option: bool = typer.Option(False, "--version", is_eager=True, callback=show, help=shared.text("version"))

    @app.callback()
    def main(*, version: bool = option) -> None:
        pass


def _compile_command(shared: Shared, run: Callable[[Options], int], *, check: bool) -> Callable[..., int]:
    out = shared.option("--out", "DIR", "out", "build")
    formats = shared.choice("--format", FORMATS, "format")
    strictness, watching = shared.flag("--strict", "strict"), shared.flag("--watch", "watch")
    processes = shared.option("--jobs", "N", "jobs")

    def command(
        *,
        documents: list[str] = shared.documents,
        out: str | None = out,
        catalog: list[str] | None = shared.catalog,
        org: list[str] | None = shared.org,
        mcp_config: str | None = shared.mcp_config,
        format: str | None = formats,
        lang: str | None = shared.language,
        reuse: str | None = shared.reuse,
        strict: bool = strictness,
        watch: bool = watching,
        max_bytes: str | None = shared.max_bytes,
        jobs: str | None = processes,
        store: str | None = shared.store,
        color: str | None = shared.color,
    ) -> int:
        words = Words(
            documents=tuple(documents),
            out=out,
            catalog=tuple(catalog or ()),
            org=tuple(org or ()),
            mcp_config=mcp_config,
            format=format,
            lang=lang,
            reuse=reuse,
            strict=strict,
            watch=watch,
            max_bytes=max_bytes,
            jobs=jobs,
            store=store,
            color=color,
        )
        return run(read_options(words, check=check))

    return command


def _verify_command(shared: Shared) -> Callable[..., int]:
    module = shared.argument("PROCEDURE", "procedure")

    def command(
        *,
        procedure: str = module,
        document: str = shared.document,
        catalog: list[str] | None = shared.catalog,
        org: list[str] | None = shared.org,
        mcp_config: str | None = shared.mcp_config,
        format: str | None = shared.plain_format,
        lang: str | None = shared.language,
        max_bytes: str | None = shared.max_bytes,
    ) -> int:
        from cli.commands.verify import run

        return run(procedure, document, setting_of(catalog, org, mcp_config, lang, max_bytes), json=is_json(format))

    return command


def _why_command(shared: Shared) -> Callable[..., int]:
    def command(
        *,
        document: str = shared.document,
        catalog: list[str] | None = shared.catalog,
        org: list[str] | None = shared.org,
        mcp_config: str | None = shared.mcp_config,
        format: str | None = shared.plain_format,
        lang: str | None = shared.language,
        reuse: str | None = shared.reuse,
        max_bytes: str | None = shared.max_bytes,
        store: str | None = shared.store,
    ) -> int:
        from cli.commands.why import run

        setting = setting_of(catalog, org, mcp_config, lang, max_bytes)
        choice = one_of("--reuse", reuse, REUSES, "compatible")
        return run(document, setting, choice, read_path("--store", store), json=is_json(format))

    return command


def _explain_command(shared: Shared) -> Callable[..., int]:
    argument: str = typer.Argument(
        ..., metavar="CODE", help=shared.text("code"), show_default=False, autocompletion=_codes
    )

    def command(*, code: str = argument, lang: str | None = shared.language, color: str | None = shared.color) -> int:
        from cli.commands.explain import run

        return run(code, read_lang(lang), one_of("--color", color, COLORS, "auto"))

    return command


def _init_command(shared: Shared) -> Callable[..., int]:
    argument: str = typer.Argument(".", metavar="DIR", help=shared.text("init-folder"))

    def command(*, folder: str = argument, lang: str | None = shared.language) -> int:
        from cli.commands.init import run

        return run(Path(filled("DIR", folder) or "."), read_lang(lang))

    return command


def _graph_command(shared: Shared) -> Callable[..., int]:
    target = shared.option("--out", "FILE", "graph-out")

    def command(
        *,
        document: str = shared.document,
        out: str | None = target,
        catalog: list[str] | None = shared.catalog,
        org: list[str] | None = shared.org,
        mcp_config: str | None = shared.mcp_config,
        lang: str | None = shared.language,
        max_bytes: str | None = shared.max_bytes,
    ) -> int:
        from cli.commands.graph import run

        return run(document, setting_of(catalog, org, mcp_config, lang, max_bytes), read_path("--out", out))

    return command


def _diff_command(shared: Shared) -> Callable[..., int]:
    before, after = shared.argument("OLD", "old"), shared.argument("NEW", "new")
    formats = shared.choice("--format", DIFF_FORMATS, "format")

    def command(
        *,
        old: str = before,
        new: str = after,
        catalog: list[str] | None = shared.catalog,
        org: list[str] | None = shared.org,
        mcp_config: str | None = shared.mcp_config,
        format: str | None = formats,
        lang: str | None = shared.language,
        max_bytes: str | None = shared.max_bytes,
        color: str | None = shared.color,
    ) -> int:
        from cli.commands.diff import run

        form = one_of("--format", format, DIFF_FORMATS, "text")
        setting = setting_of(catalog, org, mcp_config, lang, max_bytes)
        return run(old, new, setting, form, one_of("--color", color, COLORS, "auto"))

    return command


def _cache_app(shared: Shared) -> typer.Typer:
    app = typer.Typer(
        help=shared.text("cache"), rich_markup_mode=None, pretty_exceptions_enable=False, context_settings=HELP_OPTIONS
    )
    size = shared.option("--max-size", "SIZE", "max-size", "500MB")

    @app.command("stats", help=shared.text("stats"))
    def stats(
        *,
        store: str | None = shared.store,
        format: str | None = shared.plain_format,
        lang: str | None = shared.language,
    ) -> int:
        from cli.commands.cache import show

        return show(read_path("--store", store), read_lang(lang), json=is_json(format))

    @app.command("prune", help=shared.text("prune"))
    def prune(
        *,
        max_size: str | None = size,
        store: str | None = shared.store,
        format: str | None = shared.plain_format,
        lang: str | None = shared.language,
    ) -> int:
        from cli.commands.cache import shrink

        limit = read_size("--max-size", "500MB" if max_size is None else max_size)
        return shrink(read_path("--store", store), limit, read_lang(lang), json=is_json(format))

    return app
