"""`aop admin …` as typer sees it. What the commands do is in `cli.commands`."""

# ruff: noqa: PLC0415 - as in `cli.app`: a command imports what it needs when it is run

from __future__ import annotations

from collections.abc import Callable

import typer

from cli.app_options import HELP_OPTIONS, Shared, is_json
from cli.arguments import read_lang
from cli.extras import extra
from cli.trouble import Trouble


def admin_app(shared: Shared) -> typer.Typer:
    app = _group(shared, "admin")
    tokens = _group(shared, "admin-token")
    for name, make in (("create", _token_create), ("list", _token_list), ("revoke", _token_revoke)):
        tokens.command(name, help=shared.text(f"admin-token-{name}"))(make(shared))
    dead = _group(shared, "admin-dead")
    for name, make in (("list", _dead_list), ("show", _dead_show), ("replay", _dead_replay), ("drop", _dead_drop)):
        dead.command(name, help=shared.text(f"admin-dead-{name}"))(make(shared))
    app.add_typer(tokens, name="token")
    app.add_typer(dead, name="dead")
    for name, make in (("preflight", _preflight), ("reindex", _reindex), ("gc", _gc), ("audit", _audit)):
        app.command(name, help=shared.text(f"admin-{name}"))(make(shared))
    return app


def _group(shared: Shared, key: str) -> typer.Typer:
    return typer.Typer(
        help=shared.text(key), rich_markup_mode=None, pretty_exceptions_enable=False, context_settings=HELP_OPTIONS
    )


def _many(flag: str, metavar: str, text: str) -> list[str] | None:
    found: list[str] | None = typer.Option(None, flag, metavar=metavar, help=text)
    return found


def _number(flag: str, text: str, least: int = 1) -> int | None:
    found: int | None = typer.Option(None, flag, metavar="N", min=least, help=text)
    return found


# -------------------------------------------------------------------------------------------------------- tokens


def _token_create(shared: Shared) -> Callable[..., int]:
    scopes = _many("--scope", "SCOPE", shared.text("admin-token-scope"))
    patterns = _many("--documents", "GLOB", shared.text("admin-token-documents"))

    def command(
        *,
        name: str | None = shared.option("--name", "NAME", "admin-token-name"),
        scope: list[str] | None = scopes,
        documents: list[str] | None = patterns,
        expires: str | None = shared.option("--expires", "90d", "admin-token-expires"),
        format: str | None = shared.plain_format,
        lang: str | None = shared.language,
    ) -> int:
        with extra("service"):
            from cli.commands.admin_token import create

        if not name or not scope:
            raise Trouble("usage.missing", name="--scope" if name else "--name")
        return create(
            name=name,
            scopes=scope,
            documents=documents or (),
            expires=expires,
            as_json=is_json(format),
            lang=read_lang(lang),
        )

    return command


def _token_list(shared: Shared) -> Callable[..., int]:
    def command(*, format: str | None = shared.plain_format, lang: str | None = shared.language) -> int:
        with extra("service"):
            from cli.commands.admin_token import show_list

        return show_list(as_json=is_json(format), lang=read_lang(lang))

    return command


def _token_revoke(shared: Shared) -> Callable[..., int]:
    def command(
        *, identity: str = shared.argument("TOKEN", "admin-token-id"), lang: str | None = shared.language
    ) -> int:
        with extra("service"):
            from cli.commands.admin_token import revoke

        return revoke(identity=identity, lang=read_lang(lang))

    return command


# -------------------------------------------------------------------------------------------------- dead letters


def _dead_list(shared: Shared) -> Callable[..., int]:
    newest = _number("--newest", shared.text("newest"))

    def command(
        *, newest: int | None = newest, format: str | None = shared.plain_format, lang: str | None = shared.language
    ) -> int:
        with extra("service"):
            from cli.commands.admin_dead import MOST, run_list

        return run_list(read_lang(lang), as_json=is_json(format), most=newest or MOST)

    return command


def _dead_show(shared: Shared) -> Callable[..., int]:
    def command(
        *,
        job: str = shared.argument("JOB", "admin-job"),
        format: str | None = shared.plain_format,
        lang: str | None = shared.language,
    ) -> int:
        with extra("service"):
            from cli.commands.admin_dead import run_show

        return run_show(job, read_lang(lang), as_json=is_json(format))

    return command


def _jobs(shared: Shared, *, needed: bool) -> list[str]:
    found: list[str] = typer.Argument(
        ... if needed else None, metavar="JOB", help=shared.text("admin-job"), show_default=False
    )
    return found


def _dead_replay(shared: Shared) -> Callable[..., int]:
    jobs = _jobs(shared, needed=False)

    def command(
        *,
        job: list[str] | None = jobs,
        every: bool = shared.flag("--all", "admin-dead-all"),
        lang: str | None = shared.language,
    ) -> int:
        with extra("service"):
            from cli.commands.admin_dead import run_replay

        if bool(job) is every:
            raise Trouble("usage.missing", name="JOB|--all")
        return run_replay(job or [], read_lang(lang), every=every)

    return command


def _dead_drop(shared: Shared) -> Callable[..., int]:
    jobs = _jobs(shared, needed=True)

    def command(*, job: list[str] = jobs, lang: str | None = shared.language) -> int:
        with extra("service"):
            from cli.commands.admin_dead import run_drop

        return run_drop(job, read_lang(lang))

    return command


# -------------------------------------------------------------------------------------------------- ledger, store


def _preflight(shared: Shared) -> Callable[..., int]:
    def command(*, format: str | None = shared.plain_format, lang: str | None = shared.language) -> int:
        with extra("service"):
            from cli.commands.admin_preflight import run

        return run(read_lang(lang), as_json=is_json(format))

    return command


def _reindex(shared: Shared) -> Callable[..., int]:
    def command(*, lang: str | None = shared.language) -> int:
        with extra("service"):
            from cli.commands.admin_reindex import run

        return run(read_lang(lang))

    return command


def _gc(shared: Shared) -> Callable[..., int]:
    newest = _number("--keep-newest", shared.text("admin-gc-newest"))
    days = _number("--keep-days", shared.text("admin-gc-days"), least=0)

    def command(*, newest: int | None = newest, days: int | None = days, lang: str | None = shared.language) -> int:
        with extra("service"):
            from cli.commands.admin_gc import run
            from workers.retention import DAYS, NEWEST

        return run(read_lang(lang), newest=newest or NEWEST, days=DAYS if days is None else days)

    return command


def _audit(shared: Shared) -> Callable[..., int]:
    newest = _number("--newest", shared.text("newest"))

    def command(
        *, newest: int | None = newest, format: str | None = shared.plain_format, lang: str | None = shared.language
    ) -> int:
        with extra("service"):
            from cli.commands.admin_audit import NEWEST, run

        return run(read_lang(lang), as_json=is_json(format), newest=newest or NEWEST)

    return command
