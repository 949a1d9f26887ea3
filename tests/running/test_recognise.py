"""A mistake is named when what it leaves behind is there, and nothing else is."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
import torch

from grader.catalogue.pack_code import Attributes
from grader.engine.checks import fingerprint_facts
from grader.engine.checks.side_effects import without_fingerprint
from grader.engine.host.errors import SubmissionRaised
from grader.engine.mistakes.recognise import (
    SCHEMA,
    SEED,
    Fingerprints,
    Mark,
    MutantSignatures,
    RecognisedMistake,
    equal_fingerprints,
    fingerprint,
    message_shape,
)
from grader.engine.wire.messages import ExceptionReply, StackFrame


def marks_of(examine: Any, source: str, seed: int = 1) -> list[Mark]:
    """Return what `f(1)` of a submission leaves behind."""
    opened = examine(f"import torch\nfrom torch import nn\n{source}", required=("f",))
    opened.session.begin(seed)
    with pytest.raises(SubmissionRaised):
        opened.submission.f(1)
    return fingerprint(opened.session.log.observed)


VIEW = "def f(x):\n    return torch.ones({n}, 4).t().view({m})\n"


def test_an_exception_is_known_by_type_message_and_call(examine: Any) -> None:
    seen = marks_of(examine, VIEW.format(n=3, m=12))
    assert (
        marks_of(
            examine,
            "def g(y):\n    z = y.t()\n    return z.view(20)\n\n\ndef f(x):\n    return g(torch.ones(5, 4))\n",
        )
        == seen
    )
    shape = marks_of(examine, VIEW.format(n=3, m=13))
    assert shape[-1]["at"] == "view"
    assert shape != seen
    other = marks_of(examine, "def f(x):\n    return torch.ones(2, 3) @ torch.ones(2, 3)\n")
    assert (other[-1]["raised"], other[-1]["at"]) == ("RuntimeError", "matmul")
    forgotten = "class M(nn.Module):\n    def __init__(self):\n        self.{} = nn.Linear(2, 2)\n\n"
    forgotten += "def f(x):\n    M()\n"
    of_first = marks_of(examine, forgotten.format("first"))
    assert of_first == marks_of(examine, forgotten.format("second"))
    assert of_first[-1]["at"] == "="
    assert other != marks_of(examine, "def f(x):\n    return torch.mm(torch.ones(2, 3), torch.ones(2, 3))\n")


def test_the_sizes_that_do_not_fit_are_part_of_an_exception(examine: Any) -> None:
    added = "def f(x):\n    return torch.ones({}) + torch.ones({})\n"
    seen = marks_of(examine, added.format("2, 5, 8", "2, 5, 4"))
    # A sum is written either way round, and the axes in front are a learner's own.
    assert marks_of(examine, added.format("4", "10, 8")) == seen
    assert marks_of(examine, added.format("2, 5, 8", "2, 3, 8")) != seen
    # What is there and what it was to become are not to be exchanged.
    view = [marks_of(examine, VIEW.format(n=n, m=m)) for n, m in ((3, 20), (5, 12))]
    assert view[0][-1]["sizes"] == view[1][-1]["sizes"][::-1]
    assert view[0] != view[1]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "shape '[5, 1]' is invalid for input of size 12",
            "shape '[2, 3, 4]' is invalid for input of size 7",
        ),
        (
            "mat1 and mat2 cannot be multiplied (2x3 and 2x3)",
            "mat1 and mat2 cannot be multiplied (4x5 and 6x5)",
        ),
        ("expected [3, 4] at entry 0", "expected [3, 4, 5] at entry 1"),
        ("f() got an unexpected keyword argument 'device'", "f() got an unexpected keyword argument 'dtype'"),
        ("max() arg is an empty sequence", "max() iterable argument is empty"),  # as Python 3.12 says it
    ],
)
def test_sizes_and_names_are_no_part_of_a_messages_shape(one: str, other: str) -> None:
    assert message_shape(one) == message_shape(other)


MODEL = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        {first}
        {second}
        self.norm = nn.LayerNorm(3)

    def forward(self, x):
        return self.b(torch.relu(self.norm(self.a(x))))

f = None
"""


def test_facts_stand_in_place_of_what_is_drawn_at_random(examine: Any) -> None:
    def of(code: str, facts: dict[str, Any]) -> list[Mark]:
        opened = examine(f"import torch\n\n\ndef f(x):\n    {code}\n", required=("f",))
        opened.session.begin(1)
        opened.submission.f(1)
        fingerprint_facts(opened.submission, **facts)
        with contextlib.suppress(SubmissionRaised):
            opened.submission.f(0)
        return fingerprint(opened.session.log.observed)

    drawn = "return torch.rand(3) if x else 0"
    assert of(drawn, {"share": 0.8}) == of("return torch.rand(2, 9) if x else 0", {"share": 0.8})
    assert of(drawn, {"share": 0.8}) != of(drawn, {"share": 0.9})
    # What comes after the facts counts: an exception says more than they do.
    assert of(drawn, {"share": 0.8}) != of("return torch.rand(3) if x else [][0]", {"share": 0.8})


def test_what_is_asked_only_to_be_sure_is_no_sign_but_an_exception_is(examine: Any) -> None:
    def of(*asked: int) -> list[Mark]:
        opened = examine("def f(x):\n    return [x][: 9 - x][0]\n", required=("f",))
        opened.session.begin(1)
        opened.submission.f(1)
        with contextlib.suppress(SubmissionRaised), without_fingerprint(opened.submission.f):
            for x in asked:
                opened.submission.f(x)
        return fingerprint(opened.session.log.observed)

    assert of() == of(2) == of(3, 4, 5)
    assert of(9)[-1]["raised"] == "IndexError"


def test_how_parameters_are_made_does_not_hide_a_mistake(examine: Any) -> None:
    layers = ["self.a = nn.Linear(4, 3)", "self.b = nn.Linear(3, 5)"]
    small = "self.b = nn.Linear(3, 5); nn.init.normal_(self.b.weight, std=0.02)"
    found = []
    for first, second in (layers, layers[::-1], (layers[0], small)):
        opened = examine(f"import torch\nfrom torch import nn\n{MODEL.format(first=first, second=second)}")
        for alike in (False, True):
            opened.session.begin(1, alike=alike)
            model = opened.submission.M()
            dict(model.named_parameters())
            model(torch.ones(2, 4))
            found.append(fingerprint(opened.session.log.observed))
    assert found[1] == found[3] == found[5]
    assert found[0] != found[2]
    assert found[0] != found[1]


def test_a_module_that_a_check_hands_in_keeps_its_numbers(examine: Any) -> None:
    # Else a right answer would fail wherever a check knows them, and all wrong ones there leave the same.
    wraps = "class W(nn.Module):\n    def __init__(self, parts):\n        super().__init__()\n"
    wraps += "        self.own, self.parts = nn.Linear(2, 2), nn.ModuleList(parts['inner'])\n"
    made = MODEL.format(first="self.a = nn.Linear(4, 3)", second="self.b = nn.Linear(3, 5)")
    opened = examine(f"import torch\nfrom torch import nn\n{made}\n{wraps}")
    opened.session.begin(1, alike=True)
    model = opened.submission.M()
    numbers = {name: torch.arange(float(value.numel())).view(value.shape)
               for name, value in model.state_dict().items()}  # fmt: skip
    model.load_state_dict(numbers)
    whole = opened.submission.W({"inner": [model]}).state_dict()
    assert all(torch.equal(whole[f"parts.0.{name}"], value) for name, value in numbers.items())


def test_a_buffer_more_does_not_hide_a_mistake(examine: Any) -> None:
    found = []
    for more in ("", "; self.register_buffer('calls', torch.zeros(1))"):
        made = MODEL.format(first="self.a = nn.Linear(4, 3)", second=f"self.b = nn.Linear(3, 5){more}")
        opened = examine(f"import torch\nfrom torch import nn\n{made}")
        opened.session.begin(1, alike=True)
        model = opened.submission.M()
        state = {name: tensor for name, tensor in model.state_dict().items() if name != "calls"}
        model.load_state_dict(state, strict=False)
        model(torch.ones(2, 4))
        found.append(fingerprint(opened.session.log.observed))
    assert found[0] == found[1]


NAMED = """
class Part(nn.Module):
    def __init__(self):
        super().__init__()
        {parts}

    def forward(self, x):
        return self.up(x) * self.{gate}(x)

class M(nn.Module):
    def __init__(self):
        super().__init__()
        {layers}

    def forward(self, x):
        return self.{out}(torch.softmax(self.w_q(x), -1) @ self.w_k(x)) + self.layers[0](x) + 2 * self.layers[1](x)

f = None
"""
MADE = {
    "gate": "gate",
    "out": "out",
    "parts": "self.gate = nn.Linear(4, 4); self.up = nn.Linear(4, 4)",
    "layers": "self.w_q = nn.Linear(4, 4); self.w_k = nn.Linear(4, 4); self.out = nn.Linear(4, 4); "
    "self.layers = nn.ModuleList([Part(), Part()])",
}


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({"layers": "; ".join(reversed(MADE["layers"].split("; ")))}, True),
        ({"parts": "; ".join(reversed(MADE["parts"].split("; ")))}, True),
        ({"layers": f"{MADE['layers']}; self.all = nn.Sequential(self.w_k, self.w_q)"}, True),
        (
            {
                "layers": f"self.all = nn.Sequential(nn.Linear(4, 4)); {MADE['layers']}; self.w_k = self.all[0]"
            },
            True,
        ),
        # A name that the stub leaves open is the learner's to choose, and one that it does not is not.
        ({"out": "last", "layers": MADE["layers"].replace("out", "last")}, True),
        ({"gate": "valve", "parts": MADE["parts"].replace("gate", "valve")}, False),
    ],
)
def test_parameters_are_known_by_the_names_that_the_stub_fixes(
    examine: Any, changes: dict[str, str], same: bool
) -> None:
    found = []
    for made in (MADE, {**MADE, **changes}):
        opened = examine(
            f"import torch\nfrom torch import nn\n{NAMED.format(**made)}",
            attributes=Attributes({"M": ("w_q", "w_k", "layers")}, ("up", "gate")),
        )
        opened.session.begin(1, alike=True)
        opened.submission.M()(torch.ones(4, 4))
        found.append(fingerprint(opened.session.log.observed))
    assert (found[0] == found[1]) is same


RAISED = {"raised": "RuntimeError", "says": "shapes", "at": "view"}
NUMBERS = {"shape": [2, 3], "dtype": "float32", "p": [1.0, 2.0, 3.0, 4.0]}
OTHER = {**NUMBERS, "p": [1.0, 2.0, 3.5, 4.0]}


def prints(**mutants: dict[str, list[Mark]]) -> Fingerprints:
    singles = {
        name: MutantSignatures(f"your {name}", checks)
        for name, checks in mutants.items()
        if "_and_" not in name
    }
    pairs = {
        name.replace("_and_", "+"): MutantSignatures(checks=mutants[name])
        for name in mutants.keys() - singles.keys()
    }
    return Fingerprints(SCHEMA, SEED, singles, pairs)


def test_an_exception_names_nothing_that_a_check_speaks_against() -> None:
    known = prints(a={"one": [RAISED], "two": [RAISED]}, b={"one": [NUMBERS], "two": [NUMBERS]})
    assert known.recognise({"one": [RAISED]}, {"three"}) == {"one": RecognisedMistake(("a",), "your a")}
    assert known.recognise({"one": [RAISED]}, {"two"}) == {}
    assert known.recognise({"one": [NUMBERS]}, {"two"}) == {"one": RecognisedMistake(("b",), "your b")}


def test_right_numbers_before_what_failed_are_no_numbers_of_the_mistake() -> None:
    known = prints(a={"one": [NUMBERS], "two": [NUMBERS]})
    a = {"one": RecognisedMistake(("a",), "your a")}
    assert known.recognise({"one": [NUMBERS]}, {"three"}, by_numbers={}) == a
    assert known.recognise({"one": [NUMBERS]}, {"two"}, by_numbers={"one"}) == a
    assert known.recognise({"one": [NUMBERS]}, {"two"}, by_numbers={}) == {}
    assert known.recognise({"one": [NUMBERS], "two": [OTHER]}, by_numbers={"two"}) == {}


def test_other_numbers_in_as_many_checks_as_it_explains_refute_a_mistake() -> None:
    known = prints(a={"one": [NUMBERS], "two": [NUMBERS], "three": [NUMBERS]}, b={"four": [NUMBERS]})
    a = RecognisedMistake(("a",), "your a")
    assert known.recognise({"one": [NUMBERS], "two": [OTHER]}) == {}
    assert known.recognise({"one": [NUMBERS], "two": [NUMBERS], "three": [OTHER]}) == {"one": a, "two": a}
    # What fails with a's numbers nowhere, and a does not fail, is of something else.
    assert known.recognise({"one": [NUMBERS], "four": [OTHER]}) == {"one": a}
    # With b, which is named beside it, a may well leave other numbers.
    assert known.recognise({"one": [NUMBERS], "two": [OTHER], "four": [NUMBERS]})["one"] == a


def test_what_depends_on_the_learners_own_design_refutes_nothing() -> None:
    known = prints(a={"one": [NUMBERS], "two": [NUMBERS]})
    known.free = ["two"]
    a = RecognisedMistake(("a",), "your a")
    assert known.recognise({"one": [NUMBERS], "two": [OTHER]}) == {"one": a}
    zeros = {**NUMBERS, "p": [0.0] * 4}
    assert prints(a={"one": [zeros], "two": [NUMBERS]}).recognise({"one": [zeros], "two": [OTHER]}) == {}
    known.mutants["a"].checks["one"] = [zeros]
    assert known.recognise({"one": [zeros], "two": [OTHER]}) == {"one": a}
    assert known.recognise({"one": [zeros]}, {"two"}) == {}


def test_two_mistakes_are_named_by_numbers_that_neither_leaves_alone() -> None:
    both, a = RecognisedMistake(("a", "b"), "your a; and your b"), RecognisedMistake(("a",), "your a")
    known = prints(
        a={"one": [NUMBERS], "two": [RAISED], "four": [RAISED]},
        b={"three": [NUMBERS]},
        a_and_b={"one": [OTHER], "two": [RAISED]},
    )
    assert known.recognise({"one": [OTHER], "two": [RAISED]}) == {"one": both, "two": both}
    # What a leaves alone is no sign of b, however much else of a was not seen.
    assert known.recognise({"two": [RAISED]}) == {"two": a}
    assert known.recognise({"two": [RAISED]}, {"four"}) == {}
    # Right numbers, and a failure beside them: too little for two.
    assert known.recognise({"one": [OTHER]}, by_numbers={}) == {}


def test_two_mistakes_are_named_by_a_list_that_neither_gives_alone() -> None:
    both = RecognisedMistake(("a", "b"), "your a; and your b")

    def listed(*values: bytes) -> list[Mark]:
        return fingerprint([list(values)])

    said = listed(b"a", b"b", b"c", b"d")
    known = prints(
        a={"one": listed(b"a", b"b")},
        b={"two": [NUMBERS]},
        a_and_b={"one": said, "three": listed(b"b", b"b")},
    )
    assert known.recognise({"one": said}) == {"one": both}
    assert known.recognise({"one": said}, {"two"}) == {}
    assert known.recognise({"three": listed(b"b", b"b")}) == {}


def test_what_one_of_two_would_break_speaks_against_both() -> None:
    both = RecognisedMistake(("a", "b"), "your a; and your b")
    known = prints(a={"one": [NUMBERS]}, b={"three": [NUMBERS]}, a_and_b={"one": [OTHER], "two": [RAISED]})
    assert known.recognise({"one": [OTHER], "two": [RAISED]})["two"] == both
    assert "two" not in known.recognise({"one": [OTHER], "two": [RAISED]}, {"three"})


def test_bytes_are_part_of_what_a_mistake_leaves() -> None:
    one, other = (fingerprint([[(b"a", end)]]) for end in (b"b", b"c"))
    assert equal_fingerprints(one, fingerprint([[(b"a", b"b")]]))
    assert not equal_fingerprints(one, other)
    assert not equal_fingerprints(fingerprint([b"a"]), fingerprint(["a"]))


def test_zeros_name_nothing_where_other_numbers_speak_against_it() -> None:
    zeros = {**NUMBERS, "p": [0.0, 0.0, 0.0, 0.0]}
    known = prints(a={"one": [zeros], "two": [NUMBERS]})
    assert known.recognise({"one": [zeros]}, {"three"}) == {"one": RecognisedMistake(("a",), "your a")}
    assert known.recognise({"one": [zeros], "two": [OTHER]}) == {}
    assert known.recognise({"one": [zeros]}, {"two"}) == {}


def test_a_product_that_does_not_fit_is_known_by_each_name_it_has() -> None:
    known = prints(a={"one": [{**RAISED, "at": "matmul"}]})
    for called, named in (("bmm", True), ("matmul", True), ("view", False)):
        assert bool(known.recognise({"one": [{**RAISED, "at": called}]})) is named


def test_two_mistakes_are_named_where_neither_alone_fits() -> None:
    known = prints(a={"one": [NUMBERS]}, b={"one": [RAISED]}, a_and_b={"one": [OTHER]})
    found = known.recognise({"one": [OTHER]})
    assert found == {"one": RecognisedMistake(("a", "b"), "your a; and your b")}
    assert known.recognise({"one": [NUMBERS]}) == {"one": RecognisedMistake(("a",), "your a")}


def test_two_mistakes_that_agree_in_all_that_was_seen_are_both_offered() -> None:
    known = prints(a={"one": [NUMBERS]}, b={"one": [NUMBERS]}, c={"one": [NUMBERS], "two": [NUMBERS]})
    either = RecognisedMistake(("a/b",), "either your a; or your b")
    assert known.recognise({"one": [NUMBERS]}, {"two"}) == {"one": either}
    # Nothing was seen of "two": there are three.
    assert known.recognise({"one": [NUMBERS]}) == {}
    assert known.recognise({"one": [NUMBERS], "two": [NUMBERS]}) == dict.fromkeys(
        ("one", "two"), RecognisedMistake(("c",), "your c")
    )


def test_of_two_mistakes_that_explain_different_failures_none_is_offered_where_they_meet() -> None:
    known = prints(a={"one": [NUMBERS], "two": [NUMBERS]}, b={"one": [NUMBERS], "three": [NUMBERS]})
    found = known.recognise({"one": [NUMBERS], "two": [NUMBERS], "three": [NUMBERS]})
    assert {check: named.names for check, named in found.items()} == {"two": ("a",), "three": ("b",)}


@pytest.mark.parametrize(("message", "same"), [("can't allocate memory: 8 bytes", True), ("negative", False)])
def test_where_memory_ran_out_is_no_mark_of_a_mistake(message: str, same: bool) -> None:
    def raised(call: str) -> SubmissionRaised:
        frames = [StackFrame("thing.py", 3, "thing", "return (x - 1).exp()", call=call)]
        return SubmissionRaised(ExceptionReply(["RuntimeError"], message, frames))

    assert (fingerprint([raised("sub")]) == fingerprint([raised("exp")])) is same
