"""How `next_token_loss` counts padding wrongly.

The mean is over the targets that are not pad_id: neither their losses nor their number counts. 0 is an id
like any other.
"""


class pad_counted:
    """your loss counts targets that are padding

    Fails: test_loss_padding
    """

    def next_token_loss(logits, tokens, pad_id=None):
        scores, targets = logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()
        return F.cross_entropy(scores, targets)


class pad_by_input:
    """your loss leaves out positions that read padding: it is the target that must not be padding

    Fails: test_loss_padding
    """

    def next_token_loss(logits, tokens, pad_id=None):
        scores, targets = logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()
        if pad_id is not None:
            real = tokens[:, :-1].flatten() != pad_id
            scores, targets = scores[real], targets[real]
        return F.cross_entropy(scores, targets)


class pad_divided_by_all:
    """your loss divides by the number of all targets: padding must not count there either

    Fails: test_loss_padding
    """

    def next_token_loss(logits, tokens, pad_id=None):
        scores, targets = logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()
        return (
            F.cross_entropy(scores, targets, ignore_index=-100 if pad_id is None else pad_id, reduction="sum")
            / targets.numel()
        )


class pad_mean_of_rows:
    """your loss is the mean of the rows' means: a short row then counts as much as a long one

    Fails: test_loss_padding
    """

    def next_token_loss(logits, tokens, pad_id=None):
        scores, targets = logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()
        each = F.cross_entropy(scores, targets, reduction="none").view(len(tokens), -1)
        real = torch.ones_like(each) if pad_id is None else (tokens[:, 1:] != pad_id).to(each.dtype)
        return ((each * real).sum(1) / real.sum(1).clamp(min=1)).mean()


class pad_zero_counted:
    """your loss does not skip padding when pad_id is 0: ask whether it is None, not whether it is true

    Fails: test_loss_padding
    """

    def next_token_loss(logits, tokens, pad_id=None):
        scores, targets = logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()
        return F.cross_entropy(scores, targets, ignore_index=pad_id or -100)


class pad_zero_skipped:
    """your loss skips token 0 when there is no pad_id

    Fails: test_loss
    """

    def next_token_loss(logits, tokens, pad_id=None):
        scores, targets = logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()
        return F.cross_entropy(scores, targets, ignore_index=pad_id or 0)
