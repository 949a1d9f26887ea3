"""Course settings: what `course.toml` and the roster mean for one learner and one kata."""

from __future__ import annotations

import re
import zoneinfo
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, tzinfo
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec
from msgspec import Meta

from grader.catalogue import Catalogue
from grader.errors import UsageError, did_you_mean
from grader.instructor.gradebook.course_file import Attempts, CourseText, Key, key_of, key_text, no_quotes
from grader.instructor.gradebook.database import Address
from grader.instructor.gradebook.events import Decision, Extend
from grader.instructor.gradebook.roster import Person, normalized_name, read_roster
from grader.instructor.gradebook.row_types import Mark
from grader.instructor.gradebook.times import LatePolicy, add_days, due_in_utc

COURSE_FILE = "course.toml"
_Days = Annotated[float, Meta(ge=0, le=3650)]
_Weight = Annotated[float, Meta(ge=0, le=1000)]

Value = TypeVar("Value")
_ID = 'an ID is a number in quotes ("9.3", "9.3.2") or a name (masks)'


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
    points: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """What checks are worth, by slug, then by check or aspect: see `check_points`."""
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
            UsageError: something in it is wrong: all of it, with lines, keys and what is allowed.
        """
        return _Reader(path, catalogue).course()

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
    """Resolves a course file against the catalogue; what is wrong in it is noted, and named all at once."""

    def __init__(self, path: Path, catalogue: Catalogue) -> None:
        self._path = path
        self._text = CourseText(path)
        self._data = self._text.data
        self._catalogue = catalogue
        self._others: list[UsageError] = []
        """Mistakes in the roster."""
        self._assignments: dict[str, Assignment] = {}
        self._zone = self._read_zone()
        self._roster = self._read_roster()

    def course(self) -> Course:
        """Return the course.

        Raises:
            UsageError: something in it is wrong: all of it, each with its line, its key and what is expected.
        """
        data = self._data
        self._read_assignments()
        due = dict(self._by_kata(("due",), data.due, self._moment))
        for assignment in self._assignments.values():
            # Refused, not ordered: of two due times for one kata nobody could say later which one counted.
            for slug in assignment.katas if assignment.due is not None else ():
                if slug in due:
                    self._wrong(
                        ("assignments", assignment.name, "due"),
                        f"[due] also names a time for {slug}.",
                        "Leave one of them out.",
                    )
            due |= dict.fromkeys(assignment.katas, assignment.due) if assignment.due is not None else {}
        course = Course(
            name=data.name,
            katas=self._katas(),
            roster=self._roster,
            assignments=self._assignments,
            due=due,
            late=data.late,
            extensions=dict(self._extensions()),
            points=dict(self._points()),
            weights=dict(self._by_kata(("weights",), data.weights, self._weight)),
            written=dict(self._by_kata(("written",), data.written, self._weight)),
            columns=dict(self._columns()),
            anonymous=data.marking.anonymous,
            lms=data.lms.address if data.lms is not None else "",
            timezone=self._zone or UTC,
            path=self._path,
        )
        self._text.refuse(self._others)
        return course

    def _read_zone(self) -> tzinfo | None:
        name = self._data.timezone
        if name is None:
            return None
        try:
            return zoneinfo.ZoneInfo(name)
        except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
            guess = did_you_mean(name, zoneinfo.available_timezones(), most=1)
            self._wrong(
                ("timezone",), f"there is no time zone {name}.{guess}", "For example Europe/Berlin or UTC."
            )
            return UTC  # so that times are not wrong as well

    def _read_roster(self) -> Mapping[str, Person]:
        if not self._data.roster:
            return {}
        path = self._path.parent / self._data.roster
        if not path.exists():
            self._wrong(("roster",), f"there is no file {path}.", "Create it, or correct the name.")
            return {}
        try:
            return read_roster(path)
        except UsageError as error:
            self._others.append(error)
            return {}

    def _read_assignments(self) -> None:
        taken: dict[str, str] = {}
        for name, table in self._data.assignments.items():
            key = ("assignments", name)
            if not name.strip():
                self._wrong(key, "an assignment must have a name.", "For example [assignments.week1].")
            katas = self._in_order(self._listed((*key, "katas"), table.katas))
            for slug in katas:
                if (other := taken.setdefault(slug, name)) != name:
                    self._wrong(
                        (*key, "katas"),
                        f"{slug} is already in assignments.{key_of(other)}.",
                        "Leave one out.",
                    )
            due = None if table.due is None else self._moment((*key, "due"), table.due)
            closes = None if table.closes is None else self._moment((*key, "closes"), table.closes)
            if due is not None and closes is not None and closes < due:
                self._wrong(
                    (*key, "closes"),
                    "is before `due`.",
                    "What comes in after `closes` does not count, so it must not be before `due`.",
                )
            self._assignments[name] = Assignment(
                name, katas, table.title, due, closes, table.attempts, table.late_days
            )

    def _katas(self) -> tuple[str, ...] | None:
        if self._data.katas is not None:
            return self._in_order(self._listed(("katas",), self._data.katas))
        given = {slug for assignment in self._assignments.values() for slug in assignment.katas}
        return self._in_order(given) if self._assignments else None

    def _listed(self, key: Key, texts: Iterable[str]) -> set[str]:
        return {
            slug for place, text in enumerate(texts) for slug in self._resolve((*key, f"[{place}]"), text)
        }

    def _in_order(self, slugs: Collection[str]) -> tuple[str, ...]:
        return tuple(kata.slug for kata in self._catalogue.katas if kata.slug in slugs)

    def _by_kata(
        self, table: Key, entries: Mapping[str, Any], read: Callable[[Key, Any], Value | None]
    ) -> Iterator[tuple[str, Value]]:
        """Yield a value for each kata that a table by ID covers; what names fewer katas is more specific and wins."""
        best: dict[str, tuple[int, str]] = {}
        values: dict[str, Value] = {}
        for text, entry in entries.items():
            key = (*table, text)
            if isinstance(entry, dict):
                example = f'"{text}.{next(iter(entry), 3)}" = …'
                self._wrong(key, "is a table here; an ID with dots must be in quotes.", f"Write {example}")
                continue
            value, slugs = read(key, entry), self._resolve(key, text)
            for slug in slugs if value is not None else ():
                size, other = best.get(slug, (len(self._catalogue.katas) + 1, ""))
                if size == len(slugs):
                    self._wrong(key, f"{slug} is already covered by {other}.", "Leave one out.")
                if len(slugs) < size and value is not None:
                    best[slug], values[slug] = (len(slugs), key_text(key)), value
        yield from values.items()

    def _columns(self) -> Iterator[tuple[str, str]]:
        for text, title in self._data.columns.items():
            if text in self._assignments:
                yield text, title
                continue
            slugs = self._resolve(("columns", text), text)
            if len(slugs) > 1:
                self._wrong(
                    ("columns", text), "names several katas.", "Name an assignment of this file, or one kata."
                )
            elif slugs:
                yield slugs[0], title

    def _points(self) -> Iterator[tuple[str, Mapping[str, float]]]:
        for text, table in self._data.points.items():
            slugs = self._resolve(("points", text), text)
            if len(slugs) > 1:
                self._wrong(("points", text), "names several katas.", "Each kata has checks of its own.")
            elif slugs and not table and not self._text.is_wrong_in(("points", text)):
                self._wrong(("points", text), "names no check.", "For example: values = 4")
            elif slugs:
                yield slugs[0], table

    def _extensions(self) -> Iterator[tuple[tuple[str, str | None], float | datetime]]:
        known = {normalized_name(name) for name in self._roster}
        for learner, entry in self._data.extensions.items():
            key, who = ("extensions", learner), normalized_name(learner)
            if self._roster and who not in known:
                self._wrong(key, f"the roster has no learner {learner}.{self._guess(learner)}")
            elif isinstance(entry, dict):
                more: Iterator[tuple[str, float | datetime]] = self._by_kata(key, entry, self._days_or_until)
                yield from (((who, slug), days) for slug, days in more)
            elif (days_ := self._days(key, entry)) is not None:
                yield (who, None), days_

    def _guess(self, name: str) -> str:
        """Return whom a name may mean that is not an identity: who is called so, else whose identity is like it."""
        same = [
            learner for learner, person in self._roster.items() if person.name.casefold() == name.casefold()
        ]
        if len(same) > 1:
            return f" {len(same)} are called so: {', '.join(same)}."
        return f" Did you mean {same[0]}?" if same else did_you_mean(name, list(self._roster), most=1)

    def _moment(self, key: Key, value: object) -> datetime | None:
        if not isinstance(value, date):
            self._wrong(key, "must be a date or a time, without quotes.", "For example 2026-10-15T23:59:00.")
        # Not the machine's zone: the same course would be due at another time on a server.
        elif self._zone is None and (not isinstance(value, datetime) or value.tzinfo is None):
            self._wrong(
                key,
                "is a local time, and no time zone is given.",
                'Add the key `timezone`, such as timezone = "Europe/Berlin", above the first table; or write a zone: '
                "2026-10-15T23:59:00+02:00.",
            )
        else:
            try:
                return due_in_utc(value, self._zone or UTC)
            except (OverflowError, ValueError):
                self._wrong(key, "is too far in the past or the future.", "For example 2026-10-15T23:59:00.")
        return None

    def _days_or_until(self, key: Key, value: object) -> float | datetime | None:
        return self._moment(key, value) if isinstance(value, date) else self._days(key, value)

    def _days(self, key: Key, value: object) -> float | None:
        return self._number(key, value, _Days, "a number of days from 0 to 3650")

    def _weight(self, key: Key, value: object) -> float | None:
        return self._number(key, value, _Weight, "a number from 0 to 1000")

    def _number(self, key: Key, value: object, kind: Any, what: str) -> float | None:
        # Entry by entry: of a whole table msgspec would not say in which of its keys the wrong number is.
        try:
            return float(msgspec.convert(value, kind))
        except msgspec.ValidationError:
            self._wrong(key, f"must be {what}{no_quotes(key[-1], value, True)}.")
            return None

    def _resolve(self, key: Key, text: str) -> list[str]:
        """Return the katas of an assignment of this file or of an ID; none where it is neither, which is noted."""
        in_assignment = key[0] == "assignments"
        if text in self._data.assignments and not in_assignment:
            return list(self._assignments[text].katas)
        try:
            return [kata.slug for kata in self._catalogue.resolve(text)]
        except UsageError as error:
            there, guess = (
                list(self._data.assignments),
                did_you_mean(text, list(self._data.assignments), most=1),
            )
            also = f" The assignments are {', '.join(there)}.{guess}" if there and not in_assignment else ""
            self._wrong(key, f"{error.message}{also}", f"Here, {_ID}. See what there is: kata list")
            return []

    def _wrong(self, key: Key, why: str, hint: str | None = None) -> None:
        self._text.note(key, why, hint)


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
