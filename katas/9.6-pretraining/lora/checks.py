"""Checks of 9.6.3. What an adapted model computes is that of a twin here, whose weights are sums."""

from __future__ import annotations

import runpy
from contextlib import nullcontext
from pathlib import Path

import torch
from torch.func import functional_call
from torch.nn import functional as F

from grader.checks import (
    Part,
    check,
    expect,
    expect_raises,
    expect_unchanged,
    fail,
    fingerprint_facts,
    given_module,
    load_parameters,
    oracle,
    same_tensors,
    supposing,
)

MODELS = runpy.run_path(str(Path(__file__).with_name("models.py")))
TWIN = MODELS["Model"](tied=False)
"""What the model in the worker computes, from numbers that are not tied."""
TIES = {"head.weight": "tokens.weight", "last.weight": "first.weight", "last.bias": "first.bias"}
PARTS = ["inject", "merge", "unmerge", "adapter_state", "load_adapter"]
WORD = "states and outputs are compared with what drawn numbers give here, or with what the same model was before"
"""Why what models of the helper return is enough."""
AXES = "batch time word"
B_DRAWN = "your B begins with random numbers, so a new adapter changes the model; it should begin with zeros"
BLOCKS = ["blocks.0.up", "blocks.1.up"]
PLAIN = {"r": 1, "alpha": 1.0}
"""With these each wrong scale is 1 as well: checks of something else hold by themselves."""


# --- what is right ---


def weight(W, A, B, scale):
    """Return the weight of a layer with its difference."""
    return W + scale * (B @ A)


def right_layer(scale):
    """Return what a LoRALinear computes; of its parameters only A and B learn."""

    def right(state, x):
        W, bias = state["base.weight"].detach(), state.get("base.bias")
        narrow = F.linear(F.linear(x, state["A"]), state["B"])
        return F.linear(x, W, None if bias is None else bias.detach()) + scale * narrow

    return right


def right_logits(numbers, adapters, scale, tokens):
    """Return what a model computes with such differences."""
    numbers = dict(numbers)
    for place in {name.rpartition(".")[0] for name in adapters}:
        sums = weight(numbers[f"{place}.weight"], adapters[f"{place}.A"], adapters[f"{place}.B"], scale)
        for twin in (place, "last") if place == "first" else (place,):
            numbers[f"{twin}.weight"] = sums
    return functional_call(TWIN, numbers, (tokens.cpu(),))


# --- helpers ---


def drawn(draw, shapes):
    """Draw a tensor of each shape, by name."""
    return {name: draw.normal(**{f"axis{at}": size for at, size in enumerate(shape)}, scale=0.5)
            for name, shape in shapes.items()}  # fmt: skip


def layer_of(submission, draw, inputs, outputs, bias=True, r=2, alpha=3.0, dtype=torch.float32):
    """Return a new LoRALinear and its base in the worker, and the base's numbers."""
    make = submission.LoRALinear
    base = given_module(submission, "models").linear(inputs, outputs, bias)
    shapes = {"weight": (outputs, inputs)} | ({"bias": (outputs,)} if bias else {})
    numbers = {name: value.to(dtype) for name, value in drawn(draw, shapes).items()}
    base.to(draw.device, dtype)
    base.load_state_dict(numbers)
    return make(base, r, alpha), base, numbers


def model_of(submission, draw, *names):
    """Return a model in the worker and its numbers; `names` of the submission are what the check is about."""
    for name in names:
        getattr(submission, name)
    model = given_module(submission, "models").Model()
    numbers = drawn(draw, {name: value.shape for name, value in TWIN.state_dict().items()})
    numbers |= {name: numbers[other] for name, other in TIES.items()}
    model.load_state_dict(numbers)
    model.to(draw.device)
    return model, numbers


def adapted(submission, draw, names, *places, r=2, alpha=3.0, parts=("inject",)):
    """Return a model with drawn adapters in these places, its numbers, and those of the adapters."""
    model, numbers = model_of(submission, draw, *parts)
    submission.inject(model, names, r, alpha)
    adapters = drawn_adapters(draw, places, r)
    load_parameters(model, adapters)
    return model, numbers, adapters


def drawn_adapters(draw, places, r):
    """Draw A and B for layers in these places."""
    sizes = {place: TWIN.get_submodule(place).weight.shape for place in places}
    return drawn(draw, {f"{place}.{part}": (r, size[1]) if part == "A" else (size[0], r)
                        for place, size in sizes.items() for part in "AB"})  # fmt: skip


def names_with(places):
    """Return the names of a model's state where layers of these places are adapted."""
    names = []
    for name in TWIN.state_dict():
        place, _, last = name.rpartition(".")
        names.append(f"{place}.base.{last}" if place in places else name)
    return names + [f"{place}.{part}" for place in places for part in "AB"]


def expect_state(module, wanted, when):
    """Demand that what a module holds has these bits."""
    found = module.state_dict()
    expect(list(found), f"names of the state {when}").has_names(list(wanted))
    for name, value in wanted.items():
        expect(found[name], f"{name} {when}").equals(value.cpu())


def expect_bases(model, numbers, places, when):
    """Demand that each base has the bits of before."""
    found = model.state_dict()
    for place in places:
        expect(found[f"{place}.base.weight"], f"{place}.base.weight {when}").equals(numbers[f"{place}.weight"].cpu())


def expect_logits(model, numbers, adapters, tokens, when, scale=1.5):
    """Demand what a model with these adapters computes."""
    with torch.no_grad():
        found = model(tokens)
    wanted = oracle(right_logits, numbers, adapters, scale, tokens)
    expect(found, f"logits {when}", axes=AXES).close_to(wanted)


def share(found, begun, added):
    """Return how often a difference was added, or None if something else was."""
    if not isinstance(found, torch.Tensor) or found.shape != added.shape:
        return None
    change = found.detach().cpu() - begun.cpu()
    times = float((change * added).sum() / added.square().sum())
    return round(times, 2) if float((change - times * added).abs().max()) < 1e-3 else None


def some_tokens(draw):
    return draw.integers(0, 9, batch=2, time=4)


# --- the layer ---


@check(aspect="values", points=1.5, on_workers_word=WORD)
def test_new(submission, draw):
    """a new LoRALinear changes no number, since B is zero

    > It begins with zeros.
    > A and B have the dtype and device of the base's weight.
    """
    for bias, dtype in ((True, torch.float32), (False, torch.float64), (True, torch.bfloat16)):
        layer, base, numbers = layer_of(submission, draw, 5, 4, bias, dtype=dtype)
        x = draw.normal(batch=3, time=2, width=5).to(dtype)
        state = layer.state_dict()
        fingerprint_facts(
            submission,
            names=sorted(state),
            shapes=sorted(map(str, (list(value.shape) for value in state.values()))),
            dtypes=sorted({str(value.dtype) for value in state.values()}),
            zeros=[name for name, value in state.items() if not value.any()],
        )
        expect(list(state), "names of the state").has_names(["A", "B", *(f"base.{name}" for name in numbers)])
        expect(state["A"], "A").is_tensor(shape=(2, 5), dtype=dtype)
        expect(state["B"], "B").is_tensor(shape=(4, 2), dtype=dtype)
        with supposing(B_DRAWN):
            expect(state["B"], "B").equals(torch.zeros(4, 2, dtype=dtype))
        for name, value in numbers.items():
            expect(state[f"base.{name}"], f"base.{name}").equals(value.cpu())
        with torch.no_grad():
            wanted = base(x)
            expect(layer(x), "output of a new one", axes="batch time width").equals(wanted.cpu())


@check(aspect="values", points=2.5, on_workers_word=WORD)
def test_layer(submission, draw):
    """a LoRALinear computes base(x) + alpha / r · x Aᵀ Bᵀ

    > Return base(x) + alpha / r · x Aᵀ Bᵀ, [.., O], for x [.., I]
    """
    for inputs, outputs, bias, r, alpha, shape in (
        (5, 4, True, 2, 3.0, {"batch": 3, "time": 2}), (3, 6, False, 4, 1, {"row": 3}), (70, 2, True, 1, 8.0, {}),
    ):  # fmt: skip
        layer, _, numbers = layer_of(submission, draw, inputs, outputs, bias, r, alpha)
        own = drawn(draw, {"A": (r, inputs), "B": (outputs, r)})
        load_parameters(layer, own)
        x = draw.normal(**shape, width=inputs)
        state = own | {f"base.{name}": value for name, value in numbers.items()}
        expect(layer(x), f"output for r {r} and alpha {alpha}").close_to(oracle(right_layer(alpha / r), state, x))


@check(aspect="arguments", points=1.5, follows=[test_new, test_layer])
def test_layer_promises(submission, draw):
    """in every dtype, by name, in any memory order; gradients reach x, A and B, and not the base

    > Its numbers stay, and its parameters no longer learn.
    > Outputs have the dtype and device of the module
    """
    submission.LoRALinear  # noqa: B018 - the helper has to be in the worker that this name is asked of
    base = given_module(submission, "models").linear(4, 5)
    part = Part("LoRALinear", {"base": base, "r": 2, "alpha": 3.0}, ["output"], ["batch time width"],
                [torch.float64, torch.bfloat16])  # fmt: skip
    calls = [{"x": draw.normal(batch=batch, time=time, width=4)} for batch, time in ((3, 2), (1, 66), (2, 1))]
    part.expect(submission, right_layer(1.5), draw, calls)


# --- inject ---


@check(aspect="values", points=2.5, on_workers_word=WORD)
def test_inject(submission, draw):
    """inject replaces the layers of these names, no others, and the model computes the same numbers

    > Each is the dotted name of an nn.Linear in the model, such as
            "blocks.0.w_q", or the last part of such a name, "w_q", which chooses all layers that are called so
    > Other modules of these names stay.
    """
    for names, places in (
        (["up"], BLOCKS), (["blocks.1.down", "head"], ["blocks.1.down", "head"]),
        (["down", "blocks.0.down", "up"], [f"blocks.{i}.{last}" for i in range(2) for last in ("up", "down")]),
    ):  # fmt: skip
        model, numbers = model_of(submission, draw, "inject")
        tokens = some_tokens(draw)
        with torch.no_grad():
            before = model(tokens)
            submission.inject(model, names, 2, 3.0)
            state = model.state_dict()
            fingerprint_facts(submission, names=sorted(state))
            expect(list(state), f"names of the state with {names}").has_names(names_with(places))
            for name, value in numbers.items():
                held = name if name in state else name.replace(".weight", ".base.weight").replace(".bias", ".base.bias")
                expect(state[held], held).equals(value.cpu())
            expect(model(tokens), "logits with new adapters", axes=AXES).equals(before.cpu())


@check(aspect="values", points=0.5, follows=test_inject, on_workers_word=WORD)
def test_begin(submission, draw):
    """A begins small and random, in each layer anew

    > It begins with random numbers, from a distribution of mean 0 and of a deviation of at
            most 1 / √I.
    """
    submission.inject  # noqa: B018 - asked first
    model = given_module(submission, "models").Model(9, 100, 8)
    submission.inject(model, ["up"], 20, 3.0)
    state = model.state_dict()
    first, second = (state[f"blocks.{place}.up.A"].cpu() for place in range(2))
    deviation, mean, same = float(first.std()), float(first.mean()), torch.equal(first, second)
    fingerprint_facts(submission, large=deviation > 0.11, mean=round(mean, 1), same=same)
    if deviation > 0.11:
        fail(f"wrong size  A has a deviation of {deviation:.3g} with 100 inputs; want at most 0.1")
    if abs(mean) > 0.02:
        fail(f"wrong size  A has a mean of {mean:.3g} with 100 inputs; want about 0")
    expect(second, "A of another layer").differs_from(first, why="it is random")


@check(aspect="values", follows=[test_inject, test_layer], on_workers_word=WORD)
def test_adapted(submission, draw):
    """a model with adapters computes with W + alpha / r · B A in their places

    > r, alpha: as in LoRALinear.
    """
    for names, places, r, alpha in (
        (["up"], BLOCKS, 2, 3.0), (["blocks.1.down", "head"], ["blocks.1.down", "head"], 3, 1.5),
    ):  # fmt: skip
        model, numbers, adapters = adapted(submission, draw, names, *places, r=r, alpha=alpha)
        expect_logits(model, numbers, adapters, some_tokens(draw), f"with r {r} and alpha {alpha}", alpha / r)


@check(aspect="values", points=1.5, follows=[test_inject, test_adapted], on_workers_word=WORD)
def test_tied_layer(submission, draw):
    """a layer in two places becomes one LoRALinear in both, by whichever name it is chosen

    > if it is chosen by any of its names, the same LoRALinear is put in all these places.
    """
    for names in (["first"], ["last"], ["last", "first"]):
        model, numbers = model_of(submission, draw, "inject")
        submission.inject(model, names, **PLAIN)
        state = model.state_dict()
        fingerprint_facts(submission, names=sorted(state))
        expect(list(state), f"names of the state with {names}").has_names(names_with(["first", "last"]))
        adapters = drawn_adapters(draw, ["first"], 1)
        load_parameters(model, adapters)
        for name, value in adapters.items():
            other = name.replace("first", "last")
            expect(model.state_dict()[other], f"{other} after {name} is loaded").equals(value.cpu())
        expect_logits(model, numbers, adapters, some_tokens(draw), "of a layer that is used twice", 1.0)


@check(aspect="gradient", points=2, follows=test_inject, on_workers_word=WORD)
def test_step(submission, draw):
    """after steps of training only A and B have moved, and all of them have

    > Afterwards A and B are the only parameters that learn.
    """
    for names, places in ((["up", "head"], [*BLOCKS, "head"]), (["first"], ["first"])):
        model, _ = model_of(submission, draw, "inject")
        submission.inject(model, names, 2, 3.0)
        before, wanted = model.state_dict(), [f"{place}.{part}" for place in places for part in "AB"]
        helper = given_module(submission, "models")
        helper.train(model, some_tokens(draw), 2)
        after = model.state_dict()
        moved = [name for name in before if not torch.equal(before[name], after[name])]
        moved = sorted({name.replace("last", "first") for name in moved})
        fingerprint_facts(submission, moved=moved)
        expect(moved, "what moved in two steps").has_names(wanted)
        expect(helper.learning(model), "parameters that learn").has_names(wanted)


# --- merge and unmerge ---


@check(aspect="values", points=2.5, on_workers_word=WORD)
def test_merge(submission, draw):
    """merged, base.weight is W + alpha / r · B A, of a rank of r at most, and the output is the same to rounding

    > `base.weight` of each LoRALinear is W + alpha / r · B A from then on, and the layer returns base(x) alone.
    > A layer that is merged already stays as it is.
    """
    submission.merge  # noqa: B018 - asked first
    for dtype, r, alpha in ((torch.float32, 2, 3.0), (torch.float64, 3, 1.5)):
        layer, _, numbers = layer_of(submission, draw, 5, 4, True, r, alpha, dtype)
        own = {name: value.to(dtype) for name, value in drawn(draw, {"A": (r, 5), "B": (4, r)}).items()}
        state = own | {f"base.{name}": value for name, value in numbers.items()}
        load_parameters(layer, state)
        x = draw.normal(batch=3, width=5).to(dtype)
        wanted = oracle(right_layer(alpha / r), state, x)
        sums = oracle(lambda W, A, B, scale=alpha / r: weight(W, A, B, scale), numbers["weight"], *own.values())
        added = (own["B"] @ own["A"]).cpu() * (alpha / r)
        for when in ("merged", "merged twice"):
            submission.merge(layer)
            found, output = layer.state_dict()["base.weight"], layer(x)
            begun = F.linear(x, *numbers.values())
            facts = [share(found, numbers["weight"], added), share(output, begun, x.cpu() @ added.T)]
            fingerprint_facts(submission, added=facts, when=when)
            expect(found, f"base.weight, {when}").close_to(sums)
            expect(output, f"output, {when}", axes="batch width").close_to(wanted)
    model, numbers, adapters = adapted(submission, draw, ["up", "first"], *BLOCKS, "first")
    for when in ("merged", "merged twice"):
        submission.merge(model)
        expect_logits(model, numbers, adapters, some_tokens(draw), f"of a model that is {when}")
    layer, _, numbers = layer_of(submission, draw, 9, 8, r=3, dtype=torch.float64)
    given_module(submission, "models").train(layer, draw.normal(batch=20, width=9).double(), 4)
    submission.merge(layer)
    sizes = torch.linalg.svdvals(layer.state_dict()["base.weight"].cpu() - numbers["weight"].cpu())
    rank = int((sizes > 1e-9 * sizes[0].clamp(min=1e-9)).sum())
    if rank != 3:
        fail(f"wrong rank  of what four steps added  got {rank}  want 3, which is r")


@check(aspect="values", points=2, follows=test_merge, on_workers_word=WORD)
def test_unmerge(submission, draw):
    """after unmerge each base has its old bits, however often; without merge, nothing happens

    > each base has its old weight again, bit for bit
    > A layer that is not merged stays as it is.
    """
    places = [*BLOCKS, "first"]
    parts = ("unmerge", "merge", "inject")
    model, numbers, adapters = adapted(submission, draw, ["up", "first"], *places, **PLAIN, parts=parts)
    tokens = some_tokens(draw)
    submission.unmerge(model)
    expect_bases(model, numbers, places, "after unmerge without merge")
    for times in range(3):
        expect_logits(model, numbers, adapters, tokens, f"merged and unmerged {times} times", 1.0)
        submission.merge(model)
        submission.merge(model)
        expect_logits(model, numbers, adapters, tokens, "merged", 1.0)
        submission.unmerge(model)
        expect_bases(model, numbers, places, "after merge and unmerge")
        submission.unmerge(model)
        expect_bases(model, numbers, places, "after unmerge twice")
        adapters = drawn_adapters(draw, places, 1)
        load_parameters(model, adapters)
    expect(list(model.state_dict()), "names of the state after unmerge").has_names(names_with([*places, "last"]))
    wanted = [f"{place}.{part}" for place in places for part in "AB"]
    learning = given_module(submission, "models").learning(model)
    expect(learning, "parameters that learn after unmerge").has_names(wanted)


@check(aspect="values", points=1.5, follows=[test_merge, test_unmerge], on_workers_word=WORD)
def test_tied_weight(submission, draw):
    """an embedding that is tied to a base keeps its weight when that is merged, and is tied again afterwards

    > What else
    uses the weight W, such as an embedding that is tied to it, keeps W.
    > and is tied to what it was tied to.
    """
    parts = ("unmerge", "merge", "inject")
    model, numbers, adapters = adapted(submission, draw, ["head"], "head", **PLAIN, parts=parts)
    tokens = some_tokens(draw)
    new = drawn(draw, {"tokens.weight": (9, 6)})
    load_parameters(model, new)
    numbers |= new | {"head.weight": new["tokens.weight"]}
    expect_bases(model, numbers, ["head"], "after the embedding was loaded")
    submission.merge(model)
    with supposing("your merge writes into a weight that the embedding uses as well; give the base a new one"):
        expect(model.state_dict()["tokens.weight"], "the embedding, merged").equals(numbers["tokens.weight"].cpu())
    expect_logits(model, numbers, adapters, tokens, "of a tied head, merged", 1.0)
    submission.unmerge(model)
    expect_bases(model, numbers, ["head"], "after unmerge")
    new = drawn(draw, {"tokens.weight": (9, 6)})
    load_parameters(model, new)
    tied = model.state_dict()["head.base.weight"]
    with supposing("your unmerge gives the base a copy of its old weight; put back the parameter itself"):
        expect(tied, "weight of the head after another is loaded into the embedding").equals(
            new["tokens.weight"].cpu()
        )


# --- the adapter by itself ---


@check(aspect="values", points=1.5, on_workers_word=WORD)
def test_adapter_state(submission, draw):
    """adapter_state has A and B of each layer, nothing else, by name, and copies

    > copies, which later steps do not change, by their names in model.named_parameters()
    """
    places = [*BLOCKS, "first", "head"]
    parts = ("adapter_state", "merge", "inject")
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        model, _, adapters = adapted(submission, draw, ["up", "first", "head"], *places, parts=parts)
        model.to(dtype)
        adapters = {name: value.to(dtype) * (1 + 2.0**-26) for name, value in adapters.items()}
        load_parameters(model, adapters)
        helper = given_module(submission, "models")
        kept = helper.Kept(submission.adapter_state, model)
        for when in ("", " after two more steps", " of a merged model"):
            if when == " after two more steps":
                helper.train(model, some_tokens(draw), 2)
                state = kept.read()
            else:
                if when:
                    load_parameters(model, adapters)
                    submission.merge(model)
                state = submission.adapter_state(model)
            fingerprint_facts(submission, names=sorted(state), when=when)
            expect(list(state), f"names{when}").has_names(list(adapters))
            for name, value in adapters.items():
                expect(state[name], f"{name}{when}").equals(value.cpu())
                expect(state[name].requires_grad, f"whether {name} wants a gradient").is_value(False)


@check(aspect="values", points=1.5, on_workers_word=WORD)
def test_load_adapter(submission, draw):
    """the state of an adapter alone, in any dtype, makes another base compute with its differences

    > Give the LoRALinears of a model the A and B of a state that adapter_state has returned.
    > the numbers of its bases may differ.
    """
    places = [*BLOCKS, "first"]
    model, numbers = model_of(submission, draw, "load_adapter", "inject")
    submission.inject(model, ["up", "first"], 2, 3.0)
    before = model.state_dict()
    for dtype, refilled in ((None, True), (None, True), (None, False), (torch.float64, False)):
        adapters = drawn_adapters(draw, places, 2)
        given = {name: draw.noncontiguous(value.to(dtype)) for name, value in reversed(adapters.items())}
        with same_tensors(submission) if refilled else nullcontext():
            submission.load_adapter(model, given)
        expect_unchanged(submission)
        twins = {name.replace("first", "last"): value for name, value in adapters.items()}
        expect_state(model, before | twins | adapters, "after load_adapter")
        expect_logits(model, numbers, adapters, some_tokens(draw), "of another base")
        learning = given_module(submission, "models").learning(model)
        expect(learning, "parameters that learn after load_adapter").has_names(list(adapters))


# --- what is refused ---


@check(aspect="errors", on_workers_word=WORD)
def test_refused_rank(submission, draw):
    """a rank below 1 is a ValueError, and nothing has changed

    > ValueError: r is below 1. The base has not changed then.
    > or r is below 1. The model has not changed then.
    """
    submission.LoRALinear  # noqa: B018 - asked first
    helper = given_module(submission, "models")
    for r in (0, -1):
        base = helper.linear(3, 2)
        with expect_raises("ValueError", f"r is {r}"):
            submission.LoRALinear(base, r, 1.0)
        expect(helper.learning(base), "what learns of a base that was refused").has_names(["weight", "bias"])
    model, numbers = model_of(submission, draw, "inject")
    learning = given_module(submission, "models").learning(model)
    with expect_raises("ValueError", "r is 0"):
        submission.inject(model, ["up"], 0, 1.0)
    expect_state(model, numbers, "after r = 0 was refused")
    found = given_module(submission, "models").learning(model)
    expect(found, "what learns after r = 0 was refused").has_names(learning)


@check(aspect="errors", follows=test_inject, on_workers_word=WORD)
def test_refused_names(submission, draw):
    """a name that no nn.Linear has is a ValueError, and nothing has changed

    > ValueError: there is no nn.Linear of one of the names
    > The model has not changed then.
    """
    for names, bad in (
        (["w_q"], "w_q"), (["up", "w_q"], "w_q"), (["blocks.0"], "blocks.0"), (["p"], "p"), (["0.up"], "0.up"),
        (["norm"], "norm"), (["head", "up", "blocks.2.up"], "blocks.2.up"), (["tokens"], "tokens"),
    ):  # fmt: skip
        model, numbers = model_of(submission, draw, "inject")
        learning = given_module(submission, "models").learning(model)
        fingerprint_facts(submission, names=names)
        with expect_raises("ValueError", f"no nn.Linear is called {bad!r}"):
            submission.inject(model, names, 2, 3.0)
        expect_state(model, numbers, f"after {names} was refused")
        found = given_module(submission, "models").learning(model)
        fingerprint_facts(submission, names=names, learning=found)
        expect(found, f"what learns after {names} was refused").has_names(learning)
        expect(model.training, "whether the model is in train mode after it was refused").is_value(True)


@check(aspect="errors", points=1.5, follows=test_load_adapter, on_workers_word=WORD)
def test_refused_state(submission, draw):
    """a state that lacks a part or is of another model, and a merged model, are a ValueError, and nothing has changed

    > ValueError: a name is missing or unknown, a shape differs, or a layer of the model is merged.
    > The model has not changed then.
    """
    places = BLOCKS
    parts = ("load_adapter", "merge", "inject")
    model, *_ = adapted(submission, draw, ["up"], *places, parts=parts)
    right, before = drawn_adapters(draw, places, 2), model.state_dict()
    last = "blocks.1.up.B"
    for what, state in (
        (f"{last} is missing", {name: value for name, value in right.items() if name != last}),
        ("nothing is there", {}),
        ("head.A is unknown", right | {"head.A": right["blocks.0.up.A"]}),
        ("blocks.0.A is not of an adapter", right | {"blocks.0.A": draw.normal(width=6)}),
        ("the rank is 3 and not 2", drawn_adapters(draw, places, 3)),
        (f"{last} has another shape", right | {last: draw.normal(out=1, r=2)}),
    ):
        fingerprint_facts(submission, state=what)
        with expect_raises("ValueError", what):
            submission.load_adapter(model, state)
        fingerprint_facts(submission, state=what)
        expect_state(model, before, f"after a state was refused: {what}")
        expect(model.training, "whether the model is in train mode after a refusal").is_value(True)
    submission.merge(model)
    merged = model.state_dict()
    fingerprint_facts(submission, state="merged")
    with expect_raises("ValueError", "the model is merged"):
        submission.load_adapter(model, right)
    expect_state(model, merged, "after a merged model was refused")


@check(aspect="mode", points=0.5, follows=[test_inject, test_unmerge, test_load_adapter], on_workers_word=WORD)
def test_left(submission, draw):
    """all are called by name, names may be a generator, and the model stays in its mode

    > All may be given by position or
      by name.
    > names: any iterable, also a generator.
    > A function that is given a model leaves it in the mode in which it came
    """
    for train in (True, False):
        model, _ = model_of(submission, draw, *PARTS)
        model.train(train)
        names = given_module(submission, "models").Once(["up"])
        submission.inject(model=model, names=names, r=2, alpha=3.0)
        state = model.state_dict()
        fingerprint_facts(submission, names=sorted(state))
        expect(list(state), "names of the state with a generator of 'up'").has_names(names_with(BLOCKS))
        state = submission.adapter_state(model=model)
        submission.load_adapter(model=model, state=state)
        submission.merge(model=model)
        submission.unmerge(model=model)
        expect(model.training, "whether the model is in train mode").is_value(train)
        expect(model.blocks[1].norm.training, "whether a norm in it is in train mode").is_value(train)
