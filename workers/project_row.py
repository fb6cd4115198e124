"""What a compile tells the project of its document."""

from __future__ import annotations

from pipeline.compilation import Compilation


def calls_of(compilation: Compilation) -> tuple[str, ...]:
    """The targets of its call declarations as written, each once. Raises StoreError."""
    parsed = compilation.parsed
    if parsed is None:
        return ()
    targets = (call.target for phase in parsed.phases for call in phase.calls if call.target)
    return tuple(dict.fromkeys(targets))
