"""Marking without names: until a kata is released, its learners have numbers in place of names, on every page."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from grader.api import Event, Gradebook, Release, active_releases, text


class Anonymity:
    """Decides what learners are called at the desk, next to something of a kata: on pages and in addresses."""

    def __init__(self, book: Gradebook, state: Callable[[], Any]) -> None:
        """Open it; `state` returns another object as soon as anything was decided."""
        self._book = book
        self._state = state
        self._releases: tuple[Any, list[Event]] = None, []

    def hides(self, *katas: str | None) -> bool:
        """Whether nobody may know yet whose work for any of these katas it is."""
        return self._hidden(katas) is not None

    def pseudonym(self, learner: str, *katas: str | None) -> str:
        """Return what stands for a learner: the identity, or what only this gradebook can compute from it."""
        kata = self._hidden(katas) if learner else None
        return learner if kata is None else self._number(learner, kata)

    def name(self, learner: str, *katas: str | None) -> str:
        """Return what a learner is called on a page."""
        return text.name(self._book.course.name_of(self.pseudonym(learner, *katas)))

    def learner(self, word: str, *katas: str | None) -> str:
        """Return whom a word means; a name means nobody while names are hidden."""
        kata = self._hidden(katas)
        if kata is None:
            return word
        return next((learner for learner in self._book.learners() if self._number(learner, kata) == word), "")

    def _hidden(self, katas: tuple[str | None, ...]) -> str | None:
        """Return the first of these katas that is not released."""
        if not self._book.course.anonymous:
            return None
        state = self._state()
        if self._releases[0] is not state:
            self._releases = state, self._book.rulings([Release])
        return next((kata for kata in katas if kata and not active_releases(self._releases[1], kata)), None)

    def _number(self, learner: str, kata: str) -> str:
        # Another one for each kata: what is released of one tells nothing about the next.
        about = f"{kata}\0{learner}".encode("utf-8", "surrogatepass")
        return "answer-" + hashlib.blake2b(about, key=self._book.nonce, digest_size=5).hexdigest()
