"""How good are our own tests? Mutate five modules that decide, and count which mutants their tests catch.

    .venv/bin/python benchmarks/mutation.py               a drawn sample of each module's mutants, printed
    .venv/bin/python benchmarks/mutation.py --all --write    every mutant, into docs/benchmarks.md; hours

The mutants are cosmic-ray's (`make mutation` installs it), without those that differ in annotations
alone. Each is put into a copy of the repository, where the tests of that module run until the first fails.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from curriculum import automatic_mutants
from table import Figures, arguments, publish

ROOT = Path(__file__).resolve().parent.parent
MODULES = {
    "grader/timing/decision.py": ["tests/timing/test_decision.py"],
    "grader/running/outcome.py": ["tests/running/test_suite.py"],
    "grader/gradebook/counting.py": ["tests/gradebook/test_counting.py"],
    "grader/gradebook/lateness.py": ["tests/gradebook/test_lateness.py"],
    "grader/wire/messages.py": ["tests/wire/test_bounds.py", "tests/host/test_hostile_worker.py"],
}
"""Whether speed suffices, a check's verdict, what counts, what lateness costs, what an answer may hold."""
SAMPLE = 20
TIMEOUT_S = 600
"""Of a mutant that loops; whoever is that slow is caught."""


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--all", action="store_true", help="every mutant")
    parser.add_argument("--sample", type=int, default=SAMPLE, help="so many of each module's")
    parser.add_argument("--seed", type=int, default=0, help="what the sample is drawn by")
    parser.add_argument("modules", nargs="*", default=list(MODULES))
    chosen = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        copy_repository(copy)
        for module in chosen.modules:
            mutants = list(automatic_mutants((ROOT / module).read_text()))
            tried = mutants
            if not chosen.all:
                tried = random.Random(chosen.seed).sample(mutants, min(chosen.sample, len(mutants)))
            if not passes(copy, module):
                raise SystemExit(f"{module}: its tests fail before anything is mutated")
            survivors = [what for what, text in tried if survives(copy, module, text)]
            for what in survivors:
                print(f"{module}: survived: {what}", file=sys.stderr)
            caught = len(tried) - len(survivors)
            share = f"{100 * caught / len(tried):.0f} %"
            rows.append((f"`{module}`", str(len(mutants)), str(len(tried)), str(caught), share))
            print(*rows[-1], file=sys.stderr, flush=True)
    how = "all of them" if chosen.all else f"a sample of {chosen.sample} a module, drawn by {chosen.seed}"
    text = f"cosmic-ray's mutants of modules that decide; tried were {how}. Caught by the tests that the script names."
    columns = ("module", "mutants", "tried", "caught", "score")
    publish(
        [Figures("What our tests catch", text, columns, rows)],
        "benchmarks.md",
        "mutation",
        write=chosen.write,
    )


def copy_repository(target: Path) -> None:
    """Copy what git tracks: a run that is broken off leaves no mutant in our own tree."""
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    for name in filter(None, names.split("\0")):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target / name)


def survives(copy: Path, module: str, text: str) -> bool:
    """Tell whether all tests of a module pass on a mutant of it."""
    try:
        (copy / module).write_text(text)
        return passes(copy, module)
    finally:
        shutil.copy(ROOT / module, copy / module)


def passes(copy: Path, module: str) -> bool:
    """Tell whether all tests of a module pass in the copy."""
    command = [sys.executable, "-B", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *MODULES[module]]
    variables = {**os.environ, "PYTHONPATH": str(copy)}
    try:
        done = subprocess.run(
            command, cwd=copy, env=variables, capture_output=True, timeout=TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


if __name__ == "__main__":
    main()
