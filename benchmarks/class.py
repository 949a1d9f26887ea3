"""How long a class takes: `kata grade` against other graders, and small classes against large ones.

    make peers                               the other graders, each in its environment, once
    python benchmarks/class.py               everything; takes most of an hour
    python benchmarks/class.py --quick       small and once: a look, no figures to quote
    python benchmarks/class.py --only peers --peers pytest
    python benchmarks/class.py --only katas --next-to ../another-checkout --katas masks layer-norm
    python benchmarks/class.py --write       and rewrite the tables of docs/benchmarks.md

What is compared is measured in turns (A B A B …) in one run, so that whatever else the machine does affects both.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import classroom
import further
import grading
from peers import EVERYONE, PEERS
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from table import Figures, arguments, at_least, publish, spread, verdict

from grader.catalogue import load_pack
from grader.report.style import console

JOBS = 2
GOALS = {"pytest": 60.0, "check50": 45.0, "nbgrader": 60.0, "otter": 100.0}
"""Times faster than each, per further submission."""
FLOOR_RATIO, SCALE_RATIO, MEMORY_MB, SPEEDUP = 1.5, 1.1, 50.0, 1.8
SEED = 0


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    rounds: int = 3
    more_blocks: int = 20
    """Further blocks of submissions for Kata and the floor; other graders get one."""
    small: int = 200
    large: int = 2000
    more: int = 80
    """Further submissions of a kata."""
    most: int = 140
    """Of the one that pytest is compared with."""


QUICK = Sizes(rounds=1, more_blocks=2, small=20, large=60, more=16, most=32)


class Bench:
    """What every part needs: sizes, other graders, the exercise, a folder for scratch."""

    def __init__(
        self, sizes: Sizes, scratch: Path, peers: Sequence[str], katas: Sequence[str], next_to: Path | None
    ) -> None:
        self.sizes = sizes
        self.peers = peers
        self.checkouts = [further.ROOT] if next_to is None else [further.ROOT, next_to.resolve()]
        pack = load_pack(further.ROOT / "katas")
        self.katas = [kata for kata in pack.katas if not katas or kata.slug in katas]
        self.kata = grading.exercise()
        self._scratch = scratch
        self._count = 0

    def folder(self) -> Path:
        """Return a fresh folder."""
        self._count += 1
        folder = self._scratch / str(self._count)
        folder.mkdir()
        return folder

    def graded(self, count: int, jobs: int) -> grading.Run:
        """Grade a class of this size into a fresh gradebook."""
        submissions = self._scratch / f"class-{count}"
        if not submissions.is_dir():
            classroom.generate(submissions, [self.kata], count, SEED)
        return grading.grade(submissions, self.folder() / "gradebook.sqlite", jobs)


# Next to other graders ------------------------------------------------------------------------------------------------


def peers(bench: Bench) -> list[Figures]:
    """Measure what one more submission costs, in everyone's set-up, and that all give the same scores."""
    for name in bench.peers:
        PEERS[name].require()
    blocks = _blocks(bench)
    slopes: dict[str, list[float]] = {name: [] for name in ("kata", "floor", *bench.peers)}
    scores: dict[str, dict[str, float | None]] = {}
    turns = [turn for peer in bench.peers for turn in ("kata", "floor", peer)]
    with _progress("with others", bench.sizes.rounds * len(turns)) as advance:
        for number in range(bench.sizes.rounds):
            for name in turns:
                advance(f"round {number + 1}, {name}")
                blocks_for_it = blocks if name in ("kata", "floor") else blocks[:2]
                further, theirs = _further(name, blocks_for_it)
                slopes[name].append(further)
                scores.setdefault(name, {}).update(theirs)
    _same_scores(scores)
    return [_peer_table(slopes, len(blocks[0]), len(blocks))]


def _blocks(bench: Bench) -> list[list[Path]]:
    """Write every honest answer once a block; blocks differ in the learners' names only."""
    folder = bench.folder()
    answers = classroom.honest(bench.kata)
    blocks = []
    for block in range(bench.sizes.more_blocks + 1):
        files = []
        for place, answer in enumerate(random.Random(SEED).sample(answers, len(answers)), 1):
            name = classroom.learner(block * len(answers) + place)
            file = classroom.write(folder / "laid-out", name, bench.kata, answer)
            files.append(file.rename(folder / f"{name}.py"))
        blocks.append(files)
    return blocks


def _further(name: str, blocks: list[list[Path]]) -> tuple[float, dict[str, float | None]]:
    """Return the seconds for one more submission (many minus few, so that no start-up counts) and the scores."""
    few = EVERYONE[name].run(blocks[0], workers=JOBS)
    many = EVERYONE[name].run([file for block in blocks for file in block], workers=JOBS)
    further = sum(map(len, blocks[1:]))
    return (many.seconds - few.seconds) / further, many.scores


CHECKS = 12
"""Of the exercise that everyone has, each of one point."""


def _same_scores(scores: dict[str, dict[str, float | None]]) -> None:
    for name, theirs in scores.items():
        for learner, score in theirs.items():
            mine = scores["kata"][learner]
            # Kata charges one slip so much at most, however many checks see it: ours may be higher, but not whole.
            if score is None or mine is None or mine < score or (mine == CHECKS) != (score == CHECKS):
                raise SystemExit(f"{learner} gets {score} from {name}, and {mine} from kata: no comparison")


def _peer_table(slopes: dict[str, list[float]], block: int, blocks: int) -> Figures:
    ours = statistics.median(slopes["kata"])
    floor = statistics.median(slopes["floor"])
    table = Figures(
        "One more submission, next to other graders",
        f"An exercise with 12 checks of one point, in everyone's own set-up (`benchmarks/peers/`), on the same honest "
        f"submissions ({block} different right, wrong and unwritten answers a block); all gave the same scores. "
        f"Wall time of a second block after the first, per submission; of {blocks - 1} more blocks for Kata and the "
        f"floor. Median, and the middle half of the runs. *The floor* is the same 12 assertions in a fork of a warmed "
        f"process: no pytest, no isolation, no report. Workers are submissions at a time; check50 spreads "
        f"one submission's checks over the cores.",
        ["grader", "workers", "per submission", "against `kata grade`", "goal", "kept"],
    )
    for name, taken in slopes.items():
        grader, median = EVERYONE[name], statistics.median(taken)
        row = [grader.title, str(JOBS if grader.parallel else 1), spread(taken, 3 if median < 0.5 else 2)]
        if name == "kata":
            goal = f"≤ {FLOOR_RATIO:g} × the floor"
            row += [f"{ours / floor:.2f} × the floor", goal, verdict(ours / floor, FLOOR_RATIO)]
        elif name in GOALS:
            times = median / ours
            row += [f"{times:.0f} × as long", f"≥ {GOALS[name]:g} ×", at_least(times, GOALS[name])]
        else:
            row += [
                f"{median / ours:.2g} × as long" if name == "floor" else f"{median / ours:.0f} × as long",
                "",
                "",
            ]
        table.rows.append(row)
    return table


# Real katas ----------------------------------------------------------------------------------------------------------

FEW = 40
"""Submissions before the further ones: by then each process has met each draw of a class with each of the answers."""
PYTESTS, TIMES_PYTEST, TIMES_BEFORE = 20, 15.0, 0.8


def katas(bench: Bench) -> list[Figures]:
    """Measure what a further submission of each kata costs, right or wrong, here and in another checkout."""
    found: dict[tuple[str, str, Path], list[further.Cost]] = defaultdict(list)
    turns = [(kata, kind) for kata in bench.katas for kind in ("right", "wrong")]
    rounds = bench.sizes.rounds
    with _progress("katas", rounds * len(turns) * len(bench.checkouts)) as advance:
        for number in range(rounds):
            for kata, kind in turns:
                texts = further.texts_of(kata, kind)
                for checkout in bench.checkouts:
                    advance(f"round {number + 1}, {kata.slug}, {kind}, {checkout.name}")
                    cost = further.further(checkout, kata, texts, FEW, bench.sizes.more, JOBS)
                    found[kata.slug, kind, checkout].append(cost)
    table = Figures(
        "One more submission of a real kata",
        f"Processor seconds of a further submission by `kata grade -j {JOBS}`, hidden checks included: of the grader's "
        f"own processes, and of fork servers with their workers; {bench.sizes.more} after the first {FEW}. Right: the "
        f"reference and the alternatives; wrong: {further.WRONG} of the catalogued mistakes. *Before*: another "
        f"checkout, in turns, with the same files.",
        ["kata, answers", "grader", "workers", "together", "before", "ratio", f"≤ {TIMES_BEFORE:g}"],
    )
    for kata, kind in turns:
        here, *there = (further.medians(found[kata.slug, kind, checkout]) for checkout in bench.checkouts)
        row = [
            f"{kata.slug}, {kind}",
            *(f"{part:.3f} s" for part in (here.grader, here.workers, here.processor)),
        ]
        if there:
            ratio = here.processor / there[0].processor
            row += [f"{there[0].processor:.3f} s", f"{ratio:.2f}", verdict(ratio, TIMES_BEFORE)]
        table.rows.append(row if there else [*row, "", "", ""])
    return [table]


def against_pytest(bench: Bench) -> list[Figures]:
    """Measure masked-attention next to a pytest process for each submission."""
    pack = load_pack(further.ROOT / "katas")
    kata = next(kata for kata in pack.katas if kata.slug == "masked-attention")
    texts = further.texts_of(kata, "right")
    ours: dict[Path, list[float]] = defaultdict(list)
    theirs: list[float] = []
    with _progress("pytest", bench.sizes.rounds * (len(bench.checkouts) + 1)) as advance:
        for number in range(bench.sizes.rounds):
            for checkout in bench.checkouts:
                advance(f"round {number + 1}, {checkout.name}")
                cost = further.further(checkout, kata, texts, FEW, bench.sizes.most, JOBS)
                ours[checkout].append(cost.seconds)
            advance(f"round {number + 1}, pytest")
            theirs.append(further.pytest_seconds(texts, PYTESTS, JOBS))
    table = Figures(
        "One more right submission of masked-attention, next to pytest",
        f"Wall time: {bench.sizes.most} further submissions by `kata grade -j {JOBS}`, and a pytest process with 12 "
        f"checks for each of {PYTESTS}, {JOBS} at a time, in turns. Median, and the middle half of the runs.",
        ["grader", "per submission", "pytest takes", f"≥ {TIMES_PYTEST:g} ×"],
    )
    for name, taken in zip(("kata grade", "kata grade, before"), ours.values(), strict=False):
        times = statistics.median(theirs) / statistics.median(taken)
        table.rows.append([name, spread(taken, 3), f"{times:.1f} × as long", at_least(times, TIMES_PYTEST)])
    table.rows.append(["pytest, a process each", spread(theirs, 2), "", ""])
    return [table]


# Small classes and large ones ----------------------------------------------------------------------------------------


def scale(bench: Bench) -> list[Figures]:
    """Measure a small class, and a large one on one worker and two, with 2% hostile submissions in both."""
    small, large = bench.sizes.small, bench.sizes.large
    cases = [(1, 1), (1, JOBS), (small, JOBS), (large, 1), (large, JOBS)]
    runs: dict[tuple[int, int], list[grading.Run]] = {case: [] for case in cases}
    with _progress("size", bench.sizes.rounds * len(cases)) as advance:
        for number in range(bench.sizes.rounds):
            for count, jobs in cases:
                advance(f"round {number + 1}, {count} with -j {jobs}")
                runs[count, jobs].append(bench.graded(count, jobs))

    def seconds(count: int, jobs: int) -> float:
        return statistics.median(run.seconds for run in runs[count, jobs])

    def memory(count: int, jobs: int) -> float:
        return statistics.median(run.memory_mb for run in runs[count, jobs])

    def further(count: int, jobs: int) -> float:
        return (seconds(count, jobs) - seconds(1, jobs)) / (count - 1)

    sizes = Figures(
        "A class, small and large",
        f"Generated (`benchmarks/classroom.py`, seed {SEED}) from references, alternatives, mutants, stubs, and "
        f"{classroom.HOSTILE:.0%} that loop, exit or crash at import; a loop costs its time-out of "
        f"{bench.kata.limits.check_timeout_s:g} s. *Further* is the time beyond that of a class of one, per "
        f"submission. Memory is the peak of the grader's own processes (main, grading processes, zygotes), added up.",
        ["class", "workers", "takes", "further", "memory"],
    )
    for count, jobs in cases[2:]:
        taken = [run.seconds for run in runs[count, jobs]]
        row = [f"{count:,}", str(jobs), spread(taken, 1), f"{further(count, jobs) * 1000:.1f} ms"]
        sizes.rows.append([*row, f"{memory(count, jobs):.0f} MB"])
    cost = further(large, JOBS) / further(small, JOBS)
    grown = memory(large, JOBS) - memory(small, JOBS)
    faster = further(large, 1) / further(large, JOBS)
    whole = seconds(large, 1) / seconds(large, JOBS)
    goals = Figures(
        "What size and workers change",
        "From the table above.",
        ["figure", "measured", "goal", "kept"],
        [
            _row(f"cost per submission, {large:,} against {small:,}", f"{cost:.2f} ×", cost, SCALE_RATIO),
            _row(
                f"memory, {large:,} against {small:,}",
                f"{grown:+.0f} MB",
                grown,
                MEMORY_MB,
                f"{MEMORY_MB:g} MB",
            ),
            [
                f"two workers against one, {large:,} submissions",
                f"{faster:.2f} × ({whole:.2f} × with the start)",
                f"≥ {SPEEDUP:g} ×",
                at_least(faster, SPEEDUP),
            ],
        ],
    )
    return [sizes, goals]


def _row(what: str, measured: str, value: float, goal: float, shown: str | None = None) -> list[str]:
    return [what, measured, f"≤ {shown or f'{goal:g} ×'}", verdict(value, goal)]


# ---------------------------------------------------------------------------------------------------------------------

PARTS: dict[str, Callable[[Bench], list[Figures]]] = {
    "katas": katas,
    "pytest": against_pytest,
    "peers": peers,
    "scale": scale,
}


def main() -> None:
    """Measure, print, and write when asked to."""
    options = _arguments()
    if options.write and (
        options.quick or set(options.only) != set(PARTS) or set(options.peers) != set(PEERS)
    ):
        sys.exit("--write needs everything measured: no --quick, --only or --peers with it")
    tables: list[Figures] = []
    with tempfile.TemporaryDirectory(prefix="kata-class-") as name:
        sizes = QUICK if options.quick else Sizes(rounds=options.rounds)
        bench = Bench(sizes, Path(name), options.peers, options.katas, options.next_to)
        for part in options.only:
            tables += PARTS[part](bench)
    rounds = "1 round" if sizes.rounds == 1 else f"{sizes.rounds} rounds"
    how = f"measured with `python benchmarks/class.py`, {rounds}"
    publish(tables, "benchmarks.md", "class", write=options.write, how=how)


def _arguments() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument(
        "--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART", help=", ".join(PARTS)
    )
    parser.add_argument(
        "--peers", nargs="+", choices=PEERS, default=list(PEERS), metavar="PEER", help=", ".join(PEERS)
    )
    parser.add_argument(
        "--katas", nargs="+", default=[], metavar="KATA", help="of the part katas; default all"
    )
    parser.add_argument("--next-to", type=Path, metavar="CHECKOUT", help="another checkout, with its .venv")
    parser.add_argument("--rounds", type=int, default=Sizes.rounds, help="default %(default)s")
    parser.add_argument("--quick", action="store_true", help="small classes, one round: no figures to quote")
    return parser.parse_args()


@contextmanager
def _progress(what: str, whole: int) -> Iterator[Callable[[str], None]]:
    """Show a bar on a terminal and lines elsewhere; yield what is called when the next step begins."""
    if not sys.stderr.isatty():
        done = iter(range(1, whole + 1))
        yield lambda step: print(
            f"{what}: {next(done)} of {whole} {step}".rstrip(), file=sys.stderr, flush=True
        )
        return
    columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
    with Progress(*columns, console=console(stderr=True)) as bar:
        task = bar.add_task(what, total=whole)
        begun = False

        def advance(step: str) -> None:
            nonlocal begun
            bar.update(task, advance=int(begun), description=f"{what}: {step}" if step else what)
            begun = True

        yield advance
        bar.update(task, completed=whole, description=what)


if __name__ == "__main__":
    main()
