"""An exception of a submission as data: its type, its message, and the learner's own lines."""

from __future__ import annotations

import ast
import builtins
import contextlib
import difflib
import dis
import io
import linecache
import os
import re
import sys
import traceback
import types
from typing import Any

from grader.engine.wire import messages
from grader.engine.worker import adapted
from grader.engine.worker.loader import PACKAGE, left_out
from grader.notebooks import UnreadableNotebook

_HEAD, _TAIL = 2, 6
"""Of a long traceback so many of the learner's lines are kept."""
_REMEDY = re.compile(r"(Did you (?:mean|forget)[^\n]*\?)\s*\Z")
_ASSIGNED = re.compile(rb"\s*=(?!=)")
_OPERATORS = {"MatMult": "matmul", "Mult": "mul"}
"""How torch calls what is also written as an operator; the others have Python's own name."""


def describe_raised(error: BaseException, folder: str, shim: str = "") -> messages.ExceptionReply:
    """Return what the grader may know of `error`, raised by a submission that is in `folder`, below a pack's shim."""
    every = traceback.extract_tb(error.__traceback__)
    return messages.ExceptionReply(
        bases=_bases(type(error)),
        message=_message(error),
        # Of a notebook that cannot be read, the frames would be those of our own reader.
        frames=[] if isinstance(error, UnreadableNotebook) else _frames(error, folder),
        own=_raises_itself(error, folder),
        shim=_line_of_shim(error, every, folder, shim),
        hint=bounded(_hint(error, folder), 400),
    )


def _line_of_shim(
    error: BaseException, every: list[traceback.FrameSummary], folder: str, shim: str
) -> messages.StackFrame | None:
    """Return the shim's line if no line of the learner's came after it, nor one that raises about theirs."""
    ours = (shim,) if isinstance(error, adapted.EarlyUseError) else (shim, adapted.HERE)
    deciding = [f for f in every if f.filename in ours or _is_own(f.filename, folder)]
    return _stack_frame(deciding[-1], folder) if deciding and deciding[-1].filename == shim else None


def _raises_itself(error: BaseException, folder: str) -> bool:
    """Return whether a `raise` of the submission's own raised it, and nothing that the line calls.

    torch's operators leave no frame: of what they raise the innermost is the learner's, too.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return False
    code = trace.tb_frame.f_code
    if code.co_filename == adapted.HERE:  # it raises about theirs
        return True
    return _is_own(code.co_filename, folder) and dis.opname[code.co_code[trace.tb_lasti]] == "RAISE_VARARGS"


def _hint(error: BaseException, folder: str) -> str:
    """Return what helps: what a library tried that is refused, where a notebook has a name, or one that is nearly it.

    Before 3.12 Python looks for that only when it prints an exception, so it is printed.
    """
    # First what the confinement refused: any other hint would send the learner after a fault that is not in
    # the code.
    if refused := _refused(error):
        return refused
    if isinstance(error, FileNotFoundError | ImportError) and (near := _nearly(error, folder)):
        return near
    if not isinstance(error, NameError | AttributeError | ImportError):
        return ""
    # What Python itself looks up, as `__iter__`, is nobody's slip of spelling.
    if isinstance(error, AttributeError) and str(error.name).startswith("__"):
        return ""
    if isinstance(error, AttributeError | ImportError) and (hidden := _hidden(error, folder)):
        return hidden
    missing = isinstance(error, NameError) or (
        isinstance(error, AttributeError) and isinstance(error.obj, types.ModuleType)
    )
    if missing and (why := left_out.get(error.name or "") or left_out.get("*")):
        return why
    with contextlib.suppress(BaseException), contextlib.redirect_stderr(io.StringIO()) as printed:
        # Not `sys.excepthook`, which the submission may have replaced.
        sys.__excepthook__(type(error), error, None)
        if found := _REMEDY.search(printed.getvalue()):
            return found[1]
    return ""


_DOTS = {
    "beyond top-level package": "what is in the folders above is not handed in: keep it next to your file, "
    "and import it with one dot",
    "no known parent package": "its file was imported by its name alone, and is in no package then: "
    "import without the dot here, or with one there",
}
"""What to do about relative imports that fail, by a part of Python's own message."""


def _nearly(error: FileNotFoundError | ImportError, folder: str) -> str:
    """Return what to say of a file or module that is not there, by what is next to the submission."""
    of_file = isinstance(error, OSError)
    for part, why in _DOTS.items():
        if part in str(error):
            return why
    wanted = str(error.filename if isinstance(error, OSError) else error.name).removeprefix(f"{PACKAGE}.")
    wanted = re.split(r"[/\\]" if of_file else r"\.", wanted)[-1 if of_file else 0]
    with contextlib.suppress(OSError):
        names = {name if of_file else name.partition(".")[0]: name for name in sorted(os.listdir(folder))}
        if not of_file and names.get(wanted, "").endswith(".py"):
            # It is there, and something in it is not.
            inside = "is not a package" in str(error)
            return (
                f"{wanted} is a file: import what is next to it without {wanted} and the dot"
                if inside
                else ""
            )
        alike = [stem for stem in names if stem.casefold() == wanted.casefold()]
        for stem in [*alike, *difflib.get_close_matches(wanted, names)][:1]:
            why = "open it by that name alone" if of_file else "a notebook or a folder is not a module"
            why = why if stem == wanted else "upper and lower case count" if alike else "is that meant?"
            return f"next to what you hand in is {names[stem]}: {why}"
    if of_file:
        return "files are looked for next to what you hand in"
    # With a part after a dot it may be a library's: then the library is there, and the message says all.
    away = isinstance(error, ModuleNotFoundError) and error.name == wanted
    return f"{wanted} is neither installed here nor next to what you hand in" if away else ""


def _hidden(error: AttributeError | ImportError, folder: str) -> str:
    """Return that a library's module was found instead of the one next to the submission, where it was."""
    module = getattr(getattr(error, "obj", None), "__name__", None) or error.name
    own = f"{module}.py"
    found = getattr(sys.modules.get(str(module)), "__file__", None)
    hides = found and os.path.dirname(found) != folder and os.path.exists(os.path.join(folder, own))
    return (
        f"{module} is the library's here, and not {own} next to it: give your file another name"
        if hides
        else ""
    )


_ONE_PROCESS = (
    "a submission starts no processes and shares nothing with others: num_workers=0 for a DataLoader"
)
_REFUSED = {
    "multiprocessing": _ONE_PROCESS,
    "subprocess": "a submission starts no processes and no other programs",
    "socket": "a submission opens no connections",
}
"""By the package of the standard library that met the refusal, which says nothing of it: a semaphore is a missing file
to it, a host without a network an unknown name."""


def _refused(error: BaseException | None) -> str:
    for _ in range(8):  # an exception may be its own cause
        if error is None or error.__traceback__ is None:
            return ""
        # The innermost frame is the one that met the refusal, whatever was called on the way there.
        frame = list(traceback.walk_tb(error.__traceback__))[-1][0]
        package = str(frame.f_globals.get("__name__")).partition(".")[0]
        # Where processes may be started, a program may still be missing.
        missing = package == "subprocess" and isinstance(error, FileNotFoundError)
        if isinstance(error, OSError) and package in _REFUSED and not missing:
            return _REFUSED[package]
        error = error.__cause__ or error.__context__
    return ""


def _bases(kind: type) -> list[str]:
    """Return the names of a class and its bases: bare ones for what is built in, so that no other passes for it.

    They are read past the class's own metaclass, which may say anything. Of very many bases only Python's are told.
    """

    def read(kind: type, what: str) -> Any:
        # `kind.__name__` would ask the metaclass.
        return type.__dict__[what].__get__(kind)

    def name(kind: type) -> str:
        bare = read(kind, "__name__")
        if getattr(builtins, bare, None) is kind:
            return bounded(bare)
        module, own = read(kind, "__module__"), read(kind, "__qualname__")
        return f"{bounded(module, 399)}.{bounded(own, messages.MAX_TEXT - 400)}"

    # A message has room for 64 names: what Python itself defines are those that the grader compares.
    found = [name(base) for base in read(kind, "__mro__")]
    return found if len(found) <= 64 else [found[0], *(name for name in found[1:] if "." not in name)]


def bounded(text: str, limit: int = messages.MAX_TEXT) -> str:
    """Return `text` as something that can be sent: valid UTF-8, cut to `limit`."""
    text = str(text).encode("utf-8", "replace").decode()
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _frames(error: BaseException, folder: str) -> list[messages.StackFrame]:
    """Return the learner's own lines, innermost last; ours and torch's are left out."""
    if isinstance(error, SyntaxError) and isinstance(error.lineno, int):
        # Line 0 means that it is about the encoding of all lines.
        return [_place_in_source(error)] if error.lineno > 0 else []
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_own(frame.filename, folder)]
    if isinstance(error, RecursionError):  # the same few lines, hundreds of times
        own = list({(frame.filename, frame.lineno): frame for frame in own}.values())
    frames = [
        _stack_frame(frame, folder)
        for frame in (own[:_HEAD] + own[-_TAIL:] if len(own) > _HEAD + _TAIL else own)
    ]
    if frames:
        frames[-1].call = bounded(_called(own[-1]), 200)
    return frames


def _stack_frame(frame: traceback.FrameSummary, folder: str) -> messages.StackFrame:
    file = frame.filename.removeprefix(os.path.join(folder, ""))
    return messages.StackFrame(
        bounded(os.path.basename(file) if os.path.isabs(file) else file),
        frame.lineno or 0,
        bounded(frame.name, 200),
        bounded(frame.line or "", 400),
    )


def _called(frame: traceback.FrameSummary) -> str:
    """Return what a line was calling or computing when it raised, by the name that it has there."""
    if frame.lineno is None or frame.end_lineno is None or frame.colno is None or frame.end_colno is None:
        return ""
    lines = [
        linecache.getline(frame.filename, line).encode() for line in range(frame.lineno, frame.end_lineno + 1)
    ]
    if _ASSIGNED.match(lines[-1], frame.end_colno):
        return "="  # to an attribute, whose name may be the learner's own
    # The end before the beginning: of a single line both cut the same one, and a cut in front moves all
    # columns.
    lines[-1] = lines[-1][: frame.end_colno]  # columns count bytes
    lines[0] = lines[0][frame.colno :]
    try:
        tree = ast.parse(b"(" + b"".join(lines) + b")", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""  # a statement, such as raise
    if isinstance(tree, ast.Call):
        tree = tree.func
    if isinstance(tree, ast.Attribute):
        return tree.attr
    if isinstance(tree, ast.Name):
        return tree.id
    if isinstance(tree, ast.BinOp):
        operator = type(tree.op).__name__
        return _OPERATORS.get(operator, operator.lower())
    return type(tree).__name__.lower()


def _place_in_source(error: SyntaxError) -> messages.StackFrame:
    file, line = bounded(str(error.filename)), _count(error.lineno)
    text = error.text if isinstance(error.text, str) else linecache.getline(file, line)
    column = _count(error.offset)
    # Where the offset counts from the line as it is, not as we show it.
    column -= len(text) - len(text.lstrip()) if column else 0
    return messages.StackFrame(os.path.basename(file), line, "", bounded(text.strip(), 400), max(column, 0))


def _count(value: object) -> int:
    return min(max(value, 0), 1 << 31) if isinstance(value, int) else 0


def _is_own(file: str, folder: str) -> bool:
    return file.startswith(os.path.join(folder, "")) or ".ipynb, cell " in file


def _message(error: BaseException) -> str:
    try:
        return bounded(str(error.msg if isinstance(error, SyntaxError) else error))
    except BaseException:
        return "(its message cannot be shown)"
