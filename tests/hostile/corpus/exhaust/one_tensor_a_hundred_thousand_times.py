"""Answers with one large tensor a hundred thousand times, for whoever looks at each.

kata = "insertion-sort"
status = "fail"
words = ["each counted as often as it is there"]
timeout_s = 2
"""

import torch


def insertion_sort(values):
    return [torch.zeros(16 << 20)] * 100_000
