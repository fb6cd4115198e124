#!/bin/sh
# wheel.sh SOURCE OUT: the project's own wheel. What builds it is pinned, and stays out of the image.
set -eu
source=$1 out=$2
mkdir -p "$out"
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
python3 -m venv "$tools"
"$tools/bin/python" -m pip install --quiet --require-hashes --only-binary :all: -r "$source/requirements/run.txt"
"$tools/bin/python" -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir "$out" "$source"
