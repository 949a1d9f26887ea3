"""From what was graded to what counts: lateness, then what people decided."""

from __future__ import annotations

from collections.abc import Iterable

from grader.gradebook.model import Adjustment


def settle(graded: float, late_points: float, adjustments: Iterable[Adjustment]) -> tuple[float, float]:
    """Return the score that counts, never below 0, and the points that lateness took from it.

    An override is the mark: it replaces what was graded, lateness and whatever people said before it. Points that
    are given or taken after it count on top. What was revoked counts nowhere.

    Args:
        graded: the newest attempt's points.
        late_points: what lateness would take from them.
        adjustments: in the order in which they were made.
    """
    score, taken = graded - late_points, late_points
    for one in adjustments:
        if one.revoked:
            continue
        if one.kind == "override":
            score, taken = one.points, 0.0
        else:
            score += one.points
    return max(0.0, round(score, 6)), taken
