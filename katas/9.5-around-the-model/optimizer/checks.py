"""Checks of 9.5.2. Expected values come from `adamw`, `clipped_together` and `rate`, computed in float64."""

from __future__ import annotations

import math
from functools import partial

import torch

from grader.checks import (
    Expected,
    check,
    convention,
    expect,
    expect_from_scratch,
    fail,
    given_module,
    label_calls,
    oracle,
    precondition,
    supposing,
    supposing_form,
)

ROWS = "row column"
SAID = {"betas": (0.9, 0.999), "eps": 1e-8}
"""What the defaults are, said nevertheless: other defaults are the matter of one check alone."""
WORD = "parameters, gradients and norms after calls with drawn numbers are compared with those computed here"
"""Why what the bench returns is enough."""
QUIET = {**SAID, "lr": 0.1, "weight_decay": 0.0}
"""Options under which only the moments act."""


# --- what is right ---


def adamw(value, *gradients, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, form=""):
    """Return the parameter after a step under each gradient; those that are None do not count."""
    first = second = torch.zeros_like(value)
    t = 0
    for gradient in gradients:
        if gradient is None:
            continue
        t += 1
        first = betas[0] * first + (1 - betas[0]) * gradient
        second = betas[1] * second + (1 - betas[1]) * gradient**2
        if form == "short":
            update = (1 - betas[1] ** t) ** 0.5 / (1 - betas[0] ** t) * first / (second.sqrt() + eps)
            value = (value - lr * update) * (1 - lr * weight_decay)
            continue
        update = (first / (1 - betas[0] ** t)) / ((second / (1 - betas[1] ** t)).sqrt() + eps)
        value = value - lr * (update + weight_decay * value)
    return value


def length(*gradients):
    return torch.stack([gradient.square().sum() for gradient in gradients]).sum().sqrt()


def rate(step, warmup, total, peak, floor=0.0):
    if step < warmup:
        return peak * step / warmup
    if step >= total:
        return floor
    return floor + (peak - floor) * (1 + math.cos(math.pi * (step - warmup) / (total - warmup))) / 2


# --- helpers ---


def bench(submission, values, groups=None, **options):
    """Put parameters and the learner's optimizer into the worker."""
    made = given_module(submission, "bench").Bench(submission.AdamW, values, options, groups)
    label_calls(made, submission.AdamW)
    return made


def drawn(draw, steps, count=2, **options):
    """Draw parameters, and for each step a gradient for each of them, none of it near 0."""

    def away():
        x = draw.uniform(low=0.3, high=1.5, row=3, column=4, **options)
        sign = draw.integers(0, 2, row=3, column=4).to(x) * 2 - 1
        return x * sign

    return [away() for _ in range(count)], [[away() for _ in range(count)] for _ in range(steps)]


def expect_steps(submission, draw, steps, said="", **options):
    """Compare parameters after some steps with the right ones."""
    values, gradients = drawn(draw, steps)
    made = bench(submission, values, **options)
    found = values
    for given in gradients:
        found = made.step(given)
    for place, value in enumerate(values):
        name = f"parameter {place} after {steps} step{'s' if steps > 1 else ''}{said}"
        history = [given[place] for given in gradients]
        expect_moved(submission, found[place], name, value, *history, **options)


def expect_moved(submission, found, name, value, *gradients, tolerance=None, later=None, **options):
    """Compare a parameter with what the form of AdamW that holds here makes of it.

    `later` is the parameter after one more step, and its gradient, where mistakes give the same before it.
    """
    form = convention(submission, "adamw")

    def moved(form):
        return adamw(value.double(), *(gradient.double() for gradient in gradients), form=form, **options)

    def slips():
        lr, betas = options.get("lr", 1e-3), options.get("betas", (0.9, 0.999))
        decay = options.get("weight_decay", 0.01)
        start, *slopes = (None if given is None else given.double() for given in (value, *gradients))
        summed = (1 - betas[1]) ** 0.5  # √v is larger by 1 / summed, so the update is that of a smaller lr and eps
        changed = {
            "your two betas are exchanged; the first should be for the mean of g, the second for that of its square": {
                "betas": betas[::-1]
            },
            "your decay takes weight_decay of the parameter at each step; it should take lr times that": {
                "weight_decay": decay / lr
            },
            "your second moment is a sum, not a mean; add the gradient's square with the factor 1 - beta2": {
                "lr": lr * summed,
                "eps": options.get("eps", 1e-8) * summed,
                "weight_decay": decay / summed,
            },
        }

        def given_by(other):
            slipped = partial(adamw, start, *slopes, form=form, **options | other)
            if later is None:
                return slipped()
            after, gradient = (tensor.cpu().double() for tensor in later)
            return torch.allclose(after, slipped(gradient), rtol=1e-4) and slipped()

        return {say: partial(given_by, other) for say, other in changed.items()}

    wanted = oracle(lambda p, *g: adamw(p, *g, form=form, **options), value, *gradients)
    # By its fingerprint a mistake is known in the kata's own form alone.
    with supposing_form(submission, "adamw", moved), supposing(slips if form else dict):
        expect(found, name, axes=ROWS).close_to(wanted, tolerance=tolerance)


def clipper(submission, generator=False):
    """Put the learner's clip_gradients to work on gradients that the check brings."""
    made = given_module(submission, "bench").Clipper(submission.clip_gradients, generator)
    label_calls(made, submission.clip_gradients)
    return made


def expect_clipped(submission, gradients, max_norm, generator=False):
    """Compare what `clip_gradients` returns, and leaves, with what is right."""
    clip = clipper(submission, generator)
    norm, left = clip(gradients, max_norm)
    there = [gradient for gradient in gradients if gradient is not None]
    total = oracle(length, *there)
    number(norm, "norm", float(total.value), 1e-5 * float(total.value))
    whole = float(total.value)
    factor = min(1.0, max_norm / max(whole, 1e-30))
    for place, (found, gradient) in enumerate(zip(left, there, strict=True)):
        wanted = oracle(lambda g: g * factor, gradient)
        with supposing(lambda: clip_slips(gradient, max_norm, whole)):
            expect(found, f"gradient {place}, clipped to {max_norm:g}").close_to(wanted)
    return clip.values()


def clip_slips(gradient, max_norm, whole):
    """Return what mistakes in clipping leave of a gradient; `whole` is the norm of all."""
    own = float(gradient.norm())
    return {
        "your gradients are clipped one by one; all of them should have one norm together, and one factor": lambda: (
            gradient * min(1.0, max_norm / own)
        ),
        "your short gradients are scaled up to max_norm; those below it should stay as they are": lambda: (
            whole < max_norm and gradient * max_norm / whole
        ),
        "your entries are cut at max_norm one by one, which changes the direction; "
        "scale all gradients by one factor": lambda: gradient.clamp(
            -max_norm, max_norm
        ),
        "your factor divides by the norm plus an epsilon, so short gradients end shorter than max_norm; divide "
        "by the norm": lambda: [gradient * min(1.0, max_norm / (whole + eps)) for eps in (1e-6, 1e-8, 1e-12)],
        "your factor is upside down: multiply by max_norm / norm": lambda: gradient * whole / max_norm,
        "your gradients are divided by their norm, and not multiplied by max_norm": lambda: gradient / whole,
        "your gradients stay as they are, as if they were changed in a copy: change them in place": lambda: (
            gradient
        ),
    }


def number(found, name, wanted, tolerance, picture=None):
    """Compare a Python float with what is right."""
    expect(found, name).is_scalar(float)
    right = Expected(torch.tensor(wanted, dtype=torch.float64), tolerance, torch.float64)
    expect(torch.tensor(found, dtype=torch.float64), name, picture=picture).close_to(right)


def expect_rates(submission, steps, warmup, total, peak, floor=0.0):
    """Compare the rates at some steps with the right ones, each as soon as it is there."""
    options = {"floor": floor} if floor else {}  # 0 is the default

    def found_at(step):
        return submission.warmup_cosine(step, warmup=warmup, total=total, peak=peak, **options)

    def curve(last):
        """Return a table of the rates: one number does not show how a curve is bent."""
        shown = sorted(steps)
        yours = [f"{found_at(step):.3f}" for step in shown]
        found_at(last)  # the message tells of the latest call
        right = [f"{rate(step, warmup, total, peak, floor):.3f}" for step in shown]
        return [["step", *shown], ["expected", *right], ["yours", *yours]]

    for step in steps:
        number(
            found_at(step),
            f"rate at step {step}",
            rate(step, warmup, total, peak, floor),
            1e-9 * peak + 1e-12,
            picture=lambda step=step: curve(step),
        )


# --- clip_gradients ---


@check(aspect="values", points=2, on_workers_word=WORD)
def test_norm(submission, draw):
    """clip_gradients returns the norm of all gradients together, a Python float

    > a Python float: the norm of all gradients together, as it was before
    """
    for count, max_norm in ((3, 1000.0), (2, 0.5)):
        _, [gradients] = drawn(draw, 1, count)
        norm, _ = clipper(submission)(gradients, max_norm)
        total = float(oracle(length, *gradients).value)
        number(norm, f"norm, max_norm {max_norm:g}", total, 1e-5 * total)


@check(aspect="values", points=2, follows=test_norm, on_workers_word=WORD)
def test_clipped(submission, draw):
    """gradients whose norm is too large are scaled by one factor, in place; parameters are not touched

    > Scale all gradients by one factor, so that their common norm is at most max_norm.
    > Gradients are changed in place
    > without an epsilon
    > Parameters are not touched.
    """
    for max_norm in (1.0, 0.25, 1e-5):  # the last so small that an epsilon next to the norm shows
        _, [one, other] = drawn(draw, 2, 1)
        gradients = [one[0], 3 * other[0], draw.normal(wide=5)]
        if max_norm < 1e-3:
            gradients = [1e-4 * gradient for gradient in gradients]
        values = expect_clipped(submission, gradients, max_norm)
        for place, value in enumerate(values):
            expect(value, f"parameter {place}, whose gradient was clipped").equals(torch.zeros_like(value))


@check(aspect="values", follows=test_norm, on_workers_word=WORD)
def test_not_clipped(submission, draw):
    """gradients whose norm is small enough stay as they are

    > below it they stay as they are.
    > Squares of float16 gradients may overflow; their norm does not.
    """
    for max_norm in (50.0, 7.5):
        _, [gradients] = drawn(draw, 1, 2)
        expect_clipped(submission, gradients, max_norm)
    expect_clipped(submission, [torch.zeros_like(gradients[0])], 0.5)
    large = [(400 * gradient).half() for gradient in gradients]
    norm, left = clipper(submission)(large, 1e4)
    total = float(length(*(gradient.cpu().double() for gradient in large)))
    number(norm, "norm of float16 gradients", total, 0.01 * total)
    for place, (found, gradient) in enumerate(zip(left, large, strict=True)):
        expect(found, f"float16 gradient {place}, of a norm below 1e4").equals(gradient)


@check(aspect="arguments", follows=test_norm, on_workers_word=WORD)
def test_without_gradients(submission, draw):
    """parameters without a gradient are skipped, and if none has a gradient the norm is 0.0

    > Those without a gradient are skipped.
    > 0.0 when there are none.
    """
    _, [gradients] = drawn(draw, 1, 2)
    expect_clipped(submission, [None, gradients[0], None, gradients[1], None], 0.5)
    norm, _ = clipper(submission)([None, None], 1.0)
    number(norm, "norm without gradients", 0.0, 0.0)


@check(aspect="arguments", follows=test_clipped, on_workers_word=WORD)
def test_generator(submission, draw):
    """parameters may come from a generator, which can be iterated over only once

    > may be a generator, such as model.parameters().
    """
    _, [gradients] = drawn(draw, 1, 3)
    expect_clipped(submission, gradients, 0.5, generator=True)


# --- AdamW ---


@check(aspect="values", points=1.5, on_workers_word=WORD)
def test_first_step(submission, draw):
    """the first step has the length lr in every entry, whatever the gradient

    > So the first step has the length lr in each entry, up to eps, however large or small the gradient is.
    """
    # Of the default betas a forgotten factor and a wrong correction are both exactly 10.
    options = {**QUIET, "betas": (0.8, 0.95)}
    values, gradients = drawn(draw, 2)
    made = bench(submission, values, **options)
    found = made.step(gradients[0])
    after = made.step(gradients[1])  # by one step alone, moments that are fed wrongly cannot be told apart, nor named
    for place, value in enumerate(values):
        name = f"parameter {place} after 1 step, betas {options['betas']}"
        later = after[place], gradients[1][place]
        expect_moved(submission, found[place], name, value, gradients[0][place], later=later, **options)


@check(aspect="values", points=2.5, follows=test_first_step, on_workers_word=WORD)
def test_steps(submission, draw):
    """later steps follow both moments, each corrected for its start at 0

    > m̂ = m / (1 - β₁ᵗ)      v̂ = v / (1 - β₂ᵗ)
    """
    for steps in (2, 5):
        expect_steps(submission, draw, steps, **QUIET)


@check(aspect="values", follows=test_steps, on_workers_word=WORD)
def test_betas(submission, draw):
    """betas say how much of each moment is kept

    > the share of the first and of the second moment that is kept at each step.
    """
    for betas in ((0.5, 0.8), (0.95, 0.6)):
        expect_steps(submission, draw, 3, said=f", betas {betas}", **{**QUIET, "betas": betas})


@check(aspect="values", follows=test_first_step, on_workers_word=WORD)
def test_eps(submission, draw):
    """eps is added to the root, not under it

    > added to the root of the second moment.
    """
    expect_steps(submission, draw, 3, said=", eps 0.5", **{**QUIET, "eps": 0.5})


@check(aspect="values", points=2, on_workers_word=WORD)
def test_decay_alone(submission, draw):
    """with a gradient of 0, a parameter loses lr · weight_decay of itself at each step

    > the share of a parameter, times lr, that it loses at each step.
    """
    values, _ = drawn(draw, 0)
    options = {**SAID, "lr": 0.2, "weight_decay": 0.4}
    made = bench(submission, values, **options)
    zeros = [torch.zeros_like(value) for value in values]
    for _ in range(2):
        found = made.step(zeros)
    for place, value in enumerate(values):
        name = f"parameter {place} after 2 steps of gradient 0"
        expect_moved(submission, found[place], name, value, zeros[place], zeros[place], **options)


@check(aspect="values", points=2, follows=[test_steps, test_decay_alone], on_workers_word=WORD)
def test_decoupled(submission, draw):
    """decay bypasses the moments, and is a share of the parameter as it was before the step

    > θ ← θ - lr · ( m̂ / (√v̂ + eps) + weight_decay · θ )
    """
    expect_steps(submission, draw, 3, lr=0.2, weight_decay=0.5, **SAID)


@check(aspect="arguments", points=0.5, follows=test_decoupled, on_workers_word=WORD)
def test_defaults(submission, draw):
    """the defaults are lr 1e-3, betas 0.9 and 0.999, eps 1e-8 and weight_decay 0.01

    > lr: float = 1e-3,
    """
    values, gradients = drawn(draw, 4, dtype=torch.float64)
    gradients = [[given[0], given[1] * 1e-8] for given in gradients]  # so that eps shows
    values = [100 * value for value in values]  # and the decay
    made = bench(submission, values)
    for given in gradients:
        found = made.step(given)
    for place, value in enumerate(values):
        history = [given[place] for given in gradients]
        expect_moved(
            submission, found[place], f"parameter {place} after 4 steps", value, *history, tolerance=1e-8
        )


@check(aspect="arguments", follows=test_first_step, on_workers_word=WORD)
def test_late_gradient(submission, draw):
    """a parameter without a gradient stays as it is, and its steps count from its first gradient on

    > A parameter without a gradient stays as it is, does not decay, and its steps are not counted.
    > A parameter that joins later starts at t = 1.
    """
    values, gradients = drawn(draw, 4, 4)
    for step in (0, 2):
        gradients[step][1] = None  # in the middle: the parameter after it goes on
    gradients[0][3] = None  # parameter 3 joins after the first step
    options = {**SAID, "lr": 0.1, "weight_decay": 0.3}
    made = bench(submission, values, [{"places": [0, 1, 2]}], **options)
    first = made.step(gradients[0])
    made.join(3)
    *_, found = [made.step(given) for given in gradients[1:]]
    expect(first[1], "parameter 1 after a step without a gradient", axes=ROWS).equals(values[1])
    for place, value in enumerate(values):
        history = [given[place] for given in gradients if given[place] is not None]
        expect_moved(submission, found[place], f"parameter {place} after 4 steps", value, *history, **options)


@check(aspect="arguments", follows=test_decoupled, on_workers_word=WORD)
def test_groups(submission, draw):
    """each group has its own options

    > groups: dicts with "params" and any options that differ from those below.
    """
    values, gradients = drawn(draw, 3, 3)
    groups = [
        {"places": [0, 2], "lr": 0.3},
        {"places": [1], "weight_decay": 0.8, "betas": (0.6, 0.7), "eps": 0.2},
    ]
    everywhere = {**SAID, "lr": 0.1, "weight_decay": 0.4}
    made = bench(submission, values, groups, **everywhere)
    for given in gradients:
        found = made.step(given)
    for group in groups:
        options = everywhere | {name: of for name, of in group.items() if name != "places"}
        for place in group["places"]:
            history = [given[place] for given in gradients]
            name = f"parameter {place} after 3 steps"
            expect_moved(submission, found[place], name, values[place], *history, **options)


@check(aspect="arguments", follows=test_first_step, on_workers_word=WORD)
def test_schedule(submission, draw):
    """a schedule may change the options of a group between steps

    > Options are read from the parameter's group at every step.
    """
    [value], [[gradient]] = drawn(draw, 1, 1)
    made = bench(submission, [value], **QUIET)
    first = made.step([gradient])[0]
    made.set_option("lr", 0.02)
    second = made.step([gradient])[0]
    with precondition("the first step must be right"):
        expect_moved(submission, first, "parameter", value, gradient, **QUIET)
    # Under one and the same gradient both moments stay what they are, once corrected.
    wanted = oracle(lambda p, g: p - 0.12 * g.sign(), value, gradient)
    expect(second, "parameter after a step of 0.1 and one of 0.02", axes=ROWS).close_to(
        wanted, tolerance=1e-5
    )


@check(aspect="parameters", points=1.5, follows=test_steps, on_workers_word=WORD)
def test_state_dict(submission, draw):
    """state_dict holds all that a step remembers: an optimizer that loads it continues as this one would

    > Everything that a step has to remember about a parameter is in self.state[parameter], so that `state_dict` holds
      it.
    """
    values, gradients = drawn(draw, 5)
    made = bench(submission, values, lr=0.1, weight_decay=0.2, **SAID)
    for given in gradients[:3]:
        made.step(given)
    other = made.resumed()
    for given in gradients[3:]:
        found, wanted = other.step(given), made.step(given)
    for place in range(2):
        name = f"parameter {place} after 3 steps, a state_dict and 2 more"
        expect(found[place], name, axes=ROWS).same_as(
            wanted[place], name="its value without a state_dict in between"
        )


@check(aspect="gradient", points=0.5, follows=test_first_step, on_workers_word=WORD)
def test_left(submission, draw):
    """a step leaves gradients as they are, and whether they are recorded: training can continue after it

    > Update every parameter that has a gradient, in place; the gradients stay as they are.
    > A step leaves everything else as it was, including whether gradients are recorded.
    """
    values, gradients = drawn(draw, 2)
    made = bench(submission, values, lr=0.1, weight_decay=0.5, **SAID)
    before = values
    for given in gradients:
        after = made.step(given)
        for place, gradient in enumerate(made.gradients()):
            slips = {
                "your step empties the gradients; it should leave them as they are": lambda: (
                    gradient is None or not gradient.any()
                ),
                "your decay is written into parameter.grad and goes through the moments; "
                "it should change only the parameter": lambda: (
                    ((gradient - given[place]) / before[place]).std() < 1e-3
                ),
            }
            with supposing(slips):
                expect(gradient, f"gradient {place} after a step", axes=ROWS).equals(given[place])
        before = after
    made.backward(gradients[0])
    for place, gradient in enumerate(made.gradients()):
        if gradient is None:
            fail(
                f"no leaf  after 2 steps no gradient reaches parameter {place} any more",
                stage="gradient",
                cause="your step makes parameters that are not leaves or take no gradient; change only their numbers",
            )
        expect(gradient, f"gradient {place} of a loss after 2 steps", axes=ROWS).equals(gradients[0][place])
    for recorded in (True, False):
        name = f"whether gradients are recorded after a step, where they were{' not' * (not recorded)} before"
        switched = "your step switches gradients off and not on again" if recorded else ""
        with supposing(switched):
            expect(made.records_after(recorded), name).is_value(recorded)


@check(aspect="dtype", points=0.5, follows=test_first_step, on_workers_word=WORD)
def test_dtypes(submission, draw):
    """parameters of any shape are updated, and keep their dtype

    > Parameters of any shape and dtype are updated, 0-d tensors included
    """
    for dtype in (torch.float64, torch.bfloat16):
        value = torch.ones((), dtype=dtype, device=draw.device)
        wide = draw.noncontiguous(draw.normal(a=2, b=1, c=3).to(dtype))
        made = bench(submission, [value, wide], **{**QUIET, "lr": 0.125})
        found = made.step([torch.full_like(value, 4.0), torch.full_like(wide, -2.0)])
        for place, (one, slope) in enumerate(((value, 4.0), (wide, -2.0))):
            name = f"parameter {place}, {str(dtype).removeprefix('torch.')}"
            expect(found[place], name).is_tensor(shape=tuple(one.shape), dtype=dtype)

            def moved(form, start=one, slope=slope):
                start = start.cpu().double()
                return adamw(start, torch.full_like(start, slope), **{**QUIET, "lr": 0.125}, form=form)

            value = moved(convention(submission, "adamw"))
            wanted = Expected(value, 1e-8 if dtype == torch.float64 else 0.03, dtype)
            with supposing_form(submission, "adamw", moved):
                expect(found[place], name).close_to(wanted)


# --- warmup_cosine ---


@check(aspect="values", points=2)
def test_warmup(submission):
    """the rate rises in a straight line, from 0 at step 0 to peak at step = warmup

    > from 0 at step 0 the rate rises linearly to peak at step = warmup
    """
    expect_rates(submission, (0, 1, 4, 7, 8), 8, 40, 0.5)
    expect_rates(submission, (0, 2, 3), 3, 11, 2.0, 0.5)


@check(aspect="values", points=2)
def test_cosine(submission):
    """from peak it falls by half a cosine to floor at step = total

    > from peak it falls by half a cosine to floor at step = total
    """
    expect_rates(submission, (8, 10, 24, 31, 39, 40), 8, 40, 0.5)
    # 13 comes early: there falling to 0 and being cut off at floor are not the same.
    expect_rates(submission, (4, 13, 5, 9, 14), 4, 14, 3.0, 1.0)


@check(aspect="values", follows=test_cosine)
def test_after(submission):
    """after total it stays at floor

    > After it: floor.
    """
    expect_rates(submission, (41, 56, 72, 400), 8, 40, 0.5, 0.125)
    found = submission.warmup_cosine(step=41, warmup=8, total=40, peak=0.5, floor=0.125)
    number(found, "rate at step 41, given by name", 0.125, 1e-9)


@check(aspect="values", points=0.5, follows=test_cosine)
def test_no_warmup(submission):
    """without a warm-up it begins at peak

    > with warmup = 0 it begins at peak.
    """
    expect_rates(submission, (0, 1, 5, 10), 0, 10, 0.25, 0.05)


@check(aspect="scratch", points=0.5, on_workers_word=WORD)
def test_scratch(submission, draw):
    """torch's own optimizers, clipping and schedulers are not used

    > torch's own optimizers, clipping and schedulers are what you are building
    """
    values, gradients = drawn(draw, 2)
    made = bench(submission, values)
    for given in gradients:
        made.step(given)
    clipper(submission)(gradients[0], 0.5)
    submission.warmup_cosine(3, warmup=2, total=9, peak=1.0)
    expect_from_scratch(submission)
