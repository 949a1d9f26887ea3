"""Tensors on a GPU cross as those in memory do. Skipped where there is none."""

from __future__ import annotations

from typing import Any

import pytest
import torch

SOURCE = """
    import torch
    def twice(x):
        return x * 2
    def where(x):
        return x.device
    def roll(generator):
        return torch.rand(3, generator=generator, device=generator.device)
    class Model(torch.nn.Linear):
        pass
"""


@pytest.fixture
def answer(examine: Any) -> Any:
    if not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    return examine(SOURCE, device="cuda", submission_timeout_s=300.0, check_timeout_s=120.0).submission


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.bool], ids=str)
def test_a_tensor_stays_on_its_device(answer: Any, dtype: torch.dtype) -> None:
    x = torch.ones(3, 2, device="cuda").to(dtype)
    assert answer.where(x) == x.device
    back = answer.twice(x)
    assert back.device == x.device
    assert torch.equal(back, x * 2)


def test_gradients_come_back_to_the_device(answer: Any) -> None:
    x = torch.ones(3, device="cuda", requires_grad=True)
    answer.twice(x).sum().backward()
    assert x.grad.device == x.device
    assert x.grad.tolist() == [2, 2, 2]


def test_a_module_can_be_moved(answer: Any) -> None:
    model = answer.Model(4, 2).to("cuda")
    assert model.weight.device.type == "cuda"
    assert model(torch.ones(1, 4, device="cuda")).shape == (1, 2)
