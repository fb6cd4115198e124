"""Generation by a generator that asks a model over a network: several phases at once, each stored when it is proven.

Such code is dear. So it does not wait for the other phases: as soon as a phase's code has been made, a module with
nothing else in it is linked and verified; what is found goes back to the generator at once (I3), and code that is
proven is stored (R1). Whatever happens to the rest of the document, it is not made again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Final

from pipeline.artifacts import Fault, ParsedDocument, PhaseCode, ResolvedDocument
from pipeline.generators.protocol import Generator
from pipeline.incremental.phases import Phase
from pipeline.stages import link as link_stage
from pipeline.stages import verify as verify_stage

MAX_AT_ONCE: Final = 8
"""Requests that one document has under way."""


def examine(phase: Phase, document: ParsedDocument, resolved: ResolvedDocument) -> tuple[Fault, ...]:
    """What the verifier finds in the phase's code alone."""
    codes: list[PhaseCode | None] = [None] * len(document.phases)
    codes[phase.place] = phase.code
    module = link_stage.link(document, resolved, codes)
    found = verify_stage.verify(module.source, document, resolved).faults
    return tuple(fault for fault in found if fault.phase in (None, phase.place))


def generate_at_once(
    generator: Generator,
    phases: Sequence[Phase],
    examined: Callable[[Phase], tuple[Fault, ...]],
    rewrites: int,
    proven: Callable[[Phase], None],
) -> None:
    """Have the code of all `phases` made. `proven` is called in this thread, for each phase whose code is, as it comes.

    Raises what the generator raises for the first phase of those that failed: no further one is begun then, and what
    is under way is waited for, and kept.
    """
    pool = ThreadPoolExecutor(MAX_AT_ONCE, thread_name_prefix="generate")
    try:
        jobs = {pool.submit(_make, generator, group, examined, rewrites): group for group in _groups(phases)}
        failed: list[Future[None]] = []
        running = set(jobs)
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for job in [job for job in jobs if job in done and not job.cancelled()]:
                if job.exception() is not None:
                    failed.append(job)
                for phase in jobs[job]:
                    if phase.proven:
                        proven(phase)
            if failed:
                running = {job for job in running if not job.cancel()}
    finally:
        # Whoever interrupts this does not wait for a model.
        pool.shutdown(wait=False, cancel_futures=True)
    for job in jobs:
        if job in failed:
            job.result()


def _groups(phases: Iterable[Phase]) -> list[list[Phase]]:
    """Phases with equal units one after another: their code is stored under one key, in the document's order."""
    groups: dict[str, list[Phase]] = {}
    for phase in phases:
        groups.setdefault(phase.digest, []).append(phase)
    return list(groups.values())


def _make(
    generator: Generator, group: Sequence[Phase], examined: Callable[[Phase], tuple[Fault, ...]], rewrites: int
) -> None:
    for phase in group:
        while True:
            phase.use(generator.generate(phase.unit, phase.faults), generator.identity)
            faults = examined(phase)
            phase.proven = not faults
            if phase.proven or phase.attempts > rewrites:
                break
            phase.faults = faults
