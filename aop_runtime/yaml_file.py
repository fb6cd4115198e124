"""Files in YAML whose form is closed: rules, scripts. What is wrong is said with the file, the line and the place."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from aop_runtime.faults import Fault
from aop_runtime.yaml_lines import Lined, YamlFault, read_lined

M = TypeVar("M", bound=BaseModel)


def read_yaml(path: Path, form: type[M], most: int, called: str, fault: type[Fault]) -> tuple[M, Lined]:
    """The file as `form`, and where everything in it stands. At most `most` bytes; `called`: what such a file is.

    Raises `fault`.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise fault(f"{path}: {error.strerror}") from error
    if len(raw) > most:
        raise fault(f"{path}: {len(raw)} bytes; {called} has at most {most}")
    try:
        lined = read_lined(raw.decode())
    except UnicodeDecodeError as error:
        raise fault(f"{path}: not UTF-8") from error
    except YamlFault as error:
        raise fault(f"{path}:{error.line}: {error}" if error.line else f"{path}: {error}") from error
    try:
        return form.model_validate(lined.value), lined
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise fault(f"{path}:{lined.line(first['loc'])}: {place}: {first['msg']}") from error
