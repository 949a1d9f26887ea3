"""Gradients are compared argument by argument, and a missing one is named."""

from __future__ import annotations

import math

import pytest
import torch

from grader.engine.checks.draw import Draw
from grader.engine.checks.expect import expect
from grader.engine.checks.failure import CheckFailure, PreconditionFailed
from grader.engine.checks.gradients import expect_gradients, oracle_gradients
from grader.errors import PackError


def attention(query, key, value):
    weights = (query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])).softmax(-1)
    return weights @ value, weights


class Backward(torch.autograd.Function):
    """Passes values on and spoils their gradient."""

    @staticmethod
    def forward(ctx, x, spoil):
        ctx.spoil = spoil
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return ctx.spoil(gradient.clone()), None


@pytest.fixture
def draw():
    return Draw(0, "gradients")


@pytest.fixture
def inputs(draw):
    return {
        "query": draw.normal(batch=2, query=3, width=4, requires_grad=True),
        "key": draw.normal(batch=2, key=5, width=4, requires_grad=True),
        "value": draw.normal(batch=2, key=5, width=6, requires_grad=True),
    }


def said(outputs, inputs, draw, oracle=attention, **kwargs):
    with pytest.raises(CheckFailure) as caught:
        expect_gradients(outputs, inputs, draw, oracle=oracle, **kwargs)
    assert caught.value.subject is (outputs[0] if isinstance(outputs, tuple) else outputs) or kwargs
    return caught.value.failure


def test_right_gradients_pass(draw, inputs):
    expect_gradients(attention(**inputs), inputs, draw, oracle=attention)
    expect_gradients(attention(**inputs)[0], inputs, draw, oracle=lambda *x: attention(*x)[0])
    assert inputs["query"].grad is None


def test_the_result_is_cut_off(draw, inputs):
    output = attention(**inputs)[0].detach()
    assert said(output, inputs, draw, lambda *x: attention(*x)[0]).lines() == [
        "no gradient  output  is cut off from its inputs: backward finds no way in",
    ]
    outputs = attention(**inputs)
    failure = said((outputs[0], outputs[1].detach()), inputs, draw, names=("output", "weights"))
    assert failure.lines()[0].startswith("no gradient  weights  is cut off")


def test_an_argument_gets_none(draw, inputs):
    outputs = attention(inputs["query"], inputs["key"].detach(), inputs["value"])
    failure = said(outputs, inputs, draw)
    assert failure.stage == "gradient"
    assert failure.lines() == [
        "no gradient  key  none arrives, though the result depends on it",
    ]


def test_a_gradient_that_should_be_zero_may_be_missing(draw, inputs):
    x = draw.normal(n=3, requires_grad=True)
    extra = {**inputs, "extra": x}
    expect_gradients(attention(**inputs), extra, draw, oracle=lambda q, k, v, x: attention(q, k, v))


def test_a_wrong_gradient_is_located(draw, inputs):
    def spoil(gradient):
        gradient[1] += 1
        return gradient

    outputs = attention(inputs["query"], Backward.apply(inputs["key"], spoil), inputs["value"])
    failure = said(outputs, inputs, draw)
    assert failure.location == {"batch": 1, "key": 0, "width": 0}
    first, count, where = failure.lines()
    assert first.startswith("wrong gradient  gradient of key[batch 1, key 0, width 0]  got ")
    assert count.startswith("20 of 40 values differ (tolerance ")
    assert where == "all of batch 1, nothing else"


def test_nan_in_a_gradient(draw, inputs):
    spoiled = Backward.apply(inputs["value"], lambda g: g * math.nan)
    failure = said(attention(inputs["query"], inputs["key"], spoiled), inputs, draw)
    assert failure.stage == "nan"  # it arrives, and is wrong as any value is
    assert failure.lines() == [
        "not finite  gradient of value[batch 0, key 0, width 0]  got nan",
        "all 60 values are NaN",
    ]


def test_cotangents_are_random_so_swapped_or_constant_gradients_are_seen(draw):
    # softmax summed is constant: with a cotangent of ones every gradient would be zero
    x = draw.normal(batch=3, width=4, requires_grad=True)
    wrong = Backward.apply(x, lambda g: g * 0).softmax(-1)
    assert said(wrong, {"x": x}, draw, lambda t: t.softmax(-1)).lines()[-1] == "yours is 0 everywhere"


def test_shape_comes_before_gradient(draw, inputs):
    output = attention(**inputs)[0].transpose(1, 2)
    with pytest.raises(PreconditionFailed, match="output must be right") as caught:
        expect_gradients(output, inputs, draw, oracle=lambda *x: attention(*x)[0])
    assert caught.value.why.startswith("wrong shape  output")


def test_of_a_wrong_result_no_gradient_is_called_wrong(draw, inputs):
    doubled = 2 * attention(**inputs)[0]
    with pytest.raises(PreconditionFailed, match="output must be right") as caught:
        expect_gradients(doubled, inputs, draw, oracle=lambda *x: attention(*x)[0])
    assert caught.value.why.startswith("first difference  output")
    shifted = attention(**inputs)[0] + 1  # whose gradient is right all the same
    expect_gradients(shifted, inputs, draw, oracle=lambda *x: attention(*x)[0])
    cut = 2 * attention(inputs["query"], inputs["key"].detach(), inputs["value"])[0]
    assert "none arrives" in said(cut, inputs, draw, lambda *x: attention(*x)[0]).lines()[0]


@pytest.mark.slow
def test_gradients_of_parameters(draw):
    layer = torch.nn.Linear(4, 3)
    x = draw.normal(batch=2, width=4)
    inputs = {"x": x, "weight": layer.weight, "bias": layer.bias}
    output = layer(x)
    cotangent = draw.like(output)
    expected = oracle_gradients(torch.nn.functional.linear, inputs, cotangent)
    output.backward(cotangent)
    expect(layer.weight.grad, "weight.grad", "out in").close_to(expected["weight"])
    expect(layer.bias.grad, "bias.grad", "out").close_to(expected["bias"])
    with pytest.raises(CheckFailure, match="no gradient has reached it"):
        expect(None, "weight.grad").close_to(expected["weight"])


def test_an_authors_mistake_is_the_packs_fault(draw, inputs):
    with pytest.raises(PackError, match="does not require a gradient"):
        expect_gradients(attention(**inputs), {"x": torch.zeros(2)}, draw, oracle=attention)
    with pytest.raises(PackError, match="1 outputs, 2 of the oracle"):
        expect_gradients(attention(**inputs)[0], inputs, draw, oracle=attention)
    with pytest.raises(PackError, match="only floating"):
        oracle_gradients(lambda t: t, {"t": torch.tensor([1])}, torch.zeros(1))
