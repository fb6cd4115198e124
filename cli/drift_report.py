"""What drifted, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from catalog.drift import Drift, Kind
from catalog.lock import Policy
from cli import streams
from cli.json_output import print_json
from cli.messages import say
from cli.tool_uses import Touched
from pipeline.diagnostics.lang import Lang
from pipeline.diagnostics.visible import visible
from pipeline.diagnostics.wording import LANGUAGES

Between = Literal["lock-catalog", "catalog-server"]


class Row(NamedTuple):
    """A drift between two of the lock, the catalog and a server, and whom it concerns."""

    drift: Drift
    between: Between
    policy: Policy
    documents: tuple[Touched, ...]


def rows_of(
    drifts: Sequence[tuple[Drift, tuple[Touched, ...]]], between: Between, policy: Mapping[Kind, Policy]
) -> list[Row]:
    return [Row(drift, between, policy[drift.kind], documents) for drift, documents in drifts]


def emit_text(rows: Sequence[Row], lang: Lang) -> None:
    streams.emit("".join(f"{visible(line)}\n" for row in rows for line in _lines(row, lang)))


def emit_json(rows: Sequence[Row], **more: object) -> None:
    print_json({"drift": [_dict(row) for row in rows], **more})


def _lines(row: Row, lang: Lang) -> Iterator[str]:
    drift = row.drift
    what = LANGUAGES[lang].changes[drift.kind]
    if drift.now:
        what = say("drift.now", lang, what=what, now=drift.now)
    yield f"{drift.target}: {what} ({drift.kind}, {row.policy})"
    if row.between == "catalog-server":
        yield f"    {say('drift.catalog-server', lang)}"
    for change in drift.changes:
        word = say(f"drift.argument-{change.change}", lang)
        key = "drift.argument-breaking" if change.breaking else "drift.argument"
        yield f"    {say(key, lang, argument=change.argument or '*', change=word)}"
    for touched in row.documents:
        phases = ", ".join(map(str, touched.phases))
        key = "drift.document-phases" if phases else "drift.document"
        yield f"    {say(key, lang, path=touched.path, phases=phases)}"


def _dict(row: Row) -> dict[str, object]:
    drift = row.drift
    before, after = row.between.split("-")
    return {
        "tool": drift.tool,
        "operation": drift.operation or None,
        "kind": drift.kind,
        "policy": row.policy,
        "between": [before, after],
        "now": drift.now or None,
        "breaking": any(change.breaking for change in drift.changes) or drift.kind in _BREAKING,
        "arguments": [
            {"argument": change.argument, "change": change.change, "breaking": change.breaking}
            for change in drift.changes
        ],
        "documents": [{"path": touched.path, "phases": list(touched.phases)} for touched in row.documents],
    }


_BREAKING = frozenset({"tool-removed", "tool-renamed", "operation-removed", "operation-renamed"})
