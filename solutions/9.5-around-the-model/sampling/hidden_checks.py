"""Hidden checks of 9.5.3: what is right only on the visible inputs fails here."""

from __future__ import annotations

import torch

from grader.checks import Part, check, expect, expect_unchanged, with_axes

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
    return with_axes((rows + 1.5).to(draw.device), *ROWS.split())


@check(aspect="values", points=4)
def test_filters_contract(submission, reference, draw):
    """the filters keep their promises for any vocabulary, in every dtype, however they are called

    > All of it works for any sizes
    > [.., V], any number of axes in front; each row is filtered by itself.
    > Logits keep their dtype.
    """
    any_share = 0.0173 + 0.05 * draw.size(1, 18)
    few, many, one = (spaced(draw, batch, token) for batch, token in ((3, 5), (1, 70), (2, 1)))
    # Not two blocks alike: rows repeat after three, and a limit of the first block is none for another.
    grouped = spaced(draw, 12, draw.size(8, 40)).reshape(3, 2, 2, -1)
    for name, amount, drawn in (
        ("top_k", "k", draw.size(1, 12)),
        ("top_p", "p", any_share),
        ("min_p", "p", any_share),
    ):
        part = Part(name, axes=[ROWS], gradients=False, dtypes=[torch.float64])
        calls = [{"logits": logits, amount: drawn} for logits in (many, one, spaced(draw, 4, 13) - 500.0)]
        part.expect(submission, reference, draw, calls)
        # Of few tokens none is near the limit, so that it may be found in half precision as well.
        part = Part(name, axes=[ROWS], gradients=False, dtypes=[torch.bfloat16])
        share = {"top_k": 2, "top_p": 0.61, "min_p": 0.42}[name]
        part.expect(submission, reference, draw, [{"logits": few, amount: share}])
        for given in (grouped, few[0].contiguous()):
            wanted = getattr(reference, name)(given.cpu(), drawn)
            found = getattr(submission, name)(given, drawn)
            expect(found, f"{name} of shape {list(given.shape)}").equals(wanted.to(found.device))
            expect_unchanged(submission)


@check(aspect="values", points=2)
def test_penalty_contract(submission, reference, draw):
    """repetition is penalised for any texts, in every dtype, however it is called

    > All of it works for any sizes
    > once, however often the token occurred.
    > Logits keep their dtype.
    """
    part = Part("repetition_penalty", axes=[ROWS], dtypes=[torch.float64, torch.bfloat16], gradients=False)
    calls = [
        {
            "logits": draw.normal(batch=batch, token=token, scale=3.0),
            "tokens": draw.integers(0, token, batch=batch, time=time),
            "penalty": 2.0 ** draw.size(1, 3),  # its inverse is exact, in whichever dtype it is kept
        }
        for batch, token, time in ((3, draw.size(5, 30), 4), (1, 300, 300), (6, 70, 1), (2, 1, 2))
    ]
    calls[0]["logits"][:, ::2] = -torch.inf  # a filter may have been there before
    part.expect(submission, reference, draw, calls)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
