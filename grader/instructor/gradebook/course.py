"""Course settings: `course.toml`, read and checked, and changed as text; what they mean for one learner and one kata.

A change keeps comments and order; a key that is commented out is the place for its value.
"""

from __future__ import annotations

import re
import tomllib
import zoneinfo
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, tzinfo
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta

from grader.catalogue import Catalogue
from grader.data_files import read_data
from grader.errors import UsageError, did_you_mean
from grader.instructor.gradebook.database import Address
from grader.instructor.gradebook.events import Decision, Extend
from grader.instructor.gradebook.roster import Person, normalized_name, read_roster
from grader.instructor.gradebook.row_types import Mark
from grader.instructor.gradebook.times import LatePolicy, add_days, due_in_utc
from grader.learner.workspace.tools import AiPolicy

COURSE_FILE = "course.toml"
_Days = Annotated[float, Meta(ge=0, le=3650)]
_Weight = Annotated[float, Meta(ge=0, le=1000)]

_ID = 'an ID is a number in quotes ("9.3", "9.3.2") or a name (masks)'


class Lms(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """Where the course is in Canvas or Moodle, for `kata gradebook push`."""

    address: Annotated[
        str, Meta(min_length=1, max_length=400, description="the address of the course's page")
    ]


class MarkingRules(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """How people mark."""

    anonymous: bool = False
    """The desk shows no names with written answers until they are released."""


Attempts = Literal["newest", "best", "chosen"]


class AssignmentTable(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """`[assignments.NAME]` of the course settings, as it is written. Times are checked where the zone is known."""

    katas: Annotated[tuple[str, ...], Meta(min_length=1, description="a list of IDs")]
    title: Annotated[str, Meta(max_length=400, description="what people call it")] = ""
    due: Any = None
    closes: Any = None
    attempts: Attempts = "newest"
    late_days: Annotated[int, Meta(ge=0, le=365, description="days, from 0 to 365")] | None = None


@dataclass(frozen=True)
class Assignment:
    """One of a course's assignments, with every ID resolved to katas."""

    name: str
    katas: tuple[str, ...]
    """By slug, in the catalogue's order."""
    title: str = ""
    due: datetime | None = None
    """In UTC; None: never late."""
    closes: datetime | None = None
    """In UTC: what comes in later does not count; None: it stays open."""
    attempts: Attempts = "newest"
    late_days: int | None = None
    """At most so many of a learner's late days may be used for it; None: as many as are left."""


class CourseFile(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """`course.toml`. Tables by ID and by learner are checked entry by entry, so that errors name the entry."""

    name: Annotated[str, Meta(min_length=1, max_length=400, description="the course's name, a sentence")]
    timezone: Annotated[str, Meta(description="a time zone's name, such as Europe/Berlin")] | None = None
    katas: Annotated[tuple[str, ...], Meta(min_length=1, description="a list of IDs")] | None = None
    roster: Annotated[str, Meta(min_length=1, description="a CSV file's path")] | None = None
    late: LatePolicy = LatePolicy()
    ai: AiPolicy = AiPolicy()
    """For `kata start`, where the file is in a learner's workspace; no mark depends on it."""
    assignments: dict[str, AssignmentTable] = {}
    due: dict[str, Any] = {}
    weights: dict[str, Any] = {}
    written: dict[str, Any] = {}
    extensions: dict[str, Any] = {}
    lms: Lms | None = None
    marking: MarkingRules = MarkingRules()
    columns: dict[
        str, Annotated[str, Meta(min_length=1, max_length=400, description="a column's title")]
    ] = {}


@dataclass(frozen=True)
class Course:
    """A course's settings, with every ID resolved to katas."""

    name: str = ""
    katas: tuple[str, ...] | None = None
    """The katas that are graded, by slug, in order; None means all."""
    roster: Mapping[str, Person] = field(default_factory=dict)
    """Who is in the class, by learner, in the roster's order."""
    assignments: Mapping[str, Assignment] = field(default_factory=dict)
    """By name, in the file's order; no kata is in two of them."""
    due: Mapping[str, datetime] = field(default_factory=dict)
    """By slug, in UTC; an assignment's holds for its katas."""
    late: LatePolicy = field(default_factory=LatePolicy)
    extensions: Mapping[tuple[str, str | None], float | datetime] = field(default_factory=dict)
    """Days, or until when, by learner and slug; without a slug for every kata that has no entry of its own."""
    weights: Mapping[str, float] = field(default_factory=dict)
    written: Mapping[str, float] = field(default_factory=dict)
    """How much written answers count, by slug; as much as the kata otherwise."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """What assignments and katas, by name and by slug, are called in the grade table of the class's system."""
    anonymous: bool = False
    """Written answers are marked without names."""
    lms: str = ""
    """The address of the course's page in Canvas or Moodle."""
    timezone: tzinfo = UTC
    path: Path | None = None
    """The file; None when there is none."""

    @classmethod
    def find(cls, gradebook: str, file: Path | None, catalogue: Catalogue) -> Course:
        """Read `file`, or the `course.toml` next to the gradebook (for one on a server: in this folder), if any.

        Raises:
            UsageError: as `load`.
        """
        if file is not None:
            return cls.load(file, catalogue)
        book_file = Address.parse(gradebook).file
        path = (book_file.parent if book_file is not None else Path()) / COURSE_FILE
        return cls.load(path, catalogue) if path.exists() else cls()

    @classmethod
    def load(cls, path: Path, catalogue: Catalogue) -> Course:
        """Read course settings and the roster they name.

        Raises:
            UsageError: something in it is wrong: the file, the key, and what is allowed.
        """
        return _Reader(path, read_data(path, CourseFile, UsageError), catalogue).course()

    def person(self, learner: str) -> Person | None:
        """Return a learner's line in the roster."""
        return self._people.get(normalized_name(learner))

    @cached_property
    def _people(self) -> dict[str, Person]:
        return {normalized_name(learner): person for learner, person in self.roster.items()}

    @cached_property
    def sections(self) -> dict[str, list[str]]:
        """Return the learners of each section. Of two sections, Canvas writes `A and B`: somebody is in both."""
        cells = {person.section for person in self.roster.values()} - {""}
        found: dict[str, list[str]] = {}
        for person in self.roster.values():
            parts = re.split(r",? and |, ", person.section)
            # `Arts and Crafts` is one section, unless there are two of these names.
            for section in parts if cells.issuperset(parts) else [person.section]:
                if section:
                    found.setdefault(section, []).append(person.learner)
        return dict(sorted(found.items()))

    def section_called(self, text: str) -> str:
        """Return the section that a person means: by its name, or words of it where these are in no other's.

        Raises:
            UsageError: there is none, or several are meant.
        """
        words = set(text.casefold().split())
        found = [name for name in self.sections if words and words <= set(name.casefold().split())]
        if text in self.sections or len(found) == 1:
            return text if text in self.sections else found[0]
        there = ", ".join(found or self.sections) or "none"
        which = "several sections are called so" if found else "the roster has no such section"
        raise UsageError(f"--section {text}: {which} (there is {there}).")

    def name_of(self, learner: str) -> str:
        """Return how a learner is shown: the roster's name, else the identity."""
        person = self.person(learner)
        return person.name if person is not None and person.name else learner

    def normalized_name(self, learner: str) -> str:
        """Return what two spellings of one identity share."""
        return normalized_name(learner)

    def weight(self, kata: str) -> float:
        """Return how much a kata counts in a total; 1 unless the course says otherwise."""
        return self.weights.get(kata, 1.0)

    def written_weight(self, kata: str) -> float:
        """Return how much a kata's written answers count in a total; as much as the kata by default."""
        return self.written.get(kata, self.weight(kata))

    def assignment_of(self, kata: str) -> Assignment | None:
        """Return the assignment that a kata belongs to."""
        return self._by_kata.get(kata)

    @cached_property
    def _by_kata(self) -> dict[str, Assignment]:
        return {kata: assignment for assignment in self.assignments.values() for kata in assignment.katas}

    def due_for(self, learner: str, kata: str, rulings: Collection[Decision] = ()) -> datetime | None:
        """Return when a kata is due for a learner, extensions included, in UTC; None when it never is."""
        return self._moved(self.due.get(kata), learner, kata, rulings)

    def closes_for(self, learner: str, kata: str, rulings: Collection[Decision] = ()) -> datetime | None:
        """Return when a kata's assignment closes for a learner, in UTC; moved by extensions as the due time is."""
        assignment = self.assignment_of(kata)
        return None if assignment is None else self._moved(assignment.closes, learner, kata, rulings)

    def _moved(
        self, time: datetime | None, learner: str, kata: str, rulings: Collection[Decision]
    ) -> datetime | None:
        if time is None:
            return None
        who = normalized_name(learner)
        more = self.extensions.get((who, kata), self.extensions.get((who, None), 0.0))
        # What people decided meanwhile is in the gradebook, and overrides what the file says.
        for ruling in rulings:
            if isinstance(ruling, Extend) and self.covers(ruling.of, kata):
                more = ruling.days
        if isinstance(more, datetime):
            return max(time, more)
        return add_days(time, more, self.timezone) if more else time

    def covers(self, name: str, kata: str) -> bool:
        """Whether a kata is meant by an assignment's name, a slug, or by nothing at all, which means every kata."""
        assignment = self.assignment_of(kata)
        return name in ("", kata) or (assignment is not None and assignment.name == name)

    def is_timed(self, name: str) -> bool:
        """Whether anything that a name covers, as `covers` has it, is due or closes."""
        closing = {
            kata
            for assignment in self.assignments.values()
            if assignment.closes is not None
            for kata in assignment.katas
        }
        return any(self.covers(name, kata) for kata in {*self.due, *closing})


class _Reader:
    """Resolves a course file against the catalogue; every error names file and key."""

    def __init__(self, path: Path, data: CourseFile, catalogue: Catalogue) -> None:
        self._path = path
        self._data = data
        self._catalogue = catalogue
        self._zone = self._read_zone()
        self._roster = read_roster(path.parent / data.roster) if data.roster else {}
        self._assignments = dict(self._read_assignments())

    def course(self) -> Course:
        data = self._data
        due = dict(self._by_kata("due", data.due, self._moment))
        for assignment in self._assignments.values():
            # Refused, not ordered: of two due times for one kata nobody could say later which one counted.
            for slug in assignment.katas if assignment.due is not None else ():
                if slug in due:
                    raise self._wrong(
                        f"assignments.{key_of(assignment.name)}.due",
                        f"[due] also names a time for {slug}.",
                        "Leave one of them out.",
                    )
            due |= dict.fromkeys(assignment.katas, assignment.due) if assignment.due is not None else {}
        return Course(
            name=data.name,
            katas=self._katas(),
            roster=self._roster,
            assignments=self._assignments,
            due=due,
            late=data.late,
            extensions=dict(self._extensions()),
            weights=dict(self._by_kata("weights", data.weights, self._weight)),
            written=dict(self._by_kata("written", data.written, self._weight)),
            columns=dict(self._columns()),
            anonymous=data.marking.anonymous,
            lms=data.lms.address if data.lms is not None else "",
            timezone=self._zone or UTC,
            path=self._path,
        )

    def _read_zone(self) -> tzinfo | None:
        name = self._data.timezone
        if name is None:
            return None
        try:
            return zoneinfo.ZoneInfo(name)
        except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as error:
            guess = did_you_mean(name, zoneinfo.available_timezones(), most=1)
            raise self._wrong(
                "timezone", f"there is no time zone {name}.{guess}", "For example Europe/Berlin or UTC."
            ) from error

    def _read_assignments(self) -> Iterator[tuple[str, Assignment]]:
        taken: dict[str, str] = {}
        for name, table in self._data.assignments.items():
            key = f"assignments.{key_of(name)}"
            if not name.strip():
                raise self._wrong(key, "an assignment must have a name.", "For example [assignments.week1].")
            katas = self._in_order(self._listed(f"{key}.katas", table.katas))
            for slug in katas:
                if slug in taken:
                    raise self._wrong(
                        f"{key}.katas",
                        f"{slug} is already in assignments.{key_of(taken[slug])}.",
                        "Leave one out.",
                    )
                taken[slug] = name
            due = None if table.due is None else self._moment(f"{key}.due", table.due)
            closes = None if table.closes is None else self._moment(f"{key}.closes", table.closes)
            if due is not None and closes is not None and closes < due:
                raise self._wrong(
                    f"{key}.closes",
                    "is before `due`.",
                    "What comes in after `closes` does not count, so it must not be before `due`.",
                )
            yield name, Assignment(name, katas, table.title, due, closes, table.attempts, table.late_days)

    def _katas(self) -> tuple[str, ...] | None:
        if self._data.katas is not None:
            return self._in_order(self._listed("katas", self._data.katas))
        given = {slug for assignment in self._assignments.values() for slug in assignment.katas}
        return self._in_order(given) if self._assignments else None

    def _listed(self, key: str, texts: Iterable[str]) -> set[str]:
        return {slug for place, text in enumerate(texts) for slug in self._resolve(f"{key}[{place}]", text)}

    def _in_order(self, slugs: Collection[str]) -> tuple[str, ...]:
        return tuple(kata.slug for kata in self._catalogue.katas if kata.slug in slugs)

    def _by_kata(self, table: str, entries: Mapping[str, Any], read: Any) -> Iterator[tuple[str, Any]]:
        """Yield a value for each kata that a table by ID covers; what names fewer katas is more specific and wins."""
        best: dict[str, tuple[int, str]] = {}
        values: dict[str, Any] = {}
        for text, entry in entries.items():
            key = f"{table}.{key_of(text)}"
            if isinstance(entry, dict):
                example = f'"{text}.{next(iter(entry), 3)}" = …'
                raise self._wrong(
                    key, "is a table here; an ID with dots must be in quotes.", f"Write {example}"
                )
            value, slugs = read(key, entry), self._resolve(key, text)
            for slug in slugs:
                size, other = best.get(slug, (len(self._catalogue.katas) + 1, ""))
                if size == len(slugs):
                    raise self._wrong(key, f"{slug} is already covered by {other}.", "Leave one out.")
                if len(slugs) < size:
                    best[slug], values[slug] = (len(slugs), key), value
        yield from values.items()

    def _columns(self) -> Iterator[tuple[str, str]]:
        for text, title in self._data.columns.items():
            if text in self._assignments:
                yield text, title
                continue
            key = f"columns.{key_of(text)}"
            slugs = self._resolve(key, text)
            if len(slugs) > 1:
                raise self._wrong(
                    key, "names several katas.", "Name an assignment of this file, or one kata."
                )
            yield slugs[0], title

    def _extensions(self) -> Iterator[tuple[tuple[str, str | None], float | datetime]]:
        for learner, entry in self._data.extensions.items():
            key = f"extensions.{key_of(learner)}"
            who = normalized_name(learner)
            if self._roster and who not in {normalized_name(name) for name in self._roster}:
                guess = did_you_mean(learner, list(self._roster), most=1)
                raise self._wrong(key, f"the roster has no learner {learner}.{guess}")
            if not isinstance(entry, dict):
                yield (who, None), self._days(key, entry)
                continue
            for slug, days in self._by_kata(key, entry, self._days_or_until):
                yield (who, slug), days

    def _moment(self, key: str, value: object) -> datetime:
        if not isinstance(value, date):
            raise self._wrong(
                key, "must be a date or a time, without quotes.", "For example 2026-10-15T23:59:00."
            )
        # Not the machine's zone: the same course would be due at another time on a server.
        if self._zone is None and (not isinstance(value, datetime) or value.tzinfo is None):
            raise self._wrong(
                key,
                "is a local time, and no time zone is given.",
                'Add the key `timezone`, such as timezone = "Europe/Berlin", above the first table; or write a zone: '
                "2026-10-15T23:59:00+02:00.",
            )
        try:
            return due_in_utc(value, self._zone or UTC)
        except (OverflowError, ValueError) as error:
            raise self._wrong(
                key, "is too far in the past or the future.", "For example 2026-10-15T23:59:00."
            ) from error

    def _days_or_until(self, key: str, value: object) -> float | datetime:
        return self._moment(key, value) if isinstance(value, date) else self._days(key, value)

    def _days(self, key: str, value: object) -> float:
        return self._number(key, value, _Days, "a number of days from 0 to 3650")

    def _weight(self, key: str, value: object) -> float:
        return self._number(key, value, _Weight, "a number from 0 to 1000")

    def _number(self, key: str, value: object, kind: Any, what: str) -> float:
        # Entry by entry: of a whole table msgspec would not say in which of its keys the wrong number is.
        try:
            return float(msgspec.convert(value, kind))
        except msgspec.ValidationError as error:
            raise self._wrong(key, f"must be {what}.") from error

    def _resolve(self, key: str, text: str) -> list[str]:
        own: dict[str, Assignment] = getattr(self, "_assignments", {})
        if text in own and not key.startswith("assignments."):
            return list(own[text].katas)
        try:
            return [kata.slug for kata in self._catalogue.resolve(text)]
        except UsageError as error:
            raise self._wrong(key, error.message, f"Here, {_ID}. See what there is: kata list") from error

    def _wrong(self, key: str, why: str, hint: str | None = None) -> UsageError:
        return UsageError(f"{self._path}: `{key}`: {why}", hint)


def key_of(key: str) -> str:
    """Return a key as TOML has it, in quotes where it must be."""
    bare = key and all(letter.isascii() and (letter.isalnum() or letter in "_-") for letter in key)
    return key if bare else quoted(key)


def quoted(text: str) -> str:
    """Return text as TOML has it in quotes."""
    return msgspec.json.encode(text).decode()


class Total(NamedTuple):
    """What somebody has in all: the same for instructor and learner, on every page and in every file."""

    score: float
    most: float
    waiting: int = 0
    """Written answers that are released and not marked yet."""
    open: float = 0.0
    """How much of `most` is theirs, and that of `ungraded`."""
    ungraded: int = 0
    """Katas that are not graded yet."""

    @property
    def waits(self) -> bool:
        """Whether it is going to change: then it is not a total yet."""
        return bool(self.waiting or self.ungraded)

    @property
    def part(self) -> float:
        """The score as a part of what is marked."""
        return self.score / (self.most - self.open) if self.most > self.open else 0.0


def total(rows: Iterable[Mark], course: Course) -> Total:
    """Return what one learner's rows or marks come to, katas and written answers weighed as the course says."""
    own = [(row, course.weight(row.kata)) for row in rows]
    written = written_total((row for row, _ in own), course)
    return written._replace(
        score=written.score + sum(weight * row.score for row, weight in own),
        most=written.most + sum(weight * row.max_score for row, weight in own),
        open=written.open + sum(weight * row.max_score for row, weight in own if not row.graded),
        ungraded=sum(not row.graded for row, _ in own),
    )


def written_total(rows: Iterable[Mark], course: Course, *, every: bool = False) -> Total:
    """Return what the released written answers among a learner's rows or marks come to, or all that are there."""
    found = Total(0.0, 0.0)
    for row in rows:
        if (part := row.written) is not None and (every or part.released):
            weight = course.written_weight(row.kata)
            found = Total(
                found.score + weight * part.score,
                found.most + weight * part.max_score,
                found.waiting + len(part.unmarked),
                found.open + weight * part.open,
            )
    return found


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
