"""Gradients flow through the boundary in both directions, as if it were not there."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.autograd.gradcheck import GradcheckError

from grader.engine.host.errors import SubmissionRaised
from tests.conftest import open_submission

SOURCE = """
    import torch
    from torch import nn

    def cube(x):
        return x ** 3

    def mixed(x, y):
        return {"sum": x + y, "parts": [x * 2, (y.sin(), 3)], "plain": torch.ones(2)}

    def cut(x):
        return x.detach()

    def scale(x, factor):
        return x * factor

    def identity(x):
        return x

    def views(x):
        return x[0], x[1:]

    def both(x):
        y = x * 2
        return y, y

    def first_of(x, y):
        return x * 1.0

    class Linear(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(width, width, dtype=torch.float64))
            self.unused = nn.Parameter(torch.ones(2))

        def forward(self, x):
            return x @ self.weight.T

    class Mine(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return g * 10

    class Broken(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            raise ValueError("backward is wrong")

    def custom(x):
        return Mine.apply(x)

    def broken(x):
        return Broken.apply(x)

    def penalty(weight):
        return weight

    def step(model, x):
        loss = model(x).sum()
        loss.backward()
        return loss
"""


@pytest.fixture(scope="module")
def shared(launcher: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from tests.conftest import open_submission

    opened = open_submission(
        launcher, tmp_path_factory.mktemp("g") / "answer.py", SOURCE, submission_timeout_s=600.0
    )
    yield opened
    opened.session.close()


@pytest.fixture
def answer(shared: Any) -> Any:
    shared.begin(0, 60.0)
    return shared.submission


def leaf(*shape: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.randn(shape, dtype=dtype, generator=torch.Generator().manual_seed(0)).requires_grad_()


def test_backward_reaches_the_input(answer: Any) -> None:
    x = leaf(3, 4)
    y = answer.cube(x)
    assert y.requires_grad
    assert not y.is_leaf
    y.sum().backward()
    assert torch.allclose(x.grad, 3 * x.detach() ** 2)


def test_calls_chain_with_code_of_the_check_between(answer: Any) -> None:
    x = leaf(5)
    y = answer.scale(answer.cube(x).sin() + x, 2.0)
    (found,) = torch.autograd.grad(y.sum(), x)
    a = x.detach().requires_grad_()
    (wanted,) = torch.autograd.grad((2 * ((a**3).sin() + a)).sum(), a)
    assert torch.allclose(found, wanted)


def test_several_outputs_nested_and_one_of_them_unused(answer: Any) -> None:
    x, y = leaf(2), leaf(2)
    result = answer.mixed(x, y)
    assert result["parts"][1][1] == 3
    assert not result["plain"].requires_grad
    (result["sum"] * 2 + result["parts"][0]).sum().backward()
    assert x.grad.tolist() == [4, 4]
    assert y.grad.tolist() == [2, 2]
    result["parts"][1][0].sum().backward()
    assert torch.allclose(y.grad, 2 + y.detach().cos())


def test_an_unused_input_gets_no_gradient(answer: Any) -> None:
    x, y = leaf(2), leaf(2)
    found = torch.autograd.grad(answer.first_of(x, y).sum(), [x, y], allow_unused=True)
    assert found[0].tolist() == [1, 1]
    assert found[1] is None


def test_inputs_without_gradient_stay_without(answer: Any) -> None:
    x, factor = leaf(2), torch.tensor([2.0, 3.0], dtype=torch.float64)
    answer.scale(x, factor).sum().backward()
    assert x.grad.tolist() == [2, 3]
    assert factor.grad is None
    assert not answer.scale(factor, 2).requires_grad


def test_a_detached_result_has_no_graph(answer: Any) -> None:
    assert not answer.cut(leaf(2)).requires_grad


def test_without_grad_nothing_is_recorded(answer: Any) -> None:
    with torch.no_grad():
        assert not answer.cube(leaf(2)).requires_grad
    with torch.inference_mode():
        assert torch.equal(answer.cube(torch.tensor([2.0])), torch.tensor([8.0]))


@pytest.mark.parametrize("name", ["identity", "views", "both"])
def test_results_that_share_memory_with_input_or_each_other(answer: Any, name: str) -> None:
    x = leaf(3, 2)
    results = getattr(answer, name)(x)
    results = results if isinstance(results, tuple) else (results,)
    sum(result.sum() for result in results).backward()
    wanted = {"identity": 1.0, "views": 1.0, "both": 4.0}[name]
    assert torch.equal(x.grad, torch.full_like(x, wanted))


def test_the_graph_can_be_walked_again(answer: Any) -> None:
    x = leaf(3)
    y = answer.cube(x).sum()
    first = torch.autograd.grad(y, x, retain_graph=True)[0]
    second = torch.autograd.grad(y, x)[0]
    assert torch.equal(first, second)


def test_gradients_accumulate_on_leaves_here(answer: Any) -> None:
    x = leaf(3)
    for _ in range(3):
        answer.identity(x).sum().backward()
    assert x.grad.tolist() == [3, 3, 3]


@pytest.mark.slow
def test_a_cotangent_that_is_no_ones(answer: Any) -> None:
    x, seed = leaf(2, 3), torch.arange(6.0, dtype=torch.float64).reshape(3, 2).t()
    answer.scale(x, 2.0).backward(seed)
    assert torch.equal(x.grad, 2 * seed)


@pytest.mark.parametrize("shape", [(), (1,), (0,), (2, 3)], ids=str)
def test_shapes_of_every_kind(answer: Any, shape: tuple[int, ...]) -> None:
    x = leaf(*shape)
    answer.cube(x).sum().backward()
    assert x.grad.shape == x.shape


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.complex64], ids=str)
def test_dtypes_that_have_gradients(answer: Any, dtype: torch.dtype) -> None:
    x = torch.ones(2, dtype=dtype, requires_grad=True)
    y = answer.scale(x, 2.0)
    y.backward(torch.ones_like(y))
    assert x.grad.dtype == dtype
    assert x.grad.tolist() == [2, 2]


def test_noncontiguous_and_expanded_inputs(answer: Any) -> None:
    x = leaf(2, 3)
    answer.cube(x.t()).sum().backward()
    answer.cube(x[:1].expand(4, 3)).sum().backward()
    wanted = 3 * x.detach() ** 2
    wanted[0] *= 5
    assert torch.allclose(x.grad, wanted)


def test_gradcheck_passes_through_the_boundary(answer: Any) -> None:
    x, y = leaf(2, 3), leaf(2, 3)
    model = answer.Linear(3)
    assert torch.autograd.gradcheck(answer.cube, (x,))
    assert torch.autograd.gradcheck(
        lambda a, b: answer.mixed(a, b)["parts"][1][0] + answer.scale(a, 3.0), (x, y)
    )
    assert torch.autograd.gradcheck(lambda a: model(a), (x,))
    with pytest.raises(GradcheckError):
        torch.autograd.gradcheck(answer.custom, (x,))


def test_parameters_accumulate_over_there(answer: Any) -> None:
    model, x = answer.Linear(2), leaf(3, 2)
    assert model.weight.grad is None
    for count in (1, 2):
        model(x).sum().backward()
        wanted = count * x.detach().sum(0).expand(2, 2)
        assert torch.allclose(model.weight.grad, wanted)
    assert model.unused.grad is None
    model.zero_grad()
    assert model.weight.grad is None


def test_parameters_get_gradients_when_no_input_does(answer: Any) -> None:
    model = answer.Linear(2)
    model(torch.ones(1, 2, dtype=torch.float64)).sum().backward()
    assert model.weight.grad.tolist() == [[1, 1], [1, 1]]


def test_backward_inside_the_submission(answer: Any) -> None:
    model = answer.Linear(2)
    loss = answer.step(model, torch.ones(1, 2, dtype=torch.float64))
    assert loss.item() == 4
    assert model.weight.grad.sum() == 4


def test_a_backward_of_the_learner_runs_and_may_fail(answer: Any) -> None:
    x = leaf(2)
    answer.custom(x).sum().backward()
    assert x.grad.tolist() == [10, 10]
    with pytest.raises(SubmissionRaised, match="backward is wrong"):
        answer.broken(x).sum().backward()
    assert answer.identity(1) == 1


def test_an_optimiser_here_cannot_reach_parameters_there(answer: Any) -> None:
    model = answer.Linear(2)
    copy = model.weight
    with torch.no_grad():
        copy.zero_()
    assert model.weight.sum() == 4


@pytest.mark.slow
def test_graphs_are_forgotten_with_their_results(examine: Any) -> None:
    opened = examine("""
        import gc, torch
        def f(x):
            return x * torch.ones(1000)
        def alive():
            gc.collect()
            return sum(isinstance(part, torch.Tensor) and part.grad_fn is not None for part in gc.get_objects())
    """)
    x = leaf(1000, dtype=torch.float32)
    opened.submission.alive()
    for _ in range(20):
        opened.submission.f(x)
    assert opened.submission.alive() <= 2
    kept = [opened.submission.f(x) for _ in range(20)]
    assert opened.submission.alive() >= 20
    assert len(kept) == 20


def test_a_session_is_freed_whatever_its_graphs_hold(launcher: Any, tmp_path: Path) -> None:
    """The record of calls holds a tensor, which holds its graph: a circle that Python's collector does not see."""
    opened = open_submission(launcher, tmp_path / "answer.py", SOURCE)
    several = opened.submission.mixed(leaf(2), leaf(2))
    opened.submission.cube(several["sum"])
    del several
    freed = weakref.ref(opened.session)
    opened.session.close()
    del opened
    gc.collect()
    assert freed() is None


def test_second_derivatives_are_refused_not_wrong(answer: Any) -> None:
    x = leaf(2)
    (first,) = torch.autograd.grad(answer.cube(x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError):
        torch.autograd.grad(first.sum(), x)
