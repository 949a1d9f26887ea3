"""What takes long is done by a process of its own, which is asked on standard input and answers on standard output."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from grader.api import (
    Catalogue,
    Course,
    EngineError,
    Gradebook,
    KataError,
    TakenFile,
    UsageError,
    frames,
    interpreter,
)
from grader.api import take as take_here

T = TypeVar("T")
_MODULE = "grader.extras.desk.process"  # of the process that grades, `main`


class BookAddress(msgspec.Struct, frozen=True):
    """Where the gradebook is, whatever folder a process is in."""

    gradebook: str
    course: str | None

    @classmethod
    def of(cls, book: Gradebook) -> BookAddress:
        """Return where an open gradebook and its course are."""
        path = book.course.path
        return cls(book.address, str(path.absolute()) if path is not None else None)

    def open(self) -> Gradebook:
        """Open it."""
        catalogue = Catalogue.discover()
        course = Course.load(Path(self.course), catalogue) if self.course is not None else Course()
        return Gradebook.open(self.gradebook, create=False, course=course)


def ask(module: str, question: Any, kind: type[T]) -> T:
    """Start a module, and return what it answers, which is of this kind.

    Raises:
        EngineError: it ended without an answer.
    """
    with tempfile.TemporaryDirectory(prefix="kata-desk-") as folder:
        pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        process = interpreter.start(module, (), Path(folder), **pipes)
        # On standard input: an address may hold a password, and arguments are seen by all.
        out, err = process.communicate(frames.encode(question))
    if process.returncode:
        last = (err.decode(errors="replace").strip().splitlines() or ["it ended without a message"])[-1]
        raise EngineError(last[-300:])
    return frames.Decoder(kind).decode(out)


def question(kind: type[T]) -> T:
    """Return what this process was asked."""
    return frames.Decoder(kind).decode(sys.stdin.buffer.read())


def answer(value: Any) -> None:
    """Answer."""
    sys.stdout.buffer.write(frames.encode(value))


# Grading forks, which a server with threads must not


def take(book: Gradebook, wanted: Sequence[TakenFile], author: str) -> int:
    """Decide that files are answers, wait until they are graded, and return the decision's number.

    Raises:
        UsageError: as `grading.take_files.take` does; nothing is decided then.
    """
    given = (BookAddress.of(book), list(wanted), author)
    number, message, hint = ask(_MODULE, given, tuple[int, str, str | None])
    if not number:
        raise UsageError(message, hint)
    return number


def main() -> None:
    """Do as asked; answer with the decision's number, or with what went wrong."""
    place, wanted, author = question(tuple[BookAddress, list[TakenFile], str])
    try:
        with place.open() as book:
            answer((take_here(book, wanted, comment="as proposed", author=author), "", None))
    except KataError as error:
        answer((0, error.message, error.hint))


if __name__ == "__main__":
    main()
