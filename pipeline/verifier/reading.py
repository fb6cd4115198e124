"""What a generated module declares, read from its source with `ast`; nothing of it is run.

The module must be exactly: a docstring, one import of declarations, `PROCEDURE = Procedure(…)` of literals, the fixed
last line. Everything else, however harmless, is refused: what cannot be written cannot hide anything.
"""

import ast
import re
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from pipeline.garbage import uncollected

LAST_LINE = 'if __name__ == "__main__": PROCEDURE.main()'

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"


class FormError(ValueError):
    """The module, or one of its phases, is not the declaration it must be. The message says where and what is wrong."""


class Tool(NamedTuple):
    """`constructor`: Mcp, Http or Standard."""

    constructor: str
    tool: str
    categories: tuple[str, ...]
    read_only: bool
    operations: tuple[str, ...] | None
    options: dict[str, str]


class HandoverTool(NamedTuple):
    name: str
    tool: str
    categories: tuple[str, ...]
    read_only: bool
    mode: str
    operations: tuple[str, ...] | None
    argument: str | None
    fixed_arguments: dict[str, Json]
    placeholders: tuple[str, ...]
    text: str


class DeclaredPhase(NamedTuple):
    number: int | None
    title: str
    instructions: str | None
    calls: str | None
    tools: tuple[Tool, ...]
    handovers: tuple[HandoverTool, ...]


class DeclaredModule(NamedTuple):
    """A phase that cannot be read is the error that says why, so that the others are judged all the same."""

    name: str
    phases: tuple[DeclaredPhase | FormError, ...]


def read_module(source: str, most_code: Callable[[], int]) -> DeclaredModule:
    """Raises FormError for anything but a module of declarations, whatever the text holds.

    `most_code`: how many characters outside strings and blanks the module of this document may have. Only large sources
    are held to it, and it is only asked of them: `ast` takes up to two thousand bytes for each.
    """
    if "\r" in source:
        source = source.replace("\r\n", "\n").replace("\r", "\n")  # as Python reads a file
    if len(source) > _LARGE:
        _check_size(source, most_code())
    if _COOKIE.match(source):
        raise FormError("a coding declaration: Python would read another text than the one that is checked")
    with uncollected():  # nodes do not know their parents
        return _read(source)


@lru_cache(maxsize=1)
def _read(source: str) -> DeclaredModule:
    """The last one is kept: a result tells the instructions of the module that verify has just read."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an escape that Python does not know: it is what it evaluates to
            body = ast.parse(source).body
    except (SyntaxError, ValueError) as error:
        raise FormError(f"not Python: {error}") from None
    except (RecursionError, MemoryError):  # what the parser raises for nesting that no declaration has
        raise FormError("not Python: nested too deeply") from None
    procedure, imported = _frame(body, source)
    arguments = _arguments(procedure, ("Procedure",), imported)[1]
    phases = _elements(arguments["phases"], "phases")
    return DeclaredModule(_text(arguments["name"]), tuple([_phase_or_error(phase, imported) for phase in phases]))


_LARGE = 1 << 20
_END = f"\n{LAST_LINE}\n"
_BLANKS = " \t\f\n"
_COOKIE = re.compile(r"(?:[^\n]*+\n)?[ \t\f]*#.*?coding[:=]")
"""On the first line or the second."""
_MOST_STRINGS = 2 << 20
"""Three times the lines that the largest module has. `ast` takes 150 bytes for each, however short."""

# Each literal from its first to its last quote, as Python tells them apart, and comments, whose quotes begin none.
# Possessive, and never failing once a quote has been read: linear in any text, and without a stack. Compiled by who
# first needs it: few modules are so large.
_STRING = r"""(?xs)(?P<prefix>[A-Za-z]{0,2})(?:
        \"{3}(?:[^"\\]|\\.|"(?!""))*+(?:"{3})?
      | '{3}(?:[^'\\]|\\.|'(?!''))*+(?:'{3})?
      | "(?:[^"\\\n]|\\.)*+"?
      | '(?:[^'\\\n]|\\.)*+'?
    ) | \#[^\n]*+"""


def _check_size(source: str, most_code: int) -> None:
    """Raises FormError for a source that would take gigabytes to parse, and that no document can have led to."""
    strings = 0

    def without(found: re.Match[str]) -> str:
        nonlocal strings
        prefix = found["prefix"]
        if prefix is None:
            return found[0]
        if prefix:  # an f-string holds code, and strings in it may have its own quotes
            raise FormError("the module holds strings with a prefix, which link writes none of")
        strings += 1
        return ""

    code = re.sub(_STRING, without, source)
    if strings > _MOST_STRINGS or len(code) - sum(map(code.count, _BLANKS)) > most_code:
        raise FormError("the module holds more code than the document's declarations need")


# ------------------------------------------------------------------------------------------------ the frame


class _Signature(NamedTuple):
    positional: tuple[str, ...]
    required: frozenset[str]
    known: frozenset[str]


def _signature(positional: str, required: str, optional: str) -> _Signature:
    needed = frozenset((*positional.split(), *required.split()))
    return _Signature(tuple(positional.split()), needed, needed.union(optional.split()))


_SIGNATURES = {
    "Procedure": _signature("", "name phases", ""),
    "Phase": _signature("", "number title", "instructions calls tools handovers"),
    "Mcp": _signature("tool", "read_only operations", "categories"),
    "Http": _signature("tool", "read_only operations", "categories"),
    "Standard": _signature("tool", "", "categories read_only operations options"),
    "Handover": _signature(
        "", "name tool read_only mode operations text", "categories argument fixed_arguments placeholders"
    ),
}
"""What the declarations take: nothing has a default by which leaving it out would allow more."""


def _frame(body: list[ast.stmt], source: str) -> tuple[ast.expr, frozenset[str]]:
    """The declaration's expression and the imported names, if the module holds nothing else."""
    if not body or not _is_docstring(body[0]):
        raise _wrong(body[0] if body else None, "the module must begin with its docstring")
    if len(body) < 2 or not isinstance(body[1], ast.ImportFrom):
        raise _wrong(body[-1], "the docstring must be followed by `from aop_runtime import …`")
    imported = _imported(body[1])
    declaration = body[2] if len(body) > 2 else None
    if (
        not isinstance(declaration, ast.Assign)
        or len(declaration.targets) != 1
        or not isinstance(declaration.targets[0], ast.Name)
        or declaration.targets[0].id != "PROCEDURE"
    ):
        raise _wrong(declaration or body[-1], "the import must be followed by `PROCEDURE = Procedure(…)`")
    # What ends the source ends the last statement. If that begins on the same line, the line is all of it.
    if len(body) != 4 or not source.endswith(_END) or body[3].lineno != body[3].end_lineno:
        raise _wrong(body[3] if len(body) > 3 else declaration, f"only `{LAST_LINE}` may follow, as the last line")
    end = len(source) - len(_END)
    while source[end - 1] in _BLANKS:  # the docstring, at least, stands before it
        end -= 1
    line = source[source.rfind("\n", 0, end) + 1 : end]
    reached = body[3].lineno - source.count("\n", end) + 1, len(line.encode())
    if reached != (declaration.end_lineno, declaration.end_col_offset):
        raise _wrong(body[3], f"nothing may stand between the declaration and `{LAST_LINE}`, not even a comment")
    return declaration.value, imported


def _is_docstring(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _imported(statement: ast.ImportFrom) -> frozenset[str]:
    names = [alias.name for alias in statement.names]
    if statement.module != "aop_runtime" or statement.level:
        raise _wrong(statement, "only `aop_runtime` may be imported from")
    if any(alias.asname is not None for alias in statement.names) or not _SIGNATURES.keys() >= set(names):
        raise _wrong(statement, f"only {', '.join(sorted(_SIGNATURES))} may be imported, under their own names")
    return frozenset(names)


# ------------------------------------------------------------------------------------------- declarations


def _phase_or_error(node: ast.expr, imported: frozenset[str]) -> DeclaredPhase | FormError:
    try:
        return _phase(node, imported)
    except FormError as error:
        return error


def _phase(node: ast.expr, imported: frozenset[str]) -> DeclaredPhase:
    arguments = _arguments(node, ("Phase",), imported)[1]
    number = _constant(arguments["number"])
    if number is not None and type(number) is not int:
        raise _wrong(arguments["number"], "a phase's number is an integer or None")
    get = arguments.get
    return DeclaredPhase(
        number,
        _text(arguments["title"]),
        _text_or_none(get("instructions")),
        _text_or_none(get("calls")),
        tuple([_tool(tool, imported) for tool in _elements(get("tools"), "tools")]),
        tuple([_handover(handover, imported) for handover in _elements(get("handovers"), "handovers")]),
    )


def _tool(node: ast.expr, imported: frozenset[str]) -> Tool:
    constructor, arguments = _arguments(node, ("Mcp", "Http", "Standard"), imported)
    get = arguments.get
    operations = get("operations")
    return Tool(
        constructor,
        _text(arguments["tool"]),
        _texts(get("categories")),
        _flag(get("read_only")),
        None if operations is not None and _is_none(operations) else _texts(operations),
        _options(get("options")),
    )


def _handover(node: ast.expr, imported: frozenset[str]) -> HandoverTool:
    arguments = _arguments(node, ("Handover",), imported)[1]
    get = arguments.get
    fixed = get("fixed_arguments")
    fixed_arguments = {} if fixed is None else _json(fixed)
    if not isinstance(fixed_arguments, dict):
        raise _wrong(fixed, "fixed_arguments must be a dict")
    return HandoverTool(
        _text(arguments["name"]),
        _text(arguments["tool"]),
        _texts(get("categories")),
        _flag(arguments["read_only"]),
        _text(arguments["mode"]),
        None if _is_none(arguments["operations"]) else _texts(arguments["operations"]),
        _text_or_none(get("argument")),
        fixed_arguments,
        _texts(get("placeholders")),
        _text(arguments["text"]),
    )


def _arguments(
    node: ast.expr, constructors: tuple[str, ...], imported: frozenset[str]
) -> tuple[str, dict[str, ast.expr]]:
    """A call's constructor and its arguments by name: one of the constructors, every argument known and given once."""
    function = node.func if isinstance(node, ast.Call) else None
    name = function.id if isinstance(function, ast.Name) else ""
    if not isinstance(node, ast.Call) or name not in constructors:
        raise _wrong(node, f"only {' or '.join(constructors)}(…) may stand here")
    if name not in imported:
        raise _wrong(node, f"{name} is not imported")
    positional, required, known = _SIGNATURES[name]
    unnamed = node.args
    if len(unnamed) > len(positional):
        raise _wrong(node, f"{name}: too many arguments without a name")
    arguments = dict(zip(positional, unnamed, strict=False)) if unnamed else {}
    for keyword in node.keywords:
        argument = keyword.arg
        if argument is None or argument not in known or argument in arguments:
            raise _wrong(keyword.value, f"{name}: an unknown, repeated or starred argument: {argument}")
        arguments[argument] = keyword.value
    if not required.issubset(arguments):
        missing = required - arguments.keys()
        raise _wrong(node, f"{name}: without {', '.join(sorted(missing))}")
    return name, arguments


# ----------------------------------------------------------------------------------------------- literals


def _wrong(node: ast.AST | None, what: str) -> FormError:
    return FormError(f"line {getattr(node, 'lineno', 1)}: {what}")


_TOO_LARGE = 10**4300
"""The first number that Python does not write out in decimal digits."""


def _constant(node: ast.expr) -> object:
    """Raises FormError, also for a number that no document can have led to, and no message could show."""
    if not isinstance(node, ast.Constant):
        raise _wrong(node, "only plain literals may stand here: no f-string, no computed value")
    if isinstance(node.value, int) and node.value >= _TOO_LARGE:
        raise _wrong(node, "a number of more than 4300 digits")
    return node.value


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        value = node.value
        if isinstance(value, str):  # most literals of a module
            return value
    _constant(node)
    raise _wrong(node, "a string must stand here")


def _text_or_none(node: ast.expr | None) -> str | None:
    return None if node is None or _is_none(node) else _text(node)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _flag(node: ast.expr | None) -> bool:
    if node is None:
        return False
    flag = _constant(node)
    if not isinstance(flag, bool):
        raise _wrong(node, "True or False must stand here")
    return flag


def _elements(node: ast.expr | None, what: str) -> list[ast.expr]:
    if node is None:
        return []
    if not isinstance(node, ast.Tuple):
        raise _wrong(node, f"{what} must be a tuple of literals")
    return node.elts


def _texts(node: ast.expr | None) -> tuple[str, ...]:
    return () if node is None else tuple([_text(element) for element in _elements(node, "this")])


def _options(node: ast.expr | None) -> dict[str, str]:
    if node is None:
        return {}
    options = _json(node)
    if not isinstance(options, dict):
        raise _wrong(node, "options must be a dict of strings")
    texts = {key: entry for key, entry in options.items() if isinstance(entry, str)}
    if len(texts) < len(options):
        raise _wrong(node, "options must be a dict of strings")
    return texts


def _json(node: ast.expr) -> Json:
    """A value that JSON has: constants, lists, dicts whose keys are strings, each once. Python bounds the nesting."""
    if isinstance(node, ast.List):
        return [_json(element) for element in node.elts]
    if isinstance(node, ast.Dict):
        return _json_object(node)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):  # how a negative number parses
        number = _constant(node.operand)
        if type(number) is int or type(number) is float:
            return -number
    else:
        value = _constant(node)
        if value is None or isinstance(value, str | int | float):
            return value
    raise _wrong(node, "only plain literals may stand here: no f-string, no computed value")


def _json_object(node: ast.Dict) -> dict[str, Json]:
    entries: dict[str, Json] = {}
    for key_node, entry in zip(node.keys, node.values, strict=True):
        key = None if key_node is None else _text(key_node)
        if key is None or key in entries:
            raise _wrong(node, "a dict's keys must be strings, each once")
        entries[key] = _json(entry)
    return entries
