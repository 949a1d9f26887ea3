"""A dispute in a line that a learner sends: in the feedback with a code that only the gradebook can make."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterator, Sequence
from urllib.parse import quote, unquote

from grader.errors import UsageError
from grader.instructor.gradebook.events import Dispute, Provenance
from grader.instructor.gradebook.store import Gradebook

_START = "kata-dispute"
_LINE = re.compile(
    rf"{_START} (?P<learner>\S+) (?P<kata>\S+) (?P<attempt>[0-9]{{1,18}}) (?P<code>[0-9a-f]+):(?P<reason>.*)"
)
MOST = 20_000
"""Letters of a reason."""


def dispute_line(secret: bytes, learner: str, kata: str, attempt: int) -> str:
    """Return what a learner sends, with a reason after the colon, to dispute the mark of an attempt."""
    return f"{_START} {_word(learner)} {kata} {attempt} {_code(secret, learner, kata, attempt)}:"


def read_disputes(book: Gradebook, source: str, text: str) -> list[Dispute]:
    """Return the disputes in a text, such as a mail: each from its line to the next blank one.

    Raises:
        UsageError: a line was altered or gives no reason, or there is none.
    """
    found: list[Dispute] = []
    wrong: list[UsageError] = []
    for number, line, more in _lines(text):
        match = _LINE.search(line)
        where = f"{source}:{number}"
        learner = unquote(match["learner"]) if match else ""
        if match is None or not hmac.compare_digest(
            match["code"], _code(book.nonce, learner, match["kata"], int(match["attempt"]))
        ):
            wrong.append(
                UsageError(
                    f"{where}: this line was altered; its code is not of this gradebook.",
                    "Ask for it once more.",
                )
            )
            continue
        reason = " ".join(" ".join((match["reason"], *more)).split())[:MOST]
        if not reason:
            wrong.append(UsageError(f"{where}: {learner} gives no reason.", "It comes after the colon."))
            continue
        made = Provenance(author=learner, comment=reason)
        found.append(Dispute(learner=learner, kata=match["kata"], made=made))
    if wrong:
        raise UsageError.of_all(wrong)
    if not found:
        raise UsageError(
            f"{source}: there is no line that begins with {_START}.", "Feedback has it at each mark."
        )
    return found


def _lines(text: str) -> Iterator[tuple[int, str, Sequence[str]]]:
    """Yield the number of a line with a dispute, the line, and those that go on with it: mail programs wrap lines."""
    lines = [line.strip().removeprefix("> ").removeprefix(">") for line in text.splitlines()]
    for place, line in enumerate(lines):
        if _START in line:
            more: list[str] = []
            for after in lines[place + 1 :]:
                if not after.strip() or _START in after:
                    break
                more.append(after)
            yield place + 1, line, more


def _code(secret: bytes, learner: str, kata: str, attempt: int) -> str:
    # Prefixed, since the same secret makes other things as well.
    signed = f"dispute {_word(learner)} {kata} {attempt}"
    return hmac.new(secret, signed.encode(), hashlib.sha256).hexdigest()[:24]


def _word(learner: str) -> str:
    return quote(learner, safe="@+", errors="backslashreplace")
