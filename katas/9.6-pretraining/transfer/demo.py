"""Transfer live: a body that has read, against one that has not; frozen, tuned, by layer; one body for many tasks."""

from __future__ import annotations

import torch
from mine import Encoder, padding_mask, sinusoidal_positions
from torch import Tensor, nn
from torch.nn import functional as F

from grader.demos.exhibits import Exhibit, bars, lines, table, text

try:
    from mine import ClassHead, MultiTask, RegressionHead, SpanHead, TokenHead, freeze, layerwise_groups

    OWN = True
except ImportError:  # the learner's do not pass yet: small ones stand in
    OWN = False

    def _mean(hidden: Tensor, mask: Tensor) -> Tensor:
        return (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)

    class TokenHead(nn.Module):  # type: ignore[no-redef]
        """Labels."""

        def __init__(self, d_model: int, outputs: int) -> None:
            super().__init__()
            self.linear = nn.Linear(d_model, outputs)

        def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
            """Score each token."""
            return self.linear(hidden)

    class SpanHead(TokenHead):  # type: ignore[no-redef]
        """Beginnings and ends."""

        def __init__(self, d_model: int) -> None:
            super().__init__(d_model, 2)

        def forward(self, hidden: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
            """Score each token twice."""
            start, end = self.linear(hidden).masked_fill(~mask[..., None], -torch.inf).unbind(-1)
            return start, end

    class ClassHead(TokenHead):  # type: ignore[no-redef]
        """Classes."""

        def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
            """Score the mean."""
            return self.linear(_mean(hidden, mask))

    class RegressionHead(ClassHead):  # type: ignore[no-redef]
        """A number."""

        def __init__(self, d_model: int) -> None:
            super().__init__(d_model, 1)

        def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
            """Return [B]."""
            return super().forward(hidden, mask)[:, 0]

    def freeze(module: nn.Module) -> None:
        """Stop its parameters."""
        module.requires_grad_(False)

    def layerwise_groups(layers: list[nn.Module], lr: float, decay: float) -> list[dict]:  # type: ignore[type-arg]
        """Slower further down."""
        last = len(layers) - 1
        return [{"params": list(m.parameters()), "lr": lr * decay ** (last - i)} for i, m in enumerate(layers)]

    class MultiTask(nn.Module):  # type: ignore[no-redef]
        """One body, a head for each task."""

        def __init__(self, body: nn.Module, heads: dict[str, nn.Module]) -> None:
            super().__init__()
            self.body, self.heads = body, nn.ModuleDict(heads)

        def forward(self, tokens: Tensor, task: str) -> Tensor:
            """Answer."""
            return self.heads[task](self.body(tokens), tokens != self.body.pad_id)


import letters

WIDTH, LABELS = 32, len(letters.TAGS)
FEW, MANY = (16, 64, 256), 1024
