"""`aop verify PROCEDURE DOCUMENT`: whether code, by whomever, carries the document's fences and its tools (I3)."""

from __future__ import annotations

from typing import Final, TypedDict

from cli import streams
from cli.analysis import Analysis, analyse
from cli.arguments import Setting
from cli.documents import open_catalog
from cli.exits import FAILED, OK
from cli.json_output import print_json
from cli.messages import say
from cli.reading import read_file
from pipeline.artifacts import Fault, ParsedDocument, ResolvedDocument, ResolvedPhase
from pipeline.diagnostics.bind import bind
from pipeline.diagnostics.json import DiagnosticDict, diagnostic_dict
from pipeline.diagnostics.lang import Lang
from pipeline.diagnostics.text import render_text
from pipeline.document.source import Source, read_source
from pipeline.review.version import written
from pipeline.stages.verify import verify

_NOT_UTF8: Final = Fault("form", None, "not UTF-8")


class FaultDict(TypedDict):
    """A fault as `--format json` has it. `phase`: as in a diagnostic; `line`: the document's, of the fence or phase."""

    kind: str
    phase: int | None
    line: int | None
    message: str


class Verified(TypedDict):
    """`diagnostics`: what keeps the document from saying what the code should be; there are no `faults` then."""

    proven: bool
    faults: list[FaultDict]
    diagnostics: list[DiagnosticDict]


def run(procedure: str, document: str, setting: Setting, *, json: bool) -> int:
    """Raises Trouble, CatalogError, OSError."""
    source = read_file(procedure)
    analysis = analyse(document, setting, open_catalog(setting))
    compilation = analysis.compilation
    if compilation.parsed is None or compilation.resolved is None or compilation.status == "failed":
        return _unclear(analysis, setting.lang, json=json)
    try:
        faults = verify(source.decode("utf-8-sig"), compilation.parsed, compilation.resolved).faults
    except UnicodeDecodeError:
        faults = (_NOT_UTF8,)
    found = [_fault_dict(fault, compilation.parsed, compilation.resolved, analysis, setting.lang) for fault in faults]
    if json:
        print_json(Verified(proven=not found, faults=found, diagnostics=[]))
    elif not found:
        streams.emit(f"{say('verify.proven', setting.lang, procedure=procedure)}\n")
    else:
        for fault in found:
            where = "" if fault["line"] is None else f":{fault['line']}"
            streams.emit(f"{analysis.path}{where}: {fault['message']}\n")
        streams.emit(f"{say('verify.refuted', setting.lang, procedure=procedure, count=len(found))}\n")
    return FAILED if found else OK


def _unclear(analysis: Analysis, lang: Lang, *, json: bool) -> int:
    """The document has errors, so nothing can be proven of its code."""
    compilation = analysis.compilation
    diagnostics = bind(compilation.findings, compilation.positions, lang)
    if json:
        listed = [diagnostic_dict(found) for found in diagnostics]
        print_json(Verified(proven=False, faults=[], diagnostics=listed))
        return FAILED
    source = read_source(analysis.data)
    lines = source.lines if isinstance(source, Source) else []
    streams.emit(render_text(diagnostics, analysis.path, lines, lang=lang))
    streams.emit(f"\n{say('verify.unclear', lang, path=analysis.path)}\n")
    return FAILED


def _fault_dict(
    fault: Fault, parsed: ParsedDocument, resolved: ResolvedDocument, analysis: Analysis, lang: Lang
) -> FaultDict:
    section = None if fault.phase is None else parsed.phases[fault.phase]
    anchor = None if section is None else section.anchor
    if fault.fence is not None:
        anchor = parsed.fences[fault.fence].anchor
    number = None if section is None else section.number
    where = "" if number is None else say("verify.phase", lang, number=number)
    declared = "" if fault.phase is None else _declared(resolved.phases[fault.phase], lang)
    message = say(f"verify.{fault.kind}", lang, where=where, detail=fault.detail, declared=declared)
    line = None if anchor is None else analysis.compilation.positions[anchor].line
    return {"kind": fault.kind, "phase": number, "line": line, "message": message}


def _declared(phase: ResolvedPhase, lang: Lang) -> str:
    """What the phase may use, as the document would declare it."""
    tools = [written(grant) for grant in phase.tools]
    tools += [say("verify.handover", lang, tool=handover.tool) for handover in phase.handovers]
    return "、".join(tools) or say("verify.no-tools", lang)
