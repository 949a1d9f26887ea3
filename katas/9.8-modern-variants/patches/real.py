"""Handwriting read in patches: a vision transformer trained on digits in a minute, at several patch sizes."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from budget import Budget
from mine import Encoder  # noqa: F401 - the model is built on it
from torch import Tensor
from torch.nn import functional as F

from grader.learner.demos.exhibits import Exhibit, heatmap, lines, panel, table, text

try:
    from mine import VisionTransformer, patchify
except ImportError:  # the learner's do not pass yet: the demo's replace them
    from demo import VisionTransformer, patchify

NEEDS = ("handwriting",)
SIZES, SECONDS, BATCH, TESTED = (14, 7, 4), 30.0, 64, 1000
"""Patch sizes, how long each is trained, images at once, images that are kept for the test."""
Step = Callable[[str, int, int], None]


def run(step: Step, data: dict[str, str], own: str | None, prompt: str | None) -> list[Exhibit]:
    """Train a model for each patch size; show what it learned and what it mistakes."""
    images, labels = digits(Path(data["handwriting"], "mnist_5k.csv.gz"))
    order = torch.randperm(len(images), generator=torch.Generator().manual_seed(0))
    tested = min(TESTED, len(images) // 5)
    new, seen = order[:tested], order[tested:]
    curves, rows, guesses = {}, [], {}
    for number, size in enumerate(SIZES):

        def tick(done: float, number: int = number, size: int = size) -> None:
            step(f"training, patches of {size}", round(100 * (number + done)), 100 * len(SIZES))

        model, curve, passed = trained(images[seen], labels[seen], size, tick)
        with torch.no_grad():
            guesses[size] = torch.cat([model(part).argmax(-1) for part in images[new].split(250)])
        right = float((guesses[size] == labels[new]).float().mean())
        curves[f"patches of {size}"] = curve
        count = patchify(images[:1], size).shape[1]
        rows.append([f"{size} × {size}", count, f"{right:.1%}", f"{passed:,}"])
    best = max(SIZES, key=lambda size: int((guesses[size] == labels[new]).sum()))
    wrong = (guesses[best] != labels[new]).nonzero()[:4, 0]
    said = f"{len(seen):,} digits were learned from for at most {SECONDS:.0f} seconds of processor time at each patch "
    said += f"size; {tested:,} others were kept for the test."
    note = "Smaller patches are more of them: each step costs more, and says more about where a stroke is."
    axes = {"row_axis": "row", "column_axis": "column"}
    shown = [
        text("Handwriting", said),
        table(
            "Right on digits that were not seen",
            ["patch", "patches", "right", "images read"],
            rows,
            note=note,
        ),
        lines("Loss while it trains", curves, x_axis="images read", y_axis="nats"),
        heatmap("One digit, and its patches in a row", _patches(images[new[0]], best), **axes),
    ]
    mistakes = [
        panel(f"a {said}, read as {read}", images[new[at], 0], range(28), range(28))
        for at, said, read in zip(
            wrong.tolist(), labels[new[wrong]].tolist(), guesses[best][wrong].tolist(), strict=True
        )
    ]
    return [*shown, *([heatmap("Mistakes", mistakes, **axes)] if mistakes else [])]


def digits(file: Path) -> tuple[Tensor, Tensor]:
    """Return images [N, 1, 28, 28] from 0 to 1, and which digit each is."""
    with gzip.open(file, "rt") as lines_of:
        values = torch.from_numpy(np.loadtxt(lines_of, delimiter=",", dtype=np.float32))
    return values[:, :-1].reshape(-1, 1, 28, 28) / 255, values[:, -1].long()


def trained(images: Tensor, labels: Tensor, size: int, tick: Callable[[float], None]):  # type: ignore[no-untyped-def]
    """Train for some seconds; return the model, its losses by images read, and how many those were."""
    torch.manual_seed(0)
    model = VisionTransformer(28, size, 1, 10, 64, 4, 128, 2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    budget, generator, done, read = Budget(SECONDS), torch.Generator().manual_seed(1), 0.0, 0
    xs, ys, since = [], [], []
    while done < 1:
        # The rate falls to nothing at the end of the time, however many steps this machine makes in it.
        optimizer.param_groups[0]["lr"] = 2e-3 * min(1.0, read / 2000 + 0.05) * (1 - done)
        batch = torch.randint(len(images), (BATCH,), generator=generator)
        loss = F.cross_entropy(model(images[batch]), labels[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        read += BATCH
        since.append(float(loss.detach()))
        if len(since) == 20:
            xs, ys, since = [*xs, read], [*ys, sum(since) / 20], []
            tick(done)
        done = budget.spent()
    return model, (xs, ys), read


def _patches(image: Tensor, size: int) -> list[dict[str, object]]:
    cut = patchify(image[None], size)[0]
    row = cut.view(len(cut), size, size).transpose(0, 1).flatten(1)[:, : size * 12]
    return [panel("the digit", image[0], range(28), range(28)),
            panel(f"its first {min(12, len(cut))} patches", row, range(size), range(row.shape[1]))]  # fmt: skip
