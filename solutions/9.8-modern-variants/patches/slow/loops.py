"""Patches that are right and are cut or joined one after the other.

One reshape and one permutation of axes move every number of the batch in a single pass.
"""


@mistake(
    "patch-by-patch",
    "you cut one patch after the other in Python; cut all of them at once with a reshape and a permutation",
    fails=["test_patchify_speed"],
)
def patchify(images: torch.Tensor, size: int) -> torch.Tensor:
    _, _, H, W = images.shape
    if H % size or W % size:
        raise ValueError(f"an image of {H} x {W} pixels cannot be cut into patches of {size} x {size}")
    found = [
        images[:, :, top : top + size, left : left + size].flatten(1)
        for top in range(0, H, size)
        for left in range(0, W, size)
    ]
    return torch.stack(found, dim=1)


@mistake(
    "pasted-one-by-one",
    "you paste one patch after the other into the images; join all of them at once with a reshape and a permutation",
    fails=["test_unpatchify_speed"],
)
def unpatchify(patches: torch.Tensor, size: int, height: int, width: int) -> torch.Tensor:
    B, N, numbers = patches.shape
    rows, columns = height // size, width // size
    if height % size or width % size or rows * columns != N:
        raise ValueError(f"{N} patches of {size} x {size} make no image of {height} x {width} pixels")
    images = patches.new_zeros(B, numbers // size**2, height, width)
    for number in range(N):
        top, left = number // columns * size, number % columns * size
        images[:, :, top : top + size, left : left + size] = patches[:, number].reshape(B, -1, size, size)
    return images
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
