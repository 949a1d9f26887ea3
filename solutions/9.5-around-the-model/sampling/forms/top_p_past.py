"""Sampling: which words may follow, and how surprised a model is by those that did.

B batch, T length, V the size of the vocabulary.
References: Holtzman et al. 2019 (arXiv:1904.09751); Nguyen et al. 2024 (arXiv:2407.01082); Keskar et al. 2019
(arXiv:1909.05858), section 4.1.
"""

from __future__ import annotations

import math

import torch


def top_k(logits: torch.Tensor, k: int) -> torch.Tensor:
    """Keep the k best logits of each row."""
    least = logits.topk(min(k, logits.size(-1)), dim=-1).values[..., -1:]
    return logits.masked_fill(logits < least, -math.inf)


def top_p(logits: torch.Tensor, p: float) -> torch.Tensor:
    """Keep the best tokens until their probabilities sum up to more than p."""
    ordered, order = logits.sort(dim=-1, descending=True)
    share = ordered.softmax(dim=-1)
    before = share.cumsum(dim=-1) - share  # what the better ones have together
    dropped = before > p
    dropped[..., 0] = False
    dropped = torch.zeros_like(dropped).scatter(-1, order, dropped)  # back to the tokens' own places
    return logits.masked_fill(dropped, -math.inf)


def min_p(logits: torch.Tensor, p: float) -> torch.Tensor:
    """Keep the tokens that are at least p times as likely as the best one."""
    best = logits.amax(dim=-1, keepdim=True)
    return logits.masked_fill(logits < best + math.log(p), -math.inf)


def repetition_penalty(logits: torch.Tensor, tokens: torch.Tensor, penalty: float) -> torch.Tensor:
    """Make every token that has occurred less likely."""
    occurred = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, tokens, True)
    lowered = torch.where(logits > 0, logits / penalty, logits * penalty)
    return torch.where(occurred, lowered, logits)


def perplexity(logits: torch.Tensor, targets: torch.Tensor, pad_id: int | None = None) -> float:
    """Return how many tokens, equally likely, would have been as hard to tell apart."""
    losses = -logits.log_softmax(dim=-1).gather(-1, targets[..., None]).squeeze(-1)  # [B, T]
    if pad_id is not None:
        losses = losses[targets != pad_id]
    return float(losses.mean().exp())
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
