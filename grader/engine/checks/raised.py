"""What a submission raised, in lines for the learner, with a hint where the exception alone leaves one puzzled."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from torch import Tensor

from grader.engine.checks.failure import CUT_OFF, IN_PLACE
from grader.engine.checks.text import WHOLE, clean
from grader.engine.host.errors import SubmissionRaised
from grader.engine.sandbox import ResourceLimits
from grader.engine.wire.messages import StackFrame

_LIMITS = ResourceLimits()
_MEMORY = ("MemoryError", "can't allocate memory")
_ALONE = "a submission starts no processes, opens no connections and leaves others alone"
_HINTS = {
    "SystemExit": "sys.exit() and exit() end a program, and here it is imported: leave them out",
    "BdbQuit": "nobody is at a keyboard here: for breakpoint() type  kata check --pdb -k CHECK",
    "EOFError": "nobody is here to answer input()",
    "RecursionError": "it calls itself without end: which case stops it?",
    "invalid character": "type it again: a word processor or a web page has replaced what the keyboard has",
    "invalid non-printable character": "a blank from a web page or a word processor: type it again",
    "inconsistent use of tabs": "this line begins with a tab where others begin with blanks: four blanks for each tab",
    "unknown encoding": "save the file as UTF-8, and delete the line that names its encoding",
    "encoding problem": "save the file as UTF-8, and delete the line that names its encoding",
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
    "[Errno 1] Operation not permitted": _ALONE,
    "[Errno 38] Function not implemented": _ALONE,
    "unable to open shared memory object": _ALONE,
    "[Errno 13] Permission denied": "a submission may read its own folder and write to the current one",
}
"""What to add where the exception alone leaves a learner puzzled."""

_CAUSES = {
    "modified by an inplace operation": IN_PLACE,
    "does not require grad and does not have a grad_fn": CUT_OFF,
    "must have a last dimension with stride 1": (
        "view_as_complex wants each pair next to each other in memory, and .reshape does not always copy: "
        "write .contiguous() before it"
    ),
    "view size is not compatible": "a tensor is not contiguous in memory, which .view needs: .reshape works on any",
    r"^(?!.*\bLong\b).*(mixed dtype|same dtype|expected scalar type)": (
        "something on the way has another dtype than the input: create it with dtype=x.dtype"
    ),
    "Expected more than 1 value per channel": "batch norm mixes the examples: a layer norm takes each vector by itself",
}
"""What torch says these words of, and of nothing else."""
_LAYOUT = ("must have a last dimension with stride 1", "view size is not compatible")
"""Of them, those about the layout of memory."""

_UNPICKLED = re.compile(
    r"Weights only load failed\.(?:.|\n){0,1500}?Unsupported global: GLOBAL ([\w.]{1,80})"
)
"""What torch says of a file that holds something else than tensors and plain data."""
REST = 12
"""Lines of an exception's own message after the first."""

_AT_ODDS = re.compile(
    r"size of tensor a \((\d{1,9})\) must match the size of tensor b \((\d{1,9})\)"
    r"|expanded size of the tensor \((\d{1,9})\) must match the existing size \((\d{1,9})\)"
    r"|Expected size (\d{1,9}) but got size (\d{1,9})"
    r"|has size (\d{1,9}) for operand \d+ which does not broadcast with previously seen size (\d{1,9})"
    r"|shapes cannot be multiplied \(\d+x(\d{1,9}) and (\d{1,9})x\d+\)"
    r"|batch2 tensor to be: \[\d+, (\d{1,9})\] but got: \[\d+, (\d{1,9})\]"
)
_RESHAPED = re.compile(r"shape '\[((?:-?\d{1,9}, ){0,15}-?\d{1,9})\]' is invalid for input of size (\d{1,9})")


def sizes_at_odds(message: str) -> tuple[int, int] | None:
    """Return the sizes of two axes that do not fit, where that is what torch says."""
    found = _AT_ODDS.search(message[:2000])
    if found is None:
        return None
    one, other = (int(size) for size in found.groups() if size is not None)
    return one, other


def numbers_at_odds(message: str) -> tuple[int, ...]:
    """Return what does not fit as numbers by which two such errors differ; nothing where torch says something else.

    Of two axes the smaller first, since a sum may be written either way round; of a new shape how many numbers it has,
    then how many there are.
    """
    if found := _RESHAPED.search(message[:2000]):
        return math.prod(map(int, found[1].split(","))), int(found[2])
    return tuple(sorted(sizes_at_odds(message) or ()))


def describe_frame(frame: StackFrame) -> list[str]:
    """Return where a line is, and the line itself."""
    place = f"in {clean(frame.function)}" if frame.function else ""
    lines = [f"{clean(frame.file)}, line {frame.line} {place}".rstrip()]
    if frame.text:
        lines.append(f"    {clean(frame.text)}")
        if frame.column and frame.column <= len(frame.text) + 1:
            lines.append("    " + " " * (frame.column - 1) + "^")
    return lines


def supposed_of(error: SubmissionRaised, parameters: Sequence[str] = ()) -> str:
    """Return what most likely made a submission raise that; "" where nothing is likelier than the rest.

    `parameters` are the stub's, of what was called, where they are known.
    """
    if is_refused_call(error):
        stub = f"the stub ({', '.join(parameters)})" if parameters else "the stub"
        return f"its parameters are not those of {stub}: keep their names, order and defaults"
    return next(
        (cause for words, cause in _CAUSES.items() if re.search(words, error.message)), error.supposed
    )


def is_refused_call(error: SubmissionRaised) -> bool:
    """Tell whether Python refused the call itself, before a line of the submission ran."""
    return error.type_name == "TypeError" and not error.frames and "argument" in error.message


def is_refused_layout(error: SubmissionRaised, arguments: Iterable[object]) -> bool:
    """Tell whether torch refused how an argument may lie in memory: one of these is not contiguous."""
    strided = any(isinstance(value, Tensor) and not value.is_contiguous() for value in arguments)
    return strided and any(words in error.message for words in _LAYOUT)


def is_out_of_memory(error: SubmissionRaised) -> bool:
    """Tell whether it was raised because no memory was left."""
    return any(words in f"{error.type_name}: {error.message}" for words in _MEMORY)


def describe_raised(error: SubmissionRaised) -> list[str]:
    """Return the learner's own lines and the exception, innermost last."""
    lines = [line for frame in error.frames for line in describe_frame(frame)]
    text = f"{error.type_name}: {error.message}" if error.message else error.type_name
    # What follows is advice about a file from somewhere else, to switch off what protects from it.
    if (found := _UNPICKLED.search(text)) is not None:
        text = f"{text[: found.start()]}Weights only load failed: {found[1]} in the file is not a tensor or plain data"
    first, *rest = text.splitlines() or [""]
    lines.append(clean(first, WHOLE))
    lines.extend(f"  {clean(line, WHOLE)}" for line in rest[:REST])
    hints = [clean(error.hint, WHOLE)] if error.hint else [_HINTS[words] for words in _HINTS if words in text]
    # With a line it is about bytes that the submission reads, and not about its own file.
    if error.type_name == "UnicodeDecodeError" and error.frames:
        hints = []
    # Python only sees a syntax error there.
    if error.frames and error.frames[-1].text.startswith(("<<<<<<<", "=======", ">>>>>>>")):
        hints = ["an unfinished merge: keep one side of it, and delete such lines"]
    lines.extend(f"  {hint}" for hint in hints)
    if error.memory_bytes is not None and is_out_of_memory(error):
        whose = "the device's memory" if error.type_name == "OutOfMemoryError" else "memory"
        lines.append(f"  it asked for more than {error.memory_bytes >> 20} MB of {whose}")
    return lines
