"""Checks of insertion_sort."""

from __future__ import annotations

from grader.checks import check, expect


@check("three numbers come back in order", aspect="values", points=2)
def test_three_numbers(submission):
    result = submission.insertion_sort([3, 1, 2])
    expect(result, "result").is_value([1, 2, 3])


@check("an empty list stays empty", aspect="shape", points=1)
def test_empty(submission):
    expect(submission.insertion_sort([]), "result").is_value([])


@check("equal numbers are all kept", aspect="values", points=1, needs=["test_three_numbers"])
def test_equal_numbers(submission):
    expect(submission.insertion_sort([2, 1, 2, 1]), "result").is_value([1, 1, 2, 2])
