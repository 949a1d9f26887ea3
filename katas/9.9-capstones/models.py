"""What a capstone's models hold: sizes, distances, what was learned. Counted, compared and moved in the grader."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import Tensor

from grader.checks import fail, fingerprint_facts, new_worker


def parameters_of(model: Any) -> dict[str, Tensor]:
    """Return the parameters by name."""
    with torch.no_grad():  # so that they come as leaves
        return dict(model.named_parameters())


def size(model: Any) -> int:
    """Return how many numbers the model can learn."""
    return sum(parameter.numel() for parameter in parameters_of(model).values())


def distance(model: Any, other: Any) -> float:
    """Return how far the parameters of two models are apart that are built alike."""
    own, theirs = parameters_of(model), parameters_of(other)
    with torch.no_grad():
        return sum(float((own[name] - theirs[name]).double().square().sum()) for name in own) ** 0.5


def carried(submission: Any, new: Callable[[], Any], learned: Iterable[dict[str, Tensor]]) -> Iterator[Any]:
    """Yield a new model in a new worker, with each of these parameters in turn.

    They are all that crosses: what else training left behind, in buffers, attributes or files, is not in the model.

    Args:
        new: makes a model as training begins with, of a text that says nothing of the one that was learned.
    """
    new_worker(submission)
    model = new()
    own = {name: value.shape for name, value in parameters_of(model).items()}
    for state in learned:
        if own != {name: value.shape for name, value in state.items()}:
            fail(
                "other parameters  of the trained model than of a new one of the same arguments",
                "  what a model has learned is in the parameters that train begins with",
                stage="values",
            )
        model.load_state_dict(state, strict=False)  # a parameter may have two names in a state
        yield model


def expect_downhill(submission: Any, start: Any, end: Any) -> None:
    """Require that updates moved the parameters against the gradients that the start has, as every optimizer does.

    Of some it is enough: an optimizer that forgot the others has trained those. Where a gradient is next to nothing,
    rounding decides which way it goes.
    """
    before, after = parameters_of(start), parameters_of(end)
    learned = [
        name
        for name, value in before.items()
        if value.grad is not None and name in after and after[name].shape == value.shape == value.grad.shape
    ]
    with torch.no_grad():
        slope, move = (
            torch.cat([torch.zeros(1), *(part(name).flatten().cpu() for name in learned)])
            for part in (lambda name: before[name].grad, lambda name: after[name] - before[name])
        )
    clear = slope.abs() > 1e-3 * slope.abs().max()
    down, up = (float((sign * slope * move > 0)[clear].double().mean()) for sign in (-1, 1))
    fingerprint_facts(submission, moved=down + up > 0.01, downhill=down - up > 0.01)
    if not down - up >= 0.25:
        fail(
            f"not trained  two updates moved {down:.0%} of the parameters against their gradient, {up:.0%} along it",
            "  backward() computes the gradients, and optimizer.step() moves every parameter against its own",
            stage="values",
        )
