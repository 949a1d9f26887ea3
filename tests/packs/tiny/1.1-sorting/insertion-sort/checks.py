"""Checks of insertion_sort."""

from __future__ import annotations

from grader.checks import check, expect


@check(aspect="values", points=2)
def test_three_numbers(submission):
    """three numbers come back in order"""
    result = submission.insertion_sort([3, 1, 2])
    expect(result, "result").is_value([1, 2, 3])


@check(aspect="shape", points=1)
def test_empty(submission):
    """an empty list stays empty"""
    expect(submission.insertion_sort([]), "result").is_value([])


@check(aspect="values", points=1, needs=test_three_numbers)
def test_equal_numbers(submission):
    """equal numbers are all kept"""
    expect(submission.insertion_sort([2, 1, 2, 1]), "result").is_value([1, 1, 2, 2])
