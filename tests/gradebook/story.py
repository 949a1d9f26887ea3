"""A small class's story: everything that a gradebook can hold happens once."""

from __future__ import annotations

from datetime import timedelta

from grader.instructor.gradebook.store import Gradebook
from tests.gradebook.handmade import MONDAY, adjust, bundle, check, decide, grade, key, override, submission


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
    first.finish()
    second = gradebook.start_run({})
    grade(gradebook, second, "ada", source="b", score=6.0, at=MONDAY + timedelta(days=1), checks=[check()])
    again = submission("zoë", "layer-norm", "c")
    second.mark_unchanged(again, key(again))
    adjust(gradebook, "ada", "masks", 1.5, comment="clear names", author="tina")
    oral = override(gradebook, "ada", "masks", 9, comment="oral", author="prof")
    gradebook.undo(oral, author="prof", comment="no")
    override(gradebook, "bob", "masks", 5, comment="on paper", author="prof")
    decide(gradebook, "extend", "zoë", {"of": "masks", "days": 2}, comment="was ill", author="prof")
    handle = decide(gradebook, "alias", "bob", "robert", comment="his handle", author="prof")
    gradebook.undo(handle, author="prof", comment="no")


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
