"""Filters, penalties and perplexities as other people write them."""


class hugging_face_top_k:
    """A comparison with the last of topk, as generation libraries have it."""

    def top_k(logits, k):
        k = min(k, logits.shape[-1])
        remove = logits < torch.topk(logits, k)[0][..., -1, None]
        return logits.masked_fill(remove, -float("inf"))


class top_k_by_scatter:
    """A tensor of -inf into which the best are written."""

    def top_k(logits, k):
        values, places = logits.topk(min(k, logits.shape[-1]), dim=-1)
        return torch.full_like(logits, float("-inf")).scatter(-1, places, values)


class top_k_by_kthvalue:
    """The k-th greatest is the (V - k + 1)-th smallest."""

    def top_k(logits, k):
        V = logits.shape[-1]
        if k >= V:
            return logits.clone()
        limit = logits.kthvalue(V - k + 1, dim=-1, keepdim=True).values
        return torch.where(logits >= limit, logits, torch.tensor(float("-inf"), dtype=logits.dtype))


class shifted_right:
    """The first that goes is one to the right of the crossing: the shift that is copied everywhere."""

    def top_p(logits, p):
        sorted_logits, sorted_indices = torch.sort(logits, descending=True)
        cumulative = torch.cumsum(sorted_logits.softmax(-1), dim=-1)
        remove = cumulative >= p
        remove[..., 1:] = remove[..., :-1].clone()
        remove[..., 0] = False
        remove = remove.scatter(-1, sorted_indices, remove)
        return logits.masked_fill(remove, float("-inf"))


class ascending_tail:
    """Sorted upwards: what goes is the tail whose sum stays within 1 - p."""

    def top_p(logits, p):
        ordered, order = logits.sort(-1)
        tail = ordered.softmax(-1).cumsum(-1) <= 1 - p + 1e-6
        tail[..., -1] = False
        return logits.masked_fill(torch.zeros_like(tail).scatter_(-1, order, tail), -math.inf)


class sorted_then_unsorted:
    """The sorted logits are cut, and brought back by the order of the order."""

    def top_p(logits, p):
        ordered, order = logits.sort(dim=-1, descending=True)
        shares = torch.softmax(ordered, dim=-1)
        ordered = torch.where(shares.cumsum(-1) - shares < max(p, 1e-9), ordered, -math.inf)
        return ordered.gather(-1, order.argsort(-1)).to(logits.dtype)


class counted_nucleus:
    """How many stay is counted, and the limit is the last of them."""

    def top_p(logits, p):
        ordered = logits.sort(dim=-1, descending=True).values
        shares = ordered.softmax(-1)
        count = (shares.cumsum(-1) - shares < p).sum(-1, keepdim=True).clamp(min=1)
        return logits.masked_fill(logits < ordered.gather(-1, count - 1), -math.inf)


class min_p_of_probabilities:
    """Probabilities are compared, as the paper writes it."""

    def min_p(logits, p):
        probs = torch.softmax(logits, dim=-1)
        top_probs, _ = probs.max(dim=-1, keepdim=True)
        return logits.masked_fill(probs < p * top_probs, -float("inf"))


class min_p_of_log_softmax:
    """Log-probabilities are compared."""

    def min_p(logits, p):
        lp = torch.log_softmax(logits, -1)
        return torch.where(lp - lp.max(-1, keepdim=True)[0] >= math.log(p), logits, -math.inf)


class penalty_as_libraries_have_it:
    """Gather, where below 0, scatter."""

    def repetition_penalty(logits, tokens, penalty):
        score = torch.gather(logits, 1, tokens)
        score = torch.where(score < 0, score * penalty, score / penalty)
        return logits.scatter(1, tokens, score)


class penalty_by_unique:
    """One row after the other, with each token once."""

    def repetition_penalty(logits, tokens, penalty):
        rows = []
        for row, seen in zip(logits, tokens, strict=True):
            seen = seen.unique()
            new = row.clone()
            new[seen] = torch.where(row[seen] > 0, row[seen] / penalty, row[seen] * penalty)
            rows.append(new)
        return torch.stack(rows)


class perplexity_by_cross_entropy:
    """torch's cross-entropy with an ignored index."""

    def perplexity(logits, targets, pad_id=None):
        ignore = pad_id if pad_id is not None else -100
        loss = torch.nn.functional.cross_entropy(
            logits.reshape(-1, logits.size(-1)), targets.reshape(-1), ignore_index=ignore
        )
        return math.exp(loss.item())


class perplexity_by_weights:
    """A sum of losses that count, divided by how many they are."""

    def perplexity(logits, targets, pad_id=None):
        counts = (
            torch.ones_like(targets, dtype=logits.dtype) if pad_id is None else (targets != pad_id).to(logits)
        )
        losses = torch.logsumexp(logits, -1) - logits.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
        return torch.exp((losses * counts).sum() / counts.sum()).item()
