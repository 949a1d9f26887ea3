"""9.5.3 Sampling: which words may follow, and how surprised a model is by those that did.

B batch, T length, V the size of the vocabulary. A filter returns logits again: those of tokens that may be drawn as
they were, -inf elsewhere.

References: Holtzman et al. 2019 (arXiv:1904.09751); Nguyen et al. 2024 (arXiv:2407.01082); Keskar et al. 2019
(arXiv:1909.05858), section 4.1.

First step: `min_p`, as the lesson says under that heading; `kata check sampling -k test_min_p` then shows that it is
right.
"""

from __future__ import annotations

import torch


def top_k(logits: torch.Tensor, k: int) -> torch.Tensor:
    """Keep the k best logits of each row.

    Args:
        logits: [.., V], any number of axes in front; each row is filtered by itself.
        k: how many; all of them when k > V.

    Returns:
        [.., V], with -inf elsewhere.
    """
    # TODO: the k-th best logit of each row, then -inf where a logit is below it. What if k is larger than V?
    raise NotImplementedError("top_k")


def top_p(logits: torch.Tensor, p: float) -> torch.Tensor:
    """Keep the smallest set of best tokens whose probabilities sum up to p or more (nucleus sampling).

    Args:
        logits: [.., V].
        p: from 0 to 1. The token with which p is reached is kept, so there is always one.

    Returns:
        [.., V], with -inf elsewhere.
    """
    # TODO: sort, and decide in sorted order. How do the decisions get back to the tokens' own places?
    raise NotImplementedError("top_p")


def min_p(logits: torch.Tensor, p: float) -> torch.Tensor:
    """Keep the tokens that are at least p times as likely as the best one.

    Args:
        logits: [.., V].
        p: above 0, at most 1.

    Returns:
        [.., V], with -inf elsewhere.
    """
    # TODO: compare with the best token of the same row. Does it take a softmax, or is log p added to a logit enough?
    raise NotImplementedError("min_p")


def repetition_penalty(logits: torch.Tensor, tokens: torch.Tensor, penalty: float) -> torch.Tensor:
    """Make every token that has occurred less likely.

    Args:
        logits: [B, V].
        tokens: int [B, T], what is in each row so far.
        penalty: above 1. A logit above 0 is divided by it, any other multiplied; once, however often the token
            occurred.

    Returns:
        [B, V]; tokens that have not occurred in their row keep their logits.
    """
    # TODO: which tokens of the vocabulary occur in a row: bool [B, V]. Then two cases, by the sign of the logit.
    raise NotImplementedError("repetition_penalty")


def perplexity(logits: torch.Tensor, targets: torch.Tensor, pad_id: int | None = None) -> float:
    """Return the number of equally likely tokens among which it would have been as hard to choose.

    Args:
        logits: [B, T, V].
        targets: int [B, T]; logits[b, t] are scored on targets[b, t], nothing is shifted here.
        pad_id: a token of the vocabulary; targets that are this token do not count; None: all count.

    Returns:
        a Python float: exp of the mean of -log p over all targets that count.
    """
    # TODO: log-probabilities of the targets [B, T], without those that do not count; one mean over all that are left.
    raise NotImplementedError("perplexity")
