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


answer(
    "sums-of-what-counts", "What counts is picked out by masks; infinite and tiny rewards are scaled first."
)


def _check_shapes(logits, tokens):
    if logits.dim() != 3 or tokens.shape != logits.shape[:2]:
        raise ValueError(
            f"expected logits [B, T, V] and tokens [B, T], got {tuple(logits.shape)} and {tuple(tokens.shape)}"
        )


def _counted_logps(logits, tokens, counts):
    wanted = tokens[:, 1:][counts]
    vocab = logits.shape[-1]
    bad = wanted[(wanted < 0) | (wanted >= vocab)]
    if bad.numel():
        raise ValueError(f"token {bad[0].item()}: expected 0 <= token < {vocab}")
    return logits[:, :-1][counts].log_softmax(-1).gather(-1, wanted[:, None])[:, 0]


def sft_loss(logits, tokens, prompt_length):
    _check_shapes(logits, tokens)
    batch, length = tokens.shape
    if isinstance(prompt_length, torch.Tensor):
        if prompt_length.shape != (batch,):
            raise ValueError(
                f"prompt_length: expected an int or shape [{batch}], got {tuple(prompt_length.shape)}"
            )
        prompts = prompt_length.to(tokens.device)
    else:
        prompts = torch.full((batch,), prompt_length, device=tokens.device)
        if not 0 <= prompt_length <= length:
            raise ValueError(f"prompt_length {prompt_length}: expected 0 to {length}")
    for value in prompts.tolist():
        if not 0 <= value <= length:
            raise ValueError(f"prompt_length {value}: expected 0 to {length}")
    counts = (
        torch.arange(1, length, device=tokens.device) >= prompts[:, None]
        if length
        else prompts[:, None][:, :0] > 0
    )
    logps = _counted_logps(logits, tokens, counts)
    return -logps.sum() / max(logps.numel(), 1)


def sequence_logps(logits, tokens, keep):
    _check_shapes(logits, tokens)
    if keep.shape != tokens.shape:
        raise ValueError(f"expected keep {tuple(tokens.shape)}, got {tuple(keep.shape)}")
    counts = keep[:, 1:]
    logps = _counted_logps(logits, tokens, counts)
    places = torch.zeros(counts.shape, dtype=logits.dtype, device=logits.device)
    return places.masked_scatter(counts, logps).sum(-1)


def dpo_loss(chosen, rejected, reference_chosen, reference_rejected, beta):
    if not beta > 0:
        raise ValueError(f"beta {beta}: expected above 0")
    shapes = [tuple(x.shape) for x in (chosen, rejected, reference_chosen, reference_rejected)]
    if chosen.dim() != 1 or len(set(shapes)) != 1:
        raise ValueError(f"expected four times the same shape [B], got {shapes}")
    margin = (chosen - reference_chosen.detach()) - (rejected - reference_rejected.detach())
    return -torch.nn.functional.logsigmoid(beta * margin).mean().to(chosen.dtype)


def group_advantages(rewards):
    if rewards.dim() != 2:
        raise ValueError(f"expected rewards [G, N], got {tuple(rewards.shape)}")
    rewards = rewards.detach()
    dtype = rewards.dtype if rewards.is_floating_point() else torch.float32
    if rewards.numel() == 0:
        return torch.zeros(rewards.shape, dtype=dtype, device=rewards.device)
    equal = (rewards == rewards[:, :1]).all(-1, keepdim=True)
    x = rewards.double()
    x = x - x[:, :1]  # exact for near values, and the largest becomes 1, so that no square underflows
    x = x / x.abs().amax(-1, keepdim=True).masked_fill(equal, 1.0)
    x = x - x.mean(-1, keepdim=True)
    deviation = x.square().mean(-1, keepdim=True).sqrt()
    return (x / deviation.masked_fill(equal, 1.0)).masked_fill(equal, 0.0).to(dtype)


def grpo_loss(logps, old_logps, advantages, keep, clip):
    if not 0 < clip < 1:
        raise ValueError(f"clip {clip}: expected above 0 and below 1")
    if (
        logps.dim() != 2
        or old_logps.shape != logps.shape
        or keep.shape != logps.shape
        or advantages.shape != logps.shape[:1]
    ):
        raise ValueError(
            "expected logps, old_logps, keep [B, T] and advantages [B], got "
            f"{[tuple(x.shape) for x in (logps, old_logps, keep, advantages)]}"
        )
    ratio = (logps - old_logps.detach()).masked_fill(~keep, 0.0).exp()
    a = advantages.detach().to(logps.dtype)[:, None]
    gain = torch.minimum(ratio * a, ratio.clamp(1 - clip, 1 + clip) * a).masked_fill(~keep, 0.0)
    kept = keep.sum(-1)
    rows = gain.sum(-1) / kept.clamp(min=1)
    return (-rows.sum() / (kept > 0).sum().clamp(min=1)).to(logps.dtype)


answer("by-sign", "The ratio is clipped before exp, on the side that the sign of the advantage says.")


def _surprises(logits, tokens, counts):
    batch, length, vocab = logits.shape
    counts = counts.clone()
    counts[:, :1] = False
    wrong = counts & ((tokens < 0) | (tokens >= vocab))
    if wrong.any():
        raise ValueError(f"expected tokens from 0 to {vocab - 1}, got {tokens[wrong].tolist()[0]}")
    targets = torch.where(counts, tokens, -100).roll(
        -1, dims=1
    )  # place 0 goes to the end, where it is ignored
    safe = logits.masked_fill((targets == -100)[..., None], 0.0)
    found = F.cross_entropy(safe.reshape(-1, vocab), targets.reshape(-1), ignore_index=-100, reduction="none")
    return found.reshape(batch, length)


def _fit(**named: tuple[torch.Tensor, tuple[int, ...]]):
    for name, (tensor, shape) in named.items():
        if tuple(tensor.shape) != tuple(shape):
            raise ValueError(f"{name} has shape {tuple(tensor.shape)}, expected {tuple(shape)}")


def sft_loss(logits, tokens, prompt_length):
    if logits.ndim != 3:
        raise ValueError(f"logits have shape {tuple(logits.shape)}, expected [B, T, V]")
    B, T, _ = logits.shape
    _fit(tokens=(tokens, (B, T)))
    lengths = torch.as_tensor(prompt_length, device=logits.device)
    if isinstance(prompt_length, torch.Tensor):
        _fit(prompt_length=(lengths, (B,)))
    wrong = (lengths < 0) | (lengths > T)
    if wrong.any():
        raise ValueError(f"prompt_length is {lengths[wrong].tolist()[0]}, expected 0 to {T}")
    counts = torch.arange(T, device=logits.device).expand(B, T) >= lengths.reshape(-1, 1)
    return _surprises(logits, tokens, counts).sum() / counts[:, 1:].sum().clamp(min=1)


def sequence_logps(logits, tokens, keep):
    if logits.ndim != 3:
        raise ValueError(f"logits have shape {tuple(logits.shape)}, expected [B, T, V]")
    _fit(tokens=(tokens, logits.shape[:2]), keep=(keep, logits.shape[:2]))
    return -_surprises(logits, tokens, keep).sum(dim=1)


def dpo_loss(chosen, rejected, reference_chosen, reference_rejected, beta):
    if not beta > 0:
        raise ValueError(f"beta is {beta}, expected a number above 0")
    if chosen.ndim != 1:
        raise ValueError(f"chosen has shape {tuple(chosen.shape)}, expected [B]")
    B = chosen.shape
    _fit(
        rejected=(rejected, B),
        reference_chosen=(reference_chosen, B),
        reference_rejected=(reference_rejected, B),
    )
    with torch.no_grad():
        reference = reference_chosen - reference_rejected
    # -log sigmoid(x) = log(e^0 + e^-x)
    minus = -beta * (chosen - rejected - reference)
    return torch.logaddexp(minus, torch.zeros_like(minus)).mean().to(chosen.dtype)


def group_advantages(rewards):
    if rewards.ndim != 2:
        raise ValueError(f"rewards have shape {tuple(rewards.shape)}, expected [G, N]")
    out = torch.float32 if not rewards.dtype.is_floating_point else rewards.dtype
    answer = torch.zeros(rewards.shape, dtype=out, device=rewards.device)
    with torch.no_grad():
        differ = (rewards != rewards[:, :1]).any(dim=1)
        if differ.any():
            r = rewards[differ].to(torch.float64)
            r = (r - r[:, :1]) / (r.amax(1, keepdim=True) - r.amin(1, keepdim=True))
            deviation, mean = torch.std_mean(r, dim=1, correction=0, keepdim=True)
            answer[differ] = ((r - mean) / deviation).to(out)
    return answer


def grpo_loss(logps, old_logps, advantages, keep, clip):
    if not 0 < clip < 1:
        raise ValueError(f"clip is {clip}, expected a number above 0 and below 1")
    if logps.ndim != 2:
        raise ValueError(f"logps have shape {tuple(logps.shape)}, expected [B, T]")
    _fit(
        old_logps=(old_logps, logps.shape), keep=(keep, logps.shape), advantages=(advantages, logps.shape[:1])
    )
    answers = keep.any(dim=1)
    losses = []
    for row in answers.nonzero()[:, 0].tolist():
        here = keep[row]
        a = advantages[row].detach().to(logps.dtype)
        change = logps[row][here] - old_logps[row][here].detach()
        # A taken out: the smaller product is the smaller ratio if A > 0, and the larger one if A < 0.
        # Clipped before exp, so that inf · 0 does not come up where nothing is to be learned.
        if a >= 0:
            change = change.clamp(max=torch.tensor(1 + clip, dtype=torch.float64).log().item())
        if a <= 0:
            change = change.clamp(min=torch.tensor(1 - clip, dtype=torch.float64).log().item())
        losses.append(-(change.exp() * a).mean())
    return torch.stack(losses).mean().to(logps.dtype) if losses else logps[keep].sum()


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
