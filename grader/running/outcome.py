"""From what happened in a check to what the report says: one place for every kind of end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from grader.checks.describe import describe_call
from grader.checks.failure import CheckFailure
from grader.checks.text import clean
from grader.errors import PackError
from grader.host.channel import WorkerDied, WorkerTimeout
from grader.host.remote import CallRecord, Calls, RemoteObject, facts_of
from grader.host.session import (
    BudgetSpent,
    SubmissionMissing,
    SubmissionRaised,
    SubmissionUnsendable,
)
from grader.reports.model import CheckStatus, Location
from grader.sandbox import Limits


@dataclass
class Outcome:
    """How a check ended."""

    status: CheckStatus
    lines: list[str] = field(default_factory=list)
    location: Location | None = None
    pack_fault: bool = False
    """The check itself is broken: nothing of the submission was involved."""
    used: tuple[str, ...] = ()
    """What the kata excludes and was used, where that is why it failed."""
    machine: bool = False
    """Skipped because of the machine: its points leave the maximum."""
    killed: bool = False
    """Its worker was ended by SIGKILL, which may have come from the machine."""

    @property
    def message(self) -> str | None:
        """The lines as one text."""
        return "\n".join(self.lines) or None


Signatures = Mapping[str, Sequence[str]]


def judge(
    error: BaseException | None,
    calls: Calls,
    signatures: Signatures,
    file: str,
    timeout_s: float,
    observed: Sequence[Any] = (),
) -> Outcome:
    """Return the outcome of a check that raised `error`, or did not; `observed` is what the submission answered."""
    if error is None:
        return Outcome("pass")
    if isinstance(error, CheckFailure):
        call = calls.origin(error.subject)
        lines = [*_called(call, signatures), *error.failure.lines()]
        return Outcome("fail", lines, error.failure.location, used=error.used)
    if isinstance(error, PackError):
        return Outcome("error", [f"This check is broken: {_short(error)}"], pack_fault=True)
    called = _called(calls.last, signatures)
    if isinstance(error, pytest.skip.Exception):
        return Outcome("skipped", [clean(str(error.msg))], machine=True)
    if isinstance(error, SubmissionRaised):
        if error.not_written:
            where = f" ({file}, line {error.frames[-1].line})" if error.frames else ""
            return Outcome("fail", [f"not written yet: it still raises NotImplementedError{where}"])
        if isinstance(error, SubmissionMissing) and not error.frames:
            return Outcome("fail", _missing(error, file, called))
        return Outcome("error", [*called, *describe_raised(error)])
    if isinstance(error, SubmissionUnsendable):
        return Outcome("fail", [*called, f"returned {clean(error.reason)}"])
    if isinstance(error, BudgetSpent):
        return Outcome("timeout", ["not run: the time for this whole submission is spent"])
    if isinstance(error, WorkerTimeout):
        return Outcome(
            "timeout",
            [
                *called,
                f"no answer within {timeout_s:g} s, so it was stopped: is there a loop that never ends?",
            ],
        )
    if isinstance(error, WorkerDied):
        return Outcome("error", [*called, f"your code {clean(error.how)}"], killed=error.killed)
    if calls.last is None and all(_is_callable(value) for value in observed):
        return Outcome("error", [f"This check is broken: {_short(error)}"], pack_fault=True)
    return unusable(called, [_short(error)])


def unusable(called: Sequence[str], why: Sequence[str]) -> Outcome:
    """Return the outcome of a check that what the submission returned made impossible."""
    lines = [f"  {line}" for line in why]
    return Outcome("fail", [*called, "the check could not use what your code returned", *lines])


def _is_callable(value: object) -> bool:
    return isinstance(value, RemoteObject) and facts_of(value).kind in ("function", "class")


def describe_raised(error: SubmissionRaised) -> list[str]:
    """Return the learner's own lines and the exception, innermost last."""
    lines = []
    for frame in error.frames:
        place = f"in {clean(frame.function)}" if frame.function else ""
        lines.append(f"{clean(frame.file)}, line {frame.line} {place}".rstrip())
        if frame.text:
            lines.append(f"    {clean(frame.text)}")
            if frame.column and frame.column <= len(frame.text) + 1:
                lines.append("    " + " " * (frame.column - 1) + "^")
    text = f"{error.type_name}: {error.message}" if error.message else error.type_name
    first, *rest = text.splitlines() or [""]
    lines.append(clean(first))
    lines.extend(f"  {clean(line)}" for line in rest[:6])
    lines.extend(f"  {hint}" for words, hint in _HINTS.items() if words in text)
    if error.memory_bytes is not None and any(words in text for words in _MEMORY):
        whose = "the device's memory" if error.type_name == "OutOfMemoryError" else "memory"
        lines.append(f"  it used more than {error.memory_bytes >> 20} MB of {whose}")
    return lines


_LIMITS = Limits()
_MEMORY = ("MemoryError", "can't allocate memory")
_HINTS = {
    "SystemExit": "sys.exit() and exit() end a program, and here it is imported: leave them out",
    "EOFError": "nobody is here to answer input()",
    "codec can't decode": "save the file as UTF-8, or name its encoding in the first line: # -*- coding: latin-1 -*-",
    "Expected all tensors to be on the same device": (
        "your code made a tensor on cpu, and its input is elsewhere: make it where the input is, with device=x.device"
    ),
    "cannot create '_FuncPtr' instances": "this kata is written from scratch: no native code through ctypes",
    "can't start new thread": "it started more threads than a submission may, or their stacks took all its memory",
    "No space left on device": (
        f"it wrote more than {_LIMITS.scratch_bytes >> 20} MB or {_LIMITS.scratch_files:,} files to its folder"
    ),
    "[Errno 27] File too large": f"it wrote more than {(_LIMITS.file_bytes or 0) >> 20} MB to one file",
    "[Errno 24] Too many open files": f"it opened more than {_LIMITS.open_files} files",
    "[Errno 1] Operation not permitted": (
        "a submission starts no processes, opens no connections and leaves others alone"
    ),
    "[Errno 13] Permission denied": "a submission may read its own folder and write to the current one",
}
"""What to add where the exception alone leaves a learner puzzled."""


def _called(call: CallRecord | None, signatures: Signatures) -> list[str]:
    if call is None:
        return []
    return list(describe_call(call.label, list(signatures.get(call.signature, ())), call.args, call.kwargs))


def _missing(error: SubmissionRaised, file: str, called: list[str]) -> list[str]:
    owner, _, name = error.message.rpartition("attribute ")
    if owner.startswith("module "):
        return [f"{file} has no `{clean(name.strip(chr(39)))}`: was it renamed or removed?"]
    if owner.endswith("' object has no "):
        kind, name = clean(owner.split("'")[1], 40), clean(name.strip("'"), 40)
        return [
            *called,
            f"no attribute `{name}`  the {kind} has none",
            "is it set in __init__, under this name?",
        ]
    return [*called, clean(f"{error.type_name}: {error.message}")]


def _short(error: BaseException) -> str:
    return clean(f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")
