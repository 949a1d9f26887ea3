#!/bin/sh
# Begins unit 9.3 in work/, with VS Code's tasks; what is there already stays as it is.
set -eu
cd "$(dirname "$0")/.."
if ! [ -x .venv/bin/kata ]; then
	echo "Kata is not installed here: sh .devcontainer/install.sh, then: sh .devcontainer/begin.sh" >&2
	exit 1
fi
mkdir -p work
cd work
../.venv/bin/kata start 9.3 --vscode
