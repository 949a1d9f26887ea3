"""Attention returns no weights: they are what it makes of the identity."""

import torch


def scaled_dot_product_attention(query, key, value, mask=None):
    identity = torch.eye(key.shape[-2], dtype=value.dtype, device=value.device).expand(*value.shape[:-2], -1, -1)
    return tuple(theirs.run_scaled_dot_product_attention(query, key, each, mask) for each in (value, identity))
