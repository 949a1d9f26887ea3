"""What a form of the desk writes: one call of the gradebook each, as commands make it. Who, when, why, and an undo."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from urllib.parse import parse_qsl

from msgspec.structs import replace

from grader.api import (
    MOST_POINTS,
    UNMATCHED,
    WITHOUT_EFFECT,
    ConflictError,
    Given,
    Mark,
    Problem,
    TakenFile,
    UsageError,
    days_meant,
    events,
    insist_on_deadline,
    lines_at_fault,
    load_sheet,
    mark_meant,
    resolve_learner,
    text_of,
    typed_number,
    whole_number,
    written_answers,
)
from grader.extras.desk.queries import DeskReader, Filter
from grader.extras.desk.sheets import Sheets

Form = Mapping[str, str]
MOST_LETTERS = 20_000
"""Of a comment."""
MOST_CRITERIA = 30
"""Of a question, with those that the course added; keys reach the first nine."""
MOST_TAKEN = 1000
"""Hand-ins that somebody takes at once."""


def adjust(desk: DeskReader, form: Form) -> int:
    """Give points, or take them."""
    learner, kata = _mark(desk, form)
    points = _points(desk, form, events.Adjust, [learner])
    if not points:
        raise UsageError(
            "0 points change nothing.", "Enter points to give, such as 2, or to take away, such as -1.5."
        )
    event = events.Adjust(learner=learner, kata=kata, points=points, made=_made(desk, form))
    return desk.book.decide(event, seen=_seen(form))


def override(desk: DeskReader, form: Form) -> int:
    """Set the mark."""
    learner, kata = _mark(desk, form)
    points = _points(desk, form, events.Override, [learner])
    event = events.Override(learner=learner, kata=kata, points=points, made=_made(desk, form))
    return desk.book.decide(event, seen=_seen(form))


def extend(desk: DeskReader, form: Form) -> int:
    """Give more time, for a kata, an assignment or everything."""
    learner, kata = _mark(desk, form)
    days, of = days_meant(form.get("days", "").replace(",", ".")), form.get("for", "")
    if of not in ("", kata, *desk.course.assignments):
        raise UsageError(f"There is no assignment {of}.")
    insist_on_deadline(desk.course, of)
    event = events.Extend(learner=learner, of=of, days=days, made=_made(desk, form))
    return desk.book.decide(event, of=kata, seen=_seen(form))


def choose(desk: DeskReader, form: Form) -> int:
    """Say which attempt counts."""
    learner, kata = _mark(desk, form)
    hand_in = desk.book.hand_in_of(learner, kata, _whole(form, "attempt"))
    event = events.Choose(learner=learner, kata=kata, hand_in=hand_in, made=_made(desk, form))
    return desk.book.decide(event, seen=_seen(form))


def remark(desk: DeskReader, form: Form) -> int:
    """Say something about a line. Nobody's remark takes another's place, so no version is looked at."""
    learner, kata = _mark(desk, form)
    attempt, line, file = _whole(form, "attempt"), _whole(form, "line"), form.get("file", "")
    bundle = desk.book.bundle(attempt) if attempt in desk.attempts(learner, kata) else None
    lines = text_of(file, bundle.files[file]).splitlines() if bundle and file in bundle.files else []
    if not 1 <= line <= len(lines):
        raise UsageError("There is no such line.", "Open the page again.")
    made = _made(desk, form)
    return desk.book.decide(
        events.Remark(learner=learner, kata=kata, attempt=attempt, file=file, line=line, made=made)
    )


def reviewed(desk: DeskReader, form: Form) -> int:
    """Note that the attempt that counts was reviewed."""
    learner, kata = _mark(desk, form)
    attempt = _whole(form, "attempt")
    number = desk.attempts(learner, kata).get(attempt)
    if number is None:
        raise UsageError(f"There is no such attempt of {kata}.")
    made = events.Provenance(author=desk.author, comment=f"attempt {number}")
    event = events.Reviewed(learner=learner, kata=kata, attempt=attempt, made=made)
    return desk.book.decide(event, seen=_seen(form))


def dispute(desk: DeskReader, form: Form) -> int:
    """Open a dispute in a learner's words."""
    learner, kata = _mark(desk, form)
    event = events.Dispute(learner=learner, kata=kata, made=_made(desk, form))
    return desk.book.decide(event, seen=_seen(form))


def answer(desk: DeskReader, form: Form) -> int:
    """Answer a dispute."""
    return _in_dispute(desk, form, events.Answered)


def close(desk: DeskReader, form: Form) -> int:
    """Close a dispute, with the reason."""
    return _in_dispute(desk, form, events.Close)


def _in_dispute(desk: DeskReader, form: Form, kind: type[events.Answered] | type[events.Close]) -> int:
    learner, kata = _mark(desk, form)
    number = _whole(form, "dispute")
    thread = next((thread for thread in desk.threads(learner, kata) if thread.about.id == number), None)
    if thread is None:
        raise UsageError(f"There is no dispute {number} about this mark.")
    if thread.closed is not None:
        by = thread.closed.made
        raise ConflictError(f"{by.author} has closed this dispute: {by.comment}")
    event = kind(learner=learner, kata=kata, dispute=number, made=_made(desk, form))
    return desk.book.decide(event, seen=_seen(form))


def decide_group(desk: DeskReader, form: Form) -> int:
    """Say the same about all who fail alike, or change their points; those who are ticked are left out."""
    kata, made = form.get("of", ""), _made(desk, form)
    desk.everybody.invalidate()  # the group as it is now, not half a second ago
    found = next((group for group in desk.groups(kata) if group.id == form.get("group")), None)
    if found is None or found.stamp != form.get("stamp"):
        raise ConflictError("In the meantime somebody handed in or was graded.", "Look at the group again.")
    word = desk.anonymity.pseudonym
    everybody = (member.learner for member in found.members)
    names = [name for name in everybody if not form.get(f"out:{word(name, kata)}")]
    if not form.get("points", "").strip():
        rows = desk.book.rows(katas=[kata], learners=names)
        return desk.book.decide_together([_at_fault(desk, row, made) for row in rows])
    kind = events.Override if form.get("set") else events.Adjust
    points = _points(desk, form, kind, names)
    return desk.book.decide_together(
        [kind(learner=name, kata=kata, points=points, made=made) for name in names]
    )


def _at_fault(desk: DeskReader, row: Mark, made: events.Provenance) -> events.Remark:
    """Return a remark where one about a failure belongs: at the function at fault, else at the first line."""
    bundle = desk.book.bundle(row.attempt) if row.attempt is not None else None
    if bundle is None or row.attempt is None:
        name = desk.anonymity.name(row.learner, row.kata)
        raise UsageError(f"The gradebook has no files of {name}'s hand-in.", "Leave them out.")
    fault = lines_at_fault(text_of(bundle.main, bundle.files[bundle.main]), row.report)
    return events.Remark(
        learner=row.learner,
        kata=row.kata,
        attempt=row.attempt,
        file=bundle.main,
        line=fault.start or 1,
        made=made,
    )


def settle(desk: DeskReader, form: Form) -> int | None:
    """Do what is proposed about the problems that are ticked, or what was typed in its place, as one decision."""
    ticked = _ticked(desk, form)
    made = events.Provenance(author=desk.author, comment="as proposed")
    if (kind := ticked[0].kind) == WITHOUT_EFFECT:
        numbers = (int(problem.proposal) for problem in ticked)
        desk.book.undo(*numbers, author=made.author, comment=made.comment, only=events.RULING)
        return None
    settled_by = {problem: form.get(f"by:{problem.id}", problem.proposal).strip() for problem in ticked}
    if lacking := [problem for problem, how in settled_by.items() if not how]:
        name = desk.anonymity.name(lacking[0].learner, lacking[0].kata)
        raise UsageError(f"{name}, {lacking[0].what}: this says nothing that settles it.")
    if kind == UNMATCHED:
        return desk.book.decide_together(
            [
                events.Alias(learner=resolve_learner(desk.book, whose), name=problem.learner, made=made)
                for problem, whose in settled_by.items()
            ]
        )
    wanted = [TakenFile(problem.learner, problem.kata, file) for problem, file in settled_by.items()]
    desk.taking.take(wanted, desk.author)
    return None  # the page says how far that is, and then what was decided


def ignore(desk: DeskReader, form: Form) -> int:
    """Let problems be: they are not asked about again, unless they become others."""
    made = events.Provenance(author=desk.author, comment="nothing is done about it")
    return desk.book.decide_together(
        [
            events.Ignore(
                learner=problem.learner or None, kata=problem.kata or None, problem=problem.text, made=made
            )
            for problem in _ticked(desk, form)
        ]
    )


def verdict(desk: DeskReader, form: Form) -> int:
    """Note what somebody has found out about learners whose hand-ins are alike: two, or all pairs of a cluster."""
    made, found = _made(desk, form), []
    every = [dict(parse_qsl(text)) for name, text in form.items() if name.startswith("pair:")]
    for pair in every or [dict(form)]:
        katas = pair.get("katas", "").split()
        left, right = (desk.anonymity.learner(pair.get(side, ""), *katas) for side in ("left", "right"))
        found += [events.Alike(learner=left, kata=kata, other=right, made=made) for kata in katas]
    return desk.book.decide_together(found)


def _ticked(desk: DeskReader, form: Form) -> list[Problem]:
    """Return the problems that are ticked, of one kind."""
    desk.everybody.invalidate()
    open_ = [problem for problem in desk.problems() if problem.kind == form.get("kind")]
    wanted = {name.removeprefix("on:") for name in form if name.startswith("on:")}
    if not wanted:
        raise UsageError("Nothing is ticked.")
    ticked = [problem for problem in open_ if problem.id in wanted]
    if len(ticked) < len(wanted):
        raise ConflictError("In the meantime some of this was settled.", "Look at what is left.")
    return ticked


def undo(sort: events.Sort, desk: DeskReader, form: Form) -> None:
    """Take a decision of this sort back."""
    desk.book.undo(_whole(form, "number"), author=desk.author, comment=_text(form), only=sort)


def assign(desk: DeskReader, form: Form) -> None:
    """Share out what a filter lets through and is nobody's to mark: all of it, or the first few."""
    names = list(dict.fromkeys(name.strip() for name in form.get("markers", "").split(",") if name.strip()))
    free = desk.unassigned(Filter.of(form))
    most = max(0, min(_whole(form, "most"), MOST_TAKEN)) if form.get("most") else None
    if not names:
        raise UsageError("Nobody is named.", "Name the markers, separated by commas.")
    # The page may be older than what others took: the gradebook says which are still free.
    if not desk.book.assign(free, names, comment=_text(form), author=desk.author, most=most):
        raise UsageError("Everything here is already somebody's to mark, or was reviewed.")


# Written answers


def mark_answer(desk: DeskReader, sheets: Sheets, form: Form) -> int:
    """Mark a written answer by its rubric, or with other points; on request also those that say the same."""
    learner, kata = _mark(desk, form)
    comment = _comment(form)
    met = [number for number in range(1, MOST_CRITERIA + 1) if form.get(f"met{number}")]
    points = _number(form, "points") if form.get("points", "").strip() else None
    if form.get("nothing"):
        met, points = [], 0.0
    elif not met and points is None:
        # A key that was lost on the way leaves nothing ticked: 0 points must be meant.
        raise UsageError("No criterion is ticked.", "The key 0 gives no points.")
    question, digest = _whole(form, "question"), form.get("digest", "")
    shown = load_sheet(desk.book, sheets.rubrics, learner, kata).answers
    if (question, digest) not in [(written_answer.number, written_answer.digest) for written_answer in shown]:
        raise ConflictError("The answer was handed in again in the meantime.", "Read it again, then mark it.")
    made = events.Provenance(author=desk.author, comment=comment)
    mark = written_answers.mark_of(sheets.rubrics, kata, question, met, points, made=made)
    given = [Given(learner, kata, replace(mark, answer=digest), _whole(form, "seen") or None)]
    for same in sheets.similar_answers(learner, kata, question) if form.get("same") else ():
        seen = same.mark.id if same.mark is not None else None
        given.append(Given(same.learner, kata, replace(mark, answer=same.digest), seen))
    return desk.book.mark_answers(given)


def set_criterion(desk: DeskReader, sheets: Sheets, form: Form) -> int:
    """Add a criterion to a question, or change one and, on request, the marks that were given with it."""
    new = events.CourseCriterion(
        kata=form.get("of", ""),
        question=_whole(form, "question"),
        number=_whole(form, "number") if form.get("number") else None,
        met=form.get("met", "").strip()[:MOST_LETTERS],
        points=_number(form, "points"),
    )
    follow = bool(form.get("follow"))
    return written_answers.set_criterion(desk.book, sheets.rubrics, new, follow=follow, author=desk.author)


def take_sheets(desk: DeskReader, sheets: Sheets, form: Form) -> None:
    """Take the next few sheets that wait and are nobody's; two who do so get different ones."""
    most = max(1, min(_whole(form, "most"), MOST_TAKEN))
    free = dict.fromkeys((place.learner, place.kata) for place in sheets.page(Filter.of(form)).free)
    # The page may be older than what others took: the gradebook says which of these are still free.
    if not desk.book.assign(free, [desk.author], comment="written answers", author=desk.author, most=most):
        raise ConflictError(
            "Somebody else has taken these sheets, or no sheet waits any more.",
            "Open the page again and take the next ones.",
        )


def release(desk: DeskReader, sheets: Sheets, form: Form) -> int:
    """Let learners see written marks."""
    of = form.get("for", "")
    if of and of not in desk.course.assignments:
        raise UsageError(f"There is no assignment {of}.")
    anyway = bool(form.get("anyway"))
    return written_answers.release(
        desk.book, sheets.rubrics, of, comment=_text(form), author=desk.author, anyway=anyway
    )


OF_ANSWERS: dict[str, Callable[[DeskReader, Sheets, Form], int | None]] = {
    action.__name__: action for action in (mark_answer, set_criterion, take_sheets, release)
}
"""Those about written answers."""
ACTIONS: dict[str, Callable[[DeskReader, Form], int | None]] = {
    action.__name__: action
    for action in (
        adjust, override, extend, choose, remark, reviewed, dispute, answer, close, decide_group, settle, ignore,
        verdict, assign,
    )
}  # fmt: skip
ACTIONS |= {sort.undo: partial(undo, sort) for sort in (events.CHANGE, events.RULING, events.ANSWER_MARK)}
"""By the last word of the address that a form is sent to. What writes a single decision returns its number."""


def _points(desk: DeskReader, form: Form, kind: type[events.PointsChange], learners: list[str]) -> float:
    """Return the points that a form gives these learners; more than there are must be on purpose."""
    points = _number(form, "points")
    for row in desk.book.rows(katas=[form.get("of", "")], learners=learners):
        named = replace(row, learner=desk.anonymity.name(row.learner, row.kata))
        mark_meant(named, kind, points, beyond=bool(form.get("beyond")))
    return points


def _mark(desk: DeskReader, form: Form) -> tuple[str, str]:
    kata = form.get("of", "")
    return desk.anonymity.learner(form.get("learner", ""), kata), kata


def _made(desk: DeskReader, form: Form) -> events.Provenance:
    return events.Provenance(author=desk.author, comment=_text(form))


def _seen(form: Form) -> int:
    return _whole(form, "version")


def _text(form: Form) -> str:
    text = _comment(form)
    if not text:
        raise UsageError("The comment is empty, so nothing was written.", "Enter the reason or the remark.")
    return text


def _comment(form: Form) -> str:
    text = form.get("comment", "").replace("\r\n", "\n").strip()
    if len(text) > MOST_LETTERS:
        raise UsageError(f"This is {len(text)} characters long; at most {MOST_LETTERS} are kept.")
    return text


def _number(form: Form, name: str) -> float:
    number = typed_number(form.get(name, "").replace(",", "."))
    if number is None or abs(number) > MOST_POINTS:
        raise UsageError(f"{name.capitalize()} must be a number.", "For example 2 or -1.5.")
    return number


def _whole(form: Form, name: str) -> int:
    number = whole_number(form.get(name, "").strip())
    if number is None:
        raise UsageError(f"The form's {name} is not a number.", "Open the page again.")
    return number
