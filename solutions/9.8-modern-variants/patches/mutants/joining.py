"""What joining gets wrong: it is the way of patchify, step by step, back.

The patches become a grid again, every patch an image, and the axes go back to where they came from.
"""

mistake(
    "joined-by-reshape",
    "your unpatchify only reshapes, so a patch's numbers end up in one row of the image; permute the axes as well",
    unpatchify="cut.permute(0, 3, 1, 4, 2, 5).reshape -> cut.reshape",
)

mistake(
    "joined-columns-first",
    "your unpatchify fills the image column by column; it should fill it row by row",
    unpatchify="""
        - cut = patches.reshape(B, rows, columns, -1, size, size)
        - return cut.permute(0, 3, 1, 4, 2, 5).reshape(B, -1, height, width)
        + cut = patches.reshape(B, columns, rows, -1, size, size)
        + return cut.permute(0, 3, 2, 4, 1, 5).reshape(B, -1, height, width)
    """,
)

mistake(
    "grid-exchanged",
    "your unpatchify lays out height / size patches in a row; a row should have width / size of them",
    unpatchify="B, rows, columns -> B, columns, rows",
)

mistake(
    "channels-last-joined",
    "your unpatchify takes the channels of a pixel to lie side by side; all of the first channel should come first",
    unpatchify=[
        "-1, size, size -> size, size, -1",
        "3, 1, 4, 2, 5 -> 5, 1, 3, 2, 4",
    ],
)

mistake(
    "patches-turned",
    "your unpatchify exchanges rows and columns inside every patch, so each comes out transposed; keep both in order",
    unpatchify="cut.permute(0, 3, 1, 4, 2, 5) -> cut.permute(0, 3, 1, 5, 2, 4)",
)

mistake(
    "cut-permutation-again",
    "your unpatchify uses the permutation of patchify; use the inverse one, which puts every axis back",
    unpatchify="cut.permute(0, 3, 1, 4, 2, 5) -> cut.permute(0, 2, 4, 1, 3, 5)",
)

mistake(
    "number-not-looked-at",
    "your unpatchify lets reshape complain about patches that do not fill the image; raise ValueError",
    unpatchify="height % size or width % size or rows * columns != N -> height % size or width % size",
)

mistake(
    "joined-sides-not-looked-at",
    "your unpatchify checks only the number of patches; it should also refuse sides that are not a multiple of size",
    unpatchify="height % size or width % size or rows * columns != N -> rows * columns != N",
)

mistake(
    "joined-detached",
    "your images are cut off from the patches; gradients should go back through the joining to the patches",
    unpatchify="patches.reshape -> patches.data.reshape",
)

mistake(
    "three-channels",
    "your unpatchify makes three channels of every patch; it should take their number from the width of a patch",
    unpatchify="columns, -1, size -> columns, 3, size",
)

mistake(
    "square-image",
    "your unpatchify makes a square image; its sides should be height and width",
    unpatchify="""
        - cut = patches.reshape(B, rows, columns, -1, size, size)
        - return cut.permute(0, 3, 1, 4, 2, 5).reshape(B, -1, height, width)
        + side = int(N**0.5)
        + cut = patches.reshape(B, side, side, -1, size, size)
        + return cut.permute(0, 3, 1, 4, 2, 5).reshape(B, -1, side * size, side * size)
    """,
)

mistake(
    "grid-not-split-by-rows",
    "your unpatchify has columns of patches before rows of pixels; exchange these two axes before the reshape",
    unpatchify="cut.permute(0, 3, 1, 4, 2, 5) -> cut.permute(0, 3, 1, 2, 4, 5)",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
