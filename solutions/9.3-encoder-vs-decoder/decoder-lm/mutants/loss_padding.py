"""How `next_token_loss` counts padding wrongly.

The mean is over the targets that are not pad_id: neither their losses nor their number counts. 0 is an id
like any other.
"""


@mistake("pad-counted", "your loss counts targets that are padding; it should leave out targets that are pad_id")
def next_token_loss(logits, tokens, pad_id=None):
    scores, targets = logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()
    return F.cross_entropy(scores, targets)


@mistake(
    "pad-by-input",
    "your loss leaves out positions that read padding; it should leave out those whose target is padding",
)
def next_token_loss(logits, tokens, pad_id=None):
    scores, targets = logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()
    if pad_id is not None:
        real = tokens[:, :-1].flatten() != pad_id
        scores, targets = scores[real], targets[real]
    return F.cross_entropy(scores, targets)


@mistake(
    "pad-divided-by-all",
    "your loss divides by the number of all targets; padding must not count there either",
)
def next_token_loss(logits, tokens, pad_id=None):
    scores, targets = logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()
    return (
        F.cross_entropy(scores, targets, ignore_index=-100 if pad_id is None else pad_id, reduction="sum")
        / targets.numel()
    )


@mistake(
    "pad-mean-of-rows",
    "your loss is the mean of the rows' means, so a short row counts too much; average over all targets together",
)
def next_token_loss(logits, tokens, pad_id=None):
    scores, targets = logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()
    each = F.cross_entropy(scores, targets, reduction="none").view(len(tokens), -1)
    real = torch.ones_like(each) if pad_id is None else (tokens[:, 1:] != pad_id).to(each.dtype)
    return ((each * real).sum(1) / real.sum(1).clamp(min=1)).mean()


@mistake(
    "pad-zero-counted",
    "your loss does not skip padding when pad_id is 0; check whether it is None, not whether it is true",
)
def next_token_loss(logits, tokens, pad_id=None):
    scores, targets = logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()
    return F.cross_entropy(scores, targets, ignore_index=pad_id or -100)


@mistake("pad-zero-skipped", "your loss skips token 0 when pad_id is None; it should then count all targets")
def next_token_loss(logits, tokens, pad_id=None):
    scores, targets = logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()
    return F.cross_entropy(scores, targets, ignore_index=pad_id or 0)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
