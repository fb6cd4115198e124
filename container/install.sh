#!/bin/sh
# install.sh SOURCE WHEELS TARGET: an environment with the service's requirements, pinned and hashed, and our wheel.
set -eu
source=$1 wheels=$2 target=$3
python3 -m venv "$target"
"$target/bin/python" -m pip install --quiet --no-compile --require-hashes --only-binary :all: -r "$source/requirements/image.txt"
"$target/bin/python" -m pip install --quiet --no-compile --no-deps --no-index "$wheels"/aop-*.whl
"$target/bin/python" -m pip check
