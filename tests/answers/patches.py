"""Answers to patches."""

# ==== right ====
"""Images in patches as other people write them."""

answer("pixel-shuffles", "Pixels moved into channels, and back, by torch's own operators.")


def patchify(images, size):
    if images.size(2) % size or images.size(3) % size:
        raise ValueError("no multiple")
    return nn.functional.pixel_unshuffle(images, size).flatten(2).mT


def unpatchify(patches, size, height, width):
    if height % size or width % size or patches.size(1) * size * size != height * width:
        raise ValueError("no multiple")
    grid = patches.mT.unflatten(2, (height // size, width // size))
    return nn.functional.pixel_shuffle(grid, size)


@answer("pasted", "Every patch pasted into an empty image.")
def unpatchify(patches, size, height, width):
    if height % size or width % size:
        raise ValueError("no multiple")
    per_row = width // size
    if patches.shape[1] != per_row * (height // size):
        raise ValueError("wrong number of patches")
    images = torch.empty(
        len(patches),
        patches.shape[2] // size**2,
        height,
        width,
        dtype=patches.dtype,
        device=patches.device,
    )
    for i in range(patches.shape[1]):
        y, x = divmod(i, per_row)
        patch = patches[:, i].reshape(len(patches), -1, size, size)
        images[:, :, y * size : (y + 1) * size, x * size : (x + 1) * size] = patch
    return images


@answer(
    "three-axes",
    "Token and positions with an axis of the batch, of length 1, and a normal start that is cut off.",
)
class VisionTransformer:
    def __init__(
        self,
        image_size,
        patch_size,
        channels,
        num_classes,
        d_model=64,
        num_heads=4,
        d_ff=128,
        num_layers=2,
    ):
        super().__init__()
        if image_size % patch_size != 0:
            raise ValueError("image_size must be divisible by patch_size")
        self.patch_size = patch_size
        self.num_patches = (image_size // patch_size) * (image_size // patch_size)
        self.embedding = nn.Linear(patch_size * patch_size * channels, d_model)
        self.class_token = nn.Parameter(torch.zeros(1, 1, d_model))
        self.positions = nn.Parameter(torch.zeros(1, self.num_patches + 1, d_model))
        nn.init.trunc_normal_(self.class_token, std=0.02)
        nn.init.trunc_normal_(self.positions, std=0.02)
        self.encoder = Encoder(num_layers, d_model, num_heads, d_ff)
        self.head = nn.Linear(d_model, num_classes)

    def forward(self, images):
        x = patchify(images, self.patch_size)
        x = self.embedding(x)
        cls_tokens = self.class_token.expand(x.shape[0], -1, -1)
        x = torch.cat((cls_tokens, x), dim=1)
        x += self.positions
        x = self.encoder(x)
        cls_token_final = x[:, 0]
        return self.head(cls_token_final)


# ==== wrong ====
"""Images in patches as they go wrong for other people."""


@answer(
    "transposed-grid",
    "Rows and columns of patches are swapped by unfolding the width first.",
    named=["columns-first"],
)
def patchify(images, size):
    _, _, H, W = images.shape
    if H % size or W % size:
        raise ValueError("no multiple")
    windows = images.unfold(3, size, size).unfold(2, size, size)  # [B, C, rows, columns, width, height]
    return windows.permute(0, 3, 2, 1, 5, 4).flatten(3).flatten(1, 2)


answer(
    "only-the-height",
    "The height alone is looked at.",
    patchify="H % size or W % size -> H % size",
    named=["reshape-complains"],
)


@answer("global-average", "The whole sequence is averaged before the head.", named=["mean-of-all"])
class VisionTransformer:
    def forward(self, images):
        x = self.embedding(patchify(images, self.patch_size))
        x = torch.cat([self.class_token.expand(len(x), 1, -1), x], dim=1) + self.positions
        return self.head(self.encoder(x).mean(1))
