"""Import a reference, or a mistake made of it, into the grader's own process, for checks that ask for it."""

from __future__ import annotations

import importlib.util
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from grader.engine.mistakes.mistakes import Mistake


@cache
def load_trusted(file: Path, given: Path | None) -> types.ModuleType:
    """Return the module of a reference; `given` is the folder of what its kata gives."""
    spec = importlib.util.spec_from_file_location(f"_reference_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with _importable(given):
        spec.loader.exec_module(module)
    return module


def load_mistake(mistake: Mistake, given: Path | None) -> types.ModuleType:
    """Return the module of a catalogued mistake, anew: its author's code, as trusted as the reference it is made of."""
    file = mistake.source.path
    module = types.ModuleType(f"_mistake_{mistake.name}")
    module.__file__ = str(file)
    sys.modules[module.__name__] = module  # dataclasses look there for the module of a class
    with _importable(given):
        exec(compile(mistake.text, str(file), "exec"), module.__dict__)
    return module


@contextmanager
def _importable(folder: Path | None) -> Iterator[None]:
    """Let a reference import what its kata gives, and forget that again: another kata gives other blocks."""
    if folder is None:
        yield
        return
    names = [path.stem for path in folder.glob("*.py")]
    # Put away, not lost: something of the grader's own may have that name.
    hidden = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(hidden)
