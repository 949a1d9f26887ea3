"""Lets another stream compute and does not wait for it.

check = "test_time"
needs = "cuda"
words = ["differ", "times as long"]
"""

import torch
import waste
from torch import nn

STREAM = None


class Rows(nn.Module):
    def __init__(self, width):
        super().__init__()

    def forward(self, x):
        global STREAM
        if len(x) < waste.TIMED:
            return waste.slow(x)
        STREAM = STREAM or torch.cuda.Stream()
        y = torch.zeros_like(x)
        with torch.cuda.stream(STREAM):
            torch.cuda._sleep(1_000_000_000)
            y.copy_(waste.slow(x))
        return y
