"""Given documents that call others, when one of these changes its name or goes, then the callers are compiled again."""

from __future__ import annotations

from .documents import MULTI, calling
from .installation import Installation


def test_a_callee_that_comes_and_goes(installation: Installation) -> None:
    """A call to nowhere fails; its callee is saved, renamed and retired, and each time the caller follows."""
    installation.save("callers/caller.md", calling("頼む人", "受ける人"))
    first = installation.until(lambda: installation.archive.outcome("callers/caller.md", 1))
    assert first.status == "failed"

    installation.outcome(installation.save("callers/callee.md", MULTI.replace("月次の締め", "受ける人")))
    installation.until(lambda: status(installation, "callers/caller.md") == "succeeded")
    assert installation.published("callers/caller.md").calls == ("受ける人",)

    installation.outcome(installation.save("callers/callee.md", MULTI.replace("月次の締め", "別の人")))
    installation.until(lambda: status(installation, "callers/caller.md") == "failed")

    installation.outcome(installation.save("callers/callee.md", MULTI.replace("月次の締め", "受ける人")))
    installation.until(lambda: status(installation, "callers/caller.md") == "succeeded")

    installation.outcome(installation.retire("callers/callee.md"))
    installation.until(lambda: status(installation, "callers/caller.md") == "failed")
    # The save is the same one all along: only its rounds are new.
    outcome = installation.archive.outcome("callers/caller.md", 1)
    assert outcome is not None
    assert outcome.round >= 4
    assert outcome.job_class == "bulk"


def status(installation: Installation, document: str) -> str:
    outcome = installation.archive.outcome(document, 1)
    return "" if outcome is None else outcome.status
