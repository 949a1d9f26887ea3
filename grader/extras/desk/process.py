"""What takes long is done by a process of its own: asked on standard input, it answers on standard output."""

from __future__ import annotations

import itertools
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

import msgspec

from grader.api import (
    Catalogue,
    Course,
    EngineError,
    Gradebook,
    KataError,
    Provenance,
    TakenFile,
    UsageError,
    frames,
    interpreter,
    take,
)

T = TypeVar("T")
POLL_S = 1.0
"""So often what waits for another process looks whether that is done."""
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


def ask(module: str, question: Any, kind: type[T], watch: Callable[[T], None] = lambda _: None) -> T:
    """Start a module, and return what it answers last.

    Args:
        module: with a `main`.
        question: what it is asked.
        kind: of all that it answers.
        watch: called with every answer as it comes.

    Raises:
        EngineError: it ended without an answer.
    """
    decoder, answer = frames.Decoder(kind), None
    with tempfile.TemporaryDirectory(prefix="kata-desk-") as folder, tempfile.TemporaryFile() as errors:
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": errors}
        process = interpreter.start(module, (), Path(folder), **pipes)
        answers, questions = cast("BinaryIO", process.stdout), cast("BinaryIO", process.stdin)
        # On standard input: an address may hold a password, and arguments are seen by all.
        with suppress(BrokenPipeError), questions:
            questions.write(frames.encode(question))
        with answers:
            while data := frames.read_frame(answers):
                answer = decoder.decode(data)
                watch(answer)
        if process.wait() or answer is None:
            errors.seek(0)
            lines = errors.read().decode(errors="replace").strip().splitlines()
            raise EngineError((lines or ["it ended without a message"])[-1][-300:])
    return answer


def question(kind: type[T]) -> T:
    """Return what this process was asked."""
    return frames.Decoder(kind).decode(sys.stdin.buffer.read())


def answer(value: Any) -> None:
    """Answer."""
    frames.write_frame(sys.stdout.buffer, frames.encode(value))


# Grading forks, which a server with threads must not


class TakeProgress(msgspec.Struct, frozen=True):
    """How far files that somebody takes are."""

    graded: int = 0
    waits_for: str = ""
    """Whose run has to end first."""
    number: int = 0
    """The decision's, once all are graded."""
    trouble: str = ""
    """Why none was taken."""
    hint: str | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes."""
        return bool(self.number or self.trouble)


class Taking:
    """Files that somebody takes as answers."""

    def __init__(
        self, place: BookAddress, files: Sequence[TakenFile], author: str, graded: Callable[[], None]
    ) -> None:
        self.files = files
        self.progress = TakeProgress()
        self._graded = graded
        self._started = threading.Event()
        """Set once the files were found: what is wrong with them is said at once."""
        threading.Thread(target=self._run, args=(place, author), daemon=True).start()

    def wait_until_found(self) -> None:
        """Wait until they can be graded, though perhaps not yet.

        Raises:
            UsageError: they cannot; nothing was decided.
        """
        self._started.wait()
        if self.progress.trouble:
            raise UsageError(self.progress.trouble, self.progress.hint)

    def _run(self, place: BookAddress, author: str) -> None:
        def note(progress: TakeProgress) -> None:
            self._graded()
            self.progress = progress
            self._started.set()

        try:
            ask(_MODULE, (place, list(self.files), author), TakeProgress, note)
        except (OSError, KataError, msgspec.MsgspecError) as error:
            note(TakeProgress(trouble=str(error)))


class TakeQueue:
    """What markers take at this desk: graded at once, or as soon as no other run grades."""

    def __init__(self, book: Gradebook, graded: Callable[[], None]) -> None:
        """Take files for a gradebook; `graded` is called whenever there may be other marks."""
        self._place = BookAddress.of(book)
        self._graded = graded
        self.every: list[Taking] = []
        """What goes on, and what was taken last."""

    def take(self, wanted: Sequence[TakenFile], author: str) -> None:
        """Have files taken.

        Raises:
            UsageError: as `grading.take_files.take` does; nothing is decided then.
        """
        taking = Taking(self._place, wanted, author, self._graded)
        taking.wait_until_found()
        self.every = [*(before for before in self.every if not before.progress.is_over), taking]

    @property
    def open(self) -> Collection[tuple[str, str]]:
        """Learners and katas of which a file is being taken."""
        going = (taking for taking in self.every if not taking.progress.is_over)
        return {(file.learner, file.kata) for taking in going for file in taking.files}


def main() -> None:
    """Do as asked; answer how far it is, and in the end with the decision's number, or with what went wrong."""
    place, wanted, author = question(tuple[BookAddress, list[TakenFile], str])
    graded = itertools.count()

    @contextmanager
    def watching(_count: int, _where: str) -> Iterator[Callable[..., None]]:
        def watch(*_: object) -> None:
            answer(TakeProgress(next(graded)))

        watch()
        yield watch

    def queued(busy: str) -> None:
        answer(TakeProgress(waits_for=busy))
        time.sleep(POLL_S)

    try:
        with place.open() as book:
            made = Provenance(author=author, comment="as proposed")
            number = take(book, wanted, made, watching=watching, queued=queued)
        answer(TakeProgress(len(wanted), number=number))
    except KataError as error:
        answer(TakeProgress(trouble=error.message, hint=error.hint))


if __name__ == "__main__":
    main()
