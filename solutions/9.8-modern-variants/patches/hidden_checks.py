"""Hidden checks of 9.8.3: what is right only on the visible sizes fails here."""

from __future__ import annotations

import torch

from grader.checks import (
    Part,
    check,
    expect,
    expect_unchanged,
    oracle,
    with_axes,
)

PATCHES, IMAGES, LOGITS = "batch patch number", "batch channel row column", "batch class"
DTYPES = (torch.float32, torch.float64, torch.bfloat16)


def pictures(draw, batch, channels, height, width, **options):
    return draw.normal(batch=batch, channel=channels, row=height, column=width, **options)


def pair(submission, reference, draw, *sizes, **named):
    """Build the submission's model and an oracle (state, images) -> logits, with the same random parameters."""
    trusted = reference.VisionTransformer(*sizes, **named)
    state = {}
    for name, tensor in trusted.state_dict().items():
        if "norm" in name and name.endswith("weight"):
            state[name] = draw.normal(width=len(tensor), scale=0.5, shift=1.0)
        elif tensor.ndim == 2:
            state[name] = draw.normal(
                out=len(tensor),
                width=tensor.shape[1],
                scale=1 if name == "positions" else tensor.shape[1] ** -0.5,
            )
        else:
            state[name] = draw.normal(width=len(tensor))
    model = submission.VisionTransformer(*sizes, **named)
    load(model, state)

    def forward(state, images):
        trusted = reference.VisionTransformer(*sizes, **named).to(images.dtype)
        return torch.func.functional_call(trusted, state, (images,))

    return model, state, forward


def load(model, state):
    """Load parameters that may have further axes, a convolution's or a token of [1, 1, D], or be inside of a module."""
    own = model.state_dict()
    called = {
        name: each
        for name in state
        for each in own
        if each == name
        or (name in ("class_token", "positions") and each.startswith(f"{name}."))
        or (name.startswith("embedding.") and each.startswith("embedding.") and each.endswith(name[9:]))
    }
    model.load_state_dict(
        {
            each: state[name].reshape(own[each].shape)
            for name, each in called.items()
            if own[each].numel() == state[name].numel()
        },
        strict=False,
    )
    model.eval()


@check(
    "images of any size are cut and put together again, in every dtype, however the functions are called",
    aspect="values",
    points=3,
    asked=[
        "Patches come row by row: those of the topmost row from left to right, then the row below.",
        "All of it works for any sizes",
        "Results have the dtype of what was given",
    ],
)
def test_patches_contract(submission, reference, draw):
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
        part = Part(name, outputs=[outputs], axes=[axes], dtypes=DTYPES[1:])
        part.expect(submission, reference, draw, calls)


@check(
    "the model is right for any sizes, for hundreds of images and patches, in every dtype, however it is called",
    aspect="values",
    points=4,
    asked=["All of it works for any sizes", "logits = head(encoder(x)[0])", "logits the dtype of the model"],
)
def test_any_model(submission, reference, draw):
    for heads, layers, batch, across, dtype in (
        (1, 3, 1, 1, torch.float32),
        (3, 1, draw.size(260, 300), 2, torch.float32),
        (4, 2, 2, draw.size(9, 12), torch.float64),
        (2, 1, 3, 3, torch.bfloat16),
    ):
        channels, size, classes, times, d_ff = draw.sizes(5, 1, 6)
        sizes = (across * size, size, channels, classes, heads * times)
        model, state, forward = pair(
            submission, reference, draw, *sizes, num_heads=heads, d_ff=d_ff, num_layers=layers
        )
        state = {name: tensor.to(dtype) for name, tensor in state.items()}
        images = pictures(draw, batch, channels, across * size, across * size).to(dtype)
        given = draw.noncontiguous(with_axes(images, *IMAGES.split()))
        with torch.no_grad():
            logits = model.to(dtype)(images=given)
        expect_unchanged(submission)
        expect(logits, "logits", axes=LOGITS).close_to(oracle(forward, state, images))
