"""docs/authors.md is followed to the letter: its shell lines run, one after the other."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.nightly, pytest.mark.xdist_group("authors")]  # walked once

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "authors.md").read_text(encoding="utf-8")
SHELL = re.compile(r"(?ms)^```sh\n(.*?)^```$")
PRELUDE = """
kata() {{ {python} -m grader "$@"; }}
pip() {{ {python} -m pip "$1" --quiet --no-deps --no-index --target {site} "${{@:2}}"; }}
"""


def commands() -> list[str]:
    """Return what the page types: a line, or a line with the text that it reads."""
    found: list[str] = []
    for block in SHELL.findall(PAGE):
        lines = iter(block.splitlines())
        for line in lines:
            text = [line]
            if "<<'END'" in line:
                text += [*iter(lines.__next__, "END"), "END"]
            found.append("\n".join(text))
    return found


class Walk:
    """What was typed, in order, and what came of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.outcomes: list[tuple[str, int, str]] = []
        site = folder / "site-packages"  # what installers call it: packs in another folder are nobody's
        script = [PRELUDE.format(python=shlex.quote(sys.executable), site=shlex.quote(str(site)))]
        for command in commands():
            script.append(f'echo {shlex.quote(f"$ {command.splitlines()[0]}")}; {command}\necho "[exit $?]"')
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("KATA_", "PYTEST_"))
        }
        environment |= {"PYTHONPATH": f"{ROOT}{os.pathsep}{site}", "COLUMNS": "200"}
        done = subprocess.run(
            ["bash", "-c", "\n".join(script)],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=900,
            check=False,
        )
        self.text = done.stdout
        for typed, output, code in re.findall(r"(?ms)^\$ ([^\n]*)\n(.*?)^\[exit (\d+)\]$", done.stdout):
            self.outcomes.append((typed, int(code), output))

    def output(self, typed: str, occurrence: int = 0) -> str:
        """Return what a line printed; it must have been on the page."""
        return [text for line, _, text in self.outcomes if line.startswith(typed)][occurrence]

    def typed(self, typed: str) -> int:
        """Return how often such a line was typed."""
        return sum(line.startswith(typed) for line, _, _ in self.outcomes)


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Walk:
    return Walk(tmp_path_factory.mktemp("author"))


def test_every_line_of_the_page_ends_as_it_says(walk: Walk) -> None:
    failed = [line for line, code, _ in walk.outcomes if code != 0]
    # A wrong answer, and a stub on which nothing is written yet.
    assert failed == ["kata check handed-in/ben", "kata check"], walk.text


def test_the_authors_own_lines_are_few() -> None:
    own = [command for command in commands() if re.match(r"cat > \S+/(source|checks)\.py", command)]
    assert len(own) == 2
    assert sum(bool(line.strip()) for command in own for line in command.splitlines()[1:-1]) <= 40


def test_the_mutant_is_named(walk: Walk) -> None:
    shown = walk.output("kata check handed-in/ben")
    assert "1/3 points" in shown
    assert "you squeeze the result, so a batch of one row loses its axis" in shown


def test_the_kata_passes_the_gate_with_and_without_a_mutant(walk: Walk) -> None:
    for occurrence, (checks, mutants) in enumerate([(2, 0), (3, 0), (3, 1), (3, 1), (3, 1)]):
        verdict = walk.output("kata pack check", occurrence)
        assert re.search(rf"weighted-mean +✔ passed +{checks} +{mutants} +{mutants} ", verdict), verdict
    assert "=== squeezed · test_contract" in walk.output("cat solutions/")


def test_a_class_is_graded_with_hidden_checks(walk: Walk) -> None:
    book = walk.output("kata gradebook show")
    assert re.search(r"^ada +✔ 4 +4/4$", book, re.M), book
    assert re.search(r"^ben +✘ 2 +2/4$", book, re.M), book


def test_the_learners_wheel_holds_no_solution_and_works(walk: Walk) -> None:
    installed = [path.name for path in (walk.folder / "site-packages").rglob("*.py")]
    assert sorted(installed) == ["__init__.py", "checks.py", "weighted_mean.py"]
    assert "weighted_mean.py" in walk.output("kata start 1.1")
    assert "not started" in walk.output("kata check", walk.typed("kata check") - 2)
    assert "3/3 points" in walk.output("kata check", walk.typed("kata check") - 1)
