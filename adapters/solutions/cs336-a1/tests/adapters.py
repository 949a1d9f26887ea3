from cs336_basics import optimizer


def run_gradient_clipping(parameters, max_l2_norm):
    optimizer.clip(parameters, max_l2_norm)


def get_adamw_cls():
    return optimizer.AdamW


def run_get_lr_cosine_schedule(it, max_learning_rate, min_learning_rate, warmup_iters, cosine_cycle_iters):
    return optimizer.cosine_schedule(it, max_learning_rate, min_learning_rate, warmup_iters, cosine_cycle_iters)
