"""AdamW, clipping and the schedule."""


def clip_gradients(parameters, max_norm):
    """The course's function returns nothing."""
    parameters = list(parameters)
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    norm = sum(float(gradient.double().square().sum()) for gradient in gradients) ** 0.5
    theirs.run_gradient_clipping(parameters, max_norm)
    return norm


def AdamW(params, **options):
    return theirs.get_adamw_cls()(params, **options)


def warmup_cosine(step, *, warmup, total, peak, floor=0.0):
    return theirs.run_get_lr_cosine_schedule(step, peak, floor, warmup, total)
