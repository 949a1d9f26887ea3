"""Hidden checks of 9.6.3: what is right only on the visible layers and models fails here."""

from __future__ import annotations

import copy

import torch
from torch import nn

from grader.checks import Part, check, expect, given_module, oracle

WORD = "states and outputs are compared with those of the reference, in a model that has the same numbers"
"""Why what models of the helper return is enough."""


def nest():
    """Return what `models.nest` returns."""
    twice, one, other = nn.Sequential(nn.Linear(5, 5), nn.Tanh()), nn.Linear(5, 5), nn.Linear(5, 5)
    other.weight = one.weight
    return nn.Sequential(nn.Linear(4, 5), twice, one, nn.Tanh(), other, twice, nn.Linear(5, 70, bias=False))


def pair(submission, draw):
    """Return a model in the worker and its twin here, with the same numbers."""
    model, twin = given_module(submission, "models").nest(), nest()
    for parameter in twin.parameters():
        nn.init.normal_(parameter, std=0.5, generator=draw.generator)
    model.load_state_dict(twin.state_dict())
    return model.to(draw.device), twin


def expect_alike(reference, model, twin, x, when):
    """Demand the twin's outputs, merged or not, in float64 within rounding."""

    def right(x, merged=False):
        own = copy.deepcopy(twin).to(x.dtype)
        if merged:
            reference.merge(own)
        return own(x)

    with torch.no_grad():
        wanted = oracle(right, x, also=(lambda x: right(x, merged=True),))
        expect(model(x), f"output {when}").close_to(wanted)


def expect_bits(found, wanted, when):
    expect(list(found), f"names {when}").has_names(list(wanted))
    for name, value in wanted.items():
        expect(found[name], f"{name} {when}").equals(value)


@check(aspect="values", points=1)
def test_any_layer(submission, draw):
    """a LoRALinear holds for any sizes, rank and alpha, without a bias as well

    > Return base(x) + alpha / r · x Aᵀ Bᵀ, [.., O], for x [.., I]
    > it may be larger than I or O.
    """
    submission.LoRALinear  # noqa: B018 - the helper has to be in the worker that this name is asked of
    for inputs, outputs, r, alpha in ((*draw.sizes(3, 2, 9), 0.5), (1, 66, 3, 16), (70, 1, 5, 1.0)):
        base = given_module(submission, "models").linear(inputs, outputs, False)

        def right(state, x, scale=alpha / r):
            return x @ (state["base.weight"] + scale * (state["B"] @ state["A"])).T

        part = Part("LoRALinear", {"base": base, "r": r, "alpha": alpha}, ["output"], rows=False)
        part.expect_values(submission, right, draw, [{"x": draw.normal(group=2, batch=3, time=1, width=inputs)}])


@check(aspect="values", points=2.5, on_workers_word=WORD)
def test_any_model(submission, reference, draw):
    """a model of another make is adapted, merged and unmerged, also where parts and weights are shared

    > the same LoRALinear is put in all these places.
    > each base has its old weight again, bit for bit
    """
    submission.inject, submission.merge, submission.unmerge  # noqa: B018 - asked first
    for names, r, alpha in ((["0", "6"], 2, 4), (["5.0"], 1, 0.5), (["2", "1.0"], 7, 3.0), (["2", "4", "6"], 3, 2.0)):
        model, twin = pair(submission, draw)
        for own, make in ((model, submission), (twin, reference)):
            make.inject(own, names, r, alpha)
        state = {name: draw.like(value) for name, value in reference.adapter_state(twin).items()}
        submission.load_adapter(model, state)
        reference.load_adapter(twin, state)
        x = draw.normal(batch=3, width=4)
        expect_bits(submission.adapter_state(model), state, f"of the adapter of {names}")
        expect_alike(reference, model, twin, x, "unmerged")
        submission.merge(model)
        expect_alike(reference, model, twin, x, "merged")
        submission.unmerge(model)
        reference.merge(twin)  # changes nothing, unless it makes the submission's mistake
        reference.unmerge(twin)
        expect_bits(model.state_dict(), twin.state_dict(), f"with {names}, unmerged")
        expect_alike(reference, model, twin, x, "unmerged again")


@check(aspect="values", points=1.5, on_workers_word=WORD)
def test_two_models(submission, reference, draw):
    """two models do not disturb each other, and an adapter goes from one to the other

    > Nothing is kept from one call to the next.
    > the numbers of its bases may differ.
    """
    submission.inject, submission.merge, submission.unmerge  # noqa: B018 - asked first
    pairs, x = [pair(submission, draw) for _ in range(2)], draw.normal(batch=3, width=4)
    for (model, twin), alpha in zip(pairs, (1.0, 6.0), strict=True):
        submission.inject(model, given_module(submission, "models").Once(["0", "2"]), 2, alpha)
        reference.inject(twin, ["0", "2"], 2, alpha)
    (one, first), (other, second) = pairs
    state = {name: draw.like(value) for name, value in reference.adapter_state(first).items()}
    submission.load_adapter(one, state)
    reference.load_adapter(first, state)
    submission.merge(one)
    expect_alike(reference, other, second, x, "of the other model, which is new")
    submission.load_adapter(other, submission.adapter_state(one))
    reference.load_adapter(second, state)
    submission.merge(other)
    submission.unmerge(one)
    for model, twin, when in ((one, first, "unmerged"), (other, second, "merged, with the adapter of one")):
        expect_alike(reference, model, twin, x, when)
    submission.unmerge(other)
    for (model, twin), when in zip(pairs, ("of one", "of the other"), strict=True):
        expect_bits(model.state_dict(), twin.state_dict(), f"{when}, unmerged")
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
