"""Who and what there is: learners that were graded or are in the roster, katas that were graded for anybody."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import partial
from typing import NamedTuple

from sqlalchemy import Connection, exists, func, or_, select

from grader.errors import did_you_mean
from grader.instructor.gradebook import events, schema
from grader.instructor.gradebook.course import Course
from grader.instructor.gradebook.errors import GradebookUsageError
from grader.instructor.gradebook.events import decisions, of
from grader.instructor.gradebook.schema import insert, sanitize
from grader.instructor.submissions.names import natural_key

COUNTING: tuple[type[events.Decision], ...] = (
    events.Choose,
    events.Extend,
    events.Take,
    events.Alias,
    events.Release,
)
"""What a mark, or whose it is, depends on besides points; the others are said about it."""


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
    return [one for key, one in found.items() if key in wanted]


def learners(connection: Connection, course: Course) -> list[str]:
    """Return everybody who was graded or is in the roster, 2 before 10."""
    return [one.name for one in list_learners(connection, course)]


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
    whole_class = [one for one in decided if one.learner is None]
    for one in decided:
        if one.learner is not None:
            key = course.normalized_name(identities.get(course.normalized_name(one.learner), one.learner))
            about.setdefault(key, []).append(one)
    sorted_names = sorted(names.items(), key=lambda one: natural_key(one[1]))
    there = {
        key: LearnerRef(
            name,
            rows.get(key, {}).get(name),
            tuple(rows.get(key, {}).values()),
            tuple(sorted((*about.get(key, ()), *whole_class), key=lambda one: one.id)),
            not writers.isdisjoint(rows.get(key, {}).values()),
        )
        for key, name in sorted_names
    }
    return LearnerIndex(there, identities)


def names_of(people: Iterable[LearnerRef]) -> dict[int, str]:
    """Return learners' identities by the rows of all their names."""
    return {row: one.name for one in people for row in one.rows}


def ensure_learner_row(connection: Connection, somebody: LearnerRef) -> int:
    """Return a learner's own row, making it for who is in the roster and was never graded."""
    if somebody.own is not None:
        return somebody.own
    return insert(connection, schema.learners, name=sanitize(somebody.name))


def _identities(course: Course, decided: Iterable[events.Decision]) -> dict[str, str]:
    """Return, by every other name that people or the roster gave somebody, the identity."""
    other = {
        course.normalized_name(alias): name for name, one in course.roster.items() for alias in one.aliases
    }
    other |= {
        course.normalized_name(one.name): one.learner
        for one in decided
        if isinstance(one, events.Alias) and one.learner is not None
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
    for one in list_learners(connection, course, [learner]):
        return one
    known = [one.name for one in list_learners(connection, course)]
    raise _unknown("learner", learner, known, "See who is there: kata gradebook show")


def _unknown(what: str, name: str, known: list[str], hint: str) -> GradebookUsageError:
    return GradebookUsageError(f"The gradebook has no {what} {name}.{did_you_mean(name, known)}", hint)
