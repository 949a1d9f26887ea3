"""Each stage's whole message, word for word, and that right results pass."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.engine.checks.describe import describe
from grader.engine.checks.expect import expect
from grader.engine.checks.failure import LINES, CheckFailure, Failure, fail
from grader.engine.checks.oracle import Expected, oracle
from grader.engine.checks.text import LINE, WHOLE, clean
from grader.engine.host.objects import RemoteObject
from grader.engine.wire.codec import MRO
from grader.errors import PackError

CAUSAL = torch.ones(4, 4).tril().bool()
WEIGHTS = "batch head query key"
X = torch.arange(24.0).reshape(2, 3, 4) + 1


class Untouchable(RemoteObject):
    """An object that stayed in the worker: only its type's name is known, everything else explodes."""

    def touched(self, *_):
        raise AssertionError("touched")

    def __getattr__(self, name):
        raise AttributeError(name) if name.startswith("__") else AssertionError(f"touched {name}")

    __repr__ = __str__ = __eq__ = __bool__ = __len__ = __iter__ = __float__ = touched
    __hash__ = object.__hash__


def Remote(*types, kind="object"):
    return Untouchable(SimpleNamespace(generation=1), 5, MRO.join(types), kind)


class Subclass(torch.Tensor):
    pass


def message(action):
    with pytest.raises(CheckFailure) as caught:
        action()
    failure = caught.value.failure
    lines = failure.lines()
    assert str(caught.value) == "\n".join(lines)
    assert len(lines) <= LINES
    assert all(len(line) <= WHOLE and line.isprintable() for line in lines)
    return failure.stage, failure.location, "\n".join(lines)


def said(action):
    return message(action)[2]


TYPES = [
    (None, "wrong type  output  got None  want a tensor\ndid you forget a `return`?"),
    (0.5, "wrong type  output  got the Python float 0.5  want a tensor\n"
     "stay with tensors: .item() and float() leave them, and the gradient is lost"),
    (True, "wrong type  output  got the Python bool True  want a tensor\n"
     "stay with tensors: .item() and float() leave them, and the gradient is lost"),
    ((X, X), "wrong type  output  got a tuple of 2  want a tensor\nreturn only the one"),
    ((X,), "wrong type  output  got a tuple of 1  want a tensor\n"
     "is there a comma, or a pair of brackets, too many?"),
    ([X, X], "wrong type  output  got a list of 2  want a tensor\n"
     "join a list of tensors with torch.stack or torch.cat"),
    ([[True, False]], "wrong type  output  got a list of 1  want a tensor\n"
     "is there a comma, or a pair of brackets, too many?"),
    ([[True], [False]], "wrong type  output  got a list of 2  want a tensor\n"
     "torch.tensor makes a tensor of a list of numbers, or of rows of numbers"),
    ("no\x1b[31m", "wrong type  output  got the Python str 'no\\x1b[31m'  want a tensor\n"
     "a plain torch.Tensor is wanted"),
    (Remote("builtins.function", kind="function"), "wrong type  output  got a function  want a tensor\n"
     "return what it gives when it is called, and not itself"),
    (Remote("builtins.coroutine"), "wrong type  output  got builtins.coroutine  want a tensor\n"
     "leave out the `async`: nobody waits for its result"),
    (Remote("numpy.ndarray"), "wrong type  output  got numpy.ndarray  want a tensor\n"
     "stay in torch: NumPy knows no gradient and no GPU"),
    (Remote("mine.Thing"), "wrong type  output  got mine.Thing  want a tensor\n"
     "a plain torch.Tensor is wanted, no class of your own"),
    (Remote("a\n" * 1000), f"wrong type  output  got {clean('a' + chr(10) + 'a' + chr(10), 80)[:2]}"),
    (X.as_subclass(Subclass), "wrong type  output  got test_expect.Subclass  want a tensor\n"
     "a plain torch.Tensor is wanted, no class of your own"),
    (X.to_sparse(), "wrong type  output  got a torch.sparse_coo tensor  want a dense one"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "text"), TYPES, ids=range(len(TYPES)))
def test_type(value, text):
    for ask in (
        lambda: expect(value, "output").is_tensor(),
        lambda: expect(value, "output").close_to(X),
        lambda: expect(value, "output").equals(X),
        lambda: expect(value, "output").is_finite(),
    ):
        stage, location, got = message(ask)
        assert (stage, location) == ("type", None)
        assert got.replace("tests.checks.", "").startswith(text)


def test_parameters_are_tensors():
    expect(torch.nn.Parameter(X.clone()), "weight").is_tensor((2, 3, 4)).equals(X)


def test_the_first_stage_that_applies_is_the_only_one():
    wrong = torch.full((5, 4), math.nan, dtype=torch.float64)
    want = torch.zeros(4, 5)
    assert message(lambda: expect(wrong).close_to(want))[0] == "shape"
    assert message(lambda: expect(wrong.T).close_to(want))[0] == "dtype"
    assert message(lambda: expect(wrong.T.float()).close_to(want))[0] == "nan"
    assert message(lambda: expect(wrong.T.float().nan_to_num(1.0)).close_to(want))[0] == "values"


def test_shape():
    assert message(
        lambda: expect(torch.zeros(2, 5, 4, 8), "heads", "batch head query width").is_tensor((2, 4, 5, 8))
    ) == (
        "shape",
        None,
        "wrong shape  heads  got [2, 5, 4, 8]  want [batch 2, head 4, query 5, width 8]\n"
        "axes head and query are swapped",
    )
    assert said(lambda: expect(torch.zeros(2, 5), "tokens", "batch time").is_tensor((3, None))) == (
        "wrong shape  tokens  got [2, 5]  want [batch 3, time any]\n"
        "axis batch is one shorter than it should be"
    )
    expect(torch.zeros(3, 5), "tokens", "batch time").is_tensor((3, None))


def test_a_view_of_a_billion_values_fails_at_its_shape():
    huge = torch.zeros(1).expand(10**6, 10**6)
    assert message(lambda: expect(huge).close_to(X))[0] == "shape"


def test_dtype():
    assert said(lambda: expect(CAUSAL.long(), "mask").equals(CAUSAL)) == (
        "wrong dtype  mask  got int64  want bool\na mask is made of True and False: compare, or call .bool()"
    )
    assert said(lambda: expect(X.double()).close_to(X)) == (
        "wrong dtype  result  got float64  want float32\n"
        "take the dtype that is asked for, or else that of the input: dtype=x.dtype"
    )


def test_device():
    assert said(lambda: expect(X).is_tensor(device="cuda")) == (
        "wrong device  result  got cpu  want cuda\n"
        "make it on the device that is asked for, or else on that of the input: device=x.device"
    )
    expect(X).is_tensor(device=torch.device("cpu"))


def test_nan_and_infinities():
    bad = X.clone()
    bad[:, 1] = math.nan
    assert message(lambda: expect(bad, "output", "batch query width").close_to(X)) == (
        "nan",
        {"batch": 0, "query": 1, "width": 0},
        "not finite  output[batch 0, query 1, width 0]  got nan\n"
        "8 of 24 values are NaN; all of query 1, nothing else",
    )
    wild = torch.full((2, 3, 4), math.nan)
    wild[:, 1] = 2.36  # as wrong as can be
    assert said(lambda: expect(wild, "output", "batch query width").close_to(X)).endswith(
        "16 of 24 values are NaN; all but query 1"
    )
    bad[0, 0, 0] = -math.inf
    assert said(lambda: expect(bad, "output").is_finite()) == (
        "not finite  output[0, 0, 0]  got -inf\n9 of 24 values are not finite: 8 NaN and 1 -inf"
    )
    assert said(lambda: expect(torch.tensor(math.inf), "loss").is_finite()) == (
        "not finite  loss  got inf\n1 of 1 values is inf"
    )
    expect(CAUSAL).is_finite()


def test_expected_infinities_are_compared_as_values():
    want = torch.zeros(4, 4).masked_fill(~CAUSAL, -math.inf)
    expect(want.clone()).close_to(want).equals(want)
    got = torch.zeros(4, 4).masked_fill(~CAUSAL, -1e9)
    assert said(lambda: expect(got, "mask", "query key", "mask").close_to(want)) == (
        "first difference  mask[query 0, key 1]  got -1.000e9  want -inf\n"
        "6 of 16 values differ\n"
        "differences are exactly where key > query"
    )
    nan = torch.tensor([1.0, math.nan])
    expect(nan.clone()).close_to(nan).equals(nan)
    assert said(lambda: expect(torch.tensor([1.0, 2.0])).equals(nan)).startswith(
        "first difference  result[1]  got 2.0"
    )


def test_values_of_a_mask():
    got = torch.ones(4, 4).tril(1).bool()
    assert message(lambda: expect(got, "mask", "query key", "mask").equals(CAUSAL)) == (
        "values",
        {"query": 0, "key": 1},
        """\
first difference  mask[query 0, key 1]  got True  want False
3 of 16 values differ
yours at query i is the expected at query i + 1
           expected   yours
  key      0 1 2 3    0 1 2 3
  query 0  # . . .    # ! . .
  query 1  # # . .    # # ! .
  query 2  # # # .    # # # !
  query 3  # # # #    # # # #
           # allowed   . blocked   ! leaks""",
    )


def attention(scores, mask):
    return scores.masked_fill(~mask, -math.inf).softmax(-1)


SCORES = torch.tensor([[[[0.0, 1, 2, 1], [1, 0, 2, 0], [0, 2, 1, 1], [1, 1, 0, 2]]] * 2])


def test_values_of_attention_weights():
    expected = oracle(lambda s: attention(s, CAUSAL), SCORES)
    got = attention(SCORES, torch.ones(4, 4).tril(1).bool())
    assert message(lambda: expect(got, "weights", WEIGHTS, "attention").close_to(expected)) == (
        "values",
        {"batch": 0, "head": 0, "query": 0, "key": 0},
        """\
first difference  weights[batch 0, head 0, query 0, key 0]  got 0.269  want 1.000
18 of 32 values differ (tolerance 7.6e-6); greatest difference 0.731, there
what should be 0 but is not lies exactly where key = query + 1
query 3 is right
the same places in every head
  head 0
           expected           yours
  key        0   1   2   3      0   1   2   3
  query 0  100   .   .   .     27! 73!  .   .
  query 1   73  27   .   .     24!  9! 67!  .
  query 2    9  67  24   .      7! 53! 20! 20!
  query 3   20  20   7  53     20  20   7  53
           per cent   . exactly 0   ! differs""",
    )


def test_values_of_a_number():
    assert message(
        lambda: expect(torch.tensor(75.0), "loss").close_to(oracle(lambda x: x, torch.tensor(12.5)))
    ) == (
        "values",
        {},
        "wrong value  loss  got 75.000  want 12.500\ntolerance 9.5e-5\nyours is the expected times 6",
    )


def test_a_difference_has_as_many_digits_as_it_takes():
    want = torch.tensor([1.0, 2.0], dtype=torch.float64)
    got = want + torch.tensor([0.0, 1e-9], dtype=torch.float64)
    assert said(lambda: expect(got).equals(want)) == (
        "first difference  result[1]  got 2.000000001  want 2.000000000\n1 of 2 values differs"
    )


def test_tolerance_is_the_oracles_unless_given():
    want = Expected(torch.zeros(3, dtype=torch.float64), 0.1, torch.float32)
    expect(torch.full((3,), 0.09)).close_to(want)
    assert "tolerance 0.1" in said(lambda: expect(torch.full((3,), 0.11)).close_to(want))
    assert "tolerance 0.01" in said(lambda: expect(torch.full((3,), 0.09)).close_to(want, tolerance=0.01))


def test_empty_tensors_pass():
    expect(torch.zeros(0, 3)).close_to(torch.zeros(0, 3)).equals(torch.zeros(0, 3)).is_finite()


def test_is_zero_where():
    weights = attention(SCORES, CAUSAL)
    expect(weights, "weights").is_zero_where(~CAUSAL)
    assert (
        said(
            lambda: expect(attention(SCORES, CAUSAL | True), "weights", WEIGHTS, "mask").is_zero_where(
                ~CAUSAL, "no peeking"
            )
        )
        == """\
first difference  weights[batch 0, head 0, query 0, key 1]  got 0.197  want 0.000
all 12 values that must be 0 are not; greatest difference 0.61 at [batch 0, head 0, query 1, key 2]
differences are exactly where key > query
no peeking
  head 0
           expected   yours
  key      0 1 2 3    0 1 2 3
  query 0  # . . .    # ! ! !
  query 1  # # . .    # # ! !
  query 2  # # # .    # # # !
  query 3  # # # #    # # # #
           # allowed   . blocked   ! leaks"""
    )


def test_sums_to():
    weights = attention(SCORES, CAUSAL)
    expect(weights, "weights", WEIGHTS).sums_to(1, "key").sums_to(1, -1)
    assert said(lambda: expect(weights, "weights", WEIGHTS).sums_to(1, "query")).startswith(
        "first difference  sum of weights along query[batch 0, head 0, key 0]  got 2.018  want 1.000\n"
    )
    with pytest.raises(PackError, match="no axis 'keys'"):
        expect(weights, "weights", WEIGHTS).sums_to(1, "keys")


@pytest.mark.filterwarnings("error")
def test_of_complex_numbers_the_imaginary_part_counts():
    torch.set_warn_always(True)  # torch says otherwise once in a process that it casts them to real ones
    try:
        turned = torch.complex(torch.full((2, 3), 1 / 3), torch.ones(2, 3))
        back = turned.conj().resolve_conj()
        expect(turned, "phases").sums_to(1 + 3j, -1).differs_from(back, "the other way round")
        expect(turned, "phases").close_to(turned.clone()).same_as(turned.clone())
        assert said(lambda: expect(turned, "phases").sums_to(1, -1)).startswith(
            "first difference  sum of phases along axis 1 [0]  got (1.000, 3.000j)  want (1.000, 0.000j)\n"
        )
        assert "no difference" in said(lambda: expect(turned, "phases").differs_from(turned.clone(), "why"))
        for action in (
            lambda: expect(turned, "phases", picture="attention").close_to(back),
            lambda: expect(turned, "phases").same_as(back),
            lambda: expect(turned, "phases").equals(back),
        ):
            assert "got (0.333, 1.000j)" in said(action)
            assert "(0.333, -1.000j)" in said(action)
        assert said(lambda: expect(turned, "phases").is_between(0, 1)) == (
            "wrong type  phases  got a tensor complex64 [2, 3]  want a tensor of real numbers"
        )
    finally:
        torch.set_warn_always(False)


def test_weights_of_large_scores_are_known_no_better_than_the_scores():
    scores = torch.linspace(-1, 1, 60).reshape(12, 5) - 20_000
    # Right, and off by the rounding of the scores.
    weights = (scores - scores.logsumexp(-1, keepdim=True)).exp()
    assert "tolerance" in said(lambda: expect(weights, "weights").sums_to(1, -1))
    assert "tolerance" in said(
        lambda: expect(weights, "weights").close_to(scores.double().softmax(-1).float())
    )
    expect(weights, "weights").sums_to(1, -1, scores=20_000)
    expect(weights, "weights").close_to(scores.double().softmax(-1).float(), scores=20_000)
    for wrong in (0.98 * weights, weights + 0.01):
        assert "tolerance" in said(lambda wrong=wrong: expect(wrong, "weights").sums_to(1, -1, scores=20_000))


def test_a_sum_is_held_to_the_size_of_a_right_answer():
    huge = torch.tensor([[1e9, -1e9], [1.0, 0.0]])
    assert "got 0.000  want 1.000" in said(lambda: expect(huge, "weights").sums_to(1, 1))
    centred = torch.tensor([[3.0, -3.0 + 1e-5]])
    expect(centred).sums_to(0, 1, size=6.0)
    assert "tolerance" in said(lambda: expect(centred * 1e9).sums_to(0, 1, size=6.0))
    with pytest.raises(PackError, match="needs a size"):
        expect(centred).sums_to(0, 1)


def test_agreement_does_not_grow_with_the_answers_beyond_their_right_size():
    expect(torch.tensor([1e2])).same_as(torch.tensor([1e2 + 1e-3]))
    vast = torch.tensor([1e9, 1.0])
    assert "tolerance 1.5e-3" in said(lambda: expect(vast).same_as(torch.tensor([1e9, 2.0])))
    expect(vast).same_as(torch.tensor([1e9, 2.0]), size=1e9)


@pytest.mark.parametrize("odd", [math.nan, math.inf])
def test_what_is_not_finite_is_no_difference_and_nan_is_no_agreement(odd):
    plain, wrong = torch.tensor([1.0, 2.0]), torch.tensor([1.0, odd])
    assert message(lambda: expect(wrong).differs_from(plain, "it should"))[0] == "nan"
    assert message(lambda: expect(plain).differs_from(wrong, "it should"))[0] == "nan"
    if math.isnan(odd):
        assert message(lambda: expect(wrong).same_as(wrong.clone()))[0] == "nan"
    else:
        expect(wrong).same_as(wrong.clone())


def test_a_wrong_shape_is_never_the_packs_fault():
    flat = torch.zeros(2, 4)
    for ask in (
        lambda: expect(flat, "weights", WEIGHTS).sums_to(1, "key"),
        lambda: expect(flat, "weights", WEIGHTS).is_zero_where(CAUSAL),
        lambda: expect(flat, "weights", WEIGHTS).is_finite(),
        lambda: expect(flat, "weights", WEIGHTS).is_between(0, 1),
    ):
        assert message(ask) == (
            "shape", None, "wrong shape  weights  got [2, 4]  want [batch, head, query, key]"
        )  # fmt: skip
    text = "wrong shape  weights  got [2, 4]  want one that [4, 4] broadcasts to"
    assert said(lambda: expect(flat, "weights").is_zero_where(CAUSAL)) == text


def test_a_number_out_of_a_range_of_one_is_held_to_that_one():
    assert said(lambda: expect(6, "length").is_between(5, 5)) == "out of range  length  got 6  want 5"


def test_of_a_slice_the_indices_are_those_of_what_it_was_cut_from():
    want = torch.arange(60.0).reshape(3, 20)
    got = want.clone()
    got[:, 15:] = 7
    assert message(lambda: expect(got[:, 8:], "buckets[:, 8:]", "query key").equals(want[:, 8:])) == (
        "values",
        {"query": 0, "key": 15},
        "first difference  buckets[query 0, key 15]  got 7.000  want 15.000\n"
        "15 of 36 values differ; greatest difference 52 at [query 2, key 19]\n"
        "all of keys 15 to 19, nothing else",
    )
    assert said(lambda: expect(got[:, 1::2], "buckets[:, 1::2]").equals(want[:, 1::2])).startswith(
        "first difference  buckets[0, 15]  got 7.000"
    )
    assert said(lambda: expect(got[:, -5:], "buckets[:, -5:]").equals(want[:, -5:])).startswith(
        "first difference  buckets[:, -5:][0, 0]  got 7.000"  # nobody knows from here how many there are
    )


def test_a_shape_that_is_compared_as_a_list_is_shown_whole():
    for got, why in (
        ([1, 7], "yours has an extra axis of size 1 (axis 0)"),
        ([], "yours is a single number"),
    ):
        told = said(lambda got=got: expect(got, "shape of weight").is_value([7]))
        assert told.startswith(f"wrong shape  weight  got {got}  want [7]\n{why}")
    told = said(lambda: expect([1, 7], "sizes").is_value([7]))
    assert told.splitlines()[0] == "wrong value  sizes[0]  got 1  want 7"


def test_is_between():
    expect(torch.tensor([0, 3])).is_between(0, 3)
    expect(0.5).is_between(0, 1)
    assert said(lambda: expect(torch.tensor([[3, 11, 4]]), "tokens", "batch time").is_between(0, 10)) == (
        "out of range  tokens[batch 0, time 1]  got 11  want 0 to 10\n1 of 3 values is out of range"
    )
    cached = X + (X > 20)
    assert "  those before have " in said(lambda: expect(cached, "logits").same_as(X, name="those before"))
    assert said(lambda: expect(cached, "logits", "batch time width").same_as(X, "only faster", "cached")) == (
        """\
first difference  logits[batch 1, time 2, width 0]  got 22.000  cached has 21.000
4 of 24 values differ (tolerance 3.8e-4); greatest difference 1, there
only time 2, the last; the same places in every width
only faster"""
    )
    assert said(lambda: expect(X).differs_from(X, "in train mode dropout changes it")) == (
        "no difference  result: the same both times\nin train mode dropout changes it"
    )
    rough = Expected(X.double(), 0.1, torch.float32)
    expect(X).same_as(X + 0.19, tolerance=rough)
    assert "(tolerance 0.2)" in said(lambda: expect(X).same_as(X + 0.21, tolerance=rough))
    assert message(lambda: expect(X).same_as(None))[0] == "type"
    assert message(lambda: expect(X).same_as(X[0]))[0] == "shape"
    assert message(lambda: expect(CAUSAL).same_as(~CAUSAL))[0] == "values"


def test_tuples_and_lists():
    assert expect((X, 1)).is_tuple(2) == (X, 1)
    assert said(lambda: expect(X, "(output, weights)").is_tuple(2)) == (
        "wrong type  (output, weights)  got a tensor float32 [2, 3, 4]  want a tuple of 2\n"
        "return both, separated by a comma"
    )
    assert (
        said(lambda: expect((X,), "both").is_tuple(2))
        == "wrong length  both  got a tuple of 1  want a tuple of 2"
    )
    assert expect([1.0, 2.0]).is_list(2, of=float) == [1.0, 2.0]
    assert said(lambda: expect([1.0, X[0, 0, 0]], "losses").is_list(2, of=float)) == (
        "wrong type  losses[1]  got a tensor float32 []  want a Python float"
    )
    assert (
        said(lambda: expect([1.0], "losses").is_list(3))
        == "wrong length  losses  got a list of 1  want a list of 3"
    )
    assert message(lambda: expect(None).is_tuple(2))[2].endswith("did you forget a `return`?")


def test_scalars():
    expect(torch.tensor(1.0)).is_scalar()
    expect(1.0).is_scalar(float)
    assert said(lambda: expect(X, "loss", "").is_scalar()) == (
        "wrong shape  loss  got [2, 3, 4]  want []\n"
        "a single number is wanted: a mean or a sum over all axes is missing"
    )
    assert said(lambda: expect(torch.tensor(1.0), "loss").is_scalar(float)) == (
        "wrong type  loss  got a tensor float32 []  want a Python float\ntake the number out with .item()"
    )


@pytest.mark.parametrize(
    ("got", "want", "text"),
    [
        ([1, 2], [1, 3], "wrong value  result[1]  got 2  want 3"),
        ({"a": [1]}, {"a": [1.0]}, "wrong value  result['a'][0]  got 1 (int)  want 1.0 (float)"),
        (1, True, "wrong value  result  got 1 (int)  want True (bool)"),
        ([1], [1, 2], "wrong value  len(result)  got 1  want 2"),
        ({"a": 1}, {"b": 1}, "wrong value  keys of result  got ['a']  want ['b']"),
        ((1,), [1], "wrong value  result  got (1,) (tuple)  want [1] (list)"),
        (None, 3, "wrong type  result  got None  want 3\ndid you forget a `return`?"),
        ("a" * 10**6, "b", f"wrong value  result  got '{'a' * 60}'…  want 'b'"),
        (Remote("mine.Thing"), 3, "wrong value  result  got <mine.Thing> (mine.Thing)  want 3 (int)"),
        (
            [[1] * 100] * 100,
            3,
            "wrong value  result  got [[1, 1, 1, 1, 1, 1, … 94 more], [1, 1, 1, 1, 1, 1, … 94 more]",
        ),
    ],
)
def test_is_value(got, want, text):
    assert said(lambda: expect(got).is_value(want)).startswith(text)
    expect(want).is_value(want)


@pytest.mark.parametrize(
    ("got", "want", "rows"),
    [
        ([65, 32, 256], [65, 32, 7, 33],
         ["  expected  [65, 32,   7, 33]", "  yours     [65, 32, 256]", "                     ^^^"]),
        ([[5, 1], [(b"a", b"bc"), 2]], [[5, 1], [(b"ab", b"c"), 2]],
         ["  expected  [(b'ab', b'c'), 2]", "  yours     [(b'a', b'bc'), 2]", "             ^^^^^^^^^^^^^"]),
        ([], [1, 2], ["  expected  [1, 2]", "  yours     []", "             ^"]),
        ([1], [2], []),
        ((1, 2), (1, 3), []),
    ],
)  # fmt: skip
def test_lists_that_differ_stand_item_under_item(got, want, rows):
    assert said(lambda: expect(got).is_value(want, "why")).splitlines()[1:] == ["why", *rows]


@pytest.mark.parametrize("item", [1, "x" * 1000, [[1] * 10] * 10], ids=["number", "text", "list"])
def test_however_long_lists_are_what_differs_is_in_the_rows(item):
    got, want = [item] * 2000, [item] * 2000
    want[1800] = 2
    expected, yours, pointer = said(lambda: expect(got).is_value(want)).splitlines()[1:]
    first = pointer.index("^")
    assert expected[first : len(pointer)].strip() == "2"
    assert yours[first] == describe(item)[0]
    assert max(map(len, (expected, yours, pointer))) <= LINE


def test_is_instance():
    expect(Remote("torch.nn.modules.linear.Linear")).is_instance("torch.nn.Linear")
    assert said(
        lambda: expect(Remote("torch.nn.modules.linear.Bilinear"), "w_q").is_instance("torch.nn.Linear")
    ) == ("wrong type  w_q  got torch.nn.modules.linear.Bilinear  want a torch.nn.Linear")
    expect(Remote("submission.Mine", "torch.nn.modules.linear.Linear")).is_instance("torch.nn.Linear")
    assert message(lambda: expect(Remote("evil.Linear")).is_instance("torch.nn.Linear"))[0] == "type"


def test_has_names():
    expect([("b", X), ("a", X)]).has_names(["a", "b"])
    expect({"a": 1}).has_names(["a"])
    assert said(lambda: expect(["a", "w_k.bias"], "parameters").has_names(["a", "b", "c"])) == (
        "wrong names  parameters  got 2  want 3\nmissing: b and c\nnot wanted: w_k.bias"
    )


def test_subject_is_what_was_looked_at():
    with pytest.raises(CheckFailure) as caught:
        expect(X).close_to(X + 1)
    assert caught.value.subject is X
    with pytest.raises(CheckFailure) as caught:
        fail("the model forgot", subject=X)
    assert (str(caught.value), caught.value.subject) == ("the model forgot", X)


@pytest.mark.parametrize(("summary", "picture"), [(100, 20), (100, 0), (1, 100), (100, 100)])
def test_a_failure_is_bounded_whatever_is_put_in(summary, picture):
    failure = Failure("values", ("x\x1b]0;\u202e" * 100,) * summary, {}, ("y" * 500,) * picture)
    assert len(failure.lines()) == min(LINES, min(summary, LINES // 2) + picture)
    assert all(len(line) <= WHOLE and line.isprintable() for line in failure.lines())
    assert ("81 lines left out" in str(failure)) == (summary == 100)
    assert ("lines left out" in str(failure).splitlines()[-1]) == (picture != 20)


@pytest.mark.slow
@given(st.text(max_size=300), st.integers(5, 110))
def test_clean_text_is_printable_and_bounded(text, limit):
    cleaned = clean(text, limit)
    assert cleaned.isprintable()
    assert len(cleaned) <= limit
    assert cleaned == text or not text.isprintable() or cleaned.endswith("…")


@st.composite
def tensors(draw):
    shape = tuple(draw(st.lists(st.integers(0, 20), max_size=4)))
    kind = draw(st.sampled_from([torch.float32, torch.float16, torch.float64, torch.int64, torch.bool]))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32)))
    x = torch.randn(shape, generator=generator)
    if kind.is_floating_point:
        for special in (math.nan, math.inf, -math.inf, 0.0, 1e30):
            if draw(st.booleans()):
                x[torch.rand(shape, generator=generator) < 0.2] = special
    else:
        x = x > 0 if kind == torch.bool else (3 * x).long()
    return x.to(kind)


@pytest.mark.slow
@given(tensors(), st.data(), st.sampled_from([None, "mask", "attention"]))
@settings(max_examples=300, deadline=None)
def test_any_two_tensors_are_equal_or_explained(want, data, picture):
    got = want.clone()
    change = torch.rand(want.shape, generator=torch.Generator().manual_seed(data.draw(st.integers(0, 2**32))))
    changed = change < data.draw(st.sampled_from([0.0, 0.1, 0.5, 1.1]))
    special = data.draw(st.sampled_from([0.0, 2.0, math.nan, math.inf]))
    got = torch.where(changed, torch.full_like(want, special if want.is_floating_point() else 1), got)
    same = bool(((got == want) | ((got != got) & (want != want))).all())
    axes = " ".join(f"axis{i}" for i in range(want.ndim))
    for ask in (
        lambda: expect(got, "result", axes, picture).equals(want),
        lambda: expect(got, "result", axes, picture).close_to(want),
    ):
        if same:
            ask()
            continue
        try:
            ask()
        except CheckFailure as error:
            lines = error.failure.lines()
            assert len(lines) <= LINES
            assert all(len(line) <= LINE and line.isprintable() for line in lines)
            index = tuple(error.failure.location.values())
            assert bool(got[index] != want[index])
        else:
            assert want.is_floating_point()  # within rounding of the greatest


@pytest.mark.parametrize("axes", ["query", "a b c d"])
def test_an_authors_wrong_axes_are_the_packs_fault(axes):
    with pytest.raises(PackError):
        expect(torch.zeros(2, 2), "x", axes).is_tensor((3, 3))


def test_an_authors_wrong_picture_is_the_packs_fault():
    with pytest.raises(PackError, match="mask, attention and a function"):
        expect(X, picture="photo")


@pytest.mark.parametrize(
    ("value", "got"),
    [(0.029905883098649298, "0.03"), (0.76, "0.76"), (0.59999, "0.59999"), (7, "7"), (1e300, "1")],
)
def test_a_number_out_of_range_is_quoted_as_far_as_it_tells(value: float, got: str) -> None:
    with pytest.raises(CheckFailure) as caught:
        expect(value, "share").is_between(0.6, 0.7)
    assert f"got {got}" in str(caught.value)
    assert "0000000" not in str(caught.value)
