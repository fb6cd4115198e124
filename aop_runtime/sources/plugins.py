"""Plug-ins: tools that an organisation's catalog defines as standard tools, and its own code carries out.

An installed package names them as entry points of the group `aop.tools`; a file `NAME.py` in a folder such as
`.aop/tools` is one too, if the run was told of the folder, and comes before a package. What either gives under the name
of the tool is a function

    def tools(grant: Standard) -> Sequence[Tool]

A plug-in is code that has the rights of the run: it is loaded when a procedure was granted its tool, never before.
"""

from __future__ import annotations

import importlib.util
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Final

from aop_runtime.declarations import Standard
from aop_runtime.messages import Message
from aop_runtime.plane.spec import Tool
from aop_runtime.sources.plugin_check import checked
from aop_runtime.sources.protocol import Grant, SourceFault
from aop_runtime.sources.words import one_line

GROUP: Final = "aop.tools"
FUNCTION: Final = "tools"

_SHOWN: Final = 500
_FILE_NAME: Final = re.compile(r"\w[\w -]{0,99}")


class PluginSource:
    """A `Source`, asked after all others. `folder` None: only installed plug-ins are used."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._loaded: dict[str, Callable[[Standard], object]] = {}

    def accepts(self, grant: Grant) -> bool:
        if not isinstance(grant, Standard):
            return False
        return self._file(grant.tool) is not None or bool(entry_points(group=GROUP, name=grant.tool))

    async def tools(self, grant: Grant) -> Sequence[Tool]:
        """Raises SourceFault, which names the plug-in, and file and line where it failed."""
        if not isinstance(grant, Standard):
            raise SourceFault("plugin.no-standard", tool=grant.tool)
        file = self._file(grant.tool)
        named = Message("plugin.named", tool=grant.tool)
        where = named if file is None else Message("plugin.of-file", file=str(file))
        try:
            if grant.tool not in self._loaded:
                self._loaded[grant.tool] = _function(grant.tool, file, where)
            made = self._loaded[grant.tool](grant)
        except SourceFault:
            raise
        except (Exception, SystemExit) as error:
            said = one_line(f"{type(error).__name__}: {error}", _SHOWN)
            place = _place(error, file)
            if place is None:
                raise SourceFault("plugin.failed", where=where, said=said) from error
            raise SourceFault("plugin.failed-at", where=where, place=place, said=said) from error
        return checked(made, grant, where)

    async def aclose(self) -> None:
        """There is nothing to end: a plug-in's handlers close what they open."""

    def _file(self, tool: str) -> Path | None:
        """Of this folder, whatever the tool is called."""
        if self._folder is None or _FILE_NAME.fullmatch(tool) is None:
            return None
        path = self._folder / f"{tool}.py"
        return path if path.is_file() else None


def _function(tool: str, file: Path | None, where: Message) -> Callable[[Standard], object]:
    if file is None:
        found = list(entry_points(group=GROUP, name=tool))
        if len(found) > 1:
            packages = ", ".join(sorted(entry.dist.name if entry.dist is not None else entry.value for entry in found))
            raise SourceFault("plugin.several", where=where, packages=packages)
        loaded = found[0].load()
    else:
        loaded = getattr(_module(tool, file), FUNCTION, None)
    if not callable(loaded):
        raise SourceFault("plugin.no-function", where=where, function=FUNCTION)
    function: Callable[[Standard], object] = loaded
    return function


def _module(tool: str, file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"aop_tools_{tool}", file)
    if spec is None or spec.loader is None:
        raise SourceFault("plugin.not-loaded", file=str(file))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[spec.name]
        raise
    return module


def _place(error: BaseException, file: Path | None) -> str | None:
    """Where it went wrong: in the plug-in's own file, or in what its package is made of."""
    if isinstance(error, SyntaxError) and error.filename is not None:
        return f"{error.filename}:{error.lineno}"
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename != __file__ and not frame.filename.startswith("<frozen")
    ]
    own = [frame for frame in frames if file is not None and frame.filename == str(file)]
    last = (own or frames)[-1:]
    return f"{last[0].filename}:{last[0].lineno}" if last else None
