"""Cells of a table that a spreadsheet shows and never runs."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable

TableValue = str | float | None

_BEGINS = "=+-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u2212"
"""What begins a formula, also as the wide and small letters that East Asian spreadsheets take for the same."""
_BLANKS = "'\"\u2800\u115f\u1160\u3164\uffa0"
"""Quotes, which a spreadsheet may strip, and letters without a shape."""
_OVERLOOKED = ("C", "Z", "M")
"""Categories of what nobody sees at the beginning of a cell: controls, blanks, marks on the letter before."""
_CELL = re.compile(r"(?<=[;\t\r\n])(?=[^;\t\r\n])")


def defuse(text: str) -> str:
    """Return `text` with an apostrophe before whatever a spreadsheet would run as a formula.

    OWASP ("CSV Injection") and CWE-1236 name the first characters ``= + - @``, tab and carriage return, and their
    full-width variants. They count after blanks, quotes and invisible characters too, and after a semicolon, tab
    or line break *inside* the text: a spreadsheet that is set to another separator begins a cell there.
    """
    first, *rest = _CELL.split(text)
    parts = [first, *(f"'{part}" if _runs(part, _BEGINS) else part for part in rest)]
    return "'" * _runs(text, f"{_BEGINS}\t\r\n") + "".join(parts)


def _runs(cell: str, begins: str) -> bool:
    """Whether the first letter that a spreadsheet may look at is one of these."""
    for letter in cell:
        if letter in begins:
            return True
        if letter not in _BLANKS and unicodedata.category(letter)[0] not in _OVERLOOKED:
            return False
    return False


def number(value: float) -> str:
    """Return a number as every importer reads it: a decimal point, up to four decimals, no exponent."""
    text = f"{value:.4f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def line(cells: Iterable[TableValue]) -> str:
    """Return one line of a CSV file (RFC 4180, ended by a line feed): numbers as they are, texts defused."""
    out = io.StringIO()
    # With this end of a line the writer puts a cell with a lone carriage return in quotes, too.
    csv.writer(out, lineterminator="\r\n").writerow([_text(cell) for cell in cells])
    return out.getvalue().removesuffix("\r\n") + "\n"


def _text(cell: TableValue) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        # A folder's name may hold bytes that are not text; NUL ends a cell in more than one spreadsheet.
        return defuse(cell.encode("utf-8", "replace").decode().replace("\0", ""))
    return number(cell)
