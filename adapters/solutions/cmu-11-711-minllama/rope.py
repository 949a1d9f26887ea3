"""Rotary embeddings of queries and keys."""

import torch


def apply_rotary_emb(query, key, head_dim, max_seq_len, theta=10000.0):
    length = query.shape[1]
    q_even, q_odd = query.float().reshape(query.shape[:-1] + (-1, 2)).unbind(-1)
    k_even, k_odd = key.float().reshape(key.shape[:-1] + (-1, 2)).unbind(-1)
    rates = theta ** (-torch.arange(0, head_dim, 2, device=query.device).float() / head_dim)
    angles = torch.outer(torch.arange(length, device=query.device).float(), rates)[None, :, None, :]
    cos, sin = angles.cos(), angles.sin()
    q_out = torch.stack((q_even * cos - q_odd * sin, q_even * sin + q_odd * cos), dim=-1)
    k_out = torch.stack((k_even * cos - k_odd * sin, k_even * sin + k_odd * cos), dim=-1)
    return q_out.flatten(-2).type_as(query), k_out.flatten(-2).type_as(key)
