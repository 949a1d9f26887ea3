"""Gradebooks in both databases: a test that asks for `where` runs with an SQLite file and with a real PostgreSQL."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from grader.instructor.gradebook.store import Gradebook
from tests.gradebook.postgres import Server, Unavailable

_count = itertools.count()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server, one for each process of the test run."""
    try:
        server = Server()
    except Unavailable as reason:
        if os.environ.get("CI") == "true":
            pytest.fail(f"CI must have it: {reason}")
        pytest.skip(str(reason))
    yield server
    server.close()


@pytest.fixture
def postgres_where(postgres: Server) -> str:
    """The address of an empty schema on the server."""
    return new_schema(postgres)


def new_schema(server: Server) -> str:
    """Make an empty schema, and return its address."""
    name = f"test_{next(_count)}"
    engine = create_engine(server.url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.execute(text(f"CREATE SCHEMA {name}"))
    engine.dispose()
    return server.within(name)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a gradebook that is not there yet."""
    if request.param == "sqlite":
        return str(tmp_path / "gradebook.sqlite")
    address: str = request.getfixturevalue("postgres_where")
    return address


@pytest.fixture
def elsewhere(request: pytest.FixtureRequest, where: str, tmp_path: Path) -> str:
    """The address of another one, in the same kind of database."""
    if "://" not in where:
        return str(tmp_path / "another.sqlite")
    return new_schema(request.getfixturevalue("postgres"))


@pytest.fixture
def gradebook(where: str) -> Iterator[Gradebook]:
    """An empty gradebook."""
    with Gradebook.open(where, create=True) as opened:
        yield opened
