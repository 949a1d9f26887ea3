"""What the loss gets wrong: who counts, what is shared out, and to whom."""


class loss_counts_padding:
    """your loss counts targets that are padding

    Fails: test_loss_padding
    """

    smoothed_loss = """
        - return losses[targets != pad_id].mean()
        + return losses.mean()
    """


class padding_zeroed_but_counted:
    """your loss sets padding to 0 and divides by all positions: divide by those that count

    Fails: test_loss_padding
    """

    smoothed_loss = """
        - return losses[targets != pad_id].mean()
        + return (losses * (targets != pad_id)).mean()
    """


class mean_of_rows:
    """your loss is a mean of the rows' means: it is one mean over all targets that count, of all rows

    Fails: test_loss_padding
    """

    smoothed_loss = """
        - return losses[targets != pad_id].mean()
        + real = (targets != pad_id).to(losses.dtype)
        + return ((losses * real).sum(dim=1) / real.sum(dim=1)).mean()
    """


class loss_sum:
    """your loss is the sum over all targets: it is their mean

    Fails: test_plain_loss
    """

    smoothed_loss = """
        - return losses[targets != pad_id].mean()
        + return losses[targets != pad_id].sum()
    """


class loss_padding_is_zero:
    """your loss skips token 0, whatever pad_id is

    Fails: test_loss_padding
    """

    smoothed_loss = """
        - return losses[targets != pad_id].mean()
        + return losses[targets != 0].mean()
    """


class loss_shifts_again:
    """your loss shifts the targets by one: the caller has done so

    Fails: test_plain_loss
    """

    smoothed_loss = """
        + if logits.shape[1] > 1:
        +     logits, targets = logits[:, :-1], targets[:, 1:]
          logs = logits.log_softmax(dim=-1)
    """


class smoothing_ignored:
    """your loss has no smoothing: a share of it goes to every word

    Fails: test_smoothing
    """

    smoothed_loss = """
        - losses = -(1 - smoothing) * right - smoothing * logs.mean(dim=-1)
        + losses = -right
    """


class smoothing_among_the_wrong:
    """your smoothing is spread over the wrong words alone: every word gets smoothing / V, the right one too

    Fails: test_smoothing
    """

    smoothed_loss = """
        - losses = -(1 - smoothing) * right - smoothing * logs.mean(dim=-1)
        + others = (logs.sum(dim=-1) - right) / (logits.shape[-1] - 1)
        + losses = -(1 - smoothing) * right - smoothing * others
    """


class smoothing_not_shared:
    """your smoothing goes to every word undivided: each gets smoothing / V

    Fails: test_smoothing
    """

    smoothed_loss = """
        - losses = -(1 - smoothing) * right - smoothing * logs.mean(dim=-1)
        + losses = -(1 - smoothing) * right - smoothing * logs.sum(dim=-1)
    """


class smoothing_added:
    """your smoothing is added to a full target: the right word keeps 1 - smoothing and its share

    Fails: test_smoothing
    """

    smoothed_loss = """
        - losses = -(1 - smoothing) * right - smoothing * logs.mean(dim=-1)
        + losses = -right - smoothing * logs.mean(dim=-1)
    """


class log_of_softmax:
    """your loss takes the log of a softmax, which is -∞ where it rounds to 0: log_softmax is not

    Fails: test_loss_stability
    """

    smoothed_loss = """
        - logs = logits.log_softmax(dim=-1)
        + logs = logits.softmax(dim=-1).log()
    """


class loss_of_float32:
    """your loss is float32 whatever the logits are

    Fails: test_loss_promises
    """

    smoothed_loss = """
        - logs = logits.log_softmax(dim=-1)
        + logs = logits.float().log_softmax(dim=-1)
    """


class loss_by_rows:
    """your loss is divided by the number of rows: it is the mean over all targets that count

    Fails: test_plain_loss
    """

    smoothed_loss = """
        - return losses[targets != pad_id].mean()
        + return losses[targets != pad_id].sum() / len(targets)
    """


class share_of_two_fewer:
    """your smoothing leaves out the right word and padding: each of the V words gets smoothing / V

    Fails: test_smoothing
    """

    smoothed_loss = """
        - losses = -(1 - smoothing) * right - smoothing * logs.mean(dim=-1)
        + others = (logs.sum(dim=-1) - right - logs[..., pad_id]) / (logits.shape[-1] - 2)
        + losses = -(1 - smoothing) * right - smoothing * others
    """


class share_detached:
    """your loss detaches what the other classes share: gradients flow through all of it

    Fails: test_loss_gradients
    """

    smoothed_loss = """
        - losses = -(1 - smoothing) * right - smoothing * logs.mean(dim=-1)
        + losses = -(1 - smoothing) * right - smoothing * logs.mean(dim=-1).detach()
    """
