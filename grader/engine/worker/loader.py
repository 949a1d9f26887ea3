"""Load a submission as Python would load a module, from a file or from a notebook.

Runs in the worker only: here the learner's code may do what it likes.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import contextlib
import functools
import importlib.util
import operator
import os
import re
import shutil
import sys
import types
from collections.abc import Callable, Mapping
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
)
from pathlib import Path
from typing import Any, NoReturn

from grader.engine.wire.messages import EMPTY
from grader.notebooks import (
    ASSIGNMENTS,
    DEFINITIONS,
    BrokenCell,
    Cell,
    NotebookRule,
    keep_lines,
    read_notebook,
)

instead: dict[str, bytes] = {}
"""What an import gets of a file, by path, where that is not what is saved."""
constants: dict[str, dict[str, str]] = {}
"""Texts that take the place of what a file assigns to such names, by path."""
left_out: dict[str, str] = {}
"""What is bound in statements that were left out, and why: for those who miss such a name."""
refused: list[Callable[[], int]] = [lambda: 0]
"""Says how often something was refused that the kata excludes."""
PACKAGE = "submission"
"""The package a submission belongs to, so that `from .helper import f` finds what is next to it."""


MAX_BESIDE = 256
MAX_BESIDE_BYTES = 16 << 20
"""What is copied of the files next to a submission: as much as is taken of a hand-in."""


def copy_neighbours(folder: str) -> None:
    """Copy what is next to the submission into the current folder, where `open("vocab.txt")` looks for it.

    What is too much stays where it is.
    """
    count = size = 0
    for place, folders, files in os.walk(folder):
        # Not `.git`, `.venv` or `__pycache__`; in order, so that where it ends is the same on every
        # machine.
        folders[:] = sorted(name for name in folders if name[:1] not in "._")
        into = os.path.relpath(place, folder)
        for name in sorted(files):
            path = os.path.join(place, name)
            with contextlib.suppress(OSError):
                count, size = count + 1, size + os.path.getsize(path)
                if count > MAX_BESIDE or size > MAX_BESIDE_BYTES:
                    return
                os.makedirs(into, exist_ok=True)
                # Copies, since a submission may write here and not there: one that adds to a file of its own
                # goes on to work.
                shutil.copyfile(path, os.path.join(into, name))


def load_module(name: str, path: str, source: bytes, given: str | None) -> types.ModuleType:
    """Execute the source of a `.py` file as module `name` and return it."""
    module = _new_module(name, path, given)
    # Its file may hold something else: --stdin, a later save.
    keep_lines(path, importlib.util.decode_source(source))
    _execute(source, path, module.__dict__)
    return module


def _execute(
    source: bytes, path: str, namespace: dict[str, Any], texts: Mapping[str, str] | None = None
) -> None:
    """Execute a module; what fails in it because the kata excludes it, such as a test of one's own, is left out.

    `texts` take the place of what it assigns to such names.
    """
    # compile() reads byte order marks and coding lines from bytes, as an import does.
    code = compile(_with(texts, source, path) if texts else source, path, "exec", dont_inherit=True)
    flags = code.co_flags & _FEATURES
    body: list[ast.stmt] = []
    some_left_out = False
    while True:
        before = refused[-1]()
        try:
            return exec(code, namespace)
        except (Exception, SystemExit) as error:
            body = body or ast.parse(source).body
            # What a statement needs may have been left out itself.
            needs = left_out.get(error.name or "") if isinstance(error, NameError) else None
            # A script says so in an exception of its own (`torch_code.guard_sources`).
            excluded = refused[-1]() > before or "excluded in this kata" in str(error)
            if error.__traceback__ is None or (at := error.__traceback__.tb_next) is None:
                raise
            first, _, column, _ = list(code.co_positions())[at.tb_lasti // 2]
            done = sum(_start(node) <= (first or 0, column or 0) for node in body)
            node, rest = body[done - 1], body[done:]
            # The rest of a test of one's own needs what its beginning left: a list that is empty now, a count.
            follows = some_left_out and not isinstance(node, (*DEFINITIONS, ast.Import, ast.ImportFrom))
            why = _first_line(error) if excluded or follows else needs
            if why is None:
                raise
            body, some_left_out = rest, True
            file = os.path.basename(path)
            _leave_out(file, node, f"and that was left out: {why}")
            print(f"{file}, line {node.lineno} was left out: {why}", file=sys.stderr)
            code = compile(ast.Module(body, []), path, "exec", flags, dont_inherit=True)


def _with(texts: Mapping[str, str], source: bytes, path: str) -> ast.Module:
    tree = ast.parse(source, path)
    for node in tree.body:
        match node:
            case ast.Assign([ast.Name(name)], value) if name in texts:
                node.value = ast.copy_location(ast.Constant(texts[name]), value)
    return tree


def _start(node: ast.stmt) -> tuple[int, int]:
    first = min((node, *getattr(node, "decorator_list", ())), key=lambda part: (part.lineno, part.col_offset))
    return first.lineno, first.col_offset


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]


def load_notebook(
    name: str, path: str, source: bytes, given: str | None, required: list[str]
) -> types.ModuleType:
    """Execute what counts of a notebook's cells as module `name`; see `NotebookRule`.

    Raises:
        UnreadableNotebook: not JSON, or without cells.
        SyntaxError: a cell that should define a required name cannot be parsed.
    """
    module = _new_module(name, path, given)
    cells, broken = read_notebook(Path(path).name, source)
    rule, flags = NotebookRule(cells, required), _features(cells)
    left_out.clear()
    for cell in cells:
        keep_lines(cell.name, cell.source)
        for node in cell.tree.body:
            if not rule.counts(node):
                _leave_out(
                    f"cell {cell.number}",
                    node,
                    "where only imports, definitions and simple assignments count",
                )
                continue
            # Statement by statement, so that one which fails without mattering can be left out; without
            # inheriting, since the `from __future__` of this file is not theirs.
            code = compile(ast.Module([node], []), cell.name, "exec", flags, dont_inherit=True)
            before = refused[-1]()
            try:
                exec(code, module.__dict__)
            except Exception as error:
                excluded = refused[-1]() > before
                why = _first_line(error) if excluded else _why_no_matter(error, node, cells)
                if why is None:
                    raise
                _leave_out(f"cell {cell.number}", node, f"and that failed: {why}")
    for cell in cells:
        for made, why in cell.hidden().items():
            left_out.setdefault(made, why)
    # A cell that cannot be parsed matters only if it defines what is required and no later one does.
    for wrong in broken:
        if any(_defines(wrong, name) and not _defined_after(cells, wrong, name) for name in required):
            raise wrong.error
    if broken and any(not hasattr(module, name) for name in required):
        raise broken[0].error
    return module


def _features(cells: list[Cell]) -> int:
    """Return the compiler's flags of what cells import from `__future__`: in a notebook that holds for all later ones.

    Statements are compiled one by one, so that each would otherwise know nothing of it.
    """
    imports = [node for cell in cells for node in cell.tree.body if isinstance(node, ast.ImportFrom)]
    names = {name.name for node in imports if node.module == "__future__" for name in node.names}
    flags = 0
    for name in names & set(__future__.all_feature_names):
        flags |= getattr(__future__, name).compiler_flag
    return flags


_FEATURES = functools.reduce(
    operator.or_, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
)


def _why_no_matter(error: Exception, node: ast.stmt, cells: list[Cell]) -> str | None:
    """Return what to say of a failure that does not matter, or None: it does."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        # `google.colab`, `IPython`: scratch cells alone use them, and those do not count.
        return str(error) if isinstance(error, ImportError) and not _needed(node, cells) else None
    if not isinstance(node, ASSIGNMENTS):
        return None
    # What it needed may have been left out itself.
    because = left_out.get(error.name or "") if isinstance(error, NameError) else None
    return f"{type(error).__name__}: {because}" if because else type(error).__name__


def _needed(node: ast.Import | ast.ImportFrom, cells: list[Cell]) -> bool:
    """Whether a definition uses what an import binds; of a star nobody knows."""
    # `import a.b` binds `a`.
    bound = {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    definitions = [part for cell in cells for part in cell.tree.body if isinstance(part, DEFINITIONS)]
    used = {part.id for node in definitions for part in ast.walk(node) if isinstance(part, ast.Name)}
    return "*" in bound or not bound.isdisjoint(used)


def _defines(cell: BrokenCell, name: str) -> bool:
    return (
        re.search(rf"^(?:async\s+)?(?:def|class)\s+{re.escape(name)}\b", cell.source, re.MULTILINE)
        is not None
    )


def _defined_after(cells: list[Cell], broken: BrokenCell, name: str) -> bool:
    return any(
        cell.number > broken.number
        and any(isinstance(node, DEFINITIONS) and node.name == name for node in cell.tree.body)
        for cell in cells
    )


_BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try)


def _leave_out(file: str, node: ast.stmt, why: str) -> None:
    """Note what a statement binds that does not count, also within `if`, `for`, `with` and the like."""
    parts = [node]
    while parts:
        part = parts.pop()
        names: list[str] = []
        if isinstance(part, DEFINITIONS):
            names = [part.name]
        elif isinstance(part, ast.Import | ast.ImportFrom):
            names = [(alias.asname or alias.name).partition(".")[0] for alias in part.names]
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            names = [part.id]
        for name in names:
            keyword = type(node).__name__.removeprefix("Async").lower()
            block = "" if part is node or not isinstance(node, _BLOCKS) else f", inside `{keyword}`"
            left_out.setdefault(name, f"{file}, line {getattr(part, 'lineno', 0)} makes {name}{block}, {why}")
        if not isinstance(part, DEFINITIONS):
            # Not into definitions: names inside are local, or a class's attributes.
            parts += ast.iter_child_nodes(part)  # type: ignore[arg-type]


class Support:
    """The modules that support the checks, which a submission cannot import.

    They are loaded by path after it, and no table of modules lists them. What the garbage collector knows can still
    be found and changed: the grader does not believe what they return.
    """

    def __init__(self, folder: str | None) -> None:
        self._folder = folder
        self._loaded: dict[str, types.ModuleType] = {}
        if folder is not None:
            # Last: a file of this name next to the submission is its own.
            sys.path.append(f"{folder}/{EMPTY}")

    def load(self, name: str) -> types.ModuleType:
        """Return one of them, or any other module as an import does."""
        if not self._has(name):
            return importlib.import_module(name)
        if name not in self._loaded:
            path = Path(f"{self._folder}/{name}.py")
            # Noted before it runs, since they may import each other in a circle.
            module = self._loaded[name] = types.ModuleType(name)
            module.__file__ = str(path)
            # They may import each other.
            module.__dict__["__builtins__"] = {**vars(builtins), "__import__": self._import}
            exec(compile(path.read_bytes(), path, "exec", dont_inherit=True), module.__dict__)
        return self._loaded[name]

    def _has(self, name: str) -> bool:
        return self._folder is not None and os.path.exists(f"{self._folder}/{name}.py")

    def _import(self, name: str, *rest: Any) -> types.ModuleType:
        return self.load(name) if self._has(name) else builtins.__import__(name, *rest)


class _FromSource(SourceFileLoader):
    """Compiles what the file says now: what Python kept of it goes by size and whole seconds, and misses edits."""

    def exec_module(self, module: types.ModuleType) -> None:
        source = instead.get(self.path) or self.get_data(self.path)
        _execute(source, self.path, module.__dict__, constants.get(self.path))

    def path_stats(self, path: str) -> NoReturn:
        # So says importlib's contract that nothing is known of a source: then no cached byte code is looked
        # for.
        raise OSError(path)


def _read_sources_below(folder: str) -> None:
    """Let every import from a folder read its sources, and write nothing next to them."""

    def finder(path: str) -> FileFinder:
        if not Path(path).is_relative_to(folder):
            raise ImportError(path)
        return FileFinder(
            path,
            (ExtensionFileLoader, EXTENSION_SUFFIXES),
            (_FromSource, SOURCE_SUFFIXES),
        )

    # Before Python's own, which would read the byte code that lies next to the sources.
    sys.path_hooks.insert(0, finder)
    # Python remembers which hook took a folder: without this, the new one is never asked.
    sys.path_importer_cache.pop(folder, None)


def make_importable(*places: str | None) -> None:
    """Let modules be imported from these folders, the last one first."""
    for place in places:
        if place is not None:
            sys.path.insert(0, place)
            _read_sources_below(place)


def _new_module(name: str, path: str, given: str | None) -> types.ModuleType:
    folder = str(Path(path).parent)
    make_importable(folder, given)  # what is given comes first: the grader's copy counts
    # A package, or `from .helper import f` would be an error.
    package = types.ModuleType(PACKAGE)
    package.__path__ = [folder]
    sys.modules[PACKAGE] = package
    full = f"{PACKAGE}.{name}"
    # A loader is named because none is registered for `.ipynb`.
    spec = importlib.util.spec_from_file_location(full, path, loader=SourceFileLoader(full, path))
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    # Before it runs, as an import does: a module may import itself, or be looked up by dataclasses and pickle.
    sys.modules[full] = module
    # Under its plain name as well: files next to it import it by that.
    sys.modules[name] = module
    setattr(package, name, module)
    return module
