"""What answers earn in which a function is left out, or is there and does nothing: the second is not much more work."""

from __future__ import annotations

import ast
from collections.abc import Collection, Container, Iterator

from grader.author.stability import StabilityResult
from grader.catalogue import Kata
from grader.engine.host.launcher import Launcher
from grader.engine.mistakes.mistakes import Mistake
from grader.engine.mistakes.recognise import SEED
from grader.engine.runner.suite import RunConfig, Suite

IDLE, TRIVIAL = 1 / 3, 1 / 5
"""The shares of a kata that an answer earns at most: one that does nothing of what the kata is about, and one whose
functions are all constant or hand an argument back."""
IMITATED = 0.1
"""How much more of a kata a mistake earns at most, where it leaves a function idle, than leaving that function out."""
KINDS = {"return zeros": (0, False), "return ones": (1, False), "hand back an argument": (0, True)}

_LEFT_OUT = """

def _left_out(*args, **kwargs):
    raise NotImplementedError("{name}")

{name} = {value}
"""
# Right shapes, dtypes, parameters and errors are taken from the reference: no idle answer can have more of them.
_STILL = """

import contextlib as _contextlib, copy as _copy, functools as _functools, torch as _torch


def _blank(value, given):
    if isinstance(value, _torch.Tensor):
        alike = [one for one in given if isinstance(one, _torch.Tensor)]
        alike = [one for one in alike if (one.shape, one.dtype) == (value.shape, value.dtype)]
        return alike[0] if {back} and alike else _torch.full_like(value, {fill}, requires_grad=False)
    if type(value) in (list, tuple):
        return type(value)(_blank(one, given) for one in value)
    if isinstance(value, dict):
        return {{key: _blank(one, given) for key, one in value.items()}}
    if type(value) in (int, float, bool):
        return type(value)({fill})
    if type(value) in (str, bytes):
        return next((one for one in given if {back} and type(one) is type(value)), type(value)())
    if hasattr(value, "__enter__"):
        return _contextlib.nullcontext()
    return _still(value) if callable(value) and not isinstance(value, _torch.nn.Module) else value


def _still(function):
    @_functools.wraps(function)
    def still(*args, **kwargs):
        if function.__annotations__.get("return", 0) in (None, "None"):
            return None
        try:
            own = _copy.deepcopy((args, kwargs))
        except Exception:
            own = args, kwargs
        return _blank(function(*own[0], **own[1]), (*args, *kwargs.values()))

    return still


for _name in {names}:
    _one = globals()[_name]
    if isinstance(_one, type):
        for _method, _function in list(vars(_one).items()):
            if callable(_function) and not _method.startswith("_"):
                setattr(_one, _method, _still(_function))
    else:
        globals()[_name] = _still(_one)
"""


class Idleness:
    """Hands in answers of a kata that leave functions out or idle; of one seed, without the checks that train."""

    def __init__(self, kata: Kata, suite: Suite, launcher: Launcher) -> None:
        self._kata = kata
        self._launcher = launcher
        self._most = suite.max_score(timed=False)
        self._checks = suite.exclude(suite.trained())
        self._left_out: dict[tuple[str, frozenset[str]], float] = {}

    def complaints(self, tried: Container[str] = KINDS) -> Iterator[str]:
        """Say which answers with nothing but idle functions earn too much, of those that are tried."""
        assert self._kata.solution is not None
        right = self._kata.solution.read_text(encoding="utf-8")
        for kind in filter(tried.__contains__, KINDS):
            earned = self._earned(idle(right, self._kata.required, kind))
            if earned > TRIVIAL * self._most:
                yield (
                    f"functions that {kind} earn {earned:g} of {self._most:g} points, more than a fifth; let "
                    "checks that see values be worth more, and those that see none less"
                )

    def imitated(self, mistake: Mistake, marks: StabilityResult) -> str | None:
        """Say where a mistake that leaves a function idle earns too much."""
        earned = sum(marks.points[item.name][0] for item in self._checks.items)
        if mistake.idle is not None:
            limit, than = IDLE * self._most, "a third: it is idle"
        elif marks.idle:
            names = frozenset(name.partition(".")[0] for name in mistake.changed)
            key = mistake.base, names
            # The same function is left out by several mistakes.
            if key not in self._left_out:
                self._left_out[key] = self._earned(left_out(mistake.base, names))
            limit = self._left_out[key] + IMITATED * self._most
            than = f"{limit:g}: {' and '.join(sorted(names))} left out, and a tenth of the points"
        else:
            return None
        return f"{mistake.name} earns {earned:g} points, more than {than}" if earned > limit else None

    def _earned(self, text: str) -> float:
        file = self._kata.stub.with_name(f"{self._kata.module}.py")
        return self._checks.check(file, self._launcher, RunConfig(seed=SEED), content=text.encode()).score


def left_out(text: str, names: Collection[str]) -> str:
    """Return an answer without these functions and classes: as in a stub, their use raises NotImplementedError."""
    classes = {node.name for node in ast.parse(text).body if isinstance(node, ast.ClassDef)}
    for name in sorted(names):
        value = f'type("{name}", (), {{"__init__": _left_out}})' if name in classes else "_left_out"
        text += _LEFT_OUT.format(name=name, value=value)
    return text


def idle(text: str, names: Collection[str], kind: str) -> str:
    """Return an answer whose functions have the right shapes and no values."""
    fill, back = KINDS[kind]
    return text + _STILL.format(names=sorted(names), fill=fill, back=back)
