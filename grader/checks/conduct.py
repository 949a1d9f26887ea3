"""What a submission did besides returning values: raised, changed its arguments, used what is excluded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from grader.boundary.session import SubmissionRaised
from grader.checks.describe import describe
from grader.checks.expect import expect
from grader.checks.failure import CheckFailure, fail, fail_breach
from grader.checks.text import clean
from grader.errors import KataError


@contextmanager
def expect_raises(name: str, what: str) -> Iterator[None]:
    """Demand that the calls inside raise the exception `name` or a subclass of it.

    Args:
        name: the exception's name, e.g. `ValueError`.
        what: the situation, completing "... must raise ValueError", e.g. "3 heads cannot share 10 columns".
    """
    __tracebackhide__ = True
    try:
        yield
    except SubmissionRaised as error:
        if error.not_written and name != "NotImplementedError":
            raise
        if name not in error.type_names:
            message = [f"  {clean(error.message)}"] if error.message.strip() else []
            fail(f"raised {error.type_name}; want {name}: {what}", *message, stage="raises")
    except (KataError, CheckFailure):
        raise
    except Exception as error:  # in one process the learner's exception arrives as it is
        if name not in (base.__name__ for base in type(error).__mro__):
            raise
    else:
        fail(f"raised nothing; want {name}: {what}", stage="raises")


@contextmanager
def expect_no_error(what: str) -> Iterator[None]:
    """Demand that the calls inside raise nothing.

    Args:
        what: why nothing is wrong there, e.g. "5 positions fit into max_len=5".
    """
    __tracebackhide__ = True
    try:
        yield
    except SubmissionRaised as error:
        if error.not_written:
            raise
        fail(f"raised {error.type_name}: {clean(error.message, 80)}", f"  {what}", stage="raises")


def expect_unchanged(submission: Any) -> None:
    """Demand that the latest call left the tensors it was given as they were."""
    __tracebackhide__ = True
    call = submission.calls.last
    if call is None or not call.changed:
        return
    names = [f"argument {index + 1}" for index, value in enumerate(call.args) if _is_any(value, call.changed)]
    names += [name for name, value in call.kwargs.items() if _is_any(value, call.changed)]
    fail(
        f"changed what it was given: {', '.join(names) or 'a tensor inside an argument'}",
        *(f"  it was {describe(value)}" for value in call.changed[:2]),
        "  an operation that ends in _ or an assignment into a tensor works in place: make a new tensor instead",
        stage="arguments",
    )


def expect_device(make: Callable[[torch.device], Any], name: str = "result") -> None:
    """Demand that `make(device)` makes its tensor on that device, also where there is no second one.

    It is asked for a GPU. Where there is none, code that uses its `device` fails in torch, which is right; code that
    ignores it returns a tensor on the CPU, which is wrong.
    """
    __tracebackhide__ = True
    there = torch.device("cuda")
    try:
        value = make(there)
    except SubmissionRaised as error:
        if error.not_written:
            raise
        return
    except (AssertionError, RuntimeError):  # in one process torch's own refusal arrives as it is
        return
    expect(value, name).is_tensor(device=there)


def expect_from_scratch(submission: Any) -> None:
    """Demand that nothing was used which the kata excludes; the kata's policy says what to write instead."""
    __tracebackhide__ = True
    used = submission.forbidden_uses()
    if used:
        fail_breach(used, submission.policy_advice)


def _is_any(value: Any, tensors: tuple[Any, ...]) -> bool:
    return any(value is tensor for tensor in tensors)
