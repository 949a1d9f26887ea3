"""The reference, or a mistake made of it, in the grader's own process: imported, and watched for work.

Whether what a mistake changes still depends on its input: to imitate a function that does not takes no work.
"""

from __future__ import annotations

import functools
import sys
import types
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import torch

from grader.engine.mistakes.mistakes import Mistake


@cache
def load_reference(file: Path, text: str, given: Path | None) -> types.ModuleType:
    """Return the module of a reference; `given` is the folder of what its kata gives."""
    return _load(f"_reference_{file.stem}", file, text, given)


def load_mistake(mistake: Mistake, given: Path | None) -> types.ModuleType:
    """Return the module of a catalogued mistake, anew: its author's code, as trusted as the reference it is made of."""
    return _load(f"_mistake_{mistake.name}", mistake.source.path, mistake.text, given)


def _load(name: str, file: Path, text: str, given: Path | None) -> types.ModuleType:
    """Return a module of this text, anew; its lines are those of `file`."""
    module = types.ModuleType(name)
    module.__file__ = str(file)
    sys.modules[module.__name__] = module  # dataclasses look there for the module of a class
    with _importable(given):
        exec(compile(text, str(file), "exec"), module.__dict__)
    return module


@contextmanager
def _importable(folder: Path | None) -> Iterator[None]:
    """Let a reference import what its kata gives, and forget that again: another kata gives other blocks."""
    if folder is None:
        yield
        return
    names = [path.stem for path in folder.glob("*.py")]
    # Put away, not lost: something of the grader's own may have that name.
    hidden = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(hidden)


class IdleWatch:
    """The reference with a mistake, and what its changed functions return while a check calls them.

    What is constant, or an argument handed back, depends on nothing; nor does a call that returns nothing and leaves
    every tensor that it reaches as it was. Calls are judged as they come instead of being repeated with other inputs,
    which would disturb caches, random generators and the state of optimizers.
    """

    def __init__(self, mistake: Mistake, given: Path | None) -> None:
        self._mistake, self._given = mistake, given
        self._numbers: Counter[tuple[str, int]] = Counter()
        """How many came back at each place of a result: of a single one nobody can tell whether it is constant."""
        self._depends = False
        self._constants: dict[tuple[str, int], set[str]] = defaultdict(set)

    @property
    def name(self) -> str:
        """The mistake's."""
        return self._mistake.name

    @property
    def idle(self) -> bool:
        """Whether nothing that was seen depends on an input, and there was enough to tell."""
        enough = max(self._numbers.values(), default=0) > 1
        constant = all(len(values) <= 1 for values in self._constants.values())
        return self._mistake.idle is not None or (enough and constant and not self._depends)

    def reference(self) -> types.ModuleType:
        """Return the reference with the mistake, anew."""
        module = load_mistake(self._mistake, self._given)
        for dotted in self._mistake.changed:
            owner, _, name = dotted.rpartition(".")
            for place, public in _public(getattr(module, owner, module), name):
                setattr(place, public, self._watched(vars(place)[public]))
        return module

    def _watched(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def watched(*args: Any, **kwargs: Any) -> Any:
            # Copies: a function may write its result into an argument, which afterwards would equal itself.
            before = [_copy(leaf) for leaf in _leaves((args, kwargs))]
            result = function(*args, **kwargs)
            if result is None:
                self._numbers[function.__qualname__, 0] += 2
                self._depends |= not all(map(_equal, before, map(_copy, _leaves((args, kwargs)))))
            else:
                for place, value in enumerate(_leaves(result)):
                    self._look((function.__qualname__, place), value, before)
            return result

        return watched

    def _look(self, place: tuple[str, int], value: Any, given: list[list[Any]]) -> None:
        if not isinstance(value, torch.Tensor | int | float):
            self._depends = True
            return
        # As a float: an int may be larger than any tensor holds.
        numbers = (value if isinstance(value, torch.Tensor) else torch.tensor(float(value))).detach()
        self._numbers[place] += numbers.numel()
        if not any(_equal(_copy(value)[:1], argument[:1]) for argument in given):
            # As text, in which NaN equals itself, and rounded: an oracle computes in two dtypes.
            ends = (numbers.real.double().min(), numbers.real.double().max()) if numbers.numel() else ()
            self._constants[place].update(f"{float(end):.5g}" for end in ends)


def _copy(value: Any) -> list[Any]:
    """Return what a call may change of an argument: of a tensor its values, its gradient, and whether it has one."""
    if not isinstance(value, torch.Tensor):
        return [value]
    grad = value.grad if value.is_leaf else None  # torch warns where another's is read
    return [value.detach().clone(), None if grad is None else grad.clone(), value.requires_grad]


def _equal(one: list[Any], other: list[Any]) -> bool:
    for a, b in zip(one, other, strict=False):  # a tensor's list is longer than a number's
        if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
            if a.shape != b.shape or not bool((a == b).all()):
                return False
        elif type(a) is not type(b) or a != b:
            return False
    return True


def _leaves(value: Any) -> Iterator[Any]:
    """Yield what is in containers, modules and optimizers."""
    if isinstance(value, Mapping):
        value = value.values()
    elif isinstance(value, torch.nn.Module):
        value = [*value.parameters(), *value.buffers()]
    elif isinstance(value, torch.optim.Optimizer):
        # An optimizer's work shows in what it moves.
        value = [parameter for group in value.param_groups for parameter in group["params"]]
    elif not isinstance(value, list | tuple):
        yield value
        return
    for part in value:
        yield from _leaves(part)


def _public(owner: Any, name: str) -> Iterator[tuple[Any, str]]:
    """Yield where a function is, and its name; for a private one, which others call, all that are public there."""
    if not name.startswith("_"):
        if isinstance(vars(owner).get(name), types.FunctionType):
            yield owner, name
        return
    for other, value in vars(owner).items():
        if isinstance(owner, types.ModuleType) and getattr(value, "__module__", "") != owner.__name__:
            continue  # imported
        if isinstance(value, type):
            yield from _public(value, name)
        elif isinstance(value, types.FunctionType) and not other.startswith("_"):
            yield owner, other
