"""Returns a tensor of a billion elements that takes one byte of memory.

kata = "masks"
status = "fail"
words = ["is read back"]
"""

import torch

ONE = torch.ones((), dtype=torch.bool)


def bidirectional_mask(seq_len, *, device=None):
    return ONE.expand(1 << 15, 1 << 15)


causal_mask = bidirectional_mask


def padding_mask(tokens, pad_id=0):
    return ONE.expand(1 << 40, 1 << 20)


def combine_masks(*masks):
    return [ONE.expand(1 << 13, 1 << 13) for _ in range(64)]


def additive_mask(mask, dtype=torch.float32):
    return torch.zeros((), dtype=dtype).expand(1 << 30)
