"""JSON Lines: the reports themselves, as `kata grade --json FILE` writes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from grader.gradebook.model import Row
from grader.reports.json_text import json_text


def to_jsonl(rows: Iterable[Row]) -> Iterator[str]:
    """Yield one report a line (schema 1), with `learner` filled in.

    A report is what the checks found. Lateness and what people changed are in the gradebook and in the tables,
    not here. Everything about hidden checks is here: this file is for instructors.
    """
    for row in rows:
        yield json_text(msgspec.structs.replace(row.report, learner=row.learner)) + "\n"
