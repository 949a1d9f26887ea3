"""The tests of what you changed: prints them, or runs them with `--run` (`make changed`).

What differs from where your branch left main counts, and what is not committed. Of a kata it says `kata pack check`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EVERY_CHANGE = "project"
"""Style, imports, names in docs: fast, and about everything."""
TESTS = {
    "grader/__init__.py": "project",
    "grader/__main__.py": "cli",
    "grader/catalogue": "catalogue workspace authors adapters",
    "grader/checks.py": "checks",
    "grader/engine/checks": "checks running katas",
    "grader/engine/mistakes": "running authors katas",
    "grader/cli": "cli workspace exports standby",
    "grader/commands.py": "cli",
    "grader/data_files.py": "catalogue",
    "grader/learner/data": "cli",
    "grader/learner/demos": "demos",
    "grader/devices.py": "host timing",
    "grader/errors.py": "cli",
    "grader/extras/cluster": "extras/cluster",
    "grader/extras/colab": "extras/colab",
    "grader/extras/desk": "extras/desk",
    "grader/extras/environments": "extras/environments",
    "grader/extras/mcp": "extras/mcp",
    "grader/extras/push": "extras/push",
    "grader/extras/questions": "extras/questions pages",
    "grader/extras/similar": "extras/similar extras/desk pages",
    "grader/api.py": "extras/cluster extras/desk extras/environments extras/mcp extras/push extras/questions "
    "extras/similar",
    "grader/files.py": "workspace gradebook",
    "grader/instructor/gradebook": "gradebook grading exports extras/desk",
    "grader/instructor/grading": "grading exports extras/desk",
    "grader/instructor/lms": "submissions gradebook exports grading pages extras/desk",
    "grader/instructor/bundles": "handin extras/environments",
    "grader/engine/host": "host running worker policy",
    "grader/interpreter.py": "host grading",
    "grader/machine.py": "host timing",
    "grader/malloc.py": "host",
    "grader/notebooks.py": "worker cli",
    "grader/author": "authors katas adapters",
    "grader/instructor/html": "pages extras/desk",
    "grader/report": "cli pages exports",
    "grader/engine/runner": "running checks policy cli",
    "grader/engine/sandbox": "sandbox isolation host",
    "grader/instructor/tokens.py": "extras/desk extras/similar",
    "grader/instructor/submissions": "submissions grading exports",
    "grader/engine/timing": "timing",
    "grader/engine/wire": "wire host worker",
    "grader/words.py": "extras/similar",
    "grader/engine/worker": "worker host policy isolation hostile adapters",
    "grader/learner/workspace": "workspace cli",
    "kata.py": "cli",
    "adapters": "adapters",
    "katas": "katas demos",
    "solutions": "katas",
    "demo": "project",
    "docs": "project katas",
    "benchmarks": "grading hostile",
    "tests/answers": "katas",
    "tests/packs": "running cli grading",
}
"""By folder or file, the folders of `tests/` about it. A change there that no line names runs `tests/project` alone."""


def tests_of(paths: Iterable[str]) -> list[str]:
    """Return the folders of tests that these changed files call for."""
    found = {EVERY_CHANGE}
    for path in paths:
        folders = [Path(path), *Path(path).parents]
        for folder in folders:
            found |= set(TESTS.get(folder.as_posix(), "").split())
        if path.startswith("tests/"):
            own = [folder for folder in folders[:-2] if any((ROOT / folder).glob("test_*.py"))]
            found |= {folder.relative_to("tests").as_posix() for folder in own}
    return [f"tests/{name}" for name in sorted(found)]


def katas_of(paths: Iterable[str]) -> list[str]:
    """Return the katas of which files changed; Python next to a unit's katas is shared by all of them."""
    found: set[str] = set()
    for root, unit, *rest in (Path(path).parts for path in paths if path.count("/") > 1):
        if root in ("katas", "solutions"):
            katas = {file.parent.name for file in (ROOT / "katas" / unit).glob("*/kata.toml")}
            shared = rest[0] not in katas and rest[-1].endswith(".py")
            found |= katas if shared else katas & {rest[0]}
    return sorted(found)


def changed(since: str) -> list[str]:
    """Return the files that differ from where this branch left another, or are new."""
    base = _git("merge-base", since, "HEAD").strip()
    listed = _git("diff", "--name-only", base) + _git("ls-files", "--others", "--exclude-standard")
    return listed.splitlines()


def _git(*arguments: str) -> str:
    # In the repository of this folder, also where a hook or a rebase runs this: they export theirs as GIT_DIR.
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return subprocess.check_output(["git", *arguments], cwd=ROOT, env=env, stderr=subprocess.PIPE, text=True)


def main() -> int:
    """Print or run the tests of what changed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--since", default="main", help="the branch or commit to compare with")
    options.add_argument("--run", action="store_true", help="run them")
    asked = options.parse_args()
    paths = changed(asked.since)
    python = [sys.executable, "-m"]
    commands = [
        [*python, "pytest", "-n", "2", "--dist", "loadgroup", "-m", "not gate", *tests_of(paths)],
        *([*python, "grader", "pack", "check", kata] for kata in katas_of(paths)),
    ]
    failed = False
    for command in commands:
        print(" ".join(["python", *command[1:]]), flush=True)
        failed |= asked.run and subprocess.run(command, cwd=ROOT, check=False).returncode != 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
