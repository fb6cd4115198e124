"""`aop cache stats|prune`: how much the store of earlier results holds, and making it smaller."""

from __future__ import annotations

import json as json_module
from pathlib import Path

from cli import streams
from cli.arguments import DEFAULT_STORE
from cli.exits import OK
from cli.messages import say
from cli.stores import existing_store
from pipeline.diagnostics.lang import Lang
from pipeline.stores.files import discard
from pipeline.stores.protocol import StoreError, StoreStats


def show(store: Path | None, lang: Lang, *, json: bool) -> int:
    """Raises StoreError."""
    folder = store or Path(DEFAULT_STORE)
    with existing_store(folder, lang, max_bytes=None) as opened:
        stats = opened.stats()
    _print("cache.stats", folder, stats, lang, json=json)
    return OK


def shrink(store: Path | None, limit: int, lang: Lang, *, json: bool) -> int:
    """Raises StoreError."""
    folder = store or Path(DEFAULT_STORE)
    try:
        with existing_store(folder, lang, max_bytes=None) as opened:
            dropped = opened.prune(limit)
    except StoreError as error:
        if error.fault != "full":
            raise
        # There is not even room to open it, and this command is what a user is told to run then.
        dropped = StoreStats(blobs=0, blob_bytes=discard(folder), traces=0, trace_bytes=0, pointers=0)
    _print("cache.pruned", folder, dropped, lang, json=json)
    return OK


def _print(key: str, folder: Path, stats: StoreStats, lang: Lang, *, json: bool) -> None:
    if json:
        streams.emit(f"{json_module.dumps(stats._asdict())}\n")
        return
    size = _readable(stats.blob_bytes + stats.trace_bytes)
    text = say(key, lang, folder=folder.as_posix(), size=size, blobs=stats.blobs, traces=stats.traces)
    streams.emit(f"{text}\n")


def _readable(size: int) -> str:
    if size < 1_000:
        return f"{size} B"
    if size < 1_000_000:
        return f"{size / 1_000:.1f} KB"
    return f"{size / 1_000_000:.1f} MB"
