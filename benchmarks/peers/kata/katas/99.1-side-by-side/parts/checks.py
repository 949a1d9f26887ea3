"""The twelve assertions of `benchmarks/peers/assertions.py`, as an author of Kata writes them."""

from __future__ import annotations

import math

import torch
from torch.nn.functional import layer_norm

from grader.checks import check, expect, expect_gradients, oracle


def attend(query, key, value):
    weights = (query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])).softmax(-1)
    return weights @ value, weights


def triangle(seq_len):
    return torch.ones(seq_len, seq_len, dtype=torch.bool).tril()


def inputs(draw, query=4, key=6):
    return (
        draw.normal(batch=2, head=3, query=query, width=8),
        draw.normal(batch=2, head=3, key=key, width=8),
        draw.normal(batch=2, head=3, key=key, feature=5),
    )


@check(aspect="shape")
def test_mask_shape(submission):
    """a causal mask is boolean [T, T]"""
    expect(submission.causal_mask(6), "mask").is_tensor(shape=(6, 6), dtype=torch.bool)


@check(aspect="masks")
def test_mask_values(submission):
    """a query sees itself and the keys before it"""
    expect(submission.causal_mask(5), "mask", axes="query key").equals(triangle(5))


@check(aspect="masks")
def test_mask_single(submission):
    """a single position sees itself"""
    expect(submission.causal_mask(1), "mask").equals(triangle(1))


@check(aspect="shape")
def test_attention_shapes(submission, draw):
    """attention returns an output per query and a weight per query and key"""
    output, weights = expect(submission.attention(*inputs(draw)), "(output, weights)").is_tuple(2)
    expect(output, "output").is_tensor(shape=(2, 3, 4, 5))
    expect(weights, "weights").is_tensor(shape=(2, 3, 4, 6))


@check(aspect="values")
def test_attention_values(submission, draw):
    """attention without a mask has the right values"""
    query, key, value = inputs(draw)
    output, weights = submission.attention(query, key, value)
    wanted_output, wanted_weights = oracle(attend, query, key, value)
    expect(weights, "weights", axes="batch head query key").close_to(wanted_weights)
    expect(output, "output", axes="batch head query feature").close_to(wanted_output)


@check(aspect="values")
def test_attention_sums(submission, draw):
    """the weights of a query sum to 1"""
    _, weights = submission.attention(*inputs(draw))
    expect(weights, "weights", axes="batch head query key").sums_to(1.0, "key")


@check(aspect="masks")
def test_attention_mask(submission, draw):
    """keys that the mask hides get no weight"""
    mask = triangle(5)
    _, weights = submission.attention(*inputs(draw, 5, 5), mask)
    expect(weights, "weights", axes="batch head query key").is_zero_where(~mask)


@check(aspect="stability")
def test_attention_large(submission, draw):
    """large scores do not overflow"""
    query, key, value = inputs(draw)
    output, _ = submission.attention(query * 1000, key, value)
    expect(output, "output", axes="batch head query feature").is_finite()


@check(aspect="parameters")
def test_norm_parameters(submission):
    """layer norm starts with a weight of ones and a bias of zeros"""
    norm = submission.LayerNorm(7)
    expect(norm.weight, "weight").equals(torch.ones(7))
    expect(norm.bias, "bias").equals(torch.zeros(7))


@check(aspect="values")
def test_norm_values(submission, draw):
    """layer norm has the right values"""
    x = draw.normal(batch=2, time=5, width=8, scale=3.0, shift=2.0)
    y = submission.LayerNorm(8)(x)
    expect(y, "output", axes="batch time width").close_to(oracle(lambda x: layer_norm(x, (8,)), x))


@check(aspect="values")
def test_norm_eps(submission, draw):
    """the eps given is the one used, inside the root"""
    x = draw.normal(batch=2, time=5, width=8)
    y = submission.LayerNorm(8, eps=0.5)(x)
    expect(y, "output", axes="batch time width").close_to(oracle(lambda x: layer_norm(x, (8,), eps=0.5), x))


@check(aspect="gradient")
def test_norm_gradient(submission, draw):
    """gradients reach x through its mean and its variance"""
    x = draw.normal(batch=2, time=5, width=8, requires_grad=True)
    y = submission.LayerNorm(8)(x)
    expect_gradients(y, {"x": x}, draw, oracle=lambda x: layer_norm(x, (8,)))
