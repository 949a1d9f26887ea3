"""Hidden checks of 9.5.5: what is right only on the visible sizes fails here."""

from __future__ import annotations

import torch

from grader.checks import Expected, check, expect

OPTIONS = {"gated": (False, True), "bias": (False, True), "norm": ("rms", "layer"), "tied": (True, False)}


def any_sizes(draw, most):
    """Draw any sizes, and any parts."""
    groups, shared, head = (draw.size(1, most) for _ in "Grh")
    sizes = {"vocab_size": draw.size(1, 900), "d_model": groups * shared * head, "num_layers": draw.size(1, 2 * most),
             "num_heads": groups * shared, "num_kv_heads": groups, "d_ff": draw.size(1, 300),
             "learned_positions": draw.size(0, 1) * draw.size(1, 500)}  # fmt: skip
    return sizes | {name: values[draw.size(0, 1)] for name, values in OPTIONS.items()}


def configs(submission, reference, draw):
    """Yield models of drawn sizes, the submission's Config and ours."""
    for most in (1, 3, 6, 9, 40, 40):
        sizes = any_sizes(draw, most)
        yield submission.Config(**sizes), reference.Config(**sizes)


@check(aspect="values", points=1.5)
def test_any_parameters(submission, reference, draw):
    """parameters holds for any sizes

    > Count the numbers that a model learns, each once.
    """
    for own, ours in configs(submission, reference, draw):
        expect(submission.parameters(own), "parameters").is_value(reference.parameters(ours))


@check(aspect="values", points=1.5)
def test_any_flops(submission, reference, draw):
    """flops holds for any sizes and lengths

    > A product of [m, k] and [k, n] has 2·m·k·n. Nothing else counts
    """
    for own, ours in configs(submission, reference, draw):
        for tokens, backward in ((draw.size(1, 50), False), (draw.size(10**3, 10**6), True)):
            found = submission.flops(own, tokens, backward)
            expect(found, f"flops of {tokens} tokens").is_value(reference.flops(ours, tokens, backward))


@check(aspect="values", points=1.5)
def test_any_bytes(submission, reference, draw):
    """training_bytes and cache_bytes hold for any sizes and batches

    > Weights and gradients have the dtype.
    > Count the bytes of a full key/value cache.
    """
    dtypes, optimizers = [*reference.BYTES], [*reference.STATE]
    for own, ours in configs(submission, reference, draw):
        batch, tokens, dtype = draw.size(1, 9), draw.size(1, 5000), dtypes[draw.size(0, 2)]
        rest = (tokens, dtype, optimizers[draw.size(0, 2)])
        found = submission.training_bytes(own, *rest)
        expect(found, "bytes of training").is_value(reference.training_bytes(ours, *rest))
        found = submission.cache_bytes(own, batch, tokens, dtype)
        expect(found, "bytes of the cache").is_value(reference.cache_bytes(ours, batch, tokens, dtype))


@check(aspect="values", points=1.5)
def test_any_law(submission, reference, draw):
    """fit finds laws of other exponents, from scattered runs, some of them twice

    > Of runs without noise all five numbers should be right to 1%.
    """
    for _ in range(3):
        alpha, beta = (draw.size(20, 70) / 100 for _ in "nd")
        stays, first, second = (draw.size(5, most) / 10 for most in (30, 15, 15))
        law = (stays, first * 1e7**alpha, alpha, second * 1e9**beta, beta)
        n, d = ([first * 10**value for value in draw.uniform(0, 3, run=60, dtype=torch.float64).tolist()]
                for first in (1e7, 1e9))  # fmt: skip
        n, d = n + n[:4], d + d[:4]
        loss = [law[0] + law[1] / a**alpha + law[3] / b**beta for a, b in zip(n, d, strict=True)]
        found, wanted = (expect(answer.fit(n, d, loss), "the law").is_tuple(5) for answer in (submission, reference))
        for name, value, right in zip(("E", "A", "alpha", "B", "beta"), found, wanted, strict=True):
            expect(value, name).is_scalar(float)
            right = Expected(torch.tensor(right, dtype=torch.float64), 0.01 * abs(right), torch.float64)
            expect(torch.tensor(value, dtype=torch.float64), name).close_to(right)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
