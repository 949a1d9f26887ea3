"""Hidden checks of 9.5.4: what is right only on the visible inputs fails here."""

from __future__ import annotations

import torch

from grader.checks import Expected, Part, check, expect, given_module

FLOATS = [torch.float64, torch.bfloat16]
WORD = "gradients and states are compared with those of the reference on the same values, computed here"
"""Why what models and runs of the helper return is enough."""


def generator(seed):
    return torch.Generator().manual_seed(seed)


@check(aspect="values", points=1.5)
def test_any_scores(submission, reference, draw):
    """log_softmax holds for any sizes and axes, and for scores of any size

    > finite wherever x is, -∞ where x is -∞.
    """
    calls = [
        {"x": draw.normal(row=rows, word=words, scale=scale), "dim": dim}
        for rows, words, scale, dim in ((*draw.sizes(2, 2, 12), 2.0, 0), (1, 130, 300.0, -1), (130, 1, 5.0, 1), (1, 1, 9.0, 0))
    ]  # fmt: skip
    calls.append({"x": draw.normal(group=2, batch=3, time=2, word=4, scale=50.0), "dim": 2})
    Part("log_softmax", outputs=["log-probabilities"]).expect_values(submission, reference, draw, calls)


@check(aspect="values", points=2)
def test_any_loss(submission, reference, draw):
    """cross_entropy holds for any sizes, and for any word that does not count

    > the mean over the places that count.
    """
    calls = []
    for (batch, time, words), ignore in ((draw.sizes(3, 2, 9), 0), ((1, 1, 5), -100), ((3, 130, 2), -7), ((2, 3, 70), 69)):
        targets = draw.integers(0, words, batch=batch, time=time)
        if batch > 1:
            targets[1] = ignore
            targets[0, 0] = 1 if ignore == 0 else 0
        calls.append({"logits": draw.normal(batch=batch, time=time, word=words, scale=3.0), "targets": targets, "ignore": ignore})
    calls.append({"logits": draw.normal(batch=2, word=5), "targets": draw.integers(0, 1, batch=2) + 3, "ignore": 3})
    part = Part("cross_entropy", outputs=["loss"], dtypes=FLOATS, rows=False)
    part.expect(submission, reference, draw, calls)


@check(aspect="values")
def test_any_windows(submission, draw):
    """windows of any length are pieces of the text, also of one that repeats itself

    > Each row of x is a piece of the text, and y holds the token after each of x's.
    """
    for size, length, batch in ((*sorted(draw.sizes(2, 2, 40), reverse=True), 9), (2, 1, 1), (300, 299, 2), (131, 2, 70)):
        tokens = draw.integers(0, 50_000, time=size)
        x, y = expect(submission.windows(tokens, length, generator(draw.size(0, 99)), batch), "windows").is_tuple(2)
        expect(x, "x", axes="batch time").is_tensor(shape=(batch, length), dtype=torch.int64)
        pieces = tokens.cpu().unfold(0, length + 1, 1)
        both = torch.cat([x.cpu(), y.cpu()[:, -1:]], 1)
        there = (both[:, None] == pieces).all(-1)
        expect(there.any(1), "whether each x and its last y are a piece of the text").equals(torch.ones(batch, dtype=torch.bool))
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
        values = [draw.normal(word=9, width=3), draw.normal(width=3, word=9)]
        parts = []
        for place in range(count):
            x = draw.integers(0, 9, batch=draw.size(1, 4), time=draw.size(1, 7))
            targets = draw.integers(0, 9, batch=x.shape[0], time=x.shape[1])
            targets[draw.mask(keep=0.4, batch=x.shape[0], time=x.shape[1])] = -100
            targets[0, 0] = 1 if place == 0 else targets[0, 0]
            parts.append((draw.noncontiguous(x), draw.noncontiguous(targets)))
        model = helper.Model(*values)
        found = accumulate(model, parts, helper.mean_loss)
        table, layer = (torch.nn.Parameter(value.cpu().double()) for value in values)
        right = Indexed(table, layer)
        mean = reference.accumulate(right, [(x.cpu(), t.cpu()) for x, t in parts], reference.cross_entropy)
        expect(found, "mean").is_scalar(float)
        expect(torch.tensor(found), "mean").close_to(Expected(torch.tensor(mean), 1e-5, torch.float32))
        for name, gradient, parameter in zip(("table", "layer"), model.gradients(), (table, layer), strict=True):
            wanted = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            expect(gradient, f"gradient of the {name}").close_to(Expected(wanted, 1e-5, torch.float32))


class Indexed(torch.nn.Module):
    """The helper's model, in the grader."""

    def __init__(self, table, layer):
        super().__init__()
        self.table, self.layer = table, layer

    def forward(self, x):
        return self.table[x] @ self.layer


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
    ends = {}
    for path, own in runs.items():
        own.train(2)
        ends[path] = own.state()
    for path in (*runs, *runs):
        resumed = run(7)
        expect(resumed.load(path), "step").is_value(3)
        resumed.train(2)
        found = resumed.state()
        for name, wanted in ends[path].items():
            expect(found[name], f"{name} of a run that was resumed").equals(wanted.cpu())
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
