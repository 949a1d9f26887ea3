"""A gradebook of another version is refused and stays as it was."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, text

from grader.instructor.gradebook.database_url import Address
from grader.instructor.gradebook.migrate import VERSION
from grader.instructor.gradebook.schema import version as version_table
from grader.instructor.gradebook.store import Gradebook, GradebookError
from tests.gradebook import story

VERSION_TABLE = version_table.name


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
    assert f"version {VERSION} only" in refused.value.message
    assert f"Install the {age} Kata" in (refused.value.hint or "")
    assert refused.value.exit_code == 3
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '{VERSION}'"))
    engine.dispose()
    with Gradebook.open(where, create=False) as gradebook:
        story.verify(gradebook)
