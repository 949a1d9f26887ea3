"""Hostile submissions among honest ones: with `kata grade`, and with other graders on the same exercise.

    make peers                                    the other graders, each in its environment, once
    python benchmarks/hostile.py                  everything; takes about an hour
    python benchmarks/hostile.py --quick          a few submissions: a look, no figures to quote
    python benchmarks/hostile.py --only class     the class of 500 alone; `corpus` for the other part
    python benchmarks/hostile.py --write          and rewrite the figures of docs/security.md

The submissions are those of benchmarks/peers/hostile/: toy, bounded, harmless also to graders that do not confine them.
Each is a wrong answer that earns 6 of 12 points (`wrong.py`) and something that tries to get more or to get in the way.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import classroom
import grading
from peers import EVERYONE, PEERS
from peers.processes import call
from peers.runners import grade_command, kata_variables
from table import Figures, arguments, publish

from grader.catalogue import Kata

HOSTILE = Path(__file__).resolve().parent / "peers" / "hostile"
EARNED = 6.0
"""What the wrong answer earns honestly."""
JOBS = 2
TIMEOUT_S = 20.0
"""For a submission with a grader that has no time-out of its own."""
CHECK_S = "2"
"""For a check of the class, so that the loops in it do not take the day."""
CLASS = 500


@dataclass
class Found:
    """What a grader made of the corpus."""

    honest: dict[str, float | None]
    """Scores of the honest ones when they are alone."""
    scores: dict[str, float | None]
    """Scores of all."""
    survivors: int
    leaked: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def forged(self) -> list[str]:
        """Hostile ones that got more than they earned."""
        return [
            name for name, score in self.scores.items() if name.startswith("h-") and (score or 0) > EARNED
        ]

    @property
    def lost(self) -> list[str]:
        """Honest ones whose row is gone or another."""
        return [name for name, score in self.honest.items() if self.scores.get(name) != score]

    @property
    def unmarked(self) -> list[str]:
        """Hostile ones without any row."""
        return [name for name, score in self.scores.items() if name.startswith("h-") and score is None]


def attacks() -> list[str]:
    """Return the names of the hostile submissions."""
    return sorted(path.stem for path in HOSTILE.glob("*.py") if path.stem != "wrong")


def text_of(name: str, leak: Path) -> str:
    """Return a hostile submission; what it gets to read, it writes to `leak`."""
    wrong, attack = ((HOSTILE / f"{one}.py").read_text(encoding="utf-8") for one in ("wrong", name))
    return f"{wrong}\n\nLEAK = {str(leak)!r}\n{attack}"


# The corpus, side by side --------------------------------------------------------------------------------------------


def corpus(graders: Sequence[str], names: Sequence[str], honest: int) -> dict[str, Found]:
    """Put the hostile submissions, with a few honest ones among them, to each grader."""
    found = {}
    answers = classroom.honest(grading.exercise())[: honest or None]
    for grader in graders:
        EVERYONE[grader].require()
        with tempfile.TemporaryDirectory(prefix="kata-hostile-") as place:
            folder = Path(place)
            folder.chmod(0o777)
            files = []
            for number, answer in enumerate(answers):
                files.append(folder / f"g-{number:02}.py")
                files[-1].write_text(answer.text, encoding="utf-8")
            mean = [folder / f"h-{name.replace('_', '-')}.py" for name in names]
            for name, file in zip(names, mean, strict=True):
                file.write_text(text_of(name, folder / f"leaked-{name}"), encoding="utf-8")
            alone = EVERYONE[grader].run(files, JOBS, TIMEOUT_S)
            mixed = [one for pair in itertools.zip_longest(mean, files) for one in pair if one is not None]
            among = EVERYONE[grader].run(mixed, JOBS, TIMEOUT_S)
            leaked = sorted(path.name for path in folder.glob("leaked-*") if path.stat().st_size)
            found[grader] = Found(alone.scores, among.scores, among.left_running, leaked, among.seconds)
            print(f"{grader}: {found[grader]}", file=sys.stderr)
    return found


def corpus_table(found: dict[str, Found], names: Sequence[str]) -> Figures:
    """Return the outcome as a table."""
    honest = len(next(iter(found.values())).honest)
    table = Figures(
        "The same submissions, put to other graders",
        f"{len(names)} hostile submissions and {honest} honest ones, taken in turns, in everyone's own set-up (`"
        "benchmarks/peers/hostile/`). *Forged*: more points than the answer earns without its tricks. *Leaked*: "
        "tests or the grader's environment were read. *Survivors*: processes that still ran afterwards. *Rows lost*: "
        "honest submissions whose score is gone or another than without the hostile ones. *No mark*: hostile ones of "
        "which the grader says nothing.",
        ["grader", "forged", "leaked", "survivors", "rows lost", "no mark"],
    )
    for grader, one in found.items():
        counts = (len(one.forged), len(one.leaked), one.survivors, len(one.lost), len(one.unmarked))
        table.rows.append([EVERYONE[grader].title, *map(str, counts)])
    return table


# A class, half of it hostile -----------------------------------------------------------------------------------------


def write_class(folder: Path, kata: Kata, count: int, leaks: Path) -> None:
    """Write a class of which every other one is hostile; what those get to read, they write to `leaks`."""
    half = classroom.drawn(kata, count // 2, seed=0, hostile=0.0)
    for number, (answer, name) in enumerate(zip(half, itertools.cycle(attacks()))):
        classroom.write(folder, classroom.learner(2 * number), kata, answer)
        mean = classroom.Answer("hostile", text_of(name, leaks / f"leaked-{number}"))
        classroom.write(folder, classroom.learner(2 * number + 1), kata, mean)


def half_hostile(count: int) -> Figures:
    """Grade a class of which half is hostile, and its honest half alone; the honest rows must be equal."""
    kata = grading.exercise()
    with tempfile.TemporaryDirectory(prefix="kata-hostile-") as place:
        folder = Path(place)
        write_class(folder / "among", kata, count, folder)
        for number, answer in enumerate(classroom.drawn(kata, count // 2, seed=0, hostile=0.0)):
            classroom.write(folder / "alone", classroom.learner(2 * number), kata, answer)
        alone, alone_s, _ = _graded(folder, "alone")
        among, among_s, left = _graded(folder, "among")
        leaked = len(list(folder.glob("leaked-*")))
    honest = {name: among.get(name) for name in alone}
    differs = [name for name in alone if honest[name] != alone[name]]
    forged = [
        name
        for name, row in among.items()
        if name not in alone and any(row_score > EARNED for row_score in _scores(row))
    ]
    if differs:
        print(f"{differs[0]}: {grading.difference(alone[differs[0]], honest[differs[0]])}", file=sys.stderr)
    table = Figures(
        f"A class of {len(among)}, half of it hostile",
        f"`kata grade` with {JOBS} jobs and `--timeout {CHECK_S}`; the gradebook's rows of the honest half, every "
        "check and message of them, compared with those of a run in which they are alone.",
        [
            "submissions",
            "hostile",
            "honest rows that differ",
            "forged",
            "leaked",
            "survivors",
            "time",
            "honest half alone",
        ],
    )
    mean_ones = len(among) - len(alone)
    table.rows.append(
        [
            str(len(among)), str(mean_ones), str(len(differs)), str(len(forged)), str(leaked), str(left),
            f"{among_s:.0f} s", f"{alone_s:.0f} s",
        ]
    )  # fmt: skip
    return table


def _graded(folder: Path, name: str) -> tuple[dict[str, dict], float, int]:
    gradebook = folder / f"{name}.sqlite"
    command = [*grade_command(folder / name, gradebook, JOBS, None), "--timeout", CHECK_S]
    seconds, ended, mark = call(command, folder, kata_variables(), grading.PATIENCE_S)
    left = mark.end()
    if not ended or not gradebook.is_file():
        raise SystemExit(
            f"kata grade did not end:\n{(folder / 'output.txt').read_text(errors='replace')[-2000:]}"
        )
    return grading.rows(gradebook), seconds, left


def _scores(row: object) -> list[float]:
    """Return every final score that a row speaks of."""
    found = []
    if isinstance(row, dict):
        for key, value in row.items():
            if key == "score" and isinstance(value, int | float):
                found.append(float(value))
            else:
                found += _scores(value)
    elif isinstance(row, list):
        found += [score for part in row for score in _scores(part)]
    return found


def main() -> None:
    """Measure, print, and write what was asked for."""
    parser = arguments(__doc__)
    parser.add_argument("--only", choices=["corpus", "class"])
    parser.add_argument("--graders", nargs="+", default=["kata", *PEERS], choices=["kata", *PEERS])
    parser.add_argument("--count", type=int, default=CLASS, help="submissions in the class")
    parser.add_argument("--quick", action="store_true")
    chosen = parser.parse_args()
    names, honest = attacks(), 10
    if chosen.quick:
        names, honest = ["exit_zero_in_call", "patch_assertions", "read_the_tests", "stray_daemon"], 3
        chosen.count = 48
    tables = []
    if chosen.only != "class":
        tables.append(corpus_table(corpus(chosen.graders, names, honest), names))
    if chosen.only != "corpus":
        tables.append(half_hostile(chosen.count))
    how = "`python benchmarks/hostile.py --write`"
    publish(tables, "security.md", "hostile", write=chosen.write, how=how)


if __name__ == "__main__":
    main()
