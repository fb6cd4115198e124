"""`python procedure.py`: what a compiled procedure does when it is run by itself, as `aop run procedure.py` does."""

# ruff: noqa: PLC0415 - what is only described needs neither pydantic nor the engine, and may have neither

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from aop_runtime.declarations import Procedure
from aop_runtime.describe import describe, printable
from aop_runtime.faults import Fault
from aop_runtime.messages import Message

_TROUBLE: Final = 2

_HELP: Final[Mapping[str, str]] = {
    "describe": "宣言を表示する / show what is declared",
    "dry-run": "各フェーズに渡すものを表示する / show what each phase would get",
    "input": "依頼の内容 / what is asked for",
    "attach": "実行に渡すファイル / a file to give to the run",
    "model": "モデル（環境変数 AOP_MODEL でも可） / the model, provider:name (or AOP_MODEL)",
    "script": "言語モデルの代わりの台本 / turns of a scripted model",
    "mcp-config": "MCP サーバーの場所 / where the MCP servers are",
    "permissions": "許可の決まり / what is allowed, asked for and denied",
    "library": "呼び出す手順のフォルダー / where called procedures lie",
    "runs": "実行の記録のフォルダー / where runs are recorded",
    "resume": "止まった実行を続ける / go on with a run",
    "format": "表示の形 / form of the output",
    "lang": "表示の言語 / language of the output",
}


def main(procedure: Procedure, arguments: Sequence[str] | None = None) -> None:
    """Run `procedure`, whose module is the program that runs. Ends in SystemExit, with the statuses of `aop run`."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal without Japanese still shows something
    given = _parser(procedure).parse_args(arguments)
    if given.describe:
        sys.stdout.write(describe(procedure, given.lang))
        sys.exit(0)
    folder = Path(sys.argv[0]).resolve().parent
    try:
        status = _run(folder, given)
    except Fault as fault:
        sys.stderr.write(f"{printable(fault.text(given.lang))}\n")
        status = _TROUBLE
    except ModuleNotFoundError as error:
        missing = Message("run.not-installed", package=error.name or "aop")
        sys.stderr.write(f"{missing.text(given.lang)}\n")
        status = _TROUBLE
    sys.exit(status)


def _parser(procedure: Procedure) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=printable(procedure.name).replace("%", "%%"))
    for name in ("describe", "dry-run"):
        parser.add_argument(f"--{name}", action="store_true", help=_HELP[name])
    for name in ("input", "model", "script", "mcp-config", "permissions", "library", "resume"):
        parser.add_argument(f"--{name}", help=_HELP[name])
    parser.add_argument("--attach", action="append", default=[], help=_HELP["attach"])
    parser.add_argument("--runs", default=".aop/runs", help=_HELP["runs"])
    parser.add_argument("--format", choices=["text", "jsonl"], default="text", help=_HELP["format"])
    parser.add_argument("--lang", choices=["ja", "en"], default="ja", help=_HELP["lang"])
    return parser


def _run(folder: Path, given: argparse.Namespace) -> int:
    """Raises Fault."""

    def path(word: str | None) -> Path | None:
        return None if word is None else Path(word)

    if given.dry_run:
        from aop_runtime.engine.dry_run import shown

        sys.stdout.write(f"{shown(folder, path(given.permissions), given.lang, as_json=given.format == 'jsonl')}\n")
        return 0
    from aop_runtime.runs.folder import RunFolder
    from aop_runtime.session import Start, resume, start, terminal_console

    console = terminal_console(given.format, given.lang)
    if given.resume is not None:
        return resume(RunFolder(Path(given.runs), given.resume), {}, console)
    started = Start(
        compiled=folder,
        runs=Path(given.runs),
        input=given.input or "",
        attachments=tuple(map(Path, given.attach)),
        model=given.model or os.environ.get("AOP_MODEL", ""),
        script=path(given.script),
        mcp_config=path(given.mcp_config),
        permissions=path(given.permissions),
        library=path(given.library) or folder.parent,
        language=given.lang,
    )
    return start(started, console)
