"""What a run is told on a command line, and what that comes to: for `aop run` and `python procedure.py` alike."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

from aop_runtime.loading import MODULE
from aop_runtime.messages import reason
from aop_runtime.runs.folder import MAX_INPUT, Limits, RunFault

Format: TypeAlias = Literal["text", "jsonl"]

RUNS: Final = Path(".aop/runs")
PERMISSIONS: Final = Path(".aop/permissions.yaml")
SERVERS: Final = Path("mcp.json")
MODEL_VARIABLE: Final = "AOP_MODEL"

_COUNT: Final = re.compile(r"[0-9]{1,12}", re.ASCII)
_SECONDS: Final = re.compile(r"[0-9]{1,12}(\.[0-9]{1,3})?", re.ASCII)
_SHELL_PIPES: Final = ("/dev/fd/", "/proc/self/fd/", "/dev/stdin")


class RunOptions(NamedTuple):
    """As written; None and () where nothing was."""

    input: str | None = None
    attach: tuple[str, ...] = ()
    model: str | None = None
    script: str | None = None
    mcp_config: str | None = None
    permissions: str | None = None
    plugins: str | None = None
    feature: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    limit: tuple[str, ...] = ()
    library: str | None = None
    runs: str | None = None
    dry_run: bool = False
    format: Format = "text"
    lang: Literal["ja", "en"] = "ja"


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What a run is started with. `compiled`: the folder of procedure.py and manifest.json. `library`: where those lie
    that it may call."""

    compiled: Path
    library: Path
    runs: Path = RUNS
    input: str = ""
    attachments: tuple[Path, ...] = ()
    model: str = ""
    script: Path | None = None
    mcp_config: Path | None = None
    permissions: Path | None = None
    plugins: Path | None = None
    features: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    language: str = "ja"


def start_of(options: RunOptions, compiled: Path, library: Path) -> Start:
    """`library`: where it is looked for unless an option says otherwise. Raises RunFault."""
    return Start(
        compiled=compiled,
        library=Path(options.library or library),
        runs=runs_of(options.runs),
        input=_input(options.input),
        attachments=tuple(map(Path, options.attach)),
        model=utf_8("--model", options.model or os.environ.get(MODEL_VARIABLE, "")),
        script=path_of("--script", options.script),
        mcp_config=servers_of(options),
        permissions=permissions_of(options),
        plugins=path_of("--plugins", options.plugins),
        features=tuple(utf_8("--feature", word) for word in options.feature),
        limits=Limits.model_validate(read_limits(options.limit)),
        language=options.lang,
    )


def runs_of(word: str | None) -> Path:
    return Path(word or RUNS)


def permissions_of(options: RunOptions) -> Path | None:
    """Raises RunFault."""
    return _named_or_there("--permissions", options.permissions, PERMISSIONS)


def servers_of(options: RunOptions) -> Path | None:
    """Raises RunFault."""
    return _named_or_there("--mcp-config", options.mcp_config, SERVERS)


def utf_8(option: str, word: str) -> str:
    """`word`, which a record can hold. Raises RunFault for bytes of another encoding."""
    try:
        word.encode()
    except UnicodeEncodeError as error:
        raise RunFault("option.no-utf-8", option=option, word=word) from error
    return word


def path_of(option: str, word: str | None) -> Path | None:
    """Raises RunFault for an empty word, which would be the current folder."""
    if word == "":
        raise RunFault("option.empty", option=option)
    return None if word is None else Path(word)


def _named_or_there(option: str, word: str | None, default: Path) -> Path | None:
    """The file that is named, else the one that lies where such files lie. Raises RunFault."""
    named = path_of(option, word)
    return named if named is not None else default if default.is_file() else None


def folder_of(module: Path) -> Path:
    """Of a compiled module. Raises RunFault for a file of another name: the manifest beside it is not its."""
    if module.name != MODULE:
        raise RunFault("option.other-module", path=str(module), name=MODULE)
    return module.resolve().parent


def _input(word: str | None) -> str:
    """Text as it is, `@FILE`, or `-` for standard input. Raises RunFault."""
    if word is None:
        return ""
    if word != "-" and not word.startswith("@"):
        return utf_8("--input", word)
    data = _read(word)
    if len(data) > MAX_INPUT:
        raise RunFault("option.input-too-large", word=word, most=MAX_INPUT)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RunFault("option.input-not-utf8", word=word) from error


def _read(word: str) -> bytes:
    """One byte more than an input may have, at most. Raises RunFault."""
    try:
        if word == "-":
            if sys.stdin is None:
                raise RunFault("option.input-closed")
            return sys.stdin.buffer.read(MAX_INPUT + 1)
        path = Path(word[1:])
        # A pipe with a name may have no writer, ever.
        if not stat.S_ISREG(path.stat().st_mode) and not word[1:].startswith(_SHELL_PIPES):
            raise RunFault("option.input-no-file", word=word)
        with path.open("rb") as file:
            return file.read(MAX_INPUT + 1)
    except OSError as error:
        raise RunFault("option.input-unreadable", word=word, reason=reason(error)) from error
    except ValueError as error:
        raise RunFault("option.input-unreadable", word=word, reason=str(error)) from error  # a path with a NUL


def read_limits(words: Sequence[str]) -> dict[str, float]:
    """`NAME=N`, each. Raises RunFault."""
    fields: dict[str, float] = {}
    for word in words:
        name, found, value = word.partition("=")
        digits = _SECONDS if name == "seconds" else _COUNT
        if name not in Limits.model_fields or not found or digits.fullmatch(value) is None:
            raise RunFault("option.limit", word=word, known=", ".join(Limits.model_fields))
        fields[name] = float(value)
    return fields
