"""A gradebook is readable: what is kept reads back as it was, and damage ends in an error that names the copy."""

from __future__ import annotations

import contextlib
import math
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import get_args

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.instructor.gradebook.errors import SerializationError
from grader.instructor.gradebook.recording import Recording
from grader.instructor.gradebook.store import Gradebook, GradebookError
from grader.report.report import (
    CheckReport,
    CheckStatus,
    Isolation,
    KataReport,
    KataStatus,
    Measured,
    SpeedVerdict,
)
from tests.gradebook.handmade import adjust, check, decide, grade, key, report, submission

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
def run(book: Gradebook) -> Recording:
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
    book: Gradebook, run: Recording, made: KataReport
) -> None:
    given_ = submission("ada")
    before = [] if not book.learners() else list(book.rows())
    try:
        run.record(given_, key(given_), made)
    except SerializationError:
        assert list(book.rows()) == before, "nothing of a refused report is written"
        return
    (row,) = book.rows()
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
    ],
)
def test_a_number_without_end_is_refused_by_name(
    book: Gradebook, run: Recording, change: dict[str, object]
) -> None:
    given_ = submission("ada")
    with pytest.raises(SerializationError, match="masks"):
        run.record(given_, key(given_), msgspec.structs.replace(report("ada"), **change))


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
        number.finish()
    return path


BOBS = "(SELECT attempt_id FROM submissions JOIN learners ON learners.id = learner_id WHERE name = 'bob' LIMIT 1)"


def change(path: Path, column: str, value: object) -> None:
    """Put something else into one attempt of bob's."""
    with sqlite3.connect(path) as database:
        database.execute(f"UPDATE attempts SET {column} = ? WHERE id = {BOBS}", (value,))


def kept(path: Path) -> str:
    with sqlite3.connect(path) as database:
        (text,) = database.execute(f"SELECT report FROM attempts WHERE id = {BOBS}").fetchone()
    return str(text)


DAMAGES: dict[str, str] = {
    "a report that is cut": f"UPDATE attempts SET report = substr(report, 1, 99) WHERE id = {BOBS}",
    "a report that is no text": f"UPDATE attempts SET report = x'fffe' WHERE id = {BOBS}",
    "a time that is none": "UPDATE submissions SET submitted_at = 'soon' WHERE id = 1",
    "half a character": "UPDATE submissions SET origin = CAST(x'ff' AS TEXT) WHERE id = 1",
    "an unknown decision": "UPDATE decisions SET kind = 'grand' WHERE kind = 'adjust'",
    "a ruling of another shape": "UPDATE decisions SET value = '[1]' WHERE kind = 'extend'",
}


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda name: name.replace(" ", "-"))
def test_damage_ends_in_one_error_that_names_the_copy(where: Path, damage: str) -> None:
    with Gradebook.open(str(where), create=False) as book:
        adjust(book, "bob", "masks", 1.0, comment="x", author="kim")
        decide(book, "extend", "bob", {"of": "", "days": 2.0}, comment="x", author="kim")
        read_everything(book)
    with sqlite3.connect(where) as database:
        database.execute(DAMAGES[damage])
    with Gradebook.open(str(where), create=False) as book:
        with pytest.raises(GradebookError, match="damaged") as refused:
            read_everything(book)
        assert f"cp COPY {where}" in (refused.value.hint or "")


def read_everything(book: Gradebook) -> None:
    found = list(book.rows())
    list(book.reports())
    for row in found[:2]:
        book.history(row.learner, row.kata)
    book.runs()
    book.rulings()
    if book.attempt(1):
        book.bundle(1)


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
            with Gradebook.open(str(path), create=False) as book:
                read_everything(book)
        except GradebookError as error:
            refused.append(error)
        path.unlink()
    assert refused
    assert [error.message for error in refused if not error.hint or "goes on" in error.hint] == []


def test_a_gradebook_with_null_for_a_ratio_opens_and_means_no_ratio(where: Path) -> None:
    text = kept(where)
    text = text.replace('"value":7.5', '"value":null').replace('"rounds":[7.0,8.0]', '"rounds":[null]')
    change(where, "report", text)
    with Gradebook.open(str(where), create=False) as book:
        speeds = [row.report.checks[1].speed for row in book.rows(learners=["bob"])]
    assert {speed.value for speed in speeds if isinstance(speed, Measured)} == {None, 7.5}


def test_handed_in_files_that_are_damaged_are_not_taken_for_others(where: Path) -> None:
    with sqlite3.connect(where) as database:
        database.execute("UPDATE contents SET bundle = x'00' || bundle")
        wanted = """SELECT attempts.id, name, slug FROM attempts JOIN learners ON learners.id = learner_id
            JOIN katas ON katas.id = kata_id ORDER BY attempts.id DESC"""
        rows = database.execute(wanted).fetchall()
    newest, _, slug = rows[0]
    with Gradebook.open(str(where), create=False) as gradebook:
        with pytest.raises(GradebookError, match="damaged"):
            gradebook.bundle(newest)
        with pytest.raises(GradebookError, match="damaged"):
            list(gradebook.contents_of_kata(slug))


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
