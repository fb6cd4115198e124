"""Reading a compiled module without running it: its syntax tree holds one declaration of literals, or it is refused."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Final

from aop_runtime.declarations import DeclarationError, Handover, Http, Json, Mcp, Phase, Procedure, Standard
from aop_runtime.faults import Fault
from aop_runtime.messages import Message, reason

MODULE: Final = "procedure.py"
MAX_BYTES: Final = 64 * 1024 * 1024
LAST_LINE: Final = 'if __name__ == "__main__": PROCEDURE.main()'
_MADE: Final[dict[str, Callable[..., object]]] = {
    made.__name__: made for made in (Handover, Http, Mcp, Phase, Procedure, Standard)
}


class ModuleFault(Fault):
    """A file is no compiled procedure. The message says where, what, and what to do."""


def load_procedure(path: Path) -> Procedure:
    """Raises ModuleFault."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModuleFault("module.unreadable", path=str(path), reason=reason(error)) from error
    return read_procedure(data, str(path))


def read_procedure(data: bytes, name: str) -> Procedure:
    """The procedure that a module's bytes declare. `name` stands in messages. Raises ModuleFault."""
    if len(data) > MAX_BYTES:
        raise ModuleFault("module.too-large", name=name, size=len(data), most=MAX_BYTES)
    try:
        source = data.decode("utf-8")
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f":{error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        raise ModuleFault("module.not-python", where=f"{name}{line}") from error
    try:
        return _Reader(name).module(tree, source)
    except RecursionError as error:
        raise ModuleFault("module.deep", name=name) from error


class _Reader:
    def __init__(self, name: str) -> None:
        self._name = name
        self._imported: frozenset[str] = frozenset()

    def module(self, tree: ast.Module, source: str) -> Procedure:
        """A docstring, one import, one declaration, the last line. Raises ModuleFault."""
        match tree.body:
            case [
                ast.Expr(value=ast.Constant(value=str())),
                ast.ImportFrom(module="aop_runtime", names=names, level=0) as imports,
                ast.Assign(targets=[ast.Name(id="PROCEDURE")], value=ast.Call() as call),
                ast.If() as last,
            ]:
                pass
            case _:
                raise self._fault(next(iter(tree.body), tree), Message("module.shape"))
        if any(entry.name not in _MADE or entry.asname is not None for entry in names):
            raise self._fault(imports, Message("module.imports", names=", ".join(sorted(_MADE))))
        self._imported = frozenset(entry.name for entry in names)
        if not source.endswith(f"\n{LAST_LINE}\n") or last.lineno != source.count("\n"):
            raise self._fault(last, Message("module.last-line", line=LAST_LINE))
        found = self._value(call)
        if not isinstance(found, Procedure):
            raise self._fault(call, Message("module.no-procedure"))
        return found

    def _value(self, node: ast.expr) -> object:
        match node:
            case ast.Tuple(elts=entries):
                return tuple([self._value(entry) for entry in entries])
            case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords) if name in self._imported:
                return self._made(node, name, args, keywords)
            case _:
                return self._json(node)

    def _made(self, node: ast.Call, name: str, args: list[ast.expr], keywords: list[ast.keyword]) -> object:
        given: dict[str, object] = {}
        for keyword in keywords:
            if keyword.arg is None:
                raise self._fault(keyword.value, Message("module.unnamed"))
            given[keyword.arg] = self._value(keyword.value)
        try:
            return _MADE[name](*map(self._value, args), **given)
        except DeclarationError as error:
            raise self._fault(node, error.message) from error
        except TypeError as error:
            raise self._fault(node, Message("module.arguments", name=name)) from error

    def _json(self, node: ast.expr) -> Json:
        match node:
            case ast.Constant(value=None | bool() | int() | float() | str() as value):
                return value
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)) if not isinstance(
                number, bool
            ):
                return -number
            case ast.List(elts=entries):
                return [self._json(entry) for entry in entries]
            case ast.Dict(keys=keys, values=values):
                found: dict[str, Json] = {}
                for key, entry in zip(keys, values, strict=True):
                    if not isinstance(key, ast.Constant) or not isinstance(key.value, str) or key.value in found:
                        raise self._fault(entry, Message("module.keys"))
                    found[key.value] = self._json(entry)
                return found
            case _:
                raise self._fault(node, Message("module.literals"))

    def _fault(self, node: ast.AST, what: Message) -> ModuleFault:
        line = getattr(node, "lineno", 1)
        return ModuleFault("module.wrong", name=self._name, line=line, what=what)
