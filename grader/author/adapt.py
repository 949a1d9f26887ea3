"""Fit an adapter to a course's own solution: run it, and list the checks that it fails as not adapted."""

from __future__ import annotations

import ast
import os
import re
import shlex
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from msgspec import structs

from grader.catalogue import Catalogue, Kata
from grader.catalogue.adapters import ADAPTER_FILE, Adapter
from grader.catalogue.pack_code import defined_names, read_tree
from grader.data_files import read_text
from grader.engine.host.launcher import Launcher
from grader.engine.runner.suite import RunConfig, suites_of
from grader.errors import PackError, UsageError
from grader.files import create_new, write_atomic
from grader.report.report import CheckReport, KataReport

SEEDS = 3
"""A check that the course's solution fails on one of so many draws is not adapted."""


@dataclass
class Fit:
    """What a course's solution does in the checks of a kata."""

    kata: Kata
    adapter: Adapter
    points: float = 0.0
    """Of the checks that it passes."""
    most: float = 0.0
    passed: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    """The checks that it fails, with the first line that says why."""


def begin(folder: Path, kata: Kata, solution: Path) -> list[Path]:
    """Write what an adapter of a kata begins with, where it is not there; return what was written.

    Raises:
        UsageError: the solution holds no Python file.
        PackError: `adapt.toml` cannot be read.
    """
    file, shim = folder / ADAPTER_FILE, folder / f"{kata.module}.py"
    header = f"[katas.{kata.slug}]"
    text = (
        read_text(file)
        if file.is_file()
        else f'name = "{_slug(folder.absolute().name)}"\ntitle = "What the course is called"\n'
    )
    written = []
    if header not in text:
        table = f'\n{header}\ntheirs = ["{_most_like(kata, solution)}"]\n'
        write_atomic(file, (text + table).encode())
        written.append(file)
    if create_new(shim, _shim_for(kata).encode(), folder):
        written.append(shim)
    return written


def fit(katas: Sequence[Kata], solution: Path, launcher: Launcher) -> list[Fit]:
    """Run a course's solution through these adapted katas, all of their checks.

    Raises:
        PackError: an adapter names what the solution does not have, or nothing of it runs.
    """
    whole = []
    for kata in katas:
        assert kata.adapter is not None
        adapter = replace(
            kata.adapter,
            table=structs.replace(kata.adapter.table, not_asked=()),
            solution=solution / kata.adapter.answer,
        )
        _demand_names(adapter, solution)
        whole.append(structs.replace(kata, adapter=adapter))
    with suites_of(whole, hidden=True) as suites:
        return [
            _fitted(
                kata,
                [
                    suites[kata.slug].check(
                        solution / kata.answer, launcher, RunConfig(seed=seed, name=False)
                    )
                    for seed in range(SEEDS)
                ],
            )
            for kata in whole
        ]


def _fitted(kata: Kata, reports: Sequence[KataReport]) -> Fit:
    adapter = kata.adapter
    assert adapter is not None
    found = Fit(kata, adapter)
    for report in reports:
        if report.message:
            raise PackError(f"{adapter.file}, line {adapter.line_of()}: {report.message}")
        for check in report.checks:
            if check.status != "pass":
                _refuse_layout(adapter, check)
                found.failed.setdefault(check.id.partition("[")[0], _why(check))
    for check in reports[0].checks:
        found.most += check.max_points
        if check.id.partition("[")[0] not in found.failed:
            found.passed, found.points = found.passed + 1, found.points + check.max_points
    if not found.passed:
        name, why = next(iter(found.failed.items()))
        solution = kata.root_of(adapter.reference) if adapter.reference is not None else Path()
        packs = os.environ.get("KATA_PACKS", str(adapter.file.parent))
        raise PackError(
            f"{adapter.shim}: the course's solution passes no check of {adapter.kata}. {name}: {why}",
            # In the folder of the solution, with the packs, all that this prints can be typed.
            f"See all of it: cd {shlex.quote(str(solution))} && export KATA_PACKS={shlex.quote(packs)} && "
            f"kata check {kata.slug}",
        )
    return found


def _refuse_layout(adapter: Adapter, check: CheckReport) -> None:
    """Refuse a line of the parameters' map that the solution does not fit."""
    for line in (check.message or "").splitlines():
        if line.strip().startswith("LayoutError: "):
            problem = line.strip().removeprefix("LayoutError: ")
            places = [place for table in adapter.table.parameters.values() for place in table.values()]
            # The message has the place as the learner's class spells it.
            stems = {place: re.escape(place.partition("[")[0].removesuffix(".*")) for place in places}
            about = next((place for place, stem in stems.items() if re.search(rf"\b{stem}\b", problem)), "")
            raise adapter.refusal(problem, *filter(None, ["parameters", about]))


def _why(check: CheckReport) -> str:
    # Deep lines are the arguments of what was called.
    lines = [line.strip() for line in (check.message or "").splitlines() if not line.startswith(" " * 8)]
    about = ("called", "which uses", "skipped", "not judged", "This check is broken: PackError: ")
    own = (line for line in lines if " is a helper of the check: " not in line)
    reasons = [line.removeprefix(about[-1]) for line in own if not line.startswith(about[:-1])]
    return next(iter(reasons), check.status)[:110]


def _demand_names(adapter: Adapter, solution: Path) -> None:
    """Demand that the solution has the files and the names that the adapter asks for.

    Raises:
        PackError: it has not: the line that asks, and what there is.
    """
    defined: set[str] = set()
    imported: set[str] = set()
    for file in adapter.table.theirs:
        if not (solution / file).is_file():
            there = ", ".join(_python_files(solution)[:12]) or "no Python file"
            raise adapter.refusal(f"{file} is not in {solution}; there is {there}.", "theirs", file)
        for node in _of_module(read_tree(solution / file)):
            if isinstance(node, ast.Import | ast.ImportFrom):
                imported |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
            else:
                defined |= defined_names(node)
    names = defined | imported
    for number, line in enumerate(read_text(adapter.shim).splitlines(), 1):
        for name in re.findall(r"\btheirs\.(\w+)", line):
            if name not in names and "*" not in names and "self.theirs" not in line:
                raise PackError(
                    f"{adapter.shim}, line {number}: {', '.join(adapter.table.theirs)} of {solution} has no {name}; "
                    f"there is {', '.join(sorted(defined or names)) or 'no name'}.",
                    "Write the course's name there, or delete the function if the course does not ask for it.",
                )


def _of_module(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements that run while a module loads, those of an `if` or a `try` included."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr):
            yield from _of_module(child)


def write_not_asked(fitted: Fit) -> bool:
    """Have `adapt.toml` list what failed, in place of what it lists; return whether that changes it.

    Raises:
        PackError: the kata's table is not written as `[katas.SLUG]`.
    """
    file, header = fitted.adapter.file, f"[katas.{fitted.adapter.kata}]"
    text = read_text(file)
    lines = text.splitlines()
    if header not in [line.strip() for line in lines]:
        raise PackError(
            f"{file}: write the table of {fitted.adapter.kata} as {header}, on a line of its own."
        )
    first = next(at for at, line in enumerate(lines) if line.strip() == header) + 1
    last = next((at for at in range(first, len(lines)) if lines[at].startswith("[")), len(lines))
    table = "\n".join(lines[first:last]).rstrip("\n")
    table = re.sub(r"^not_asked = \[[^\]]*\]\n?", "", table, flags=re.MULTILINE).rstrip("\n")
    if fitted.failed:
        listed = ", ".join(f'"{name}"' for name in fitted.failed)
        table += "\n" + textwrap.fill(
            f"not_asked = [{listed}]", 120, subsequent_indent="  ", break_long_words=False
        )
    after = lines[last:]
    new = "\n".join([*lines[:first], table, *([""] if after else []), *after]) + "\n"
    if new == text:
        return False
    write_atomic(file, new.encode())
    return True


def require_adapter(folder: Path) -> None:
    """Refuse a folder in which no adapter has been begun.

    Raises:
        UsageError: it has no `adapt.toml`.
    """
    if not (folder / ADAPTER_FILE).is_file():
        raise UsageError(
            f"{folder.absolute()}: there is no {ADAPTER_FILE}.",
            f"Begin one: kata pack adapt SOLUTION --kata ID --into {shlex.quote(str(folder))}",
        )


def adapted(catalogue: Catalogue, folder: Path, slugs: Iterable[str]) -> list[Kata]:
    """Return the katas that the adapter in a folder adapts, or those of these names.

    Raises:
        UsageError: it adapts none of such a name.
    """
    file = (folder / ADAPTER_FILE).resolve()
    katas = [kata for kata in catalogue.katas if kata.adapter is not None and kata.adapter.file == file]
    for slug in slugs:
        if all(kata.slug != slug for kata in katas):
            raise UsageError(
                f"{file} does not adapt {slug}.", f"It adapts {', '.join(kata.slug for kata in katas)}."
            )
    return [kata for kata in katas if not slugs or kata.slug in slugs]


def _python_files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.py") if "/." not in str(path))


def _most_like(kata: Kata, solution: Path) -> str:
    """Return the file of a solution that defines the most of a kata's names, or else the first."""
    files = _python_files(solution)
    if not files:
        raise UsageError(
            f"{solution}: there is no Python file.", "Name the folder that learners hand in, solved."
        )

    def shared(file: str) -> int:
        text = read_text(solution / file)
        return sum(re.search(rf"(?:def|class) {name}\b", text) is not None for name in kata.required)

    return max(files, key=shared)


def _shim_for(kata: Kata) -> str:
    """Return a shim that hands every call on to a function of the same name."""
    functions = []
    for name, arguments in required_arguments(kata).items():
        keywords = [f"{argument.arg}={argument.arg}" for argument in arguments.kwonlyargs]
        several = [f"*{arguments.vararg.arg}"] if arguments.vararg else []
        handed = ", ".join([argument.arg for argument in arguments.args] + several + keywords)
        functions.append(f"def {name}({ast.unparse(arguments)}):\n    return theirs.{name}({handed})\n")
    code = "\n\n".join(functions)
    imports = "import torch\n\n\n" if re.search(r"\btorch\.", code) else "\n"
    return (
        f'"""{kata.title}: what the course has, as this kata asks for it. Change names and arguments to theirs."""\n\n'
        f"{imports}{code}"
    )


def required_arguments(kata: Kata) -> dict[str, ast.arguments]:
    """Return what each required function or constructor of the stub takes: names and defaults, without annotations."""
    nodes = {name: node for node in read_tree(kata.stub).body for name in defined_names(node)}

    def default(value: ast.expr) -> ast.expr:
        node = nodes.get(value.id) if isinstance(value, ast.Name) else None
        return node.value if isinstance(node, ast.Assign) else value

    found = {}
    for name in kata.required:
        function = nodes[name]
        if isinstance(function, ast.ClassDef):
            members = (each for each in function.body if isinstance(each, ast.FunctionDef))
            makers = (each for each in members if each.name == "__init__")
            function = next(makers, ast.parse("def __init__(self): ...").body[0])
            assert isinstance(function, ast.FunctionDef)
            del function.args.args[0]  # self
        assert isinstance(function, ast.FunctionDef)  # a stub's names are called
        found[name] = arguments = function.args
        arguments.defaults = list(map(default, arguments.defaults))
        for argument in ast.walk(arguments):
            if isinstance(argument, ast.arg):
                argument.annotation = None
    return found


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "course"
