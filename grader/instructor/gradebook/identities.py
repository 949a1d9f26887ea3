"""Who is who: learners and katas of the gradebook and the roster, and the names that a download calls people by.

An identifier that a system made (a number, a login, an address) and a name that is the same but for case, accents and
order are believed where they mean one person alone. What is only alike is proposed, and never taken.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from sqlalchemy import Connection, exists, func, or_, select

from grader.errors import did_you_mean
from grader.instructor.gradebook import events, schema
from grader.instructor.gradebook.course import Course
from grader.instructor.gradebook.errors import GradebookUsageError
from grader.instructor.gradebook.events import decisions, of
from grader.instructor.gradebook.schema import insert, sanitize
from grader.instructor.lms import SYSTEMS
from grader.instructor.lms.person import Found, Person
from grader.instructor.submissions.names import natural_key

COUNTING: tuple[type[events.Decision], ...] = (
    events.Choose,
    events.Extend,
    events.Take,
    events.Alias,
    events.Left,
    events.Team,
    events.Release,
)
"""What a mark, or whose it is, depends on besides points; the others are said about it."""


class Mate(NamedTuple):
    """Somebody in a learner's team."""

    of: str
    """For which assignment or kata; empty for everything."""
    row: int
    name: str


class LearnerRef(NamedTuple):
    """Reference to a learner: the one identity that all other names resolve to."""

    name: str
    own: int | None
    """The row of this name; None for who is in the roster only."""
    rows: tuple[int, ...]
    """The rows of all their names."""
    rulings: tuple[events.Decision, ...] = ()
    """What stands about them, or about the whole class, oldest first."""
    writes: bool = False
    """Whether there are written answers of theirs, or marks for some: else nobody has to look."""
    mates: tuple[Mate, ...] = ()
    """Whose hand-ins count for them as well."""

    def rows_at(self, course: Course, kata: str) -> tuple[int, ...]:
        """Return the rows under which something was handed in for a kata that counts for them."""
        return (*self.rows, *(mate.row for mate in self.mates if course.covers(mate.of, kata)))

    @property
    def left(self) -> bool:
        """Whether they are not in the course any more."""
        return any(isinstance(ruling, events.Left) for ruling in self.rulings)


_LEARNERS = select(
    schema.learners.c.name,
    schema.learners.c.id,
    or_(
        exists().where(schema.answers.c.learner_id == schema.learners.c.id),
        exists().where(schema.decisions.c.learner_id == schema.learners.c.id, of(events.AnswerMark)),
    ).label("writes"),
)


class LearnerIndex(NamedTuple):
    """Index of all learners and their aliases; names are as the course spells them."""

    people: dict[str, LearnerRef]
    """Sorted. Somebody's other names are not learners of their own."""
    other: dict[str, str]
    """By every other name that people or the roster gave somebody, the identity."""

    def identity(self, course: Course, name: str) -> str:
        """Return whose a name is that the gradebook has."""
        called = self.other.get(course.normalized_name(name), name)
        known = self.people.get(course.normalized_name(called))
        return known.name if known is not None else called


def list_learners(
    connection: Connection, course: Course, learners: Collection[str] | None = None
) -> list[LearnerRef]:
    """Return everybody, or who of `learners` is there, sorted."""
    found = learner_index(connection, course).people
    if learners is None:
        return list(found.values())
    wanted = {course.normalized_name(sanitize(name)) for name in learners}
    return [somebody for key, somebody in found.items() if key in wanted]


def learners(connection: Connection, course: Course) -> list[str]:
    """Return everybody who was graded or is in the roster, 2 before 10."""
    return [somebody.name for somebody in list_learners(connection, course)]


def left(connection: Connection, course: Course) -> set[str]:
    """Return who is not in the course any more."""
    return {somebody.name for somebody in list_learners(connection, course) if somebody.left}


def aliases(connection: Connection, course: Course) -> dict[str, str]:
    """Return the identity by every other name that people or the roster gave somebody."""
    return learner_index(connection, course).other


def identity(connection: Connection, course: Course) -> Callable[[str], str]:
    """Return what tells, of a name that the gradebook has, whose it is."""
    return partial(learner_index(connection, course).identity, course)


def learner_index(connection: Connection, course: Course) -> LearnerIndex:
    """Return everybody. Until somebody is new, or a ruling about who is who or what counts, it is what was read last.

    One page or command asks many times, and a class of 2,000 takes 30 ms to read.
    """
    if connection.get_execution_options().get("writes"):  # it sees what may yet be taken back
        return _everybody(connection, course)
    state = tuple(connection.execute(_STATE).one())
    known = connection.info.get(_KNOWN)
    if known is None or known[0] is not course or known[1] != state:
        known = connection.info[_KNOWN] = course, state, _everybody(connection, course)
    found: LearnerIndex = known[2]
    return found


_KNOWN = "kata: everybody"
_STATE = select(
    *(
        select(func.count()).select_from(table).scalar_subquery()
        for table in (schema.learners, schema.answers)
    ),
    *(
        select(func.count(column)).where(of(*COUNTING, events.AnswerMark)).scalar_subquery()
        for column in (schema.decisions.c.id, schema.decisions.c.revoked_at)
    ),
)
"""Rows are only ever added, and decisions taken back once: as long as these numbers are the same, so is everybody."""


def _everybody(connection: Connection, course: Course) -> LearnerIndex:
    found = connection.execute(_LEARNERS).all()
    writers = {row.id for row in found if row.writes}
    decided = events.standing(decisions(connection, of(*COUNTING)))
    identities = _identities(course, decided)
    names: dict[str, str] = {}
    rows: dict[str, dict[str, int]] = {}
    for row in found:
        called = identities.get(course.normalized_name(row.name), row.name)
        key = course.normalized_name(called)
        rows.setdefault(key, {})[row.name] = row.id
        names.setdefault(key, called)
        # The spelling of the row that bears the identity, not that of an alias which was graded first.
        if course.normalized_name(row.name) == key:
            names[key] = row.name
    for name in course.roster:
        names.setdefault(course.normalized_name(name), name)
    about: dict[str, list[events.Decision]] = {}
    # What holds for the class stands with everybody, in the order in which it was decided.
    whole_class = [decision for decision in decided if decision.learner is None]
    for decision in decided:
        if decision.learner is not None:
            key = course.normalized_name(
                identities.get(course.normalized_name(decision.learner), decision.learner)
            )
            about.setdefault(key, []).append(decision)
    sorted_names = sorted(names.items(), key=lambda item: natural_key(item[1]))
    there = {
        key: LearnerRef(
            name,
            rows.get(key, {}).get(name),
            tuple(rows.get(key, {}).values()),
            tuple(sorted((*about.get(key, ()), *whole_class), key=lambda decision: decision.id)),
            not writers.isdisjoint(rows.get(key, {}).values()),
        )
        for key, name in sorted_names
    }
    index = LearnerIndex(there, identities)
    for team in (decision for decision in decided if isinstance(decision, events.Team)):
        keys = [course.normalized_name(index.identity(course, name)) for name in team.members]
        members = [there[key] for key in keys if key in there]
        for key in keys:
            if key in there:
                mates = [
                    Mate(team.of, row, other.name)
                    for other in members
                    if other.name != there[key].name
                    for row in other.rows
                ]
                there[key] = there[key]._replace(mates=(*there[key].mates, *mates))
    return index


def names_of(people: Iterable[LearnerRef]) -> dict[int, str]:
    """Return learners' identities by the rows of all their names."""
    return {row: somebody.name for somebody in people for row in somebody.rows}


def ensure_learner_row(connection: Connection, somebody: LearnerRef) -> int:
    """Return a learner's own row, making it for who is in the roster and was never graded."""
    if somebody.own is not None:
        return somebody.own
    return insert(connection, schema.learners, name=sanitize(somebody.name))


def _identities(course: Course, decided: Iterable[events.Decision]) -> dict[str, str]:
    """Return, by every other name that people or the roster gave somebody, the identity."""
    other = {
        course.normalized_name(alias): name
        for name, person in course.roster.items()
        for alias in person.aliases
    }
    other |= {
        course.normalized_name(decision.name): decision.learner
        for decision in decided
        if isinstance(decision, events.Alias) and decision.learner is not None
    }
    whole = {}
    for alias in other:
        name, seen = other[alias], {alias}
        while course.normalized_name(name) in other and course.normalized_name(name) not in seen:
            seen.add(course.normalized_name(name))
            name = other[course.normalized_name(name)]
        whole[alias] = name
    return whole


def katas(connection: Connection, wanted: Collection[str] | None) -> dict[int, tuple[str, str]]:
    """Return slug and number of katas by their rows, in order: of `wanted`, or of all."""
    table = schema.katas
    rows = connection.execute(select(table.c.id, table.c.slug, table.c.number)).all()
    chosen = [row for row in rows if wanted is None or row.slug in wanted]
    chosen.sort(key=lambda row: (natural_key(row.number), row.slug))
    return {row.id: (row.slug, row.number) for row in chosen}


def slugs(connection: Connection, course: Course) -> list[str]:
    """Return the katas that were graded for anybody, as far as the course has them, in the order of their numbers."""
    return [slug for slug, _ in katas(connection, course.katas).values()]


def find(connection: Connection, course: Course, learner: str, kata: str) -> tuple[LearnerRef, int]:
    """Return a learner and a kata's row.

    Raises:
        GradebookUsageError: there is no such learner or kata.
    """
    somebody = find_learner(connection, course, learner)
    slug = select(schema.katas.c.id).where(schema.katas.c.slug == sanitize(kata))
    kata_id = connection.execute(slug).scalar()
    if kata_id is None:
        slugs = [known for known, _ in katas(connection, None).values()]
        raise _unknown("kata", kata, slugs, "See what was graded: kata gradebook show")
    return somebody, kata_id


def rows_of(
    connection: Connection, course: Course, what: Iterable[tuple[str | None, str | None]]
) -> list[tuple[int | None, int | None]]:
    """Return the rows of learners and of katas, as `find` and `ensure_learner_row` do, each only where one is named.

    Raises:
        GradebookUsageError: there is no such learner or kata.
    """
    # Everybody is read once: in a transaction nothing is remembered, and 300 readings take seconds.
    there = learner_index(connection, course).people
    numbers = {slug: kata for kata, (slug, _) in katas(connection, None).items()}
    own: dict[str, int] = {}
    found: list[tuple[int | None, int | None]] = []
    for learner, kata in what:
        if learner is None:
            found.append((None, None))
            continue
        key = course.normalized_name(sanitize(learner))
        if key not in there or (kata is not None and kata not in numbers):
            find(connection, course, learner, kata or "")
        if key not in own:
            own[key] = ensure_learner_row(connection, there[key])
        found.append((own[key], numbers[kata] if kata is not None else None))
    return found


def find_learner(connection: Connection, course: Course, learner: str) -> LearnerRef:
    """Return a learner.

    Raises:
        GradebookUsageError: there is no such learner.
    """
    for somebody in list_learners(connection, course, [learner]):
        return somebody
    known = [somebody.name for somebody in list_learners(connection, course)]
    raise _unknown("learner", learner, known, "See who is there: kata gradebook show")


def _unknown(what: str, name: str, known: list[str], hint: str) -> GradebookUsageError:
    return GradebookUsageError(f"The gradebook has no {what} {name}.{did_you_mean(name, known)}", hint)


LEARNT_BY = "kata grade"
"""Who says so, of a name that could be told without asking."""
IDENTITY = "identity"
IN_THE_ROSTER = "what the roster has"
ALIKE = 80.0
"""From so much likeness on, in percent, one name is proposed for another."""
PROPOSED = 2
"""So many at the most."""


_MARKED = re.compile("LATIN SMALL (?:LETTER|LIGATURE) (?:DOTLESS )?([A-Z]{1,2})(?: WITH .*)?")
_NUMBERS = tuple(known for system in SYSTEMS for known in system.identifiers)


class Match(NamedTuple):
    """A name that leads to somebody, and why."""

    learner: str
    reason: str
    likeness: float = 100.0
    """In percent."""


@dataclass
class Matches:
    """What became of the names in a download."""

    known: dict[str, str] = field(default_factory=dict)
    """By name, the identity; also of those who are called by it."""
    learnt: dict[str, Match] = field(default_factory=dict)
    """Those of them that were not known before."""
    strangers: dict[str, list[Match]] = field(default_factory=dict)
    """By name, whom it could mean, the likeliest first."""
    absent: list[str] = field(default_factory=list)
    """Who is in the roster, and of whom nothing is in the download."""


def match(
    found: Collection[Found], course: Course, aliases: Mapping[str, str], known: Iterable[str] = ()
) -> Matches:
    """Find out whose work a download holds.

    Args:
        found: whom it calls by which name.
        course: with the roster; without one everybody is called as they are.
        aliases: identities by other names, as people and the roster told them.
        known: whom the gradebook knows.
    """
    # The roster decides whom there can be; without one, everybody who was graded before.
    everybody = list(course.roster.values()) or [Person(learner=name) for name in known]
    matches = Matches()
    identities = {course.normalized_name(person.learner): person.learner for person in everybody}
    left: list[Found] = []
    for who in found:
        key = course.normalized_name(who.name)
        identity = identities.get(key) or aliases.get(key)
        if identity is not None:
            matches.known[who.name] = identity
        else:
            left.append(who)
    # Without a roster there is nobody who a name could be instead.
    if course.roster:
        _take_what_is_sure(left, everybody, matches, _Download(found, everybody))
    taken = set(matches.known.values())
    # A person who was found already is not proposed again for another name.
    absent = [person for person in everybody if person.learner not in taken]
    for who in left:
        if who.name not in matches.known:
            candidates = similar_names(who, absent)
            if course.roster or candidates:
                matches.strangers[who.name] = candidates
    matches.absent = [person.learner for person in absent] if course.roster else []
    return matches


def whole_name(who: Found, found: Collection[Found], course: Course) -> str:
    """Return what somebody is called: all of a name in which the login is a guess, and may be another's."""
    ends = who.ids.get("ends")
    if not ends or not course.roster:
        return who.name
    download = _Download(found, course.roster.values())
    owners = {person.learner: {key for key, _ in identifiers_of(person)} for person in course.roster.values()}
    guessed = {learner for learner, keys in owners.items() if _folded(who.name) in keys}
    identities = {
        learner for key in download.endings(who) for learner, keys in owners.items()
        if key in keys and download.fits(who, key, learner)
    }  # fmt: skip
    return who.name if guessed <= identities and len(identities) < 2 else ends


def shared(name: str, course: Course) -> bool:
    """Whether several in the roster have this name: what says today whose it is, need not say it of the next."""
    words = sorted(words_in(name))
    return sum(sorted(words_in(person.name)) == words for person in course.roster.values()) > 1


class _Download:
    """All whom a download calls by a name, to tell by the others what a part of one name is."""

    def __init__(self, found: Iterable[Found], people: Iterable[Person]) -> None:
        found = list(found)
        self._people = {person.learner: person for person in people}
        self._count = len(found)
        self._starts = Counter(start for who in found for start in set(self._split(who).values()))
        numbers = {person.canvas_id for person in self._people.values() if person.canvas_id}
        # Numbers of another Canvas speak against nobody.
        self._numbered = any(who.ids.get("canvas") in numbers for who in found)

    def endings(self, who: Found) -> Iterable[str]:
        """Return the parts of a name that may be a login: after a repository's hyphen, a folder's underscore."""
        return self._split(who)

    def fits(self, who: Found, key: str, learner: str) -> bool:
        """Whether nothing speaks against somebody of whom an identifier or the name is `key`."""
        person, start = self._people[learner], self._split(who).get(key)
        if (
            self._numbered
            and person.canvas_id
            and who.ids.get("canvas", person.canvas_id) != person.canvas_id
        ):
            return False
        if start is None:
            return True
        if "name" in who.ids:
            name = set(words_in(person.name))
            return not name or not name.isdisjoint(words_in(start))
        # The assignment's name is in front of everybody's; `week1-bob-ada` may be bob-ada, whom the roster lacks.
        return self._count == 1 or self._starts[start] > 1

    def identifiers(self, who: Found) -> Iterator[tuple[str, str]]:
        """Yield what a name and the numbers with it say, and how to put it."""
        yield _folded(who.name), f"except for upper and lower case, it is {IN_THE_ROSTER}"
        for ending in self._split(who):
            yield ending, f"it ends in {IN_THE_ROSTER}"
        yield from ids_in(who)

    @staticmethod
    def _split(who: Found) -> dict[str, str]:
        """Return what may be a login, and what is in front of it."""
        text, mark = who.ids.get("ends", ""), "_"
        if not who.ids:
            text, mark = who.name, "-"
        parts = text.split(mark)
        cut = range(1, len(parts))
        return {_folded(mark.join(parts[at:])): mark.join(parts[:at]) for at in cut}


def ids_in(who: Found) -> Iterator[tuple[str, str]]:
    """Yield what systems know somebody by, beyond the name, and how to put it."""
    for key, what in (("email", "e-mail address"), ("sid", "student number")):
        if who.ids.get(key):
            yield _folded(who.ids[key]), f"its {what} is the roster's"
    for known in _NUMBERS:
        if value := who.ids.get(known.id):
            yield f"{known.id} {value}" if known.column else _folded(value), known.reason


def merge_rosters(rosters: Sequence[Sequence[Person]]) -> tuple[list[Person], list[str]]:
    """Return the people of several rosters, each once, and what could not be told for sure.

    Somebody of a later roster is who shares an identifier or the whole name with one person of the earlier ones. The
    identity is the first roster's; what later ones call them are other names.
    """
    people = list(rosters[0]) if rosters else []
    doubts: list[str] = []
    for more in rosters[1:]:
        known = _same_people(people, more)
        by_name = {person.learner: place for place, person in enumerate(people)}
        for person in more:
            learner = known.get(person.learner)
            if learner is None:
                people.append(person)
                doubts.append(f"{person.learner} is only in one of the rosters")
            else:
                people[by_name[learner]] = _merged(learner, people[by_name[learner]], person)
    return people, doubts


def renew_roster(old: Sequence[Person], new: Sequence[Person]) -> list[Person]:
    """Return the people of a new roster, who keep what a course knows of them: identities, other names, columns."""
    known, before = _same_people(old, new), {person.learner: person for person in old}
    return [
        _merged(learner, person, before[learner]) if (learner := known.get(person.learner)) else person
        for person in new
    ]


def _same_people(people: Sequence[Person], more: Sequence[Person]) -> dict[str, str]:
    """Return who of a further roster is whom of the earlier ones.

    As a download is matched with a roster: by what only one person has, and never by half a name.
    """
    matches, found = Matches(), [_as_found(person) for person in more]
    _take_what_is_sure(found, people, matches, _Download(found, people))
    return matches.known


def _merged(learner: str, first: Person, second: Person) -> Person:
    """Return one person of two lines, the first of which counts where both say something."""
    # As an alias, so that a download of the other system finds the person.
    other = (person.learner for person in (first, second) if person.learner != learner)
    return Person(
        learner=learner,
        name=first.name or second.name,
        email=first.email or second.email,
        section=first.section or second.section,
        canvas_id=first.canvas_id or second.canvas_id,
        moodle_id=first.moodle_id or second.moodle_id,
        aliases=tuple(dict.fromkeys((*first.aliases, *second.aliases, *other))),
        other={**second.other, **first.other},
    )


def _as_found(person: Person) -> Found:
    ids = {"name": person.name, "email": person.email, "sid": person.cell("sid") or person.cell("student_id")}
    ids |= {"canvas": person.canvas_id, "blackboard": person.cell("username") or person.cell("sis_login_id")}
    return Found(person.learner, {key: value for key, value in ids.items() if value})


def _take_what_is_sure(
    left: Iterable[Found], everybody: Iterable[Person], matches: Matches, download: _Download
) -> None:
    """Believe identifiers, then names, wherever one means a single person, and nobody else is called so already."""
    people = list(everybody)
    for keys_of, keys_in in ((download.identifiers, identifiers_of), (_names_in, _names)):
        owners: dict[str, set[str]] = {}
        kinds: dict[str, str] = {}
        for person in people:
            for key, kind in keys_in(person):
                owners.setdefault(key, set()).add(person.learner)
                kinds.setdefault(key, kind)
        claims: dict[str, dict[str, str]] = {}
        for who in left:
            if who.name in matches.known:
                continue
            for key, what in keys_of(who):
                if len(owners.get(key, ())) == 1 and download.fits(who, key, next(iter(owners[key]))):
                    if kinds[key] != IDENTITY:
                        what = what.replace(IN_THE_ROSTER, f"the roster's {kinds[key]}")
                    claims.setdefault(next(iter(owners[key])), {}).setdefault(who.name, what)
        # Taken before this round, so that its order decides nothing: two claims of one round refuse each
        # other.
        already = set(matches.known.values())
        claimed = Counter(name for names in claims.values() for name in names)
        for learner, names in claims.items():
            if len(names) == 1 and learner not in already and claimed[next(iter(names))] == 1:
                ((name, what),) = names.items()
                matches.known[name] = learner
                matches.learnt[name] = Match(learner, what)


def identifiers_of(person: Person) -> Iterator[tuple[str, str]]:
    """Yield what stands for a person alone, and what kind of thing it is."""
    for word in (person.learner, *person.aliases):
        yield _folded(word), IDENTITY
    if person.email:
        yield _folded(person.email), "e-mail address"
    for column in (column for system in SYSTEMS for column in system.logins):
        if person.cell(column):
            yield _folded(person.cell(column)), column.replace("_", " ")
    for known in _NUMBERS:
        if known.column and person.cell(known.column):
            yield f"{known.id} {person.cell(known.column)}", known.kind


def _names(person: Person) -> Iterator[tuple[str, str]]:
    words = words_in(person.name)
    if len(words) > 1:
        yield " ".join(sorted(words)), "name"
        # Canvas runs a name together, last name first.
        yield "".join((words[-1], *words[:-1])), "name"
    elif words:
        yield words[0], "name"


def _names_in(who: Found) -> Iterator[tuple[str, str]]:
    for text in (who.ids.get("name", ""), who.name):
        words = words_in(re.sub(r"_[0-9]+\Z", "", text) if "canvas" in who.ids else text)
        if words:
            yield " ".join(sorted(words)), "the name is the same"


def similar_names(who: Found, absent: Iterable[Person]) -> list[Match]:
    """Return who of those without work is called something like it, the likeliest first."""
    texts = [" ".join(words_in(text)) for text in (who.name, who.ids.get("name", "")) if text]
    likeness: list[tuple[float, str, str]] = []
    for person in absent:
        called = (person.learner, person.name, person.email.partition("@")[0], person.cell("github_username"))
        words = [" ".join(words_in(text)) for text in called if text]
        best, why = max((_likeness(a, b) for a in texts for b in words if a and b), default=(0.0, ""))
        if best >= ALIKE:
            likeness.append((best, person.learner, why))
    likeness.sort(key=lambda guess: (-guess[0], guess[1]))
    return [Match(learner, why, share) for share, learner, why in likeness[:PROPOSED]]


def proposal(guesses: Sequence[Match]) -> tuple[str, str]:
    """Return who a name is proposed for, and what to say of it; nobody where two are as likely, who are named."""
    if not guesses:
        return "", "like nobody in the roster who has not handed in"
    first, *others = guesses
    same = [guess.learner for guess in others if guess.likeness == first.likeness]
    return "" if same else first.learner, f"{' or '.join((first.learner, *same))}? ({first.reason})"


def _likeness(one: str, other: str) -> tuple[float, str]:
    """Return how alike a name and one of the roster's are, in percent, and what to say of it."""
    best, mine, theirs = _ratio(one, other), set(one.split()), set(other.split())
    if best == 100 and mine != theirs:  # one holds the other, and may be somebody else
        return (
            best,
            "all of the roster's name is in it" if theirs < mine else "all of it is in the roster's name",
        )
    return best, f"{best:.0f}% alike"


def _ratio(one: str, other: str) -> float:
    """Return how alike two names are, whole words of one in the other included, in percent."""
    if min(len(one), len(other)) < 3:
        return 100.0 if one == other else 0.0
    from rapidfuzz import fuzz  # only where somebody is unmatched

    return max(fuzz.token_sort_ratio(one, other), fuzz.token_set_ratio(one, other), fuzz.ratio(one, other))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip().casefold()


def words_in(name: str) -> list[str]:
    """Return a name's words without case, accents and marks; `Lovelace, Ada` in the other order.

    >>> words_in("Müller-Łoś, Jörg")
    ['jorg', 'muller', 'los']
    """
    last, comma, first = name.partition(",")
    text = f"{first} {last}" if comma else name
    letters = "".join(map(_plain, unicodedata.normalize("NFKD", text).casefold()))
    return re.findall(r"\w+", letters.replace("_", " "))


def _plain(letter: str) -> str:
    """Return a letter without its mark, also of those that Unicode does not take apart, such as ø, ł and æ."""
    if letter.isascii():
        return letter
    if unicodedata.combining(letter):
        return ""
    named = _MARKED.fullmatch(unicodedata.name(letter, ""))
    return named[1].lower() if named else letter
