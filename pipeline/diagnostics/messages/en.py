"""The English phrases, with the templates that they are used in."""

from __future__ import annotations

from typing import Final

from pipeline.diagnostics.messages.en_templates import TEMPLATES
from pipeline.diagnostics.messages.language import Language

EN: Final = Language(
    templates=TEMPLATES,
    quote=("`", "`"),
    separator=", ",
    more="{} more",
    none="nothing",
    where=" (phase {})",
    fence="the fence",
    fence_at="the fence opened on line {}",
    size="{} bytes",
    language="with language {}",
    no_language="without a language",
    operation=", operation {}",
    candidates="Candidates: {}.",
    remark="A remark that is no hand-over can avoid this by starting with another word than `この`.",
    between_sentences=" ",
    brackets=" ({})",
    reasons={
        "new": "first compile",
        "document": "the document changed",
        "declaration": "a declaration changed",
        "fence": "a fence changed",
        "shared-fence": "a fence outside all phases changed",
        "tool-schema": "the definition of an operation changed",
        "tool-added": "a tool or operation was added",
        "tool-removed": "a tool or operation was removed",
        "tool-effect": "an operation changed between reading and writing",
        "callee": "a called AOP changed",
        "options": "the options changed",
        "stage-version": "made by another version of the generator",
        "model": "made by another model",
        "artifact-missing": "the stored artifact is missing",
        "artifact-damaged": "the stored artifact is damaged",
        "forced": "asked for",
        "same": "nothing changed",
    },
    changes={
        "tool-removed": "the tool is gone",
        "tool-renamed": "the tool has another name",
        "operations-unknown": "its operations are not known any more",
        "operation-added": "the operation is new",
        "operation-removed": "the operation is gone",
        "operation-renamed": "the operation has another name",
        "effect-writes": "it only read, and writes now",
        "effect-reads": "it wrote, and only reads now",
        "schema-breaking": "its arguments changed, and earlier calls may be refused",
        "schema-changed": "its arguments changed, and earlier calls stay valid",
        "description-changed": "its description, which the model reads, changed",
    },
)
