"""Play a term through the commands that people type, and hold every mark against an oracle.

    python -m benchmarks.term --learners 300 --weeks 12

What happens is drawn (`a_term/script.py`), written as systems give it (`a_term/downloads.py`), graded, and compared at
the end of every week with `a_term/oracle.py`, which computes each mark from the script and imports nothing of Kata.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Protocol

from benchmarks.a_term import oracle, script
from benchmarks.a_term.downloads import module, rosters, write
from benchmarks.a_term.script import (
    Copy,
    Decision,
    Download,
    EndOfWeek,
    Loss,
    Mend,
    Script,
    Step,
    Together,
    due,
    mode,
)

PACKS = Path(__file__).parents[1] / "tests" / "packs"
SPOILED = ("is_value([1, 1, 2, 2])", "is_value([1, 2])")
"""The check that is wrong until it is mended: what it should ask, and what it asks."""

RUBRIC = """
[[questions]]
question = "Why in place?"
model = "Only one number is held aside."
[[questions.criteria]]
met = "names the memory"
points = 2
"""
PLACES = 0.000_051
"""Tables have four decimals."""


class Ran(Protocol):
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str


Kata = Callable[..., Ran]
Counts = tuple[str, float, float, float, float, float]
"""What counts: status, score, maximum, days late, points lost by that, attempts."""
COUNTS = ("status", "score", "max_score", "days_late", "late_points", "attempts")
OF_ONE = frozenset({"adjust", "override", "revoke", "choose", "extend"})
"""Decisions that change marks of one learner alone."""


@dataclass
class Found:
    """How the term went."""

    rows: int = 0
    """Compared, all weeks together."""
    differ: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    unexplained: list[str] = field(default_factory=list)
    changes: int = 0
    commands: int = 0
    failed: list[str] = field(default_factory=list)
    """Commands that did not end as they should."""
    exports: list[str] = field(default_factory=list)
    """Cells of systems' files that are not the mark."""
    cells: int = 0
    copied: int = 0
    seen_alike: int = 0
    stopped: int = 0
    """Marks that a run which was stopped had not come to."""
    unmarked: int = 0
    """Learners whose written answers nobody has marked, and whose cells are empty for that."""
    took: dict[str, list[float]] = field(default_factory=dict)
    """Seconds, by command; of `kata grade` by layout."""

    @property
    def clean(self) -> bool:
        return not (self.differ or self.lost or self.unexplained or self.failed or self.exports)


def make_pack(folder: Path, weeks: int, spoiled: int) -> None:
    """Write a pack with a toy kata for every week; of one of them a check is wrong."""
    for kind, source in (("katas", PACKS / "tiny"), ("solutions", PACKS / "solutions")):
        root = folder / kind
        if (source / "pack.toml").exists():
            root.mkdir(parents=True, exist_ok=True)
            shutil.copy(source / "pack.toml", root)
        toy = source / "1.1-sorting" / "insertion-sort"
        unit = root / "1.1-sorting"
        for week in range(1, weeks + 1):
            home = unit / module(week)
            shutil.copytree(toy, home, ignore=shutil.ignore_patterns("__pycache__"))
            (home / "insertion_sort.py").rename(home / f"{module(week)}.py")
            if kind == "solutions" and week == weeks:
                (home / "rubric.toml").write_text(RUBRIC, encoding="utf-8")
            if kind == "katas":
                data = (home / "kata.toml").read_text(encoding="utf-8")
                data = data.replace('"1.1.1"', f'"1.1.{week}"').replace(
                    'title = "Insertion', f'title = "Week {week}: i'
                )
                data = data.replace('module = "insertion_sort"', f'module = "{module(week)}"')
                (home / "kata.toml").write_text(data, encoding="utf-8")
                if week == spoiled:
                    _replace(home / "checks.py", *SPOILED)
        for name in ("unit.toml", "README.md"):
            if (source / "1.1-sorting" / name).exists():
                shutil.copy(source / "1.1-sorting" / name, unit)


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text, path
    path.write_text(text.replace(old, new), encoding="utf-8")


class Term:
    """A term that is being played in a folder."""

    def __init__(self, play: Script, folder: Path, kata: Kata, say: Callable[[str], None]) -> None:
        self._play = play
        self._folder = folder
        self._kata = kata
        self._say = say
        self._learners = {one.login for one in play.learners} | {play.visitor}
        self._marks: dict[tuple[str, str], Counts] = {}
        self._decided = False
        """Whether only marks of those were looked at about whom something was decided since the last whole look."""
        self._changed: list[tuple[str, str, datetime, datetime, str]] = []
        """Who, which kata, between which moments the mark changed, and how."""
        self._copy: tuple[Path, dict[tuple[str, str], Counts], int] | None = None
        self.found = Found()

    def run(self) -> Found:
        """Play it to the end."""
        make_pack(self._folder / "pack", self._play.weeks, self._play.mended)
        self._begin()
        for number, step in enumerate(self._play.steps):
            self._step(number, step)
        self._explain()
        self._exports()
        self._problems()
        self._alike()
        self._unmarked()
        return self.found

    def _type(self, *words: object, codes: Iterable[int] = (0,), called: str = "") -> Ran:
        started = time.monotonic()
        ran = self._kata(*words)
        called = called or " ".join(map(str, words[: 2 if words[0] in ("gradebook", "course") else 1]))
        self.found.took.setdefault(called, []).append(time.monotonic() - started)
        self.found.commands += 1
        if ran.code not in codes:
            self.found.failed.append(
                f"kata {' '.join(map(str, words))}: {ran.code}\n{ran.out[-2000:]}{ran.err[-2000:]}"
            )
        return ran

    def _begin(self) -> None:
        files = rosters(self._play, self._folder)
        week_words = [f"week{week}={module(week)}" for week in range(1, self._play.weeks + 1)]
        words: list[object] = ["course", "new", "--timezone", script.ZONE.key]
        for file in files:
            words += ["--roster", file.name]
        for word in week_words:
            words += ["--assignment", word]
        self._type(*words)
        (self._folder / "course.toml").write_text(_course(self._play), encoding="utf-8")

    def _step(self, number: int, step: Step) -> None:
        if isinstance(step, Decision) and step.kind in OF_ONE:
            before = datetime.now(UTC)
            self._decide(step)
            self._look_at(step.login, before)
            self._decided = True
            return
        if self._decided:
            self._nobody_else()
        before = datetime.now(UTC)
        if isinstance(step, Download):
            self._grade(step)
        elif isinstance(step, Decision):
            self._decide(step)
        elif isinstance(step, Together):
            self._decide_together(step)
        elif isinstance(step, Mend):
            self._mend(step)
        elif isinstance(step, Copy):
            shutil.copy(self._book, self._folder / "copy.sqlite")
            self._copy = self._folder / "copy.sqlite", dict(self._marks), number
        elif isinstance(step, Loss):
            self._lose(number)
        elif isinstance(step, EndOfWeek):
            self._look(before)
            self._compare(number, step)
            return
        if not isinstance(step, Copy | Loss):
            self._look(before)

    @property
    def _book(self) -> Path:
        return self._folder / "gradebook.sqlite"

    def _grade(self, step: Download) -> None:
        target, times = write(self._play, step, self._folder / "download")
        words: list[object] = ["grade", target.relative_to(self._folder), "--assignment", f"week{step.week}"]
        if times is not None:
            words += ["--times", times.relative_to(self._folder)]
        if step.stopped:
            self._stop(step, words)
        self._type(*words, called=f"grade, {step.layout}")

    def _stop(self, step: Download, words: list[object]) -> None:
        """Type Ctrl-C while a download is graded, and export: what was not reached has no mark."""
        there = {*step.empty_handed, *(login for one in step.hand_ins for login in one.whose)}
        # Whose folder's name says nothing is nobody's until somebody says whose.
        plain = {
            login
            for one in step.hand_ins
            if one.form == "plain"
            for login in one.whose
            if step.called.get(one.whose[0], one.whose[0]).lower() == one.whose[0]
        }
        with interrupted(after=len(there) // 3):
            self._type(*words, codes=(130,), called="grade, stopped")
        ran = self._type("gradebook", "export", "--format", "csv")
        rows = {
            row["learner"]: row
            for row in csv.DictReader(io.StringIO(ran.out))
            if row["kata"] == module(step.week)
        }
        left = {learner for learner, row in rows.items() if row["status"] == "not_graded"}
        numbers = {str(one.number): one.login for one in self._play.learners}
        canvas = self._type("gradebook", "export", "--format", "canvas").out
        cells = {
            numbers.get(row["ID"]): list(row.values())[-1] for row in csv.DictReader(io.StringIO(canvas))
        }
        wrong = left - there | {one for one in left if rows[one]["score"] or cells.get(one)}
        wrong |= {one for one in plain - left if one in rows and rows[one]["status"] == "missing"}
        if wrong or not left or "was stopped at" not in ran.err:
            self.found.differ.append(f"week {step.week}, stopped: {sorted(wrong)}, {len(left)} left")
        self.found.stopped += len(left)

    def _decide(self, step: Decision) -> None:
        kata = module(step.week)
        why: list[object] = ["--comment", step.why, "--author", step.by]
        words: dict[str, list[object]] = {
            "adjust": [step.login, kata, f"{step.points:+g}", "--beyond"],
            "override": [step.login, kata, f"{step.points:g}", "--beyond"],
            "revoke": [step.login, kata],
            "extend": [step.login, f"week{step.week}", step.days],
            "take": [step.login, kata, f"{kata}_final_v3.py"],
            "alias": [step.login, step.name, *["--ahead"] * (" " in step.name)],
        }
        if step.kind == "choose":
            number = self._attempt(step)
            if number is None:
                self.found.failed.append(f"{step.login}, {kata}: the attempt that was chosen is nowhere")
                return
            words["choose"] = [step.login, kata, number]
        self._type("gradebook", step.kind, *words[step.kind], *why)

    def _attempt(self, step: Decision) -> int | None:
        """Return the number of what was handed in at a time; where none is known, of the first."""
        events = json.loads(self._type("gradebook", "history", step.login, module(step.week), "--json").out)[
            "events"
        ]
        attempts = [one for one in events if one["kind"] == "attempt" and one["digest"]]
        exact = [one for one in attempts if one["submitted_at"] and _moment(one["submitted_at"]) == step.at]
        return next((int(one["number"]) for one in (exact or attempts)), None)

    def _decide_together(self, step: Together) -> None:
        path = self._folder / "points.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            table = csv.writer(file)
            table.writerow(["learner", "kata", "points", "comment"])
            table.writerows([one.login, module(one.week), one.points, one.why] for one in step.decisions)
        self._type("gradebook", "adjust-all", path.name, "--beyond", "--author", "kim")

    def _mend(self, step: Mend) -> None:
        checks = self._folder / "pack" / "katas" / "1.1-sorting" / module(step.week) / "checks.py"
        if SPOILED[1] in checks.read_text(encoding="utf-8"):  # else it was mended before the loss
            _replace(checks, *reversed(SPOILED))
        before = self._marks
        self._type("regrade", "--only", module(step.week), "--dry-run")
        if self._snapshot() != before:
            self.found.differ.append("kata regrade --dry-run changed marks")
        self._type("regrade", "--only", module(step.week))

    def _lose(self, number: int) -> None:
        """Take the copy, and do again what was done since."""
        assert self._copy is not None
        self._explain()
        path, marks, copied_at = self._copy
        lost = self._marks
        for one in self._folder.glob("gradebook*"):
            one.unlink()
        shutil.copy(path, self._book)
        self._marks = self._snapshot()
        if self._marks != marks:
            self.found.differ.append("the copy is not what was copied")
        for place in range(copied_at + 1, number):
            self._step(place, self._play.steps[place])
        if self._marks != lost:
            self.found.differ += [
                f"after the loss: {key}: {lost.get(key)} → {self._marks.get(key)}"
                for key in {**lost, **self._marks}
                if lost.get(key) != self._marks.get(key)
            ]

    def _snapshot(self) -> dict[tuple[str, str], Counts]:
        out = self._type("gradebook", "export", "--format", "csv").out
        return {(row["learner"], row["kata"]): _counts(row) for row in csv.DictReader(io.StringIO(out))}

    def _look(self, before: datetime) -> None:
        self._changes(self._snapshot(), before)

    def _look_at(self, learner: str, before: datetime) -> None:
        """Look at the marks of one learner."""
        told = json.loads(self._type("gradebook", "show", learner, "--json").out)
        others = {key: mark for key, mark in self._marks.items() if key[0] != learner}
        self._changes(others | {(learner, row["kata"]): _counts(row) for row in told["katas"]}, before)

    def _changes(self, now: dict[tuple[str, str], Counts], before: datetime) -> None:
        at = datetime.now(UTC)
        self._changed += [
            (learner, kata, before, at, f"{self._marks.get((learner, kata))} → {now.get((learner, kata))}")
            for learner, kata in {**self._marks, **now}
            if self._marks.get((learner, kata)) != now.get((learner, kata))
        ]
        self._marks = now

    def _nobody_else(self) -> None:
        """Look at everybody after decisions about some, whose marks were looked at: no other may have changed."""
        now = self._snapshot()
        self.found.unexplained += [
            f"{', '.join(key)}, by a decision about another: {self._marks.get(key)} → {now.get(key)}"
            for key in {**self._marks, **now}
            if self._marks.get(key) != now.get(key)
        ]
        self._marks = now
        self._decided = False

    def _compare(self, number: int, step: EndOfWeek) -> None:
        expected = oracle.marks(self._play, self._play.steps[: number + 1])
        known = len(self.found.differ)
        for (login, week), mark in expected.items():
            self.found.rows += 1
            got = self._marks.get((login, module(week)))
            want = (mark.status, mark.score, oracle.POINTS, mark.days_late, mark.late_points, mark.attempts)
            if got is None:
                self.found.lost.append(f"week {step.week}: {login} has no row for {module(week)}")
            elif got[0] != want[0] or any(
                abs(one - other) > PLACES for one, other in zip(got[1:], want[1:], strict=True)
            ):
                self.found.differ.append(
                    f"week {step.week}, {login}, {module(week)} ({mode(week)}): {got}, should be {want}"
                )
        strangers = {learner for learner, _ in self._marks} - self._learners
        self.found.differ += [
            f"week {step.week}: a row of nobody, {learner}" for learner in sorted(strangers)
        ]
        self._say(
            f"week {step.week}: {len(expected)} rows, {len(self.found.differ)} differ until now, "
            f"{len(self.found.lost)} lost, {len(self.found.unexplained)} changed by a decision about another"
        )
        for wrong in self.found.differ[known : known + 5]:
            self._say(f"  {wrong}")

    def _explain(self) -> None:
        """Find for every change the row that says who and why."""
        told: dict[str, list[tuple[datetime, bool]]] = {}
        for learner in sorted({one for one, *_ in self._changed}):
            ran = self._type("gradebook", "history", learner, "--json")
            told[learner] = [
                (_moment(event["at"]), _says_why(event))
                for event in json.loads(ran.out or '{"events": []}')["events"]
            ]
        for learner, kata, since, until, how in self._changed:
            self.found.changes += 1
            mine = [says for at, says in told[learner] if since <= at <= until]
            if not any(mine) and not self._first_row(learner, kata, since):
                self.found.unexplained.append(
                    f"{learner}, {kata}, {since:%H:%M:%S} to {until:%H:%M:%S}: {how}"
                )
        self._changed = []

    def _first_row(self, learner: str, kata: str, since: datetime) -> bool:
        """Whether the change is that a kata came into the gradebook, and there is nothing of this learner: no mark."""
        del since
        status, score, *_ = self._marks.get((learner, kata), ("gone", 0.0))
        return status in ("missing", "gone") and score == 0

    def _exports(self) -> None:
        """Read what goes back into the systems by their own ids."""
        final = oracle.marks(self._play, self._play.steps)
        given = {login for login, week in oracle.changed(self._play.steps) if week == 1}
        people = {str(one.number): one.login for one in self._play.learners}
        addresses = {one.email: one.login for one in self._play.learners}
        logins = {one.login: one.login for one in self._play.learners}
        for system, column, names in (
            ("canvas", "ID", people),
            ("moodle", "Email address", addresses),
            ("blackboard", "Username", logins),
            ("brightspace", "Username", {f"#{login}": login for login in logins}),
        ):
            out = self._type("gradebook", "export", "--format", system).out
            rows = {names.get(row[column], ""): row for row in csv.DictReader(io.StringIO(out))}
            for learner in logins:
                if learner not in rows:
                    self.found.exports.append(f"{system}: {learner} is not in it")
                    continue
                for week in range(1, self._play.weeks + 1):
                    self.found.cells += 1
                    heading = f"1.1.{week} Week {week}:"
                    cell = next(
                        text for name, text in rows[learner].items() if name and name.startswith(heading)
                    )
                    mark = final[learner, week]
                    # The one whom the roster does not know handed in for week 1: one who did not may be that one.
                    unsure = week == 1 and mark.status == "missing" and learner not in given
                    fits = not cell if unsure else cell != "" and abs(float(cell) - mark.score) < 0.0051
                    if not fits:
                        self.found.exports.append(
                            f"{system}: {learner}, week {week}: {cell}, should be {mark.score}"
                        )

    def _problems(self) -> None:
        """Look at what is open in the end: every attempt that is newer and does not count, no time, and no run."""
        found = json.loads(self._type("gradebook", "problems", "--json").out)["problems"]
        over = {
            (one["learner"], one["kata"]) for one in found if one["kind"] == "a newer attempt does not count"
        }
        final = oracle.marks(self._play, self._play.steps)
        want = {(login, module(week)) for (login, week), mark in final.items() if mark.passed_over}
        self.found.differ += [f"passed over: {one}" for one in sorted(over ^ want)]
        self.found.differ += [
            f"open in the end: {one['what']}"
            for one in found
            if one["kind"] in ("not graded", "time not used")
        ]

    def _unmarked(self) -> None:
        """Mark one of the written answers and release them all: what waits for a mark is an empty cell, and no 0."""
        week, final = self._play.weeks, oracle.marks(self._play, self._play.steps)
        answered = oracle.written(self._play)
        marked = next((login for login, in_time in answered.items() if in_time), None)
        if marked is None:
            return
        self._type("gradebook", "mark", marked, module(week), 1, "--points", 1.5)
        self._type("gradebook", "release", f"week{week}", "--anyway", "--comment", "remarks alone")
        out = self._type("gradebook", "export", "--format", "canvas", "--per-assignment").out
        numbers = {str(one.number): one.login for one in self._play.learners}
        for row in csv.DictReader(io.StringIO(out)):
            login = numbers.get(row["ID"])
            if login is None or final[login, week].status == "missing":
                continue
            cell = next(text for name, text in row.items() if name and name.startswith(f"week{week}"))
            waits = login in answered and login != marked
            want = final[login, week].score + 1.5 * (login == marked)
            self.found.unmarked += waits
            if (cell != "") if waits else (cell == "" or abs(float(cell) - want) > 0.0051):
                self.found.exports.append(f"{login}, answers {'wait' if waits else 'marked'}: {cell}, {want}")

    def _alike(self) -> None:
        for week in sorted({week for week, _, _ in self._play.copied}):
            ran = self._type("similar", "--only", module(week), "--json", "--common", "60")
            pairs = _pairs(json.loads(ran.out))
            for at, one, other in self._play.copied:
                if at == week:
                    self.found.copied += 1
                    self.found.seen_alike += frozenset((one, other)) in pairs


def _counts(row: dict[str, Any]) -> Counts:
    """Return what counts of a row, as a table or a document has it; tables have four decimals."""
    status, *numbers = (row[name] for name in COUNTS)
    score, most, late, lost, attempts = (round(float(one), 4) for one in numbers)
    return status, score, most, late, lost, attempts


def _pairs(document: dict[str, Any]) -> set[frozenset[str]]:
    """Return who is named with whom, whatever it is called there."""
    found: set[frozenset[str]] = set()

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            names = _learners(value)
            found.update(frozenset((one, other)) for one in names for other in names if one != other)
            for one in value.values():
                walk(one)
        elif isinstance(value, list):
            names = [name for one in value if isinstance(one, dict) for name in _learners(one)]
            if len(value) <= 40:
                found.update(frozenset((one, other)) for one in names for other in names if one != other)
            for one in value:
                walk(one)

    walk(document)
    return found


def _learners(value: dict[str, Any]) -> list[str]:
    one = value.get("learner")
    return [one] if isinstance(one, str) else []


def _says_why(event: dict[str, Any]) -> bool:
    """Whether an event says who and why: a run's attempt by its number, a decision by its author and comment."""
    if event["kind"] in ("attempt", "handed_in"):
        return event.get("run") is not None
    return bool(event.get("author")) and bool(event.get("comment"))


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def _course(play: Script) -> str:
    lines = [
        'name = "A term"',
        f'timezone = "{script.ZONE.key}"',
        'roster = "roster.csv"',
        "[late]",
        f"grace_minutes = {script.GRACE.total_seconds() / 60:g}",
        f"percent_per_day = {script.PERCENT_PER_DAY}",
        f"most_percent = {script.MOST_PERCENT}",
        f"late_days = {script.LATE_DAYS}",
    ]
    for week in range(1, play.weeks + 1):
        at = due(week).astimezone(script.ZONE).replace(tzinfo=None)
        lines += [
            f"[assignments.week{week}]",
            f'katas = ["{module(week)}"]',
            f"due = {at.isoformat()}",
            f"closes = {(at + script.timedelta(days=script.CLOSES_AFTER_DAYS)).isoformat()}",
            f'attempts = "{mode(week)}"',
        ]
    return "\n".join(lines) + "\n"


@dataclass
class _Ended:
    code: int
    out: str
    err: str


def in_process(*words: object) -> _Ended:
    """Run a command as it is typed, in this process."""
    from click.testing import CliRunner

    from grader.cli.main import cli

    done = CliRunner().invoke(cli, [str(word) for word in words])
    return _Ended(done.exit_code, done.stdout, done.stderr)


@contextmanager
def interrupted(after: int) -> Iterator[None]:
    """Press Ctrl-C once so many hand-ins are graded."""
    from grader.instructor.grading.run import Run

    keep, count = Run._keep, 0

    def keeping(*given: Any) -> None:
        nonlocal count
        if count == after:
            raise KeyboardInterrupt
        count += 1
        keep(*given)

    Run._keep = keeping  # type: ignore[method-assign]
    try:
        yield
    finally:
        Run._keep = keep  # type: ignore[method-assign]


@contextmanager
def lasting_processes() -> Iterator[None]:
    """Let grading processes outlive a command: starting them takes seconds, and a term has some forty runs."""
    from grader.instructor.grading import executors, processes

    usual = executors.grading_processes
    with processes.grading_processes():
        executors.grading_processes = nullcontext  # type: ignore[assignment]
        try:
            yield
        finally:
            executors.grading_processes = usual


def main() -> None:
    """Play a term and print how it went."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--learners", type=int, default=300)
    parser.add_argument("--weeks", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    play = script.draw(options.learners, options.weeks, options.seed)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        os.environ["KATA_PACKS"] = str(folder / "pack" / "katas")
        os.environ.pop("KATA_SOLUTIONS", None)
        os.chdir(folder)
        with lasting_processes():
            found = Term(play, folder, in_process, partial(print, file=sys.stderr, flush=True)).run()
        os.chdir("/")
    print(summary(found, play))
    print(f"{time.monotonic() - started:.0f} s")
    sys.exit(0 if found.clean else 1)


def summary(found: Found, play: Script) -> str:
    """Say how a term went, with the first of everything that is wrong."""
    lines = [
        f"{len(play.learners)} learners, {play.weeks} weeks, {found.commands} commands",
        f"rows compared {found.rows}, differ {len(found.differ)}",
        f"learners lost {len(found.lost)}",
        f"marks changed {found.changes}, without a row that says who and why {len(found.unexplained)}",
        f"cells of systems' files {found.cells}, wrong {len(found.exports)}",
        f"marks that a stopped run had not come to, their cells empty {found.stopped}",
        f"written answers that wait, their cells empty {found.unmarked}",
        f"copies {found.copied}, seen by kata similar {found.seen_alike}",
        f"commands that ended otherwise {len(found.failed)}",
    ]
    for wrong in (found.failed, found.differ, found.lost, found.unexplained, found.exports):
        lines += wrong[:12]
    lines += ["", "| command | times | median, s | longest, s |", "|---|---:|---:|---:|"]
    lines += [
        f"| `kata {name}` | {len(took)} | {median(took):.2f} | {max(took):.2f} |"
        for name, took in sorted(found.took.items())
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
