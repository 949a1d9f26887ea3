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
from grader.submissions.submission import Bundle, HandedInSheet, Submission
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_gradebook_from_before_written_answers_takes_them(engine: Engine, where: str) -> None:
    """Its rulings stay as they were, with their numbers; sheets, marks and a release for the class are kept."""
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        story.load(connection, "0002")
        wanted = "SELECT id, kind, learner_id, kata_id, value, comment, author FROM rulings ORDER BY id"
        before = connection.execute(text(wanted)).all()
    with Gradebook.open(where, create=False) as gradebook:
        totals = {(row.learner, row.kata): (row.score, row.max_score) for row in gradebook.rows()}
        run = gradebook.start_run({})
        data = b"## 1. x\none\n\n## 2. x\ntwo\n"
        sheet = HandedInSheet(bundle=Bundle("answers.md", {"answers.md": data}), number="9.3.1")
        given = Submission(learner="ada", kata="masks", bundle=sheet.bundle, answers=sheet)
        gradebook.record_answers(run, given)
        gradebook.finish_run(run)
        gradebook.mark_answer(
            "ada",
            "masks",
            1,
            answer="",
            criteria=[1, 3],
            points=1.5,
            max_points=2,
            comment="so",
            author="kim",
        )
        value = {"of": "", "points": {"masks": [2.0, 1.0]}}
        gradebook.rule("release", None, value, comment="done", author="kim")
    with Gradebook.open(where, create=False) as gradebook:
        ((sheets, marks),) = gradebook.written_answers(["ada"]).values()
        assert [gradebook.answer_sheet(one.content) for one in sheets] == [data]
        assert [(one.points, one.criteria, one.comment) for one in marks] == [(1.5, (1, 3), "so")]
        rows = {(row.learner, row.kata): row for row in gradebook.rows()}
        assert {key: (row.score, row.max_score) for key, row in rows.items()} == totals
        part = rows["ada", "masks"].written
        assert part is not None
        assert (part.score, part.unmarked, part.released) == (1.5, (2,), True)
    with engine.connect() as connection:
        after = connection.execute(text(wanted)).all()
    engine.dispose()
    assert after[:-1] == before
    assert (after[-1].kind, after[-1].learner_id) == ("release", None)
    assert after[-1].id > max((one.id for one in before), default=0)


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


@pytest.mark.slow
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
