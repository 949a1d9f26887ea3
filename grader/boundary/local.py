"""The submission in this process, for debugging and for measuring what the boundary costs. Never for marks."""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from grader.boundary.remote import CallRecord, Calls
from grader.boundary.session import Terms
from grader.boundary.source import Source
from grader.worker.loader import PACKAGE, load_module, load_notebook
from grader.worker.policy import Recorder


class LocalSubmission:
    """The learner's module itself, with its function calls recorded for failure messages."""

    def __init__(self, module: types.ModuleType, calls: Calls, used: dict[str, None], terms: Terms) -> None:
        self._module = module
        self.calls = calls
        self.policy_advice = terms.advice
        self._used = used
        self._within = terms.within

    def forbidden_uses(self) -> list[str]:
        """Return what was used that the kata excludes."""
        return list(self._used)

    def begin(self) -> None:
        """Forget the calls of an earlier check, and the uses where only some names are watched."""
        self.calls.clear()
        if self._within:
            self._used.clear()

    def given(self, name: str) -> Any:
        """Return a module that the kata gives."""
        return importlib.import_module(name)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._module, name)
        return self._recording(name, value) if isinstance(value, types.FunctionType) else value

    def _recording(self, name: str, function: types.FunctionType) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            before = [(part, part.detach().clone()) for part in (*args, *kwargs.values()) if _is_tensor(part)]
            result = function(*args, **kwargs)
            changed = tuple(part for part, was in before if not torch.equal(part.detach(), was))
            self.calls.add(CallRecord(name, name, args, kwargs, changed), result)
            return result

        return call


@contextmanager
def load_local(source: Source, terms: Terms, calls: Calls) -> Iterator[LocalSubmission]:
    """Load a submission into this process; on exit, torch and `sys` are as they were."""
    used: dict[str, None] = {}
    recorder = Recorder(lambda number, line, token: used.setdefault(terms.forbid[number]))
    path, modules = list(sys.path), set(sys.modules)
    recorder.forbid(terms.forbid)
    given = str(terms.given) if terms.given else None
    try:
        if source.is_notebook:
            module = load_notebook(terms.module, str(source.path), source.data, given, list(terms.required))
        else:
            module = load_module(terms.module, str(source.path), source.data, given)
        used.clear()  # what runs while it is loaded is a test of its own
        yield LocalSubmission(module, calls, used, terms)
    finally:
        recorder.restore()
        sys.path[:] = path
        for name in set(sys.modules) - modules:
            if name == terms.module or name.split(".")[0] == PACKAGE or _is_in(given, sys.modules[name]):
                del sys.modules[name]


def _is_in(folder: str | None, module: types.ModuleType) -> bool:
    return folder is not None and (getattr(module, "__file__", None) or "").startswith(folder)


def _is_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor)
