"""Conventions: a kata whose checks know several forms of one thing asks here which of them holds."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

from grader.engine.checks.failure import supposing
from grader.engine.host.remote import context_of


def convention(submission: Any, name: str) -> str:
    """Return the form of a convention that a pack or an adapter has chosen; "" for the kata's own, its first."""
    held = context_of(submission).session.terms.conventions.get(name)
    return held.form if held is not None else ""


def supposing_form(
    submission: Any, name: str, value: Callable[[str], object]
) -> AbstractContextManager[None]:
    """Say of a failure inside that the answer has another form of a convention than the chosen one.

    In the kata's own form its catalogue says that.

    Args:
        submission: the check's.
        name: the convention.
        value: called with the name of each other form: what that gives in place of the tensor that failed, or whether
            it holds, as in `supposing`.
    """
    held = context_of(submission).session.terms.conventions.get(name)
    if held is None:
        return nullcontext()
    return supposing({sentence: partial(value, form) for form, sentence in held.others.items()})
