"""Returns NaN for everything, which some comparisons let through.

kata = "masks"
status = "fail"
earns = ["test_arguments_unchanged"]
"""

import torch


def bidirectional_mask(seq_len, *, device=None):
    return torch.full((seq_len, seq_len), torch.nan)


causal_mask = bidirectional_mask


def padding_mask(tokens, pad_id=0):
    return torch.full((tokens.shape[0], 1, 1, tokens.shape[1]), torch.nan)


def combine_masks(*masks):
    return torch.full_like(masks[0].float(), torch.nan)


def additive_mask(mask, dtype=torch.float32):
    return torch.full(mask.shape, torch.nan, dtype=dtype)
