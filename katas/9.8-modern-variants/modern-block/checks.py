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
    with_axes,
)

STORY = runpy.run_path(str(Path(__file__).parents[2] / "given" / "story.py"))
AXES, LOGITS = "batch time width", "batch time token"
DTYPES = (torch.float64, torch.bfloat16)
D, H, G = 24, 6, 2
"""Three query heads share a head of keys and values; a head is 4 wide."""
SIZES = (11, 16, 4, 2, 13, 3, 32)
"""vocab_size, d_model, num_heads, num_kv_heads, d_ff, num_layers, max_len of the model that most checks build."""
BEGUN, WRITTEN, STORIES = 100, 32, 4
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


def compare_pieces(module, whole, x, lengths, what, axes):
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


@check(
    "RMSNorm has one parameter: weight [D], ones at first",
    aspect="parameters",
    asked="weight: nn.Parameter [D], ones at first; the only parameter.",
)
def test_norm_parameter(submission):
    module = submission.RMSNorm(5)
    expect([name for name, _ in module.named_parameters()], "parameters").has_names(["weight"])
    expect(module.weight, "weight", axes="width").equals(torch.ones(5))


@check(
    "each position is divided by its root mean square, and its columns are scaled",
    aspect="values",
    points=5,
    asked=["y = weight · x / √( mean(x²) + eps )", "[.., D], any number of axes in front; left as it is."],
)
def test_norm_values(submission, draw):
    weight = draw.normal(width=6, shift=1.0, scale=0.4)
    module = filled(submission.RMSNorm(6), {"weight": weight})
    for axes in ({}, {"time": 5}, {"batch": 2, "time": 3}, {"batch": 2, "head": 3, "time": 4}):
        x = draw.normal(**axes, width=6, scale=3.0, shift=2.0)
        expect(module(x), "output", axes=" ".join([*axes, "width"])).close_to(oracle(rms, x, weight))


@check(
    "eps is added to the mean of the squares, under the root; 1e-6 by default",
    aspect="values",
    points=2.5,
    follows=["test_norm_values"],
    asked=["added to the mean of the squares, under the root.", "eps: float = 1e-6"],
)
def test_norm_eps(submission, draw):
    for options, eps, scale in (({"eps": 0.5}, 0.5, 0.5), ({}, 1e-6, 1e-3)):
        weight = draw.normal(width=6, shift=1.0, scale=0.4)
        module = filled(submission.RMSNorm(6, **options), {"weight": weight})
        x = draw.normal(batch=2, time=3, width=6, scale=scale)

        def right(x, weight, eps=eps):
            return rms(x, weight, eps)

        name = f"output with eps = {eps:g}"
        expect(module(x), name, axes=AXES).close_to(oracle(right, x, weight))
        zeros = with_axes(torch.zeros(1, 2, 6, device=draw.device), "batch", "time", "width")
        expect(module(zeros), f"{name}, for zeros", axes=AXES).close_to(torch.zeros(1, 2, 6))


@check(
    "in float16 and bfloat16 squares are computed in float32, and the output has the dtype of x",
    aspect="stability",
    points=3,
    follows=["test_norm_values"],
    asked="Squares, mean and root are computed in float32 at least, whatever the dtype of x",
)
def test_norm_half(submission, draw):
    for dtype, scale in ((torch.float16, 1000.0), (torch.bfloat16, 3.0)):
        x = draw.normal(batch=2, time=3, width=64, scale=scale).to(dtype)
        x = with_axes(x, "batch", "time", "width")
        module = submission.RMSNorm(64).to(dtype)
        wanted = rms(x.cpu().double(), torch.ones(64)).to(dtype)
        expect(module(x), "output", axes=AXES).close_to(
            wanted, why=f"{dtype} numbers of a deviation of {scale:g}: what are their squares?"
        )


@check(
    "gradients go back through the norm, to x and to its weight",
    aspect="gradient",
    points=2,
    follows=["test_norm_values"],
    asked="Gradients reach all inputs and parameters",
)
def test_norm_gradients(submission, draw):
    contract, right, call = part("RMSNorm", draw)
    contract.expect_gradients(submission, right, draw, [call])


@check(
    "however the norm is called, its result is that of this x and weight, which it leaves as they were",
    aspect="arguments",
    points=0.5,
    follows=["test_norm_parameter", "test_norm_values", "test_norm_half"],
    asked=["[.., D], any number of axes in front; left as it is.", "float64 is computed in float64"],
)
def test_norm_promises(submission, draw):
    contract, right, call = part("RMSNorm", draw)
    contract.expect(submission, right, draw, [call])


# --- GroupedQueryAttention ---


@check(
    "w_q and w_o are as wide as x, w_k and w_v as G heads, all without a bias",
    aspect="parameters",
    points=2,
    asked="nn.Linear without a bias: D to D, D to G · d, D to G · d, D to D.",
)
def test_projections(submission):
    for sizes in ((D, H, G), (12, 3, 3), (20, 5, 1)):
        found = {
            name: list(tensor.shape)
            for name, tensor in submission.GroupedQueryAttention(*sizes).named_parameters()
        }
        said = "parameters with d_model={}, num_heads={}, num_kv_heads={}".format(*sizes)
        wanted = projections(*sizes)
        expect(found, said).has_names(wanted)
        for name, shape in wanted.items():
            expect(found[name], f"shape of {name}").is_value(shape)


@check(
    "H has to divide D, and G has to divide H, or a ValueError is raised",
    aspect="errors",
    asked=["ValueError when it does not divide d_model.", "ValueError when it does not divide num_heads."],
)
def test_errors(submission):
    for sizes, what in (
        ((10, 3, 3), "GroupedQueryAttention(10, 3, 3): 3 heads do not divide a width of 10"),
        ((24, 6, 4), "GroupedQueryAttention(24, 6, 4): 4 heads cannot serve 6 equally"),
    ):
        with expect_raises("ValueError", what=what):
            submission.GroupedQueryAttention(*sizes)


@check(
    "query head h reads the head of keys and values h // (H / G)",
    aspect="values",
    points=3.5,
    asked="Neighbours share: query head h reads the keys and values of head h // (H / G)",
)
def test_groups(submission, draw):
    for sizes in ((D, H, G), (16, 4, 1), (16, 8, 4)):
        module, right = attention(submission, draw, *sizes)
        x = draw.normal(batch=2, time=1, width=sizes[0])
        expect(output_of(module(x)), "output at a single position", axes=AXES).close_to(
            right(x), why="with one position each query head gets its value as it is, whatever the scores"
        )


@check(
    "queries and keys are turned by their positions, neighbouring columns being a pair",
    aspect="values",
    points=5,
    asked=["Queries and keys are turned as in 9.2.2", "columns 2i and 2i + 1 of a head are a pair"],
)
def test_rotary(submission, draw):
    module, right = attention(submission, draw, 16, 2, 2)
    x = draw.normal(batch=2, time=7, width=16)
    y = output_of(module(x))
    expect(y, "output", axes=AXES).is_tensor(shape=(2, 7, 16))
    expect(y[:, -1:], "output at the last position", axes=AXES).close_to(
        right(x)[:, -1:], why="here every head has keys and values of its own"
    )


@check(
    "no position sees what comes after it",
    aspect="causality",
    points=4,
    asked="Let each position look at itself and at those before it.",
)
def test_causal(submission, draw):
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
    expect(touched, "whether the output depends on the input", axes="output input", picture="mask").equals(
        torch.ones(5, 5, dtype=torch.bool).tril()
    )


@check(
    "groups, rotation and mask together are grouped-query attention",
    aspect="values",
    points=3.5,
    follows=["test_groups", "test_rotary", "test_causal"],
    asked=["scoreₕ(t, s) = q'ₕ(t) · k'ₘ(s) / √d", "Let each position look at itself and at those before it."],
)
def test_attention_values(submission, draw):
    for sizes, time in (((D, H, G), 6), ((16, 4, 1), 5), ((12, 2, 2), 1)):
        module, right = attention(submission, draw, *sizes)
        x = draw.normal(batch=2, time=time, width=sizes[0])
        expect(output_of(module(x)), "output", axes=AXES).close_to(right(x))


@check(
    "with the cache, reading in pieces gives the same output as reading in one go",
    aspect="cache",
    points=3,
    asked=["with one, the positions that follow those of the cache.", "in pieces or in one go"],
)
def test_cache(submission, draw):
    module, _ = attention(submission, draw)
    x = draw.normal(batch=2, time=8, width=D)
    with precondition("attention must return a pair with an output [B, T, D]"), torch.no_grad():
        whole = output_of(module(x))
        expect(whole, "output", axes=AXES).is_tensor(shape=(2, 8, D)).is_finite()
    for lengths in ((3, 1, 1, 1), (1, 1), (2, 4, 2)):
        compare_pieces(module, whole, x, lengths, "output", AXES)


@check(
    "the cache keeps each shared head once: keys and values [B, G, S, d]",
    aspect="cache",
    points=1.5,
    asked="The cache is a pair (keys, values) of all positions so far, each [B, G, S, d]: a",
)
def test_cache_shape(submission, draw):
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


@check(
    "gradients reach x and all four projections, through the cache as well",
    aspect="gradient",
    points=2.5,
    follows=["test_attention_values", "test_cache"],
    asked="Gradients reach all inputs and parameters",
)
def test_gradients(submission, draw):
    contract, right, call = part("GroupedQueryAttention", draw)
    contract.expect_gradients(submission, right, draw, [call])


@check(
    "however attention is called, its output is that of this x, cache and weights, which it leaves as they were",
    aspect="arguments",
    follows=["test_projections", "test_attention_values", "test_cache"],
    asked=[
        "Outputs have the dtype of the module, with a cache too, and float64 is computed in float64.",
        "Arguments, caches too, are left as they were and need not be contiguous in memory.",
    ],
)
def test_attention_promises(submission, draw):
    contract, right, call = part("GroupedQueryAttention", draw)
    contract.expect(submission, right, draw, [call])


# --- ModernLM ---


@check(
    "the model has the parameters that are named, and no others",
    aspect="parameters",
    points=2,
    asked=["Each layer has norm1 (RMSNorm), attention (GroupedQueryAttention), norm2 (RMSNorm) and",
           "These are all the parameters."],
)  # fmt: skip
def test_model_parameters(submission):
    for sizes in (SIZES, (7, 12, 3, 1, 5, 1, 8)):
        found = {name: list(tensor.shape) for name, tensor in submission.ModernLM(*sizes).named_parameters()}
        wanted = parameters(*sizes)
        expect(found, f"parameters of {sizes[5]} layers", axes=None).has_names(wanted)
        for name, shape in wanted.items():
            expect(found[name], f"shape of {name}").is_value(shape)


@check(
    "feed_forward is linear2(silu(gate(x)) · linear1(x))",
    aspect="values",
    points=2,
    follows=["test_model_parameters"],
    asked="f(x) = linear2( silu(gate(x)) · linear1(x) )",
)
def test_feed_forward(submission, draw):
    shapes = parameters(*SIZES)
    state = drawn(draw, shapes)
    model = filled(submission.ModernLM(*SIZES), state)
    for index, scale in ((0, 1.0), (2, 60.0)):  # exp of the larger ones overflows
        x = draw.normal(batch=2, time=3, width=SIZES[1], scale=scale)
        own = (state[f"layers.{index}.feed_forward.{name}.weight"] for name in ("gate", "linear1", "linear2"))
        expect(model.layers[index].feed_forward(x), f"layers[{index}].feed_forward(x)", axes=AXES).close_to(
            oracle(feed, x, *own)
        )


@check(
    "the logits are those of tokens, layers, norm and head, applied one after the other",
    aspect="values",
    points=2,
    follows=["test_model_parameters"],
    asked=["h = x + attention(norm1(x))", "y = h + feed_forward(norm2(h))", "logits = head(norm(y_last))"],
)
def test_model_parts(submission, draw):
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
    expect(found, "logits", axes=LOGITS).same_as(wanted, name="its own parts, applied one after the other,")


@check(
    "with the cache, a text read in pieces gets the logits of the whole",
    aspect="cache",
    points=2.5,
    follows=["test_cache"],
    asked=["with one, only what is new since.", "in pieces or in one go"],
)
def test_model_cache(submission, draw):
    model = built(submission, draw)
    tokens = draw.integers(0, SIZES[0], batch=2, time=8)
    with precondition("forward must return (logits [B, T, V], cache)"), torch.no_grad():
        whole = output_of(model(tokens))
        expect(whole, "logits", axes=LOGITS).is_tensor(shape=(2, 8, SIZES[0])).is_finite()
    for lengths in ((3, 1, 1, 1), (2, 4, 2)):
        compare_pieces(model, whole, tokens, lengths, "logits", LOGITS)


@check(
    "the same cache can be continued more than once",
    aspect="cache",
    follows=["test_model_cache"],
    asked="each with its own cache, and the same cache may be continued more than once.",
    on_workers_word="logits that the reader hands on are compared with what the model gives for drawn texts in one go",
)
def test_cache_twice(submission, draw):
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
    "gradients reach every parameter of the model",
    aspect="gradient",
    follows=[
        "test_norm_gradients",
        "test_gradients",
        "test_feed_forward",
        "test_model_parts",
        "test_model_cache",
    ],
    asked="Gradients reach all inputs and parameters",
)
def test_model_gradients(submission, draw):
    contract, right, call = part("ModernLM", draw)
    contract.expect_gradients(submission, right, draw, [call])


@check(
    "however the model is called, its logits are those of these tokens, cache and parameters, which stay as they were",
    aspect="arguments",
    follows=["test_norm_promises", "test_attention_promises", "test_model_parts", "test_model_cache"],
    asked=[
        "Outputs have the dtype of the module, with a cache too, and float64 is computed in float64.",
        "Arguments, caches too, are left as they were and need not be contiguous in memory.",
    ],
)
def test_model_promises(submission, draw):
    contract, right, call = part("ModernLM", draw)
    contract.expect(submission, right, draw, [call])


# --- trained weights ---


@check(
    "with the trained weights the logits of new stories are those that the model was trained to give",
    aspect="values",
    points=3.5,
    follows=["test_norm_values", "test_attention_values", "test_feed_forward", "test_model_parts"],
    asked="your model loads them, gives the logits that they were trained to give",
)
def test_checkpoint(submission, draw):
    model, state = trained(submission, draw)
    sizes, prompts = STORY["SIZES"], beginnings()
    tokens = with_axes(prompts.to(draw.device), "batch", "time")

    def right(state):
        return read(prompts, sizes["num_heads"], sizes["num_kv_heads"], state)

    with torch.no_grad():
        found = output_of(model(tokens))
    expect(found, "logits of stories", axes=LOGITS).close_to(oracle(right, state))


@check(
    "it continues a story as it should, always with the best character",
    aspect="values",
    points=2.5,
    follows=["test_checkpoint"],
    asked="and writes its text",
)
def test_text(submission, draw):
    model, _ = trained(submission, draw)
    prompts = tokens = beginnings()
    with torch.no_grad():
        for _ in range(WRITTEN):
            best, _ = best_characters(model(with_axes(tokens.to(draw.device), "batch", "time")), STORIES)
            tokens = torch.cat((tokens, best), dim=1)
    expect_best(prompts, tokens[:, BEGUN:])


@check(
    "it writes the same text with the cache, one character at a time",
    aspect="cache",
    points=2.5,
    follows=["test_model_cache", "test_checkpoint", "test_text"],
    asked=["and writes its text", "with one, only what is new since."],
)
def test_text_cached(submission, draw):
    model, _ = trained(submission, draw)
    prompts = best = beginnings()
    cache, written = None, []
    with torch.no_grad():
        for _ in range(WRITTEN):
            new = with_axes(best.to(draw.device), "batch", "time")
            best, cache = best_characters(model(new) if cache is None else model(new, cache), STORIES)
            written.append(best)
    expect_best(prompts, torch.cat(written, dim=1))


@check(
    "the norm is written from scratch",
    aspect="scratch",
    asked="torch's own RMSNorm is what you are writing, so do not use it.",
)
def test_from_scratch(submission, draw):
    with precondition("norm and model must return something"):
        submission.RMSNorm(D)(draw.normal(batch=2, time=3, width=D))
        submission.ModernLM(*SIZES)(draw.integers(0, SIZES[0], batch=1, time=3))
    expect_from_scratch(submission)
