"""Written answers at the desk: which there are, which wait and for whom, and one of them with what marking it needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from grader.errors import UsageError
from grader.instructor.desk.queries import DeskReader, Filter
from grader.instructor.gradebook.decisions import releases
from grader.instructor.gradebook.records import AnswerMark, HistoryEvent
from grader.instructor.gradebook.written import WITHDRAWN, AnswerSheet, Rubrics, WrittenAnswer, sheet
from grader.instructor.similarity.answers import AnswerGroup, worded


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


class QuestionLine(NamedTuple):
    """One question in the table of all."""

    kata: str
    number: int
    waiting: int
    mine: int
    free: int
    """Answers that wait and are on sheets that nobody took."""
    marked: int
    mean: float | None
    most: float
    """What it is worth."""
    by: dict[str, int]
    """How many answers each marker marked."""
    wordings: int
    """How many different answers wait."""
    first: AnswerPlace | None
    """Where this marker goes on."""


@dataclass(frozen=True)
class SheetsPage:
    """What waits, and what may be released."""

    lines: list[QuestionLine]
    free: list[AnswerPlace]
    released: dict[str, bool]
    """By kata."""


@dataclass(frozen=True)
class AnswerPage:
    """One answer, to be marked."""

    sheet: AnswerSheet
    answer: WrittenAnswer
    word: str
    """What the learner is called in addresses."""
    name: str
    """What the learner is called on the page."""
    place: int
    """Its place among all answers to the question, from 1 on."""
    of: int
    same: list[AnswerPlace]
    """Others that wait and say the same."""
    near: int
    """How many others say nearly the same."""
    bank: list[str]
    """What was said about answers to the question, most often first."""
    marked: int
    """How many answers to the question have a mark."""
    marked_with: dict[int, int]
    """By criterion, how many answers were marked with it."""
    previous: AnswerPlace | None
    next: AnswerPlace | None
    """The next that waits, says something else, and is nobody else's."""
    waiting: int
    marker: str
    events: list[HistoryEvent]

    @property
    def criteria(self) -> list[tuple[int, str, float]]:
        """Number, words and points of every criterion that stands."""
        every = self.answer.rubric.criteria if self.answer.rubric is not None else ()
        return [(number, one.met, one.points) for number, one in enumerate(every, 1) if one.met != WITHDRAWN]


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
                given = {one.question: one for one in written.marks}
                marker = about.markers.get((learner, kata), "")
                for question in waiting | given.keys():
                    digest = written.answered.get(question, "")
                    one = AnswerPlace(
                        kata, question, learner, question in waiting, marker, digest, given.get(question)
                    )
                    by_question.setdefault(question, []).append(one)
            for question in sorted(by_question):
                found += self._in_order(kata, question, by_question[question])
        return found

    def _in_order(self, kata: str, question: int, places: list[AnswerPlace]) -> list[AnswerPlace]:
        wordings = self._wordings(kata, question, Counter(one.digest for one in places if one.digest))
        known = [one._replace(wording=wordings.get(one.digest)) for one in places]
        # What most people say comes first; learners stay in their order where they say the same.
        return sorted(known, key=lambda one: (one.wording is None, one.wording))

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
        for one in every:
            by_question.setdefault((one.kata, one.question), []).append(one)
        released = self._desk.book.rulings(["release"])
        return SheetsPage(
            lines=[self._line(*key, places) for key, places in by_question.items()],
            free=[one for one in every if one.waits and not one.marker],
            released={
                kata: bool(releases(released, kata)) for kata in dict.fromkeys(one.kata for one in every)
            },
        )

    def _line(self, kata: str, number: int, places: list[AnswerPlace]) -> QuestionLine:
        waiting = [one for one in places if one.waits]
        mine = [one for one in waiting if one.marker == self._desk.author]
        free = [one for one in waiting if not one.marker]
        given = [one.mark for one in places if one.mark is not None]
        rubric = self.rubrics.of_pack(kata)
        worth = rubric.points if rubric is not None else ()
        return QuestionLine(
            kata=kata, number=number, waiting=len(waiting), mine=len(mine), free=len(free),
            marked=len(places) - len(waiting),
            mean=sum(one.points for one in given) / len(given) if given else None,
            most=worth[number - 1] if number <= len(worth) else 0.0,
            by=dict(Counter(one.author for one in given).most_common()),
            wordings=len({one.wording or one.learner for one in waiting}),
            first=next(iter([*mine, *free]), None),
        )  # fmt: skip

    def answer(self, query: Mapping[str, str], chosen: Filter) -> AnswerPage:
        """Return one answer.

        Raises:
            UsageError: there is no such learner, kata or question.
        """
        word, kata, number = query.get("learner", ""), query.get("of", ""), query.get("question", "")
        learner = self._desk.anonymity.learner(word, kata)
        if kata not in self._desk.katas(Filter()) or learner not in self._desk.everybody.marks()[0]:
            raise UsageError(f"{word} has no written answers for {kata}.")
        shown = sheet(self._desk.book, self.rubrics, learner, kata)
        answer = next((one for one in shown.answers if str(one.number) == number), None)
        if answer is None:
            raise UsageError(f"{kata} has no question {number}.")
        every, here = self.places(chosen), (kata, answer.number, learner)
        at = next((place for place, one in enumerate(every) if one[:3] == here), len(every))
        of_question = [one for one in every if one[:2] == here[:2]]
        own = every[at] if at < len(every) else None
        same = [one for one in self._alike(own, of_question) if one is not own]
        # One that says the same is marked along with this one, and need not be read next.
        marked_along = {one.learner for one in same}
        # From here on and round again, so that what was skipped comes back at the end.
        waiting = [one for one in every[at + 1 :] + every[:at] if self.may_mark(one)]
        others = [one for one in waiting if one[:2] != here[:2] or one.learner not in marked_along]
        first = (one for one in others if one.marker == self._desk.author)
        return AnswerPage(
            sheet=shown, answer=answer, word=word, name=self._desk.course.name_of(word),
            place=next((place for place, one in enumerate(of_question, 1) if one is own), 0),
            of=len(of_question), same=same, near=_near(own, of_question), bank=_bank(of_question),
            marked=sum(one.mark is not None for one in of_question),
            marked_with=dict(Counter(met for one in of_question if one.mark for met in one.mark.criteria)),
            previous=every[at - 1] if 0 < at < len(every) else None,
            next=next(first, others[0] if others else None),
            waiting=len(waiting) + sum(map(self.may_mark, every[at : at + 1])),
            marker=self._desk.everybody.marks()[1].markers.get((learner, kata), ""),
            events=[one for one in self._desk.book.history(learner, kata) if one.question == answer.number],
        )  # fmt: skip

    def alike(self, learner: str, kata: str, question: int) -> list[AnswerPlace]:
        """Return the other answers that wait for this marker, or for anybody, and say the same as a learner's."""
        places = [one for one in self.places(Filter(kata=kata)) if one.question == question]
        own = next((one for one in places if one.learner == learner), None)
        return [one for one in self._alike(own, places) if one is not own]

    def _alike(self, own: AnswerPlace | None, places: Iterable[AnswerPlace]) -> list[AnswerPlace]:
        if own is None or own.wording is None:
            return []
        return [one for one in places if one.wording == own.wording and self.may_mark(one)]

    def may_mark(self, one: AnswerPlace) -> bool:
        """Whether an answer waits and is not somebody else's."""
        return one.waits and one.marker in ("", self._desk.author)


def _near(own: AnswerPlace | None, places: Iterable[AnswerPlace]) -> int:
    if own is None or own.wording is None:
        return 0
    group, words = own.wording
    return sum(
        one.wording is not None and one.wording.group == group and one.wording.words != words
        for one in places
    )


def _bank(places: Iterable[AnswerPlace]) -> list[str]:
    comments = Counter(one.mark.comment for one in places if one.mark is not None and one.mark.comment)
    return [text for text, _ in comments.most_common(MOST_REMARKS)]


MOST_REMARKS = 200
