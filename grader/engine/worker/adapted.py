"""A course's own files as a kata: import them under their own names, and run the pack's shim on top.

Runs in the worker only, next to the learner's code: the grader believes nothing that a shim returns either.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from grader.engine.wire.messages import Adapt
from grader.engine.worker import loader
from grader.notebooks import keep_lines

HERE = __file__
"""What is raised in this file is raised about the learner's."""
_PLACE = re.compile(r"(?P<name>[\w.*]+)(?:\[(?P<part>\d+)/(?P<of>\d+)\])?")


class EarlyUseError(RuntimeError):
    """Raised where a shim asks for what is the learner's before that is there."""


class LayoutError(AttributeError):
    """Raised where a class of the learner's lacks what the course's layout has, or has it in another shape."""


class Theirs:
    """What the learner's files define, by its name, whichever of them has it."""

    def __init__(self, modules: Iterable[types.ModuleType]) -> None:
        self._modules = list(modules)
        self._loaded = False

    def __getattr__(self, name: str) -> Any:
        if not self._loaded:
            raise EarlyUseError(f"a shim asks for theirs.{name} inside its functions, not while it loads")
        for module in self._modules:
            if hasattr(module, name):
                return getattr(module, name)
        # As the course's own stub says it.
        raise NotImplementedError(name)


def load_adapted(
    name: str, path: str, root: str, source: bytes, given: str | None, adapt: Adapt
) -> types.ModuleType:
    """Import the learner's files, then execute the shim as module `name` and return it."""
    # First the root, then what is given, which comes before it.
    loader.make_importable(root, given)
    loader.instead[path] = source
    loader.constants.update({os.path.join(root, file): adapt.given for file in adapt.theirs})
    keep_lines(path, importlib.util.decode_source(source))
    theirs = Theirs(list(_imported(root, adapt.theirs)))
    full = f"{loader.PACKAGE}.{name}"
    module = types.ModuleType(full)
    module.__file__ = adapt.shim
    sys.modules[full] = module
    module.__dict__.update(theirs=theirs, Adapted=_adapted(adapt.parameters))
    with open(adapt.shim, "rb") as file:
        exec(compile(file.read(), adapt.shim, "exec", dont_inherit=True), module.__dict__)
    theirs._loaded = True
    return module


def _imported(root: str, files: Iterable[str]) -> Iterator[types.ModuleType]:
    for file in files:
        *folders, _ = parts = file.removesuffix(".py").split("/")
        if not os.path.exists(os.path.join(root, file)) and os.path.join(root, file) not in loader.instead:
            continue  # what it would define is not started
        # What the fork server has imported by such a name, `tests` for example, is not theirs.
        for name in [name for name in sys.modules if name.partition(".")[0] == parts[0]]:
            places = [
                getattr(sys.modules[name], "__file__", None),
                *getattr(sys.modules[name], "__path__", ()),
            ]
            if not any(place and place.startswith(os.path.join(root, "")) for place in places):
                del sys.modules[name]
        # `tests` may be the name of something installed, which would win over a folder without an `__init__.py`.
        for depth in range(1, len(folders) + 1):
            package, place = ".".join(folders[:depth]), os.path.join(root, *folders[:depth])
            if package not in sys.modules and not os.path.exists(os.path.join(place, "__init__.py")):
                sys.modules[package] = types.ModuleType(package)
                sys.modules[package].__path__ = [place]
        yield importlib.import_module(".".join(parts))


def _adapted(parameters: Mapping[str, Mapping[str, str]]) -> type[nn.Module]:
    """Return the base class of a shim's modules, which knows where the learner's classes have their parameters."""

    class Adapted(nn.Module):
        """A module with the kata's parameters, which computes with the learner's module.

        A subclass has `build`, which returns the learner's module for the arguments of the kata's class, and `forward`,
        which calls it as `self.theirs(…)`: the learner's parameters take the values of this module's in each call.
        """

        build: Callable[..., nn.Module]
        module: nn.Module

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__()
            # Not registered: its parameters are those of this module.
            object.__setattr__(self, "module", self.build(*args, **kwargs))
            module = self.module
            own = dict(module.named_parameters())
            places = parameters.get(type(self).__name__, {})
            self._pieces: dict[str, list[tuple[str, int, int]]] = {}
            """By the learner's name, which of ours hold it, and the rows of theirs that each is."""
            for ours, place in places.items():
                for name, pieces in _found(type(module).__name__, own, ours, place):
                    self._hold(
                        name, torch.cat([own[theirs][first:last].detach() for theirs, first, last in pieces])
                    )
                    for theirs, first, last in pieces:
                        self._pieces.setdefault(theirs, []).append((name, first, last))
            # One that the course's layout does not have shows under the learner's name.
            for name in own.keys() - self._pieces.keys():
                self._hold(name, own[name].detach())
                self._pieces[name] = [(name, 0, own[name].shape[0] if own[name].dim() else 0)]
            self._sizes = {name: tuple(own[name].shape) for name in own}

        def _hold(self, name: str, value: Tensor) -> None:
            *folders, last = name.split(".")
            home: nn.Module = self
            for folder in folders:
                if not hasattr(home, folder):
                    home.add_module(folder, nn.Module())
                home = getattr(home, folder)
            home.register_parameter(last, nn.Parameter(value.clone()))

        def _theirs_now(self) -> dict[str, Tensor]:
            ours, found = dict(self.named_parameters()), {}
            offsets: dict[str, int] = {}
            for theirs, pieces in self._pieces.items():
                rows = []
                for name, first, last in sorted(pieces, key=lambda piece: piece[1]):
                    begin = offsets.get(name, 0)
                    rows.append(ours[name][begin : begin + last - first] if ours[name].dim() else ours[name])
                    offsets[name] = begin + last - first
                found[theirs] = rows[0] if len(rows) == 1 else torch.cat(rows)
            return found

        @property
        def theirs(self) -> Callable[..., Any]:
            """The learner's module, to be called."""
            return lambda *args, **kwargs: torch.func.functional_call(
                self.module, self._theirs_now(), args, kwargs
            )

        def _apply(self, *args: Any, **kwargs: Any) -> Any:
            self.module._apply(*args, **kwargs)  # type: ignore[no-untyped-call]
            return super()._apply(*args, **kwargs)  # type: ignore[no-untyped-call]

        def train(self, mode: bool = True) -> Any:
            self.module.train(mode)
            return super().train(mode)

    return Adapted


def _found(
    kind: str, own: Mapping[str, Tensor], ours: str, place: str
) -> Iterator[tuple[str, list[tuple[str, int, int]]]]:
    """Yield each parameter that a line of the map is about, with the rows of the learner's that it is made of.

    Raises:
        LayoutError: the learner's class has none there, or its rows cannot be shared out.
    """
    match = _PLACE.fullmatch(place)
    assert match is not None  # or the adapter would have been refused
    # Of `in_proj` what torch calls `in_proj_weight` and `in_proj_bias`, of `query` all that is in it.
    stem = re.escape(match["name"]).replace(r"\*", r"(\d+)")
    pattern = re.compile(rf"{stem}(?P<rest>_weight|_bias|\..+)?")
    by_rest: dict[str, list[tuple[tuple[int, ...], str]]] = {}
    for name in own:
        if found := pattern.fullmatch(name):
            *numbers, rest = found.groups()
            by_rest.setdefault(rest or "", []).append((tuple(map(int, numbers)), name))
    if not by_rest:
        there = ", ".join(own) or "none"
        raise LayoutError(
            f"{kind} has no parameter {match['name']}, which the course's layout has; it has {there}"
        )
    part, of = int(match["part"] or 0), int(match["of"] or 1)
    for rest, names in by_rest.items():
        pieces = []
        for _, name in sorted(names):
            rows = own[name].shape[0] if own[name].dim() else 0
            if rows % of:
                raise LayoutError(f"{kind}.{name} has {rows} rows, which cannot be shared out among {of}")
            pieces.append((name, rows // of * part, rows // of * (part + 1)))
        yield ours + rest.replace("_", ".", 1) if rest[:1] == "_" else ours + rest, pieces
