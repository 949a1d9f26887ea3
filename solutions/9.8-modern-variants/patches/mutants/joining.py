"""What joining gets wrong: it is the way of patchify, step by step, back.

The patches become a grid again, every patch an image, and the axes go back to where they came from.
"""


class joined_by_reshape:
    """your unpatchify only reshapes: the numbers of a patch end up side by side in the image's rows

    Fails: test_unpatchify
    """

    unpatchify = """
        - return cut.permute(0, 3, 1, 4, 2, 5).reshape(B, -1, height, width)
        + return cut.reshape(B, -1, height, width)
    """


class joined_columns_first:
    """your unpatchify fills the image column by column: it takes its height for its width

    Fails: test_unpatchify
    """

    unpatchify = """
        - cut = patches.reshape(B, rows, columns, -1, size, size)
        - return cut.permute(0, 3, 1, 4, 2, 5).reshape(B, -1, height, width)
        + cut = patches.reshape(B, columns, rows, -1, size, size)
        + return cut.permute(0, 3, 2, 4, 1, 5).reshape(B, -1, height, width)
    """


class grid_exchanged:
    """your unpatchify lays out height / size patches in a row: a row has width / size of them

    Fails: test_unpatchify
    """

    unpatchify = """
        - cut = patches.reshape(B, rows, columns, -1, size, size)
        + cut = patches.reshape(B, columns, rows, -1, size, size)
    """


class channels_last_joined:
    """your unpatchify takes the channels of a pixel to lie side by side: all of the first channel comes first

    Fails: test_unpatchify
    """

    unpatchify = """
        - cut = patches.reshape(B, rows, columns, -1, size, size)
        - return cut.permute(0, 3, 1, 4, 2, 5).reshape(B, -1, height, width)
        + cut = patches.reshape(B, rows, columns, size, size, -1)
        + return cut.permute(0, 5, 1, 3, 2, 4).reshape(B, -1, height, width)
    """


class patches_turned:
    """your unpatchify exchanges rows and columns inside of every patch: each comes out mirrored at its diagonal

    Fails: test_unpatchify
    """

    unpatchify = """
        - return cut.permute(0, 3, 1, 4, 2, 5).reshape(B, -1, height, width)
        + return cut.permute(0, 3, 1, 5, 2, 4).reshape(B, -1, height, width)
    """


class cut_permutation_again:
    """your unpatchify uses the permutation of patchify: the way back has its own, in which every axis returns

    Fails: test_unpatchify
    """

    unpatchify = """
        - return cut.permute(0, 3, 1, 4, 2, 5).reshape(B, -1, height, width)
        + return cut.permute(0, 2, 4, 1, 3, 5).reshape(B, -1, height, width)
    """


class number_not_looked_at:
    """your unpatchify leaves it to reshape to complain: patches that do not fill the image raise ValueError

    Fails: test_unpatchify_errors
    """

    unpatchify = """
        - if height % size or width % size or rows * columns != N:
        + if height % size or width % size:
    """


class joined_sides_not_looked_at:
    """your unpatchify counts the patches, but lets sides pass that are not a multiple of size

    Fails: test_unpatchify_errors
    """

    unpatchify = """
        - if height % size or width % size or rows * columns != N:
        + if rows * columns != N:
    """


class joined_detached:
    """your images are cut off from the patches: no gradient goes back through the joining

    Fails: test_patch_gradients
    """

    unpatchify = """
        - cut = patches.reshape(B, rows, columns, -1, size, size)
        + cut = patches.data.reshape(B, rows, columns, -1, size, size)
    """


class three_channels:
    """your unpatchify makes three channels of every patch: how many there are is said by the width of a patch

    Fails: test_unpatchify
    """

    unpatchify = """
        - cut = patches.reshape(B, rows, columns, -1, size, size)
        + cut = patches.reshape(B, rows, columns, 3, size, size)
    """


class square_image:
    """your unpatchify makes a square image: its sides are height and width

    Fails: test_unpatchify
    """

    unpatchify = """
        - cut = patches.reshape(B, rows, columns, -1, size, size)
        - return cut.permute(0, 3, 1, 4, 2, 5).reshape(B, -1, height, width)
        + side = int(N**0.5)
        + cut = patches.reshape(B, side, side, -1, size, size)
        + return cut.permute(0, 3, 1, 4, 2, 5).reshape(B, -1, side * size, side * size)
    """


class grid_not_split_by_rows:
    """your unpatchify leaves columns of patches in front of the rows of pixels: the two change places

    Fails: test_unpatchify
    """

    unpatchify = """
        - return cut.permute(0, 3, 1, 4, 2, 5).reshape(B, -1, height, width)
        + return cut.permute(0, 3, 1, 2, 4, 5).reshape(B, -1, height, width)
    """
