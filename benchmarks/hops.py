"""The way of one `kata check`, from the command to the learner's function: our own functions on the stack.

    python benchmarks/hops.py

Counted at the first call that a check makes of the submission: what stands on the grader's stack when the call is sent,
and on the worker's when the function is entered. Functions of libraries (click, pytest, pluggy) and the check's own are
left out.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import sys
import tempfile
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import grader
from grader.cli.main import main

ENGINE = Path(grader.__file__).parent
SUBMISSION = """\
import sys


def causal_mask(seq_len):
    frame, stack = sys._getframe(1), []
    while frame is not None:
        stack.append((frame.f_code.co_filename, frame.f_code.co_qualname))
        frame = frame.f_back
    print("stack", stack[::-1])
    return 0
"""
"""Answers nothing, and prints who called."""


def name_of(file: str, function: str) -> str | None:
    """Return `module.function` of one of ours, else None."""
    path = Path(file)
    if not path.is_relative_to(ENGINE) or function.startswith("<"):
        return None
    return ".".join([*path.relative_to(ENGINE).with_suffix("").parts, function.replace(".<locals>", "")])


def ours(code: CodeType) -> str | None:
    """Return the name of one of our functions, else None."""
    return name_of(code.co_filename, code.co_qualname)


def way() -> tuple[list[str], list[str]]:
    """Return our functions on the way of one call: those in the grader, those in the worker."""
    sent: list[str] = []

    def look(frame: FrameType, event: str, argument: Any) -> None:
        if event != "c_call" or sent or getattr(argument, "__name__", "") != "sendmsg":
            return
        stack: list[str] = []
        above: FrameType | None = frame
        while above is not None:
            if (name := ours(above.f_code)) is not None:
                stack.append(name)
            above = above.f_back
        if any(name.endswith("RemoteObject.__call__") for name in stack):
            sent.extend(reversed(stack))

    with tempfile.TemporaryDirectory(prefix="kata-hops-") as folder:
        file = Path(folder, "masks.py")
        file.write_text(SUBMISSION, encoding="utf-8")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
            before, sys.argv = sys.argv, ["kata", "check", str(file), "-k", "shape", "--json"]
            sys.setprofile(look)
            try:
                with contextlib.suppress(SystemExit):
                    main()
            finally:
                sys.setprofile(None)
                sys.argv = before
    return sent, _in_worker(printed.getvalue())


def _in_worker(text: str) -> list[str]:
    outputs = [check["output"] or "" for kata in json.loads(text)["katas"] for check in kata["checks"]]
    line = next(line for output in outputs for line in output.splitlines() if line.startswith("stack "))
    stack = [name_of(*place) for place in ast.literal_eval(line.removeprefix("stack "))]
    names = [name for name in stack if name is not None]
    # What stands above belongs to the fork: it is the grader's way to start a worker, and no call passes there.
    return names[next(place for place, name in enumerate(names) if name.startswith("engine.worker.serve.")) :]


if __name__ == "__main__":
    there, here = way()
    for place, hop in enumerate([*there, *here], 1):
        print(f"{place:3} {'grader' if place <= len(there) else 'worker'}  {hop}")
