"""What is a learner told who makes two mistakes at once? Draw pairs of catalogued mistakes, each graded as one answer.

    .venv/bin/python benchmarks/pairs.py --write             what changed since, 9 pairs a kata, into docs/curriculum.md
    .venv/bin/python benchmarks/pairs.py masks --pairs 50    one kata, printed

A pair counts when both changes fit into one answer, on lines of their own, and its visible checks fail. Its name is
right when it is one of the two, wrong when it is any other.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import combinations
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parent.parent))

from kept import Record, found_here, renew
from table import rewrite

PAGE = Path(__file__).parents[1] / "docs" / "curriculum.md"


@dataclass
class Pairs:
    """What became of one kata's pairs."""

    kata: str
    pairs: int = 0
    named: int = 0
    both: int = 0
    wrong: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("katas", nargs="*")
    arguments.add_argument("--pairs", type=int, default=9, help="per kata")
    arguments.add_argument("--draw", type=int, default=0, help="the seed that pairs are drawn with")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count(), help="katas side by side")
    arguments.add_argument("--json", action="store_true", help="print raw numbers, for this script itself")
    arguments.add_argument("--write", action="store_true", help=f"renew {PAGE.name}")
    options = arguments.parse_args()

    from grader.catalogue import Catalogue

    every = [kata.slug for kata in Catalogue.discover().katas]
    slugs = [slug for slug in every if not options.katas or slug in options.katas]
    if options.json:
        found = found_here(slugs, lambda *of: score(*of, options.pairs, options.draw), hidden=False)
        print(json.dumps([asdict(one) for one in found]))
        return
    record = Record()
    missing = slugs if options.katas else [slug for slug in slugs if not record.holds(slug, Pairs)]
    how = ["--pairs", str(options.pairs), "--draw", str(options.draw)]
    renew(record, Pairs, missing, how, jobs=options.jobs, write=options.write)
    text = "\n".join(report(record, every if options.write else slugs))
    print(text)
    if options.write:
        rewrite(PAGE, "pairs", text)


def score(kata, suite, launcher, wanted: int, draw: int) -> Pairs:
    from grader.packs.pairs import paired
    from grader.running.mistakes import mistakes
    from tests import answers

    found = Pairs(kata.slug)
    drawn = list(combinations(mistakes(kata), 2))
    random.Random(f"{draw} {kata.slug}").shuffle(drawn)
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / f"{kata.module}.py"
        for one, other in drawn:
            if found.pairs == wanted:
                break
            if (text := paired(one, other)) is None:
                continue
            file.write_text(text, encoding="utf-8")
            checks = suite.check(file, launcher).checks
            failed = [check for check in checks if check.status in ("fail", "error", "timeout")]
            # A line of one that reads what the other no longer has is no answer that anybody handed in.
            if not failed or any(
                "NameError" in (c.message or "") or "UnboundLocal" in (c.message or "") for c in failed
            ):
                continue
            said = set(answers.said(failed).values())
            pair = {one.name, other.name}
            found.pairs += 1
            found.named += bool(said & pair)
            found.both += said >= pair
            told = f"{one.name} + {other.name}"
            if said - pair:
                found.wrong.append(f"{told}: {', '.join(sorted(said - pair))}")
            elif not said:
                found.silent.append(told)
    print(f"{found.kata}: {found.named} of {found.pairs}", *found.wrong, sep="\n  wrong: ", file=sys.stderr)
    print(*found.silent, sep="\n  silent: ", file=sys.stderr)
    return found


def report(record: Record, slugs: list[str]) -> Iterator[str]:
    scores = record.found(Pairs, slugs)
    yield f"{'; '.join(record.places(slugs, Pairs))}, by `make curriculum`."
    yield ""
    yield "| kata | pairs drawn | with a right name | with both | with a wrong name |"
    yield "|---|---|---|---|---|"
    whole = Pairs("all")
    for one in scores:
        for name, value in vars(one).items():
            if name != "kata":
                setattr(whole, name, getattr(whole, name) + value)
    for s in [*scores, whole]:
        share = f"{s.named} ({s.named / max(s.pairs, 1):.0%})"
        yield f"| {s.kata} | {s.pairs} | {share} | {s.both} | {len(s.wrong)} |"
    for line in record.late(Pairs, slugs):
        yield f"\n{line}"
    if whole.wrong:
        yield "\nWrong names:\n"
        yield from (f"- {one.kata}: {what}" for one in scores for what in one.wrong)


if __name__ == "__main__":
    main()
