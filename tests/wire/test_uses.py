"""The record of uses: what a submission's calls used of what its kata excludes, told by its worker."""

from __future__ import annotations

import os
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grader.engine.host.errors import SubmissionRaised, WorkerDied
from grader.engine.wire import uses


def test_what_is_written_is_read() -> None:
    there, here = os.pipe()
    note = uses.writer(here)
    note("torch.nn.LayerNorm", 0)
    note("torch.ops.aten.gelu", 12)
    assert list(uses.read(os.read(there, 100))) == [("torch.nn.LayerNorm", 0), ("torch.ops.aten.gelu", 12)]
    os.set_blocking(here, False)
    for _ in range(20_000):
        note("torch.nn.LayerNorm", 1)  # a full pipe is no error, and neither is a closed one
    os.close(there)
    os.close(here)
    note("torch.nn.LayerNorm", 1)


@given(st.binary(max_size=100))
def test_any_bytes_are_read_without_a_stumble(data: bytes) -> None:
    found = list(uses.read(data))
    assert all(name == uses.CLOSED or name.isprintable() for name, _ in found)
    assert bool(found) == bool(data)


FORBID = ("gelu", "torch.nn.LayerNorm")
USES = """
    import torch
    import torch.nn.functional as F
    def g(x): return getattr(F, "ge" + chr(108) + "u")(x)
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
        import os
        try:
            g(x)
        except RuntimeError:
            pass
        os._exit(1)
"""


USED = ["torch.ops.aten.gelu (line 4)"]


def refused(call: Any, *arguments: Any) -> None:
    with pytest.raises(SubmissionRaised) as caught:
        call(*arguments)
    assert caught.value.type_name.endswith("ExcludedError"), caught.value


def test_a_use_is_refused_and_counts_in_every_later_check(examine: Any) -> None:
    opened = examine(USES, forbid=FORBID)
    refused(opened.submission.g, torch.ones(2))
    assert opened.session.forbidden_uses() == USED
    opened.begin()
    opened.submission.other(torch.ones(2))
    assert opened.session.forbidden_uses() == USED


def test_what_some_names_may_use_is_not_there_for_the_others(examine: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    opened = examine(USES, required=("g", "other", "late"), forbid=FORBID, within=("other", "late"))
    opened.submission.g(x)
    opened.begin()
    opened.submission.other(x)
    y = opened.submission.late(x)
    refused(y.sum().backward)
    assert opened.session.forbidden_uses() == USED
    opened.begin()
    opened.submission.g(x)
    assert opened.session.forbidden_uses() == USED


def test_a_check_that_asks_for_both_kinds_has_a_worker_with_everything(examine: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    opened = examine(USES, required=("g", "late"), forbid=FORBID, within=("late",))
    opened.submission.late(x)
    opened.submission.g(x)
    opened.submission.late(x).sum().backward()
    assert opened.session.forbidden_uses() == []


HIDDEN = """
    import threading
    import torch
    def op(name): return getattr(torch.ops.aten, name[::-1])
    gelu, attend = op("uleg"), op("noitnetta_tcudorp_tod_delacs")
    def f(x):
        WAY
        return x
"""
WAYS = {
    "vmap": "torch.vmap(gelu)(x)",
    "vmap of an operator that is written in others": "torch.vmap(attend)(x[None], x[None], x[None])",
    "autograd below vmap": "torch.vmap(torch.func.grad(lambda y: gelu(y).sum()))(x)",
    "another thread": "t = threading.Thread(target=gelu, args=(x,)); t.start(); t.join()",
    "no numbers": "gelu(x.to('meta'))",
    "another dtype": "gelu(x.bfloat16())",
    "inference mode": "with torch.inference_mode(): gelu(x.clone())",
    "autocast": "with torch.autocast('cpu', torch.bfloat16): attend(x, x, x)",
    "tensors of several lengths": "gelu(torch.nested.nested_tensor([x, x[:1]]))",
    "in place": "op('_uleg')(x.clone())",
    "into another": "gelu.out(x, out=torch.empty_like(x))",
    "no gradient, fused": "attend(x[None, None], x[None, None], x[None, None])",
}
"""Uses whose name nobody can read: only torch's dispatcher tells."""


@pytest.mark.sampled(4)
@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_use_is_seen_wherever_the_dispatcher_takes_it(examine: Any, way: str) -> None:
    opened = examine(HIDDEN.replace("WAY", WAYS[way]), forbid=("gelu", "attention"))
    if way == "another thread":  # where nobody hears of it
        opened.submission.f(torch.ones(2, 2))
    else:
        refused(opened.submission.f, torch.ones(2, 2))
    uses = opened.session.forbidden_uses()
    assert uses != []
    assert all(one.startswith("torch.ops.aten.") for one in uses)


def test_a_use_outlives_its_worker(examine: Any) -> None:
    opened = examine(USES, forbid=FORBID)
    with pytest.raises(WorkerDied):
        opened.submission.die(torch.ones(2))
    opened.begin()
    assert opened.session.forbidden_uses() == USED


def test_where_nothing_is_forbidden_nothing_is_used(examine: Any) -> None:
    opened = examine(USES)
    assert opened.submission.g(torch.ones(2)).shape == (2,)
    assert opened.session.forbidden_uses() == []


def test_a_record_that_is_written_to_is_a_use(examine: Any) -> None:
    spoil = "import os\ndef f(x):\n    os.{}\n    return x\n"
    for way in ("write(4, b'x' * 8)", "write(4, b'x')", "write(4, b'1 x y\\n')"):
        opened = examine(spoil.format(way), forbid=FORBID)
        opened.submission.f(torch.ones(2))
        assert opened.session.forbidden_uses() == [uses.CLOSED], way
