"""Files that let an editor and a forge check a workspace: VS Code's tasks and tests, a workflow of GitHub Actions."""

from __future__ import annotations

import json
from pathlib import Path

from grader import DISTRIBUTION
from grader.files import create_new

PROBLEM = r"^(.*):(\d+):(\d+): (error|warning): (.*) \[(\S+)\]$"
BEGINS, ENDS = r"^kata: checking ", r"^kata: (\S+ of \S+ points|nothing)"
"""What `kata watch --format vscode` prints before and after the lines that point at something."""


PYTEST = """\
# The checks of your katas, for `pytest` and an editor's list of tests. They run in Kata's own processes.
[pytest]
addopts = -p grader.cli.pytest_plugin
"""
TESTING = {"python.testing.pytestEnabled": True, "python.testing.pytestArgs": ["."]}

Laid = tuple[Path, bool]
"""Where a file is, and whether it was written: one that is there stays as it is."""


def lay_vscode(root: Path) -> list[Laid]:
    """Write what VS Code reads: `.vscode/tasks.json`, `.vscode/settings.json`, `pytest.ini`."""
    contents = {
        ".vscode/tasks.json": json.dumps(_tasks(), indent=2) + "\n",
        ".vscode/settings.json": json.dumps(TESTING, indent=2) + "\n",
        "pytest.ini": PYTEST,
    }
    return [(root / name, create_new(root / name, content, root)) for name, content in contents.items()]


def _tasks() -> dict[str, object]:
    pattern = {
        "regexp": PROBLEM,
        "file": 1,
        "line": 2,
        "column": 3,
        "severity": 4,
        "message": 5,
        "code": 6,
    }
    matcher = {"owner": "kata", "fileLocation": ["autoDetect", "${workspaceFolder}"], "pattern": pattern}
    watching = {"activeOnStart": False, "beginsPattern": BEGINS, "endsPattern": ENDS}
    return {
        "version": "2.0.0",
        "tasks": [
            {
                "label": "kata: check",
                "type": "shell",
                "command": "kata check --format vscode",
                "group": {"kind": "test", "isDefault": True},
                "presentation": {"reveal": "silent"},
                "problemMatcher": matcher,
            },
            {
                "label": "kata: watch this file",
                "type": "shell",
                "command": "kata",
                "args": ["watch", "--format", "vscode", "${fileDirname}"],
                "options": {"cwd": "${workspaceFolder}"},
                "isBackground": True,
                "problemMatcher": {**matcher, "background": watching},
            },
        ],
    }


WORKFLOW = ".github/workflows/kata.yml"
_WORKFLOW = """\
# Checks every push: annotations at your lines, and everything that was found, with pictures, in the job's summary.
name: kata
on: [push, pull_request, workflow_dispatch]
permissions:
  contents: read
jobs:
  check:
    runs-on: ubuntu-24.04
    timeout-minutes: 15@PACK@
    steps:
      - uses: actions/checkout@v4
      - uses: astral-sh/setup-uv@v5
        with:
          enable-cache: true
          cache-dependency-glob: @LISTED@
      - name: Install Kata, with torch for the CPU only
        run: |
          uv venv@PYTHON@
          uv pip install --torch-backend=cpu @WHAT@
          echo "$PWD/.venv/bin" >> "$GITHUB_PATH"
      - name: Allow submissions to be confined
        run: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0
      - name: Check
        run: kata check --format github
      - name: Summary
        if: always()
        run: |
          { echo '```'; COLUMNS=110 kata check -v || true; echo '```'; } >> "$GITHUB_STEP_SUMMARY"
"""


def workflow(bundle: str = "", python: str = "", pack: str | None = None) -> str:
    """Return a workflow of GitHub Actions that checks a repository.

    Args:
        bundle: the folder of the repository that says what is installed; Kata's newest version where empty.
        python: the version of Python that this is for; any where empty.
        pack: the folder below `bundle` of a pack that Kata does not bring along.
    """
    words = {
        "@LISTED@": f"{bundle}/requirements.txt" if bundle else WORKFLOW,
        "@PYTHON@": f" --python {python}" if python else "",
        "@WHAT@": f"--find-links {bundle}/wheels -r {bundle}/requirements.txt" if bundle else DISTRIBUTION,
        "@PACK@": ""
        if pack is None
        else f"\n    env:\n      KATA_PACKS: ${{{{ github.workspace }}}}/{bundle}/{pack}",
    }
    text = _WORKFLOW
    for word, meant in words.items():
        text = text.replace(word, meant)
    return text


def lay_actions(root: Path) -> list[Laid]:
    """Write a workflow of GitHub Actions."""
    file = root / WORKFLOW
    return [(file, create_new(file, workflow(), root))]
