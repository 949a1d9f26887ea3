"""Checks of 9.8.5. What is right is computed with all queries against all keys, in float64."""

from __future__ import annotations

import torch

from grader.checks import (
    Part,
    check,
    expect,
    expect_from_scratch,
    expect_raises,
    given_module,
    keep_grad_mode,
    oracle,
)

OUTPUT, SUM = "head query value", "head query"
GRADIENTS = {"dq": "head query width", "dk": "head key width", "dv": "head key value"}
BLOCKS = (1, 3, 7, 12, 64)
"""For texts of 7 and 12: tiles of one, tiles that do not divide the length, a whole text, and more."""
WORD = "whether torch records is known there alone, and leaving it off earns nothing"
LONG, SHORT, MANY = 65_536, 512, 2_097_152
"""So many scores are 128 MB, and a worker may have 112, of which right answers need half. A tile has 1.

A mask of 128 keys for so many queries as MANY has 256 MB."""


# --- what is right ---


def scores_of(query, key, causal):
    """Return the scores [.., Tq, Tk], -inf where a query does not see a key."""
    scores = query @ key.mT * query.shape[-1] ** -0.5
    rows, keys = scores.shape[-2:]
    if not causal:
        return scores
    places = torch.arange(rows, device=query.device)[:, None] + keys - rows
    return scores.masked_fill(torch.arange(keys, device=query.device) > places, -torch.inf)


def right_attention(query, key, value, causal=False, block=64):
    scores = scores_of(query, key, causal)
    logsumexp = scores.logsumexp(dim=-1)
    return weights_of(scores, logsumexp) @ value, logsumexp


def weights_of(scores, logsumexp):
    """Return exp(S - logsumexp), 0 for a query that sees no key."""
    return (scores - logsumexp.masked_fill(logsumexp == -torch.inf, torch.inf)[..., None]).exp()


def right_backward(grad, query, key, value, output, logsumexp, causal=False, block=64):
    weights = weights_of(scores_of(query, key, causal), logsumexp)
    slopes = weights * (grad @ value.mT - (grad * output).sum(-1, keepdim=True)) * query.shape[-1] ** -0.5
    return slopes @ key, slopes.mT @ query, weights.mT @ grad


# --- what is drawn, and what is called ---


def triple(draw, queries, keys, width=4, value=3, scale=2.0, **front):
    """Draw queries, keys and values; their scores differ by about `scale`."""
    front = front or {"head": 2}
    return (draw.normal(**front, query=queries, width=width, scale=scale), draw.normal(**front, key=keys, width=width),
            draw.normal(**front, key=keys, value=value))  # fmt: skip


def six(draw, given, causal=False):
    """Draw a gradient of the output, and return all tensors that `tiled_backward` takes."""
    output, logsumexp = (x.to(given[0].dtype) for x in right_attention(*(x.double() for x in given), causal))
    return (draw.like(output), *given, output, logsumexp)


def forward(submission, given, causal=False, block=64):
    """Return the output and the logsumexp of the submission."""
    return expect(submission.tiled_attention(*given, causal, block), "result").is_tuple(2)


def right(causal=False, part=0):
    """Return what the output is, or what the logsumexp is, as a function."""
    return lambda *given: right_attention(*given, causal)[part]


def expect_output(submission, given, causal=False, block=64, when=""):
    """Compare the output alone: the logsumexp has checks of its own."""
    output, _ = forward(submission, given, causal, block)
    expect(output, f"output{when} for a block of {block}").close_to(oracle(right(causal), *given))


def expect_backward(submission, given, causal=False, block=64, when=""):
    """Compare the three gradients."""
    results = expect(submission.tiled_backward(*given, causal, block), "result").is_tuple(3)
    wanted = oracle(lambda *tensors: right_backward(*tensors, causal), *given)
    for result, want, name in zip(results, wanted, GRADIENTS, strict=True):
        expect(result, f"{name}{when} for a block of {block}").close_to(want)


# --- forward: one tile, then many ---


@check(aspect="values", points=2.5)
def test_one_tile(submission, draw):
    """a single tile gives softmax attention

    > The scores
    are S = q·k / √D, natural logarithms and exponentials everywhere, and the weights P a softmax of each query's
    scores.
    > The result does not depend on `block`
    """
    for front, sizes, block in (
        ({}, (3, 5, 4, 2), 5), ({"head": 2}, (4, 3, 7, 5), 4), ({"batch": 2, "head": 3}, (2, 6, 3, 4), 64),
        ({"head": 2}, (1, 1, 5, 1), 1), ({"head": 1}, (66, 4, 2, 3), 66),
    ):  # fmt: skip
        expect_output(submission, triple(draw, *sizes, **front), block=block)


@check(aspect="values", points=4, follows=test_one_tile)
def test_tiles(submission, draw):
    """many tiles give the same, whether or not their size divides the lengths

    > it need not divide the lengths, and may be larger.
    > The result does not depend on `block`
    """
    for queries, keys in ((7, 12), (12, 7), (12, 12)):
        given = triple(draw, queries, keys)
        for block in BLOCKS:
            expect_output(submission, given, block=block)
    expect_output(submission, triple(draw, 2, 130, batch=2, head=3))


@check(aspect="values", points=1.5, follows=test_one_tile)
def test_maximum(submission, draw):
    """a maximum that rises with every tile, or is in the first, or in the last, changes nothing

    > with a running maximum and a running sum for each query
    """
    query, key, value = triple(draw, 3, 9, width=1, scale=0.1)
    steps = torch.arange(9.0, device=draw.device)[:, None]
    for name, shape in (("rises", steps), ("falls", -steps), ("is in the middle", -(steps - 4).abs()),
                        ("is at both ends", (steps - 4).abs())):  # fmt: skip
        for block in (1, 2, 4):
            expect_output(submission, (query + 2, key * 0.1 + shape, value), block=block,
                          when=f" where the maximum {name}")  # fmt: skip


def large(draw, signs):
    """Draw what has scores of ±10,000 and 0 to 3 more, without any rounding."""
    far = torch.tensor(signs, device=draw.device)[:, None] * 2500.0
    key = torch.zeros(2, len(signs), 4, device=draw.device)
    key[..., :1] = far + draw.integers(0, 4, head=2, key=len(signs), width=1) / 4
    query = torch.zeros(2, 3, 4, device=draw.device)
    query[..., 0] = torch.tensor([8.0, -8.0, 8.0], device=draw.device)
    return query, key, draw.normal(head=2, key=len(signs), value=3)


@check(aspect="stability", points=1.5, follows=[test_one_tile, test_tiles])
def test_large_scores(submission, draw):
    """scores of 10,000 and of -10,000 overflow nothing, whichever comes first

    > with a running maximum and a running sum for each query
    """
    for signs in ([1, 1, 1, 1, 1], [-1, -1, -1, -1, -1], [-1, -1, 1, 1, 1], [1, 1, -1, -1, -1]):
        given = large(draw, signs)
        for block in (1, 2, 8):
            output, logsumexp = forward(submission, given, block=block)
            wanted = oracle(right_attention, *given)
            expect(output, f"output for a block of {block}", axes=OUTPUT).close_to(wanted[0], scores=1e4)
            expect(logsumexp, f"logsumexp for a block of {block}", axes=SUM).close_to(wanted[1])
    query, key, value = large(draw, [-1, -1, -1, -1, -1])
    key[..., :1] += torch.arange(5.0, device=draw.device)[:, None]  # so that one key more is always the largest
    output, _ = forward(submission, (3 * query, key, value), True, 8)
    wanted = oracle(right(causal=True), 3 * query, key, value)
    expect(output, "output of a causal text for a block of 8", axes=OUTPUT).close_to(wanted, scores=3e4)


@check(aspect="values", points=2.5, follows=[test_one_tile])
def test_logsumexp(submission, draw):
    """the logsumexp is that of all scores that a query sees, natural, with the maximum in it

    > The logsumexp is the logarithm of the sum of exp(S) over the keys
    that a query sees.
    """
    for sizes, causal in (((3, 5, 4, 2), False), ((7, 12, 3, 2), False), ((12, 12, 5, 2), True)):
        given = triple(draw, *sizes)
        for block in BLOCKS:
            _, logsumexp = forward(submission, given, causal, block)
            expect(logsumexp, f"logsumexp for a block of {block}", axes=SUM).close_to(oracle(right(causal, 1), *given))


# --- forward: who sees what ---


@check(aspect="masks", points=2.5, follows=[test_one_tile, test_tiles])
def test_causal(submission, draw):
    """query i sees the keys 0 to i, across tiles of any size

    > query i sees the keys 0 to i + Tk - Tq
    """
    for length in (1, 7, 12):
        given = triple(draw, length, length)
        for block in (64, *BLOCKS):
            expect_output(submission, given, True, block, ", causal,")
    expect_output(submission, triple(draw, 70, 70, batch=1, head=2), True, 64, ", causal,")


@check(aspect="cache", points=1.5, follows=[test_causal])
def test_cache(submission, draw):
    """where there are more keys than queries, the last query sees all keys

    > so the last query sees all keys.
    """
    for queries, keys in ((1, 7), (5, 12), (7, 9)):
        given = triple(draw, queries, keys)
        for block in BLOCKS:
            expect_output(submission, given, True, block, f", causal, {queries} queries of {keys} keys,")


@check(aspect="stability", points=2, follows=[test_causal, test_cache])
def test_sees_nothing(submission, draw):
    """a query that sees no key gets 0 and -inf, never NaN, and others do not suffer

    > A query that sees no key has the output 0 and the logsumexp -inf.
    > Tk may be 0.
    """
    for queries, keys, causal in ((12, 7, True), (7, 2, True), (5, 0, True), (5, 0, False)):
        given = triple(draw, queries, keys)
        for block in BLOCKS:
            output, logsumexp = forward(submission, given, causal, block)
            blind = queries if not keys else queries - keys
            name = f" of the first {blind} of {queries} queries for {keys} keys and a block of {block}"
            expect(output[:, :blind], f"output{name}").equals(torch.zeros(2, blind, 3))
            expect(logsumexp[:, :blind], f"logsumexp{name}").equals(torch.full((2, blind), -torch.inf))
            expect(output[:, blind:], "output of the others").close_to(oracle(right(causal), *given)[:, blind:])


@check(aspect="causality", points=2, follows=[test_causal, test_cache])
def test_future_is_left_out(submission, draw):
    """tiles in the future are not looked at, neither forward nor backward, even if they are NaN

    > A tile whose keys none of its
    queries sees is left out: what is in it, even NaN, is never looked at.
    > tiles that no query sees are left out, as in `tiled_attention`.
    """
    for queries, keys, block in ((24, 24, 3), (16, 24, 4)):
        given = triple(draw, queries, keys)
        past = queries - 12  # of these queries no tile has any of the last 8 keys
        known = six(draw, given, True)
        unknown = tuple(x.clone() for x in known)
        unknown[2][:, -8:] = unknown[3][:, -8:] = torch.nan
        output, _ = forward(submission, unknown[1:4], True, block)
        when = " where the last keys and values are NaN"
        expect(output[:, :past], f"output{when}").close_to(oracle(right(causal=True), *given)[:, :past])
        dq = submission.tiled_backward(*unknown, True, block)[0]
        wanted = oracle(lambda *tensors: right_backward(*tensors, True)[0], *known)
        expect(dq[:, :past], f"dq{when}").close_to(wanted[:, :past])


# --- forward: memory, promises ---


def expect_recording(submission):
    with keep_grad_mode(submission):
        found = given_module(submission, "probes").twice(torch.ones(1, requires_grad=True))
    expect(found.requires_grad, "torch.is_grad_enabled() afterwards").is_value(True)


def expect_frugal(submission, draw, queries, keys, heads):
    """Compare a few rows: all of them would be the matrix that is not wanted."""
    given = triple(draw, queries, keys, width=2, value=1, scale=0.3, head=heads)
    output, _ = forward(submission, given, block=SHORT)
    some = slice(0, None, max(16, queries // 64))
    wanted = oracle(right(), given[0][:, some], *given[1:])
    expect(output[:, some], f"some rows of the output for {queries:,} queries and {keys:,} keys").close_to(wanted)


@check(aspect="values", points=3, follows=[test_one_tile, test_tiles])
def test_keys_in_tiles(submission, draw):
    """with {LONG} keys there is room for one tile, and not for a row of tiles

    > no more scores than one tile's, for all leading
    axes, exist at a time: never a matrix [Tq, Tk].
    """
    expect_frugal(submission, draw, SHORT, LONG, 1)


@check(aspect="values", points=1.5, follows=[test_one_tile, test_tiles, test_keys_in_tiles])
def test_queries_in_tiles(submission, draw):
    """with {LONG} queries there is room for one tile, and not for a column of tiles

    > A tile is at most `block` queries against at most `block` keys
    """
    expect_frugal(submission, draw, LONG // 2, SHORT, 2)
    # Of almost all of these no key is seen, so what takes room is a mask of all pairs.
    given = triple(draw, MANY, 128, width=1, value=1, head=1)
    output, _ = forward(submission, given, True, LONG // 8)
    last = slice(-128, None)
    wanted = oracle(right(causal=True), given[0][:, last], *given[1:])
    expect(output[:, last], f"the last rows of the output for {MANY:,} queries and 128 keys").close_to(wanted)


@check(aspect="dtype", points=1.5, follows=[test_one_tile, test_tiles, test_logsumexp])
def test_half(submission, draw):
    """half precision returns half precision, and a logsumexp in float32, from sums in float32

    > The output has the dtype of
    the query. Sums are computed in float32 at least; the logsumexp stays so: float32 in half precision as well.
    """
    for dtype, scale, keys, block in ((torch.bfloat16, 0.1, 500, 1), (torch.float16, 0.1, 20, 3),
                                      (torch.float16, 400.0, 9, 2)):  # fmt: skip
        query, key, value = triple(draw, 2, keys, scale=scale)
        given = tuple(x.to(dtype) for x in (query, key * max(1, scale), value + 2))
        output, logsumexp = forward(submission, given, block=block)
        wanted = right_attention(*(x.double().cpu() for x in given))
        when = f" in {dtype} for {keys} keys"
        expect(output, f"output{when}", axes=OUTPUT).close_to(wanted[0].to(dtype))
        within = 8 * torch.finfo(dtype).eps * float(wanted[1].abs().max())
        expect(logsumexp, f"logsumexp{when}", axes=SUM).close_to(wanted[1].float(), within)


@check(aspect="arguments", points=1.5, follows=[test_causal, test_logsumexp, test_cache], on_workers_word=WORD)
def test_promises(submission, draw):
    """in float64, by name, in any memory order, for each row alone, whatever was asked before

    > Arguments are left as they were and need not be contiguous in memory. All may be given by position or
      by name.
    > Nothing is kept from one call to the next.
    """
    part = Part("tiled_attention", outputs=["output", "logsumexp"], gradients=False)
    calls = [dict(zip(("query", "key", "value"), triple(draw, *sizes, batch=batch), strict=True))
             | {"causal": causal, "block": block}
             for batch, sizes, causal, block in ((3, (4, 5), False, 2), (2, (7, 7), True, 3), (1, (3, 66), True, 64),
                                                 (2, (1, 1), False, 64))]  # fmt: skip
    part.expect(submission, right_attention, draw, calls)
    forward(submission, triple(draw, 3, 5))
    expect_recording(submission)


def refused(draw):
    """Yield what is wrong, and tensors and a block in which it is."""
    query, key, value = triple(draw, 3, 5)
    for block in (0, -1):
        yield f"block is {block}", (query, key, value), block
    yield "key has another D than query", (query, key[..., :3], value), 64
    yield "value has another Tk than key", (query, key, value[:, :4]), 64
    yield "key and value have another first axis than query", (query[:1], key, value), 64
    yield "value has another first axis than key", (query, key, value[:1]), 64


@check(aspect="errors", points=1)
def test_refused(submission, draw):
    """a block below 1 and sizes that do not fit are a ValueError

    > ValueError: block is below 1, or sizes do not fit: query and key in D, key and value in Tk, all three in the
            axes in front.
    """
    for what, given, block in refused(draw):
        for causal in (False, True):
            with expect_raises("ValueError", what):
                submission.tiled_attention(*given, causal, block)


# --- backward ---


@check(aspect="gradient", points=3)
def test_backward_one_tile(submission, draw):
    """a single tile gives the gradients of softmax attention

    > dq = dS · key / √D, dk = dSᵀ · query / √D and dv = Pᵀ · grad.
    """
    for front, sizes in (({}, (3, 5, 4, 2)), ({"head": 2}, (4, 3, 7, 5)), ({"batch": 2, "head": 3}, (2, 6, 3, 4)),
                         ({"head": 1}, (5, 3, 2, 3))):  # fmt: skip
        expect_backward(submission, six(draw, triple(draw, *sizes, **front)))


@check(aspect="gradient", points=3, follows=test_backward_one_tile)
def test_backward_tiles(submission, draw):
    """many tiles give the same gradients, each tile adding its share

    > No more than one tile of these exists at a
    time
    > block may be another.
    """
    for queries, keys in ((7, 12), (12, 7), (12, 12)):
        given = six(draw, triple(draw, queries, keys))
        for block in BLOCKS:
            expect_backward(submission, given, block=block)


@check(aspect="gradient", points=2, follows=[test_backward_one_tile, test_backward_tiles])
def test_backward_causal(submission, draw):
    """no gradient reaches a key from a query that does not see it, and the last query sees all keys

    > query, key, value, causal, block: as `tiled_attention` had them
    > so the last query sees all keys.
    """
    for queries, keys in ((7, 7), (12, 12), (1, 7), (5, 12)):
        given = six(draw, triple(draw, queries, keys), True)
        for block in BLOCKS:
            expect_backward(submission, given, True, block, ", causal,")


@check(aspect="stability", points=1.5, follows=[test_backward_causal])
def test_backward_sees_nothing(submission, draw):
    """a query that sees no key has the gradient 0 and adds nothing, never NaN

    > A query that sees no key has the gradient 0 and adds nothing to dk and dv; a key that no query
    sees has the gradients 0.
    """
    for queries, keys, causal in ((12, 7, True), (7, 2, True), (5, 0, True), (5, 0, False)):
        given = six(draw, triple(draw, queries, keys), causal)
        for block in BLOCKS:
            expect_backward(submission, given, causal, block, f" for {queries} queries and {keys} keys")


@check(aspect="values", points=1, follows=[test_backward_one_tile, test_backward_tiles])
def test_backward_takes(submission, draw):
    """the weights come from the logsumexp that is given, and Δ from the output that is given

    > P is computed from this logsumexp, and Δ from this output.
    """
    grad, query, key, value, output, logsumexp = six(draw, triple(draw, 4, 6))
    for name, other in (("logsumexp", (output, logsumexp + 1)), ("output", (output + 1, logsumexp))):
        expect_backward(submission, (grad, query, key, value, *other), block=3, when=f" with another {name}")


@check(aspect="values", points=2, follows=[test_backward_one_tile, test_backward_tiles])
def test_backward_in_tiles(submission, draw):
    """backward, too, with {LONG} keys there is room for one tile, and not for a row of tiles

    > No more than one tile of these exists at a
    time
    """
    queries, keys = SHORT, LONG
    query, key, value = triple(draw, queries, keys, width=1, value=1, scale=0.3, head=1)
    # Any output and any logsumexp will do, so none has to be computed.
    grad, output = draw.like(query), draw.like(query)
    logsumexp = torch.full((1, queries), float(keys), device=draw.device).log() + 1
    given = (grad, query, key, value, output, logsumexp)
    found = expect(submission.tiled_backward(*given, block=SHORT), "result").is_tuple(3)
    some = slice(0, None, 32)
    when = f" for {queries:,} queries and {keys:,} keys"
    rows = (grad[:, some], query[:, some], key, value, output[:, some], logsumexp[:, some])
    wanted = oracle(right_backward, *rows)
    expect(found[0][:, some], f"some rows of dq{when}").close_to(wanted[0])
    wanted = oracle(right_backward, grad, query, key[:, some], value[:, some], output, logsumexp)
    for place, name in ((1, "dk"), (2, "dv")):
        expect(found[place][:, some], f"some rows of {name}{when}").close_to(wanted[place])


@check(aspect="dtype", points=1, follows=[test_backward_one_tile, test_backward_tiles])
def test_backward_half(submission, draw):
    """gradients have the dtype of what they are gradients of, from sums in float32

    > in the dtypes of query, key and value; sums are computed in
            float32 at least.
    """
    for dtype, queries, block in ((torch.bfloat16, 900, 1), (torch.float16, 20, 3)):
        given = six(draw, triple(draw, queries, 2, scale=0.1))
        given = (given[0] + 2, *given[1:])
        *halves, logsumexp = (*(x.to(dtype) for x in given[:5]), given[5])
        results = expect(submission.tiled_backward(*halves, logsumexp, block=block), "result").is_tuple(3)
        wanted = right_backward(*(x.double().cpu() for x in halves), logsumexp.double().cpu())
        for result, want, name in zip(results, wanted, GRADIENTS, strict=True):
            expect(result, f"{name} in {dtype}", axes=GRADIENTS[name]).close_to(want.to(dtype))


@check(aspect="arguments", points=1.5, follows=[test_backward_causal, test_backward_takes], on_workers_word=WORD)
def test_backward_promises(submission, draw):
    """backward, too: in float64, by name, in any memory order, for each row alone, whatever was asked before

    > Arguments are left as they were and need not be contiguous in memory. All may be given by position or
      by name.
    > Nothing is kept from one call to the next.
    """
    part = Part("tiled_backward", outputs=list(GRADIENTS), gradients=False)
    names = ("grad", "query", "key", "value", "output", "logsumexp")
    calls = [dict(zip(names, six(draw, triple(draw, *sizes, batch=batch), causal), strict=True))
             | {"causal": causal, "block": block}
             for batch, sizes, causal, block in ((3, (4, 5), False, 2), (2, (7, 7), True, 3), (1, (3, 66), True, 64),
                                                 (2, (1, 2), False, 64))]  # fmt: skip
    part.expect(submission, right_backward, draw, calls)
    submission.tiled_backward(*six(draw, triple(draw, 3, 5)))
    expect_recording(submission)


@check(aspect="errors", points=1)
def test_backward_refused(submission, draw):
    """backward refuses what forward refuses

    > ValueError: as `tiled_attention`.
    """
    for what, given, block in refused(draw):
        output = given[0].new_zeros(*given[0].shape[:-1], 3)
        for causal in (False, True):
            with expect_raises("ValueError", what):
                submission.tiled_backward(output, *given, output, output[..., 0], causal, block)


@check(aspect="scratch", points=1, follows=[test_one_tile, test_backward_one_tile])
def test_from_scratch(submission, draw):
    """neither function uses torch's own attention, nor torch.autograd

    > These formulas are yours to write:
    torch.autograd is not used.
    """
    given = triple(draw, 3, 5)
    expect_output(submission, given)
    expect_backward(submission, six(draw, given))
    # What is computed here others judge.
    submission.tiled_attention(*given, True, 2)
    submission.tiled_backward(*six(draw, given, True), True, 2)
    expect_from_scratch(submission)
