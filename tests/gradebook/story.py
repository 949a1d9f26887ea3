"""A small class's story, kept as data for every version of the tables.

A gradebook of any version, brought up to date, must tell it. `python -m tests.gradebook.story` adds the newest version.
"""

from __future__ import annotations

import json
import sys
import tempfile
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, MetaData, create_engine, create_mock_engine, text

from grader.gradebook.migrate import newest
from grader.gradebook.schema import metadata
from grader.gradebook.schema import version as version_table
from grader.gradebook.store import Gradebook
from tests.gradebook.handmade import MONDAY, bundle, check, grade, key, submission

FOLDER = Path(__file__).parent / "versions"


def write(gradebook: Gradebook) -> None:
    """Make everything happen that a gradebook can hold."""
    first = gradebook.start_run({"jobs": 2, "only": ["masks"], "json": None})
    wrong = check("future keys get no weight", "fail", hidden=True, misconception="shifted-late")
    grade(gradebook, first, "ada", source="a", checks=[check(), wrong])
    grade(gradebook, first, "bob", source=None)
    grade(
        gradebook,
        first,
        "zoë",
        "layer-norm",
        source="c",
        at=None,
        score=10.0,
        status="pass",
        checks=[check("x")],
    )
    gradebook.finish_run(first)
    second = gradebook.start_run({})
    grade(gradebook, second, "ada", source="b", score=6.0, at=MONDAY + timedelta(days=1), checks=[check()])
    again = submission("zoë", "layer-norm", "c")
    gradebook.reuse(second, again, key(again))
    gradebook.adjust("ada", "masks", 1.5, comment="clear names", author="tina")
    gradebook.revoke(
        gradebook.override("ada", "masks", 9, comment="oral", author="prof"), author="prof", comment="no"
    )
    gradebook.override("bob", "masks", 5, comment="on paper", author="prof")
    gradebook.rule("extend", "zoë", {"of": "masks", "days": 2}, comment="was ill", author="prof")
    gradebook.withdraw(
        gradebook.rule("alias", "bob", "robert", comment="his handle", author="prof"),
        author="prof",
        comment="no",
    )


def verify(gradebook: Gradebook) -> None:
    """Raise AssertionError unless the gradebook tells the story."""
    rows = {(row.learner, row.kata): row for row in gradebook.rows()}
    marks = [(*who, row.report.status, row.score, row.max_score, row.attempts) for who, row in rows.items()]
    assert marks == [
        ("ada", "masks", "fail", 7.5, 10.0, 2),
        ("ada", "layer-norm", "missing", 0.0, 10.0, 0),
        ("bob", "masks", "missing", 5.0, 10.0, 0),
        ("bob", "layer-norm", "missing", 0.0, 10.0, 0),
        ("zoë", "masks", "missing", 0.0, 10.0, 0),
        ("zoë", "layer-norm", "pass", 10.0, 10.0, 1),
    ]
    assert rows["ada", "masks"].submitted_at == MONDAY + timedelta(days=1)
    assert rows["zoë", "layer-norm"].submitted_at == MONDAY
    events = gradebook.history("ada", "masks")
    assert [event.kind for event in events] == ["attempt", "attempt", "adjust", "override", "revoke"]
    first = events[0].attempt
    assert first is not None
    assert gradebook.bundle(first) == bundle("a")
    attempt = gradebook.attempt(first)
    assert attempt is not None
    assert [c.misconception for c in attempt.report.checks] == [None, "shifted-late"]
    assert gradebook.keys("zoë") == {"layer-norm": {key(submission("zoë", "layer-norm", "c"))}}
    assert [(run.arguments, run.finished_at is None) for run in gradebook.runs()] == [
        ({"jobs": 2, "only": ["masks"], "json": None}, False),
        ({}, True),
    ]


def load(connection: Connection, version: str) -> bytes:
    """Make the tables of one version as it made them, and put the story's data in; return the nonce among it."""
    made = (FOLDER / f"{version}.{connection.dialect.name}.sql").read_text(encoding="utf-8")
    for statement in made.split(";\n")[:-1]:
        connection.exec_driver_sql(statement)
    tables = MetaData()
    tables.reflect(connection)
    data: dict[str, list[dict[str, Any]]] = json.loads(
        (FOLDER / f"{version}.json").read_text(encoding="utf-8")
    )
    postgres = connection.dialect.name == "postgresql"
    for table in tables.sorted_tables:
        if rows := data.get(table.name):
            lines = [
                {name: _value(value, name, postgres=postgres) for name, value in row.items()} for row in rows
            ]
            connection.execute(table.insert(), lines)
            if postgres and "id" in table.c and table.name != "meta":
                newest = f"(SELECT max(id) FROM {table.name})"
                restart = f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), {newest})"
                connection.execute(text(restart))
    return bytes.fromhex(data["meta"][0]["nonce"]["hex"])


def _value(value: Any, name: str, *, postgres: bool) -> Any:
    if isinstance(value, dict):
        return bytes.fromhex(value["hex"])
    if postgres and value is not None and (name == "at" or name.endswith("_at")):
        return datetime.fromisoformat(value)
    return value


def dump(file: Path) -> dict[str, list[dict[str, Any]]]:
    """Return everything that a gradebook in a file holds."""
    engine = create_engine(f"sqlite:///{file}")
    tables = MetaData()
    with engine.connect() as connection:
        tables.reflect(connection)
        found = {
            table.name: [
                {
                    name: {"hex": value.hex()} if isinstance(value, bytes) else value
                    for name, value in row.items()
                }
                for row in connection.execute(table.select().order_by(*table.primary_key)).mappings()
            ]
            for table in tables.sorted_tables
            if table.name != version_table.name
        }
    engine.dispose()
    return found


def tables_of(dialect: str) -> str:
    """Return the statements that make today's tables."""
    said: list[str] = []
    engine = create_mock_engine(
        f"{dialect}://", lambda sql, *_: said.append(str(sql.compile(dialect=engine.dialect)))
    )
    metadata.create_all(engine, checkfirst=False)
    said.append(f"INSERT INTO {version_table.name} (version_num) VALUES ('{newest()}')")
    lines = (
        line.rstrip().expandtabs(4) for statement in said for line in f"{statement.strip()};".splitlines()
    )
    return "\n".join(lines) + "\n"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "gradebook.sqlite"
        with Gradebook.open(str(file), create=True) as gradebook:
            write(gradebook)
            verify(gradebook)
        data = dump(file)
        for run in data["runs"]:
            run |= {"host": "desk", "process": 1}
        path = FOLDER / f"{newest()}.json"
        if path.exists():
            sys.exit(f"{path} is there already: what a version wrote stays as it was")
        path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        for dialect in ("sqlite", "postgresql"):
            path.with_name(f"{newest()}.{dialect}.sql").write_text(tables_of(dialect), encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main()
