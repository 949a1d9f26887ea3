"""How often does a threshold of speed err? Right answers that must pass, wasteful ones that must not, many times over.

python benchmarks/speed.py --keep FILE --minutes 60     grade on, where FILE left off, and print the tables
python benchmarks/speed.py --keep FILE --write          ... and rewrite the tables of docs/performance.md
python benchmarks/speed.py --device cuda                where submissions compute; a busy neighbour computes there too

A grading is one answer with all speed checks of its kata; of a wasteful answer, with the check that it was written for.
A third of them is done on an idle machine, a third with a process that keeps a core busy, a third with a second
grader that checks submissions for correctness. Nothing else should run.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent))

from table import Figures, arguments, publish

from grader.author.perf_requests import demands_of
from grader.catalogue import Catalogue, Kata
from grader.devices import Device, kind_of
from grader.engine.host.bootstrap import start_launcher
from grader.engine.mistakes.mistakes import slow_answers

PAGE = Path(__file__).resolve().parents[1] / "docs" / "performance.md"
CONDITIONS = ("idle", "with a busy neighbour", "with a second grader")
GOAL = {"accepted": 1000, "wasteful": 300}
BUSY = "import torch; torch.set_num_threads(1); x = torch.randn(256, 256, device={!r})\nwhile True: x = (x @ x).tanh()"
BLOCK_S = 60.0
"""How long a condition lasts before the next: starting a neighbour takes a second or two."""


@dataclass(frozen=True)
class Answer:
    """One submission to grade, and what has to come of it."""

    kata: Kata
    name: str
    source: bytes
    sort: str
    """accepted or wasteful."""
    checks: frozenset[str]
    """The speed checks that count."""


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir(), "kata-speed.jsonl"))
    parser.add_argument("--minutes", type=float, default=90.0, help="stop after so long")
    parser.add_argument("--device", default="cpu")
    chosen = parser.parse_args()
    launcher = start_launcher(device=chosen.device, many=True)
    try:
        _grade(launcher, chosen.device, chosen.keep, chosen.minutes)
    finally:
        launcher.close()
    rows = [json.loads(line) for line in chosen.keep.read_text().splitlines()]
    marks = "gradings" if chosen.device == "cpu" else f"gradings {kind_of(chosen.device)}"
    how = "" if chosen.device == "cpu" else Device(chosen.device).describe()
    publish([_errors(rows), _cost(rows)], "performance.md", marks, write=chosen.write, how=how)


# Gradings -----------------------------------------------------------------------------------------------------------


def answers(device: str) -> list[Answer]:
    """List what there is to grade; start the launcher before."""
    kind, katas = kind_of(device), Catalogue.discover().katas
    graded: dict[str, set[str]] = {}
    for demand in demands_of(katas):
        if demand.threshold.on(kind) is not None:
            graded.setdefault(demand.kata.slug, set()).add(demand.check)
    found = []
    for kata in katas:
        checks = frozenset(graded.get(kata.slug, ()))
        if not checks or kata.solution is None:
            continue
        right = (kata.solution, *kata.alternatives)
        found += [Answer(kata, file.stem, file.read_bytes(), "accepted", checks) for file in right]
        found += [
            Answer(kata, slow.name, slow.source.data, "wasteful", checks.intersection(slow.fails))
            for slow in slow_answers(kata)
            if checks.intersection(slow.fails) and slow.is_told_on(kind)
        ]
    return found


def _grade(launcher: Any, device: str, keep: Path, minutes: float) -> None:
    from grader.engine.runner.suite import RunConfig, suites_of
    from grader.engine.timing.speed import Speed

    todo = answers(device)
    done = [json.loads(line) for line in keep.read_text().splitlines()] if keep.exists() else []
    katas = list({answer.kata.slug: answer.kata for answer in todo}.values())
    ends = time.monotonic() + 60 * minutes

    def body(suites: dict[str, Any]) -> None:
        with keep.open("a") as out:
            for condition in itertools.cycle(CONDITIONS):
                queue = _next(todo, done, condition)
                if not queue:
                    if all(not _next(todo, done, other) for other in CONDITIONS):
                        return
                    continue
                with _beside(condition, device, todo):
                    block = time.monotonic() + BLOCK_S
                    for answer in queue:
                        if time.monotonic() > min(block, ends):
                            break
                        row = _row(
                            suites[answer.kata.slug], answer, launcher, RunConfig(device=device), condition
                        )
                        done.append(row)
                        print(json.dumps(row), file=out, flush=True)
                        _tell(row, done)
                if time.monotonic() > ends:
                    return

    # A picture is drawn when the verdict is there; it is a quarter of what a wasteful answer costs.
    with mock.patch.object(Speed, "_sketch_of", return_value=None), suites_of(katas, speed=True) as suites:
        body(suites)


def _next(todo: list[Answer], done: list[dict[str, Any]], condition: str) -> list[Answer]:
    """Return what is still to be graded in this condition: what was graded least comes first."""
    counts: Counter[tuple[str, str]] = Counter()
    for row in done:
        if row["condition"] == condition:
            counts[row["kata"], row["file"]] += 1
    queue = []
    for sort, goal in GOAL.items():
        group = [answer for answer in todo if answer.sort == sort]
        random.shuffle(group)
        for _ in range(-(-goal // len(CONDITIONS)) - sum(counts[_key(answer)] for answer in group)):
            least = min(group, key=lambda answer: counts[_key(answer)])
            queue.append((counts[_key(least)], random.random(), least))
            counts[_key(least)] += 1
    return [answer for _, _, answer in sorted(queue, key=lambda entry: entry[:2])]


def _key(answer: Answer) -> tuple[str, str]:
    return answer.kata.slug, answer.name


def _row(suite: Any, answer: Answer, launcher: Any, options: Any, condition: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"{answer.kata.module}.py")
        file.write_bytes(answer.source)
        Path(folder).chmod(0o755)
        began = time.monotonic()
        report = suite.select(answer.checks).check(file, launcher, options)
        seconds = time.monotonic() - began
    checks = []
    for check in report.checks:
        found = check.speed if hasattr(check.speed, "form") else None
        checks.append(
            {
                "id": check.id,
                "status": check.status,
                "value": getattr(found, "value", None),
                "threshold": getattr(found, "threshold", None),
                "verdict": getattr(found, "verdict", None),
                "runs": getattr(found, "runs", []),
                "rounds": len(getattr(found, "rounds", [])),
                "message": check.message if check.status in ("error", "timeout") else None,
            }
        )
    return {
        "condition": condition,
        "kata": answer.kata.slug,
        "file": answer.name,
        "sort": answer.sort,
        "seconds": round(seconds, 3),
        "checks": checks,
        "came to": _came_to([check["status"] for check in checks]),
    }


def _came_to(statuses: list[str]) -> str:
    """Return what a grading came to as a whole: the worst of its checks."""
    for status in ("error", "timeout", "fail", "skipped"):
        if status in statuses:
            return "inconclusive" if status == "skipped" else status
    return "pass"


def _tell(row: dict[str, Any], done: list[dict[str, Any]]) -> None:
    if (row["sort"] == "accepted") != (row["came to"] == "pass"):
        about = f"{row['condition']}: {row['kata']} {row['file']} ({row['sort']})"
        print(f"{about}: {row['came to']} {row['checks']}")
    if sys.stderr.isatty() or len(done) % 50 == 0:
        print(f"{len(done)} gradings", file=sys.stderr, flush=True)


@contextmanager
def _beside(condition: str, device: str, todo: list[Answer]) -> Iterator[None]:
    """Keep a neighbour busy meanwhile."""
    if condition == "idle":
        yield
        return
    with tempfile.TemporaryDirectory() as folder:
        if condition == CONDITIONS[1]:
            command = [sys.executable, "-c", BUSY.format(device)]
        else:
            answer = random.choice([answer for answer in todo if answer.sort == "accepted"])
            file = Path(folder, f"{answer.kata.module}.py")
            file.write_bytes(answer.source)
            Path(folder).chmod(0o755)
            kata = Path(sys.executable).with_name("kata")
            command = ["sh", "-c", f"while :; do '{kata}' check '{file}' -q --device {device}; done"]
        neighbour = subprocess.Popen(
            ["timeout", "600", *command],  # it must not outlive us for long, whatever ends us
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            yield
        finally:
            os.killpg(neighbour.pid, signal.SIGKILL)
            neighbour.wait()


def _errors(rows: list[dict[str, Any]]) -> Figures:
    accepted = [row for row in rows if row["sort"] == "accepted"]
    failed = sum(row["came to"] in _FAILED for row in accepted)
    figures = Figures(
        "False fails and false passes",
        "Gradings of accepted answers (references and alternatives) and of wasteful ones. With "
        f"{failed} false fails in {len(accepted)} gradings, their rate is below "
        f"{_bound(failed, len(accepted)):.2%} with 95% confidence. `python benchmarks/speed.py --write`",
        ("condition", "accepted", "failed", "inconclusive", "wasteful", "passed", "inconclusive "),
    )
    for condition in (*CONDITIONS, "together"):
        cells = [condition]
        for sort in GOAL:
            ours = [
                row for row in rows if row["sort"] == sort and condition in (row["condition"], "together")
            ]
            bad = ("pass",) if sort == "wasteful" else _FAILED
            wrong = sum(row["came to"] in bad for row in ours)
            open_ = sum(row["came to"] == "inconclusive" for row in ours)
            cells += [str(len(ours)), str(wrong), f"{open_} ({open_ / max(len(ours), 1):.1%})"]
        figures.rows.append(cells)
    return figures


_FAILED = ("fail", "error", "timeout")


def _bound(seen: int, count: int) -> float:
    """Return what a rate is below, with 95% confidence, that was seen so often (Clopper and Pearson, 1934)."""
    low, high = 0.0, 1.0
    for _ in range(60):
        rate = (low + high) / 2
        if sum(math.comb(count, k) * rate**k * (1 - rate) ** (count - k) for k in range(seen + 1)) > 0.05:
            low = rate
        else:
            high = rate
    return high


def _cost(rows: list[dict[str, Any]]) -> Figures:
    figures = Figures(
        "What a clear pass costs",
        "Seconds for all speed checks of a kata, accepted answers on the idle machine, and the rounds of each check. "
        "Goal: at most 5 s.",
        ("kata", "checks", "gradings", "median", "slowest tenth", "rounds per check", "goal kept"),
    )
    for slug in dict.fromkeys(row["kata"] for row in rows):
        ours = [
            row
            for row in rows
            if row["kata"] == slug and row["condition"] == "idle" and row["came to"] == "pass"
            and row["sort"] == "accepted"
        ]  # fmt: skip
        if len(ours) < 2:
            continue
        seconds = [row["seconds"] for row in ours]
        rounds = [check["rounds"] for row in ours for check in row["checks"]]
        median = statistics.median(seconds)
        tenth = statistics.quantiles(seconds, n=10)[-1]
        figures.rows.append(
            (
                slug,
                str(len(ours[0]["checks"])),
                str(len(ours)),
                f"{median:.1f} s",
                f"{tenth:.1f} s",
                f"{statistics.mean(rounds):.1f}",
                "yes" if median <= 5 else "**no**",
            )
        )
    return figures


if __name__ == "__main__":
    main()
