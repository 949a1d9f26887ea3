"""What `@check` reads of the function below it: the title, what it quotes, and the checks that it names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from grader.checks import check
from grader.engine.checks.decorators import CheckInfo

STEPS = 30


def info_of(function: Callable[..., Any]) -> CheckInfo:
    info = function.kata_check  # type: ignore[attr-defined]
    assert isinstance(info, CheckInfo)
    return info


@check(aspect="shape")
def test_first() -> None:
    """the first claim"""


def test_a_docstring_is_a_title_and_what_it_quotes() -> None:
    @check(aspect="values", points=2, follows=test_first, needs=[test_first, "test_elsewhere"])
    def test_second() -> None:
        r"""the second claim

        > Words of the lesson, which go on
          in the next line.
        >  \w+ begins with a space

        This is for who reads the file, and > this as well.

        > And these are words again.
        """

    info = info_of(test_second)
    assert (info.title, info.aspect, info.points) == ("the second claim", "values", 2.0)
    assert info.asked == (
        "Words of the lesson, which go on in the next line.",
        r" \w+ begins with a space",
        "And these are words again.",
    )
    assert (info.follows, info.needs) == (("test_first",), ("test_first", "test_elsewhere"))
    assert (info_of(test_first).asked, info_of(test_first).follows) == ((), ())


def test_a_title_may_hold_constants_of_the_file() -> None:
    @check(aspect="learning")
    def test_trained() -> None:
        """after {STEPS} steps it is right in {{most}} cases"""

    assert info_of(test_trained).title == "after 30 steps it is right in {most} cases"


@pytest.mark.parametrize(
    ("title", "words"),
    [(None, "test_it needs a docstring"), ("", "test_it needs a docstring"), ("in {NO} steps", "names 'NO'")],
)
def test_a_check_without_a_title_is_refused(title: str | None, words: str) -> None:
    def test_it() -> None: ...

    test_it.__doc__ = title
    with pytest.raises(ValueError, match=words):
        check(aspect="values")(test_it)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"aspect": "magic"}, "aspect 'magic' is none of shape"),
        ({"aspect": "values", "points": -1}, "points of at least 0"),
        ({"aspect": "values", "threshold": "fast"}, "has a threshold, and no other has"),
        ({"aspect": "performance"}, "has a threshold, and no other has"),
    ],
)
def test_what_cannot_be_meant_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        check(**options)
