"""Arguments and options as typer sees them that several commands have, and how their words are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import typer

from cli.arguments import COLORS, LANGS, REUSES, Setting, one_of, read_setting
from cli.messages import say
from pipeline.diagnostics.lang import Lang

PLAIN_FORMATS: Final = ("text", "json")

HELP_OPTIONS: Final = {"help_option_names": ["-h", "--help"]}


class Shared:
    """Arguments and options that several commands have. They are annotated as what typer puts in their place."""

    def __init__(self, lang: Lang) -> None:
        self.lang: Lang = lang
        documents = self.text("documents")
        self.documents: list[str] = typer.Argument(..., metavar="FILE|FOLDER|-", help=documents, show_default=False)
        self.document = self.argument("DOCUMENT", "document")
        self.catalog: list[str] | None = typer.Option(None, "--catalog", metavar="FILE", help=self.text("catalog"))
        self.org: list[str] | None = typer.Option(None, "--org", metavar="FILE", help=self.text("org"))
        self.mcp_config = self.option("--mcp-config", "FILE", "mcp-config")
        self.max_bytes = self.option("--max-bytes", "N", "max-bytes", "1MiB")
        self.store = self.option("--store", "DIR", "store", ".aop")
        self.reuse = self.choice("--reuse", REUSES, "reuse")
        self.language = self.choice("--lang", LANGS, "lang")
        self.plain_format = self.choice("--format", PLAIN_FORMATS, "format")
        self.color = self.choice("--color", COLORS, "color")

    def text(self, key: str) -> str:
        return say(f"help.{key}", self.lang)

    def argument(self, metavar: str, key: str) -> str:
        found: str = typer.Argument(..., metavar=metavar, help=self.text(key), show_default=False)
        return found

    def option(self, flag: str, metavar: str, key: str, default: str = "") -> str | None:
        shown = f"{self.text(key)} ({default})" if default else self.text(key)
        found: str | None = typer.Option(None, flag, metavar=metavar, help=shown)
        return found

    def choice(self, flag: str, choices: Sequence[str], key: str) -> str | None:
        """An option that takes one of `choices`, the first by default."""
        found: str | None = typer.Option(
            None,
            flag,
            metavar="|".join(choices),
            help=f"{self.text(key)} ({choices[0]})",
            autocompletion=offer(choices),
        )
        return found

    def flag(self, flag: str, key: str) -> bool:
        found: bool = typer.Option(False, flag, help=self.text(key))
        return found


def offer(choices: Sequence[str]) -> Callable[[str], list[str]]:
    def complete(incomplete: str) -> list[str]:
        return [choice for choice in choices if choice.startswith(incomplete)]

    return complete


def setting_of(
    catalog: list[str] | None,
    org: list[str] | None,
    mcp_config: str | None,
    lang: str | None,
    max_bytes: str | None = None,
) -> Setting:
    """Raises Trouble for a value that an option does not take."""
    return read_setting(catalog=catalog or (), org=org or (), mcp_config=mcp_config, lang=lang, max_bytes=max_bytes)


def is_json(word: str | None) -> bool:
    """Raises Trouble for a form that there is not."""
    return one_of("--format", word, PLAIN_FORMATS, "text") == "json"
