"""A submission as found on disk: read once, by the grader, with every way it can be unreadable named."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from grader.engine.wire.messages import StackFrame
from grader.errors import MachineFault
from grader.files import NotRegularError, read_bounded
from grader.machine import shortage

MAX_SOURCE = 2 << 20
MAX_NOTEBOOK = 32 << 20
"""Notebooks carry pictures."""


class Unreadable(Exception):
    """The file cannot be a submission; `status` is the report's."""

    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


@dataclass(frozen=True)
class Source:
    """The bytes of a submission and where they came from."""

    path: Path
    data: bytes

    @property
    def is_notebook(self) -> bool:
        """Whether this is an `.ipynb`."""
        return self.path.suffix == ".ipynb"


_FRAME = re.compile(r'File "(?P<file>[^"\n]+)", line (?P<line>\d{1,7}) in (?P<function>\S+)')
"""A line of what Python's faulthandler writes."""


def innermost(trace: str, source: Source) -> StackFrame | None:
    """Return the learner's innermost line in what a faulthandler wrote of a worker; None where there is none."""
    # It escapes what is not ASCII, and knows no text of a line.
    folder = ascii(str(source.path.parent))[1:-1]
    for found in _FRAME.finditer(trace):
        place, file = os.path.split(found["file"])
        if place == folder or ".ipynb, cell " in file:
            lines = source.data.splitlines() if file == source.path.name and not source.is_notebook else []
            number = int(found["line"])
            text = lines[number - 1].decode("utf-8", "replace").strip() if number <= len(lines) else ""
            return StackFrame(file, number, found["function"], text)
    return None


def read_source(path: Path) -> Source:
    """Read a submission.

    Raises:
        Unreadable: missing, a folder, no permission, empty, too large, with NUL bytes.
        MachineFault: the disk does not give it, or nothing can be opened any more.
    """
    path = path.absolute()
    try:
        limit = MAX_NOTEBOOK if path.suffix == ".ipynb" else MAX_SOURCE
        data = read_bounded(path, limit)
    except FileNotFoundError:
        raise Unreadable("missing", f"{path.name} is not there.") from None
    except IsADirectoryError:
        raise Unreadable("error", f"{path.name} is a folder; a file of that name was expected.") from None
    except NotRegularError:
        raise Unreadable("error", f"{path.name} is not a regular file.") from None
    except PermissionError:
        raise Unreadable("error", f"{path.name} cannot be read: permission denied.") from None
    except OSError as error:
        if help_for := shortage(error):
            raise MachineFault(f"{path.name} cannot be read: {error.strerror}.", help_for) from error
        raise Unreadable("error", f"{path.name} cannot be read: {error.strerror or error}.") from None
    except ValueError:
        size = path.stat().st_size / 2**20
        raise Unreadable(
            "error", f"{path.name} is {size:.1f} MB; source of at most {limit / 2**20:.0f} MB is read."
        ) from None
    return source_of(path, data)


def source_of(path: Path, data: bytes) -> Source:
    """Return the content of a submission that is, or is to be, saved there.

    Raises:
        Unreadable: empty, with NUL bytes.
    """
    if not data.strip():
        raise Unreadable("error", f"{path.name} is empty.")
    if b"\0" in data and path.suffix != ".ipynb":
        line = data[: data.index(b"\0")].count(b"\n") + 1
        raise Unreadable(
            "error", f"{path.name} holds NUL bytes (the first in line {line}): it is not Python source."
        )
    return Source(path, data)
