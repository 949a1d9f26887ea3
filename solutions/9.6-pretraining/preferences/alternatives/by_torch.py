"""Preferences by torch's losses: cross_entropy with ignore_index, softplus, std and where."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def sft_loss(logits, tokens, prompt_length):
    """Return the cross-entropy of the answers."""
    rows, time = logits.shape[:2]
    lengths = torch.as_tensor(prompt_length).to(logits.device)
    if lengths.dim() > 1 or lengths.numel() not in (1, rows) or (lengths.dim() and len(lengths) != rows):
        raise ValueError(f"prompt_length of shape {tuple(lengths.shape)} for {rows} rows")
    if lengths.min() < 0 or lengths.max() > time:
        raise ValueError(f"prompt_length {lengths.tolist()} outside 0..{time}")
    keep = torch.arange(time, device=logits.device) >= lengths.reshape(-1, 1).expand(rows, 1)
    losses = _losses(logits, tokens, keep)
    return losses.sum() / max(keep[:, 1:].count_nonzero().item(), 1)


def sequence_logps(logits, tokens, keep):
    """Return minus the summed cross-entropy of each row."""
    return -_losses(logits, tokens, keep).sum(dim=1)


def _losses(logits, tokens, keep):
    if tuple(tokens.shape) != tuple(logits.shape[:2]) or keep.shape != tokens.shape or logits.dim() != 3:
        raise ValueError("want logits [B, T, V], tokens [B, T] and keep [B, T]")
    targets = torch.where(keep, tokens, -100)[:, 1:]
    wrong = keep[:, 1:] & ((tokens[:, 1:] < 0) | (tokens[:, 1:] > logits.shape[2] - 1))
    if wrong.any():
        raise ValueError(f"tokens {tokens[:, 1:][wrong].tolist()} outside 0..{logits.shape[2] - 1}")
    return F.cross_entropy(logits[:, :-1].transpose(1, 2), targets, ignore_index=-100, reduction="none")


def dpo_loss(chosen, rejected, reference_chosen, reference_rejected, beta):
    """Return the mean softplus of minus the scaled margin."""
    if beta <= 0:
        raise ValueError(f"beta must be above 0, not {beta}")
    if len({tuple(value.shape) for value in (chosen, rejected, reference_chosen, reference_rejected)}) > 1:
        raise ValueError("the four must have one shape")
    if chosen.dim() != 1:
        raise ValueError(f"want [B], not {tuple(chosen.shape)}")
    with torch.no_grad():
        before = reference_chosen - reference_rejected
    return F.binary_cross_entropy_with_logits(beta * (chosen - rejected - before), torch.ones_like(chosen))


def group_advantages(rewards):
    """Return the z-scores of each group."""
    if len(rewards.shape) != 2:
        raise ValueError(f"want two axes, not {len(rewards.shape)}")
    values = rewards.detach().to(rewards.dtype if rewards.dtype.is_floating_point else torch.float32)
    deviation, mean = torch.std_mean(values, dim=1, correction=0, keepdim=True)
    alike = values.amin(1, keepdim=True) == values.amax(1, keepdim=True)
    return torch.where(alike, torch.zeros_like(values), (values - mean) / torch.where(alike, 1.0, deviation))


def grpo_loss(logps, old_logps, advantages, keep, clip):
    """Return the clipped loss, as the larger of two losses."""
    if not (clip > 0 and clip < 1):
        raise ValueError(f"clip {clip} outside (0, 1)")
    if logps.dim() != 2 or {tuple(old_logps.shape), tuple(keep.shape)} != {tuple(logps.shape)}:
        raise ValueError("logps, old_logps and keep must be [B, T]")
    if tuple(advantages.shape) != (len(logps),):
        raise ValueError(f"advantages must be [{len(logps)}]")
    if not keep.any():
        return torch.where(keep, logps, 0).sum()
    ratio = torch.where(keep, logps, 0).sub(torch.where(keep, old_logps.detach(), 0)).exp()
    worth = advantages.detach().unsqueeze(1).expand_as(ratio)
    losses = torch.maximum(-worth * ratio, -worth * torch.clip(ratio, 1.0 - clip, 1.0 + clip))
    rows = keep.any(1)
    return ((losses * keep).sum(1)[rows] / keep.sum(1)[rows]).mean()
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
