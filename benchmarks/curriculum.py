"""How good are the checks? Mutate every reference automatically and count which mutants are caught.

    make curriculum                                          what changed since, into docs/curriculum.md
    .venv/bin/python benchmarks/curriculum.py masks          one kata, printed; with --write into the page
    .venv/bin/python benchmarks/curriculum.py --times        how long learners wait, on one core; a minute
    .venv/bin/python benchmarks/curriculum.py --training     do checks that train tell right from wrong, on any seed?

The mutants come from cosmic-ray. One that differs from the reference in annotations alone is no mutant. A survivor that
changes nothing anybody can see is listed in survivors.toml with the reason, and leaves the count.

To score a kata takes minutes to an hour, so curriculum.json keeps what was found: a kata is not scored again until
something changes that decides its verdicts. What trains a model costs most: right answers meet it on fewer seeds, and
`--training` asks of it alone what the others are asked.

Times are those of the visible checks alone, on the reference, in a process of its own that has one core, one kata after
the other: nothing else should run beside.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
sys.path[1:1] = [str(HERE / ".packages"), str(HERE.parent)]
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from kept import Record, found_here, renew, where  # noqa: E402
from table import rewrite  # noqa: E402

from grader.host.launcher import Launcher  # noqa: E402
from grader.host.warm import start_launcher  # noqa: E402
from tests import answers  # noqa: E402

PAGE = HERE.parent / "docs" / "curriculum.md"
FIGURES, TIMES, TRAINING = "figures", "times", "training"
"""The parts of the page that are renewed."""
EQUIVALENT = "equivalent"
"""So begins the reason of a survivor that changes nothing the kata asks for."""
CHECK_TIMEOUT_S, PATIENT_TIMEOUT_S = 5.0, 30.0
"""A mutant that ran out of time is asked once more: on a busy machine a right answer is slow too."""
TIMED_RUNS, GOAL_S = 5, 3.0
TRAINED_SEEDS, WRONG_SEEDS = 10, 2
"""Seeds on which every right answer, and every mistake that a check says it would see, meets the checks that train."""


@dataclass
class Score:
    """What became of one kata's automatic mutants."""

    kata: str
    visible: int = 0
    hidden: int = 0
    equivalent: int = 0
    survivors: list[tuple[str, str]] = field(default_factory=list)
    """What changed, and why nobody noticed."""
    alarms: int = 0
    """Right answers that failed."""
    graded: int = 0
    """Gradings of right answers."""
    trained: int = 0
    """Those of them in which models were trained, too."""
    named: int = 0
    misnamed: int = 0
    """Mutants of ours of which another's sentence was said."""
    accused: int = 0
    """Gradings of right answers in which a mistake was named."""
    mutants: int = 0

    @property
    def total(self) -> int:
        return self.visible + self.hidden + len(self.survivors)


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("katas", nargs="*")
    arguments.add_argument("--seeds", type=int, default=100, help="per right answer")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count(), help="katas scored side by side")
    arguments.add_argument("--times", action="store_true", help="time the visible checks instead")
    arguments.add_argument("--training", action="store_true", help="grade what trains, alone, on every seed")
    arguments.add_argument("--json", action="store_true", help="print raw numbers, for this script itself")
    arguments.add_argument("--write", action="store_true", help=f"renew {PAGE.name}")
    options = arguments.parse_args()
    from grader.catalogue import Catalogue

    slugs = [
        kata.slug for kata in Catalogue.discover().katas if not options.katas or kata.slug in options.katas
    ]
    if options.json:
        if options.times:
            print(json.dumps(times_of(slugs)))
        else:
            work = train if options.training else score
            print(
                json.dumps([asdict(one) for one in found_here(slugs, lambda *of: work(*of, options.seeds))])
            )
        return
    if options.times:
        name, text = TIMES, "\n".join(report_of_times({slug: times_elsewhere(slug) for slug in slugs}))
    else:
        record, kind = Record(), Training if options.training else Score
        missing = slugs if options.katas else [slug for slug in slugs if not record.holds(slug, kind)]
        how = ["--seeds", str(options.seeds), *(["--training"] if options.training else [])]
        # One per core: nothing here is timed against anything else.
        renew(record, kind, missing, how, jobs=options.jobs, write=options.write)
        shown = [kata.slug for kata in Catalogue.discover().katas] if options.write else slugs
        if options.training:
            name, text = TRAINING, "\n".join(report_of_training(record, shown))
        else:
            name, text = FIGURES, "\n".join(report(record, shown))
    print(text)
    if options.write:
        rewrite(PAGE, name, text)


def times_elsewhere(slug: str) -> list[float]:
    """Return how long a kata's visible checks took, run by run, in a process of its own on one core."""
    command = [sys.executable, __file__, slug, "--times", "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    found: list[float] = json.loads(done.stdout)
    return found


def times_of(slugs: list[str]) -> list[float]:
    """Run the visible checks of one kata a few times on one core of this process's own."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    launcher = start_launcher(many=True)

    from grader.catalogue import Catalogue
    from grader.running.suite import Suite, with_suites

    [kata] = [kata for kata in Catalogue.discover().katas if kata.slug in slugs]

    def body(suites: dict[str, Suite]) -> list[float]:
        reports = [suites[kata.slug].check(kata.solution, launcher) for _ in range(TIMED_RUNS)]
        assert all(one.status == "pass" for one in reports), f"{kata.slug}: the reference fails"
        return [one.duration_s for one in reports]

    found = with_suites([kata], body)
    launcher.close()
    return found


def report_of_times(times: dict[str, list[float]]) -> Iterator[str]:
    yield f"{where()}, by `make curriculum`."
    yield ""
    yield f"| kata | first run | median of {TIMED_RUNS} |"
    yield "|---|---|---|"
    for slug, runs in times.items():
        yield f"| {slug} | {runs[0]:.2f} s | {statistics.median(runs):.2f} s |"
    late = [slug for slug, runs in times.items() if max(runs[0], statistics.median(runs)) > GOAL_S]
    yield ""
    yield f"Longer than {GOAL_S:g} s: {', '.join(late) or 'none'}."


@dataclass
class Training:
    """What the checks that train models said, each alone."""

    kata: str
    checks: int = 0
    right: int = 0
    """Gradings of the reference."""
    alarms: int = 0
    """Those of them in which too little was learned."""
    wrong: int = 0
    """Gradings of mistakes of which it is said that such a check fails."""
    missed: list[str] = field(default_factory=list)
    """Those of them that learned enough, and on which seed."""


@cache
def reasons() -> dict[str, dict[str, str]]:
    """Return why changes of each kata's reference may survive, as survivors.toml has it."""
    return tomllib.loads((HERE / "survivors.toml").read_text(encoding="utf-8"))


def explained(score: Score) -> Score:
    """Return a score by the reasons of today: to explain a survivor takes no other run."""
    known = reasons().get(score.kata, {})
    told = [(change, known.get(change, reason)) for change, reason in score.survivors]
    left = [(change, reason) for change, reason in told if not reason.startswith(EQUIVALENT)]
    return replace(score, survivors=left, equivalent=score.equivalent + len(told) - len(left))


def train(kata, suite, launcher: Launcher, seeds: int) -> Training:
    """Grade the reference, and the mistakes that are to be seen there, by the checks that train alone."""
    from grader.running.mistakes import mistakes
    from grader.running.suite import Options

    trains = suite.only(suite.trained())
    found = Training(kata.slug, len(trains))
    if not len(trains):
        return found
    for seed in range(seeds):
        found.right += 1
        found.alarms += trains.check(kata.solution, launcher, Options(seed=seed)).status != "pass"
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / f"{kata.module}.py"
        for mutant in mistakes(kata):
            seen = suite.trained().intersection(mutant.fails)
            if not seen:
                continue
            file.write_text(mutant.text, encoding="utf-8")
            for seed in range(WRONG_SEEDS):
                options = Options(seed=seed, name=False)
                for check in suite.only(seen).check(file, launcher, options).checks:
                    found.wrong += 1
                    if check.status == "pass":
                        found.missed.append(f"{mutant.name} in {check.id} (seed {seed})")
    return found


def report_of_training(record: Record, slugs: list[str]) -> Iterator[str]:
    yield f"{'; '.join(record.places(slugs, Training))}, by `make curriculum`."
    yield ""
    yield "| kata | checks | the reference, graded | too little learned | mistakes, graded | learned enough |"
    yield "|---|---|---|---|---|---|"
    for one in record.found(Training, slugs):
        if one.checks:
            yield (
                f"| {one.kata} | {one.checks} | {one.right} | {one.alarms} | {one.wrong} | "
                f"{len(one.missed)}{': ' if one.missed else ''}{', '.join(one.missed)} |"
            )
    for line in record.late(Training, slugs):
        yield f"\n{line}"


def score(kata, suite, launcher: Launcher, seeds: int) -> Score:
    from grader.running.mistakes import mistakes
    from grader.running.suite import Options

    found = Score(kata.slug)
    known = reasons().get(kata.slug, {})
    still = suite.but_for(suite.trained())
    named_by = still.only(still.visible_names())
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / f"{kata.module}.py"
        for answer in (kata.solution, *kata.alternatives):
            file.write_bytes(answer.read_bytes())
            for seed in range(seeds):
                trains = bool(suite.trained()) and seed < TRAINED_SEEDS
                outcome = (suite if trains else still).check(file, launcher, Options(seed=seed))
                found.graded += 1
                found.trained += trains
                found.alarms += outcome.status != "pass"
                found.accused += any(c.likely for c in outcome.checks)
        print(f"{kata.slug}: {found.graded} right answers, {found.alarms} alarms", file=sys.stderr)
        for mutant in mistakes(kata):
            file.write_text(mutant.text, encoding="utf-8")
            outcome = named_by.check(file, launcher, Options(seed=0))
            found.mutants += 1
            # By name and not by sentence: that of a mistake with a value says the value only where it can be told.
            said = set(answers.said(outcome.checks).values())
            found.named += mutant.name in said
            found.misnamed += bool(said - {mutant.name})
        source = kata.solution.read_text(encoding="utf-8")
        for change, text in automatic_mutants(source):
            reason = known.get(change, "")
            if reason.startswith(EQUIVALENT):
                found.equivalent += 1
                continue
            file.write_text(text, encoding="utf-8")
            options = Options(seed=0, timeout_s=CHECK_TIMEOUT_S, fail_fast=True, name=False)
            outcome = suite.check(file, launcher, options)
            if outcome.status == "timeout":
                outcome = suite.check(file, launcher, replace(options, timeout_s=PATIENT_TIMEOUT_S))
            if outcome.status == "pass":
                found.survivors.append((change, reason or "to be explained"))
            elif any(
                c.status in ("fail", "error", "timeout") and not c.hidden for c in outcome.checks
            ) or not any(c.status in ("fail", "error", "timeout") for c in outcome.checks):
                found.visible += 1
            else:
                found.hidden += 1
        print(f"{kata.slug}: {found.total} mutants, survivors:", file=sys.stderr)
        for change, reason in found.survivors:
            print(f"  {change!r} = {reason!r}", file=sys.stderr)
    return found


def automatic_mutants(source: str) -> Iterator[tuple[str, str]]:
    """Yield each mutant as what changed (the line before and after) and its whole text."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator, operator_names

    seen = {bare(source)}
    for name in sorted(operator_names()):
        operator = get_operator(name)
        if operator.arguments():
            continue
        occurrence = 0
        while True:
            occurrence += 1
            try:
                text = mutate_code(source, operator(), occurrence - 1)
            except AttributeError:  # cosmic-ray 8.7: `except module.Name` has no value to replace
                continue
            if text is None:
                break
            try:
                shape = bare(text)
            except SyntaxError:
                continue
            if shape not in seen:
                seen.add(shape)
                yield difference(source, text), text


def bare(source: str) -> str:
    """Return the code without docstrings and annotations, which no check can see."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        elif isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [  # type: ignore[attr-defined]
                part
                for part in body
                if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
            ] or [ast.Pass()]
    return ast.dump(tree)


def difference(before: str, after: str) -> str:
    """Return the first changed line as it was and as it is; one of them is empty where a line came or went."""
    old, new = before.splitlines(), after.splitlines()
    for kind, start, end, begin, stop in difflib.SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        if kind != "equal":
            was, now = (
                next((line.strip() for line in part if line.strip()), "")
                for part in (old[start:end], new[begin:stop])
            )
            return f"{was}  =>  {now}"
    return "  =>  "


def report(record: Record, slugs: list[str]) -> Iterator[str]:
    scores = [explained(one) for one in record.found(Score, slugs)]
    yield f"{'; '.join(record.places(slugs, Score))}, by `make curriculum`."
    yield ""
    for line in record.late(Score, slugs):
        yield line
        yield ""
    yield "| kata | mutants | caught by visible checks | by all | right answers | with training | false alarms |"
    yield "|---|---|---|---|---|---|---|"
    for s in [*scores, total(scores)]:
        part, whole = s.visible / max(s.total, 1), (s.visible + s.hidden) / max(s.total, 1)
        yield f"| {s.kata} | {s.total} | {part:.1%} | {whole:.1%} | {s.graded} | {s.trained or '–'} | {s.alarms} |"
    yield ""
    yield "| kata | our mutants | named from visible checks | given another's name | right answers given one |"
    yield "|---|---|---|---|---|"
    for s in [*scores, total(scores)]:
        share = f"{s.named} ({s.named / max(s.mutants, 1):.0%})"
        yield f"| {s.kata} | {s.mutants} | {share} | {s.misnamed} | {s.accused} |"
    yield ""
    yield "Survivors:"
    yield ""
    for s in scores:
        for change, reason in s.survivors:
            yield f"- {s.kata}: `{change}`: {reason}"
    yield f"\n{sum(s.equivalent for s in scores)} more change nothing that can be seen; survivors.toml says why."


def total(scores: list[Score]) -> Score:
    whole = Score("all")
    for s in scores:
        for name in (
            "visible",
            "hidden",
            "alarms",
            "graded",
            "trained",
            "named",
            "misnamed",
            "accused",
            "mutants",
        ):
            setattr(whole, name, getattr(whole, name) + getattr(s, name))
        whole.survivors += s.survivors
    return whole


if __name__ == "__main__":
    main()
