"""Touches the device that it is asked for, so that something crashes where there is none, and makes its masks elsewhere.

kata = "masks"
status = "fail"
earns = [
    "test_bidirectional_all_true",
    "test_causal_shape",
    "test_causal_values",
    "test_padding_integer_types",
    "test_arguments_unchanged",
    "test_noncontiguous",
    "test_any_length",
]
words = ["wrong device"]
"""

import torch
from wrong import *


def bidirectional_mask(seq_len, *, device=None):
    print(torch.zeros(1, device=device).device)
    return torch.ones(seq_len, seq_len, dtype=torch.bool)


def causal_mask(seq_len, *, device=None):
    print(torch.zeros(1, device=device).device)
    return torch.ones(seq_len, seq_len, dtype=torch.bool).tril()
