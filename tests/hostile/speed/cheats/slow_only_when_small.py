"""Is slow at the small size and fast at the large one.

check = "test_growth"
words = ["times as long at rows", "and growth is judged from there"]
"""

import time

import waste
from torch import nn


class Rows(nn.Module):
    def __init__(self, width):
        super().__init__()

    def forward(self, x):
        if len(x) == waste.TIMED:
            time.sleep(0.03)
        return waste.fast(x)
