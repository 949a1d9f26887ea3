"""docs/authors.md is followed to the letter: its files are written and its shell lines run, one after the other."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("authors")]  # walked once

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "authors.md").read_text(encoding="utf-8")
PART = re.compile(r"(?ms)^(?:`(?P<file>[\w./-]+)`\n\n)?```(?P<language>\w+)\n(?P<text>.*?)^```$")
COURSE = "vectors"
PRELUDE = """
kata() {{ {python} -m grader "$@"; }}
pip() {{ {python} -m pip "$1" --quiet --no-deps --no-index --target {site} "${{@:2}}"; }}
"""


class Walk:
    """What was typed, in order, and what came of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.outcomes: list[tuple[str, int, str]] = []
        course = folder / COURSE
        site = folder / "site-packages"  # what installers call it: packs in another folder are nobody's
        script = [PRELUDE.format(python=shlex.quote(sys.executable), site=shlex.quote(str(site)))]
        for number, part in enumerate(PART.finditer(PAGE)):
            if part["file"]:
                source = folder / f"part-{number}"
                source.write_text(part["text"], encoding="utf-8")
                target = course / part["file"]
                script.append(
                    f"mkdir -p {shlex.quote(str(target.parent))} && cp {source} {shlex.quote(str(target))}"
                )
            elif part["language"] == "sh":
                for line in part["text"].splitlines():
                    script.append(f'echo {shlex.quote(f"$ {line}")}; {line}\necho "[exit $?]"')
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


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Walk:
    return Walk(tmp_path_factory.mktemp("author"))


def test_every_line_of_the_page_ends_as_it_says(walk: Walk) -> None:
    failed = [line for line, code, _ in walk.outcomes if code != 0]
    # A wrong answer, and a stub on which nothing is written yet.
    assert len(failed) == 2, walk.text
    assert failed == ["kata check wrong/center.py", "kata check"]


def test_the_reference_passes_and_a_mutant_is_shown_its_failure(walk: Walk) -> None:
    assert "1.1.1 center   12/12 points" in walk.output("kata check solutions/")
    assert "first difference" in walk.output("kata check wrong/")


def test_the_kata_passes_the_gate_with_every_mutant_named(walk: Walk) -> None:
    for occurrence in (0, 1, 2):
        verdict = walk.output("kata pack check", occurrence)
        assert re.search(r"center +✔ passed +13 +10 +10 ", verdict), verdict
    assert "=== whole_mean · test_values" in walk.output("cat ")


def test_a_class_is_graded_with_hidden_checks(walk: Walk) -> None:
    book = walk.output("kata gradebook show")
    assert re.search(r"^ada +✔ 15 +15/15$", book, re.M), book
    assert re.search(r"^ben +✘ 5 +5/15$", book, re.M), book


def test_the_learners_wheel_holds_no_solution_and_works(walk: Walk) -> None:
    installed = [path.name for path in (walk.folder / "site-packages").rglob("*.py")]
    assert sorted(installed) == ["__init__.py", "center.py", "checks.py"]
    started = walk.output("kata start 1.1")
    assert "center.py" in started
    assert "not started" in walk.output("kata check", 2)
    assert "1.1.1 center   12/12 points" in walk.output("kata check", 3)


def test_what_the_page_replaces_is_all_that_was_written(walk: Walk) -> None:
    """Nothing of the first kata is left over: whoever follows the page has written every file of it."""
    on_page = {part["file"] for part in PART.finditer(PAGE) if part["file"]}
    generated = {"fingerprints.json.gz", "transcripts.txt"}
    course = walk.folder / COURSE
    files = {
        path.relative_to(course).as_posix()
        for top in ("katas", "solutions")
        for path in (course / top).rglob("*")
        if path.is_file() and path.suffix != ".pyc" and path.name not in generated
    }
    assert files == on_page
