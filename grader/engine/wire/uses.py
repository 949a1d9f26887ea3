"""The record of uses: what a submission used that its kata excludes, written by its worker at the moment of use.

It is a pipe of its own, because what was written to a pipe cannot be taken back: a list in the worker could be cleared
by the submission, which shares its memory.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import re
import sys
import types
from collections.abc import Callable, Iterator

import torch

_RECORD = re.compile(rb"(\d{1,10}) ([\w.]{1,200})")
"""The line of the submission, 0 where that is unknown, and the name of what was used."""
CLOSED = "a way round the grader's record of what is used"
"""What is reported of a worker that closes its record, or writes something else to it."""
AROUND = "around."
"""Before the name of what is no use, and may lead around what is excluded."""
TORCH = os.path.dirname(torch.__file__) + os.sep
REAL = os.path.join(os.path.realpath(TORCH), "")

Note = Callable[[str, int], object]
"""Called with the name of what was used, and a line."""


@functools.cache
def overloads() -> dict[str, list[str]]:
    """Return the overloads of every operator that torch brings, by the operator's name such as `aten::gelu`."""
    found: dict[str, list[str]] = {}
    for name in torch._C._dispatch_get_all_op_names():
        found.setdefault(name.partition(".")[0], []).append(name)
    return found


@functools.cache
def functions() -> dict[str, list[types.FunctionType]]:
    """Return torch's functions that are written in Python, methods too, by the name of their outermost definition."""
    found: dict[str, list[types.FunctionType]] = {}
    # Whatever wraps them, and in whatever table they are: each is an object that the garbage collector knows.
    for function in [thing for thing in gc.get_objects() if type(thing) is types.FunctionType]:
        code = function.__code__
        if code.co_filename.startswith(TORCH):
            found.setdefault(code.co_qualname.partition(".")[0], []).append(function)
    return found


@functools.cache
def names() -> tuple[str, str]:
    """Return the names of all these operators and functions, one on each line.

    In texts of their own: who goes through the objects writes to them, and a forked process copies all their pages.
    """
    return "\n".join(overloads()), "\n".join(functions())


@functools.cache
def namespaces() -> frozenset[str]:
    """Return the namespaces of torch's operators, such as `aten`."""
    return frozenset(name.partition("::")[0] for name in overloads())


@functools.cache
def codes() -> dict[int, types.CodeType]:
    """Return the codes of torch's functions by number, and with them: a number alone would be another's one day."""
    return {id(f.__code__): f.__code__ for alike in functions().values() for f in alike}


@functools.cache
def sources() -> frozenset[str]:
    """Return the files of torch's modules that are loaded, without links."""
    files = (vars(module).get("__file__") for module in list(sys.modules.values()))
    return frozenset(
        REAL + file[len(TORCH) :] for file in files if isinstance(file, str) and file.startswith(TORCH)
    )


def writer(descriptor: int) -> Note:
    """Return what writes a record; it never raises for what the pipe does, and never waits."""
    write = os.write

    def note(name: str, line: int) -> None:
        # Where the pipe is full, enough has been written to it already.
        with contextlib.suppress(OSError):
            write(descriptor, b"%d %s\n" % (line, name.encode()))

    return note


def read(data: bytes) -> Iterator[tuple[str, int]]:
    """Yield what was used, each with its line, of what came out of the pipe."""
    # A record is far below PIPE_BUF, so the kernel never splits one: half a record was written by somebody else.
    *records, rest = data.split(b"\n")
    for record in records:
        found = _RECORD.fullmatch(record)
        yield (found[2].decode(errors="replace"), int(found[1])) if found else (CLOSED, 0)
    if rest:
        yield CLOSED, 0
