"""9.2.2 Rotary and relative positions: what a score learns of the distance between its query and its key.

B batch, H heads, T length, D the width of one head, Tq and Tk the numbers of queries and keys. Positions count
from 0. In biases rows are queries and columns keys.

Three stages, each a result by itself: `rotate`; `relative_buckets` and RelativePositionBias; `alibi_slopes` and
`alibi_bias`. `kata check` shows which of them are done.

References: Su et al. 2021 (arXiv:2104.09864); Raffel et al. 2019 (arXiv:1910.10683), section 2.1; Press et al. 2021
(arXiv:2108.12409).

First step: `alibi_slopes`, as the lesson says under that heading; `kata check rotary-positions -k 'slopes and fall'`
then shows that it is right.
"""

from __future__ import annotations

import torch
from torch import nn


def rotate(x: torch.Tensor, positions: torch.Tensor | None = None, *, base: float = 10000.0) -> torch.Tensor:
    """Turn each pair of columns of x by its position times the pair's frequency.

    Args:
        x: [.., T, D], queries or keys; any number of axes in front. ValueError when D is odd.
        positions: int [T], where each row stands; None means 0, 1, …, T - 1.
        base: what the frequencies are powers of.

    Returns:
        [.., T, D] in the dtype of x. With angle = position · base ** (-2i / D), the columns 2i and 2i + 1, (a, b),
        become (a · cos - b · sin, a · sin + b · cos).
    """
    # TODO: refuse an odd D; angles [T, D/2]; turn the pairs, and let the columns take turns again.
    raise NotImplementedError("rotate")


def relative_buckets(
    query_len: int,
    key_len: int,
    *,
    num_buckets: int = 32,
    max_distance: int = 128,
    bidirectional: bool = True,
    offset: int = 0,
) -> torch.Tensor:
    """Give each pair of query and key the number of its bucket, by their distance key - query, as T5 does.

    Args:
        query_len, key_len: Tq and Tk. Keys are at 0, 1, …, Tk - 1.
        num_buckets: how many buckets there are, at least two in a direction.
        max_distance: from this distance on, everything falls into the last bucket.
        bidirectional: whether keys after the query have buckets of their own, the second half of them. Without it, all
            buckets are for the past, and a key after its query counts as distance 0.
        offset: the position of the first query.

    Returns:
        int64 [Tq, Tk]. Of the n buckets of a direction the first n // 2 hold one distance each, 0, 1, 2, …; the
        others grow in equal steps of the logarithm up to max_distance.
    """
    # TODO: distances first. Which of them have a bucket of their own, and where do the others fall?
    raise NotImplementedError("relative_buckets")


class RelativePositionBias(nn.Module):
    """Learn one number for every bucket and head, to be added to the scores.

    Args:
        num_heads: H.
        num_buckets, max_distance, bidirectional: as for `relative_buckets`.

    Attributes:
        embedding: nn.Embedding, a row for each bucket, a column for each head; the only parameter.
    """

    def __init__(
        self, num_heads: int, num_buckets: int = 32, max_distance: int = 128, bidirectional: bool = True
    ) -> None:
        super().__init__()
        # TODO: the embedding, and what forward has to know.
        raise NotImplementedError("RelativePositionBias.__init__")

    def forward(self, query_len: int, key_len: int, offset: int = 0) -> torch.Tensor:
        """Look up the bias of every head, query and key.

        Args:
            query_len, key_len: Tq and Tk.
            offset: the position of the first query.

        Returns:
            [1, H, Tq, Tk], in the dtype of the embedding.
        """
        # TODO: numbers of buckets, their rows, and the axes where scores have them.
        raise NotImplementedError("RelativePositionBias.forward")


def alibi_slopes(num_heads: int) -> torch.Tensor:
    """Return how steeply each head forgets.

    Args:
        num_heads: H; ValueError when it is not a power of two.

    Returns:
        float [H]: 2 ** (-8h / H) for h = 1, …, H.
    """
    # TODO: the series, and the error.
    raise NotImplementedError("alibi_slopes")


def alibi_bias(num_heads: int, query_len: int, key_len: int, offset: int = 0) -> torch.Tensor:
    """Return ALiBi's penalty on distance, to be added to the scores.

    Args:
        num_heads: H.
        query_len, key_len: Tq and Tk.
        offset: the position of the first query.

    Returns:
        float [H, Tq, Tk]: minus the head's slope times the distance |query - key|.
    """
    # TODO: one slope for each head, one distance for each query and key.
    raise NotImplementedError("alibi_bias")
