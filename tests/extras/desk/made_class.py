"""A made-up class in a gradebook: real names of checks, real messages, code that differs from learner to learner."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from grader.catalogue import Catalogue
from grader.instructor.gradebook.row_types import Key, Mark
from grader.instructor.gradebook.store import Gradebook
from grader.instructor.submissions.submission import Bundle, Submission
from tests.pages import demo_class

COURSE = """\
name = "Transformers from scratch"
timezone = "Europe/Berlin"
roster = "roster.csv"

[assignments.week1]
title = "Masks and attention"
katas = ["9.3.1", "9.3.2"]
due = 2026-03-02T12:00:00

[assignments.week2]
katas = ["9.3.3", "9.3.4"]
due = 2026-03-09T12:00:00
"""


def fill(where: str, rows: Iterable[Mark]) -> list[str]:
    """Record rows as a grader would have; return the learners."""
    katas = {kata.slug: kata for kata in Catalogue.discover().katas}
    learners = {}
    with Gradebook.open(where, create=True) as book:
        run = book.start_run({})
        for number, row in enumerate(rows):
            learners[row.learner] = row.name
            if row.report.status == "missing":
                nothing = Submission(learner=row.learner, kata=row.kata)
                run.record(nothing, Key(None, "terms"), row.report)
                continue
            kata = katas[row.kata]
            source = f"# {row.learner}, {number}\n{kata.stub.read_text()}"
            name = row.name.encode("utf-8", "replace").decode()
            bundle = Bundle(
                f"{kata.module}.py",
                {f"{kata.module}.py": source.encode("utf-8", "replace"), f"{name}.py": b"mine\n"},
            )
            given = Submission(
                learner=row.learner, kata=row.kata, bundle=bundle, submitted_at=row.submitted_at,
                origin=f"{row.learner}/{kata.module}.py",
            )  # fmt: skip
            run.record(given, Key(bundle.digest, "terms"), row.report)
        run.finish()
    return list(learners)


def make(folder: Path, learners: int, where: str | None = None, *, rows: Sequence[Mark] | None = None) -> str:
    """Make a course of so many learners, or of these rows, in a folder; return its gradebook's address."""
    where = where or str(folder / "gradebook.sqlite")
    rows = list(demo_class.rows(learners)) if rows is None else rows
    fill(where, rows)
    names = {row.learner: row.name for row in rows}
    with (folder / "roster.csv").open("w", encoding="utf-8", errors="replace", newline="") as file:
        table = csv.writer(file)
        table.writerow(["learner", "name", "section"])
        for number, (learner, name) in enumerate(names.items()):
            if learner.isascii() and learner.isprintable():
                table.writerow([learner, name, "AB"[number % 2]])
    (folder / "course.toml").write_text(COURSE)
    return where


if __name__ == "__main__":
    import sys

    began = datetime.now(UTC)
    into = Path(sys.argv[1])
    into.mkdir(parents=True, exist_ok=True)
    print(make(into, int(sys.argv[2])), datetime.now(UTC) - began)
