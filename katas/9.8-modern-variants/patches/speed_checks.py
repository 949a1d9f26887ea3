"""Are images cut and joined at once? Speed checks of 9.8.3, for `kata check --perf`."""

from __future__ import annotations

from grader.checks import Work, check, expect

SIZE, CHANNELS, SIDE = 2, 3, 128
ACROSS = SIDE // SIZE


def images(draw, batch):
    return (draw.normal(batch=batch, channel=CHANNELS, row=SIDE, column=SIDE),)


def cut(pictures):
    """Return the right patches, by torch's own sliding windows."""
    windows = pictures.cpu().unfold(2, SIZE, SIZE).unfold(3, SIZE, SIZE)  # [B, C, rows, columns, size, size]
    return windows.flatten(2, 3).transpose(1, 2).flatten(2)


def patches(draw, batch):
    return (draw.normal(batch=batch, patch=ACROSS**2, number=CHANNELS * SIZE**2),)


def right_patches(found, pictures):
    expect(found, "patches", axes="batch patch number").equals(cut(pictures))


def right_images(found, given):
    expect(found, "images", axes="batch channel row column").is_tensor(
        shape=(len(given), CHANNELS, SIDE, SIDE)
    )
    expect(cut(found), "the images, cut again", axes="batch patch number").equals(given)


CUT = Work(
    inputs=images,
    call=lambda kata, pictures: kata.patchify(pictures, SIZE),
    right=right_patches,
    sizes={"cpu": (1, 2, 4), "cuda": (1, 2, 4)},
    axis="images",
    traffic=lambda batch: 2 * batch * CHANNELS * SIDE**2 * 4,
)
JOINED = Work(
    inputs=patches,
    call=lambda kata, given: kata.unpatchify(given, SIZE, SIDE, SIDE),
    right=right_images,
    sizes={"cpu": (1, 2, 4), "cuda": (1, 2, 4)},
    axis="images",
    traffic=lambda batch: 2 * batch * CHANNELS * SIDE**2 * 4,
)


@check(aspect="performance", threshold="patchify")
def test_patchify_speed(speed):
    """all patches of all images are cut in one pass

    > all patches of all images are cut in one pass, without a loop over them
    """
    speed.ratio(CUT)


@check(aspect="performance", threshold="unpatchify")
def test_unpatchify_speed(speed):
    """all patches of all images are joined in one pass

    > all patches of all images are cut in one pass, without a loop over them, and joined in one.
    """
    speed.ratio(JOINED)
