"""Preferences: losses from answers that people wrote, compared, or that a program can verify.

References: Ouyang et al. 2022 (arXiv:2203.02155); Rafailov et al. 2023 (arXiv:2305.18290), equation 7; Schulman et al.
2017 (arXiv:1707.06347); Shao et al. 2024 (arXiv:2402.03300), equation 3.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F


def sft_loss(logits: Tensor, tokens: Tensor, prompt_length: int | Tensor) -> Tensor:
    """Return the mean of -log p over all tokens of the answers."""
    rows, length = logits.shape[:2]
    first = torch.as_tensor(prompt_length, device=logits.device)
    if first.dim():
        _same("prompt_length", first, (rows,))
    wrong = first[(first < 0) | (first > length)]
    if wrong.numel():
        raise ValueError(f"prompt_length is {wrong[0].item()}; a row has from 0 to {length} tokens")
    counts = torch.arange(length, device=logits.device) >= first.expand(rows)[:, None]
    counted = counts[:, 1:].sum()
    return -_logps(logits, tokens, counts).sum() / counted.clamp(min=1)


def sequence_logps(logits: Tensor, tokens: Tensor, keep: Tensor) -> Tensor:
    """Return the sum of the kept tokens' log-probabilities, [B]."""
    return _logps(logits, tokens, keep).sum(-1)


def dpo_loss(
    chosen: Tensor, rejected: Tensor, reference_chosen: Tensor, reference_rejected: Tensor, beta: float
) -> Tensor:
    """Return the mean of -log sigmoid(beta · margin)."""
    if not beta > 0:
        raise ValueError(f"beta is {beta}; it should be above 0")
    if chosen.dim() != 1:
        raise ValueError(f"chosen has the shape {list(chosen.shape)}, where [B] is expected")
    _same("rejected", rejected, chosen.shape)
    _same("reference_chosen", reference_chosen, chosen.shape)
    _same("reference_rejected", reference_rejected, chosen.shape)
    margin = (chosen - reference_chosen.detach()) - (rejected - reference_rejected.detach())
    return -F.logsigmoid(beta * margin).mean()


def group_advantages(rewards: Tensor) -> Tensor:
    """Return (reward - mean) / deviation of each group, 0 where all are equal."""
    if rewards.dim() != 2:
        raise ValueError(f"rewards have the shape {list(rewards.shape)}, where [G, N] is expected")
    rewards = rewards.detach() if rewards.is_floating_point() else rewards.float()
    away = rewards - rewards.mean(-1, keepdim=True)
    deviation = away.square().mean(-1, keepdim=True).sqrt()
    # The mean of equal numbers is rounded as well, and may then differ from them.
    equal = (rewards == rewards[:, :1]).all(-1, keepdim=True)
    return (away / deviation).masked_fill(equal, 0)


def grpo_loss(logps: Tensor, old_logps: Tensor, advantages: Tensor, keep: Tensor, clip: float) -> Tensor:
    """Return the clipped loss: the mean over each row's kept tokens, then over the rows that keep something."""
    if not 0 < clip < 1:
        raise ValueError(f"clip is {clip}; it should be above 0 and below 1")
    if logps.dim() != 2:
        raise ValueError(f"logps have the shape {list(logps.shape)}, where [B, T] is expected")
    _same("old_logps", old_logps, logps.shape)
    _same("advantages", advantages, logps.shape[:1])
    _same("keep", keep, logps.shape)
    # Before exp: a NaN that is only left out afterwards still reaches the gradient, as 0 · NaN.
    ratio = (logps.masked_fill(~keep, 0) - old_logps.detach().masked_fill(~keep, 0)).exp()
    worth = advantages.detach()[:, None]
    loss = -torch.minimum(ratio * worth, ratio.clamp(1 - clip, 1 + clip) * worth).masked_fill(~keep, 0)
    tokens = keep.sum(-1)
    means = loss.sum(-1) / tokens.clamp(min=1)
    return means.sum() / (tokens > 0).sum().clamp(min=1)


def _logps(logits: Tensor, tokens: Tensor, counts: Tensor) -> Tensor:
    """Return log p of each token but the first, 0 where it does not count: [B, T - 1]."""
    if logits.dim() != 3:
        raise ValueError(f"logits have the shape {list(logits.shape)}, where [B, T, V] is expected")
    _same("tokens", tokens, logits.shape[:2])
    _same("keep", counts, logits.shape[:2])
    words, left_out, following = logits.shape[-1], ~counts[:, 1:], tokens[:, 1:]
    outside = following[((following < 0) | (following >= words)) & ~left_out]
    if outside.numel():
        raise ValueError(f"token {int(outside[0])} is outside the table: from 0 to {words - 1}")
    places = following.masked_fill(left_out, 0)[..., None]
    return logits[:, :-1].log_softmax(-1).gather(-1, places)[..., 0].masked_fill(left_out, 0)


def _same(name: str, value: Tensor, shape: torch.Size | tuple[int, ...]) -> None:
    if value.shape != shape:
        raise ValueError(f"{name} has the shape {list(value.shape)}, where {list(shape)} is expected")
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
