"""What checks hand to `fit` in place of a classifier: a model that keeps account of how it is trained."""

from __future__ import annotations

import random

import numpy as np
import torch
from torch import Tensor, nn


class StandIn(nn.Module):
    """A model whose logits for the example with first token i are row i of its only parameter.

    So an example touches its own row alone, and a gradient tells which examples it came from. Only forward
    passes that a backward pass follows count: whoever looks at the model besides training it may do so.

    Attributes:
        batches: the examples of each batch trained on, in order.
        training_modes: for each such batch whether the model was in train mode.
        updated: for each such batch whether the parameters had moved since the one before.
        stale: for each backward pass the examples whose gradient was left over from before the last update.
    """

    def __init__(self, rows: Tensor) -> None:
        super().__init__()
        self.rows = nn.Parameter(rows.detach().clone())
        self.batches: list[list[int]] = []
        self.training_modes: list[bool] = []
        self.updated: list[bool] = []
        self.stale: list[list[int]] = []
        self._moved = False
        self._before = self.rows.detach().clone()
        self._since: set[int] = set()
        self.rows.register_post_accumulate_grad_hook(self._accumulated)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits [B, classes] for tokens [B, T]."""
        if not torch.equal(
            self.rows.detach(), self._before
        ):  # there was an update: what came before it is old
            self._before = self.rows.detach().clone()
            self._since.clear()
            self._moved = True
        logits = self.rows[tokens[:, 0]]
        if logits.requires_grad:
            examples, training = tokens[:, 0].tolist(), self.training

            def note(_: Tensor) -> None:
                self.batches.append(examples)
                self.training_modes.append(training)
                self._since.update(examples)
                self.updated.append(self._moved)
                self._moved = False

            logits.register_hook(note)
        return logits

    def _accumulated(self, rows: Tensor) -> None:
        assert rows.grad is not None
        filled = set(rows.grad.ne(0).any(dim=1).nonzero().flatten().tolist())
        self.stale.append(sorted(filled - self._since))


def seed_everything(seed: int) -> None:
    """Seed the global generators, as something else in the program might."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def as_float(value: object) -> float | None:
    """Return a float of any kind (numpy's is one too) as Python's own."""
    return float(value) if isinstance(value, float) else None
