"""Plug-ins: tools that an organisation's catalog defines as standard tools, and its own code carries out.

An installed package names them as entry points of the group `aop.tools`; a file `NAME.py` in a folder such as
`.aop/tools` is one too, if the run was told of the folder. What either gives under the name of the tool is a function

    def tools(grant: Standard) -> Sequence[Tool]

A plug-in is code that has the rights of the run: it is loaded when a procedure was granted its tool, never before.
"""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Final

from aop_runtime.declarations import Standard
from aop_runtime.plane.spec import Tool, ToolSpec
from aop_runtime.sources.protocol import Grant, SourceFault

GROUP: Final = "aop.tools"
FUNCTION: Final = "tools"


class PluginSource:
    """A `Source`, asked after all others. `folder` None: only installed plug-ins are used."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def accepts(self, grant: Grant) -> bool:
        if not isinstance(grant, Standard):
            return False
        return self._file(grant.tool) is not None or bool(entry_points(group=GROUP, name=grant.tool))

    async def tools(self, grant: Grant) -> Sequence[Tool]:
        """Raises SourceFault."""
        if not isinstance(grant, Standard):
            raise SourceFault(f"{grant.tool}: a plug-in provides standard tools")
        file = self._file(grant.tool)
        where = f"the plug-in {grant.tool!r}" if file is None else str(file)
        try:
            made = self._function(grant.tool, file, where)(grant)
        except SourceFault:
            raise
        except Exception as error:
            raise SourceFault(f"{where}: {_place(error, file)}{type(error).__name__}: {error}") from error
        return _checked(made, grant, where)

    def _file(self, tool: str) -> Path | None:
        if self._folder is None or not tool.isidentifier():
            return None
        path = self._folder / f"{tool}.py"
        return path if path.is_file() and not path.is_symlink() else None

    def _function(self, tool: str, file: Path | None, where: str) -> Callable[[Standard], object]:
        if file is None:
            (found, *_) = entry_points(group=GROUP, name=tool)
            loaded = found.load()
        else:
            loaded = getattr(_module(tool, file), FUNCTION, None)
        if not callable(loaded):
            raise SourceFault(f"{where}: it has no function {FUNCTION}(grant)")
        function: Callable[[Standard], object] = loaded
        return function

    async def aclose(self) -> None:
        """There is nothing to end."""


def _module(tool: str, file: Path) -> object:
    spec = importlib.util.spec_from_file_location(f"aop_tools_{tool}", file)
    if spec is None or spec.loader is None:
        raise SourceFault(f"{file}: cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _place(error: BaseException, file: Path | None) -> str:
    """The line of the plug-in's own file where it went wrong."""
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: "
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
    return f"line {lines[-1]}: " if lines else ""


def _checked(made: object, grant: Standard, where: str) -> Sequence[Tool]:
    """Tools of the granted name, and nothing else."""
    if not isinstance(made, Sequence):
        raise SourceFault(f"{where}: {FUNCTION}(grant) returned no list of tools")
    for tool in made:
        if not isinstance(tool, Tool) or not isinstance(tool.spec, ToolSpec):
            raise SourceFault(f"{where}: {FUNCTION}(grant) returned something that is no Tool")
        if tool.spec.tool != grant.tool:
            raise SourceFault(f"{where}: it may provide {grant.tool}, not {tool.spec.tool}")
        if grant.read_only and tool.spec.effect != "read":
            raise SourceFault(f"{where}: {tool.spec.operation} writes, and only reading was granted")
    return list(made)
