"""9.7.1 Look inside a trained model: entropy of attention, induction heads, linear probes, heads switched off.

T positions, Tq queries, Tk keys, H heads, d the width of a head, N examples, D features. Weights are what a softmax
made of scores: none is negative, and the row of a query sums to one, or to zero where it may attend to nothing.

`story.py` and `story.safetensors` next to this file hold the weights of a trained model. Nothing in here needs them.

References: Olsson et al. 2022, "In-context Learning and Induction Heads" (arXiv:2209.11895); Alain and Bengio 2016
(arXiv:1610.01644); Michel et al. 2019 (arXiv:1905.10650).

First step: `attention_entropy`, as the lesson says under that heading; `kata check look-inside -k test_entropy_values`
then shows that it is right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager

from torch import Tensor, nn


def attention_entropy(weights: Tensor) -> Tensor:
    """Say how widely each query spreads its attention: -Σ w · ln w over the keys.

    Args:
        weights: [.., Tq, Tk], any number of axes in front.

    Returns:
        [.., Tq], in nats (natural logarithms), in the dtype of the weights. A weight of 0 adds 0. Gradients reach the
        weights, and are finite at a weight of 0 as well.
    """
    # TODO: 0 · log 0 is NaN. What do you write instead, and is its gradient finite?
    raise NotImplementedError("attention_entropy")


def induction_score(weights: Tensor, period: int) -> Tensor:
    """Say how much of its attention a head gives to what followed the previous copy of the current token.

    The text is `period` random tokens, repeated. The previous copy of the token at t is at t - period, and what
    followed it at t - period + 1.

    Args:
        weights: [.., T, T], queries by keys, any number of axes in front. T need not be a multiple of period.
        period: after how many positions the text repeats.

    Returns:
        [..]: the mean of weights[.., t, t - period + 1] over the positions t >= period, those that have a previous
        copy. ValueError when period is below 1, or when no position has one.
    """
    # TODO: which of the diagonals is it, and where does it begin?
    raise NotImplementedError("induction_score")


def probe(features: Tensor, labels: Tensor, *, ridge: float = 1e-3) -> Callable[[Tensor], Tensor]:
    """Fit a linear classifier in closed form: ridge regression on one-hot labels, with a bias.

    With Y the labels as one-hot rows it minimises Σ (Y - (features · W + b))² + ridge · Σ W², summed over all examples
    and classes. The bias b is not penalised.

    Args:
        features: [N, D], of any floating dtype, however far from zero; N may be smaller than D.
        labels: int [N], any whole numbers.
        ridge: the weight of the squares of W next to a sum (not a mean) of squared errors.

    Returns:
        A function of features [M, D]: for each row the label with the greatest score, [M] in the dtype of labels.
    """
    # TODO: what becomes of b when features and one-hot rows have mean 0?
    raise NotImplementedError("probe")


def ablate_heads(model: nn.Module, layer: int, heads: Iterable[int]) -> AbstractContextManager[object]:
    """Switch heads of one layer's self-attention off while a `with` block runs.

    The attention is `model.layers[layer].attention`, or `.self_attention` where the layer has no `attention`. Its
    `num_heads` says how many heads there are. It puts their outputs side by side, head h in columns h · d to
    (h + 1) · d - 1 with d = w_o.in_features / num_heads, and calls `w_o`, an nn.Linear, on them. A head that is off
    counts as if its columns were zero there; the others, and the bias of `w_o`, stay as they are.

    Args:
        model: as above; nothing is copied, and after the block it computes as before, even if the block raised.
            Exceptions are passed on. Parameters are then the same objects with the same bits, and no hook is left.
        layer: its index in model.layers.
        heads: which query heads, in any order; there may be none, and one may be named twice. Blocks may be nested.
            ValueError, at the latest when the block is entered, if one is not between 0 and num_heads - 1.

    Returns:
        A context manager, for `with ablate_heads(model, 1, [0, 3]): ...`
    """
    # TODO: what do you have to keep to undo it? Where does the undoing belong, so that it happens whatever the block
    # does?
    raise NotImplementedError("ablate_heads")
