"""Answers to preferences."""

# ==== right ====
"""Losses as other people write them, from the lesson and the stub alone."""

answer("shifted-first", "Logits and labels are shifted as in published trainers, labels being -100.")


def sft_loss(logits, tokens, prompt_length):
    B, T, V = logits.shape
    if tokens.shape != (B, T):
        raise ValueError(f"tokens {tuple(tokens.shape)} do not fit logits {tuple(logits.shape)}")
    start = prompt_length if isinstance(prompt_length, torch.Tensor) else torch.full((B,), prompt_length)
    start = start.to(logits.device)
    if start.shape != (B,):
        raise ValueError(f"prompt_length {tuple(start.shape)} should be [{B}]")
    if bool((start < 0).any()) or bool((start > T).any()):
        raise ValueError(f"prompt_length {start.tolist()} should be 0 to {T}")
    labels = tokens.clone()
    position = torch.arange(T, device=logits.device)
    labels[position < start[:, None]] = -100
    mine = tokens[:, 1:][position[1:] >= start[:, None]]
    if mine.numel() and (mine.min() < 0 or mine.max() >= V):
        raise ValueError(f"a token of {mine.tolist()} is not in 0..{V - 1}")
    total = F.cross_entropy(logits[:, :-1].reshape(-1, V), labels[:, 1:].reshape(-1), reduction="sum")
    return total / max(mine.numel(), 1)


answer("loss-mask", "Per-token log-probabilities times a mask that was where()d before.")


def dpo_loss(chosen, rejected, reference_chosen, reference_rejected, beta):
    if beta <= 0:
        raise ValueError(f"beta = {beta}, want > 0")
    for value in (chosen, rejected, reference_chosen, reference_rejected):
        if value.ndim != 1 or len(value) != len(chosen):
            raise ValueError(f"shape {tuple(value.shape)}, want [{len(chosen) if chosen.ndim else 'B'}]")
    with torch.no_grad():
        ref_logratios = reference_chosen - reference_rejected
    logits = chosen - rejected - ref_logratios
    return F.softplus(-(beta * logits)).sum() / len(logits)


def group_advantages(rewards):
    if rewards.ndim != 2:
        raise ValueError(f"rewards should be [G, N], got {tuple(rewards.shape)}")
    r = (rewards if rewards.is_floating_point() else rewards.to(torch.float32)).detach()
    spread = r.std(dim=1, unbiased=False, keepdim=True)
    same = r.amax(1, keepdim=True) == r.amin(1, keepdim=True)
    spread = torch.where(same, torch.ones_like(spread), spread)
    return torch.where(same, torch.zeros_like(r), (r - r.mean(1, keepdim=True)) / spread)


answer("selected-tokens", "Boolean indexing takes the kept tokens; rows come back by index_add.")


def grpo_loss(logps, old_logps, advantages, keep, clip):
    if not 0.0 < clip < 1.0:
        raise ValueError(f"clip {clip} should be in (0, 1)")
    if logps.ndim != 2 or old_logps.shape != logps.shape or keep.shape != logps.shape:
        raise ValueError("logps, old_logps and keep should have one shape [B, T]")
    if advantages.shape != (len(logps),):
        raise ValueError(f"advantages {tuple(advantages.shape)} should be [{len(logps)}]")
    row = keep.nonzero()[:, 0]
    ratio = (logps[keep] - old_logps[keep].detach()).exp()
    A = advantages.detach()[row]
    objective = torch.min(ratio * A, torch.clamp(ratio, 1 - clip, 1 + clip) * A)
    n = torch.bincount(row, minlength=len(logps))
    share = 1 / n[row].to(logps.dtype) if len(row) else objective
    return -(objective * share).sum() / max(int((n > 0).sum()), 1)


# ==== wrong ====
"""Losses with a slip each, by somebody who knew the lesson and the stub alone."""


@answer(
    "whole-text",
    "The prompt is learned as well.",
    named=["prompt-learned", "prompts-unrefused", "no-answer-nan", "tokens-unrefused"],
)
def sft_loss(logits, tokens, prompt_length):
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())


@answer(
    "average",
    "The log-probability of a row is a mean over its tokens.",
    named=["length-normalised", "tokens-unrefused"],
)
def sequence_logps(logits, tokens, keep):
    mask = keep[:, 1:]
    picked = logits[:, :-1].log_softmax(-1).gather(2, tokens[:, 1:, None])[:, :, 0]
    return (picked * mask).sum(1) / mask.sum(1)


@answer("no-reference", "DPO without a reference.", named=["reference-left-out", "beta-unrefused"])
def dpo_loss(chosen, rejected, reference_chosen, reference_rejected, beta):
    return -F.logsigmoid(beta * (chosen - rejected)).mean()


@answer(
    "plain-log", "The logarithm of a sigmoid.", named=["log-of-sigmoid", "reference-learns", "beta-unrefused"]
)
def dpo_loss(chosen, rejected, reference_chosen, reference_rejected, beta):
    margin = (chosen - reference_chosen) - (rejected - reference_rejected)
    return -torch.log(torch.sigmoid(beta * margin)).mean()


@answer(
    "as-trl",
    "N - 1, and 1e-4 added.",
    named=["sample-deviation", "small-number-added", "equal-nan"],
)
def group_advantages(rewards):
    return (rewards - rewards.mean(1, keepdim=True)) / (rewards.std(1, keepdim=True) + 1e-4)


@answer(
    "masked-mean",
    "One mean over all kept tokens; masked after exp.",
    named=["tokens-together", "masked-too-late", "nothing-kept-nan", "old-learns", "advantages-learn"],
)
def grpo_loss(logps, old_logps, advantages, keep, clip):
    if not 0 < clip < 1:
        raise ValueError(f"clip {clip}")
    ratio = torch.exp(logps - old_logps)
    A = advantages[:, None]
    loss = -torch.min(ratio * A, ratio.clamp(1 - clip, 1 + clip) * A)
    return (loss * keep).sum() / keep.sum()


@answer(
    "only-clipped",
    "The ratio is clipped and that is all.",
    named=["always-clipped", "advantages-learn", "masked-too-late"],
)
def grpo_loss(logps, old_logps, advantages, keep, clip):
    if clip <= 0 or clip >= 1:
        raise ValueError(f"clip {clip}")
    ratio = torch.exp(logps - old_logps.detach()).clamp(1 - clip, 1 + clip)
    rows = -(ratio * advantages[:, None] * keep).sum(1) / keep.sum(1)
    return rows.mean()
