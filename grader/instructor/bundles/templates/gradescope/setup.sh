#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the autograder's image.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$source")

# The wheels beside this file were made for one version of Python.
python=python@PYTHON@
if ! command -v "$python" >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "$python" "$python-venv"
fi
"$python" -m venv "$root/kata"
# It says where the wheels lie, and whether an index is asked for others.
"$root/kata/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir \
    -r "$source/requirements.txt"

# Answers and hidden checks lie here: submissions run as nobody, who cannot open this folder.
chmod 700 "$source"
(cd / && "$root/kata/bin/python" -I -m grader doctor)
