"""Cells that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.instructor.gradebook.exports.cells import defuse, line, number

BEGINNINGS = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")  # noqa: RUF001
BEFORE = (
    "",
    " ",
    "'",
    '"',
    "\u200b",
    "\ufeff",
    "\n",
    "\u202a",
    "\u180e",
    "\u2800",
    "\u2066\u00a0",
    "\u3164",
    "\U000e0020",
)
hostile = st.text(st.sampled_from([*"=+-@;'\" \t\r\nx1,", "＝", "\ufeff", "\u200b"]), max_size=12)  # noqa: RUF001


def read(text: str, separator: str = ",") -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))


@pytest.mark.slow
@pytest.mark.parametrize("beginning", BEGINNINGS)
@pytest.mark.parametrize("before", BEFORE)
def test_what_could_begin_a_formula_gets_an_apostrophe_first(beginning: str, before: str) -> None:
    assert defuse(before + beginning + "1+1").startswith("'" + before)


@pytest.mark.parametrize(
    "text", ["ada", "a-b", "1-1", "Ørsted", "'t Hooft", "O'Neil", "a=b", "漢字", "", "(+2) well done"]
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert defuse(text) == text


@pytest.mark.parametrize("separator", [";", "\t"])
def test_a_reader_with_another_separator_finds_no_formula_either(separator: str) -> None:
    written = line(["ada", f"x{separator}=1+1{separator}y", "z"])
    for cells in read(written, separator):
        assert not any(cell.lstrip(" \"'").startswith("=") and not cell.startswith("'") for cell in cells)


@pytest.mark.slow
@given(st.lists(st.one_of(hostile, st.text(max_size=8)), min_size=1, max_size=4))
def test_a_line_reads_back_as_it_was_written(cells: list[str]) -> None:
    clean = [cell.encode("utf-8", "replace").decode().replace("\0", "") for cell in cells]
    assert read(line(cells)) == [[defuse(cell) for cell in clean]] or cells == [""]


@given(st.floats(-1e6, 1e6))
def test_numbers_stay_numbers(value: float) -> None:
    text = number(value)
    assert re.fullmatch(r"-?\d+(\.\d{1,4})?", text)
    assert float(text) == pytest.approx(value, abs=5.1e-5)
    assert line([value]) == text + "\n"


@pytest.mark.parametrize(
    ("value", "text"), [(-0.00001, "0"), (10.0, "10"), (2.5, "2.5"), (1 / 3, "0.3333"), (-2, "-2")]
)
def test_numbers_are_short(value: float, text: str) -> None:
    assert number(value) == text


def test_nothing_is_an_empty_cell() -> None:
    assert line([None, 0.0, ""]) == ",0,\n"


def test_bytes_that_are_no_text_do_not_stop_an_export() -> None:
    assert line(["a\udcffb\0c", 1.0]) == "a?bc,1\n"
