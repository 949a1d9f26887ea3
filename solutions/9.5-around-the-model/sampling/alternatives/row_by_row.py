"""One row at a time, with Python's own lists where they are handy."""

from __future__ import annotations

import math

import torch


def _rows(logits, choose):
    """Filter each row of logits by the list of tokens that `choose` keeps of it."""
    flat = logits.reshape(-1, logits.shape[-1])
    out = torch.full_like(flat, -math.inf)
    for row, target in zip(flat, out, strict=True):
        kept = torch.tensor(choose(row), device=row.device)
        target[kept] = row[kept]
    return out.reshape(logits.shape)


def top_k(logits, k):
    return _rows(logits, lambda row: row.sort(descending=True).indices[:k].tolist())


def top_p(logits, p):
    def choose(row):
        total, kept = 0.0, []
        probabilities = row.double().softmax(-1)
        for token in row.argsort(descending=True).tolist():
            kept.append(token)
            total += float(probabilities[token])
            if total >= p:
                break
        return kept

    return _rows(logits, choose)


def min_p(logits, p):
    return _rows(logits, lambda row: ((row - row.max()).exp() >= p).nonzero().squeeze(-1).tolist())


def repetition_penalty(logits, tokens, penalty):
    out = logits.clone()
    for row, seen in zip(out, tokens, strict=True):
        for token in set(seen.tolist()):
            row[token] = row[token] / penalty if row[token] > 0 else row[token] * penalty
    return out


def perplexity(logits, targets, pad_id=None):
    total, count = 0.0, 0
    for row, wanted in zip(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1).tolist(), strict=True):
        if wanted != pad_id:
            total += float(torch.logsumexp(row, -1) - row[wanted])
            count += 1
    return math.exp(total / count)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
