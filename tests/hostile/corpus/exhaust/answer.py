"""Returns more than can be read back.

kata = "masks"
status = "fail"
earns = ["test_padding_integer_types"]
words = ["is read back", "MB together"]
"""

import torch
from wrong import *


def causal_mask(seq_len, *, device=None):
    return torch.zeros(160 << 20, dtype=torch.bool)


def combine_masks(*masks):
    one = torch.zeros(100 << 20, dtype=torch.bool)
    return [one.view(-1), one.view(10, -1), one.view(100, -1)]
