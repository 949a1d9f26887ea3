"""What hand-ins share, found by a process of its own: comparing a class takes half a minute of one core."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Mapping

import msgspec

from grader.catalogue import Catalogue, Kata
from grader.errors import EngineError, KataError
from grader.instructor.desk import process
from grader.instructor.gradebook.store import Gradebook
from grader.instructor.similarity import Candidate, Findings, compare

_MODULE = "grader.instructor.desk.look_alikes"  # of the process that compares, `main`


class LookAlikes:
    """Findings by kata, made when somebody asks and kept until something else was handed in."""

    def __init__(self, book: Gradebook) -> None:
        self._place = process.Place.of(book)
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
                threading.Thread(target=self._compare, args=(kata.slug, state), daemon=True).start()
            return None

    def _compare(self, kata: str, state: int) -> None:
        found: Findings | str
        try:
            found = process.ask(_MODULE, (self._place, kata), Findings)
        except (OSError, EngineError, msgspec.MsgspecError) as error:
            found = f"The hand-ins could not be compared: {error}"
        with self._guard:
            self._found[kata] = state, found
            del self._running[kata]


def main() -> None:
    """Compare what the gradebook keeps of one kata; write what is found on standard output."""
    os.nice(10)
    place, kata = process.question(tuple[process.Place, str])
    try:
        with place.open() as book:
            process.answer(_found(book, Catalogue.discover().resolve_one(kata)))
    except KataError as error:
        sys.exit(error.message)


def _found(book: Gradebook, kata: Kata) -> Findings:
    works = []
    for learner, attempt, files in book.everything(kata.slug):
        try:
            works.append(Candidate(learner, files(), attempt))
        except KataError:
            continue  # `kata similar` names what cannot be read
    return compare(kata, works)


if __name__ == "__main__":
    main()
