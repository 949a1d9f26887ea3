"""How many concepts the house has: `make house` prints each gauge with its goal; `make lint` fails beyond a ceiling.

Code is what is left without blank lines, comments and docstrings, so that explaining costs nothing. Files are those in
git.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import lzma
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import mean

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Gauge:
    """A number that may only fall, or only rise."""

    name: str
    goal: float
    ceiling: float
    """What `make lint` allows."""
    rises: bool = False

    def is_worse(self, number: float) -> bool:
        """Return whether a number is beyond the ceiling."""
        return number < self.ceiling if self.rises else number > self.ceiling


GAUGES = (
    Gauge("code lines of grader", 33_000, 47_060),
    Gauge("code lines of grader outside extras", 28_500, 41_650),
    Gauge("lines of all Python", 150_000, 216_400),
    Gauge("lines of tests", 42_000, 67_500),
    Gauge("modules of grader", 270, 328),
    Gauge("files", 1_200, 1_792),
    Gauge("classes of ten fields or more", 12, 29),
    Gauge("types of a hand-in on its way to the row", 6, 6),
    Gauge("types from the row to a page", 3, 3),
    Gauge("modules that one other imports", 45, 70),
    Gauge("private functions called once", 330, 476),
    Gauge("ways in which our processes talk", 3, 4),
    Gauge("lines per catalogued mistake", 9.5, 8.8),
    Gauge("lines of decorator per check", 5.6, 1.2),
    Gauge("a kind compared with a text, in instructor", 10, 1),
    Gauge("loops over “one”", 50, 0),
    Gauge("circles of modules", 0, 0),
    Gauge("functions of six or more parameters", 30, 30),
    Gauge("longest function", 80, 80),
    Gauge("mean function", 13, 13),
    Gauge("rooms and modules at the top of grader", 20, 20),
    Gauge("floors", 8, 8),
    Gauge("per cent of comments", 3.0, 2.9, rises=True),
)


class Module:
    """A Python file in git."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        self.text = path.read_text(encoding="utf-8")
        self.lines = self.text.splitlines()
        self.tree = ast.parse(self.text)

    @cached_property
    def code(self) -> int:
        """How many lines it has without blank ones, comments and docstrings."""
        kept: set[int] = set()
        left_out = (
            tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING,
            tokenize.ENDMARKER,
        )  # fmt: skip
        for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
            if token.type not in left_out:
                kept.update(range(token.start[0], token.end[0] + 1))
        for node in ast.walk(self.tree):
            for text in _texts(node):
                kept.difference_update(range(text.lineno, (text.end_lineno or text.lineno) + 1))
        return len(kept)

    @cached_property
    def imports(self) -> set[str]:
        """The modules that it imports, for types as well, wherever it does so."""
        found: set[str] = set()
        package = self.name if self.path.name == "__init__.py" else self.name.rpartition(".")[0]
        for node in ast.walk(self.tree):
            match node:
                case ast.Import(names):
                    found.update(alias.name for alias in names)
                case ast.ImportFrom(module, names, level):
                    base = (
                        ".".join(package.split(".")[: len(package.split(".")) - level + 1]) if level else ""
                    )
                    source = ".".join(filter(None, (base, module)))
                    found.update(f"{source}.{alias.name}" for alias in names)
        return found


def _texts(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements in a body that are nothing but text: docstrings, of attributes too."""
    for part in getattr(node, "body", ()) if not isinstance(node, ast.Lambda | ast.IfExp) else ():
        if (
            isinstance(part, ast.Expr)
            and isinstance(part.value, ast.Constant)
            and isinstance(part.value.value, str)
        ):
            yield part


def listed(*patterns: str) -> list[Path]:
    """Return files in git."""
    done = subprocess.run(
        ["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [path for name in done.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def lines(path: Path) -> list[str]:
    """Return the lines of a file."""
    return path.read_text(encoding="utf-8").splitlines()


def physical(*patterns: str) -> int:
    """Return how many lines these files have."""
    return sum(len(lines(path)) for path in listed(*patterns))


def functions(modules: Iterable[Module]) -> Iterator[tuple[int, int]]:
    """Yield the length and the number of parameters of every function."""
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                given = node.args
                names = [part.arg for part in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
                count = len([name for name in names if name not in ("self", "cls")])
                yield (node.end_lineno or 0) - node.lineno + 1, count


def large_classes(modules: Iterable[Module]) -> int:
    """Return how many classes have ten fields or more."""
    return sum(
        isinstance(node, ast.ClassDef) and sum(isinstance(part, ast.AnnAssign) for part in node.body) >= 10
        for module in modules
        for node in ast.walk(module.tree)
    )


def called_once(modules: Iterable[Module]) -> int:
    """Return how many names of private functions and methods are mentioned once besides their definition."""
    defined: set[str] = set()
    mentioned: Counter[str] = Counter()
    for module in modules:
        for node in ast.walk(module.tree):
            match node:
                case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) if (
                    name[0] == "_" and name[:2] != "__"
                ):
                    defined.add(name)
                case ast.Name(name) | ast.Attribute(attr=name):
                    mentioned[name] += 1
    return sum(mentioned[name] == 1 for name in defined)


def graph(modules: Iterable[Module]) -> dict[str, set[str]]:
    """Return which modules each of them imports."""
    names = {module.name for module in modules}

    def home(imported: str) -> str:
        """Of a name the module that it is in."""
        return imported if imported in names else imported.rpartition(".")[0]

    return {
        module.name: ({home(imported) for imported in module.imports} & names) - {module.name}
        for module in modules
    }


def imported_once(edges: dict[str, set[str]]) -> int:
    """Return how many modules exactly one other imports."""
    importers = Counter(name for found in edges.values() for name in found)
    return sum(count == 1 for count in importers.values())


def circles(edges: dict[str, set[str]]) -> int:
    """Return how many groups of modules import each other."""

    def reach(start: str) -> set[str]:
        seen: set[str] = set()
        ahead = [start]
        while ahead:
            for name in edges[ahead.pop()] - seen:
                seen.add(name)
                ahead.append(name)
        return seen

    reached = {name: reach(name) for name in edges}
    return len(
        {
            frozenset(other for other in found if name in reached[other])
            for name, found in reached.items()
            if name in found
        }
    )


def compared_kinds(modules: Iterable[Module]) -> int:
    """Return how often a `.kind` is compared with a string."""

    def is_kind(node: ast.AST) -> bool:
        return isinstance(node, ast.Attribute) and node.attr == "kind"

    def has_text(node: ast.AST) -> bool:
        return any(isinstance(part, ast.Constant) and isinstance(part.value, str) for part in ast.walk(node))

    return sum(
        isinstance(node, ast.Compare)
        and any(map(is_kind, (node.left, *node.comparators)))
        and any(map(has_text, (node.left, *node.comparators)))
        for module in modules
        for node in ast.walk(module.tree)
    )


def named_one(modules: Iterable[Module]) -> int:
    """Return how many loops and comprehensions call what they go through `one`."""
    return sum(
        isinstance(node, ast.For | ast.comprehension)
        and isinstance(node.target, ast.Name)
        and node.target.id == "one"
        for module in modules
        for node in ast.walk(module.tree)
    )


def decorators(modules: Iterable[Module]) -> float:
    """Return how many lines `@check(...)` has in the mean."""
    spans = [
        (part.end_lineno or part.lineno) - part.lineno + 1
        for module in modules
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef)
        for part in node.decorator_list
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id.endswith("check")
    ]
    return round(mean(spans), 1)


WAY_IN = (
    "submissions.entry.Entry", "submissions.learner.LearnerFolder", "submissions.submission.Submission",
    "grading.messages.Task", "engine.host.source.Source", "report.report.KataReport",
)  # fmt: skip
"""What a hand-in is on its way to the row, written down by hand; each has to exist."""
WAY_BACK = ("gradebook.row_types.HandIn", "gradebook.row_types.Mark", "extras.desk.queries.MarkPage")
"""And from the row to a page."""
TALKS = (
    "engine.wire.messages", "engine.wire.frames", "cli.warm_process", "extras.mcp.mcp_server",
)  # fmt: skip
"""The modules with a format in which processes of ours talk."""


def existing(names: Sequence[str], modules: dict[str, Module]) -> int:
    """Return how many classes or modules these are.

    Raises:
        ValueError: one is not there (any more).
    """
    for name in names:
        places = (f"grader.{name}", f"grader.instructor.{name}")
        within = {place.rpartition(".")[0]: place.rpartition(".")[2] for place in places}
        if not any(place in modules for place in places) and not any(
            isinstance(node, ast.ClassDef) and node.name == own
            for place, own in within.items()
            if place in modules
            for node in modules[place].tree.body
        ):
            raise ValueError(f"benchmarks/house.py names {name}, which is not there")
    return len(names)


def measured() -> dict[str, float]:
    """Return every number, by name."""
    modules = [Module(path) for path in listed("grader/*.py")]
    by_name = {module.name: module for module in modules}
    checks = [Module(path) for path in listed("katas/*checks.py", "solutions/*checks.py")]
    instructor = [module for module in modules if module.name.startswith("grader.instructor")]
    edges = graph(modules)
    every = list(functions(modules))
    comments = sum(line.lstrip().startswith("#") for module in modules for line in module.lines)
    code = sum(module.code for module in modules)
    extras = sum(module.code for module in modules if module.name.startswith("grader.extras"))
    floors = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0][
        "layers"
    ]
    return {
        "code lines of grader": code,
        "code lines of grader outside extras": code - extras,
        "lines of all Python": physical("*.py"),
        "lines of tests": physical("tests/*.py"),
        "modules of grader": len(modules),
        "files": len(listed()),
        "classes of ten fields or more": large_classes(modules),
        "types of a hand-in on its way to the row": existing(WAY_IN, by_name),
        "types from the row to a page": existing(WAY_BACK, by_name),
        "modules that one other imports": imported_once(edges),
        "private functions called once": called_once(modules),
        "ways in which our processes talk": existing(TALKS, by_name),
        "lines per catalogued mistake": round(physical("solutions/*/mutants/*.py") / mistakes(), 1),
        "lines of decorator per check": decorators(checks),
        "a kind compared with a text, in instructor": compared_kinds(instructor),
        "loops over “one”": named_one(modules),
        "circles of modules": circles(edges),
        "functions of six or more parameters": sum(count >= 6 for _, count in every),
        "longest function": max(length for length, _ in every),
        "mean function": round(mean(length for length, _ in every), 1),
        "rooms and modules at the top of grader": len(
            {module.path.relative_to(ROOT).parts[1] for module in modules} - {"__init__.py", "__main__.py"}
        ),
        "floors": len(floors) - 1,  # `__main__` is nobody's floor
        "per cent of comments": round(100 * comments / sum(len(module.lines) for module in modules), 1),
    }


def mistakes() -> int:
    """Return how many mistakes are catalogued: each has its fingerprints."""
    found = 0
    for path in listed("katas/*fingerprints.json.xz"):
        found += len(json.loads(lzma.decompress(path.read_bytes()))["mutants"])
    return found


def main() -> int:
    """Print the table, or with --check what is beyond its ceiling."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="print only what is beyond a ceiling, and fail")
    chosen = parser.parse_args()
    found = measured()
    worse = [gauge for gauge in GAUGES if gauge.is_worse(found[gauge.name])]
    if not chosen.check:
        print(f"{'':<44} {'now':>9} {'goal':>9}")
        for gauge in GAUGES:
            print(f"{gauge.name:<44} {found[gauge.name]:>9,} {gauge.goal:>9,}")
    for gauge in worse:
        beyond = f"{gauge.name}: {found[gauge.name]:,}, beyond {gauge.ceiling:,} in benchmarks/house.py"
        print(beyond, file=sys.stderr)
    return bool(worse)


if __name__ == "__main__":
    sys.exit(main())
