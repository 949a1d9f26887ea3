"""Tolerances are derived: right answers computed otherwise pass by far, shortcuts in precision fail."""

from __future__ import annotations

import math

import pytest
import torch
from torch.nn import functional

from grader.engine.checks.draw import Draw
from grader.engine.checks.expect import expect
from grader.engine.checks.failure import CheckFailure
from grader.engine.checks.oracle import SLACK, oracle, rounding_tolerance
from grader.errors import PackError


def attention(query, key, value):
    return (query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])).softmax(-1) @ value


def attention_by_hand(query, key, value):
    scores = torch.einsum("...qd,...kd->...qk", query * query.shape[-1] ** -0.5, key)
    top = (scores - scores.amax(-1, keepdim=True)).exp()
    return (top @ value) / top.sum(-1, keepdim=True)


def attention_by_sums(query, key, value):
    scores = (query.unsqueeze(-2) * key.unsqueeze(-3)).sum(-1) / math.sqrt(query.shape[-1])
    weights = torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True))
    return (weights.unsqueeze(-1) * value.unsqueeze(-3)).sum(-2)


def layer_norm(x, weight, bias):
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt() * weight + bias


def layer_norm_fused(x, weight, bias):
    return functional.layer_norm(x, (x.shape[-1],), weight, bias, 1e-5)


def layer_norm_one_by_one(x, weight, bias):
    mean = sum(x[..., i : i + 1] for i in range(x.shape[-1])) / x.shape[-1]
    variance = sum((x[..., i : i + 1] - mean) ** 2 for i in range(x.shape[-1])) / x.shape[-1]
    return weight * ((x - mean) * torch.rsqrt(variance + 1e-5)) + bias


def layer_norm_of_squares(x, weight, bias):
    """The shortcut that cancels: E[x²] - E[x]²."""
    mean = x.mean(-1, keepdim=True)
    variance = x.square().mean(-1, keepdim=True) - mean.square()
    return (x - mean) / (variance.clamp(min=0) + 1e-5).sqrt() * weight + bias


def gelu(x):
    return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))


def gelu_tanh(x):
    return functional.gelu(x, approximate="tanh")


def loss(logits, tokens):
    return functional.cross_entropy(logits.flatten(0, 1), tokens.flatten())


def loss_by_gathering(logits, tokens):
    return (torch.logsumexp(logits, -1) - logits.gather(-1, tokens[..., None])[..., 0]).mean()


def inputs_of(kind, seed):
    draw = Draw(seed, kind)
    if kind == "attention":
        query, key, width, inner = draw.sizes(4, 2, 12)
        return (
            draw.normal(batch=2, head=3, query=query, width=inner),
            draw.normal(batch=2, head=3, key=key, width=inner),
            draw.normal(batch=2, head=3, key=key, width=width),
        )
    if kind in ("layer norm", "far layer norm"):
        shift = 1e4 if kind == "far layer norm" else 0.0
        x = draw.normal(batch=2, time=5, width=16, shift=shift)
        return x, draw.normal(width=16), draw.normal(width=16)
    if kind == "gelu":
        return (draw.normal(time=5, width=16, scale=2.0),)
    return draw.normal(batch=3, time=4, vocabulary=11), draw.integers(0, 11, batch=3, time=4)


RIGHT = [
    ("attention", attention, attention_by_hand),
    ("attention", attention, attention_by_sums),
    ("attention", attention, functional.scaled_dot_product_attention),
    ("layer norm", layer_norm, layer_norm_fused),
    ("layer norm", layer_norm, layer_norm_one_by_one),
    ("far layer norm", layer_norm, layer_norm_fused),
    ("far layer norm", layer_norm, layer_norm_one_by_one),
    ("gelu", gelu, functional.gelu),
    ("loss", loss, loss_by_gathering),
]


def off(got, expected):
    return float((got.double() - expected.value).abs().max()) / expected.tolerance


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "reference", "other"), RIGHT)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_right_answers_pass_by_far(kind, reference, other, dtype):
    for seed in range(20):
        inputs = [x.to(dtype) if x.is_floating_point() else x for x in inputs_of(kind, seed)]
        expected = oracle(reference, *inputs)
        assert expected.dtype == dtype
        assert off(other(*inputs), expected) < 0.3


def rounded(function, dtype):
    """Compute in float32 on inputs rounded to fewer digits, as reduced-precision products do."""

    def shortcut(*inputs):
        return function(*(x.to(dtype).to(x.dtype) if x.is_floating_point() else x for x in inputs))

    return shortcut


def tf32(x):
    mantissa, exponent = torch.frexp(x)
    return torch.ldexp((mantissa * 2**11).round() / 2**11, exponent)


@pytest.mark.parametrize(
    ("kind", "reference", "shortcut"),
    [
        ("attention", attention, rounded(attention, torch.bfloat16)),
        ("attention", attention, rounded(attention, torch.float16)),
        ("attention", attention, lambda *x: attention(*map(tf32, x))),
        ("attention", attention, lambda q, k, v: attention(q.bfloat16(), k.bfloat16(), v.bfloat16()).float()),
        ("layer norm", layer_norm, lambda *x: layer_norm(*(t.half() for t in x)).float()),
        ("far layer norm", layer_norm, layer_norm_of_squares),
        ("gelu", gelu, gelu_tanh),
        ("gelu", gelu, rounded(gelu, torch.bfloat16)),
    ],
)
def test_shortcuts_fail_by_far(kind, reference, shortcut):
    for seed in range(20):
        inputs = inputs_of(kind, seed)
        assert off(shortcut(*inputs), oracle(reference, *inputs)) > 3


def test_float32_inside_float64_fails():
    inputs = [x.double() for x in inputs_of("attention", 0)]
    assert off(attention(*(x.float() for x in inputs)), oracle(attention, *inputs)) > 1e4


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision(dtype):
    for seed in range(20):
        inputs = [x.to(dtype) for x in inputs_of("attention", seed)]
        expected = oracle(attention, *inputs)
        assert expected.dtype == dtype
        assert off(attention_by_hand(*inputs), expected) < 1
        assert off(attention(*inputs) * 1.2, expected) > 1
        assert expected.tolerance < 0.2 * float(expected.value.abs().max())


def stack(x, *weights):
    for up, down in zip(weights[::2], weights[1::2], strict=True):
        x = x + (torch.nn.functional.layer_norm(x, x.shape[-1:]) @ up).relu() @ down
    return x


def stack_by_hand(x, *weights):
    for up, down in zip(weights[::2], weights[1::2], strict=True):
        centred = x - x.mean(-1, keepdim=True)
        h = centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
        h = sum(h[..., i, None] * row for i, row in enumerate(up)).relu()
        x = x + sum(h[..., i, None] * row for i, row in enumerate(down))
    return x


@pytest.mark.parametrize("seed", [298, 1331, 1343])
def test_narrow_layers_where_one_run_in_half_precision_is_lucky(seed):
    """Three of 3 000 seeds: what one run is off says nothing of another right way."""
    generator = torch.Generator().manual_seed(seed)
    sizes = [(1, 4), (4, 5), (5, 4), (4, 5), (5, 4)]
    inputs = [torch.randn(*size, generator=generator).bfloat16() for size in sizes]
    assert off(stack_by_hand(*inputs), oracle(stack, *inputs)) < 1


def test_value_is_float64_and_tolerance_never_below_rounding():
    x = torch.tensor([0.1, 0.2, 0.3])
    expected = oracle(lambda t: t * 1, x)
    assert torch.equal(expected.value, x.double())
    assert expected.tolerance == pytest.approx(SLACK * 2**-23 * 0.3, rel=1e-6)
    assert rounding_tolerance(x, torch.float32) == pytest.approx(expected.tolerance)


def test_a_tuple_gives_a_tuple_and_masks_keep_their_dtype():
    x = torch.randn(3, 4)
    total, positive, single = *oracle(lambda t: (t.sum(), t > 0), x), oracle(lambda t: (t,), x)
    assert total.shape == ()
    assert (positive.value.dtype, positive.tolerance, positive.dtype) == (torch.bool, 0.0, torch.bool)
    assert isinstance(single, tuple)
    assert positive[1:].shape == (2, 4)


def test_parameters_come_as_a_dict_and_the_default_dtype_follows():
    state = {"w": torch.randn(3, 3), "step": torch.tensor(2)}
    expected = oracle(lambda x, s: x @ s["w"] + torch.ones(3) * s["step"], torch.randn(2, 3), state)
    assert expected.dtype == torch.float32
    assert torch.get_default_dtype() == torch.float32
    positions = oracle(lambda: torch.arange(0.0, 5.0).sin())
    assert (positions.value.dtype, positions.dtype) == (torch.float64, torch.float32)


def test_arguments_are_not_changed_and_carry_no_graph():
    x = torch.randn(3, requires_grad=True)
    kept = x.detach().clone()
    expected = oracle(lambda t: t * 2, x)
    assert not expected.value.requires_grad
    assert torch.equal(x, kept)


def test_infinities_are_no_tolerance():
    mask = torch.ones(3, 3).tril().bool()
    expected = oracle(lambda m: torch.zeros(3, 3).masked_fill(~m, -math.inf), mask)
    assert expected.tolerance == 0.0
    big = oracle(lambda x: x * 1000, torch.tensor([100.0, 1.0], dtype=torch.float16))
    assert big.value.tolist() == [math.inf, 1000.0]
    assert math.isfinite(big.tolerance)


def test_another_right_formula_can_widen_the_yardstick():
    widened = []
    for seed in range(20):
        query, key, value = inputs_of("attention", seed)
        query, key = query * 30, key * 30
        narrow = oracle(attention, query, key, value)
        wide = oracle(attention, query, key, value, also=[attention_by_sums])
        assert wide.tolerance >= narrow.tolerance
        assert off(attention_by_sums(query, key, value), wide) <= 1 / SLACK + 1e-9
        widened.append(wide.tolerance / narrow.tolerance)
    assert max(widened) > 10


def test_what_cancels_may_be_nothing_in_float64():
    # The query of a single key has no gradient: what is left are roundings, and float32 may happen to make none.
    def slopes(grad, value, output):
        return grad @ value.mT - (grad * output).sum(-1, keepdim=True)

    for seed in range(100):
        torch.manual_seed(seed)
        grad, value = torch.randn(1, 4, 8).double(), torch.randn(1, 1, 8).double()
        expected = oracle(slopes, grad, value, value.expand(1, 4, 8))
        expect(torch.zeros(1, 4, 1).double(), "slopes").close_to(expected)
        with pytest.raises(CheckFailure):
            expect(torch.full((1, 4, 1), 1e-8).double(), "slopes").close_to(expected)


def test_an_oracle_at_fault_is_the_packs_fault():
    x = torch.randn(3)
    with pytest.raises(PackError, match=r"torch\.float64 returned torch\.float32"):
        oracle(lambda t: t.float(), x)
    with pytest.raises(PackError, match="must return tensors, not float"):
        oracle(lambda t: 1.0, x)
    with pytest.raises(PackError, match=r"overflows in torch\.float16"):
        _ = oracle(lambda t: (t * 1000).exp().log(), torch.tensor([0.1], dtype=torch.float16)).tolerance


def test_the_reference_runs_once_for_a_right_answer_and_again_for_one_that_is_off():
    ran = []

    def half(x: torch.Tensor) -> torch.Tensor:
        ran.append(x.dtype)
        return x / 3

    x = torch.randn(3, 4)
    right, expected = x / 3, oracle(half, x)
    expect(right, "y").close_to(expected)
    assert ran == [torch.float64]
    x.zero_()  # a submission may write to what it was given
    with pytest.raises(CheckFailure):
        expect(right * 1.001, "y").close_to(expected)
    assert ran == [torch.float64, torch.float32]
    assert 0 < expected.tolerance < 1e-4
