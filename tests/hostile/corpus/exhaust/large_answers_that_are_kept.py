"""Answers every call with a quarter of a gigabyte of tensors, for a grader that keeps the answers of a check.

kata = "masks"
status = "fail or timeout"
earns = ["test_padding_integer_types", "test_arguments_unchanged", "test_noncontiguous"]
timeout_s = 60
"""

import torch
from wrong import *


def bidirectional_mask(seq_len, *, device=None):
    return causal_mask(seq_len)


def causal_mask(seq_len, *, device=None):
    return [torch.zeros(63 << 20, dtype=torch.uint8) for _ in range(4)]
