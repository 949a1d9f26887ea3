"""Images in patches as they go wrong for other people."""


class transposed_grid:
    """Rows and columns of patches are swapped by unfolding the width first.

    Named: columns_first
    """

    def patchify(images, size):
        _, _, H, W = images.shape
        if H % size or W % size:
            raise ValueError("no multiple")
        windows = images.unfold(3, size, size).unfold(2, size, size)  # [B, C, rows, columns, width, height]
        return windows.permute(0, 3, 2, 1, 5, 4).flatten(3).flatten(1, 2)


class only_the_height:
    """The height alone is looked at.

    Named: reshape_complains
    """

    patchify = """
        - if H % size or W % size:
        + if H % size:
    """


class global_average:
    """The whole sequence is averaged before the head.

    Named: mean_of_all
    """

    class VisionTransformer:
        def forward(self, images):
            x = self.embedding(patchify(images, self.patch_size))
            x = torch.cat([self.class_token.expand(len(x), 1, -1), x], dim=1) + self.positions
            return self.head(self.encoder(x).mean(1))
