"""Checks of 9.5.3. Where a sum or a share decides, distributions are put in by hand: none is decided by rounding."""

from __future__ import annotations

import math

import torch
from torch.nn.functional import one_hot

from grader.checks import (
    Part,
    check,
    convention,
    expect,
    expect_unchanged,
    fail,
    oracle,
    same_tensors,
    supposing,
    supposing_form,
    with_axes,
)

ROWS = "batch token"
GROUPS = "batch head token"
SHARES = (
    (0.4, 0.25, 0.15, 0.1, 0.06, 0.04),  # sums 0.4, 0.65, 0.8, 0.9, 0.96, 1
    (0.2, 0.19, 0.17, 0.16, 0.15, 0.13),  # 0.2, 0.39, 0.56, 0.72, 0.87, 1
    (0.45, 0.33, 0.1, 0.07, 0.03, 0.02),  # 0.45, 0.78, 0.88, 0.95, 0.98, 1
    (0.36, 0.21, 0.17, 0.13, 0.08, 0.05),  # 0.36, 0.57, 0.74, 0.87, 0.95, 1
)
"""Probabilities of rows, best first. No two rows are as sharp: a limit of one is none for another."""


# --- what is right ---


def right_top_k(logits, k):
    least = logits.sort(-1, descending=True).values[..., :k][..., -1:]
    return torch.where(logits >= least, logits, -math.inf)


def right_top_p(logits, p):
    ordered, order = logits.sort(-1, descending=True)
    shares = ordered.softmax(-1)
    keep = shares.cumsum(-1) - shares < p
    keep[..., 0] = True
    return torch.where(torch.zeros_like(keep).scatter(-1, order, keep), logits, -math.inf)


def right_min_p(logits, p):
    shares = logits.softmax(-1)
    return torch.where(shares >= p * shares.amax(-1, keepdim=True), logits, -math.inf)


def right_penalty(logits, tokens, penalty):
    occurred = one_hot(tokens, logits.shape[-1]).any(-2)
    scaled = torch.where(logits > 0, logits / penalty, logits * penalty)
    return torch.where(occurred, scaled, logits)


# --- what shows a mistake in any design ---


def filter_slips(found, right, logits, amount):
    """Return what mistakes in a filter give; what is not kept may be filled with any number."""
    name = right.__name__.removeprefix("right_")
    kept = right(logits, amount).isfinite()
    slips = {"top_k": top_k_slips, "top_p": top_p_slips, "min_p": min_p_slips}[name](logits, amount)

    def filled(finite):
        rest = found[~kept]
        return (
            torch.equal(found[kept], logits[kept])
            and finite(rest)
            and len(rest.unique()) == 1
            and rest.isfinite().all()
        )

    return slips | {
        f"your {name} sets the other logits to 0, which is a score like any other; set them to -inf": lambda: (
            filled(lambda rest: (rest == 0).all())
        ),
        "your removed logits are -1e9; set them to -inf, the only number that can never be drawn": lambda: (
            filled(lambda rest: (rest == -1e9).all())
        ),
        f"your {name} fills removed logits with a finite number; use -inf, the only one never drawn": lambda: (
            filled(lambda rest: (rest != 0).all() and (rest != -1e9).all())
        ),
        f"your {name} returns probabilities; a filter should return logits": lambda: [
            right(logits, amount).softmax(-1),
            logits.softmax(-1) * kept,
        ],
        f"your {name} returns which tokens stay, as ones and zeros; a filter should return logits": lambda: (
            torch.equal(found.to(torch.float32), kept.float())
        ),
        f"your {name} removes the logits that it should keep, and keeps the others": lambda: (
            logits.masked_fill(kept, -math.inf)
        ),
        f"your {name} removes nothing": lambda: logits,
    }


def keeping(logits, where):
    return torch.where(where, logits, -math.inf)


def top_k_slips(logits, k):
    ranks, V = logits.argsort(-1, descending=True).argsort(-1), logits.shape[-1]
    least = logits.sort(-1, descending=True).values[..., : min(k, V)][..., -1]
    return {
        "your top_k keeps one token too few; it should keep the k-th as well": lambda: keeping(
            logits, ranks < k - 1
        ),
        "your top_k keeps one token more than k, as its limit is the logit after the k-th; "
        "the limit should be the k-th": lambda: keeping(
            logits, ranks < k + 1
        ),
        "your top_k keeps the k worst tokens; it should keep the k best": lambda: keeping(logits, ranks >= V - k),
        "your top_k has one limit for all rows; each row should keep its own k best": lambda: [
            keeping(logits, logits >= limit)
            for limit in (
                least.min(),
                least.max(),
                least.flatten()[0],
                logits.flatten().topk(min(k, V)).values[-1],
            )
        ],
        "your top_k returns only the k best logits; it should return all V, the others as -inf": lambda: (
            logits.topk(min(k, V)).values
        ),
        "your top_k puts the best logits first: each has to stay at its token's place": lambda: keeping(
            logits.sort(-1, descending=True).values,
            torch.arange(V, device=logits.device).expand(logits.shape) < k,
        ),
    }


def top_p_slips(logits, p):
    ordered, order = logits.sort(-1, descending=True)
    shares = ordered.softmax(-1)
    sums = shares.cumsum(-1)
    first = torch.arange(logits.shape[-1], device=logits.device).expand(logits.shape) == 0
    keep = (sums - shares < p) | first
    own = logits.softmax(-1)

    def back(keep):
        return keeping(logits, torch.zeros_like(keep).scatter(-1, order, keep))

    def upwards():
        rising, places = logits.sort(-1)
        late = rising.softmax(-1).cumsum(-1)
        forms = (late - rising.softmax(-1) < p, late <= p)
        return [keeping(logits, torch.zeros_like(form).scatter(-1, places, form)) for form in forms]

    return {
        "your top_p drops the token with which p is reached; it should keep that one too": lambda: [
            back((sums <= p) | first),
            back((sums < p) | first),
        ],
        "your top_p drops all tokens where the best one has more than p by itself; it should always keep one": lambda: [
            back(sums <= p),
            back(sums < p),
        ],
        "your top_p keeps one token more than those that reach p; "
        "it should stop at the token with which p is reached": lambda: back(
            torch.cat((first[..., :1], keep[..., :-1]), dim=-1)
        ),
        "your top_p goes back to the tokens' places by gather(order), which is the way there; use scatter for the "
        "way back": (
            lambda: [keeping(ordered, keep).gather(-1, order), keeping(logits, keep.gather(-1, order))]
        ),
        "your top_p leaves its decisions in sorted order; they should go back to the tokens' own places": lambda: (
            keeping(logits, keep)
        ),
        "your top_p returns the logits sorted; each should stay at its token's place": lambda: keeping(
            ordered, keep
        ),
        "your top_p sums probabilities in the order of the tokens; sum from the best one on": lambda: [
            keeping(logits, own.cumsum(-1) - own < p),
            keeping(logits, own.cumsum(-1) <= p),
        ],
        "your top_p sums from the least likely token up; begin with the best": upwards,
        "your top_p sums logits; sum probabilities, which add up to 1": lambda: [
            back((ordered.cumsum(-1) - ordered < p) | first),
            back(ordered.cumsum(-1) <= p),
        ],
        "your top_p takes exp(logits) for probabilities; use the softmax, which makes them sum to 1": lambda: (
            back((ordered.exp().cumsum(-1) - ordered.exp() < p) | first)
        ),
        "your top_p asks each token for a probability of its own: it is their sum that has to reach p": lambda: [
            keeping(logits, own >= limit) for limit in (p, 1 - p)
        ],
        "your top_p asks for 1 - p: the best tokens have to sum up to p": lambda: back(
            (sums - shares < 1 - p) | first
        ),
    }


def min_p_slips(logits, p):
    shares, best = logits.softmax(-1), logits.amax(-1, keepdim=True)
    top = shares.amax(-1, keepdim=True)
    return {
        "your min_p keeps only probabilities above p; it should keep those above p times that of the best "
        "token": lambda: keeping(logits, shares >= p),
        "your min_p multiplies the best logit by p; add log(p) to it, as shares of probabilities are differences "
        "of logits": lambda: [
            keeping(logits, logits >= p * best),
            keeping(logits, logits >= best - p),
        ],
        "your min_p compares all rows with the best token of the batch; it should compare each row with its own "
        "best one": lambda: keeping(logits, shares >= p * shares.max()),
        "your min_p drops tokens that are exactly p times as likely as the best; "
        "it should keep them": lambda: keeping(logits, shares > p * top),
        "your min_p takes its limit from the rest; the limit should be p times the best token's probability": lambda: [
            keeping(logits, shares >= limit) for limit in (top - p, (1 - p) * top)
        ],
    }


def penalty_slips(logits, tokens, penalty):
    V = logits.shape[-1]
    occurred, counts = one_hot(tokens, V).any(-2), one_hot(tokens, V).sum(-2)
    anywhere = occurred.any(0, keepdim=True).expand(occurred.shape)

    def scaled(where, above, below):
        return torch.where(where, torch.where(logits > 0, above, below), logits)

    smaller, larger = logits / penalty, logits * penalty
    return {
        "your penalty divides logits below 0 as well, which makes their tokens likelier; multiply those": lambda: (
            scaled(occurred, smaller, smaller)
        ),
        "your penalty multiplies logits above 0 and divides the others, so it rewards repetition; "
        "exchange the two": lambda: (
            scaled(occurred, larger, smaller)
        ),
        "your penalty multiplies every logit, which makes a token more likely above 0; divide there": lambda: (
            scaled(occurred, larger, larger)
        ),
        "your penalty is subtracted from the logits; divide those above 0 by it, and multiply the others": lambda: [
            logits - occurred * amount for amount in (penalty, math.log(penalty))
        ],
        "your penalty lowers the tokens that have not occurred; "
        "it should lower those that have": lambda: scaled(~occurred, smaller, larger),
        "your penalty acts on every token; those that have not occurred should keep their logits": lambda: (
            scaled(torch.ones_like(occurred), smaller, larger)
        ),
        "your penalty is applied again each time a token occurs; "
        "apply it a single time, however often the token occurred": lambda: scaled(
            occurred, logits / penalty**counts, logits * penalty**counts
        ),
        "your penalty takes the tokens of all rows together; each row should use its own text": lambda: (
            scaled(anywhere, smaller, larger)
        ),
        "your penalty acts on only the latest token; it should act on all that have occurred": lambda: scaled(
            one_hot(tokens[:, -1], V).bool(), smaller, larger
        ),
        "your penalty acts on only logits above 0; multiply the others": lambda: scaled(
            occurred, smaller, logits
        ),
        "your penalty acts on only logits of 0 or less; divide the others": lambda: scaled(
            occurred, logits, larger
        ),
    }


def perplexity_slips(logits, targets, pad_id=None):
    losses = -logits.log_softmax(-1).gather(-1, targets[..., None])[..., 0]
    counted = torch.ones_like(targets, dtype=torch.bool) if pad_id is None else targets != pad_id
    mean = losses[counted].mean()
    rows = [loss[own] for loss, own in zip(losses, counted, strict=True)]
    each = torch.stack([row.mean() for row in rows if len(row)])
    return {
        "your perplexity is the mean loss; it should be exp of it": lambda: mean,
        "your perplexity is 2 to the power of a loss in nats; the base should be that of the logarithm, e": lambda: (
            2**mean
        ),
        "your perplexity is exp of the sum of the losses; take their mean": lambda: (
            losses[counted].sum().exp()
        ),
        "your perplexity is exp of minus the loss; it should be exp of the loss, the mean of -log "
        "p": lambda: (-mean).exp(),
        "your perplexity is the mean of each row's; take the mean over all targets, before exp": lambda: [
            each.exp().mean(),
            each.mean().exp(),
        ],
        "your perplexity takes the mean of the probabilities; take the mean of their logarithms": lambda: (
            1 / (-losses[counted]).exp().mean()
        ),
        "your perplexity is the mean of each target's exp(-log p); take the mean first, exp after it": lambda: (
            losses[counted].exp().mean()
        ),
        "your perplexity shifts the targets by one; use them as they are, as they match the logits": lambda: (
            (-logits[:, :-1].log_softmax(-1).gather(-1, targets[:, 1:, None])[..., 0]).mean().exp()
        ),
        "your perplexity counts padding; leave targets that are pad_id out of the mean": lambda: (
            losses.mean().exp()
        ),
        "your perplexity divides by all targets; divide by those that count": lambda: (
            (losses * counted).mean().exp()
        ),
        "your perplexity leaves target 0 out where no pad_id is given; it should count all targets then": lambda: (
            losses[targets != 0].mean().exp()
        ),
        "your perplexity takes log_softmax over the positions; take it over the vocabulary, the last axis": lambda: (
            (-logits.log_softmax(1).gather(-1, targets[..., None])[..., 0][counted].mean()).exp()
        ),
        "your perplexity takes the softmax twice; give log_softmax the logits": lambda: (
            -logits.softmax(-1).log_softmax(-1).gather(-1, targets[..., None])[..., 0][counted].mean()
        ).exp(),
    }


# --- helpers ---


def known(draw, *lead, shift=0.0):
    """Return logits [.., 6] with the probabilities of SHARES, row by row; the first turned by one, others shuffled."""
    rows = math.prod(lead)
    turned = torch.arange(6).roll(-1)  # in this order no wrong way back from sorting is right by chance
    orders = [turned, *(draw.permutation(6).cpu() for _ in range(rows - 1))]
    shares = torch.tensor(SHARES).log()
    logits = torch.stack([shares[row % len(SHARES), order] for row, order in enumerate(orders)])
    logits = (logits + shift).reshape(*lead, 6).to(draw.device)
    return with_axes(logits, *("batch", "head")[: len(lead)], "token")


def spread(draw, batch=3, token=9, scale=1.0):
    """Return logits of which no two of a row are near each other."""
    steps = torch.linspace(-2, 2, token)
    rows = [scale * steps[draw.permutation(token).cpu()] for _ in range(batch)]
    noise = draw.uniform(low=-0.1, high=0.1, batch=batch, token=token)
    return with_axes(torch.stack(rows).to(draw.device) + noise, *ROWS.split())


def apart(draw):
    """Return three rows of which the first lies between the others, which have no logit in common with it."""
    levels = torch.tensor([[0.0], [5.0], [-5.0]], device=draw.device)
    return with_axes(spread(draw) + levels, *ROWS.split())


def compare(found, right, logits, *rest, name="filtered", axes=ROWS, why=""):
    def slips():
        return (
            penalty_slips(logits, *rest)
            if right is right_penalty
            else filter_slips(found, right, logits, *rest)
        )

    with supposing(slips):
        expect(found, name, axes=axes, picture=lambda: choices(found, right, logits, *rest)).close_to(
            oracle(right, logits, *rest), why=why
        )


def choices(found, right, logits, *rest):
    """Return what each row keeps, best token first, as the lesson draws it; nothing where the same is kept."""
    has, wants = found.cpu().isfinite(), right(logits, *rest).cpu().isfinite()
    if right is right_penalty or torch.equal(has, wants):
        return []
    rows = ["best first: token, probability, # kept, . dropped, ! should be dropped, x should be kept"]
    for row, shares in enumerate(logits.softmax(-1).cpu()):
        cells = [f"row {row}"]
        for token in shares.argsort(descending=True).tolist():
            mark = ".!x#"[bool(has[row, token]) + 2 * bool(wants[row, token])]
            cells.append(f"{token} {shares[token]:.2f} {mark}")
        rows.append(cells)
    return rows


FILTERS = (("top_k", right_top_k, 3), ("top_p", right_top_p, 0.7), ("min_p", right_min_p, 0.3))


# --- filters ---


@check(aspect="shape")
def test_shapes(submission, draw):
    """the filters keep the shape, with any number of axes in front

    > [.., V], any number of axes in front; each row is filtered by itself.
    """
    for name, _, amount in FILTERS:
        for lead in ((), (2,), (2, 3)):
            logits = known(draw, *lead)
            expect(getattr(submission, name)(logits, amount), name).is_tensor(shape=tuple(logits.shape))


@check(aspect="values", points=2, follows=test_shapes)
def test_top_k(submission, draw):
    """top_k keeps the k best logits of each row as they were, with -inf elsewhere

    > Keep the k best logits of each row.
    """
    for k in (3, 1):
        logits = apart(draw)
        compare(submission.top_k(logits, k), right_top_k, logits, k, name=f"top_k, k={k}")


@check(aspect="values", follows=test_top_k)
def test_top_k_all(submission, draw):
    """top_k keeps everything when k is V or more

    > how many; all of them when k > V.
    """
    for k in (9, 12):
        logits = apart(draw)
        compare(submission.top_k(logits, k), right_top_k, logits, k, name=f"top_k, k={k} of 9")


@check(aspect="values", points=2.5, follows=test_shapes)
def test_top_p(submission, draw):
    """top_p keeps the best tokens until their probabilities reach p, including the one that reaches it

    > Keep the smallest set of best tokens whose probabilities sum up to p or more
    > The token with which p is reached is kept, so there is always one.
    """
    for p in (0.7, 0.5, 0.85):
        logits = known(draw, 4)
        compare(submission.top_p(logits, p), right_top_p, logits, p, name=f"top_p, p={p}")
    # In some of these rows the rounded probabilities sum up to a little less than 1.
    logits = draw.normal(batch=20, token=9)
    compare(submission.top_p(logits, 1.0), right_top_p, logits, 1.0, name="top_p, p=1")


@check(aspect="values", follows=test_shapes)
def test_top_p_small(submission, draw):
    """top_p keeps the best token even where its probability alone exceeds p, and no further one where they sum up to p

    > The token with which p is reached is kept, so there is always one.
    > Keep the smallest set of best tokens whose probabilities sum up to p or more
    """
    for p in (0.15, 0.0):
        logits = known(draw, 4)
        compare(submission.top_p(logits, p), right_top_p, logits, p, name=f"top_p, p={p}")
    kept = []
    for token in (2, 4, 8, 16):
        logits = with_axes(draw.normal(batch=1, token=1).expand(1, token).contiguous(), *ROWS.split())
        found = expect(submission.top_p(logits, 0.5), "top_p of equal logits").is_tensor(shape=(1, token))
        kept.append((int(found.actual.isfinite().sum()), token))
    # A half may become a little less where probabilities are taken from logarithms: once it must be met.
    said = ", ".join(f"{number} of {token}" for number, token in kept)
    if convention(submission, "top_p") == "past":
        with supposing_form(submission, "top_p", lambda other: True):
            if all(number <= token / 2 for number, token in kept):
                fail(f"one too few  top_p with p=0.5 keeps {said} equally likely tokens; want one more than half")
    elif all(number > token / 2 for number, token in kept):
        fail(f"one too many  top_p with p=0.5 keeps {said} equally likely tokens; want half of them")


@check(aspect="values", points=2, follows=test_shapes)
def test_min_p(submission, draw):
    """min_p keeps the tokens that are at least p times as likely as the best one

    > Keep the tokens that are at least p times as likely as the best one.
    """
    # Of 0.4 these are 0.048, 0.12, 0.2 and 0.4: the first tells it from a probability, the last leaves the best alone.
    for p in (0.12, 0.3, 0.5, 1.0):
        logits = known(draw, 4)
        compare(submission.min_p(logits, p), right_min_p, logits, p, name=f"min_p, p={p}")


@check(aspect="values", follows=[test_top_p, test_min_p])
def test_shift(submission, draw):
    """adding a number to all logits of a row does not change which tokens are kept

    > Adding the same number to all logits of a row changes no probability
    """
    for name, right, amount in FILTERS:
        for shift in (5.0, torch.tensor([[4.0], [-7.0], [0.5]])):
            logits = known(draw, 3, shift=shift)
            compare(getattr(submission, name)(logits, amount), right, logits, amount, name=name)


@check(aspect="values", follows=[test_top_p, test_min_p])
def test_chain(submission, draw):
    """filters may be applied one after the other: what one has removed, the next one ignores

    > Filters may be applied one after the other
    """
    shares = torch.tensor(SHARES[:2], device=draw.device)[:, [3, 0, 5, 1, 2, 4]]
    out = torch.tensor([False, True, False, False, False, False], device=draw.device)  # the best is out
    logits = with_axes(shares.log().masked_fill(out, -math.inf), *ROWS.split())
    # Of what is left, 0.6 and 0.8 together, the best three are 0.417, 0.25, 0.167 and 0.238, 0.213, 0.2.
    for name, right, amount in (
        ("top_p", right_top_p, 0.5),
        ("min_p", right_min_p, 0.5),
        ("top_k", right_top_k, 2),
    ):
        compare(
            getattr(submission, name)(logits, amount), right, logits, amount, name=f"{name} of a filtered row"
        )


@check(aspect="stability", follows=[test_top_p, test_min_p])
def test_large(submission, draw):
    """logits in the thousands are filtered like small ones

    > exp(1000) is infinite
    """
    for name, right, amount in FILTERS:
        logits = known(draw, 3, shift=3000.0)
        compare(
            getattr(submission, name)(logits, amount), right, logits, amount, name=f"{name} of large logits"
        )


# --- repetition ---


@check(aspect="values", points=2)
def test_penalty(submission, draw):
    """of tokens that have occurred, logits above 0 are divided by the penalty, others multiplied

    > A logit above 0 is divided by it, any other multiplied
    """
    for batch, token, penalty in ((3, 8, 1.3), (3, 8, 2.0), (66, 1, 1.5)):
        logits = spread(draw, batch, token)
        tokens = torch.stack([draw.permutation(token)[:4] for _ in range(batch)])
        found = submission.repetition_penalty(logits, tokens, penalty)
        compare(found, right_penalty, logits, tokens, penalty, name=f"penalised, penalty={penalty}")


@check(aspect="values", points=1.5, follows=test_penalty)
def test_penalty_once(submission, draw):
    """a token is penalised once, however often it occurred, and in its own row only

    > once, however often the token occurred.
    > tokens that have not occurred in their row keep their logits.
    """
    logits = spread(draw, batch=2, token=8)
    tokens = torch.tensor([[5, 5, 1, 5], [2, 0, 0, 2]], device=draw.device)
    for row, above, below in ((0, 5, 1), (1, 0, 2)):  # of what occurred, one logit is above 0 and one below
        logits[row, above], logits[row, below] = logits[row, above].abs(), -logits[row, below].abs()
    found = submission.repetition_penalty(logits, tokens, 1.5)
    compare(found, right_penalty, logits, tokens, 1.5, name="penalised")


# --- perplexity ---


def right_perplexity(logits, targets, pad_id=None):
    losses = -logits.log_softmax(-1).gather(-1, targets[..., None])[..., 0]
    return losses[targets != pad_id].mean().exp() if pad_id is not None else losses.mean().exp()


def expect_perplexity(submission, *given, **named):
    found = submission.perplexity(*given, **named)
    with supposing(
        {"your perplexity is a tensor; it should be a Python float": lambda: torch.is_tensor(found)}
    ):
        expect(found, "perplexity").is_scalar(float)
    wanted = oracle(right_perplexity, *given, *named.values())
    with supposing(lambda: perplexity_slips(*given, *named.values())):
        expect(torch.tensor(found), "perplexity").close_to(wanted)


@check(aspect="values", points=3)
def test_perplexity(submission, draw):
    """perplexity is exp of the mean of -log p, as a Python float

    > a Python float: exp of the mean of -log p over all targets that count.
    > A model that knows nothing has the perplexity V
    """
    for batch, time, vocabulary in ((2, 5, 7), (1, 3, 11)):
        logits = draw.normal(batch=batch, time=time, token=vocabulary, scale=2.0)
        targets = draw.integers(0, vocabulary, batch=batch, time=time)
        targets[0, 0] = 0  # a word like any other, where nothing is padding
        expect_perplexity(submission, logits, targets)
    targets = draw.integers(0, 8, batch=2, time=4)
    expect_perplexity(submission, torch.full((2, 4, 8), 3.0, device=draw.device), targets)  # knows nothing: 8
    expect_perplexity(submission, 40.0 * one_hot(targets, 8), targets)  # sure and right: 1


@check(aspect="padding", follows=test_perplexity)
def test_perplexity_padding(submission, draw):
    """targets that are pad_id do not count

    > targets that are this token do not count; None: all count.
    """
    targets = torch.tensor([[4, 0, 2, 2, 2], [1, 3, 3, 5, 2]], device=draw.device)
    for pad_id in (2, 0):
        expect_perplexity(
            submission, draw.normal(batch=2, time=5, token=6, scale=2.0), targets, pad_id=pad_id
        )


@check(aspect="stability", points=0.5, follows=test_perplexity)
def test_perplexity_large(submission, draw):
    """logits in the hundreds do not make the perplexity infinite

    > exp(1000) is infinite
    """
    targets = draw.integers(0, 6, batch=2, time=40)
    logits = draw.normal(batch=2, time=40, token=6, scale=2.0, shift=800.0)
    logits[0, 0, targets[0, 0]] -= 120.0  # so unlikely that its probability rounds to 0
    expect_perplexity(submission, logits, targets)


# --- all of them ---


@check(
    aspect="arguments",
    points=1.5,
    follows=[test_top_k, test_top_p, test_min_p, test_penalty, test_perplexity, test_perplexity_padding],
)
def test_promises(submission, draw):
    """however they are called, all of them give what these arguments make, and leave them as they were

    > All of it works for any sizes
    > Logits keep their dtype.
    > Arguments are left as they were and need not be contiguous in memory.
    """
    for name, right, amount in FILTERS:
        logits = draw.normal(batch=66, token=1)
        found = getattr(submission, name)(logits, amount)
        compare(found, right, logits, amount, name=f"{name} of a vocabulary of one")
        logits = draw.noncontiguous(known(draw, 2, 3))  # only of three axes or more may a view be impossible
        found = getattr(submission, name)(logits, amount)
        compare(found, right, logits, amount, name=f"{name} of logits in another memory order", axes=GROUPS)
    tokens = torch.tensor([[3, 1], [0, 4], [2, 2]], device=draw.device)
    calls = [(name, right, {"k" if name == "top_k" else "p": amount}) for name, right, amount in FILTERS]
    calls.append(("repetition_penalty", right_penalty, {"tokens": tokens, "penalty": 2.0}))
    for name, right, rest in calls:
        part = Part(name, {}, [name], [ROWS], [torch.float64, torch.bfloat16], gradients=False)
        part.expect(submission, right, draw, [{"logits": known(draw, 3), **rest}])
    for _ in range(2):
        logits = draw.noncontiguous(draw.normal(batch=2, time=5, token=7, scale=2.0))
        targets = draw.integers(0, 7, batch=2, time=5)
        targets[0, 1], targets[0, 2] = 2, 3  # padding, and what is none
        targets = draw.noncontiguous(targets)
        with same_tensors(submission):  # the first call's, refilled
            expect_perplexity(submission, logits=logits, targets=targets, pad_id=2)
        expect_unchanged(submission)
