"""Loops of a graph."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def components(starts: Iterable[T], following: Callable[[T], Iterable[T]]) -> list[list[T]]:
    """The strongly connected components that hold a cycle, of what can be reached from `starts`; Tarjan's, without
    recursion. `following` is asked once for each node."""
    found: list[list[T]] = []
    order: dict[T, int] = {}
    low: dict[T, int] = {}
    on_stack: set[T] = set()
    stack: list[T] = []
    for start in starts:
        if start in order:
            continue
        work: list[tuple[T, Iterator[T]]] = []
        loops: set[T] = set()

        def enter(node: T) -> None:
            order[node] = low[node] = len(order)
            stack.append(node)
            on_stack.add(node)
            work.append((node, iter(following(node))))  # noqa: B023 - called within this round only

        enter(start)
        while work:
            node, rest = work[-1]
            for target in rest:
                if target == node:
                    loops.add(node)
                if target not in order:
                    enter(target)
                    break
                if target in on_stack:
                    low[node] = min(low[node], order[target])
            else:
                work.pop()
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == order[node]:
                    group: list[T] = []
                    while not group or group[-1] != node:
                        group.append(stack.pop())
                        on_stack.discard(group[-1])
                    if len(group) > 1 or node in loops:
                        found.append(group)
    return found
