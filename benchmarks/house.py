"""How large the house is, and what of it may only fall: `make house`; `make lint` fails beyond a ceiling.

Lines are those of files in git. The wheel is what a learner installs; its size and the hops are left
out with `--quick`, since they take seconds.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("grader", "tests", "benchmarks", "katas", "solutions", "demo")
GOALS = {
    "lines of grader": 41_000, "lines of tests": 46_000, "lines of benchmarks": 4_500, "lines of Python": 156_000,
    "files": 1_200, "rooms and modules of grader": 20, "floors": 8, "functions with six or more parameters": 30,
    "longest function": 80, "mean function": 13, "comment lines of grader, in 1,000": 30,
    "hops of kata check": 12, "wheel, kB": 2_000,
}  # fmt: skip
CEILINGS = {
    "lines of grader": 60_735, "lines of tests": 59_900, "lines of benchmarks": 6_435, "lines of Python": 193_260,
    "files": 1_512, "rooms and modules of grader": 18, "floors": 8, "functions with six or more parameters": 30,
    "longest function": 75, "mean function": 13,
}  # fmt: skip
"""What `make lint` allows: these numbers may only fall."""


def listed(*patterns: str) -> list[Path]:
    """Return files in git."""
    done = subprocess.run(
        ["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [path for name in done.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def lines(path: Path) -> list[str]:
    """Return the lines of a file."""
    return path.read_text(encoding="utf-8").splitlines()


def functions(paths: list[Path]) -> Iterator[tuple[str, int, int]]:
    """Yield the name, the length and the number of parameters of every function."""
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                given = node.args
                names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
                count = len([name for name in names if name not in ("self", "cls")])
                yield (
                    f"{path.relative_to(ROOT)}:{node.lineno} {node.name}",
                    (node.end_lineno or 0) - node.lineno + 1,
                    count,
                )


def floors() -> int:
    """Return how many layers the rooms of grader/ have in import-linter's contract."""
    import tomllib

    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return len(contracts[0]["layers"]) - 1  # `__main__` is nobody's floor


def measured(*, quick: bool) -> dict[str, float]:
    """Return every number, by name."""
    found: dict[str, float] = {}
    for folder in FOLDERS:
        found[f"lines of {folder}"] = sum(len(lines(path)) for path in listed(f"{folder}/*.py"))
    found["lines of Python"] = sum(len(lines(path)) for path in listed("*.py"))
    found["files"] = len(listed())
    engine = listed("grader/*.py")
    for room in sorted({path.relative_to(ROOT).parts[1] for path in engine}):
        if (ROOT / "grader" / room).is_dir():
            found[f"  grader/{room}"] = sum(len(lines(path)) for path in listed(f"grader/{room}/*.py"))
    found["rooms and modules of grader"] = len(
        {path.relative_to(ROOT).parts[1] for path in engine} - {"__init__.py", "__main__.py"}
    )
    found["floors"] = floors()
    comments = sum(line.lstrip().startswith("#") for path in engine for line in lines(path))
    found["comment lines of grader, in 1,000"] = round(1000 * comments / found["lines of grader"], 1)
    every = list(functions(engine))
    found["mean function"] = round(mean(length for _, length, _ in every), 1)
    found["longest function"] = max(length for _, length, _ in every)
    found["functions with six or more parameters"] = sum(count >= 6 for _, _, count in every)
    if not quick:
        hops = subprocess.run(
            [sys.executable, "-m", "benchmarks.hops"], cwd=ROOT, capture_output=True, text=True, check=True
        )
        names = [line.split()[2] for line in hops.stdout.splitlines()]
        found["hops of kata check"] = len(names) - next(
            i for i, name in enumerate(names) if name.endswith("check.check")
        )
        with tempfile.TemporaryDirectory() as folder:
            build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, "."]
            subprocess.run(build, cwd=ROOT, capture_output=True, check=True)
            found["wheel, kB"] = next(Path(folder).glob("*.whl")).stat().st_size // 1000
    return found


def main() -> int:
    """Print the table, or with --check what is beyond its ceiling."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="print only what is beyond a ceiling, and fail")
    parser.add_argument("--quick", action="store_true", help="without hops and wheel")
    chosen = parser.parse_args()
    found = measured(quick=chosen.quick or chosen.check)
    beyond = {name: found[name] for name, most in CEILINGS.items() if found[name] > most}
    if not chosen.check:
        for name, number in found.items():
            goal = f"goal {GOALS[name]:,}" if name in GOALS else ""
            print(f"{name:<42} {number:>10,}   {goal}")
    for name, number in beyond.items():
        print(
            f"{name}: {number:,}, beyond the ceiling of {CEILINGS[name]:,} in benchmarks/house.py",
            file=sys.stderr,
        )
    return bool(beyond)


if __name__ == "__main__":
    sys.exit(main())
