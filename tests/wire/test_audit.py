"""What comes out of an audit channel is sorted into names used, and a silence that can't be believed."""

from __future__ import annotations

import os
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grader.host.endings import WorkerDied
from grader.wire import audit

NAMES = ["torch.nn.functional.gelu", "torch.nn.GELU"]
GELU, MODULE = NAMES
KEY = bytes(range(audit.KEY))
STAMP, NATIVE = audit.Sign.STAMP, audit.Sign.NATIVE


def written(*records: tuple[int, int, int], key: bytes = KEY) -> bytes:
    """Return what a pipe holds behind these records: number, line, token."""
    there, here = os.pipe()
    try:
        put = audit.writer(here, key)
        for record in records:
            put(*record)
        os.set_blocking(there, False)
        return os.read(there, 65_536) if records else b""
    finally:
        os.close(there)
        os.close(here)


def read(data: bytes, token: int | None = 7) -> list[str]:
    return list(audit.Reader(KEY, NAMES).read(data, token))


USE, OTHER, END = (0, 12, 0), (1, 0, 0), (STAMP, 0, 7)


def test_names_come_in_the_order_of_their_first_use_with_their_line() -> None:
    assert audit.Reader(KEY, NAMES).read(written(OTHER, USE, OTHER, END), 7) == {MODULE: 0, GELU: 12}
    assert read(written(END)) == []
    assert read(written((NATIVE, 0, 0), END)) == [audit.SIGNS[audit.Sign.NATIVE]]


def test_a_worker_that_ended_needs_no_stamp_and_tells_what_it_told() -> None:
    assert read(b"", None) == []
    assert read(written(USE), None) == [GELU]


SILENCED = {
    "nothing": b"",
    "another token": written((STAMP, 0, 8)),
    "two stamps": written(END, END),
    "another key": written(END, key=bytes(audit.KEY)),
    "a record led elsewhere": written(USE, END)[audit.RECORD :],
    "one taken out of the middle": written(USE, OTHER, END)[: audit.RECORD]
    + written(USE, OTHER, END)[-audit.RECORD :],
    "one twice": written(USE, END)[: audit.RECORD] * 2 + written(USE, END)[audit.RECORD :],
    "half a record": written(END) + b"x",
    "bytes of one's own before": bytes(audit.RECORD) + written(END),
    "an unknown number": written((2, 0, 0), END),
    "an unknown sign": written((0xFFF0, 0, 0), END),
}


@pytest.mark.parametrize("name", SILENCED)
def test_a_channel_that_does_not_tell_all_is_a_breach(name: str) -> None:
    assert audit.CLOSED in read(SILENCED[name])


def test_what_was_missed_in_one_exchange_is_missed_in_the_next() -> None:
    data = written(END, USE, (STAMP, 0, 8))
    reader = audit.Reader(KEY, NAMES)
    assert reader.read(data[: audit.RECORD], 7) == {}
    assert audit.CLOSED in reader.read(data[2 * audit.RECORD :], 8)


@given(st.binary(max_size=200), st.integers(0, 2**64 - 1))
def test_any_bytes_are_read_without_a_stumble_and_are_a_breach(data: bytes, token: int) -> None:
    assert read(data, token) == [audit.CLOSED]


def test_writing_to_what_is_closed_or_full_is_no_error() -> None:
    there, here = os.pipe()
    os.set_blocking(here, False)
    put = audit.writer(here, KEY)
    for number in range(20_000):
        put(number % 2, 0, 0)
        put(*END)
    os.close(there)
    os.close(here)
    put(*USE)
    put(*END)


def test_an_honest_worker_never_fills_the_pipe() -> None:
    assert len(written(*[USE] * 5000, END)) == 2 * audit.RECORD


FORBID = ("torch.nn.functional.gelu", "torch.nn.LayerNorm")
USES = """
    import torch
    import torch.nn.functional as F
    def g(x): return F.__dict__["ge" + chr(108) + "u"](x)
    def many(x):
        for _ in range(20_000): g(x)
        return x
    def other(x): return x
    class Late(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x): return x.clone()
        @staticmethod
        def backward(ctx, y): return g(y)
    def late(x): return Late.apply(x)
    def die(x):
        g(x)
        import os
        os._exit(1)
"""


USED = [f"{GELU} (line 4)"]


def test_a_use_counts_in_every_later_check(examine: Any) -> None:
    opened = examine(USES, forbid=FORBID)
    opened.submission.g(torch.ones(2))
    assert opened.session.forbidden_uses() == USED
    opened.begin()
    opened.submission.other(torch.ones(2))
    assert opened.session.forbidden_uses() == USED


def test_a_use_is_that_of_the_name_whose_call_it_was_in(examine: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    opened = examine(USES, required=("g", "other", "late"), forbid=FORBID, within=("other", "late"))
    opened.submission.g(x)
    opened.submission.other(x)
    assert opened.session.forbidden_uses() == []
    y = opened.submission.late(x)
    opened.submission.g(x)
    assert opened.session.forbidden_uses() == []
    y.sum().backward()
    assert opened.session.forbidden_uses() == USED
    opened.begin()
    assert opened.session.forbidden_uses() == USED


@pytest.mark.slow
def test_what_is_used_while_loading_is_a_test_of_its_own(examine: Any) -> None:
    opened = examine(USES + "    g(torch.ones(2))\n    many(torch.ones(2))\n", forbid=FORBID)
    opened.submission.other(torch.ones(2))
    assert opened.session.forbidden_uses() == []


@pytest.mark.slow
def test_many_uses_are_one(examine: Any) -> None:
    opened = examine(USES, forbid=FORBID)
    opened.submission.many(torch.ones(2))
    assert opened.session.forbidden_uses() == USED


def test_a_use_outlives_its_worker(examine: Any) -> None:
    opened = examine(USES, forbid=FORBID)
    with pytest.raises(WorkerDied):
        opened.submission.die(torch.ones(2))
    opened.begin()
    assert opened.session.forbidden_uses() == USED


def test_where_nothing_is_forbidden_nothing_is_used(examine: Any) -> None:
    opened = examine(USES)
    opened.submission.g(torch.ones(2))
    assert opened.session.forbidden_uses() == []


@pytest.mark.slow
def test_a_compiled_graph_comes_past(examine: Any) -> None:
    opened = examine(
        """
        import torch
        import torch.nn.functional as F
        compiled = torch.compile(lambda x: F.gelu(x), backend="eager")
        def f(x): return compiled(x)
        """,
        forbid=FORBID,
        check_timeout_s=60.0,
    )
    opened.submission.f(torch.ones(2))
    assert [used.partition(" (line")[0] for used in opened.session.forbidden_uses()] == [GELU]
