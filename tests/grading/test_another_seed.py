"""What could not be graded with one seed, through no fault of its own, gets another one from the same command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.instructor.grading import run as of_run
from grader.instructor.grading.messages import NotGraded
from tests.conftest import Ran, Run
from tests.grading.conftest import RIGHT, WRONG, Hand

pytestmark = pytest.mark.slow


def seeds(kata: Run, learner: str = "ada") -> list[int]:
    events = kata("gradebook", "history", learner, "--json").json["events"]
    return [one["seed"] for one in events if one["kind"] == "attempt"]


def grade(kata: Run, *words: str) -> Ran:
    return kata("grade", "submissions", "-j", "1", *words)


def refused(monkeypatch: pytest.MonkeyPatch, kata: Run) -> None:
    """Type the command while nothing of Ada's can be graded."""
    keep = of_run.Run._keep

    def refusing(self: Any, submission: Any, seed: int, answer: Any, *told: Any) -> None:
        given = NotGraded("The pack is at fault.") if submission.learner == "ada" else answer
        keep(self, submission, seed, given, *told)

    with monkeypatch.context() as patched:
        patched.setattr(of_run.Run, "_keep", refusing)
        assert grade(kata).code == 3


@pytest.mark.usefixtures("warm")
def test_every_try_that_failed_makes_another_seed(
    kata: Run, hand_in: Hand, warm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in("ada", RIGHT)
    hand_in("bob", WRONG)
    refused(monkeypatch, kata)
    refused(monkeypatch, kata)
    assert grade(kata).code == 0
    first, second, third = seeds(kata)
    assert len({first, second, third}) == 3
    assert len(seeds(kata, "bob")) == 1
    # From here on it is as any other: unchanged, and made again with the seed that it was graded with.
    assert "2 unchanged" in grade(kata).out
    ran = kata("regrade", "--force", "--dry-run", "-j", "1")
    assert "2 hand-ins, 0 would change" in ran.out
    assert seeds(kata) == [first, second, third]
    grade(kata, "--force")
    assert seeds(kata)[-1] == third


def test_what_was_graded_keeps_its_seed(
    kata: Run, hand_in: Hand, warm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in("ada", RIGHT)
    grade(kata)
    with monkeypatch.context() as patched:
        patched.setattr(of_run.Run, "_answer", lambda *_: NotGraded("The machine is at fault."))
        grade(kata, "--force")
    assert "1 unchanged" in grade(kata).out
    grade(kata, "--force")
    first, _, last = seeds(kata)
    assert first == last
