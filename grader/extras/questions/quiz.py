"""Make the questions of one learner about one module: drawn from what it says and whose it is, true by running it."""

from __future__ import annotations

import ast
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice, takewhile
from typing import TypeVar

import msgspec
import pytest

from grader.api import Launcher, Outcome, Source, Suite, UsageError, clean
from grader.extras.questions.own_code import Edit, OwnCode, edits_of
from grader.extras.questions.rehearsal import NotedCall, Version, raised_in, stage

T = TypeVar("T")
SEEDS = (0, 1, 2)
CHECKS, CHEAPEST = 6, 5
"""Checks that are drawn and watched at least, and those of them that questions are about."""
EDITS = 7
"""Changed lines that are tried, each in a worker of its own."""
REACHED = 2
"""Checks that are tried to see whether a changed line raises an error elsewhere."""
AN_OPTION_MORE = 3
COSTLY = 1000
"""What the checks that questions are about cost together where each time that they are run counts."""


class QuizQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A question with four options, of which one is true."""

    kind: str
    """`shape`, `result`, `edit`, `purpose` or `raises`."""
    text: str
    code: str
    """The line that it is about, with its number; empty where the options are lines."""
    options: tuple[str, ...]
    right: int
    why: str


@dataclass(eq=False)
class Quiz:
    """What is known of one module, and the questions that follow from it."""

    code: OwnCode
    file: str
    draw: random.Random
    titles: dict[str, str]
    """Of checks, by name."""
    watched: Version
    items: list[pytest.Item] = field(default_factory=list)
    calls: dict[pytest.Item, list[NotedCall]] = field(default_factory=dict)
    """The calls of each of these checks, watched, at seed 0."""
    changed: list[tuple[Edit, Version]] = field(default_factory=list)
    questioned: list[Edit] = field(default_factory=list)
    """Changes that a question was about: the next one is not to give its answer away."""

    def watch(self, items: Sequence[pytest.Item], drawn: int = CHECKS, most: int = CHEAPEST) -> None:
        """Run some checks over the module with probes, and take of those that pass what costs least.

        Raises:
            UsageError: one does not pass.
        """
        passing: list[pytest.Item] = []
        for tried, item in enumerate(self.shuffled(items), 1):
            status = self.watched.end(item, 0).status
            # Slow or long says nothing against it, and nothing can be asked about it.
            if status not in ("pass", "timeout", "skipped"):
                raise UsageError(
                    f"{self.file} does not pass “{self.titles[item.name]}”; questions are about what passes.",
                    "First: kata check",
                )
            passing += [item] if status == "pass" else []
            if tried >= drawn and len(passing) >= CHEAPEST:
                break
        # Not by time: the same questions come on every machine.
        self.items = sorted(passing, key=lambda item: self.watched.cost(item, 0))[:most]
        self.calls = {item: self.watched.calls(item, 0) for item in self.items}

    def change(self, put: Callable[[str], Version]) -> None:
        """Draw changed lines, of those that ran in these checks."""
        ran = {line for item in self.items for line in self.ran(item)}
        edits = [edit for edit in edits_of(self.code) if edit.line in ran]
        self.changed = [(edit, put(edit.text)) for edit in self.shuffled(edits)[:EDITS]]

    def mixed(self) -> Iterator[QuizQuestion]:
        """Yield questions of all kinds in turn, as long as there are any, none twice."""
        shapes = self.shapes()
        # Where checks are long twice in turn, since they cost next to nothing: all is known from watching.
        long = sum(self.watched.cost(item, 0) for item in self.items) > COSTLY
        waiting = [
            *self.shuffled([self.edits(), self.purposes(), self.raises(), self.results()]),
            *[shapes] * (1 + long),
        ]
        texts: set[tuple[str, str]] = set()
        while waiting:
            kind = waiting.pop(0)
            for question in kind:
                if (
                    len(question.options) == 1 + AN_OPTION_MORE
                    and (question.text, question.code) not in texts
                ):
                    texts.add((question.text, question.code))
                    yield question
                    # To the end of the queue, so that the kinds take turns.
                    waiting.append(kind)
                    break

    # Kinds ----------------------------------------------------------------------------------------------------------

    def edits(self) -> Iterator[QuizQuestion]:
        """Which of four changed lines does a check notice?"""
        for item in self.shuffled(self.items):
            passing: list[tuple[Edit, Version]] = []
            failing: list[tuple[Edit, Version]] = []
            ran, clear = self.ran(item), False
            # What does not even run in this check is not a choice to think about: it comes last.
            tried = self.shuffled([changed for changed in self.changed if changed[0].shown])
            for edit, version in sorted(tried, key=lambda changed: changed[0].line not in ran):
                status = version.end(item, 0).status
                (passing if status == "pass" else failing).append((edit, version))
                clear |= status == "fail" and edit not in self.questioned
                if clear and len(passing) == AN_OPTION_MORE:
                    break
            # What raises an exception is easily seen to; a wrong number has to be thought about.
            failing.sort(key=lambda changed: changed[1].end(item, 0).status == "error")
            for edit, version in failing:
                if edit in self.questioned or len(passing) < AN_OPTION_MORE:
                    continue
                others = _first(passing, lambda changed: self.passes(changed[1], item))  # noqa: B023 - used at once
                end = self.steady(version, item)
                if end is not None and len(others) == AN_OPTION_MORE:
                    self.questioned.append(edit)
                    yield self.question(
                        "edit",
                        f"Each of these changes is made alone. With which one does the check "
                        f"“{self.titles[item.name]}” fail?",
                        [
                            f"line {option.line}: `{option.shown}`"
                            for option in (edit, *(other for other, _ in others))
                        ],
                        _reason(end),
                    )
                    break

    def purposes(self) -> Iterator[QuizQuestion]:
        """Which check notices that a line is gone, or another?"""
        for edit, version in sorted(self.shuffled(self.changed), key=lambda changed: bool(changed[0].shown)):
            if edit in self.questioned:
                continue
            failing: list[pytest.Item] = []
            rest: list[pytest.Item] = []
            for item in self.shuffled(self.items):
                (rest if version.end(item, 0).status == "pass" else failing).append(item)
                # Enough of both, or too few left that may pass: each further check takes time.
                enough = failing and len(rest) == AN_OPTION_MORE
                if enough or len(failing) > len(self.items) - AN_OPTION_MORE:
                    break
            if not failing or len(rest) < AN_OPTION_MORE:
                continue
            item = failing[0]
            passing = _first(rest, lambda other: self.passes(version, other))  # noqa: B023 - used at once
            end = self.steady(version, item)
            if end is not None and len(passing) == AN_OPTION_MORE:
                self.questioned.append(edit)
                yield self.question(
                    "purpose",
                    f"{_happens(edit)}Which of these checks fails then?",
                    [self.titles[option.name] for option in (item, *passing)],
                    _reason(end),
                    edit.line,
                )

    def raises(self) -> Iterator[QuizQuestion]:
        """In which line is the error raised that a change elsewhere leads to?"""
        for edit, version in self.shuffled(self.changed):
            reached = [
                item for item in self.items if edit.line in self.ran(item) and edit not in self.questioned
            ][:REACHED]
            for item in reached:
                lines = raised_in(version.end(item, 0), self.file)
                # Raised in the changed line itself it would be no question, and raised now and then it has
                # no answer.
                if not lines or lines[-1] == edit.line or self.steady(version, item) is None:
                    continue
                self.questioned.append(edit)
                others = self.shuffled(sorted(self.ran(item) - {edit.line, *lines}))
                options = [self.line(number) for number in (lines[-1], *others)]
                if edit.shown:  # a line that is gone raises nothing
                    options.insert(1, f"line {edit.line}: `{edit.shown}`")
                yield self.question(
                    "raises",
                    f"{_happens(edit)}The check “{self.titles[item.name]}” then ends in an error. "
                    f"Which line of {self.file} raises it?",
                    options,
                    _reason(version.end(item, 0)),
                    edit.line,
                )
                break

    def results(self) -> Iterator[QuizQuestion]:
        """What does a call return, and what would it have returned with another line?"""
        places = [(check, place) for check, calls in self.calls.items() for place in range(len(calls))]
        called: set[str] = set()
        for item, place in self.shuffled(places):
            call = self.calls[item][place]
            function = call.text.partition("(")[0]
            if not call.result or function in called or self.sure(item, place).result != call.result:
                continue
            called.add(function)
            # What other lines would have led to, as far as other questions have run them.
            noted = [version.noted(item, 0) for _, version in self.changed]
            others = [calls[place].result for calls in noted if len(calls) > place]
            alike = [text for text in others if text[:1] == call.result[:1]]
            near = [*alike, *self.shuffled(results_near(call.result))]
            yield self.question(
                "result",
                f"What does this return?\n{call.text}",
                [call.result, *near],
                "your code returned it",
            )

    def shapes(self) -> Iterator[QuizQuestion]:
        """What is an expression during a call?"""
        found = [
            (item, place, number, texts[0])
            for item, calls in self.calls.items()
            for place, call in enumerate(calls)
            for number, texts in call.facts.items()
            if number < len(self.code.places) and len(texts) == 1 and texts[0]
        ]
        per_line: Counter[int] = Counter()
        used: set[int] = set()
        for item, place, number, fact in self.shuffled(found):
            where, call = self.code.places[number], self.sure(item, place)
            # Once an expression and twice a line at most, or a long one would fill the quiz.
            if number in used or per_line[where.line] > 1 or call.facts.get(number) != [fact]:
                continue
            used.add(number)
            per_line[where.line] += 1
            seen = [texts[0] for texts in call.facts.values() if len(texts) == 1 and texts[0]]
            near = [text for text in self.shuffled(seen) if ("[" in text) == ("[" in fact)]
            others = [*near[:2], *self.shuffled(facts_near(fact)), *near[2:]]
            text = f"A check calls\n{call.text}\n{where.question()}"
            yield self.question("shape", text, [fact, *others], f"it was {fact}", where.line)

    # What is true ---------------------------------------------------------------------------------------------------

    def steady(self, version: Version, item: pytest.Item) -> Outcome | None:
        """Return how a check ends if it ends alike on all seeds."""
        ends = [version.end(item, seed) for seed in SEEDS]
        alike = len({(end.status, tuple(raised_in(end, self.file))) for end in ends}) == 1
        return ends[0] if alike and ends[0].status in ("pass", "fail", "error") else None

    def passes(self, version: Version, item: pytest.Item) -> bool:
        """Return whether a check passes with a version on all seeds."""
        end = self.steady(version, item)
        return end is not None and end.status == "pass"

    def sure(self, item: pytest.Item, place: int) -> NotedCall:
        """Return of one call what is the same with other random numbers of the module's own."""
        again = [self.watched.calls(item, seed) for seed in SEEDS]
        first, *others = [calls[place] for calls in again if len(calls) > place]
        alike = len(others) + 1 == len(SEEDS) and all(call.text == first.text for call in others)
        result = first.result if alike and all(call.result == first.result for call in others) else ""
        facts = {
            number: texts
            for number, texts in first.facts.items()
            if alike and all(call.facts.get(number) == texts for call in others)
        }
        return NotedCall(first.text, result, facts)

    # Pieces ---------------------------------------------------------------------------------------------------------

    def shuffled(self, things: Sequence[T]) -> list[T]:
        """Return things in an order that is this learner's."""
        return self.draw.sample(list(things), len(things))

    def ran(self, item: pytest.Item) -> set[int]:
        """Return the lines of which something was evaluated in a check's calls."""
        numbers = {number for call in self.calls[item] for number in call.facts}
        return {self.code.places[number].line for number in numbers if number < len(self.code.places)}

    def line(self, number: int) -> str:
        """Return a line with its number, as an option."""
        return f"line {number}: `{self.code.line(number)}`"

    def question(self, kind: str, text: str, options: Sequence[str], why: str, line: int = 0) -> QuizQuestion:
        """Put the first option, which is right, among the next three that differ; with fewer there is no question."""
        right, *different = list(dict.fromkeys(options))[: 1 + AN_OPTION_MORE]
        shown = tuple(self.shuffled([right, *different]))
        code = f"{line} | {self.code.line(line)}" if line else ""
        return QuizQuestion(kind=kind, text=text, code=code, options=shown, right=shown.index(right), why=why)


def ask(suite: Suite, launcher: Launcher, source: Source, who: str, wanted: int) -> list[QuizQuestion]:
    """Return questions about a module that passes its checks: the same ones whenever they are asked for.

    Raises:
        UsageError: it does not pass, or is not a module.
    """
    try:
        code = OwnCode(source.data)
    except (SyntaxError, ValueError) as error:
        raise UsageError(
            f"{source.path.name} is not a Python module: {error}.", "First: kata check"
        ) from error
    seed = sha256(b"\0".join([suite.kata.slug.encode(), who.encode(), source.data])).digest()
    # "From scratch" is read from the file, in which a probe leads from one function to all others.
    scratch = {item.name for item in suite.items if suite.info(item).aspect == "scratch"}
    quick = suite.select(suite.visible_names() - suite.trained() - suite.speed_names() - scratch)
    titles = {item.name: quick.info(item).title for item in quick.items}
    with stage(suite, launcher, source.path) as put:
        watched = put(code.watched(), watched=True)
        quiz = Quiz(code, source.path.name, random.Random(seed), titles, watched)
        quiz.watch(quick.items)
        quiz.change(put)
        found = list(islice(quiz.mixed(), wanted))
        if len(found) < wanted:  # what costs little may show little
            quiz.watch(quick.items, 2 * CHECKS, 2 * CHECKS)
            quiz.questioned.clear()
            found = list(islice(quiz.mixed(), wanted))
        return found


def _first(things: Sequence[T], holds: Callable[[T], bool]) -> list[T]:
    """Return the first few of which something holds; what comes after them is not looked at: that takes time."""
    return list(islice((thing for thing in things if holds(thing)), AN_OPTION_MORE))


def _happens(edit: Edit) -> str:
    return f"Line {edit.line} becomes\n{edit.shown}\n" if edit.shown else f"Line {edit.line} is taken away. "


def _reason(end: Outcome) -> str:
    """Return what a check says, as the reason why an option is right: how it begins, and an error's own line."""
    lines = [line.strip() for line in (end.message or "").splitlines()]
    if end.status == "error":
        # From the line that raised it on: where it was called from, the line, and what torch says first.
        place = max((at for at, line in enumerate(lines) if re.match(r"\S+, line \d+", line)), default=1)
        shown = [*lines[:1], *lines[max(place, 1) :][:3]]
    else:
        # Without the table of values, of which only the head would be left.
        shown = list(takewhile(lambda line: not line.startswith("expected "), lines[:4]))
    return clean(" / ".join(shown), 300)


_NUMBER = re.compile(r"-?\d+")


def facts_near(fact: str) -> list[str]:
    """Return what might have been there in place of a shape and dtype, or of a small value."""
    dtype, bracket, inside = fact.partition(" [")
    if not bracket:
        return [_shifted(fact, step) for step in (1, -1, 2, 3)]
    sizes = [int(part) for part in inside.rstrip("]").split(", ") if part]
    shapes = [sizes[::-1], [*sizes, 1], [1, *sizes], sizes[1:], sizes[:-1], [size + 1 for size in sizes]]
    others = [name for name in ("float32", "int64", "bool") if name != dtype]
    return [f"{dtype} {shape}" for shape in shapes] + [f"{others[0]} {sizes}"]


def results_near(text: str) -> list[str]:
    """Return what might have been returned in place of a small result: turned round, in part, the opposite."""
    try:
        # Text that the learner's code returned is never evaluated.
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return []
    if not isinstance(value, list | tuple) or not value:
        return facts_near(text)
    rows = [row for row in value if isinstance(row, list)]
    square = len(rows) == len(value) and all(len(row) == len(rows) for row in rows)
    turned = [list(column) for column in zip(*rows, strict=True)] if square else value[1:]
    others = [value[::-1], turned, _opposite(value), _opposite(value[::-1]), value[:-1], [*value, value[-1]]]
    return [str(other) for other in others]


def _shifted(text: str, step: int) -> str:
    return _NUMBER.sub(lambda found: str(int(found[0]) + step), text)


def _opposite(value: object) -> object:
    """Return every bool inverted, and every number one larger."""
    if isinstance(value, list | tuple):
        return type(value)(_opposite(part) for part in value)
    return not value if isinstance(value, bool) else value + 1 if isinstance(value, int) else value
