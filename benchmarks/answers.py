"""Are the answers of the second corpus judged right, and told well? `tests/answers` says what they are.

    .venv/bin/python benchmarks/answers.py --write                   what changed, 5 seeds, into docs/curriculum.md
    .venv/bin/python benchmarks/answers.py masks --seeds 1           one kata, printed
    .venv/bin/python benchmarks/answers.py masks --only true_means_blocked -v  one answer, with all that is said of it

A right answer that loses a point is a false fail, a wrong one with full marks (hidden checks included) a false pass. Of
the visible checks that fail on a wrong answer, those count as named that say which catalogued mistake it is; a name
that the answer's own docstring does not list is a wrong one.

Checks that train a model take longest: they are asked on the first seed, and wherever nothing else catches a wrong
answer.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(1, str(ROOT))

from kept import Record, digest_of_answers, found_here, renew  # noqa: E402
from table import rewrite  # noqa: E402

PAGE = ROOT / "docs" / "curriculum.md"


@dataclass
class Answers:
    """What became of one kata's answers."""

    kata: str
    seeds: int = 0
    right: int = 0
    wrong: int = 0
    false_fails: list[str] = field(default_factory=list)
    false_passes: list[str] = field(default_factory=list)
    wrong_names: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)
    failing: int = 0
    named: int = 0
    told: int = 0
    """Wrong answers of which some check, on every seed that caught it by a visible one, says the name."""

    def row(self) -> str:
        share = f"{self.named} of {self.failing} ({self.named / max(self.failing, 1):.0%})"
        cells = (
            self.right, self.wrong, self.seeds or "", len(self.false_fails), len(self.false_passes), share, self.told,
            len(self.wrong_names),
        )  # fmt: skip
        return f"| {self.kata} | " + " | ".join(map(str, cells)) + " |"


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("katas", nargs="*")
    arguments.add_argument("--seeds", type=int, default=5)
    arguments.add_argument("--only", nargs="*", help="these answers alone")
    arguments.add_argument("-v", "--verbose", action="store_true", help="print what failed checks say")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count(), help="katas side by side")
    arguments.add_argument("--json", action="store_true", help="print raw numbers, for this script itself")
    arguments.add_argument("--write", action="store_true", help=f"renew {PAGE.name}")
    options = arguments.parse_args()

    from grader.catalogue import Catalogue

    every = [kata.slug for kata in Catalogue.discover().katas]
    slugs = [slug for slug in every if not options.katas or slug in options.katas]
    if options.json or options.only or options.verbose:
        found = found_here(slugs, lambda *of: score(*of, options.seeds, options.only, options.verbose))
        print(json.dumps([asdict(one) for one in found]) if options.json else "\n".join(table(found)))
        return
    record = Record(digest_of_answers)
    missing = slugs if options.katas else [slug for slug in slugs if not record.holds(slug, Answers)]
    how = ["--seeds", str(options.seeds)]
    renew(record, Answers, missing, how, jobs=options.jobs, write=options.write)
    text = "\n".join(report(record, every if options.write else slugs))
    print(text)
    if options.write:
        rewrite(PAGE, "answers", text)


def score(kata, suite, launcher, seeds: int, only: list[str] | None, verbose: bool) -> Answers:
    from grader.reports.report import WRONG
    from grader.running.suite import Options
    from tests import answers

    found = Answers(kata.slug, seeds=seeds)
    still = suite.but_for(suite.trained())
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / f"{kata.module}.py"

        def graded(answer: answers.Answer, wrong: bool):
            file.write_text(answer.text, encoding="utf-8")
            for seed in range(seeds):
                report = (still if seed else suite).check(file, launcher, Options(seed=seed))
                if seed and wrong and suite.trained() and report.score >= report.max_score:
                    report = suite.check(file, launcher, Options(seed=seed))
                failed = [check for check in report.checks if check.status in WRONG]
                if verbose:
                    for check in failed:
                        print(
                            f"--- {answer.name}, seed {seed}: {check.id}", check.misconception, sep="\n    "
                        )
                        print(check.message, file=sys.stderr)
                yield seed, report, failed

        def chosen(some: list[answers.Answer]) -> list[answers.Answer]:
            return [answer for answer in some if only is None or answer.name in only]

        for answer in chosen(answers.right(kata)):
            found.right += 1
            for seed, report, failed in graded(answer, wrong=False):
                if report.status != "pass" or report.score < report.max_score:
                    ids = ", ".join(check.id for check in failed) or report.message or report.status
                    found.false_fails.append(f"{answer.name}, seed {seed}: {ids}")
        for answer in chosen(answers.wrong(kata)):
            found.wrong += 1
            told = True
            for seed, report, failed in graded(answer, wrong=True):
                if report.score >= report.max_score:
                    found.false_passes.append(f"{answer.name}, seed {seed}")
                visible = [check for check in failed if not check.hidden]
                said = answers.said(visible)
                found.failing += len(visible)
                found.named += len(said)
                told = told and bool(said)
                if others := {
                    f"{check} says {what}" for check, what in said.items() if what not in answer.named
                }:
                    found.wrong_names.append(f"{answer.name}, seed {seed}: {'; '.join(sorted(others))}")
                if silent := [check.id for check in visible if check.id not in said]:
                    found.silent.append(f"{answer.name}, seed {seed}: {', '.join(silent)}")
            found.told += told
    for kind in ("false_fails", "false_passes", "wrong_names", "silent"):
        print(f"{found.kata} {kind}:", *getattr(found, kind), sep="\n  ", file=sys.stderr)
    return found


def table(scores: list[Answers]) -> Iterator[str]:
    yield (
        "| kata | right answers | wrong answers | seeds | false fails | false passes "
        "| failing checks with a name | wrong answers told by name | wrong names |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    whole = Answers("all")
    for one in scores:
        for name, value in vars(one).items():
            if name not in ("kata", "seeds"):
                setattr(whole, name, getattr(whole, name) + value)
    yield from (one.row() for one in [*scores, whole])


def report(record: Record, slugs: list[str]) -> Iterator[str]:
    scores = record.found(Answers, slugs)
    yield f"{'; '.join(record.places(slugs, Answers))}, by `make curriculum`."
    yield ""
    yield from table(scores)
    for line in record.late(Answers, slugs):
        yield f"\n{line}"
    for title in ("false fails", "false passes", "wrong names"):
        if told := [
            f"{one.kata}: {what}" for one in scores for what in getattr(one, title.replace(" ", "_"))
        ]:
            yield f"\n{title.capitalize()}:\n"
            yield from (f"- {what}" for what in told)


if __name__ == "__main__":
    main()
