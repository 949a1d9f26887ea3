"""A gradebook of a class that never was, and the command line to look at it."""

from __future__ import annotations

import shutil
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from grader.instructor.gradebook.recording import Recording
from grader.instructor.gradebook.row_types import Key
from grader.instructor.gradebook.store import Gradebook
from grader.instructor.submissions.submission import Bundle, Submission
from grader.report.report import KataReport
from tests.conftest import Ran, Run, invoke

from .made_up import SECRET, WHEN, check, report


def record(
    book: Gradebook, run: Recording, learner: str, graded: KataReport, submitted_at: datetime | None = None
) -> None:
    bundle = None
    if graded.status != "missing":
        bundle = Bundle("answer.py", {"answer.py": f"{learner} {graded.kata} {graded.score}".encode()})
    submission = Submission(
        learner=learner,
        kata=graded.kata,
        bundle=bundle,
        submitted_at=submitted_at or WHEN - timedelta(days=1),
    )
    run.record(submission, Key(bundle.digest if bundle else None, "terms"), graded)


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a gradebook and a roster, made once: tests copy it."""
    folder = tmp_path_factory.mktemp("course")
    (folder / "course.toml").write_text('name = "Transformers"\nroster = "roster.csv"\n')
    (folder / "roster.csv").write_text("learner,name,email\nada,Ada Lovelace,ada@example.org\nzed,Zed,\n")
    with Gradebook.open(str(folder / "gradebook.sqlite"), create=True) as book:
        run = book.start_run({})
        hidden = check("fail", name=SECRET, hidden=True, message=SECRET)
        failed = check(
            "fail", name="nothing later is seen", message="first difference  mask[0, 1]", likely="shifted"
        )
        record(book, run, "ada", report("masks", "fail", [check(max_points=6.0), failed, hidden]))
        record(book, run, "ada", report("layer-norm", checks=[check(max_points=20.0)]))
        late = "It ran out of time."
        record(book, run, "adam", report("masks", "timeout", [], max_score=10.0, message=late))
        broken = "\x1b[31mline 3: =1"
        record(book, run, "adam", report("layer-norm", "error", [], max_score=20.0, message=broken))
        run.finish()
    return folder


@pytest.fixture
def course_folder(filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A gradebook of one's own; its folder is the current one."""
    folder = shutil.copytree(filled, tmp_path / "course")
    monkeypatch.chdir(folder)
    for name in ("KATA_PACKS", "KATA_SOLUTIONS", "KATA_DEBUG", "COLUMNS", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("getpass.getuser", lambda: "kim")
    return folder


@pytest.fixture
def kata(course_folder: Path) -> Run:
    def run(*arguments: str) -> Ran:
        ran = invoke("gradebook", *arguments)
        assert "internal error" not in ran.text  # which looks for a traceback itself
        return ran

    return run
