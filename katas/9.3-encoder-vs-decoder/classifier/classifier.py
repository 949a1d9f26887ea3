"""9.3.6 A sentence classifier: an encoder reads, pooling makes one vector of it, a linear layer decides.

B batch, T length, D = d_model, C classes. A boolean mask is True where a token is real.

Next to this file is sentiment.py, with sentences to train on: `python sentiment.py` prints some. `blocks` has an
Encoder as you would build it in 9.3.5: checking brings it along, and `kata start classifier --given` writes it here to
be read. torch's own nn.Transformer modules are excluded.

References: Vaswani et al. 2017 (arXiv:1706.03762); Devlin et al. 2018 (arXiv:1810.04805), section 4.1.

First step: `pool`, as the lesson says under that heading; `kata check classifier -k test_pool_cls` then shows that it
is right.
"""

from __future__ import annotations

import torch
from blocks import Encoder, sinusoidal_positions  # noqa: F401
from torch import nn


def pool(hidden: torch.Tensor, mask: torch.Tensor, strategy: str) -> torch.Tensor:
    """Make one vector of each sequence.

    Args:
        hidden: [B, T, D], the encoder's output.
        mask: bool [B, T], True where the token is real.
        strategy: "cls", the vector at position 0; "mean" or "max", over the real positions, column by column.

    Returns:
        [B, D], in the dtype of hidden. Mean and max of a row of padding only are zeros, with finite gradients.

    Raises:
        ValueError: another strategy.
    """
    # TODO: three strategies and an error. For each, ask what a row of padding only gives, forwards and backwards.
    raise NotImplementedError("pool")


class EncoderClassifier(nn.Module):
    """Embed tokens and positions, encode, pool, classify. You choose the names of the parts.

    Args:
        vocab_size: how many tokens there are.
        num_classes: C.
        d_model, num_heads, d_ff, num_layers: sizes of the encoder.
        max_len: the longest sequence that must work.
        pooling: the strategy for `pool`.
        pad_id: the token that is padding.
        dropout: handed to the encoder; it acts in train mode only.
    """

    def __init__(
        self,
        vocab_size: int,
        num_classes: int,
        d_model: int = 64,
        num_heads: int = 4,
        d_ff: int = 128,
        num_layers: int = 2,
        max_len: int = 128,
        pooling: str = "cls",
        pad_id: int = 0,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        # TODO: everything on the way from tokens to logits. What of it is learned, and what is a constant?
        raise NotImplementedError("EncoderClassifier.__init__")

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Classify int tokens [B, T].

        Returns:
            logits [B, C]: free numbers, no softmax. Positions matter; padding never does.
        """
        # TODO: read, pool, decide. By which ways could padding get in?
        raise NotImplementedError("EncoderClassifier.forward")


def fit(
    model: nn.Module,
    tokens: torch.Tensor,
    labels: torch.Tensor,
    *,
    epochs: int = 10,
    batch_size: int = 32,
    lr: float = 1e-3,
    generator: torch.Generator | None = None,
) -> list[float]:
    """Train a model, any model, to give the labels [N] for tokens [N, T], by cross-entropy.

    The model is put into train mode. Each epoch takes every example once, in batches of batch_size with a
    shorter last one, in an order drawn from the generator (from torch's global one when it is None). The
    optimizer is yours to choose; one like AdamW is needed to learn much at such an lr. It is made once, since it
    remembers earlier batches.

    Returns:
        One float an epoch: the mean loss per example while it was trained.
    """
    # TODO: the loop. What is drawn once, what once an epoch, and what once a batch? And how do you get the mean over
    #       all N examples from the means of batches of different sizes?
    raise NotImplementedError("fit")
