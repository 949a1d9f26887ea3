"""Clipping, AdamW and schedules as other people get them wrong."""


class always_normalised:
    """Every gradient is brought to max_norm.

    Named: scaled_up
    """

    def clip_gradients(parameters, max_norm):
        grads = [p.grad for p in parameters if p.grad is not None]
        norm = math.sqrt(sum(float((g * g).sum()) for g in grads))
        for g in grads:
            g *= max_norm / (norm + 1e-12)
        return norm


class empty_crashes:
    """Without any gradient a stack of nothing is made.

    Named: nothing_stacked
    """

    clip_gradients = """
        - if not gradients:
        -     return 0.0
    """


class share_of_everything:
    """The cosine runs over all steps.

    Named: cosine_from_step_zero
    """

    def warmup_cosine(step, *, warmup, total, peak, floor=0.0):
        if step < warmup:
            return step / warmup * peak
        if step >= total:
            return floor
        return floor + (peak - floor) * 0.5 * (1 + math.cos(math.pi * step / total))
