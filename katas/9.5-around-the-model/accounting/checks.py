"""Checks of 9.5.5. What is right is counted on a walk through the model, tensor by tensor and product by product."""

from __future__ import annotations

import math
from itertools import product
from types import SimpleNamespace

import torch

from grader.checks import Expected, check, expect, expect_raises, expect_unchanged

SIZES = {"float32": 4, "bfloat16": 2, "float16": 2}
KEPT = {"sgd": 0, "momentum": 1, "adamw": 2}
PLAIN = {"learned_positions": 0, "gated": False, "bias": False, "norm": "rms", "tied": True}
PUBLISHED = {
    "GPT-2": (124_439_808, {"vocab_size": 50257, "d_model": 768, "num_layers": 12, "num_heads": 12, "num_kv_heads": 12,
                            "d_ff": 3072, "learned_positions": 1024, "bias": True, "norm": "layer"}),
    "GPT-2 XL": (1_557_611_200, {"vocab_size": 50257, "d_model": 1600, "num_layers": 48, "num_heads": 25,
                                 "num_kv_heads": 25, "d_ff": 6400, "learned_positions": 1024, "bias": True,
                                 "norm": "layer"}),
    "SmolLM2-135M": (134_515_008, {"vocab_size": 49152, "d_model": 576, "num_layers": 30, "num_heads": 9,
                                   "num_kv_heads": 3, "d_ff": 1536, "gated": True}),
}  # fmt: skip
LARGE = {"vocab_size": 256_002, "d_model": 3_112_023, "num_layers": 123, "num_heads": 123, "num_kv_heads": 41,
         "d_ff": 7_372_701, "gated": True, "tied": False, "norm": "layer"}  # fmt: skip
"""A model of more than 2^53 numbers, an odd one, of which an odd one is kept of each token: rounding would show."""
LAW = ("E", "A", "alpha", "B", "beta")


# --- what is right ---


class Walk:
    """A walk through a model of such sizes by a text: its tensors, its products, what is kept of them."""

    def __init__(self, sizes, tokens=0):
        self.c, self.tokens = SimpleNamespace(**{**PLAIN, **sizes}), tokens
        self.numbers = self.operations = self.kept = self.cached = 0
        c, head = self.c, self.c.d_model // self.c.num_heads
        self.numbers += (c.vocab_size + c.learned_positions) * c.d_model
        for _ in range(c.num_layers):
            self.norm()
            keys = self.linear(c.d_model, c.num_kv_heads * head)
            values = self.linear(c.d_model, c.num_kv_heads * head)
            self.cached += tokens * (keys + values)
            self.reads(c.d_model)  # once for the three
            self.reads(self.linear(c.d_model, c.num_heads * head) + keys + values)  # attention
            for _ in range(c.num_heads):
                self.multiply(tokens, head, tokens)
                self.multiply(tokens, tokens, head)
            self.reads(c.d_model)
            self.linear(c.num_heads * head, c.d_model)
            self.norm()
            self.reads(c.d_model)
            self.reads(self.linear(c.d_model, c.d_ff))
            if c.gated:
                self.reads(self.linear(c.d_model, c.d_ff))
            self.reads(c.d_ff)
            self.linear(c.d_ff, c.d_model)
        self.norm()
        self.reads(c.d_model)
        self.multiply(tokens, c.d_model, c.vocab_size)
        self.reads(c.vocab_size)  # the loss
        if not c.tied:
            self.numbers += c.vocab_size * c.d_model

    def norm(self):
        self.reads(self.c.d_model)
        self.numbers += self.c.d_model
        if self.c.norm == "layer":
            self.numbers += self.c.d_model

    def linear(self, inputs, outputs):
        self.numbers += inputs * outputs
        if self.c.bias:
            self.numbers += outputs
        self.multiply(self.tokens, inputs, outputs)
        return outputs

    def multiply(self, rows, inner, columns):
        self.operations += 2 * rows * inner * columns

    def reads(self, width):
        self.kept += self.tokens * width


def right_bytes(sizes, batch, dtype, optimizer):
    walk, size = Walk(sizes, batch), SIZES[dtype]
    master = 4 if size < 4 else 0
    return walk.numbers * (size + size + master + 4 * KEPT[optimizer]) + walk.kept * size


# --- helpers ---


def plain(draw):
    """Draw sizes that all differ, with as many heads of keys and values as of queries."""
    heads, head, layers = draw.sizes(3, 2, 6)
    width = heads * head
    return {"vocab_size": draw.size(50, 90), "d_model": width, "num_layers": layers, "num_heads": heads,
            "num_kv_heads": heads, "d_ff": 2 * width + draw.size(1, 9)}  # fmt: skip


def shared(draw):
    """Draw sizes where several query heads share one of keys and values, and there is more than one of these."""
    sizes, groups = plain(draw), draw.size(2, 4)
    heads = groups * (draw.size(2, 4))
    width = heads * (sizes["num_layers"] + 1)
    return {**sizes, "num_heads": heads, "num_kv_heads": groups, "d_model": width, "d_ff": 2 * width + draw.size(1, 9)}


def each_kind(draw):
    """Draw a model of each kind, and one with everything different from the first, with what to call it."""
    several = {
        "": plain(draw), " with shared keys and values": shared(draw), " with a gate": {**plain(draw), "gated": True},
        " with biases": {**shared(draw), "bias": True}, " with layer norms": {**plain(draw), "norm": "layer"},
        " with learned positions": {**plain(draw), "learned_positions": draw.size(20, 40)},
        " with an unembedding of its own": {**plain(draw), "tied": False},
    }  # fmt: skip
    every = {"learned_positions": draw.size(20, 40), "gated": True, "bias": True, "norm": "layer", "tied": False}
    return [*several.items(), (" with all of that", {**shared(draw), **every})]


def config_of(submission, sizes):
    return submission.Config(**sizes)


def counted(found, name, right, sizes):
    """Compare a count with what is right, and say of which sizes."""
    expect(found, name).is_value(right, why=", ".join(f"{size} {value}" for size, value in sizes.items()))


def near(found, name, wanted, tolerance):
    """Compare a Python float with what is right, within a share of it."""
    expect(found, name).is_scalar(float)
    right = Expected(torch.tensor(wanted, dtype=torch.float64), tolerance * abs(wanted), torch.float64)
    expect(torch.tensor(found, dtype=torch.float64), name).close_to(right)


def drawn_law(draw):
    """Draw a law of two unlike exponents, whose terms are between 0.6 and 2 at 10^6 parameters, and at 10^8 tokens."""
    low = draw.size(24, 33) / 100
    high = low + draw.size(12, 17) / 100
    alpha, beta = (low, high) if draw.size(0, 1) else (high, low)
    scale = [draw.size(60, 200) / 100 for _ in "nd"]
    return draw.size(120, 220) / 100, scale[0] * 1e6**alpha, alpha, scale[1] * 1e8**beta, beta


def loss_of(law, n, d):
    E, A, alpha, B, beta = law
    return E + A / n**alpha + B / d**beta


def runs_of(draw, law, noise=0.0, side=7):
    """Draw runs over four decades of n and of d, in any order; each loss is off by some `noise`."""
    places = [(1e6 * 10 ** (4 * i / (side - 1)), 1e8 * 10 ** (4 * j / (side - 1)))
              for i, j in product(range(side), repeat=2)]  # fmt: skip
    places = [places[place] for place in draw.permutation(len(places)).tolist()]
    off = draw.normal(run=len(places)).tolist()
    loss = [loss_of(law, *place) * math.exp(noise * value) for place, value in zip(places, off, strict=True)]
    return [n for n, _ in places], [d for _, d in places], loss


def expect_law(found, law, tolerance=0.01, said=""):
    found = expect(found, f"the law{said}").is_tuple(5)
    for name, value, wanted in zip(LAW, found, law, strict=True):
        near(value, f"{name}{said}", wanted, tolerance)


# --- parameters ---


@check(aspect="values", points=2)
def test_published(submission):
    """parameters has the published totals of GPT-2, GPT-2 XL and SmolLM2-135M

    > Count the numbers that a model learns, each once.
    """
    for name, (total, sizes) in PUBLISHED.items():
        found = submission.parameters(config_of(submission, sizes))
        counted(found, f"parameters of {name}", total, sizes)


@check(aspect="values", points=3)
def test_parameters(submission, draw):
    """parameters is right for any sizes, with each part there or not there

    > Count the numbers that a model learns, each once.
    """
    for kind, sizes in each_kind(draw):
        found = submission.parameters(config_of(submission, sizes))
        counted(found, f"parameters of a model{kind}", Walk(sizes).numbers, sizes)


# --- flops ---


@check(aspect="values", points=3)
def test_flops(submission, draw):
    """flops counts every matrix product of the forward pass, and nothing else

    > A product of [m, k] and [k, n] has 2·m·k·n. Nothing else counts
    """
    for kind, sizes in each_kind(draw):
        tokens = draw.size(7, 30)
        found = submission.flops(config_of(submission, sizes), tokens)
        counted(found, f"flops of {tokens} tokens, by a model{kind}", Walk(sizes, tokens).operations, sizes)


@check(aspect="values", points=2, follows=test_flops)
def test_lengths(submission, draw):
    """flops is right for no token, for one, and for a text in which attention costs more than all the rest

    > Scores and averages are counted for all T·T pairs of
      positions, although a causal mask uses only half of them.
    """
    for kind, sizes in (("", plain(draw)), (" with shared keys and values", shared(draw))):
        limit = 6 * (sizes["d_model"] + sizes["vocab_size"])
        for tokens in (0, 1, 2 * limit + draw.size(1, 99)):
            found = submission.flops(config_of(submission, sizes), tokens)
            counted(found, f"flops of {tokens} tokens, by a model{kind}", Walk(sizes, tokens).operations, sizes)


@check(aspect="values", follows=test_flops)
def test_backward(submission, draw):
    """with the backward pass there are three times as many operations

    > an exact int: the forward pass, or three times as much.
    """
    sizes, tokens = {**shared(draw), "gated": True}, draw.size(5, 40)
    config, right = config_of(submission, sizes), Walk(sizes, tokens).operations
    for backward, times in ((True, 3), (False, 1)):
        found = submission.flops(config, tokens, backward)
        counted(found, f"flops with backward={backward}", times * right, sizes)


# --- bytes ---


@check(aspect="values", points=2, follows=test_parameters)
def test_state(submission, draw):
    """without a batch there are weights, gradients, a copy of 2-byte weights, and what the optimizer keeps

    > If that has 2 bytes, a copy of the weights in float32 is kept as well (the
      master weights). What the optimizer keeps is always float32.
    """
    sizes = {**shared(draw), "bias": True, "tied": False}
    config = config_of(submission, sizes)
    for dtype, optimizer in product(SIZES, KEPT):
        found = submission.training_bytes(config, 0, dtype, optimizer)
        right = right_bytes(sizes, 0, dtype, optimizer)
        counted(found, f"bytes for {optimizer} in {dtype}", right, sizes)


@check(aspect="values", points=2.5)
def test_activations(submission, draw):
    """a batch adds its activations, in the dtype, as many for each token

    > Activations have the dtype: for each token of the
      batch L·(6·D + 2·G·D/H + 2·F) + 2·D + V numbers, where gated 3·F in place of 2·F.
    """
    kinds = (plain(draw), shared(draw), {**plain(draw), "gated": True, "tied": False, "learned_positions": 9})
    for sizes, dtype in zip(kinds, SIZES, strict=True):
        config, batch = config_of(submission, sizes), draw.size(2, 60)
        more, none = (submission.training_bytes(config, size, dtype, "adamw") for size in (batch, 0))
        for found in (more, none):
            expect(found, "bytes").is_scalar(int)
        right = Walk(sizes, batch).kept * SIZES[dtype]
        counted(more - none, f"bytes that a batch of {batch} tokens adds, in {dtype}", right, sizes)


@check(aspect="values", points=2)
def test_cache(submission, draw):
    """the cache has keys and values of every layer, of those heads alone that have their own

    > Count the bytes of a full key/value cache.
    """
    for (kind, sizes), dtype in zip(each_kind(draw), [*SIZES] * 3, strict=False):
        batch, tokens = draw.sizes(2, 2, 30)
        found = submission.cache_bytes(config_of(submission, sizes), batch, tokens, dtype)
        right = batch * Walk(sizes, tokens).cached * SIZES[dtype]
        counted(found, f"bytes of a {dtype} cache, of a model{kind}", right, sizes)
    for batch, tokens in ((0, 5), (5, 0)):
        found = submission.cache_bytes(config_of(submission, plain(draw)), batch, tokens, "float32")
        expect(found, f"bytes for {batch} texts of {tokens} tokens").is_value(0)


@check(aspect="dtype", points=1.5, follows=[test_parameters, test_flops, test_state, test_activations, test_cache])
def test_exact(submission, draw):
    """whole numbers stay exact, where a float would have rounded them

    > whole numbers, and stay exact however large they are.
    """
    config, walk = config_of(submission, LARGE), Walk(LARGE, 1)
    expect(submission.parameters(config), "parameters").is_value(walk.numbers)
    tokens = 2 * draw.size(400_000, 500_000) + 1
    linear = walk.operations - 4 * LARGE["num_layers"] * LARGE["d_model"]  # one token meets itself alone
    right = 3 * (tokens * linear + 4 * tokens**2 * LARGE["num_layers"] * LARGE["d_model"])
    expect(submission.flops(config, tokens, True), f"flops of {tokens} tokens").is_value(right)
    right = 16 * walk.numbers + 2 * tokens * walk.kept
    expect(submission.training_bytes(config, tokens, "bfloat16", "adamw"), "bytes of training").is_value(right)
    right = 2 * 999 * tokens * walk.cached
    expect(submission.cache_bytes(config, 999, tokens, "float16"), "bytes of the cache").is_value(right)


# --- mfu ---


@check(aspect="values")
def test_mfu(submission, draw):
    """mfu is the share of the peak that was used, a Python float

    > Return which part of a device's operations went into the model: its utilization (MFU).
    """
    for flops in (0, 10 ** draw.size(9, 12) * draw.size(2, 9), 3.5e15):
        seconds, peak = draw.size(2, 90) / 8, draw.size(3, 99) * 1e12
        near(submission.mfu(flops, seconds, peak), "mfu", flops / seconds / peak, 1e-9)
    near(submission.mfu(9 * 10**14, 3, 3 * 10**14), "mfu of integers, where nothing was wasted", 1.0, 1e-9)


@check(aspect="errors", points=0.5)
def test_peak_refused(submission):
    """mfu refuses negative operations, and a time or a peak that is not positive

    > ValueError: flops is negative, or seconds or peak is not positive.
    """
    for flops, seconds, peak in ((-1, 2.0, 3.0), (5, 0.0, 3.0), (5, -1.0, 3.0), (5, 2.0, 0.0), (5, 2.0, -3.0)):
        with expect_raises("ValueError", f"flops {flops}, seconds {seconds} and peak {peak} cannot be"):
            submission.mfu(flops, seconds, peak)


# --- fit ---


@check(aspect="values", points=2)
def test_fit(submission, draw):
    """fit finds the law that runs without noise follow

    > Of runs without noise all five numbers should be right to 1%.
    """
    for side in (7, 5, 6):
        law = drawn_law(draw)
        expect_law(submission.fit(*runs_of(draw, law, side=side)), law)


@check(aspect="values", points=2, needs=test_fit)
def test_noise(submission, draw):
    """fit comes near the law where each loss is off by some 0.3%

    > E should be right to 3% and each
      exponent to 0.05, and at each run the law should be within 1% of the true one.
    """
    law = drawn_law(draw)
    n, d, loss = runs_of(draw, law, noise=0.003)
    found = expect(submission.fit(n, d, loss), "the law").is_tuple(5)
    for name, value in zip(LAW, found, strict=True):
        expect(value, name).is_scalar(float)
    near(found[0], "E", law[0], 0.03)
    for place in (2, 4):
        near(found[place], LAW[place], law[place], 0.05 / law[place])
    for run in range(0, len(n), 6):
        near(loss_of(found, n[run], d[run]), "loss by the law", loss_of(law, n[run], d[run]), 0.01)


@check(aspect="values", follows=test_fit)
def test_few_runs(submission, draw):
    """five runs are enough if they cross, with integers among them

    > fewer than five different (n, d), fewer than three different n or three different d
    """
    law = drawn_law(draw)
    n, d = [10**6, 10**8, 10**10, 10**8, 10**8], [10**10, 10**10, 10**10, 10**8, 10**12]
    expect_law(submission.fit(n, d, [loss_of(law, *run) for run in zip(n, d, strict=True)]), law, said=" of five runs")


@check(aspect="errors", points=2)
def test_runs_refused(submission, draw):
    """fit refuses lists of different lengths, numbers that are not positive, and runs that leave the law open

    > or the runs leave the law
            open
    """
    law = drawn_law(draw)

    def refuses(n, d, loss, what):
        with expect_raises("ValueError", what):
            submission.fit(n, d, loss)

    n, d, loss = runs_of(draw, law, side=4)
    for short in range(3):
        lists = [values[:-1] if place == short else values for place, values in enumerate((n, d, loss))]
        refuses(*lists, f"there are {', '.join(str(len(values)) for values in lists)} numbers of n, d and loss")
    for wrong, value in product(range(3), (0.0, -1.5, math.inf, math.nan)):
        lists = [[*values[:3], value, *values[4:]] if place == wrong else values
                 for place, values in enumerate((n, d, loss))]  # fmt: skip
        refuses(*lists, f"{('n', 'd', 'loss')[wrong]} has {value}")

    def open_(places, what):
        n, d = [list(values) for values in zip(*places, strict=True)]
        refuses(n, d, [loss_of(law, *place) for place in places], what)

    refuses([], [], [], "there is no run")
    open_([(1e6, 1e8), (1e7, 1e9), (1e8, 1e8), (1e9, 1e10)], "there are four runs")
    open_([(1e6, 1e8), (1e7, 1e9), (1e8, 1e8), (1e9, 1e10)] * 2, "there are four runs, each twice")
    open_(list(product((1e6, 1e8), (1e8, 1e9, 1e10, 1e11))), "there are two different n")
    open_(list(product((1e6, 1e7, 1e8, 1e9), (1e8, 1e10))), "there are two different d")
    open_([(value, 20 * value) for value in (1e6, 4e6, 1e7, 5e7, 1e8, 1e9)], "all d are 20·n")
    open_([(value, value**1.5) for value in (1e6, 4e6, 1e7, 5e7, 1e8, 1e9)], "all d are a power of n")


# --- all ---

FUNCTIONS = {
    "parameters": (),
    "flops": (5,),
    "training_bytes": (3, "float32", "adamw"),
    "cache_bytes": (2, 5, "float16"),
}
"""Functions that take a Config, with what else they take."""


@check(aspect="errors", points=2)
def test_config_refused(submission, draw):
    """what is not a model is refused by every function that takes a Config

    > Functions that take a Config raise ValueError if one of its sizes is below 1 (`learned_positions`: below 0), if
      `num_heads` does not divide `d_model`, if `num_kv_heads` does not divide `num_heads`, or if `norm` is unknown.
    """
    right = {"vocab_size": 40, "d_model": 24, "num_layers": 2, "num_heads": 6, "num_kv_heads": 3, "d_ff": 30}
    wrong = [{name: value} for name in right for value in (0, -draw.size(1, 3))]
    wrong += [{"learned_positions": -1}, {"num_heads": 7, "num_kv_heads": 7}, {"num_kv_heads": 4},
              {"num_kv_heads": 12}, {"norm": "batch"}]  # fmt: skip
    for name, rest in FUNCTIONS.items():
        for change in wrong:
            config = config_of(submission, {**right, **change})
            with expect_raises("ValueError", ", ".join(f"{size} is {value!r}" for size, value in change.items())):
                getattr(submission, name)(config, *rest)


@check(aspect="errors", points=1.5)
def test_refused(submission, draw):
    """negative counts, and dtypes and optimizers that there are not, are refused

    > ValueError: a size in the Config cannot be, batch is negative, or dtype or optimizer is unknown.
    """
    config = config_of(submission, plain(draw))
    for name, place, value in (("flops", 0, -1), ("training_bytes", 0, -2), ("training_bytes", 1, "float8"),
                               ("training_bytes", 2, "lion"), ("cache_bytes", 0, -3), ("cache_bytes", 1, -1),
                               ("cache_bytes", 2, "int7")):  # fmt: skip
        rest = [*FUNCTIONS[name][:place], value, *FUNCTIONS[name][place + 1 :]]
        with expect_raises("ValueError", f"{value!r} is not possible"):
            getattr(submission, name)(config, *rest)


@check(aspect="arguments", follows=[test_parameters, test_flops, test_state, test_activations, test_cache, test_fit])
def test_forms(submission, draw):
    """arguments may be given by name, and calls know nothing of each other and change nothing

    > All may be given by position or
      by name.
    > Arguments are left as they were
    """
    for sizes in (shared(draw), plain(draw)):
        config, batch, tokens = config_of(submission, sizes), draw.size(2, 9), draw.size(2, 9)
        walk, kept = Walk(sizes, tokens), right_bytes(sizes, batch, "bfloat16", "momentum")
        expect(submission.parameters(config=config), "parameters").is_value(walk.numbers)
        found = submission.flops(config=config, tokens=tokens, backward=True)
        expect(found, "flops").is_value(3 * walk.operations)
        found = submission.training_bytes(config=config, batch=batch, dtype="bfloat16", optimizer="momentum")
        expect(found, "bytes of training").is_value(kept)
        found = submission.cache_bytes(config=config, batch=batch, tokens=tokens, dtype="float16")
        expect(found, "bytes of the cache").is_value(2 * batch * walk.cached)
        near(submission.mfu(flops=batch, seconds=2.0, peak=8.0), "mfu", batch / 16, 1e-9)
        law = drawn_law(draw)
        n, d, loss = runs_of(draw, law, side=5)
        found = submission.fit(n=n, d=d, loss=loss)
        expect_unchanged(submission)
        expect_law(found, law)
