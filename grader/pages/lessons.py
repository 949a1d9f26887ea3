"""What a pack says beside its checks: a kata's title, its first hint, its questions."""

from __future__ import annotations

from functools import cache

from grader.catalogue import Catalogue, read_hints
from grader.catalogue.answer_sheet import questions_of


class Lessons:
    """The texts of a catalogue's katas, each read once; a kata that has left the catalogue has none."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._katas = {kata.slug: kata for kata in catalogue.katas}
        self.hint = cache(self._hint)
        self.questions = cache(self._questions)

    def title(self, slug: str) -> str:
        """Return the kata's title, or its slug."""
        kata = self._katas.get(slug)
        return kata.title if kata is not None else slug

    def _hint(self, slug: str) -> str | None:
        """Return the first of the three hints, as Markdown.

        Raises:
            PackError: the hints are broken.
        """
        kata = self._katas.get(slug)
        return read_hints(kata.hints)[0] if kata is not None else None

    def _questions(self, slug: str) -> tuple[str, ...]:
        """Return the questions to think about after a pass, without the answers.

        Raises:
            PackError: the file cannot be read.
        """
        kata = self._katas.get(slug)
        return questions_of(kata) if kata is not None else ()
