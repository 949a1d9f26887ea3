"""What a person means: a learner by a name or its beginning, katas by an ID, as far as the gradebook has them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from grader.catalogue import Catalogue
from grader.errors import UsageError, did_you_mean
from grader.instructor.gradebook.course import Assignment, Course
from grader.instructor.gradebook.events import Override, PointsChange
from grader.instructor.gradebook.identities import words_in
from grader.instructor.gradebook.row_types import Mark
from grader.instructor.gradebook.store import Gradebook
from grader.instructor.submissions.names import listed
from grader.report.style import points
from grader.words import typed_number

MOST_POINTS = 1e6
MOST_DAYS = 3650


def resolve_learner(book: Gradebook, text: str) -> str:
    """Return the identity that a person means: exactly, else whatever the case, else by the beginning.

    Raises:
        UsageError: nobody is called that (with a suggestion), or several are.
    """
    names = book.learners()
    found = learners_called(text, names, book)
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"{text} could be {listed(found, 5)}.", "Type more of it.")
    called = {" ".join(known_as): name for name in names for known_as in _called(name, book)}
    guess = did_you_mean(" ".join(words_in(text)), called)
    raise UsageError(f"The gradebook has no learner {text}.{guess}", "See who is there: kata gradebook show")


def learners_called(text: str, names: Collection[str], book: Gradebook) -> list[str]:
    """Return which of these learners a text means: by identity or alias, else by words of a name, or their beginnings.

    A whole name goes before a name that has more words, and words go before beginnings of words. Neither case nor
    accents count, nor which of the names comes first.
    """
    same = book.course.normalized_name
    key = same(book.aliases().get(same(text), text))
    # An identity goes before a name, as two people may share the name.
    if exact := [name for name in names if same(name) == key]:
        return exact
    words = words_in(text)
    if not words:
        return []
    called = {name: _called(name, book) for name in names}

    def those(fit: Callable[[list[str]], bool]) -> list[str]:
        return [name for name, there in called.items() if any(map(fit, there))]

    return (
        those(lambda there: sorted(there) == sorted(words))
        or those(lambda there: set(words) <= set(there))
        or those(lambda there: all(any(name.startswith(word) for name in there) for word in words))
    )


def _called(name: str, book: Gradebook) -> list[list[str]]:
    """Return the words of everything that a learner is called."""
    same = book.course.normalized_name
    other = [alias for alias, learner in book.aliases().items() if same(learner) == same(name)]
    return [words_in(called) for called in (name, book.course.name_of(name), *other)]


def resolve_katas(book: Gradebook, words: Sequence[str]) -> list[str] | None:
    """Return the slugs that IDs mean, as far as they were graded; None when nothing narrows them.

    Raises:
        UsageError: an ID is wrong, or means nothing that was graded.
    """
    if not words:
        return None
    known = book.katas()
    chosen: dict[str, None] = {}
    for word in words:
        # What was graded may belong to a pack that is not installed any more.
        found = [word] if word in known else slugs_meant(book.course, word)
        graded = [slug for slug in found if slug in known]
        if not graded:
            some = ", ".join(known[:5]) + (" …" if len(known) > 5 else "")
            raise UsageError(
                f"The gradebook has nothing of {', '.join(found)}.", f"It has: {some or 'nothing yet'}"
            )
        chosen.update(dict.fromkeys(graded))
    return list(chosen)


def slugs_meant(course: Course, word: str) -> list[str]:
    """Return the katas of an assignment of the course, or else those that an ID means.

    Raises:
        UsageError: it is neither.
    """
    if word in course.assignments:
        return list(course.assignments[word].katas)
    try:
        return [kata.slug for kata in Catalogue.discover().resolve(word)]
    except UsageError as error:
        guess = did_you_mean(word, list(course.assignments))
        raise UsageError(f"{error.message}{guess}", error.hint) from None


def resolve_kata(book: Gradebook, word: str) -> str:
    """Return the one kata that an ID means.

    Raises:
        UsageError: as `resolve_katas`, or it means several.
    """
    katas = resolve_katas(book, [word]) or []
    if len(katas) != 1:
        raise UsageError(f"{word} means {len(katas)} katas; name one: {', '.join(katas)}.")
    return katas[0]


def resolve_assignment(course: Course, name: str) -> Assignment:
    """Return the assignment that a person means.

    Raises:
        UsageError: the course has none of this name.
    """
    if name in course.assignments:
        return course.assignments[name]
    if not course.assignments:
        raise UsageError(
            f"--assignment {name}: the course settings name no assignments.",
            "Name them in course.toml: [assignments.week1] with katas = [...]; kata course new writes a first one.",
        )
    guess = did_you_mean(name, list(course.assignments))
    raise UsageError(
        f"--assignment {name}: there is no such assignment.{guess}",
        f"The course's assignments: {', '.join(course.assignments)}.",
    )


def katas_of_assignment(book: Gradebook, name: str) -> list[str]:
    """Return the katas of an assignment, as far as they were graded.

    Raises:
        UsageError: the course has none of this name, or nothing of it was graded.
    """
    of = resolve_assignment(book.course, name).katas
    graded = [kata for kata in book.katas() if kata in of]
    if not graded:
        raise UsageError(
            f"--assignment {name}: nothing of it has been graded yet.",
            f"Grade it first: kata grade DOWNLOAD --assignment {name}",
        )
    return graded


def mark_meant(row: Mark, kind: type[PointsChange], number: float, *, beyond: bool) -> float:
    """Return the mark that a change makes of a row's.

    Raises:
        UsageError: it is more than there are points, and not on purpose.
    """
    after = number if kind is Override else row.score + number
    # Only what raises it: to lower a mark that is too high must be possible.
    if number > 0 and after > row.max_score and not beyond:
        raise UsageError(
            f"{row.learner}, {row.kata}: {points(after)} is more than the {points(row.max_score)} points there are.",
            "If it is on purpose: --beyond, or the box below the points.",
        )
    return after


def days_meant(text: str) -> float:
    """Return days as a person types them: 3, 0.5.

    Raises:
        UsageError: it is not a number of days above 0.
    """
    days = typed_number(text)
    if days is None or not 0 < days <= MOST_DAYS:
        raise UsageError(
            f"{text.strip()!r} is not a number of days above 0, at most {MOST_DAYS}.", "For example 3 or 0.5."
        )
    return days


def insist_on_deadline(course: Course, of: str) -> None:
    """Refuse more time for what is never due.

    Raises:
        UsageError: nothing of it has a due or closing time.
    """
    if not course.is_timed(of):
        raise UsageError(
            f"{of or 'The course'} has no due time that could move.", "Give one in course.toml: due = …"
        )


def points_meant(text: str) -> float:
    """Return points as a person types them: 2, +2, -1.5.

    Raises:
        UsageError: it is not a number, or not a sensible one.
    """
    number = typed_number(text)
    if number is None:
        raise UsageError(f"{text.strip()!r} is not a number of points.", "Write one like 2, -1.5 or 0.25.")
    if abs(number) > MOST_POINTS:
        raise UsageError(f"{text.strip()} points are too many; {points(MOST_POINTS)} is the most.")
    return number
