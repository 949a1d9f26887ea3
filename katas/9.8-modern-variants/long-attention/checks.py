"""Checks of 9.8.2. Both are compared with all queries against all keys, written out in float64."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from grader.checks import (
    Part,
    check,
    expect,
    fail,
    oracle,
    supposing,
    with_axes,
)

QUERY, VALUES, WEIGHTS, X = (
    "batch head query width",
    "batch head query width",
    "query key",
    "batch time width",
)
D, H, LONGEST, MIXED = 8, 2, 10, 3
PROJECTIONS = ("w_q", "w_k", "w_v", "w_o")
MIXTURES = ("key_projection", "value_projection")


# --- the oracles ---


def weights(query, key, causal=False):
    """Return the right weights [.., Tq, Tk]."""
    products = (F.elu(query) + 1) @ (F.elu(key) + 1).mT
    if causal:
        products = products.tril()
    return products / products.sum(dim=-1, keepdim=True)


def right(causal):
    """Return the right query, key, value -> output."""
    return lambda query, key, value: weights(query, key, causal) @ value


def linear(x, state, name):
    return F.linear(x, state[f"{name}.weight"], state[f"{name}.bias"])


def mixed(x, state, mask=None, heads=H):
    """Return the right output of a Linformer."""
    query, key, value = (linear(x, state, name) for name in ("w_q", "w_k", "w_v"))
    if mask is not None:
        key, value = (torch.where(mask[..., None], each, 0.0) for each in (key, value))
    key, value = (
        state[name][:, : x.shape[1]] @ each for name, each in zip(MIXTURES, (key, value), strict=True)
    )
    query, key, value = (each.unflatten(-1, (heads, -1)).transpose(1, 2) for each in (query, key, value))
    found = F.scaled_dot_product_attention(query, key, value)
    return linear(found.transpose(1, 2).flatten(2), state, "w_o")


# --- what shows a mistake in any design ---


def weight_slips(query, key, causal=False):
    """Return the weights that mistakes give; values that are an identity show them."""
    q, k = (F.elu(x.cpu().double()) + 1 for x in (query, key))
    seen = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.float64)
    seen = seen.tril() if causal else seen

    def by(q, k, divided=True):
        products = (q @ k.mT) * seen
        return (products / products.sum(dim=-1, keepdim=True) if divided else products).float()

    def with_features(feature):
        return by(*(feature(x.cpu().double()) for x in (query, key)))

    products, keys = (q @ k.mT) * seen, seen.sum(dim=-1, keepdim=True)
    scores = query.cpu().double() @ key.cpu().double().mT
    return {
        "your features are relu(x); φ(x) should be elu(x) + 1, which is never 0": lambda: with_features(
            F.relu
        ),
        "your features are elu(x) without the 1, so they may be negative, and their sums zero; add the 1": lambda: (
            with_features(F.elu)
        ),
        "your features are exp(x); above 0 they should grow as x + 1 does, not faster": lambda: with_features(
            torch.exp
        ),
        "your features are relu(x) + 1; below 0 they should be exp(x)": lambda: with_features(
            lambda x: F.relu(x) + 1
        ),
        "your features are softmaxes; φ(x) should be elu(x) + 1": lambda: [
            by(query.cpu().double().softmax(-1), key.cpu().double().softmax(axis)) for axis in (-1, -2)
        ],
        "your keys are used as they are; apply φ to queries and to keys": lambda: by(q, key.cpu().double()),
        "your queries are used as they are; apply φ to queries and to keys": lambda: by(
            query.cpu().double(), k
        ),
        "your weights are a softmax of scores; here they should be products of features": lambda: [
            (scores * scale).masked_fill(seen == 0, -torch.inf).softmax(-1).float()
            for scale in (1.0, query.shape[-1] ** -0.5)
        ],
        "your sums are not divided; weights have to add up to 1": lambda: products.float(),
        "your sums are divided by the number of keys; divide by the sum of the weights": lambda: [
            (products / count).float() for count in (keys, k.shape[-2])
        ],
        "your denominator is the mean over the keys; it should be the sum of the weights": lambda: [
            (products / products.sum(-1, keepdim=True) * count).float() for count in (keys, k.shape[-2])
        ],
        "your denominator is the sum of the keys' features; multiply it by each query's own features": lambda: (
            (products / k.sum()).float()
        ),
        "your weights add up to 1 over queries; for each query they should add up to 1 over keys": lambda: (
            products / products.sum(dim=-2, keepdim=True)
        ).float(),
        "your causal denominator is the sum over all keys; it should be over those that the query sees": lambda: (
            causal and (products / (q @ k.mT).sum(-1, keepdim=True)).float()
        ),
        "your causal denominator is a sum over earlier queries too; it should be over only the keys": lambda: (
            causal and (products / products.sum(-1, keepdim=True).cumsum(-2)).float()
        ),
    }


def block_slips(query, key, value, found):
    """Return what a causal sum in blocks of some size gives where blocks are put together wrongly."""
    q, k = (F.elu(x.cpu().double()) + 1 for x in (query, key))
    products, places = (q @ k.mT).tril(), torch.arange(q.shape[-2])

    def same(size):
        return places[:, None] // size == places[None, :] // size

    def by(of_size):
        found = []
        for size in (16, 32, 50, 64, 100, 128, 256):
            changed = products * of_size(same(size))
            found.append((changed @ value.cpu().double() / changed.sum(-1, keepdim=True)).float())
        return found

    return {
        "your blocks count their own keys twice, under the mask and in the sum; "
        "the sum should hold only earlier blocks": lambda: by(lambda own: 1 + own.double()),
        "your blocks do not see the keys before them; sums should carry over from block to block": lambda: by(
            lambda own: own.double()
        ),
        "your causal attention drops the last positions where they do not fill a block; "
        "it should return all T of them": lambda: (
            not found[-1:].isfinite().all() or not found[-1:].any()
        ),
    }


def at_real(values, mask):
    """Return what is at real positions, with 0 at padding."""
    return values if mask is None else torch.where(mask[..., None].to(values.device), values, 0.0)


def mixture_slips(x, state, mask=None):
    """Return what mistakes in mixing and in attending give."""
    x, state = (
        x.detach().cpu().double(),
        {name: tensor.detach().cpu().double() for name, tensor in state.items()},
    )
    time, real = x.shape[1], None if mask is None else mask.cpu()[..., None]
    first = [state[name][:, :time] for name in MIXTURES]

    def by(mixtures=None, blank=lambda q, k, v: (q, k, v), scale=None, heads=H, last=True, inputs=x):
        q, k, v = (linear(inputs, state, name) for name in ("w_q", "w_k", "w_v"))
        q, k, v = blank(q, *(y if real is None else torch.where(real, y, 0.0) for y in (k, v)))
        k, v = (mixture @ y for mixture, y in zip(mixtures or first, (k, v), strict=True))
        q, k, v = (y.unflatten(-1, (heads, -1)).transpose(1, 2) for y in (q, k, v))
        found = F.scaled_dot_product_attention(q, k, v, scale=scale).transpose(1, 2).flatten(2)
        found = (linear(found, state, "w_o") if last else found).float()
        return at_real(found, mask)

    def unblotted(q, k, v):
        return q, linear(x, state, "w_k"), linear(x, state, "w_v")

    slips = {
        "your short sequences take the last columns of the mixtures; they should take the first T": lambda: (
            by([state[name][:, -time:] for name in MIXTURES])
        ),
        "your values are mixed with key_projection; they should be mixed with value_projection": lambda: by(
            [first[0], first[0]]
        ),
        "your keys are mixed with value_projection; they should be mixed with key_projection": lambda: by(
            [first[1], first[1]]
        ),
        "your keys are mixed with value_projection and your values with key_projection; exchange the two": lambda: by(
            first[::-1]
        ),
        "your mixtures are divided by the length; they should be sums, with the weights that the parameters "
        "have": lambda: [by([each / n for each in first]) for n in (time, LONGEST)],
        "your mixtures are softmaxed over positions; use the parameters as weights, as they are": lambda: [
            by([each.softmax(-1) for each in first]),
            by([state[name].softmax(-1)[:, :time] for name in MIXTURES]),
        ],
        "your scores are not scaled; divide them by the square root of the head's width": lambda: by(
            scale=1.0
        ),
        "your scores are divided by sqrt(D); divide by sqrt(D / H), as a head is D / H wide": lambda: by(
            scale=D**-0.5
        ),
        "your scores are divided by sqrt(k), the number of mixtures; divide by the root of the head's "
        "width": lambda: by(scale=MIXED**-0.5),
        "your attention always has one head; it should have num_heads heads": lambda: by(heads=1),
        "your heads are returned as they are; pass them through w_o last": lambda: by(last=False),
        "your values come from w_k; they should come from w_v": lambda: by(blank=lambda q, k, v: (q, k, k)),
        "your layer adds x to its output; it should be only attention": lambda: (
            by() + at_real(x, mask).float()
        ),
    }
    if mask is None:
        return slips
    return slips | {
        "your mask does nothing; keys and values of padding should be 0 in every mixture": lambda: by(
            blank=unblotted
        ),
        "your mask removes the padding from the keys, and leaves it in the values; remove it from both": lambda: by(
            blank=lambda q, k, v: (q, k, linear(x, state, "w_v"))
        ),
        "your mask removes the padding from the values, and leaves it in the keys; remove it from both": lambda: by(
            blank=lambda q, k, v: (q, linear(x, state, "w_k"), v)
        ),
        "your mask sets x to 0, but w_k and w_v add their biases; "
        "set the keys and values of padding to 0 instead": lambda: (
            by(
                blank=lambda q, k, v: (
                    q,
                    *(linear(torch.where(real, x, 0.0), state, name) for name in ("w_k", "w_v")),
                )
            )
        ),
        "your mask blots out the real positions; it should keep those where it is True": lambda: by(
            blank=lambda q, k, v: (
                q,
                *(torch.where(real, 0.0, linear(x, state, name)) for name in ("w_k", "w_v")),
            )
        ),
    }


# --- what each has to keep ---

DTYPES = [torch.float64, torch.bfloat16]
ATTENTION = Part("linear_attention", {}, ["output"], [VALUES], DTYPES, gradients=False)
MADE = {"d_model": D, "num_heads": H, "max_len": LONGEST, "k": MIXED}
LINFORMER = Part("Linformer", MADE, ["output"], [X], DTYPES, gradients=False)


def attention(query, key, value, causal):
    return right(causal)(query, key, value)


def linformer(state, x, mask):
    return mixed(x, state | {name: state[own_name(name, state)] for name in MIXTURES}, mask)


def attention_calls(draw):
    names = "query", "key", "value"
    return [dict(zip(names, triple(draw, 5, 5), strict=True), causal=causal) for causal in (False, True)]


def linformer_calls(draw):
    return [{"x": sequence(draw, 6), "mask": draw.mask(batch=2, time=6)}]


# --- helpers ---


def triple(draw, queries=5, keys=7, batch=2):
    """Draw queries, keys and values, of another width."""
    return (
        draw.normal(batch=batch, head=H, query=queries, width=4),
        draw.normal(batch=batch, head=H, key=keys, width=4),
        draw.normal(batch=batch, head=H, key=keys, width=3),
    )


def looked(submission, draw, queries, keys, causal):
    """Return what the submission's weights are, and what is right: values that are an identity give them away."""
    query = draw.normal(query=queries, width=4)
    key = draw.normal(key=keys, width=4)
    value = with_axes(torch.eye(keys, device=draw.device), "key", "value")
    found = submission.linear_attention(query, key, value, causal=causal)

    def slips():
        return weight_slips(query, key, causal)

    return found, oracle(lambda q, k: weights(q, k, causal), query, key), slips


def sequence(draw, time=LONGEST, batch=2, **options):
    return draw.normal(batch=batch, time=time, width=D, **options)


def shapes_of(d_model=D, longest=LONGEST, k=MIXED):
    found = {f"{name}.weight": [d_model, d_model] for name in PROJECTIONS}
    found |= {f"{name}.bias": [d_model] for name in PROJECTIONS}
    return found | {name: [k, longest] for name in MIXTURES}


def own_name(name, own):
    """Return what a model calls this parameter, or None: a projection may be the weight of a linear layer."""
    return next((each for each in (name, f"{name}.weight") if each in own), None)


def drawn_state(draw, **sizes):
    state = {}
    for name, shape in shapes_of(**sizes).items():
        if len(shape) == 1:
            state[name] = draw.normal(width=shape[0])
        elif name in MIXTURES:
            state[name] = draw.normal(mixture=shape[0], time=shape[1])
        else:
            state[name] = draw.normal(out=shape[0], width=shape[1], scale=1.5 * shape[1] ** -0.5)
    return state


def loaded(model, state):
    """Load these parameters; return the model, in eval mode, with what it now computes with.

    A bias that is not there is another check's affair, and counts as zero.
    """
    own, load, now = model.state_dict(), {}, dict(state)
    for name, tensor in state.items():
        called = own_name(name, own)
        if called is None and name.endswith(".bias"):
            now[name] = torch.zeros_like(tensor)
            continue
        if called is None:
            fail(f"no parameter  {name}  it cannot be loaded", stage="names")
        if list(own[called].shape) != list(tensor.shape):
            fail(
                f"wrong size  {name}  is {list(own[called].shape)}, so {list(tensor.shape)} cannot be loaded",
                stage="names",
            )
        load[called] = tensor
    model.load_state_dict(load, strict=False)
    model.eval()
    return model, now


def built(submission, draw, **changes):
    model = submission.Linformer(D, H, LONGEST, MIXED)
    model.to(draw.device)
    return loaded(model, drawn_state(draw) | changes)


def output_of(model, x, *mask):
    with torch.no_grad():
        return model(with_axes(x, *X.split()), *mask)


def ragged(draw, batch=3, time=LONGEST):
    """Return a mask [B, T] of texts of several lengths, the longest among them."""
    lengths = torch.tensor([time, time - 3, 1][:batch])
    return (torch.arange(time) < lengths[:, None]).to(draw.device)


# --- linear_attention ---


@check(aspect="shape")
def test_shapes(submission, draw):
    """any axes in front, any number of queries, and values of another width: [.., Tq, Dv]

    > [.., Tq, D], with any number of axes in front.
    > [.., Tq, Dv], in the dtype of the query.
    """
    for front in ({}, {"batch": 3}, {"batch": 2, "head": 3}):
        for queries, keys in ((4, 6), (1, 1)):
            query = draw.normal(**front, query=queries, width=5)
            key, value = draw.normal(**front, key=keys, width=5), draw.normal(**front, key=keys, value=2)
            found = submission.linear_attention(query, key, value)
            expect(found, "output").is_tensor(shape=(*front.values(), queries, 2), dtype=torch.float32)
    query = draw.normal(batch=2, query=6, width=5)
    found = submission.linear_attention(query, query, draw.normal(batch=2, query=6, value=3), causal=True)
    expect(found, "output, causal").is_tensor(shape=(2, 6, 3), dtype=torch.float32)


@check(aspect="values", points=3, follows=test_shapes)
def test_weights(submission, draw):
    """the weights are the products of the features, divided by their sum over keys

    > Attend with the weights φ(q)·φ(k), divided by their sum over keys, where φ(x) = elu(x) + 1.
    """
    for queries, keys in ((3, 5), (6, 4)):
        found, wanted, slips = looked(submission, draw, queries, keys, causal=False)
        with supposing(slips):
            expect(found, "weights", axes=WEIGHTS).close_to(wanted)


@check(aspect="values", points=2, follows=test_shapes)
def test_average(submission, draw):
    """every output is an average: values that are all the same come out unchanged

    > divided by their sum over keys
    """
    # All above 0, where features that may be negative add up to something as well: the weights are not looked at here.
    query, key = (draw.uniform(0.3, 2.0, batch=2, head=H, time=6, width=4) for _ in range(2))
    row = draw.normal(width=3)
    value = row.expand(2, H, 6, 3).contiguous()
    for causal in (False, True):
        found = submission.linear_attention(query, key, value, causal=causal)
        name = "output, causal" if causal else "output"
        expect(found, name, axes=VALUES).close_to(oracle(lambda v: v, value))


@check(aspect="values", follows=test_weights)
def test_rows(submission, draw):
    """each row of a batch and each head is computed by itself

    > with any number of axes in front.
    """
    query, key, value = triple(draw)
    found = submission.linear_attention(query, key, value)
    expect(found, "output", axes=VALUES).close_to(oracle(right(False), query, key, value))


@check(aspect="causality", points=3, follows=test_shapes)
def test_causal(submission, draw):
    """with causal=True a query sees its own key and those before it, and none after

    > query i sees keys 0 to i; Tq and Tk are equal then.
    """
    length = 6
    found, *_ = looked(submission, draw, length, length, causal=True)
    seen = expect(found, "weights", axes=WEIGHTS).is_tensor(shape=(length, length)).is_finite().actual
    touched = seen.detach().abs().cpu() > 1e-7
    every = torch.ones(length, length, dtype=torch.bool)
    patterns = {
        "your causal attention sees all keys; query i should see keys 0 to i": lambda: every,
        "your queries do not see their own key; query i should see keys 0 to i, and the first one has no "
        "other": lambda: every.tril(-1),
        "your queries see the key after them; query i should see keys 0 to i": lambda: every.tril(1),
        "your causal sums run from the right; query i should see the keys up to its own": lambda: [
            every.triu(),
            every.triu(1),
        ],
        "your queries see only their own key; query i should see keys 0 to i": lambda: every.tril().triu(),
    }
    with supposing(patterns):
        expect(touched, "whether the query sees the key", axes=WEIGHTS, picture="mask").equals(every.tril())


@check(aspect="values", points=2, follows=[test_causal, test_weights])
def test_causal_values(submission, draw):
    """with causal=True each query's weights are divided by their sum over the keys that it sees

    > query i sees keys 0 to i; Tq and Tk are equal then.
    """
    found, wanted, slips = looked(submission, draw, 7, 7, causal=True)
    with supposing(slips):
        expect(found, "weights", axes=WEIGHTS).close_to(wanted)
    query, key, value = triple(draw, 6, 6)
    found = submission.linear_attention(query, key, value, causal=True)
    expect(found, "output", axes=VALUES).close_to(oracle(right(True), query, key, value))


@check(aspect="values", points=2, follows=test_causal_values)
def test_long(submission, draw):
    """a long sequence is right to the end

    > query i sees keys 0 to i; Tq and Tk are equal then.
    """
    for length in (257, 300):
        query, key = draw.normal(query=length, width=3), draw.normal(key=length, width=3)
        value = draw.normal(key=length, value=2)
        found = submission.linear_attention(query, key, value, causal=True)
        with supposing(lambda: block_slips(query, key, value, found)):
            expect(found, "output", axes="query value").close_to(oracle(right(True), query, key, value))


@check(aspect="gradient", points=2, follows=[test_rows, test_causal_values])
def test_gradients(submission, draw):
    """gradients reach queries, keys and values, through the denominator as well

    > gradients reach queries, keys, values
    """
    ATTENTION.expect_gradients(submission, attention, draw, attention_calls(draw))


@check(aspect="stability", follows=[test_weights, test_causal_values])
def test_half(submission, draw):
    """large numbers in half precision do not overflow

    > Sums are computed in float32 at least, so that large numbers in half precision
    """
    size = 60.0
    given = [
        draw.normal(batch=1, head=1, time=70, width=4, scale=0.2 * size, shift=size).half() for _ in range(3)
    ]
    query, *others = given
    for causal, dtype in ((False, torch.float16), (True, torch.float16), (False, torch.float32)):
        found = submission.linear_attention(query, *(x.to(dtype) for x in others), causal=causal)
        name = f"output in float16{', causal' * causal}"
        expect(found, name, axes=VALUES).is_tensor(shape=(1, 1, 70, 4), dtype=torch.float16).is_finite()
        wanted = right(causal)(*(x.cpu().double() for x in given))
        expect(found.cpu().double(), name, axes=VALUES).close_to(wanted, 0.03 * size)


@check(aspect="arguments", points=2, follows=[test_rows, test_causal_values])
def test_attention_promises(submission, draw):
    """however it is called, the output is that of these arguments, in the query's dtype, and they are left as they were

    > [.., Tq, Dv], in the dtype of the query.
    > for float64, in float64.
    > Arguments are left as they were and need not be contiguous in memory
    """
    ATTENTION.expect(submission, attention, draw, attention_calls(draw))


# --- Linformer ---


@check(aspect="shape")
def test_linformer_shapes(submission, draw):
    """x [B, T, D] becomes [B, T, D], up to max_len positions and down to one

    > x: [B, T, D], T at most max_len.
    > A shorter sequence uses the first T columns
    """
    for d_model, heads, longest, k in ((D, H, LONGEST, MIXED), (6, 1, 4, 7), (6, 6, 9, 1)):
        model = submission.Linformer(d_model, heads, longest, k)
        expect(model, "the model").is_instance("torch.nn.Module")
        model.to(draw.device)
        for batch, time in ((2, longest), (1, 1)):
            y = model(draw.normal(batch=batch, time=time, width=d_model))
            expect(y, "output", axes=X).is_tensor(
                shape=(batch, time, d_model), dtype=torch.float32, device=draw.device
            )


@check(aspect="parameters", points=2)
def test_parameters(submission, draw):
    """four projections with biases and two mixtures [k, max_len], and no other parameters

    > w_q, w_k, w_v, w_o: nn.Linear from D to D, with biases.
    > nn.Parameter [k, max_len], one for all heads. Together these hold all the
    """
    model = submission.Linformer(D, H, LONGEST, MIXED)
    with torch.no_grad():
        found = dict(model.named_parameters())
    called = {own_name(name, found) or name: shape for name, shape in shapes_of().items()}
    expect(list(found), "parameters").has_names(called)
    for name, shape in called.items():
        expect(list(found[name].shape), f"shape of {name}").is_value(shape)


@check(aspect="values", points=3, follows=[test_linformer_shapes, test_parameters])
def test_values(submission, draw):
    """every position attends to k mixtures of all keys and values, head by head

    > Let every position of x [B, T, D] attend to k mixtures of all positions.
    > a head has the width D / H.
    """
    model, state = built(submission, draw)
    for batch in (2, 66):
        x = sequence(draw, batch=batch)
        y = expect(output_of(model, x), "output", axes=X)
        with supposing(lambda: mixture_slips(x, state)):
            y.close_to(oracle(lambda x: mixed(x, {k: v.to(x) for k, v in state.items()}), x))


@check(aspect="values", points=2, follows=test_values)
def test_shorter(submission, draw):
    """a shorter sequence uses the first columns of both mixtures

    > A shorter sequence uses the first T columns of both projections.
    """
    model, state = built(submission, draw)
    for time in (6, 1):
        x = sequence(draw, time)
        y = expect(output_of(model, x), f"output, {time} of {LONGEST} positions", axes=X)
        with supposing(lambda: mixture_slips(x, state)):
            y.close_to(oracle(lambda x: mixed(x, {k: v.to(x) for k, v in state.items()}), x))


@check(aspect="masks", points=2, follows=test_linformer_shapes)
def test_padding(submission, draw):
    """padding never changes the output at real positions

    > bool [B, T], False at padding, whose keys and values are 0 in every mixture. None: all are real.
    """
    model, _ = built(submission, draw)
    x, mask = sequence(draw, batch=3), ragged(draw)
    other = torch.where(mask[..., None], x, sequence(draw, batch=3))
    before, after = output_of(model, x, mask), output_of(model, other, mask)
    for found in (before, after):
        expect(found, "output", axes=X).is_tensor(shape=tuple(x.shape)).is_finite()
    expect(at_real(after, mask), "output at real positions", axes=X).same_as(
        at_real(before, mask), name="that with other padding"
    )


@check(aspect="masks", points=2, follows=[test_values, test_padding])
def test_mask_values(submission, draw):
    """keys and values of padding are 0, as if the sequence ended there

    > bool [B, T], False at padding, whose keys and values are 0 in every mixture. None: all are real.
    """
    model, state = built(submission, draw)
    x, mask = sequence(draw, batch=3), ragged(draw)
    y = expect(at_real(output_of(model, x, mask), mask), "output at real positions", axes=X)
    with supposing(lambda: mixture_slips(x, state, mask)):
        y.close_to(
            oracle(lambda x: at_real(mixed(x, {k: v.to(x) for k, v in state.items()}, mask.cpu()), mask), x),
            why="what padding adds to a mixture has to be 0, and the bias of w_k or w_v is not",
        )


@check(aspect="gradient", points=2, follows=test_values)
def test_linformer_gradients(submission, draw):
    """gradients reach x and every parameter

    > gradients reach queries, keys, values
    """
    LINFORMER.expect_gradients(submission, linformer, draw, linformer_calls(draw))


@check(aspect="arguments", follows=[test_values, test_mask_values])
def test_linformer_promises(submission, draw):
    """however a Linformer is called, its output is that of this x, mask and its parameters, in its dtype

    > Arguments are left as they were and need not be contiguous in memory
    > of the model's dtype
    > nothing is kept from one call or model to the next
    """
    LINFORMER.expect(submission, linformer, draw, linformer_calls(draw))
