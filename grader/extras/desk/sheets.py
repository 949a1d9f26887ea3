"""Written answers at the desk: which there are, which wait and for whom, and one of them with what marking it needs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from rapidfuzz import fuzz, process

from grader.api import (
    WITHDRAWN,
    AnswerMark,
    AnswerSheet,
    Decided,
    Release,
    Rubrics,
    TakenBack,
    UsageError,
    WrittenAnswer,
    active_releases,
    load_sheet,
)
from grader.extras.desk.queries import NOTHING, DeskReader, Filter, LogEntry

MOST_REMARKS = 200
NEAR = 85
"""Percent of the letters, in order, that two answers share to be nearly the same."""
SHORT = 20
"""Letters; answers that are shorter differ as soon as one letter does."""
LONGEST = 2000
"""Letters that are compared: of longer answers the beginning."""


class AnswerGroup(NamedTuple):
    """What an answer says, as a place among all answers to its question."""

    group: int
    """0 for what most people say, or nearly say."""
    words: int
    """Answers with one number say the same but for blanks, capitals and a full stop: one mark is right for all."""


class AnswerPlace(NamedTuple):
    """An answer, wherever it is marked or waits."""

    kata: str
    question: int
    learner: str
    waits: bool
    marker: str
    """Who took the sheet; empty where nobody did."""
    digest: str = ""
    """Of the text; empty where there is none."""
    mark: AnswerMark | None = None
    """The mark that counts."""
    wording: AnswerGroup | None = None


@dataclass(frozen=True)
class QuestionAnswers:
    """All answers to a question."""

    kata: str
    number: int
    every: list[AnswerPlace]
    author: str
    """Who looks at them."""

    @property
    def waiting(self) -> list[AnswerPlace]:
        """Those that wait."""
        return [answer for answer in self.every if answer.waits]

    @property
    def mine(self) -> list[AnswerPlace]:
        """Those that wait and are this marker's."""
        return [answer for answer in self.waiting if answer.marker == self.author]

    @property
    def free(self) -> list[AnswerPlace]:
        """Those that wait and are on sheets that nobody took."""
        return [answer for answer in self.waiting if not answer.marker]

    @property
    def first(self) -> AnswerPlace | None:
        """Where this marker goes on."""
        return next(iter([*self.mine, *self.free]), None)

    @property
    def wordings(self) -> int:
        """How many different ones wait."""
        return len({answer.wording or answer.learner for answer in self.waiting})

    @property
    def marks(self) -> list[AnswerMark]:
        """The marks that count."""
        return [answer.mark for answer in self.every if answer.mark is not None]

    @property
    def marked_with(self) -> dict[int, int]:
        """By criterion, how many were marked with it."""
        return dict(Counter(number for mark in self.marks for number in mark.criteria))

    @property
    def bank(self) -> list[str]:
        """What was said about them, most often first."""
        comments = Counter(mark.made.comment for mark in self.marks if mark.made.comment)
        return [text for text, _ in comments.most_common(MOST_REMARKS)]

    def near(self, own: AnswerPlace | None) -> int:
        """Return how many others say nearly the same as one."""
        if own is None or own.wording is None:
            return 0
        group, words = own.wording
        others = (answer.wording for answer in self.every if answer.wording is not None)
        return sum(wording.group == group and wording.words != words for wording in others)


@dataclass(frozen=True)
class SheetsPage:
    """What waits, and what may be released."""

    questions: list[QuestionAnswers]
    free: list[AnswerPlace]
    released: dict[str, bool]
    """By kata."""


class AnswerQueue(NamedTuple):
    """Where a marker goes from an answer."""

    previous: AnswerPlace | None
    next: AnswerPlace | None
    """The next that waits, says something else, and is nobody else's."""
    waiting: int


@dataclass(frozen=True)
class AnswerPage:
    """One answer, to be marked."""

    sheet: AnswerSheet
    answer: WrittenAnswer
    word: str
    """What the learner is called in addresses."""
    own: AnswerPlace | None
    """Where it is among the answers to the question."""
    question: QuestionAnswers
    same: list[AnswerPlace]
    """Others that wait and say the same."""
    queue: AnswerQueue
    events: list[LogEntry]

    @property
    def criteria(self) -> list[tuple[int, str, float]]:
        """Number, words and points of every criterion that stands."""
        every = self.answer.rubric.criteria if self.answer.rubric is not None else ()
        return [
            (number, criterion.met, criterion.points)
            for number, criterion in enumerate(every, 1)
            if criterion.met != WITHDRAWN
        ]


class Sheets:
    """Reads written answers for a desk."""

    def __init__(self, desk: DeskReader, rubrics: Rubrics) -> None:
        self.rubrics = rubrics
        self._desk = desk
        self._texts: dict[str, str] = {}
        """By digest, so they never grow old."""
        self._worded: dict[tuple[str, int], tuple[Counter[str], dict[str, AnswerGroup]]] = {}
        """By kata and question, for the answers that there were when they were compared."""

    def places(self, chosen: Filter) -> list[AnswerPlace]:
        """Return every answer that a filter means, question by question; those that say the same come together."""
        marks, about = self._desk.everybody.marks()
        found = []
        for kata in self._desk.katas(chosen):
            if self.rubrics.of_pack(kata) is None:
                continue
            by_question: dict[int, list[AnswerPlace]] = {}
            for learner, own in marks.items():
                written = own[kata].written if kata in own else None
                if written is None:
                    continue
                waiting = {*written.unmarked, *written.changed}
                given = {mark.question: mark for mark in written.marks}
                marker = about.get((learner, kata), NOTHING).marker
                for question in waiting | given.keys():
                    digest = written.answered.get(question, "")
                    place = AnswerPlace(
                        kata, question, learner, question in waiting, marker, digest, given.get(question)
                    )
                    by_question.setdefault(question, []).append(place)
            for question, answers in sorted(by_question.items()):
                people = Counter(place.digest for place in answers if place.digest)
                wordings = self._wordings(kata, question, people)
                known = [place._replace(wording=wordings.get(place.digest)) for place in answers]
                # What most people say comes first; learners stay in their order where they say the same.
                found += sorted(known, key=lambda place: (place.wording is None, place.wording))
        return found

    def _wordings(self, kata: str, question: int, people: Counter[str]) -> dict[str, AnswerGroup]:
        before, found = self._worded.get((kata, question), (None, {}))
        if before != people:
            if not people.keys() <= self._texts.keys():
                self._texts |= self._desk.book.answer_texts(kata)
            texts = {digest: self._texts[digest] for digest in people if digest in self._texts}
            found = worded(texts, people)
            self._worded[kata, question] = people, found
        return found

    def page(self, chosen: Filter) -> SheetsPage:
        """Return what waits."""
        every = self.places(chosen)
        by_question: dict[tuple[str, int], list[AnswerPlace]] = {}
        for place in every:
            by_question.setdefault((place.kata, place.question), []).append(place)
        released = self._desk.book.rulings([Release])
        return SheetsPage(
            questions=[QuestionAnswers(*key, own, self._desk.author) for key, own in by_question.items()],
            free=[place for place in every if place.waits and not place.marker],
            released={
                kata: bool(active_releases(released, kata))
                for kata in dict.fromkeys(place.kata for place in every)
            },
        )

    def answer(self, query: Mapping[str, str], chosen: Filter) -> AnswerPage:
        """Return one answer.

        Raises:
            UsageError: there is no such learner, kata or question.
        """
        word, kata, number = query.get("learner", ""), query.get("of", ""), query.get("question", "")
        learner = self._desk.anonymity.learner(word, kata)
        if kata not in self._desk.katas(Filter()) or learner not in self._desk.everybody.marks()[0]:
            raise UsageError(f"{word} has no written answers for {kata}.")
        shown = load_sheet(self._desk.book, self.rubrics, learner, kata)
        answer = next((answer for answer in shown.answers if str(answer.number) == number), None)
        if answer is None:
            raise UsageError(f"{kata} has no question {number}.")
        every, here = self.places(chosen), (kata, answer.number, learner)
        at = next((index for index, place in enumerate(every) if place[:3] == here), len(every))
        of_question = [place for place in every if place[:2] == here[:2]]
        question = QuestionAnswers(*here[:2], of_question, self._desk.author)
        own = every[at] if at < len(every) else None
        same = [place for place in self._alike(own, of_question) if place is not own]
        # From here on and round again, so that what was skipped comes back at the end.
        waiting = [place for place in every[at + 1 :] + every[:at] if self.may_mark(place)]
        # One that says the same is marked along with this one, and need not be read next.
        along = {place[:3] for place in same}
        others = [place for place in waiting if place[:3] not in along]
        first = (place for place in others if place.marker == self._desk.author)
        queue = AnswerQueue(
            every[at - 1] if 0 < at < len(every) else None,
            next(first, others[0] if others else None),
            len(waiting) + sum(map(self.may_mark, every[at : at + 1])),
        )
        events = [
            LogEntry(event, self._desk.local_time(event.at))
            for event in self._desk.book.history(learner, kata)
            if isinstance(event, Decided | TakenBack)
            and isinstance(event.decision, AnswerMark)
            and event.decision.question == answer.number
        ]
        return AnswerPage(shown, answer, word, own, question, same, queue, events)

    def similar_answers(self, learner: str, kata: str, question: int) -> list[AnswerPlace]:
        """Return the other answers that wait for this marker, or for anybody, and say the same as a learner's."""
        places = [place for place in self.places(Filter(kata=kata)) if place.question == question]
        own = next((place for place in places if place.learner == learner), None)
        return [place for place in self._alike(own, places) if place is not own]

    def _alike(self, own: AnswerPlace | None, places: Iterable[AnswerPlace]) -> list[AnswerPlace]:
        if own is None or own.wording is None:
            return []
        return [place for place in places if place.wording == own.wording and self.may_mark(place)]

    def may_mark(self, place: AnswerPlace) -> bool:
        """Whether an answer waits and is not somebody else's."""
        return place.waits and place.marker in ("", self._desk.author)


# Answers that say the same: the same words, or nearly the same, so that they are read one after the other


def worded(texts: Mapping[str, str], people: Mapping[str, int]) -> dict[str, AnswerGroup]:
    """Return what answers say.

    Args:
        texts: the answers, by digest.
        people: how many wrote each.
    """
    plain = {digest: _plain(text) for digest, text in texts.items()}
    often = Counter[str]()
    for digest, words in plain.items():
        often[words] += people.get(digest, 0)
    # What most people wrote comes first and gathers what is near it. Only with these is anything compared: with every
    # pair, a large class of different answers would take seconds.
    order = sorted(often, key=lambda words: (-often[words], words))
    heads: dict[str, int] = {}
    group = {words: _group(words, heads) for words in order}
    size = Counter[int]()
    for words, number in group.items():
        size[number] += often[words]
    rank = {number: place for place, (number, _) in enumerate(size.most_common())}
    place = {words: number for number, words in enumerate(order)}
    return {digest: AnswerGroup(rank[group[words]], place[words]) for digest, words in plain.items()}


def _group(words: str, heads: dict[str, int]) -> int:
    """Return the group of an answer: of the nearest that leads one, else a new one."""
    head = words[:LONGEST]
    found = None
    if len(head) >= SHORT:
        found = process.extractOne(head, heads.keys(), scorer=fuzz.ratio, score_cutoff=NEAR)
    return heads[found[0]] if found is not None else heads.setdefault(head, len(heads))


def _plain(text: str) -> str:
    # Signs stay: without them x < y and x > y would be the same answer.
    return re.sub(r"\s+", " ", text).strip(" .!").casefold()
