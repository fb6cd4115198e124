"""The tools that compiling needs: check a text, compile a document, see what became of it, read what was made."""

from __future__ import annotations

import hashlib
from functools import partial
from typing import Annotated, Final, Literal, cast

from pydantic import BaseModel, Field, StringConstraints, model_validator

from pipeline.diagnostics.json import DiagnosticDict
from server.auth import require_document
from server.computed import MOST_SHOWN, Written, checked, listed, told
from server.computing import with_catalog
from server.describing import Json, job_dict, result_dict, stages_of
from server.errors import ApiError
from server.faults import at_least_one
from server.masking import MASK, masked_diagnostics, readable_names
from server.mcp.tool import Call, Computed, McpTool
from server.reading import Closed, read_document_id
from server.rest.jobs import readable_job
from server.rest.published import read_published
from server.saving import Wanted, accept, compile_again, once
from server.service import Backend, Service
from workers.identifiers import MAX_BYTES
from workers.ledger.records import ENDED

MAX_TEXT: Final = 1024 * 1024
"""Characters that an argument may hold; a document may have `AOP_MAX_DOCUMENT_BYTES`."""

_MOST_STAGES: Final = MOST_SHOWN + 4

DocumentId = Annotated[str, StringConstraints(min_length=1, max_length=MAX_BYTES)]
Text = Annotated[str, StringConstraints(max_length=MAX_TEXT)]
JobId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{27}$", min_length=27, max_length=27)]


class CheckArguments(Closed):
    text: Text = Field(description="The whole procedure, in Markdown.")
    document_id: DocumentId | None = Field(
        None,
        description="Where it would be saved, such as keiri/seikyu.md: calls of other procedures are found from there.",
    )


class CompileArguments(Closed):
    document_id: DocumentId | None = Field(
        None,
        description="Which document to save and compile, such as keiri/seikyu.md. Left out: one is made from the text.",
    )
    text: Text | None = Field(
        None, description="The whole procedure, in Markdown. Left out: the newest saved text is compiled again."
    )
    idempotency_key: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = Field(
        None, description="The same key again makes no second job, and gives the same answer. Choose one for each save."
    )

    @model_validator(mode="after")
    def _something(self) -> CompileArguments:
        if self.document_id is None and self.text is None:
            raise at_least_one("document_id", "text")
        return self


class StatusArguments(Closed):
    job_id: JobId = Field(description="The job, as compile_aop answered it.")


class ProcedureArguments(Closed):
    document_id: DocumentId = Field(description="Which document, such as keiri/seikyu.md.")
    file: Literal["procedure.py", "manifest.json", "graph.mmd"] = Field(
        "procedure.py",
        description="What to read: the code, its manifest (tools, phases), or the Mermaid graph of its phases.",
    )


# ------------------------------------------------------------------------------------------------------- answers


async def check(call: Call, arguments: BaseModel) -> Json:
    given = cast("CheckArguments", arguments)
    document = _document(call, given.document_id) if given.document_id is not None else "document.md"
    text = await call.service.run(_with_catalog, call.service, given.text)
    found, named = await call.computing.run(call.token.id, partial(checked, document, text, call.lang))
    shown = cast("Json", found)
    return await call.service.run(_masked, call, document, shown, named) if call.token.limited else shown


def _with_catalog(_backend: Backend, service: Service, text: str) -> Written:
    return with_catalog(text.encode(), service.catalog()[1])


def _masked(_backend: Backend, call: Call, document: str, found: Json, named: list[str]) -> Json:
    """A call by path is told with the name of what is called: not to who may not read that, unless the text has it."""
    project = call.service.project
    known = {*readable_names(project(), call.token, document), *named}
    diagnostics = {
        key: masked_diagnostics(cast("list[DiagnosticDict]", found[key]), call.token, document, project, call.lang)
        for key in ("errors", "warnings")
    }
    phases = [
        phase if phase["calls"] is None or phase["calls"] in known else {**phase, "calls": MASK}
        for phase in cast("list[Json]", found["phases"])
    ]
    return {**found, **cast("Json", diagnostics), "phases": list(phases)}


def compile_document(call: Call, arguments: BaseModel) -> Json:
    given = cast("CompileArguments", arguments)
    if given.document_id is None:
        digest = hashlib.sha256((given.text or "").encode()).hexdigest()
        document = _document(call, f"mcp/{digest[:16]}.md")
    else:
        document = _document(call, given.document_id)
    key = "" if given.idempotency_key is None else once("mcp", call.token.id, document, given.idempotency_key)
    if given.text is None:
        return compile_again(call.backend, call.service, document, call.trace, key)
    data = given.text.encode()
    wanted = Wanted(document=document, data=data, source=f"token:{call.token.id}", key=key)
    return accept(call.backend, call.service, wanted, call.trace)


def status(call: Call, arguments: BaseModel) -> Json:
    given = cast("StatusArguments", arguments)
    job = readable_job(call.backend, call.service, call.token, given.job_id)
    shown = job_dict(call.service, job)
    empty: Json = {"status": None, **cast("Json", listed([])), "phases": [], "phase_count": 0, "stages": []}
    outcome = call.backend.archive.outcome(job.document, job.sequence) if job.state in ENDED else None
    if outcome is None or outcome.job != job.id:
        return {**shown, **empty}
    found = result_dict(call.backend, call.service, call.token, outcome, call.lang)
    if found is None:
        return {**shown, **empty, "stages": stages_of(outcome)[:_MOST_STAGES]}
    answer = cast("Json", told(cast("dict[str, object]", found)))
    return {**shown, **answer, "stages": stages_of(outcome)[:_MOST_STAGES]}


def procedure(call: Call, arguments: BaseModel) -> Json:
    given = cast("ProcedureArguments", arguments)
    document = _document(call, given.document_id)
    text = read_published(call.backend, call.service, call.token, document, given.file, call.lang)
    published = call.backend.archive.published(document)
    if published is None or published.retired:
        raise ApiError("not_found", "not-published")
    return {
        "document_id": document,
        "file": given.file,
        "text": text,
        "name": published.name,
        "sequence": published.sequence,
        "warnings": published.warnings,
    }


def _document(call: Call, identity: str) -> str:
    """Raises ApiError 400, 403."""
    document = read_document_id(identity, "/document_id")
    require_document(call.token, document)
    return document


TOOLS: Final = (
    McpTool(
        "check_aop",
        "Check a procedure",
        "Reads an Agent Operating Procedure (Japanese Markdown) and tells its errors and warnings, each with line, "
        "column and what to write instead, and which tools each phase may use. Nothing is stored. Use it while "
        "writing; use compile_aop to save.",
        "documents:read",
        CheckArguments,
        Computed(check),
        read_only=True,
    ),
    McpTool(
        "compile_aop",
        "Save and compile a procedure",
        "Saves a procedure and has it compiled to verified agent code; or, without text, compiles the newest saved "
        "text again. Answers at once with job_id: ask get_compile_status until `ended`. What was published before "
        "stays until the new version is verified.",
        "documents:compile",
        CompileArguments,
        compile_document,
        read_only=False,
        idempotent=False,
    ),
    McpTool(
        "get_compile_status",
        "What became of a compile",
        "Tells the state of a job (queued, parsing, resolving, generating, verifying; ended: succeeded, failed, "
        "superseded, dead), and when it has ended all errors and warnings, and the phases with the tools each may use.",
        "documents:read",
        StatusArguments,
        status,
        read_only=True,
    ),
    McpTool(
        "get_procedure",
        "Read the published code",
        "Reads what was compiled from a document and is published now: the generated Python module, its manifest, or "
        "the graph of its phases.",
        "documents:read",
        ProcedureArguments,
        procedure,
        read_only=True,
    ),
)
