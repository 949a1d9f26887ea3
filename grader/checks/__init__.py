"""What the author of a check imports."""

from __future__ import annotations

from grader.checks.conduct import (
    expect_device,
    expect_from_scratch,
    expect_no_error,
    expect_raises,
    expect_unchanged,
)
from grader.checks.describe import describe
from grader.checks.draw import Draw, axes_of, with_axes
from grader.checks.expect import Expectation, expect
from grader.checks.failure import CheckFailure, Failure, fail
from grader.checks.gradients import expect_gradients, oracle_gradients
from grader.checks.marks import Aspect, CheckInfo, check
from grader.checks.oracle import Expected, oracle

__all__ = [
    "Aspect",
    "CheckFailure",
    "CheckInfo",
    "Draw",
    "Expectation",
    "Expected",
    "Failure",
    "axes_of",
    "check",
    "describe",
    "expect",
    "expect_device",
    "expect_from_scratch",
    "expect_gradients",
    "expect_no_error",
    "expect_raises",
    "expect_unchanged",
    "fail",
    "oracle",
    "oracle_gradients",
    "with_axes",
]
