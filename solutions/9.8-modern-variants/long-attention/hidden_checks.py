"""Hidden checks of 9.8.2: what is right only on the visible sizes, or remembers the call before, fails here."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from grader.checks import check, expect, oracle, with_axes


def right(query, key, value, causal):
    products = (F.elu(query) + 1) @ (F.elu(key) + 1).mT
    products = products.tril() if causal else products
    return products / products.sum(dim=-1, keepdim=True) @ value


def pair(submission, reference, draw, *sizes):
    """Build the submission's Linformer and an oracle (x, mask) -> output, with the same random parameters."""
    trusted, model = reference.Linformer(*sizes), submission.Linformer(*sizes)
    state = {
        name: draw.normal(
            rows=len(tensor), columns=tensor[0].numel(), scale=1.5 * tensor[0].numel() ** -0.5
        ).view(tensor.shape)
        for name, tensor in trusted.state_dict().items()
    }
    own = model.state_dict()
    load = {
        each: tensor
        for name, tensor in state.items()
        for each in (name, f"{name}.weight")
        if each in own and own[each].shape == tensor.shape
    }
    model.load_state_dict(load, strict=False)
    model.eval()

    def forward(x, mask=None):
        module = reference.Linformer(*sizes).to(x.dtype)
        return torch.func.functional_call(module, {k: v.to(x) for k, v in state.items()}, (x, mask))

    return model, forward


def read(model, x, *mask):
    with torch.no_grad():
        return model(with_axes(x, "batch", "time", "width"), *mask)


@check(
    "lengths and widths that are not shown, with and without axes in front",
    aspect="values",
    points=3,
    asked=[
        "[.., Tq, D], with any number of axes in front.",
        "query i sees keys 0 to i; Tq and Tk are equal then.",
    ],
)
def test_other_lengths(submission, draw):
    for front, length, width, columns in (
        ({}, draw.size(600, 900), 2, 1),
        ({"batch": 2, "group": 1, "head": 2}, draw.size(30, 200), 9, 4),
        ({"batch": 3}, 64, 1, 3),
    ):
        for causal in (False, True):
            keys = length if causal else draw.size(1, 40)
            query = draw.normal(**front, query=length, width=width)
            key = draw.normal(**front, key=keys, width=width)
            value = draw.normal(**front, key=keys, value=columns)
            found = submission.linear_attention(query, key, value, causal=causal)
            name = f"output for {length} queries{', causal' * causal}"
            expect(found, name).close_to(
                oracle(lambda q, k, v, c=causal: right(q, k, v, c), query, key, value)
            )


@check(
    "other sizes of a Linformer, other lengths, other padding",
    aspect="values",
    points=3,
    asked=["k: how many mixtures of keys and of values are left", "bool [B, T], False at padding"],
)
def test_other_sizes(submission, reference, draw):
    for sizes, times in (
        ((12, 3, 90, 17), (90, draw.size(20, 80))),
        ((6, 6, 5, 9), (5, 2)),
        ((5, 1, 40, 1), (31,)),
    ):
        model, forward = pair(submission, reference, draw, *sizes)
        for time in times:
            x = draw.normal(batch=2, time=time, width=sizes[0])
            mask = draw.mask(batch=2, time=time)
            mask[:, 0] = True
            expect(read(model, x), f"output, {time} positions").close_to(oracle(forward, x))
            found, real = read(model, x, mask)[mask], mask.cpu()
            expect(found, f"output at real positions, {time} in all").close_to(
                oracle(lambda x, m=real, of=forward: of(x, m)[m], x)
            )


@check(
    "nothing is kept from a sequence before, or from another model",
    aspect="values",
    points=2,
    asked="nothing is kept from one call or model to the next",
)
def test_interleaved(submission, reference, draw):
    pairs = [pair(submission, reference, draw, 8, 2, longest, 3) for longest in (9, 30)]
    for time in (9, 3, 9):
        for model, forward in pairs:
            x = draw.normal(batch=2, time=time, width=8)
            expect(read(model, x), f"output, {time} positions").close_to(oracle(forward, x))
        query, key = draw.normal(query=time, width=4), draw.normal(key=time, width=4)
        value = draw.normal(key=time, value=2)
        found = submission.linear_attention(query, key, value, causal=True)
        expect(found, "output, causal").close_to(
            oracle(lambda q, k, v: right(q, k, v, True), query, key, value)
        )
