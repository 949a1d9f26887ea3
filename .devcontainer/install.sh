#!/bin/sh
# Kata in .venv, with torch's CPU build where PIP_EXTRA_INDEX_URL is the index that torch's own instructions name.
set -eu
cd "$(dirname "$0")/.."
[ -x .venv/bin/python ] || python3 -m venv .venv
if ! .venv/bin/python -m pip install --quiet --disable-pip-version-check --constraint requirements.lock . ipykernel; then
	echo "Kata could not be installed. No network? Your files are safe; again with: sh .devcontainer/install.sh" >&2
	exit 1
fi
