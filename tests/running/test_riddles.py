"""What torch says in riddles: what is said to be likely, from an error's text or from a line."""

from __future__ import annotations

import pytest

from grader.engine.host.calls import CallRecord, Calls
from grader.engine.host.errors import SubmissionRaised
from grader.engine.runner.outcome import judge
from grader.engine.wire.messages import ExceptionReply
from tests.running.conftest import Bench

ERRORS = {
    "import math; return math.sin(x)": "math.sin takes one number; torch.sin takes a whole tensor",
    "return float(x) + x": "as float, round, range, math and indices of lists do",
    "p = torch.nn.Parameter(x.clone()); p += x; return p": "that gradients are wanted for",
    "return w_q + x": "what __init__ stores is self.w_q",
    "return x if x > 0 else -x": "&, |, ~, torch.where and torch.maximum work on each number",
    "y = x.reshape(2, 2, 3); return torch.nn.functional.cross_entropy(y, y[:, :, 0].long())": "classes on axis 1",
    "return x.long().softmax(-1)": "turn the tensor with .float() first",
    "return x & x": "work on True and False and on whole numbers",
    "p = torch.nn.Parameter(x.clone()); return p.numpy()": "NumPy lets no gradient through",
    "return x.size[0] + x": "a function is called with ( ), not [ ]",
    "return (x, x).sum()": "take it apart first",
    "return x.softmax(2)": "counted from 0, and -1 is the last one: here from -2 to 1",
    r"return ''.join(chr(97) + bytes([byte]).decode() for byte in 'é'.encode())": "join all bytes first, then decode",
    "return x @ x": "as many columns on the left (3) as rows on the right (4); transposed, the second one would fit",
    "return x + torch.ones(x.shape[0])": "3 is the size of column, 4 is the size of row",
    "return torch.nn.ModuleList([torch.nn.Linear(3, 3)])(x)": "go through it and call each of its modules",
    "return x.gather(1, (x[:, 0] * 0).long())": "give the index an axis of length 1 more",
    "return torch.nn.Linear(3, 3) * x": "the left side here is the Linear itself",
    "rate = 0.5; return rate(x)": "as nn.Dropout(p)",
    "return torch.nn.functional.embedding((x * 0 + 9).long(), x)": "is below 0, or not below the number of rows",
}


def likely(bench: Bench, body: str, *, asks: str = "") -> str:
    bench.asks(asks or "x = draw.normal(row=4, column=3)\nexpect(submission.thing(x)).close_to(x + 1)")
    parameters = "x, pad_id=None" if "pad_id" in body else "x"
    (check,) = bench.check(f"import torch\n\ndef thing({parameters}):\n    {body}\n").checks
    assert check.status in ("fail", "error")
    return check.likely or ""


def test_what_an_error_says_in_riddles_is_said_in_words(bench: Bench) -> None:
    asks = (
        f"@check(aspect='values')\ndef test_{number}(submission, draw):\n    '{number}'\n"
        f"    submission.thing_{number}(draw.normal(row=4, column=3))\n\n"
        for number in range(len(ERRORS))
    )
    bench.checks("".join(asks))
    defined = (f"def thing_{number}(x):\n    {body}\n\n" for number, body in enumerate(ERRORS))
    checks = bench.check("import torch\n" + "".join(defined)).checks
    # What torch has not implemented is not unwritten: no line of the submission raises it.
    assert {check.status for check in checks} == {"error"}
    said = [check.likely or "" for check in checks]
    assert [(words, got) for words, got in zip(ERRORS.values(), said, strict=True) if words not in got] == []


def test_a_size_that_two_axes_have_is_not_guessed_at(bench: Bench) -> None:
    asks = "x = draw.normal(row=3, column=3)\nexpect(submission.thing(x)).close_to(x + 1)"
    assert likely(bench, "return x + torch.ones(5)", asks=asks) == ""


def test_all_axes_turned_round_are_named_where_there_are_more_than_two(bench: Bench) -> None:
    asks = "x = draw.normal({}column=3)\nexpect(submission.thing(x)).close_to(x + 1)"
    body = "return x + torch.zeros_like(x).T"
    assert "x.mT, exchanges the last two alone" in likely(bench, body, asks=asks.format("batch=2, row=4, "))
    assert "x.mT" not in likely(bench, body, asks=asks.format("row=4, "))
    # A weight has two axes, whatever it is multiplied with.
    weight = "x = draw.normal(batch=2, row=4, column=3)\nexpect(submission.thing()(x)).close_to(x + 1)"
    answer = """
        import torch
        class thing(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.A = torch.nn.Parameter(torch.ones(5, 3))
            def forward(self, x):
                return x {} self.A.T
    """
    for operator, sentence in (("@ self.A.T @", "as many columns on the left (5)"), ("+", "")):
        bench.asks(weight)
        (check,) = bench.check(answer.format(operator)).checks
        assert sentence in (check.likely or "")
        assert "x.mT" not in (check.likely or "")


def test_of_one_size_alone_nothing_is_said(bench: Bench) -> None:
    assert likely(bench, "return x + torch.ones(4, 5)") == ""


def test_a_whole_exponent_is_asked_about(bench: Bench) -> None:
    asked = likely(bench, "return x + 10.0 ** (torch.arange(3) // 2) + torch.arange(3) // 2")
    assert "line 4, torch.arange(3) // 2: // in an exponent makes it a whole number" in asked
    # Divided by it, or of it, the exponent is not whole.
    assert likely(bench, "return x + 10.0 ** (-2 * torch.arange(3) / (4 // 2))") == ""
    assert likely(bench, "return x + 10.0 ** (2 * (torch.arange(3) // 2) / 4)") == ""


ASKED = {
    "for row in x:\n        return x": "line 5: return is inside the loop, which ends in its first round",
    "for row in x:\n        if row.sum() == 0: continue\n        return x": "",
    "return torch.sin(torch.deg2rad(x))": "line 4, torch.deg2rad(x): angles are radians here",
    "import math; return x + math.cos(180 * 0.5)": "cos takes radians: half a turn is math.pi",
    "import math; return x + math.cos(180 * math.pi / 360)": "",
    "return x + x.topk(1)[-1]": "topk gives (values, indices), so these are places",
    "return x + x.topk(1)[0]": "",
    "return x if pad_id == 'a' or 'b' else None": "pad_id == 'a' or 'b', always holds",
    "return x if pad_id == 'a' or pad_id == 'b' else x": "",
}


def test_what_a_line_does_that_is_seldom_meant_is_asked_about(bench: Bench) -> None:
    asks = "x = draw.normal(row=4, column=3)\nexpect(submission.thing(x)).close_to(x + 1)"
    found = {body: likely(bench, body, asks=asks) for body in ASKED}
    assert [
        body for body, words in ASKED.items() if words not in found[body] or bool(words) != bool(found[body])
    ] == []


@pytest.mark.parametrize(
    ("methods", "sentence"),
    [
        ("    def __int__(self, width):\n        super().__init__()\n", "thing has no __init__; line 4 has __int__"),
        (
            "    def __init__(self, width):\n        super().__init__()\n        def forward(self, x):\n"
            "            return x\n",
            "thing has no forward; that of line 6 is inside __init__: move it to the left",
        ),
        ("    def foward(self, x):\n        return x\n    def __init__(self, width):\n"
         "        super().__init__()\n", "thing has no forward; line 4 has foward"),
    ],
)  # fmt: skip
def test_a_method_that_python_does_not_see_is_named(bench: Bench, methods: str, sentence: str) -> None:
    bench.asks("x = draw.normal(row=4, column=3)\nexpect(submission.thing(3)(x)).close_to(x + 1)")
    (check,) = bench.check(f"import torch\n\nclass thing(torch.nn.Module):\n{methods}").checks
    assert sentence in (check.likely or "")


def test_two_tensors_that_are_no_parameters_are_named_apart(bench: Bench) -> None:
    bench.asks("expect(dict(submission.thing().named_parameters()), 'parameters').has_names(['a', 'b'])")
    (check,) = bench.check("""
        import torch
        class thing(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.a = torch.ones(2)
                self.b = torch.zeros(2)
    """).checks
    assert "makes it a parameter; line 7, self.b = torch.zeros(…)" in (check.likely or "")


def test_a_number_that_may_be_0_is_not_asked_for_its_truth(bench: Bench) -> None:
    asks = "x = draw.normal(row=4, column=3)\nexpect(submission.thing(x, pad_id={})).close_to(x + 1)"
    body = "return x + 1 if pad_id and pad_id > 1 else x"
    assert "takes pad_id=0 for left out" in likely(bench, body, asks=asks.format(0))
    assert likely(bench, body, asks=asks.format(1)) == ""


def test_a_plain_tensor_where_a_parameter_is_wanted(bench: Bench) -> None:
    asks = "expect(dict(submission.thing().named_parameters())).has_names(['weight'])"
    before = (
        "class thing(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.weight = torch.ones(3)\n"
    )
    bench.asks(asks)
    (check,) = bench.check(f"import torch\n{before}").checks
    assert check.likely is not None
    assert "line 5, self.weight = torch.ones(…), makes a plain tensor" in check.likely


def test_a_layer_that_is_made_at_each_call_is_named(bench: Bench) -> None:
    bench.asks("x = draw.normal(row=4, column=3)\nexpect(submission.thing()(x)).close_to(x)")
    answer = """
        import torch
        from torch import nn
        class thing(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = None
            def forward(self, x):
                {}
    """
    (check,) = bench.check(answer.format("return nn.Linear(5, 3)(x)")).checks
    assert "line 9, nn.Linear(5, 3), makes new weights at each call: make the layer in __init__" in (
        check.likely or ""
    )
    made_once = "if self.layer is None: self.layer = nn.Linear(3, 3)\n                return self.layer(x)"
    (check,) = bench.check(answer.format(made_once)).checks
    assert check.likely is None


def test_a_line_that_cuts_gradients_off_is_named(bench: Bench) -> None:
    bench.asks("""
        from grader.checks import expect_gradients
        x = draw.normal(row=4, column=3, requires_grad=True)
        expect_gradients(submission.thing(x), {"x": x}, draw, lambda x: x - x.mean(0))
    """)
    (check,) = bench.returns("x - x.mean(0).detach()").checks
    assert "line 2, x.mean(0).detach(), lets no gradient through" in (check.likely or "")


def test_copies_in_a_row(bench: Bench) -> None:
    asks = """
        x = draw.normal(row=4, column=3)
        expect(submission.thing(x)).close_to(x.repeat_interleave(2, 0))
    """
    assert "repeat_interleave repeats each row" in likely(bench, "return x.repeat(2, 1)", asks=asks)


def test_what_is_certain_is_said_before_what_a_check_supposes(bench: Bench) -> None:
    asks = (
        "from grader.checks import supposing\nx = draw.normal(row=4, column=3)\n"
        "with supposing('it counts padding'):\n    expect(submission.thing(x, pad_id=0)).close_to(x + 1)"
    )
    assert "takes pad_id=0 for left out" in likely(bench, "return x + 1 if pad_id else x", asks=asks)


def test_a_riddle_is_no_cause() -> None:
    """What is charged once goes by causes: two functions that raise the same are two slips."""
    said = "only one element tensors can be converted to Python scalars"
    reply = ExceptionReply(["ValueError", "Exception", "BaseException", "object"], said)
    calls = Calls()
    calls.add(CallRecord("thing", "thing", (), {}, root="thing"), None)
    outcome = judge(SubmissionRaised(reply), calls)
    assert "one number here" in outcome.riddle
    assert outcome.cause == ""
