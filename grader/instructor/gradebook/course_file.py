"""`course.toml` as it is written: its tables, the line of each key, every mistake at once; and changes of its text.

A change keeps comments and order; a key that is commented out is the place for its value.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from grader.data_files import read_document
from grader.errors import UsageError, did_you_mean
from grader.instructor.gradebook.times import LatePolicy
from grader.learner.workspace.tools import AiPolicy
from grader.words import typed_number

Key = tuple[str, ...]
"""Where something is: the names of tables, then of the key."""


_IDS = 'a list of IDs in quotes, such as ["9.3", "masks"]'


class Lms(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """Where the course is in Canvas or Moodle, for `kata gradebook push`."""

    address: Annotated[
        str, Meta(min_length=1, max_length=400, description="the address of the course's page, in quotes")
    ]


class MarkingRules(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """How people mark."""

    anonymous: bool = False
    """The desk shows no names with written answers until they are released."""


Attempts = Literal["newest", "best", "chosen"]


class AssignmentTable(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """`[assignments.NAME]` of the course settings, as it is written. Times are checked where the zone is known."""

    katas: Annotated[tuple[str, ...], Meta(min_length=1, description=_IDS)]
    title: Annotated[str, Meta(max_length=400, description="text in quotes: what people call it")] = ""
    due: Any = None
    closes: Any = None
    attempts: Attempts = "newest"
    late_days: (
        Annotated[int, Meta(ge=0, le=365, description="a whole number of days, from 0 to 365")] | None
    ) = None


class CourseFile(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """`course.toml`. Tables by ID and by learner are checked entry by entry, so that errors name the entry."""

    name: Annotated[str, Meta(min_length=1, max_length=400, description="text in quotes: the course's name")]
    timezone: Annotated[str, Meta(description='a time zone in quotes, such as "Europe/Berlin"')] | None = None
    katas: Annotated[tuple[str, ...], Meta(min_length=1, description=_IDS)] | None = None
    roster: Annotated[str, Meta(min_length=1, description="a CSV file's path in quotes")] | None = None
    late: LatePolicy = LatePolicy()
    ai: AiPolicy = AiPolicy()
    """For `kata start`, where the file is in a learner's workspace; no mark depends on it."""
    assignments: dict[str, AssignmentTable] = {}
    due: dict[str, Any] = {}
    points: dict[
        str, dict[str, Annotated[float, Meta(ge=0, le=1000, description="a number from 0 to 1000")]]
    ] = {}
    weights: dict[str, Any] = {}
    written: dict[str, Any] = {}
    extensions: dict[str, Any] = {}
    lms: Lms | None = None
    marking: MarkingRules = MarkingRules()
    columns: dict[
        str, Annotated[str, Meta(min_length=1, max_length=400, description="a column's title in quotes")]
    ] = {}


class CourseMistake(NamedTuple):
    """Something in the file that breaks a rule."""

    key: Key
    why: str
    hint: str | None = None


class CourseText:
    """A course file as it was read, with what breaks the types of its tables left out."""

    def __init__(self, path: Path) -> None:
        """Read a file.

        Raises:
            UsageError: it is missing, too large, or not TOML.
        """
        self.path = path
        text, document = read_document(path, UsageError)
        self.mistakes: list[CourseMistake] = []
        self.data: CourseFile = self._struct(document, CourseFile, ())
        self._lines = _lines_of_keys(text)

    def note(self, key: Key, why: str, hint: str | None = None) -> None:
        """Note a mistake."""
        self.mistakes.append(CourseMistake(key, why, hint))

    def is_wrong_in(self, table: Key) -> bool:
        """Whether something in a table was noted already."""
        return any(mistake.key[: len(table)] == table for mistake in self.mistakes)

    def refuse(self, others: Sequence[UsageError] = ()) -> None:
        """Name every mistake, in the order of lines, with its key and what is expected.

        Args:
            others: mistakes in files that this one names.

        Raises:
            UsageError: there are any.
        """
        found = sorted(self.mistakes, key=lambda mistake: self._line(mistake.key) or 0)
        errors = []
        for mistake in found:
            line = self._line(mistake.key)
            where = f"{self.path}:{line}" if line else str(self.path)
            errors.append(UsageError(f"{where}: `{key_text(mistake.key)}`: {mistake.why}", mistake.hint))
        if errors or others:
            raise UsageError.of_all([*errors, *others])

    def _line(self, key: Key) -> int | None:
        """Return the line of a key, else of the table that it is in, or should be."""
        parents = (key[:end] for end in range(len(key), 0, -1))
        return next((self._lines[parent] for parent in parents if parent in self._lines), None)

    def _struct(self, table: Mapping[str, Any], kind: Any, key: Key) -> Any:
        fields = {field.name: field for field in msgspec.structs.fields(kind)}
        types = get_type_hints(kind, include_extras=True)
        for name in table:
            if name not in fields:
                guess = did_you_mean(name, {field: f"`{field}`" for field in fields}, most=1)
                self.note((*key, name), f"is not known.{guess}", f"Allowed: {', '.join(fields)}.")
        found = {}
        for name, field in fields.items():
            value = self._value(table[name], types[name], (*key, name)) if name in table else msgspec.UNSET
            if value is not msgspec.UNSET:
                found[name] = value
            elif field.required:
                if name not in table:
                    self.note((*key, name), f"is missing ({_words(types[name])}).")
                # As nothing, so that what else is wrong can be found.
                found[name] = "" if _plain(types[name]) is str else ()
        return kind(**found)

    def _value(self, value: Any, kind: Any, key: Key) -> Any:
        """Return a value as its type has it; UNSET where it breaks the type, which is noted."""
        plain = _plain(kind)
        if plain is Any:
            return value
        is_struct = isinstance(plain, type) and issubclass(plain, msgspec.Struct)
        if is_struct or get_origin(plain) is dict:
            if not isinstance(value, dict):
                self.note(key, "must be a table.", f"Write [{key_text(key)}] above its keys.")
                return msgspec.UNSET
            if is_struct:
                return self._struct(value, plain, key)
            of = get_args(plain)[1]
            every = {name: self._value(inner, of, (*key, name)) for name, inner in value.items()}
            return {name: inner for name, inner in every.items() if inner is not msgspec.UNSET}
        try:
            return msgspec.convert(value, kind)
        except msgspec.ValidationError:
            self.note(key, f"must be {_words(kind)}{no_quotes(key[-1], value, plain in (int, float))}.")
            return msgspec.UNSET


def no_quotes(name: str, value: Any, is_number: bool) -> str:
    """Return what to write where a number is in quotes, as `"10%"`; nothing for any other value."""
    found = re.match(r"\s*(-?[0-9]+(?:[.,][0-9]+)?)", value) if is_number and isinstance(value, str) else None
    number = typed_number(found[1].replace(",", ".")) if found else None
    return "" if number is None else f", without quotes or a sign such as %: {key_of(name)} = {number:g}"


def _plain(kind: Any) -> Any:
    """Return a type without what it says besides, and without None."""
    if get_origin(kind) is Annotated:
        return _plain(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        return _plain(next(of for of in get_args(kind) if of is not NoneType))
    return kind


def _words(kind: Any) -> str:
    """Say in words what a type allows."""
    if get_origin(kind) in (Union, UnionType):
        return _words(next(of for of in get_args(kind) if of is not NoneType))
    described = [meta.description for meta in getattr(kind, "__metadata__", ()) if meta.description]
    if described:
        return str(described[0])
    plain = _plain(kind)
    if get_origin(plain) is Literal:
        return f"one of: {', '.join(get_args(plain))}"
    return {str: "text in quotes", bool: "true or false", float: "a number", int: "a whole number"}.get(
        plain, "a table"
    )


_HEADER = re.compile(r"\[\[?(?P<key>[^\]]+)\]\]?[ \t]*(?:#.*)?$")
_NAME = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
_SETTING = re.compile(rf"(?P<key>{_NAME}(?:[ \t]*\.[ \t]*{_NAME})*)[ \t]*=")


def _lines_of_keys(text: str) -> dict[Key, int]:
    """Return the lines of a TOML file's keys: of tables, and of what is at the beginning of a line."""
    found: dict[Key, int] = {}
    table: Key = ()
    for number, line in enumerate(text.splitlines(), 1):
        if head := _HEADER.match(line.strip()):
            table = _parts(head["key"])
            for end in range(1, len(table) + 1):
                found.setdefault(table[:end], number)
        elif setting := _SETTING.match(line.strip()):
            key = (*table, *_parts(setting["key"]))
            for end in range(len(table) + 1, len(key) + 1):
                found.setdefault(key[:end], number)
    return found


def _parts(key: str) -> Key:
    """Return the names in a key such as `extensions."grace hopper"`."""
    names: list[str] = []
    try:
        inner: Any = tomllib.loads(f"{key} = 0")
    except tomllib.TOMLDecodeError:  # a line of a text that only looks like one
        return (key,)
    while isinstance(inner, dict):
        ((name, inner),) = inner.items()
        names.append(name)
    return tuple(names)


def key_text(key: Key) -> str:
    """Return a key as the file has it, list places included."""
    text = ""
    for name in key:
        text += name if name.startswith("[") else f"{'.' if text else ''}{key_of(name)}"
    return text


def key_of(key: str) -> str:
    """Return a key as TOML has it, in quotes where it must be."""
    bare = key and all(letter.isascii() and (letter.isalnum() or letter in "_-") for letter in key)
    return key if bare else quoted(key)


def quoted(text: str) -> str:
    """Return text as TOML has it in quotes."""
    return msgspec.json.encode(text).decode()


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
    """Return TOML in which a key of a table has a value: in its place, in that of a comment with it, or first.

    Without a table it is a key above all of them.
    """
    line = f"{key} = {value}\n"
    head = re.search(rf"^\[{re.escape(table)}\].*\n?" if table else r"\A", text, re.MULTILINE)
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
