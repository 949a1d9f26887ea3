"""Checks of 9.8.1. Expected values come from `rms`, `attend` and `read`, computed in float64.

Each part is compared by itself, and the model with its own parts, one after the other: what is wrong in a part costs
points there. Only the last checks, on the trained weights, need all of it.
"""

from __future__ import annotations

import runpy
from pathlib import Path

import torch
from torch.nn import functional as F

from grader.checks import (
    Part,
    check,
    expect,
    expect_from_scratch,
    expect_raises,
    fail,
    given_module,
    label_calls,
    oracle,
    precondition,
    supposing,
    with_axes,
)

STORY = runpy.run_path(str(Path(__file__).parents[2] / "given" / "story.py"))
AXES, LOGITS = "batch time width", "batch time token"
DTYPES = (torch.float64, torch.bfloat16)
D, H, G = 24, 6, 2
"""Three query heads share a head of keys and values; a head is 4 wide."""
SIZES = (11, 16, 4, 2, 13, 3, 32)
"""vocab_size, d_model, num_heads, num_kv_heads, d_ff, num_layers, max_len of the model that most checks build."""
BEGUN, WRITTEN, STORIES = 100, 12, 4
"""The trained model goes on with the first characters of some stories that are new to it, by so many."""
CLEAR = 0.01
"""A character that is worse by less than this is as good as the best one: rounding may decide between them."""


# --- what is right ---


def rms(x, weight, eps=1e-6):
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    return (wide * (wide.square().mean(-1, keepdim=True) + eps).rsqrt()).to(x.dtype) * weight


def turned(x):
    """Return x [.., T, d] with its pairs of columns turned; angles are never made in less than float32."""
    wide = torch.promote_types(torch.get_default_dtype(), torch.float32)
    columns = torch.arange(0, x.shape[-1], 2, dtype=wide)
    angle = torch.arange(x.shape[-2], dtype=wide)[:, None] * 10000.0 ** (-columns / x.shape[-1])
    cosine, sine = angle.cos().to(x), angle.sin().to(x)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cosine - b * sine, a * sine + b * cosine), dim=-1).flatten(-2)


def attend(x, w_q, w_k, w_v, w_o, num_heads, num_kv_heads):
    """Return what grouped-query attention makes of x, with one axis for groups and one for the heads of a group."""
    q, k, v = (F.linear(x, w).unflatten(-1, (count, -1)).transpose(1, 2)
               for w, count in ((w_q, num_heads), (w_k, num_kv_heads), (w_v, num_kv_heads)))  # fmt: skip
    q = turned(q).unflatten(1, (num_kv_heads, -1))  # [B, G, H / G, T, d]
    scores = q @ turned(k)[:, :, None].transpose(-1, -2) * q.shape[-1] ** -0.5
    future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
    heads = scores.masked_fill(future, -torch.inf).softmax(-1) @ v[:, :, None]
    return F.linear(heads.flatten(1, 2).transpose(1, 2).flatten(2), w_o)


def feed(x, gate, linear1, linear2):
    return F.linear(F.silu(F.linear(x, gate)) * F.linear(x, linear1), linear2)


def read(tokens, num_heads, num_kv_heads, state):
    """Return the logits of a model with this state."""
    x = F.embedding(tokens, state["tokens.weight"])
    for index in range(sum(name.endswith("norm1.weight") for name in state)):
        own = {name.partition(f"layers.{index}.")[2]: tensor for name, tensor in state.items()}
        y = rms(x, own["norm1.weight"])
        x = x + attend(y, *(own[f"attention.{name}.weight"] for name in PROJECTIONS), num_heads, num_kv_heads)
        y = rms(x, own["norm2.weight"])
        x = x + feed(y, *(own[f"feed_forward.{name}.weight"] for name in ("gate", "linear1", "linear2")))
    return F.linear(rms(x, state["norm.weight"]), state["head.weight"])


PROJECTIONS = ("w_q", "w_k", "w_v", "w_o")


# --- what shows a mistake in any design ---


def norm_slips(x, weight, eps=1e-6):
    """Return what mistakes in a norm give."""
    square = x.square().mean(-1, keepdim=True)
    every = tuple(range(x.ndim))
    return {
        "your norm subtracts the mean as LayerNorm does; RMSNorm should leave it in": lambda: [
            rms(x - x.mean(-1, keepdim=True), weight, eps),
            F.layer_norm(x, x.shape[-1:], weight, None, eps),
        ],
        "your norm divides by the mean of the squares; "
        "it should divide by the root of that mean": lambda: x / (square + eps) * weight,
        "your norm multiplies by the root; divide by it, or multiply by rsqrt": lambda: [
            x * (square + eps).sqrt() * weight,
            x / (square + eps).rsqrt() * weight,
        ],
        "your norm divides by the vector's length; take the mean of the squares, not their sum": lambda: [
            x / (x.square().sum(-1, keepdim=True) + eps).sqrt() * weight,
            x / (x.norm(dim=-1, keepdim=True) + eps) * weight,
        ],
        "your norm takes one mean over the whole tensor; each position should have its own": lambda: (
            x / (x.square().mean(every, keepdim=True) + eps).sqrt() * weight
        ),
        "your norm takes its mean over the positions; each position should have its own, over the columns": lambda: (
            x.ndim > 1 and x / (x.square().mean(-2, keepdim=True) + eps).sqrt() * weight
        ),
        "your norm does not use its weight; it should multiply each column by it": lambda: rms(x, 1.0, eps),
        "your norm multiplies by 1 + weight; multiply by the weight itself, which should begin as "
        "ones": lambda: rms(x, 1 + weight, eps),
        "your norm adds its weight; it should multiply by it": lambda: rms(x, 1.0, eps) + weight,
        "your eps is added to the root; add it under the root, to the mean of the squares": lambda: (
            x / (square.sqrt() + eps) * weight
        ),
        "your norm does not use the eps it is given; add it under the root, to the mean of the squares": lambda: (
            [rms(x, weight, other) for other in (0.0, 1e-6, 1e-5, 1e-8) if other != eps]
        ),
        "your eps is squared; add it as it is to the mean of the squares": lambda: rms(x, weight, eps**2),
        "your eps is added to the sum of the squares; add it to their mean": lambda: rms(
            x, weight, eps / x.shape[-1]
        ),
    }


def turned_by(x, angle, half=False, other_way=False):
    """Return x [.., T, d] with pairs of columns turned by angle [T, d / 2]; columns i and i + d / 2 if `half`."""
    cosine, sine = angle.cos().to(x), angle.sin().to(x) * (-1 if other_way else 1)
    a, b = x.chunk(2, dim=-1) if half else (x[..., 0::2], x[..., 1::2])
    pair = (a * cosine - b * sine, a * sine + b * cosine)
    return torch.cat(pair, dim=-1) if half else torch.stack(pair, dim=-1).flatten(-2)


def mixed(
    x, weights, counts, queries=turned, keys=turned, values=lambda v: v, share=None, width=None, mask=None
):
    """Return what attention with a mistake makes of x; heads are shared as `share` says, neighbours by default."""
    w_q, w_k, w_v, w_o = weights
    q, k, v = (
        F.linear(x, w).unflatten(-1, (count, -1)).transpose(1, 2)
        for w, count in ((w_q, counts[0]), (w_k, counts[1]), (w_v, counts[1]))
    )
    share = share or (lambda heads: heads.repeat_interleave(counts[0] // counts[1], dim=1))
    scores = queries(q) @ share(keys(k)).transpose(-1, -2) * (width or q.shape[-1]) ** -0.5
    future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1) if mask is None else mask
    heads = scores.masked_fill(future, -torch.inf).softmax(-1) @ share(values(v))
    return F.linear(heads.transpose(1, 2).flatten(2), w_o)


def attention_slips(module, x, d_model=D, num_heads=H, num_kv_heads=G):
    """Return what mistakes in sharing heads, in turning and in scoring give, with the module's own weights."""
    state, counts = dict(module.state_dict()), (num_heads, num_kv_heads)
    weights = [state[f"{name}.weight"].detach().cpu().double() for name in PROJECTIONS]
    x, d, copies = x.detach().cpu().double(), d_model // num_heads, num_heads // num_kv_heads
    time, columns = x.shape[1], torch.arange(0, d, 2, dtype=torch.float64)

    def by(**changes):
        return mixed(x, weights, counts, **changes).float()

    def turning(angles=None, start=0, base=10000.0, places=None, **options):
        where = torch.arange(start, start + time, dtype=torch.float64)[:, None] if places is None else places
        angle = where * base ** (-columns / d) if angles is None else angles(where)
        return by(
            queries=lambda q: turned_by(q, angle, **options), keys=lambda k: turned_by(k, angle, **options)
        )

    def as_it_is(heads):
        return heads

    def whole(heads):
        return turned(heads.transpose(1, 2).flatten(2)).unflatten(-1, (-1, d)).transpose(1, 2)

    return {
        "your shared heads lie as 0 1 0 1; they should lie as 0 0 1 1, which repeat_interleave makes": lambda: (
            by(share=lambda heads: heads.repeat(1, copies, 1, 1))
        ),
        "your query heads all read the first head of keys and values; each group should read its own": lambda: (
            by(share=lambda heads: heads[:, :1])
        ),
        "your query heads are cut across the columns; head h should have columns h · d to (h + 1) · d - 1": lambda: (
            by(
                queries=lambda q: turned(
                    q.transpose(1, 2).flatten(2).unflatten(-1, (d, num_heads)).permute(0, 3, 1, 2)
                )
            )
        ),
        "your rotation pairs column i with i + d/2; neighbours, 2i and 2i + 1, should be a pair": lambda: (
            turning(half=True)
        ),
        "your pairs are columns i and i + d/2 and your angles those of 2i and 2i + 1; follow one convention": lambda: (
            by(queries=halves_by_neighbours, keys=halves_by_neighbours)
        ),
        "your rotation goes the other way; exchange the signs of the two sines": lambda: turning(other_way=True),
        "your queries and keys are not turned, so nothing tells where they are; "
        "turn both by their positions": lambda: by(
            queries=as_it_is, keys=as_it_is
        ),
        "your keys are not turned, only queries, so scores do not depend on the distance; "
        "turn the keys as well": lambda: (
            by(keys=as_it_is)
        ),
        "your queries are not turned, only keys, so scores depend on the key's place, not on the distance": lambda: (
            by(queries=as_it_is)
        ),
        "your values are turned as well; only queries and keys should be": lambda: by(values=turned),
        "your angles have another exponent; pair i should turn by position · 10000^(-2i / d)": lambda: [
            turning(angles=lambda where, power=power: where * 10000.0**-power)
            for power in (columns / (2 * d), 2 * columns / d, columns / d_model, torch.arange(d // 2) / d)
        ],
        "your rotation's base is not 10000": lambda: [turning(base=base) for base in (5e5, 1e6, 1e5, 1e3)],
        "your queries and keys are turned before they are split; the frequencies should be those of a head's "
        "width": lambda: [by(queries=whole, keys=keys) for keys in (whole, turned)],
        "your heads are returned as they are; w_o should mix them": lambda: mixed(
            x, [*weights[:3], torch.eye(d_model, dtype=torch.float64)], counts
        ).float(),
        "your scores are divided by the root of d_model; divide by the root of a head's width": lambda: by(
            width=d_model
        ),
        "your scores are not divided by the root of a head's width": lambda: by(width=1),
        "your scores are divided by a head's width; divide by its root": lambda: by(width=d * d),
        "your attention has no causal mask, so each position sees those after it; "
        "it should see only itself and those before": lambda: by(
            mask=torch.zeros(time, time, dtype=torch.bool)
        ),
        "your mask lets every position see the next one; it should end at the position itself": lambda: by(
            mask=torch.ones(time, time, dtype=torch.bool).triu(2)
        ),
    }


def halves_by_neighbours(x):
    time, d = x.shape[-2:]
    columns = torch.arange(0, d, 2, dtype=torch.float64)
    angle = torch.arange(time, dtype=torch.float64)[:, None] * 10000.0 ** (-columns / d)
    angle = angle.repeat_interleave(2, dim=-1)
    low, high = x.chunk(2, dim=-1)
    return x * angle.cos() + torch.cat((-high, low), dim=-1) * angle.sin()


def feed_slips(x, gate, linear1, linear2):
    def by(left, right):
        return F.linear(left * right, linear2)

    g, h = F.linear(x, gate), F.linear(x, linear1)
    return {
        "your gate and linear1 have each other's work; apply silu to gate(x)": lambda: by(g, F.silu(h)),
        "your feed-forward network does not use its gate; "
        "SiLU of the gate should multiply what linear1 gives": lambda: [
            by(F.silu(h), 1),
            by(F.relu(h), 1),
            by(F.gelu(h), 1),
        ],
        "your feed-forward network does not use linear1": lambda: by(F.silu(g), 1),
        "your gate is a plain sigmoid; it should be silu(a), a · sigmoid(a)": lambda: by(g.sigmoid(), h),
        "your gate goes through gelu, which makes it GEGLU; SwiGLU should have silu": lambda: [
            by(F.gelu(g), h),
            by(F.gelu(g, approximate="tanh"), h),
        ],
        "your gate goes through relu; SwiGLU should have silu": lambda: by(F.relu(g), h),
        "your gate has no silu; it should be silu(gate(x))": lambda: by(g, h),
        "your silu acts on the product; it should act only on gate(x)": lambda: by(F.silu(g * h), 1),
        "your gate and linear1 are added; they should be multiplied": lambda: F.linear(
            F.silu(g) + h, linear2
        ),
    }


def part_slips(model, tokens):
    """Return what a model's own parts give where they are put together otherwise."""

    def of(step, last=model.norm, scale=1.0):
        with torch.no_grad():
            x = model.tokens(tokens).detach() * scale
            for index in range(SIZES[5]):
                x = step(model.layers[index], x).detach()
            return model.head(last(x)).detach()

    def attend_to(layer, x):
        return output_of(layer.attention(x)).detach()

    def stack(norm1="norm1", norm2="norm2", first=1, second=1):
        def step(layer, x):
            h = first * x + attend_to(layer, getattr(layer, norm1)(x))
            return second * h + layer.feed_forward(getattr(layer, norm2)(h))

        return step

    def right(layer, x):
        return stack()(layer, x)

    def parallel(layer, x):
        return x + attend_to(layer, layer.norm1(x)) + layer.feed_forward(layer.norm2(x))

    def after_the_sum(layer, x):
        h = layer.norm1(x + attend_to(layer, x)).detach()
        return layer.norm2(h + layer.feed_forward(h))

    def after_the_sublayer(layer, x):
        h = x + layer.norm1(attend_to(layer, x)).detach()
        return h + layer.norm2(layer.feed_forward(h))

    def from_the_norm(layer, x):
        y = layer.norm1(x).detach()
        z = layer.norm2(y + attend_to(layer, y)).detach()
        return z + layer.feed_forward(z)

    def without_norm(number):
        def step(layer, x):
            h = x + attend_to(layer, layer.norm1(x) if number == 2 else x)
            return h + layer.feed_forward(layer.norm2(h) if number == 1 else h)

        return step

    return {
        "your layers pass on only feed_forward's output; add it to the stream": lambda: of(stack(second=0)),
        "your layers pass on only attention's output; add it to the stream": lambda: of(stack(first=0)),
        "your layers pass on only a sublayer's output; add it to the stream": lambda: of(
            stack(first=0, second=0)
        ),
        "your norm1 and norm2 are exchanged; norm1 should be attention's": lambda: of(
            stack("norm2", "norm1")
        ),
        "your layers use norm1 twice; feed_forward should have norm2": lambda: of(stack("norm1", "norm1")),
        "your attention and feed_forward read the same stream; feed_forward should read it after attention was added": (
            lambda: of(parallel)
        ),
        "your norms come after the sum, as in 2017; normalise a sublayer's input, and leave the stream as it is": (
            lambda: of(after_the_sum)
        ),
        "your norms come after the sublayers; normalise a sublayer's input instead": lambda: of(
            after_the_sublayer
        ),
        "your sublayers are added to the norm's output; add them to the stream as it was": lambda: of(
            from_the_norm
        ),
        "your attention reads the stream without its norm": lambda: of(without_norm(1)),
        "your feed_forward reads the stream without its norm": lambda: of(without_norm(2)),
        "your model has no norm in front of its head; "
        "the last layer's output should go through norm": lambda: of(right, last=lambda x: x),
        "your embeddings are multiplied by the root of d_model; here they should be taken as they are": lambda: (
            of(right, scale=SIZES[1] ** 0.5)
        ),
        "your model returns probabilities; it should return logits": lambda: [
            of(right).softmax(dim=-1),
            of(right).log_softmax(dim=-1),
        ],
    }


def depends_in_pieces(module, x, lengths):
    """Return which outputs of an attention depend on which inputs, where x [B, T, D] is read in pieces."""

    def run(x):
        cache, found = None, []
        for piece in x.split(lengths, dim=1):
            piece = with_axes(piece.contiguous(), *AXES.split())
            with torch.no_grad():
                result = module(piece, cache) if found else module(piece)
            output, cache = result
            found.append(output)
        return torch.cat(found, dim=1)

    before, touched = run(x), []
    for position in range(x.shape[1]):
        changed = x.clone()
        changed[:, position] += 3.0 + torch.arange(x.shape[2]).to(x).cos()
        touched.append(((run(changed) - before).abs().amax(dim=(0, 2)) > 1e-4).int().cpu())
    return torch.stack(touched, dim=1).tolist()


def turning_slips(module, x, start, end):
    """Return what the second piece, from `start` to `end`, gives where positions go on wrongly."""
    state = dict(module.state_dict())
    weights = [state[f"{name}.weight"].detach().cpu().double() for name in PROJECTIONS]
    x, columns = x.detach().cpu().double()[:, :end], torch.arange(0, D // H, 2, dtype=torch.float64)
    past, new = torch.arange(start).double(), torch.arange(start, end).double()

    def turning(*places):
        return lambda heads: turned_by(heads, torch.cat(places)[:, None] * 10000.0 ** (-columns * H / D))

    def by(keys, queries=None):
        return mixed(x, weights, (H, G), turning(*(queries or keys)), turning(*keys))[:, start:].float()

    return {
        "your new positions begin with 0 after a cache; the first of them should come after the cached ones": lambda: (
            by((past, new - start))
        ),
        "your new positions begin one too early after a cache; after n positions the next should be n": lambda: (
            by((past, new - 1))
        ),
        "your cached keys are turned again at every call; turn only the new ones": lambda: [
            by((again, new), (past, new)) for again in (2 * past, past + start)
        ],
    }


def cache_slips(module, x):
    """Return what a cache forgets, by which outputs depend on which inputs."""
    past = torch.ones(5, 5).int().tril()
    first = torch.eye(5).int()
    first[:, 0] = 1

    def steps(pattern):
        in_one_go = depends_in_pieces(module, x[:, :5], (5,))
        return (
            in_one_go == past.tolist() and depends_in_pieces(module, x[:, :5], (1,) * 5) == pattern.tolist()
        )

    def chunk():
        return depends_in_pieces(module, x[:, :5], (2, 3))[2:]

    return {
        "your attention does not look at the cache; "
        "new queries should attend to cached keys and values as well": lambda: steps(torch.eye(5).int()),
        "your cache holds the keys and values of only the latest call; it should grow": lambda: steps(
            past.triu(-1)
        ),
        "your mask after a cache begins at its first key; move it right by the number of cached positions": lambda: (
            chunk() == [[1, 0, 0, 0, 0], [1, 1, 0, 1, 0], [1, 1, 1, 0, 1]]
        ),
        "your new positions see later new ones when there is a cache; "
        "the mask should be causal for them as well": lambda: (
            steps(past) and chunk() == [[1] * 5] * 3
        ),
        "your new positions see nothing of the cache where there are several": lambda: (
            steps(past) and chunk() == [[0, 0, 1, 0, 0], [0, 0, 1, 1, 0], [0, 0, 1, 1, 1]]
        ),
    }


# --- helpers ---


def projections(d_model=D, num_heads=H, num_kv_heads=G):
    """Return the shapes of an attention's weights."""
    shared = d_model // num_heads * num_kv_heads
    heights = (d_model, shared, shared, d_model)
    return {f"{name}.weight": [height, d_model] for name, height in zip(PROJECTIONS, heights, strict=True)}


def parameters(vocab_size, d_model, num_heads, num_kv_heads, d_ff, num_layers, max_len=0):
    """Return the shapes of a model's parameters."""
    layer = {
        f"attention.{name}": shape for name, shape in projections(d_model, num_heads, num_kv_heads).items()
    }
    layer |= {
        "norm1.weight": [d_model],
        "norm2.weight": [d_model],
        "feed_forward.gate.weight": [d_ff, d_model],
    }
    layer |= {"feed_forward.linear1.weight": [d_ff, d_model], "feed_forward.linear2.weight": [d_model, d_ff]}
    found = {
        "tokens.weight": [vocab_size, d_model],
        "norm.weight": [d_model],
        "head.weight": [vocab_size, d_model],
    }
    return found | {f"layers.{i}.{name}": shape for i in range(num_layers) for name, shape in layer.items()}


def drawn(draw, shapes):
    """Draw parameters of these shapes; the weights of norms lie around one."""
    return {
        name: draw.normal(out=shape[0], width=shape[1], scale=1.5 * shape[1] ** -0.5)
        if len(shape) == 2
        else draw.normal(width=shape[0], shift=1.0, scale=0.4)
        for name, shape in shapes.items()
    }


def filled(module, state):
    """Load a state. A bias that should not be there becomes zero: its presence is another check's matter."""
    own = module.state_dict()
    for name in state:
        if name not in own:
            fail(f"no parameter  {name}  it cannot be loaded", stage="names")
    biases = {name: torch.zeros_like(tensor) for name, tensor in own.items() if name.endswith("bias")}
    module.load_state_dict({**biases, **state}, strict=False)
    return module


def attention(submission, draw, d_model=D, num_heads=H, num_kv_heads=G):
    """Return an attention of the submission's with drawn weights, and what it should make of x."""
    state = drawn(draw, projections(d_model, num_heads, num_kv_heads))
    module = filled(submission.GroupedQueryAttention(d_model, num_heads, num_kv_heads), state)

    def right(x, *weights):
        return attend(x, *weights, num_heads, num_kv_heads)

    return module, lambda x: oracle(right, x, *state.values())


def output_of(result):
    """Return the output of a pair (output, cache)."""
    return expect(result, "(output, cache)").is_tuple(2)[0]


def built(submission, draw, *sizes):
    """Return a model with drawn weights."""
    sizes = sizes or SIZES
    return filled(submission.ModernLM(*sizes), drawn(draw, parameters(*sizes)))


def in_pieces(module, **whole):
    """Return what a module gives for x, or for tokens, that it reads in two pieces, the second with a cache."""
    ((name, x),) = whole.items()
    first, cache = expect(module(x[:, :2]), "(output, cache)").is_tuple(2)
    return torch.cat((first, output_of(module(**{name: x[:, 2:], "cache": cache}))), dim=1)


def part(name, draw):
    """Return the contract of a part, the right function, and a call."""
    x = {"x": draw.normal(batch=2, time=4, width=D)}
    if name == "RMSNorm":
        made = {"d_model": D, "eps": 1e-6}
        contract = Part(name, made, ["output"], [AXES], DTYPES, gradients=False)
        return contract, lambda state, x: rms(x, state["weight"]), x
    if name == "ModernLM":
        sizes = ("vocab_size", "d_model", "num_heads", "num_kv_heads", "d_ff", "num_layers", "max_len")
        made = dict(zip(sizes, (7, 8, 2, 1, 5, 2, 4), strict=True))  # no longer than the text
        tokens = {"tokens": draw.integers(0, 7, batch=2, time=4)}
        contract = Part(name, made, ["logits"], [LOGITS], DTYPES, gradients=False, used=in_pieces)
        return contract, lambda state, tokens: read(tokens, 2, 1, state), tokens

    def right(state, x):
        return attend(x, *(state[f"{one}.weight"] for one in PROJECTIONS), H, G)

    made = {"d_model": D, "num_heads": H, "num_kv_heads": G}
    return Part(name, made, ["output"], [AXES], DTYPES, gradients=False, used=in_pieces), right, x


def trained(submission, draw):
    """Return a model with the trained weights, and these."""
    state = {name: tensor.to(draw.device) for name, tensor in STORY["weights"]().items()}
    return filled(submission.ModernLM(**STORY["SIZES"]), state), state


def compare_pieces(module, whole, x, lengths, what, axes, slips=lambda start, end: {}):
    """Go through x [B, T, ..] in pieces with the cache; each must give what the whole gave there."""
    start, cache = 0, None
    for length in lengths:
        end = start + length
        piece = with_axes(x[:, start:end].contiguous(), *axes.split()[: x.ndim])
        with torch.no_grad():
            result = module(piece, cache) if start else module(piece)
        found, cache = expect(result, f"({what}, cache)").is_tuple(2)
        where = f"position {start}" if length == 1 else f"positions {start} to {end - 1}"
        why = f"positions 0 to {start - 1} are in the cache" if start else ""
        with supposing(lambda: slips(start, end)):
            expect(found, f"{what} at {where}", axes=axes).same_as(
                whole[:, start:end], name="all positions in one go", why=why
            )
        start = end


def beginnings():
    """Return how some stories begin; always the same ones."""
    return torch.stack(
        [STORY["encode"](STORY["story"](STORY["HELD_OUT"] + i)[:BEGUN]) for i in range(STORIES)]
    )


def best_characters(result, rows):
    """Return the best next character [B, 1] of each row, and the cache."""
    logits, cache = expect(result, "(logits, cache)").is_tuple(2)
    expect(logits, "logits", axes=LOGITS).is_tensor(shape=(rows, None, len(STORY["CHARACTERS"])))
    return logits[:, -1].argmax(-1, keepdim=True).cpu(), cache


def expect_best(prompts, written):
    """Require each character that was written to be the best one after all that comes before it."""
    sizes = STORY["SIZES"]
    state = {name: tensor.double() for name, tensor in STORY["weights"]().items()}
    logits = read(torch.cat((prompts, written), dim=1), sizes["num_heads"], sizes["num_kv_heads"], state)[
        :, BEGUN - 1 : -1
    ]
    behind = logits.amax(-1) - logits.gather(-1, written[..., None])[..., 0]
    for prompt, tokens, best, wrong in zip(prompts, written, logits.argmax(-1), behind > CLEAR, strict=True):
        if bool(wrong.any()):
            place = int(wrong.int().argmax())
            wanted = torch.cat((tokens[:place], best[place : place + 1]))
            why = f"the story begins … {STORY['decode'](prompt)[-40:]}"
            expect(STORY["decode"](tokens[: place + 1]), "text").is_value(STORY["decode"](wanted), why=why)


# --- RMSNorm ---


@check(aspect="parameters")
def test_norm_parameter(submission):
    """RMSNorm has one parameter: weight [D], ones at first

    > weight: nn.Parameter [D], ones at first; the only parameter.
    """
    module = submission.RMSNorm(5)
    expect([name for name, _ in module.named_parameters()], "parameters").has_names(["weight"])
    expect(module.weight, "weight", axes="width").equals(torch.ones(5))


@check(aspect="values", points=5)
def test_norm_values(submission, draw):
    """each position is divided by its root mean square, and its columns are scaled

    > y = weight · x / √( mean(x²) + eps )
    > [.., D], any number of axes in front; left as it is.
    """
    weight = draw.normal(width=6, shift=1.0, scale=0.4)
    module = filled(submission.RMSNorm(6), {"weight": weight})
    for axes in ({}, {"time": 5}, {"batch": 2, "time": 3}, {"batch": 2, "head": 3, "time": 4}):
        x = draw.normal(**axes, width=6, scale=3.0, shift=2.0)
        with supposing(lambda: norm_slips(x, weight)):
            expect(module(x), "output", axes=" ".join([*axes, "width"])).close_to(oracle(rms, x, weight))


@check(aspect="values", points=2.5, follows=test_norm_values)
def test_norm_eps(submission, draw):
    """eps is added to the mean of the squares, under the root; 1e-6 by default

    > added to the mean of the squares, under the root.
    > eps: float = 1e-6
    """
    for options, eps, scale in (({"eps": 0.5}, 0.5, 0.5), ({}, 1e-6, 1e-3)):
        weight = draw.normal(width=6, shift=1.0, scale=0.4)
        module = filled(submission.RMSNorm(6, **options), {"weight": weight})
        x = draw.normal(batch=2, time=3, width=6, scale=scale)

        def right(x, weight, eps=eps):
            return rms(x, weight, eps)

        name = f"output with eps = {eps:g}"
        other_default = "your norm has another eps by default than 1e-6"
        with supposing((lambda: norm_slips(x, weight, eps)) if options else other_default):
            expect(module(x), name, axes=AXES).close_to(oracle(right, x, weight))
        zeros = with_axes(torch.zeros(1, 2, 6, device=draw.device), "batch", "time", "width")
        expect(module(zeros), f"{name}, for zeros", axes=AXES).close_to(torch.zeros(1, 2, 6))


@check(aspect="stability", points=3, follows=test_norm_values)
def test_norm_half(submission, draw):
    """in float16 and bfloat16 squares are computed in float32, and the output has the dtype of x

    > Squares, mean and root are computed in float32 at least, whatever the dtype of x
    """
    for dtype, scale in ((torch.float16, 1000.0), (torch.bfloat16, 3.0)):
        x = draw.normal(batch=2, time=3, width=64, scale=scale).to(dtype)
        x = with_axes(x, "batch", "time", "width")
        module = submission.RMSNorm(64).to(dtype)
        wanted = rms(x.cpu().double(), torch.ones(64)).to(dtype)
        expect(module(x), "output", axes=AXES).close_to(
            wanted, why=f"{dtype} numbers of a deviation of {scale:g}: what are their squares?"
        )


@check(aspect="gradient", points=2, follows=test_norm_values)
def test_norm_gradients(submission, draw):
    """gradients go back through the norm, to x and to its weight

    > Gradients reach all inputs and parameters
    """
    contract, right, call = part("RMSNorm", draw)
    contract.expect_gradients(submission, right, draw, [call])


@check(aspect="arguments", points=0.5, follows=[test_norm_parameter, test_norm_values, test_norm_half])
def test_norm_promises(submission, draw):
    """however the norm is called, its result is that of this x and weight, which it leaves as they were

    > [.., D], any number of axes in front; left as it is.
    > float64 is computed in float64
    """
    contract, right, call = part("RMSNorm", draw)
    contract.expect(submission, right, draw, [call])


# --- GroupedQueryAttention ---


@check(aspect="parameters", points=2)
def test_projections(submission):
    """w_q and w_o are as wide as x, w_k and w_v as G heads, all without a bias

    > nn.Linear without a bias: D to D, D to G · d, D to G · d, D to D.
    """
    for sizes in ((D, H, G), (12, 3, 3), (20, 5, 1)):
        found = {
            name: list(tensor.shape)
            for name, tensor in submission.GroupedQueryAttention(*sizes).named_parameters()
        }
        said = "parameters with d_model={}, num_heads={}, num_kv_heads={}".format(*sizes)
        wanted = projections(*sizes)
        biases = {
            "your projections have biases; they should have none": lambda: all(
                name.endswith("bias") for name in found.keys() - wanted
            )
        }
        with supposing(biases if wanted.keys() < found.keys() else {}):
            expect(found, said).has_names(wanted)
        for name, shape in wanted.items():
            expect(found[name], f"shape of {name}").is_value(shape)


@check(aspect="errors")
def test_errors(submission):
    """H has to divide D, and G has to divide H, or a ValueError is raised

    > ValueError when it does not divide d_model.
    > ValueError when it does not divide num_heads.
    """
    for sizes, what in (
        ((10, 3, 3), "GroupedQueryAttention(10, 3, 3): 3 heads do not divide a width of 10"),
        ((24, 6, 4), "GroupedQueryAttention(24, 6, 4): 4 heads cannot serve 6 equally"),
    ):
        likely = "your attention takes any numbers of heads; raise ValueError for those that do not divide"
        with supposing(likely), expect_raises("ValueError", what=what):
            submission.GroupedQueryAttention(*sizes)


@check(aspect="values", points=3.5)
def test_groups(submission, draw):
    """query head h reads the head of keys and values h // (H / G)

    > Neighbours share: query head h reads the keys and values of head h // (H / G)
    """
    for sizes in ((D, H, G), (16, 4, 1), (16, 8, 4)):
        module, right = attention(submission, draw, *sizes)
        x = draw.normal(batch=2, time=1, width=sizes[0])
        with supposing(lambda: attention_slips(module, x, *sizes)):
            expect(output_of(module(x)), "output at a single position", axes=AXES).close_to(
                right(x), why="with one position each query head gets its value as it is, whatever the scores"
            )


@check(aspect="values", points=5)
def test_rotary(submission, draw):
    """queries and keys are turned by their positions, neighbouring columns being a pair

    > Queries and keys are turned as in 9.2.2
    > columns 2i and 2i + 1 of a head are a pair
    """
    module, right = attention(submission, draw, 16, 2, 2)
    x = draw.normal(batch=2, time=7, width=16)
    y = output_of(module(x))
    expect(y, "output", axes=AXES).is_tensor(shape=(2, 7, 16))

    def last(relation):
        found = relation()
        return [one[:, -1:] for one in (found if isinstance(found, list) else [found])]

    def slips():
        every = attention_slips(module, x, 16, 2, 2).items()
        return {say: lambda relation=relation: last(relation) for say, relation in every}

    with supposing(slips):
        expect(y[:, -1:], "output at the last position", axes=AXES).close_to(
            right(x)[:, -1:], why="here every head has keys and values of its own"
        )


@check(aspect="causality", points=4)
def test_causal(submission, draw):
    """no position sees what comes after it

    > Let each position look at itself and at those before it.
    """
    module, _ = attention(submission, draw)
    x = draw.normal(batch=2, time=5, width=D)
    with precondition("attention must return a pair with an output [B, T, D]"):
        before = output_of(module(x)).detach()
        expect(before, "output", axes=AXES).is_tensor(shape=(2, 5, D))
    touched = torch.zeros(5, 5, dtype=torch.bool)
    for position in range(5):
        changed = x.clone()
        changed[:, position] += draw.normal(batch=2, width=D)
        after = output_of(module(with_axes(changed, *AXES.split()))).detach()
        touched[:, position] = ((after - before).abs() > 1e-4).any(-1).any(0).cpu()
    every = torch.ones(5, 5, dtype=torch.bool)

    def one_head_is_causal():
        single, _ = attention(submission, draw, 4, 1, 1)
        return depends_in_pieces(single, x[..., :4], (5,)) == every.tril().int().tolist()

    patterns = {
        "your attention has no causal mask, so each position sees those after it; "
        "it should see only itself and those before": lambda: (
            torch.equal(touched, every) and not one_head_is_causal()
        ),
        "your heads are not put side by side again; move the axis of heads after that of time first": lambda: (
            torch.equal(touched, every) and one_head_is_causal()
        ),
        "your mask lets every position see the next one; it should end at the position itself": lambda: every.tril(1),
        "your causal mask is upside down; a position should see itself and those before it": lambda: (
            every.triu()
        ),
        "each position of your attention sees only itself": lambda: every.tril().triu(),
    }
    with supposing(patterns):
        expect(
            touched, "whether the output depends on the input", axes="output input", picture="mask"
        ).equals(every.tril())


@check(aspect="values", points=3.5, follows=[test_groups, test_rotary, test_causal])
def test_attention_values(submission, draw):
    """groups, rotation and mask together are grouped-query attention

    > scoreₕ(t, s) = q'ₕ(t) · k'ₘ(s) / √d
    > Let each position look at itself and at those before it.
    """
    for sizes, time in (((D, H, G), 6), ((16, 4, 1), 5), ((12, 2, 2), 1)):
        module, right = attention(submission, draw, *sizes)
        x = draw.normal(batch=2, time=time, width=sizes[0])
        with supposing(lambda: attention_slips(module, x, *sizes)):
            expect(output_of(module(x)), "output", axes=AXES).close_to(right(x))


@check(aspect="cache", points=3)
def test_cache(submission, draw):
    """with the cache, reading in pieces gives the same output as reading in one go

    > with one, the positions that follow those of the cache.
    > in pieces or in one go
    """
    module, _ = attention(submission, draw)
    x = draw.normal(batch=2, time=8, width=D)
    with precondition("attention must return a pair with an output [B, T, D]"), torch.no_grad():
        whole = output_of(module(x))
        expect(whole, "output", axes=AXES).is_tensor(shape=(2, 8, D)).is_finite()
    with supposing(lambda: cache_slips(module, x)):
        for lengths in ((3, 1, 1, 1), (1, 1), (2, 4, 2)):
            compare_pieces(
                module, whole, x, lengths, "output", AXES, lambda *piece: turning_slips(module, x, *piece)
            )


@check(aspect="cache", points=1.5)
def test_cache_shape(submission, draw):
    """the cache keeps each shared head once: keys and values [B, G, S, d]

    > The cache is a pair (keys, values) of all positions so far, each [B, G, S, d]: a
    """
    for sizes in ((D, H, G), (16, 4, 1)):
        module, _ = attention(submission, draw, *sizes)
        x = draw.normal(batch=3, time=6, width=sizes[0])
        cache, seen = None, 0
        for length in (5, 1):
            piece = with_axes(x[:, seen : seen + length].contiguous(), *AXES.split())
            with torch.no_grad():
                result = module(piece, cache) if seen else module(piece)
            cache, seen = expect(result, "(output, cache)").is_tuple(2)[1], seen + length
            pair = expect(cache, f"cache after {seen} positions").is_tuple(2)
            for name, tensor in zip(("keys", "values"), pair, strict=True):
                expect(tensor, f"{name} after {seen} positions", axes="batch head position width").is_tensor(
                    shape=(3, sizes[2], seen, sizes[0] // sizes[1])
                )


@check(aspect="gradient", points=2.5, follows=[test_attention_values, test_cache])
def test_gradients(submission, draw):
    """gradients reach x and all four projections, through the cache as well

    > Gradients reach all inputs and parameters
    """
    contract, right, call = part("GroupedQueryAttention", draw)
    contract.expect_gradients(submission, right, draw, [call])


@check(aspect="arguments", follows=[test_projections, test_attention_values, test_cache])
def test_attention_promises(submission, draw):
    """however attention is called, its output is that of this x, cache and weights, which it leaves as they were

    > Outputs have the dtype of the module, with a cache too, and float64 is computed in float64.
    > Arguments, caches too, are left as they were and need not be contiguous in memory.
    """
    contract, right, call = part("GroupedQueryAttention", draw)
    contract.expect(submission, right, draw, [call])


# --- ModernLM ---


@check(aspect="parameters", points=2)
def test_model_parameters(submission):
    """the model has the parameters that are named, and no others

    > Each layer has norm1 (RMSNorm), attention (GroupedQueryAttention), norm2 (RMSNorm) and
    > These are all the parameters.
    """
    for sizes in (SIZES, (7, 12, 3, 1, 5, 1, 8)):
        found = {name: list(tensor.shape) for name, tensor in submission.ModernLM(*sizes).named_parameters()}
        wanted = parameters(*sizes)
        more = found.keys() - wanted
        biases = "your feed-forward network has biases; nothing in this model should have any"
        slips = {
            biases: lambda: more and all("feed_forward" in name and name.endswith("bias") for name in more),
            "your projections have biases; they should have none": lambda: (
                more and all("w_" in n and n.endswith("bias") for n in more)
            ),
        }
        with supposing(slips if wanted.keys() < found.keys() else {}):
            expect(found, f"parameters of {sizes[5]} layers", axes=None).has_names(wanted)
        for name, shape in wanted.items():
            expect(found[name], f"shape of {name}").is_value(shape)


@check(aspect="values", points=2, follows=test_model_parameters)
def test_feed_forward(submission, draw):
    """feed_forward is linear2(silu(gate(x)) · linear1(x))

    > f(x) = linear2( silu(gate(x)) · linear1(x) )
    """
    shapes = parameters(*SIZES)
    state = drawn(draw, shapes)
    model = filled(submission.ModernLM(*SIZES), state)
    for index, scale in ((0, 1.0), (2, 60.0)):  # exp of the larger ones overflows
        x = draw.normal(batch=2, time=3, width=SIZES[1], scale=scale)
        own = [state[f"layers.{index}.feed_forward.{name}.weight"] for name in ("gate", "linear1", "linear2")]
        with supposing(lambda: feed_slips(x, *own)):
            expect(
                model.layers[index].feed_forward(x), f"layers[{index}].feed_forward(x)", axes=AXES
            ).close_to(oracle(feed, x, *own))


@check(aspect="values", points=2, follows=test_model_parameters)
def test_model_parts(submission, draw):
    """the logits are those of tokens, layers, norm and head, applied one after the other

    > h = x + attention(norm1(x))
    > y = h + feed_forward(norm2(h))
    > logits = head(norm(y_last))
    """
    model = built(submission, draw)
    tokens = draw.integers(0, SIZES[0], batch=2, time=5)
    with torch.no_grad():
        with precondition("attention must return a pair, and the parts must keep [B, T, D]"):
            x = model.tokens(tokens).detach()
            for index in range(SIZES[5]):
                layer = model.layers[index]
                x = x + output_of(layer.attention(layer.norm1(x))).detach()
                x = x + layer.feed_forward(layer.norm2(x)).detach()
            wanted = model.head(model.norm(x))
            expect(wanted, "head(norm(x))", axes=LOGITS).is_tensor(shape=(2, 5, SIZES[0])).is_finite()
        found = output_of(model(tokens))
    with supposing(lambda: part_slips(model, tokens)):
        expect(found, "logits", axes=LOGITS).same_as(
            wanted, name="its own parts, applied one after the other,"
        )


@check(aspect="cache", points=2.5, follows=test_cache)
def test_model_cache(submission, draw):
    """with the cache, a text read in pieces gets the logits of the whole

    > with one, only what is new since.
    > in pieces or in one go
    """
    model = built(submission, draw)
    tokens = draw.integers(0, SIZES[0], batch=2, time=8)
    with precondition("forward must return (logits [B, T, V], cache)"), torch.no_grad():
        whole = output_of(model(tokens))
        expect(whole, "logits", axes=LOGITS).is_tensor(shape=(2, 8, SIZES[0])).is_finite()

    def parts_read_in_pieces():
        found, caches = [], [()] * SIZES[5]
        for piece in tokens.split((3, 5), dim=1):
            x = model.tokens(with_axes(piece.contiguous(), "batch", "time")).detach()
            for index in range(SIZES[5]):
                layer = model.layers[index]
                output, cache = layer.attention(layer.norm1(x).detach(), *caches[index])
                caches[index], x = (cache,), x + output.detach()
                x = x + layer.feed_forward(layer.norm2(x)).detach()
            found.append(model.head(model.norm(x)).detach())
        return torch.allclose(torch.cat(found, dim=1), whole, atol=1e-3)

    own = "your model does not pass each layer its own cache, though the layers' attention reads right in pieces"
    with supposing({own: parts_read_in_pieces}):
        for lengths in ((3, 1, 1, 1), (2, 4, 2)):
            compare_pieces(model, whole, tokens, lengths, "logits", LOGITS)


@check(
    aspect="cache",
    follows=test_model_cache,
    on_workers_word="logits that the reader hands on are compared with what the model gives for drawn texts in one go",
)
def test_cache_twice(submission, draw):
    """the same cache can be continued more than once

    > each with its own cache, and the same cache may be continued more than once.
    """
    model = built(submission, draw)
    texts = [draw.integers(0, SIZES[0], batch=2, time=6) for _ in range(2)]
    texts[1][:, :3] = texts[0][:, :3]
    reader = given_module(submission, "probes").reader(model)
    label_calls(reader, model)
    with torch.no_grad():
        with precondition("forward must return (logits [B, T, V], cache)"):
            wholes = [output_of(model(text)) for text in texts]
            for whole in wholes:
                expect(whole, "logits", axes=LOGITS).is_tensor(shape=(2, 6, SIZES[0])).is_finite()
        reader(tokens=with_axes(texts[0][:, :3].contiguous(), "batch", "time"))
        for text, whole in zip((*texts, texts[0]), (*wholes, wholes[0]), strict=True):
            found = reader(
                tokens=with_axes(text[:, 3:].contiguous(), "batch", "time"), cache="the first cache"
            )
            expect(found, "logits at positions 3 to 5", axes=LOGITS).same_as(
                whole[:, 3:], name="the text in one go", why="the same cache is continued several times"
            )


@check(
    aspect="gradient",
    follows=[test_norm_gradients, test_gradients, test_feed_forward, test_model_parts, test_model_cache],
)
def test_model_gradients(submission, draw):
    """gradients reach every parameter of the model

    > Gradients reach all inputs and parameters
    """
    contract, right, call = part("ModernLM", draw)
    contract.expect_gradients(submission, right, draw, [call])


@check(
    aspect="arguments",
    follows=[test_norm_promises, test_attention_promises, test_model_parts, test_model_cache],
)
def test_model_promises(submission, draw):
    """however the model is called, its logits are those of these tokens, cache and parameters, which stay as they were

    > Outputs have the dtype of the module, with a cache too, and float64 is computed in float64.
    > Arguments, caches too, are left as they were and need not be contiguous in memory.
    """
    contract, right, call = part("ModernLM", draw)
    contract.expect(submission, right, draw, [call])


# --- trained weights ---


@check(
    aspect="values",
    points=3.5,
    follows=[test_norm_values, test_attention_values, test_feed_forward, test_model_parts],
)
def test_checkpoint(submission, draw):
    """with the trained weights the logits of new stories are those that the model was trained to give

    > your model loads them, gives the logits that they were trained to give
    """
    model, state = trained(submission, draw)
    sizes, prompts = STORY["SIZES"], beginnings()
    tokens = with_axes(prompts.to(draw.device), "batch", "time")

    def right(state):
        return read(prompts, sizes["num_heads"], sizes["num_kv_heads"], state)

    with torch.no_grad():
        found = output_of(model(tokens))
    expect(found, "logits of stories", axes=LOGITS).close_to(oracle(right, state))


@check(aspect="values", points=2.5, follows=test_checkpoint)
def test_text(submission, draw):
    """it continues a story as it should, always with the best character

    > and writes its text
    """
    model, _ = trained(submission, draw)
    prompts = tokens = beginnings()
    with torch.no_grad():
        for _ in range(WRITTEN):
            best, _ = best_characters(model(with_axes(tokens.to(draw.device), "batch", "time")), STORIES)
            tokens = torch.cat((tokens, best), dim=1)
    expect_best(prompts, tokens[:, BEGUN:])


@check(aspect="cache", points=2.5, follows=[test_model_cache, test_checkpoint, test_text])
def test_text_cached(submission, draw):
    """it writes the same text with the cache, one character at a time

    > and writes its text
    > with one, only what is new since.
    """
    model, _ = trained(submission, draw)
    prompts = best = beginnings()
    cache, written = None, []
    with torch.no_grad():
        for _ in range(WRITTEN):
            new = with_axes(best.to(draw.device), "batch", "time")
            best, cache = best_characters(model(new) if cache is None else model(new, cache), STORIES)
            written.append(best)
    expect_best(prompts, torch.cat(written, dim=1))


@check(aspect="scratch")
def test_from_scratch(submission, draw):
    """the norm is written from scratch

    > torch's own RMSNorm is what you are writing, so do not use it.
    """
    with precondition("norm and model must return something"):
        submission.RMSNorm(D)(draw.normal(batch=2, time=3, width=D))
        submission.ModernLM(*SIZES)(draw.integers(0, SIZES[0], batch=1, time=3))
    expect_from_scratch(submission)
