"""9.3.6 A sentence classifier: an encoder reads, pooling makes one vector of it, a linear layer decides.

B batch, T length, D = d_model, C classes. A boolean mask is True where a token is real.

Beside this file lies sentiment.py, with sentences to train on: `python sentiment.py` prints some. `blocks` has an
Encoder as you would build it in 9.3.5: checking brings it along, and `kata start classifier` also writes blocks.py
here. torch's own nn.Transformer modules are excluded.

References: Vaswani et al. 2017 (arXiv:1706.03762); Devlin et al. 2018 (arXiv:1810.04805), section 4.1.
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
    # TODO 1: cls is one index.
    # TODO 2: mean. Add up what is real; divide by how many are real. What if there are none?
    # TODO 3: max. What may stand in the place of padding, so that it never wins, even if all else is negative?
    #         And what if nothing is left?
    # TODO 4: anything else is a ValueError.
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
        # TODO 1: a vector for each token, and positions for max_len places (register_buffer keeps them with the
        #         model when it changes its dtype or device).
        # TODO 2: the encoder, and a linear layer from D to C.
        raise NotImplementedError("EncoderClassifier.__init__")

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Classify int tokens [B, T].

        Returns:
            logits [B, C]: free numbers, no softmax. Positions matter; padding never does.
        """
        # TODO 1: which tokens are real, bool [B, T]?
        # TODO 2: token vectors plus the first T positions: [B, T, D].
        # TODO 3: encode, with a mask that keeps every query from looking at padding.
        # TODO 4: pool, without padding, and classify.
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
    optimizer is yours to choose; one like AdamW is needed to learn much at such an lr.

    Returns:
        One float an epoch: the mean loss per example while it was trained.
    """
    # TODO 1: an optimizer over the model's parameters; train mode.
    # TODO 2: an epoch's order: a permutation of all N examples, drawn from the generator; cut it into batches.
    # TODO 3: for each batch: logits, loss, empty the gradients, backward, one step.
    # TODO 4: a batch's loss is a mean over its examples. How do you get the mean over all N from these?
    raise NotImplementedError("fit")
