"""The commands of the service as typer sees them. What they do is in `cli.commands`."""

# ruff: noqa: PLC0415 - as in `cli.app`: a command imports what it needs when it is run

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, cast, get_args

import typer

from cli.app_options import HELP_OPTIONS, Shared, is_json
from cli.arguments import one_of, read_lang
from cli.extras import extra
from cli.trouble import Trouble

CLASSES: Final = ("both", "interactive", "bulk")
STAGES: Final = ("parse", "resolve", "generate", "verify")


def add_service(app: typer.Typer, shared: Shared) -> None:
    for name, make in (
        ("dev", _dev),
        ("server", _server),
        ("worker", _worker),
        ("dispatcher", _dispatcher),
        ("exporter", _exporter),
        ("config", _config),
    ):
        app.command(name, help=shared.text(name))(make(shared))
    app.add_typer(_admin_app(shared), name="admin")


def _dev(shared: Shared) -> Callable[..., int]:
    place: str = typer.Argument(".", metavar="FOLDER", help=shared.text("dev-folder"), show_default=True)
    port: int | None = typer.Option(None, "--port", metavar="N", min=1, max=65_535, help=shared.text("dev-port"))

    def command(
        *,
        folder: str = place,
        state: str | None = shared.option("--state", "FOLDER", "dev-state", ".aop/dev"),
        port: int | None = port,
        s3: bool = shared.flag("--s3", "dev-s3"),
        lang: str | None = shared.language,
    ) -> int:
        with extra("local"):
            from cli.commands.dev import Dev, run

        return run(Dev(Path(folder), Path(state or ".aop/dev"), port, s3, read_lang(lang)))

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


def _admin_app(shared: Shared) -> typer.Typer:
    return typer.Typer(
        help=shared.text("admin"), rich_markup_mode=None, pretty_exceptions_enable=False, context_settings=HELP_OPTIONS
    )
