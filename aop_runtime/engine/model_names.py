"""Models by `PROVIDER:NAME`, as pydantic-ai names them.

What is wrong with one is said before anything of a run is made: a name that is none, a provider that there is not, a
key that is not set, a package that is not installed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Final, get_args

from pydantic_ai.exceptions import UserError
from pydantic_ai.models import KnownModelName, Model, infer_model
from pydantic_ai.providers import infer_provider_class
from rapidfuzz import fuzz, process

from aop_runtime.faults import Fault
from aop_runtime.sources.words import one_line

_SHOWN: Final = 300
_ALIKE: Final = 70
_NAME: Final = re.compile(r"(?P<provider>[a-z][a-z0-9/-]*):(?P<name>[^\s:](?:[^\s]*))")
_VARIABLE: Final = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")
_PACKAGE: Final = re.compile(r"pydantic-ai-slim\[([\w-]+)\]")
_EXTRAS: Final = ("anthropic", "google")
"""Of ours, which pin what was tried."""


class ModelFault(Fault):
    """A model cannot be used, or did not answer. The message says which and why, and holds no key."""


def providers() -> tuple[str, ...]:
    """Those of the models that pydantic-ai knows by name."""
    names = {name.partition(":")[0] for name in get_args(KnownModelName.__value__) if ":" in name}
    return tuple(sorted(name for name in names if "/" not in name and not name.endswith("-decisions")))


def named_model(name: str, environment: Mapping[str, str] = os.environ) -> Model:
    """Made, and nothing asked of it. `environment`: where pydantic-ai has looked for its key. Raises ModelFault."""
    found = _NAME.fullmatch(name)
    if found is None:
        raise ModelFault("model.no-name", name=one_line(name, _SHOWN))
    try:
        infer_provider_class(found["provider"])
        return infer_model(name)
    except ImportError as error:
        package = _PACKAGE.search(str(error))
        if package is None:
            raise _unusable(name, error) from error
        wanted = f"aop[run,{package[1]}]" if package[1] in _EXTRAS else package[0]
        raise ModelFault("model.not-installed", name=name, package=wanted) from error
    except UserError as error:
        missing = [variable for variable in _VARIABLE.findall(str(error)) if not environment.get(variable)]
        if str(error).startswith("Unknown model"):
            raise _unknown(found["provider"], found["name"]) from error
        if missing:
            raise ModelFault("model.no-key", name=name, variables=" / ".join(dict.fromkeys(missing))) from error
        raise _unusable(name, error) from error
    except ValueError as error:
        if str(error).startswith("Unknown provider"):
            raise _unknown(found["provider"], found["name"]) from error
        raise _unusable(name, error) from error
    except Exception as error:
        raise _unusable(name, error) from error


def _unknown(provider: str, name: str) -> ModelFault:
    close = process.extractOne(provider, providers(), scorer=fuzz.ratio, score_cutoff=_ALIKE)
    if close is not None:
        return ModelFault("model.close-provider", provider=provider, close=close[0], name=name)
    return ModelFault("model.unknown-provider", provider=provider, known=", ".join(providers()))


def _unusable(name: str, error: Exception) -> ModelFault:
    return ModelFault("model.unusable", name=name, said=one_line(str(error) or type(error).__name__, _SHOWN))
