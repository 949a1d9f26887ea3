"""Takes all the memory that there is, in tensors, in a call.

kata = "masks"
status = "fail"
earns = ["test_padding_integer_types", "test_arguments_unchanged", "test_noncontiguous"]
words = ["more than 512 MB"]
"""

import torch
from wrong import *


def causal_mask(seq_len, *, device=None):
    kept = []
    while True:
        kept.append(torch.empty(64 << 20, dtype=torch.uint8))
