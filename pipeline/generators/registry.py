"""The generators by name and version. Older versions stay findable, so that what they made can be told apart (R3)."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.generators.protocol import Generator
from pipeline.generators.template import TemplateGenerator

DEFAULT = "template"
"""The name of the generator that a compile uses unless it is told another."""


class UnknownGenerator(LookupError):
    """No generator has that name, or not in that version. The message lists those that there are."""


class Registry:
    """Of several generators of one name the one that was registered last is the current one."""

    def __init__(self, generators: Iterable[Generator] = ()) -> None:
        self._by_name: dict[str, dict[str, Generator]] = {}
        for generator in generators:
            self.register(generator)

    def register(self, generator: Generator) -> None:
        """Add a generator; one of the same name and version is replaced."""
        versions = self._by_name.setdefault(generator.identity.name, {})
        versions.pop(generator.identity.version, None)
        versions[generator.identity.version] = generator

    def find(self, name: str = DEFAULT, version: str | None = None) -> Generator:
        """The current generator of that name, or the given version of it. Raises UnknownGenerator."""
        versions = self._by_name.get(name)
        if not versions:
            raise UnknownGenerator(
                f"no generator is called {name!r}; there are: {', '.join(sorted(self._by_name)) or 'none'}"
            )
        if version is None:
            return next(reversed(versions.values()))
        if version not in versions:
            raise UnknownGenerator(f"generator {name!r} has no version {version!r}; there are: {', '.join(versions)}")
        return versions[version]


def default_registry() -> Registry:
    """A new registry with the generators that come with the compiler."""
    return Registry([TemplateGenerator()])
