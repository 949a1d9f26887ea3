"""9.6.1 Masked language model: hide words of a text, and find them again from both sides.

B batch, T length, D = d_model, V words.

Next to this file is harbor.py, with sentences to train on: `python harbor.py` prints some. `blocks` has an Encoder
as you would build it in 9.3.5: checking brings it along; to read it, `kata start masked-lm --given`.

Reference: Devlin et al. 2018 (arXiv:1810.04805), sections 3.1 and A.1.

First step: `hide`, as the lesson says under that heading; `kata check masked-lm -k test_hide_targets` then shows that
it is right.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from blocks import Encoder, sinusoidal_positions  # noqa: F401
from torch import nn


def hide(
    tokens: torch.Tensor,
    *,
    mask_id: int,
    vocab_size: int,
    special_ids: Sequence[int] = (),
    rate: float = 0.15,
    generator: torch.Generator | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Choose tokens at random, hide most of them, and say what they were.

    Each token that is not special is chosen with probability `rate`. Of the chosen, 80% become mask_id, 10% a random
    token that is not special, all equally likely, and 10% stay as they were. All draws come from the generator (from
    torch's global one when it is None).

    Args:
        tokens: int64 [B, T]; left as it is.
        mask_id: the token that says "hidden". If it must never be drawn at random, name it in special_ids as well.
        vocab_size: V; tokens are 0 to V - 1.
        special_ids: tokens that are never chosen and never inserted at random.

    Returns:
        inputs [B, T], what the model reads, and targets [B, T]: the token as it was where it was chosen, else -100,
        which cross_entropy ignores.
    """
    # TODO: two draws for each token: whether it is chosen, and what becomes of it. In which steps must special tokens
    # be left out?
    raise NotImplementedError("hide")


class MaskedLM(nn.Module):
    """An encoder over tokens and positions, and an output layer whose weight is the token embedding's.

    You choose the names of the parts. A new model's loss is about ln V.

    Args:
        vocab_size: V.
        d_model, num_heads, d_ff, num_layers: sizes of the encoder.
        max_len: the longest sequence that must work.
        pad_id: the token that is padding.
        dropout: passed on to the encoder; it acts in train mode only.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int = 64,
        num_heads: int = 4,
        d_ff: int = 128,
        num_layers: int = 2,
        max_len: int = 128,
        pad_id: int = 0,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        # TODO: one table for both ends. How large may its numbers be at the start, so that the logits are not too
        # large?
        raise NotImplementedError("MaskedLM.__init__")

    def body(self, tokens: torch.Tensor) -> torch.Tensor:
        """Read int tokens [B, T] from both sides.

        Returns:
            [B, T, D]. Positions matter; padding never changes the vector of a real token.
        """
        # TODO: embed, add positions, encode under a mask [B, 1, 1, T]. Nothing is causal here.
        raise NotImplementedError("MaskedLM.body")

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Score every word at every position.

        Returns:
            logits [B, T, V]: what `body` returns, times the token embedding's weight; a bias [V] may be added.
        """
        # TODO: [B, T, D] times a matrix that the model has already, transposed.
        raise NotImplementedError("MaskedLM.forward")
