"""What cutting gets wrong: the order of patches and of what is in them, and sides that do not fit.

Row by row, from left to right; in a patch one channel after the other, each row by row.
"""

mistake(
    "columns-first",
    "your patches come column by column; those of the topmost row should come first, from left to right",
    patchify="cut.permute(0, 2, 4, 1, 3, 5) -> cut.permute(0, 4, 2, 1, 3, 5)",
)

mistake(
    "channels-last",
    "your patches hold the channels of each pixel side by side; all of the first channel should come first",
    patchify="cut.permute(0, 2, 4, 1, 3, 5) -> cut.permute(0, 2, 4, 3, 5, 1)",
)

mistake(
    "columns-first-inside",
    "your patches hold each channel's pixels column by column; they should hold them row by row",
    patchify="cut.permute(0, 2, 4, 1, 3, 5) -> cut.permute(0, 2, 4, 1, 5, 3)",
)

mistake(
    "strips",
    "your patches are strips of pixels, as reshape only counts on along the rows; permute the axes before it",
    patchify="cut.permute(0, 2, 4, 1, 3, 5).reshape -> cut.reshape",
)

mistake(
    "channels-apart",
    "your patches are cut from each channel by itself; each patch should hold the pixels of all channels",
    patchify="cut.permute(0, 2, 4, 1, 3, 5) -> cut.permute(0, 1, 2, 4, 3, 5)",
)

mistake(
    "sides-exchanged",
    "your patchify mistakes the height for the width, so only square images are cut right; exchange the two",
    patchify="H, W = images.shape -> W, H = images.shape",
)

mistake(
    "remainder-cut-off",
    "your patchify drops the pixels that fill no patch; raise ValueError when a side is not a multiple of size",
    patchify="""
        - if H % size or W % size:
        -     raise ValueError(f"an image of {H} x {W} pixels cannot be cut into patches of {size} x {size}")
        + images = images[:, :, : H // size * size, : W // size * size]
    """,
)

mistake(
    "reshape-complains",
    "your patchify lets reshape complain about sides, with a RuntimeError; raise ValueError",
    patchify="""
        - if H % size or W % size:
        -     raise ValueError(f"an image of {H} x {W} pixels cannot be cut into patches of {size} x {size}")
    """,
)

mistake(
    "grid-kept",
    "your patches are in a grid of rows and columns; they should be in one axis of N",
    patchify="-1, C * size * size -> H // size, W // size, -1",
    costs="every check of patches compares [B, N, C · size²]",
)

mistake(
    "numbers-not-joined",
    "your patches are still images of [C, size, size]; their numbers should lie in one axis",
    patchify="C * size * size -> C, size, size",
    costs="every check of patches compares [B, N, C · size²]",
)

mistake(
    "batch-joined",
    "your patches of all images lie in one axis, so the image of each is lost; keep the batch axis",
    patchify="B, -1, C * size * size -> -1, C * size * size",
    costs="every check of patches compares [B, N, C · size²]",
)

mistake(
    "patches-detached",
    "your patches are cut off from the images; gradients should go back through the cutting to the images",
    patchify="images.reshape -> images.detach().reshape",
)

mistake(
    "filled-in-float32",
    "your patches are float32 whatever the images are; make the tensor that you fill in the images' dtype",
    patchify="""
        - return cut.permute(0, 2, 4, 1, 3, 5).reshape(B, -1, C * size * size)
        + patches = torch.zeros(B, (H // size) * (W // size), C * size * size)
        + patches[:] = cut.permute(0, 2, 4, 1, 3, 5).reshape(B, -1, C * size * size)
        + return patches
    """,
)


@mistake(
    "numbers-before-patches",
    "your patches come after their numbers, [B, C · size², N], as torch's unfold has them; transpose them",
    costs="every check of patches compares [B, N, C · size²]",
)
def patchify(images, size):
    if images.shape[2] % size or images.shape[3] % size:
        raise ValueError("no multiple")
    return nn.functional.unfold(images, size, stride=size)


mistake(
    "sides-asserted",
    "your patchify asserts that the sides fit, which is an AssertionError; raise ValueError",
    patchify="""
        - if H % size or W % size:
        -     raise ValueError(f"an image of {H} x {W} pixels cannot be cut into patches of {size} x {size}")
        + assert H % size == 0 and W % size == 0, "sides must be multiples of size"
    """,
)

mistake(
    "square-grid",
    "your patchify makes as many columns of patches as rows; count the columns by the width, the rows by the height",
    patchify="W // size -> H // size",
)

mistake(
    "first-image-alone",
    "your patchify cuts only the first image of the batch; it should cut all of them",
    patchify="""
        - return cut.permute(0, 2, 4, 1, 3, 5).reshape(B, -1, C * size * size)
        + return cut.permute(0, 2, 4, 1, 3, 5).reshape(B, -1, C * size * size)[:1]
    """,
    costs="with one image's patches no batch can be compared",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
