"""Filters, penalties and perplexities as other people get them wrong."""


class k_by_python_sort:
    """The limit is the element after the k-th.

    Named: top_k_one_more
    """

    def top_k(logits, k):
        ordered = logits.sort(-1, descending=True).values
        limit = ordered[..., min(k, logits.size(-1) - 1), None]
        return logits.masked_fill(logits < limit, -math.inf)


class penalty_divides:
    """Everything that occurred is divided.

    Named: always_divided
    """

    def repetition_penalty(logits, tokens, penalty):
        return logits.scatter(-1, tokens, logits.gather(-1, tokens) / penalty)


class cross_entropy_alone:
    """The loss, not exp of it.

    Named: loss_itself
    """

    def perplexity(logits, targets, pad_id=None):
        ignored = -100 if pad_id is None else pad_id
        loss = torch.nn.functional.cross_entropy(
            logits.flatten(0, 1), targets.flatten(), ignore_index=ignored
        )
        return loss.item()
