"""`aop lock` and `aop catalog …` as typer sees them. What they do is in `cli.commands`."""

# ruff: noqa: PLC0415 - as in `cli.app`: a command imports what it needs when it is run

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

import typer

from cli.app_options import HELP_OPTIONS, Shared, is_json, setting_of
from cli.arguments import one_of, read_lang, read_path, read_seconds

LINT_FORMATS: Final[tuple[Literal["text", "json", "sarif"], ...]] = ("text", "json", "sarif")


def catalog_app(shared: Shared) -> typer.Typer:
    """`aop catalog`."""
    app = typer.Typer(
        help=shared.text("catalog-app"),
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings=HELP_OPTIONS,
    )
    app.command("show", help=shared.text("catalog-show"))(_show_command(shared))
    app.command("import", help=shared.text("catalog-import"))(_import_command(shared))
    app.command("lock", help=shared.text("lock"))(lock_command(shared))
    app.command("diff", help=shared.text("catalog-diff"))(_diff_command(shared))
    app.command("approve", help=shared.text("catalog-approve"))(_approve_command(shared))
    app.command("lint", help=shared.text("catalog-lint"))(_lint_command(shared))
    return app


def _any(metavar: str, text: str) -> list[str]:
    """An argument that may be given any number of times."""
    found: list[str] = typer.Argument(None, metavar=metavar, help=text, show_default=False)
    return found


def _show_command(shared: Shared) -> Callable[..., int]:
    argument: str | None = typer.Argument(None, metavar="TOOL", help=shared.text("tool"), show_default=False)

    def command(
        *,
        tool: str | None = argument,
        catalog: list[str] | None = shared.catalog,
        org: list[str] | None = shared.org,
        mcp_config: str | None = shared.mcp_config,
        format: str | None = shared.plain_format,
        lang: str | None = shared.language,
    ) -> int:
        from cli.commands.catalog_show import run

        return run(tool, setting_of(catalog, org, mcp_config, lang), json=is_json(format))

    return command


def _import_command(shared: Shared) -> Callable[..., int]:
    names = _any("NAME", shared.text("servers"))
    out = shared.option("--out", "DIR", "import-out", "aop-tools")
    seconds = shared.option("--timeout", "SECONDS", "timeout", "30")

    def command(
        *,
        servers: list[str] | None = names,
        mcp_config: str | None = shared.mcp_config,
        out: str | None = out,
        timeout: str | None = seconds,
        catalog: list[str] | None = shared.catalog,
        org: list[str] | None = shared.org,
        format: str | None = shared.plain_format,
        lang: str | None = shared.language,
    ) -> int:
        from cli.commands.catalog_import import run

        setting = setting_of(catalog, org, mcp_config, lang)
        folder, limit = read_path("--out", out), read_seconds("--timeout", timeout)
        return run(servers or [], setting, folder, limit, json=is_json(format))

    return command


def lock_command(shared: Shared) -> Callable[..., int]:
    """`aop lock`, also as `aop catalog lock`."""
    named = _any("FILE|FOLDER", shared.text("lock-documents"))

    def command(
        *,
        documents: list[str] | None = named,
        catalog: list[str] | None = shared.catalog,
        org: list[str] | None = shared.org,
        mcp_config: str | None = shared.mcp_config,
        format: str | None = shared.plain_format,
        lang: str | None = shared.language,
        max_bytes: str | None = shared.max_bytes,
    ) -> int:
        from cli.commands.lock import run

        return run(documents or [], setting_of(catalog, org, mcp_config, lang, max_bytes), json=is_json(format))

    return command


def _diff_command(shared: Shared) -> Callable[..., int]:
    named, asking = _any("FILE|FOLDER", shared.text("lock-documents")), shared.flag("--live", "live")
    seconds = shared.option("--timeout", "SECONDS", "timeout", "30")

    def command(
        *,
        documents: list[str] | None = named,
        live: bool = asking,
        timeout: str | None = seconds,
        catalog: list[str] | None = shared.catalog,
        org: list[str] | None = shared.org,
        mcp_config: str | None = shared.mcp_config,
        format: str | None = shared.plain_format,
        lang: str | None = shared.language,
        max_bytes: str | None = shared.max_bytes,
    ) -> int:
        from cli.commands.catalog_diff import run

        setting = setting_of(catalog, org, mcp_config, lang, max_bytes)
        limit = read_seconds("--timeout", timeout)
        return run(documents or [], setting, live=live, seconds=limit, json=is_json(format))

    return command


def _approve_command(shared: Shared) -> Callable[..., int]:
    named = _any("TOOL[/OPERATION]", shared.text("targets"))

    def command(
        *,
        targets: list[str] | None = named,
        catalog: list[str] | None = shared.catalog,
        org: list[str] | None = shared.org,
        mcp_config: str | None = shared.mcp_config,
        format: str | None = shared.plain_format,
        lang: str | None = shared.language,
        max_bytes: str | None = shared.max_bytes,
    ) -> int:
        from cli.commands.catalog_approve import run

        return run(targets or [], setting_of(catalog, org, mcp_config, lang, max_bytes), json=is_json(format))

    return command


def _lint_command(shared: Shared) -> Callable[..., int]:
    named = shared.argument("FILE|-", "lint-file")
    strictness = shared.flag("--strict", "lint-strict")
    formats = shared.choice("--format", LINT_FORMATS, "format")

    def command(
        *,
        file: str = named,
        strict: bool = strictness,
        format: str | None = formats,
        lang: str | None = shared.language,
    ) -> int:
        from cli.commands.catalog_lint import run

        form = one_of("--format", format, LINT_FORMATS, "text")
        return run(file, form, read_lang(lang), strict=strict)

    return command
