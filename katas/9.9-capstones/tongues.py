"""Languages that capstones are judged by, drawn by the check: no answer can bring their words or rules along.

They are made in the grader. `story.py` and `language.py`, which lie next to a submission, know nothing of them.
"""

from __future__ import annotations

import random
import string
from typing import Any

COMMON, KINDS, THINGS, SENTENCES = 20, 3, 6, 7
"""Words of all stories; kinds of things, and how many there are of each; sentences of a story."""


class Tongue:
    """A language of small stories: their words and phrases recur, their names are new in each."""

    def __init__(self, seed: int) -> None:
        self._chance = chance = random.Random(seed)
        letters = chance.sample(string.ascii_lowercase, 19)
        self._syllables = [one + other for one in letters[:14] for other in letters[14:]]
        self._common = [self._word(1, 3) for _ in range(COMMON)]
        self._kinds = [[self._word(2, 3) for _ in range(THINGS)] for _ in range(KINDS)]
        self._sentences = [(self._sentence(), self._sentence()) for _ in range(SENTENCES)]

    def stories(self, count: int) -> str:
        """Return so many new stories, each after a new line."""
        return "".join("\n" + self._story() for _ in range(count)) + "\n"

    def _story(self) -> str:
        names = [self._word(2, 3).capitalize() for _ in range(3)]
        said = names + [self._chance.choice(kind) for kind in self._kinds]
        return " ".join(self._chance.choice(two).format(*said) + "." for two in self._sentences)

    def _sentence(self) -> str:
        """Return words, among them the number of a name and of a thing: what they are is the story's."""
        words = self._chance.choices(self._common, k=self._chance.randint(5, 7))
        for slot in (self._chance.randrange(3), 3 + self._chance.randrange(KINDS)):
            words.insert(self._chance.randint(0, len(words)), f"{{{slot}}}")
        return " ".join(words)

    def _word(self, fewest: int, most: int) -> str:
        return "".join(self._chance.choices(self._syllables, k=self._chance.randint(fewest, most)))


def translations(language: dict[str, Any], seed: int, train: int, test: int) -> tuple[Any, Any, Any]:
    """Return the words of two languages, pairs to learn from and new ones: `language.py`'s, said in another order.

    All words have other numbers, too: whatever is known of `language.py` says nothing of them.
    """
    chance = random.Random(seed)
    english, foreign = ((*words[:3], *chance.sample(words[3:], len(words) - 3)) for words in
                        (language["SOURCE_WORDS"], language["TARGET_WORDS"]))  # fmt: skip
    order = chance.choice([(0, 2, 1), (2, 0, 1), (2, 1, 0)])  # as hard to learn as language.py's
    verbs = {form for _, *forms in language["_VERBS"].values() for form in forms}
    spell, encode = language["spell"], language["encode"]

    def turned(text: str) -> str:
        words = text.split()
        verb = next(place for place, word in enumerate(words) if word in verbs)
        begin = verb - (words[verb - 1] == "no")
        parts = words[:begin], words[begin : verb + 1], words[verb + 1 :]
        return " ".join(word for part in order for word in parts[part])

    def renamed(pairs: Any) -> Any:
        source = [spell(row, language["SOURCE_WORDS"]) for row in pairs.source]
        target = [turned(spell(row, language["TARGET_WORDS"])) for row in pairs.target]
        return language["Pairs"](encode(source, english), encode(target, foreign))

    return (english, foreign), *map(renamed, language["splits"](train, test, seed))
