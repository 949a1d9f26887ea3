"""What hand-ins share, found by a process of its own: comparing a class takes half a minute of one core."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from grader import interpreter
from grader.catalogue import Catalogue, Kata
from grader.errors import EngineError, KataError
from grader.instructor.gradebook.course import Course
from grader.instructor.gradebook.store import Gradebook
from grader.instructor.similarity import Candidate, Findings, compare

_MODULE = "grader.instructor.desk.look_alikes"  # of the process that compares, `main`


class LookAlikes:
    """Findings by kata, made when somebody asks and kept until something else was handed in."""

    def __init__(self, book: Gradebook) -> None:
        path = book.course.path
        # The process that compares stands elsewhere: a name relative to this folder means nothing to it.
        self._gradebook = book.address
        self._course = str(path.absolute()) if path is not None else None
        self._found: dict[str, tuple[int, Findings | str]] = {}
        self._running: dict[str, int] = {}
        self._guard = threading.Lock()

    def known(self) -> Mapping[str, Findings]:
        """Return what was found so far, by kata."""
        return {kata: one for kata, (_, one) in self._found.items() if isinstance(one, Findings)}

    def findings(self, kata: Kata, state: int) -> Findings | str | None:
        """Return what a kata's hand-ins share, or why that cannot be said; None while they are being compared.

        Args:
            kata: which.
            state: a number that is another one when something else was handed in.
        """
        with self._guard:
            kept = self._found.get(kata.slug)
            if kept is not None and kept[0] == state:
                return kept[1]
            if kata.slug not in self._running:
                self._running[kata.slug] = state
                # In the background: comparing takes seconds, and no page should wait for it.
                threading.Thread(target=self._compare, args=(kata.slug, state), daemon=True).start()
            return None

    def _compare(self, kata: str, state: int) -> None:
        found: Findings | str
        try:
            found = self._asked(kata)
        except (OSError, EngineError, msgspec.MsgspecError) as error:
            found = f"The hand-ins could not be compared: {error}"
        with self._guard:
            self._found[kata] = state, found
            del self._running[kata]

    def _asked(self, kata: str) -> Findings:
        with tempfile.TemporaryDirectory(prefix="kata-desk-") as folder:
            pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
            process = interpreter.start(_MODULE, (), Path(folder), **pipes)
            # On standard input: an address may hold a password, and arguments are seen by all.
            out, err = process.communicate(msgspec.msgpack.encode((self._gradebook, self._course, kata)))
        if process.returncode:
            last = (err.decode(errors="replace").strip().splitlines() or ["it ended without a message"])[-1]
            raise EngineError(last[-300:])
        return msgspec.msgpack.decode(out, type=Findings)


def main() -> None:
    """Compare what the gradebook keeps of one kata; write what is found on standard output."""
    os.nice(10)
    asked = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=tuple[str, str | None, str])
    try:
        found = _found(*asked)
    except KataError as error:
        sys.exit(error.message)
    sys.stdout.buffer.write(msgspec.msgpack.encode(found))


def _found(gradebook: str, course_file: str | None, kata: str) -> Findings:
    catalogue = Catalogue.discover()
    course = Course.load(Path(course_file), catalogue) if course_file is not None else Course()
    with Gradebook.open(gradebook, create=False, course=course) as book:
        works = []
        for learner, attempt, files in book.everything(kata):
            try:
                works.append(Candidate(learner, files(), attempt))
            except KataError:
                continue  # `kata similar` names what cannot be read
        return compare(catalogue.resolve_one(kata), works)


if __name__ == "__main__":
    main()
