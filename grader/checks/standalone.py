"""Checks under plain pytest, with the submission in the same process: for authors at work, never for marks.

pytest -p grader.checks.standalone --submission path/to/masks.py katas/9.3-encoder-vs-decoder/masks/checks.py
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from grader.checks.draw import Draw
from grader.host.calls import Calls
from grader.host.local import load_local
from grader.host.source import read_source
from grader.host.terms import Terms


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--submission` and `--kata-seed`."""
    group = parser.getgroup("kata")
    group.addoption("--submission", required=True, help="the file that the checks examine")
    group.addoption("--kata-seed", type=int, default=0, help="where random inputs begin")


@pytest.fixture(scope="session")
def submission(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The submission's module, in this process."""
    path = Path(request.config.getoption("--submission"))
    with load_local(read_source(path), Terms(module=path.stem, required=()), Calls()) as module:
        yield module


@pytest.fixture
def draw(request: pytest.FixtureRequest, seed: int, device: torch.device) -> Draw:
    """Random inputs, as the grader draws them."""
    return Draw(seed, request.node.name, device)


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """The run's seed."""
    return int(request.config.getoption("--kata-seed"))


@pytest.fixture
def device() -> torch.device:
    """Where inputs live."""
    return torch.device("cpu")


@pytest.fixture
def speed() -> None:
    """Skip: a speed check needs the submission in a process of its own."""
    pytest.skip("speed checks need the grader: kata check --perf")


@pytest.fixture
def reference() -> types.ModuleType:
    """Skip: hidden checks need the grader."""
    pytest.skip("hidden checks need the reference: kata grade")
