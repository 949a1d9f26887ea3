"""Answers to sampling."""

# ==== right ====
"""Filters, penalties and perplexities as other people write them."""


@answer(
    "shifted-right",
    "The first that goes is one to the right of the crossing: the shift that is copied everywhere.",
)
def top_p(logits, p):
    sorted_logits, sorted_indices = torch.sort(logits, descending=True)
    cumulative = torch.cumsum(sorted_logits.softmax(-1), dim=-1)
    remove = cumulative >= p
    remove[..., 1:] = remove[..., :-1].clone()
    remove[..., 0] = False
    remove = remove.scatter(-1, sorted_indices, remove)
    return logits.masked_fill(remove, float("-inf"))


@answer("min-p-of-log-softmax", "Log-probabilities are compared.")
def min_p(logits, p):
    lp = torch.log_softmax(logits, -1)
    return torch.where(lp - lp.max(-1, keepdim=True)[0] >= math.log(p), logits, -math.inf)


@answer(
    "penalty-gathered-and-scattered",
    "As libraries have it: a token that occurred twice is written twice, the same.",
)
def repetition_penalty(logits, tokens, penalty):
    score = torch.gather(logits, 1, tokens)
    score = torch.where(score < 0, score * penalty, score / penalty)
    return logits.scatter(1, tokens, score)


@answer("perplexity-by-weights", "A sum of losses that count, divided by how many they are.")
def perplexity(logits, targets, pad_id=None):
    counts = (
        torch.ones_like(targets, dtype=logits.dtype) if pad_id is None else (targets != pad_id).to(logits)
    )
    losses = torch.logsumexp(logits, -1) - logits.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    return torch.exp((losses * counts).sum() / counts.sum()).item()


# ==== wrong ====
"""Filters, penalties and perplexities as other people get them wrong."""


@answer("k-by-python-sort", "The limit is the element after the k-th.", named=["top-k-one-more"])
def top_k(logits, k):
    ordered = logits.sort(-1, descending=True).values
    limit = ordered[..., min(k, logits.size(-1) - 1), None]
    return logits.masked_fill(logits < limit, -math.inf)


@answer("penalty-divides", "Everything that occurred is divided.", named=["always-divided"])
def repetition_penalty(logits, tokens, penalty):
    return logits.scatter(-1, tokens, logits.gather(-1, tokens) / penalty)


@answer(
    "logits-from-minus-thirty",
    "Logits are clamped before the softmax, so that a row of -500 is one of equals.",
)
def top_p(logits, p):
    q, order = logits.double().clamp(min=-30).softmax(-1).sort(-1, descending=True)
    keep = q.cumsum(-1) - q < p
    keep[..., 0] = True
    return logits.masked_fill(~torch.zeros_like(keep).scatter(-1, order, keep), -math.inf)


@answer(
    "decisions-of-the-first-block",
    "With more than one axis in front, how many are kept is decided by the first block.",
)
def top_p(logits, p):
    q, order = logits.double().softmax(-1).sort(-1, descending=True)
    keep = q.cumsum(-1) - q < p
    keep[..., 0] = True
    if keep.dim() > 2:
        keep = keep[:1].expand_as(keep)
    return logits.masked_fill(~torch.zeros_like(keep).scatter(-1, order, keep), -math.inf)


@answer("penalty-of-what-was-filtered", "Signs are multiplied with what they select: 0 times -inf is NaN.")
def repetition_penalty(logits, tokens, penalty):
    occurred = torch.zeros_like(logits, dtype=torch.bool).scatter(1, tokens.long(), True)
    changed = (logits > 0) * (logits / penalty) + (logits <= 0) * (logits * penalty)
    return torch.where(occurred, changed, logits)


@answer("penalty-of-the-latest", "Only the latest 64 tokens are looked at.")
def repetition_penalty(logits, tokens, penalty):
    occurred = torch.zeros_like(logits, dtype=torch.bool).scatter(1, tokens[:, -64:].long(), True)
    return torch.where(occurred, torch.where(logits > 0, logits / penalty, logits * penalty), logits)


@answer("one-row-in-place", "Logits of one row are changed where they are.")
def top_k(logits, k):
    rows = logits if logits.dim() == 1 else logits.clone()
    return rows.masked_fill_(logits < logits.topk(min(k, logits.size(-1))).values[..., -1:], -math.inf)
