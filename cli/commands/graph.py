"""`aop graph DOCUMENT`: phases, and what each may read and write, as Mermaid."""

from __future__ import annotations

from pathlib import Path

from catalog.writing import replace_file
from cli import streams
from cli.analysis import analyse
from cli.arguments import Setting
from cli.documents import open_catalog
from cli.exits import OK
from cli.messages import say
from cli.trouble import Trouble
from pipeline.graph import graph


def run(document: str, setting: Setting, out: Path | None) -> int:
    """Raises Trouble for an unreadable document, CatalogError, OSError."""
    analysis = analyse(document, setting, open_catalog(setting))
    compilation = analysis.compilation
    if compilation.resolved is None:
        raise Trouble("graph.unreadable", path=analysis.path)
    chart = graph(compilation.resolved, setting.lang)
    if compilation.status == "failed":
        streams.note(say("graph.errors", setting.lang, path=analysis.path))
    if out is None:
        streams.emit(chart)
    else:
        replace_file(out, chart.encode())
    return OK
