"""Hidden checks of 9.8.3: what is right only on the visible sizes fails here."""

from __future__ import annotations

import torch

from grader.checks import Part, check, with_axes

PATCHES, IMAGES, LOGITS = "batch patch number", "batch channel row column", "batch class"
DTYPES = (torch.float64, torch.bfloat16)


def pictures(draw, batch, channels, height, width, **options):
    return draw.normal(batch=batch, channel=channels, row=height, column=width, **options)


@check(aspect="values", points=3)
def test_patches_contract(submission, reference, draw):
    """images of any size are cut and put together again, in every dtype, however the functions are called

    > Patches come row by row: those of the topmost row from left to right, then the row below.
    > All of it works for any sizes
    > Results have the dtype of what was given
    """
    cut, joined = [], []
    for batch, channels, rows, columns, size in (
        draw.sizes(5, 2, 7),
        (1, 3, 1, draw.size(35, 40), 2),
        (2, 1, 1, 1, 3),
        (4, 4, 2, 2, 2),
    ):
        height, width = rows * size, columns * size
        images = pictures(draw, batch, channels, height, width)
        cut.append({"images": images, "size": size})
        patches = with_axes(reference.patchify(images.cpu(), size).to(draw.device), *PATCHES.split())
        joined.append({"patches": patches, "size": size, "height": height, "width": width})
    for name, outputs, axes, calls in (
        ("patchify", "patches", PATCHES, cut),
        ("unpatchify", "images", IMAGES, joined),
    ):
        part = Part(name, outputs=[outputs], axes=[axes], dtypes=DTYPES)
        part.expect(submission, reference, draw, calls)


@check(aspect="values", points=4)
def test_any_model(submission, draw):
    """however a model of another size is called, its logits are those of these images and parameters

    > All of it works for any sizes
    > logits the dtype of the model
    """
    for heads, layers, batch, across in (
        (1, 3, 2, 1),
        (3, 1, draw.size(260, 300), 2),
        (4, 2, 2, draw.size(9, 12)),
    ):
        channels, size, classes, times, d_ff = draw.sizes(5, 1, 6)
        made = {"image_size": across * size, "patch_size": size, "channels": channels, "num_classes": classes}
        made |= {"d_model": 2 * heads * times, "num_heads": heads, "d_ff": d_ff, "num_layers": layers}
        part = Part("VisionTransformer", made, ["logits"], [LOGITS], DTYPES)
        images = pictures(draw, batch, channels, across * size, across * size)
        part.expect(submission, None, draw, [{"images": images}])
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
