"""Answers are graded side by side in forks: in order, and whatever ends a fork is seen here."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import pytest

from grader.author import side_by_side as module
from grader.author.side_by_side import FEWEST, side_by_side
from grader.errors import PackError

ITEMS = list(range(FEWEST + 1))
LAUNCHER: Any = SimpleNamespace(name="fork", close=lambda: None)


@pytest.fixture(autouse=True)
def _no_zygote(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "default_launcher", lambda **_: LAUNCHER)


def test_results_come_in_order_from_several_processes() -> None:
    done: list[int] = []
    found = side_by_side(lambda _, item: (item, os.getpid()), ITEMS, LAUNCHER, 3, done.append)
    assert [item for item, _ in found] == ITEMS
    pids = {pid for _, pid in found}
    assert len(pids) == 3
    assert os.getpid() not in pids
    assert done == [item + 1 for item in ITEMS]


@pytest.mark.parametrize(("items", "jobs"), [(ITEMS, 1), (ITEMS[: FEWEST - 1], 3)])
def test_few_items_or_one_job_need_no_fork(items: list[int], jobs: int) -> None:
    found = side_by_side(lambda *_: os.getpid(), items, LAUNCHER, jobs, lambda _: None)
    assert set(found) == {os.getpid()}


def test_what_is_raised_in_a_fork_is_raised_here() -> None:
    def work(_: object, item: int) -> int:
        if item == 7:
            raise PackError("item 7 is broken")
        return item

    with pytest.raises(PackError, match="item 7 is broken"):
        side_by_side(work, ITEMS, LAUNCHER, 2, lambda _: None)


def test_what_a_fork_that_died_left_undone_is_done_here() -> None:
    here = os.getpid()

    def work(_: object, item: int) -> int:
        if os.getpid() != here and item > 5:
            os._exit(9)
        return item

    assert side_by_side(work, ITEMS, LAUNCHER, 2, lambda _: None) == ITEMS
