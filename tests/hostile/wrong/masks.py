"""Wrong answers: ones everywhere, as numbers."""

import torch


def bidirectional_mask(seq_len, *, device=None):
    return torch.ones(seq_len, seq_len)


def causal_mask(seq_len, *, device=None):
    return torch.ones(seq_len, seq_len)


def padding_mask(tokens, pad_id=0):
    return torch.ones(tokens.shape)


def combine_masks(*masks):
    return masks[0]


def additive_mask(mask, dtype=torch.float32):
    return torch.ones(mask.shape)
