"""A gradebook of an earlier version is brought up to date; of another version it is refused and stays as it was."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, inspect, text

from grader.instructor.gradebook.database import Address
from grader.instructor.gradebook.migrate import VERSION
from grader.instructor.gradebook.schema import metadata
from grader.instructor.gradebook.schema import version as version_table
from grader.instructor.gradebook.store import Gradebook, GradebookError
from tests.gradebook import story
from tests.gradebook.handmade import MONDAY, decide, grade

VERSION_TABLE = version_table.name
BEFORE = Path(__file__).with_name("story-0005.sql")
"""The story as version 0005 wrote it, with the tables that it had."""
UNDO = (
    "ALTER TABLE submissions DROP COLUMN arrived, DROP COLUMN timed, DROP COLUMN taken, DROP COLUMN proposed,"
    " DROP COLUMN proposed_because",
    "ALTER TABLE runs DROP COLUMN planned, DROP COLUMN stopped_at",
    "DROP TABLE awaited",
    "DROP TABLE unused_times",
    "DROP TABLE computed",
    "DROP INDEX ix_attempts_redrawn",
    "ALTER TABLE attempts DROP COLUMN redrawn",
    "CREATE TABLE checks (id INTEGER PRIMARY KEY)",
    "CREATE TABLE results (attempt_id INTEGER)",
)
"""What makes today's tables those of version 0005, in PostgreSQL."""

TABLES_0011 = """
DROP TABLE computed;
DROP INDEX ix_attempts_redrawn;
ALTER TABLE attempts DROP COLUMN redrawn;
CREATE TABLE checks (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE results (attempt_id INTEGER, position INTEGER, check_id INTEGER REFERENCES checks (id), redrawn INTEGER);
INSERT INTO checks VALUES (1, 'it is causal');
INSERT INTO results VALUES (1, 0, 1, 2), (1, 1, 1, 3), (2, 0, 1, NULL);
"""
"""What each check said, as it was until version 0011, in part."""


@pytest.fixture
def engine(where: str) -> Engine:
    return Address.parse(where).engine()


def test_todays_story_is_the_one_that_is_told(gradebook: Gradebook) -> None:
    story.write(gradebook)
    story.verify(gradebook)


@pytest.mark.parametrize(("found", "age"), [("0099", "newer"), ("0001", "earlier")])
def test_a_gradebook_of_another_version_is_left_alone(
    engine: Engine, where: str, found: str, age: str
) -> None:
    with Gradebook.open(where, create=True) as gradebook:
        story.write(gradebook)
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '{found}'"))
    with pytest.raises(GradebookError) as refused:
        Gradebook.open(where, create=True)
    assert f"{age} Kata: " in refused.value.message
    assert f"version {found}" in refused.value.message
    assert f"reads versions 0005 to {VERSION}" in refused.value.message
    assert f"Install the {age} Kata" in (refused.value.hint or "")
    assert refused.value.exit_code == 3
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '{VERSION}'"))
    engine.dispose()
    with Gradebook.open(where, create=False) as gradebook:
        story.verify(gradebook)


def test_a_gradebook_of_an_earlier_version_is_brought_up_to_date_and_loses_nothing(
    engine: Engine, where: str
) -> None:
    if engine.dialect.name == "sqlite":
        with sqlite3.connect(where) as file:
            file.executescript(BEFORE.read_text(encoding="utf-8"))
    else:
        with Gradebook.open(where, create=True) as gradebook:
            story.write(gradebook)
        with engine.begin() as connection:
            for statement in (*UNDO, f"UPDATE {VERSION_TABLE} SET version_num = '0005'"):
                connection.execute(text(statement))
    for _ in range(2):  # once brought up to date, it is as any other
        with Gradebook.open(where, create=False) as gradebook:
            story.verify(gradebook)
    with engine.begin() as connection:
        assert connection.execute(version_table.select()).scalar() == VERSION
        arrived = connection.execute(text("SELECT arrived = run_id FROM submissions"))
        assert all(arrived.scalars())
    found = {table: [one["name"] for one in inspect(engine).get_columns(table)] for table in metadata.tables}
    assert found == {table.name: [one.name for one in table.columns] for table in metadata.sorted_tables}
    with Gradebook.open(where, create=False) as gradebook:
        run = gradebook.start_run({})
        grade(gradebook, run, "ada", source="d", score=2.0, at=MONDAY + timedelta(days=2))
        assert next(gradebook.rows(["masks"], ["ada"])).report.score == 2.0


def made_0010(folder: Path) -> Path:
    """Return a gradebook as version 0010 left it: what a hand-in is stood in its notes."""
    file = folder / "gradebook.sqlite"
    with Gradebook.open(str(file), create=True) as gradebook:
        story.write(gradebook)
        decide(gradebook, "take", "ada", "week1/my_b.py", kata="masks", comment="hers", author="tina")
    taken = "ada/a.py (my_b.py) was taken for masks.py, as was decided"
    notes = {
        "ada": ["came in under two names, read together: x, as was decided", taken],
        "bob": ["bob and bob.zip", "it may be the answer: y.py may be the answer: its name is similar"],
        "zoë": ["came in under two names, read together: q may be the answer: r", "z, as was decided"],
    }
    with closing(sqlite3.connect(file, isolation_level=None)) as old:
        for column in ("taken", "proposed", "proposed_because"):
            old.execute(f"ALTER TABLE submissions DROP COLUMN {column}")
        old.executescript(TABLES_0011)
        for learner, those in notes.items():
            of = "(SELECT id FROM learners WHERE name = ?)"
            old.execute(
                f"UPDATE submissions SET notes = ? WHERE learner_id = {of}", (json.dumps(those), learner)
            )
        old.execute(f"UPDATE {VERSION_TABLE} SET version_num = '0010'")
        old.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return file


def test_how_often_checks_were_drawn_again_stays_known(tmp_path: Path) -> None:
    file = made_0010(tmp_path)
    Gradebook.open(str(file), create=False).close()
    with closing(sqlite3.connect(file)) as new:
        assert dict(new.execute("SELECT id, redrawn FROM attempts WHERE redrawn > 0")) == {1: 5}
        tables = {name for (name,) in new.execute("SELECT name FROM sqlite_master")}
    assert not tables & {"checks", "results"}


def test_what_a_hand_in_is_was_in_its_notes(tmp_path: Path) -> None:
    file = made_0010(tmp_path)
    with Gradebook.open(str(file), create=False) as gradebook:
        found = {
            mark.learner: (mark.taken, [(one.file, one.reason) for one in mark.proposals])
            for mark in gradebook.marks()
            if mark.notes
        }
        assert found == {
            "ada": ("my_b.py", []),
            "bob": (None, [("it may be the answer: y.py", "its name is similar")]),
            "zoë": (None, []),
        }
        notes = {mark.learner: mark.notes for mark in gradebook.marks() if mark.notes}
        assert [len(those) for those in notes.values()] == [2, 2, 2]
    backup = tmp_path / "gradebook.sqlite.version-0010"
    with closing(sqlite3.connect(backup)) as old:
        assert old.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchone() == ("0010",)
        assert old.execute("PRAGMA quick_check").fetchone() == ("ok",)
    assert backup.stat().st_mode == file.stat().st_mode


def test_a_damaged_gradebook_is_not_brought_up_to_date(tmp_path: Path) -> None:
    file = made_0010(tmp_path)
    data = bytearray(file.read_bytes())
    size = int.from_bytes(data[16:18], "big")
    data[4 * size : 5 * size] = b"\7" * size
    file.write_bytes(data)
    with pytest.raises(GradebookError) as refused:
        Gradebook.open(str(file), create=False)
    assert "the file is damaged" in refused.value.message
    assert f"rm -f {file}-wal {file}-shm; cp COPY {file}" in (refused.value.hint or "")
    assert file.read_bytes() == data
    (tmp_path / "gradebook.sqlite.version-0009").write_bytes(b"")
    with pytest.raises(GradebookError) as refused:
        Gradebook.open(str(file), create=True)
    assert f"cp {file}.version-0009 {file}" in (refused.value.hint or "")


def test_without_room_for_a_backup_nothing_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = made_0010(tmp_path)
    before = file.read_bytes()
    monkeypatch.setattr(tempfile, "TemporaryDirectory", lambda **_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(GradebookError, match="no backup can be made"):
        Gradebook.open(str(file), create=False)
    assert file.read_bytes() == before
