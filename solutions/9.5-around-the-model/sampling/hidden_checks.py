"""Hidden checks of 9.5.3: what is right only on the visible inputs fails here."""

from __future__ import annotations

from functools import partial

import torch

from grader.checks import check, expect, expect_unchanged, oracle, with_axes

ROWS = "batch token"
STEEP = (1.0, 0.5, 2.44)


def spaced(draw, batch, token):
    """Return rows of probabilities 1 : r : r² : …, shuffled: no two alike, no sum on the edge of a round number.

    The first row's r is 1.3; others are sharper and flatter, so that a limit of one is none for another.
    """
    steps = torch.arange(token) * 0.2623
    rows = torch.stack(
        [STEEP[row % len(STEEP)] * steps[draw.permutation(token).cpu()] for row in range(batch)]
    )
    return with_axes(rows.to(draw.device), *ROWS.split())


def penalised(reference, tokens, penalty, logits):
    return reference.repetition_penalty(logits, tokens, penalty)


def scored(reference, targets, pad_id, logits):
    return torch.tensor(reference.perplexity(logits, targets, pad_id), dtype=logits.dtype)


@check(
    "the filters are right for vocabularies of any size and any amounts",
    aspect="values",
    points=2.5,
    asked=[
        "All of it works for any sizes",
        "[.., V], any number of axes in front; each row is filtered by itself.",
    ],
)
def test_any_filter(submission, reference, draw):
    for token in (1, *draw.sizes(3, 8, 40)):  # of two or three tokens, wrong ones are right by luck
        logits = spaced(draw, draw.size(3, 6), token)
        calls = (
            ("top_k", draw.size(1, token)),
            ("top_p", 0.0173 + 0.05 * draw.size(1, 18)),
            ("min_p", 0.0173 + 0.05 * draw.size(1, 18)),
        )
        for name, amount in calls:
            found = getattr(submission, name)(draw.noncontiguous(logits), amount)
            expect_unchanged(submission)
            wanted = getattr(reference, name)(logits.cpu(), amount)
            expect(found, f"{name}, {amount}", axes=ROWS).equals(wanted)


@check(
    "batches of rows in three axes are filtered as each row alone",
    aspect="shape",
    points=1,
    asked="any number of axes in front; each row is filtered by itself.",
)
def test_rows_alone(submission, draw):
    logits = spaced(draw, 12, 7).reshape(2, 3, 2, 7)
    for name, amount in (("top_k", 2), ("top_p", 0.62), ("min_p", 0.42)):
        together = getattr(submission, name)(logits, amount)
        expect(together, name).is_tensor(shape=(2, 3, 2, 7))
        alone = getattr(submission, name)(logits[1, 2, 1], amount)
        expect(alone, f"{name} of one row", axes="token").equals(together[1, 2, 1].cpu())


@check(
    "repetition is penalised for any texts, one token long and hundreds",
    aspect="values",
    points=1.5,
    asked=["All of it works for any sizes", "once, however often the token occurred."],
)
def test_any_penalty(submission, reference, draw):
    for time in (1, draw.size(2, 9), 300):
        batch, token = draw.sizes(2, 2, 30)
        logits = draw.normal(batch=batch, token=token, scale=3.0)
        tokens = draw.integers(0, token, batch=batch, time=time)
        penalty = 1.0 + draw.size(1, 20) / 10
        found = submission.repetition_penalty(logits, tokens, penalty)
        right = partial(penalised, reference, tokens.cpu(), penalty)
        expect(found, "penalised", axes=ROWS).close_to(oracle(right, logits.cpu()))


@check(
    "perplexity is right for any sizes and any padding",
    aspect="values",
    points=1,
    asked=["All of it works for any sizes", "targets that are this token do not count; None: all count."],
)
def test_any_perplexity(submission, reference, draw):
    for _ in range(4):
        batch, time, token = draw.sizes(3, 2, 30)
        logits = draw.normal(batch=batch, time=time, token=token, scale=2.0)
        targets = draw.integers(0, token, batch=batch, time=time)
        targets[0, 0] = 1
        for pad_id in (None, 0):
            found = submission.perplexity(logits, targets, pad_id)
            expect(found, "perplexity").is_scalar(float)
            right = partial(scored, reference, targets.cpu(), pad_id)
            expect(torch.tensor(found), "perplexity").close_to(oracle(right, logits.cpu()))
