"""How repetition is punished, and surprise measured, wrongly.

A penalty makes every token that occurred less likely, once; perplexity is exp of the mean loss over what counts.
"""


class always_divided:
    """your penalty divides logits below 0 as well, which makes their tokens likelier: multiply those

    Fails: test_penalty
    """

    repetition_penalty = """
        - lowered = torch.where(found > 0, found / penalty, found * penalty)
        + lowered = found / penalty
    """


class once_each_time:
    """your penalty is applied each time that a token occurred: once is enough

    Fails: test_penalty_once
    """

    def repetition_penalty(logits, tokens, penalty):
        counts = torch.zeros_like(logits).scatter_add(-1, tokens, torch.ones_like(tokens, dtype=logits.dtype))
        factor = penalty**counts
        return torch.where(logits > 0, logits / factor, logits * factor)


class loss_itself:
    """your perplexity is the mean loss: exp of it is wanted

    Fails: test_perplexity
    """

    perplexity = """
        - return float(losses.mean().exp())
        + return float(losses.mean())
    """


class padding_counted:
    """your perplexity counts padding: targets that are pad_id are left out of the mean

    Fails: test_perplexity_padding
    """

    perplexity = """
        - if pad_id is not None:
        + if False:
    """


class log_of_softmax:
    """your perplexity takes log(softmax): where a probability rounds to 0 it is infinite; log_softmax is exact

    Fails: test_perplexity_large
    """

    perplexity = """
        - losses = -logits.log_softmax(dim=-1).gather(-1, targets[..., None]).squeeze(-1)  # [B, T]
        + losses = -logits.softmax(dim=-1).log().gather(-1, targets[..., None]).squeeze(-1)
    """
