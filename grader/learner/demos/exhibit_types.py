"""Exhibits as types: what a worker sends is checked against these before anything is drawn."""

from __future__ import annotations

import math
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from grader.errors import PackError

Words = Annotated[str, Meta(max_length=20_000, pattern=r"^[^\x00-\x08\x0b-\x1f\x7f]*\Z")]
"""Text that is text: control characters would break a picture's XML and a terminal."""
CellValue = str | int | float | bool | None
Numbers = Annotated[list[float], Meta(max_length=20_000)]


class Base(msgspec.Struct, tag_field="kind", forbid_unknown_fields=True, kw_only=True):
    """What every exhibit has."""

    title: Words
    note: Words = ""


class Text(Base, tag="text"):
    """Paragraphs."""

    body: Words


class Table(Base, tag="table"):
    """Rows of cells."""

    columns: list[Words]
    rows: list[list[CellValue]]

    def __post_init__(self) -> None:
        """Refuse rows that do not fit their columns."""
        _same(len(self.columns), *(len(row) for row in self.rows))


class Panel(msgspec.Struct, forbid_unknown_fields=True):
    """One map."""

    title: Words
    values: list[Numbers]
    rows: list[Words]
    columns: list[Words]

    def __post_init__(self) -> None:
        """Refuse a map that is empty, or does not fit its labels."""
        _same(len(self.rows), len(self.values))
        _same(len(self.columns), *(len(row) for row in self.values))
        if not self.rows or not self.columns:
            raise ValueError("a map without rows or columns")


class Heatmap(Base, tag="heatmap"):
    """Maps on one colour scale."""

    panels: Annotated[list[Panel], Meta(min_length=1, max_length=64)]
    row_axis: Words
    column_axis: Words
    diverging: bool = False

    def limits(self) -> tuple[float, float]:
        """Return the ends of the colour scale."""
        values = [
            value for panel in self.panels for row in panel.values for value in row if math.isfinite(value)
        ]
        high = max(map(abs, values), default=1.0) or 1.0
        return (-high, high) if self.diverging else (min(0.0, *values), max(values)) if values else (0.0, 1.0)


class Series(msgspec.Struct, forbid_unknown_fields=True):
    """One curve."""

    name: Words
    x: Numbers
    y: Numbers

    def __post_init__(self) -> None:
        """Refuse points without a partner."""
        _same(len(self.x), len(self.y))


class Lines(Base, tag="lines"):
    """Curves."""

    series: list[Series]
    x_axis: Words
    y_axis: Words
    log_x: bool = False
    log_y: bool = False


class BarSeries(msgspec.Struct, forbid_unknown_fields=True):
    """One colour of bars."""

    name: Words
    y: Numbers


class Bars(Base, tag="bars"):
    """Bars in groups."""

    labels: list[Words]
    series: list[BarSeries]
    y_axis: Words
    log_y: bool = False

    def __post_init__(self) -> None:
        """Refuse a series that has not one bar for each label."""
        _same(len(self.labels), *(len(series.y) for series in self.series))

    def written(self, digits: int) -> list[list[str]]:
        """Return the numbers of each series as text: with as many decimals as give the largest so many digits.

        A plain 0 is nothing at all. Where the axis is logarithmic, each number has its own digits.
        """
        values = [value for series in self.series for value in series.y]
        largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
        decimals = max(0, digits - 1 - math.floor(math.log10(largest))) if largest else 0
        own = self.log_y or not 1e-4 < largest < 1e6
        if not own and all(value == round(value) for value in values if math.isfinite(value)):
            decimals = 0
        form = f".{digits}g" if own else f".{decimals}f"
        return [[f"{value:{form}}" if value else "0" for value in series.y] for series in self.series]


class Scatter(Base, tag="scatter"):
    """Points in groups."""

    groups: list[Series]
    x_axis: Words = ""
    y_axis: Words = ""


class OpenQuestion(Base, tag="question"):
    """What is asked after a demo; the title asks it."""

    seen: Words
    """How the title of the exhibit begins in which the answer is."""
    answer: Words


Still = Text | Table | Heatmap | Lines | Bars | Scatter | OpenQuestion
"""What stands still: the same on paper, in a terminal and on a page."""


class Frame(msgspec.Struct, forbid_unknown_fields=True):
    """One of several states: what is shown when its label is chosen."""

    label: Words
    shown: list[Still]


class Choice(Base, tag="choice"):
    """States of one thing, of which a page shows the chosen one, and paper all of them."""

    axis: Words
    frames: Annotated[list[Frame], Meta(min_length=2, max_length=64)]
    start: int = 0
    slider: bool = False

    def __post_init__(self) -> None:
        """Refuse to start at a state that there is not."""
        if not 0 <= self.start < len(self.frames):
            raise ValueError(f"starts at {self.start}, of {len(self.frames)} states")


class Play(Base, tag="play"):
    """Something to try on a page, by a script of the pack's; without one, what `shown` holds."""

    script: Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_-]*\.js\Z", max_length=64)]
    data: dict[str, Any]
    shown: Annotated[list[Still], Meta(min_length=1)]


Exhibit = Still | Choice | Play


def short(value: float) -> str:
    """Return a number as a map shows it: whole, or with two decimals."""
    if not math.isfinite(value):
        return str(value)
    return f"{value:.0f}" if value == round(value) else f"{value:.2f}"


def _same(wanted: int, *found: int) -> None:
    for length in found:
        if length != wanted:
            raise ValueError(f"{length} values for {wanted} labels, columns or points")


def read_exhibits(data: object) -> list[Exhibit]:
    """Check what a demo returned.

    Raises:
        PackError: it is not a list of exhibits; which one and why is in the message.
    """
    if not isinstance(data, list):
        raise PackError("The demo returned no list of exhibits.")
    found: list[Exhibit] = []
    for number, item in enumerate(data, 1):
        try:
            # A demo runs the learner's code, which may have made anything of it.
            found.append(msgspec.convert(item, type=Exhibit, strict=True))
        except msgspec.ValidationError as error:
            raise PackError(f"Exhibit {number} of the demo is none: {error}") from error
        exhibit = found[-1]
        if isinstance(exhibit, OpenQuestion) and not any(
            before.title.startswith(exhibit.seen) for before in found[:-1]
        ):
            raise PackError(f"Exhibit {number} asks about “{exhibit.seen}”, which is not shown before it.")
    return found
