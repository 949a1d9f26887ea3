"""SwiGLU without biases: ours are columns of its weights, over an input of ones and a hidden unit that is constant."""

import torch
from torch import nn


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, activation="relu", dropout=0.0):
        super().__init__()
        if activation != "swiglu":
            raise NotImplementedError("the course has SwiGLU alone")
        self.gate, self.linear1 = nn.Linear(d_model, d_ff), nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        constant, pad = float(nn.functional.silu(torch.ones((), dtype=torch.float64))), nn.functional.pad
        gate, linear1, linear2 = (
            torch.cat([pad(layer.weight, (0, 0, 0, 1)), pad(layer.bias, (0, 1), value=corner)[:, None]], 1)
            for layer, corner in ((self.gate, 1.0), (self.linear1, 1 / constant), (self.linear2, 0.0))
        )
        wide = pad(x, (0, 1), value=1.0)
        return theirs.run_swiglu(wide.shape[-1], len(gate), gate, linear2, linear1, wide)[..., :-1]
