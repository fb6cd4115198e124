"""Reading a compiled module without running it: its syntax tree holds one declaration of literals, or it is refused."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Final

from aop_runtime.declarations import DeclarationError, Handover, Http, Mcp, Phase, Procedure, Standard
from aop_runtime.faults import Fault

MAX_BYTES: Final = 64 * 1024 * 1024
_LAST_LINE: Final = 'if __name__ == "__main__":\n    PROCEDURE.main()'
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
        raise ModuleFault(f"{path}: {error.strerror}; compile the document first (aop compile)") from error
    return read_procedure(data, str(path))


def read_procedure(data: bytes, name: str) -> Procedure:
    """The procedure that a module's bytes declare. `name` stands in messages. Raises ModuleFault."""
    if len(data) > MAX_BYTES:
        raise ModuleFault(f"{name}: {len(data)} bytes; a compiled procedure has at most {MAX_BYTES}")
    try:
        tree = ast.parse(data.decode("utf-8"))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f":{error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        raise ModuleFault(f"{name}{line}: not readable as a compiled procedure; compile the document again") from error
    try:
        return _Reader(name).module(tree)
    except DeclarationError as error:
        raise ModuleFault(f"{name}: {error}; compile the document again") from error
    except RecursionError as error:
        raise ModuleFault(f"{name}: nested too deeply; compile the document again") from error


class _Reader:
    def __init__(self, name: str) -> None:
        self._name = name

    def module(self, tree: ast.Module) -> Procedure:
        found: Procedure | None = None
        for place, statement in enumerate(tree.body):
            match statement:
                case ast.Expr(value=ast.Constant(value=str())) if place == 0:
                    continue
                case ast.ImportFrom(module="aop_runtime", names=names, level=0) if found is None and all(
                    name.name in _MADE and name.asname is None for name in names
                ):
                    continue
                case ast.Assign(targets=[ast.Name(id="PROCEDURE")], value=ast.Call() as call) if found is None:
                    value = self.value(call)
                    if not isinstance(value, Procedure):
                        raise self.fault(call)
                    found = value
                case ast.If() if found is not None and place == len(tree.body) - 1:
                    if ast.dump(statement) != ast.dump(ast.parse(_LAST_LINE).body[0]):
                        raise self.fault(statement)
                case _:
                    raise self.fault(statement)
        if found is None:
            raise ModuleFault(f"{self._name}: no PROCEDURE in it; compile the document again")
        return found

    def value(self, node: ast.expr) -> object:
        match node:
            case ast.Constant(value=None | bool() | int() | float() | str() as value):
                return value
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)) if not isinstance(
                number, bool
            ):
                return -number
            case ast.Tuple(elts=entries):
                return tuple([self.value(entry) for entry in entries])
            case ast.List(elts=entries):
                return [self.value(entry) for entry in entries]
            case ast.Dict(keys=keys, values=values) if all(isinstance(key, ast.Constant) for key in keys):
                names = [self.value(key) for key in keys if key is not None]
                return dict(zip(names, map(self.value, values), strict=True))
            case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords) if name in _MADE and all(
                keyword.arg is not None for keyword in keywords
            ):
                given = {str(keyword.arg): self.value(keyword.value) for keyword in keywords}
                try:
                    return _MADE[name](*map(self.value, args), **given)
                except TypeError as error:
                    raise self.fault(node) from error
            case _:
                raise self.fault(node)

    def fault(self, node: ast.AST) -> ModuleFault:
        line = getattr(node, "lineno", 1)
        return ModuleFault(
            f"{self._name}:{line}: a compiled procedure holds one declaration of literals and nothing else; "
            "compile the document again"
        )
