"""What `next_token_loss` gets wrong.

Position t predicts token t + 1, so the last position has no target and the first token is none. cross_entropy takes
logits, and averages.
"""


@mistake(
    "loss-not-shifted",
    "your loss compares position t with token t, which the model has just read; it should compare it with token t + 1",
)
def next_token_loss(logits, tokens, pad_id=None):
    scores, targets = logits.flatten(0, 1), tokens.flatten()
    return F.cross_entropy(scores, targets, ignore_index=-100 if pad_id is None else pad_id)


@mistake(
    "loss-shifted-back",
    "your loss is shifted the wrong way, so position t is compared with token t - 1; compare it with token t + 1",
)
def next_token_loss(logits, tokens, pad_id=None):
    scores, targets = logits[:, 1:].flatten(0, 1), tokens[:, :-1].flatten()
    return F.cross_entropy(scores, targets, ignore_index=-100 if pad_id is None else pad_id)


@mistake(
    "loss-rolled",
    "your targets wrap around, so the last position is compared with the first token; leave the last position out",
)
def next_token_loss(logits, tokens, pad_id=None):
    scores, targets = logits.flatten(0, 1), tokens.roll(-1, dims=1).flatten()
    return F.cross_entropy(scores, targets, ignore_index=-100 if pad_id is None else pad_id)


@mistake("loss-summed", "your loss is the sum over the targets; it should be their mean")
def next_token_loss(logits, tokens, pad_id=None):
    scores, targets = logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()
    return F.cross_entropy(scores, targets, ignore_index=-100 if pad_id is None else pad_id, reduction="sum")


@mistake("loss-per-target", "your loss has a number for each target; it should be one, their mean")
def next_token_loss(logits, tokens, pad_id=None):
    scores, targets = logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()
    return F.cross_entropy(scores, targets, ignore_index=-100 if pad_id is None else pad_id, reduction="none")


@mistake(
    "loss-softmax-twice",
    "your loss takes the softmax twice; give cross_entropy logits, as softmax is in it",
)
def next_token_loss(logits, tokens, pad_id=None):
    scores, targets = logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()
    return F.cross_entropy(scores.softmax(dim=-1), targets, ignore_index=-100 if pad_id is None else pad_id)


@mistake(
    "loss-log-of-softmax",
    "your loss is the log of a softmax, where a small p rounds to 0, so log p is -inf; compute log p from the logits",
)
def next_token_loss(logits, tokens, pad_id=None):
    scores, targets = logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()
    return F.nll_loss(scores.softmax(dim=-1).log(), targets, ignore_index=-100 if pad_id is None else pad_id)


@mistake("loss-float32", "your loss is float32 whatever the logits are; it should have the dtype of the logits")
def next_token_loss(logits, tokens, pad_id=None):
    scores, targets = logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()
    return F.cross_entropy(scores.float(), targets, ignore_index=-100 if pad_id is None else pad_id)


@mistake(
    "loss-detached",
    "your loss leaves torch on the way, by .item() or torch.tensor, which cuts off the gradient; keep it in the graph",
)
def next_token_loss(logits, tokens, pad_id=None):
    scores, targets = logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()
    return torch.tensor(
        F.cross_entropy(scores, targets, ignore_index=-100 if pad_id is None else pad_id).item(),
        dtype=logits.dtype,
    )


@mistake(
    "loss-view-of-slice",
    "your loss takes view of a slice, which is not contiguous in memory; use reshape or flatten, which copy if "
    "they must",
)
def next_token_loss(logits, tokens, pad_id=None):
    scores, targets = logits[:, :-1], tokens[:, 1:]
    ignore = -100 if pad_id is None else pad_id
    return F.cross_entropy(scores.view(-1, scores.size(-1)), targets.view(-1), ignore_index=ignore)


@mistake(
    "loss-axes-not-flattened",
    "your loss gives cross_entropy [B, T, V], which wants the classes in axis 1; flatten batch and positions",
)
def next_token_loss(logits, tokens, pad_id=None):
    return F.cross_entropy(logits[:, :-1], tokens[:, 1:], ignore_index=-100 if pad_id is None else pad_id)


@mistake(
    "loss-log-clamped",
    "your loss adds a small number before the logarithm, so large surprises are cut off; compute log p from the logits",
)
def next_token_loss(logits, tokens, pad_id=None):
    p = logits[:, :-1].softmax(dim=-1).gather(-1, tokens[:, 1:, None])[..., 0]
    loss = -(p + 1e-9).log()
    return loss.mean() if pad_id is None else loss[tokens[:, 1:] != pad_id].mean()
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
