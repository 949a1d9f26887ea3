"""How gradients are clipped wrongly.

One factor for all gradients, max_norm / norm, and only where their common norm is larger than that; in place.
"""

mistake(
    "each-by-itself",
    "your gradients are clipped one by one; all of them should have one norm together, and one factor",
    clip_gradients="""
        - if norm > max_norm:
        -     for gradient in gradients:
        -         gradient.mul_(max_norm / norm)
        + for gradient in gradients:
        +     own = gradient.norm().item()
        +     if own > max_norm:
        +         gradient.mul_(max_norm / own)
    """,
)

mistake(
    "scaled-up",
    "your short gradients are scaled up to max_norm; those below it should stay as they are",
    clip_gradients="""
        - if norm > max_norm:
        -     for gradient in gradients:
        -         gradient.mul_(max_norm / norm)
        + for gradient in gradients:
        +     gradient.mul_(max_norm / norm)
    """,
)

mistake(
    "root-forgotten",
    "your norm is the sum of squares; take its root",
    clip_gradients="""
        - norm = torch.stack([gradient.double().norm() for gradient in gradients]).norm().item()
        + norm = sum(gradient.square().sum().item() for gradient in gradients)
    """,
)

mistake(
    "norms-added",
    "your norm is the sum of the norms; add their squares, and take the root last",
    clip_gradients="""
        - norm = torch.stack([gradient.double().norm() for gradient in gradients]).norm().item()
        + norm = sum(gradient.norm().item() for gradient in gradients)
    """,
)

mistake(
    "norm-after",
    "your result is the norm after clipping; it should be the one before",
    clip_gradients="return norm -> return min(norm, float(max_norm))",
)

mistake(
    "entries-clamped",
    "your entries are cut at max_norm one by one, which changes the direction; scale all gradients by one factor",
    clip_gradients="""
        - if norm > max_norm:
        -     for gradient in gradients:
        -         gradient.mul_(max_norm / norm)
        + for gradient in gradients:
        +     gradient.clamp_(-max_norm, max_norm)
    """,
)

mistake(
    "epsilon-in-the-factor",
    "your factor divides by the norm plus an epsilon, so short gradients end shorter than max_norm; divide by the norm",
    clip_gradients="max_norm / norm -> max_norm / (norm + 1e-6)",
    convention="torch and CS336 add 1e-6",
)

mistake(
    "squares-overflow",
    "your norm squares gradients in their own dtype, so float16 overflows; it should be computed in float32 at least",
    clip_gradients="""
        - norm = torch.stack([gradient.double().norm() for gradient in gradients]).norm().item()
        + norm = sum(gradient.square().sum() for gradient in gradients).sqrt().item()
    """,
)


@mistake(
    "gradients-replaced",
    "your clip_gradients leaves the gradients as they are; change them in place where the norm is too large",
)
def clip_gradients(parameters, max_norm):
    some = [parameter for parameter in parameters if parameter.grad is not None]
    if not some:
        return 0.0
    norm = torch.stack([parameter.grad.norm() for parameter in some]).norm().item()
    if norm > max_norm:
        for parameter in some:
            parameter.grad = parameter.grad * (max_norm / norm)
    return norm


mistake(
    "norm-as-tensor",
    "your norm is a tensor; it should be a Python float",
    clip_gradients="""
        - norm = torch.stack([gradient.double().norm() for gradient in gradients]).norm().item()
        + norm = torch.stack([gradient.double().norm() for gradient in gradients]).norm()
    """,
    costs="every check of clipping reads the norm as a number",
)


@mistake(
    "generator-walked-twice",
    "your parameters are iterated over twice, and a generator is empty the second time; make a list of them first",
)
def clip_gradients(parameters, max_norm):
    norms = [parameter.grad.norm() for parameter in parameters if parameter.grad is not None]
    if not norms:
        return 0.0
    norm = torch.stack(norms).norm().item()
    for parameter in parameters:
        if parameter.grad is not None and norm > max_norm:
            parameter.grad.mul_(max_norm / norm)
    return norm


mistake(
    "gradient-expected-everywhere",
    "your code reads every parameter's gradient; skip those that have none",
    clip_gradients="""
        - gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        + gradients = [parameter.grad for parameter in parameters]
    """,
)

mistake(
    "ends-at-a-missing-gradient",
    "your gradients end at the first parameter without one; skip it and continue",
    clip_gradients="""
        - gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        + gradients = []
        + for parameter in parameters:
        +     if parameter.grad is None:
        +         break
        +     gradients.append(parameter.grad)
    """,
)

mistake(
    "largest-norm-alone",
    "your norm is the largest of the gradients' norms; add the squares of all of them, and take the root",
    clip_gradients="""
        - norm = torch.stack([gradient.double().norm() for gradient in gradients]).norm().item()
        + norm = max(gradient.norm().item() for gradient in gradients)
    """,
)

mistake(
    "mean-for-sum",
    "your norm is the root of the mean square; add the squares, and do not divide by how many there are",
    clip_gradients="""
        - norm = torch.stack([gradient.double().norm() for gradient in gradients]).norm().item()
        + norm = torch.cat([gradient.flatten() for gradient in gradients]).square().mean().sqrt().item()
    """,
)

mistake(
    "nothing-stacked",
    "your norm is taken even when there is no gradient at all; it should be 0.0 then",
    clip_gradients="""
        - if not gradients:
        -     return 0.0
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
