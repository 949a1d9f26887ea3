"""Catalogued mistakes: each is a sentence and the definitions that differ from a right answer's, merged into it here.

A file of `mutants/` or `slow/` is a topic. Each class in it is a mistake: its docstring is what the learner is told and
which checks fail, its body replaces the base's definitions of the same names. Nothing is imported;
what comes out is the source of a whole module, with the base's own lines wherever nothing was replaced.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from grader.catalogue import Kata
from grader.engine.host.source import Source
from grader.engine.mistakes.merge import PythonFile, is_docstring, merged
from grader.errors import PackError

_FAILS = re.compile(r"^Fails:\s*(\w+(?:\s*,\s*\w+)*)\s*$", re.MULTILINE)
_UNNAMED = re.compile(r"^Unnamed:\s*(\S.*)$", re.MULTILINE)
_BASE = re.compile(r"^Base:\s*(\S+)\s*$", re.MULTILINE)
_COSTS = re.compile(r"^Costs:\s*(\S.*)$", re.MULTILINE)
_TOLD_ON = re.compile(r"^Told on: (cpu|cuda)$", re.MULTILINE)
_IDLE = re.compile(r"^Idle:\s*(\S.*)$", re.MULTILINE)
_KEYS = ("Fails:", "Unnamed:", "Base:", "Costs:", "Told on:", "Idle:")


@dataclass(frozen=True)
class Mistake:
    """A catalogued wrong answer, or a right one that wastes time or memory."""

    name: str
    path: Path
    """The file of its topic."""
    line: int
    """Where it begins in that file."""
    say: str
    """The misconception in one sentence, said to the learner."""
    fails: tuple[str, ...]
    """Check functions; the first must fail."""
    unnamed: str | None
    """Why visible checks cannot tell this mistake from others, where that is so."""
    costs: str | None
    """Why it, or its topic, costs more than half of the kata's points, where it does."""
    text: str
    """A whole module: what a learner who makes this mistake hands in."""
    base: str
    """The right answer that it differs from; of a mistake that is a file of its own, the reference."""
    told_on: str | None = None
    """The one kind of device, `cpu` or `cuda`, on which its waste shows, where it does not show on all."""
    idle: str | None = None
    """What the kata is about and this answer does not compute, where that is so: it earns at most a third."""

    def is_told_on(self, kind: str) -> bool:
        """Return whether what it wastes is expected to show on a kind of device; all accelerators are like cuda."""
        return self.told_on in (None, "cpu" if kind == "cpu" else "cuda")

    @cached_property
    def changed(self) -> frozenset[str]:
        """The functions and methods (`Class.method`) of its base that are not the same in it."""
        base, own = _functions(self.base), _functions(self.text)
        return frozenset(name for name, syntax in base.items() if own.get(name) != syntax)

    @property
    def source(self) -> Source:
        """The module as a submission; it stands where its topic does."""
        return Source(self.path.with_name(f"{self.name}.py"), self.text.encode())


def mistakes(kata: Kata) -> list[Mistake]:
    """Return the catalogued wrong answers of a kata, sorted by name.

    Raises:
        PackError: a file is not valid Python or holds no mistake; a mistake does not say what it is, or does not apply.
    """
    return _read(kata, kata.mutants)


def slow_answers(kata: Kata) -> list[Mistake]:
    """Return the right answers of a kata that waste time or memory, sorted by name.

    Raises:
        PackError: as `mistakes`.
    """
    return _read(kata, kata.slow)


def _read(kata: Kata, files: Iterable[Path]) -> list[Mistake]:
    found: dict[str, Mistake] = {}
    # Collected, so that an author reads at once all that is wrong with a catalogue.
    errors: list[PackError] = []
    bases: dict[Path, PythonFile] = {}
    for path in files:
        try:
            topic = PythonFile.read(path)
            nodes = _mistakes_in(topic)
        except PackError as error:
            errors.append(error)
            continue
        for node in nodes:
            try:
                mistake = _mistake(kata, topic, node, bases)
                if (other := found.setdefault(mistake.name, mistake)) is not mistake:
                    raise topic.error(
                        node,
                        f"{mistake.name} is the name of a mistake in {other.path.name}, line {other.line}, too",
                        "A mistake's name is its own in the whole kata: rename one of them.",
                    )
            except PackError as error:
                errors.append(error)
    if errors:
        raise errors[0] if len(errors) == 1 else PackError("\n".join(full_text(error) for error in errors))
    return sorted(found.values(), key=lambda mistake: mistake.name)


def full_text(error: PackError) -> str:
    """Return what an error says, and what to do."""
    return f"{error.message} {error.hint}" if error.hint else error.message


def _mistakes_in(topic: PythonFile) -> list[ast.ClassDef] | list[ast.Module]:
    """Return the classes of a topic, or all of a file that is a mistake as a whole."""
    if _FAILS.search(ast.get_docstring(topic.tree) or ""):
        return [topic.tree]
    classes = [node for node in topic.tree.body if isinstance(node, ast.ClassDef)]
    for node in topic.tree.body:
        if not isinstance(node, ast.ClassDef) and not is_docstring(node):
            raise topic.error(
                node,
                "this stands outside of every mistake",
                "A topic is made of classes, one for each mistake; of a file that is a mistake as a whole, the "
                "docstring has a line `Fails: test_…`.",
            )
    if not classes:
        raise PackError(f"{topic.path} holds no mistake.", "Write a class for each, with a docstring.")
    return classes


def _mistake(
    kata: Kata, topic: PythonFile, node: ast.ClassDef | ast.Module, bases: dict[Path, PythonFile]
) -> Mistake:
    name, line = (node.name, node.lineno) if isinstance(node, ast.ClassDef) else (topic.path.stem, 1)
    about = ast.get_docstring(node) or ""
    fails, unnamed, base = _FAILS.search(about), _UNNAMED.search(about), _BASE.search(about)
    say = about.split("\n\n", 1)[0].replace("\n", " ").strip()
    # Learners read this sentence, so there is no mistake without one.
    if not say or say.startswith("Fails:") or fails is None:
        raise topic.error(
            node,
            f"{name} does not say what it is",
            "Its docstring is the misconception in one sentence, a blank line, and `Fails: test_…`.",
        )
    path = _base(kata, topic, node, name, base[1] if base else None)
    # Read once: most mistakes of a kata differ from the same file.
    if path not in bases:
        bases[path] = PythonFile.read(path)
    text, right = topic.text, bases[path]
    if isinstance(node, ast.ClassDef):
        odd = [line for line in about.split("\n\n", 1)[1].splitlines() if not line.startswith(_KEYS)]
        if odd:
            raise topic.error(
                node,
                f"{name} has a line in its docstring that nobody reads: {odd[0] or 'an empty one'}",
                f"After the sentence come lines with {', '.join(_KEYS)} alone.",
            )
        text = merged(topic, node, right)
    checks = tuple(check.strip() for check in fails[1].split(","))
    costs = _COSTS.search(about) or _COSTS.search(ast.get_docstring(topic.tree) or "")
    told_on, idle = _TOLD_ON.search(about), _IDLE.search(about)
    return Mistake(
        name,
        topic.path,
        line,
        say,
        checks,
        unnamed[1] if unnamed else None,
        costs[1] if costs else None,
        text,
        right.text,
        told_on[1] if told_on else None,
        idle[1] if idle else None,
    )


def _functions(text: str) -> dict[str, str]:
    """Return the syntax of a module's functions and methods by dotted name."""
    tree = ast.parse(text)
    classes = [(f"{node.name}.", node.body) for node in tree.body if isinstance(node, ast.ClassDef)]
    return {
        prefix + node.name: ast.dump(node)
        for prefix, body in [("", tree.body), *classes]
        for node in body
        if isinstance(node, ast.FunctionDef)
    }


def _base(
    kata: Kata, topic: PythonFile, node: ast.ClassDef | ast.Module, name: str, named: str | None
) -> Path:
    """Return the right answer that a mistake is merged into: the reference, unless it names an alternative."""
    assert kata.solution is not None
    folder = kata.solution.parent
    right = {path.relative_to(folder).as_posix(): path for path in (kata.solution, *kata.alternatives)}
    path = kata.solution if named is None else right.get(named)
    if path is None:
        raise topic.error(
            node, f"{name} has the base {named}, which is not there", f"There is {', '.join(right)}."
        )
    return path
