"""The versions of the stages, by stage. The generate stage's is its generator's."""

from __future__ import annotations

from pipeline.stages import link, parse, resolve, verify

STAGES: dict[str, str] = {
    "parse": parse.VERSION,
    "resolve": resolve.VERSION,
    "link": link.VERSION,
    "verify": verify.VERSION,
}
