"""Replace the code of torch's Python functions and classes that a kata excludes.

Every name, table and wrapper leads to the same function, so it is the function that loses its code: there is none left
to be found. A module that is loaded later, again or as a copy gets its code the same way. Sources that still hold it
cannot be read.
"""

from __future__ import annotations

import _imp
import ast
import errno
import importlib.util
import inspect
import linecache
import marshal
import os
import pathlib
import struct
import sys
import types
from collections.abc import Callable, Iterable
from importlib.machinery import SourceFileLoader
from typing import Any

from grader.engine.wire.uses import REAL, TORCH, codes, functions, sources

IsExcluded = Callable[[str], Any]
Refuse = Callable[[str], Any]
_PATHS = (pathlib.PosixPath, pathlib.PurePosixPath)


def replace(names: Iterable[str], refuse: Refuse) -> None:
    """Take away the code of torch's loaded functions and classes of these names.

    Args:
        names: of the outermost definitions.
        refuse: called with the full name in place of what was there.
    """
    for name in names:
        for function in functions().get(name, ()):
            home = function.__module__ or "torch"
            codes().pop(id(function.__code__), None)
            function.__code__ = _refusing(function.__code__, refuse, f"{home}.{name}")


def guard_sources(
    names: Iterable[str],
    is_excluded: IsExcluded,
    refuse: Refuse,
    refused: Callable[[], None],
    loaded: Callable[[types.CodeType], None],
) -> Callable[[str], types.CodeType]:
    """Take it away in what is loaded from now on, and let nobody read what holds it.

    Returns what still reads the code of any file.

    Args:
        names: of what is loaded and excluded.
        is_excluded: tells whether a name is excluded.
        refuse: called with the full name in place of what was there.
        refused: called when a source is not read.
        loaded: called with the code of what is loaded of torch.
    """
    hold_it = {f.__code__.co_filename for name in names for f in functions().get(name, ())}
    hidden, whole, found_whole = {REAL + path[len(TORCH) :] for path in hold_it}, sources(), set[str]()
    for path in hold_it:
        linecache.cache.pop(path, None)
    get_code, loads = SourceFileLoader.get_code, marshal.loads

    def read(path: str) -> bytes:
        with open(path, "rb") as file:
            return file.read()

    def readable(path: str) -> bool:
        return (path in whole and path not in hidden) or path in found_whole

    def without(self: SourceFileLoader, fullname: str) -> types.CodeType | None:
        path = os.path.realpath(str(self.path))
        if not path.startswith(REAL):
            return get_code(self, fullname)
        code = code_of(path, read, loads)
        _imp._fix_co_filename(code, self.path)  # type: ignore[attr-defined]
        # All of a file that is named for it: its parts may be called anything (`fuse_attention._sfdp_pattern_1`).
        title = path.removesuffix(".py").removesuffix("/__init__").rpartition("/")[2]
        replaced = _without(code, bool if is_excluded(title) else is_excluded, refuse, fullname)
        if replaced is code:
            found_whole.add(path)
        loaded(replaced)
        return replaced

    def look(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str | bytes | os.PathLike):
            if not isinstance(arguments[0], str | bytes) and type(arguments[0]) not in _PATHS:
                # It is asked again by what opens it, and may answer otherwise.
                refused()
                why = "it may hold what this kata excludes: give a str, bytes or pathlib's own"
                raise PermissionError(errno.EACCES, why)
            try:
                path = os.path.realpath(os.fsdecode(arguments[0]))
            except (OSError, ValueError):
                return  # it cannot be opened either
            is_source = path.startswith(REAL) and path.endswith((".py", ".pyc"))
            if is_source and not readable(path) and sys._getframe(1).f_code is not read.__code__:
                refused()
                raise PermissionError(errno.EACCES, "it holds what this kata excludes", path)

    def shown(filename: str, module_globals: dict[str, Any] | None = None) -> list[str]:
        if (
            not filename.startswith(TORCH)
            or readable(os.path.realpath(filename))
            or not os.path.exists(filename)
        ):
            return update(filename, module_globals)
        lines = _shown(read(filename).decode(), is_excluded)
        linecache.cache[filename] = len(lines), None, lines, filename
        return lines

    # Tracebacks and scripts ask there for what they show and compile.
    update, linecache.updatecache = linecache.updatecache, shown
    SourceFileLoader.get_code = without  # type: ignore[assignment,method-assign]
    sys.addaudithook(look)
    return lambda path: code_of(path, read, loads)


def code_of(
    path: str,
    read: Callable[[str], bytes] = lambda path: pathlib.Path(path).read_bytes(),
    loads: Callable[[bytes], Any] = marshal.loads,
) -> types.CodeType:
    """Return the code of a file, from its byte code where that is up to date: torch's largest compile in 0.1 s."""
    status, cached = os.stat(path), importlib.util.cache_from_source(path)
    data = read(cached) if os.path.exists(cached) else b""
    expected = 0, int(status.st_mtime), status.st_size & 0xFFFFFFFF
    if data[:4] == importlib.util.MAGIC_NUMBER and struct.unpack("<III", data[4:16]) == expected:
        return loads(data[16:])  # type: ignore[no-any-return]
    return compile(read(path), path, "exec", dont_inherit=True)


def _shown(text: str, is_excluded: IsExcluded) -> list[str]:
    """Return the lines of a source, with a refusal in place of what functions that are excluded do."""
    lines = text.splitlines(keepends=True)
    ahead: list[tuple[ast.AST, bool]] = [(ast.parse(text), False)]
    while ahead:
        node, inside = ahead.pop()
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                away = inside or bool(is_excluded(part.name))
                ahead.append((part, away))
                if away and not isinstance(part, ast.ClassDef):
                    first, last = part.body[0].lineno - 1, part.end_lineno or part.lineno
                    blank = " " * part.body[0].col_offset
                    lines[first:last] = [
                        f'{blank}raise NotImplementedError("excluded in this kata")\n',
                        *["\n"] * (last - first - 1),
                    ]
            else:
                ahead.append((part, inside))
    return lines


def _without(code: types.CodeType, is_excluded: IsExcluded, refuse: Refuse, module: str) -> types.CodeType:
    """Return the code of a module or class without the functions that are excluded; the same where there are none."""
    parts = []
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            name = part.co_qualname.partition(".")[0]
            # A class's body, and what it computes in place, still run.
            is_function = part.co_flags & inspect.CO_OPTIMIZED and part.co_name[0] != "<"
            if is_function and is_excluded(name):
                part = _refusing(part, refuse, f"{module}.{name}")
            else:
                part = _without(part, is_excluded, refuse, module)
        parts.append(part)
    changed = any(new is not old for new, old in zip(parts, code.co_consts, strict=True))
    return code.replace(co_consts=tuple(parts)) if changed else code


def _template() -> Any:
    return (1.5).__call__(2.5)  # type: ignore[operator]


def _refusing(code: types.CodeType, refuse: Refuse, name: str) -> types.CodeType:
    """Return code with the same parameters that can take another's place and calls `refuse` with a name."""
    # Among its constants, since the globals are those of the function that it is put into.
    constants: dict[object, object] = {1.5: refuse, 2.5: name}
    new = _template.__code__
    variadic = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    count = code.co_argcount + code.co_kwonlyargcount + variadic.bit_count()
    return new.replace(
        co_consts=tuple(constants.get(part, part) for part in new.co_consts),
        co_flags=new.co_flags | variadic,
        co_argcount=code.co_argcount,
        co_posonlyargcount=code.co_posonlyargcount,
        co_kwonlyargcount=code.co_kwonlyargcount,
        co_varnames=code.co_varnames[:count],
        co_nlocals=count,
        co_freevars=code.co_freevars,
        co_name=code.co_name,
        co_qualname=code.co_qualname,
        co_filename=code.co_filename,
        co_firstlineno=code.co_firstlineno,
    )
