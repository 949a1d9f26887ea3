"""How long a class takes: `kata grade` against other graders, at any size, killed and resumed, with loops in it.

    make peers                                       the other graders, each in its environment, once
    python benchmarks/class.py                       everything; takes about an hour
    python benchmarks/class.py --quick               small and once: a look, no figures to quote
    python benchmarks/class.py --only peers scale    parts of it
    python benchmarks/class.py --keep DIR            what was measured there is not measured again
    python benchmarks/class.py --write               and rewrite the tables of docs/benchmarks.md
    python benchmarks/class.py --only kills --kills 100 --half-hostile --keep DIR
                                                     a class in which every other one is hostile, killed 100 times

What is compared is measured in turns (A B A B …) in one run, so that whatever else the machine does falls on both.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parent))

import classroom
import grading
import hostile
from peers import EVERYONE, PEERS
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from table import Figures, arguments, at_least, publish, spread, verdict

from grader.errors import KataError
from grader.reports.style import console

JOBS = 2
GOALS = {"pytest": 25.0, "check50": 45.0, "nbgrader": 60.0, "otter": 100.0}
"""Times faster than each, per further submission."""
FLOOR_RATIO, SCALE_RATIO, MEMORY_MB, SPEEDUP = 2.0, 1.1, 50.0, 1.8
SEED = 0
T = TypeVar("T")


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    rounds: int = 3
    more_blocks: int = 20
    """Further blocks of submissions for Kata and the floor; other graders get one."""
    small: int = 200
    large: int = 2000
    kills: int = 30
    killed_class: int = 100
    half_hostile: bool = False
    """Whether every other one of the class that is killed is one of benchmarks/peers/hostile/."""
    looped_class: int = 100


QUICK = Sizes(rounds=1, more_blocks=2, small=20, large=60, kills=3, killed_class=20, looped_class=30)


class Bench:
    """What every part needs: sizes, a folder for scratch, what was measured before."""

    def __init__(self, sizes: Sizes, scratch: Path, keep: Path | None, peers: Sequence[str]) -> None:
        self.sizes = sizes
        self.peers = peers
        self.kata = grading.exercise()
        self._scratch = scratch
        self._keep = keep
        self._count = 0

    def once(self, name: str, measure: Callable[[], T]) -> T:
        """Return what was measured under this name before, or measure it now; it has to be JSON."""
        kept = self._keep / f"{name}.json" if self._keep is not None else None
        if kept is not None and kept.is_file():
            return json.loads(kept.read_text(encoding="utf-8"))
        found = measure()
        if kept is not None:
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps(found), encoding="utf-8")
        return found

    def folder(self) -> Path:
        """Return a fresh folder."""
        self._count += 1
        folder = self._scratch / str(self._count)
        folder.mkdir()
        return folder

    def classroom(self, count: int) -> Path:
        """Return the folder of a class of this size."""
        folder = self._scratch / f"class-{count}"
        if not folder.is_dir():
            classroom.generate(folder, [self.kata], count, SEED)
        return folder

    def half_hostile(self, count: int) -> Path:
        """Return the folder of a class of which every other one is hostile."""
        folder = self._scratch / f"half-hostile-{count}"
        if not folder.is_dir():
            hostile.write_class(folder, self.kata, count, self._scratch)
        return folder

    def graded(self, submissions: Path, jobs: int = JOBS, *more: str) -> tuple[grading.Run, Path]:
        """Grade a class into a fresh gradebook; return it too."""
        gradebook = self.folder() / "gradebook.sqlite"
        return grading.grade(submissions, gradebook, jobs, *more), gradebook


# Beside other graders ------------------------------------------------------------------------------------------------


def peers(bench: Bench) -> list[Figures]:
    """Measure what one more submission costs, in everyone's set-up, and that all give the same scores."""
    for name in bench.peers:
        PEERS[name].require()
    blocks = _blocks(bench)
    slopes: dict[str, list[float]] = {name: [] for name in ("kata", "floor", *bench.peers)}
    scores: dict[str, dict[str, float | None]] = {}
    turns = [turn for peer in bench.peers for turn in ("kata", "floor", peer)]
    with _progress("beside others", bench.sizes.rounds * len(turns)) as advance:
        for number in range(bench.sizes.rounds):
            for place, name in enumerate(turns):
                advance(f"round {number + 1}, {name}")
                blocks_for_it = blocks if name in ("kata", "floor") else blocks[:2]
                key = f"peers-{number}-{place}-{name}-{len(blocks_for_it)}x{len(blocks[0])}"
                found = bench.once(key, lambda: _further(name, blocks_for_it))  # noqa: B023
                slopes[name].append(found["further_s"])
                scores.setdefault(name, {}).update(found["scores"])
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


def _further(name: str, blocks: list[list[Path]]) -> dict[str, Any]:
    """Return the seconds for one more submission: many minus few, so that no start-up counts."""
    few = EVERYONE[name].run(blocks[0], workers=JOBS)
    many = EVERYONE[name].run([file for block in blocks for file in block], workers=JOBS)
    further = sum(map(len, blocks[1:]))
    return {
        "few_s": few.seconds,
        "many_s": many.seconds,
        "further_s": (many.seconds - few.seconds) / further,
        "scores": many.scores,
    }


def _same_scores(scores: dict[str, dict[str, float | None]]) -> None:
    for name, theirs in scores.items():
        for learner, score in theirs.items():
            if score is None or score != scores["kata"][learner]:
                mine = scores["kata"][learner]
                raise SystemExit(f"{learner} gets {score} from {name}, and {mine} from kata: no comparison")


def _peer_table(slopes: dict[str, list[float]], block: int, blocks: int) -> Figures:
    ours = statistics.median(slopes["kata"])
    floor = statistics.median(slopes["floor"])
    table = Figures(
        "One more submission, beside other graders",
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


# Small classes and large ones ----------------------------------------------------------------------------------------


def scale(bench: Bench) -> list[Figures]:
    """Measure a small class, and a large one on one worker and two, with 2% hostile submissions in both."""
    small, large = bench.sizes.small, bench.sizes.large
    cases = [(1, 1), (1, JOBS), (small, JOBS), (large, 1), (large, JOBS)]
    runs: dict[tuple[int, int], list[dict[str, float]]] = {case: [] for case in cases}
    with _progress("size", bench.sizes.rounds * len(cases)) as advance:
        for number in range(bench.sizes.rounds):
            for count, jobs in cases:
                advance(f"round {number + 1}, {count} with -j {jobs}")
                key = f"scale-{number}-{count}-{jobs}"
                run = bench.once(key, lambda: asdict(bench.graded(bench.classroom(count), jobs)[0]))  # noqa: B023
                runs[count, jobs].append(run)

    def seconds(count: int, jobs: int) -> float:
        return statistics.median(run["seconds"] for run in runs[count, jobs])

    def memory(count: int, jobs: int) -> float:
        return statistics.median(run["memory_mb"] for run in runs[count, jobs])

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
        taken = [run["seconds"] for run in runs[count, jobs]]
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


# Killed and resumed --------------------------------------------------------------------------------------------------


def kills(bench: Bench) -> list[Figures]:
    """Kill a run at a random moment, resume it, and compare the gradebook with that of an undisturbed run."""
    count, times = bench.sizes.killed_class, bench.sizes.kills
    half = bench.sizes.half_hostile
    submissions = bench.half_hostile(count) if half else bench.classroom(count)
    more = ("--timeout", hostile.CHECK_S) if half else ()  # so that the loops among them do not take the day
    first, gradebook = bench.graded(submissions, JOBS, *more)
    wanted = grading.rows(gradebook)
    if len(wanted) != count:
        raise SystemExit(f"the gradebook has {len(wanted)} rows for a class of {count}")
    _, again = bench.graded(submissions, JOBS, *more)
    undisturbed = grading.rows(again) == wanted
    found = []
    with _progress("kills", times) as advance:
        for number in range(times):
            advance("")
            key = f"kills-{number}-of-{count}{'-half-hostile' if half else ''}"
            found.append(
                bench.once(key, lambda: _kill(bench, submissions, number, first.seconds, wanted, more))  # noqa: B023
            )
    equal = sum(one["equal"] for one in found)
    kept = sorted(one["kept"] for one in found)
    table = Figures(
        "Killed and resumed",
        f"A class of {count} ({'half of it hostile' if half else f'seed {SEED}, with the hostile ones'}), "
        f"killed with SIGKILL at a moment drawn evenly from "
        f"the {first.seconds:.1f} s that it takes, and graded again into the same gradebook. Equal means every row, "
        f"check for check, message for message, without the times. *Kept* is how many rows the kill left "
        f"(least, median, most); *left behind* counts processes that outlived the main one by five seconds.",
        ["kills", "gradebooks equal", "kept", "left behind", "two undisturbed runs equal", "goal", "kept"],
    )
    spread_of_kept = f"{kept[0]}, {statistics.median(kept):g}, {kept[-1]}"
    orphans = str(sum(one["orphans"] for one in found))
    row = [str(times), str(equal), spread_of_kept, orphans, "yes" if undisturbed else "**no**"]
    table.rows.append([*row, f"{times} of {times}", at_least(equal, times)])
    return [table]


def _kill(
    bench: Bench, submissions: Path, number: int, seconds: float, wanted: dict[str, Any], more: Sequence[str]
) -> dict[str, Any]:
    draw = random.Random(f"{SEED} {number}")
    while True:
        gradebook = bench.folder() / "gradebook.sqlite"
        after = draw.uniform(0.05, seconds)
        run = grading.grade(submissions, gradebook, JOBS, *more, kill_after_s=after)
        if run.killed:
            break  # else it was done before: another moment
    kept = _kept(gradebook)
    grading.grade(submissions, gradebook, JOBS, *more)
    found = grading.difference(wanted, grading.rows(gradebook))
    if found:
        print(f"kill {number + 1}, after {after:.2f} s: {found}", file=sys.stderr)
    return {"after_s": after, "kept": kept, "orphans": run.orphans, "equal": found is None}


def _kept(gradebook: Path) -> int:
    """Return how many rows a killed run left; it may not even have made its tables."""
    try:
        return len(grading.rows(gradebook))
    except KataError:
        return 0


# Learners that loop for ever -----------------------------------------------------------------------------------------

LOOPS = {0.1: "loop-in-call", 0.4: "loop-swallowing", 0.7: "loop"}
"""Where in the class they are, and how they loop."""


def loops(bench: Bench) -> list[Figures]:
    """Let three learners of a class loop for ever; compare all other rows, and the time."""
    count, jobs = bench.sizes.looped_class, JOBS
    looping = {classroom.learner(round(place * count)): kind for place, kind in LOOPS.items()}
    calm, looped = bench.folder(), bench.folder()
    classroom.generate(calm, [bench.kata], count, SEED, hostile=0.0)
    classroom.generate(looped, [bench.kata], count, SEED, hostile=0.0)
    for name, kind in looping.items():
        classroom.write(looped, name, bench.kata, classroom.looping(bench.kata, kind))
    found = []
    with _progress("loops", 2 * bench.sizes.rounds) as advance:
        for number in range(bench.sizes.rounds):
            advance(f"round {number + 1}, without")
            advance(f"round {number + 1}, with")
            key = f"loops-{number}-of-{count}"
            found.append(bench.once(key, lambda: _loop(bench, calm, looped, looping)))
    without = statistics.median(one["without_s"] for one in found)
    with_them = statistics.median(one["with_s"] for one in found)
    allowed = max(one["timeouts_s"] for one in found) / jobs
    changed = max(one["changed"] for one in found)
    table = Figures(
        "Three learners that loop for ever",
        f"A class of {count} honest submissions, and the same with three that loop: in every call, in every call "
        f"while swallowing every exception, and at import. Their time-outs are those of the checks and loads that "
        f"ran into one, {bench.kata.limits.check_timeout_s:g} s each and at most "
        f"{bench.kata.limits.submission_timeout_s:g} s a submission.",
        [
            "without",
            "with",
            "grows by",
            "their time-outs over the workers",
            "kept",
            "other rows changed",
            "kept",
        ],
    )
    grown = with_them - without
    row = [
        f"{without:.1f} s",
        f"{with_them:.1f} s",
        f"{grown:.1f} s",
        f"{allowed:.1f} s",
        verdict(grown, allowed),
    ]
    table.rows.append([*row, f"{changed} of {count - len(looping)}", verdict(changed, 0)])
    return [table]


def _loop(bench: Bench, calm: Path, looped: Path, looping: dict[str, str]) -> dict[str, Any]:
    without, one = bench.graded(calm)
    with_them, other = bench.graded(looped)
    before, after = grading.rows(one), grading.rows(other)
    others = [name for name in before if name not in looping]
    changed = sum(before[name] != after.get(name) for name in others)
    if changed:
        first = (grading.difference(before[name], after.get(name), name) for name in others)
        print(f"loops: {next(text for text in first if text)}", file=sys.stderr)
    timeouts = sum(_timeouts(bench, after[name]["report"]) for name in looping)
    return {
        "without_s": without.seconds,
        "with_s": with_them.seconds,
        "timeouts_s": timeouts,
        "changed": changed,
    }


def _timeouts(bench: Bench, report: dict[str, Any]) -> float:
    """Return the seconds that a submission was granted before each of its time-outs."""
    if report["status"] != "timeout":
        raise SystemExit(f"a learner that loops has the status {report['status']}")
    limits = bench.kata.limits
    timed_out = sum(check["status"] == "timeout" for check in report["checks"]) or 1  # 1: while it loaded
    return min(timed_out * limits.check_timeout_s, limits.submission_timeout_s)


# ---------------------------------------------------------------------------------------------------------------------

PARTS: dict[str, Callable[[Bench], list[Figures]]] = {
    "peers": peers,
    "scale": scale,
    "kills": kills,
    "loops": loops,
}


def main() -> None:
    """Measure, print, and write when asked to."""
    options = _arguments()
    if options.write and (
        options.quick
        or options.half_hostile
        or set(options.only) != set(PARTS)
        or set(options.peers) != set(PEERS)
    ):
        sys.exit("--write needs everything measured: no --quick, --only or --peers with it")
    tables: list[Figures] = []
    with tempfile.TemporaryDirectory(prefix="kata-class-") as name:
        sizes = QUICK if options.quick else Sizes(rounds=options.rounds)
        sizes = replace(
            sizes,
            kills=options.kills or sizes.kills,
            killed_class=options.killed_class or sizes.killed_class,
            half_hostile=options.half_hostile,
        )
        bench = Bench(sizes, Path(name), options.keep, options.peers)
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
    parser.add_argument("--rounds", type=int, default=Sizes.rounds, help="default %(default)s")
    parser.add_argument("--kills", type=int, metavar="N", help=f"default {Sizes.kills}")
    parser.add_argument("--killed-class", type=int, metavar="N", help=f"default {Sizes.killed_class}")
    parser.add_argument(
        "--half-hostile", action="store_true", help="every other one of the class that is killed"
    )
    parser.add_argument("--quick", action="store_true", help="small classes, one round: no figures to quote")
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="where measurements are kept, and found again"
    )
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
