"""Hidden checks of 9.5.2: what is right only on the visible inputs fails here."""

from __future__ import annotations

import torch

from grader.checks import Expected, check, expect, given_module

SHAPES = ((), ("row",), ("row", "column"))
"""The axes of a parameter: a number, a vector or a matrix."""
SAID = {"betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0.01}
"""What the defaults are, said nevertheless: other defaults are the matter of one visible check alone."""
WORD = "parameters, gradients and norms after calls with drawn numbers are compared with those computed here"
"""Why what the bench returns is enough."""


def benches(submission, reference, draw, count=2, groups=None, **options):
    """Return the learner's optimizer over some parameters, and the reference's over the same in float64."""
    values = [
        draw.uniform(low=0.5, high=1.5, **{axis: draw.size(1, 6) for axis in SHAPES[place % 3]})
        for place in range(2, 2 + count)
    ]
    module = given_module(submission, "bench")
    made = module.Bench(submission.AdamW, values, options, groups)
    parameters = [torch.nn.Parameter(value.cpu().double()) for value in values]
    if groups is None:
        right = reference.AdamW(parameters, **options)
    else:
        right = reference.AdamW(
            [{**group, "params": [parameters[place] for place in group["places"]]} for group in groups],
            **options,
        )
    return made, parameters, right


def walk(draw, made, parameters, right, steps, missing=()):
    """Take the same steps with both; `missing` says which parameters have no gradient at which steps.

    An entry keeps its sign: means of signed gradients, as some mistakes take them, come near 0 otherwise, where a
    quotient is all rounding.
    """
    sizes = [dict(zip(SHAPES[one.dim()], one.shape, strict=True)) for one in parameters]
    signs = [draw.integers(0, 2, **own) * 2 - 1 for own in sizes]
    found = []
    for step in range(steps):
        gradients = []
        for place, parameter in enumerate(parameters):
            gradient = draw.uniform(low=0.2, high=2.0, **sizes[place])
            gradient = gradient * signs[place].to(gradient)
            gradients.append(None if (step, place) in missing else gradient)
            parameter.grad = None if gradients[-1] is None else gradient.cpu().double()
        found = made.step(gradients)
        right.step()
    return found


def compare(found, parameters, said):
    for place, parameter in enumerate(parameters):
        wanted = Expected(parameter.detach(), 2e-4, torch.float64)
        axes = " ".join(SHAPES[parameter.dim()]) or None
        expect(found[place].double(), f"parameter {place} {said}", axes=axes).close_to(wanted)


@check(aspect="values", points=2.5, on_workers_word=WORD)
def test_many_steps(submission, reference, draw):
    """many steps end where they should, for any shapes and options

    > Parameters of any shape and dtype are updated
    > θ ← θ - lr · ( m̂ / (√v̂ + eps) + weight_decay · θ )
    """
    for options in (
        {"lr": 0.01, "betas": (0.7, 0.9), "eps": 0.3, "weight_decay": 0.5},
        {**SAID, "lr": 0.02, "weight_decay": 0.0},
    ):
        both = benches(submission, reference, draw, 3, **options)
        compare(walk(draw, *both, 12), both[1], "after 12 steps")
    expect_float64(submission, reference, draw)


def expect_float64(submission, reference, draw):
    """Compare three steps of a float64 parameter so closely that moments in float32 show."""
    value, *gradients = (
        draw.uniform(low=0.2, high=2.0, dtype=torch.float64, row=3, column=4) for _ in range(4)
    )
    made = given_module(submission, "bench").Bench(submission.AdamW, [value], {**SAID, "lr": 0.5})
    parameter = torch.nn.Parameter(value.cpu())
    right = reference.AdamW([parameter], **SAID, lr=0.5)
    for gradient in gradients:
        parameter.grad = gradient.cpu()
        found = made.step([gradient])
        right.step()
    wanted = Expected(parameter.detach(), 1e-10, torch.float64)
    expect(found[0], "float64 parameter after 3 steps", axes="row column").close_to(wanted)


@check(aspect="arguments", points=1.5, on_workers_word=WORD)
def test_gaps(submission, reference, draw):
    """gradients may come and go, in groups as well

    > A parameter without a gradient stays as it is, does not decay, and its steps are not counted.
    > groups: dicts with
    """
    groups = [{"places": [0, 2], "weight_decay": 0.6}, {"places": [1], "lr": 0.05}]
    both = benches(submission, reference, draw, 3, groups, lr=0.02, **SAID)
    both[0].freeze(1)
    # At the fourth step the whole first group has none.
    found = walk(draw, *both, 6, missing={(0, 1), (1, 1), (3, 0), (3, 2), (4, 2)})
    compare(found, both[1], "after 6 steps with gaps")


@check(aspect="values", on_workers_word=WORD)
def test_in_turns(submission, reference, draw):
    """two optimizers that step in turns do not disturb each other

    > nothing is kept outside
    """
    pairs = [benches(submission, reference, draw, lr=lr, **SAID) for lr in (0.05, 0.03)]
    for _ in range(2):
        ends = [walk(draw, *both, 2) for both in pairs]
    for found, (_, parameters, _) in zip(ends, pairs, strict=True):
        compare(found, parameters, "after 4 steps")
    for place, (found, wanted) in enumerate(zip(pairs[0][0].in_memory(), ends[0], strict=True)):
        expect(found, f"memory of parameter {place}, moved in place").equals(wanted)


@check(aspect="values", points=2, on_workers_word=WORD)
def test_any_gradients(submission, reference, draw):
    """any gradients are clipped by their common norm

    > Scale all gradients by one factor, so that their common norm is at most max_norm.
    """
    clip = given_module(submission, "bench").Clipper(submission.clip_gradients)
    # Among tiny gradients an epsilon shows; the last norm is just below max_norm, where all stays as it is.
    for scale, share in ((1.0, None), (1e-5, 0.3), (1.0, 0.998), (1.0, 1.002)):
        gradients = [
            draw.normal(row=draw.size(1, 9), column=draw.size(1, 9), scale=scale)
            for _ in range(draw.size(1, 5))
        ]
        gradients.insert(draw.size(0, len(gradients)), None)
        parameters = [
            torch.nn.Parameter(torch.zeros(1) if g is None else g.cpu().double()) for g in gradients
        ]
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.grad = None if gradient is None else gradient.cpu().double()
        max_norm = 0.1 * draw.size(2, 60)
        if share is not None:
            max_norm = share * float(
                torch.stack([g.double().norm() for g in gradients if g is not None]).norm()
            )
        norm, left = clip(gradients, max_norm)
        total = reference.clip_gradients(parameters, max_norm)
        expect(norm, "norm").is_scalar(float)
        found = torch.tensor(norm, dtype=torch.float64)
        expect(found, "norm").close_to(
            Expected(torch.tensor(total, dtype=torch.float64), 1e-4 * scale, torch.float64)
        )
        wanted = [parameter.grad for parameter in parameters if parameter.grad is not None]
        for place, (one, right) in enumerate(zip(left, wanted, strict=True)):
            expect(one.double(), f"gradient {place}, clipped to {max_norm:g}", axes="row column").close_to(
                Expected(right, 1e-5 * scale, torch.float64)
            )
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
