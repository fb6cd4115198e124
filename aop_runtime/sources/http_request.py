"""Where the arguments of an operation go in its HTTP request. Pure: no argument can change host, path or headers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote, urlencode, urlsplit

from aop_runtime.declarations import Json
from aop_runtime.manifest import Contract
from aop_runtime.plane.envelope import ToolFailure
from aop_runtime.sources.protocol import SourceFault
from aop_runtime.sources.schemas import Schema
from aop_runtime.sources.servers import HEADER_NAME, is_loopback

_METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
_BY_QUERY: Final = ("GET", "HEAD", "DELETE")
_PLACES: Final = ("query", "body", "header")
_ARGUMENT: Final = re.compile(r"\{([^{}]*)\}")
_OURS: Final = frozenset(
    ("accept", "accept-encoding", "authorization", "connection", "content-encoding", "content-length", "content-type",
     "cookie", "expect", "host", "keep-alive", "proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade")
)  # fmt: skip
_IN_PATH: Final = "/%:@!$&'()*+,;=-._~"
_LONGEST_TARGET: Final = 16_384


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """A request relative to an API's base. `target`: path and query, encoded. `body`: JSON, or none."""

    method: str
    target: str
    headers: Mapping[str, str] = field(default_factory=dict, hash=False)
    body: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """`path`: of an API, with `{argument}` in it. Each argument has one place: path, query, header or body."""

    address: str
    method: str
    path: str
    in_path: tuple[str, ...]
    in_query: frozenset[str]
    in_header: frozenset[str]
    in_body: frozenset[str]

    def filled(self, arguments: Mapping[str, Json]) -> Filled:
        """Raises ToolFailure for a value that its place cannot hold."""
        asked = {name: value for name, value in sorted(arguments.items()) if self._goes(name, "query")}
        query = [pair for name, value in asked.items() for pair in _pairs(name, value)]
        body = {name: value for name, value in arguments.items() if self._goes(name, "body")}
        headers = {
            name: self._header(name, arguments[name])
            for name in sorted(self.in_header)
            if arguments.get(name) is not None
        }
        sends = self.method not in _BY_QUERY or bool(self.in_body)
        target = self._path(arguments) + (f"?{urlencode(query)}" if query else "")
        if len(target) > _LONGEST_TARGET:
            raise ToolFailure("invalid_input", f"{self.address}: its arguments are too long for an address")
        return Filled(
            method=self.method,
            target=target,
            headers=headers,
            body=json.dumps(body, ensure_ascii=False, allow_nan=False).encode() if sends else None,
        )

    def _goes(self, name: str, place: str) -> bool:
        if name in self.in_path or name in self.in_header:
            return False
        if name in self.in_query or name in self.in_body:
            return name in (self.in_query if place == "query" else self.in_body)
        return place == ("query" if self.method in _BY_QUERY else "body")

    def _path(self, arguments: Mapping[str, Json]) -> str:
        filled: dict[str, str] = {}
        for name in self.in_path:
            value = arguments.get(name)
            if value is None or isinstance(value, list | dict):
                raise self._unfit(name, "a text or a number")
            filled[name] = quote(_text(value), safe="")
        segments = [_ARGUMENT.sub(lambda match: filled[match[1]], segment) for segment in self.path.split("/")]
        for template, segment in zip(self.path.split("/"), segments, strict=True):
            # Dots are not encoded, and servers take a segment of dots, or an empty one, for another place.
            if template != segment and segment in ("", ".", ".."):
                raise self._unfit(_ARGUMENT.findall(template)[0], "more than dots")
        return "/".join(segments)

    def _header(self, name: str, value: Json) -> str:
        if value is None or isinstance(value, list | dict):
            raise self._unfit(name, "a text or a number")
        text = _text(value)
        if not text.isascii() or not text.isprintable() or text != text.strip():
            raise self._unfit(name, "printable ASCII")
        return text

    def _unfit(self, name: str, wanted: str) -> ToolFailure:
        return ToolFailure("invalid_input", f"{self.address}: {name} must be {wanted}", {"argument": name})


def base_of(tool: str, url: str) -> str:
    """An API's address without a slash at its end. Raises SourceFault."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise SourceFault("http.no-url", tool=tool) from None
    if not host or parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise SourceFault("http.https", tool=tool)
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(host)):
        raise SourceFault("http.plain-http", tool=tool)
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}{'' if port is None else f':{port}'}{parts.path.rstrip('/')}"


def route_of(address: str, contract: Contract, schema: Schema) -> Route:
    """Raises SourceFault."""
    method, path = contract.method, contract.path
    if method not in _METHODS or path is None or not path.startswith("/") or "?" in path or "#" in path:
        raise SourceFault("http.no-path", address=address)
    in_path = tuple(dict.fromkeys(_ARGUMENT.findall(path)))
    properties = schema.get("properties")
    names = frozenset(properties) if isinstance(properties, dict) else frozenset[str]()
    if unknown := [name for name in in_path if name not in names]:
        raise SourceFault("http.path-arguments", address=address, names=", ".join(unknown))
    mapping = contract.mapping or {}
    placed = {place: _listed(address, place, mapping.get(place)) for place in _PLACES}
    for name in placed["header"]:
        if not HEADER_NAME.match(name) or name.lower() in _OURS:
            raise SourceFault("http.header", address=address, name=name)
    # By HTTP a path's own characters are fixed: what a catalog writes is encoded once, here.
    parts = re.split(r"(\{[^{}]*\})", path)
    fixed = "".join(part if _ARGUMENT.fullmatch(part) else quote(part, safe=_IN_PATH) for part in parts)
    return Route(
        address=address,
        method=method,
        path=fixed,
        in_path=in_path,
        in_query=placed["query"],
        in_header=placed["header"],
        in_body=placed["body"],
    )


def _listed(address: str, place: str, value: Json) -> frozenset[str]:
    if value is None:
        return frozenset()
    if not isinstance(value, list):
        raise SourceFault("http.mapping", address=address, place=place)
    return frozenset(str(name) for name in value)


def _pairs(name: str, value: Json) -> list[tuple[str, str]]:
    if value is None:
        return []
    if isinstance(value, list):
        return [(name, _text(entry)) for entry in value if entry is not None]
    return [(name, _text(value))]


def _text(value: Json) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
