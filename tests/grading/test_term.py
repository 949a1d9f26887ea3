"""A small term, played through the commands that people type, against an oracle written apart from them."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest

from benchmarks import term
from benchmarks.a_term import oracle, script
from grader.instructor.grading import executors
from tests.conftest import Run


@pytest.mark.nightly
def test_a_term_is_what_its_script_says(kata: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No mark but the oracle's: late, resubmitted, renamed, absent, appealed, mended, restored from a copy, with times
    that become known afterwards, two of one name, and a run that is stopped."""
    monkeypatch.setenv("KATA_PACKS", str(folder / "pack" / "katas"))
    monkeypatch.delenv("KATA_SOLUTIONS", raising=False)
    monkeypatch.setattr(executors, "grading_processes", nullcontext)
    play = script.draw(learners=8, weeks=3)
    found = term.Term(play, folder, kata, print).run()
    assert found.clean, term.summary(found, play)
    assert found.seen_alike == found.copied
    # Looked at three times where times come afterwards, and the second week again after the loss.
    assert found.rows == 9 * (3 * 1 + 3 * 2 + 3 * 2 + 3)
    assert found.stopped


def test_the_oracle_imports_nothing_of_what_it_judges() -> None:
    for module in (oracle, script):
        text = Path(module.__file__).read_text(encoding="utf-8")
        assert "import grader" not in text
        assert "from grader" not in text
