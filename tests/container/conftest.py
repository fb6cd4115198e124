from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.container.confined import Built, build, described


@pytest.fixture(scope="session")
def image(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Built once; AOP_TEST_IMAGE names the folder of one that a run before has built."""
    kept = os.environ.get("AOP_TEST_IMAGE")
    return described(Path(kept)) if kept else build(tmp_path_factory.mktemp("image"))
