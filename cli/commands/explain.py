"""`aop explain CODE`: the page about a diagnostic."""

from __future__ import annotations

import sys

from cli import streams
from cli.arguments import Color
from cli.exits import OK
from cli.trouble import Trouble
from pipeline.diagnostics.explain import UnknownCode, explain
from pipeline.diagnostics.lang import Lang


def run(code: str, lang: Lang, color: Color = "auto") -> int:
    """Raises Trouble for a code that there is none of."""
    try:
        page = explain(code, lang)
    except UnknownCode as error:
        if error.close:
            close = ", ".join(error.close)
            raise Trouble("explain.unknown-close", code=code, close=close) from error
        raise Trouble("explain.unknown", code=code) from error
    streams.emit(_rendered(page) if streams.colored(sys.stdout, color) else page)
    return OK


def _rendered(page: str) -> str:
    """For a terminal, rich lays the Markdown out; loading it is worth it only there."""
    from rich.console import Console  # noqa: PLC0415 - see the first line
    from rich.markdown import Markdown  # noqa: PLC0415 - see the first line

    console = Console(force_terminal=True, width=min(streams.width(sys.stdout), 100))
    with console.capture() as captured:
        console.print(Markdown(page, code_theme="ansi_dark"))
    return captured.get()
