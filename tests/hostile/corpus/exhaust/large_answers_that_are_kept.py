"""Answers every call with half a gigabyte of tensors, for who keeps the answers of a check until its end.

kata = "insertion-sort"
status = "fail or error"
words = ["takes more than the grader has for one check"]
timeout_s = 60
"""

import torch


def insertion_sort(values):
    return [torch.zeros(63 << 20, dtype=torch.uint8) for _ in range(4)]
