"""Changes of `course.toml` as text: comments and order stay, a key that is commented out is the place for its value."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime

from grader.errors import UsageError, did_you_mean
from grader.instructor.gradebook.course import key_of, quoted


def changed(
    text: str,
    times: Mapping[str, Sequence[str]],
    columns: Sequence[str] = (),
    late: str | None = None,
    others: Mapping[tuple[str, str], str] = {},
) -> str:
    """Return a course file in which something has changed.

    Args:
        text: the file, which loads.
        times: by key of an assignment, such as due, words like `week1=2026-10-12T18:00`.
        columns: words like `week1=Week 1 (501)`.
        late: percent that a day costs.
        others: values as TOML has them, by table and key.

    Raises:
        UsageError: the file has no such assignment, or a word is not what its option takes.
    """
    # The text is edited line by line, so that an instructor's comments and order stay as they are.
    there = list(tomllib.loads(text).get("assignments", {}))
    for key, words in times.items():
        for name, given in _pairs(f"--{key}", words, "week1=2026-10-12T18:00"):
            if name not in there:
                guess = did_you_mean(name, there)
                raise UsageError(
                    f"--{key} {name}={given}: the course has no assignment {name}.{guess}",
                    f"It has {', '.join(there) or 'none'}.",
                )
            text = with_value(
                text, f"assignments.{key_of(name)}", key, _time(f"--{key} {name}={given}", given)
            )
    for name, given in _pairs("--column", columns, '"week1=Week 1 (501)"'):
        text = with_value(text, "columns", key_of(name), quoted(given))
    if late is not None:
        # As people type it, `10%` or `10 %`; the file has a number.
        percent = re.fullmatch(r"(\d+(?:\.\d+)?) ?%?", late.strip(), re.ASCII)
        if percent is None:
            raise UsageError(f"--late {late}: this is not a percentage.", "Write one like 10%.")
        text = with_value(text, "late", "percent_per_day", percent[1])
    for (table, key), value in others.items():
        text = with_value(text, table, key, value)
    return text


def _pairs(option: str, words: Iterable[str], example: str) -> Iterator[tuple[str, str]]:
    for word in words:
        name, equals, given = (part.strip() for part in word.partition("="))
        if not (name and equals and given):
            raise UsageError(f"{option} {word}: this is not like {example}.")
        yield name, given


def _time(word: str, given: str) -> str:
    """Return a time as TOML has it; a day alone stays a day, because its end counts."""
    try:
        return (date if re.fullmatch(r"[\d-]+", given) else datetime).fromisoformat(given).isoformat()
    except ValueError as error:
        raise UsageError(
            f"{word}: this is not a time.",
            "Write one like 2026-10-12T18:00, or 2026-10-12 for all of that day.",
        ) from error


def with_value(text: str, table: str, key: str, value: str) -> str:
    """Return TOML in which a key of a table has a value: in its place, in that of a comment with it, or first."""
    line = f"{key} = {value}\n"
    head = re.search(rf"^\[{re.escape(table)}\].*\n?", text, re.MULTILINE)
    if head is None:
        return f"{text.rstrip()}\n\n[{table}]\n{line}"
    end = re.search(r"^\[", text[head.end() :], re.MULTILINE)
    until = len(text) if end is None else head.end() + end.start()
    before, body, after = text[: head.end()], text[head.end() : until], text[until:]
    for mark in ("", "# *"):
        body, found = re.subn(
            rf"^{mark}{re.escape(key)} *=.*\n?", lambda _: line, body, count=1, flags=re.MULTILINE
        )
        if found:
            return before + body + after
    return before + line + body + after
