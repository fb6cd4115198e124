"""The versions of the stages, each raised whenever the same inputs may come to something else.

They stand apart from the stages, because a compile that runs none needs them all the same, and loading the stages takes
longer than recalling hundreds of documents. The generate stage has no version but its generator's identity.
"""

from __future__ import annotations

from typing import Final

SCHEMA_VERSION: Final = 2
"""Version of every schema in `pipeline.artifacts`. Raised when a field changes its meaning: then older ones are not
found."""

PARSE: Final = "2"
RESOLVE: Final = "3"
LINK: Final = "2"
VERIFY: Final = "2"

BY_STAGE: Final = {"parse": PARSE, "resolve": RESOLVE, "link": LINK, "verify": VERIFY}
