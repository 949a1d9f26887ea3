"""A gradebook is always readable: what is kept reads back as it was, and one damaged row takes no other along."""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import get_args

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.instructor.gradebook.errors import SerializationError
from grader.instructor.gradebook.records import Row
from grader.instructor.gradebook.store import Gradebook, GradebookError
from grader.instructor.submissions.submission import Bundle, HandedInSheet, Submission
from grader.report.report import (
    CheckReport,
    CheckStatus,
    Isolation,
    KataReport,
    KataStatus,
    Measured,
    SpeedVerdict,
)
from grader.report.style import STATUS_STYLES
from tests.conftest import Ran
from tests.gradebook.handmade import MONDAY, adjust, check, decide, grade, key, report, submission

pytestmark = pytest.mark.slow

TEXT = st.text(st.characters(exclude_categories=()), max_size=30) | st.sampled_from(
    ["\ud800", "\0", "\x1b[31m", "\u202e", "\x9b", "null", '"', "\\"]
)
NUMBER = st.floats() | st.sampled_from([math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, 1.7e308])
WHOLE = st.integers() | st.sampled_from([2**53, 2**63, 2**64, -(2**63) - 1, 10**400])

SPEED = st.builds(
    Measured,
    form=TEXT,
    value=st.none() | NUMBER,
    threshold=NUMBER,
    verdict=st.sampled_from(get_args(SpeedVerdict)),
    rounds=st.lists(st.none() | NUMBER, max_size=4),
    runs=st.lists(st.sampled_from(get_args(SpeedVerdict)), max_size=3),
    void=WHOLE,
)
CHECK = st.builds(
    CheckReport,
    name=TEXT,
    id=TEXT,
    aspect=TEXT,
    hidden=st.booleans(),
    status=st.sampled_from(get_args(CheckStatus)),
    points=NUMBER,
    max_points=NUMBER,
    message=st.none() | TEXT,
    location=st.none() | st.dictionaries(TEXT, WHOLE, max_size=3),
    misconception=st.none() | TEXT,
    likely=st.none() | TEXT,
    output=st.none() | TEXT,
    speed=st.just(msgspec.UNSET) | SPEED,
)
REPORT = st.builds(
    KataReport,
    schema=st.just(1) | WHOLE,
    kata=st.just("masks"),
    number=st.just("9.3.1"),
    status=st.sampled_from(get_args(KataStatus)),
    score=NUMBER,
    max_score=NUMBER,
    seed=WHOLE,
    device=TEXT,
    isolation=st.sampled_from(get_args(Isolation)),
    duration_s=NUMBER,
    versions=st.dictionaries(TEXT, TEXT, max_size=2),
    message=st.none() | TEXT,
    file=st.none() | TEXT,
    output=st.none() | TEXT,
    checks=st.lists(CHECK, max_size=3),
)


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gradebook]:
    with Gradebook.open(str(tmp_path_factory.mktemp("book") / "g.sqlite"), create=True) as opened:
        yield opened


@pytest.fixture(scope="module")
def run(book: Gradebook) -> int:
    return book.start_run({})


def as_kept(text: str) -> str:
    """Return text without half characters, which no file of UTF-8 holds."""
    return text.encode("utf-8", "backslashreplace").decode()


def whole(value: object) -> object:
    if isinstance(value, str):
        return as_kept(value)
    if isinstance(value, dict):
        return {as_kept(name): whole(item) for name, item in value.items()}
    return [whole(item) for item in value] if isinstance(value, list) else value


@pytest.mark.nightly
@given(made=REPORT)
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_kept_reads_back_and_what_would_not_is_refused(
    book: Gradebook, run: int, made: KataReport
) -> None:
    given_ = submission("ada")
    before = [] if not book.learners() else list(book.rows())
    try:
        book.record(run, given_, key(given_), made)
    except SerializationError:
        assert list(book.rows()) == before, "nothing of a refused report is written"
        return
    (row,) = book.rows()
    assert row.unreadable is None
    assert msgspec.to_builtins(row.report) == whole(
        msgspec.to_builtins(msgspec.structs.replace(made, learner="ada"))
    )
    for number in (row.score, row.max_score, row.report.score):
        assert math.isfinite(number)


@pytest.mark.parametrize(
    "change",
    [
        {"score": math.nan},
        {"max_score": math.inf},
        {"duration_s": -math.inf},
        {"checks": [check(points=math.inf)]},
        {"schema": 2},
    ],
)
def test_a_number_without_end_is_refused_by_name(
    book: Gradebook, run: int, change: dict[str, object]
) -> None:
    given_ = submission("ada")
    with pytest.raises(SerializationError, match="masks"):
        book.record(run, given_, key(given_), msgspec.structs.replace(report("ada"), **change))


# What was damaged since ----------------------------------------------------------------------------------------------


@pytest.fixture
def where(tmp_path: Path) -> Path:
    """A gradebook of three learners and two katas."""
    path = tmp_path / "gradebook.sqlite"
    timed = check("it is fast", "fail")
    timed.speed = Measured(form="ratio", value=7.5, threshold=3.0, verdict="fail", rounds=[7.0, 8.0])
    with Gradebook.open(str(path), create=True) as gradebook:
        number = gradebook.start_run({})
        for learner in ("ada", "bob", "cy"):
            for kata in ("masks", "masked-attention"):
                grade(gradebook, number, learner, kata, checks=[check(), timed])
        gradebook.finish_run(number)
    return path


def rows(path: Path) -> dict[tuple[str, str], Row]:
    with Gradebook.open(str(path), create=False) as gradebook:
        found = {(row.learner, row.kata): row for row in gradebook.rows()}
        assert {key_ for key_, row in found.items() if row.unreadable} == set(gradebook.unreadable)
        assert len(list(gradebook.reports())) == len(found)
    return found


BOBS = "(SELECT attempt_id FROM submissions JOIN learners ON learners.id = learner_id WHERE name = 'bob' LIMIT 1)"


def change(path: Path, column: str, value: object) -> None:
    """Put something else into one attempt of bob's."""
    with sqlite3.connect(path) as database:
        database.execute(f"UPDATE attempts SET {column} = ? WHERE id = {BOBS}", (value,))


def kept(path: Path) -> str:
    with sqlite3.connect(path) as database:
        (text,) = database.execute(f"SELECT report FROM attempts WHERE id = {BOBS}").fetchone()
    return str(text)


DAMAGES: dict[str, Callable[[str], object]] = {
    "cut short": lambda text: text[: len(text) // 2],
    "empty": lambda text: "",
    "no JSON": lambda text: "what is this",
    "other JSON": lambda text: "[1, 2]",
    "no text": lambda text: b"\xff\xfe" + text.encode(),
    "half a character": lambda text: text.replace("causal", "caus\\ud800l"),
    "other schema": lambda text: text.replace('"schema":1', '"schema":2'),
    "null for points": lambda text: text.replace('"points":2.0', '"points":null'),
    "no end": lambda text: text.replace('"score":3.0', '"score":1e999'),
    "other points": lambda text: text.replace('"score":3.0', '"score":9.0'),
    "other kata": lambda text: text.replace('"kata":"m', '"kata":"l'),
    "deep": lambda text: "[" * 100_000,
    "a number": lambda text: 7,
}


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda name: name.replace(" ", "-"))
def test_a_damaged_report_is_named_and_the_others_stand(where: Path, damage: str) -> None:
    before = rows(where)
    change(where, "report", DAMAGES[damage](kept(where)))
    after = rows(where)
    assert set(after) == set(before)
    (hit,) = [key_ for key_, row in after.items() if row.unreadable]
    assert hit[0] == "bob"
    assert {key_: row for key_, row in after.items() if key_ != hit} == {
        key_: row for key_, row in before.items() if key_ != hit
    }
    row = after[hit]
    assert (row.score, row.max_score, row.report.status) == (3.0, 10.0, "fail"), "what was booked beside it"
    assert "cannot be read" in (row.report.message or "")


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("score", "x"),
        ("max_score", b"\xff"),
        ("status", "grand"),
        ("graded_at", "soon"),
    ],
)
def test_damage_beside_a_report_takes_no_other_row_along(where: Path, column: str, value: object) -> None:
    before = rows(where)
    change(where, column, value)
    after = rows(where)
    assert set(after) == set(before)
    hit = [key_ for key_, row in after.items() if row.unreadable or row != before[key_]]
    assert len(hit) == 1
    assert after[hit[0]].unreadable


@pytest.mark.parametrize(
    ("table", "others"), [("submissions", 5), ("attempts", 5), ("runs", 0), ("answers", 6)]
)
def test_a_time_that_is_none_is_named_and_takes_no_other_row_along(
    where: Path, table: str, others: int
) -> None:
    data = b"## 1. x\none\n"
    sheet = HandedInSheet(bundle=Bundle("answers.md", {"answers.md": data}), number="9.3.1")
    with Gradebook.open(str(where), create=False) as gradebook:
        run = gradebook.start_run({})
        given_ = Submission(
            learner="ada", kata="masks", bundle=sheet.bundle, answers=sheet, submitted_at=MONDAY
        )
        gradebook.record_answers(run, given_)
        gradebook.finish_run(run)
    before = rows(where)
    column = {"attempts": "graded_at", "runs": "started_at"}.get(table, "submitted_at")
    with sqlite3.connect(where) as database:
        database.execute(f"UPDATE {table} SET {column} = 'soon' WHERE id = (SELECT min(id) FROM {table})")
    with Gradebook.open(str(where), create=False) as gradebook:
        after = {(row.learner, row.kata): row for row in gradebook.rows()}
        assert [why for why in gradebook.unreadable.values() if "damaged" not in why] == []
        assert len(gradebook.unreadable) == max(1, 6 - others)
        gradebook.runs()
        gradebook.history("ada", "masks")
    assert sum(row.unreadable is None for row in after.values()) == others
    assert {key_: (row.score, row.report) for key_, row in after.items()} == {
        key_: (row.score, row.report) for key_, row in before.items()
    }


def test_every_flipped_bit_of_a_report_is_survived(where: Path) -> None:
    whole_ = kept(where).encode()
    random = Random(0)
    before = rows(where)
    with Gradebook.open(str(where), create=False) as gradebook:
        for place in range(0, len(whole_), 9):
            flipped = bytearray(whole_)
            flipped[place] ^= 1 << random.randrange(8)
            with sqlite3.connect(where) as database:
                database.execute(
                    f"UPDATE attempts SET report = CAST(? AS TEXT) WHERE id = {BOBS}", (bytes(flipped),)
                )
            found = {(row.learner, row.kata): row for row in gradebook.rows()}
            assert set(found) == set(before)
            assert [row for row in found.values() if row.learner != "bob"] == [
                row for row in before.values() if row.learner != "bob"
            ]
            assert all(row.score == 3.0 for row in found.values())


def read_everything(path: Path) -> None:
    with Gradebook.open(str(path), create=False) as gradebook:
        found = list(gradebook.rows())
        list(gradebook.reports())
        for row in found[:2]:
            gradebook.history(row.learner, row.kata)
        gradebook.runs()
        if gradebook.attempt(1):
            gradebook.bundle(1)


def test_flipped_bits_anywhere_in_the_file_end_in_words(where: Path, tmp_path: Path) -> None:
    data = where.read_bytes()
    random = Random(0)
    refused: list[GradebookError] = []
    for number in range(60):
        broken = bytearray(data)
        for _ in range(random.choice((1, 4, 40))):
            broken[random.randrange(len(broken))] ^= 1 << random.randrange(8)
        path = tmp_path / f"{number}.sqlite"
        path.write_bytes(broken)
        try:
            read_everything(path)
        except GradebookError as error:
            refused.append(error)
        path.unlink()
    assert refused
    assert [error.message for error in refused if not error.hint or "goes on" in error.hint] == []


def test_a_gradebook_with_null_for_a_ratio_opens_and_means_no_ratio(where: Path) -> None:
    text = kept(where)
    text = text.replace('"value":7.5', '"value":null').replace('"rounds":[7.0,8.0]', '"rounds":[null]')
    change(where, "report", text)
    found = [row for (learner, _), row in rows(where).items() if learner == "bob"]
    speeds = [row.report.checks[1].speed for row in found]
    assert {speed.value for speed in speeds if isinstance(speed, Measured)} == {None, 7.5}
    assert not any(row.unreadable for row in found)


@pytest.mark.parametrize(
    "words",
    [
        ("gradebook", "show"),
        ("gradebook", "show", "bob"),
        ("gradebook", "show", "bob", "masks"),
        ("gradebook", "show", "--json"),
        *(("gradebook", "export", "--format", form) for form in ("csv", "wide", "jsonl", "canvas")),
        ("gradebook", "export", "--format", "gradescope", "-o", "results"),
        ("gradebook", "history", "bob"),
        ("gradebook", "adjust", "bob", "masks", "1", "--comment", "x"),
        ("report",),
    ],
    ids=" ".join,
)
def test_every_command_says_what_it_can(
    kata: Callable[..., Ran],
    where: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
) -> None:
    monkeypatch.chdir(where.parent)
    with sqlite3.connect(where) as database:
        for who, new in (("bob", "substr(report, 1, 99)"), ("cy", "replace(report, '7.5', 'null')")):
            database.execute(
                f"""UPDATE attempts SET report = {new} WHERE id IN (SELECT attempt_id FROM submissions
                    JOIN learners ON learners.id = learner_id JOIN katas ON katas.id = kata_id
                    WHERE name = '{who}' AND slug = 'masks')"""
            )
    ran = kata(*words)
    assert ran.code == 0, ran.text
    assert "internal error" not in ran.text
    assert ("bob, masks: the report cannot be read" in ran.err) == ("history" not in words)
    assert ran.err.count("cannot be read") <= 1, "of cy there is a report, and no ratio"


POISON = {
    "a deep ruling": "UPDATE decisions SET value = '" + "[" * 100_000 + "' WHERE kind = 'extend'",
    "a ruling of another shape": "UPDATE decisions SET value = '[1]' WHERE kind IN ('extend', 'remark')",
    "days without end": """UPDATE decisions SET value = '{"of": "", "days": 1e300}' WHERE kind = 'extend'""",
    "an unknown ruling": "UPDATE decisions SET kind = 'grand' WHERE kind = 'extend'",
    "a ruling of no time": "UPDATE decisions SET at = 'soon' WHERE kind = 'extend'",
    "points without end": "UPDATE decisions SET value = '9e999' WHERE kind = 'adjust'",
    "points that are none": "UPDATE decisions SET value = '\"many\"' WHERE kind = 'adjust'",
    "an unknown decision": "UPDATE decisions SET kind = 'grand' WHERE kind = 'adjust'",
    "a decision of no time": "UPDATE decisions SET at = 'soon' WHERE kind = 'adjust'",
    "an unknown status": f"UPDATE attempts SET status = 'grand' WHERE id = {BOBS}",
    "a score without end": f"UPDATE attempts SET score = 9e999, max_score = 9e999 WHERE id = {BOBS}",
    "a seed that is none": f"UPDATE attempts SET seed = 'x' WHERE id = {BOBS}",
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("poison", POISON, ids=lambda name: name.replace(" ", "-"))
def test_a_poisoned_row_ends_no_command(
    kata: Callable[..., Ran], where: Path, monkeypatch: pytest.MonkeyPatch, poison: str
) -> None:
    monkeypatch.chdir(where.parent)
    with Gradebook.open(str(where), create=False) as book:
        adjust(book, "bob", "masks", 1.0, comment="x", author="kim")
        decide(book, "extend", "bob", {"of": "", "days": 2.0}, comment="x", author="kim")
        value = {"attempt": 1, "file": "masks.py", "line": 1}
        decide(book, "remark", "bob", value, comment="x", author="kim", kata="masks")
    with sqlite3.connect(where) as database:
        database.execute(POISON[poison])
    for words in (
        ("show",), ("show", "bob"), ("show", "bob", "masks"), ("history", "bob", "masks"), ("rulings",),
        ("export", "--format", "csv"), ("export", "--format", "wide"),
    ):  # fmt: skip
        ran = kata("gradebook", *words)
        assert ran.code == 0, ran.text
        assert "internal error" not in ran.text
    assert kata("report").code == 0
    with Gradebook.open(str(where), create=False) as book:
        for mark in book.marks():
            assert mark.status in STATUS_STYLES
            assert math.isfinite(mark.score + mark.max_score)
    told = kata("gradebook", "show").err + kata("gradebook", "rulings").text
    told += kata("gradebook", "history", "bob", "masks").text
    assert "damaged" in told or "error" in told or poison == "a seed that is none"


def test_handed_in_files_that_are_damaged_are_not_taken_for_others(where: Path) -> None:
    with sqlite3.connect(where) as database:
        database.execute("UPDATE contents SET bundle = x'00' || bundle")
        wanted = """SELECT attempts.id, name, slug FROM attempts JOIN learners ON learners.id = learner_id
            JOIN katas ON katas.id = kata_id ORDER BY attempts.id DESC"""
        rows = database.execute(wanted).fetchall()
    newest, name, slug = rows[0]
    own = sum(row[1:] == (name, slug) for row in rows)
    assert own != newest, "people count a learner's attempts at one kata"
    said = re.escape(f"Attempt {own} ({name}, {slug}): what was handed in")
    with Gradebook.open(str(where), create=False) as gradebook:
        with pytest.raises(GradebookError, match=said):
            gradebook.bundle(newest)
        for who, number, read in gradebook.contents_of_kata(slug):
            with pytest.raises(GradebookError, match=re.escape(f"Attempt {number} ({who}, {slug}): what")):
                read()


def test_a_report_that_cannot_be_read_is_graded_again(where: Path) -> None:
    assert json.loads(kept(where))
    change(where, "report", "{}")
    with Gradebook.open(str(where), create=False) as gradebook:
        assert [
            one.terms for kata in ("masks", "masked-attention") for one in gradebook.keys("bob")[kata]
        ] == [
            None,
            "terms",
        ]
        assert len(gradebook.keys("ada")) == 2


def test_a_terminal_obeys_no_name_and_a_file_has_it_as_it_is(where: Path) -> None:
    (where.parent / "course.toml").write_text('name = "x"\nroster = "roster.csv"\n')
    (where.parent / "roster.csv").write_text("learner,name\nada,A\x1b[2Jda\n")
    command = [Path(sys.executable).with_name("kata"), "gradebook", "export", "--format", "csv"]
    piped = subprocess.run(command, cwd=where.parent, capture_output=True, check=True).stdout
    assert b"A\x1b[2Jda" in piped
    ours, theirs = os.openpty()
    with subprocess.Popen(command, cwd=where.parent, stdout=theirs, stderr=subprocess.DEVNULL):
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # the other end is closed
            while piece := os.read(ours, 65536):
                shown += piece
    os.close(ours)
    assert b"\\x1b[2Jda" in shown
    assert b"\x1b" not in shown
