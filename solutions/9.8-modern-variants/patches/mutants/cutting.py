"""What cutting gets wrong: the order of patches and of what is in them, and sides that do not fit.

Row by row, from left to right; in a patch one channel after the other, each row by row.
"""


class columns_first:
    """your patches come column by column: those of the topmost row come first, from left to right

    Fails: test_patch_order, test_patches
    """

    patchify = """
        - return cut.permute(0, 2, 4, 1, 3, 5).reshape(B, -1, C * size * size)
        + return cut.permute(0, 4, 2, 1, 3, 5).reshape(B, -1, C * size * size)
    """


class channels_last:
    """your patches hold the channels of each pixel side by side: all of the first channel comes first

    Fails: test_inside_a_patch, test_patches
    """

    patchify = """
        - return cut.permute(0, 2, 4, 1, 3, 5).reshape(B, -1, C * size * size)
        + return cut.permute(0, 2, 4, 3, 5, 1).reshape(B, -1, C * size * size)
    """


class columns_first_inside:
    """your patches hold each channel's pixels column by column: height and width are exchanged in a patch

    Fails: test_inside_a_patch, test_patches
    """

    patchify = """
        - return cut.permute(0, 2, 4, 1, 3, 5).reshape(B, -1, C * size * size)
        + return cut.permute(0, 2, 4, 1, 5, 3).reshape(B, -1, C * size * size)
    """


class strips:
    """your patches are strips of pixels: without a permutation, reshape only counts on along the rows

    Fails: test_patch_order, test_patches
    """

    patchify = """
        - return cut.permute(0, 2, 4, 1, 3, 5).reshape(B, -1, C * size * size)
        + return cut.reshape(B, -1, C * size * size)
    """


class channels_apart:
    """your patches are cut from each channel alone, and channels are mixed up with patches

    Fails: test_patch_order, test_patches
    """

    patchify = """
        - return cut.permute(0, 2, 4, 1, 3, 5).reshape(B, -1, C * size * size)
        + return cut.permute(0, 1, 2, 4, 3, 5).reshape(B, -1, C * size * size)
    """


class sides_exchanged:
    """your patchify takes the height for the width: only square images are cut right

    Fails: test_patches
    """

    patchify = """
        - B, C, H, W = images.shape
        + B, C, W, H = images.shape
    """


class remainder_cut_off:
    """your patchify drops the pixels that fill no patch: sides that are not multiple have to be a ValueError

    Fails: test_patch_errors
    """

    patchify = """
        - if H % size or W % size:
        -     raise ValueError(f"an image of {H} x {W} pixels cannot be cut into patches of {size} x {size}")
        + images = images[:, :, : H // size * size, : W // size * size]
    """


class reshape_complains:
    """your patchify leaves it to reshape to complain about sides: that is a RuntimeError, not a ValueError

    Fails: test_patch_errors
    """

    patchify = """
        - if H % size or W % size:
        -     raise ValueError(f"an image of {H} x {W} pixels cannot be cut into patches of {size} x {size}")
    """


class grid_kept:
    """your patches are in a grid of rows and columns: N of them in one axis are wanted

    Fails: test_patch_shapes
    Costs: every check of patches compares [B, N, C · size²]
    """

    patchify = """
        - return cut.permute(0, 2, 4, 1, 3, 5).reshape(B, -1, C * size * size)
        + return cut.permute(0, 2, 4, 1, 3, 5).reshape(B, H // size, W // size, -1)
    """


class numbers_not_joined:
    """your patches are still images of [C, size, size]: their numbers have to lie in one axis

    Fails: test_patch_shapes
    Costs: every check of patches compares [B, N, C · size²]
    """

    patchify = """
        - return cut.permute(0, 2, 4, 1, 3, 5).reshape(B, -1, C * size * size)
        + return cut.permute(0, 2, 4, 1, 3, 5).reshape(B, -1, C, size, size)
    """


class batch_joined:
    """your patches of all images lie in one axis: which image they belong to is lost

    Fails: test_patch_shapes
    Costs: every check of patches compares [B, N, C · size²]
    """

    patchify = """
        - return cut.permute(0, 2, 4, 1, 3, 5).reshape(B, -1, C * size * size)
        + return cut.permute(0, 2, 4, 1, 3, 5).reshape(-1, C * size * size)
    """


class patches_detached:
    """your patches are cut off from the images: no gradient goes back through the cutting

    Fails: test_patch_gradients
    """

    patchify = """
        - cut = images.reshape(B, C, H // size, size, W // size, size)
        + cut = images.detach().reshape(B, C, H // size, size, W // size, size)
    """


class filled_in_float32:
    """your patches are float32 whatever the images are: a tensor to be filled needs their dtype

    Fails: test_patch_promises
    """

    patchify = """
        - return cut.permute(0, 2, 4, 1, 3, 5).reshape(B, -1, C * size * size)
        + patches = torch.zeros(B, (H // size) * (W // size), C * size * size)
        + patches[:] = cut.permute(0, 2, 4, 1, 3, 5).reshape(B, -1, C * size * size)
        + return patches
    """


class numbers_before_patches:
    """your patches come after their numbers, as torch's unfold has them: [B, C · size², N] lacks a transpose

    Fails: test_patch_shapes
    Costs: every check of patches compares [B, N, C · size²]
    """

    def patchify(images, size):
        if images.shape[2] % size or images.shape[3] % size:
            raise ValueError("no multiple")
        return nn.functional.unfold(images, size, stride=size)


class sides_asserted:
    """your patchify asserts that the sides fit: that is an AssertionError, not a ValueError

    Fails: test_patch_errors
    """

    patchify = """
        - if H % size or W % size:
        -     raise ValueError(f"an image of {H} x {W} pixels cannot be cut into patches of {size} x {size}")
        + assert H % size == 0 and W % size == 0, "sides must be multiples of size"
    """


class square_grid:
    """your patchify takes as many patches to a row as to a column: only square images have a square grid

    Fails: test_patch_shapes
    """

    patchify = """
        - cut = images.reshape(B, C, H // size, size, W // size, size)
        + cut = images.reshape(B, C, H // size, size, H // size, size)
    """


class first_image_alone:
    """your patchify cuts the first image of the batch alone

    Fails: test_patch_shapes
    Costs: with one image's patches no batch can be compared
    """

    patchify = """
        - return cut.permute(0, 2, 4, 1, 3, 5).reshape(B, -1, C * size * size)
        + return cut.permute(0, 2, 4, 1, 3, 5).reshape(B, -1, C * size * size)[:1]
    """
