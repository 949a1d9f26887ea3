"""What a called line says."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from grader.engine.checks.describe import describe, describe_call
from grader.engine.checks.draw import Draw
from grader.engine.checks.failure import CheckFailure, Failure
from grader.engine.host.calls import CallRecord, Calls
from grader.engine.host.objects import RemoteObject
from grader.engine.runner.outcome import judge
from grader.report.style import console, print_indented

DRAW = Draw(0, "describe")
QUERY = DRAW.normal(batch=2, head=3, query=5, width=8)
KEY = DRAW.normal(batch=2, head=3, key=7, width=8)
VALUE = DRAW.normal(batch=2, head=3, key=7, width=6)


class Remote(RemoteObject):
    def __init__(self):
        super().__init__(SimpleNamespace(generation=1), 5, "submission.Cache\n < builtins.object", "object")

    def __repr__(self):
        raise AssertionError("touched")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (QUERY, "float32 [batch 2, head 3, query 5, width 8]"),
        (torch.zeros(3, 4).T, "float32 [4, 3], not contiguous"),
        (torch.tensor([[5, 0, 7]]), "[[5, 0, 7]]"),
        (torch.arange(13), "int64 [13]"),
        (torch.ones(2, 2).bool(), "bool [2, 2]"),
        (torch.tensor(1.0), "float32 []"),
        (None, "None"),
        (5, "5"),
        (0.1, "0.1"),
        (True, "True"),
        ("relu", "'relu'"),
        (b"ab", "b'ab'"),
        (torch.float16, "torch.float16"),
        (torch.device("cpu"), "cpu"),
        (torch.Size([2, 3]), "(2, 3)"),
        ([1, [2, [3, [4]]]], "[1, [2, [3, …]]]"),
        ({"a": (1,)}, "{'a': (1,)}"),
        (list(range(100)), "[0, 1, 2, 3, 4, 5, … 94 more]"),
        (Remote(), "<submission.Cache\\n>"),
        ([Remote()], "[<submission.Cache\\n>]"),
        (10**1000, "an int of 3322 bits"),
        ("x" * 500, f"'{'x' * 60}'…"),
    ],
)
def test_describe(value, text):
    assert describe(value) == text


@pytest.mark.parametrize(
    ("name", "names", "args", "kwargs", "lines"),
    [
        ("causal_mask", ["seq_len"], [5], {}, ["called  causal_mask(seq_len=5)"]),
        ("causal_mask", [], [5], {"device": None}, ["called  causal_mask(5, device=None)"]),
        ("padding_mask", ["tokens"], [torch.tensor([[5, 0, 7]])], {"pad_id": 0},
         ["called  padding_mask(tokens=[[5, 0, 7]], pad_id=0)"]),
        ("gelu", ["x"], [VALUE], {}, ["called  gelu(x)   x float32 [batch 2, head 3, key 7, width 6]"]),
        ("attention", ["query", "key", "value", "mask"], [QUERY, KEY, VALUE, None], {},
         ["called  attention(query, key, value, mask=None)",
          "          query  float32 [batch 2, head 3, query 5, width 8]",
          "          key    float32 [batch 2, head 3, key 7, width 8]",
          "          value  float32 [batch 2, head 3, key 7, width 6]"]),
        ("attention", ["query", "key", "value"], [QUERY] * 3, {},
         ["called  attention(query, key, value)   each float32 [batch 2, head 3, query 5, width 8]"]),
        ("attention", ["query", "key", "value"], [QUERY, KEY, KEY], {},
         ["called  attention(query, key, value)",
          "          query          float32 [batch 2, head 3, query 5, width 8]",
          "          key and value  float32 [batch 2, head 3, key 7, width 8]"]),
        ("layer", [], [QUERY], {"mask": None},
         ["called  layer(arg1, mask=None)   arg1 float32 [batch 2, head 3, query 5, width 8]"]),
        ("model.eval", [], [], {}, ["called  model.eval()"]),
        (f"Model({', '.join(f'size_{i}={i}' for i in range(20))}).encode", ["source"], [torch.tensor([1])], {},
         ["called  Model(size_0=0, size_1=1, size_2=2, size_3=3, size_4=4, size_5=5, size_6=6, size_7=7, …).encode("
          "source=[1])"]),
    ],
)  # fmt: skip
def test_describe_call(name, names, args, kwargs, lines):
    assert describe_call(name, names, args, kwargs) == lines


def test_a_call_is_bounded():
    lines = describe_call(
        "f" * 500, [f"a{i}" * 50 for i in range(50)], [torch.zeros(i) for i in range(50)], {}
    )
    assert len(lines) <= 14
    assert len(lines[0]) <= 330
    assert all(len(line) <= 110 for line in lines[1:])


def test_a_long_call_is_broken_between_arguments_and_never_within_a_shape(capsys, monkeypatch):
    names = ["tokens", "mask_id", "vocab_size", "special_ids", "rate", "generator"]
    tokens = torch.zeros(60, 500, dtype=torch.long)
    arguments = [tokens, 3, 12, (0, 4, 3, 11), 0.9, torch.Generator()]
    message = "\n".join(describe_call("hide", names, arguments))
    monkeypatch.setenv("COLUMNS", "80")
    print_indented(message, console(), "  ")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("  called  hide(tokens, mask_id=3, ")
    assert lines[1].startswith(" " * 10)
    assert lines[1].strip().startswith("rate=0.9, generator=<torch.Generator>)")
    for width in range(40, 120):
        monkeypatch.setenv("COLUMNS", str(width))
        print_indented(message, console(), "  ")
        out = capsys.readouterr().out
        assert "tokens" + " " * (1 + ("tokens  " in out)) + "int64 [60, 500]" in out, width
        assert "(0, 4, 3, 11)" in out, width


def test_a_helper_of_the_check_is_told_apart_from_what_the_learner_wrote():
    calls = Calls()
    calls.given.add("probes")
    calls.add(CallRecord("probe(hide, 3).off", "probe.off", (1,), {}, root="probes"), found := torch.ones(2))
    message = judge(CheckFailure(Failure("values", ("wrong",)), found), calls).lines
    assert message[:2] == [
        "called  probe(hide, 3).off(1)",
        "  probe is a helper of the check: it calls what you wrote",
    ]
    calls.add(CallRecord("hide", "hide", (1,), {}, root="hide"), found)
    assert judge(CheckFailure(Failure("values", ("wrong",)), found), calls).lines == [
        "called  hide(1)",
        "wrong",
    ]
