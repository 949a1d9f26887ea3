"""Answers with tensors of 64 axes, all of which a message about shapes would compare with each other.

kata = "masks"
status = "fail"
earns = ["test_padding_integer_types"]
words = ["a tensor of 64 axes; at most 16 are read"]
timeout_s = 2
"""

import torch
from wrong import *


def causal_mask(seq_len, *, device=None):
    return torch.zeros([1, 2] * 8 + [1] * 48, dtype=torch.bool)


def combine_masks(*masks):
    return torch.zeros([1] * 64, dtype=torch.bool)
