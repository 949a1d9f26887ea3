"""A gradebook of any earlier version gets the tables of this one, and keeps its story."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, inspect, select, text

from grader.gradebook import migrate
from grader.gradebook.address import Address
from grader.gradebook.migrate import FIRST, STEPS, newest
from grader.gradebook.schema import version as version_table
from grader.gradebook.store import Gradebook, GradebookError
from tests.gradebook import story

VERSION_TABLE = version_table.name
VERSIONS = (FIRST, *STEPS)


@pytest.fixture
def engine(where: str) -> Engine:
    return Address.parse(where).engine()


def test_versions_are_in_order_and_every_one_is_kept_for_these_tests() -> None:
    assert list(VERSIONS) == [f"{number:04}" for number in range(1, len(VERSIONS) + 1)]
    assert newest() == VERSIONS[-1]
    kept = {path.name for path in story.FOLDER.iterdir()}
    assert kept == {
        f"{version}.{kind}" for version in VERSIONS for kind in ("json", "sqlite.sql", "postgresql.sql")
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_steps_make_the_tables_that_a_new_gradebook_has(
    engine: Engine, where: str, elsewhere: str, version: str
) -> None:
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        story.load(connection, version)
    Gradebook.open(where, create=False).close()
    Gradebook.open(elsewhere, create=True).close()
    new = Address.parse(elsewhere).engine()
    assert shape(engine) == shape(new)
    engine.dispose()
    new.dispose()


def shape(engine: Engine) -> dict[str, Any]:
    """What a database says about its tables, in an order of its own or none."""
    found = inspect(engine)
    return {
        name: {
            "columns": {
                c["name"]: (repr(c["type"]), c["nullable"], c["default"]) for c in found.get_columns(name)
            },
            "key": found.get_pk_constraint(name),
            "foreign": in_order(found.get_foreign_keys(name)),
            "unique": in_order(found.get_unique_constraints(name)),
            "checks": in_order(found.get_check_constraints(name)),
            "indexes": in_order(found.get_indexes(name)),
            "options": found.get_table_options(name),
        }
        for name in found.get_table_names()
        if name != VERSION_TABLE
    }


def in_order(things: Sequence[Any]) -> list[Any]:
    return sorted(
        ({**thing, "referred_schema": None} for thing in things), key=lambda thing: str(thing["name"])
    )


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_a_gradebook_of_every_version_opens_and_tells_the_same(
    engine: Engine, where: str, version: str
) -> None:
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        nonce = story.load(connection, version)
    engine.dispose()
    with Gradebook.open(where, create=False) as gradebook:
        assert gradebook.nonce == nonce
        story.verify(gradebook)
        run = gradebook.start_run({})
        story.grade(gradebook, run, "new", source="d")
        gradebook.finish_run(run)
        assert len(gradebook.learners()) == 4
    with engine.connect() as connection:
        assert connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar() == VERSIONS[-1]
    engine.dispose()


def add_a_column(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE runs ADD COLUMN room TEXT"))


def add_a_column_and_fail(connection: Connection) -> None:
    add_a_column(connection)
    raise RuntimeError("the next statement is refused")


def state(engine: Engine) -> tuple[Any, list[str]]:
    with engine.connect() as connection:
        columns = [column["name"] for column in inspect(connection).get_columns("runs")]
        found = connection.execute(select(version_table.c.version_num)).scalars().all(), columns
    engine.dispose()
    return found


def test_a_later_version_s_step_runs_once(
    engine: Engine, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Gradebook.open(where, create=True) as gradebook:
        story.write(gradebook)
    later = str(int(newest()) + 1).zfill(4)
    monkeypatch.setattr(migrate, "STEPS", {**STEPS, later: add_a_column})
    for _ in range(2):
        with Gradebook.open(where, create=False) as gradebook:
            story.verify(gradebook)
    found, columns = state(engine)
    assert found == [later]
    assert columns.count("room") == 1


def test_a_step_that_fails_leaves_the_gradebook_as_it_was(
    engine: Engine, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Gradebook.open(where, create=True) as gradebook:
        story.write(gradebook)
    before = state(engine)
    with monkeypatch.context() as patched:
        patched.setattr(migrate, "STEPS", {**STEPS, str(int(newest()) + 1).zfill(4): add_a_column_and_fail})
        with pytest.raises(RuntimeError):
            Gradebook.open(where, create=False)
    assert state(engine) == before
    with Gradebook.open(where, create=False) as gradebook:
        story.verify(gradebook)


def test_todays_story_is_the_one_that_is_told(gradebook: Gradebook) -> None:
    story.write(gradebook)
    story.verify(gradebook)


def test_a_gradebook_from_the_future_is_left_alone(engine: Engine, where: str) -> None:
    with Gradebook.open(where, create=True) as gradebook:
        story.write(gradebook)
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '0099'"))
    with pytest.raises(GradebookError) as refused:
        Gradebook.open(where, create=True)
    assert "from a newer Kata" in refused.value.message
    assert "version 0099" in refused.value.message
    assert f"up to {VERSIONS[-1]}" in refused.value.message
    assert "Install the newer Kata" in (refused.value.hint or "")
    assert refused.value.exit_code == 3
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '{VERSIONS[-1]}'"))
    engine.dispose()
    with Gradebook.open(where, create=False) as gradebook:
        story.verify(gradebook)
