"""What people said about a hand-in reaches its learner: remarks from the release on, disputes at once."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest

from grader.instructor.gradebook.store import Gradebook
from grader.instructor.grading import executors
from tests.conftest import TINY, Run
from tests.gradebook.handmade import decide
from tests.grading.conftest import RIGHT

SLUG = "insertion-sort"
LINE = next(number for number, line in enumerate(RIGHT.splitlines(), 1) if line.startswith("def "))
REMARK, DISPUTE, ANSWER, REASON = (
    "use a *slice* here",
    "Mine is right.",
    "We look again.",
    "Two points given.",
)


@pytest.fixture
def book(kata: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Gradebook:
    """A class of two, graded; the kata has no rubric. Of a line of ada's something was said, and bob contests."""
    monkeypatch.setenv("KATA_PACKS", str(TINY))
    monkeypatch.setattr(executors, "grading_processes", nullcontext)
    for learner in ("ada", "bob"):
        place = folder / "week1" / learner
        place.mkdir(parents=True)
        (place / "insertion_sort.py").write_text(RIGHT)
    assert kata("grade", "week1", "-j", "1", "--only", SLUG).code == 0
    made = Gradebook.open("gradebook.sqlite", create=False)
    (row, _) = made.rows()
    value = {"attempt": row.attempt, "file": "insertion_sort.py", "line": LINE}
    decide(made, "remark", "ada", value, comment=REMARK, author="kim", kata=SLUG)
    number = decide(made, "dispute", "bob", None, comment=DISPUTE, author="kim", kata=SLUG)
    decide(made, "answer", "bob", number, comment=ANSWER, author="lee", kata=SLUG)
    decide(made, "close", "bob", number, comment=REASON, author="lee", kata=SLUG)
    return made


def pages(kata: Run, folder: Path) -> dict[str, dict[str, str]]:
    """By kind of page and learner, what a report holds."""
    assert kata("report", "--out", folder / "report").code == 0
    found: dict[str, dict[str, str]] = {}
    for path in (folder / "report").rglob("*"):
        if path.suffix in (".html", ".md") and path.name != "index.html":
            kind = "learner's" if path.parent.name == "feedback" else "instructor's"
            found.setdefault(kind + path.suffix, {})[path.name[:3]] = path.read_text()
    return found


@pytest.mark.slow
def test_remarks_wait_for_the_release_of_a_kata_without_a_rubric(
    kata: Run, book: Gradebook, folder: Path
) -> None:
    before = pages(kata, folder)
    assert "use a *slice* here" in before["instructor's.html"]["ada"]
    assert "kim" in before["instructor's.html"]["ada"]
    assert all("slice" not in before[f"learner's{kind}"]["ada"] for kind in (".html", ".md"))

    ran = kata("gradebook", "release", SLUG, "--comment", "all are read", "--author", "kim").done()
    after = pages(kata, folder)
    page, markdown = after["learner's.html"]["ada"], after["learner's.md"]["ada"]
    for shown in (page, markdown):
        assert f"insertion_sort.py, line {LINE}" in shown.replace("\\", "")
        assert RIGHT.splitlines()[LINE - 1][:18] in shown
        assert "kim" not in shown
    assert "use a *slice* here" in page
    assert "use a \\*slice\\* here" in markdown
    assert "slice" not in after["learner's.html"]["bob"]
    told = kata("gradebook", "show", "--json").json  # a release adds nothing to be written, and no points
    assert {(one["score"], one["max_score"]) for one in told["learners"]} == {(5.0, 5.0)}

    number = ran.err.partition("withdraw ")[2].split()[0]
    assert kata("gradebook", "withdraw", number, "--comment", "too early", "--author", "kim").code == 0
    assert "slice" not in pages(kata, folder)["learner's.html"]["ada"]


def test_a_dispute_and_what_was_said_to_it_is_the_learners_own(
    kata: Run, book: Gradebook, folder: Path
) -> None:
    found = pages(kata, folder)
    for kind in ("learner's.html", "learner's.md"):
        shown = found[kind]["bob"].replace("\\", "")
        places = [shown.index(words) for words in (DISPUTE, ANSWER, REASON)]
        assert places == sorted(places)
        assert "Dispute, closed" in shown
        assert "lee" not in shown
        assert DISPUTE not in found[kind]["ada"]
    assert "lee" in found["instructor's.html"]["bob"]


@pytest.mark.nightly
def test_what_an_earlier_attempt_was_told_says_so(kata: Run, book: Gradebook, folder: Path) -> None:
    (folder / "week1" / "ada" / "insertion_sort.py").write_text(RIGHT + "\n# another\n")
    assert kata("grade", "week1", "-j", "1", "--only", SLUG).code == 0
    shown = pages(kata, folder)["instructor's.html"]["ada"]
    assert f"line {LINE}, of an attempt other than the one that counts" in shown


@pytest.mark.nightly
def test_nothing_is_released_that_is_not_there(kata: Run, book: Gradebook) -> None:
    ran = kata("gradebook", "release", "no-such-kata", "--comment", "x", "--author", "kim")
    assert ran.code == 2
