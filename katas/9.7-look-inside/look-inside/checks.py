"""Checks of 9.7.1. Measures are compared in float64, probes where no rounding decides, models with sums over heads.

`probes` runs next to the submission: it has models with the parts that `ablate_heads` is told of. What they compute
without some heads comes from `read` and `stacked` in here.
"""

from __future__ import annotations

import random
import runpy
from contextlib import ExitStack
from pathlib import Path

import torch
from torch.nn import functional as F

from grader.checks import (
    Part,
    check,
    expect,
    expect_raises,
    expect_unchanged,
    fail,
    given_module,
    oracle,
    precondition,
    same_tensors,
    supposing,
    with_axes,
)

STORY = runpy.run_path(str(Path(__file__).parents[2] / "given" / "story.py"))
SIZES = (11, 24, 6, 2, 13, 3, 32)
"""vocab_size, d_model, num_heads, num_kv_heads, d_ff, num_layers, max_len of the small ModernLM."""
D, H, LAYERS = 12, 4, 3
"""Width, heads and layers of the small stacks."""
DTYPES = (torch.float64, torch.bfloat16)
WORD = "outputs for drawn inputs, and steps of training, are compared with what is computed here"
"""Why what a model of `probes` gives is enough."""


# --- what is right: measures ---


def right_entropy(weights):
    return torch.special.entr(weights).sum(-1)


def right_induction(period):
    def score(weights):
        found = [weights[..., t, t - period + 1] for t in range(period, weights.shape[-1])]
        return torch.stack(found).mean(0)

    return score


def attended(draw, *lead, queries, keys, hidden=None):
    """Return weights [.., Tq, Tk] as a softmax makes them; keys that are `hidden` [Tq, Tk] get 0."""
    names = ("batch", "head")[: len(lead)]
    scores = draw.normal(**dict(zip(names, lead, strict=True)), query=queries, key=keys, scale=2.0).double()
    if hidden is not None:
        scores = scores.masked_fill(hidden.to(scores.device), -torch.inf)
    weights = scores.softmax(-1).nan_to_num(0.0).float()
    return with_axes(weights, *names, "query", "key")


def measured(found, right, weights, name, axes):
    return expect(found, name, axes=axes).close_to(oracle(right, weights))


# --- what is right: models ---


def rms(x, weight):
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    return (wide * (wide.square().mean(-1, keepdim=True) + 1e-6).rsqrt()).to(x.dtype) * weight


def turned(x):
    wide = torch.promote_types(torch.get_default_dtype(), torch.float32)
    columns = torch.arange(0, x.shape[-1], 2, dtype=wide)
    angle = torch.arange(x.shape[-2], dtype=wide)[:, None] * 10000.0 ** (-columns / x.shape[-1])
    cosine, sine = angle.cos().to(x), angle.sin().to(x)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cosine - b * sine, a * sine + b * cosine), dim=-1).flatten(-2)


def heads_of(x, context, state, part, num_heads, num_kv_heads, modern):
    """Return the weights [B, H, T, T] of an attention, and what each head gives [B, H, T, d]."""
    q, k, v = (
        F.linear(source, state[f"{part}.{name}.weight"], state.get(f"{part}.{name}.bias"))
        .unflatten(-1, (count, -1))
        .transpose(1, 2)
        for name, count, source in (
            ("w_q", num_heads, x),
            ("w_k", num_kv_heads, context),
            ("w_v", num_kv_heads, context),
        )
    )
    k, v = (one.repeat_interleave(num_heads // num_kv_heads, dim=1) for one in (k, v))
    if modern:
        q, k = turned(q), turned(k)
    scores = q @ k.mT * q.shape[-1] ** -0.5
    if modern:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), -torch.inf)
    weights = scores.softmax(-1)
    return weights, weights @ v


def attend(x, context, state, part, off, *sizes):
    """Return what an attention gives without the heads that are off: a sum over the others, and the bias."""
    _, each = heads_of(x, context, state, part, *sizes)
    blocks = state[f"{part}.w_o.weight"].chunk(each.shape[1], dim=1)  # a head's columns
    parts = [F.linear(each[:, h], blocks[h]) for h in range(each.shape[1]) if h not in off]
    total = sum(parts) if parts else torch.zeros_like(x)
    bias = state.get(f"{part}.w_o.bias")
    return total if bias is None else total + bias


def read(tokens, state, off, num_heads, num_kv_heads, kept=None):
    """Return the logits of a ModernLM without the heads of `off`, {layer: heads}; keep all weights in `kept`."""
    x = F.embedding(tokens, state["tokens.weight"])
    for index in range(sum(name.endswith("norm1.weight") for name in state)):
        part = f"layers.{index}"
        y = rms(x, state[f"{part}.norm1.weight"])
        sizes = (num_heads, num_kv_heads, True)
        if kept is not None:
            kept.append(heads_of(y, y, state, f"{part}.attention", *sizes)[0])
        x = x + attend(y, y, state, f"{part}.attention", off.get(index, ()), *sizes)
        y = rms(x, state[f"{part}.norm2.weight"])
        gate, linear1, linear2 = (
            state[f"{part}.feed_forward.{n}.weight"] for n in ("gate", "linear1", "linear2")
        )
        x = x + F.linear(F.silu(F.linear(y, gate)) * F.linear(y, linear1), linear2)
    return F.linear(rms(x, state["norm.weight"]), state["head.weight"])


def stacked(x, state, off, crossing):
    """Return what a Stack gives without the heads of `off`, which are those of its attention to x itself."""
    for index in range(LAYERS):
        name = "self_attention" if crossing else "attention"
        x = x + attend(x, x, state, f"layers.{index}.{name}", off.get(index, ()), H, H, False)
        if crossing:
            x = x + attend(x, x.flip(1), state, f"layers.{index}.cross_attention", (), H, H, False)
    return x


# --- helpers: models in the worker ---


def drawn(draw, state, scale):
    """Draw all parameters anew, in the shapes of a state; outputs are `scale` times as large as inputs."""
    return {
        name: draw.normal(out=tensor.shape[0], width=tensor.shape[1], scale=scale * tensor.shape[1] ** -0.5)
        if tensor.ndim == 2
        else draw.normal(width=len(tensor), shift=float("norm" in name), scale=0.4)
        for name, tensor in state.items()
    }


class Patient:
    """A model in the worker, and what it should give without some heads."""

    def __init__(self, submission, draw, kind, state=None):
        probes = given_module(submission, "probes")
        self.kind, self.axes = kind, "batch time token" if kind == "lm" else "batch time width"
        self.sizes = SIZES if state is None else tuple(STORY["SIZES"].values())
        if kind == "lm":
            self.model = probes.ModernLM(*self.sizes)
        else:
            self.model = probes.Stack(LAYERS, D, H, crossing=kind == "decoder")
        self.model.to(draw.device)
        # A stack has no norms: what it reads grows from layer to layer, and rounding with it.
        self.state = state or drawn(draw, self.model.state_dict(), 1.5 if kind == "lm" else 0.8)
        self.model.load_state_dict({name: tensor.to(draw.device) for name, tensor in self.state.items()})
        self.ablate_heads = submission.ablate_heads
        if kind == "lm":
            self.x = draw.integers(0, self.sizes[0], batch=2, time=6)
        else:
            self.x = draw.normal(batch=2, time=5, width=D)

    def right(self, *places, state=None):
        """Return the oracle's output without the heads of places (layer, heads)."""
        off, named = {}, state or self.state
        for layer, heads in places:
            off[layer] = {*off.get(layer, ()), *heads}

        def compute(*numbers):
            state = dict(zip(named, numbers, strict=False))
            if self.kind == "lm":
                return read(self.x.cpu(), state, off, *self.sizes[2:4])
            return stacked(numbers[-1], state, off, self.kind == "decoder")

        more = () if self.kind == "lm" else (self.x,)
        return oracle(compute, *(tensor.to(self.x.device) for tensor in named.values()), *more)

    def slips(self, places):
        """Return what zeros at the wrong places of w_o give."""

        def by(zeroed):
            state = {name: tensor.clone() for name, tensor in self.state.items()}
            attention = "self_attention" if self.kind == "decoder" else "attention"
            for layer, heads in places:
                part = f"layers.{layer}.{attention}.w_o"
                size = state[f"{part}.weight"].shape[0]
                width = size // (self.sizes[2] if self.kind == "lm" else H)
                for head in heads:
                    zeroed(state, part, slice(head * width, (head + 1) * width))
            return self.right(state=state).value.float()

        def rows(state, part, where):
            state[f"{part}.weight"][where] = 0.0

        def rows_and_bias(state, part, where):
            for name in (f"{part}.weight", f"{part}.bias"):
                if name in state:
                    state[name][where] = 0.0

        def columns_and_bias(state, part, where):
            state[f"{part}.weight"][:, where] = 0.0
            if f"{part}.bias" in state:
                state[f"{part}.bias"].zero_()

        return {
            "your zeros are in w_o's output, to which every head writes; put them in the head's columns of its "
            "input": lambda: [
                by(rows),
                by(rows_and_bias),
            ],
            "your w_o loses its bias, too; it should keep it, as the bias belongs to no head": lambda: by(
                columns_and_bias
            ),
            "your ablate_heads changes nothing with these heads; its hook should be called, and its slice of columns "
            "hold some": lambda: self.right().value.float(),
        }

    def __call__(self):
        with torch.no_grad():
            return self.model(self.x)

    def off(self, *places, after=None):
        """Return the output inside of nested blocks, (layer, heads) each; `after` is one that has ended in them."""
        with ExitStack() as stack, torch.no_grad():
            for layer, heads in places:
                stack.enter_context(self.ablate_heads(self.model, layer, heads))
            if after is not None:
                with self.ablate_heads(self.model, *after):
                    self()
            return self()

    def moved(self, x, slope):
        """Return what a step of training makes of the parameters, the gradient of the output being `slope`."""

        def step(state, x, slope):
            with torch.enable_grad():
                leaves = [value.detach().clone().requires_grad_() for value in state.values()]
                named = dict(zip(state, leaves, strict=True))
                if self.kind == "lm":
                    found = read(x, named, {}, *self.sizes[2:4])
                else:
                    found = stacked(x, named, {}, self.kind == "decoder")
                slopes = torch.autograd.grad((found * slope).sum(), leaves)
            return tuple(value - by for value, by in zip(leaves, slopes, strict=True))

        return dict(zip(self.state, oracle(step, self.state, x, slope), strict=True))

    def expect_learns(self, optimizer, slope):
        """Demand that an optimizer from before the blocks moves every parameter that the model has."""
        optimizer.step(self.x, slope)
        now, wanted = self.model.state_dict(), self.moved(self.x, slope)
        left = [name for name, value in self.state.items() if torch.equal(now[name].cpu(), value.cpu())]
        if left:
            fail(
                f"parameters  {left[0]}  is not the parameter that it was",
                "  after the block it is another object, or no longer trains: an optimizer would keep the old one",
                stage="values",
            )
        for name, right in wanted.items():
            expect(now[name], f"{name} after a step of training").close_to(right)

    def compare(self, *places, after=None):
        """Compare the output inside of blocks with the right one; with `after`, when a block in them has ended."""
        found = self.off(*places, after=after)
        name = "output with " + " and ".join(
            f"heads {list(heads)} of layer {layer} off" for layer, heads in places
        )
        with supposing(lambda: self.slips(places)):
            expect(found, name if places else "output", axes=self.axes).close_to(self.right(*places))

    def expect_as_before(self, output, when):
        """Demand that the model is what it was: its parameters bit by bit, and what it computes."""
        expect(output, "output before the block", axes=self.axes).close_to(self.right())
        now = self.model.state_dict()
        for name, tensor in self.state.items():
            if name not in now or not torch.equal(now[name].cpu(), tensor.cpu()):
                fail(
                    f"not undone  {name}  differs from what it was before the block",
                    f"  looked at {when}; every parameter has to be the same, bit for bit",
                    stage="values",
                )
        if not torch.equal(self().cpu(), output.cpu()):
            fail(
                f"not undone  the model computes something else {when}",
                "  its parameters are as they were: a hook, a function or a module is left behind",
                stage="values",
            )


def repeated_names(period=24, texts=2, copies=3):
    """Return texts of made-up names, as the stories have them, repeated; always the same ones."""
    found, seed = [], 0
    while len(found) < texts:
        chance = random.Random(seed)
        seed += 1
        name = STORY["_name"]
        text = "".join(name(chance) + " " for _ in range(4))
        if len(text) == period:
            found.append(STORY["encode"](text * copies))
    return torch.stack(found)


def measure(name, draw):
    """Return the contract of a measure, the right function, and a call."""
    weights = {"weights": attended(draw, 2, 3, queries=12, keys=12)}
    if name == "attention_entropy":
        contract = Part(name, outputs=["entropy"], axes=["batch head query"], dtypes=DTYPES, gradients=False)
        return contract, right_entropy, weights
    contract = Part(name, outputs=["score"], axes=["batch head"], dtypes=DTYPES)
    return contract, lambda weights, period: right_induction(period)(weights), weights | {"period": 3}


# --- attention_entropy ---


@check(aspect="shape")
def test_entropy_shape(submission, draw):
    """every query gets one number: [.., Tq, Tk] becomes [.., Tq]

    > weights: [.., Tq, Tk], any number of axes in front.
    """
    for lead, queries, keys in (((), 3, 5), ((2,), 1, 4), ((2, 3), 4, 2), ((1, 2), 3, 1)):
        weights = attended(draw, *lead, queries=queries, keys=keys)
        found = submission.attention_entropy(weights)
        expect(found, "entropy").is_tensor(shape=(*lead, queries), dtype=torch.float32)


@check(aspect="values", points=2.5, follows=test_entropy_shape)
def test_entropy_values(submission, draw):
    """the entropy is -Σ w · ln w over the keys of each query

    > -Σ w · ln w over the keys.
    > in nats (natural logarithms)
    """
    for lead, queries, keys in (((2, 3), 4, 6), ((2,), 1, 70)):
        weights = attended(draw, *lead, queries=queries, keys=keys)
        axes = " ".join([*("batch", "head")[: len(lead)], "query"])
        measured(submission.attention_entropy(weights), right_entropy, weights, "entropy", axes)
    even = torch.full((2, 8), 1 / 8, device=draw.device)
    measured(submission.attention_entropy(even), right_entropy, even, "entropy of 8 equal weights", "query")


@check(aspect="masks", points=2.5, follows=test_entropy_values)
def test_entropy_zeros(submission, draw):
    """a weight of 0 adds 0: masked keys, a query that sees one key, one that sees nothing

    > A weight of 0 adds 0.
    > or to zero where it may attend to nothing.
    """
    future = torch.ones(6, 6, dtype=torch.bool).triu(1)
    weights = attended(draw, 2, 2, queries=6, keys=6, hidden=future)
    found = submission.attention_entropy(weights)
    expect(found, "entropy under a causal mask", axes="batch head query").close_to(
        oracle(right_entropy, weights)
    )
    nothing = torch.zeros(3, 5, dtype=torch.bool)
    nothing[1] = True
    weights = attended(draw, queries=3, keys=5, hidden=nothing)
    found = submission.attention_entropy(weights)
    expect(found, "entropy where query 1 sees nothing", axes="query").close_to(oracle(right_entropy, weights))


@check(aspect="gradient", points=2)
def test_entropy_gradients(submission, draw):
    """gradients reach the weights, and are finite at a weight of 0

    > Gradients reach the weights, and are finite at a weight of 0 as well.
    """
    contract, right, call = measure("attention_entropy", draw)
    contract.expect_gradients(submission, right, draw, [call])
    future = torch.ones(4, 4, dtype=torch.bool).triu(1)
    masked = attended(draw, 2, queries=4, keys=4, hidden=future).requires_grad_()
    entropy = submission.attention_entropy(masked)
    with precondition("the entropy must be a tensor [.., Tq]"):
        expect(entropy, "entropy", axes="batch query").is_tensor(shape=(2, 4))
    entropy.sum().backward()
    if masked.grad is None:
        fail("no gradient reaches the weights", stage="gradients")
    expect(masked.grad, "gradient of the weights under a causal mask", axes="batch query key").is_finite()


# --- induction_score ---


@check(aspect="shape")
def test_induction_shape(submission, draw):
    """every head gets one number: [.., T, T] becomes [..]

    > weights: [.., T, T], queries by keys, any number of axes in front.
    """
    for lead in ((), (3,), (2, 3)):
        weights = attended(draw, *lead, queries=7, keys=7)
        expect(submission.induction_score(weights, 3), "score").is_tensor(shape=lead, dtype=torch.float32)


@check(aspect="values", points=3, follows=test_induction_shape)
def test_induction_values(submission, draw):
    """the score is the mean weight from t to t - period + 1, over all t that have a previous copy

    > the mean of weights[.., t, t - period + 1] over the positions t >= period, those that have a previous copy.
    > T need not be a multiple of period.
    """
    for length, period, heads in ((14, 4, 3), (10, 3, 3), (8, 2, 3), (7, 1, 1)):
        weights = attended(draw, 2, heads, queries=length, keys=length)
        # Whether period - 1 counts, which has no previous copy, is the next check's affair: here it changes no mean.
        weights[..., period - 1, 0] = right_induction(period)(weights)
        found = submission.induction_score(weights, period)
        measured(found, right_induction(period), weights, f"score, period={period}", "batch head")


@check(aspect="values", points=1.5, follows=test_induction_values)
def test_induction_first_copy(submission, draw):
    """positions without a previous copy do not count, not even the last of them

    > over the positions t >= period, those that have a previous copy.
    """
    for length, period in ((9, 4), (5, 4)):
        weights = attended(draw, 2, queries=length, keys=length)
        weights[:, :period] = 1 / length
        weights[:, period - 1] = 0.0
        weights[:, period - 1, 0] = 1.0
        found = submission.induction_score(weights, period)
        measured(found, right_induction(period), weights, f"score, period={period}", "batch")


@check(aspect="errors")
def test_induction_errors(submission, draw):
    """a period below 1, or one that leaves no previous copy, raises ValueError

    > ValueError when period is below 1, or when no position has one.
    """
    weights = attended(draw, 2, queries=6, keys=6)
    for period, what in (
        (0, "a text cannot repeat after 0 positions"),
        (6, "in 6 positions nothing is 6 positions back"),
        (9, "in 6 positions nothing is 9 positions back"),
    ):
        with expect_raises("ValueError", what=what):
            submission.induction_score(weights, period)


@check(
    aspect="arguments",
    points=1.5,
    follows=[test_entropy_values, test_induction_values, test_induction_first_copy],
)
def test_measure_promises(submission, draw):
    """however a measure is called, it is that of these weights, in their dtype, and leaves them as they were

    > in the dtype of the weights.
    > Both measures keep the dtype of the weights
    > Arguments are left as they were and need not be contiguous in memory.
    """
    for name in ("attention_entropy", "induction_score"):
        contract, right, call = measure(name, draw)
        contract.expect(submission, right, draw, [call])


@check(aspect="values", follows=[test_entropy_zeros, test_induction_values, test_induction_first_copy])
def test_story_weights(submission, draw):
    """both measures are right on the weights of the trained model

    > `weights` may be those of a whole model, [layers, B, H, T, T]
    """
    kept, sizes = [], STORY["SIZES"]
    with torch.no_grad():
        read(repeated_names(), STORY["weights"](), {}, sizes["num_heads"], sizes["num_kv_heads"], kept)
    weights = with_axes(torch.stack(kept).to(draw.device), "layer", "batch", "head", "query", "key")
    measured(
        submission.attention_entropy(weights),
        right_entropy,
        weights,
        "entropy on stories",
        "layer batch head query",
    )
    measured(
        submission.induction_score(weights, 24),
        right_induction(24),
        weights,
        "score on stories",
        "layer batch head",
    )


# --- probe ---


def clusters(draw, labels, count=6, width=5, spread=0.2, dtype=torch.int64):
    """Return features [N, D] around a far apart centre for each label, and labels [N], shuffled."""
    centers = 4.0 * torch.eye(width, device=draw.device)[: len(labels)]
    which = torch.arange(len(labels), device=draw.device).repeat(count)
    which = which[draw.permutation(len(which))]
    noise = draw.uniform(low=-spread, high=spread, example=len(which), feature=width)
    names = torch.tensor(labels, dtype=dtype, device=draw.device)[which]
    return with_axes(centers[which] + noise, "example", "feature"), with_axes(names, "example")


def fitted(submission, features, labels, **options):
    found = submission.probe(features, labels, **options)
    if not callable(found):
        fail(f"returned {type(found).__name__}; want a function of features", stage="types")
    return found


@check(aspect="values", points=2.5)
def test_probe_labels(submission, draw):
    """the probe returns labels as they were given, whatever whole numbers they are

    > int [N], any whole numbers.
    > for each row the label with the greatest score, [M] in the dtype of labels.
    """
    for names in ([7, -3, 100], [2, 5], [0, 1, 2, 3], [4]):
        dtype = torch.int32 if len(names) == 2 else torch.int64
        features, labels = clusters(draw, names, dtype=dtype)
        new, wanted = clusters(draw, names, count=2, dtype=dtype)
        middle = features.mean(dim=0)  # whether that is taken into account is another check's affair
        features, new = (with_axes(one - middle, "example", "feature") for one in (features, new))
        found = fitted(submission, features, labels)(new)
        expect(found, f"labels of new examples, of {sorted(names)}", axes="example").equals(wanted)


@check(aspect="values", follows=test_probe_labels)
def test_probe_between(submission, draw):
    """an example between two classes gets one of these, not a third whose label lies between theirs

    > ridge regression on one-hot labels
    """
    names = [-2, 0, 1, 5]
    features, labels = clusters(draw, names)
    aside = torch.tensor(
        [6.0, 0, 0, 0, 0]
    )  # far from 0 towards one class: anyone who forgets the middle finds that one
    features = with_axes(features + aside.to(draw.device), "example", "feature")
    places, wanted = [], []
    for one in range(4):
        for other in range(4):
            if one != other:
                place = torch.zeros(5)
                place[one], place[other] = 4 * 0.65, 4 * 0.35
                places.append(place + aside)
                wanted.append(names[one])
    new = with_axes(torch.stack(places).to(draw.device), "example", "feature")
    found = fitted(submission, features, labels)(new)
    expect(found, "labels of examples between two classes", axes="example").equals(
        torch.tensor(wanted, device=draw.device)
    )


UNEVEN = (0.0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 30, 31)
"""Places of examples on a line: those above 4.5 are of one class, and two of them far away."""


def line(draw, shift=0.0):
    """Return UNEVEN as features [N, 1] with labels 0 and 1, and places to ask about [M, 1]."""
    numbers = torch.tensor(UNEVEN)[draw.permutation(len(UNEVEN)).cpu()]
    features = with_axes((numbers[:, None] + shift).to(draw.device), "example", "feature")
    labels = with_axes((numbers > 4.5).long().to(draw.device), "example")
    places = torch.arange(-60.0, 100.0, 0.5)[:, None] + shift
    return features, labels, with_axes(places.to(draw.device), "example", "feature")


def plane(draw):
    """Return three classes of different sizes around places of a plane, and places to ask about."""
    centers = torch.tensor([[0.0, 0.0], [6.0, 1.0], [2.0, 5.0]])
    which = torch.tensor([0] * 9 + [1] * 5 + [2] * 3)
    noise = draw.uniform(low=-0.5, high=0.5, example=len(which), feature=2)
    features = with_axes(centers[which].to(draw.device) + noise, "example", "feature")
    grid = torch.cartesian_prod(torch.arange(-20.0, 26.0, 2.0), torch.arange(-20.0, 26.0, 2.0))
    labels = with_axes(torch.tensor([3, 7, 11])[which].to(draw.device), "example")
    return features, labels, with_axes(grid.to(draw.device), "example", "feature")


def right_labels(features, labels, places, ridge):
    """Return the right labels, and which places are clear of a boundary: no rounding decides there."""
    classes, number = labels.cpu().unique(return_inverse=True)
    x, y = features.cpu().double(), torch.eye(len(classes)).double()[number]
    x_mean, y_mean = x.mean(0), y.mean(0)
    square = (x - x_mean).mT @ (x - x_mean) + ridge * torch.eye(x.shape[1]).double()
    weight = torch.linalg.solve(square, (x - x_mean).mT @ (y - y_mean))
    scores = (places.cpu().double() - x_mean) @ weight + y_mean
    best = scores.topk(2, dim=-1).values
    step = (places[1] - places[0]).abs().max().cpu().double()
    return classes[scores.argmax(-1)], best[:, 0] - best[:, 1] > 0.05 * step * weight.abs().max()


def compare_labels(submission, draw, features, labels, places, name, **options):
    wanted, clear = right_labels(features, labels, places, options.get("ridge", 1e-3))
    places = with_axes(places[clear.to(places.device)], "example", "feature")
    wanted = with_axes(wanted[clear].to(draw.device), "example")
    found = fitted(submission, features, labels, **options)(places)
    expect(found, name, axes="example").equals(wanted, why="no example lies near a boundary")


@check(aspect="values", points=3, follows=test_probe_labels)
def test_probe_ridge(submission, draw):
    """it is ridge regression on one-hot labels: the boundary lies where the squared errors put it

    > With Y the labels as one-hot rows it minimises Σ (Y - (features · W + b))² + ridge · Σ W², summed over all
      examples and classes.
    > the weight of the squares of W next to a sum (not a mean) of squared errors.
    """
    for ridge in (0.5, 400.0, 2000.0):
        compare_labels(submission, draw, *line(draw), f"labels along a line, ridge={ridge}", ridge=ridge)
    for ridge in (0.5, 200.0):
        compare_labels(submission, draw, *plane(draw), f"labels in a plane, ridge={ridge}", ridge=ridge)


@check(aspect="values", points=0.5, follows=test_probe_ridge)
def test_probe_default(submission, draw):
    """ridge is 1e-3 by default

    > ridge: float = 1e-3
    """
    scale = (
        1e-3 / 400.0
    ) ** 0.5  # features so small that 1e-3 counts next to their squares as 400 does next to ours
    features, labels, places = line(draw)
    features, places = (with_axes(one * scale, "example", "feature") for one in (features, places))
    compare_labels(submission, draw, features, labels, places, "labels along a line of small numbers")


@check(aspect="stability", points=2, follows=test_probe_ridge)
def test_probe_bias(submission, draw):
    """features far from zero are classified as well as those near zero: the bias is not penalised

    > The bias b is not penalised.
    > of any floating dtype, however far from zero
    """
    for shift in (100.0, -30_000.0):
        name = f"labels along a line around {shift:g}"
        compare_labels(submission, draw, *line(draw, shift), name, ridge=5.0)


@check(aspect="values", points=1.5, follows=test_probe_labels)
def test_probe_few(submission, draw):
    """fewer examples than features are enough, an example may occur twice, and a feature may be constant

    > N may be smaller than D.
    """
    features = 4.0 * torch.eye(6, 20, device=draw.device)
    features = features + draw.uniform(low=-0.2, high=0.2, example=6, feature=20)
    features[5] = features[4]
    features[:, 10] = 2.0
    labels = with_axes(torch.tensor([4, 9, 4, 2, 9, 9], device=draw.device), "example")
    found = fitted(submission, with_axes(features, "example", "feature"), labels)(features)
    expect(found, "labels of the 6 examples themselves, 20 features", axes="example").equals(labels)


@check(aspect="values", points=1.5, follows=test_probe_labels)
def test_probe_apart(submission, draw):
    """a probe judges each example by itself, and keeps what it has learned

    > A probe keeps what it was fitted to, and judges every example by itself
    """
    features, labels = clusters(draw, [5, 6, 7])
    others, names = clusters(draw, [1, 2, 3])
    others = others.flip(1).contiguous()
    others[:, 0] += 8.0  # a constant says nothing of them, but moves a mean that is computed again
    with same_tensors(submission):  # refilled for the second: what the first was fitted to is gone
        first = fitted(submission, features, labels)
        second = fitted(submission, others, names)
    new, wanted = clusters(draw, [5, 6, 7], count=3)
    again = with_axes(others.clone(), "example", "feature")
    for index in range(4):
        one = with_axes(new[index : index + 1].contiguous(), "example", "feature")
        expect(first(one), "label of one example alone", axes="example").equals(wanted[index : index + 1])
    expect(second(again), "labels of the second probe", axes="example").equals(names)
    expect(first(new), "labels of the first probe, asked again", axes="example").equals(wanted)


@check(aspect="arguments", follows=[test_probe_labels, test_probe_ridge])
def test_probe_promises(submission, draw):
    """however a probe is fitted, its labels are those of these features and labels, which it leaves as they were

    > Arguments are left as they were and need not be contiguous in memory.
    > of any floating dtype, however far from zero
    """

    def fit_and_ask(probe, features, labels, new):
        found = probe(features=features, labels=labels)
        expect_unchanged(submission)
        return found(new)

    def right(features, labels, new):
        return right_labels(features, labels, new, 1e-3)[0]

    features, labels = clusters(draw, [7, -3, 100])
    contract = Part("probe", outputs=["labels"], axes=["example"], dtypes=DTYPES, used=fit_and_ask)
    call = {"features": features, "labels": labels, "new": clusters(draw, [7, -3, 100], count=2)[0]}
    contract.expect(submission, right, draw, [call])


# --- ablate_heads ---


@check(aspect="values", points=3.5, on_workers_word=WORD)
def test_ablate_values(submission, draw):
    """a head that is off adds nothing; the other heads and the bias add what they did

    > A head that is off counts as if its columns were zero there; the others, and the bias of `w_o`, stay as they are.
    > which query heads, in any order; there may be none, and one may be named twice.
    """
    for layer, heads in ((1, [2]), (0, [3, 1]), (2, [0, 1, 2, 3]), (1, [])):
        Patient(submission, draw, "encoder").compare((layer, heads))


@check(aspect="values", points=2, follows=test_ablate_values, on_workers_word=WORD)
def test_ablate_shared(submission, draw):
    """where query heads share keys and values, only those named are off

    > Its `num_heads` says how many heads there are.
    > which query heads, in any order
    """
    for layer, heads in ((0, [1]), (2, [5, 0, 4])):
        Patient(submission, draw, "lm").compare((layer, heads))


@check(aspect="values", points=1.5, follows=test_ablate_values, on_workers_word=WORD)
def test_ablate_decoder(submission, draw):
    """in a decoder layer self_attention loses the heads, and cross_attention keeps its own

    > The attention is `model.layers[layer].attention`, or `.self_attention` where the layer has no `attention`.
    """
    for layer, heads in ((0, [1]), (2, [3, 0])):
        Patient(submission, draw, "decoder").compare((layer, heads))


@check(aspect="values", points=3, on_workers_word=f"{WORD}; a hook that does nothing shows in nothing else")
def test_ablate_undone(submission, draw):
    """after the block everything is as it was, bit for bit: parameters, outputs, hooks

    > nothing is copied, and after the block it computes as before
    > Parameters are then the same objects with the same bits, and no hook is left.
    """
    probes = given_module(submission, "probes")
    for kind in ("encoder", "lm"):
        patient = Patient(submission, draw, kind)
        before, hooks, optimizer = patient(), probes.hooks(patient.model), probes.Optimizer(patient.model)
        with precondition("the block must run"):
            for layer, heads in ((1, [0, 2]), (0, [1]), (1, [1])):
                patient.off((layer, heads))
        patient.expect_as_before(before, "after three blocks")
        if (more := probes.hooks(patient.model)) != hooks:
            fail(f"hooks  {more - hooks} are left behind after three blocks; want none", stage="values")
        patient.expect_learns(optimizer, draw.like(before))


@check(aspect="errors", points=2, on_workers_word=WORD)
def test_ablate_exception(submission, draw):
    """an exception inside the block is passed on, and the heads are back on after it

    > even if the block raised. Exceptions are passed on.
    """
    patient = Patient(submission, draw, "lm")
    before = patient()
    with precondition("the block must run"):
        patient.off((0, [1]))
    with expect_raises("Interrupted", what="it was raised inside the block"):
        given_module(submission, "probes").interrupt(submission.ablate_heads(patient.model, 1, [0, 2, 3, 5]))
    patient.expect_as_before(before, "after a block that was left by an exception")


@check(aspect="values", points=2, follows=[test_ablate_values, test_ablate_undone], on_workers_word=WORD)
def test_ablate_nested(submission, draw):
    """blocks may be nested, and a head may be named twice

    > one may be named twice. Blocks may be nested.
    """
    patient = Patient(submission, draw, "encoder")
    before = patient()
    patient.compare((1, [2, 0, 2]))
    patient.expect_as_before(before, "after a block with heads [2, 0, 2]")
    patient.compare((1, [0]), (2, [1, 3]), (1, [2]))
    patient.compare((1, [0, 1]), after=(1, [1, 2]))
    patient.expect_as_before(before, "after nested blocks")


@check(aspect="errors", on_workers_word=WORD)
def test_ablate_errors(submission, draw):
    """a head that the layer does not have raises ValueError, and nothing is changed

    > ValueError, at the latest when the block is entered, if one is not between 0 and num_heads - 1.
    """
    patient = Patient(submission, draw, "encoder")
    before = patient()
    for heads in ([H], [0, H + 3], [-1]):
        with expect_raises("ValueError", what=f"one of the heads {heads} is not between 0 and {H - 1}"):
            patient.off((1, heads))
        patient.expect_as_before(before, f"after heads {heads} were refused")


@check(
    aspect="arguments",
    points=0.5,
    follows=test_ablate_values,
    on_workers_word=f"{WORD}; the mode can be read there alone",
)
def test_ablate_promises(submission, draw):
    """heads may be any iterable, given by position or by name; the model keeps its mode, and w_o's input what it holds

    > which query heads, in any order
    > ablate_heads(model, layer, heads)
    > the others, and the bias of `w_o`, stay as they are.
    > A function that is given a model leaves it in the mode in which it came
    """
    patient = Patient(submission, draw, "encoder")
    once = given_module(submission, "probes").Once((3, 0))
    for heads, form in (((3, 0), "a tuple"), (once, "an iterator")):
        with submission.ablate_heads(model=patient.model, layer=1, heads=heads):
            found = patient()
        expect(
            found, f"output with heads 3 and 0 of layer 1 off, given as {form}", axes=patient.axes
        ).close_to(patient.right((1, (3, 0))))
        expect(patient.model.training, "training of the model").is_value(True)
    patient.model.pass_on()

    def right(state, x):
        for layer in range(LAYERS):
            heads = x.index_fill(-1, torch.arange(6, 9), 0.0) if layer == 1 else x
            name = f"layers.{layer}.attention.w_o"
            x = x + F.linear(heads, state[f"{name}.weight"], state[f"{name}.bias"])
        return x

    found, name = patient.off((1, [2])), "output with head 2 of layer 1 off, where heads pass on x"
    wanted = oracle(right, patient.state, patient.x)
    expect(found, name, axes=patient.axes).close_to(
        wanted, why="w_o reads the same tensor that its output is added to"
    )


@check(aspect="values", points=1.5, on_workers_word=WORD)
def test_story_ablated(submission, draw):
    """the trained model computes what it should without some of its heads

    > the trained model
    """
    patient = Patient(submission, draw, "lm", state=STORY["weights"]())
    patient.x = with_axes(repeated_names()[:, :40].to(draw.device), "batch", "time")
    patient.compare((2, [0, 2]), (1, [1]))
