"""Hidden checks of 9.7.1: what is right only on the visible inputs fails here."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from grader.checks import (
    Part,
    check,
    expect,
    expect_raises,
    given_module,
    oracle,
    same_tensors,
    with_axes,
)

AXES = "batch time width"
DTYPES = (torch.float64, torch.bfloat16)


def weights_of(draw, lead, queries, keys, keep=0.7):
    """Return weights as a softmax makes them, with zeros where a random mask says so."""
    scores = draw.normal(**lead, query=queries, key=keys, scale=2.0)
    mask = draw.mask(keep=keep, query=queries, key=keys)
    return with_axes(scores.masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num(0.0), *lead, "query", "key")


@check(aspect="values", points=4.5)
def test_measures_contract(submission, reference, draw):
    """both measures keep their promises for any sizes, in every dtype, however they are called

    > [.., Tq, Tk], any number of axes in front.
    > A weight of 0 adds 0.
    > T need not be a multiple of period.
    > Both measures keep the dtype of the weights
    """
    entropy = Part("attention_entropy", outputs=["entropy"], dtypes=DTYPES, gradients=False)
    calls = [
        {"weights": weights_of(draw, lead, *sizes)}
        for lead, sizes in (
            ({"batch": 3}, draw.sizes(2, 2, 9)),
            ({"layer": 2, "batch": 1, "head": 3}, (1, 70)),
            ({"batch": 1}, (5, 1)),
            ({}, (4, 6)),
        )
    ]
    steep = (12 * draw.normal(batch=2, query=3, key=9)).softmax(dim=-1)  # down to shares of a billionth
    calls.append({"weights": with_axes(steep, "batch", "query", "key")})
    entropy.expect(submission, reference, draw, calls)
    score = Part("induction_score", outputs=["score"], dtypes=DTYPES)
    length = draw.size(66, 80)
    calls = [
        {"weights": weights_of(draw, lead, size, size), "period": period}
        for lead, size, period in (
            ({"batch": 3, "head": 2}, 9, draw.size(3, 7)),
            ({"batch": 1, "head": 2}, length, length // 2 + 1),
            ({"batch": 2, "head": 1}, 7, 1),
            ({"layer": 2, "batch": 1, "head": 3}, 8, 7),
        )
    ]
    score.expect(submission, reference, draw, calls)
    with expect_raises("ValueError", what="nothing repeats after -2 positions"):
        submission.induction_score(calls[0]["weights"], -2)


@check(aspect="values", points=3)
def test_any_probe(submission, reference, draw):
    """probes are right for any sizes, labels and ridges

    > int [N], any whole numbers.
    > N may be smaller than D.
    > ridge · Σ W²
    """
    for number, width, ridge in ((60, 7, 0.1), (25, 40, 1.0), (80, 5, 100.0)):
        names = torch.tensor([-5, 12, 3, 1000], device=draw.device)
        aside = draw.normal(feature=width, scale=10.0)  # what is fitted and what is asked lie far from 0
        centers = draw.normal(kind=4, feature=width, scale=2.0) + aside
        which = draw.integers(0, 4, example=number)
        which[:4] = torch.arange(4)
        features = with_axes(
            centers[which] + draw.normal(example=number, feature=width), "example", "feature"
        )
        labels = with_axes(names[which], "example")
        new = draw.normal(example=50, feature=width, scale=2.0) + aside
        wanted = reference.probe(features, labels, ridge=ridge)(new)
        # Where two scores are close, rounding may decide: such examples are left out.
        nudged = [
            reference.probe(features, labels, ridge=ridge * factor)(new + shift)
            for factor in (0.999, 1.001)
            for shift in (-1e-3, 1e-3)
        ]
        clear = torch.stack([one == wanted for one in nudged]).all(0)
        with same_tensors(submission):
            submission.probe(-features, labels.flip(0), ridge=ridge)
            found = submission.probe(features, labels, ridge=ridge)
        expect(
            found(with_axes(new[clear], "example", "feature")),
            f"labels, N={number}, D={width}, ridge={ridge}",
            axes="example",
        ).equals(wanted[clear])


class Stack:
    """A small stack in the worker with drawn parameters."""

    def __init__(self, submission, draw, width, heads, layers, crossing=False, dtype=torch.float32):
        probes = given_module(submission, "probes")
        self.model = probes.Stack(layers, width, heads, crossing=crossing)
        self.model.widen(heads * 3)  # w_o is not square
        self.model.to(draw.device, dtype)
        self.state = {
            name: draw.normal(**({"out": len(t), "width": t.shape[1]} if t.ndim == 2 else {"width": len(t)}))
            .mul(0.5 if t.ndim == 1 else 1.5 * t.shape[-1] ** -0.5)
            .to(dtype)
            for name, t in self.model.state_dict().items()
        }
        self.model.load_state_dict(self.state)
        self.heads, self.layers = heads, layers
        self.name = "self_attention" if crossing else "attention"
        self.ablate_heads = submission.ablate_heads

    def off(self, x, layer, heads):
        """Return the output without some heads."""
        with self.ablate_heads(self.model, layer, heads):
            return self.model(x)

    def right(self, draw, x, layer, off):
        """Return the output of zeros in w_o where heads are off."""
        state, name = dict(self.state), f"layers.{layer}.{self.name}.w_o.weight"
        columns = torch.ones(self.heads, device=draw.device)
        columns[off] = 0.0
        width = state[name].shape[1] // self.heads
        state[name] = state[name] * columns.repeat_interleave(width).to(state[name].dtype)

        def attended(state, x, context, part):
            q, k, v = (
                F.linear(source, state[f"{part}.{name}.weight"], state[f"{part}.{name}.bias"])
                .unflatten(-1, (self.heads, -1))
                .transpose(1, 2)
                for name, source in (("w_q", x), ("w_k", context), ("w_v", context))
            )
            mixed = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
            return F.linear(mixed, state[f"{part}.w_o.weight"], state[f"{part}.w_o.bias"])

        def compute(state, x):
            for layer in range(self.layers):
                x = x + attended(state, x, x, f"layers.{layer}.{self.name}")
                if self.name == "self_attention":
                    x = x + attended(state, x, x.flip(1), f"layers.{layer}.cross_attention")
            return x

        return oracle(compute, state, x)


@check(
    aspect="values",
    points=4.5,
    on_workers_word="outputs of a model with drawn parameters are compared with what is computed here",
)
def test_any_model(submission, reference, draw):
    """heads are switched off and on again in models of any size and dtype

    > with d = w_o.in_features / num_heads
    > nothing is copied, and after the block it computes as before
    """
    for heads, layers, crossing, dtype in (
        (1, 2, False, torch.float32),
        (6, 1, True, torch.float64),
        (3, 4, False, torch.bfloat16),
    ):
        stack = Stack(submission, draw, heads * 4, heads, layers, crossing, dtype)
        x = draw.normal(batch=2, time=4, width=heads * 4, dtype=dtype)
        layer, off = layers - 1, sorted({0, heads - 1})
        with torch.no_grad():
            before = stack.model(x)
            found = stack.off(x, layer, off)
            after = stack.model(x)
        expect(after, "output after the block", axes=AXES).equals(before)
        wanted = stack.right(draw, x, layer, off)
        expect(found, f"output with heads {off} of {heads} off", axes=AXES).close_to(wanted)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
