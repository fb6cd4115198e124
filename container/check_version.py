"""check_version.py VERSION: whether package, chart and changelog are of that version. Run before a release is built."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACES = {
    "pyproject.toml": r'^version = "([^"]+)"$',
    "helm/aop/Chart.yaml": r'^appVersion: "([^"]+)"$',
    "CHANGELOG.md": r"^## \[(\d[^\]]*)\]",
}


def main(arguments: list[str]) -> int:
    (version,) = arguments
    wrong = []
    for name, pattern in PLACES.items():
        found = re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
        if found is None or found[1] != version:
            wrong.append(f"{name} is of version {found[1] if found else '(none)'}, not {version}")
    sys.stderr.writelines(f"{line}\n" for line in wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
