"""No sentence of the gradebook's means anything to it: a class whose names are its sentences is graded as any."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest

import grader.instructor
from grader.catalogue import Catalogue, Kata
from grader.instructor.gradebook.course import Course
from grader.instructor.gradebook.roster import normalized_name
from grader.instructor.gradebook.store import Gradebook
from grader.instructor.grading.messages import encode_answer, task_decoder
from grader.instructor.grading.problems import MISNAMED, problems
from grader.instructor.grading.roster_matching import match_learners
from grader.instructor.grading.run import Run, RunPolicy
from grader.instructor.lms.find import find_learners
from grader.instructor.lms.person import Person
from tests.gradebook.handmade import report

PROVED = ("ada-2, as was decided", "x may be the answer: y", "this row is damaged, and counts nowhere")
"""Names that once cost the newest hand-in, or made a line among the problems."""
WRITERS = ("gradebook", "grading", "lms", "submissions")
"""The rooms whose sentences come into a gradebook."""
MOST = 90
"""Letters of a name here: a file system takes 255 bytes."""


def sentences() -> list[str]:
    """Return every sentence in the code, and every end of one, as names of files; what is new is among them.

    In place of what a sentence is about is a name.
    """
    found = dict.fromkeys(PROVED)
    home = Path(grader.instructor.__file__).parent
    for file in sorted(file for room in WRITERS for file in (home / room).rglob("*.py")):
        found |= dict.fromkeys(_in_code(ast.parse(file.read_text(encoding="utf-8"))))
    names = (" ".join(re.sub(r"[/\\]", " ", text).split())[-MOST:].strip(" .") for text in found)
    # Of two that differ in case or accents only nobody could say whose is whose.
    return list(
        {
            normalized_name(name): name
            for name in names
            if re.search("[a-z]{2} [a-z]{2}", name) and name.isprintable()
        }.values()
    )


def _in_code(tree: ast.Module) -> Iterator[str]:
    said = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if node in said:  # a docstring
            continue
        if isinstance(node, ast.JoinedStr):
            parts = [str(part.value) if isinstance(part, ast.Constant) else "ada-2" for part in node.values]
            yield "".join(parts)
            yield from (f"ada-2{part}" for part in parts if part != "ada-2")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" not in node.value:
            yield node.value
            yield f"ada-2{node.value}"


class Points(Executor):
    """Gives as many points as the file says."""

    def submit(self, function: Any, /, *given: Any, **named: Any) -> Future[Any]:
        task = task_decoder.decode(given[1])
        assert task.bundle is not None, task.message
        found: Future[bytes] = Future()
        score = float(task.bundle.files[task.bundle.main])
        found.set_result(encode_answer(report(None, task.kata, score=score)))
        return found


def lay(root: Path, names: list[str], points: int, second: str = "") -> None:
    """Write a download; with a second file everybody has two folders, in one of which all is called by a sentence."""
    for number, name in enumerate(names):
        own, other = root / name, root / f"{number} {name}"
        own.mkdir(parents=True)
        (own / "masks.py").write_text(str(points))
        if second:
            other.mkdir()
            (other / f"{name}.txt").write_text("prose")
            (other / f"masks {name}.py").write_text("prose")
            (other / second.format(name)).write_text(str(points))


@pytest.mark.slow
def test_a_class_called_by_the_gradebooks_own_sentences(tmp_path: Path) -> None:
    names = sentences()
    assert len(names) > 500
    assert set(PROVED) <= set(names)
    roster = {name: Person(learner=name, aliases=(f"{number} {name}",)) for number, name in enumerate(names)}
    katas = [Catalogue.discover().resolve_one(slug) for slug in ("masks", "masked-attention")]
    with Gradebook.open(
        str(tmp_path / "gradebook.sqlite"), create=True, course=Course(roster=roster)
    ) as book:
        for week, second in enumerate(("", "masked_attention.py", "masked_attention {}.py"), 1):
            lay(tmp_path / str(week), names, week, second)
            grade(book, tmp_path / str(week), katas if second else katas[:1])
        marks = {(mark.learner, mark.kata): mark for mark in book.marks()}
        assert {name for name, _ in marks} == set(names)
        assert {name: marks[name, "masks"].score for name in names} == dict.fromkeys(names, 3.0)
        noted = [
            (name, kata)
            for (name, kata), mark in marks.items()
            if not any(note.startswith("came in under two names") for note in mark.notes)
        ]
        assert not noted, "a note was lost"
        # What is true: in the last week one file was called otherwise.
        wanted = {(MISNAMED, name, "masked-attention", f"masked_attention {name}.py") for name in names}
        assert {(one.kind, one.learner, one.kata, one.proposal) for one in problems(book)} == wanted


def grade(book: Gradebook, root: Path, katas: list[Kata]) -> None:
    """Grade a download."""
    found = match_learners(find_learners(root, katas).learners, book)
    recording = book.start_run({"submissions": str(root)})
    run = Run(katas, recording, RunPolicy())
    tally = run.grade(found.learners, Points(), 1, lambda *_: None)
    assert not tally.refused
    recording.finish()
