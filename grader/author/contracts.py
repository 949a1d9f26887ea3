"""The contract of a kata: every part times every property, and whether a check notices when that property is broken.

A part is a required function, or a public method of a required class. For each property, saboteurs break just that in
the reference, one at a time, and hand the result in. A saboteur that keeps full marks is a hole: nothing in the checks
looks at this property of this part. Where a lesson does not ask for it, `contracts.toml` next to the reference says
why.
"""

from __future__ import annotations

import ast
import copy
import re
import textwrap
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from grader.author.saboteurs import FACT
from grader.author.side_by_side import side_by_side
from grader.catalogue import Kata
from grader.catalogue.pack_code import default_nodes
from grader.engine.host.launcher import Launcher
from grader.engine.mistakes.recognise import SEED
from grader.engine.runner.suite import RunConfig, Suite
from grader.errors import PackError
from grader.report.report import WRONG

REASONS = "contracts.toml"
SABOTEURS = Path(__file__).with_name("saboteurs.py")
"""Its source is appended to the reference's, into a worker."""
VISIBLE, HIDDEN, EXCUSED, HOLE = "yes", "hidden", "-", "HOLE"
PROPERTIES = (
    "values", "rows", "dtype", "layout", "arguments", "memory", "padding", "members", "gradients", "modes", "state",
    "forms", "borders", "blocked",
)  # fmt: skip


@dataclass(eq=False)
class SeenPart:
    """A required function or a method of a required class, and what it was seen to take and return."""

    name: str
    """`causal_mask`, or `MultiHeadAttention.forward`."""
    node: ast.FunctionDef
    module: bool
    """Whether it is a method of a class with parameters."""
    facts: set[str] = field(default_factory=set)
    """As `saboteurs.observes` prints them: `tensor x`, `floating return`, …"""

    @property
    def method(self) -> bool:
        """Whether its first parameter is `self`."""
        return "." in self.name

    @property
    def parameters(self) -> list[ast.arg]:
        """Its parameters without `self`."""
        given = self.node.args
        return [*given.posonlyargs, *given.args][self.method :] + given.kwonlyargs

    @property
    def defaults(self) -> dict[str, ast.expr]:
        """The defaults of the parameters that have one."""
        return default_nodes(self.node.args)

    @property
    def arrays(self) -> bool:
        """Whether it returns NumPy arrays, which have no gradient."""
        return "array return" in self.facts

    def given(self, kind: str) -> list[str]:
        """Return the parameters that were seen to take this kind of value."""
        return [parameter.arg for parameter in self.parameters if f"{kind} {parameter.arg}" in self.facts]


@dataclass(frozen=True)
class Sabotage:
    """One way to break one property of one part."""

    part: str
    breaks: str
    """The property."""
    saboteur: str
    about: str
    text: str
    """What is handed in."""

    @property
    def name(self) -> str:
        """The saboteur, and the parameter that it is about."""
        return f"{self.saboteur}({self.about})" if self.about else self.saboteur


@dataclass(frozen=True)
class ContractCell:
    """What became of a sabotage."""

    sabotage: Sabotage
    caught: str = ""
    """The check that noticed, or how the submission ended."""
    hidden: bool = False
    """Whether only a hidden check noticed."""
    reason: str = ""
    """Why the lesson does not ask for it."""

    @property
    def state(self) -> str:
        """`yes`: a visible check noticed; `hidden`: a hidden one alone; `-`: there is a reason; else `HOLE`."""
        return HIDDEN if self.hidden else VISIBLE if self.caught else EXCUSED if self.reason else HOLE


class Contracts:
    """Tries every saboteur on every part of a kata's reference."""

    def __init__(self, kata: Kata, suite: Suite, launcher: Launcher, jobs: int = 1) -> None:
        if kata.solution is None or kata.solution_folder is None:
            raise PackError(f"{kata.slug}: there is no reference in the solutions folder")
        self._kata, self._launcher, self._jobs = kata, launcher, jobs
        self._suite = suite.exclude(suite.trained())
        self._right = kata.solution.read_text(encoding="utf-8")
        self._file = kata.stub.with_name(f"{kata.module}.py")
        path = kata.solution_folder / REASONS
        self.reasons: dict[str, dict[str, str]] = (
            tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        )

    def cells(
        self,
        seed: int = SEED,
        step: Callable[[int, int], None] = lambda *_: None,
        draw: Callable[[list[Sabotage]], list[Sabotage]] = lambda tried: tried,
    ) -> list[ContractCell]:
        """Return what became of each sabotage on one seed, or of those that `draw` chooses.

        Raises:
            PackError: the reference does not pass, or a reason is about nothing.
        """
        every = [sabotage for part in self._parts(seed) for sabotage in self._sabotages(part)]
        # Before anything runs, and of all of them: a reason about nothing would excuse what comes later.
        self._look_at_reasons(every)
        tried = draw(every)

        def cell(launcher: Launcher, sabotage: Sabotage) -> ContractCell:
            reasons = self.reasons.get(sabotage.part, {})
            if reason := reasons.get(sabotage.name) or reasons.get(sabotage.breaks):
                return ContractCell(sabotage, reason=reason)
            # One check that fails is enough, and which mistake it is does not matter: both save most of the
            # time.
            options = RunConfig(seed=seed, name=False, explain=False, fail_fast=True)
            report = self._suite.check(self._file, launcher, options, content=sabotage.text.encode())
            if report.status == "pass":
                return ContractCell(sabotage)
            failed = next((check for check in report.checks if check.status in WRONG), None)
            if failed is None:
                return ContractCell(sabotage, report.status)
            return ContractCell(sabotage, failed.id, failed.hidden)

        return side_by_side(cell, tried, self._launcher, self._jobs, lambda done: step(done, len(tried)))

    def _look_at_reasons(self, tried: list[Sabotage]) -> None:
        known = {(sabotage.part, what) for sabotage in tried for what in (sabotage.name, sabotage.breaks)}
        for part, reasons in self.reasons.items():
            for what in reasons:
                if (part, what) not in known:
                    raise PackError(
                        f"{self._kata.slug}: {REASONS} gives a reason for {part}, {what}, which is not tried"
                    )

    def _parts(self, seed: int) -> list[SeenPart]:
        """Return the parts of the reference, with what they are seen to take and to return."""
        parts = {part.name: part for part in parts_of(self._right, self._kata.required)}
        # What a part takes and returns is seen at work: annotations may be missing, or say less.
        text = _sabotaged(self._right, "observes", {part: part.name for part in parts.values()})
        options = RunConfig(seed=seed, name=False, explain=False)
        report = self._suite.check(self._file, self._launcher, options, content=text.encode())
        if report.status != "pass":
            raise PackError(
                f"{self._kata.slug}: the reference does not pass: kata pack check {self._kata.slug}"
            )
        for line in "\n".join(check.output or "" for check in report.checks).splitlines():
            if line.startswith(FACT):
                name, fact = line.removeprefix(FACT).split(maxsplit=1)
                parts[name].facts.add(fact)
        return list(parts.values())

    def _sabotages(self, part: SeenPart) -> Iterator[Sabotage]:
        for property_, saboteur, about in applicable(part):
            text = _sabotaged(self._right, saboteur, {part: about})
            yield Sabotage(part.name, property_, saboteur, about, text)
        for name, end in ends_of(self._kata.stub.read_text(encoding="utf-8"), part.name):
            about = f"{name} {end}"
            text = _sabotaged(self._right, "fails_at_end", {part: about})
            yield Sabotage(part.name, "borders", "fails_at_end", about, text)
        for property_, what, text in turned(self._right, part.name):
            yield Sabotage(part.name, property_, what, "", text)


def _sabotaged(right: str, saboteur: str, about: dict[SeenPart, str]) -> str:
    """Return a module with a saboteur around these parts."""
    lines = [right, "_saboteurs = {'__name__': 'saboteurs'}", f"exec({_source()!r}, _saboteurs)"]
    for part, what in about.items():
        given = f"{part.name}, _saboteurs[{saboteur!r}], {int(part.method)}, {what!r}"
        lines.append(f"{part.name} = _saboteurs['wrong']({given})")
    return "\n".join([*lines, ""])


@cache
def _source() -> str:
    return SABOTEURS.read_text(encoding="utf-8")


def parts_of(text: str, required: Iterable[str]) -> Iterator[SeenPart]:
    """Yield the parts of a module: required functions, and the public methods of required classes."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name in required:
            yield SeenPart(node.name, node, module=False)
        if isinstance(node, ast.ClassDef) and node.name in required:
            module = any("Module" in ast.unparse(base) for base in node.bases)
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and (
                    not method.name.startswith("_") or method.name == "__init__"
                ):
                    yield SeenPart(f"{node.name}.{method.name}", method, module)


DESCRIBED = re.compile(r"^(\w+): (.*(?:\n +.*)*)", re.MULTILINE)
"""What a docstring says of a parameter."""
END = re.compile(r"\b(?:from|to|at most|with) (\d+)\b|(?<!above )(?<!below )\b(\d+) (?:takes|gives|is)\b")
"""A number that a parameter may be that has words of its own: "p: from 0 to 1", "0 takes the best token"."""


def ends_of(stub: str, part: str) -> Iterator[tuple[str, str]]:
    """Yield the ends of the ranges of numbers that a part takes, as the stub's docstring has them, with their names."""
    found = _found(ast.parse(stub), part)
    if not isinstance(found, ast.FunctionDef):
        return
    text = (ast.get_docstring(found) or "").partition("Args:\n")[2].partition("\n\n")[0]
    parameters = [each for each in ast.walk(found.args) if isinstance(each, ast.arg)]
    numbers = {
        each.arg
        for each in parameters
        if each.annotation and ast.unparse(each.annotation) in ("int", "float")
    }
    for name, words in DESCRIBED.findall(textwrap.dedent(text)):
        for end in dict.fromkeys(one or other for one, other in END.findall(words) if name in numbers):
            yield name, end


def applicable(part: SeenPart) -> Iterator[tuple[str, str, str]]:
    """Yield property, saboteur and parameter of what can be broken in a part."""
    if not part.name.endswith(".__init__"):
        yield from _of_results(part)
        yield from _of_arguments(part)
    elif part.module:
        yield "state", "loads_leniently", ""
    for parameter in part.parameters:
        yield "forms", "refuses_keyword", parameter.arg
        if default := part.defaults.get(parameter.arg):
            yield "forms", "ignores_option", parameter.arg
            if isinstance(default, ast.Constant) and isinstance(default.value, int | float):
                yield "forms", "other_default", parameter.arg
        annotation = ast.unparse(parameter.annotation) if parameter.annotation else ""
        if "Iterable" in annotation or "Sequence" in annotation:
            yield "forms", "needs_a_list", parameter.arg


def _of_arguments(part: SeenPart) -> Iterator[tuple[str, str, str]]:
    for name in part.given("tensor"):
        yield "layout", "reads_the_storage", name
        yield "arguments", "writes_to_argument", name
        yield "memory", "keeps_argument", name
        yield "memory", "keeps_by_address", name
    for name in part.given("boolean"):
        yield "padding", "takes_mask_for_a_prefix", name
        yield "padding", "takes_last_row_of_mask", name
    for name in part.given("members"):
        yield "members", "drops_last_member", name
    for name in part.given("floating") if "floating return" in part.facts and not part.arrays else ():
        yield "gradients", "cuts_argument", name
    if any(word in ast.unparse(part.node) for word in ("no_grad", "inference_mode", "set_grad_enabled")):
        yield "modes", "leaves_gradients_off", ""
    if "generator" in [parameter.arg for parameter in part.parameters]:
        yield "modes", "seeds_torch", ""
    if part.given("module"):
        yield "modes", "loses_mode_on_error", ""
        yield "modes", "changes_mode", ""


def _of_results(part: SeenPart) -> Iterator[tuple[str, str, str]]:
    if "tensor return" in part.facts:
        yield "values", "zero_when_long", ""
        if not (part.method or part.given("module")):
            yield "memory", "hands_out_twice", ""
        if part.given("tensor"):
            yield "memory", "replays_first_answer", ""
        if part.given("batched") and "batched return" in part.facts:
            yield "rows", "zero_at_one_row", ""
            yield "rows", "zero_at_one_position", ""
            yield "rows", "first_row_for_all", ""
    if "floating return" in part.facts:
        yield "dtype", "rounds_to_float32", ""
        yield "dtype", "returns_float32", ""
        yield "dtype", "zero_in_half", ""
        if part.module or (part.given("floating") and not part.arrays):
            yield "gradients", "cuts_gradients", ""
        if part.module:
            yield "gradients", "cuts_parameters", ""
            if part.name.endswith(".forward"):
                yield "modes", "leaves_eval_mode", ""
                yield "memory", "keeps_parameters", ""


def table(cells: Iterable[ContractCell]) -> list[list[str]]:
    """Return a row for each part and a column for each property; a property is as good as its worst saboteur."""
    worst: dict[str, dict[str, str]] = {}
    order = (EXCUSED, VISIBLE, HIDDEN, HOLE)
    for cell in cells:
        row = worst.setdefault(cell.sabotage.part, {})
        row[cell.sabotage.breaks] = max(row.get(cell.sabotage.breaks, EXCUSED), cell.state, key=order.index)
    return [[part, *(row.get(name, "") for name in PROPERTIES)] for part, row in worst.items()]


def counted(states: Sequence[str], seeds: int) -> str:
    """Return how many saboteurs are in each state, of all that were tried on each of several seeds."""
    counts = [f"{states.count(state) / seeds:g}" for state in (VISIBLE, HIDDEN, EXCUSED, HOLE)]
    words = "{} noticed by visible checks, {} by hidden ones alone, {} not asked for, {} with full marks"
    return f"{len(states) // seeds} saboteurs on {seeds} seed{'s' * (seeds > 1)}: {words.format(*counts)}"


# The borders of a law: references with one comparison turned, or one blocked score that is merely low.
TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
LOW = (-20.0, -100.0, -1e4)
"""Scores that block a key only as long as the others are small."""


def turned(text: str, part: str) -> Iterator[tuple[str, str, str]]:
    """Yield property, name and text of each: one change within a function or method, `f` or `Class.method`."""
    tree = ast.parse(text)
    for place, node in enumerate(ast.walk(tree)):
        line = getattr(node, "lineno", 0)
        if not _within(tree, part, line):
            continue
        if isinstance(node, ast.Compare):
            for index, operator in enumerate(node.ops):
                if type(operator) in TURNED:
                    name = f"turned: {ast.unparse(node)}"
                    yield "borders", name, _changed(tree, place, index, None)
        elif _is_minus_infinity(node):
            for low in LOW:
                yield "blocked", f"{low:g} for -inf", _changed(tree, place, 0, low)


def _found(tree: ast.Module, part: str) -> ast.stmt | None:
    """Return the function or method of this name, `f` or `Class.method`."""
    body: list[ast.stmt] = tree.body
    found: ast.stmt | None = None
    for name in part.split("."):
        found = next((statement for statement in body if getattr(statement, "name", None) == name), None)
        body = getattr(found, "body", [])
    return found


def _within(tree: ast.Module, part: str, line: int) -> bool:
    found = _found(tree, part)
    return found is not None and found.lineno <= line <= (found.end_lineno or 0)


def _is_minus_infinity(node: ast.AST) -> bool:
    """Return whether an expression is spelled as minus infinity."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "float":
        return len(node.args) == 1 and getattr(node.args[0], "value", None) == "-inf"
    if not isinstance(node, ast.UnaryOp) or not isinstance(node.op, ast.USub):
        return False
    return ast.unparse(node.operand) in ("math.inf", "torch.inf", "float('inf')", "INF", "inf")


def _changed(tree: ast.Module, place: int, index: int, low: float | None) -> str:
    """Return the text with the node at this place of the walk changed."""
    own = copy.deepcopy(tree)
    node = list(ast.walk(own))[place]
    if isinstance(node, ast.Compare):
        node.ops[index] = TURNED[type(node.ops[index])]()
        return ast.unparse(own)
    changed = ast.Constant(low)
    for parent in ast.walk(own):
        for name, value in ast.iter_fields(parent):
            if value is node:
                setattr(parent, name, changed)
            elif isinstance(value, list) and any(part is node for part in value):
                setattr(parent, name, [changed if part is node else part for part in value])
    return ast.unparse(ast.fix_missing_locations(own))
