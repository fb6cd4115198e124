"""MCP servers and how to reach them: by an `mcpServers` file, else by the manifest's pin.

The file belongs to the user's MCP client as well, so its other keys pass unread; what is read is checked closely. It
holds secrets: no message shows a value, and what was filled in lives in `Server` only, which shows none either.
"""

from __future__ import annotations

import json
import re
import stat
import sys
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aop_runtime.declarations import Json
from aop_runtime.faults import Fault
from aop_runtime.forms import first
from aop_runtime.manifest import ToolPin
from aop_runtime.messages import Message, reason
from aop_runtime.sources.protocol import SourceFault
from aop_runtime.sources.redaction import Secrets

MAX_BYTES: Final = 8 * 1024 * 1024
MAX_SERVERS: Final = 1_000

_HTTP: Final = ("http", "streamable-http", "streamableHttp")
_VARIABLE: Final = re.compile(r"\$\{([^}]*)\}")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_SECRET_NAME: Final = re.compile(r"TOKEN|KEY|SECRET|PASS|CREDENTIAL|AUTH|COOKIE|SESSION|DSN|PRIVATE|CERT", re.I)
_LONGEST_PLAIN: Final = 20
HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+\Z")

_INHERITED: Final = (
    ("APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PATHEXT", "PROCESSOR_ARCHITECTURE", "SYSTEMDRIVE",
     "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE")
    if sys.platform == "win32"
    else ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "SSL_CERT_DIR", "SSL_CERT_FILE", "TERM",
          "TMPDIR", "TZ", "USER", "NODE_EXTRA_CA_CERTS")
)  # fmt: skip


class ServersFault(Fault):
    """An `mcpServers` file that cannot be read as one. The message says where and what to do, and holds no value."""


class ServerEntry(BaseModel):
    """One server as the file has it, nothing filled in."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True, hide_input_in_errors=True)

    type: str | None = None
    transport: str | None = None
    command: str | None = Field(default=None, min_length=1)
    args: tuple[str, ...] = Field(default=(), strict=False)
    url: str | None = Field(default=None, min_length=1)
    env: dict[str, str] = Field(default_factory=dict, repr=False)
    headers: dict[str, str] = Field(default_factory=dict, repr=False)


class _File(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True, hide_input_in_errors=True)

    mcpServers: dict[str, ServerEntry] = Field(max_length=MAX_SERVERS)


@dataclass(frozen=True, slots=True)
class Server:
    """A server that can be connected to. `env`: all that its process is given. Neither it nor `headers` is shown."""

    name: str
    transport: Literal["stdio", "http"]
    command: str = ""
    args: tuple[str, ...] = ()
    url: str = ""
    env: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)
    secrets: Secrets = field(default_factory=Secrets, repr=False, hash=False, compare=False)
    cwd: Path | None = None


def fold(name: str) -> str:
    """The form in which two spellings of one tool's name are equal."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def read_servers(path: Path) -> dict[str, ServerEntry]:
    """The servers of an `mcpServers` file by `fold`ed name. Raises ServersFault."""
    try:
        found = _File.model_validate(json.loads(_read(path), object_pairs_hook=_unique))
    except ValidationError as error:
        where, problem = first(error)
        raise ServersFault("servers.form", path=str(path), place=".".join(map(str, where)), problem=problem) from None
    except _Twice as error:
        raise ServersFault("servers.twice", path=str(path), name=str(error.args[0])) from None
    except (ValueError, RecursionError):
        raise ServersFault("servers.json", path=str(path)) from None
    servers: dict[str, ServerEntry] = {}
    for name, entry in found.mcpServers.items():
        _check(path, name, entry)
        if fold(name) in servers:
            raise ServersFault("servers.same", path=str(path), name=name)
        servers[fold(name)] = entry
    return servers


class _Twice(Exception):
    pass


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for key, value in pairs:
        if key in found:
            raise _Twice(key)
        found[key] = value
    return found


def _read(path: Path) -> bytes:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ServersFault("servers.no-file", path=str(path))
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        why = reason(error) if isinstance(error, OSError) else Message("servers.no-path")
        raise ServersFault("servers.unreadable", path=str(path), reason=why) from error
    if len(content) > MAX_BYTES:
        raise ServersFault("servers.too-large", path=str(path), most=MAX_BYTES)
    return content


def _check(path: Path, name: str, entry: ServerEntry) -> None:
    where = f"{path}: mcpServers.{name}"
    if not name.strip():
        raise ServersFault("servers.nameless", path=str(path))
    if (entry.command is None) == (entry.url is None):
        raise ServersFault("servers.either", where=where)
    for header in entry.headers:
        if not HEADER_NAME.match(header):
            raise ServersFault("servers.header", where=where, name=header)
    for variable in entry.env:
        if not variable or "=" in variable or "\0" in variable:
            raise ServersFault("servers.variable", where=where, name=variable)


def configured(name: str, entry: ServerEntry, environment: Mapping[str, str]) -> Server:
    """The server of a file's entry, its `${NAME}` in `env` and `headers` filled in. Raises SourceFault."""
    kinds = [kind for kind in (entry.type, entry.transport) if kind is not None]
    allowed = ("stdio",) if entry.url is None else _HTTP
    for kind in kinds:
        if kind not in allowed:
            raise SourceFault("server.transport", name=name, kind=kind, known=allowed[0])
    given = entry.env if entry.url is None else entry.headers
    place = "env" if entry.url is None else "headers"
    filled = {key: _filled(name, f"{place}.{key}", value, environment) for key, value in given.items()}
    for key, value in filled.items():
        if "\0" in value or (place == "headers" and any(char in value for char in "\r\n")):
            raise SourceFault("server.character", name=name, place=f"{place}.{key}")
    secrets = Secrets(value for key, value in filled.items() if place == "headers" or _secret(key, given[key], value))
    if entry.url is not None:
        return Server(name, "http", url=_url(name, entry.url), headers=filled, secrets=secrets)
    command = entry.command or ""
    return Server(name, "stdio", command, entry.args, env=inherited(environment) | filled, secrets=secrets)


def _secret(key: str, written: str, value: str) -> bool:
    """What is written in the file in plain, short, and under a harmless name (`LOG_LEVEL`, `REGION`) is none."""
    return written != value or len(value) > _LONGEST_PLAIN or _SECRET_NAME.search(key) is not None


def _filled(name: str, where: str, value: str, environment: Mapping[str, str]) -> str:
    def look_up(match: re.Match[str]) -> str:
        variable = match[1]
        if not _NAME.match(variable):
            raise SourceFault("server.variable-name", name=name, place=where, variable=variable[:80])
        if variable not in environment:
            raise SourceFault("server.variable-unset", name=name, place=where, variable=variable)
        return environment[variable]

    return _VARIABLE.sub(look_up, value)


def pinned(pin: ToolPin, environment: Mapping[str, str]) -> Server:
    """The server that the manifest names, with the credentials that it names. Raises SourceFault."""
    name, server = pin.tool, pin.server
    if server is None or (server.url is None) == (server.command is None):
        raise SourceFault("server.nowhere", name=name)
    credentials = named_credentials(name, server.credentials, environment)
    secrets = Secrets(credentials.values())
    if server.command is not None:
        env = inherited(environment) | server.env | credentials
        return Server(name, "stdio", server.command, server.args, env=env, secrets=secrets)
    url = _url(name, server.url or "")
    return Server(name, "http", url=url, headers=bearer(name, credentials), secrets=secrets)


def named_credentials(name: str, variables: tuple[str, ...], environment: Mapping[str, str]) -> dict[str, str]:
    """The values of the environment variables that hold a tool's credentials. Raises SourceFault."""
    missing = [variable for variable in variables if not environment.get(variable)]
    if missing:
        raise SourceFault("server.credentials", name=name, variables=", ".join(missing))
    return {variable: environment[variable] for variable in variables}


def bearer(name: str, credentials: Mapping[str, str]) -> dict[str, str]:
    """The header that carries the one credential of a tool by HTTP. Raises SourceFault."""
    if not credentials:
        return {}
    if len(credentials) > 1:
        raise SourceFault("server.one-credential", name=name, variables=", ".join(credentials))
    ((variable, value),) = credentials.items()
    if not value.isascii() or not value.isprintable():
        raise SourceFault("server.header-value", name=name, variable=variable)
    return {"Authorization": f"Bearer {value}"}


def inherited(environment: Mapping[str, str]) -> dict[str, str]:
    """What of our own environment a server's process is given: where programs and homes are, and the language."""
    # A value that begins so is a function of a shell.
    return {
        name: environment[name] for name in _INHERITED if name in environment and not environment[name].startswith("()")
    }


def is_loopback(host: str) -> bool:
    return host in ("localhost", "::1") or re.fullmatch(r"127(\.\d{1,3}){3}", host) is not None


def _url(name: str, url: str) -> str:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise SourceFault("server.no-url", name=name) from None
    if not host or parts.scheme not in ("https", "http"):
        raise SourceFault("server.https", name=name)
    if parts.scheme == "http" and not is_loopback(host):
        raise SourceFault("server.plain-http", name=name)
    return url
