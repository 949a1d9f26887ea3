"""Images in patches as other people write them."""


class by_einops_in_torch:
    """Six axes by view and einsum-like naming, made contiguous before they are joined."""

    def patchify(images, size):
        b, c, h, w = images.shape
        if h % size != 0 or w % size != 0:
            raise ValueError("image dimensions must be divisible by the patch size")
        h_patches, w_patches = h // size, w // size
        x = images.contiguous().view(b, c, h_patches, size, w_patches, size)
        x = torch.permute(x, (0, 2, 4, 1, 3, 5)).contiguous()
        return x.view(b, h_patches * w_patches, c * size * size)


class pixel_shuffles:
    """Pixels moved into channels, and back, by torch's own operators."""

    def patchify(images, size):
        if images.size(2) % size or images.size(3) % size:
            raise ValueError("no multiple")
        return nn.functional.pixel_unshuffle(images, size).flatten(2).mT

    def unpatchify(patches, size, height, width):
        if height % size or width % size or patches.size(1) * size * size != height * width:
            raise ValueError("no multiple")
        grid = patches.mT.unflatten(2, (height // size, width // size))
        return nn.functional.pixel_shuffle(grid, size)


class chunked:
    """Rows of patches split off, then columns: a loop over patches, right and slow."""

    def patchify(images, size):
        if images.shape[-1] % size or images.shape[-2] % size:
            raise ValueError("no multiple")
        found = []
        for strip in images.split(size, dim=2):
            found += [patch.flatten(1) for patch in strip.split(size, dim=3)]
        return torch.stack(found, 1)


class pasted:
    """Every patch pasted into an empty image."""

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


class three_axes:
    """Token and positions with an axis of the batch, of length 1, and a normal start that is cut off."""

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


class room_made_first:
    """The sequence is made of zeros and filled: the token's place, then the patches'."""

    class VisionTransformer:
        def forward(self, images):
            patches = self.embedding(patchify(images, self.patch_size))
            x = torch.zeros(
                patches.shape[0],
                patches.shape[1] + 1,
                patches.shape[2],
                dtype=patches.dtype,
                device=patches.device,
            )
            x[:, 0] = self.class_token
            x[:, 1:] = patches
            return self.head(self.encoder(x + self.positions.unsqueeze(0))[:, 0])


class convolution:
    """A convolution whose stride is its kernel."""

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
            assert_divides(image_size, patch_size)
            self.embedding = nn.Conv2d(channels, d_model, kernel_size=patch_size, stride=patch_size)
            self.class_token = nn.Parameter(torch.rand(1, d_model))
            self.positions = nn.Parameter(torch.rand((image_size // patch_size) ** 2 + 1, d_model))
            self.encoder = Encoder(num_layers=num_layers, d_model=d_model, num_heads=num_heads, d_ff=d_ff)
            self.head = nn.Linear(d_model, num_classes)

        def forward(self, images):
            x = self.embedding(images).flatten(start_dim=2).permute(0, 2, 1)
            x = torch.cat([self.class_token.unsqueeze(0).repeat(len(x), 1, 1), x], dim=1) + self.positions
            return self.head(self.encoder(x)[:, 0])

    def assert_divides(side, size):
        if side % size:
            raise ValueError(f"{size} does not divide {side}")


class padded_in_front:
    """A row of zeros is padded in front of the patches, and the token is added to it."""

    class VisionTransformer:
        def forward(self, images):
            x = nn.functional.pad(self.embedding(patchify(images, self.patch_size)), (0, 0, 1, 0))
            first = torch.arange(x.shape[1], device=x.device)[:, None] == 0
            x = x + self.positions + torch.where(first, self.class_token, torch.zeros_like(self.class_token))
            return self.head(self.encoder(x).select(1, 0))


class embedded_places:
    """Positions are looked up in an embedding, by number."""

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
            if image_size % patch_size:
                raise ValueError("patch_size has to divide image_size")
            self.patch_size = patch_size
            self.embedding = nn.Linear(channels * patch_size**2, d_model)
            self.class_token = nn.Parameter(torch.zeros(d_model))
            self.positions = nn.Embedding((image_size // patch_size) ** 2 + 1, d_model)
            self.encoder = Encoder(num_layers, d_model, num_heads, d_ff)
            self.head = nn.Linear(d_model, num_classes)

        def forward(self, images):
            x = self.embedding(patchify(images, self.patch_size))
            x = torch.cat([self.class_token.view(1, 1, -1).expand(x.size(0), 1, -1), x], dim=1)
            x = x + self.positions(torch.arange(x.size(1), device=x.device))
            return self.head(self.encoder(x)[:, 0])


class indexed:
    """One index for every number of a patch, into the image laid out flat."""

    def patchify(images, size):
        _, C, H, W = images.shape
        if H % size or W % size:
            raise ValueError("no multiple")
        places = torch.arange(C * H * W, device=images.device).view(C, H // size, size, W // size, size)
        places = places.permute(1, 3, 0, 2, 4).flatten(2).flatten(0, 1)
        return images.flatten(1)[:, places]
