"""What a kata excludes, by the names that torch has for it, and what of a submission may lead around that."""

from __future__ import annotations

import ast
import contextlib
import functools
import os
import warnings
from collections.abc import Iterator, Mapping

from grader.catalogue.torch_names import excluded
from grader.engine.host.limits import Terms
from grader.engine.host.source import Source, Unreadable, read_source
from grader.engine.host.syntax import MAX_CODE, UNPARSED, body_of
from grader.engine.wire.uses import CLOSED, functions, overloads
from grader.notebooks import placed

_AROUND = frozenset(
    {"exec", "eval", "compile", "ctypes", "_ctypes", "marshal", "grader", "dir_fd", "from_file", "readline"}
) | {
    *("__code__", "__closure__", "cell_contents", "CodeType", "FunctionType", "get_code", "get_data"),
    *("get_objects", "get_referrers", "get_referents", "settrace", "setprofile", "_current_frames"),
    *("_getframe", "f_back", "FileIO"),
}
"""Names by which a submission may find code that is taken away, or run a text that nobody reads."""


@functools.cache  # each of torch's thousands of operators and functions is looked at
def excluded_names(forbid: tuple[str, ...]) -> tuple[list[str], list[str], str]:
    """Return torch's operators and Python functions that compute what a kata excludes, and a pattern of such names."""
    if not forbid:
        return [], [], ""
    by_name: dict[str, list[str]] = {}
    for operator in overloads():  # in whatever namespace: `aten::gelu` by `gelu`
        by_name.setdefault(operator.partition("::")[2], []).append(operator)
    operators = [one for name in excluded(forbid, operators=True).of(by_name) for one in by_name[name]]
    # What is computed with tensors of this layout may lie below the dispatcher; all of them are made by this one.
    operators.append("aten::to_mkldnn")
    return operators, excluded(forbid).of(functions()), excluded(forbid).pattern


def uses_listed(used: Mapping[str, int]) -> list[str]:
    """Say what was used and where."""
    return [f"{name} ({placed(line)})" if line and name != CLOSED else name for name, line in used.items()]


def ways_around(source: Source, terms: Terms) -> list[str]:
    """Say what a person should look at, also in files next to the submission that it imports; it costs nothing."""
    if not (terms.forbid or terms.blocks):
        return []
    found: dict[str, str] = {}
    folder = source.path.parent
    # Listed once: a name that is imported may be one of thirty thousand.
    beside = set(os.listdir(folder))
    left, ahead, seen = MAX_CODE, [source], {source.path}
    while ahead:
        file = ahead.pop()
        left -= len(file.data)
        if left < 0 and not file.is_notebook:
            return [*found.values(), f"more than {MAX_CODE >> 10} KB of code: the rest was not read"]
        title = "" if file is source else f"{file.path.name}, "
        with contextlib.suppress(*UNPARSED), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = body_of(file)
            own = _bound(body)
            for name, line, imported in _names(body):
                if name in _AROUND and (imported or name not in own):
                    found.setdefault(name, f"{name} may lead around “from scratch” ({title}{placed(line)})")
                for path in (folder / f"{name}.py", folder / name / "__init__.py"):
                    if not imported or beside.isdisjoint((f"{name}.py", name)):
                        continue
                    given = terms.given is not None and (terms.given / path.name).exists()
                    if path not in seen and not given:
                        seen.add(path)
                        with contextlib.suppress(Unreadable):
                            ahead.append(read_source(path))
    return list(found.values())


def _bound(body: list[ast.stmt]) -> frozenset[str]:
    """Return the names that statements give to what is their own: `compile = True` runs no text."""
    found = set()
    for node in ast.walk(ast.Module(body, [])):
        match node:
            case ast.FunctionDef(name) | ast.ClassDef(name) | ast.arg(name) | ast.Name(name, ast.Store()):
                found.add(name)
    return frozenset(found)


def _names(body: list[ast.stmt]) -> Iterator[tuple[str, int, bool]]:
    """Yield the names in statements, each with its line, and whether it is imported; of a dotted import each part."""
    for node in ast.walk(ast.Module(body, [])):
        match node:
            case ast.Name(name) | ast.keyword("dir_fd" as name):
                yield name, node.lineno, False
            case ast.Attribute(attr=name):
                # model.eval() and re.compile() run no text.
                yield from [] if name in ("eval", "compile", "exec") else [(name, node.lineno, False)]
            case ast.Import(names) | ast.ImportFrom(names=names):
                module = getattr(node, "module", None)
                for alias in names:
                    path = f"{module or ''}.{alias.name}"
                    yield from ((name, node.lineno, True) for name in path.split("."))
