"""AdamW, clipping (which returns nothing in the course) and the schedule."""


def clip_gradients(parameters, max_norm):
    parameters = list(parameters)
    norm = sum(float(p.grad.double().square().sum()) for p in parameters if p.grad is not None) ** 0.5
    theirs.run_gradient_clipping(parameters, max_norm)
    return norm


def AdamW(params, **options):
    return theirs.get_adamw_cls()(params, **options)


def warmup_cosine(step, *, warmup, total, peak, floor=0.0):
    return theirs.run_get_lr_cosine_schedule(step, peak, floor, warmup, total)
