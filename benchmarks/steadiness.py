"""Every catalogued mistake on many seeds: does its mark hang on the draw, and what does it cost?

benchmarks/steadiness.py                        all katas, 20 seeds
benchmarks/steadiness.py masks --seeds 4        one kata, sooner
benchmarks/steadiness.py --write                renew the page
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from grader.host.launcher import default_launcher

PAGE = Path(__file__).parents[1] / "docs" / "curriculum.md"
NAME = "steadiness"
"""What stands between <!-- name --> and <!-- /name --> on the page is renewed."""
NARROW = 0.03


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("katas", nargs="*")
    arguments.add_argument("--seeds", type=int, default=20)
    arguments.add_argument("--only", nargs="*", help="these mistakes alone")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count(), help="katas graded side by side")
    arguments.add_argument("--keep", type=Path, help="a folder: katas graded there are not graded again")
    arguments.add_argument("--json", action="store_true", help="print raw numbers, for this script itself")
    arguments.add_argument("--write", action="store_true", help=f"renew {PAGE.name}")
    options = arguments.parse_args()
    from grader.catalogue import Catalogue
    from grader.packs.steadiness import Gradings

    slugs = [
        kata.slug for kata in Catalogue.discover().katas if not options.katas or kata.slug in options.katas
    ]
    if options.json:
        print(json.dumps([asdict(one) for one in graded(slugs[0], options.seeds, options.only)]))
        return

    def elsewhere(slug: str) -> list[Gradings]:
        """Return what a process of its own found out about a kata."""
        kept = options.keep / f"{slug}.json" if options.keep else None
        if kept is None or not kept.is_file():
            command = [sys.executable, __file__, slug, "--seeds", str(options.seeds), "--json"]
            command += ["--only", *options.only] if options.only else []
            text = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
            if kept is not None:
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_text(text, encoding="utf-8")
        else:
            text = kept.read_text(encoding="utf-8")
        return [Gradings(**one) for one in json.loads(text)]

    with ThreadPoolExecutor(options.jobs) as pool:
        found = dict(zip(slugs, pool.map(elsewhere, slugs), strict=True))
    for slug, marks in found.items():
        for one in marks:
            for check, share in one.flips().items():
                print(f"{slug}: {one.mistake}: {check} flips on {share:.0%} of the seeds", file=sys.stderr)
    text = "\n".join(report(found, options.seeds))
    print(text)
    if options.write:
        begin, end = f"<!-- {NAME} -->", f"<!-- /{NAME} -->"
        head, _, rest = PAGE.read_text(encoding="utf-8").partition(begin)
        PAGE.write_text(f"{head}{begin}\n{text}\n{end}{rest.partition(end)[2]}", encoding="utf-8")


def graded(slug: str, seeds: int, only: list[str] | None):
    """Grade the mistakes of one kata, hidden checks included."""
    launcher = default_launcher()
    gc.freeze()

    from grader.catalogue import Catalogue
    from grader.packs.steadiness import grade
    from grader.running.mistakes import mistakes
    from grader.running.suite import with_suites

    [kata] = [kata for kata in Catalogue.discover().katas if kata.slug == slug]

    def body(suites):
        found = []
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / f"{kata.module}.py"
            for mistake in mistakes(kata):
                if only and mistake.name not in only:
                    continue
                file.write_text(mistake.text, encoding="utf-8")
                started = time.perf_counter()
                found.append(grade(suites[slug], file, mistake.name, launcher, seeds))
                took = (time.perf_counter() - started) / seeds
                print(f"{slug}: {mistake.name}: {took:.2f} s a grading", file=sys.stderr)
        return found

    try:
        return with_suites([kata], body, hidden=True)
    finally:
        launcher.close()


def report(found, seeds: int) -> Iterator[str]:
    yield f"Measured on {platform.machine()}, by `python benchmarks/steadiness.py --write`: {seeds} seeds."
    yield ""
    yield "| kata | mistakes | spread at most 3% | widest | median loss | three quarters lose | greatest loss |"
    yield "|---|---|---|---|---|---|---|"
    everything = [one for marks in found.values() for one in marks]
    for slug, marks in [*found.items(), ("all", everything)]:
        spreads, losses = [one.spread for one in marks], sorted(one.loss for one in marks)
        narrow = sum(spread <= NARROW for spread in spreads) / len(spreads)
        quarter = losses[min(3 * len(losses) // 4, len(losses) - 1)]
        yield (
            f"| {slug} | {len(marks)} | {narrow:.1%} | {max(spreads):.1%} | {statistics.median(losses):.0%} "
            f"| {quarter:.0%} | {losses[-1]:.0%} |"
        )
    yield ""
    yield (
        "Mistakes that cost more than half: "
        + (
            ", ".join(
                f"{one.mistake} ({slug}, {one.loss:.0%})"
                for slug, marks in found.items()
                for one in marks
                if one.loss > 0.5
            )
            or "none"
        )
        + "."
    )


if __name__ == "__main__":
    main()
