"""Gradients of parameters nobody knows by name: step and tolerance suit the precision that an answer computes in."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from grader.engine.checks import Draw, expect_parameter_gradients
from grader.engine.checks.failure import CheckFailure

Inside = Callable[[Tensor], Tensor]
Spoilt = Callable[[Tensor], Tensor]
SEEDS = range(5)


class Network(nn.Module):
    """Two layers with a norm between them that computes in a dtype of its own, as llama's does."""

    def __init__(self, inside: Inside, activation: Inside, spoilt: Spoilt, whole: bool) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(6, 8), nn.Linear(8, 5)
        self.weight = nn.Parameter(torch.randn(8))
        self.inside, self.activation, self.spoilt, self.whole = inside, activation, spoilt, whole

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.activation(self.first(x))
        inner = self.inside(hidden)
        inner = inner * torch.rsqrt(inner.square().mean(-1, keepdim=True) + 1e-6)
        y = self.second(inner.type_as(x) * self.spoilt(self.weight))
        return self.inside(y).type_as(x) if self.whole else y


def judge(
    seed: int,
    inside: Inside,
    activation: Inside = torch.tanh,
    spoilt: Spoilt = lambda weight: weight,
    whole: bool = False,
) -> None:
    torch.manual_seed(seed)
    judge_model(seed, Network(inside, activation, spoilt, whole), width=5)


def judge_model(seed: int, model: nn.Module, width: int) -> None:
    draw = Draw(seed, "slopes")
    x = draw.normal(batch=3, width=6, dtype=torch.float64)
    model.double()
    expect_parameter_gradients(model, lambda: model(x), draw, "output", "batch width", shape=(3, width))


PRECISIONS = {"float64": lambda x: x, "float32": lambda x: x.float()}


@pytest.mark.slow
@pytest.mark.parametrize("activation", [torch.tanh, torch.relu], ids=["smooth", "with kinks"])
@pytest.mark.parametrize("whole", [False, True], ids=["inside", "and at the end"])
@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_right_gradient_passes_in_any_precision(precision: str, whole: bool, activation: Inside) -> None:
    for seed in SEEDS:
        judge(seed, PRECISIONS[precision], activation, whole=whole)


@pytest.mark.parametrize("seed", [81, 100, 107])  # of 400, those on which steps that are too small agree best
def test_steps_that_agree_by_chance_are_not_trusted(seed: int) -> None:
    judge(seed, PRECISIONS["float32"])


class Cornered(nn.Module):
    """Steps far beyond `corner` agree on a slope of 12, and at 0 it is 10."""

    corner = 1e-3

    def __init__(self, spoilt: Spoilt = lambda weight: weight) -> None:
        super().__init__()
        self.weight, self.spoilt = nn.Parameter(torch.zeros(())), spoilt

    def forward(self, x: Tensor) -> Tensor:
        weight = self.spoilt(self.weight)
        return x * weight * (10 + 2 * weight**2 / (weight**2 + self.corner**2))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_corner_close_by_does_not_make_a_right_gradient_wrong(seed: int) -> None:
    judge_model(seed, Cornered(), width=6)
    with pytest.raises(CheckFailure, match="wrong gradient  weight"):
        judge_model(seed, Cornered(lambda weight: 0.9 * weight + 0.1 * weight.detach()), width=6)


class Kinked(nn.Module):
    """Its weight is `distance` before a corner, as one of a thousand hidden units may be."""

    def __init__(self, distance: float) -> None:
        super().__init__()
        self.weight, self.distance = nn.Parameter(torch.zeros(())), distance

    def forward(self, x: Tensor) -> Tensor:
        return x * (10 * self.weight.sin() + 30 * (self.weight + self.distance).relu())


@pytest.mark.parametrize("distance", [6e-6, 6e-7, 6e-8])
def test_a_corner_as_close_as_large_networks_have_it(distance: float) -> None:
    judge_model(0, Kinked(distance), width=6)


@pytest.mark.parametrize("activation", [torch.tanh, torch.relu], ids=["smooth", "with kinks"])
@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_parameter_that_is_cut_off_fails_in_any_precision(precision: str, activation: Inside) -> None:
    for seed in SEEDS:
        with pytest.raises(CheckFailure, match=r"wrong gradient  weight\n.*the gradient says 0\n1 of 5"):
            judge(seed, PRECISIONS[precision], activation, lambda weight: weight.detach())


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_gradient_that_is_a_tenth_too_small_fails(precision: str) -> None:
    for seed in SEEDS:
        with pytest.raises(CheckFailure, match="wrong gradient  weight"):
            judge(seed, PRECISIONS[precision], spoilt=lambda weight: 0.9 * weight + 0.1 * weight.detach())


def test_noise_excuses_no_gradient() -> None:
    noise = torch.Generator().manual_seed(0)

    def trembling(x: Tensor) -> Tensor:
        return x + torch.randn(x.shape, generator=noise, dtype=x.dtype)

    with pytest.raises(CheckFailure, match="wrong gradient"):
        judge(0, trembling)
