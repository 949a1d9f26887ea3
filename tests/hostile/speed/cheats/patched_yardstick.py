"""Makes what the way there and back is measured by slow, in its own worker.

check = "test_time"
words = "times as long as the baseline"
"""

import importlib
import time

import waste
from torch import nn

yardstick = importlib.import_module("grader.timing.yardstick")
for name in ("echo", "copy", "product", "_bytes"):
    setattr(yardstick, name, lambda *_, **__: time.sleep(1.0))


class Rows(nn.Module):
    def __init__(self, width):
        super().__init__()

    def forward(self, x):
        return waste.slow(x)
