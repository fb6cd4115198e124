"""`aop diff OLD NEW`: what somebody who must approve a change needs to see."""

from __future__ import annotations

import sys
from typing import Literal

from cli import streams
from cli.analysis import analyse, placeless, single
from cli.arguments import Color, Setting
from cli.discovery import STDIN
from cli.documents import open_catalog
from cli.exits import OK
from cli.json_output import print_json
from cli.messages import say
from cli.review.forms import as_markdown, as_text
from cli.review.outline import outline
from cli.trouble import Trouble
from pipeline.diagnostics.lang import Lang
from pipeline.review.compare import Comparison, compare
from pipeline.review.to_json import comparison_dict
from pipeline.review.version import version_of


def run(old: str, new: str, setting: Setting, form: Literal["text", "json", "markdown"], color: Color) -> int:
    """Raises Trouble, CatalogError, OSError."""
    if old == new == STDIN:
        raise Trouble("diff.twice-stdin")
    catalog = open_catalog(setting)
    before, after = single(old), single(new)
    first = analyse(old, setting, catalog, place=None if placeless(after) else after)
    second = analyse(new, setting, catalog, place=None if placeless(before) else before)
    comparison = compare(
        version_of(first.path, first.compilation, setting.lang),
        version_of(second.path, second.compilation, setting.lang),
    )
    if form == "json":
        print_json(comparison_dict(comparison))
    else:
        streams.emit("".join(f"{line}\n" for line in _lines(comparison, form, setting.lang, color)))
    return OK


def _lines(comparison: Comparison, form: Literal["text", "markdown"], lang: Lang, color: Color) -> list[str]:
    if comparison.empty:
        return [say("diff.nothing", lang)]
    entries = list(outline(comparison, lang))
    if form == "markdown":
        name = comparison.new.name or comparison.old.name or comparison.new.path
        return list(as_markdown(entries, say("diff.title", lang, name=name)))
    return list(as_text(entries, color=streams.colored(sys.stdout, color)))
