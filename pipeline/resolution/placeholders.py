"""Placeholders and whether each receives a value (V6)."""

from __future__ import annotations

import re

from pipeline.resolution.items import ItemFault


def placeholder_faults(marks: tuple[str, ...], text: str, written: str) -> list[ItemFault]:
    """What is wrong with a declaration's placeholders: at most one `placeholder-empty`, and one other a placeholder."""
    faults = []
    if "" in marks:
        faults.append(ItemFault("placeholder-empty", "", (("written", written),)))
    seen: set[str] = set()
    received = {match.group() for match in pattern(marks).finditer(text)} if any(marks) else set()
    for mark in marks:
        if not mark:
            continue
        name = ""
        if mark in seen:
            name = "placeholder-duplicate"
        elif mark not in text:
            name = "placeholder-missing"
        elif mark not in received:
            name = "placeholder-overlapped"
        if name:
            faults.append(ItemFault(name, "", (("written", written), ("placeholder", mark))))
        seen.add(mark)
    return faults


def pattern(marks: tuple[str, ...]) -> re.Pattern[str]:
    """One left-to-right pass, the longest placeholder first."""
    longest_first = sorted({mark for mark in marks if mark}, key=lambda mark: (-len(mark), mark))
    return re.compile("|".join(map(re.escape, longest_first)))
