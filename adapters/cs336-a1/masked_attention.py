"""Attention returns no weights: they are what it makes of the identity."""

import torch


def scaled_dot_product_attention(query, key, value, mask=None):
    identity = torch.eye(key.shape[-2], dtype=value.dtype, device=value.device)
    identity = identity.expand(*value.shape[:-2], *identity.shape)
    output = theirs.run_scaled_dot_product_attention(query, key, value, mask)
    return output, theirs.run_scaled_dot_product_attention(query, key, identity, mask)
