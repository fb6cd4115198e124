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
from aop_runtime.describe import describe
from aop_runtime.faults import Fault
from aop_runtime.messages import Message
from aop_runtime.visible import visible

_TROUBLE: Final = 2

_HELP: Final[Mapping[str, str]] = {
    "describe": "宣言を表示する / show what is declared",
    "dry-run": "各フェーズに渡すものを表示する / show what each phase would get",
    "input": "依頼の内容（文、@ファイル、標準入力は -） / what is asked for: text, @FILE, or - for standard input",
    "attach": "実行に渡すファイル / a file to give to the run",
    "model": "モデル（環境変数 AOP_MODEL でも可） / the model, provider:name (or AOP_MODEL)",
    "script": "言語モデルの代わりの台本 / turns of a scripted model",
    "mcp-config": "MCP サーバーの場所 / where the MCP servers are",
    "permissions": "許可の決まり / what is allowed, asked for and denied",
    "plugins": "自社の道具のプラグインのフォルダー / a folder of plug-ins",
    "feature": "使う機能（batch） / switch a feature on: batch",
    "allow": "確認なしに許す呼び出し（slack.*） / approve calls unasked, by pattern",
    "limit": "実行全体の上限（名前=数） / a limit of the whole run, NAME=N",
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
    try:
        status = _run(Path(sys.argv[0]), given)
    except Fault as fault:
        sys.stderr.write(f"{visible(fault.text(given.lang))}\n")
        status = _TROUBLE
    except ModuleNotFoundError as error:
        missing = Message("run.not-installed", package=error.name or "aop")
        sys.stderr.write(f"{missing.text(given.lang)}\n")
        status = _TROUBLE
    sys.exit(status)


def _parser(procedure: Procedure) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=visible(procedure.name).replace("%", "%%"))
    for name in ("describe", "dry-run"):
        parser.add_argument(f"--{name}", action="store_true", help=_HELP[name])
    for name in ("input", "model", "script", "mcp-config", "permissions", "plugins", "library", "runs", "resume"):
        parser.add_argument(f"--{name}", help=_HELP[name])
    for name in ("attach", "feature", "allow", "limit"):
        parser.add_argument(f"--{name}", action="append", default=[], help=_HELP[name])
    parser.add_argument("--format", choices=["text", "jsonl"], default="text", help=_HELP["format"])
    # As AOP_LANG says, like the command `aop`.
    spoken = "en" if os.environ.get("AOP_LANG") == "en" else "ja"
    parser.add_argument("--lang", choices=["ja", "en"], default=spoken, help=_HELP["lang"])
    return parser


def _run(module: Path, given: argparse.Namespace) -> int:
    """Raises Fault."""
    from aop_runtime.options import RunOptions, folder_of, permissions_of, start_of

    options = RunOptions(
        input=given.input,
        attach=tuple(given.attach),
        model=given.model,
        script=given.script,
        mcp_config=given.mcp_config,
        permissions=given.permissions,
        plugins=given.plugins,
        feature=tuple(given.feature),
        allow=tuple(given.allow),
        limit=tuple(given.limit),
        library=given.library,
        runs=given.runs,
        dry_run=given.dry_run,
        format=given.format,
        lang=given.lang,
    )
    compiled = folder_of(module)
    if given.dry_run:
        from aop_runtime.engine.dry_run import shown

        sys.stdout.write(f"{shown(compiled, permissions_of(options), given.lang, as_json=given.format == 'jsonl')}\n")
        return 0
    from aop_runtime.session import resume, start, terminal_console

    console = terminal_console(given.format, given.lang)
    if given.resume is not None:
        return resume(given.resume, options, {}, console)
    return start(start_of(options, compiled, compiled.parent), console, options.allow)
