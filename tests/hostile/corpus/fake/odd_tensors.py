"""Returns tensors without ordinary values: meta, sparse, quantised, nested, of raw bits.

kata = "masks"
status = "fail"
words = ["without ordinary values"]
"""

import torch


def bidirectional_mask(seq_len, *, device=None):
    return torch.empty(seq_len, seq_len, dtype=torch.bool, device="meta")


def causal_mask(seq_len, *, device=None):
    return torch.ones(seq_len, seq_len).tril().to_sparse()


def padding_mask(tokens, pad_id=0):
    return torch.quantize_per_tensor(torch.ones(tokens.shape), 0.1, 0, torch.qint8)


def combine_masks(*masks):
    return torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])


def additive_mask(mask, dtype=torch.float32):
    return torch.empty(mask.shape, dtype=torch.uint8).view(torch.bits8)
