"""Preferences, row by row: loops over texts, answers and groups, in Python's own words."""

from __future__ import annotations

import torch


def sft_loss(logits, tokens, prompt_length):
    """Return the mean of -log p over all tokens of the answers."""
    batch, time = len(logits), logits.shape[1]
    lengths = [prompt_length] * batch
    if isinstance(prompt_length, torch.Tensor):
        if prompt_length.shape not in ((), (batch,)):
            raise ValueError(f"prompt_length is of shape {tuple(prompt_length.shape)}; want an int or [{batch}]")
        lengths = prompt_length.expand(batch).tolist()
    for length in lengths:
        if length not in range(time + 1):
            raise ValueError(f"prompt_length {length} is not from 0 to {time}")
    keep = torch.stack([torch.arange(time, device=logits.device) >= length for length in lengths])
    count = sum(max(time - max(length, 1), 0) for length in lengths)
    return -sequence_logps(logits, tokens, keep).sum() / (count or 1)


def sequence_logps(logits, tokens, keep):
    """Return the sum of each row's kept log-probabilities."""
    if logits.ndim != 3 or not tokens.shape == keep.shape == logits.shape[:2]:
        raise ValueError(f"{tuple(logits.shape)}, {tuple(tokens.shape)} and {tuple(keep.shape)} do not fit")
    return torch.stack([_row(*row) for row in zip(logits, tokens, keep, strict=True)])


def _row(logits, tokens, keep):
    places = keep[1:].nonzero()[:, 0]
    words, table = tokens[places + 1], logits.shape[-1]
    for word in words.tolist():
        if not 0 <= word < table:
            raise ValueError(f"token {word} is not from 0 to {table - 1}")
    chosen = logits[places]
    return (chosen.gather(-1, words[:, None])[:, 0] - chosen.logsumexp(-1)).sum()


def dpo_loss(chosen, rejected, reference_chosen, reference_rejected, beta):
    """Return the mean loss of all pairs."""
    if beta <= 0:
        raise ValueError(f"beta {beta} is not positive")
    given = [chosen, rejected, reference_chosen.detach(), reference_rejected.detach()]
    if chosen.ndim != 1 or any(value.shape != chosen.shape for value in given):
        raise ValueError(f"want four shapes [B], not {[tuple(value.shape) for value in given]}")
    losses = []
    for better, worse, before_better, before_worse in zip(*given, strict=True):
        score = beta * ((better - before_better) - (worse - before_worse))
        losses.append(torch.logaddexp(torch.zeros_like(score), -score))
    return sum(losses) / len(losses)


@torch.no_grad()
def group_advantages(rewards):
    """Return each group's rewards, standardised."""
    if rewards.ndim != 2:
        raise ValueError(f"want [G, N], not {tuple(rewards.shape)}")
    if not rewards.is_floating_point():
        rewards = rewards.to(torch.float32)
    return torch.stack([_standard(group) for group in rewards])


def _standard(group):
    if group.max() == group.min():
        return torch.zeros_like(group)
    return (group - group.mean()) / group.std(correction=0)


def grpo_loss(logps, old_logps, advantages, keep, clip):
    """Return the mean over rows of the mean over kept tokens."""
    if clip <= 0 or clip >= 1:
        raise ValueError(f"clip {clip} is not between 0 and 1")
    if logps.ndim != 2 or not logps.shape == old_logps.shape == keep.shape or advantages.shape != logps.shape[:1]:
        raise ValueError("want three shapes [B, T], and [B] for advantages")
    rows = []
    for new, old, worth, kept in zip(logps, old_logps.detach(), advantages.detach(), keep, strict=True):
        ratio = torch.exp(new[kept] - old[kept])
        limit = 1 + clip if worth > 0 else 1 - clip
        held = ratio.clamp(max=limit) if worth > 0 else ratio.clamp(min=limit)
        if len(ratio):
            rows.append((-worth * held).mean())
    return sum(rows) / len(rows) if rows else (logps.masked_fill(~keep, 0) * 0).sum()
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
