"""Adapters: what turns a course's own files into the API of a kata. `adapt.toml`, and a shim for each kata.

An adapted kata is the kata, asked of other files: it has its number, its lesson and its checks.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Annotated

import msgspec
from msgspec import Meta

from grader.catalogue.file_types import ForbiddenName, Identifier, ModuleName, Sentence, Slug
from grader.catalogue.pack_code import defined_names, read_tree
from grader.data_files import read_data, read_text
from grader.errors import PackError, did_you_mean

ADAPTER_FILE = "adapt.toml"

CoursePath = Annotated[
    str,
    Meta(
        pattern=r"^([A-Za-z_][A-Za-z0-9_]*/)*[A-Za-z_][A-Za-z0-9_]*\.py$",
        description="the path of a Python file from the top of what is handed in, such as tests/adapters.py",
    ),
]
ParameterName = Annotated[
    str,
    Meta(
        pattern=r"^\w+(\.\w+)*$", description="a parameter of the kata's class, or the module that holds it"
    ),
]
ParameterPlace = Annotated[
    str,
    Meta(
        pattern=r"^(\w+|\*)(\.(\w+|\*))*(\[\d+/\d+\])?$",
        description="where the course's class has it: `query`, `heads.*.key`, `in_proj[0/3]`",
    ),
]


class AdaptedFile(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A table `[katas.SLUG]` of `adapt.toml`."""

    theirs: Annotated[tuple[CoursePath, ...], Meta(min_length=1, max_length=20)]
    """The learner's files; the first is the one that is handed in."""
    not_asked: tuple[Identifier, ...] = ()
    """Checks that the course does not ask for, besides those of what the shim does not define."""
    conventions: dict[Identifier, Identifier] = {}
    """By convention of the kata, the form that the course teaches."""
    allow: tuple[ForbiddenName, ...] = ()
    """What the kata excludes and the course does not."""
    given: dict[Identifier, str] = {}
    """Texts that take the place of what their files assign to these names."""
    parameters: dict[Identifier, dict[ParameterName, ParameterPlace]] = {}
    """By class of the kata, for each parameter, where the course's class has it."""


class AdapterFile(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """`adapt.toml`."""

    name: Slug
    title: Sentence
    requires: tuple[ModuleName, ...] = ()
    """Packages that the learners' files import, besides torch and numpy."""
    katas: Annotated[dict[Slug, AdaptedFile], Meta(min_length=1)]


@dataclass(frozen=True, eq=False)
class Adapter:
    """What turns a course's files into the API of one kata."""

    name: str
    """The adapter's, of which each kata that it adapts has one of these."""
    file: Path
    """`adapt.toml`."""
    kata: str
    table: AdaptedFile
    shim: Path
    """The module that the checks see."""
    requires: tuple[str, ...] = ()
    """Packages that the learners' files import."""
    lacking: frozenset[str] = frozenset()
    """The checks that ask for what the shim does not define."""
    solution: Path | None = None
    """The course's solution, where it is not among those of this install."""

    @property
    def not_asked(self) -> frozenset[str]:
        """The checks that the course does not ask for."""
        return self.lacking.union(self.table.not_asked)

    @property
    def answer(self) -> PurePosixPath:
        """Where the learner's file is in what is handed in."""
        return PurePosixPath(self.table.theirs[0])

    @property
    def own_names(self) -> Mapping[str, str]:
        """By function or class of the shim, the first of the learner's names that it uses; "" where it uses none."""
        return {name: used[0] if used else "" for name, used in self.uses.items()}

    @cached_property
    def uses(self) -> Mapping[str, tuple[str, ...]]:
        """By function or class of the shim, the names that it gets from `theirs`, helpers of the shim included."""

        def used(name: str) -> Iterator[str]:
            for part in self._code[name]:
                match part:
                    case ast.Attribute(ast.Name("theirs"), own):
                        yield own

        return {name: tuple(dict.fromkeys(used(name))) for name in self._code}

    @cached_property
    def read_off(self) -> frozenset[str]:
        """The functions and classes of the shim that compare what is the learner's: many numbers make one mask."""
        return frozenset(name for name, code in self._code.items() if any(map(_compares_theirs, code)))

    @cached_property
    def spelling(self) -> Mapping[str, Mapping[str, str]]:
        """By function or class of the shim, what learners call its parameters and arguments, where that is known."""
        found = {}
        for name, code in self._code.items():
            calls = [
                part for part in code if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute)
            ]
            keywords = {
                keyword.value.id: keyword.arg
                for call in calls
                if "theirs" in ast.unparse(call.func).split(".")
                for keyword in call.keywords
                if isinstance(keyword.value, ast.Name) and keyword.arg not in (None, keyword.value.id)
            }
            found[name] = {**keywords, **self.table.parameters.get(name, {})}
        return found

    @cached_property
    def _code(self) -> Mapping[str, list[ast.AST]]:
        """By function or class of the shim, its syntax and that of the shim's helpers which it leads to."""
        nodes = {name: node for node in self._tree.body for name in defined_names(node)}

        def reached(name: str, seen: frozenset[str]) -> Iterator[ast.AST]:
            for part in ast.walk(nodes[name]):
                yield part
                match part:
                    case ast.Name(other) if other in nodes and other not in seen:
                        yield from reached(other, seen | {other})

        return {name: list(reached(name, frozenset({name}))) for name in nodes}

    @cached_property
    def _tree(self) -> ast.Module:
        return read_tree(self.shim)

    @property
    def reference(self) -> Path | None:
        """The course's own solution, as a file that would be handed in; None where this install has none."""
        if self.solution is not None:
            return self.solution.resolve()
        places = [Path(entry) for entry in os.environ.get("KATA_SOLUTIONS", "").split(os.pathsep) if entry]
        for place in (*places, self.file.parent.parent / "solutions"):
            found = (place / self.name / self.answer).resolve()
            if found.is_file():
                return found
        return None

    def require_packages(self) -> None:
        """Refuse to run anything without what the course's files import.

        Raises:
            PackError: something of it is not installed.
        """
        for name in self.requires:
            if importlib.util.find_spec(name.partition(".")[0]) is None:
                line = next(
                    (at for at, text in enumerate(read_text(self.file).splitlines(), 1) if name in text), 1
                )
                raise PackError(
                    f"{self.file}, line {line}: the course's files need {name}, which is not installed here.",
                    f"Install it next to Kata: pip install {name.partition('.')[0]}",
                )

    def line_of(self, *words: str) -> int:
        """Return the line of this kata's table in which the last of these words is, found one after the other."""
        lines = read_text(self.file).splitlines()
        place = 0
        for word in (f"[katas.{self.kata}", *words):
            matches = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])").search
            found = next((at for at in range(place, len(lines)) if matches(lines[at])), None)
            place = place if found is None else found
        return place + 1

    def refusal(self, problem: str, *words: str, hint: str | None = None) -> PackError:
        """Return the error about what these words, of this kata's table, say."""
        return PackError(f"{self.file}, line {self.line_of(*words)}: {problem}", hint)


_THEIRS = ("theirs", "module")
"""What is the learner's in a shim: the first of all files, both of an `Adapted`."""
_COMPARED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
_COMPARING = frozenset(
    ["bool", "eq", "ne", "lt", "le", "gt", "ge", "isclose", "isfinite", "isinf", "isneginf", "isnan"]
)
"""Functions and methods of torch that compare."""


def _compares_theirs(function: ast.AST) -> bool:
    """Return whether a function of a shim compares what it got from the learner's."""
    if not isinstance(function, ast.FunctionDef):
        return False
    own: set[str] = set()

    def is_theirs(part: ast.AST) -> bool:
        return any(
            (isinstance(node, ast.Name) and node.id in {"theirs", *own})
            or (isinstance(node, ast.Attribute) and node.attr in _THEIRS)
            for node in ast.walk(part)
        )

    for part in sorted(ast.walk(function), key=lambda part: getattr(part, "lineno", 0)):
        match part:
            case ast.Assign(targets, value) if is_theirs(value):
                own |= {
                    node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)
                }
            case ast.Compare(ops=ops) if any(isinstance(op, _COMPARED) for op in ops) and is_theirs(part):
                return True
            case ast.Call(ast.Attribute(attr=name)) if name in _COMPARING and is_theirs(part):
                return True
    return False


def read_adapters(folder: Path, modules: Mapping[str, str]) -> Iterator[Adapter]:
    """Yield what `adapt.toml` in this folder adapts, if there is one; `modules` are those of all katas, by slug.

    Raises:
        PackError: the first thing that is wrong: the line, what is wrong with it, and what there is.
    """
    file = folder.resolve() / ADAPTER_FILE
    if not file.is_file():
        return
    data = read_data(file, AdapterFile)
    for slug, table in data.katas.items():
        adapter = Adapter(
            data.name, file, slug, table, file.with_name(f"{modules.get(slug, slug)}.py"), data.requires
        )
        if slug not in modules:
            raise adapter.refusal(
                f"`katas` names {slug}, which is not a kata that is installed.{did_you_mean(slug, modules)}",
                hint="See what there is: kata list",
            )
        if not adapter.shim.is_file():
            raise adapter.refusal(
                f"{adapter.shim.name} is missing next to it: the module that makes the kata's functions of theirs."
            )
        yield adapter


def check_adapter(
    adapter: Adapter,
    *,
    required: tuple[str, ...],
    forbid: tuple[str, ...],
    forms: Mapping[str, Collection[str]],
) -> None:
    """Refuse what the adapter says and the kata does not know.

    Raises:
        PackError: as `read_adapters`.
    """
    table = adapter.table
    defined = adapter.uses
    if defined.keys().isdisjoint(required):
        raise PackError(
            f"{adapter.shim}: it defines no name of the kata {adapter.kata}; there is {', '.join(required)}."
        )
    for name in table.allow:
        if name not in forbid:
            there = ", ".join(forbid) or "nothing"
            raise adapter.refusal(
                f"`allow` names {name}, which {adapter.kata} does not exclude; it excludes {there}.",
                "allow",
                name,
            )
    for name, form in table.conventions.items():
        if problem := strange_form(name, form, forms):
            raise adapter.refusal(f"`conventions` {problem}", "conventions", name)
    for name in table.parameters:
        if name not in defined:
            there = ", ".join(defined)
            raise adapter.refusal(
                f"`parameters` is about {name}, which {adapter.shim.name} does not define; it defines {there}.",
                name,
            )


def strange_form(name: str, form: str, forms: Mapping[str, Collection[str]]) -> str:
    """Say which convention, or form of one, a kata does not have, and what there is; "" where it has it."""
    if name not in forms:
        return f"names {name}, which is not a convention of the kata; there is {', '.join(forms) or 'none'}."
    there = ", ".join(forms[name])
    return (
        "" if form in forms[name] else f"asks {name} for {form}, which is not a form of it; there is {there}."
    )


def check_not_asked(adapter: Adapter, checks: list[str], *, all_known: bool) -> None:
    """Refuse a check in `not_asked` that the kata does not have.

    Args:
        adapter: the kata's.
        checks: its checks.
        all_known: whether these are all of them; a learner's install has no hidden ones.

    Raises:
        PackError: as `read_adapters`.
    """
    for name in adapter.table.not_asked:
        if name not in checks and all_known:
            raise adapter.refusal(
                f"`not_asked` names {name}, which is not a check of {adapter.kata}."
                f"{did_you_mean(name, checks)} There are {', '.join(checks)}.",
                "not_asked",
                name,
            )
