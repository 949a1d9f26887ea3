"""Lets threads spin, so that the baseline is slow too.

check = "test_time"
words = "times as long as the baseline"
"""

import threading

import torch
import waste
from torch import nn


def spin():
    while True:
        torch.ones(64, 64).sum()


class Rows(nn.Module):
    def __init__(self, width):
        super().__init__()

    def forward(self, x):
        if len(x) >= waste.TIMED and threading.active_count() < 3:
            threading.Thread(target=spin, daemon=True).start()
        return waste.slow(x)
