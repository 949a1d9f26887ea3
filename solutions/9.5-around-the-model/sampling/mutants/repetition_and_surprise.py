"""How repetition is punished, and surprise measured, wrongly.

A penalty makes every token that occurred less likely, once; perplexity is exp of the mean loss over what counts.
"""


class always_divided:
    """your penalty divides logits below 0 as well, which makes their tokens likelier: multiply those

    Fails: test_penalty
    """

    repetition_penalty = """
        - lowered = torch.where(logits > 0, logits / penalty, logits * penalty)
        + lowered = logits / penalty
    """


class signs_exchanged:
    """your penalty multiplies logits above 0 and divides the others: it rewards repetition

    Fails: test_penalty
    """

    repetition_penalty = """
        - lowered = torch.where(logits > 0, logits / penalty, logits * penalty)
        + lowered = torch.where(logits > 0, logits * penalty, logits / penalty)
    """


class always_multiplied:
    """your penalty multiplies every logit: above 0 that makes a token more likely, so divide there

    Fails: test_penalty
    """

    repetition_penalty = """
        - lowered = torch.where(logits > 0, logits / penalty, logits * penalty)
        + lowered = logits * penalty
    """


class penalty_subtracted:
    """your penalty is subtracted from the logits: above 0 they are divided by it, others multiplied

    Fails: test_penalty
    """

    repetition_penalty = """
        - lowered = torch.where(logits > 0, logits / penalty, logits * penalty)
        + lowered = logits - penalty
    """


class others_penalised:
    """your penalty is for the tokens that have not occurred

    Fails: test_penalty
    """

    repetition_penalty = """
        - return torch.where(occurred, lowered, logits)
        + return torch.where(occurred, logits, lowered)
    """


class once_each_time:
    """your penalty is applied each time that a token occurred: once is enough

    Fails: test_penalty_once
    """

    def repetition_penalty(logits, tokens, penalty):
        counts = torch.zeros_like(logits).scatter_add(-1, tokens, torch.ones_like(tokens, dtype=logits.dtype))
        factor = penalty**counts
        return torch.where(logits > 0, logits / factor, logits * factor)


class tokens_of_all_rows:
    """your penalty takes the tokens of all rows together: each row has its own text

    Fails: test_penalty, test_penalty_once
    """

    repetition_penalty = """
        + tokens = tokens.flatten().expand(len(logits), -1)
          occurred = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, tokens, True)
    """


class loss_itself:
    """your perplexity is the mean loss: exp of it is wanted

    Fails: test_perplexity
    """

    perplexity = """
        - return float(losses.mean().exp())
        + return float(losses.mean())
    """


class two_to_the_loss:
    """your perplexity is 2 to the power of a loss in nats: the base has to be that of the logarithm, e

    Fails: test_perplexity
    """

    perplexity = """
        - return float(losses.mean().exp())
        + return float(2 ** losses.mean())
    """


class sum_of_losses:
    """your perplexity is exp of the sum of the losses: take their mean

    Fails: test_perplexity
    """

    perplexity = """
        - return float(losses.mean().exp())
        + return float(losses.sum().exp())
    """


class mean_of_rows:
    """your perplexity is the mean of each row's: the mean is over all targets, before exp

    Fails: test_perplexity
    """

    perplexity = """
        - if pad_id is not None:
        -     losses = losses[targets != pad_id]
        - return float(losses.mean().exp())
        + counts = torch.ones_like(losses) if pad_id is None else (targets != pad_id).to(losses.dtype)
        + return float(((losses * counts).sum(-1) / counts.sum(-1).clamp(min=1)).exp().mean())
    """


class mean_of_probabilities:
    """your perplexity takes the mean of the probabilities: take the mean of their logarithms

    Fails: test_perplexity
    """

    perplexity = """
        - return float(losses.mean().exp())
        + return float((-(-losses).exp().mean()).exp())
    """


class mean_of_perplexities:
    """your perplexity is the mean of each target's exp(-log p): take the mean first, exp after it

    Fails: test_perplexity
    """

    perplexity = """
        - return float(losses.mean().exp())
        + return float(losses.exp().mean())
    """


class shifted_here:
    """your perplexity shifts the targets by one: they belong to the logits as they are

    Fails: test_perplexity
    """

    perplexity = """
        + logits, targets = logits[:, :-1], targets[:, 1:]
          losses = -logits.log_softmax(dim=-1).gather(-1, targets[..., None]).squeeze(-1)  # [B, T]
    """


class padding_counted:
    """your perplexity counts padding: targets that are pad_id are left out of the mean

    Fails: test_perplexity_padding
    """

    perplexity = """
        - if pad_id is not None:
        + if False:
    """


class padding_in_the_count:
    """your perplexity divides by all targets: divide by those that count

    Fails: test_perplexity_padding
    """

    perplexity = """
        - losses = losses[targets != pad_id]
        + losses = losses * (targets != pad_id)
    """


class zero_always_padding:
    """your perplexity leaves target 0 out even when there is no pad_id

    Fails: test_perplexity
    """

    perplexity = """
        - if pad_id is not None:
        -     losses = losses[targets != pad_id]
        + losses = losses[targets != (pad_id or 0)]
    """


class softmax_over_positions:
    """your perplexity takes log_softmax over the positions: it is over the vocabulary, the last axis

    Fails: test_perplexity
    """

    perplexity = """
        - losses = -logits.log_softmax(dim=-1).gather(-1, targets[..., None]).squeeze(-1)  # [B, T]
        + losses = -logits.log_softmax(dim=1).gather(-1, targets[..., None]).squeeze(-1)
    """


class log_of_softmax:
    """your perplexity takes log(softmax): where a probability rounds to 0 it is infinite; log_softmax is exact

    Fails: test_perplexity_large
    """

    perplexity = """
        - losses = -logits.log_softmax(dim=-1).gather(-1, targets[..., None]).squeeze(-1)  # [B, T]
        + losses = -logits.softmax(dim=-1).log().gather(-1, targets[..., None]).squeeze(-1)
    """


class perplexity_tensor:
    """your perplexity is a tensor: a Python float is asked for

    Fails: test_perplexity
    """

    perplexity = """
        - return float(losses.mean().exp())
        + return losses.mean().exp()
    """
