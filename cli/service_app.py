"""The commands of the service as typer sees them. What they do is in `cli.commands`."""

# ruff: noqa: PLC0415 - as in `cli.app`: a command imports what it needs when it is run

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal, cast, get_args

import typer

from cli.admin_app import admin_app
from cli.app_options import Shared, is_json
from cli.arguments import COLORS, one_of, read_lang
from cli.extras import extra
from cli.trouble import Trouble

CLASSES: Final = ("both", "interactive", "bulk")
STAGES: Final = ("parse", "resolve", "generate", "verify")
SHORTEST_REFRESH_S: Final = 60


def add_service(app: typer.Typer, shared: Shared) -> None:
    for name, make in (
        ("dev", _dev),
        ("server", _server),
        ("worker", _worker),
        ("dispatcher", _dispatcher),
        ("exporter", _exporter),
        ("config", _config),
        ("push", _push),
        ("recompile", _recompile),
    ):
        app.command(name, help=shared.text(name))(make(shared))
    app.add_typer(admin_app(shared), name="admin")


def _dev(shared: Shared) -> Callable[..., int]:
    place: str = typer.Argument(".", metavar="FOLDER", help=shared.text("dev-folder"), show_default=True)
    port: int | None = typer.Option(None, "--port", metavar="N", min=1, max=65_535, help=shared.text("dev-port"))
    refresh: int | None = typer.Option(
        None, "--refresh", metavar="SECONDS", min=SHORTEST_REFRESH_S, max=86_400, help=shared.text("dev-refresh")
    )

    def command(
        *,
        folder: str = place,
        state: str | None = shared.option("--state", "FOLDER", "dev-state", ".aop/dev"),
        port: int | None = port,
        s3: bool = shared.flag("--s3", "dev-s3"),
        refresh: int | None = refresh,
        lang: str | None = shared.language,
    ) -> int:
        with extra("local"):
            from cli.commands.dev import Dev, run

        return run(Dev(Path(folder), Path(state or ".aop/dev"), port, s3, refresh, read_lang(lang)))

    return command


def _server(shared: Shared) -> Callable[..., int]:
    def command() -> int:
        with extra("service"):
            from cli.commands.server import run

        return run()

    return command


def _worker(shared: Shared) -> Callable[..., int]:
    stages: str = typer.Argument(..., metavar="|".join(STAGES), help=shared.text("worker-stage"), show_default=False)

    def command(
        *,
        stage: str = stages,
        job_class: str | None = shared.choice("--class", CLASSES, "worker-class"),
    ) -> int:
        with extra("service"):
            from cli.commands.worker import run
            from workers.ledger.records import Stage
            from workers.queues import Taken

        if stage not in get_args(Stage):
            raise Trouble("usage.not-a-stage", value=stage, words=", ".join(STAGES))
        taken = one_of("--class", job_class, CLASSES, "both")
        return run(cast("Stage", stage), job_class=cast("Taken", taken))

    return command


def _dispatcher(shared: Shared) -> Callable[..., int]:
    def command() -> int:
        with extra("service"):
            from cli.commands.dispatcher import run

        return run()

    return command


def _exporter(shared: Shared) -> Callable[..., int]:
    def command() -> int:
        with extra("service"):
            from cli.commands.exporter import run

        return run()

    return command


def _config(shared: Shared) -> Callable[..., int]:
    def command(*, format: str | None = shared.plain_format) -> int:
        with extra("service"):
            from cli.commands.config import run

        return run(as_json=is_json(format))

    return command


def _push(shared: Shared) -> Callable[..., int]:
    def command(
        *,
        file: str = shared.argument("FILE|-", "document"),
        to: str | None = shared.option("--to", "URL", "push-to"),
        identity: str | None = shared.option("--id", "ID", "push-id"),
        strict: bool = shared.flag("--strict", "strict"),
        format: str | None = shared.plain_format,
        color: str | None = shared.color,
        lang: str | None = shared.language,
    ) -> int:
        with extra("service"):
            from cli.commands.push import run

        return run(
            file=file,
            to=_address(to),
            identity=identity,
            form="json" if is_json(format) else "text",
            color=one_of("--color", color, COLORS, "auto"),
            strict=strict,
            lang=read_lang(lang),
        )

    return command


def _recompile(shared: Shared) -> Callable[..., int]:
    ids: list[str] | None = typer.Option(None, "--id", metavar="ID", help=shared.text("recompile-id"))

    def command(
        *,
        every: bool = shared.flag("--all", "recompile-all"),
        stale: bool = shared.flag("--stale", "recompile-stale"),
        using: str | None = shared.option("--using", "TOOL", "recompile-using"),
        prefix: str | None = shared.option("--prefix", "PREFIX", "recompile-prefix"),
        identity: list[str] | None = ids,
        yes: bool = shared.flag("--yes", "recompile-yes"),
        plan: bool = shared.flag("--plan", "recompile-plan"),
        to: str | None = shared.option("--to", "URL", "push-to"),
        format: str | None = shared.plain_format,
        lang: str | None = shared.language,
    ) -> int:
        with extra("service"):
            from cli.commands.recompile import Recompiling, run

        given: dict[str, object] = {
            "all": every or None,
            "stale": stale or None,
            "using": using,
            "prefix": prefix,
            "ids": identity or None,
        }
        scope = {name: value for name, value in given.items() if value is not None}
        if len(scope) != 1:
            raise Trouble("recompile.scope")
        form: Literal["json", "text"] = "json" if is_json(format) else "text"
        return run(Recompiling(scope, _address(to), yes, plan, form, read_lang(lang)))

    return command


def _address(to: str | None) -> str:
    """Raises Trouble."""
    found = to or os.environ.get("AOP_URL", "")
    if not found:
        raise Trouble("push.no-url")
    return found
