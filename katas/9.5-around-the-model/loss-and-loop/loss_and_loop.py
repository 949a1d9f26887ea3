"""9.5.4 The loss and the loop: what a run of training needs besides a model and an optimizer.

B is the batch size, T the length of a window, V the number of words. `[..]` stands for any number of axes, also none.

References: Bishop 2006, section 4.3.4, cross-entropy and its gradient; Ott et al. 2018 (arXiv:1806.00187), gradients
accumulated over parts of a batch.

First step: `log_softmax`, as the lesson says under that heading; `kata check loss-and-loop -k test_log_softmax` then
shows that it is right for scores of ordinary size.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn

IGNORED = -100
"""The target of a place where nothing is to be learned."""


def log_softmax(x: Tensor, dim: int = -1) -> Tensor:
    """Return the logarithm of the softmax along an axis.

    Args:
        x: float [..], scores of any size; some may be -∞, but not all along the axis.
        dim: the axis along which probabilities sum to 1.

    Returns:
        [..], of x's shape and dtype: finite wherever x is, -∞ where x is -∞.
    """
    # TODO 1: subtract what makes the largest score along the axis 0; the result is the same.
    # TODO 2: subtract the logarithm of the sum of all exponentials.
    raise NotImplementedError("log_softmax")


def cross_entropy(logits: Tensor, targets: Tensor, ignore: int = IGNORED) -> Tensor:
    """Return how surprised the logits are by the targets: the mean of -log p(target).

    Args:
        logits: float [.., V], scores of V words at each place.
        targets: int64 [..], the word that is right at each place, or `ignore`.
        ignore: the target of places that do not count. It may also be one of the V words, such as that of padding.

    Returns:
        a tensor without axes, of the logits' dtype: the mean over the places that count. Where none does it is 0, and
        so is its gradient.

    Raises:
        ValueError: a target that is not `ignore` is negative, or is not below V.
    """
    # TODO 1: which places count? Refuse targets outside the table there; say which one, and what is allowed.
    # TODO 2: pick the log-probability of each target. What is picked where `ignore` is not a word?
    # TODO 3: the mean over what counts. What if nothing does?
    raise NotImplementedError("cross_entropy")


def windows(tokens: Tensor, length: int, generator: torch.Generator, batch: int) -> tuple[Tensor, Tensor]:
    """Draw a batch of windows from a text, and what follows each of their tokens.

    Args:
        tokens: int64 [N], one long text.
        length: T, which leaves room for one more token in the text.
        generator: where each window begins is drawn from it, and nothing else is drawn.
        batch: B, the number of windows. Each is drawn by itself, so a window may occur twice.

    Returns:
        x and y, both int64 [B, T]. Each row of x is a piece of the text, and y holds the token after each of x's. All
        pieces that fit are equally likely, the first and the last one too.

    Raises:
        ValueError: length is below 1, or not below N. Nothing has been drawn then.
    """
    # TODO 1: how many places are there to begin? Refuse a length for which there are none; name both numbers.
    # TODO 2: draw a beginning for each window.
    # TODO 3: read x from there on, and y one place later.
    raise NotImplementedError("windows")


def accumulate(
    model: nn.Module, batches: list[tuple[Tensor, Tensor]], loss: Callable[[Tensor, Tensor], Tensor]
) -> float:
    """Compute the gradient of a batch that is too large to be computed in one go, part by part.

    The gradient of the whole batch's mean is added to each parameter's `.grad`, as `backward` does. Every part goes
    through the model once, and its backward pass comes before the next part's forward pass.

    Args:
        model: called as model(x).
        batches: the parts of the batch, a list of (x, targets). They may differ in size, and in how many targets are
            -100: these do not count.
        loss: called as loss(model(x), targets). It is a mean over the targets that count, as `cross_entropy` is; where
            none does it may be NaN.

    Returns:
        a Python float: the mean over all targets of the batch that count. If there are none it is 0.0, and no gradient
        changes.
    """
    # TODO 1: how many targets count in each part, and in all of them together?
    # TODO 2: weigh each part's mean, so that the sum is the mean of the whole batch. Which parts should be left out?
    # TODO 3: one backward pass for each part.
    raise NotImplementedError("accumulate")


def save(
    path: str | Path, model: nn.Module, optimizer: torch.optim.Optimizer, generator: torch.Generator, step: int
) -> None:
    """Write a checkpoint: one file with all that a run needs in order to go on.

    If it fails half-way, or the process ends, what was at `path` before is still there, whole. So nothing is ever
    written into the old file: the new one is written next to it and takes its place when it is complete.

    Args:
        path: the file, whose folder exists.
        model, optimizer, generator: those of the run, between two steps; they stay as they are.
        step: the number of steps taken so far.
    """
    # TODO 1: what does a run remember? Of the model, of the optimizer, of the generator.
    # TODO 2: write it under another name in the same folder, then let it take the place of `path`.
    raise NotImplementedError("save")


def load(
    path: str | Path, model: nn.Module, optimizer: torch.optim.Optimizer, generator: torch.Generator
) -> int:
    """Read a checkpoint into model, optimizer and generator, which then go on as those that were saved, bit for bit.

    Args:
        path: what `save` has written, in this process or in another.
        model, optimizer: built as those that were saved, at any step. Parameters remain the tensors that they are.
        generator: of any state.

    Returns:
        the step that was saved, a Python int.

    Raises:
        ValueError: the file is cut off, or is not a checkpoint; or it is that of another model, in which a name or a
            shape differs, or of an optimizer with other groups. The message says what is there and what was expected.
            Model, optimizer and generator are then exactly as they were.
    """
    # TODO 1: read the whole file; whatever torch raises for a file that is not a checkpoint should become a ValueError.
    # TODO 2: compare before anything is changed: load_state_dict of a model copies what fits, and only then complains.
    # TODO 3: restore all three.
    raise NotImplementedError("load")
