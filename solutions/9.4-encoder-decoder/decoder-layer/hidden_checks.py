"""Hidden checks of 9.4.1: what is right only on the visible inputs fails here."""

from __future__ import annotations

import torch

from grader.checks import Part, check

AXES = "batch time width"
DTYPES = (torch.float64, torch.bfloat16)


def calls(draw, num_heads, sizes):
    """Draw a call with both masks for three rows, without any for one, and with that of the memory for two."""
    for batch, time, source in sizes:
        call = {
            "x": draw.normal(batch=batch, time=time, width=6),
            "memory": draw.normal(batch=batch, source=source, width=6, scale=2.0, shift=0.5),
            "self_mask": draw.mask(keep=0.5, batch=batch, head=1, query=time, key=time),
            "memory_mask": draw.mask(keep=0.5, batch=batch, head=num_heads, query=time, key=source),
        }
        if batch < 3:
            call["self_mask"] = None
        if batch == 1:
            call["memory_mask"] = None
        yield call


@check(aspect="values", points=5)
def test_layer_contract(submission, reference, draw):
    """a layer keeps its promises for any sizes and masks, in every dtype, however it is called

    > Layer and decoder work for any sizes
    > bool [T, S], or broadcastable to [B, H, T, S].
    > Gradients reach x, the memory and every parameter.
    > Nothing is kept from one call to the next.
    """
    for num_heads, norm_first, activation in ((6, True, "gelu"), (3, False, "swiglu")):
        options = {"norm_first": norm_first, "activation": activation}
        made = {"d_model": 6, "num_heads": num_heads, "d_ff": 11, "dropout": 0.3} | options
        sizes = ((3, 4, 5), (6, 2, 1), *(((1, 66, 3), (2, 1, 130), (6, 6, 6)) if norm_first else ()))
        part = Part("DecoderLayer", made, axes=[AXES], dtypes=DTYPES)
        part.expect(submission, reference, draw, list(calls(draw, num_heads, sizes)))


@check(aspect="values", points=5)
def test_decoder_contract(submission, reference, draw):
    """a decoder keeps its promises for any sizes and masks, in every dtype, however it is called

    > xᵢ = layerᵢ(xᵢ₋₁, memory, self_mask, memory_mask)
    > Layer and decoder work for any sizes
    > Gradients reach x, the memory and every parameter.
    > Nothing is kept from one call to the next.
    """
    sizes = {"num_layers": 2, "d_model": 6, "num_heads": 2, "d_ff": 11, "dropout": 0.3}
    made = sizes | {"norm_first": True, "activation": "gelu"}
    part = Part("Decoder", made, axes=[AXES], dtypes=DTYPES)
    part.expect(submission, reference, draw, list(calls(draw, 2, ((3, 4, 5), (1, 1, 66)))))
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
