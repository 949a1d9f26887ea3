"""A made-up class over the real katas: real names of checks, real messages, nothing graded."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from grader.catalogue import Catalogue, Kata
from grader.engine.mistakes.recognise import Fingerprints
from grader.instructor.gradebook.row_types import Mark
from grader.report.report import CheckReport, KataReport
from tests.gradebook.handmade import change, mark_of

FIRST = "Ada Alan Barbara Chidi Donald Edsger Fatima Grace Hedy Ines Joan Katherine Lin Mei Noor Omar Priya Radia Tim"
LAST = "Lovelace Turing Liskov Okafor Knuth Dijkstra Al-Fihri Hopper Lamarr Pérez Clarke Johnson Wu Chen Rahman Perlman"
START = datetime(2026, 3, 2, 17, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Known:
    """What a kata's files say of its checks and mistakes."""

    kata: Kata
    checks: tuple[CheckReport, ...]
    mistakes: dict[str, dict[str, str]]
    """By mistake: check to message."""
    says: dict[str, str]


def known(kata: Kata) -> Known:
    checks = _checks(kata.checks, hidden=False)
    if kata.hidden_checks is not None:
        checks += _checks(kata.hidden_checks, hidden=True)
    mistakes: dict[str, dict[str, str]] = {}
    transcripts = kata.solution_folder / "transcripts.txt" if kata.solution_folder else None
    if transcripts is not None and transcripts.is_file():
        for part in re.split(r"^=== ", transcripts.read_text(), flags=re.MULTILINE)[1:]:
            head, _, body = part.partition("\n")
            mutant, _, check = head.partition(" · ")
            mistakes.setdefault(mutant, {})[check.strip()] = body.strip("\n")
    prints = Fingerprints.load(kata.fingerprints).mutants
    for mutant, facts in prints.items():
        for check in facts.checks:
            mistakes.setdefault(mutant, {}).setdefault(check, "first difference  output[0]  got 0.5  want 1")
    return Known(kata, tuple(checks), mistakes, {name: facts.say for name, facts in prints.items()})


def _checks(file: Path, *, hidden: bool) -> list[CheckReport]:
    found = []
    for node in ast.parse(file.read_text()).body:
        if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_"):
            continue
        for mark in node.decorator_list:
            if isinstance(mark, ast.Call) and getattr(mark.func, "id", "") == "check":
                facts: dict[str, Any] = {
                    k.arg: getattr(k.value, "value", None) for k in mark.keywords if k.arg
                }
                name = (ast.get_docstring(node) or node.name).partition("\n")[0]
                points = float(facts.get("points") or 1)
                found.append(
                    CheckReport(
                        name=name, id=node.name, aspect=facts.get("aspect") or "values", hidden=hidden,
                        status="pass", points=points, max_points=points,
                    )
                )  # fmt: skip
    return found


def rows(learners: int, *, seed: int = 1) -> Iterator[Mark]:
    """Yield a class, ordered as a gradebook orders it."""
    course = [known(kata) for kata in Catalogue.discover().katas]
    names = [f"{first} {last}" for first in FIRST.split() for last in LAST.split()]
    for number in range(learners):
        name = names[number * 7 % len(names)]
        skill = min(0.98, max(0.05, random.Random(f"{seed}/{number}").gauss(0.62, 0.25)))
        for place, kata in enumerate(course):
            # of its own, so that a kata more leaves the others' rows as they were
            chance = random.Random(f"{seed}/{number}/{kata.kata.slug}")
            yield _row(f"{name.split()[0].lower()}.{number:04}", name, kata, skill - 0.03 * place, chance)


def _row(learner: str, name: str, known: Known, skill: float, chance: random.Random) -> Mark:
    kata = known.kata
    checks = [msgspec.structs.replace(check) for check in known.checks]
    most = sum(check.max_points for check in checks)
    luck = chance.random()
    report = KataReport(
        learner=learner, kata=kata.slug, number=kata.number, status="pass", score=most, max_score=most,
        seed=chance.randrange(10**6, 2**31), isolation="full", duration_s=round(chance.lognormvariate(-1.5, 0.6), 3),
        versions={"kata": "0.1.0", "torch": "2.13.0", "python": "3.11.7"}, file=f"{learner}/{kata.module}.py",
        checks=checks,
    )  # fmt: skip
    if luck < 0.05 + 0.25 * max(0, 0.5 - skill):
        report.status, report.message, report.checks = "missing", f"There is no {kata.module}.py.", []
    elif luck < 0.09:
        report.status = "not_started"
        _fail_all(
            checks,
            "fail",
            f"not written yet: it still raises NotImplementedError ({kata.module}.py, line 21)",
        )
    elif luck < 0.12:
        report.status = "error"
        report.message = (
            f"{kata.module}.py does not load.\n{kata.module}.py, line 12\n    return x @ w_q +\n"
            "                    ^\nSyntaxError: invalid syntax"
        )
        _fail_all(checks, "skipped", "not run: the submission did not load")
    elif chance.random() > skill:
        report.status = "fail"
        _mistake(known, checks, chance)
        if chance.random() < 0.08:
            report.status = "timeout"
            checks[2].status, checks[2].points = "timeout", 0.0
            checks[2].message = "no answer within 10 s, so it was stopped: is there a loop that never ends?"
        if chance.random() < 0.5:
            for check in checks:
                if check.hidden and chance.random() < 0.5:
                    check.status, check.points = "fail", 0.0
                    check.message = "first difference  output[batch 1, time 4]  got 0.113  want 0.871"
    elif chance.random() < 0.06:
        report.status = "fail"
        last = checks[-1]
        last.status, last.points, last.message = "fail", 0.0, "all 120 values differ (tolerance 3.2e-05)"
    report.score = sum(check.points for check in report.checks) if report.checks else 0.0
    late = round(chance.uniform(0.1, 3), 2) if chance.random() < 0.07 and report.checks else 0.0
    taken = round(min(report.score, 0.1 * most * late), 2) if late else 0.0
    adjustments = []
    if chance.random() < 0.03:
        adjustments.append(change(1.0, "A clear derivation in the comments.", author="mk", at=START))
    return mark_of(
        report, learner=learner, name=name, attempts=1 + int(chance.expovariate(1.3)) if report.checks else 0,
        submitted_at=START - timedelta(hours=chance.uniform(1, 90)) if report.checks else None, graded_at=START,
        adjustments=adjustments, days_late=late, late_points=taken,
        score=max(0.0, report.score - taken + sum(a.points for a in adjustments)), max_score=most,
    )  # fmt: skip


def _mistake(known: Known, checks: list[CheckReport], chance: random.Random) -> None:
    mutants = sorted(known.mistakes)
    mutant = mutants[min(int(chance.expovariate(4 / len(mutants))), len(mutants) - 1)]
    for check in checks:
        message = known.mistakes[mutant].get(check.id)
        if message is None or check.hidden:
            continue
        check.status, check.points, check.message = "fail", 0.0, message
        if mutant in known.says:
            check.misconception, check.likely = mutant.replace("_", "-"), known.says[mutant]
        if chance.random() < 0.1:
            check.output = "scores tensor([[0.1, 0.2], [0.3, 0.4]])\nshape torch.Size([2, 2])\n"


def _fail_all(checks: list[CheckReport], status: Any, message: str) -> None:
    for check in checks:
        check.status, check.points, check.message = status, 0.0, message
