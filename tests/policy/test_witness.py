"""What comes out of a witness is sorted into names used, and a silence that can't be believed."""

from __future__ import annotations

import os
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grader.boundary import witness
from grader.boundary.channel import WorkerDied

NAMES = ["torch.nn.functional.gelu", "torch.nn.GELU"]
GELU = NAMES[0]


def written(*numbers: int, token: int | None = None) -> bytes:
    there, here = os.pipe()
    try:
        note = witness.writer(here)
        for number in numbers:
            note(number)
        if token is not None:
            witness.stamp(here, token)
        os.set_blocking(there, False)
        return os.read(there, 65_536)
    finally:
        os.close(there)
        os.close(here)


def test_names_come_in_the_order_of_their_first_use() -> None:
    assert witness.read(written(1, 0, 1, token=7), NAMES, 7) == [NAMES[1], NAMES[0]]
    assert witness.read(written(token=7), NAMES, 7) == []


def test_a_silence_without_the_token_is_not_believed() -> None:
    assert witness.read(b"", NAMES) == []
    assert witness.read(b"", NAMES, 7) == [witness.CLOSED]
    assert witness.read(written(token=8), NAMES, 7) == [witness.CLOSED]
    assert witness.read(written(0), NAMES, 7) == [GELU]  # a full pipe: there is evidence enough


@given(st.binary(max_size=200), st.integers(0, 2**64 - 1))
def test_any_bytes_are_read_without_a_stumble(data: bytes, token: int) -> None:
    assert set(witness.read(data, NAMES, token)) <= {*NAMES, witness.CLOSED}


def test_writing_to_what_is_closed_or_full_is_no_error() -> None:
    there, here = os.pipe()
    os.set_blocking(here, False)
    note = witness.writer(here)
    for _ in range(20_000):
        note(0)
    os.close(there)
    os.close(here)
    note(0)
    witness.stamp(here, 1)


FORBID = ("torch.nn.functional.gelu", "torch.nn.LayerNorm")
USES = """
    import torch
    import torch.nn.functional as F
    def g(x): return F.__dict__["ge" + chr(108) + "u"](x)
    def many(x):
        for _ in range(20_000): g(x)
        return x
    def other(x): return x
    def die(x):
        g(x)
        import os
        os._exit(1)
"""


def test_a_use_counts_in_every_later_check_unless_only_some_names_are_bound(examine: Any) -> None:
    x = torch.ones(2)
    for within, later in (((), [GELU]), (("other",), [])):
        opened = examine(USES, forbid=FORBID, within=within)
        opened.submission.g(x)
        assert opened.submission.forbidden_uses() == [GELU]
        opened.begin()
        opened.submission.other(x)
        assert opened.submission.forbidden_uses() == later


def test_a_pipe_that_is_full_stops_nobody(examine: Any) -> None:
    opened = examine(USES, forbid=FORBID, within=("other",))
    opened.submission.many(torch.ones(2))
    assert opened.submission.forbidden_uses() == [GELU]
    opened.begin()
    opened.submission.other(torch.ones(2))
    assert opened.submission.forbidden_uses() == []


def test_a_use_outlives_its_worker(examine: Any) -> None:
    opened = examine(USES, forbid=FORBID)
    with pytest.raises(WorkerDied):
        opened.submission.die(torch.ones(2))
    opened.begin()
    assert opened.submission.forbidden_uses() == [GELU]


def test_where_nothing_is_forbidden_nothing_is_used(examine: Any) -> None:
    opened = examine(USES)
    opened.submission.g(torch.ones(2))
    assert opened.submission.forbidden_uses() == []


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
    assert opened.submission.forbidden_uses() == [GELU]
