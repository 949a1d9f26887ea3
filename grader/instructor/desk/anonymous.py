"""Marking without names: until a kata is released, an answer has a number in place of its learner's name."""

from __future__ import annotations

import hashlib

from grader.instructor.gradebook.decisions import releases
from grader.instructor.gradebook.store import Gradebook


class Anonymity:
    """What learners are called next to their written answers, in pages and in addresses."""

    def __init__(self, book: Gradebook) -> None:
        self._book = book

    def hides(self, kata: str) -> bool:
        """Whether nobody may know yet whose answers for a kata these are."""
        return self._book.course.anonymous and not releases(self._book.rulings(["release"]), kata)

    def word(self, learner: str, kata: str) -> str:
        """Return what a learner is called: the identity, or what only this gradebook can compute from it."""
        if not learner or not self.hides(kata):
            return learner
        return self._number(learner, kata)

    def learner(self, word: str, kata: str) -> str:
        """Return whom a word means; a name means nobody while names are hidden."""
        if not self.hides(kata):
            return word
        return next((one for one in self._book.learners() if self._number(one, kata) == word), "")

    def _number(self, learner: str, kata: str) -> str:
        # Another one for each kata: what is released of one tells nothing about the next.
        text = f"{kata}\0{learner}".encode("utf-8", "surrogatepass")
        return "answer-" + hashlib.blake2b(text, key=self._book.nonce, digest_size=5).hexdigest()
