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
    "return F.relu(x)": "an import is missing above: import torch.nn.functional as F",
    "return x if x > 0 else -x": "&, |, ~, torch.where and torch.maximum work on each number",
    "y = x.reshape(2, 2, 3); return torch.nn.functional.cross_entropy(y, y[:, :, 0].long())": "classes on axis 1",
    "return x.long().softmax(-1)": "turn the tensor with .float() first",
    "return x & x": "work on True and False and on whole numbers",
    "p = torch.nn.Parameter(x.clone()); return p.numpy()": "NumPy lets no gradient through",
    "return x.size[0] + x": "a function is called with ( ), not [ ]",
    "return (x, x).sum()": "take it apart first",
    "return x.softmax(2)": "this tensor has 2 axes, -2 to 1: has another one been lost",
    r"return ''.join(chr(97) + bytes([byte]).decode() for byte in 'é'.encode())": "join all bytes first, then decode",
    "return x @ x": "as many columns on the left (3) as rows on the right (4); transposed, the second one would fit",
    "return x + torch.ones(x.shape[0])": "3 is the size of column, 4 is the size of row",
    "return torch.nn.ModuleList([torch.nn.Linear(3, 3)])(x)": "go through it and call each of its modules",
    "return x.gather(1, (x[:, 0] * 0).long())": "give the index an axis of length 1 more",
    "return torch.nn.Linear(3, 3) * x": "the left side here is the Linear itself",
    "rate = 0.5; return rate(x)": "as nn.Dropout(p)",
    "return torch.nn.functional.embedding((x * 0 + 9).long(), x)": "is below 0, or not below the number of rows",
    "return x.reshape(5, -1)": "the sizes next to -1 come to 5, which does not divide the 12 numbers",
    "return x.view(4, 2)": "[4, 2] has room for 8 numbers, and the tensor has 12",
    "return x.reshape(4, 6 / 2)": "sizes are whole numbers: / gives a float",
    "return x[5]": "axis 0 has the places 0 to 3 here",
    "return x[0, 0, 0]": "this tensor has fewer axes than are asked for",
    "a, b, c = x.shape; return x": "this line takes 3 values apart: x.shape has one for each axis",
    "return x.mean * 2": "a function or method stands here without its ( )",
    "return torch.relu(torch.nn.ReLU())": "this is the layer or the function itself: call it",
    "return torch.relu((x, x))": "this is a tuple of several values",
    "return torch.relu([x])": "torch.stack(…) makes a tensor of it",
    "return x.max(dim=1).exp()": "with dim, this gives (values, indices)",
    "return x.astype(float)": "astype is NumPy's; torch has x.to(dtype)",
    "return torch.array([1])": "array is NumPy's; torch has torch.tensor(…)",
    "return torch.cat([x, x[:, 1:]])": "cat joins along axis 0 where dim is left out",
    "return torch.cat([x, x[0]], dim=0)": "cat joins tensors that have equally many axes",
    "return torch.stack([x, x[1:]])": "cat joins them along an axis that is there",
    "return x[None].t()": "x.mT exchanges the last two axes of any tensor",
    "return torch.mm(x[None], x)": "@ takes all of these",
    "return x.topk(9)": "topk is asked for more than the axis holds",
    "return {[1]: x}": "cannot be lists or the like",
    "return [1, 2] + 3": "put lists, tuples and texts together",
    "return range(4 / 2)": "a whole number is wanted: / gives a float",
    "return x(0)": "a tensor is indexed with [ ]; ( ) calls",
    "return torch.nn.Parameter(x.long())": "whole numbers cannot learn",
    "layer = torch.nn.Linear(3, 3); layer.weight = x; return x": "this attribute is a parameter",
    "y = y + x; return y": "y has no value yet at this line",
    "import io; f = io.BytesIO(); torch.save(torch.Generator(), f); f.seek(0); return torch.load(f)": (
        "of a generator save get_state()"
    ),
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
    "y = x + 1; return x": "line 4: nothing reads y, which gets x + 1",
    "return x if pad_id is None else x": "",
    "y = x.softmax(0); x.softmax(1); return y": "x.softmax(1): what softmax returns is dropped",
    "x * 2; return x": "x * 2: what this computes is dropped",
    "x.exp_(); x.detach; return x": "x.detach, calls nothing: x.detach() does",
    "y = x.sin() + 2\n    z = x.sin() + 2\n    return y * z": "line 4 and line 5 both compute x.sin() + 2",
    "y = torch.zeros(3); z = torch.zeros(3); return x + y + z": "",
    "s = {'m': x}; m = s['m']; m = m * 2; return x + m": "s['m'] stays as it was: write it back, s['m'] = m",
    "s = {'m': x}; m = s['m']; m = m * 2\n    s['m'] = m; return x + m": "",
    "for row in x:\n        row = row * 2\n    return x": "line 5, row = …, only gives the name row to a new value",
    "for row in x:\n        x = x + 2\n    return x": "line 4: nothing in this loop reads row",
    "total = 0\n    for row in x:\n        total = row.sum()\n    return x * total": (
        "total = row.sum(), replaces what earlier rounds made"
    ),
    "total = 0\n    for row in x:\n        total = total + row.sum()\n    return x * total": "",
    "return x\n    x = 2": "line 5 never runs: line 4 leaves before it",
    "return x.long() // 2.5 ** 0.5": "// cuts the fraction off and lets no gradient through",
    "return x.softmax(0) / 1 - 2": "x.softmax(0) is divided by 1, before the rest",
    "y = x / 2 + 1e-5; eps = 3; return x / y + eps": "eps is added after the division",
    "eps = 3; return x / (x + eps)": "",
    "import re; A = 'a'; re.split(A, 'ab'); return x": "findall gives the matches",
    "least = x.sum(0).clamp(1)\n    return x + (x.mT / least).mT": "least of line 4 has an axis fewer than x",
    "return x[(x > 0) & 1 == 0]": "(x > 0) & 1 is computed before it is compared",
    "return x - x.mean()": "x - x.mean(): without dim, mean goes over all axes",
    "return x.T - x.T.mean(0)": "without keepdim=True the axis is gone",
    "least = x.topk(2).values[:, -1]; return x[:4, :3] * 2 + (x.mT < least).mT": "",
    "least = x.mT.amax(1)\n    return x + (x < least)": "least of line 4 has an axis fewer than x",
    "return x.cos() * x - x.sin() * x": "both products are with x",
    "n = 4; return x if n & (n - 1) == 0 else None": "",
    "n = x.shape[0]; return x + 2 * n * 3 + 2 * n * n": "",
    "s = {'m': x}; m = s['m'] * 2; y = m.sin(); return x + y": "reads s['m'], which stays as it was",
    "s = {'m': x}; m = s['m'] * 2\n    s['m'] = m; return x": "",
    "s = {'m': x}; m = s['m'] * 2\n    s['m'].mul_(3); return x + m": "",
    "i = x[0].long() * 0; return x[i] * (x[i] + 1)": "x[i + 1] is what it holds at the next place",
    "i = x[0].long() * 0; return x[i] * x[i + 1]": "",
    "y = x.sum(dim=0); return x * y / (x > 0).sum().clamp(min=1)": "",
    "y = x.sum(dim=0); return y / (x > 0).sum().clamp(min=1)": "(x > 0).sum() is over all axes",
    "y = x.sum(dim=0); return y / (x > 0).sum(0).clamp(min=1)": "",
    "y = torch.cat([x, x], dim=0); return y[:x.shape[1]]": "joins x along axis 0, whose length is x.shape[0]",
    "y = torch.cat([x, x + 1], dim=0); return y[:x.shape[0] - x.shape[1]]": "",
    "h, d = 1, 3; return x.reshape(4, d, h)": "gives each head columns that lie h apart",
    "h, d = 1, 3; return x.reshape(4, h, d)": "",
    "return ValueError('x')": "raises nothing: raise ValueError(…) does",
    "eps = 1,; return x + eps": "the comma at its end makes a tuple of it",
    "n = 0\n    for row in x:\n        n =+ row\n    return x * n": "n += row adds",
    "n = 3; n = +n; return x * n": "",
    "return x if pad_id != 'a' or pad_id != 'b' else None": "always holds, whatever pad_id is: join these with `and`",
    "return x if pad_id == 'a' and pad_id == 'b' else None": "never holds, whatever pad_id is: join these with `or`",
    "return x if pad_id != 'a' and pad_id != 'b' else None": "",
    "h = x + 1; return x + torch.sin(h)": "what line 4 added is not in the sum; h + … has it",
    "h = x + 1; return h + torch.sin(h)": "",
    "return torch.ones(5) + torch.ones(6)": "the right one has one place more",
    "return x.masked_fill(x > 0, float('inf'))": "puts in inf, the largest of all: should it be -inf?",
    "return x.masked_fill(x == -float('inf'), float('inf'))": "",
    "s = {}\n    if 'n' not in s:\n        s['n'] = 0\n        s['n'] += 1\n    return x * s['n']": (
        "line 7, s['n'] += 1, is inside the `if` of line 5"
    ),
    "s = {}\n    if 'n' not in s:\n        s['n'] = 0\n    s['n'] += 1\n    return x * s['n']": "",
    "s = torch.zeros(3); z = torch.zeros(3)\n"
    "    for row in x:\n        y = s + z\n        s = s + row\n        z = row * 2\n    return x + y": (
        "z = row * 2, replaces what earlier rounds made"
    ),
    "return -x.exp().sum().item() / len(x) + x": "len(x) is the size of its first axis alone",
    "return sum(x) / len(x)": "",
    "p = torch.nn.Linear(1, 1); p.require_grad = False; return x": (
        "line 4 sets require_grad, which nothing reads: is it requires_grad?"
    ),
}


def test_what_a_line_does_that_is_seldom_meant_is_asked_about(bench: Bench) -> None:
    asks = "x = draw.normal(row=4, column=3)\nexpect(submission.thing(x)).close_to(x + 1)"
    found = {body: likely(bench, body, asks=asks) for body in ASKED}
    assert [
        body for body, words in ASKED.items() if words not in found[body] or bool(words) != bool(found[body])
    ] == []


def test_of_a_file_that_is_no_checkpoint_only_what_is_in_it_is_said(bench: Bench) -> None:
    bench.asks("x = draw.normal(row=4, column=3)\nexpect(submission.thing(x)).close_to(x + 1)")
    body = "f = io.BytesIO(); torch.save(torch.Generator(), f); f.seek(0); return torch.load(f)"
    said = bench.said(f"import io, torch\ndef thing(x):\n    {body}\n")
    assert said.endswith(
        "Weights only load failed: torch._C.Generator in the file is not a tensor or plain data"
    )


def test_a_line_of_another_function_that_the_check_called_is_named(bench: Bench) -> None:
    bench.asks("""
        x = draw.normal(row=4, column=3)
        submission.prepare(x)
        expect(submission.thing(x)).close_to(x + 1)
    """)
    (check,) = bench.check("def prepare(x):\n    x + 1\n\ndef thing(x):\n    return x\n").checks
    assert check.likely == "line 2, x + 1: what this computes is dropped"


def test_behind_a_helper_only_lines_count_of_what_the_check_asked_for(bench: Bench) -> None:
    bench.asks("""
        x = draw.normal(row=4, column=3)
        expect((lambda name: getattr(submission, name))("thing")(x)).close_to(x + 1)
    """)
    (check,) = bench.check("def prepare(x):\n    x + 1\n\ndef thing(x):\n    return x\n").checks
    assert check.likely is None


def test_an_argument_that_two_loops_go_through_is_named_where_an_iterator_is_given(bench: Bench) -> None:
    asks = """
        x = draw.normal(row=4, column=3)
        expect(submission.thing(x, [0, 1]), "output, with an iterator").close_to(x + 1)
    """
    body = "for n in pad_id:\n        assert n < 3\n    for n in pad_id:\n        x = x + 1\n    return x"
    assert "line 4 and line 6 both go through pad_id" in likely(bench, body, asks=asks)
    body = "pad_id = list(pad_id)\n    " + body
    assert "both go through" not in likely(bench, body, asks=asks)


def test_a_matrix_product_with_a_vector_is_told_from_a_product_of_entries(bench: Bench) -> None:
    bench.asks("x = draw.normal(row=4, column=3)\nexpect(submission.Net(3)(x)).close_to(x)")
    (check,) = bench.check("""
        import torch
        from torch import nn
        class Net(nn.Module):
            def __init__(self, d):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d))
                self.bias = nn.Parameter(torch.zeros(d))
            def forward(self, x):
                return x @ self.weight + self.bias
    """).checks
    assert "x @ self.weight: self.weight is a vector, so @ sums over the last axis" in (check.likely or "")


def test_a_root_is_asked_about_where_nan_comes_of_it(bench: Bench) -> None:
    asked = likely(bench, "return (x - 100).sqrt()")
    assert "line 4, (x - 100).sqrt(): the root of a number below 0 is NaN: can x - 100 get there?" in asked
    assert likely(bench, "return (x * 0 / 0) + x.square().sqrt()") == ""


def test_arguments_that_are_exchanged_are_shown_by_name(bench: Bench) -> None:
    asks = "x = draw.normal(row=4, column=3)\nexpect(submission.thing(x)).close_to(x + 1)"
    answer = "import torch\n\ndef part(x, rate):\n    return x {} rate\n\ndef thing(x):\n    rate = 2\n    return {}\n"
    bench.asks(asks)
    (check,) = bench.check(answer.format("-", "part(rate, x)")).checks
    assert check.likely == "line 8: part takes (x, rate), and gets x = rate, rate = x"
    (check,) = bench.check(answer.format("-", "part(x, rate)")).checks
    assert check.likely is None
    (check,) = bench.check(answer.format("@", "part(rate, x)")).checks
    assert (check.likely or "").startswith("part takes (x, rate), and gets x = rate, rate = x")


def test_another_default_than_the_stubs_is_named(bench: Bench) -> None:
    (bench.folder / "thing.py").write_text("def thing(x, rate=1.0):\n    raise NotImplementedError\n")
    bench.asks("x = draw.normal(row=4, column=3)\nexpect(submission.thing(x)).close_to(x + 1)")
    (check,) = bench.check("def thing(x, rate=2):\n    return x * rate\n").checks
    assert check.likely == "thing takes rate=2 by default; the stub says rate=1.0"
    (check,) = bench.check("def thing(x, rate=1):\n    return x * rate\n").checks
    assert check.likely is None


def test_sizes_of_a_module_are_named_by_what_it_was_made_with(bench: Bench) -> None:
    stub = "class thing:\n    def __init__(self, words, width, depth=7):\n        raise NotImplementedError\n"
    (bench.folder / "thing.py").write_text(stub)
    bench.asks("x = draw.normal(row=4, column=3)\nexpect(submission.thing(9, 5)(x)).close_to(x)")
    (check,) = bench.check("""
        import torch
        class thing(torch.nn.Module):
            def __init__(self, words, width, depth=7):
                super().__init__()
                self.a, self.b = torch.ones(words), torch.ones(depth)
            def forward(self, x):
                return x + (self.a + self.b)
    """).checks
    assert "9 is words, 7 is depth" in (check.likely or "")


LAYERS = {
    "self.a = nn.Linear(3, 3); self.b = nn.Linear(3, 3)": "self.b, which line 6 makes, is used by no method",
    "row = nn.Linear(3, 3); self.a = row; self.b = row": "self.a and self.b are one and the same layer, that of line 6",
    "self.a = self.b = nn.Linear(3, 3)": "line 6 makes one nn.Linear(3, 3) for all of these names",
    "self.a = nn.Sequential(*[nn.Linear(3, 3)] * 2)": "that is one and the same layer several times",
    "self.rows = [nn.Linear(3, 3)]; self.a = self.rows[0]": "a plain list hides its layers",
    "self.a = nn.Linear(3, 3)": "",
}


def test_layers_that_are_unused_or_shared_are_named(bench: Bench) -> None:
    bench.asks("x = draw.normal(row=4, column=3)\nexpect(submission.thing()(x)).close_to(x)")
    said = {}
    for made in LAYERS:
        (check,) = bench.check(f"""
            from torch import nn
            class thing(nn.Module):
                def __init__(self):
                    super().__init__()
                    {made}
                def forward(self, x):
                    return self.a(x)
        """).checks
        said[made] = check.likely or ""
    assert [
        made for made, words in LAYERS.items() if words not in said[made] or bool(words) != bool(said[made])
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


def test_a_whole_quotient_of_an_attribute_that_is_a_float(bench: Bench) -> None:
    bench.asks("x = draw.normal(row=4, column=3)\nexpect(submission.thing(3, 2)(x)).close_to(x * 1.5)")
    (check,) = bench.check("""
        from torch import nn
        class thing(nn.Module):
            def __init__(self, alpha: float, r: int):
                super().__init__()
                self.alpha = alpha
                self.r = r
            def forward(self, x):
                return x * (self.alpha // self.r)
    """).checks
    assert "self.alpha // self.r: // cuts the fraction off" in (check.likely or "")


def test_a_path_is_no_name_of_an_attribute(bench: Bench) -> None:
    bench.asks("x = draw.normal(row=4, column=3)\nexpect(submission.thing(x)).close_to(x + 1)")
    body = """
        from torch import nn
        def thing(x):
            model = nn.Sequential(nn.Sequential(nn.Tanh()))
            for name, part in list(model.named_modules()):
                if isinstance(part, nn.Tanh):
                    PLACE
                    setattr(model, name, part)
            return x
    """
    (check,) = bench.check(body.replace("PLACE", "pass")).checks
    assert "model.get_submodule('a') has the attribute b" in (check.likely or "")
    (check,) = bench.check(body.replace("PLACE", "name = name.rpartition('.')[2]")).checks
    assert check.likely is None


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
