"""Masks are True where attention is blocked; padding is told by lengths, so real tokens are put first, and back."""

import torch


def causal_mask(seq_len, *, device=None):
    return ~theirs.CausalMask(torch.zeros(1, seq_len, device=device))


def padding_mask(tokens, pad_id=0):
    order = (tokens == pad_id).long().argsort(dim=1, stable=True)
    blocked = theirs.PadMask(tokens.gather(1, order), (tokens != pad_id).sum(1))
    return ~blocked.gather(1, order.argsort(1))[:, None, None]
