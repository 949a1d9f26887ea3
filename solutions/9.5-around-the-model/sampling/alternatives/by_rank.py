"""Everything from the rank of each token; losses by torch's cross-entropy."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def _ranks(logits):
    """Return the place of each token in its row, 0 for the best."""
    return logits.argsort(-1, descending=True).argsort(-1)


def _kept(logits, keep):
    return torch.where(keep, logits, torch.full_like(logits, float("-inf")))


def top_k(logits, k):
    return _kept(logits, _ranks(logits) < k)


def top_p(logits, p):
    ranks = _ranks(logits)
    probabilities = (logits - logits.logsumexp(-1, keepdim=True)).exp()
    # For each token the sum over those that rank before it.
    better = ranks[..., None, :] < ranks[..., :, None]
    before = (better * probabilities[..., None, :]).sum(-1)
    return _kept(logits, (before < p) | (ranks == 0))


def min_p(logits, p):
    probabilities = torch.softmax(logits, -1)
    return _kept(logits, probabilities >= p * probabilities.max(-1, keepdim=True).values)


def repetition_penalty(logits, tokens, penalty):
    occurred = F.one_hot(tokens, logits.shape[-1]).any(1)
    scaled = torch.where(logits > 0, logits / penalty, logits * penalty)
    return torch.where(occurred, scaled, logits)


def perplexity(logits, targets, pad_id=None):
    ignored = -100 if pad_id is None else pad_id
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=ignored)
    return loss.exp().item()
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
