"""How good are the checks? Mutate every reference automatically and count which mutants are caught.

    make curriculum                                     every kata, printed; hours
    .venv/bin/python benchmarks/curriculum.py masks     one kata
    .venv/bin/python benchmarks/curriculum.py masks --seeds 100    and its right answers on so many seeds

The mutants come from cosmic-ray. One that differs from the reference in annotations alone is not a mutant. A survivor
that changes nothing anybody can see is listed in survivors.toml with the reason, and leaves the count. Models are
trained on the first seed alone.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import os
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

HERE = Path(__file__).parent
sys.path[1:1] = [str(HERE / ".packages"), str(HERE.parent)]
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from table import Figures, publish  # noqa: E402

from grader.catalogue import Catalogue, Kata  # noqa: E402
from grader.engine.host.bootstrap import start_launcher  # noqa: E402
from grader.engine.host.launcher import Launcher  # noqa: E402

EQUIVALENT = "equivalent"
"""So begins the reason of a survivor that changes nothing the kata asks for."""
CHECK_TIMEOUT_S, PATIENT_TIMEOUT_S = 5.0, 30.0
"""A mutant that ran out of time is asked once more: on a busy machine a right answer is slow too."""


@dataclass
class Score:
    """What became of one kata's automatic mutants, and of its right answers."""

    kata: str
    visible: int = 0
    """Mutants that a visible check caught."""
    hidden: int = 0
    """Those that only a hidden check caught."""
    equivalent: int = 0
    survivors: list[tuple[str, str]] = field(default_factory=list)
    """What changed, and why nobody noticed."""
    graded: int = 0
    """Gradings of right answers."""
    alarms: int = 0
    """Those of them that failed."""

    @property
    def total(self) -> int:
        """Mutants that change something."""
        return self.visible + self.hidden + len(self.survivors)


def main() -> None:
    """Score katas and print a table, with every survivor below it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("katas", nargs="*")
    parser.add_argument("--seeds", type=int, default=5, help="per right answer (default %(default)s)")
    chosen = parser.parse_args()
    launcher = start_launcher(many=True)  # before torch is loaded, which it would have to load again

    from grader.engine.runner.suite import suites_of

    katas = [kata for kata in Catalogue.discover().katas if not chosen.katas or kata.slug in chosen.katas]
    with suites_of(katas, hidden=True) as suites:
        scores = [score(kata, suites[kata.slug], launcher, chosen.seeds) for kata in katas]
    launcher.close()
    publish([table(scores)], "curriculum.md", "figures", write=False)
    for one in scores:
        for change, reason in one.survivors:
            print(f"- {one.kata}: `{change}`: {reason}")


def score(kata: Kata, suite, launcher: Launcher, seeds: int) -> Score:
    """Grade right answers on some seeds, and every automatic mutant on one."""
    found = Score(kata.slug)
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / f"{kata.module}.py"
        _grade_right_answers(found, kata, suite, launcher, file, seeds)
        _grade_mutants(found, kata, suite, launcher, file)
    return found


def _grade_right_answers(found: Score, kata: Kata, suite, launcher: Launcher, file: Path, seeds: int) -> None:
    from grader.engine.runner.suite import RunConfig

    still = suite.exclude(suite.trained())
    for answer in (kata.solution, *kata.alternatives):
        file.write_bytes(answer.read_bytes())
        for seed in range(seeds):
            report = (still if seed else suite).check(file, launcher, RunConfig(seed=seed))
            found.graded += 1
            found.alarms += report.status != "pass"


def _grade_mutants(found: Score, kata: Kata, suite, launcher: Launcher, file: Path) -> None:
    from grader.engine.runner.suite import RunConfig
    from grader.report.report import WRONG

    known = tomllib.loads((HERE / "survivors.toml").read_text(encoding="utf-8")).get(kata.slug, {})
    options = RunConfig(seed=0, timeout_s=CHECK_TIMEOUT_S, fail_fast=True, name=False)
    for change, text in automatic_mutants(kata.solution.read_text(encoding="utf-8")):
        reason = known.get(change, "to be explained")
        if reason.startswith(EQUIVALENT):
            found.equivalent += 1
            continue
        file.write_text(text, encoding="utf-8")
        report = suite.check(file, launcher, options)
        if report.status == "timeout":
            report = suite.check(file, launcher, replace(options, timeout_s=PATIENT_TIMEOUT_S))
        wrong = [check for check in report.checks if check.status in WRONG]
        if report.status == "pass":
            found.survivors.append((change, reason))
        elif wrong and all(check.hidden for check in wrong):
            found.hidden += 1
        else:  # a mutant that cannot even be loaded has no checks, and every learner sees that
            found.visible += 1


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


def table(scores: list[Score]) -> Figures:
    """Return one row for each kata."""
    columns = [
        "kata",
        "mutants",
        "caught by visible checks",
        "by all",
        "equivalent",
        "right answers",
        "false alarms",
    ]
    figures = Figures("Automatic mutants", "Of the references, as cosmic-ray makes them.", columns)
    for one in scores:
        visible, caught = one.visible / max(one.total, 1), (one.visible + one.hidden) / max(one.total, 1)
        counts = [str(one.equivalent), str(one.graded), str(one.alarms)]
        figures.rows.append([one.kata, str(one.total), f"{visible:.1%}", f"{caught:.1%}", *counts])
    return figures


if __name__ == "__main__":
    main()
