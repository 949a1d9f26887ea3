"""Catalogued mistakes: each is a sentence and what differs from a right answer, merged into it here.

A file of `mutants/` or `slow/` is a topic. Each `mistake("its-name", "what the learner is told", …)` in it begins a
mistake, alone or above a definition. Edits of the base are among its keywords, and the definitions from there to the
next one take the place of the base's. Nothing is imported; what comes out is the source of a whole module, with the
base's own lines wherever nothing was replaced.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from grader.catalogue import Kata
from grader.engine.host.source import Source
from grader.engine.mistakes.merge import DEFINITIONS, PythonFile, SourceChange, is_docstring, merged
from grader.errors import PackError

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_NOTES = ("base", "convention", "costs", "idle", "unnamed")
_NOTES_OF_SLOW_ANSWERS = ("base", "fails", "told_on")
Notes = dict[str, Any]
"""What a topic says of a mistake besides its sentence and its edits, by keyword."""


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
    text: str
    """A whole module: what a learner who makes this mistake hands in."""
    base: str
    """The right answer that it differs from."""
    unnamed: str | None = None
    """Why visible checks cannot tell this mistake from others, where that is so."""
    costs: str | None = None
    """Why it costs more than half of the kata's points, where it does."""
    fails: tuple[str, ...] = ()
    """Of a slow answer, the speed checks that it has to fail."""
    told_on: str | None = None
    """The one kind of device, `cpu` or `cuda`, on which its waste shows, where it does not show on all."""
    idle: str | None = None
    """What the kata is about and this answer does not compute, where that is so: it earns at most a third."""
    convention: str | None = None
    """Who teaches this, where it is right elsewhere: it costs no more than its most expensive check and a tenth."""

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
    return _read(kata, kata.mutants, _NOTES)


def slow_answers(kata: Kata) -> list[Mistake]:
    """Return the right answers of a kata that waste time or memory, sorted by name.

    Raises:
        PackError: as `mistakes`; an answer does not say which speed checks it fails, or on what devices.
    """
    answers = _read(kata, kata.slow, _NOTES_OF_SLOW_ANSWERS)
    for answer in answers:
        if not answer.fails or answer.told_on not in (None, "cpu", "cuda"):
            raise PackError(
                f"{answer.path}, line {answer.line}: {answer.name} does not say where it is slow.",
                'Write `fails=["test_…"]` into it, and `told_on="cpu"` if it shows on one kind of device alone.',
            )
    return answers


def _read(kata: Kata, files: Iterable[Path], known: Collection[str]) -> list[Mistake]:
    found: dict[str, Mistake] = {}
    # Collected, so that an author reads at once all that is wrong with a catalogue.
    errors: list[PackError] = []
    bases: dict[Path, PythonFile] = {}
    for path in files:
        try:
            topic = PythonFile.read(path)
            stated = list(changes_in(topic, known))
        except PackError as error:
            errors.append(error)
            continue
        for change, notes in stated:
            try:
                mistake = _mistake(kata, topic, change, notes, bases)
                if (other := found.setdefault(mistake.name, mistake)) is not mistake:
                    raise topic.error(
                        change.node,
                        f"{change.name} is the name of a mistake in {other.path.name}, line {other.line}, too",
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


def changes_in(
    topic: PythonFile, known: Collection[str], word: str = "mistake"
) -> Iterator[tuple[SourceChange, Notes]]:
    """Yield what a topic states, each with its notes: the `known` ones of its keywords. The others are edits.

    Raises:
        PackError: something is before the first of them, or a call does not say what it is; there is none.
    """
    calls: list[tuple[ast.Call, list[ast.stmt]]] = []
    for node in topic.tree.body:
        if (call := _call(node, word)) is not None:
            calls.append((call, []))
            if isinstance(node, DEFINITIONS):
                del node.decorator_list[0]  # from here on as it is in the base
                calls[-1][1].append(node)
        elif calls:
            calls[-1][1].append(node)
        elif not is_docstring(node):
            raise topic.error(
                node,
                f"this is before every {word}",
                f'A topic is made of `{word}("its-name", "your …", …)`, each with the definitions that follow.',
            )
    if not calls:
        raise PackError(
            f"{topic.path} holds no {word}.", f'Write `{word}("its-name", "your …", …)` for each.'
        )
    return (_change(topic, call, body, known, word) for call, body in calls)


def _call(node: ast.stmt, word: str) -> ast.Call | None:
    """Return the call of a word that a statement is, or that is its first decorator."""
    decorators = node.decorator_list[:1] if isinstance(node, DEFINITIONS) else []
    for call in [node.value] if isinstance(node, ast.Expr) else decorators:
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == word:
            return call
    return None


def _change(
    topic: PythonFile, call: ast.Call, body: list[ast.stmt], known: Collection[str], word: str
) -> tuple[SourceChange, Notes]:
    words = [_literal(topic, argument) for argument in call.args]
    # Learners read this sentence, so there is no mistake without one.
    if not (len(words) == 2 and all(isinstance(text, str) and text.strip() for text in words)):
        raise topic.error(
            call,
            f"this {word} does not say what it is",
            f'Begin with its name and one sentence: `{word}("its-name", "your …", …)`.',
        )
    name, say = (text.strip() for text in words)
    if not _NAME.fullmatch(name):
        raise topic.error(
            call, f"{name} is not a name of a {word}", "Write lower-case words joined by hyphens."
        )
    notes: Notes = {}
    edits: dict[str, list[str]] = {}
    for keyword in call.keywords:
        key, value = keyword.arg or "**", _literal(topic, keyword.value)
        if key in known:
            notes[key] = value
        else:
            edits[key] = [value] if isinstance(value, str) else value
    return SourceChange(name, say, call, edits, body), notes


def _literal(topic: PythonFile, node: ast.expr) -> Any:
    """Return a text, or a list of texts."""
    parts = node.elts if isinstance(node, ast.List) else [node]
    texts = [part.value if isinstance(part, ast.Constant) else None for part in parts]
    if not all(isinstance(text, str) for text in texts):
        raise topic.error(node, "this is not a text", "Write a text in quotes, or a list of them.")
    return texts if isinstance(node, ast.List) else texts[0]


def _mistake(
    kata: Kata, topic: PythonFile, change: SourceChange, notes: Notes, bases: dict[Path, PythonFile]
) -> Mistake:
    path = _base(kata, topic, change, notes.get("base"))
    # Read once: most mistakes of a kata differ from the same file.
    if path not in bases:
        bases[path] = PythonFile.read(path)
    return Mistake(
        name=change.name.replace("-", "_"),
        path=topic.path,
        line=change.node.lineno,
        say=change.say,
        text=merged(topic, change, bases[path]),
        base=bases[path].text,
        unnamed=notes.get("unnamed"),
        costs=notes.get("costs"),
        fails=tuple(notes.get("fails", ())),
        told_on=notes.get("told_on"),
        idle=notes.get("idle"),
        convention=notes.get("convention"),
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


def _base(kata: Kata, topic: PythonFile, change: SourceChange, named: str | None) -> Path:
    """Return the right answer that a mistake is merged into: the reference, unless it names an alternative."""
    assert kata.solution is not None
    folder = kata.solution.parent
    right = {path.relative_to(folder).as_posix(): path for path in (kata.solution, *kata.alternatives)}
    path = kata.solution if named is None else right.get(named)
    if path is None:
        raise topic.error(
            change.node,
            f"{change.name} has the base {named}, which is not there",
            f"There is {', '.join(right)}.",
        )
    return path
