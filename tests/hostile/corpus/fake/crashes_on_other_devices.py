"""Touches the device that it is asked for, so that something crashes where there is none, and makes its masks elsewhere.

kata = "masks"
status = "fail"
points = 4.5
words = ["wrong device"]
"""

import torch
from wrong import *


def bidirectional_mask(seq_len, *, device=None):
    print(torch.zeros(1, device=device).device)
    return torch.ones(seq_len, seq_len, dtype=torch.bool)


def causal_mask(seq_len, *, device=None):
    print(torch.zeros(1, device=device).device)
    return torch.ones(seq_len, seq_len, dtype=torch.bool).tril()
