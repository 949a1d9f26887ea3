"""The failing call at hand: what it was given, what came back and what should have, for a REPL or a debugger.

Only where the submission runs in this process, for the person who wrote it; visible checks alone are run there.
"""

from __future__ import annotations

import code
import linecache
import os
import pdb
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.text import Text

from grader.checks.describe import describe
from grader.checks.failure import NOT_SAID, CheckFailure
from grader.checks.text import clean
from grader.host.calls import CallRecord, Calls
from grader.host.local import is_learners, learners_names
from grader.reports.report import WRONG
from grader.reports.style import console, hanging, safe_text
from grader.reports.terminal import print_block
from grader.running.outcome import Outcome

_FIXTURES = frozenset({"submission", "draw", "seed", "device", "reference", "speed"})
Look = Callable[["AtHand"], None]
"""Told of every check that went wrong."""


@dataclass(frozen=True)
class AtHand:
    """A check that went wrong, and what can be looked at."""

    title: str
    outcome: Outcome
    told: Mapping[str, Any]
    """What the message speaks of: inputs by parameter, `yours`, `expected`, `difference`, or `error`."""
    names: Mapping[str, Any]
    """The learner's names and the check's variables."""
    frame: types.FrameType | None
    """The learner's own: where it raised, or where the wrong value was returned."""
    line: int = 0

    @classmethod
    def of(
        cls,
        title: str,
        outcome: Outcome,
        error: BaseException,
        calls: Calls,
        parameters: Mapping[str, Sequence[str]],
        check: Path,
        submission: Any,
        folder: Path,
    ) -> AtHand:
        """Gather what can be looked at after `error`."""
        frames = _frames(error)
        inside = [frame for frame, _ in frames if frame.f_code.co_filename == str(check)]
        local = dict(inside[-1].f_locals) if inside else {}
        names = learners_names(submission) | {
            name: value for name, value in local.items() if name not in _FIXTURES
        }
        where = [pair for pair in frames if is_learners(pair[0].f_code.co_filename, str(folder))]
        if isinstance(error, CheckFailure):
            call = calls.origin(error.subject)
            told = _inputs(call, parameters) | _values(error)
            frame = call.frame if call is not None else None
            return cls(title, outcome, told, names, frame or (inside[-1] if inside else None))
        told = _inputs(calls.last, parameters) | {"error": error}
        frame, line = where[-1] if where else (inside[-1] if inside else None, 0)
        return cls(title, outcome, told, names, frame, line)


def wanted(outcome: Outcome) -> bool:
    """Return whether there is something to look at: a check that went wrong, not one that waits."""
    return outcome.status in WRONG


def debugging() -> Look:
    """Return what opens a debugger at each failure, until somebody quits one."""
    ended = False

    def look(here: AtHand) -> None:
        nonlocal ended
        ended = ended or stop(here)

    return look


def stop(here: AtHand) -> bool:
    """Open a debugger in the learner's own code, with `yours`, `expected` and `difference` among its variables.

    Returns:
        Whether it was left by quitting, and not to go on.
    """
    say(here)
    frame = here.frame
    if frame is None:
        return False
    for name, value in here.told.items():
        frame.f_locals.setdefault(name, value)
    file = frame.f_code.co_filename
    if file in linecache.cache:  # a notebook's cell, which pdb looks for by a whole path
        linecache.cache[os.path.abspath(file)] = linecache.cache[file]
    # A traceback of one entry: in all other frames there is nothing of the learner's.
    debugger = pdb.Pdb()
    debugger.reset()
    debugger.interaction(None, types.TracebackType(None, frame, frame.f_lasti, here.line or frame.f_lineno))
    return debugger.quitting


def talk(here: AtHand) -> None:
    """Open a REPL in which all of it has its name."""
    say(here)
    out = console()
    wide = max(10, *map(len, here.told)) if here.told else 10
    for name, value in here.told.items():
        what = clean(describe(value) if name != "error" else repr(value))
        hanging(out, Text(f"  {name:{wide}}  "), safe_text(what))
    own = [name for name, value in here.names.items() if name not in here.told and _is_own(name, value)]
    hanging(out, Text(f"  {'and':{wide}}  "), safe_text(", ".join(["torch", *own])))
    out.print("\nCtrl-D leaves.\n")
    names: dict[str, Any] = {"torch": torch, **here.names, **here.told}
    _complete(names)
    code.InteractiveConsole(names, filename="<kata try>").interact(banner="", exitmsg="")


def _is_own(name: str, value: object) -> bool:
    """Tell whether a name is worth telling: the learner's or the check's, and nothing imported."""
    if isinstance(value, types.ModuleType) or name == "annotations" or name.startswith("_"):
        return False
    made = isinstance(value, type | types.FunctionType | types.BuiltinFunctionType)
    return not (made and str(value.__module__).startswith(("torch", "typing", "collections")))


def say(here: AtHand) -> None:
    """Print a check's message."""
    out = console()
    out.print()
    hanging(out, Text(""), Text(f"{here.title}: {here.outcome.status}", "bold"))
    print_block(here.outcome.message or "", out)
    out.print()


def interrupted_in(error: KeyboardInterrupt, folder: Path) -> str | None:
    """Say which call of the learner's Ctrl-C broke off, None where it was none."""
    own = [pair for pair in _frames(error) if is_learners(pair[0].f_code.co_filename, str(folder))]
    if not own:
        return None
    called, (last, line) = own[0][0].f_code.co_qualname, own[-1]
    return f"interrupted in {called}, at line {line} of {Path(last.f_code.co_filename).name}"


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
    found |= call.kwargs
    if isinstance(call.callee, torch.nn.Module):
        found["module"] = call.callee
    return found


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


def title_of(item: pytest.Item) -> str:
    """Return a check's title and the name that `-k` finds it by."""
    info = getattr(getattr(item, "function", None), "kata_check", None)
    return f"{info.title if info is not None else item.name}  ({item.name})"
