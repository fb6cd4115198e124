"""Files in YAML whose form is closed: rules, scripts. What is wrong is said with the file, the line and the place."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from aop_runtime.faults import Fault
from aop_runtime.forms import first
from aop_runtime.messages import Message, reason
from aop_runtime.yaml_lines import Lined, YamlFault, read_lined

M = TypeVar("M", bound=BaseModel)


def read_yaml(path: Path, form: type[M], most: int, called: Message, fault: type[Fault]) -> tuple[M, Lined]:
    """The file as `form`, and where everything in it stands. At most `most` bytes; `called`: what such a file is.

    Raises `fault`.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise fault("yaml.unreadable", path=str(path), reason=reason(error)) from error
    if len(raw) > most:
        raise fault("yaml.too-large", path=str(path), size=len(raw), called=called, most=most)
    try:
        lined = read_lined(raw.decode())
    except UnicodeDecodeError as error:
        raise fault("yaml.not-utf8", path=str(path)) from error
    except YamlFault as error:
        if not error.line:
            raise fault("yaml.somewhere", path=str(path), problem=error.message) from error
        raise fault("yaml.at-line", path=str(path), line=error.line, problem=error.message) from error
    try:
        return form.model_validate(lined.value), lined
    except ValidationError as error:
        where, problem = first(error)
        place = ".".join(map(str, where)) or Message("yaml.whole")
        raise fault("yaml.form", path=str(path), line=lined.line(where), place=place, problem=problem) from error
