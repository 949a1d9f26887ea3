"""Tensors on an accelerator cross as those in memory do."""

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
    def strides(x):
        return x.stride()
    def roll(generator):
        return torch.rand(3, generator=generator, device=generator.device)
    class Model(torch.nn.Linear):
        pass
"""


@pytest.fixture
def answer(examine: Any, accelerator: str) -> Any:
    return examine(SOURCE, device=accelerator, submission_timeout_s=300.0, check_timeout_s=120.0).submission


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.bool], ids=str)
def test_a_tensor_stays_on_its_device(answer: Any, dtype: torch.dtype, accelerator: str) -> None:
    x = torch.ones(3, 2, device=accelerator).to(dtype)
    assert answer.where(x) == x.device
    back = answer.twice(x)
    assert back.device == x.device
    assert torch.equal(back, x * 2)


def test_gradients_come_back_to_the_device(answer: Any, accelerator: str) -> None:
    x = torch.ones(3, device=accelerator, requires_grad=True)
    answer.twice(x).sum().backward()
    assert x.grad.device == x.device
    assert x.grad.tolist() == [2, 2, 2]


def test_a_module_can_be_moved(answer: Any, accelerator: str) -> None:
    model = answer.Model(4, 2).to(accelerator)
    assert model.weight.device.type == accelerator
    assert model(torch.ones(1, 4, device=accelerator)).shape == (1, 2)


def test_gaps_between_strides_survive_the_way(answer: Any, accelerator: str) -> None:
    x = torch.arange(60.0).view(5, 12)[:, 2:7].to("cpu")
    there = torch.arange(60.0, device=accelerator).view(5, 12)[:, 2:7]
    assert answer.strides(there) == x.stride()
    assert torch.equal(answer.twice(there).cpu(), x * 2)


def test_a_generator_of_the_device_comes_back_advanced(answer: Any, accelerator: str) -> None:
    ours, theirs = (torch.Generator(accelerator).manual_seed(3) for _ in range(2))
    assert torch.equal(answer.roll(theirs).cpu(), torch.rand(3, generator=ours, device=accelerator).cpu())
    assert torch.equal(theirs.get_state(), ours.get_state())


def test_what_a_check_constructs_lies_where_its_inputs_are(answer: Any, accelerator: str) -> None:
    assert answer.Model(4, 2).weight.device.type == accelerator
