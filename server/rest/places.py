"""Which document, and what of it, a URL under `/v1/documents/` means.

An id may hold slashes, and end in what is also the name of a view: `/v1/documents/a/history` is the history of `a`. The
document `a/history` is written with its last slash encoded, `/v1/documents/a%2Fhistory`.
"""

from __future__ import annotations

from typing import Final, NamedTuple
from urllib.parse import unquote

from starlette.requests import Request

from server.faults import Fault, Malformed
from server.reading import read_document_id

PREFIX: Final = "/v1/documents/"
VIEWS: Final = frozenset({"procedure.py", "manifest.json", "graph.mmd", "source.md", "result.json", "history", "diff"})


class Place(NamedTuple):
    """`view`: of `VIEWS`, "" the document itself."""

    document: str
    view: str


def place_of(request: Request, *, views: bool) -> Place:
    """`views`: whether the last segment may be one. Raises ApiError 400."""
    raw: bytes = request.scope["raw_path"]
    path = raw.decode("ascii", "replace").partition(PREFIX)[2]
    if views:
        front, slash, last = path.rpartition("/")
        if slash and last in VIEWS:
            return Place(_document(front), last)
    return Place(_document(path), "")


def _document(path: str) -> str:
    try:
        text = unquote(path, errors="strict")
    except UnicodeDecodeError as error:
        raise Malformed(Fault("document_id", "not UTF-8", {"offset": error.start + 1})) from None
    return read_document_id(text, "document_id")
