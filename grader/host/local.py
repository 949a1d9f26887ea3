"""The submission in this process, for debugging and for measuring what the boundary costs. Never for marks."""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, cast

import torch

from grader.host.calls import CallRecord, Calls
from grader.host.endings import SubmissionRaised
from grader.host.remote import Submission, behind
from grader.host.source import Source
from grader.host.terms import Terms
from grader.worker.exceptions import describe_raised
from grader.worker.loader import PACKAGE, load_module, load_notebook
from grader.worker.policy import Recorder


class LocalSubmission:
    """The learner's module itself, with its function calls recorded for failure messages."""

    __slots__ = ("__kata__",)
    __kata__: Submission

    def __init__(self, module: types.ModuleType, calls: Calls, used: dict[str, None], terms: Terms) -> None:
        object.__setattr__(self, "__kata__", _Here(module, calls, used, terms))

    def __getattr__(self, name: str) -> Any:
        here = _here(self)
        value = getattr(here.module, name)
        return _recording(here.calls, name, value) if isinstance(value, types.FunctionType) else value

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(_here(self).module, name, value)


class _Here:
    """Behind a module that runs in this process."""

    def __init__(self, module: types.ModuleType, calls: Calls, used: dict[str, None], terms: Terms) -> None:
        self.module = module
        self.calls = calls
        self.advice = terms.advice
        self.used = used
        self.within = terms.within

    def forbidden_uses(self) -> list[str]:
        return list(self.used)

    def given(self, name: str) -> Any:
        return importlib.import_module(name)

    def as_left(self) -> AbstractContextManager[None]:
        return nullcontext()  # there is only one mode


def _here(submission: LocalSubmission) -> _Here:
    return cast(_Here, behind(submission))


def begin(submission: LocalSubmission) -> None:
    """Forget the calls of an earlier check, and the uses where only some names are watched."""
    here = _here(submission)
    here.calls.clear()
    if here.within:
        here.used.clear()


def _recording(calls: Calls, name: str, function: types.FunctionType) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        before = [(part, part.detach().clone()) for part in (*args, *kwargs.values()) if _is_tensor(part)]
        result = function(*args, **kwargs)
        changed = tuple(part for part, was in before if not torch.equal(part.detach(), was))
        calls.add(CallRecord(name, name, args, kwargs, changed), result)
        return result

    return call


def told(error: BaseException, source: Source) -> SubmissionRaised:
    """Return what a worker would have told of an exception that passed through the submission."""
    return SubmissionRaised(describe_raised(error, str(source.path.parent)))


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
