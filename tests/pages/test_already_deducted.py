"""A hidden check that is counted as passed, since its only error is already deducted: every page says so."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from grader.instructor.gradebook.course import Course
from grader.instructor.gradebook.exports.gradescope import to_gradescope
from grader.instructor.gradebook.exports.tables import to_csv
from grader.instructor.gradebook.row_types import Mark
from grader.report.annotations import WRITERS
from grader.report.report import ALREADY_DEDUCTED, CheckReport
from grader.report.style import DEDUCTED, STATUS_STYLES
from grader.report.terminal import print_reports
from tests.extras.desk import made_class
from tests.extras.desk.test_queries import desk_over
from tests.pages.builders import check, failed, row, written
from tests.pages.test_report import table

SIGN = STATUS_STYLES["already_deducted"].glyph


@pytest.fixture
def deducted() -> CheckReport:
    return check("sizes", id="test_sizes", hidden=True, same_mistake="counted", message=ALREADY_DEDUCTED)


@pytest.fixture
def of_a_learner(deducted: CheckReport) -> Mark:
    return row(checks=[failed(misconception="shifted", likely="it is shifted"), deducted], file="masks.py")


def terminal(one: Mark, *, verbose: bool = False) -> str:
    out = Console(file=io.StringIO(), width=200)
    print_reports([one.report], out, verbose=verbose)
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


def desk(one: Mark, folder: Path) -> str:
    book, get = desk_over(made_class.make(folder, 0, rows=[one]), folder)
    with book:
        return get("/mark", learner=one.learner, of=one.kata)


def in_folder(name: str) -> Callable[[Mark, Path], str]:
    def page(one: Mark, folder: Path) -> str:
        written([one], folder / "out")
        return next((folder / "out").glob(name)).read_text(encoding="utf-8")

    return page


PAGES: dict[str, Callable[[Mark, Path], str]] = {
    "terminal": lambda one, _: terminal(one),
    "terminal, verbose": lambda one, _: terminal(one, verbose=True),
    **{form: lambda one, _, write=write: write([one.report]) for form, write in WRITERS.items()},
    "class": in_folder("index.html"),
    "learner": in_folder("learners/*.html"),
    "feedback": in_folder("feedback/*.html"),
    "feedback as text": in_folder("feedback/*.md"),
    "desk": desk,
    "gradescope": lambda one, _: next(content for _, content in to_gradescope([one], Course())).decode(),
}


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_every_page_says_so_with_a_sign_of_its_own(page: str, of_a_learner: Mark, tmp_path: Path) -> None:
    text = PAGES[page](of_a_learner, tmp_path)
    if text.startswith(("{", "[")):
        text = json.dumps(json.loads(text), ensure_ascii=False)
    assert ALREADY_DEDUCTED in text
    assert SIGN in text


def test_tables_count_it_in_a_column_of_its_own(of_a_learner: Mark) -> None:
    (line,) = csv.DictReader(io.StringIO("".join(to_csv([of_a_learner], Course()))))
    assert (line["checks_passed"], line["checks_already_deducted"], line["checks"]) == ("0", "1", "2")


def test_percentages_of_checks_leave_it_out(
    of_a_learner: Mark, deducted: CheckReport, tmp_path: Path
) -> None:
    wrong = msgspec.structs.replace(deducted, same_mistake=msgspec.UNSET, status="fail", points=0.0)
    rows = [of_a_learner, row("bob", checks=[check(), wrong])]
    written(rows, tmp_path / "out")
    cells = {one[0]: one for one in table((tmp_path / "out" / "index.html").read_text(), "checks")}
    # Of one answer alone it is known how the hidden check went: it failed.
    assert cells["sizes hidden"][-4:] == ["0 %", "1", "0", "1"]


def test_the_report_has_a_field_for_it(of_a_learner: Mark) -> None:
    first, second = msgspec.to_builtins(of_a_learner.report)["checks"]
    assert "same_mistake" not in first
    assert second["same_mistake"] == "counted"
    assert f"{SIGN} {ALREADY_DEDUCTED}" == DEDUCTED
