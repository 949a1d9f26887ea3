"""A clock that counts steps: what a timed call takes is told, so that a test of a form says nothing of the machine.

Workers, turns and rounds are the real ones. With the real clock what is fast and what is slow is judged in
tests/hostile/test_speed.py, where it is a hundred times apart.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import pytest
import torch

from grader.engine.host.deadline import Sample, Span
from grader.engine.timing.benchmark_run import TimedWorker

EXCHANGE_S = 1e-5
YARDSTICK_S = 1e-4


def tell_times(
    monkeypatch: pytest.MonkeyPatch,
    seconds: Callable[[str, Any], float],
    disturbances: Iterable[float] = itertools.repeat(0.0),
) -> None:
    """Let each timed call take `seconds(source, argument)`: of the file that is timed, and its first argument.

    An empty exchange takes as much longer as `disturbances` says, one after the other.
    """
    measured, longer = TimedWorker.timed, iter(disturbances)

    def timed(self: TimedWorker, perform: Any, patience_s: float) -> tuple[Any, Span, list[Sample]]:
        value, _, samples = measured(self, perform, patience_s)
        if not isinstance(perform, partial):
            told = YARDSTICK_S
        elif isinstance(perform.args[0], torch.Tensor):  # an empty exchange
            told = EXCHANGE_S + next(longer)
        else:
            told = EXCHANGE_S + seconds(self.session.source.data.decode(), perform.args[1])
        return value, Span(told, told), samples

    monkeypatch.setattr(TimedWorker, "timed", timed)
