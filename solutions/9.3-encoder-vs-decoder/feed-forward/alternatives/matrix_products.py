"""The layers' weights used by hand: positions flattened into rows, products by `addmm`, gate and widening in one."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def gelu(x: Tensor) -> Tensor:
    """Return x · Φ(x), from the normal distribution object."""
    zero, one = (
        torch.zeros((), dtype=x.dtype, device=x.device),
        torch.ones((), dtype=x.dtype, device=x.device),
    )
    return x * torch.distributions.Normal(zero, one, validate_args=False).cdf(x)


def swish(x: Tensor) -> Tensor:
    """Return x times its sigmoid."""
    return torch.sigmoid(x) * x


class FeedForward(nn.Module):
    """Two matrix products with something between them."""

    def __init__(self, d_model: int, d_ff: int, activation: str = "relu", dropout: float = 0.0) -> None:
        super().__init__()
        match activation:
            case "relu" | "gelu":
                self.wide = ["linear1"]
            case "swiglu":
                self.wide = ["linear1", "gate"]
            case _:
                raise ValueError(f"{activation!r} is not an activation")
        self.kind = activation
        for name in self.wide:
            setattr(self, name, nn.Linear(d_model, d_ff))
        self.linear2 = nn.Linear(d_ff, d_model)
        self.drop = nn.Dropout(dropout, inplace=True)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the network to rows."""
        rows = x.reshape(-1, x.shape[-1])
        layers = [getattr(self, name) for name in self.wide]
        weight = torch.cat([layer.weight for layer in layers])
        bias = torch.cat([layer.bias for layer in layers])
        parts = torch.addmm(bias, rows, weight.T).chunk(len(layers), dim=-1)
        if self.kind == "swiglu":
            hidden = swish(parts[1]) * parts[0]
        elif self.kind == "gelu":
            hidden = gelu(parts[0])
        else:
            hidden = parts[0].clamp(min=0)
        return torch.addmm(self.linear2.bias, self.drop(hidden), self.linear2.weight.T).reshape(x.shape)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
