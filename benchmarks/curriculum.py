"""How good are the checks? Mutate every reference automatically and count which mutants are caught.

    make curriculum                                          all of it, into docs/curriculum.md
    .venv/bin/python benchmarks/curriculum.py masks          one kata, printed

The mutants come from cosmic-ray. One that differs from the reference in annotations alone is no mutant. A survivor that
changes nothing anybody can see is listed in survivors.toml with the reason, and leaves the count.
"""

from __future__ import annotations

import argparse
import ast
import gc
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(1, str(HERE / ".packages"))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from grader.worker.launcher import Launcher, default_launcher  # noqa: E402

PAGE = HERE.parent / "docs" / "curriculum.md"
BEGIN, END = "<!-- figures -->", "<!-- /figures -->"
CHECK_TIMEOUT_S = 5.0


@dataclass
class Score:
    """What became of one kata's automatic mutants."""

    kata: str
    visible: int = 0
    hidden: int = 0
    equivalent: int = 0
    survivors: list[tuple[str, str]] = field(default_factory=list)
    """What changed, and why nobody noticed."""
    seconds: float = 0.0
    alarms: int = 0
    """Right answers that failed."""
    graded: int = 0
    """Gradings of right answers."""
    named: int = 0
    mutants: int = 0

    @property
    def total(self) -> int:
        return self.visible + self.hidden + len(self.survivors)


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("katas", nargs="*")
    arguments.add_argument("--seeds", type=int, default=100, help="per right answer (10 where checks train)")
    arguments.add_argument("--keep", type=Path, help="a folder: katas scored there are not scored again")
    arguments.add_argument(
        "--json", action="store_true", help="print the counts only, for this script itself"
    )
    arguments.add_argument("--write", action="store_true", help=f"renew {PAGE.name}")
    options = arguments.parse_args()
    from grader.catalogue import Catalogue

    slugs = [
        kata.slug for kata in Catalogue.discover().katas if not options.katas or kata.slug in options.katas
    ]
    if options.json:
        print(json.dumps([asdict(one) for one in scores_of(slugs, options.seeds)]))
        return
    # A process per kata, one per core: nothing here is timed against anything else.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        scores = list(pool.map(lambda slug: score_elsewhere(slug, options.seeds, options.keep), slugs))
    text = "\n".join(report(scores, options.seeds))
    print(text)
    if options.write:
        page = PAGE.read_text(encoding="utf-8")
        head, _, rest = page.partition(BEGIN)
        tail = rest.partition(END)[2]
        PAGE.write_text(f"{head}{BEGIN}\n{text}\n{END}{tail}", encoding="utf-8")


def score_elsewhere(slug: str, seeds: int, keep: Path | None) -> Score:
    """Return one kata's score, worked out in a process of its own."""
    kept = keep / f"{slug}.json" if keep is not None else None
    if kept is not None and kept.is_file():
        return Score(**json.loads(kept.read_text(encoding="utf-8"))[0])
    command = [sys.executable, __file__, slug, "--seeds", str(seeds), "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(done.stdout, encoding="utf-8")
    return Score(**json.loads(done.stdout)[0])


def scores_of(slugs: list[str], seeds: int) -> list[Score]:
    """Return the scores of katas, one after the other."""
    launcher = default_launcher()
    gc.freeze()

    from grader.catalogue import Catalogue
    from grader.checks.suite import with_suites

    katas = [kata for kata in Catalogue.discover().katas if kata.slug in slugs]
    found = with_suites(
        katas, lambda suites: [score(kata, suites[kata.slug], launcher, seeds) for kata in katas], hidden=True
    )
    launcher.close()
    return found


def score(kata, suite, launcher: Launcher, seeds: int) -> Score:
    from grader.checks.suite import Options
    from grader.packs.mutant import read_mutant

    found = Score(kata.slug)
    reasons = tomllib.loads((HERE / "survivors.toml").read_text(encoding="utf-8")).get(kata.slug, {})
    trains = any(info.aspect == "learning" for info in suite.infos())
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / f"{kata.module}.py"
        times = []
        for answer in (kata.solution, *kata.alternatives):
            file.write_bytes(answer.read_bytes())
            for seed in range(min(seeds, 10) if trains else seeds):
                start = time.perf_counter()
                outcome = suite.check(file, launcher, Options(seed=seed))
                times.append(time.perf_counter() - start)
                found.graded += 1
                found.alarms += outcome.status != "pass"
        found.seconds = statistics.median(times)
        print(f"{kata.slug}: {found.graded} right answers, {found.alarms} alarms", file=sys.stderr)
        for mutant in map(read_mutant, kata.mutants):
            file.write_bytes(mutant.path.read_bytes())
            outcome = suite.check(file, launcher, Options(seed=0))
            found.mutants += 1
            found.named += any(c.likely == mutant.say and not c.hidden for c in outcome.checks)
        source = kata.solution.read_text(encoding="utf-8")
        for change, text in automatic_mutants(source):
            file.write_text(text, encoding="utf-8")
            outcome = suite.check(file, launcher, Options(seed=0, timeout_s=CHECK_TIMEOUT_S, fail_fast=True))
            if outcome.status == "pass":
                reason = reasons.get(change, "")
                if reason.startswith("equivalent"):
                    found.equivalent += 1
                else:
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
        while (text := mutate_code(source, operator(), occurrence)) is not None:
            occurrence += 1
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
    pairs = zip(before.splitlines(), after.splitlines(), strict=False)
    changed = next(((a.strip(), b.strip()) for a, b in pairs if a != b), ("", ""))
    return f"{changed[0]}  =>  {changed[1]}"


def report(scores: list[Score], seeds: int) -> Iterator[str]:
    import torch

    yield (
        f"Measured on {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"torch {torch.__version__}, by `make curriculum`."
    )
    yield ""
    yield "| kata | automatic mutants | caught by visible checks | by all | right answers graded | false alarms |"
    yield "|---|---|---|---|---|---|"
    for s in [*scores, total(scores)]:
        part, whole = s.visible / max(s.total, 1), (s.visible + s.hidden) / max(s.total, 1)
        yield f"| {s.kata} | {s.total} | {part:.1%} | {whole:.1%} | {s.graded} | {s.alarms} |"
    yield ""
    yield "| kata | our mutants | named from visible checks | one full run, median |"
    yield "|---|---|---|---|"
    for s in [*scores, total(scores)]:
        seconds = f"{s.seconds:.2f} s" if s.kata != "all" else ""
        yield f"| {s.kata} | {s.mutants} | {s.named} ({s.named / max(s.mutants, 1):.0%}) | {seconds} |"
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
        for name in ("visible", "hidden", "alarms", "graded", "named", "mutants"):
            setattr(whole, name, getattr(whole, name) + getattr(s, name))
        whole.survivors += s.survivors
    return whole


if __name__ == "__main__":
    main()
