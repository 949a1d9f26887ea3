"""A table of figures, for a terminal and for Markdown."""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import machine
from rich.console import Console
from rich.table import Table

from grader.report.style import console

DOCS = Path(__file__).resolve().parent.parent / "docs"


@dataclass
class Figures:
    """One table: a title, what it says, columns, rows."""

    title: str
    text: str
    columns: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)

    def show(self, out: Console) -> None:
        """Print it."""
        out.print(f"\n{self.title}", style="bold")
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for place, column in enumerate(self.columns):
            table.add_column(column, justify="right" if place else "left", no_wrap=True)
        for row in self.rows:
            table.add_row(*row)
        out.print(table)

    def markdown(self) -> str:
        """Return it as Markdown."""
        lines = [
            f"### {self.title}",
            "",
            self.text,
            "",
            "| " + " | ".join(self.columns) + " |",
            "|" + "|".join("---:" if place else "---" for place in range(len(self.columns))) + "|",
            *("| " + " | ".join(row) + " |" for row in self.rows),
        ]
        return "\n".join(lines)


def spread(values: Sequence[float], digits: int = 2) -> str:
    """Return the median and the middle half of some seconds."""
    if len(values) < 3:
        return f"{statistics.median(values):.{digits}f} s"
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return f"{statistics.median(values):.{digits}f} s ({low:.{digits}f} to {high:.{digits}f})"


def verdict(value: float, goal: float) -> str:
    """Say whether a figure keeps its goal."""
    return "yes" if value <= goal else "**no**"


def at_least(value: float, goal: float) -> str:
    """Say whether a figure reaches its goal."""
    return "yes" if value >= goal else "**no**"


def rewrite(path: Path, name: str, text: str) -> None:
    """Replace what stands between the two marks called `name` in a Markdown file."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    page = path.read_text(encoding="utf-8")
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise SystemExit(f"{path} has no marks {begin} and {end}")
    path.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}", encoding="utf-8")


def arguments(description: str | None) -> argparse.ArgumentParser:
    """Return what reads a benchmark's command line; every one can write down what it found."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="rewrite the tables in docs/")
    return parser


def publish(tables: Sequence[Figures], page: str, name: str, *, write: bool, how: str = "") -> None:
    """Print tables and the machine they depend on; put both between a page's marks when asked to.

    Args:
        tables: what was measured.
        page: the file's name in docs/.
        name: of the marks.
        write: whether to change the page.
        how: a further line about the machine: the command, or what it took.
    """
    out = console()
    for table in tables:
        table.show(out)
    lines = [*machine.describe(), *([f"- {how}"] if how else [])]
    out.print("\n" + "\n".join(lines))
    if write:
        rewrite(DOCS / page, name, "\n\n".join([*(table.markdown() for table in tables), "\n".join(lines)]))
