"""Many marks changed at once, from a table: all of its lines, or none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Run

TABLE = """\
learner,kata,points,comment,kind
ada,masks,+2,oral exam,
Ada Lovelace,layer-norm,-1.5,late by mail,
adam,9.3.1,7,on paper,override
"""


@pytest.mark.slow
def test_a_table_is_written_once(kata: Run, course_folder: Path) -> None:
    (course_folder / "oral.csv").write_text(TABLE)
    before = kata("show", "--json").out
    rehearsed = kata("adjust-all", "oral.csv", "--dry-run").done()
    assert "ada, masks: +2  oral exam" in rehearsed.out
    assert "3 would change, 0 already recorded" in rehearsed.err
    assert kata("show", "--json").out == before
    written = kata("adjust-all", "oral.csv", "--author", "kim").done()
    assert "adam, masks: = 7  on paper" in written.out
    assert "kim: on paper" in kata("history", "adam", "masks").out
    again = kata("adjust-all", "oral.csv")
    assert "0 changed, 3 already recorded" in again.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("learner,kata,points\nada,masks,1\n", "oral.csv:1: there is no column `comment`"),
        (
            "learner,kata,points,comment\nada,masks,1,x\nnemo,masks,1,x\n",
            "oral.csv:3: The gradebook has no learner nemo",
        ),
        ("learner,kata,points,comment\nada,masks,two,x\n", "oral.csv:2: 'two' is not a number of points"),
        ("learner,kata,points,comment\nada,masks,nan,x\n", "oral.csv:2: 'nan' is not a number of points"),
        ("learner,kata,points,comment\nada,masks,1_5,x\n", "oral.csv:2: '1_5' is not a number of points"),
        ("learner,kata,points,comment\nada,masks,0,x\n", "oral.csv:2: 0 points change nothing"),
        ("learner,kata,points,comment\nada,masks,1,\n", "oral.csv:2: A mark is not changed without a reason"),
        ("learner,kata,points,comment,kind\nada,masks,-1,x,override\n", "oral.csv:2: A mark cannot be -1"),
    ],
)
def test_a_mistake_in_one_line_changes_nothing(kata: Run, course_folder: Path, text: str, said: str) -> None:
    (course_folder / "oral.csv").write_text(text)
    before = kata("show", "--json").out
    kata("adjust-all", "oral.csv").refused(said)
    assert kata("show", "--json").out == before


def test_every_wrong_line_is_named_and_so_is_one_that_is_there_twice(kata: Run, course_folder: Path) -> None:
    (course_folder / "oral.csv").write_text(
        "learner,kata,points,comment\nada,masks,+1,oral exam\nnemo,masks,1,x\nada,9.3.1,+2,corrected\n"
    )
    result = kata("adjust-all", "oral.csv")
    assert result.code == 2
    assert "oral.csv:3: The gradebook has no learner nemo" in result.err
    assert "oral.csv:4: this is about the same as line 2." in result.err
    assert "adjusted" not in kata("history", "ada", "masks").out


def test_a_minus_sign_is_one(kata: Run, course_folder: Path) -> None:
    (course_folder / "oral.csv").write_text(
        "learner,kata,points,comment\nada,masks,\N{MINUS SIGN}2,oral exam\n", "utf-8"
    )
    result = kata("adjust-all", "oral.csv")
    assert "1 changed, 0 already recorded" in result.err
    assert "ada, masks: -2  oral exam" in result.out
