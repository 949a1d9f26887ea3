"""What the author of a check imports.

May import engine.host and below; never the runner, timing or mistakes.
"""

from __future__ import annotations

from grader.engine.checks.contract import Part
from grader.engine.checks.conventions import convention, supposing_form
from grader.engine.checks.decorators import check
from grader.engine.checks.describe import type_names
from grader.engine.checks.draw import Draw, with_axes
from grader.engine.checks.expect import expect
from grader.engine.checks.failure import fail, supposing
from grader.engine.checks.gradients import expect_gradients, expect_parameter_gradients, oracle_gradients
from grader.engine.checks.oracle import Expected, oracle
from grader.engine.checks.side_effects import (
    callback,
    expect_device,
    expect_dropped_apart,
    expect_from_scratch,
    expect_no_error,
    expect_raises,
    expect_strict,
    expect_unchanged,
    fingerprint_facts,
    given_module,
    keep_grad_mode,
    label_calls,
    load_parameters,
    new_worker,
    only_if,
    precondition,
    same_tensors,
)
from grader.engine.checks.stand_ins import stand_in
from grader.engine.checks.training import TrainingBooks

__all__ = [
    "Draw",
    "Expected",
    "Part",
    "TrainingBooks",
    "callback",
    "check",
    "convention",
    "expect",
    "expect_device",
    "expect_dropped_apart",
    "expect_from_scratch",
    "expect_gradients",
    "expect_no_error",
    "expect_parameter_gradients",
    "expect_raises",
    "expect_strict",
    "expect_unchanged",
    "fail",
    "fingerprint_facts",
    "given_module",
    "keep_grad_mode",
    "label_calls",
    "load_parameters",
    "new_worker",
    "only_if",
    "oracle",
    "oracle_gradients",
    "precondition",
    "same_tensors",
    "stand_in",
    "supposing",
    "supposing_form",
    "type_names",
    "with_axes",
]  # fmt: skip
