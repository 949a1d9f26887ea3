"""Hidden checks of 9.5.4: what is right only on the visible inputs fails here."""

from __future__ import annotations

import torch

from grader.checks import Expected, Part, check, expect, given_module

WORD = "gradients and states are compared with those of the reference, or of the same run without a cut"
"""Why what models and runs of the helper return is enough."""


@check(aspect="values", points=1.5)
def test_any_scores(submission, reference, draw):
    """log_softmax holds for any sizes and axes, and for scores of any size

    > finite wherever x is, -∞ where x is -∞.
    """
    calls = [{"x": draw.normal(group=2, batch=3, time=2, word=4, scale=50.0), "dim": 2}]
    for rows, words, scale, dim in ((*draw.sizes(2, 2, 12), 2.0, 0), (1, 130, 100.0, -1), (130, 1, 5.0, 1)):
        calls.append({"x": draw.normal(row=rows, word=words, scale=scale), "dim": dim})
    Part("log_softmax", outputs=["log-probabilities"]).expect_values(submission, reference, draw, calls)


@check(aspect="values", points=2)
def test_any_loss(submission, reference, draw):
    """cross_entropy holds for any sizes, and for any word that does not count

    > the mean over the places that count.
    """
    calls = [{"logits": draw.normal(batch=2, word=5), "targets": draw.integers(3, 4, batch=2), "ignore": 3}]
    sizes = {0: draw.sizes(3, 2, 9), -100: (1, 1, 5), -7: (3, 130, 2), 69: (2, 3, 70)}
    for ignore, (batch, time, words) in sizes.items():
        targets = draw.integers(0, words, batch=batch, time=time)
        if batch > 1:
            targets[1], targets[0, 0] = ignore, int(ignore == 0)
        logits = draw.normal(batch=batch, time=time, word=words, scale=3.0)
        calls.append({"logits": logits, "targets": targets, "ignore": ignore})
    part = Part("cross_entropy", outputs=["loss"], dtypes=[torch.float64, torch.bfloat16], rows=False)
    part.expect(submission, reference, draw, calls)


@check(aspect="values")
def test_any_windows(submission, draw):
    """windows of any length are pieces of the text, also of one that repeats itself

    > Each row of x is a piece of the text, and y holds the token after each of x's.
    """
    sizes = [*sorted(draw.sizes(2, 2, 40), reverse=True), 9]
    for size, length, batch in (sizes, (2, 1, 1), (300, 299, 2), (131, 2, 70)):
        tokens, own = draw.integers(0, 50_000, time=size), torch.Generator().manual_seed(draw.size(0, 99))
        x, y = expect(submission.windows(tokens, length, own, batch), "windows").is_tuple(2)
        expect(x, "x", axes="batch time").is_tensor(shape=(batch, length), dtype=torch.int64)
        expect(y, "y", axes="batch time").is_tensor(shape=(batch, length), dtype=torch.int64)
        both = torch.cat([x.cpu(), y.cpu()[:, -1:]], 1)
        there = (both[:, None] == tokens.cpu().unfold(0, length + 1, 1)).all(-1).any(1)
        expect(there, "whether a row of x, and the last of y, is a piece").equals(there | True)
        expect(y, "y", axes="batch time").equals(both[:, 1:])


@check(aspect="values", points=2, on_workers_word=WORD)
def test_any_parts(submission, reference, draw):
    """any parts of a batch give the whole batch's gradient, also where their tensors are scattered in memory

    > They may differ in size, and in how many targets are
      -100: these do not count.
    """
    accumulate = submission.accumulate  # first: another worker may have to be asked, in which the helper then is
    helper = given_module(submission, "runs")
    for count in (1, draw.size(2, 5), 9):
        parts = []
        for place in range(count):
            shape = {"batch": draw.size(1, 4), "time": draw.size(1, 7)}
            x, targets = draw.integers(0, 9, **shape), draw.integers(0, 9, **shape)
            targets[draw.mask(keep=0.4, **shape)] = -100
            targets[0, 0] = 1
            if place == 1:
                targets[:] = -100
            parts.append((draw.noncontiguous(x), draw.noncontiguous(targets)))
        table = torch.nn.Embedding(9, 9)
        torch.nn.init.normal_(table.weight, generator=draw.generator)
        model = helper.Model(table.weight.detach().to(draw.device), torch.eye(9, device=draw.device))
        found = accumulate(model, parts, helper.mean_loss)
        mean = reference.accumulate(
            table.double(), [(x.cpu(), targets.cpu()) for x, targets in parts], reference.cross_entropy
        )
        expect(found, "mean").is_scalar(float)
        expect(torch.tensor(found), "mean").close_to(Expected(torch.tensor(mean), 1e-5, torch.float32))
        wanted = Expected(table.weight.grad, 1e-5, torch.float32)
        expect(model.gradients()[0], "gradient of the table", axes="word logit").close_to(wanted)


@check(aspect="values", points=1.5, on_workers_word=WORD)
def test_two_runs(submission, draw):
    """two runs in two files do not disturb each other, and a run may be resumed again and again

    > which then go on as those that were saved, bit for bit.
    """
    save, load = submission.save, submission.load
    helper = given_module(submission, "runs")

    def run(seed):
        values = [draw.normal(word=6, width=3), draw.normal(width=3, word=6)]
        return helper.Run(save, load, *values, seed=seed, groups=2)

    runs = {f"{name}.pt": run(seed) for seed, name in enumerate(("one", "other"))}
    for steps in (2, 3):
        for path, own in runs.items():
            own.train(steps)
            own.save(path, steps)
    for own in runs.values():
        own.train(2)
    for path in (*runs, *runs):
        resumed = run(7)
        expect(resumed.load(path), "step").is_value(3)
        resumed.train(2)
        found = resumed.state()
        for name, wanted in runs[path].state().items():
            expect(found[name], f"{name} of a run that was resumed").equals(wanted.cpu())
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
