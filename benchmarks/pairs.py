"""What is a learner told who makes two mistakes at once? Draw pairs of catalogued mistakes, each graded as one answer.

    .venv/bin/python benchmarks/pairs.py                     200 pairs over all katas, a line for the page
    .venv/bin/python benchmarks/pairs.py masks --pairs 50    one kata
    .venv/bin/python benchmarks/pairs.py --write             renew docs/curriculum.md

A pair counts when both changes fit into one answer, on lines of their own, and its visible checks fail. Its name is
right when it is one of the two, wrong when it is any other.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

from table import rewrite

from grader.host.warm import start_launcher

PAGE = Path(__file__).parents[1] / "docs" / "curriculum.md"


@dataclass
class Score:
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
    arguments.add_argument("--pairs", type=int, default=200)
    arguments.add_argument("--draw", type=int, default=0, help="the seed that pairs are drawn with")
    arguments.add_argument("--write", action="store_true", help=f"renew {PAGE.name}")
    options = arguments.parse_args()
    launcher = start_launcher(many=True)

    from grader.catalogue import Catalogue
    from grader.running.suite import with_suites

    katas = [kata for kata in Catalogue.discover().katas if not options.katas or kata.slug in options.katas]
    shares = [
        options.pairs * (n + 1) // len(katas) - options.pairs * n // len(katas) for n in range(len(katas))
    ]
    scores = with_suites(
        katas,
        lambda suites: [
            score(kata, suites[kata.slug], launcher, share, options.draw)
            for kata, share in zip(katas, shares, strict=True)
        ],
    )
    launcher.close()
    text = "\n".join(report(scores, options.draw))
    print(text)
    if options.write:
        rewrite(PAGE, "pairs", text)


def score(kata, suite, launcher, wanted: int, draw: int) -> Score:
    from grader.packs.pairs import paired
    from grader.running.mistakes import mistakes
    from tests import answers

    found = Score(kata.slug)
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


def report(scores: list[Score], draw: int):
    yield "| kata | pairs drawn | with a right name | with both | with a wrong name |"
    yield "|---|---|---|---|---|"
    whole = Score("all")
    for s in scores:
        whole.pairs, whole.named, whole.both = (
            whole.pairs + s.pairs,
            whole.named + s.named,
            whole.both + s.both,
        )
        whole.wrong += s.wrong
    for s in [*scores, whole]:
        yield f"| {s.kata} | {s.pairs} | {s.named} ({s.named / max(s.pairs, 1):.0%}) | {s.both} | {len(s.wrong)} |"
    yield ""
    yield f"`.venv/bin/python benchmarks/pairs.py --draw {draw}`"


if __name__ == "__main__":
    main()
