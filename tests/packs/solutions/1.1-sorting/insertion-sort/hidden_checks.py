"""Checks of insertion_sort that learners do not see."""

from __future__ import annotations

from grader.checks import check, expect


@check(aspect="values", points=1)
def test_longer_list(submission, reference):
    """a longer list comes back in order"""
    values = [5, -3, 8, 0, -3, 13, 2]
    expect(submission.insertion_sort(values), "result").is_value(reference.insertion_sort(values))
