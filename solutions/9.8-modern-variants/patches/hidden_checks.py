"""Hidden checks of 9.8.3: what is right only on the visible sizes fails here."""

from __future__ import annotations

import torch

from grader.checks import check, expect, expect_unchanged, oracle, with_axes

PATCHES, IMAGES, LOGITS = "batch patch number", "batch channel row column", "batch class"


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
        if each == name or (name in ("class_token", "positions") and each.startswith(f"{name}."))
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
    "images of any number, channels, height and width are cut, and put together again",
    aspect="values",
    points=2,
    asked=[
        "Patches come row by row: those of the topmost row from left to right, then the row below.",
        "All of it works for any sizes",
    ],
)
def test_any_image(submission, reference, draw):
    for least in (1, 1, 2):  # of one row, column, channel or pixel any order is right
        batch, channels, rows, columns, size = draw.sizes(5, least, 6 + least)
        height, width = rows * size, columns * size
        images = pictures(draw, batch, channels, height, width)
        patches = submission.patchify(images, size)
        expect_unchanged(submission)
        wanted = reference.patchify(images.cpu(), size)
        expect(patches, "patches", axes=PATCHES).equals(wanted)
        given = with_axes(wanted.to(draw.device).contiguous(), *PATCHES.split())
        expect(submission.unpatchify(given, size, height, width), "images", axes=IMAGES).equals(images)


@check(
    "the model is right for any sizes",
    aspect="values",
    points=2,
    asked=["All of it works for any sizes", "logits = head(encoder(x)[0])"],
)
def test_any_model(submission, reference, draw):
    for heads, layers in ((1, 3), (3, 1), (4, 2)):
        batch, channels, across, size, classes, times, d_ff = draw.sizes(7, 1, 9)
        sizes = (across * size, size, channels, classes, heads * times)
        model, state, forward = pair(
            submission, reference, draw, *sizes, num_heads=heads, d_ff=d_ff, num_layers=layers
        )
        images = pictures(draw, batch, channels, across * size, across * size)
        with torch.no_grad():
            logits = model(images)
        expect(logits, "logits", axes=LOGITS).close_to(oracle(forward, state, images))


@check(
    "hundreds of images and hundreds of patches are read as a few are",
    aspect="values",
    points=1,
    asked="All of it works for any sizes",
)
def test_many(submission, reference, draw):
    for batch, across in ((draw.size(260, 300), 2), (2, draw.size(17, 20))):
        model, state, forward = pair(submission, reference, draw, 2 * across, 2, 1, 3, 8, 2, 12, 1)
        images = pictures(draw, batch, 1, 2 * across, 2 * across)
        with torch.no_grad():
            logits = model(images)
        expect(logits, "logits", axes=LOGITS).close_to(oracle(forward, state, images))


@check(
    "arguments may be given by position and by name",
    aspect="arguments",
    points=0.5,
    asked="VisionTransformer(image_size, patch_size, channels, num_classes,",
)
def test_ways_to_call(submission, reference, draw):
    images = pictures(draw, 2, 3, 4, 6)
    patches = submission.patchify(images=images, size=2)
    expect(patches, "patches", axes=PATCHES).equals(reference.patchify(images.cpu(), 2))
    given = with_axes(patches.detach().contiguous(), *PATCHES.split())
    images = submission.unpatchify(patches=given, size=2, height=4, width=6)
    expect(images, "images", axes=IMAGES).equals(reference.unpatchify(given.cpu(), 2, 4, 6))
    by_name = dict(
        image_size=6, patch_size=3, channels=2, num_classes=4, d_model=8, num_heads=4, d_ff=5, num_layers=1
    )
    model, state, forward = pair(submission, reference, draw, **by_name)
    other = submission.VisionTransformer(*by_name.values())
    load(other, state)
    images = pictures(draw, 2, 2, 6, 6)
    wanted = oracle(forward, state, images)
    for each in (model, other):
        with torch.no_grad():
            logits = each(images=images)
        expect(logits, "logits", axes=LOGITS).close_to(wanted)


@check(
    "each call answers for its own images and the parameters of now, whatever came before",
    aspect="values",
    points=1.5,
    asked="a result depends on the image and the parameters as they are now",
)
def test_in_turns(submission, reference, draw):
    # As many numbers in every image, so that what was kept would fit.
    for height, width, size in ((4, 9, 1), (6, 6, 2), (6, 6, 3), (12, 3, 3), (6, 6, 2)):
        images = pictures(draw, 2, 2, height, width)
        patches = submission.patchify(images, size)
        expect(patches, "patches", axes=PATCHES).equals(reference.patchify(images.cpu(), size))
        given = with_axes(patches.detach().contiguous(), *PATCHES.split())
        expect(submission.unpatchify(given, size, height, width), "images", axes=IMAGES).equals(images)
    sizes = (6, 2, 2, 3, 8, 2, 10, 1)
    models = [pair(submission, reference, draw, *sizes) for _ in range(2)]
    batches = [pictures(draw, batch, 2, 6, 6) for batch in (3, 3, 2)]
    for images in (*batches, batches[0]):
        for model, state, forward in models:
            with torch.no_grad():
                logits = model(images)
            expect(logits, "logits", axes=LOGITS).close_to(oracle(forward, state, images))
    (model, _, forward), (_, state, _) = models
    load(model, state)
    with torch.no_grad():
        logits = model(batches[0])
    expect(logits, "logits of parameters that were loaded", axes=LOGITS).close_to(
        oracle(forward, state, batches[0])
    )
