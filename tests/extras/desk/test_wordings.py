"""Which written answers say the same, and which nearly."""

from __future__ import annotations

import pytest

from grader.extras.desk.sheets import worded

LONG = "A row of the mask says which positions a query may attend to, so that nothing later is seen."


@pytest.mark.parametrize(
    ("other", "same", "near"),
    [
        (f"  {LONG.replace(' ', chr(10), 3).upper()[:-1]}", True, True),
        (LONG.replace("later", "earlier"), False, True),
        ("Because softmax of minus infinity is zero, wherever padding stands in the batch.", False, False),
    ],
)
def test_two_answers(other: str, same: bool, near: bool) -> None:
    found = worded({"a": LONG, "b": other}, {"a": 1, "b": 1})
    assert (found["a"] == found["b"], found["a"].group == found["b"].group) == (same, near)


@pytest.mark.parametrize(("one", "other"), [("x < y", "x > y"), ("16", "18"), ("yes", "yet"), ("d_k", "d k")])
def test_signs_and_numbers_make_another_answer(one: str, other: str) -> None:
    found = worded({"a": one, "b": other}, {"a": 1, "b": 1})
    assert found["a"].words != found["b"].words
    assert found["a"].group != found["b"].group


def test_what_most_people_say_comes_first() -> None:
    texts = {"a": "something of one's own, said by one alone", "b": LONG, "c": LONG.lower()}
    found = worded(texts, {"a": 3, "b": 2, "c": 2})
    assert found["b"] == found["c"]
    assert found["b"].group < found["a"].group
