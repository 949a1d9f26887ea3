"""A class over the tiny pack, graded by real grading processes that outlive a test: starting one takes seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from grader.instructor.grading import executors, processes
from tests.conftest import TINY

SOLUTIONS = TINY.parent / "solutions" / "1.1-sorting" / "insertion-sort"
MODULE = "insertion_sort.py"
RIGHT = (SOLUTIONS / MODULE).read_text()
OTHER = (SOLUTIONS / "alternatives" / "swaps.py").read_text()
WRONG = RIGHT.replace("other <= value", "other >= value")
STUB = (TINY / "1.1-sorting" / "insertion-sort" / MODULE).read_text()
LOOPS = "while True:\n    pass\n"
EXITS = "raise SystemExit(0)\n"
CRASHES = "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n"


@pytest.fixture(scope="session", autouse=True)
def _end_stations() -> Iterator[None]:
    with processes.grading_processes():
        yield


@pytest.fixture
def warm(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to grade in, with the tiny pack alone; grading processes stay for the next test."""
    monkeypatch.setenv("KATA_PACKS", str(TINY))
    monkeypatch.setattr(executors, "grading_processes", nullcontext)
    return folder


Hand = Callable[[str, str | None], None]


@pytest.fixture
def hand_in(warm: Path) -> Hand:
    """Put a learner's answer into `submissions`; None makes the folder only."""

    def put(learner: str, source: str | None) -> None:
        place = warm / "submissions" / learner
        place.mkdir(parents=True, exist_ok=True)
        if source is not None:
            (place / MODULE).write_text(source)

    return put
