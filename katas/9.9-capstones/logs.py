"""Checks of capstones read a log with this: text that a submission returns, as data. It runs in the grader."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from grader.checks import expect, fail, fingerprint_facts, precondition

LONGEST = 60_000
HEADER = "run,seed,step,loss,rate"
APART = 0.02
"""So far apart may losses be of a run that is begun anew: rounding is not the same everywhere."""
Rows = list[tuple[int, float, float]]


def read(text: object, runs: dict[str, dict]) -> dict[str, tuple[int, Rows]]:
    """Return {run: (seed, [(step, loss, rate)])}; what cannot be read fails the check, with its line."""
    if type(text) is not str:
        fail(f"wrong type  training_log()  got {type(text).__name__}  want str", stage="type")
    if len(text) > LONGEST:
        fail(
            f"too long  training_log()  got {len(text):,} characters  want at most {LONGEST:,}",
            stage="values",
        )

    def bad(number: int, line: str, what: str) -> None:
        fail(
            f"unreadable  line {number} of the log  {what}",
            f"  {line[:60]!r}",
            f"  the header is {HEADER}; then a line like base,1,10,2.9731,0.004",
            stage="values",
        )

    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not lines:
        fail("empty  training_log()", "  `python runs.py` trains the runs and logs them", stage="values")
    if lines[0][1] != HEADER:
        bad(*lines[0], "is not the header")
    log: dict[str, tuple[int, Rows]] = {}
    for number, line in lines[1:]:
        cells = line.split(",")
        if len(cells) != 5:
            bad(number, line, f"has {len(cells)} cells, not 5")
        run, *rest = cells
        if run not in runs:
            bad(number, line, f"has no run of the lesson: {run[:30]!r}")
        values = []
        names = (("seed", int), ("step", int), ("loss", float), ("rate", float))
        for (name, kind), cell in zip(names, rest, strict=True):
            try:
                values.append(kind(cell[:30]))
            except ValueError:
                bad(number, line, f"has no number as its {name}: {cell[:30]!r}")
        seed, step, loss, rate = values
        if not (0 <= seed < 1 << 31 and math.isfinite(loss) and math.isfinite(rate)):
            bad(number, line, "has a number that cannot be")
        known, rows = log.setdefault(run, (seed, []))
        if known != seed:
            bad(number, line, f"has another seed than the lines of {run} before it")
        if rows and step <= rows[-1][0]:
            bad(number, line, f"goes back to step {step}")
        rows.append((step, loss, rate))
    return log


def kind(text: object) -> list[object]:
    """Return by what a log that cannot be read is known: its type, its first line, how many cells its lines have."""
    if type(text) is not str:
        return [type(text).__name__]
    head, *lines = [line.strip() for line in text.splitlines() if line.strip()] or [""]
    return [head == HEADER, sorted({min(len(line.split(",")), 9) for line in lines})]


def of_a_log(log: dict, runs: dict, steps: Sequence[int]) -> dict[str, bool]:
    """Return what is missing of a log that can be read."""
    seeds = seeds_of_base(log)
    return {
        "runs": log.keys() == runs.keys(),
        "steps": all({step for step, _, _ in rows} >= set(steps) for _, rows in log.values()),
        "one_seed": len(seeds) > len(set(seeds.values())),
    }


def seeds_of_base(log: dict[str, tuple[int, Rows]]) -> dict[str, int]:
    """Return the seeds of the runs that differ in nothing else."""
    return {run: seed for run, (seed, _) in log.items() if run.startswith("base")}


# --- what is required; `runs` is what the kata's runs.py defines ---


def expect_readable(submission: Any, text: object, runs: dict[str, Any]) -> None:
    """Require text that can be read."""
    fingerprint_facts(submission, log=kind(text))
    read(text, runs["RUNS"])


def expect_complete(submission: Any, text: object, runs: dict[str, Any]) -> None:
    """Require all runs, each with all steps, and base runs that each have a seed of their own."""
    log = read(text, runs["RUNS"])
    fingerprint_facts(submission, **of_a_log(log, runs["RUNS"], runs["LOGGED"]))
    expect_whole(log, runs["RUNS"], runs["LOGGED"])
    expect_seeds_of_their_own(log)


def expect_seeds_of_their_own(log: dict[str, tuple[int, Rows]]) -> None:
    """Require base runs of which each has another seed."""
    runs: dict[int, str] = {}
    for run, seed in seeds_of_base(log).items():
        if seed in runs:
            fail(
                f"the same seed  {runs[seed]} and {run}",
                "  they have to show how far apart runs are that differ in their seed alone",
                stage="values",
            )
        runs[seed] = run


def expect_whole(log: dict[str, tuple[int, Rows]], runs: dict[str, dict], steps: tuple[int, ...]) -> None:
    """Require all runs, each with all these steps."""
    for run in runs:
        if run not in log:
            fail(f"missing  run {run}", f"  the log has {', '.join(log) or 'no run'}", stage="values")
        there = {step for step, _, _ in log[run][1]}
        for wanted in steps:
            if wanted not in there:
                fail(
                    f"missing  step {wanted} of run {run}",
                    f"  it has {len(there)} steps; runs.py logs {len(steps)}, the last is {steps[-1]}",
                    stage="values",
                )


def whole(text: object, runs: dict[str, dict], steps: tuple[int, ...]) -> dict[str, tuple[int, Rows]]:
    """Return the log of all runs; that it is whole is another check's affair."""
    with precondition("the log must be whole"):
        log = read(text, runs)
        expect_whole(log, runs, steps)
        return log


def expect_rates(submission: Any, text: object, runs: dict[str, Any]) -> None:
    """Require rates that rise in the warm-up as each run had it, in shares of the full rate, and never exceed that."""
    log = whole(text, runs["RUNS"], runs["LOGGED"])
    constant = all(len({rate for _, _, rate in rows}) == 1 for _, rows in log.values())
    fingerprint_facts(submission, rates="one for all steps" if constant else "several")
    full = log["no-warmup"][1][0][2]
    expect(full, "rate of step 1 of run no-warmup").is_between(1e-12, 1e3)
    for run, settings in runs["RUNS"].items():
        warmup = settings.get("warmup", 20)
        for step, _, rate in log[run][1]:
            wanted = step / warmup if step <= warmup else None
            if (wanted is not None and abs(rate / full - wanted) > 0.01) or not 0 <= rate <= 1.01 * full:
                fail(
                    f"wrong  rate of step {step} of run {run}  got {rate / full:.3f} of the full rate"
                    + (f"  want {wanted:.3f}" if wanted is not None else "  want 0 to 1"),
                    f"  it had warmup={warmup}; full is the rate of step 1 of run no-warmup",
                    stage="values",
                )


def expect_falls(
    submission: Any, text: object, runs: dict[str, Any], vocab: int, least: float, most: float
) -> None:
    """Require curves that begin at about ln V and fall, and base runs that end between two losses."""
    log, start = whole(text, runs["RUNS"], runs["LOGGED"]), math.log(vocab)
    for run in runs["RUNS"]:
        losses = [loss for _, loss, _ in log[run][1]]
        fingerprint_facts(submission, in_bits=abs(losses[0] - start / math.log(2)) < 0.3)
        expect(losses[0], f"loss of step 1 of run {run}").is_between(
            start - 0.6, start + 0.6, why=f"ln {vocab} is {start:.3f}"
        )
        end = sum(losses[-4:]) / 4
        bound = most if run.startswith("base") else losses[0] - 0.3
        expect(end, f"mean of the last four losses of run {run}").is_between(least, bound)


def expect_repeated(
    text: object, runs: dict[str, Any], train: Callable[..., tuple[Any, Rows]], given: str, steps: int
) -> None:
    """Require the losses of runs that are begun anew to be those of the log.

    Args:
        train: called with steps, seed and a run's settings.
        given: what else it gives the submission's, as it would be typed.
        steps: how many of each run.
    """
    log = whole(text, runs["RUNS"], runs["LOGGED"])
    for run, settings in runs["RUNS"].items():
        seed, logged = log[run]
        # At a full rate at once rounding grows, and without warm-up what follows may depend on the number of steps.
        begun = steps if settings.get("warmup", 20) else 1
        _, rows = train(begun, seed, **settings)
        named = "".join(f", {name}={value!r}" for name, value in settings.items())
        for (step, loss, _), (_, kept, _) in zip(rows, logged, strict=False):
            if abs(loss - kept) > APART:
                fail(
                    f"not repeated  loss of step {step} of run {run}  got {loss:.4f}  the log has {kept:.4f}",
                    f"  train({given}, {begun}, {seed}{named})",
                    "  a log belongs to the train that wrote it: run runs.py again after the last change",
                    stage="values",
                )
