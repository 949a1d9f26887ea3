"""What the pages show, read from the gradebook. Nothing is written here."""

from __future__ import annotations

import difflib
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any, NamedTuple, TypeVar, get_args
from urllib.parse import urlencode

import msgspec
from markupsafe import Markup

from grader.errors import UsageError
from grader.gradebook.course import Course, total
from grader.gradebook.records import HistoryEvent, Mark, Row, Ruling, RulingKind
from grader.gradebook.said import Thread, threads
from grader.gradebook.store import Gradebook
from grader.pages import Lessons, text
from grader.pages.code import MAX_LINES, code_lines
from grader.pages.view import KataView, Viewer, when
from grader.reports.report import KataStatus
from grader.reports.style import LOOKS
from grader.submissions.as_text import text_of
from grader.submissions.submission import Bundle
from grader.words import whole_number

FRESH_S = 0.5
"""So long the class is not looked at again: all parts of a page see one state."""
ON_A_PAGE = 100
"""Learners that a page of the class lists."""
LOGGED = 200
"""Decisions that the log shows."""
MOST_FILES = 50
SAID: tuple[RulingKind, ...] = ("remark", "dispute", "answer", "close", "assign", "reviewed")
"""Kinds of rulings that the desk writes about a hand-in."""

ONLY = {
    "": "all",
    "unread": "not looked through",
    "mine": "mine to mark",
    "disputed": "with an open dispute",
    "late": "late",
    "changed": "changed by lateness or a person",
}


@dataclass(frozen=True)
class Filter:
    """What of the class is looked at; every link of a page carries it on."""

    assignment: str = ""
    kata: str = ""
    status: str = ""
    section: str = ""
    find: str = ""
    only: str = ""
    page: int = 1

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Filter:
        """Read it from an address; what makes no sense is left out."""
        number = whole_number(given.get("page", "")) or 1
        words = {one.name: given.get(one.name, "")[:200] for one in fields(cls) if one.name != "page"}
        return cls(**words, page=number)

    def query(self, **changes: Any) -> str:
        """Return it as the end of an address, with changes; other names are added."""
        own = {name: value for name, value in changes.items() if name in self.__dataclass_fields__}
        new = replace(self, **own)
        kept = {one.name: getattr(new, one.name) for one in fields(self)}
        kept = {name: value for name, value in kept.items() if value and (name, value) != ("page", 1)}
        others = {name: value for name, value in changes.items() if name not in own and value is not None}
        return urlencode({**others, **kept}, errors="backslashreplace")

    @property
    def narrow(self) -> bool:
        """Whether it leaves anybody out."""
        return any((self.status, self.section, self.find, self.only))


class Said(NamedTuple):
    """What stands of what people said about hand-ins, by learner and kata."""

    disputed: dict[tuple[str, str], Ruling]
    """Open disputes."""
    markers: dict[tuple[str, str], str]
    reviewed: dict[tuple[str, str], int]
    """The attempt that somebody looked through."""


class EverybodysMarks:
    """Everybody's marks, as lists show them; of those about whom something has changed they are read again."""

    def __init__(self, book: Gradebook) -> None:
        self._book = book
        self._state: tuple[int, ...] = ()
        self._stamps: dict[str, int] = {}
        self._marks: dict[str, dict[str, Mark]] = {}
        self._said = Said({}, {}, {})
        self._guard = threading.Lock()
        self._looked = -FRESH_S

    def look_again(self) -> None:
        """Forget how fresh the marks are: something was written."""
        self._looked = -FRESH_S

    def marks(self) -> tuple[dict[str, dict[str, Mark]], Said]:
        """Return marks by learner and kata, in the gradebook's order, and what was said about them."""
        with self._guard:
            if time.monotonic() - self._looked < FRESH_S:
                return self._marks, self._said
            self._looked = time.monotonic()
            # States and stamps are read first: what is written meanwhile is read again the next time.
            state = self._book.state()
            if state != self._state:
                self._read_again(self._book.stamps())
                self._state = state
            return self._marks, self._said

    def _read_again(self, stamps: Mapping[str, int]) -> None:
        changed = {name for name, stamp in stamps.items() if self._stamps.get(name) != stamp}
        some = changed if 2 * len(changed) < len(stamps) else None
        fresh: dict[str, dict[str, Mark]] = {}
        if changed:
            for mark in self._book.marks(some):
                fresh.setdefault(mark.learner, {})[mark.kata] = mark
            about = said(self._book.rulings(SAID, some), self._book.identity())
            kept: Collection[str] = () if some is None else stamps.keys() - changed
            self._said = Said(
                _joined(self._said.disputed, about.disputed, kept),
                _joined(self._said.markers, about.markers, kept),
                _joined(self._said.reviewed, about.reviewed, kept),
            )
        self._marks = {name: fresh.get(name, self._marks.get(name, {})) for name in stamps}
        self._stamps = dict(stamps)

    def state(self, kata: str) -> int:
        """Return a number that is another one when something of a kata was handed in or graded since."""
        marks, _ = self.marks()
        return hash(tuple(own[kata].attempt for own in marks.values() if kata in own))


Value = TypeVar("Value")
Of = tuple[str, str]
"""Learner and kata."""


def _joined(old: dict[Of, Value], new: dict[Of, Value], kept: Collection[str]) -> dict[Of, Value]:
    return {key: value for key, value in old.items() if key[0] in kept} | new


def said(rulings: Iterable[Ruling], identity: Callable[[str], str]) -> Said:
    """Return what stands of disputes, who marks what, and what was looked through."""
    disputed: dict[int, tuple[tuple[str, str], Ruling]] = {}
    markers, reviewed = dict[tuple[str, str], str](), dict[tuple[str, str], int]()
    for one in rulings:
        if one.revoked or one.kata is None:
            continue
        key = identity(one.learner), one.kata
        if one.kind == "dispute":
            disputed[one.id] = key, one
        elif one.kind == "close":
            disputed.pop(one.value, None)
        elif one.kind == "assign":
            markers[key] = one.value
        elif one.kind == "reviewed":
            reviewed[key] = one.value
    return Said(dict(disputed.values()), markers, reviewed)


# The class


@dataclass(frozen=True)
class ClassLine:
    """A learner in the list of the class."""

    learner: str
    name: str
    section: str
    score: float
    max_score: float
    cells: list[ClassCell]
    namesake: bool = False
    """Somebody else is called so, too."""
    stranger: bool = False
    """The roster does not know them."""


@dataclass(frozen=True)
class ClassCell:
    """One mark in it."""

    mark: Mark
    disputed: bool
    marker: str
    read: bool


def _free(cell: ClassCell) -> bool:
    """Return whether it was handed in, is nobody's to mark, and nobody has looked it through."""
    return cell.mark.handed_in and not cell.marker and not cell.read


class FilterChoice(NamedTuple):
    """Something to filter by."""

    name: str
    label: str
    options: list[tuple[str, str]]
    """Value and word."""


@dataclass(frozen=True)
class Overview:
    """An assignment, or a kata that is in none."""

    title: str
    query: str
    due: str | None
    figures: dict[str, int]


@dataclass(frozen=True)
class ClassPage:
    """A page of the list of the class."""

    lines: list[ClassLine]
    katas: list[str]
    learners: int
    found: int
    pages: int
    statuses: dict[str, int]
    """How many marks of those found have which status."""
    sections: list[str]
    unassigned: int
    """Hand-ins found that are nobody's to mark."""


class DeskReader:
    """Reads what a page needs. One for each desk."""

    def __init__(self, book: Gradebook, lessons: Lessons, author: str) -> None:
        self.book = book
        self.course: Course = book.course
        self.lessons = lessons
        self.author = author
        self.everybody = EverybodysMarks(book)

    def katas(self, chosen: Filter) -> list[str]:
        """Return the katas that a filter means, in their order."""
        there = self.book.katas()
        assignment = self.course.assignments.get(chosen.assignment)
        meant = [kata for kata in there if assignment is None or kata in assignment.katas]
        return [chosen.kata] if chosen.kata in meant else meant

    def found(self, chosen: Filter, katas: Sequence[str]) -> dict[str, list[ClassCell]]:
        """Return the marks that a filter lets through, by learner. Of who has one, the others are there, too."""
        marks, about = self.everybody.marks()
        word = chosen.find.casefold()
        found = {}
        for learner, own in marks.items():
            name = self.course.name_of(learner)
            if word and word not in learner.casefold() and word not in name.casefold():
                continue
            if chosen.section and self.section_of(learner) != chosen.section:
                continue
            cells = [
                ClassCell(
                    own[kata],
                    (learner, kata) in about.disputed,
                    about.markers.get((learner, kata), ""),
                    own[kata].attempt is not None
                    and about.reviewed.get((learner, kata)) == own[kata].attempt,
                )
                for kata in katas
                if kata in own
            ]
            if cells and any(self._lets(chosen, one) for one in cells):
                found[learner] = cells
        return found

    def _lets(self, chosen: Filter, cell: ClassCell) -> bool:
        if chosen.status and cell.mark.status != chosen.status:
            return False
        match chosen.only:
            case "unread":
                return cell.mark.handed_in and not cell.read
            case "mine":
                return cell.marker == self.author and not cell.read
            case "disputed":
                return cell.disputed
            case "late":
                return cell.mark.late
            case "changed":
                return cell.mark.changed
        return True

    def section_of(self, learner: str) -> str:
        """Return a learner's section, as the roster has it."""
        person = self.course.person(learner)
        return (person.section if person is not None else "") or ""

    def class_page(self, chosen: Filter) -> ClassPage:
        """Return a page of the class."""
        katas = self.katas(chosen)
        found = self.found(chosen, katas)
        names = list(found)
        pages = max(1, -(-len(names) // ON_A_PAGE))
        first = (min(chosen.page, pages) - 1) * ON_A_PAGE
        called = Counter(self.course.name_of(name) for name in self.everybody.marks()[0])
        lines = [self._line(name, found[name], called) for name in names[first : first + ON_A_PAGE]]
        through = [one for cells in found.values() for one in cells if self._lets(chosen, one)]
        people = self.course.roster.values()
        return ClassPage(
            lines,
            katas,
            len(self.everybody.marks()[0]),
            len(names),
            pages,
            dict(Counter(one.mark.status for one in through)),
            sorted({one.section for one in people if one.section}),
            sum(_free(one) for one in through),
        )

    def _line(self, learner: str, cells: list[ClassCell], called: Mapping[str, int]) -> ClassLine:
        name = self.course.name_of(learner)
        score, most = total((one.mark for one in cells), self.course)
        return ClassLine(
            learner,
            name,
            self.section_of(learner),
            score,
            most,
            cells,
            namesake=called[name] > 1,
            stranger=bool(self.course.roster) and self.course.person(learner) is None,
        )

    def waiting(self) -> dict[str, int]:
        """Return how much waits: for this marker, for an answer, and written answers for a mark."""
        marks, about = self.everybody.marks()
        mine = sum(
            1
            for (learner, kata), marker in about.markers.items()
            if marker == self.author
            and kata in marks.get(learner, {})
            and about.reviewed.get((learner, kata)) != marks[learner][kata].attempt
        )
        written = sum(
            len({*mark.written.unmarked, *mark.written.changed})
            for own in marks.values()
            for mark in own.values()
            if mark.written is not None
            and about.markers.get((mark.learner, mark.kata), "") in ("", self.author)
        )
        return {"mine": mine, "disputed": len(about.disputed), "written": written}

    def unassigned(self, chosen: Filter) -> list[tuple[str, str]]:
        """Return what a filter lets through, was handed in, and is nobody's to mark."""
        return [
            (cell.mark.learner, cell.mark.kata)
            for cells in self.found(chosen, self.katas(chosen)).values()
            for cell in cells
            if self._lets(chosen, cell) and _free(cell)
        ]

    def choices(self, sections: Sequence[str]) -> list[FilterChoice]:
        """Return what the class can be filtered by."""
        every = ("", "all")
        found = [
            FilterChoice(
                "assignment", "Assignment", [every, *((one, one) for one in self.course.assignments)]
            ),
            FilterChoice(
                "kata", "Kata", [every, *((one, self.lessons.title(one)) for one in self.book.katas())]
            ),
            FilterChoice(
                "status", "Status", [every, *((kind, LOOKS[kind].word) for kind in get_args(KataStatus))]
            ),
            FilterChoice("section", "Section", [every, *((one, one) for one in sections)]),
            FilterChoice("only", "Only", list(ONLY.items())),
        ]
        return [one for one in found if len(one.options) > 1]

    def overview(self) -> list[Overview]:
        """Return the course: its assignments, else its katas, with what has become of each."""
        there = self.book.katas()
        groups = {
            name: (one.title or name, [kata for kata in one.katas if kata in there], one.due)
            for name, one in self.course.assignments.items()
        }
        rest = [kata for kata in there if self.course.assignment_of(kata) is None]
        found = [
            Overview(title, Filter(assignment=name).query(), when(due, self.course), self._figures(katas))
            for name, (title, katas, due) in groups.items()
        ]
        for kata in rest:
            due = self.course.due.get(kata)
            found.append(
                Overview(
                    self.lessons.title(kata),
                    Filter(kata=kata).query(),
                    when(due, self.course),
                    self._figures([kata]),
                )
            )
        return found

    def _figures(self, katas: Sequence[str]) -> dict[str, int]:
        marks, about = self.everybody.marks()
        own = [mark for learner in marks.values() for kata, mark in learner.items() if kata in katas]
        given = [one for one in own if one.handed_in]
        read = sum(about.reviewed.get((one.learner, one.kata)) == one.attempt for one in given)
        return {
            "marks": len(own),
            "handed in": len(given),
            "passed": sum(one.status == "pass" for one in own),
            "late": sum(one.late for one in own),
            "disputed": sum(key[1] in katas for key in about.disputed),
            "looked through": read,
        }

    def attempts(self, learner: str, kata: str) -> dict[int, int]:
        """Return a learner's attempts at a kata with the numbers that people see."""
        return {attempt: number for number, attempt in self.book.attempts_of(learner, kata).items()}

    def threads(self, learner: str, kata: str) -> list[Thread]:
        """Return the disputes about a mark."""
        return threads(one for one in self.book.rulings(SAID, [learner]) if one.kata == kata)

    # One mark

    def mark_page(self, learner: str, kata: str, asked: Mapping[str, str], chosen: Filter) -> MarkPage:
        """Return one learner's mark for one kata with everything about it.

        Raises:
            UsageError: there is no such learner, kata or attempt.
        """
        version = self.book.version(
            learner, kata
        )  # before the rest: what changes meanwhile is another version
        rows = list(self.book.rows(katas=[kata], learners=[learner]))
        if not rows:
            raise UsageError(f"There is no mark of {learner} for {kata}.")
        row = rows[0]
        events = self.book.history(row.learner, kata)
        attempts = [one for one in events if one.kind == "attempt" and one.attempt is not None]
        numbers = {one.attempt: one.number for one in attempts}
        attempt = whole_number(asked.get("attempt", "")) or row.attempt
        if attempt is not None and attempt not in numbers:
            raise UsageError(f"{learner} has no such attempt of {kata}.")
        other = whole_number(asked.get("diff", ""))
        if other is not None and other not in numbers:
            raise UsageError(f"{learner} has no such attempt of {kata}.")
        ruled = self.book.rulings((*SAID, "extend"), [row.learner])
        mine = [one for one in ruled if one.kata == kata and one.kind != "extend"]
        extensions = [one for one in ruled if one.kind == "extend" and not one.revoked]
        bundle = self.book.bundle(attempt) if attempt is not None else None
        view = Viewer(self.course, self.lessons, full=True).kata(row)
        everybody, about = self.everybody.marks()
        marks = everybody.get(row.learner, {})
        return MarkPage(
            row=row,
            view=view,
            version=version,
            attempt=attempt,
            numbers=numbers,
            counts=attempt == row.attempt,
            attempts=[(one, when(one.submitted_at, self.course)) for one in reversed(attempts)],
            files=self._files(bundle, attempt, mine) if bundle is not None and other is None else [],
            diff=self._diff(other, bundle) if bundle is not None and other is not None else None,
            other=other,
            threads=threads(mine),
            events=[one for one in self._log(events) if one.event.kind not in ("attempt", "remark")],
            neighbours=self._neighbours(row.learner, kata, chosen),
            katas=[(one, marks[one]) for one in self.katas(replace(chosen, kata="")) if one in marks],
            due=when(self.course.due_for(row.learner, kata, extensions), self.course),
            section=self.section_of(row.learner),
            marker=about.markers.get((row.learner, kata), ""),
            read=row.attempt is not None and about.reviewed.get((row.learner, kata)) == row.attempt,
            assignment=getattr(self.course.assignment_of(kata), "name", ""),
        )

    def _files(self, bundle: Bundle, attempt: int | None, about: list[Ruling]) -> list[ShownFile]:
        names = [bundle.main, *sorted(set(bundle.files) - {bundle.main})][:MOST_FILES]
        standing = [one for one in about if one.kind == "remark" and not one.revoked]
        files = []
        for name in names:
            source = text_of(name, bundle.files[name])
            lines = code_lines(name, source)
            said: dict[int, list[Ruling]] = {}
            for one in standing:
                if (one.value["attempt"], one.value["file"]) == (attempt, name):
                    said.setdefault(one.value["line"], []).append(one)
            more = len(source.splitlines()) - len(lines)
            files.append(ShownFile(name, name == bundle.main, lines, said, max(0, more)))
        return files

    def _diff(self, other: int, bundle: Bundle) -> list[tuple[str, str]]:
        before = self.book.bundle(other)
        files = before.files if before is not None else {}
        changes: list[str] = []
        for name in sorted({*files, *bundle.files}):
            old, new = (
                text_of(name, those[name]).splitlines()[:MAX_LINES] if name in those else []
                for those in (files, bundle.files)
            )
            changes += difflib.unified_diff(old, new, f"{name}, before", name, lineterm="")
        kinds = {"+": "plus", "-": "minus", "@": "soft"}
        return [(kinds.get(line[:1], ""), text.cut(line)) for line in changes]

    def _neighbours(self, learner: str, kata: str, chosen: Filter) -> Neighbours:
        cells = [
            cell
            for own in self.found(chosen, [kata]).values()
            for cell in own
            if self._lets(chosen, cell) or cell.mark.learner == learner
        ]
        names = [cell.mark.learner for cell in cells]
        if learner not in names:  # the filter no longer lets it through: it has just been dealt with
            order = {name: place for place, name in enumerate(self.everybody.marks()[0])}
            at = order.get(learner, 0)
            before = [name for name in names if order[name] < at]
            after = [name for name in names if order[name] > at]
            return Neighbours(before[-1] if before else None, after[0] if after else None, None, len(names))
        place = names.index(learner)
        return Neighbours(
            names[place - 1] if place else None,
            names[place + 1] if place + 1 < len(names) else None,
            place + 1,
            len(names),
        )

    # Everybody's decisions

    def log(self) -> list[Logged]:
        """Return what was decided last, by everybody, the newest first."""
        found = self.book.decisions(LOGGED)
        return self._log([event for _, _, event in found], [(learner, kata) for learner, kata, _ in found])

    def _log(
        self, events: Sequence[HistoryEvent], about: Sequence[tuple[str, str | None]] | None = None
    ) -> list[Logged]:
        whose = about or [("", None)] * len(events)
        return [
            Logged(event, _words(event), when(event.at, self.course) or "", learner, kata)
            for event, (learner, kata) in zip(events, whose, strict=True)
        ]

    def disputes(self) -> list[Thread]:
        """Return every dispute, the open ones first, those that wait longest before."""
        identity = self.book.identity()
        found = threads(
            msgspec.structs.replace(one, learner=identity(one.learner))
            for one in self.book.rulings(("dispute", "answer", "close"))
        )
        return sorted(found, key=lambda one: (one.closed is not None, one.about.at))

    def at(self, moment: datetime) -> str:
        """Return a moment in the course's time zone."""
        return when(moment, self.course) or ""


def _words(event: HistoryEvent) -> str:
    if event.kind == "adjust":
        return f"{event.points or 0:+g} points: {event.comment}"
    if event.kind == "override":
        return f"set to {event.points or 0:g}: {event.comment}"
    if event.kind == "answer_mark":
        said = f": {event.comment}" if event.comment else ""
        return f"question {event.question}: {event.points or 0:g} of {event.max_score or 0:g} points{said}"
    if event.kind == "revoke":
        return f"taken back: {event.comment}"
    return event.comment or ""


@dataclass(frozen=True)
class ShownFile:
    """A file that was handed in, to read and to remark on."""

    name: str
    main: bool
    lines: list[Markup]
    said: dict[int, list[Ruling]]
    """Remarks, by line."""
    more: int
    """Lines that are not shown."""


@dataclass(frozen=True)
class Neighbours:
    """Who stands before and behind in the list that a filter makes."""

    previous: str | None
    next: str | None
    place: int | None
    of: int


@dataclass(frozen=True)
class Logged:
    """A decision in a list of them."""

    event: HistoryEvent
    words: str
    at: str
    learner: str = ""
    kata: str | None = None

    @property
    def mark(self) -> str | None:
        """The end of the address of the mark that it is about."""
        return Filter().query(learner=self.learner, of=self.kata) if self.learner and self.kata else None

    @property
    def number(self) -> int:
        """The adjustment's, the ruling's, or that of the mark of a written answer."""
        return self.event.adjustment or self.event.ruling or self.event.answer_mark or 0


@dataclass(frozen=True)
class MarkPage:
    """One learner's mark for one kata, with everything about it."""

    row: Row
    view: KataView
    version: int
    attempt: int | None
    """Which is shown."""
    numbers: Mapping[int | None, int | None]
    """By attempt, the learner's own numbers, as people see them."""
    counts: bool
    """Whether that is the one that counts."""
    attempts: list[tuple[HistoryEvent, str | None]]
    files: list[ShownFile]
    diff: list[tuple[str, str]] | None
    other: int | None
    threads: list[Thread]
    events: list[Logged]
    neighbours: Neighbours
    katas: list[tuple[str, Mark]]
    due: str | None
    section: str
    marker: str
    read: bool
    assignment: str
