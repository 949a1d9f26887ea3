"""Checks of 9.2.2. Expected values come from `turned` and `borders`, computed in float64.

The module and ALiBi's bias are compared with what they rest on as it is right, which stands in for the learner's where
that is wrong.
"""

from __future__ import annotations

import math

import torch

from grader.checks import (
    Expected,
    Part,
    check,
    convention,
    expect,
    expect_gradients,
    expect_no_error,
    expect_raises,
    oracle,
    stand_in,
    supposing,
    supposing_form,
    with_axes,
)

X, BUCKETS, BIAS = "batch head time width", "query key", "head query key"


# --- what is right ---


def turned(x, positions=None, base=10000.0, angles="power", form=""):
    """Return x with its pairs turned; angles are never made in less than float32."""
    wide = torch.promote_types(torch.get_default_dtype(), torch.float32)
    T, D = x.shape[-2:]
    positions = torch.arange(T) if positions is None else positions
    columns = torch.arange(0, D, 2, dtype=wide)
    position = positions.to(wide)[:, None]
    if angles == "power":
        angle = position * base ** (-columns / D)
    elif angles == "division":
        angle = position / base ** (columns / D)
    else:
        angle = position * torch.exp(columns * (-math.log(base) / D))
    cosine, sine = (part.to(x.dtype) for part in (angle.cos(), angle.sin()))
    a, b = x.chunk(2, dim=-1) if form == "halves" else (x[..., 0::2], x[..., 1::2])
    pair = a * cosine - b * sine, a * sine + b * cosine
    return torch.cat(pair, dim=-1) if form == "halves" else torch.stack(pair, dim=-1).flatten(-2)


def right(x, positions=None, base=10000.0, form=""):
    """Return what `rotate` should, and how far three ways to make angles may be apart."""
    positions = None if positions is None else positions.cpu()
    ways = [
        lambda x, way=way: turned(x, positions, base, way, form) for way in ("power", "division", "exponential")
    ]
    return oracle(ways[0], x.cpu(), also=ways[1:])


def angle_slips(x, positions, base):
    """Return what other angles give; in float64, as float32 cannot tell large ones."""
    T, D = x.shape[-2:]
    columns = torch.arange(0, D, 2).double()
    position = (torch.arange(T) if positions is None else positions).double()[:, None]
    a, b = x.double()[..., 0::2], x.double()[..., 1::2]

    def pairs(angle):
        cosine, sine = angle.cos(), angle.sin()
        return torch.stack((a * cosine - b * sine, a * sine + b * cosine), dim=-1).flatten(-2)

    return {
        "your frequencies grow from pair to pair; they should fall, so the exponent has a minus": lambda: pairs(
            position * base ** (columns / D)
        ),
        "your exponents are twice too large, so the slow pairs hardly turn; 2i should be divided by D": lambda: pairs(
            position * base ** (-2 * columns / D)
        ),
        "your exponents are half of what they should be; pair i should have -2i / D": lambda: pairs(
            position * base ** (-columns / 2 / D)
        ),
        "your angles are turned from degrees to radians once more; leave them as they are": lambda: pairs(
            torch.deg2rad(position * base ** (-columns / D))
        ),
    }


def expect_turned(submission, found, name, x, positions=None, base=10000.0):
    """Compare what is rotated with the form that holds here."""
    places = None if positions is None else positions.cpu()
    forms = supposing_form(submission, "rotation", lambda form: turned(x.cpu(), places, base, form=form))
    with forms, supposing(lambda: angle_slips(x.cpu(), places, base)):
        expect(found, name, axes=X).close_to(right(x, positions, base, convention(submission, "rotation")))


def borders(query_len, key_len, num_buckets=32, max_distance=128, bidirectional=True, offset=0):
    """Return the buckets twice: a distance on the border of two may be said to be in the lower or the higher one."""
    distance = torch.arange(key_len) - (torch.arange(query_len) + offset)[:, None]
    first = torch.zeros_like(distance)
    if bidirectional:
        num_buckets //= 2
        first = (distance > 0) * num_buckets
    past = distance.abs() if bidirectional else (-distance).clamp(min=0)
    exact = num_buckets // 2
    share = (past.clamp(min=1).double() / exact).log() / math.log(max_distance / exact)
    step = exact + share * (num_buckets - exact)
    for nudge in (-1e-5, 1e-5):
        coarse = (step + nudge).floor().long().clamp(exact, num_buckets - 1)
        yield first + torch.where(past < exact, past, coarse)


def expect_buckets(submission, query_len, key_len, part=slice(None), of=None, **options):
    """Compare the buckets, or some of the keys' columns, with the right ones."""
    found = submission.relative_buckets(query_len, key_len, **options)
    expect(found, "buckets", axes=BUCKETS).is_tensor(shape=(query_len, key_len), dtype=torch.int64)
    low, high = borders(query_len, key_len, **options)
    wanted = torch.where(found.cpu() == high, high, low)
    name = "buckets" if part == slice(None) else f"buckets[:, {part.start}:]"
    expect(found[:, part], name, axes=BUCKETS).equals(wanted[:, part].to(found.device))


@stand_in("relative_buckets")
def right_buckets(query_len, key_len, *, num_buckets=32, max_distance=128, bidirectional=True, offset=0):
    return list(borders(query_len, key_len, num_buckets, max_distance, bidirectional, offset))[1]


@stand_in("alibi_slopes")
def right_slopes(num_heads):
    if num_heads & (num_heads - 1):
        raise ValueError("not a power of two")
    return 2.0 ** (-8 * torch.arange(1, num_heads + 1) / num_heads)


# --- rotate ---


@check(aspect="shape")
def test_rotate_shape(submission, draw):
    """rotate keeps the shape, with any number of axes in front

    > [.., T, D], queries or keys; any number of axes in front.
    """
    for axes in ({}, {"batch": 2}, {"batch": 2, "head": 3}):
        x = draw.normal(**axes, time=5, width=8)
        expect(submission.rotate(x), "rotated").is_tensor(shape=tuple(x.shape))


@check(aspect="values", follows=test_rotate_shape)
def test_rotate_first(submission, draw):
    """position 0 is not turned at all

    > positions: int [T], where each row stands; None means 0, 1, …, T - 1.
    > Positions count from 0.
    """
    x = draw.normal(batch=2, head=3, time=4, width=6)
    found = expect(submission.rotate(x)[..., 0, :], "rotated[..., 0, :]", axes="batch head width")
    found.close_to(oracle(lambda x: x, x[..., 0, :]))


@check(aspect="values", points=3, follows=test_rotate_shape)
def test_rotate_values(submission, draw):
    """columns 2i and 2i + 1 are turned by position · base^(-2i / D)

    > (a, b), become (a · cos - b · sin, a · sin + b · cos).
    """
    for head, time, width in ((3, 5, 8), (3, 7, 4), (1, 66, 4)):
        x = draw.normal(batch=2, head=head, time=time, width=width)
        expect_turned(submission, submission.rotate(x), "rotated", x)


@check(aspect="values", follows=test_rotate_shape)
def test_rotate_lengths(submission, draw):
    """turning changes no pair's length

    > A rotation changes no length.
    """
    x = draw.normal(batch=2, head=3, time=6, width=8)
    y = expect(submission.rotate(x), "rotated", axes=X).is_tensor(shape=tuple(x.shape)).actual
    form = convention(submission, "rotation")

    def lengths(y, form=form):
        return (y.unflatten(-1, (2, 4)).mT if form == "halves" else y.unflatten(-1, (4, 2))).square().sum(-1)

    wanted = oracle(lambda x: lengths(turned(x, form=form)), x)
    with supposing_form(
        submission, "rotation", lambda other: torch.allclose(lengths(y, other), lengths(x, other), rtol=1e-4)
    ):
        expect(lengths(y), "squared lengths of the pairs", axes="batch head time pair").close_to(wanted)


@check(aspect="values", points=2, follows=test_rotate_values)
def test_rotate_positions(submission, draw):
    """rows are where positions say, in any order

    > int [T], where each row stands; None means 0, 1, …, T - 1.
    """
    for positions in (torch.tensor([3, 0, 11, 7]), torch.tensor([9])):
        x = draw.normal(batch=2, head=3, time=len(positions), width=6)
        found = submission.rotate(x, positions=positions.to(draw.device))
        expect_turned(submission, found, f"rotated, positions {positions.tolist()}", x, positions)


@check(aspect="values", points=2, follows=test_rotate_positions)
def test_rotate_distance(submission, draw):
    """scores of turned queries and keys depend on the distance alone

    > the score of a query at t and a key at s depends only on t - s
    """
    query, key = (draw.normal(batch=2, head=2, time=5, width=8) for _ in range(2))
    near = torch.arange(5, device=draw.device)
    scores = []
    for positions in (near, near + 30):
        q, k = submission.rotate(query, positions), submission.rotate(key, positions)
        for part, name in ((q, "queries"), (k, "keys")):
            expect(part, f"rotated {name}", axes=X).is_tensor(shape=(2, 2, 5, 8))
        scores.append(q @ k.mT)
    expect(scores[1], "scores 30 positions further on", axes="batch head query key").same_as(
        scores[0], name="scores at the beginning"
    )
    form = convention(submission, "rotation")
    wanted = oracle(lambda q, k: turned(q, form=form) @ turned(k, form=form).mT, query, key)
    expect(scores[0], "scores", axes="batch head query key").close_to(wanted)


@check(aspect="values", follows=test_rotate_values)
def test_rotate_base(submission, draw):
    """base sets the frequencies

    > what the frequencies are powers of.
    """
    x = draw.normal(batch=2, head=3, time=6, width=8)
    for base in (100.0, 500000.0):
        expect_turned(submission, submission.rotate(x, base=base), f"rotated, base {base:g}", x, base=base)


@check(aspect="errors")
def test_rotate_odd(submission, draw):
    """an odd width raises ValueError

    > ValueError when D is odd.
    """
    for width in (5, 1):
        x = draw.normal(batch=2, time=3, width=width)
        with expect_raises("ValueError", what=f"{width} columns are not pairs"):
            submission.rotate(x)


@check(aspect="gradient", follows=test_rotate_values)
def test_rotate_gradient(submission, draw):
    """gradients go back through the rotation

    > gradients go back through it to x
    """
    x = draw.normal(batch=2, head=2, time=4, width=6, requires_grad=True)
    form = convention(submission, "rotation")
    expect_gradients(submission.rotate(x), {"x": x}, draw, oracle=lambda x: turned(x, form=form))


@check(aspect="dtype", follows=test_rotate_positions)
def test_rotate_dtypes(submission, draw):
    """rotated numbers have the dtype of x, and far positions are right in bfloat16 too

    > in the dtype of x.
    > Make angles in float32 at least, whatever x is.
    """
    positions = torch.tensor([257, 300, 701])
    x = draw.normal(batch=2, head=2, time=3, width=6)
    for dtype in (torch.float64, torch.bfloat16):
        cast = with_axes(x.to(dtype), *X.split())
        found = submission.rotate(cast, positions.to(draw.device))
        expect(found, f"rotated {str(dtype).removeprefix('torch.')}", axes=X).is_tensor(dtype=dtype)
        form = convention(submission, "rotation")
        wanted = right(cast, positions, form=form)
        if dtype == torch.float64:  # angles in float32 are good enough
            wanted = Expected(wanted.value, right(x, positions, form=form).tolerance, dtype)
        expect(found, f"rotated {str(dtype).removeprefix('torch.')}", axes=X).close_to(wanted)


@check(aspect="arguments", points=0.5, follows=test_rotate_positions)
def test_rotate_promises(submission, draw):
    """however rotate is called, it gives what this x and these positions make, and leaves them as they were

    > in the dtype of x.
    > Arguments are left as they were and need not be contiguous in memory.
    """
    # Not in float64: angles in float32 are good enough.
    part = Part("rotate", {}, ["rotated"], [X], [torch.bfloat16], gradients=False)
    positions = torch.tensor([4, 2, 5, 1], device=draw.device)
    call = {"x": draw.normal(batch=2, head=3, time=4, width=6), "positions": positions}
    form = convention(submission, "rotation")
    part.expect(submission, lambda x, positions: turned(x, positions, form=form), draw, [call])


# --- relative_buckets ---


@check(aspect="shape")
def test_bucket_shape(submission):
    """buckets are whole numbers [Tq, Tk]: a row for each query, a column for each key

    > int64 [Tq, Tk].
    """
    for query_len, key_len in ((3, 7), (6, 2), (1, 1)):
        found = submission.relative_buckets(query_len, key_len)
        expect(found, "buckets", axes=BUCKETS).is_tensor(shape=(query_len, key_len), dtype=torch.int64)


@check(aspect="values", points=2, follows=test_bucket_shape)
def test_near_buckets(submission):
    """near distances have a bucket each, keys after the query in the second half

    > the first n // 2 hold one distance each, 0, 1, 2, …
    > whether keys after the query have buckets of their own, the second half of them.
    """
    for query_len, key_len, num_buckets in ((5, 4, 20), (3, 4, 16)):
        expect_buckets(submission, query_len, key_len, num_buckets=num_buckets, max_distance=50)


@check(aspect="values", points=2, follows=test_bucket_shape)
def test_far_buckets(submission):
    """far distances share buckets in equal steps of the logarithm, and the last takes all from max_distance on

    > grow in equal steps of the logarithm up to max_distance.
    > from this distance on, everything falls into the last bucket.
    """
    for num_buckets, max_distance in ((20, 50), (12, 30)):
        expect_buckets(submission, 2, 70, slice(8, None), num_buckets=num_buckets, max_distance=max_distance)


@check(aspect="values", points=0.5, follows=[test_near_buckets, test_far_buckets])
def test_default_buckets(submission):
    """the default is 32 buckets up to a distance of 128

    > num_buckets: int = 32,
    """
    expect_buckets(submission, 3, 150)


@check(aspect="causality", points=2, follows=test_bucket_shape)
def test_one_direction(submission):
    """in one direction all buckets are for the past, and what comes after the query is at distance 0

    > all buckets are for the past, and a key after its query counts as distance 0.
    """
    options = {"num_buckets": 10, "max_distance": 50, "bidirectional": False}
    for query_len, key_len in ((60, 5), (4, 6)):
        expect_buckets(submission, query_len, key_len, **options)


@check(aspect="cache", follows=test_near_buckets)
def test_bucket_offset(submission):
    """the first query is at offset

    > the position of the first query.
    """
    for offset in (3, 6):
        expect_buckets(submission, 1, 7, num_buckets=32, max_distance=60, offset=offset)
    expect_buckets(submission, 2, 9, num_buckets=32, max_distance=60, offset=4)


# --- RelativePositionBias ---


def bias_with_table(submission, draw, num_heads=3, num_buckets=20, **options):
    """Build the module and fill its table with random numbers; return both."""
    module = submission.RelativePositionBias(num_heads, num_buckets, **options)
    return with_table(module, draw, num_heads, num_buckets)


def with_table(module, draw, num_heads, num_buckets):
    """Fill the table [num_buckets, H] of a module with random numbers; return both."""
    module.to(draw.device)
    table = draw.normal(bucket=num_buckets, head=num_heads)
    module.load_state_dict({**module.state_dict(), "embedding.weight": table})
    return module, table


def looked_up(table, query_len, key_len, offset=0, **options):
    """Return the right bias [1, H, Tq, Tk]."""
    buckets = right_buckets(query_len, key_len, num_buckets=len(table), offset=offset, **options)
    return table.cpu()[buckets].permute(2, 0, 1)[None]


MADE = {"num_heads": 3, "num_buckets": 20, "max_distance": 50}
BIASES = Part(
    "RelativePositionBias", MADE, ["bias"], [f"one {BIAS}"], [torch.float64, torch.bfloat16], gradients=False
)


def right_bias(state, query_len, key_len, offset=0):
    return looked_up(state["embedding.weight"], query_len, key_len, offset, max_distance=50)


@check(aspect="parameters")
def test_bias_parameter(submission):
    """the bias has one parameter: embedding.weight [num_buckets, H]

    > nn.Embedding, a row for each bucket, a column for each head; the only parameter.
    """
    module = submission.RelativePositionBias(3, num_buckets=20)
    found = dict(module.named_parameters())
    expect(found, "parameters").has_names(["embedding.weight"])
    expect(found["embedding.weight"], "embedding.weight", axes="bucket head").is_tensor(shape=(20, 3))


@check(aspect="values", points=2, follows=test_bias_parameter, stand_ins=["relative_buckets"])
def test_bias_values(submission, draw):
    """each head, query and key gets the number of its bucket, as [1, H, Tq, Tk]

    > [1, H, Tq, Tk], in the dtype of the embedding.
    """
    for options in ({"max_distance": 50}, {"max_distance": 7}):
        module, table = bias_with_table(submission, draw, **options)
        wanted = looked_up(table, 4, 9, **options)
        expect(module(4, 9), "bias", axes=f"one {BIAS}").close_to(oracle(lambda t: t, wanted))


@check(aspect="causality", follows=test_bias_values, stand_ins=["relative_buckets"])
def test_bias_options(submission, draw):
    """the module passes on the direction and the offset; its defaults are 32 buckets and 128 positions

    > as for `relative_buckets`.
    > offset: the position of the first query.
    """
    for direction in (False, True):
        module, table = bias_with_table(submission, draw, max_distance=50, bidirectional=direction)
        wanted = looked_up(table, 2, 8, 5, max_distance=50, bidirectional=direction)
        expect(module(2, 8, 5), "bias, offset 5", axes=f"one {BIAS}").close_to(oracle(lambda t: t, wanted))
    module, table = with_table(submission.RelativePositionBias(2), draw, 2, 32)
    wanted = looked_up(table, 1, 100)
    expect(module(1, 100), "bias of RelativePositionBias(2)", axes=f"one {BIAS}").close_to(
        oracle(lambda t: t, wanted)
    )


@check(aspect="gradient", follows=test_bias_values, stand_ins=["relative_buckets"])
def test_bias_gradient(submission, draw):
    """a bucket's row gets the sum of the gradients of all places that used it

    > The table gets its gradient from every place that looked into it.
    """
    BIASES.expect_gradients(submission, right_bias, draw, [{"query_len": 4, "key_len": 9}])


# --- ALiBi ---


@check(aspect="values")
def test_slopes(submission):
    """slopes fall by the same factor from head to head, down to 2^-8

    > float [H]: 2 ** (-8h / H) for h = 1, …, H.
    """
    for heads in (8, 2, 1, 16):
        found = expect(submission.alibi_slopes(heads), f"alibi_slopes({heads})", axes="head")
        found.close_to(oracle(lambda heads=heads: right_slopes(heads)))


@check(aspect="errors", points=0.5)
def test_slopes_error(submission):
    """a number of heads that is not a power of two raises ValueError

    > ValueError when it is not a power of two.
    """
    for heads in (3, 6, 12, 0):
        with expect_raises("ValueError", what=f"{heads} is not a power of two"):
            submission.alibi_slopes(heads)
    with expect_no_error("8 is a power of two"):
        submission.alibi_slopes(8)


def penalty(num_heads, query_len, key_len, offset=0):
    distance = (torch.arange(key_len) - (torch.arange(query_len) + offset)[:, None]).abs()
    return -right_slopes(num_heads)[:, None, None] * distance


@check(aspect="values", stand_ins=["alibi_slopes"])
def test_alibi(submission):
    """the penalty is minus slope times distance, in both directions alike

    > minus the head's slope times the distance |query - key|.
    """
    for heads, query_len, key_len in ((4, 5, 7), (8, 6, 3)):
        found = expect(submission.alibi_bias(heads, query_len, key_len), "bias", axes=BIAS)
        found.close_to(oracle(lambda a=(heads, query_len, key_len): penalty(*a)))


@check(aspect="cache", points=0.5, follows=test_alibi, stand_ins=["alibi_slopes"])
def test_alibi_offset(submission):
    """ALiBi's first query is at offset

    > the position of the first query.
    """
    for offset in (6, 2):
        found = expect(submission.alibi_bias(4, 2, 8, offset), f"bias, offset {offset}", axes=BIAS)
        found.close_to(oracle(lambda offset=offset: penalty(4, 2, 8, offset)))


@check(
    aspect="cache",
    points=0.5,
    follows=[test_bias_values, test_alibi],
    stand_ins=["relative_buckets", "alibi_slopes"],
)
def test_pieces(submission, draw):
    """whole texts and one new query at a time get the same biases

    > in pieces or in one go, the biases are the same
    """
    module, _ = bias_with_table(submission, draw, max_distance=50)
    ways = {"bias": module, "ALiBi": lambda *sizes: submission.alibi_bias(4, *sizes)}
    for name, way in ways.items():
        whole = way(6, 6)
        for t in (1, 4):
            row = expect(way(1, 6, t), f"{name} of the query at {t}").is_tensor(
                shape=(*whole.shape[:-2], 1, 6)
            )
            row.same_as(whole[..., t : t + 1, :], name="its row of the whole")


@check(
    aspect="arguments",
    points=0.5,
    follows=[test_near_buckets, test_bias_values, test_bias_options, test_slopes, test_alibi],
)
def test_relative_promises(submission, draw):
    """however they are called, buckets and biases are those of these arguments, and biases have the dtype of the table

    > [1, H, Tq, Tk], in the dtype of the embedding.
    > Nothing is kept from one call to the next.
    > All of it works for any sizes
    """
    sizes = {"query_len": 4, "key_len": 9}
    BIASES.expect(submission, right_bias, draw, [{**sizes, "offset": 2}])
    for name, axes, right, call in (
        ("relative_buckets", BUCKETS, right_buckets, sizes),
        ("alibi_slopes", "head", right_slopes, {"num_heads": 128}),
        ("alibi_bias", BIAS, penalty, {"num_heads": 128, **sizes, "offset": 2}),
    ):
        Part(name, {}, [name], [axes], []).expect(submission, right, draw, [call])
