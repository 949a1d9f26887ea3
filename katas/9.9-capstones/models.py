"""What the checks of capstones ask of models: sizes, what was learned, logits, norms. It runs in the grader."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import Tensor

from grader.checks import expect, fail, fingerprint_facts, new_worker, with_axes

LOGITS = "batch time token"
LARGEST = 30.0
"""No logit of a model that was filled by `refill` is larger: beyond it no tolerance grows with the answer."""


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


def apart(one: Tensor, other: Tensor) -> bool:
    """Tell whether two results differ by more than rounding."""
    return not torch.allclose(one.cpu(), other.cpu(), rtol=1e-3, atol=1e-3)


def of_norms(shallow: Tensor, deep: Tensor) -> dict[str, bool]:
    """Return whether silent layers act on the stream, and whether a token shows in its logits [B, T, V]."""
    return {"acts": apart(deep, shallow), "shows": apart(deep[:, 1], deep[:, 0])}


def dependence(before: Tensor, after: Tensor) -> Tensor:
    """Return whether the logits at each position changed in any row: bool [T]."""
    limit = 1e-5 * min(float(before.abs().max()), LARGEST)
    return ((after - before).abs() > limit).any(dim=-1).any(dim=0).cpu()


def expect_free_scores(submission: Any, logits: Tensor, instead: str) -> None:
    """Require logits that are neither probabilities nor their logarithms; a message says what to give instead."""
    logits = logits.double()
    shares = bool((logits >= 0).all()) and bool((logits.sum(dim=-1) - 1).abs().max() < 1e-3)
    logs = bool(logits.logsumexp(dim=-1).abs().max() < 1e-3)
    fingerprint_facts(submission, shares=shares, logs=logs)
    if shares:
        fail("softmaxed  logits  sum to one over the vocabulary", f"  {instead}", stage="values")
    if logs:
        fail("log-softmaxed  logits  none is above zero", f"  {instead}", stage="values")


# --- where the norms are: `silent` returns the logits of a model of these sizes whose sublayers all add 0 ---

Silent = Callable[..., Tensor]


def _with_few_and_many_layers(submission: Any, silent: Silent, norm: str) -> list[Tensor]:
    """Return the logits of silent models of 1 and 3 layers; what layers do under each norm says which norm is wrong."""
    pairs = {}
    # The norm that is asked about last, where messages look.
    for other in sorted(("first", "last"), key=norm.__eq__):
        pairs[other] = [silent(num_layers=layers, norm=other) for layers in (1, 3)]
    fingerprint_facts(submission, **{other: of_norms(*pairs[other]) for other in ("first", "last")})
    return pairs[norm]


def expect_norm_first(submission: Any, silent: Silent, token: str) -> None:
    """Require that a stream to which nothing is added reaches the head as it was."""
    shallow, deep = _with_few_and_many_layers(submission, silent, "first")
    expect(deep, "logits of 3 layers", axes=LOGITS).same_as(
        shallow,
        name="those of one layer",
        why="all matrices of the sublayers are 0 here, so f(norm(x)) is: nothing else may act on the stream",
        size=200.0,
    )
    expect(deep[:, 1], "logits at position 1", axes="batch token").differs_from(
        deep[:, 0], why=f"another {token} is there, and its embedding is in the stream"
    )


def expect_final_norm(submission: Any, silent: Silent) -> None:
    """Require that it does not matter to the head how large the stream is."""
    small, large = (silent(positions=False, scale=scale) for scale in (1.0, 4.0))
    fingerprint_facts(submission, times_as_large=round(float(large.norm() / small.norm())))
    # The head's weights are four times as large as well.
    expect(large, "logits", axes=LOGITS).same_as(
        with_axes(4 * small, "batch", "time", "token"),
        name="four times those before",
        why="embeddings and the head's weights were made four times as large: without a norm that is sixteen times",
        tolerance=0.01,
    )


def expect_norm_last(submission: Any, silent: Silent) -> None:
    """Require that sums are normed to which nothing was added."""
    shallow, deep = _with_few_and_many_layers(submission, silent, "last")
    expect(deep, "logits of 3 layers", axes=LOGITS).differs_from(
        shallow,
        why="all matrices of the sublayers are 0 here, but norms with uneven weights act one after the other",
    )
