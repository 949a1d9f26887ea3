"""What is known of a system, and the plain data that its names and tables become."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from grader.instructor.lms.person import Cells, Found, Person
from grader.instructor.submissions.entry import Entry
from grader.instructor.submissions.learner import LearnerFolder
from grader.instructor.submissions.names import short_digest

TWO_READINGS = "can be read in two ways, because the system's mark is in it twice"


def inside(item: Entry) -> list[Entry]:
    """Return what lies in a folder; nothing if it is not a folder, or cannot be opened."""
    try:
        return item.children() if item.is_folder else []
    except OSError:
        return []


def add_numbered(learner: LearnerFolder, numbered: Mapping[int, Entry], around: tuple[str, ...] = ()) -> None:
    """Add of versions in the folders `around` the newest, which has the highest number; older ones may be taken."""
    newest, *older = (numbered[number] for number in sorted(numbered, reverse=True))
    learner.places.append(newest.handed_in(around=around))
    learner.earlier += [version.handed_in(around=(*around, version.name)) for version in older]
    if older:
        of, left = "".join(f" of {name}" for name in around), ", ".join(version.name for version in older)
        learner.notes.append(f"only {newest.name}{of} counts; left out: {left}")


def name_and_login(text: str) -> tuple[str, str]:
    """Return the name and the login in `Lovelace_Ada_ada01`: last name, first name, login.

    Each may hold underscores. A login begins with the first part after two that is not written as names are; only a
    roster knows better, so that the whole is passed on as well.
    """
    parts = text.split("_")
    usual = min(2, len(parts) - 1)
    # Names are written with capitals, logins seldom are.
    at = next((place for place, part in enumerate(parts) if place > 1 and not part[:1].isupper()), usual)
    return " ".join(parts[:at]), "_".join(parts[at:])


@dataclass(frozen=True)
class SystemName:
    """A file or folder name that a system made, taken apart.

    A system writes who it is first, then a mark, then what the learner called the file. So the leftmost mark is the
    system's, and what comes after it can never change whose the file is. A learner's own name comes before it, though:
    where a second mark follows, either the file's name or the learner's imitates one, and nobody gets the file.
    """

    learner: str
    """As the gradebook shall know them."""
    key: str
    """What tells the learner from others within the system."""
    original: str | None = None
    """The file's name before the system renamed it; None for a folder, or for the system's own note."""
    number: str = ""
    """Canvas: the attachment; Blackboard: the attempt's time. A later one is greater."""
    submitted_at: datetime | None = None
    """Without a zone where the system names none."""
    late: bool = False
    """Canvas says so."""
    doubtful: bool = False
    """The system's mark is in it more than once: a learner wrote one of them, and it is not known which."""
    ids: Mapping[str, str] | None = None
    """What the system knows them by; None: the key."""


@dataclass
class Download:
    """What a system says of the files and folders in its download."""

    learners: list[LearnerFolder] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What the instructor should know of the class."""
    taken: set[Entry] = field(default_factory=set)
    """What is the system's; the rest was put there by somebody else."""


class Roster(NamedTuple):
    """A system's file that says who is in the class."""

    needs: frozenset[str]
    """Columns that no other system's file has together."""
    person: Callable[[Cells], Person | None]
    """None for a line that is nobody: maxima, a test student, a teacher."""


class Times(NamedTuple):
    """A system's table that says when things were handed in."""

    column: str
    """In which the time is; no other system has it."""
    who: Callable[[Cells], Found]


class Identifier(NamedTuple):
    """What a system knows somebody by: a download tells it, and a column of the roster may hold it."""

    id: str
    """In `Found.ids`."""
    column: str
    """Of the roster; empty where it is a login, which any column of logins may hold."""
    kind: str
    """What it is called in a sentence."""
    reason: str
    """Why it is believed."""


class GradeFile(NamedTuple):
    """The file that a system imports grades from: a line for each learner, a column for each kata."""

    student: Sequence[str]
    """The columns that say who it is."""
    cells: Callable[[str, str, Person], Sequence[str]]
    """What these hold, by learner, name, and line of the roster."""
    heading: Callable[[str, str, str], str] = lambda title, _number, _points: title
    """What a column is called, by title, the number that it has in the system, and points."""
    maxima: str = ""
    """How a second line begins that says what each column is worth; without, there is no such line."""
    end: tuple[str, str] | None = None
    """A last column: what it is called, and what it holds."""
    decimals: int | None = None
    """To how many places marks are rounded."""
    column: str = ""
    """What matches a column of marks in the system's own export, its title in a group; an import takes it as it is."""


class System:
    """One system. Whatever a subclass leaves as it is here, the system does not have."""

    name = ""
    """What `kata gradebook export --format` and `Found.ids` call it."""
    title = ""
    rosters: tuple[Roster, ...] = ()
    times: Times | None = None
    headings: Mapping[str, str] = {}
    """Columns of its tables in other languages, by what they are called there."""
    identifiers: tuple[Identifier, ...] = ()
    logins: tuple[str, ...] = ()
    """Columns of a roster whose cells may be what a folder is called."""
    grades: GradeFile | None = None
    own_files: frozenset[str] = frozenset()
    """Files of the system's own that are next to the learners'."""
    wraps = False
    """Its downloads have a folder around the learners', called after the assignment or the course."""

    def file(self, name: str) -> SystemName | None:
        """Take a file's name apart, if the system calls a learner's file so."""
        return None

    def folder(self, name: str) -> SystemName | None:
        """Take a folder's name apart, if the system calls a learner's folder so."""
        return None

    def is_wrapper(self, name: str) -> bool:
        """Whether the system calls the folder around a whole download so."""
        return False

    def made(self, item: Entry) -> SystemName | None:
        """Take a name apart."""
        return self.folder(item.name) if item.is_folder else self.file(item.name)

    def read(self, items: Sequence[Entry]) -> Download:
        """Say whose the files and folders of a download are.

        This is for systems that put all of it into names. Only names are looked at, and notes of the system's own.
        """
        named = {item: made for item in items if (made := self.made(item)) is not None}
        named = self.resolved(named)
        found = Download(taken=set(named))
        together: dict[str, list[Entry]] = defaultdict(list)
        for item, made in named.items():
            if not made.doubtful:
                together[made.key].append(item)
        # To nobody: given to either, somebody could have chosen it by a file's name.
        for name in dict.fromkeys(item.name for item, made in named.items() if made.doubtful):
            # A row of its own, under the whole name, which takes from nobody.
            why = f"{name} {TWO_READINGS}"
            found.learners.append(LearnerFolder(name, short_digest(name), rank=9, closed=[why]))
            found.notes.append(f"{why}, so it goes to nobody")
        for key, theirs in together.items():
            first = named[theirs[0]]
            # What the system knows them by goes along: exports need it, and a roster may have it.
            ids = {self.name: key} if first.ids is None else dict(first.ids)
            learner = LearnerFolder(first.learner, key, ids=ids)
            # Earlier attempts are kept as well: of some assignments the best one counts.
            newest = self.newest(theirs, named, learner.notes)
            for item in newest:
                self.places(item, named[item], learner)
            older = [item for item in theirs if item not in newest and self.is_work(named[item])]
            for item in sorted(older, key=lambda item: (named[item].number, item.name), reverse=True):
                learner.earlier.append(self.place(item, named[item]))
            found.learners.append(learner)
        return found

    def place(self, item: Entry, made: SystemName) -> Entry:
        """Return a file or folder as the work that its name says it is."""
        source = self.title if made.late or made.submitted_at is not None else None
        return item.handed_in(made.original, made.submitted_at, source)

    def places(self, item: Entry, made: SystemName, learner: LearnerFolder) -> None:
        """Add what somebody handed in, of a file or folder that counts."""
        learner.places.append(self.place(item, made))

    def is_work(self, made: SystemName) -> bool:
        """Whether something of this name may be work, and not the system's own note."""
        return True

    def resolved(self, named: dict[Entry, SystemName]) -> dict[Entry, SystemName]:
        """Return what the names say once all of them are known."""
        return named

    def newest(self, theirs: list[Entry], named: Mapping[Entry, SystemName], notes: list[str]) -> list[Entry]:
        """Return which of a learner's files count, and note what does not."""
        return theirs

    def feedback(self, part: str, *, last: bool) -> str | None:
        """Return what a page of feedback is called next to something of this name, where the system takes it back.

        Args:
            part: one folder or file of the way to what was handed in.
            last: it is the file.
        """
        return None
