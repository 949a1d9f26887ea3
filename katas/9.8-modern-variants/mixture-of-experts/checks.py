"""Checks of 9.8.4. What is right is computed with every expert on every token, under a mask of the choices.

Logits are drawn apart from each other, so that no rounding changes a choice: unless it is said otherwise the router is
an identity, and the first columns of a token are its logits.
"""

from __future__ import annotations

import torch
from torch.nn import functional as F

from grader.checks import (
    Part,
    check,
    expect,
    expect_gradients,
    expect_raises,
    fingerprint_facts,
    given_module,
    load_parameters,
    oracle,
    same_tensors,
    stand_in,
    with_axes,
)

AXES = "batch time width"
FLOATS = [torch.float64, torch.bfloat16]
PARTS = ("linear1.weight", "linear1.bias", "linear2.weight", "linear2.bias")
WORD = "the rows that the experts note are compared with those that were drawn"
"""Why what the recorders return is enough."""


# --- what is right ---


@stand_in("route")
def right_route(logits, k):
    ordered, experts = logits.sort(dim=-1, descending=True, stable=True)
    return ordered[..., :k].softmax(dim=-1), experts[..., :k]


def choices(logits, k):
    """Return the weight of each expert for each token, 0 for those not chosen, and which are chosen: [.., E] both."""
    experts = logits.sort(dim=-1, descending=True, stable=True).indices[..., :k]
    chosen = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, experts, True)
    return logits.masked_fill(~chosen, -torch.inf).softmax(-1), chosen


def network(state, name, x):
    """Return what an expert computes."""
    first, bias1, second, bias2 = (state[f"{name}.{part}"] for part in PARTS)
    return F.linear(F.gelu(F.linear(x, first, bias1)), second, bias2)


def taken(logits, k, capacity=None, keep=None):
    """Return the weights, and which experts take which tokens: [B, T, E] both."""
    weights, chosen = choices(logits, k)
    if keep is not None:
        chosen = chosen & keep.to(chosen.device)[..., None]
    if capacity is not None:
        chosen = chosen & (chosen.flatten(0, 1).cumsum(0).view(chosen.shape) <= capacity)
    return weights, chosen


def right_layer(k, capacity=None):
    """Return what a layer computes, of its parameters and arguments."""

    def right(state, x, keep=None):
        router = state["router.weight"]
        weights, chosen = taken(F.linear(x, router), k, capacity, keep)
        weights = torch.where(chosen, weights, 0.0)
        total = torch.zeros_like(x)
        for place in range(len(router)):
            total = total + weights[..., place, None] * network(state, f"experts.{place}", x)
        for place in range(sum(name.startswith("shared.") for name in state) // len(PARTS)):
            total = total + network(state, f"shared.{place}", x)
        return total if keep is None else torch.where(keep.to(x.device)[..., None], total, 0.0)

    return right


def right_balance(logits, experts):
    count = logits.shape[-1]
    share = F.one_hot(experts, count).flatten(0, -2).to(logits.dtype).mean(0)
    return count * (share * logits.softmax(-1).reshape(-1, count).mean(0)).sum()


# --- helpers ---


def spread(draw, experts, **axes):
    """Draw logits between -2 and 2 that are far apart in each row, in any order."""
    order = draw.uniform(**axes, expert=experts).argsort(dim=-1) - (experts - 1) / 2
    return with_axes((order + draw.uniform(-0.2, 0.2, **axes, expert=experts)) * 4 / experts, *axes, "expert")


def text(draw, logits, width):
    """Draw tokens [B, T, D] whose first columns are these logits."""
    x = draw.normal(batch=logits.shape[0], time=logits.shape[1], width=width)
    x[..., : logits.shape[-1]] = logits
    return x


def shapes_of(width, d_ff, experts, shared=0):
    names = [f"experts.{place}" for place in range(experts)] + [f"shared.{place}" for place in range(shared)]
    sizes = dict(zip(PARTS, ([d_ff, width], [d_ff], [width, d_ff], [width]), strict=True))
    return {"router.weight": [experts, width]} | {f"{name}.{part}": sizes[part] for name in names for part in PARTS}


def built(submission, draw, sizes, k, shared=0, dtype=torch.float32, **options):
    """Return a layer of the sizes (D, d_ff, E), and its parameters, which are drawn; its router is an identity."""
    state = {}
    for name, shape in shapes_of(*sizes, shared).items():
        state[name] = draw.normal(**{f"axis{at}": size for at, size in enumerate(shape)}, scale=0.7).to(dtype)
    state["router.weight"] = torch.eye(sizes[2], sizes[0], dtype=dtype, device=draw.device)
    layer = submission.MoE(*sizes, k, shared=shared, **options)
    load(layer, state)
    layer.to(draw.device, dtype)
    return layer, state


def load(layer, state):
    """Load these parameters, which must be there; what else there is becomes 0."""
    rest = {name: 0 * value for name, value in layer.state_dict().items()}
    load_parameters(layer, rest | state)


def output_of(layer, *given):
    with torch.no_grad():
        return layer(*given)


def expect_output(layer, state, x, k, when="", keep=None, capacity=None):
    """Demand what the layer computes."""
    given = (x,) if keep is None else (x, keep)
    wanted = oracle(right_layer(k, capacity), state, *given)
    expect(output_of(layer, *given), f"output{when}", axes=AXES).close_to(wanted)


def expect_rows(submission, layer, x, k, keep=None, capacity=None, when=""):
    """Demand that each expert is called once at most, with just the rows that are its own."""
    record = given_module(submission, "recorders").Record(layer)
    output_of(layer, *((x,) if keep is None else (x, keep)))
    tokens, found = x.cpu().flatten(0, 1), []
    for calls in record.read():
        rows = [row for call in calls for row in call.cpu().reshape(-1, tokens.shape[-1])]
        same = [(row == tokens).all(-1).nonzero().flatten().tolist() for row in rows]
        numbers = sorted(places[0] if places else -1 for places in same)
        found.append((len([call for call in calls if len(call)]), numbers))
    fingerprint_facts(submission, rows=found)
    chosen = taken(x.cpu()[..., : len(found)], k, capacity, keep)[1].flatten(0, 1)
    for place, (calls, rows) in enumerate(found):
        expect(rows, f"rows that expert {place} gets{when}").is_value(
            chosen[:, place].nonzero().flatten().tolist(), why="counted from 0, batch by batch; -1 stands for no token"
        )
        expect(calls > 1, f"whether expert {place} is called more than once{when}").is_value(False)


def crowded(draw, experts, width, batch=2, time=6):
    """Draw a text whose tokens all have expert 0 among their first two: second in the first half, then first."""
    rest = spread(draw, experts - 1, batch=batch, time=time)
    best = rest.sort(dim=-1, descending=True).values
    first, second = best[..., 0], best[..., 1]
    half = torch.arange(batch * time, device=draw.device).view(batch, time) < batch * time // 2
    own = torch.where(half, (first + second) / 2, first + 0.7)
    return text(draw, torch.cat((own[..., None], rest), dim=-1), width)


# --- route ---


@check(aspect="values", points=2.5)
def test_route(submission, draw):
    """route takes the k largest logits, the largest first, with the softmax over these k as weights

    > The experts are int64, from 0; that with the largest logit is first
    > The weights are the softmax over the k chosen logits
    """
    for axes, experts, k in (
        ({"batch": 2, "time": 3}, 5, 2), ({"token": 4}, 4, 1), ({"token": 3}, 6, 6), ({}, 5, 3),
        ({"group": 2, "batch": 1, "time": 3}, 3, 2), ({"token": 2}, 1, 1), ({"token": 70}, 66, 3),
    ):  # fmt: skip
        logits = spread(draw, experts, **axes)
        weights, chosen = expect(submission.route(logits, k), "what route returns").is_tuple(2)
        when, names = f" for k = {k} of {experts}", " ".join((*axes, "choice"))
        right_weights, right_chosen = right_route(logits.cpu(), k)
        expect(chosen, f"experts{when}", axes=names).is_tensor(shape=tuple(right_chosen.shape), dtype=torch.int64)
        expect(chosen, f"experts{when}", axes=names).equals(right_chosen)
        expect(weights, f"weights{when}", axes=names).is_tensor(shape=tuple(right_weights.shape))
        expect(weights, f"weights{when}", axes=names).close_to(oracle(lambda x, k=k: right_route(x, k)[0], logits))


@check(aspect="values", follows=test_route)
def test_ties(submission, draw):
    """of equal logits the lower number comes first, however many there are

    > of
            equal logits the lower number.
    """
    several = torch.tensor([0.0, 2.0, 1.0, 2.0, 0.0, 1.0], device=draw.device)
    for logits, ks in ((torch.zeros(3, 40, device=draw.device), (1, 2, 40)), (several, (1, 2, 3)), (several * 0, (2,))):
        for k in ks:
            weights, chosen = expect(submission.route(logits, k), "what route returns").is_tuple(2)
            right_weights, right_chosen = right_route(logits.cpu(), k)
            expect(chosen, f"experts for k = {k} of equal logits").equals(right_chosen)
            expect(weights, f"weights for k = {k} of equal logits").close_to(right_weights)


@check(aspect="errors")
def test_route_refused(submission, draw):
    """a k below 1 or above E is a ValueError

    > ValueError: k is below 1 or above E. The message names k and what was expected.
    """
    for experts, k in ((4, 0), (4, 5), (3, -1), (1, 2)):
        with expect_raises("ValueError", f"k is {k} and there are {experts} experts"):
            submission.route(spread(draw, experts, token=3), k)


@check(aspect="arguments", follows=[test_route, test_ties])
def test_route_promises(submission, draw):
    """route holds in every dtype, by name, in any memory order; gradients reach the chosen logits

    > Arguments are left as they were and need not be contiguous in memory.
    > A function of no module
    > returns the dtype of its inputs
    """
    part = Part("route", outputs=["weights", "experts"], axes=["batch time choice"] * 2, dtypes=FLOATS)
    calls = [{"logits": spread(draw, experts, batch=batch, time=time), "k": k}
             for batch, time, experts, k in ((3, 2, 5, 2), (1, 66, 3, 2), (2, 1, 4, 3))]  # fmt: skip
    part.expect(submission, right_route, draw, calls)


# --- the layer ---


@check(aspect="parameters")
def test_parts(submission, draw):
    """a layer has a router without a bias, E experts and the shared ones, each with parameters of its own

    > These are all the parameters, and each Expert has its own.
    """
    for sizes, shared in (((6, 4, 3), 0), ((3, 5, 2), 2), ((2, 1, 1), 1)):
        layer = submission.MoE(*sizes, 1, shared=shared)
        wanted = shapes_of(*sizes, shared)
        found = {name: list(value.shape) for name, value in layer.named_parameters()}
        fingerprint_facts(submission, shapes=sorted(found.items()))
        expect(list(found), "names of the parameters").has_names(list(wanted))
        expect(dict(sorted(found.items())), "shapes").is_value(dict(sorted(wanted.items())))


@check(aspect="values", points=4.5, follows=[test_parts, test_route], stand_ins=["route"])
def test_layer(submission, draw):
    """a token's output is the weighted sum of its experts' outputs; experts that are all alike are one network

    > of each token the sum of its experts' outputs, each times its weight
    > so they add up to 1.
    """
    for (width, d_ff, experts), k, batch, time in (
        ((6, 9, 4), 2, 2, 5), ((5, 3, 5), 1, 2, 3), ((4, 6, 3), 3, 1, 4), ((3, 4, 1), 1, 2, 3), ((7, 2, 6), 4, 3, 1),
        ((4, 3, 3), 2, 1, 70), ((3, 2, 2), 1, 1, 1), ((6, 4, 4), 4, 2, 3),
    ):  # fmt: skip
        layer, state = built(submission, draw, (width, d_ff, experts), k)
        x = text(draw, spread(draw, experts, batch=batch, time=time), width)
        expect_output(layer, state, x, k, f" for k = {k} of {experts}")
    for experts, k in ((4, 2), (3, 1), (5, 5)):
        layer, state = built(submission, draw, (6, 5, experts), k)
        for name in [name for name in state if name.startswith("experts.")]:
            state[name] = state["experts.0." + name.split(".", 2)[2]]
        load(layer, state | {"router.weight": draw.normal(expert=experts, width=6)})
        x = draw.normal(batch=2, time=4, width=6)
        wanted = oracle(lambda state, x: network(state, "experts.0", x), state, x)
        expect(output_of(layer, x), f"output for k = {k} of {experts} that are alike", axes=AXES).close_to(wanted)


@check(aspect="values", points=2.5, follows=[test_parts, test_layer], stand_ins=["route"], on_workers_word=WORD)
def test_dispatch(submission, draw):
    """each expert is called once at most, with just the rows that were sent to it

    > Each expert is called at most once, with all its rows [n, D] and with no others; where there are none, not at
            all or with [0, D].
    """
    for experts, k, batch, time in ((4, 2, 2, 5), (5, 1, 1, 3), (3, 3, 2, 2)):
        layer, _ = built(submission, draw, (6, 4, experts), k)
        x = text(draw, spread(draw, experts, batch=batch, time=time), 6)
        expect_rows(submission, layer, x, k, when=f" for k = {k}")


# --- capacity ---


@check(aspect="values", points=4, follows=[test_parts, test_layer], stand_ins=["route"])
def test_capacity(submission, draw):
    """with a capacity each expert keeps its first rows in the order of the text; the others' share is 0

    > It takes the first `capacity` of the rows that chose it, in the order of the text: batch by
            batch, in each from left to right.
    > What no longer fits contributes 0, and the weights of a token's other experts
            stay as they are.
    > x itself is not added
    """
    for k, capacity in ((2, 2), (1, 1), (2, 5), (3, 4), (2, 50)):
        layer, state = built(submission, draw, (6, 4, 4), k, capacity=capacity)
        x = crowded(draw, 4, 6)
        expect_output(layer, state, x, k, f" for k = {k} and a capacity of {capacity}", capacity=capacity)
    layer, state = built(submission, draw, (6, 4, 4), 1, capacity=3)
    x = crowded(draw, 4, 6)
    x[..., 0] += 9  # all go to expert 0
    full = torch.arange(12).view(2, 6, 1).expand(2, 6, 6) >= 3
    expect_output(layer, state, x, 1, " of one expert that takes 3 of 12", capacity=3)
    found = expect(output_of(layer, x), "output of one expert that takes 3 of 12", axes=AXES)
    found.is_zero_where(full, why="the first three fill the expert")


@check(aspect="values", follows=[test_capacity, test_dispatch], stand_ins=["route"], on_workers_word=WORD)
def test_capacity_rows(submission, draw):
    """an expert is called with no more rows than it takes

    > It takes the first `capacity` of the rows that chose it, in the order of the text
    """
    for k, capacity in ((2, 8), (1, 3)):  # 8: of expert 0 second choices and then first ones
        layer, _ = built(submission, draw, (6, 4, 4), k, capacity=capacity)
        x = crowded(draw, 4, 6)
        expect_rows(submission, layer, x, k, capacity=capacity, when=f" for a capacity of {capacity}")


# --- padding ---


def padded(draw):
    """Draw a crowded text of three rows and what is real of it: no prefix, and nothing at all in the last row."""
    keep = torch.tensor([[0, 1, 1, 0, 1, 1], [1, 1, 0, 1, 1, 0], [0, 0, 0, 0, 0, 0]], dtype=torch.bool)
    return crowded(draw, 4, 6, batch=3), with_axes(keep.to(draw.device), "batch", "time")


@check(aspect="padding", points=1.5, follows=[test_parts, test_layer], stand_ins=["route"])
def test_padding(submission, draw):
    """padding gets 0, also where there are shared experts, and real tokens what they would get without it

    > its output is 0, whatever the shared experts say.
    > never changes the vectors at real positions
    """
    for shared in (0, 1):
        x, keep = padded(draw)
        layer, state = built(submission, draw, (6, 4, 4), 2, shared=shared)
        when = f" with padding and {shared} shared experts"
        expect_output(layer, state, x, 2, when, keep=keep)
        found = expect(output_of(layer, x, keep), f"output{when}", axes=AXES)
        found.is_zero_where(~keep[..., None].expand(3, 6, 6).cpu(), why="it is padding")


@check(aspect="padding", points=1.5, follows=[test_padding, test_capacity], stand_ins=["route"])
def test_padding_takes_no_room(submission, draw):
    """padding takes no room in an expert

    > Padding goes to no expert, takes no room in any of them
    """
    for k, capacity in ((2, 2), (1, 3)):
        x, keep = padded(draw)
        layer, state = built(submission, draw, (6, 4, 4), k, capacity=capacity)
        when = f" with padding and a capacity of {capacity}"
        expect_output(layer, state, x, k, when, keep=keep, capacity=capacity)


@check(aspect="padding", follows=[test_padding, test_capacity_rows], stand_ins=["route"], on_workers_word=WORD)
def test_padding_rows(submission, draw):
    """no expert is called with padding

    > Padding goes to no expert
    """
    for capacity in (None, 3):
        x, keep = padded(draw)
        layer, _ = built(submission, draw, (6, 4, 4), 2, capacity=capacity)
        expect_rows(submission, layer, x, 2, keep=keep, capacity=capacity, when=", with padding")


# --- shared experts, gradients, promises ---


@check(aspect="values", points=1.5, follows=[test_parts, test_layer], stand_ins=["route"])
def test_shared(submission, draw):
    """every token gets all shared experts as well, with the weight 1 and without a limit

    > of the outputs of all
            shared experts, which count once each.
    > Shared experts have no such limit.
    """
    for shared, k, capacity in ((1, 2, None), (3, 1, None), (2, 2, 2)):
        layer, state = built(submission, draw, (6, 4, 4), k, shared, capacity=capacity)
        x = crowded(draw, 4, 6)
        expect_output(layer, state, x, k, f" with {shared} shared experts", capacity=capacity)


@check(aspect="gradient", points=2, follows=[test_parts, test_layer], stand_ins=["route"])
def test_gradients(submission, draw):
    """gradients reach the router through the weights, x, and the experts that were chosen, and no others

    > reach every parameter, and every argument of floating-point numbers, that a result depends on.
    """
    for k, shared, batch, time in ((2, 1, 1, 2), (1, 0, 2, 2), (2, 0, 2, 6)):  # with two tokens somebody is left out
        made = {"d_model": 4, "d_ff": 3, "experts": 5, "k": k, "capacity": None, "shared": shared}
        calls = [{"x": draw.normal(batch=batch, time=time, width=4)}]
        Part("MoE", made, ["output"], [AXES]).expect_gradients(submission, right_layer(k), draw, calls)


@check(aspect="dtype", follows=[test_parts, test_layer, test_padding], stand_ins=["route"])
def test_half(submission, draw):
    """a layer in half precision returns half precision, with and without capacity, padding and shared experts

    > Outputs have the dtype and device of the module, as its inputs have.
    """
    for dtype in (torch.bfloat16, torch.float16):
        for capacity, shared in ((None, 0), (3, 1)):
            layer, state = built(submission, draw, (6, 4, 4), 2, shared, dtype, capacity=capacity)
            x, keep = padded(draw)
            x = with_axes(x.to(dtype), *AXES.split())
            expect_output(layer, state, x, 2, " in half precision", capacity=capacity)
            expect_output(layer, state, x, 2, " in half precision with padding", keep=keep, capacity=capacity)


@check(
    aspect="arguments",
    points=1.5,
    follows=[test_parts, test_layer, test_capacity, test_padding, test_shared, test_padding_takes_no_room],
    stand_ins=["route"],
)
def test_layer_promises(submission, draw):
    """with any router, in float64, by name, in any memory order, in any mode, whatever was asked before

    > Nothing is kept from one call to the next.
    > Arguments are left as they were and need not be contiguous in memory. All may be given by position or
      by name.
    """
    plain = {"d_model": 5, "d_ff": 4, "experts": 3, "k": 2, "capacity": None, "shared": 0}
    calls = [{"x": draw.normal(batch=batch, time=time, width=5), "keep": keep and draw.mask(batch=batch, time=time)}
             for batch, time, keep in ((3, 2, False), (3, 4, True), (1, 66, False), (2, 1, False))]  # fmt: skip
    calls = [{name: value for name, value in call.items() if value is not False} for call in calls]
    part = Part("MoE", plain, ["output"], [AXES], defaults=["capacity", "shared"])
    part.expect(submission, right_layer(2), draw, calls)
    full = {"d_model": 5, "d_ff": 4, "experts": 3, "k": 2, "capacity": 12, "shared": 1}  # there is room for all
    part = Part("MoE", full, ["output"], [AXES], rows=False)
    part.expect(submission, right_layer(2, 12), draw, calls[1:2])


@check(aspect="errors", points=1.5)
def test_refused(submission, draw):
    """a layer that cannot be is a ValueError when it is made

    > ValueError: k is below 1 or above `experts`, capacity is below 1, or shared is negative.
    """
    for experts, k, options in (
        (4, 0, {}), (4, 5, {}), (3, -2, {}), (1, 2, {"capacity": 3}), (4, 2, {"capacity": 0}),
        (4, 2, {"capacity": -1, "shared": 1}), (4, 2, {"shared": -1}),
    ):  # fmt: skip
        what = ", ".join(f"{name} is {value}" for name, value in {"experts": experts, "k": k, **options}.items())
        with expect_raises("ValueError", what):
            submission.MoE(6, 4, experts, k, **options)


# --- the loss ---


def some_choices(draw, experts, k, **axes):
    """Draw k different experts for each token, never the last one unless there are no others."""
    return draw.uniform(**axes, expert=max(experts - 1, k)).argsort(dim=-1)[..., :k]


@check(aspect="values", points=3.5)
def test_balance(submission, draw):
    """the loss is E · Σ f · P over all experts, which is 1 if all is even, and E if all goes to one expert

    > fᵢ is the share of all choices that fell on expert i; Pᵢ is the mean probability of expert i, in a softmax over
        all E logits.
    > 1 if all is even, near E if all goes to one expert.
    """
    for axes, experts, k in (
        ({"batch": 3, "time": 4}, 5, 2), ({"token": 6}, 4, 1), ({"token": 3}, 3, 3), ({"batch": 1, "time": 1}, 6, 2),
        ({"group": 2, "batch": 3, "time": 2}, 4, 3), ({"token": 66}, 70, 2), ({}, 4, 2), ({"token": 2}, 1, 1),
    ):  # fmt: skip
        logits = draw.normal(**axes, expert=experts, scale=2.0)
        chosen = some_choices(draw, experts, k, **axes)
        found, wanted = submission.balance_loss(logits, chosen), oracle(right_balance, logits, chosen)
        expect(found, f"loss for k = {k} of {experts}").is_tensor(shape=(), dtype=torch.float32).close_to(wanted)
    for experts, k in ((4, 1), (6, 2), (5, 5)):
        circle = torch.arange(experts, device=draw.device)[:, None] + torch.arange(experts, device=draw.device)
        logits = draw.normal(expert=experts)[circle % experts]  # each expert gets each number once
        found = submission.balance_loss(logits, circle[:, :k] % experts)
        expect(found, f"loss of {experts} even experts").close_to(torch.ones(()))
        logits = draw.normal(token=7, expert=experts)
        logits[:, experts - 1] += 60
        found = submission.balance_loss(logits, torch.full((7, 1), experts - 1, device=draw.device))
        expect(found, f"loss where one of {experts} gets all").close_to(torch.tensor(float(experts)))


@check(aspect="gradient", follows=test_balance)
def test_balance_gradient(submission, draw):
    """the loss teaches through the probabilities, and not through the shares

    > No gradient goes through f, which only counts.
    """
    for k in (1, 2):
        logits = draw.normal(batch=3, time=4, expert=5, requires_grad=True)
        experts = some_choices(draw, 5, k, batch=3, time=4)
        found = submission.balance_loss(logits, experts)
        expect_gradients(found, {"logits": logits}, draw, lambda x, experts=experts: right_balance(x, experts.cpu()))


@check(aspect="arguments", follows=[test_balance, test_balance_gradient])
def test_balance_promises(submission, draw):
    """the loss holds in every dtype, by name, in any memory order

    > a tensor without axes, in the dtype of the logits
    > Arguments are left as they were
    """
    calls = [{"logits": draw.normal(batch=batch, time=time, expert=4),
              "experts": with_axes(some_choices(draw, 4, 2, batch=batch, time=time), "batch", "time", "choice")}
             for batch, time in ((3, 2), (2, 400), (2, 1))]  # fmt: skip
    Part("balance_loss", outputs=["loss"], dtypes=FLOATS, rows=False).expect(submission, right_balance, draw, calls)
    # What `Part` gives the second time is turned round, which leaves all counts as they are.
    with torch.no_grad(), same_tensors(submission):
        for place in (0, 2):
            experts = torch.full((3, 2, 1), place, device=draw.device)
            found, wanted = submission.balance_loss(calls[0]["logits"], experts), (calls[0]["logits"], experts)
            expect(found, f"loss where expert {place} gets all").close_to(oracle(right_balance, *wanted))
