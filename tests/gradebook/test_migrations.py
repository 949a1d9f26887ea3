"""A gradebook of an earlier version is brought up to date; of another version it is refused and stays as it was."""

from __future__ import annotations

import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, inspect, text

from grader.instructor.gradebook.database_url import Address
from grader.instructor.gradebook.migrate import VERSION
from grader.instructor.gradebook.schema import metadata
from grader.instructor.gradebook.schema import version as version_table
from grader.instructor.gradebook.store import Gradebook, GradebookError
from tests.gradebook import story
from tests.gradebook.handmade import MONDAY, grade

VERSION_TABLE = version_table.name
BEFORE = Path(__file__).with_name("story-0005.sql")
"""The story as version 0005 wrote it, with the tables that it had."""
UNDO = (
    "ALTER TABLE submissions DROP COLUMN arrived, DROP COLUMN timed",
    "ALTER TABLE runs DROP COLUMN planned, DROP COLUMN stopped_at",
    "DROP TABLE awaited",
    "DROP TABLE unused_times",
    "ALTER TABLE results DROP COLUMN redrawn",
)
"""What makes today's tables those of version 0005, in PostgreSQL."""


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
