"""Masked attention for pytest, as a course without a grader would write it: 12 checks against torch's own."""

import pytest
import torch
from masked_attention import MultiHeadAttention, scaled_dot_product_attention
from torch.nn.functional import scaled_dot_product_attention as ours


@pytest.fixture
def inputs():
    torch.manual_seed(0)
    return tuple(torch.randn(2, 3, 5, 4) for _ in range(3))


@pytest.mark.parametrize("mask", [None, torch.ones(5, 5).tril().bool(), torch.rand(2, 1, 5, 5) > -1])
def test_values(inputs, mask):
    torch.testing.assert_close(scaled_dot_product_attention(*inputs, mask)[0], ours(*inputs, attn_mask=mask))


def test_weights_sum_to_one(inputs):
    torch.testing.assert_close(scaled_dot_product_attention(*inputs)[1].sum(-1), torch.ones(2, 3, 5))


def test_nothing_allowed_gives_zero(inputs):
    output, weights = scaled_dot_product_attention(*inputs, torch.zeros(5, 5, dtype=torch.bool))
    assert not output.any()
    assert not weights.any()


def test_gradients(inputs):
    query = inputs[0].clone().requires_grad_()
    scaled_dot_product_attention(query, *inputs[1:])[0].sum().backward()
    assert query.grad.isfinite().all()


@pytest.mark.parametrize("heads", [1, 2, 4])
def test_module(heads):
    torch.manual_seed(0)
    assert MultiHeadAttention(8, heads)(torch.randn(2, 5, 8)).shape == (2, 5, 8)


def test_heads_must_divide():
    with pytest.raises(ValueError, match=r"\w"):
        MultiHeadAttention(8, 3)


def test_context():
    assert MultiHeadAttention(8, 2)(torch.randn(2, 5, 8), context=torch.randn(2, 3, 8)).shape == (2, 5, 8)


def test_causal():
    torch.manual_seed(0)
    module, x = MultiHeadAttention(8, 2), torch.randn(1, 5, 8)
    other = x.clone()
    other[:, -1] += 1
    mask = torch.ones(5, 5).tril().bool()
    torch.testing.assert_close(module(x, mask)[:, :-1], module(other, mask)[:, :-1])
