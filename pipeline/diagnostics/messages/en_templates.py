"""The English templates."""

from __future__ import annotations

from typing import Final

from pipeline.diagnostics.messages.language import Template, Templates

_HANDOVER: Final = "hand-over {written}{where} "

TEMPLATES: Final[Templates] = {
    # ------------------------------------------------------------------------------------------ document
    "fence-unclosed": {
        "": Template(
            "{fence}{where} is never closed",
            "End the fence with a line of at least as many of the same marks (``` or ~~~) as the line that opens it.",
        ),
    },
    "document-unreadable": {
        "encoding": Template("the document is not valid UTF-8", "Save it as UTF-8."),
        "nul": Template(
            "the document contains a NUL character",
            "Remove the NUL character, and make sure that the file really is a text document.",
        ),
        "empty": Template("the document is empty", "Write the procedure as Markdown."),
    },
    "document-too-large": {
        "": Template(
            "the document is too large ({size:size}, the limit is {limit:size})",
            "Split the document. The limit can be changed with --max-bytes.",
        ),
        "expanded": Template(
            "the generated code would be too large with the text outside all phases in every phase ({size:size}, "
            "the limit is {limit:size})",
            "Move text and fences that stand outside all phases into the phases that need them.",
        ),
    },
    "phase-number-duplicate": {
        "": Template("phase {number} exists twice", "Give every phase a number of its own."),
    },
    "phase-number-order": {
        "": Template(
            "phase {number} comes after phase {previous}",
            "Number the phases upwards. Phases run in the order of the document, not of their numbers.",
        ),
    },
    "declaration-in-code": {
        "code-span": Template(
            "{written}{where} stands in backticks and declares nothing",
            "Remove the backticks to declare it. An example that is not meant as a declaration can stand in a "
            "fence, without this warning.",
        ),
        "indented-code": Template(
            "{written}{where} stands in an indented code block and declares nothing",
            "Indent the line by at most three spaces to declare it. An example that is not meant as a declaration "
            "can stand in a fence, without this warning.",
        ),
        "html": Template(
            "{written}{where} stands in HTML and declares nothing",
            "Move it out of the HTML to declare it. What is not meant to be read can stand in a comment (between "
            "<!-- and -->), without this warning.",
        ),
    },
    "declaration-lookalike": {
        "brackets": Template("{written}{where} is not in parentheses and declares nothing", "Write {right}."),
        "bare": Template("{written}{where} is not in parentheses and declares nothing", "Write {right}."),
        "colon": Template("{written}{where} has no colon and declares nothing", "Write {right}."),
        "verb": Template("{written}{where} does not end in `渡す` and hands nothing over", "Write {right}."),
    },
    "declaration-unclosed": {
        "tool": Template(
            "the parenthesis of declaration {written}{where} is never closed",
            "Write `)` at the end of the declaration.",
        ),
        "call": Template("the parenthesis of call {written}{where} is never closed", "Write `)` after the name."),
        "handover": Template(
            "the parenthesis of hand-over {written}{where} is never closed", "Write `)` at the end of the declaration."
        ),
    },
    # --------------------------------------------------------------------------------------------- tools
    "tool-unreadable": {
        "": Template(
            "{item} in declaration {declaration}{where} cannot be read as a tool",
            "Write `TOOL` or `TOOL の CATEGORY` with names from the list of tools.",
        ),
        "empty": Template(
            "declaration {declaration}{where} has an item without a tool name",
            "Add the tool's name, or remove the extra separator or `の`. To use no tool, write `なし` alone.",
        ),
    },
    "tool-unknown": {
        "": Template(
            "tool {name} in declaration {declaration}{where} is neither in the list of tools nor an added MCP server",
            "Rewrite {item} with a tool from the list, or add that MCP server.",
        ),
    },
    "category-unknown": {
        "": Template(
            "tool {tool} in declaration {declaration}{where} has no category {category}",
            "Rewrite {item} with a category that the tool has.",
        ),
    },
    "category-not-supported": {
        "": Template(
            "tool {tool} in declaration {declaration}{where} has no categories, so {category} cannot follow it",
            "Rewrite {item} as {tool}, without a category.",
        ),
    },
    "none-with-tools": {
        "": Template(
            "`なし` (none) in declaration {declaration}{where} cannot stand beside another tool",
            "Remove `なし` if tools are used, or the other tools if none is.",
        ),
    },
    "option-unreadable": {
        "": Template(
            "tool {tool} in declaration {declaration}{where} does not take {option}",
            "Remove or rewrite {option} in {item}. Besides (read-only), the tool takes: {options}.",
        ),
        "empty": Template(
            "{option} of tool {tool} in declaration {declaration}{where} has no value",
            "Write the value in {item} as `NAME: VALUE`. The tool takes: {options}.",
        ),
        "repeated": Template(
            "{option} of tool {tool} is given more than once in declaration {declaration}{where}",
            "Give every option in {item} once. The tool takes: {options}.",
        ),
        "read-only": Template(
            "tool {tool} in declaration {declaration}{where} does not take {option}",
            "To limit {item} to read operations, write `(read-only)`. Besides that, the tool takes: {options}.",
        ),
        "read-only-category": Template(
            "category {category} and (read-only) cannot stand together in {item} in declaration {declaration}{where}",
            "Write `{tool:plain} の read` to read only, otherwise `{tool:plain} の {category:plain}`.",
        ),
        "read-only-unsupported": Template(
            "tool {tool} in declaration {declaration}{where} does not take (read-only)",
            "Remove (read-only) from {item}.",
        ),
    },
    "tool-mentioned-undeclared": {
        "": Template(
            "the text{where} names tool {tool}, but nothing declares it, so it is not attached",
            "To use it, add `(使う道具: {example:plain})` to the phase's heading. Otherwise write "
            "`(使う道具: なし)`, which silences this warning.",
        ),
        "single": Template(
            "the text names tool {tool}, but nothing declares it, so it is not attached",
            "To use it, add `- {example:plain}` under `## 利用可能なツール`. Otherwise write `(使う道具: なし)`, "
            "which silences this warning.",
        ),
    },
    "declaration-outside-phase": {
        "": Template(
            "declaration {written} stands outside all phases and attaches nothing",
            "Write it in the heading or the text of the phase that uses the tool.",
        ),
        "list": Template(
            "item {written} under `利用可能なツール` attaches nothing in a document with phases",
            "Write `(使う道具: {written:plain})` in the heading of the phase that uses the tool.",
        ),
        "call": Template(
            "call {written} stands outside all phases and calls nothing",
            "Write it in the heading or the text of the phase that makes the call.",
        ),
    },
    # ----------------------------------------------------------------------------------------- hand-overs
    "handover-unreadable": {
        "": Template(
            _HANDOVER + "cannot be read",
            "Write it like `(この SQL を bigquery の query に、そのまま渡す。差し替え: <印>)`, without "
            "`。差し替え: <印>` if nothing is replaced.",
        ),
    },
    "handover-tool-unreadable": {
        "": Template(
            _HANDOVER + "names {item}, which cannot be read as a tool",
            "Write `TOOL` or `TOOL の CATEGORY` with names from the list of tools.",
        ),
    },
    "handover-not-mcp": {
        "": Template(
            _HANDOVER + "names {tool}, which is not connected by MCP",
            "Name a tool that is connected by MCP, or remove the hand-over and attach the tool with `(使う道具: …)`.",
        ),
    },
    "handover-several-tools": {
        "": Template(
            _HANDOVER + "names more than one tool: {tools}",
            "A hand-over names one tool. To hand the text to two tools, write two fences.",
        ),
    },
    "handover-mixed-read-only": {
        "": Template(
            _HANDOVER + "has (read-only) on some items and not on others",
            "Write (read-only) on all items, or on none.",
        ),
    },
    "handover-ambiguous-operation": {
        "": Template(
            _HANDOVER + "fits more than one operation of {tool}: {operations}",
            "Narrow it to one operation by a category or by (read-only). Where that is not possible, make the "
            "fence `ts` and write TypeScript.",
        ),
    },
    "handover-no-receiver": {
        "": Template(
            _HANDOVER + "names {tool}, which has no operation that takes the text of a fence {language:language}",
            "Make the fence `ts` and write TypeScript, or hand it to a tool that takes text. With (read-only) a "
            "read operation receives it, without it a write operation.",
        ),
    },
    "handover-argument-missing": {
        "": Template(
            _HANDOVER + "needs {argument} for operation {operation}, and the document gives no value",
            "Write `{argument:plain}: VALUE` in the text of this phase, or outside all phases.",
        ),
        "several": Template(
            _HANDOVER + "needs one {argument} for operation {operation}, and the document gives several: {values}",
            "Write `{argument:plain}: VALUE` only once.",
        ),
        "refused": Template(
            _HANDOVER + "needs {argument} for operation {operation}, which does not accept {values}",
            "Write `{argument:plain}: VALUE` with a value that the operation accepts.",
        ),
    },
    "placeholder-empty": {
        "": Template(
            _HANDOVER + "has an empty placeholder",
            "Write the placeholder after `差し替え:`, or remove the extra separator. If nothing is replaced, "
            "remove `差し替え:` too.",
        ),
    },
    "placeholder-duplicate": {
        "": Template(
            _HANDOVER + "lists placeholder {placeholder} twice",
            "List it once. Every occurrence in the fence receives the same value.",
        ),
    },
    "placeholder-missing": {
        "": Template(
            _HANDOVER + "lists placeholder {placeholder}, which is not in the fence below",
            "Write the placeholder exactly as it stands in the fence. One that contains `、` or `,` goes in backticks.",
        ),
    },
    "placeholder-overlapped": {
        "": Template(
            _HANDOVER
            + "lists placeholder {placeholder}, which another one overlaps, so that it never receives a value",
            "Change it to text that is not part of another placeholder.",
        ),
    },
    "handover-fence-blank": {
        "": Template(
            _HANDOVER + "stands above a blank fence",
            "Write the text to hand over into the fence, or remove the declaration.",
        ),
    },
    "handover-stacked": {
        "": Template(
            _HANDOVER + "stands above another one of the same fence",
            "A fence takes one hand-over. To hand the text to two tools, write two fences.",
        ),
    },
    "handover-outside-phase": {
        "": Template(
            "hand-over {written} stands outside all phases",
            "Move the declaration and its fence into the phase that uses them.",
        ),
    },
    "handover-in-call-phase": {
        "": Template(
            _HANDOVER + "cannot stand where another AOP is called",
            "A phase that calls an AOP has no agent. Move the declaration and its fence to another phase or to "
            "the called AOP.",
        ),
    },
    "handover-detached": {
        "": Template(
            _HANDOVER + "has no fence directly below, so no tool is made of it",
            "Put the fence directly below, with nothing but blank lines between.",
        ),
    },
    # ------------------------------------------------------------------------- generated code, artifacts
    "fence-unreachable": {
        "call-phase": Template(
            "{fence}{where} reaches no agent",
            "A phase that calls another AOP has no agent. Move the fence to another phase or to the called AOP.",
        ),
        "no-agent": Template(
            "{fence}{where} reaches no agent",
            "No phase of this document has an agent. Move the fence to the called AOP.",
        ),
    },
    "fence-lost": {
        "": Template(
            "{fence}{where} is not in the generated code character for character, after {attempts} attempts",
            "Compile again, or with the default generator. The check says: {detail:plain}",
        ),
    },
    "fence-stale": {
        "": Template(
            "{fence}{where} does not arrive character for character in the code that was carried over",
            "Compile with `--reuse exact` to make it arrive. About the code that was kept: {reasons:reasons}.",
        ),
    },
    "tools-mismatch": {
        "": Template(
            "the tools in the generated code{where} are not the declared ones, after {attempts} attempts",
            "Compile again, or with the default generator. The check says: {detail:plain}",
        ),
    },
    "artifact-stale": {
        "": Template(
            "the code{where} was carried over from an earlier compile: {reasons:reasons}",
            "Compile with `--reuse exact` to generate it anew.",
        ),
    },
    "tool-drifted": {
        "": Template(
            "tool {tool}{operation:operation}{where} is not what the lock file records: "
            "{change:change}{names:brackets}",
            "`aop catalog diff` shows the change. If it is right, accept it with `aop catalog approve {target:plain}`.",
        ),
        "approve": Template(
            "tool {tool}{operation:operation}{where} is not what the lock file records: "
            "{change:change}{names:brackets}",
            "Nobody has approved this yet. Look at it with `aop catalog diff`; if it is right, accept it with "
            "`aop catalog approve {target:plain}`.",
        ),
        "block": Template(
            "tool {tool}{operation:operation}{where} is not what the lock file records: "
            "{change:change}{names:brackets}",
            "The lock file's policy lets `aop catalog approve {target:plain}` not accept this. "
            "Correct the catalog, or change the policy.",
        ),
    },
    # --------------------------------------------------------------------------------------------- calls
    "call-unknown": {
        "": Template(
            "the called AOP {target}{where} does not exist",
            "Write the name of a document, or its path relative to this one.",
        ),
        "nameless": Template(
            "the call{where} names no AOP",
            "Write `(呼び出す AOP: NAME)` with the name of a document, or its path relative to this one.",
        ),
        "several": Template(
            "the called AOP {target}{where} may be any of several documents: {paths}",
            "Write the path of one of them, relative to this document.",
        ),
    },
    "call-cycle": {
        "": Template("the call{where} leads into a cycle: {path:path}", "Remove one of the calls in the cycle."),
    },
    "call-with-tools": {
        "": Template(
            "declaration {written}{where} attaches nothing",
            "A phase that calls another AOP has no agent. Remove the declaration, or move it to another phase or "
            "to the called AOP.",
        ),
    },
    "call-several": {
        "": Template(
            "{written}{where} is not the first call of its phase",
            "A phase calls one AOP. Split the phase.",
        ),
    },
}
