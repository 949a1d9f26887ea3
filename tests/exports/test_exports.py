"""The files that other systems read."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.instructor.gradebook.course import Assignment, Course
from grader.instructor.gradebook.exports.documents import to_jsonl
from grader.instructor.gradebook.exports.gradescope import folder_name, to_gradescope
from grader.instructor.gradebook.exports.tables import (
    Column,
    by_assignment,
    columns_of,
    to_csv,
    to_grades,
    to_wide,
)
from grader.instructor.gradebook.roster import Person
from grader.instructor.gradebook.row_types import Mark
from grader.instructor.lms import SYSTEMS
from grader.report.report import KataReport

from .made_up import SECRET, adjustment, check, report, row, small_class

EVIL = '=HYPERLINK("http://x")'
TITLES = {"masks": "Masks", "layer-norm": "Layer norm"}
NOBODY = Course()
GRADES = {system.name: system.grades for system in SYSTEMS if system.grades}


def course(learner: str = "ada", **more: Any) -> Course:
    person = {
        "name": "Lovelace, Ada",
        "email": "Ada@example.org",
        "section": "A",
        "canvas_id": "77",
        "moodle_id": "al1",
    }
    other = {"sis_user_id": "S1", "sis_login_id": "ada01"}
    return Course(
        roster={learner: Person(learner=learner, **{**person, "other": other, **more})},
        weights={"masks": 2.0},
    )


COURSE = course()


def table(pieces: Iterator[str]) -> list[list[str]]:
    return list(csv.reader(io.StringIO("".join(pieces), newline="")))


def columns(**canvas_ids: str) -> list[Column]:
    return columns_of(
        small_class(), TITLES, {name.replace("_", "-"): id_ for name, id_ in canvas_ids.items()}
    )


def test_long_csv_has_a_line_for_each_mark() -> None:
    lines = list(csv.DictReader(io.StringIO("".join(to_csv(small_class(), COURSE)), newline="")))
    assert [(line["learner"], line["kata"], line["status"]) for line in lines] == [
        ("ada", "masks", "fail"),
        ("ada", "layer-norm", "error"),
        ("bob", "masks", "pass"),
        ("bob", "layer-norm", "pass"),
    ]
    assert lines[0]["name"] == "Lovelace, Ada"
    assert (lines[0]["checks_passed"], lines[0]["checks"]) == ("1", "3")
    bob = lines[2]
    assert bob["name"] == 'Bob, the "Builder" 🧱'
    assert (bob["score"], bob["graded_score"], bob["max_score"]) == ("7", "6", "6")
    assert (bob["days_late"], bob["late_points"], bob["adjusted_points"]) == ("1.5", "1", "2")
    assert bob["comments"] == "(+2) the seed was unlucky"
    assert bob["graded_at"] == "2025-03-14T09:26:53+00:00"


def test_wide_csv_has_a_line_for_each_learner_and_totals() -> None:
    assert table(to_wide(small_class(), columns(), COURSE)) == [
        ["learner", "name", "email", "masks", "layer-norm", "score", "max_score"],
        ["ada", "Lovelace, Ada", "Ada@example.org", "2", "0", "4", "16"],
        ["bob", 'Bob, the "Builder" 🧱', "", "7", "4", "18", "16"],
    ]


def test_a_kata_that_a_learner_has_no_row_for_is_an_empty_cell() -> None:
    rows = [row("ada"), row("bob", report("layer-norm"))]
    found = columns_of(rows)
    assert [line[3:5] for line in table(to_wide(rows, found, NOBODY))[1:]] == [["2", ""], ["", "2"]]
    assert [line[5:] for line in table(to_grades(GRADES["canvas"], rows, found, NOBODY))[2:]] == [
        ["2", ""],
        ["", "2"],
    ]
    assert [line[3:] for line in table(to_grades(GRADES["moodle"], rows, found, NOBODY))[1:]] == [
        ["2", ""],
        ["", "2"],
    ]


def test_columns_are_in_the_order_of_their_numbers_and_worth_the_most_that_anybody_could_get() -> None:
    shortened = report("masks", max_score=1.0)
    rows = [
        row("ada", report("late-kata")),
        row("ada", shortened),
        row("bob", report("layer-norm")),
        row("bob"),
    ]
    found = columns_of(rows, TITLES, {"masks": "9"})
    assert [(one.kata, one.heading, one.max_score, one.canvas_id) for one in found] == [
        ("masks", "9.3.1 Masks", 2.0, "9"),
        ("layer-norm", "9.3.3 Layer norm", 2.0, ""),
        ("late-kata", "9.10.1 late-kata", 2.0, ""),
    ]


def test_canvas_finds_students_assignments_and_points() -> None:
    lines = table(to_grades(GRADES["canvas"], small_class(), columns(masks="1234"), COURSE))
    own = "Student,ID,SIS User ID,SIS Login ID,Section,9.3.1 Masks (1234),9.3.3 Layer norm"
    assert ",".join(lines[0]) == own
    assert lines[1] == ["    Points Possible", "", "", "", "", "6", "4"]
    assert lines[2] == ["Lovelace, Ada", "77", "S1", "ada01", "A", "2", "0"]
    assert lines[3] == ['Bob, the "Builder" 🧱', "", "", "bob", "", "7", "4"]


def test_no_student_is_taken_for_the_line_of_points() -> None:
    """Canvas reads any line whose first cell holds "Points Possible" as what the assignments are worth."""
    lines = table(to_grades(GRADES["canvas"], [row("eve", name="Points Possible")], columns(), NOBODY))
    assert [line[0] for line in lines if "Points Possible" in line[0]] == ["    Points Possible"]


def test_canvas_gets_two_decimals_and_moodle_all_of_them() -> None:
    rows = [row("ada", score=1.2345)]
    for system, mark in (("canvas", "1.23"), ("moodle", "1.2345")):
        assert table(to_grades(GRADES[system], rows, columns_of(rows), NOBODY))[-1][-1] == mark


def test_moodle_has_somebody_to_map_and_a_column_for_each_kata() -> None:
    assert table(to_grades(GRADES["moodle"], small_class(), columns(), COURSE)) == [
        ["Identifier", "Full name", "Email address", "9.3.1 Masks", "9.3.3 Layer norm"],
        ["al1", "Lovelace, Ada", "Ada@example.org", "2", "0"],
        ["bob", 'Bob, the "Builder" 🧱', "", "7", "4"],
    ]


def test_brightspace_gets_its_own_signs() -> None:
    """As "Importing grades" of community.d2l.com has it; what Brightspace exports begins identifiers with `#`."""
    person = course(other={"username": "al", "orgdefinedid": "17"})
    assert table(to_grades(GRADES["brightspace"], small_class(), columns(), person)) == [
        [
            "OrgDefinedId",
            "Username",
            "9.3.1 Masks Points Grade",
            "9.3.3 Layer norm Points Grade",
            "End-of-Line Indicator",
        ],
        ["#17", "#al", "2", "0", "#"],
        ["", "#bob", "7", "4", "#"],
    ]


@pytest.mark.parametrize(
    ("name", "other", "last", "first"),
    [
        ("Müller, Jörg", {}, "Müller", "Jörg"),
        ("Jörg Müller", {}, "Müller", "Jörg"),
        ("Ludwig van Beethoven", {"last_name": "van Beethoven"}, "van Beethoven", "Ludwig"),
        ("Cher", {}, "Cher", ""),
    ],
)
def test_blackboard_gets_names_in_two(name: str, other: dict[str, str], last: str, first: str) -> None:
    lines = table(
        to_grades(GRADES["blackboard"], [row("ada", name=name)], columns(), course(name=name, other=other))
    )
    assert lines[1][:3] == [last, first, "ada"]


@pytest.mark.parametrize(
    ("system", "title"),
    [("canvas", "Norms (502)"), ("blackboard", "Norms [Total Pts: 4 Score] |77"), ("moodle", "Norms")],
)
def test_a_column_is_called_what_the_system_calls_it(system: str, title: str) -> None:
    known = Course(
        assignments={"week1": Assignment("week1", ("masks",)), "week2": Assignment("week2", ("layer-norm",))},
        columns={"week2": title, "layer-norm": title},
    )
    assert table(to_grades(GRADES[system], small_class(), columns(), known))[0][-1] == title
    both = by_assignment(columns(), known, {})
    assert table(to_grades(GRADES[system], small_class(), both, known))[0][-1] == title
    if system == "canvas":  # what is said at an export goes before
        both = by_assignment(columns(), known, {"week2": "9"})
        assert table(to_grades(GRADES[system], small_class(), both, known))[0][-1] == "week2 (9)"


def test_an_assignment_is_a_column_and_its_katas_are_weighed() -> None:
    week = Assignment("week1", ("masks", "layer-norm"), title="Week 1")
    weighed = Course(assignments={"week1": week}, weights={"masks": 2.0})
    found = by_assignment(columns(), weighed, {"week1": "55"})
    lines = table(to_grades(GRADES["canvas"], small_class(), found, weighed))
    assert lines[0][5:] == ["Week 1 (55)"]
    assert [line[5:] for line in lines[1:]] == [["16"], ["4"], ["18"]]
    assert by_assignment(columns(), NOBODY, {}) == columns()


def test_no_table_holds_a_formula() -> None:
    rows = [row(EVIL, name=EVIL, adjustments=[adjustment(-1, EVIL)], score=1.0)]
    person = dict.fromkeys(("name", "email", "section", "canvas_id", "moodle_id"), EVIL)
    roster = course(EVIL, **person, other=dict.fromkeys(("sis_user_id", "sis_login_id"), EVIL))
    found = columns_of(rows, {"masks": EVIL})
    for export in (
        to_csv(rows, roster),
        to_wide(rows, found, roster),
        to_grades(GRADES["canvas"], rows, found, roster),
        to_grades(GRADES["moodle"], rows, found, roster),
        to_grades(GRADES["brightspace"], rows, found, roster),
    ):
        cells = [cell for line in table(export) for cell in line]
        assert any("HYPERLINK" in cell for cell in cells)
        assert not [cell for cell in cells if cell.startswith(("=", "+", "@"))]
        assert not [cell for cell in cells if cell.startswith("-") and not re.fullmatch(r"-[\d.]+", cell)]


def test_json_lines_are_the_reports_with_the_learner() -> None:
    lines = list(to_jsonl(small_class()))
    assert all(line.endswith("\n") and line.count("\n") == 1 for line in lines)
    reports = [msgspec.json.decode(line, type=KataReport) for line in lines]
    assert [one.learner for one in reports] == ["ada", "ada", "bob", "bob"]
    assert [msgspec.structs.replace(one, learner=None) for one in reports] == [
        one.report for one in small_class()
    ]
    assert json.loads(lines[0])["schema"] == 1


def results(rows: list[Mark]) -> dict[str, Any]:
    return {name: json.loads(data) for name, data in to_gradescope(rows, NOBODY)}


def test_gradescope_gets_a_file_for_each_learner() -> None:
    files = results(small_class())
    assert list(files) == ["ada/results.json", "bob/results.json"]
    ada, bob = files.values()
    assert (ada["score"], ada["max_score"]) == (2.0, 10.0)
    assert (bob["score"], bob["max_score"]) == (11.0, 10.0), "the mark, with lateness and what people changed"
    assert "1.5 days late: -1, (+2) the seed was unlucky" in bob["output"]
    assert "a slip" not in bob["output"], "what was revoked is gone"
    first, failed, hidden, broken = ada["tests"]
    assert (first["name"], first["status"], first["score"], first["max_score"]) == (
        "9.3.1 it holds",
        "passed",
        2.0,
        2.0,
    )
    assert failed["output"] == "first difference\n  got 1\nlikely  the mask is shifted\nprinted\nhello"
    assert (hidden["visibility"], hidden["status"], hidden["score"]) == ("hidden", "failed", 0.0)
    assert (broken["number"], broken["status"], broken["output"]) == (
        "9.3.3",
        "failed",
        "line 3: invalid syntax",
    )
    for test in [*ada["tests"], *bob["tests"]]:
        assert set(test) <= {"name", "number", "score", "max_score", "status", "visibility", "output"}
        assert test["status"] in ("passed", "failed")
        assert test["visibility"] in ("visible", "hidden")


def test_gradescope_never_shows_a_learner_anything_of_a_hidden_check_or_the_seed() -> None:
    for _, data in to_gradescope(small_class(), NOBODY):
        text = data.decode()
        assert SECRET not in text
        assert "secret-mutant" not in text
        assert "4711" not in text
    for document in results(small_class()).values():
        for test in document["tests"]:
            assert test["visibility"] == ("hidden" if "hidden check" in test["name"] else "visible")
            assert "hidden" not in test["name"] or "output" not in test


NAMES = [
    "ada",
    "Ada",
    "../../etc",
    "",
    ".",
    "..",
    ".hidden",
    "a/b",
    "a\\b",
    "x" * 300,
    "Zoë 🧱",
    "zoë 🧱",
    "con:",
    "-rf",
    "\n",
]


def test_folders_are_apart_and_stay_inside() -> None:
    made = [folder_name(name) for name in NAMES]
    made.append(folder_name(made[1].lower()))  # somebody who calls themselves what another's folder is called
    assert len({name.lower() for name in made}) == len(NAMES) + 1
    assert made[0] == "ada"


@pytest.mark.slow
@given(st.text(max_size=300))
def test_any_learner_has_a_folder(learner: str) -> None:
    name = folder_name(learner)
    assert 0 < len(name.encode()) <= 255
    assert PurePosixPath(name).parts == (name,)
    assert not name.startswith((".", "-"))
    assert name.isprintable()


def test_no_export_holds_what_a_terminal_obeys() -> None:
    """A report quotes what a submission printed and raised; whoever looks at the file does not run it."""
    obeyed = "\x1b[2J \x9b2J \u202e\u2066 \u2028 \x7f \x07"
    graded = report(checks=[check("fail", message=obeyed, output=obeyed)], message=obeyed, output=obeyed)
    rows = [row("ada", graded)]
    written = "".join(to_jsonl(rows))
    assert json.loads(written)["message"] == obeyed, "nothing is lost"
    files = [content.decode() for _, content in to_gradescope(rows, NOBODY)]
    for text in (written, *files):
        assert not set(obeyed) & set(text) - {*" [2J"}
        assert "9b2J" in text or r"\x9b2J" in text


def test_exports_take_rows_as_they_come() -> None:
    """A class never lies in memory as a whole: an endless one has a beginning."""

    def endless() -> Iterator[Mark]:
        number = 0
        while True:
            yield row(f"learner{number}")
            number += 1

    found = columns_of([row()])
    for export in (
        to_csv(endless(), NOBODY),
        to_wide(endless(), found, NOBODY),
        to_jsonl(endless()),
        to_grades(GRADES["canvas"], endless(), found, NOBODY),
        to_grades(GRADES["moodle"], endless(), found, NOBODY),
        to_gradescope(endless(), NOBODY),
    ):
        assert len(list(islice(export, 5))) == 5
