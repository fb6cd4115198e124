"""`aop recompile`: plan, ask, run, and follow a recompile of many documents on a server."""

from __future__ import annotations

import contextlib
import json
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal, cast

from cli import streams
from cli.exits import FAILED, OK
from cli.json_output import print_json
from cli.messages import say
from cli.progress import bar_for
from cli.remote import Json, Refused, Remote
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
    """1 where a document failed or is dead, or the recompile was cancelled. Raises Trouble, OutputFault."""
    lang = options.lang
    with Remote(options.to, lang, answer_s=_ANSWER_S) as remote:
        plan = _post(remote, {"scope": options.scope})
        while True:
            if options.form == "text" or options.plan or not plan["run"]:
                _show_plan(plan, options)
            if options.plan or not plan["run"]:
                return OK
            if not options.yes and not _agreed(plan, options):
                return OK
            try:
                begun = _post(remote, {"plan_token": plan["plan_token"]})
            except Refused as refused:
                changed = refused.details.get("plan")
                if not isinstance(changed, dict):
                    raise
                # Nothing has run. Whoever was not asked has not agreed to this one.
                plan = changed
                if options.yes:
                    _show_plan(plan, options)
                    raise
                streams.note(f"aop: {refused.english}")
            else:
                break
        identity = str(begun["recompile_id"])
        ended = _followed(remote, identity, lang)
        if options.form == "json":
            print_json(ended)
        else:
            _show_end(remote, ended, lang)
    outcomes = cast("dict[str, int]", ended["outcomes"])
    unwell = outcomes.get("failed") or outcomes.get("dead") or ended["state"] == "cancelled"
    return FAILED if unwell else OK


def _show_end(remote: Remote, ended: Json, lang: Lang) -> None:
    """The counts, and which documents are not as they should be."""
    outcomes = cast("dict[str, int]", ended["outcomes"])
    counts = {name: outcomes.get(name, 0) for name in ("succeeded", "failed", "superseded", "dead", "skipped")}
    streams.emit(say("recompile.ended", lang, state=str(ended["state"]), **counts) + "\n")
    wanted = counts["failed"] + counts["dead"]
    if not wanted:
        return
    shown = list(islice(_unwell(remote, str(ended["recompile_id"])), _SHOWN))
    for document, outcome in shown:
        streams.emit(f"    {visible(document)} ({outcome})\n")
    if wanted > len(shown):
        streams.emit(say("dev.more", lang, count=wanted - len(shown)) + "\n")


def _unwell(remote: Remote, identity: str) -> Iterator[tuple[str, str]]:
    """Documents that failed or are dead, each with which."""
    cursor = 0
    while True:
        page = remote.json("GET", f"/v1/recompiles/{identity}/results?cursor={cursor}")
        for entry in cast("list[Json]", page["results"]):
            if entry["outcome"] in ("failed", "dead"):
                yield str(entry["document_id"]), str(entry["outcome"])
        cursor = cast("int", page["next"])
        if not cursor:
            return


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


def _agreed(plan: Json, options: Recompiling) -> bool:
    """Raises Trouble where nobody can be asked."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise Trouble("recompile.ask")
    lang = options.lang
    if options.form == "json":  # standard output is for a program
        numbers = {name: cast("int", plan[name]) for name in ("total", "run", "reused", "model_calls")}
        streams.note(say("recompile.plan", lang, **numbers))
    streams.flush()
    # What was typed before the question was shown does not answer it.
    with contextlib.suppress(termios.error):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    sys.stderr.write(say("recompile.question", lang) + " ")
    sys.stderr.flush()
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
