"""`aop recompile`: plan, ask, run, and follow a recompile of many documents on a server."""

from __future__ import annotations

import json
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final, Literal, cast

from cli import streams
from cli.exits import FAILED, OK
from cli.json_output import print_json
from cli.messages import say
from cli.progress import bar_for
from cli.remote import Json, Remote
from cli.trouble import Trouble
from pipeline.diagnostics.lang import Lang
from pipeline.diagnostics.visible import visible

_LOOK_S: Final = 0.5
_SHOWN: Final = 20
"""Documents that a plan lists."""
_ANSWER_S: Final = 180.0
"""A plan of a large library takes a while."""


@dataclass(frozen=True, slots=True)
class Recompiling:
    """`scope`: as the server takes it. `yes`: run without asking; `plan`: only say what would run."""

    scope: dict[str, object]
    to: str
    yes: bool
    plan: bool
    form: Literal["text", "json"]
    lang: Lang


def run(options: Recompiling) -> int:
    """1 where a document failed or is dead. Raises Trouble, OutputFault."""
    lang = options.lang
    with Remote(options.to, lang, answer_s=_ANSWER_S) as remote:
        plan = _post(remote, {"scope": options.scope})
        if options.plan or not plan["run"]:
            _show_plan(plan, options)
            return OK
        if options.form == "text":
            _show_plan(plan, options)
        if not options.yes and not _agreed(lang):
            return OK
        begun = _post(remote, {"plan_token": plan["plan_token"]})
        ended = _followed(remote, str(begun["recompile_id"]), lang)
    if options.form == "json":
        print_json(ended)
    outcomes = cast("dict[str, int]", ended["outcomes"])
    if options.form == "text":
        counts = {name: outcomes.get(name, 0) for name in ("succeeded", "failed", "superseded", "dead", "skipped")}
        streams.emit(say("recompile.ended", lang, state=str(ended["state"]), **counts) + "\n")
    return FAILED if outcomes.get("failed") or outcomes.get("dead") else OK


def _post(remote: Remote, body: dict[str, object]) -> Json:
    headers = {"content-type": "application/json"}
    return remote.json("POST", "/v1/recompiles", content=json.dumps(body).encode(), headers=headers)


def _show_plan(plan: Json, options: Recompiling) -> None:
    if options.form == "json":
        print_json(plan)
        return
    lang = options.lang
    numbers = {name: cast("int", plan[name]) for name in ("total", "run", "reused", "model_calls")}
    streams.emit(say("recompile.plan", lang, **numbers) + "\n")
    for reason, count in sorted(cast("dict[str, int]", plan["reasons"]).items()):
        streams.emit(f"  {reason}: {count}\n")
    documents = cast("list[Json]", plan["documents"])
    for entry in documents[:_SHOWN]:
        reasons = ", ".join(cast("list[str]", entry["reasons"]))
        streams.emit(f"    {visible(str(entry['document_id']))} ({reasons})\n")
    if numbers["run"] > _SHOWN:
        streams.emit(say("dev.more", lang, count=numbers["run"] - _SHOWN) + "\n")


def _agreed(lang: Lang) -> bool:
    """Raises Trouble where nobody can be asked."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise Trouble("recompile.ask")
    streams.emit(say("recompile.question", lang) + " ", flush=True)
    return sys.stdin.readline().strip().casefold() in ("y", "yes", "はい")


def _followed(remote: Remote, identity: str, lang: Lang) -> Json:
    """Until it has ended. An interrupt ends the following, not the recompile."""
    with ExitStack() as resources:
        bar = None
        while True:
            found = remote.json("GET", f"/v1/recompiles/{identity}")
            total = cast("int", found["total"])
            if bar is None:
                made = bar_for(total, say("recompile.label", lang))
                resources.enter_context(made)
                bar = made
            bar.advance(cast("int", found["done"]), total)
            if found["state"] in ("finished", "cancelled"):
                return found
            time.sleep(_LOOK_S)
