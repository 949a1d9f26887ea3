"""The failing call at hand: what it was given, what came back and what should have, for a REPL or a debugger.

The check ran over the boundary, as it always does. What its worker was asked to do is done here once more, by the same
code, in the same order, with the same seeds: then the learner's objects are in this process, and the call that failed
can be made under a debugger. Only for the person who wrote the submission; visible checks alone are shown.
"""

from __future__ import annotations

import bdb
import code
import contextlib
import io
import linecache
import os
import pdb
import signal
import sys
import tempfile
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from rich.text import Text

from grader.engine.checks.describe import describe
from grader.engine.checks.failure import NOT_SAID, CheckFailure
from grader.engine.checks.text import clean
from grader.engine.host.calls import CallRecord, Calls
from grader.engine.host.objects import RemoteObject, state_of
from grader.engine.host.session import Session
from grader.engine.runner.outcome import Outcome
from grader.engine.wire import messages
from grader.engine.worker.loader import PACKAGE
from grader.engine.worker.serve import Worker
from grader.report.style import console, print_hanging, safe_text
from grader.report.terminal import print_block

_FIXTURES = frozenset({"submission", "draw", "seed", "device", "reference", "speed"})
_BREAKPOINT = "for breakpoint() type"
STOPPED_S = 1.0
"""After so long a call that never ends is stopped here; it has had its whole time in a worker."""
Look = Callable[["FailureContext"], None]
"""Told of every check that went wrong."""


@dataclass
class FailureContext:
    """A failed check for the debugger: the call, its arguments, both results."""

    title: str
    outcome: Outcome
    values: dict[str, Any]
    """What the message speaks of: inputs by parameter, `yours`, `expected`, `difference`, or `error`."""
    names: dict[str, Any]
    """The check's variables; then the learner's names, too."""
    check: types.FrameType | None = None
    """The check itself, as it ended."""
    requests: Sequence[bytes] = ()
    """The requests made of the worker, up to the call that the message is about."""
    session: Session | None = None
    id: str = ""
    """The check's function."""
    likely: str = ""
    """What `kata check` says was likely the mistake; set by a caller that has run all checks."""
    frame: types.FrameType | None = field(default=None, init=False)
    """The learner's own: where it raised, or where the wrong value was returned."""
    line: int = field(default=0, init=False)

    @classmethod
    def of(
        cls, item: pytest.Item, outcome: Outcome, error: BaseException, calls: Calls, session: Session
    ) -> FailureContext:
        """Gather what can be looked at after `error`."""
        requests = session.recorded or []
        failed = isinstance(error, CheckFailure)
        call = calls.origin(error.subject) if isinstance(error, CheckFailure) else calls.last
        values = _inputs(call, calls.parameters)
        values |= _values(error) if isinstance(error, CheckFailure) else {"error": error}
        check = [frame for frame, _ in _frames(error) if frame.f_code.co_filename == str(item.path)]
        # The innermost of the check's own frames: its helpers in the same file know what the loop is at.
        local = dict(check[-1].f_locals) if check else {}
        names = {name: value for name, value in local.items() if name not in _FIXTURES}
        if failed and call is not None:
            # What came after that call is not repeated: the learner's objects are to be as they were then.
            requests = requests[: call.request]
        # With the name that `-k` finds it by.
        info = getattr(getattr(item, "function", None), "kata_check", None)
        title = f"{info.title if info is not None else item.name}  ({item.name})"
        return cls(title, outcome, values, names, check[-1] if check else None, requests, session, item.name)

    @contextlib.contextmanager
    def brought_here(self, stop: bool) -> Iterator[None]:
        """Bring the learner's objects into this process; with `stop`, learn where the call that failed ended."""
        if self.session is None or not self.requests:
            yield
            return
        folder = str(self.session.source.root)
        with _as_before(folder, self.session), tempfile.TemporaryDirectory(prefix="kata-") as scratch:
            here = _Here(self.session)
            # As in a worker, where it may write and what is next to it is copied: never over the learner's own files.
            with contextlib.chdir(scratch):
                with contextlib.redirect_stdout(io.StringIO()), _no_breakpoints():
                    for request in self.requests[:-1]:
                        here.do(request)
                endless = self.outcome.status == "timeout"
                if (
                    stop or not endless
                ):  # one that never ends is made again only where somebody can look into it
                    with _LastFrame(folder, watched=stop) as last, _Alarm(STOPPED_S if endless else 0):
                        here.do(self.requests[-1])
                    self.frame = last.frame
            self._take(here, folder)
            yield

    def where(self) -> str | None:
        """Say where a call of the learner's is that was interrupted; None where it was none."""
        with self.brought_here(stop=True):
            if self.session is None or self.frame is None:
                return None
            folder = str(self.session.source.root)
            frames = [frame for frame, _ in _frames(self.values["error"])]
            first = next(frame for frame in frames if is_learners(frame.f_code.co_filename, folder))
            file = Path(self.frame.f_code.co_filename).name
            return f"interrupted in {first.f_code.co_qualname}, at line {self.line} of {file}"

    def _take(self, here: _Here, folder: str) -> None:
        """Give everything its name: what stood for the learner's objects is now these themselves."""
        if here.error is not None and "error" in self.values:
            self.values["error"] = here.error
            theirs = [pair for pair in _frames(here.error) if is_learners(pair[0].f_code.co_filename, folder)]
            self.frame, self.line = theirs[-1] if theirs else (None, 0)
        called = here.target
        called = getattr(called, "__self__", called)  # of a method, what it is a method of
        if isinstance(called, torch.nn.Module):
            self.values["module"] = called
        self.values = {name: here.own(value) for name, value in self.values.items()}
        self.names = here.names() | {name: here.own(value) for name, value in self.names.items()}


class _Here(Worker):
    """The submission in this process: it does what a worker was asked to do."""

    def __init__(self, session: Session) -> None:
        # Nobody is at the other end: what a lent function answers is asked of the check itself.
        super().__init__(cast(Any, None), -1)
        self.error: BaseException | None = None
        self.target: Any = None
        self._find_callback = session.callback

    def do(self, frame: bytes) -> None:
        """Do what a request asks for; `error` is what it raised, `target` what it called."""
        first = messages.PREFIX.size
        head, _ = messages.unpack_prefix(frame[:first], max_payload=1 << 40)
        request = messages.decode_request(frame[first : first + head])
        if isinstance(request, messages.Watch):
            return  # of what is excluded nothing is noted here
        self.error = self.target = None
        payload = bytearray(frame[first + head :])
        try:
            self._prepare(request)
            if isinstance(request, messages.Call):
                target = self._objects.get(request.target)
                self.target = target if request.method is None else getattr(target, request.method, None)
                self._call(request, payload)
            else:
                with torch.enable_grad():  # as in a worker
                    self._perform(request, payload)
        except (KeyboardInterrupt, bdb.BdbQuit):
            raise
        except BaseException as error:
            self.error = error

    def own(self, value: Any) -> Any:
        """Return the learner's object that a proxy stands for; anything else as it is."""
        if isinstance(value, RemoteObject):
            return self._objects.get(state_of(value).number, value)
        return [self.own(part) for part in value] if type(value) is list else value

    def names(self) -> dict[str, Any]:
        """Return what the learner's module defines or imports."""
        module = self._objects.get(messages.MODULE)
        return {name: value for name, value in vars(module).items() if not name.startswith("__")}

    def _callback(self, number: int) -> Callable[..., Any]:
        return self._find_callback(number)


class _LastFrame:
    """Keeps the learner's frame that returned last while it is open: the outermost of a call, with its variables.

    A frame that somebody holds keeps its variables when it has returned, and the line it returned from.
    """

    def __init__(self, folder: str, *, watched: bool) -> None:
        self.frame: types.FrameType | None = None
        self._folder, self._watched = folder, watched

    def __enter__(self) -> _LastFrame:
        if self._watched:
            sys.setprofile(self._look)
        return self

    def __exit__(self, *error: object) -> None:
        if self._watched:
            sys.setprofile(None)

    def _look(self, frame: types.FrameType, event: str, argument: object) -> None:
        if event == "return" and is_learners(frame.f_code.co_filename, self._folder):
            self.frame = frame


class _OutOfTimeError(BaseException):
    """Raised in a call that never ends; an `except Exception` of the learner's does not catch it."""


class _Alarm:
    """Raises `_OutOfTimeError` in what runs too long, and again each second: a bare `except` may catch the first."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __enter__(self) -> None:
        # A signal is the one way into a loop that never ends.
        if self._seconds:
            signal.signal(signal.SIGALRM, self._ring)
            signal.setitimer(signal.ITIMER_REAL, self._seconds, 1.0)

    def __exit__(self, *error: object) -> None:
        if self._seconds:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _ring(self, number: int, frame: object) -> None:
        if sys.gettrace() is not None:  # a debugger has stopped in it: there a person takes the time
            signal.setitimer(signal.ITIMER_REAL, 0)
            return
        raise _OutOfTimeError(f"no answer within {self._seconds:g} s")


def is_learners(file: str, folder: str) -> bool:
    """Tell whether code of `file` is that of a submission in `folder`."""
    return file.startswith(os.path.join(folder, "")) or ".ipynb, cell " in file


@contextlib.contextmanager
def _as_before(folder: str, session: Session) -> Iterator[None]:
    """Leave the tables of modules as they were: one more submission may come, and a notebook goes on."""
    path, hooks, modules = list(sys.path), list(sys.path_hooks), set(sys.modules)
    # Given files too, as another kata gives other ones under the same names.
    theirs = tuple(str(place) for place in (folder, session.terms.given, session.terms.support) if place)
    try:
        yield
    finally:
        sys.path[:], sys.path_hooks[:] = path, hooks
        # Only the submission's and what came with it: a library that it was the first to import may stay.
        for name in set(sys.modules) - modules:
            file = getattr(sys.modules[name], "__file__", None) or ""
            if name.split(".")[0] in (session.terms.module, PACKAGE) or file.startswith(theirs):
                del sys.modules[name]


@contextlib.contextmanager
def _no_breakpoints() -> Iterator[None]:
    """Pass over the learner's own stops, in calls that are made only to get where the check failed."""
    before, sys.breakpointhook = sys.breakpointhook, lambda *_, **__: None
    try:
        yield
    finally:
        sys.breakpointhook = before


def debugging() -> Look:
    """Return what opens a debugger at each failure, until somebody quits one."""
    ended = False

    def look(call: FailureContext) -> None:
        nonlocal ended
        if not ended:
            try:
                ended = stop(call)
            except bdb.BdbQuit:  # at a breakpoint of the learner's own
                ended = True

    return look


def stop(call: FailureContext) -> bool:
    """Open a debugger in the learner's own code, with `yours`, `expected` and `difference` among its variables.

    Returns:
        Whether it was left by quitting, and not to go on.
    """
    print_failure(call)
    with call.brought_here(stop=True):
        frame = call.frame or call.check
        if frame is None:
            return False
        for name, value in call.values.items():
            frame.f_locals.setdefault(name, value)
        file = frame.f_code.co_filename
        if file in linecache.cache:  # a notebook's cell, which pdb looks for by a whole path
            linecache.cache[os.path.abspath(file)] = linecache.cache[file]
        # A traceback of one entry: in all other frames there is nothing of the learner's.
        line = call.line or frame.f_lineno
        debugger = pdb.Pdb()
        debugger.reset()
        debugger.interaction(None, types.TracebackType(None, frame, frame.f_lasti, line))
        return debugger.quitting


def taking(names: dict[str, Any]) -> Look:
    """Return what puts all that a message speaks of into `names`, for a notebook, which is a prompt already."""

    def look(call: FailureContext) -> None:
        print_failure(call)
        with call.brought_here(stop=False):
            names.update(call.values)

    return look


def seen(call: FailureContext) -> dict[str, Any]:
    """Return what a message speaks of as the check saw it; the learner's objects stay in their worker."""
    values = {name: str(value) if name == "error" else describe(value) for name, value in call.values.items()}
    return {
        "check": call.title,
        "status": call.outcome.status,
        "message": call.outcome.message,
        "likely": call.likely or None,
        "values": values,
    }


def talk(call: FailureContext) -> None:
    """Open a REPL in which all of it has its name."""
    print_failure(call)
    with contextlib.suppress(bdb.BdbQuit), call.brought_here(stop=False):
        out = console()
        wide = max(10, *map(len, call.values)) if call.values else 10
        for name, value in call.values.items():
            what = clean(describe(value) if name != "error" else repr(value))
            print_hanging(out, Text(f"  {name:{wide}}  "), safe_text(what))
        own = [name for name, value in call.names.items() if name not in call.values and _is_own(name, value)]
        print_hanging(out, Text(f"  {'and':{wide}}  "), safe_text(", ".join(["torch", *own])))
        out.print("\nCtrl-D leaves.\n")
        names: dict[str, Any] = {"torch": torch, **call.names, **call.values}
        _complete(names)
        code.InteractiveConsole(names, filename="<kata try>").interact(banner="", exitmsg="")


def _is_own(name: str, value: object) -> bool:
    """Tell whether a name is worth telling: the learner's or the check's, and nothing imported."""
    if isinstance(value, types.ModuleType) or name == "annotations" or name.startswith("_"):
        return False
    made = isinstance(value, type | types.FunctionType | types.BuiltinFunctionType)
    return not (made and str(value.__module__).startswith(("torch", "typing", "collections")))


def print_failure(call: FailureContext) -> None:
    """Print a check's message, unless that is about a `breakpoint()`, which stops here."""
    message = call.outcome.message or ""
    # The message says what to type instead of breakpoint(), which was just typed.
    if _BREAKPOINT in message:
        return
    out = console()
    out.print()
    print_hanging(out, Text(""), Text(f"{call.title}: {call.outcome.status}", "bold"))
    print_block(message, out)
    if call.likely:
        print_hanging(out, Text("  likely  ", "bold"), call.likely)
    out.print()


def _complete(names: dict[str, Any]) -> None:
    """Let Tab complete names where this Python can."""
    try:
        import readline
        import rlcompleter
    except ImportError:
        return
    readline.set_completer(rlcompleter.Completer(names).complete)
    readline.parse_and_bind("tab: complete")


def _frames(error: BaseException) -> list[tuple[types.FrameType, int]]:
    found = []
    trace = error.__traceback__
    while trace is not None:
        found.append((trace.tb_frame, trace.tb_lineno))
        trace = trace.tb_next
    return found


def _inputs(call: CallRecord | None, parameters: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the arguments of a call by the names that its message gives them."""
    if call is None:
        return {}
    found: dict[str, Any] = {}
    names = list(parameters.get(call.signature, ()))
    for place, value in enumerate(call.args):
        name = names[place] if place < len(names) else f"argument_{place + 1}"
        if name.startswith("*"):
            found[name.lstrip("*")] = call.args[place:]
            break
        found[name] = value
    return found | call.kwargs


def _values(error: CheckFailure) -> dict[str, Any]:
    """Return what was looked at, what it should have been, and by how much it differs."""
    if error.subject is NOT_SAID:
        return {}
    mine, theirs = error.subject, error.expected
    found: dict[str, Any] = {"yours": mine}
    if theirs is NOT_SAID:
        return found
    found["expected"] = theirs
    if isinstance(mine, torch.Tensor) and isinstance(theirs, torch.Tensor) and mine.shape == theirs.shape:
        plain = mine.detach().cpu()
        whole = not (plain.dtype.is_floating_point or plain.dtype.is_complex)
        found["difference"] = plain != theirs if whole else plain.to(theirs.dtype) - theirs
    return found
