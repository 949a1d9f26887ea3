"""Written answers through the commands: from the sheet that is handed in to what learners and systems get."""

from __future__ import annotations

import csv
import io
import re
import shutil
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from grader.instructor.grading import executors
from tests.conftest import TINY, Ran, Run
from tests.gradebook.conftest import postgres, postgres_where, where  # noqa: F401
from tests.grading.conftest import RIGHT, SOLUTIONS

pytestmark = pytest.mark.slow

Sheet = Callable[..., Path]

RUBRIC = """
[[questions]]
question = "Why in place?"
model = "Only one number is held aside."
[[questions.criteria]]
met = "names the memory"
points = 1
[[questions.criteria]]
met = "says that it is constant"
points = 1

[[questions]]
question = "When is it fast?"
model = "Where the list is nearly sorted."
[[questions.criteria]]
met = "names nearly sorted lists"
points = 1
"""
COURSE = """
name = "Sorting"
timezone = "UTC"
roster = "roster.csv"
[assignments.week1]
katas = ["insertion-sort"]
due = 2026-10-05T12:00:00
"""
SECRET = "say which number, dear"


@pytest.fixture
def sheet(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Sheet:
    """A class over the tiny pack with a rubric; call it to hand in an answer and a sheet."""
    home = tmp_path_factory.mktemp("packs")
    shutil.copytree(TINY, home / "katas")
    shutil.copytree(SOLUTIONS.parent.parent, home / "solutions")
    (home / "solutions/1.1-sorting/insertion-sort/rubric.toml").write_text(RUBRIC)
    monkeypatch.setenv("KATA_PACKS", str(home / "katas"))
    monkeypatch.setattr(executors, "grading_processes", nullcontext)
    (folder / "course.toml").write_text(COURSE)
    (folder / "roster.csv").write_text("learner,name\nada,Ada\nbob,Bob\neve,Eve\n")

    def put(learner: str, text: str | bytes | None = None) -> Path:
        place = folder / "week1" / learner
        place.mkdir(parents=True, exist_ok=True)
        (place / "insertion_sort.py").write_text(RIGHT)
        if text is not None:
            (place / "answers.md").write_bytes(text.encode() if isinstance(text, str) else text)
        return place / "answers.md"

    return put


def totals(kata: Run, book: tuple[str, ...]) -> dict[str, tuple[float, float]]:
    """What everybody has in all, and of how much."""
    found = kata("gradebook", "show", "--json", *book).json
    return {one["learner"]: (one["score"], one["max_score"]) for one in found["learners"]}


def canvas(kata: Run, book: tuple[str, ...], *, released: bool = False) -> dict[str, float]:
    """What Canvas's table gives everybody, its only column of points."""
    ran = kata("gradebook", "export", "--format", "canvas", "--assignment", "insertion-sort=7", *book).done()
    lines = list(csv.reader(io.StringIO(ran.out)))
    (column,) = [place for place, name in enumerate(lines[0]) if "(7)" in name]
    assert any("written answers" in name for name in lines[0]) == released
    people = {line[0]: line[column] for line in lines[1:] if line[0] in ("Ada", "Bob", "Eve")}
    assert len(people) == 3, ran.out
    return {name: float(points) for name, points in people.items()}


def undo_of(ran: Ran) -> str:
    """The number that a command says it can be undone by."""
    found = re.search(r"(?:unmark|withdraw) (\d+)", ran.err)
    assert found, ran.text
    return found[1]


def everything_given_out(kata: Run, book: tuple[str, ...], out: Path) -> dict[str, str]:
    """What learners and systems get: feedback of everybody, Canvas's table, Gradescope's results."""
    assert kata("report", "--feedback-only", "--out", out / "pages", *book).code == 0
    assert kata("gradebook", "export", "--format", "gradescope", "-o", out / "results", *book).code == 0
    found = [path for path in (out / "pages").rglob("*") if path.suffix in (".html", ".md")]
    assert len(found) >= 2 * 3
    pages = {
        suffix: "".join(path.read_text() for path in found if path.suffix == suffix)
        for suffix in (".html", ".md")
    }
    results = "".join(path.read_text() for path in sorted((out / "results").rglob("*.json")))
    return {"page": pages[".html"], "markdown": pages[".md"], "results": results}


def test_feedback_says_what_each_answer_was_given_for(kata: Run, sheet: Sheet, folder: Path) -> None:
    hostile = "One number <script>alert(1)</script>, `always`."
    sheet("ada", f"## 1. x\n{hostile}\n\n## 2. x\nNever.\n")
    sheet("bob", "## 1. x\nBecause.\n")
    assert kata("grade", "week1", "-j", "1", "--only", "insertion-sort").code == 0
    mark = ("gradebook", "mark", "ada", "insertion-sort")
    assert kata(*mark, "1", "--met", "1", "--comment", "and the time?").code == 0
    assert kata(*mark, "2", "--points", "0.5").code == 0
    before = everything_given_out(kata, (), folder / "before")
    assert not any(
        "One number" in before[kind] or "held aside" in before[kind] for kind in ("page", "markdown")
    )
    assert kata("gradebook", "release", "all", "--anyway", "--comment", "done").code == 0
    given = everything_given_out(kata, (), folder / "after")
    page, markdown = (re.sub(r"\s+", " ", given[kind]) for kind in ("page", "markdown"))
    assert "<script>alert" not in page
    assert "One number &lt;script&gt;" in page
    assert 'met:</span> names the memory</span><span class="score">1</span>' in page
    assert 'not met:</span> says that it is constant</span><span class="score">0 of 1</span>' in page
    assert "✔ names the memory (1) - ✘ says that it is constant (0 of 1)" in markdown
    assert "0.5 of 1 point, decided otherwise than by the criteria" in markdown
    for text in (page, markdown):
        assert "Only one number is held aside." in text
        assert "and the time?" in text
        assert "1.5 of 3 points" in text  # Ada's, of both questions
        assert "still to be marked" in text  # Bob's
        assert "To think about" not in text.partition("Eve")[0]


@pytest.mark.nightly
def test_a_class_is_marked_released_and_taken_back(
    kata: Run,
    sheet: Sheet,
    where: str,  # noqa: F811
    folder: Path,
) -> None:
    book = ("--gradebook", where, "--course", "course.toml")
    sheet("ada", "## 1. x\nOne number.\n\n## 2. x\nNearly sorted ones.\n")
    sheet("bob", "## 1. x\nBecause.\n")
    sheet("eve")
    kata("grade", "week1", "-j", "1", "--only", "insertion-sort", *book).done()
    assert totals(kata, book) == {"ada": (5, 5), "bob": (5, 5), "eve": (5, 5)}
    assert "3 answers wait" in kata("gradebook", "answers", *book).err
    shown = kata("gradebook", "answers", "ada", *book).out
    assert "| One number." in shown
    assert "Only one number is held aside." in shown

    mark = ("gradebook", "mark", "ada", "insertion-sort", "1", "--author", "kim", *book)
    wrong = undo_of(kata(*mark, "--met", "1,2"))
    assert totals(kata, book)["ada"] == (5, 5), "they count from the release on"
    kata("gradebook", "unmark", wrong, "--comment", "meant for bob", "--author", "lee", *book).done()
    assert totals(kata, book)["ada"] == (5, 5)
    right = undo_of(kata(*mark, "--met", "1", "--comment", SECRET).done())
    told = kata("gradebook", "history", "ada", "insertion-sort", *book).out
    assert f"marked question 1: 2/2 mark {wrong} kim, taken back later" in told
    assert f"taken back question 1 mark {wrong} lee: meant for bob" in told
    assert f"marked question 1: 1/2 mark {right} kim: {SECRET}" in told

    release = ("gradebook", "release", "week1", "--comment", "done", *book)
    kata(*release).refused("2 answers of 2 learners wait")
    (folder / "marks.csv").write_text(
        "learner,kata,question,points,met,comment\n"
        "ada,insertion-sort,2,0.5,,half of it\nbob,insertion-sort,1,,2,\n"
    )
    table = ("gradebook", "mark-all", "marks.csv", *book)
    (folder / "typo.csv").write_text("learner,kata,question,points\nada,insertion-sort,2,0_5\n")
    kata("gradebook", "mark-all", "typo.csv", *book).refused("points must be a number from 0 to 1, not '0_5'")
    assert "2 would be marked" in kata(*table, "--dry-run").err
    assert totals(kata, book)["bob"] == (5, 5)
    assert "2 marked, 0 already recorded" in kata(*table).err
    assert "0 marked, 2 already recorded" in kata(*table).err
    assert totals(kata, book) == {"ada": (5, 5), "bob": (5, 5), "eve": (5, 5)}

    before = everything_given_out(kata, book, folder / "before")
    assert all(SECRET not in text and "half of it" not in text for text in before.values())
    unreleased = canvas(kata, book)
    released = kata(*release).done()
    assert totals(kata, book) == {"ada": (6.5, 8), "bob": (6, 8), "eve": (5, 8)}
    after = everything_given_out(kata, book, folder / "after")
    for told in after.values():
        assert SECRET in told
        assert "half of it" in told
    lines = list(csv.DictReader(io.StringIO(kata("gradebook", "export", "--format", "csv", *book).out)))
    assert [(one["learner"], one["written_score"], one["written_max_score"]) for one in lines] == [
        ("ada", "1.5", "3"),
        ("bob", "1", "3"),
        ("eve", "0", "3"),
    ]

    shown = canvas(kata, book, released=True)
    # Written answers are no part of a kata's column.
    assert set(unreleased.values()) == set(shown.values()) == {5.0}

    kata("gradebook", "withdraw", undo_of(released), "--comment", "too early", *book).done()
    again = everything_given_out(kata, book, folder / "again")
    assert all(SECRET not in text for text in again.values())
    assert canvas(kata, book) == unreleased
    assert totals(kata, book) == {"ada": (5, 5), "bob": (5, 5), "eve": (5, 5)}


def test_what_waits_is_no_zero_and_everybody_has_the_same_maximum(
    kata: Run, sheet: Sheet, folder: Path
) -> None:
    sheet("ada", "## 1. x\nOne number.\n\n## 2. x\nNearly sorted ones.\n")
    sheet("bob", "## 1. x\nBecause.\n")
    sheet("eve")
    assert kata("grade", "week1", "-j", "1", "--only", "insertion-sort").code == 0
    release = ("gradebook", "release", "week1", "--comment", "remarks alone", "--anyway")
    back = undo_of(kata(*release))
    # Nobody's answer was marked: who wrote none loses nothing, and what waits is in no file.
    assert totals(kata, ()) == {"ada": (5, 5), "bob": (5, 5), "eve": (5, 5)}
    assert "written" not in kata("gradebook", "export", "--format", "wide").out
    assert kata("gradebook", "withdraw", back, "--comment", "so").code == 0

    assert kata("gradebook", "mark", "ada", "insertion-sort", "1", "--points", "1.5").code == 0
    assert kata(*release).code == 0
    assert totals(kata, ()) == {"ada": (6.5, 8), "bob": (5, 8), "eve": (5, 8)}
    shown = kata("gradebook", "show").out
    assert all(whole in shown for whole in ("1.5/3?", "6.5/8?", "0/3?", "5/8?", "0/3 ", "5/8"))
    assert "? 2 written answers still to be marked, not 0" in shown
    wide = {"ada": ["5", "", "", "8"], "bob": ["5", "", "", "8"], "eve": ["5", "0", "5", "8"]}
    canvas = {"Ada": [""], "Bob": [""], "Eve": ["5"]}
    for format_, cells in (("wide", wide), ("canvas", canvas)):
        ran = kata(
            *("gradebook", "export", "--format", format_), *(["--per-assignment"] * (format_ == "canvas"))
        )
        assert (
            "2 written answers (2 learners) not marked yet: they leave their cells empty, not 0." in ran.err
        )
        lines = {line[0]: line for line in csv.reader(io.StringIO(ran.out))}
        assert {name: lines[name][-len(own) :] for name, own in cells.items()} == cells
    ran = kata("gradebook", "export", "--format", "gradescope", "-o", "out")
    assert "2 written answers (2 learners) not marked yet: they count as 0 in this export." in ran.err
    assert kata("report", "--out", "pages").code == 0
    (page,) = (path.read_text() for path in (folder / "pages/learners").glob("ada-*.html"))
    assert (
        '<span class="total score">6.5</span> of 8 points, 1 written answer still to be marked (1 point)'
        in page
    )
    assert "1.5 of 3" in page


HOSTILE = {
    "huge": b"x" * (2 << 20),
    "bytes": b"## 1. x\n\x80\x81 \xff\n",
    "script": b"## 1. x\n<script>alert(1)</script><img src=x onerror=alert(2)>\n",
    "controls": b"## 1. x\n\x1b[2J\x1b]0;owned\x07\x00 red\n",
}


def test_hostile_sheets_cost_nobody_a_row_and_nothing_of_them_runs(
    kata: Run, sheet: Sheet, folder: Path
) -> None:
    for name, content in HOSTILE.items():
        sheet(name, content)
    sheet("link").symlink_to("/etc/passwd")
    sheet("folder").mkdir()
    sheet("ada", "## 1. x\nfine\n")
    (folder / "roster.csv").unlink()
    (folder / "course.toml").write_text(COURSE.replace('roster = "roster.csv"\n', ""))
    kata("grade", "week1", "-j", "1", "--only", "insertion-sort").done()
    found = totals(kata, ())
    assert found == dict.fromkeys([*HOSTILE, "link", "folder", "ada"], (5, 5))
    for name in ("bytes", "script", "controls", "ada"):
        shown = kata("gradebook", "answers", name).done()
        assert "\x1b" not in shown.out
        assert "\x00" not in shown.out
        assert kata("gradebook", "mark", name, "insertion-sort", "1", "--points", "1").code == 0
    assert kata("gradebook", "release", "all", "--comment", "done").code == 0
    assert kata("report", "--out", "pages").code == 0
    pages = [path.read_text() for path in (folder / "pages").rglob("*.html")]
    assert len(pages) > len(found)
    assert all("<script>alert" not in page and "<img src=x" not in page for page in pages)
    assert all("root:x:" not in page for page in pages)
