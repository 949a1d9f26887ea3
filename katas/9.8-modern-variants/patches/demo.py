"""Patches live: an image cut, what the places have learned, where the class token looks, and shuffled patches."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from mine import Encoder
from torch import Tensor, nn
from torch.nn import functional as F

from grader.learner.demos.exhibits import Exhibit, bars, choice, heatmap, panel, question, table

try:
    from mine import VisionTransformer, patchify, unpatchify
except ImportError:  # the learner's does not pass yet: one patch after the other, and a convolution

    def patchify(images: Tensor, size: int) -> Tensor:
        """Cut one patch after the other."""
        corners = [(i, j) for i in range(0, images.shape[2], size) for j in range(0, images.shape[3], size)]
        return torch.stack([images[:, :, i : i + size, j : j + size].flatten(1) for i, j in corners], 1)

    def unpatchify(patches: Tensor, size: int, height: int, width: int) -> Tensor:
        """Paste one patch after the other."""
        images = patches.new_zeros(len(patches), patches.shape[2] // size**2, height, width)
        corners = [(i, j) for i in range(0, height, size) for j in range(0, width, size)]
        for (i, j), patch in zip(corners, patches.unbind(1), strict=True):
            images[:, :, i : i + size, j : j + size] = patch.unflatten(1, (-1, size, size))
        return images

    class VisionTransformer(nn.Module):  # type: ignore[no-redef]
        """A convolution that steps from patch to patch, and the given encoder."""

        def __init__(self, side: int, size: int, channels: int, classes: int, width: int, heads: int,
                     d_ff: int, layers: int) -> None:  # fmt: skip
            super().__init__()
            self.embedding = nn.Conv2d(channels, width, size, size)
            self.class_token = nn.Parameter(torch.zeros(width))
            self.positions = nn.Parameter(0.02 * torch.randn((side // size) ** 2 + 1, width))
            self.encoder, self.head = Encoder(layers, width, heads, d_ff), nn.Linear(width, classes)

        def forward(self, images: Tensor) -> Tensor:
            """Return logits."""
            return self.head(self.encoder(sequence(self, images)).unbind(1)[0])


from shapes import CHANNELS, SHAPES, SIDE, draw

SIZE = 4
ACROSS = SIDE // SIZE
WIDTH, HEADS, D_FF = 32, 4, 64
STEPS = 500


def demo() -> list[Exhibit]:
    """Return what the kata shows."""
    images, labels = draw(8192, torch.Generator().manual_seed(0))
    model, blind = trained(images, labels), trained(images, labels, positions=False)
    return [_cut(), _finer(), _looks(model), _places(model), _shuffled(model, blind), _question()]


def trained(images: Tensor, labels: Tensor, positions: bool = True) -> nn.Module:
    """Train one encoder layer; without positions they are zeros and stay so."""
    torch.manual_seed(0)
    model = VisionTransformer(SIDE, SIZE, CHANNELS, len(SHAPES), WIDTH, HEADS, D_FF, 1)
    if not positions:
        nn.init.zeros_(model.positions).requires_grad_(False)
    generator = torch.Generator().manual_seed(1)
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad])
    for step in range(STEPS):
        optimizer.param_groups[0]["lr"] = 0.01 * min(1.0, (step + 1) / 20, 1.5 * (1 - step / STEPS))
        batch = torch.randint(len(images), (64,), generator=generator)
        loss = F.cross_entropy(model(images[batch]), labels[batch])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model.requires_grad_(False)


def sequence(model: nn.Module, images: Tensor) -> Tensor:
    """Return what goes into the encoder: [B, N + 1, D]."""
    if isinstance(model.embedding, nn.Conv2d):
        x = model.embedding(images).flatten(2).mT
    else:
        x = model.embedding(patchify(images, SIZE))
    first = model.class_token.reshape(1, 1, -1).repeat(len(x), 1, 1)
    return torch.cat([first, x], 1) + model.positions.reshape(1, -1, x.shape[2])


def grid(values: Tensor) -> Tensor:
    """Lay one number for each patch out as the patches lie."""
    return values.reshape(ACROSS, ACROSS)


def bright(image: Tensor) -> Tensor:
    """Return how light an image is, in squares of 2 x 2 pixels: a terminal has no room for all of them."""
    return F.avg_pool2d(image.mean(0)[None], 2)[0]


def _cut() -> Exhibit:
    images, _ = draw(len(SHAPES), torch.Generator().manual_seed(5), noise=0.2)
    images, side, size = F.avg_pool2d(images, 2), SIDE // 2, 2
    patches = patchify(images, size)
    number = patches.shape[1]
    order = torch.randperm(number, generator=torch.Generator().manual_seed(6))
    mixed = unpatchify(patches[:, order], size, side, side)
    frames = {}
    for name, image, cut, other in zip(SHAPES, images, patches, mixed, strict=True):
        lightness = cut.unflatten(-1, (CHANNELS, -1)).mean(1)
        frames[name] = heatmap(
            name,
            [
                panel("the image", image.mean(0), range(side), range(side)),
                panel("its patches, a row each", lightness, range(number), range(size**2)),
                panel("joined in another order", other.mean(0), range(side), range(side)),
            ],
            row_axis="row, or patch",
            column_axis="column, or number in the patch",
            diverging=True,
        )
    return choice(
        f"A small image, {side} x {side}, in {number} patches of {size} x {size}, with little noise",
        "shape",
        frames,
        note="In the second picture each row is what the model gets as one word; the channels are averaged here. "
        "Nothing in it says where the patch was. The third has the same words in another order: to an encoder without "
        "positions it is the same image as the first.",
    )


def _finer() -> Exhibit:
    rows = []
    for size in (16, 8, 4, 2, 1):
        model = VisionTransformer(SIDE, size, CHANNELS, len(SHAPES), WIDTH, HEADS, D_FF, 1)
        places = (SIDE // size) ** 2 + 1
        counts = [sum(p.numel() for p in part.parameters()) for part in (model.embedding, model.encoder)]
        rows.append(
            [f"{size} x {size}", places, f"{places**2:,}", *(f"{n:,}" for n in counts), f"{places * WIDTH:,}"]
        )
    return table(
        f"An image of {SIDE} x {SIDE} in finer and finer patches: tokens and parameters (D = {WIDTH}, one layer)",
        ["patch", "tokens", "scores a head", "embedding", "encoder", "positions"],
        rows,
        note="Half the side: four times the patches, and in the long run 16 times the scores. The encoder's "
        "parameters stay as they are.",
    )


def _looks(model: nn.Module) -> Exhibit:
    images, labels = draw(4000, torch.Generator().manual_seed(7))
    layer = model.encoder.layers[0]
    seen = layer.norm1(sequence(model, images))
    query = layer.attention.w_q(seen[:, :1]).unflatten(-1, (HEADS, -1)).transpose(1, 2)
    keys = layer.attention.w_k(seen).unflatten(-1, (HEADS, -1)).transpose(1, 2)
    weights = (query @ keys.mT / math.sqrt(WIDTH // HEADS)).softmax(-1)[
        :, :, 0, 1:
    ]  # [B, H, N], without itself
    frames = {}
    for label, name in enumerate(SHAPES):
        looks = weights[labels == label].mean(0)
        frames[name] = [
            heatmap(
                "the image",
                [panel(f"one {name}", bright(images[label]), range(SIDE // 2), range(SIDE // 2))],
                row_axis="row",
                column_axis="column",
                diverging=True,
            ),
            heatmap(
                "where the class token looks",
                [
                    panel(f"head {head}", grid(looks[head]), range(ACROSS), range(ACROSS))
                    for head in range(HEADS)
                ],
                row_axis="row of patches",
                column_axis="column of patches",
            ),
        ]
    apart = [weights[labels == label].mean((0, 1)) for label in range(len(SHAPES))]
    middle = [i * ACROSS + j for i in (1, 2) for j in (1, 2)]
    shares = {name: float(row[middle].sum() / row.sum()) for name, row in zip(SHAPES, apart, strict=True)}
    most, least = max(shares, key=shares.__getitem__), min(shares, key=shares.__getitem__)
    return choice(
        "Where the class token looks, on average over a thousand new images of a shape",
        "shape",
        frames,
        note=f"The four patches in the middle are a quarter of all. Of what the token takes from patches they get "
        f"{shares[most]:.0%} with a {most} and {shares[least]:.0%} with a {least}. It is one query for all images: "
        "what differs is which patches have keys that answer it.",
    )


def _places(model: nn.Module) -> Exhibit:
    rows = model.positions.reshape(-1, WIDTH)[1:]
    rows = F.normalize(rows - rows.mean(0), dim=-1)
    alike = rows @ rows.mT
    where = torch.tensor([(i, j) for i in range(ACROSS) for j in range(ACROSS)])
    steps = (where[:, None] - where).abs().sum(-1)
    nearby = float(alike[steps == 1].mean())
    corners = [0, ACROSS - 1, ACROSS * (ACROSS - 1), ACROSS**2 - 1]
    pairs = alike[corners][:, corners]
    opposite = float((pairs.sum() - pairs.diagonal().sum()) / (len(corners) * (len(corners) - 1)))
    every = heatmap(
        "every place with every other",
        [panel("cosine", alike, range(ACROSS**2), range(ACROSS**2))],
        row_axis="patch",
        column_axis="patch",
        diverging=True,
    )
    frames: dict[str, Exhibit] = {}
    for place, name in (
        (0, "upper left corner"),
        (1, "upper edge"),
        (5, "middle"),
        (15, "lower right corner"),
    ):
        frames[name] = heatmap(
            name,
            [panel(f"cosine with patch {place}", grid(alike[place]), range(ACROSS), range(ACROSS))],
            row_axis="row of patches",
            column_axis="column of patches",
            diverging=True,
        )
    frames["all pairs"] = every
    kind = "more" if opposite > nearby else "less"
    return choice(
        "How alike the learned positions are: cosines between rows of the table, their mean taken off",
        "place",
        frames,
        note=f"Places side by side have a cosine of {nearby:.2f} on average, corners with each other {opposite:.2f}: "
        f"in this model corners are {kind} alike than places side by side. In large models trained on photographs "
        "places side by side are alike, so that the grid can be seen in the table. Here a place is known by what it "
        "means for a shape to be light there; nobody has told the model that places have neighbours.",
    )


def _shuffled(model: nn.Module, blind: nn.Module) -> Exhibit:
    images, labels = draw(2000, torch.Generator().manual_seed(8))
    generator = torch.Generator().manual_seed(9)
    patches = patchify(images, SIZE)
    orders = torch.rand(patches.shape[:2], generator=generator).argsort(1)
    mixed = patches.gather(1, orders[:, :, None].expand_as(patches))
    ways: dict[str, Callable[[], Tensor]] = {
        "as they are": lambda: images,
        "patches shuffled": lambda: unpatchify(mixed, SIZE, SIDE, SIDE),
    }
    right = {
        name: [float((each(make()).argmax(-1) == labels).double().mean()) for make in ways.values()]
        for name, each in (("with positions", model), ("without positions", blind))
    }
    seeing, bag = right.values()
    return bars(
        "New images, as they are and with their patches shuffled, each in its own way",
        list(ways),
        right,
        y_axis="right, of 1",
        note=f"With positions {seeing[0]:.0%} are right, and {seeing[1]:.0%} when patches are shuffled: it knows where "
        f"things belong. Without them it is {bag[0]:.0%} both times: a bag of patches has no order to lose. That it is "
        f"more than {1 / len(SHAPES):.0%} is because slanted strokes, and corners, can be seen in single patches.",
    )


def _question() -> Exhibit:
    return question(
        "Patches are shuffled. What does a model without positions lose?",
        seen="New images, as they are",
        answer="Nothing: its two bars are equal. It reads a bag of patches, so there is no order to lose.",
    )
