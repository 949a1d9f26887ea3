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


class unfold_unturned:
    """Windows after unfolding are joined as they lie, channels in front of patches.

    Named: channels_apart
    """

    def patchify(images, size):
        b, c, h, w = images.shape
        if h % size or w % size:
            raise ValueError("no multiple")
        return images.unfold(2, size, size).unfold(3, size, size).reshape(b, -1, c * size * size)


class unfold_untransposed:
    """What F.unfold returns has the numbers before the patches.

    Named: numbers_before_patches
    """

    def patchify(images, size):
        if images.shape[2] % size or images.shape[3] % size:
            raise ValueError("no multiple")
        return nn.functional.unfold(images, size, stride=size)


class einops_of_the_papers_code:
    """The order of a well-known implementation: p1 p2 c, so channels last.

    Named: channels_last
    """

    def patchify(images, size):
        b, c, h, w = images.shape
        if h % size or w % size:
            raise ValueError("no multiple")
        x = images.view(b, c, h // size, size, w // size, size) if images.is_contiguous() else None
        x = images.reshape(b, c, h // size, size, w // size, size) if x is None else x
        return x.permute(0, 2, 4, 3, 5, 1).reshape(b, (h // size) * (w // size), size * size * c)


class asserted:
    """Sides are looked at by assert: an AssertionError is no ValueError.

    Named: sides_asserted
    """

    def patchify(images, size):
        B, C, H, W = images.shape
        assert H % size == 0, "the height must be a multiple of size"
        assert W % size == 0, "the width must be a multiple of size"
        return (
            images.reshape(B, C, H // size, size, W // size, size)
            .permute(0, 2, 4, 1, 3, 5)
            .reshape(B, -1, C * size**2)
        )


class only_the_height:
    """The height alone is looked at.

    Named: reshape_complains
    """

    patchify = """
        - if H % size or W % size:
        + if H % size:
    """


class square_only:
    """The number of patches to a side is taken from the height.

    Named: sides_exchanged, square_grid
    """

    def patchify(images, size):
        b, c, h, w = images.shape
        if h % size or w % size:
            raise ValueError("no multiple")
        n = h // size
        return (
            images.reshape(b, c, n, size, n, size)
            .permute(0, 2, 4, 1, 3, 5)
            .reshape(b, n * n, c * size * size)
        )


class square_root:
    """unpatchify takes the grid to be square and ignores height and width.

    Named: square_image
    """

    def unpatchify(patches, size, height, width):
        if height % size or width % size or patches.shape[1] != (height // size) * (width // size):
            raise ValueError("no multiple")
        n = int(patches.shape[1] ** 0.5)
        x = patches.reshape(len(patches), n, n, -1, size, size)
        return x.permute(0, 3, 1, 4, 2, 5).reshape(len(patches), -1, n * size, n * size)


class folded_untransposed:
    """The channels are put in front, and the rows of a patch are left beside its columns.

    Named: grid_not_split_by_rows
    """

    unpatchify = """
        - return cut.permute(0, 3, 1, 4, 2, 5).reshape(B, -1, height, width)
        + return cut.permute(0, 3, 1, 2, 4, 5).reshape(B, -1, height, width)
    """


class three_channels:
    """unpatchify makes three channels of whatever there is.

    Named: three_channels
    """

    unpatchify = """
        - cut = patches.reshape(B, rows, columns, -1, size, size)
        + cut = patches.reshape(B, rows, columns, 3, size, size)
    """


class one_image:
    """The batch is forgotten: the first image is cut.

    Named: first_image_alone
    """

    patchify = """
        - return cut.permute(0, 2, 4, 1, 3, 5).reshape(B, -1, C * size * size)
        + return cut.permute(0, 2, 4, 1, 3, 5).reshape(B, -1, C * size * size)[:1]
    """


class numpy_inside:
    """NumPy moves the axes, and the graph ends there.

    Named: patches_detached
    """

    def patchify(images, size):
        B, C, H, W = images.shape
        if H % size or W % size:
            raise ValueError("no multiple")
        x = images.detach().double().numpy().reshape(B, C, H // size, size, W // size, size)
        x = x.transpose(0, 2, 4, 1, 3, 5).reshape(B, -1, C * size * size)
        return torch.tensor(x, dtype=images.dtype)


class global_average:
    """The whole sequence is averaged before the head.

    Named: mean_of_all
    """

    class VisionTransformer:
        def forward(self, images):
            x = self.embedding(patchify(images, self.patch_size))
            x = torch.cat([self.class_token.expand(len(x), 1, -1), x], dim=1) + self.positions
            return self.head(self.encoder(x).mean(1))


class added_to_each:
    """The class token is added to every patch instead of standing in front.

    Named: token_added_to_patches
    """

    class VisionTransformer:
        def forward(self, images):
            x = self.embedding(patchify(images, self.patch_size)) + self.class_token
            x = torch.cat([self.class_token.expand(len(x), 1, -1), x], dim=1) + self.positions
            return self.head(self.encoder(x)[:, 0])


class appended:
    """The token is appended, and its output read at the end.

    Named: token_at_the_end
    """

    class VisionTransformer:
        def forward(self, images):
            x = self.embedding(patchify(images, self.patch_size))
            x = torch.cat([x, self.class_token.expand(x.shape[0], 1, -1)], dim=1)
            x = x + self.positions
            return self.head(self.encoder(x)[:, -1, :])


class positions_times:
    """Positions are multiplied with the sequence.

    Named: positions_multiplied
    """

    class VisionTransformer:
        forward = """
            - x = torch.cat([token, x], dim=1) + self.positions
            + x = torch.cat([token, x], dim=1) * self.positions
        """


class first_position_alone:
    """All places get row 0 of the positions: the order is lost.

    Named: one_position_for_all
    """

    class VisionTransformer:
        forward = """
            - x = torch.cat([token, x], dim=1) + self.positions
            + x = torch.cat([token, x], dim=1) + self.positions[0]
        """


class causal:
    """A causal mask: the class token, in front, sees itself alone.

    Named: token_sees_no_patch
    """

    class VisionTransformer:
        forward = """
            - return self.head(self.encoder(x)[:, 0])
            + mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()
            + return self.head(self.encoder(x, mask)[:, 0])
        """


class dropout_on_the_way:
    """Dropout after the positions, as the paper has it; none is asked for.

    Named: dropout_in_the_model
    """

    class VisionTransformer:
        __init__ = """
            - self.encoder = Encoder(num_layers, d_model, num_heads, d_ff)
            + self.dropout = nn.Dropout(0.1)
            + self.encoder = Encoder(num_layers, d_model, num_heads, d_ff)
        """

        forward = """
            - x = torch.cat([token, x], dim=1) + self.positions
            + x = self.dropout(torch.cat([token, x], dim=1) + self.positions)
        """


class hidden_head:
    """A head of two layers, as for pre-training.

    Named: head_of_two_layers
    """

    class VisionTransformer:
        __init__ = """
            - self.head = nn.Linear(d_model, num_classes)
            + self.head = nn.Sequential(nn.Linear(d_model, d_model), nn.Tanh(), nn.Linear(d_model, num_classes))
        """


class other_names:
    """Parts under the names that libraries use.

    Named: other_names
    """

    class VisionTransformer:
        __init__ = """
            - self.class_token = nn.Parameter(torch.randn(d_model) * 0.02)
            - self.positions = nn.Parameter(torch.randn(num_patches + 1, d_model) * 0.02)
            + self.cls_token = nn.Parameter(torch.randn(d_model) * 0.02)
            + self.pos_embed = nn.Parameter(torch.randn(num_patches + 1, d_model) * 0.02)
        """

        forward = """
            - token = self.class_token.expand(len(x), 1, -1)
            - x = torch.cat([token, x], dim=1) + self.positions
            + token = self.cls_token.expand(len(x), 1, -1)
            + x = torch.cat([token, x], dim=1) + self.pos_embed
        """


class log_probabilities:
    """Logarithms of probabilities come out.

    Named: log_softmax_in_the_model
    """

    class VisionTransformer:
        forward = """
            - return self.head(self.encoder(x)[:, 0])
            + return nn.functional.log_softmax(self.head(self.encoder(x)[:, 0]), dim=1)
        """


class widths_swapped:
    """The encoder gets d_ff for d_model, and the other way round.

    Named: widths_exchanged
    """

    class VisionTransformer:
        __init__ = """
            - self.encoder = Encoder(num_layers, d_model, num_heads, d_ff)
            + self.encoder = Encoder(num_layers, d_ff, num_heads, d_model)
        """


class no_grad_for_patches:
    """The embedding runs without gradients.

    Named: embedding_detached
    """

    class VisionTransformer:
        forward = """
            - x = self.embedding(patchify(images, self.patch_size))
            + with torch.no_grad():
            +     x = self.embedding(patchify(images, self.patch_size))
        """
