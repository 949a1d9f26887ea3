"""What the checks bring into the worker: experts that note which rows they are called with.

Nothing in here compares or judges; it shares its process with the submission.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn


class Recorder(nn.Module):
    """An expert that notes its calls."""

    def __init__(self, expert: nn.Module, calls: list[Tensor]) -> None:
        super().__init__()
        self.expert, self.calls = expert, calls

    def forward(self, rows: Tensor) -> Tensor:
        """Return what the expert says."""
        self.calls.append(rows.detach().clone())
        return self.expert(rows)


class Record:
    """The calls of all experts of a layer, from now on."""

    def __init__(self, layer: Any) -> None:
        self.calls: list[list[Tensor]] = [[] for _ in layer.experts]
        for place, expert in enumerate(list(layer.experts)):
            layer.experts[place] = Recorder(expert, self.calls[place])

    def read(self) -> list[list[Tensor]]:
        """Return the rows of each call, by expert."""
        return self.calls
