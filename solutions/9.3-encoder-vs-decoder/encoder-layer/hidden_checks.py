"""Hidden checks of 9.3.5: what is right only on the visible inputs fails here."""

from __future__ import annotations

import torch

from grader.checks import Part, check, expect, oracle

AXES = "batch time width"


def calls_of(draw, d_model, num_heads, sizes):
    """Draw arguments: without a mask and under masks of several forms."""
    calls = []
    for batch, time in sizes:
        x = draw.normal(batch=batch, time=time, width=d_model)
        mask = draw.mask(keep=0.5, batch=batch, head=num_heads if time > 2 else 1, query=time, key=time)
        calls.append({"x": x, "mask": mask})
    return [*calls, {"x": x}]


@check(aspect="values", points=5)
def test_layer_contract(submission, reference, draw):
    """a layer keeps its promises for any sizes, heads and options, however it is called

    > Layer and encoder work for any sizes, one position and hundreds, and compute in their own dtype.
    > bool [T, T], or broadcastable to [B, H, T, T]; None allows everything.
    > Gradients reach x and every parameter.
    """
    for num_heads, norm_first, activation, sizes in (
        (1, True, "relu", [(1, 3)]),
        (4, True, "gelu", [(3, 1), (4, 4)]),
        (3, False, "swiglu", [draw.sizes(2, 3, 7)]),
    ):
        d_ff, times = draw.sizes(2, 2, 7)
        width = 4 if num_heads == 4 else num_heads * times  # once all sizes are the same
        made = {"d_model": width, "num_heads": num_heads, "d_ff": d_ff, "dropout": 0.2}
        made |= {"norm_first": norm_first, "activation": activation}
        part = Part("EncoderLayer", made, ["output"], [AXES], [torch.float64, torch.bfloat16])
        part.expect(submission, reference, draw, calls_of(draw, made["d_model"], num_heads, sizes))


@check(aspect="gradient", points=7)
def test_encoder_contract(submission, reference, draw):
    """an encoder keeps its promises at any depth and any length, however it is called

    > xᵢ = layerᵢ(xᵢ₋₁, M)
    > Layer and encoder work for any sizes, one position and hundreds, and compute in their own dtype.
    > Gradients reach x and every parameter.
    > norm_first=True, activation="relu"
    """
    full = [torch.float64, torch.bfloat16]
    for norm_first, num_layers, sizes, dtypes in (
        (True, 2, [draw.sizes(2, 3, 7)], full),
        (False, draw.size(2, 5), [(2, 1)], full),
        (True, draw.size(13, 16), [(2, 4)], ()),
        (True, 1, [(1, draw.size(300, 420))], ()),
        (False, 1, [(1, draw.size(300, 420))], ()),
    ):
        made = {"num_layers": num_layers, "d_model": 6, "num_heads": 2, "d_ff": 9, "dropout": 0.2}
        made |= {"norm_first": norm_first, "activation": "gelu"}
        part = Part("Encoder", made, ["output"], [AXES], dtypes, gradients=bool(dtypes))
        part.expect(submission, reference, draw, calls_of(draw, 6, 2, sizes))


@check(aspect="mode", points=4)
def test_encoder_dropout(submission, draw):
    """dropout reaches every layer of an encoder, each feature by itself, and eval() ends it everywhere

    > how much of each sublayer's output is dropped before it is added; also what FeedForward drops.
    > Options have to be handed on: from the layer to its feed-forward network, from the encoder to its layers.
    """
    x = draw.normal(batch=2, time=5, width=8, scale=30.0)  # next to which no eps shows
    module = submission.Encoder(3, 8, 2, 13, dropout=0.99999999)
    wanted = oracle(lambda x: torch.nn.functional.layer_norm(x, (8,)), x)
    expect(module(x), "norm(x), since all that is added is dropped", axes=AXES).close_to(wanted)
    # Each feature by itself, and after each sublayer anew: where both drop it, x is as it was.
    layer = submission.EncoderLayer(16, 2, 13, dropout=0.5)
    x16 = draw.normal(batch=12, time=12, width=16)
    kept = layer(x16).detach() == x16
    expect(float(kept.double().mean()), "share of x that a layer leaves as it is").is_between(0.15, 0.35)
    for axis, name in enumerate(("place in all rows", "feature at all positions", "position")):
        expect(bool(kept.all(dim=axis).any()), f"a {name} that a layer leaves as it is").is_value(False)
    module = submission.Encoder(3, 8, 2, 13, dropout=0.5)
    module.eval()
    once, again = module(x), module(x)
    expect(once, "output after eval()", axes=AXES).same_as(again, name="the same call again")
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
