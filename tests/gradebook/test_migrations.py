"""Tables come from migrations, and a gradebook of any earlier version keeps its story."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, inspect, text

from grader.gradebook import migrations
from grader.gradebook.migrate import upgrade
from grader.gradebook.place import Place
from grader.gradebook.schema import VERSION_TABLE, VERSIONS, metadata
from grader.gradebook.store import Gradebook, GradebookError
from tests.gradebook import story


@pytest.fixture
def engine(where: str) -> Engine:
    return Place.parse(where).engine()


def test_every_version_is_listed() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    config.set_main_option("path_separator", "newline")
    script = ScriptDirectory.from_config(config)
    known = tuple(reversed([revision.revision for revision in script.walk_revisions()]))
    assert known == VERSIONS


def test_migrations_make_the_tables_that_the_code_uses(engine: Engine, where: str, elsewhere: str) -> None:
    Gradebook.open(where, create=True).close()
    with engine.connect() as connection:
        options = {"compare_type": True, "version_table": VERSION_TABLE}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, metadata) == []
    directly = Place.parse(elsewhere).engine()
    metadata.create_all(directly)
    assert shape(engine) == shape(directly)
    engine.dispose()
    directly.dispose()


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


@pytest.mark.parametrize("version", VERSIONS)
def test_a_gradebook_of_every_version_opens_and_tells_the_same(
    engine: Engine, where: str, version: str
) -> None:
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        upgrade(connection, version)
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
