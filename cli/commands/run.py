"""`aop run`: compile a document if it is one, and drive a procedure from its first phase to its result."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from aop_runtime.engine.dry_run import shown
from aop_runtime.engine.library import by_document, compiled_folder
from aop_runtime.loading import load_procedure
from aop_runtime.runs.folder import MAX_INPUT, Limits, RunFault
from cli import streams
from cli.arguments import DEFAULT_RUNS, Words, read_lang, read_options, read_path
from cli.commands.compile import run as compile_documents
from cli.exits import FAILED, OK
from cli.reading import read_file, read_stdin
from cli.run_extra import run_extra
from cli.trouble import Trouble

BUILT: Final = Path(".aop/built")
PERMISSIONS: Final = Path(".aop/permissions.yaml")
SERVERS: Final = Path("mcp.json")

_COUNT: Final = re.compile(r"[0-9]{1,12}", re.ASCII)
_SECONDS: Final = re.compile(r"[0-9]{1,12}(\.[0-9]{1,3})?", re.ASCII)


class RunWords(NamedTuple):
    """What `aop run` was given, as written."""

    target: str
    input: str | None = None
    attach: tuple[str, ...] = ()
    model: str | None = None
    script: str | None = None
    mcp_config: str | None = None
    permissions: str | None = None
    plugins: str | None = None
    features: tuple[str, ...] = ()
    approve: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    catalog: tuple[str, ...] = ()
    org: tuple[str, ...] = ()
    runs: str | None = None
    library: str | None = None
    lang: str | None = None
    jsonl: bool = False
    dry_run: bool = False


def run(words: RunWords) -> int:
    """Raises Trouble, and what `cli.main` puts into words."""
    lang = read_lang(words.lang)
    permissions = _file("--permissions", words.permissions, PERMISSIONS)
    servers = _file("--mcp-config", words.mcp_config, SERVERS)
    # The servers that a run reaches are tools of the document that is run, whether they were named or found.
    compiled, library = _compiled(words._replace(mcp_config=None if servers is None else str(servers)))
    if compiled is None:
        return FAILED
    if words.dry_run:
        streams.emit(f"{shown(compiled, permissions, lang, as_json=words.jsonl)}\n")
        return OK
    # The engine brings pydantic-ai and mcp: a dry run, and every other command, must not pay for them.
    with run_extra():
        from aop_runtime.session import Start, start, terminal_console  # noqa: PLC0415

    given = Start(
        compiled=compiled,
        runs=Path(words.runs or DEFAULT_RUNS),
        input=_input(words.input),
        attachments=tuple(map(Path, words.attach)),
        model=words.model or os.environ.get("AOP_MODEL", ""),
        script=read_path("--script", words.script),
        mcp_config=servers,
        permissions=permissions,
        plugins=read_path("--plugins", words.plugins),
        library=library,
        features=words.features,
        limits=Limits.model_validate(read_limits(words.limits)),
        language=lang,
    )
    return start(given, terminal_console("jsonl" if words.jsonl else "text", lang), words.approve)


def _file(option: str, word: str | None, default: Path) -> Path | None:
    """The one that is named, else the one that lies where such files lie. Raises Trouble for an empty word."""
    named = read_path(option, word)
    return named if named is not None else default if default.is_file() else None


def _input(word: str | None) -> str:
    """Text as it is, `@FILE`, or `-` for standard input."""
    if word is None:
        return ""
    if word != "-" and not word.startswith("@"):
        return word
    data = read_stdin() if word == "-" else read_file(word[1:])
    if len(data) > MAX_INPUT:
        raise RunFault("run.input-too-large", word=word, size=len(data), most=MAX_INPUT)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RunFault("run.input-not-utf8", word=word) from error


def read_limits(words: Sequence[str]) -> dict[str, float]:
    """`NAME=N`, each. Raises Trouble."""
    fields: dict[str, float] = {}
    for word in words:
        name, found, value = word.partition("=")
        digits = _SECONDS if name == "seconds" else _COUNT
        if name not in Limits.model_fields or not found or digits.fullmatch(value) is None:
            raise Trouble("usage.limit", word=word, known=", ".join(Limits.model_fields))
        fields[name] = float(value)
    return fields


def _compiled(words: RunWords) -> tuple[Path | None, Path]:
    """The folder of the compiled target and the one of all that it may call. None: it has errors, which are shown."""
    target = Path(words.target)
    if target.is_dir() and (target / "procedure.py").is_file():
        return target, Path(words.library or target.parent)
    if target.suffix == ".py":
        return target.parent, Path(words.library or target.parent.parent)
    if target.is_dir():
        raise Trouble("discover.not-a-document", path=words.target)
    if not _compile(words, words.target):
        return None, BUILT
    document = sha256(read_file(words.target)).hexdigest()
    compiled = by_document(BUILT, document)
    for name in _missing(compiled):
        # What it calls lies in its folder; documents with errors there are no matter to it.
        _compile(words, str(target.parent), quiet=True)
        compiled_folder(BUILT, name)
    return compiled, Path(words.library or BUILT)


def _missing(compiled: Path) -> list[str]:
    """What a procedure calls, of which nothing up to date can be known: it is compiled again, which costs little."""
    return [phase.calls for phase in load_procedure(compiled / "procedure.py").phases if phase.calls is not None]


def _compile(words: RunWords, document: str, *, quiet: bool = False) -> bool:
    given = Words(
        documents=(document,),
        out=str(BUILT),
        catalog=words.catalog,
        org=words.org,
        mcp_config=words.mcp_config,
        lang=words.lang,
    )
    said = io.StringIO()
    with redirect_stdout(said):
        status = compile_documents(read_options(given, check=False))
    if status != OK and not quiet:
        sys.stderr.write(said.getvalue())
    return status == OK
