"""One expert of 9.8.4: the feed-forward network of 9.3.4."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F


class Expert(nn.Module):
    """A feed-forward network, as in each layer of a transformer.

    Args:
        d_model: D, the width of what goes in and comes out.
        d_ff: the inner width; it may be smaller than D.
    """

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)

    def forward(self, rows: Tensor) -> Tensor:
        """Return the shape of rows [.., D]; each row is computed by itself."""
        return self.linear2(F.gelu(self.linear1(rows)))
