"""A run of a small procedure, with tools that record in a file what was really done, whichever process did it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from aop_runtime.declarations import Handover, Http, Json, Mcp, Standard
from aop_runtime.engine.models import Models, ScriptedModels
from aop_runtime.engine.people import Beforehand, Files, FirstOf
from aop_runtime.engine.run import Equipment
from aop_runtime.engine.script import Script
from aop_runtime.manifest import Manifest
from aop_runtime.plane.audit import Audit
from aop_runtime.plane.context import ToolContext
from aop_runtime.plane.envelope import Output
from aop_runtime.plane.hooks import Hook
from aop_runtime.plane.permission import Rules
from aop_runtime.plane.questions import Person
from aop_runtime.plane.spec import Effect, Tool, ToolSpec
from aop_runtime.runs.folder import Limits, Plan, RunFolder
from aop_runtime.runs.vault import Vault
from aop_runtime.sources.protocol import Source

HEAD = '''"""Of a test."""

from aop_runtime import Mcp, Phase, Procedure

PROCEDURE = Procedure(
    name="{name}",
    phases=(
'''
TAIL = '    ),\n)\n\nif __name__ == "__main__": PROCEDURE.main()\n'
AGENT = (
    '        Phase(number={number}, title="段階", instructions="  手順 {number}\\n", '
    'tools=(Mcp("crm", read_only=False, operations=("find", "send")),)),\n'
)
CALL = '        Phase(number={number}, title="呼ぶ", calls="{calls}"),\n'


def compiled(folder: Path, name: str, *phases: str) -> Path:
    """A module and its manifest, as `aop compile` writes them. A phase is `agent`, or the procedure that it calls."""
    folder.mkdir(parents=True, exist_ok=True)
    written = [
        AGENT.format(number=number) if phase == "agent" else CALL.format(number=number, calls=phase)
        for number, phase in enumerate(phases, 1)
    ]
    return described(folder, HEAD.format(name=name) + "".join(written) + TAIL, name)


def described(folder: Path, module: str, name: str) -> Path:
    """The module, and a manifest that was written for it."""
    (folder / "procedure.py").write_text(module, encoding="utf-8")
    of_module = {"sha256": sha256(module.encode()).hexdigest()}
    manifest = {"version": 1, "document": {"name": name}, "module": of_module, "operations": [], "tools": []}
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return folder


TEXT: dict[str, Json] = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


class Crm:
    """A source: `find` reads, `send` writes; what was really done goes into the file `log`, a line each."""

    def __init__(self, log: Path) -> None:
        self._log = log

    def accepts(self, grant: Mcp | Http | Standard | Handover) -> bool:
        return grant.tool == "crm"

    async def tools(self, grant: Mcp | Http | Standard | Handover) -> Sequence[Tool]:
        return [self._tool("find", "read"), self._tool("send", "write")]

    def _tool(self, name: str, effect: Effect) -> Tool:
        async def handler(arguments: Mapping[str, Json], context: ToolContext) -> Output:
            with self._log.open("a", encoding="utf-8") as file:
                file.write(f"{name} {arguments['text']}\n")
            return Output(content=f"{name}: {arguments['text']}")

        spec = ToolSpec(name=name, tool="crm", operation=name, description=name, input_schema=TEXT, effect=effect)
        return Tool(spec, handler)

    async def aclose(self) -> None:
        pass


class Given:
    """An `Equipment`. `approved`: patterns that are allowed without asking. `secrets`: which no record may hold."""

    def __init__(self, log: Path, models: Models, approved: Sequence[str] = (), secrets: Sequence[str] = ()) -> None:
        self.log, self.models, self.approved, self.secrets = log, models, approved, secrets
        self.rules: tuple[Rules, ...] = (Rules(),)

    def sources(self, manifest: Manifest, folder: RunFolder) -> Sequence[Source]:
        return [Crm(self.log)]

    def hooks(self, folder: RunFolder) -> Sequence[Hook]:
        return [Audit(folder.path / "audit.jsonl", lambda value: value)]

    def person(self, folder: RunFolder) -> Person:
        return FirstOf([Beforehand(self.approved), Files(folder.path)])

    def vault(self, folder: RunFolder) -> Vault:
        return Vault(self.secrets, folder.run)

    def called(self, procedure: str) -> Equipment:
        return Given(self.log, self.models.called(procedure), self.approved, self.secrets)


def script(phases: Mapping[str, Any], called: Mapping[str, Any] | None = None) -> ScriptedModels:
    return ScriptedModels(Script.model_validate({"phases": phases, "called": called or {}}))


def turn(say: str = "", expect: str = "", **calls: str) -> dict[str, Any]:
    """`turn(find="a")`: a call of find with the text a."""
    made = [{"tool": name, "arguments": {"text": text}} for name, text in calls.items()]
    return {"say": say, "expect": expect, "calls": made}


def started(
    runs: Path, module: Path, name: str = "r1", limits: Limits | None = None, library: str | None = None
) -> RunFolder:
    folder = RunFolder(runs, name)
    given = {"run": name, "procedure": "p", "input": "頼む", "model": "script", "limits": limits or Limits()}
    folder.create(Plan(**given, library=library), module)
    return folder


def done(log: Path) -> list[str]:
    return log.read_text(encoding="utf-8").splitlines() if log.exists() else []
