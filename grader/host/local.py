"""The submission in this process, for debugging and for measuring what the boundary costs. Never for marks."""

from __future__ import annotations

import os
import signal
import sys
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, cast

import torch

from grader.host.calls import CallRecord, Calls
from grader.host.endings import SubmissionRaised, WorkerTimeout
from grader.host.names import NamesFound, excluded_operators, read_names
from grader.host.names import told as told_uses
from grader.host.objects import brief
from grader.host.remote import BehindModule, behind
from grader.host.source import Source
from grader.host.terms import Terms
from grader.worker.exceptions import describe_raised
from grader.worker.loader import PACKAGE, Support, load_module, load_notebook
from grader.worker.policy import watch
from grader.worker.process import preload


class LocalSubmission:
    """The learner's module itself, with its function calls recorded for failure messages."""

    __slots__ = ("__kata__",)
    __kata__: BehindModule

    def __init__(self, here: _Here) -> None:
        object.__setattr__(self, "__kata__", here)

    def __getattr__(self, name: str) -> Any:
        here = _here(self)
        value = getattr(here.module, name)
        if isinstance(value, types.FunctionType):
            return _Recorded(here, name, name, value)
        return _Made(here, name, value) if here.watched and isinstance(value, type) else value

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(_here(self).module, name, value)


class _Here:
    """Behind a module that runs in this process."""

    def __init__(
        self,
        module: types.ModuleType,
        calls: Calls,
        used: dict[str, int],
        reading: NamesFound,
        terms: Terms,
        support: Support,
        watched: bool,
    ) -> None:
        self.module = module
        self.reading = reading
        self.watched = watched
        self.calls = calls
        self.advice = terms.advice
        self.used = used
        self.within = terms.within
        self.support = support
        self.timeout_s = terms.check_timeout_s

    def forbidden_uses(self) -> list[str]:
        return told_uses(self.used, self.reading)

    def given(self, name: str) -> Any:
        return self.support.load(name)

    def recognised_by(self, facts: dict[str, Any]) -> None:
        pass  # in a debugger nobody needs to be told

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


def learners_names(submission: LocalSubmission) -> dict[str, Any]:
    """Return what the learner's module defines or imports."""
    return {
        name: value for name, value in vars(_here(submission).module).items() if not name.startswith("__")
    }


class _Recorded:
    """A function of the learner's whose calls are noted for messages."""

    def __init__(self, here: _Here, label: str, signature: str, function: Callable[..., Any]) -> None:
        self._here, self._label, self._signature, self._function = here, label, signature, function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        before = [(part, part.detach().clone()) for part in (*args, *kwargs.values()) if _is_tensor(part)]
        last = _LastFrame(self._here)
        result = None
        try:
            with last:
                result = self._function(*args, **kwargs)
        finally:  # what raised is told, too
            changed = tuple(part for part, was in before if not torch.equal(part.detach(), was))
            record = CallRecord(
                self._label, self._signature, args, kwargs, changed, self._function, last.frame
            )
            self._here.calls.add(record, result)
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)


class _Made:
    """A class of the learner's; the calls of modules that are made of it are noted, too."""

    def __init__(self, here: _Here, name: str, kind: type) -> None:
        self._here, self._name, self._kind = here, name, kind

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        made = _Recorded(self._here, self._name, self._name, self._kind)(*args, **kwargs)
        if isinstance(made, torch.nn.Module):
            told = [brief(value) for value in args] + [
                f"{key}={brief(value)}" for key, value in kwargs.items()
            ]
            _note_calls(self._here, f"{self._name}({', '.join(told)})", self._name, made)
        return made

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kind, name)


def _note_calls(here: _Here, label: str, root: str, module: torch.nn.Module) -> None:
    """Note every call of a module with what it returned; hooks see it from whichever side it is called."""
    running: list[_LastFrame] = []

    def begin(module: torch.nn.Module, args: Any, kwargs: dict[str, Any]) -> None:
        running.append(_LastFrame(here))
        running[-1].__enter__()

    def end(module: torch.nn.Module, args: Any, kwargs: dict[str, Any], result: Any) -> None:
        last = running.pop()
        last.__exit__()
        here.calls.add(CallRecord(label, f"{root}.forward", args, kwargs, (), module, last.frame), result)

    module.register_forward_pre_hook(begin, with_kwargs=True)
    module.register_forward_hook(end, with_kwargs=True, always_call=True)


class _LastFrame:
    """Keeps the learner's frame that returned last while it is open: the outermost of a call, with its variables.

    A frame that somebody holds keeps its variables when it has returned, and the line it returned from.
    """

    def __init__(self, here: _Here) -> None:
        self.frame: types.FrameType | None = None
        self._watched = here.watched
        self._folder = os.path.dirname(here.module.__file__ or "")
        self._before: Any = None
        self._alarm = _Alarm(here.timeout_s)

    def __enter__(self) -> None:
        if self._watched:
            self._before = sys.getprofile()
            sys.setprofile(self._look)
            self._alarm.set()

    def __exit__(self, *error: object) -> None:
        if self._watched:
            self._alarm.clear()
            sys.setprofile(self._before)

    def _look(self, frame: types.FrameType, event: str, argument: object) -> None:
        if event == "return" and is_learners(frame.f_code.co_filename, self._folder):
            self.frame = frame


class OutOfTime(WorkerTimeout):
    """A call in this process took as long as a check may."""


class _Alarm:
    """Raises `OutOfTime` in what runs too long, unless a debugger stopped in it: there a person takes the time."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._before: Any = None
        self._is_set = False

    def set(self) -> None:
        # A signal is the one way into a loop that never ends; only the main thread gets one, and Windows has no timer.
        main = threading.current_thread() is threading.main_thread()
        if not main or not hasattr(signal, "setitimer") or signal.getitimer(signal.ITIMER_REAL)[0]:
            return
        self._is_set, self._before = True, signal.signal(signal.SIGALRM, self._ring)
        # Once more each second: an `except` of the learner's may have caught the first.
        signal.setitimer(signal.ITIMER_REAL, self._seconds, 1.0)

    def clear(self) -> None:
        if self._is_set:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._before)
            self._is_set = False

    def _ring(self, number: int, frame: object) -> None:
        if sys.gettrace() is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
            return
        raise OutOfTime(f"no answer within {self._seconds:g} s")


def is_learners(file: str, folder: str) -> bool:
    """Tell whether code of `file` is that of a submission in `folder`."""
    return os.path.dirname(file) == folder or ".ipynb, cell " in file


def told(error: BaseException, source: Source) -> SubmissionRaised:
    """Return what a worker would have told of an exception that passed through the submission."""
    return SubmissionRaised(describe_raised(error, str(source.path.parent)))


@contextmanager
def load_local(
    source: Source, terms: Terms, calls: Calls, *, watched: bool = False
) -> Iterator[LocalSubmission]:
    """Load a submission into this process; on exit, torch and `sys` are as they were.

    `watched`: for a person to look into: every call is noted with the learner's variables, which takes time.
    """
    used: dict[str, int] = {}
    path, hooks, modules = list(sys.path), list(sys.path_hooks), set(sys.modules)
    operators = excluded_operators(terms)
    unwatch = watch(
        operators, lambda number, line: used.setdefault(operators[number], line), str(source.path)
    )
    given, support = (str(folder) if folder else None for folder in (terms.given, terms.support))
    alarm = _Alarm(terms.check_timeout_s)
    try:
        checks_have = Support(support)
        if watched:
            preload(terms.preload)  # with a profiler at work it takes ten times as long, and the alarm counts
            alarm.set()
        if source.is_notebook:
            module = load_notebook(terms.module, str(source.path), source.data, given, list(terms.required))
        else:
            module = load_module(terms.module, str(source.path), source.data, given)
        alarm.clear()
        used.clear()  # what runs while it is loaded is a test of its own
        yield LocalSubmission(
            _Here(module, calls, used, read_names(source, terms), terms, checks_have, watched)
        )
    finally:
        alarm.clear()
        unwatch()
        sys.path[:] = path
        sys.path_hooks[:] = hooks
        for name in set(sys.modules) - modules:
            ours = name == terms.module or name.split(".")[0] == PACKAGE
            if ours or any(_is_in(folder, sys.modules[name]) for folder in (given, support)):
                del sys.modules[name]


def _is_in(folder: str | None, module: types.ModuleType) -> bool:
    return folder is not None and (getattr(module, "__file__", None) or "").startswith(folder)


def _is_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor)
