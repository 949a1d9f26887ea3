"""An answer that takes no work earns a fifth of a kata at most."""

from __future__ import annotations

from typing import Any

import pytest

from grader.author.idle import TRIVIAL, idle
from grader.catalogue import Kata
from grader.engine.runner.suite import RunConfig, suites_of
from tests import ours

STILL = """

import torch as _torch


def _still(*args, **kwargs):
    return {value}


def _begin(self, *args, **kwargs):
    if isinstance(self, _torch.nn.Module):
        _torch.nn.Module.__init__(self)


for _name in {names}:
    _one = globals()[_name]
    if isinstance(_one, type):
        for _method in [name for name, value in vars(_one).items() if callable(value)]:
            setattr(_one, _method, _begin if _method == "__init__" else lambda self, *args, **kw: _still(*args, **kw))
    else:
        globals()[_name] = _still
"""
VALUES = {"nothing": "None", "the first argument": "next(iter((*args, *kwargs.values())), None)"}


def trivial(kata: Kata) -> dict[str, str]:
    """Return answers that return nothing, their first argument, or zeros of the right shapes."""
    assert kata.solution is not None
    stub, names = kata.stub.read_text(), sorted(kata.required)
    answers = {kind: stub + STILL.format(value=value, names=names) for kind, value in VALUES.items()}
    return answers | {"zeros": idle(kata.solution.read_text(), kata.required, "return zeros")}


@pytest.mark.gate
@pytest.mark.parametrize("slug", ours.katas())
def test_what_takes_no_work_earns_a_fifth_at_most(slug: str, launcher: Any) -> None:
    kata = ours.katas()[slug]
    file = kata.stub.with_name(f"{kata.module}.py")
    with suites_of([kata], hidden=True) as suites:
        most = TRIVIAL * suites[slug].max_score(timed=False)
        suite = suites[slug].exclude(suites[slug].trained())
        for kind, text in trivial(kata).items():
            report = suite.check(file, launcher, RunConfig(seed=0), content=text.encode())
            assert report.score <= most, (
                kind,
                {check.id: check.points for check in report.checks if check.points},
            )
