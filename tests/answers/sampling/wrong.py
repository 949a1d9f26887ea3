"""Filters, penalties and perplexities as other people get them wrong."""


class k_by_python_sort:
    """The limit is the element after the k-th.

    Named: top_k_one_more
    """

    def top_k(logits, k):
        ordered = logits.sort(-1, descending=True).values
        limit = ordered[..., min(k, logits.size(-1) - 1), None]
        return logits.masked_fill(logits < limit, -math.inf)


class kept_as_ones:
    """A mask of what stays is returned, not logits.

    Named: top_k_as_a_mask
    """

    def top_k(logits, k):
        limit = logits.topk(min(k, logits.size(-1))).values[..., -1:]
        return (logits >= limit).to(logits.dtype)


class multiplied_mask:
    """What goes is multiplied by 0.

    Named: top_k_zeroed
    """

    def top_k(logits, k):
        limit = logits.topk(min(k, logits.size(-1))).values[..., -1:]
        return logits * (logits >= limit)


class smallest_float:
    """The least finite number stands where nothing may be drawn.

    Named: top_k_finite
    """

    def top_k(logits, k):
        limit = logits.topk(min(k, logits.size(-1))).values[..., -1:]
        return logits.masked_fill(logits < limit, torch.finfo(logits.dtype).min)


class first_row_decides:
    """The limit of the first row is used for all of them.

    Named: top_k_of_the_first_row
    """

    def top_k(logits, k):
        limit = logits.reshape(-1, logits.size(-1))[0].topk(min(k, logits.size(-1))).values[-1]
        return logits.masked_fill(logits < limit, -math.inf)


class bare_cumsum:
    """No shift: the crossing token goes, and sometimes all do.

    Named: crossing_token_dropped, best_may_be_dropped
    """

    def top_p(logits, p):
        ordered, order = logits.sort(-1, descending=True)
        remove = ordered.softmax(-1).cumsum(-1) > p
        return logits.masked_fill(torch.zeros_like(remove).scatter(-1, order, remove), -math.inf)


class one_too_many:
    """The shift is made twice, so one token more stays.

    Named: one_token_more
    """

    def top_p(logits, p):
        ordered, order = logits.sort(-1, descending=True)
        remove = ordered.softmax(-1).cumsum(-1) >= p
        remove[..., 2:] = remove[..., :-2].clone()
        remove[..., :2] = False
        return logits.masked_fill(torch.zeros_like(remove).scatter(-1, order, remove), -math.inf)


class in_sorted_order:
    """The sorted logits are returned.

    Named: sorted_logits_returned
    """

    def top_p(logits, p):
        ordered = logits.sort(-1, descending=True).values
        shares = ordered.softmax(-1)
        return ordered.masked_fill(shares.cumsum(-1) - shares >= max(p, 1e-9), -math.inf)


class threshold_p:
    """Each token needs the probability 1 - p; at a small p, none has it.

    Named: best_may_be_dropped
    """

    def top_p(logits, p):
        return logits.masked_fill(logits.softmax(-1) < 1 - p, -math.inf)


class unsorted_sum:
    """Probabilities are summed as they stand, without sorting.

    Named: summed_unsorted
    """

    def top_p(logits, p):
        shares = logits.softmax(-1)
        return logits.masked_fill(shares.cumsum(-1) - shares >= p, -math.inf)


class absolute_min_p:
    """p is taken as a probability.

    Named: min_p_absolute
    """

    def min_p(logits, p):
        return torch.where(torch.softmax(logits, -1) >= p, logits, -math.inf)


class best_of_all_rows:
    """The greatest logit of the whole batch sets the limit.

    Named: min_p_of_the_batch
    """

    def min_p(logits, p):
        return logits.masked_fill(logits < logits.max() + math.log(p), -math.inf)


class penalty_divides:
    """Everything that occurred is divided.

    Named: always_divided
    """

    def repetition_penalty(logits, tokens, penalty):
        return logits.scatter(-1, tokens, logits.gather(-1, tokens) / penalty)


class penalty_multiplies:
    """Everything that occurred is multiplied.

    Named: always_multiplied
    """

    def repetition_penalty(logits, tokens, penalty):
        return logits.scatter(-1, tokens, logits.gather(-1, tokens) * penalty)


class penalty_in_a_loop:
    """Each occurrence counts.

    Named: once_each_time
    """

    def repetition_penalty(logits, tokens, penalty):
        out = logits.clone()
        for b in range(tokens.size(0)):
            for token in tokens[b].tolist():
                out[b, token] = out[b, token] / penalty if out[b, token] > 0 else out[b, token] * penalty
        return out


class penalty_of_columns:
    """Every row loses what any row has said.

    Named: tokens_of_all_rows
    """

    def repetition_penalty(logits, tokens, penalty):
        out, seen = logits.clone(), tokens.unique()
        out[:, seen] = torch.where(out[:, seen] > 0, out[:, seen] / penalty, out[:, seen] * penalty)
        return out


class perplexity_of_probabilities:
    """exp of the mean probability, with its sign turned.

    Named: mean_of_probabilities
    """

    def perplexity(logits, targets, pad_id=None):
        chosen = logits.softmax(-1).gather(-1, targets[..., None]).squeeze(-1)
        if pad_id is not None:
            chosen = chosen[targets != pad_id]
        return float((-chosen.mean()).exp())


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


class next_token_perplexity:
    """Scored on the token after, as next_token_loss does.

    Named: shifted_here
    """

    def perplexity(logits, targets, pad_id=None):
        ignored = -100 if pad_id is None else pad_id
        loss = torch.nn.functional.cross_entropy(
            logits[:, :-1].flatten(0, 1), targets[:, 1:].flatten(), ignore_index=ignored
        )
        return math.exp(loss.item())


class summed_loss:
    """exp of the sum, which is the inverse of the text's probability.

    Named: sum_of_losses
    """

    def perplexity(logits, targets, pad_id=None):
        losses = -logits.log_softmax(-1).gather(-1, targets[..., None]).squeeze(-1)
        if pad_id is not None:
            losses = losses[targets != pad_id]
        return float(losses.sum().exp())


class mean_of_rows:
    """The mean of each row's perplexity.

    Named: mean_of_rows
    """

    def perplexity(logits, targets, pad_id=None):
        losses = -logits.log_softmax(-1).gather(-1, targets[..., None]).squeeze(-1)
        counts = torch.ones_like(losses) if pad_id is None else (targets != pad_id).to(losses)
        return float(((losses * counts).sum(-1) / counts.sum(-1).clamp(min=1)).exp().mean())
