"""`rubric.toml`: how a kata's written answers are marked. It is next to the solution, where no learner gets it."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from grader.catalogue.katas import Kata
from grader.data_files import read_data
from grader.errors import PackError

_Points = Annotated[float, Meta(gt=0, le=1000, description="a number of points above 0")]
_Sentence = Annotated[str, Meta(min_length=1, max_length=4000, description="a sentence")]


class Criterion(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """Something that an answer says or does not."""

    met: _Sentence
    """What an answer says that meets it."""
    points: _Points


class Question(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """One question, and how it is marked."""

    question: _Sentence
    """As `reflect.md` asks it."""
    model: _Sentence
    """What an answer of full marks says."""
    mistakes: tuple[_Sentence, ...] = ()
    """What wrong answers often say."""
    criteria: Annotated[tuple[Criterion, ...], Meta(min_length=1, max_length=9, description="1 to 9 tables")]

    @property
    def points(self) -> float:
        """What the question is worth: all criteria together."""
        return sum(criterion.points for criterion in self.criteria)


class Rubric(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """How the written answers of one kata are marked."""

    questions: Annotated[
        tuple[Question, ...], Meta(min_length=1, max_length=50, description="a list of tables")
    ]

    @property
    def points(self) -> tuple[float, ...]:
        """What each question is worth."""
        return tuple(question.points for question in self.questions)


def rubric_of(kata: Kata) -> Rubric | None:
    """Return a kata's rubric; None where this install has none.

    Raises:
        PackError: it cannot be read, or breaks a rule; the error names the file and the key.
    """
    if kata.rubric is None:
        return None
    rubric = read_data(kata.rubric, Rubric, PackError)
    if not all(item.question.strip() for item in rubric.questions):
        raise PackError(f"{kata.rubric}: a question is empty.")
    return rubric
