"""Run a demo in a worker, with the learner's modules where they pass and the given blocks elsewhere."""

from __future__ import annotations

import ast
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader.catalogue import Kata, Pack
from grader.catalogue.given import BLOCKS
from grader.data_files import read_text
from grader.engine.host.calls import Calls, Lent
from grader.engine.host.errors import SubmissionRaised, SubmissionUnsendable, WorkerDied, WorkerTimeout
from grader.engine.host.launcher import Launcher
from grader.engine.host.remote import RemoteSubmission
from grader.engine.host.session import Session
from grader.engine.host.source import Terms, read_source
from grader.errors import KataError, PackError
from grader.learner.demos.exhibit_types import Exhibit, Play, read_exhibits
from grader.notebooks import as_module

TIME_S = 300.0
EXHIBITS = "grader.learner.demos.exhibits"
"""What a demo is written with; imported before it, since files of the engine are closed to a worker."""
SCRIPTS = "play"
"""The folder of a pack with scripts for pages, where several demos share them."""
REAL = "real"
"""The folder of a pack with what several runs on real things share."""
RUN_TIME_S = 900.0
RUN_MEMORY = 6 << 30
"""What a run on a real thing may take: address space, of which SmolLM2 in float32 uses a fifth."""
ENTRY = """import pathlib, real
def run(step, data, prompt):
    own = pathlib.Path(__file__).with_name("text.txt")
    return real.run(step, data, own.read_text(encoding="utf-8") if own.is_file() else None, prompt)
"""
"""What a run is begun by: a learner's text may be longer than anything that is sent to a worker."""
MINE = "mine.py"
"""The module that a demo imports: every name of the katas, the learner's own where it passes."""


@dataclass(frozen=True)
class Own:
    """A learner's file that passes."""

    kata: Kata
    file: Path


def run_demo(demo: Path, pack: Pack, own: Sequence[Own], launcher: Launcher) -> list[Exhibit]:
    """Return what a demo shows.

    Args:
        demo: the file; its function `demo()` returns exhibits.
        pack: where blocks are looked for.
        own: what passes of the learner's.
        launcher: where the worker comes from.

    Raises:
        RunError: the learner's code fails in it, or never ends.
        PackError: it does so without any, or returns something that is not an exhibit.
    """
    terms = Terms("demo", ("demo",), TIME_S, TIME_S, 4 << 30, preload=(EXHIBITS,))
    with _explained("demo", demo, own, terms), _begun(demo, pack, own, (launcher, terms)) as module:
        return read_exhibits(module.demo())


class RunError(KataError):
    """Raised when a demo or a run on the learner's code does not come to its end."""

    exit_code = 1


@dataclass(frozen=True)
class Inputs:
    """What a run on a real thing is given."""

    data: Mapping[str, Path]
    """The folders of what was fetched, by name."""
    text: str | None = None
    prompt: str | None = None


def run_real(
    kata: Kata, own: Sequence[Own], launcher: Launcher, inputs: Inputs, step: Callable[[str, int, int], None]
) -> list[Exhibit]:
    """Return what a kata's `real.py` shows of a real thing, run on the learner's code where that passes.

    Args:
        kata: its `real.py` has a function `run(step, data, text, prompt)` that returns exhibits.
        own: what passes of the learner's.
        launcher: where the worker comes from.
        inputs: what it is given.
        step: told how far it is.

    Raises:
        RunError: it fails on the learner's code, needs more time or memory than there is, or is killed.
        PackError: it fails without any, or returns something that is not an exhibit.
    """
    # The sandbox opens these for reading and nothing else: the worker has the learner's code in it.
    limits, preload = (RUN_TIME_S, RUN_TIME_S, RUN_MEMORY), (EXHIBITS, "safetensors.torch")
    terms = Terms("entry", ("run",), *limits, read=tuple(inputs.data.values()), preload=preload)
    data = {name: str(folder) for name, folder in inputs.data.items()}
    files = [("entry.py", ENTRY), *([] if inputs.text is None else [("text.txt", inputs.text)])]
    begun = _begun(kata.real, kata.unit.pack, own, (launcher, terms), files)
    with _explained("run", kata.real, own, terms), begun as module:
        return read_exhibits(module.run(Lent(step), data, inputs.prompt))


@contextmanager
def _explained(what: str, file: Path, own: Sequence[Own], terms: Terms) -> Iterator[None]:
    """Say what ended a demo or a run early: with the learner's code in it theirs to look at, else the pack's."""
    cause: Exception
    katas = {f"{answer.kata.module}.py": answer.kata.slug for answer in own}
    try:
        yield
        return
    except SubmissionUnsendable as error:
        raise PackError(f"{file} returned what cannot be shown: {error}") from error
    except SubmissionRaised as error:
        cause, ended = error, f"stopped: {error}"  # a line of ours would say nothing to a learner
        frame = next((frame for frame in reversed(error.frames) if frame.file in katas or not own), None)
        about = "No line of yours raised it: what your code returned cannot be used there."
    except WorkerTimeout as error:
        cause, ended = error, f"took longer than {terms.check_timeout_s:.0f} s"
        about, frame = "Which line it was at is not known.", error.frame
    except WorkerDied as error:
        cause, ended, frame = error, f"did not end well: its process {error}", None
        about = f"It may use {(terms.memory_bytes or 0) >> 30} GiB."
    frame = frame if frame and (frame.file in katas or not own) else None
    place = ": ".join(filter(None, (f"{frame.file}, line {frame.line}", frame.text))) if frame else about
    if not own:
        raise PackError(f"The {what} of {file.parent.name} {ended}", place if frame else None) from cause
    again = ", ".join(f"kata check {katas[name]}" for name in ([frame.file] if frame else katas))
    raise RunError(
        f"The {what} {ended}", f"{place}\n  It ran on your code. Does that still pass? {again}"
    ) from cause


def needs(real: Path) -> tuple[str, ...]:
    """Return what a run cannot do without, read and not run: data, and katas that have to have passed."""
    for node in ast.parse(read_text(real)).body:
        if isinstance(node, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id == "NEEDS" for t in node.targets
        ):
            return tuple(ast.literal_eval(node.value))
    return ()


@contextmanager
def _begun(
    file: Path,
    pack: Pack,
    own: Sequence[Own],
    where: tuple[Launcher, Terms],
    files: Sequence[tuple[str, str]] = (),
) -> Iterator[Any]:
    """Start a worker with a file of the pack loaded, or the first of `files`; yields the module over there."""
    launcher, terms = where
    with tempfile.TemporaryDirectory(prefix="kata-demo-") as name:
        _lay_out(Path(name), file, pack, own)
        for other, text in files:
            (Path(name) / other).write_text(text, encoding="utf-8")
        # It is loaded from where the learner's files are: an exception then has their lines, and not its own alone.
        source = read_source(Path(name) / (files[0][0] if files else file.name))
        # The functions that exhibits are made with are imported before the worker confines itself: it cannot read ours.
        session = Session(launcher, source, replace(terms, given=Path(name)))
        try:
            session.begin(0)
            yield RemoteSubmission(session, Calls())
        finally:
            session.close()


def uses(demo: Path, pack: Pack) -> tuple[Kata, ...]:
    """Return the katas whose names a demo imports: where they pass, it runs on the learner's own code."""
    try:
        tree = ast.parse(read_text(demo))
    except (SyntaxError, ValueError):  # running it says what is wrong
        return ()
    names = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == Path(MINE).stem
        for alias in node.names
    }
    return tuple(kata for kata in pack.katas if "*" in names or names & set(_answered(kata, demo, pack)))


def _answered(kata: Kata, demo: Path, pack: Pack) -> list[str]:
    """Return the names that a demo has of a kata: of several that require one, the demo's own, else the first."""

    def owner(name: str) -> Kata:
        having = [other for other in pack.katas if name in other.required]
        places = (demo.parent, demo.parent.parent)
        nearest = [
            other for place in places for other in having if place in (other.folder, other.unit.folder)
        ]
        return next(iter([*nearest, *having]), kata)

    return [name for name in kata.required if owner(name).folder == kata.folder]


def scripts(exhibits: Sequence[Exhibit], demo: Path, pack: Pack) -> dict[str, str]:
    """Return the scripts of the pack's that a page with these exhibits runs, by name.

    Raises:
        PackError: there is no such file, or it cannot be put in a page.
    """
    found = {}
    for name in dict.fromkeys(play.script for play in exhibits if isinstance(play, Play)):
        places = (demo.parent, demo.parent.parent, pack.root / SCRIPTS)
        file = next((place / name for place in places if (place / name).is_file()), None)
        if file is None:
            looked = ", ".join(map(str, places))
            raise PackError(f"The demo {demo} plays {name}, which is in none of {looked}.")
        found[name] = read_text(file)
        if "</script" in found[name].lower():
            raise PackError(f"{file}: holds `</script`, which would end it in the middle of a page.")
    return found


def _lay_out(folder: Path, demo: Path, pack: Pack, own: Sequence[Own]) -> None:
    blocks = next((place / BLOCKS for place in _places(demo, pack) if (place / BLOCKS).is_file()), None)
    lines = ['"""Every name of the katas: the learner\'s own where it passes, the given one elsewhere."""']
    for kata in pack.katas:
        if kata.folder == demo.parent:  # its data and the like; blocks are the fullest there are
            for path in (*kata.given, *kata.support):
                shutil.copy(path, folder)
    # A run may take from its kata's demo what replaces the learner's, and from the pack what several runs share.
    also = [demo, *(pack.root / REAL).glob("*.py"), demo.parent / "demo.py"]
    for path in filter(Path.is_file, also):
        shutil.copy(path, folder)
    if blocks is not None:
        shutil.copy(blocks, folder / BLOCKS)
        lines.append("from blocks import *")
    for answer in own:
        if names := ", ".join(_answered(answer.kata, demo, pack)):
            module = folder / f"{answer.kata.module}.py"
            if answer.file.suffix == ".ipynb":
                text = as_module(answer.file.name, read_source(answer.file).data, answer.kata.required)
                module.write_text(text, encoding="utf-8")
            else:
                shutil.copy(answer.file, module)
            lines.append(f"from {answer.kata.module} import {names}")
    (folder / MINE).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _places(demo: Path, pack: Pack) -> list[Path]:
    """Return where blocks may be, the fullest first: a kata's own lack what the kata is about."""
    units = sorted(pack.units, key=lambda unit: unit.key, reverse=True)
    return [demo.parent.parent, demo.parent, pack.root / "given", *(unit.folder for unit in units)]
