"""The bar beside a long measurement."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from grader.reports.style import console, safe


@contextmanager
def measuring() -> Iterator[tuple[Callable[[int], None], Callable[[str, int], None]]]:
    """Show how far it is: yields what is told the number of rounds, and what is told which of them are done."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(
        BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"),
        console=console(stderr=True), transient=True,
    )  # fmt: skip
    with bar:
        task = bar.add_task("collecting", total=None)

        def start(total: int) -> None:
            bar.update(task, total=total)

        def step(text: str, done: int) -> None:
            bar.update(task, advance=done, description=safe(text) if text else None)

        yield start, step
