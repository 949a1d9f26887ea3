"""What caused a failure: looks at the relations that a check stated next to its assertion (`supposing`)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from grader.engine.checks.describe import is_tensor
from grader.engine.checks.failure import CheckFailure, Relations, Stated
from grader.engine.checks.oracle import rounding_tolerance
from grader.engine.checks.raised import supposed_of
from grader.engine.host.errors import SubmissionRaised


def find_cause(error: CheckFailure | SubmissionRaised) -> str:
    """Return the sentence whose relation holds, or both of two; else the cause that is supposed anyway."""
    subject = error.subject if isinstance(error, CheckFailure) else None
    stated: dict[str, Callable[[], object]] = {}
    for relations in error.relations:
        stated = {**_listed(relations), **stated}
    found = [sentence for sentence, relation in stated.items() if _holds(relation, subject)]
    if len(found) == 2:
        return f"either {found[0]}; or {found[1]}"
    anyway = error.failure.cause if isinstance(error, CheckFailure) else supposed_of(error)
    return found[0] if len(found) == 1 else anyway


def _listed(relations: Stated) -> Relations:
    try:
        return relations() if callable(relations) else relations
    except Exception:  # as in `_holds`
        return {}


def _holds(relation: Callable[[], object], got: object) -> bool:
    try:
        value = relation()
    # It computes with what was returned, of whatever type and size, and may call what is broken.
    except Exception:
        return False
    if isinstance(value, Tensor) and value.dtype == torch.bool and not value.ndim:
        return bool(value)  # what .any() and .all() give
    if isinstance(value, Tensor | list):
        return any(_is(got, other) for other in (value if isinstance(value, list) else [value]))
    return bool(value)


def _is(got: object, other: Tensor) -> bool:
    """Tell whether what was returned is this, up to what two ways to compute it differ by."""
    # The shape first: it bounds what is compared.
    if not is_tensor(got) or not isinstance(got, Tensor) or got.shape != other.shape:
        return False
    mine, theirs = (x.detach().cpu() for x in (got, other))
    limit = 4 * rounding_tolerance(theirs, mine.dtype)
    return torch.allclose(mine.double(), theirs.double(), rtol=0.0, atol=limit, equal_nan=True)
