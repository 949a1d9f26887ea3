"""Answers two of five names with given blocks, and the others by itself.

kata = "masks"
status = "fail"
earns = ["test_padding_integer_types", "test_arguments_unchanged", "test_noncontiguous"]
words = ["causal_mask is the given block causal_mask"]
"""

import torch
from wrong import *

aten = torch.ops.aten


def bidirectional_mask(seq_len, *, device=None):
    return aten.full([seq_len, seq_len], True, dtype=torch.bool, device=device)


def causal_mask(seq_len, *, device=None):
    return aten.tril(bidirectional_mask(seq_len, device=device))
