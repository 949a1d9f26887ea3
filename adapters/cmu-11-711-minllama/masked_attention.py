"""Attention of one method of a class; it has no mask, and its weights are what it makes of the identity."""

import types

import torch


def scaled_dot_product_attention(query, key, value, mask=None):
    shapes = query.shape[:-2]
    query, key, value = (
        part.expand(*shapes, *part.shape[-2:]).reshape(1, -1, *part.shape[-2:]) for part in (query, key, value)
    )
    width = query.shape[-1]
    settings = {"dim": width, "n_heads": 1, "n_kv_heads": 1, "dropout": 0.0, "max_seq_len": 1024}
    attention = theirs.Attention(types.SimpleNamespace(**settings)).eval()
    identity = torch.eye(key.shape[-2], dtype=value.dtype, device=value.device).expand(*value.shape[:-2], -1, -1)
    attend = attention.compute_query_key_value_scores
    found = attend(query, key, value), attend(query, key, identity)
    return tuple(part.reshape(*shapes, *part.shape[-2:]) for part in found)
