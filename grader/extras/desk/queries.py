"""What the pages show, read from the gradebook. Nothing is written here."""

from __future__ import annotations

import difflib
import hashlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, get_args
from urllib.parse import urlencode

import msgspec
from markupsafe import Markup

from grader.api import (
    ABOUT_HAND_INS,
    MAX_LINES,
    STATUS_STYLES,
    UNWRITTEN,
    WRONG,
    AboutMark,
    AttemptGraded,
    Bundle,
    Course,
    Decided,
    Gradebook,
    Group,
    ItemAnalysis,
    KataReport,
    KataStatus,
    KataTexts,
    Mark,
    Problem,
    SeenAgain,
    TakenBack,
    Thread,
    Total,
    UsageError,
    Viewer,
    analysed,
    code_lines,
    events,
    failure_of,
    fold,
    grouped,
    lines_at_fault,
    problems,
    results_of,
    text,
    text_of,
    total,
    when,
    whole_number,
    words_in,
    written_total,
)
from grader.extras.desk.anonymous import Anonymity
from grader.extras.desk.process import TakeQueue

T = TypeVar("T")
FRESH_S = 0.5
"""So long the class is not looked at again: all parts of a page see one state."""
ON_A_PAGE = 100
"""Learners that a page of the class lists."""
LOGGED = 200
"""Decisions that the log shows."""
MOST_LOGGED = 20_000
"""Of so many, where it is filtered."""
TROUBLES = 20
"""Marks that the page of the course lists with the reason why no check could judge."""
MOST_FILES = 50

ONLY = {
    "unread": "not reviewed",
    "mine": "mine to mark",
    "disputed": "with an open dispute",
    "late": "late, also without a time",
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
    queue: str = ""
    """`all`: next and previous also go to what passed and to learners who handed in nothing."""
    page: int = 1

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Filter:
        """Read it from an address; what makes no sense is left out."""
        number = whole_number(given.get("page", "")) or 1
        words = {field.name: given.get(field.name, "")[:200] for field in fields(cls) if field.name != "page"}
        return cls(**words, page=number)

    def query(self, **changes: Any) -> str:
        """Return it as the end of an address, with changes; other names are added."""
        own = {name: value for name, value in changes.items() if name in self.__dataclass_fields__}
        new = replace(self, **own)
        values = {field.name: getattr(new, field.name) for field in fields(self)}
        values = {name: value for name, value in values.items() if value and (name, value) != ("page", 1)}
        others = {name: value for name, value in changes.items() if name not in own and value is not None}
        return urlencode({**others, **values}, errors="backslashreplace")

    @property
    def is_filtered(self) -> bool:
        """Whether it leaves anybody out."""
        return any((self.status, self.section, self.find, self.only))


@dataclass(frozen=True)
class LogFilter:
    """What of the log is looked at."""

    learner: str = ""
    """Words of a name, or their beginnings."""
    by: str = ""
    kind: str = ""
    day: str = ""
    """As 2026-10-12."""

    KINDS: ClassVar = tuple(sorted(events.TYPES))

    @classmethod
    def of(cls, given: Mapping[str, str]) -> LogFilter:
        """Read it from an address."""
        return cls(**{field.name: given.get(field.name, "").strip()[:200] for field in fields(cls)})

    def __bool__(self) -> bool:
        """Whether it leaves anything out."""
        return any((self.learner, self.by, self.kind, self.day))

    def lets(self, entry: LogEntry, name: str) -> bool:
        """Whether an entry is wanted; `name` is how its learner is called on the page."""
        there = [*words_in(entry.learner), *words_in(name)]
        return (
            all(any(word.startswith(begin) for word in there) for begin in words_in(self.learner))
            and self.by.casefold() in ("", entry.by.author.casefold())
            and self.kind in ("", entry.decision.kind if entry.decision is not None else "")
            and entry.at.startswith(self.day)
        )


Of = tuple[str, str]
"""Learner and kata."""


About = Mapping[Of, AboutMark]
"""What people decided about marks."""
NOTHING = AboutMark()
"""Where nobody decided anything."""


def is_read(about: About, mark: Mark) -> bool:
    """Return whether somebody reviewed the attempt that counts."""
    reviewed = about.get((mark.learner, mark.kata), NOTHING).reviewed
    return mark.attempt is not None and reviewed == mark.attempt


class MarksCache:
    """Cache of all marks, as lists show them; a learner's are read again after a change."""

    def __init__(self, book: Gradebook) -> None:
        self._book = book
        self._state: tuple[int, ...] = ()
        self._stamps: dict[str, tuple[int, ...]] = {}
        self._marks: dict[str, dict[str, Mark]] = {}
        self._about: About = {}
        self._guard = threading.Lock()
        self._looked = -FRESH_S

    def invalidate(self) -> None:
        """Forget how fresh the marks are: something was written."""
        self._looked = -FRESH_S

    def marks(self) -> tuple[dict[str, dict[str, Mark]], About]:
        """Return marks by learner and kata, in the gradebook's order, and what was decided about them."""
        with self._guard:
            if time.monotonic() - self._looked < FRESH_S:
                return self._marks, self._about
            self._looked = time.monotonic()
            # States and stamps are read first: what is written meanwhile is read again the next time.
            state = self._book.state()
            if state != self._state:
                self._read_again(self._book.stamps())
                self._state = state
            return self._marks, self._about

    def _read_again(self, stamps: Mapping[str, tuple[int, ...]]) -> None:
        changed = {name for name, stamp in stamps.items() if self._stamps.get(name) != stamp}
        some = changed if 2 * len(changed) < len(stamps) else None
        fresh: dict[str, dict[str, Mark]] = {}
        if changed:
            for mark in self._book.marks(learners=some):
                fresh.setdefault(mark.learner, {})[mark.kata] = mark
            about = fold(self._book.rulings(ABOUT_HAND_INS, some), self._book.identity())
            unchanged: Collection[str] = () if some is None else stamps.keys() - changed
            before = {key: decided for key, decided in self._about.items() if key[0] in unchanged}
            self._about = before | about
        self._marks = {name: fresh.get(name, self._marks.get(name, {})) for name in stamps}
        self._stamps = dict(stamps)


class ByAttempt(Generic[T]):
    """What reports and files of attempts say: they never change, so each is read once; equal values are stored once."""

    def __init__(self, book: Gradebook, read: Callable[[int, KataReport], T]) -> None:
        self._book = book
        self._read = read
        self._found: dict[int, T] = {}
        self._equal: dict[T, T] = {}

    def of(self, marks: Iterable[Mark]) -> list[tuple[Mark, T]]:
        """Return marks with what the attempts that count say."""
        every = [(mark, mark.attempt) for mark in marks if mark.attempt is not None]
        new = [attempt for _, attempt in every if attempt not in self._found]
        for attempt, report in self._book.reports_of(new):
            read = self._read(attempt, report)
            self._found[attempt] = self._equal.setdefault(read, read)
        return [(mark, self._found[attempt]) for mark, attempt in every if attempt in self._found]


# The class


@dataclass(frozen=True)
class ClassLine:
    """A learner in the list of the class."""

    learner: str
    name: str
    section: str
    total: Total
    written: Total
    """Of all written answers; in the total are those that are released."""
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
    """Return whether it was handed in, is nobody's to mark, and nobody has reviewed it."""
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
    katas: dict[str, float]
    """With the points that there are for each."""
    unnamed: list[str]
    """Further ones, which are listed without names."""
    learners: int
    found: int
    pages: int
    statuses: dict[str, int]
    """How many marks of those found have which status."""
    sections: list[str]
    unassigned: int
    """Hand-ins found that are nobody's to mark."""


class DeskReader:
    """Reads what a page needs, by identity: `anonymity` says what is shown in its place. One for each desk."""

    def __init__(self, book: Gradebook, lessons: KataTexts, author: str) -> None:
        self.book = book
        self.course: Course = book.course
        self.lessons = lessons
        self.author = author
        self.everybody = MarksCache(book)
        self.taking = TakeQueue(book, self.everybody.invalidate)
        self._failures = ByAttempt(book, partial(failure_of, book))
        self._results = ByAttempt(book, lambda _, report: results_of(report))
        self._problems: tuple[Any, list[Problem]] = None, []
        self.anonymity = Anonymity(book, lambda: self.everybody.marks()[0])

    def katas(self, chosen: Filter) -> list[str]:
        """Return the katas that a filter means, in their order."""
        there = self.book.katas()
        assignment = self.course.assignments.get(chosen.assignment)
        katas = [kata for kata in there if assignment is None or kata in assignment.katas]
        return [chosen.kata] if chosen.kata in katas else katas

    def listed(self, katas: list[str]) -> list[str]:
        """Return which of them a list of learners is about: those without names are never in one with the others."""
        return [kata for kata in katas if not self.anonymity.hides(kata)] or katas

    def in_order(self, katas: Sequence[str]) -> list[str]:
        """Return everybody as lists have them: without names by number, as the order of names would tell them."""
        names, called = list(self.everybody.marks()[0]), self.anonymity
        if called.hides(*katas):
            return sorted(names, key=lambda name: called.pseudonym(name, *katas))
        return sorted(names, key=lambda name: text.by_last_name(called.name(name)))

    def matching(self, chosen: Filter, katas: Sequence[str]) -> dict[str, list[ClassCell]]:
        """Return the marks that a filter lets through, by learner. Of who has one, the others are there, too."""
        marks, about = self.everybody.marks()
        words = words_in(chosen.find)
        found = {}
        for learner in self.in_order(katas):
            own, called = marks.get(learner, {}), self.anonymity
            there = " ".join(words_in(f"{called.pseudonym(learner, *katas)} {called.name(learner, *katas)}"))
            if any(word not in there for word in words):
                continue
            if chosen.section and learner not in self.course.sections.get(chosen.section, ()):
                continue
            cells = []
            for kata in katas:
                if (mark := own.get(kata)) is not None:
                    decided = about.get((learner, kata), NOTHING)
                    cells.append(ClassCell(mark, decided.disputed, decided.marker, is_read(about, mark)))
            if cells and any(self.lets(chosen, cell) for cell in cells):
                found[learner] = cells
        return found

    def lets(self, chosen: Filter, cell: ClassCell) -> bool:
        """Return whether a filter lets a mark through."""
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
                return cell.mark.late or bool(cell.mark.late_by)
            case "changed":
                return cell.mark.changed
        return True

    def section_of(self, learner: str) -> str:
        """Return a learner's section, as the roster has it."""
        person = self.course.person(learner)
        return (person.section if person is not None else "") or ""

    def class_page(self, chosen: Filter) -> ClassPage:
        """Return a page of the class."""
        every = self.katas(chosen)
        katas = self.listed(every)
        found = self.matching(chosen, katas)
        names = list(found)
        pages = max(1, -(-len(names) // ON_A_PAGE))
        first = (min(chosen.page, pages) - 1) * ON_A_PAGE
        # Of the whole class, not of this page: learners who share a name are told apart on every page.
        called = {name: self.anonymity.name(name, *katas) for name in self.everybody.marks()[0]}
        often = Counter(called.values())
        lines = []
        for name in names[first : first + ON_A_PAGE]:
            marks = [cell.mark for cell in found[name]]
            written = written_total(marks, self.course, every=True)
            namesake = often[called[name]] > 1
            stranger = bool(self.course.roster) and self.course.person(name) is None
            section, whole = self.section_of(name), total(marks, self.course)
            lines.append(
                ClassLine(name, called[name], section, whole, written, found[name], namesake, stranger)
            )
        through = [cell for cells in found.values() for cell in cells if self.lets(chosen, cell)]
        return ClassPage(
            lines, {kata: max(mark.max_score for mark in self._marks([kata])) for kata in katas},
            [kata for kata in every if kata not in katas], len(self.everybody.marks()[0]), len(names), pages,
            dict(Counter(cell.mark.status for cell in through)),
            list(self.course.sections), sum(map(_free, through)),
        )  # fmt: skip

    def waiting(self) -> dict[str, int]:
        """Return how much waits: for this marker, for an answer, and written answers for a mark."""
        marks, about = self.everybody.marks()
        mine = disputed = 0
        for (learner, kata), decided in about.items():
            disputed += decided.disputed
            mark = marks.get(learner, {}).get(kata)
            if decided.marker == self.author and mark is not None and mark.attempt is not None:
                mine += not is_read(about, mark)
        written = sum(
            len({*mark.written.unmarked, *mark.written.changed})
            for own in marks.values()
            for mark in own.values()
            if mark.written is not None
            and about.get((mark.learner, mark.kata), NOTHING).marker in ("", self.author)
        )
        return {"mine": mine, "disputed": disputed, "written": written}

    def unassigned(self, chosen: Filter) -> list[tuple[str, str]]:
        """Return what a filter lets through, was handed in, and is nobody's to mark."""
        return [
            (cell.mark.learner, cell.mark.kata)
            for cells in self.matching(chosen, self.listed(self.katas(chosen))).values()
            for cell in cells
            if self.lets(chosen, cell) and _free(cell)
        ]

    def choices(self, sections: Sequence[str]) -> list[FilterChoice]:
        """Return what the class can be filtered by."""
        found = [
            FilterChoice("assignment", "Assignment", [(name, name) for name in self.course.assignments]),
            FilterChoice("kata", "Kata", [(kata, self.lessons.title(kata)) for kata in self.book.katas()]),
            FilterChoice(
                "status", "Status", [(kind, STATUS_STYLES[kind].word) for kind in get_args(KataStatus)]
            ),
            FilterChoice("section", "Section", [(section, section) for section in sections]),
            FilterChoice("only", "Only", list(ONLY.items())),
        ]
        return [choice._replace(options=[("", "all"), *choice.options]) for choice in found if choice.options]

    def overview(self) -> list[Overview]:
        """Return the course: its assignments, else its katas, with what has become of each."""
        there = self.book.katas()
        groups = [
            (
                assignment.title or name,
                Filter(assignment=name),
                assignment.due,
                [kata for kata in assignment.katas if kata in there],
            )
            for name, assignment in self.course.assignments.items()
        ]
        groups += [
            (self.lessons.title(kata), Filter(kata=kata), self.course.due.get(kata), [kata])
            for kata in there
            if self.course.assignment_of(kata) is None
        ]
        marks, about = self.everybody.marks()
        found = []
        for title, chosen, due, katas in groups:
            own = [mark for learner in marks.values() for kata, mark in learner.items() if kata in katas]
            given = [mark for mark in own if mark.handed_in]
            figures = {
                "marks": len(own),
                "handed in": len(given),
                "passed": sum(mark.status == "pass" for mark in own),
                "late": sum(mark.late or bool(mark.late_by) for mark in own),
                "disputed": sum(decided.disputed for key, decided in about.items() if key[1] in katas),
                "reviewed": sum(is_read(about, mark) for mark in given),
            }
            found.append(Overview(title, chosen.query(), when(due, self.course), figures))
        return found

    def troubles(self) -> list[Mark]:
        """Return what no check could judge, the first of it, with the reason."""
        marks, _ = self.everybody.marks()
        every = (mark for own in marks.values() for mark in own.values())
        stuck = (mark for mark in every if mark.status in ("error", "timeout"))
        return [mark for mark in islice(stuck, TROUBLES) if mark.trouble]

    def groups(self, kata: str) -> list[Group]:
        """Return who fails a kata alike."""
        return grouped(kata, self._failures.of(mark for mark in self._marks([kata]) if mark.status in WRONG))

    def decided(self, group: Group) -> int:
        """Return how many of a group have a remark, or other points than the checks gave."""
        about = self.everybody.marks()[1]
        return sum(about.get((member.learner, member.kata), NOTHING).touched for member in group.members)

    def items(self, chosen: Filter) -> list[ItemAnalysis]:
        """Return what each check and mistake tells."""
        every = self._marks(self.katas(chosen))
        return analysed(self._results.of(mark for mark in every if mark.status not in UNWRITTEN))

    def state(self, kata: str) -> str:
        """Return a text that is another one when something of a kata was handed in or graded since."""
        attempts = sorted((mark.learner, mark.attempt or 0) for mark in self._marks([kata]))
        return hashlib.sha256(repr(attempts).encode()).hexdigest()

    def _marks(self, katas: Collection[str]) -> Iterator[Mark]:
        every = self.everybody.marks()[0].values()
        return (mark for own in every for kata, mark in own.items() if kata in katas)

    def problems(self) -> list[Problem]:
        """Return what is open. It is found again when anything was graded or decided: then there are other marks."""
        marks, _ = self.everybody.marks()
        if self._problems[0] is not marks:
            # A name is a problem of every assignment that something came in for, and is settled once.
            by_id = {problem.id: problem for problem in problems(self.book, marks)}
            self._problems = marks, list(by_id.values())
        going_on = self.taking.open
        return [problem for problem in self._problems[1] if (problem.learner, problem.kata) not in going_on]

    def attempts(self, learner: str, kata: str) -> dict[int, int]:
        """Return a learner's attempts at a kata with the numbers that people see."""
        return {attempt: number for number, attempt in self.book.attempts_of(learner, kata).items()}

    def threads(self, learner: str, kata: str) -> list[Thread]:
        """Return the disputes about a mark."""
        return self.about(learner).get((learner, kata), NOTHING).threads

    def about(self, learner: str) -> About:
        """Return what was decided about a learner's marks, as it is now."""
        return fold(self.book.rulings(ABOUT_HAND_INS, [learner]), lambda _: learner)

    def log(self, wanted: LogFilter | None = None) -> list[LogEntry]:
        """Return what was decided last, by everybody or as far as it is wanted, the newest first."""
        entries = []
        for learner, kata, event in self.book.decisions(MOST_LOGGED if wanted else LOGGED):
            match event:
                # One about a pair names the other learner first.
                case Decided(decision=events.Alike(made=made)) if self.anonymity.hides(kata):
                    event = Decided(event.decision, made.comment)
            word = self.anonymity.pseudonym(learner or "", kata)
            entry = LogEntry(event, self.local_time(event.at), word, kata)
            if wanted is None or wanted.lets(
                entry, self.anonymity.name(learner or "", kata) if learner else ""
            ):
                entries.append(entry)
        return entries[:LOGGED]

    def just(self, number: int | None) -> LogEntry | None:
        """Return a decision that this marker has just made, by its number; None where it no longer stands."""
        for entry in self.log() if number is not None else ():
            if entry.number == number and entry.by.author == self.author:
                return None if entry.revoked else entry
        return None

    def disputes(self) -> list[Thread]:
        """Return every dispute, the open ones first, those that wait longest before."""
        decided = self.book.rulings((events.Dispute, events.Answered, events.Close))
        found = [
            replace(thread, about=msgspec.structs.replace(thread.about, learner=learner))
            for (learner, _), about in fold(decided, self.book.identity()).items()
            for thread in about.threads
        ]
        return sorted(found, key=lambda thread: (thread.closed is not None, thread.about.made.at))

    def local_time(self, moment: datetime) -> str:
        """Return a moment in the course's time zone."""
        return when(moment, self.course) or ""


class ShownFile(NamedTuple):
    """A file that was handed in, to read and to remark on."""

    name: str
    main: bool
    lines: list[Markup]
    remarks: dict[int, list[events.Remark]]
    """Remarks, by line."""
    more: int
    """Lines that are not shown."""


class Neighbours(NamedTuple):
    """Who comes before and after in the list that a filter makes."""

    previous: str | None
    next: str | None
    place: int | None
    of: int
    all: int
    """How many there are with those that passed or handed in nothing."""


@dataclass(frozen=True)
class LogEntry:
    """A decision in a list of them."""

    event: Decided | TakenBack | SeenAgain
    at: str
    learner: str = ""
    kata: str | None = None

    @property
    def mark(self) -> str | None:
        """The address of the mark, or of the answer, that it is about."""
        return self.page(Filter()) if self.learner and self.kata else None

    @property
    def decision(self) -> events.Decision | None:
        """What was decided, or taken back; None where something came in."""
        return None if isinstance(self.event, SeenAgain) else self.event.decision

    @property
    def number(self) -> int:
        """The decision's."""
        return self.decision.id if self.decision is not None else 0

    @property
    def by(self) -> events.Provenance:
        """Who did it, when, and why."""
        match self.event:
            case Decided(decision=decision):
                return decision.made
            case TakenBack(by=by):
                return by
        return events.Provenance(author="kata grade", comment=self.event.comment, at=self.event.at)

    @property
    def taken_back(self) -> bool:
        """Whether it is that somebody took a decision back."""
        return isinstance(self.event, TakenBack)

    @property
    def revoked(self) -> bool:
        """Whether it is a decision that was taken back."""
        return isinstance(self.event, Decided) and self.event.decision.revoked

    @property
    def undo(self) -> str | None:
        """The action that takes it back; None where nothing is to be taken back."""
        match self.event:
            case Decided(decision=decision) if not decision.revoked:
                return decision.sort.undo
        return None

    def page(self, chosen: Filter) -> str:
        """Return where it was made."""
        if not (self.learner and self.kata):
            return "/log"
        question = self.decision.question if isinstance(self.decision, events.AnswerMark) else None
        path = "answer" if question else "mark"
        return f"/{path}?{chosen.query(learner=self.learner, of=self.kata, question=question)}"

    @property
    def words(self) -> str:
        """What was decided, in a line."""
        match self.event:
            case TakenBack(by=by):
                return f"taken back: {by.comment}"
            case Decided(decision=events.Override() as change):
                return f"set to {change.points:g}: {change.made.comment}"
            case Decided(decision=events.Adjust() as change):
                return f"{change.points:+g} points: {change.made.comment}"
            case Decided(decision=events.AnswerMark() as mark):
                comment = f": {mark.made.comment}" if mark.made.comment else ""
                return f"question {mark.question}: {mark.points:g} of {mark.max_points:g} points{comment}"
        return self.event.comment


class MarkPage:
    """One learner's mark for one kata, with everything about it."""

    def __init__(self, desk: DeskReader, query: Mapping[str, str], chosen: Filter) -> None:
        """Read what an address asks for.

        Raises:
            UsageError: there is no such learner, kata or attempt.
        """
        word, kata = query.get("learner", ""), query.get("of", "")
        name = desk.anonymity.learner(word, kata)
        self.version = desk.book.version(name, kata)  # first: what changes meanwhile is another version
        rows = list(desk.book.rows(katas=[kata], learners=[name]))
        if not rows:
            raise UsageError(f"There is no mark of {word} for {kata}.")
        self.word, self.anonymous = desk.anonymity.pseudonym(name, kata), desk.anonymity.hides(kata)
        self.row = row = rows[0]
        self.see = Viewer(desk.course, desk.lessons, full=True)
        self._desk, key = desk, (row.learner, kata)
        everybody, about = desk.everybody.marks()
        own = everybody.get(row.learner, {})
        # Without names no page is linked that has one, nor the other way round.
        self.katas = [
            (slug, own[slug])
            for slug in desk.katas(replace(chosen, kata=""))
            if slug in own and desk.anonymity.hides(slug) == self.anonymous
        ]
        # They name files as they came in, most of them after their learner.
        self.notes = () if self.anonymous else row.notes
        self.neighbours = _neighbours(desk, row.learner, kata, chosen)
        self.section = desk.section_of(row.learner)
        self.marker = about.get(key, NOTHING).marker
        self.read = row.attempt is not None and about.get(key, NOTHING).reviewed == row.attempt
        self.assignment = getattr(desk.course.assignment_of(kata), "name", "")
        self._read_attempts(query)
        self._read_rulings()

    def _read_attempts(self, query: Mapping[str, str]) -> None:
        found = self._desk.book.history(self.row.learner, self.row.kata)
        # Remarks are next to their lines; the others name somebody who has no name here.
        hidden = (events.Remark, events.Alias, events.Alike) if self.anonymous else (events.Remark,)
        self.events = [
            LogEntry(event, self._desk.local_time(event.at))
            for event in found
            if not isinstance(event, AttemptGraded)
            and not (isinstance(event, Decided) and isinstance(event.decision, hidden))
        ]
        attempts = [event for event in found if isinstance(event, AttemptGraded)]
        course = self._desk.course
        self.attempts = [(attempt, when(attempt.submitted_at, course)) for attempt in reversed(attempts)]
        self.numbers = {attempt.attempt: attempt.number for attempt in attempts}
        """By attempt, the learner's own numbers, as people see them."""
        own: dict[int | None, int] = {number: attempt for attempt, number in self.numbers.items()}
        named = own.get(whole_number(query.get("number", "")))
        self.attempt = whole_number(query.get("attempt", "")) or named or self.row.attempt
        """Which is shown."""
        self.other = whole_number(query.get("diff", ""))
        """The one that it is compared with."""
        if not {self.attempt, self.other} - {None} <= self.numbers.keys():
            raise UsageError(f"{query.get('learner')} has no such attempt of {self.row.kata}.")
        self.counts = self.attempt == self.row.attempt

    def _read_rulings(self) -> None:
        desk, kata = self._desk, self.row.kata
        mine = desk.about(self.row.learner).get((self.row.learner, kata), NOTHING)
        extensions = desk.book.standing(events.Extend, [self.row.learner])
        self.threads = mine.threads
        self.due = when(desk.course.due_for(self.row.learner, kata, extensions), desk.course)
        bundle = desk.book.bundle(self.attempt) if self.attempt is not None else None
        compared = bundle is not None and self.other is not None
        self.files = _files(bundle, self.attempt, mine.remarks) if bundle is not None and not compared else []
        self.lines = len(self.files[0].lines) if self.files and self.counts else 0
        source = text_of(bundle.main, bundle.files[bundle.main]) if bundle is not None and self.counts else ""
        self.hits = lines_at_fault(source, self.row.report)
        self.diff = (
            _diff(desk.book.bundle(self.other), bundle)
            if bundle is not None and self.other is not None
            else None
        )


def _files(bundle: Bundle, attempt: int | None, remarks: list[events.Remark]) -> list[ShownFile]:
    names = [bundle.main, *sorted(set(bundle.files) - {bundle.main})][:MOST_FILES]
    files = []
    for name in names:
        source = text_of(name, bundle.files[name])
        lines = code_lines(name, source)
        remarks_at: dict[int, list[events.Remark]] = {}
        for remark in remarks:
            if (remark.attempt, remark.file) == (attempt, name):
                remarks_at.setdefault(remark.line, []).append(remark)
        more = len(source.splitlines()) - len(lines)
        files.append(ShownFile(name, name == bundle.main, lines, remarks_at, max(0, more)))
    return files


def _diff(before: Bundle | None, bundle: Bundle) -> list[tuple[str, str]]:
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


def _neighbours(desk: DeskReader, learner: str, kata: str, chosen: Filter) -> Neighbours:
    found = desk.matching(chosen, [kata]).items()
    through, names = [], []
    for name, (cell,) in found:
        mark = cell.mark
        something = mark.handed_in or mark.changed or mark.written is not None
        if desk.lets(chosen, cell) and (chosen.status or chosen.queue or something):
            through.append(name)
            # What passed, and who handed in nothing, come only if a filter names them.
            open_ = cell.disputed or (mark.handed_in and mark.status != "pass")
            if name == learner or chosen.status or chosen.only or chosen.queue or open_:
                names.append(name)
    place = None
    if learner in names:
        at = names.index(learner)
        place, before, after = at + 1, names[:at], names[at + 1 :]
    else:  # the filter no longer lets it through: it has just been dealt with
        order = {name: place for place, name in enumerate(desk.in_order([kata]))}
        at = order.get(learner, 0)
        before = [name for name in names if order[name] < at]
        after = [name for name in names if order[name] > at]
    return Neighbours(
        before[-1] if before else None, after[0] if after else None, place, len(names), len(through)
    )
