"""Which call a message speaks of: the one that gave what is wrong."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from grader.engine.host.calls import CallRecord, Calls


@pytest.fixture
def calls() -> Calls:
    """Three calls, the second of which returned nothing and the third a tensor."""
    made = Calls()
    for name, result in (("build", [1, 2]), ("refill", None), ("read", torch.ones(2, 3))):
        made.add(record(name), result)
    return made


def record(name: str) -> CallRecord:
    return CallRecord(*[name for _ in CallRecord.__dataclass_fields__])  # type: ignore[arg-type]


def test_an_iterator_is_noted_as_one(examine: Any) -> None:
    answer = examine("def f():\n    yield 1\ndef g():\n    return [1]\n")
    assert (answer.submission.f(), answer.calls.last.iterated) == ([1], True)
    assert (answer.submission.g(), answer.calls.last.iterated) == ([1], False)


def test_a_tensor_that_no_call_gave_is_told_with_the_latest(calls: Calls) -> None:
    assert calls.origin(torch.zeros(3)) == record("read")


def test_a_slice_is_told_with_the_call_of_its_whole(calls: Calls) -> None:
    given = torch.ones(4, 4)
    calls.add(record("attend"), given)
    calls.add(record("later"), torch.ones(1))
    assert calls.origin(given[1:, 2]) == record("attend")


@pytest.mark.parametrize(("value", "name"), [(None, "refill"), ("never seen", "read")])
def test_what_is_no_tensor_is_told_with_its_own_call(calls: Calls, value: Any, name: str) -> None:
    assert calls.origin(value) == record(name)


@pytest.mark.parametrize(
    ("label", "signature"), [("Net(3).parameters", "Net.parameters"), ("Net(3).layers[...]", "")]
)
def test_what_every_module_can_do_is_not_what_went_wrong(calls: Calls, label: str, signature: str) -> None:
    calls.add(CallRecord(label, signature, (), {}), None)
    assert calls.origin(torch.zeros(3)) == record("read")
