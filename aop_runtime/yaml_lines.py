"""YAML with the line of everything in it, so that what is wrong can be pointed at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple, TypeAlias

import yaml

from aop_runtime.messages import Message, Worded

Place: TypeAlias = "tuple[str | int, ...]"


DEEPEST: Final = 64


class YamlFault(Worded):
    """Not YAML, or YAML that is not accepted: aliases, a key twice, more than `DEEPEST` levels. `line` from 1; 0: not
    known."""

    def __init__(self, line: int, what: Message) -> None:
        super().__init__(what)
        self.line = line


class Lined(NamedTuple):
    """`lines`: of each value, by the keys and indices that lead to it, as texts."""

    value: object
    lines: Mapping[tuple[str, ...], int]

    def line(self, place: Place) -> int:
        """Of what stands there, or around it."""
        words = tuple(map(str, place))
        return next((self.lines[words[:size]] for size in range(len(words), -1, -1) if words[:size] in self.lines), 1)


def read_lined(text: str) -> Lined:
    """Raises YamlFault."""
    try:
        _accept(yaml.parse(text, Loader=yaml.SafeLoader))
        loader = yaml.SafeLoader(text)
        try:
            node = loader.get_single_node()
            lines = {} if node is None else _lines(node)
            return Lined(None if node is None else loader.construct_document(node), lines)
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        said = getattr(error, "problem", None)
        what = Message("yaml.syntax", said=said) if isinstance(said, str) else Message("yaml.no-yaml")
        raise YamlFault(_line(getattr(error, "problem_mark", None)), what) from error
    except RecursionError as error:
        raise YamlFault(0, Message("yaml.deep")) from error
    except ValueError as error:
        raise YamlFault(0, Message("yaml.no-value", said=str(error))) from error  # a date such as 2026-02-30


def _accept(events: Iterator[yaml.Event]) -> None:
    """Before anything is made of them: a text of brackets only would take minutes. Raises YamlFault."""
    level = 0
    for event in events:
        if isinstance(event, yaml.AliasEvent):
            raise YamlFault(_line(event.start_mark), Message("yaml.alias"))
        if isinstance(event, yaml.CollectionStartEvent):
            level += 1
            if level > DEEPEST:
                raise YamlFault(_line(event.start_mark), Message("yaml.deeper", most=DEEPEST))
        elif isinstance(event, yaml.CollectionEndEvent):
            level -= 1


def _line(mark: object) -> int:
    """Of a mark of the parser's, which is None where it does not know."""
    line = getattr(mark, "line", None)
    return line + 1 if isinstance(line, int) else 0


def _lines(root: yaml.Node) -> dict[tuple[str, ...], int]:
    found: dict[tuple[str, ...], int] = {}
    waiting: list[tuple[tuple[str, ...], yaml.Node]] = [((), root)]
    while waiting:
        place, node = waiting.pop()
        found[place] = _line(node.start_mark)
        if isinstance(node, yaml.SequenceNode):
            waiting += [((*place, str(number)), entry) for number, entry in enumerate(node.value)]
        elif isinstance(node, yaml.MappingNode):
            seen: set[str] = set()
            for key, entry in node.value:
                name = str(key.value) if isinstance(key, yaml.ScalarNode) else ""
                if name in seen:
                    raise YamlFault(_line(key.start_mark), Message("yaml.twice", name=name))
                seen.add(name)
                waiting.append(((*place, name), entry))
    return found
