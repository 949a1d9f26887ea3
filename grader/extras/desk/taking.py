"""Files become answers and are graded by a process of its own: grading forks, which a server with threads must not."""

from __future__ import annotations

from collections.abc import Sequence

from grader.api import Gradebook, KataError, TakenFile, UsageError
from grader.api import take as take_here
from grader.extras.desk import process

_MODULE = "grader.extras.desk.taking"  # of the process that grades, `main`


def take(book: Gradebook, wanted: Sequence[TakenFile], author: str) -> int:
    """Decide that files are answers, wait until they are graded, and return the decision's number.

    Raises:
        UsageError: as `grading.take` does; nothing is decided then.
    """
    question = (process.BookAddress.of(book), list(wanted), author)
    number, message, hint = process.ask(_MODULE, question, tuple[int, str, str | None])
    if not number:
        raise UsageError(message, hint)
    return number


def main() -> None:
    """Do as asked; answer with the decision's number, or with what went wrong."""
    place, wanted, author = process.question(tuple[process.BookAddress, list[TakenFile], str])
    try:
        with place.open() as book:
            process.answer((take_here(book, wanted, comment="as proposed", author=author), "", None))
    except KataError as error:
        process.answer((0, error.message, error.hint))


if __name__ == "__main__":
    main()
