"""9.2.1 Positional encoding: a vector for every position, added to what is there.

B batch, T length, D = d_model the width. Positions count from 0. Columns of the sinusoidal table come in
pairs, 2i and 2i + 1, which share one frequency.

References: Vaswani et al. 2017 (arXiv:1706.03762), section 3.5; Devlin et al. 2018 (arXiv:1810.04805).

First step: `LearnedPositionalEncoding.__init__`, as the lesson says under that heading;
`kata check positional-encoding -k test_learned_parameter` then shows that it is right.
"""

from __future__ import annotations

import torch
from torch import nn


def sinusoidal_positions(
    max_len: int, d_model: int, *, device: torch.device | str | None = None
) -> torch.Tensor:
    """Make the table of sines and cosines: one row per position, one frequency per pair of columns.

    Args:
        max_len: the number of positions, and of rows.
        d_model: D, the number of columns; ValueError when it is odd.
        device: where the table is made; None means torch's default.

    Returns:
        float [max_len, D], with angle = position / 10000 ** (2i / D):
        column 2i holds sin(angle), column 2i + 1 holds cos(angle) of the same angle.
    """
    # TODO 1: raise ValueError when d_model is odd: a sine would be left without its cosine.
    # TODO 2: positions as a column [max_len, 1], frequencies as a row [D / 2], on `device`.
    # TODO 3: angles [max_len, D / 2]: every position times every frequency.
    # TODO 4: sines into the even columns, cosines into the odd ones. How do two tables interleave?
    raise NotImplementedError("sinusoidal_positions")


class SinusoidalPositionalEncoding(nn.Module):
    """Add the sinusoidal table to a sequence. Nothing here is learned.

    Args:
        d_model: D, the width of the sequence.
        max_len: the longest sequence that can be encoded.

    Attributes:
        The table is a buffer: it moves with the module but is not a parameter. Its name is yours to choose.
    """

    def __init__(self, d_model: int, max_len: int) -> None:
        super().__init__()
        # TODO: make the table once and register it as a buffer. Mind the order of the two arguments.
        raise NotImplementedError("SinusoidalPositionalEncoding.__init__")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Add position t's row to x[:, t], in every sequence of the batch.

        Args:
            x: [B, T, D], of any floating dtype. T > max_len is a ValueError.

        Returns:
            [B, T, D], in the dtype of x.
        """
        # TODO 1: raise ValueError when the sequence is longer than the table.
        # TODO 2: add the first T rows; x itself must not change.
        # TODO 3: whatever dtype the table has, the result has that of x.
        raise NotImplementedError("SinusoidalPositionalEncoding.forward")


class LearnedPositionalEncoding(nn.Module):
    """Add a table that is learned, row by row, like any other weight.

    Args:
        d_model: D, the width of the sequence.
        max_len: the longest sequence that can be encoded.

    Attributes:
        The table is the only parameter, with one number per position and column. Its name is yours to choose.
    """

    def __init__(self, d_model: int, max_len: int) -> None:
        super().__init__()
        # TODO: make the table a parameter, with small random numbers to begin with.
        raise NotImplementedError("LearnedPositionalEncoding.__init__")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Add position t's row to x[:, t], in every sequence of the batch.

        Args:
            x: [B, T, D], of any floating dtype. T > max_len is a ValueError.

        Returns:
            [B, T, D], in the dtype of x.
        """
        # TODO: the same three steps as above.
        raise NotImplementedError("LearnedPositionalEncoding.forward")
