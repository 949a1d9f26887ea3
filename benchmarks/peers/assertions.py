"""One exercise in twelve assertions, one point each. `answer` is the learner's module, or has its names.

Every other grader runs these; Kata runs the same twelve, written with its own `expect`.
"""

from __future__ import annotations

import math

import torch
from torch.nn.functional import layer_norm
from torch.testing import assert_close


def inputs(seed, query=4, key=6):
    draw = torch.Generator().manual_seed(seed)
    return (
        torch.randn(2, 3, query, 8, generator=draw),
        torch.randn(2, 3, key, 8, generator=draw),
        torch.randn(2, 3, key, 5, generator=draw),
    )


def numbers(seed):
    return torch.randn(2, 5, 8, generator=torch.Generator().manual_seed(seed))


def triangle(seq_len):
    return torch.ones(seq_len, seq_len, dtype=torch.bool).tril()


def mask_shape(answer):
    mask = answer.causal_mask(6)
    assert mask.shape == (6, 6)
    assert mask.dtype == torch.bool


def mask_values(answer):
    assert_close(answer.causal_mask(5), triangle(5))


def mask_single(answer):
    assert_close(answer.causal_mask(1), triangle(1))


def attention_shapes(answer):
    output, weights = answer.attention(*inputs(1))
    assert output.shape == (2, 3, 4, 5)
    assert weights.shape == (2, 3, 4, 6)


def attention_values(answer):
    query, key, value = inputs(2)
    output, weights = answer.attention(query, key, value)
    wanted = (query @ key.transpose(-2, -1) / math.sqrt(8)).softmax(-1)
    assert_close(weights, wanted)
    assert_close(output, wanted @ value)


def attention_sums(answer):
    _, weights = answer.attention(*inputs(3))
    assert_close(weights.sum(-1), torch.ones(2, 3, 4))


def attention_mask(answer):
    mask = triangle(5)
    _, weights = answer.attention(*inputs(4, 5, 5), mask)
    assert (weights.masked_select(~mask) == 0).all()


def attention_large(answer):
    query, key, value = inputs(5)
    output, _ = answer.attention(query * 1000, key, value)
    assert output.isfinite().all()


def norm_parameters(answer):
    norm = answer.LayerNorm(7)
    assert_close(norm.weight.detach(), torch.ones(7))
    assert_close(norm.bias.detach(), torch.zeros(7))


def norm_values(answer):
    x = numbers(6) * 3 + 2
    assert_close(answer.LayerNorm(8)(x), layer_norm(x, (8,)))


def norm_eps(answer):
    x = numbers(7)
    assert_close(answer.LayerNorm(8, eps=0.5)(x), layer_norm(x, (8,), eps=0.5))


def norm_gradient(answer):
    x, cotangent = numbers(8).requires_grad_(), numbers(9)
    (wanted,) = torch.autograd.grad(layer_norm(x, (8,)), x, cotangent)
    answer.LayerNorm(8)(x).backward(cotangent)
    assert_close(x.grad, wanted)


ASSERTIONS = (
    mask_shape,
    mask_values,
    mask_single,
    attention_shapes,
    attention_values,
    attention_sums,
    attention_mask,
    attention_large,
    norm_parameters,
    norm_values,
    norm_eps,
    norm_gradient,
)
