"""An exception of a submission as data: its type, its message, and the learner's own lines."""

from __future__ import annotations

import builtins
import linecache
import os
import traceback
from typing import Any

from grader.notebooks import UnreadableNotebook
from grader.wire import messages

_HEAD, _TAIL = 2, 6
"""Of a long traceback so many of the learner's lines are kept."""


def describe_raised(error: BaseException, folder: str) -> messages.Raised:
    """Return what the grader may know of `error`, raised by a submission that lies in `folder`."""
    last = traceback.extract_tb(error.__traceback__)[-1:] if error.__traceback__ else []
    return messages.Raised(
        bases=_bases(type(error)),
        message=_message(error),
        frames=[] if isinstance(error, UnreadableNotebook) else _frames(error, folder),
        own=bool(last) and _is_own(last[0].filename, folder),
    )


def _bases(kind: type) -> list[str]:
    """Return the names of a class and its bases: bare ones for what is built in, so that no other passes for it.

    They are read past the class's own metaclass, which may say anything. Of very many bases only Python's are told.
    """

    def read(kind: type, what: str) -> Any:
        return type.__dict__[what].__get__(kind)

    def name(kind: type) -> str:
        bare = read(kind, "__name__")
        if getattr(builtins, bare, None) is kind:
            return bounded(bare)
        module, own = read(kind, "__module__"), read(kind, "__qualname__")
        return f"{bounded(module, 399)}.{bounded(own, messages.MAX_TEXT - 400)}"

    found = [name(base) for base in read(kind, "__mro__")]
    return found if len(found) <= 64 else [found[0], *(name for name in found[1:] if "." not in name)]


def bounded(text: str, limit: int = messages.MAX_TEXT) -> str:
    """Return `text` as something that can be sent: valid UTF-8, cut to `limit`."""
    text = str(text).encode("utf-8", "replace").decode()
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _frames(error: BaseException, folder: str) -> list[messages.Frame]:
    """Return the learner's own lines, innermost last; ours and torch's are left out."""
    if isinstance(error, SyntaxError) and isinstance(error.lineno, int):
        return [_place_in_source(error)]
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_own(frame.filename, folder)]
    return [
        messages.Frame(
            os.path.basename(bounded(frame.filename)),
            frame.lineno or 0,
            bounded(frame.name, 200),
            bounded(frame.line or "", 400),
        )
        for frame in (own[:_HEAD] + own[-_TAIL:] if len(own) > _HEAD + _TAIL else own)
    ]


def _place_in_source(error: SyntaxError) -> messages.Frame:
    file, line = bounded(str(error.filename)), _count(error.lineno)
    text = error.text if isinstance(error.text, str) else linecache.getline(file, line)
    column = _count(error.offset)
    # Where the offset counts from the line as it is, not as we show it.
    column -= len(text) - len(text.lstrip()) if column else 0
    return messages.Frame(os.path.basename(file), line, "", bounded(text.strip(), 400), max(column, 0))


def _count(value: object) -> int:
    return min(max(value, 0), 1 << 31) if isinstance(value, int) else 0


def _is_own(file: str, folder: str) -> bool:
    return os.path.dirname(file) == folder or ".ipynb, cell " in file


def _message(error: BaseException) -> str:
    try:
        return bounded(str(error.msg if isinstance(error, SyntaxError) else error))
    except BaseException:
        return "(its message cannot be shown)"
