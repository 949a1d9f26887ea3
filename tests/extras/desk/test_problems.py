"""What is open in a class is settled by ticks, graded at once, and taken back by one decision."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from grader.catalogue import Catalogue
from grader.instructor.gradebook.course import Course
from grader.instructor.gradebook.store import Gradebook
from tests.conftest import TINY
from tests.extras.desk.conftest import KATA, Open, Running
from tests.grading.conftest import MODULE, RIGHT
from tests.standby.conftest import wait_for

pytestmark = pytest.mark.slow

FILES = {"ada": "sort_final.py", "eve": "homework9.py", "bob": MODULE, "linus.p": MODULE, "someone": MODULE}
PEOPLE = {
    "ada": "Ada Lovelace",
    "bob": "Bob Roe",
    "eve": "Eve Day",
    "linus": "Linus Pauling",
    "zed": "Zoë Zed",
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class that was graded once, with two wrong file names and two names that the roster does not have."""
    folder = tmp_path_factory.mktemp("graded")
    for learner, name in FILES.items():
        place = folder / "submissions" / learner
        place.mkdir(parents=True)
        (place / name).write_text(f"# {learner}\n{RIGHT}")
    lines = ["learner,name", *(f"{learner},{name}" for learner, name in PEOPLE.items())]
    (folder / "roster.csv").write_text("\n".join(lines))
    (folder / "course.toml").write_text('name = "A class"\nroster = "roster.csv"\n')
    variables = {**os.environ, "KATA_PACKS": str(TINY)}
    subprocess.run([KATA, "grade", "submissions", "-j", "1"], cwd=folder, env=variables, check=True)
    return folder


@pytest.fixture
def desk(running: Open, graded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Running:
    """A desk over a copy of it; the download stays where it was graded."""
    monkeypatch.setenv("KATA_PACKS", str(TINY))
    monkeypatch.chdir(tmp_path)
    for name in ("gradebook.sqlite", "roster.csv", "course.toml"):
        shutil.copy(graded / name, tmp_path)
    return running(str(tmp_path / "gradebook.sqlite"), tmp_path)


def ticked(desk: Running, kind: str, *whose: str, **typed: str) -> dict[str, str]:
    """The form of a kind of problem, with what is about these learners ticked."""
    page = desk.page("/problems")
    form = re.search(f'name="kind" value="{kind}".*?</form>', page, re.DOTALL)
    assert form is not None
    found = {}
    for line in form[0].splitlines():
        if (box := re.search('name="on:([0-9a-f]+)"', line)) and any(name in line for name in whose):
            found[f"on:{box[1]}"] = "1"
            if proposed := re.search('name="by:[0-9a-f]+" value="([^"]*)"', line):
                found[f"by:{box[1]}"] = typed.get("by", proposed[1])
    assert len([one for one in found if one.startswith("on:")]) == len(whose)
    return {"kind": kind, "back": "/problems", **found}


def post(desk: Running, action: str, form: dict[str, str]) -> int:
    """Send it, and return the number of the decision."""
    answer = desk.ask("POST", f"/do/{action}", urlencode(form))
    assert answer.status == 303, re.search('class="trouble".*', answer.text)
    return int(answer.headers["location"].rpartition("just=")[2].partition("&")[0])


def take(desk: Running, *whose: str) -> int:
    """Take files with another name, wait until they are graded, and return the number of the decision."""
    assert desk.ask("POST", "/do/settle", urlencode(ticked(desk, "misnamed", *whose))).status == 303
    wait_for(lambda: "taken and graded" in desk.page("/problems"))
    found = re.search('class="just".*?name="number" value="([0-9]+)"', desk.page("/problems"), re.DOTALL)
    assert found is not None
    return int(found[1])


def undo(desk: Running, number: int) -> None:
    form = {"number": number, "comment": "taken back at once", "back": "/problems"}
    assert desk.ask("POST", "/do/withdraw", urlencode(form)).status == 303


def marks(desk: Running) -> dict[str, tuple[str, float]]:
    course = Course.load(Path(desk.where).with_name("course.toml"), Catalogue.discover())
    with Gradebook.open(desk.where, create=False, course=course) as book:
        return {row.learner: (row.report.status, row.score) for row in book.rows()}


def open_problems(desk: Running) -> int:
    found = re.search(r'<dt>open problems?</dt><dd><a href="/problems">(\d+)<', desk.page("/"))
    assert found is not None
    return int(found[1])


def test_files_are_taken_by_ticks_graded_at_once_and_one_undo_takes_the_marks_back(desk: Running) -> None:
    before = marks(desk)
    assert (open_problems(desk), before["ada"], before["eve"]) == (4, ("missing", 0), ("missing", 0))
    number = take(desk, "Ada", "Eve")
    assert open_problems(desk) == 2
    assert marks(desk) == before | {"ada": ("pass", 5), "eve": ("pass", 5)}
    assert "2 hand-ins at once: as proposed" in desk.page("/problems")
    undo(desk, number)
    assert (marks(desk), open_problems(desk)) == (before, 4)
    take(desk, "Ada")
    assert marks(desk) == before | {"ada": ("pass", 5)}


def test_files_wait_while_another_run_grades_and_are_taken_when_it_is_done(desk: Running) -> None:
    before, form = marks(desk), ticked(desk, "misnamed", "Ada", "Eve")
    with Gradebook.open(desk.where, create=False) as book:
        # A colleague's command, which grades something else.
        going_on = book.start_run({"submissions": "/class/week 2.zip"})
        assert desk.ask("POST", "/do/settle", urlencode(form)).status == 303
        page = desk.page("/problems")
        assert "2 files in the queue" in page
        assert f"another run is grading into this gradebook (process {os.getpid()}" in page
        assert "data-again" in page
        # What is being taken is not asked about again, and is nothing that was decided yet.
        assert open_problems(desk) == 2
        assert "as proposed" not in desk.page("/log")
        assert desk.ask("POST", "/do/settle", urlencode(form)).status == 409
        going_on.finish()
    wait_for(lambda: "2 files taken and graded" in desk.page("/problems"))
    assert marks(desk) == before | {"ada": ("pass", 5), "eve": ("pass", 5)}
    assert "data-again" not in desk.page("/problems")


@pytest.mark.nightly
def test_a_file_that_is_not_there_decides_nothing(desk: Running) -> None:
    form = ticked(desk, "misnamed", "Ada", by="nosuch.py")
    refused = desk.ask("POST", "/do/settle", urlencode(form))
    assert refused.status == 400
    assert "Nothing was written" in refused.text
    assert "ada handed in no file nosuch.py. There: sort_final.py" in refused.text
    assert 'value="nosuch.py"' in refused.text
    assert open_problems(desk) == 4


@pytest.mark.nightly
def test_names_are_matched_as_proposed_or_as_typed(desk: Running) -> None:
    before = marks(desk)
    first = post(desk, "settle", ticked(desk, "unmatched", "linus.p"))
    after = marks(desk)
    assert (after["linus"], "linus.p" in after) == (("pass", 5), False)
    post(desk, "settle", ticked(desk, "unmatched", "someone", by="zoe"))
    assert marks(desk)["zed"] == ("pass", 5)
    undo(desk, first)
    assert marks(desk)["linus"] == before["linus"]
    assert open_problems(desk) == 3


def test_what_is_ignored_is_not_asked_again_until_that_is_taken_back(desk: Running, kata: Any) -> None:
    form = ticked(desk, "unmatched", "linus.p", "someone")
    number = post(desk, "ignore", form)
    assert open_problems(desk) == 2
    assert "linus.p" not in kata("gradebook", "problems").out
    again = desk.ask("POST", "/do/ignore", urlencode(form))
    assert (again.status, "some of this was settled" in again.text) == (409, True)
    undo(desk, number)
    assert open_problems(desk) == 4
    nothing = desk.ask("POST", "/do/settle", "kind=unmatched&back=/problems")
    assert (nothing.status, "Nothing is ticked" in nothing.text) == (400, True)


def test_a_run_that_was_stopped_is_a_problem_of_nobody(desk: Running) -> None:
    with Gradebook.open(desk.where, create=False) as book:
        book.start_run(
            {"submissions": "/class/week 2.zip"}, [("zed", "insertion-sort"), ("ada", "insertion-sort")]
        )
    says = "2 hand-ins: the last run of week 2.zip was stopped at 0 of 2"
    # What others wrote is seen after half a second at the latest.
    wait_for(lambda: "Zoë Zed, Insertion sort: not graded yet" in desk.page("/class"))
    assert says in desk.page("/problems")
    assert "kata grade &#39;/class/week 2.zip&#39;" in desk.page("/problems")
    assert 'class="total score">-</span> of 5' in desk.page("/mark?learner=zed&of=insertion-sort")
    number = post(desk, "ignore", ticked(desk, "not graded", says))
    assert says not in desk.page("/problems")
    undo(desk, number)
    assert says in desk.page("/problems")
