"""Answers two of five names with given blocks, and the others by itself.

kata = "masks"
status = "fail"
words = ["a given block is not an answer"]
"""

import torch
from wrong import *

aten = torch.ops.aten


def bidirectional_mask(seq_len, *, device=None):
    return aten.full([seq_len, seq_len], True, dtype=torch.bool, device=device)


def causal_mask(seq_len, *, device=None):
    return aten.tril(bidirectional_mask(seq_len, device=device))
