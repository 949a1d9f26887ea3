"""Run a demo in a worker, with the learner's modules where they pass and the given blocks elsewhere."""

from __future__ import annotations

import ast
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.catalogue import Kata, Pack
from grader.catalogue.given import BLOCKS
from grader.data_files import read_text
from grader.demos.exhibit_types import Exhibit, Play, read_exhibits
from grader.errors import PackError
from grader.host.calls import Calls
from grader.host.endings import SubmissionRaised, SubmissionUnsendable, WorkerDied, WorkerTimeout
from grader.host.launcher import Launcher
from grader.host.remote import RemoteSubmission
from grader.host.session import Session
from grader.host.source import read_source
from grader.host.terms import Terms

TIME_S = 300.0
EXHIBITS = "grader.demos.exhibits"
"""What a demo is written with; imported before it, since files of the engine are closed to a worker."""
SCRIPTS = "play"
"""The folder of a pack with scripts for pages, where several demos share them."""
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
        PackError: it fails, hangs, or returns something that is no exhibit.
    """
    with tempfile.TemporaryDirectory(prefix="kata-demo-") as name:
        given = Path(name)
        _lay_out(given, demo, pack, own)
        # The functions that exhibits are made with are imported before the worker confines itself: it cannot read ours.
        terms = Terms("demo", ("demo",), TIME_S, TIME_S, 4 << 30, given=given, preload=(EXHIBITS,))
        session = Session(launcher, read_source(demo), terms)
        try:
            session.begin(0)
            shown = RemoteSubmission(session, Calls()).demo()
        except SubmissionRaised as error:
            raise PackError(f"The demo {demo} failed: {error}", _place(error)) from error
        except SubmissionUnsendable as error:
            raise PackError(f"The demo {demo} returned what cannot be shown: {error}") from error
        except WorkerDied as error:
            raise PackError(f"The demo {demo} did not end well: {error}") from error
        except WorkerTimeout as error:
            raise PackError(f"The demo {demo} took longer than {TIME_S:.0f} s.") from error
        finally:
            session.close()
    return read_exhibits(shown)


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
        PackError: there is no such file, or it cannot stand in a page.
    """
    found = {}
    for name in dict.fromkeys(one.script for one in exhibits if isinstance(one, Play)):
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
    lines = [
        '"""Every name of the katas: the learner\'s own where it passes, the given one elsewhere."""',
        "SOURCES = {}",
    ]
    for kata in pack.katas:
        if kata.folder == demo.parent:  # its data and the like; blocks are the fullest there are
            for path in (*kata.given, *kata.support):
                shutil.copy(path, folder)
    if blocks is not None:
        shutil.copy(blocks, folder / BLOCKS)
        lines.append("from blocks import *")
    for one in own:
        names = ", ".join(_answered(one.kata, demo, pack))
        if not names:
            continue
        shutil.copy(one.file, folder / f"{one.kata.module}.py")
        lines += [
            "try:",
            f"    from {one.kata.module} import {names}",
            f"    SOURCES[{one.kata.slug!r}] = 'yours'",
            "except Exception:",
            f"    SOURCES[{one.kata.slug!r}] = 'given'",
        ]
    (folder / MINE).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _places(demo: Path, pack: Pack) -> list[Path]:
    """Return where blocks may be, the fullest first: a kata's own lack what the kata is about."""
    units = sorted(pack.units, key=lambda unit: unit.key, reverse=True)
    return [demo.parent.parent, demo.parent, pack.root / "given", *(unit.folder for unit in units)]


def _place(error: SubmissionRaised) -> str | None:
    frames = error.frames
    return f"{frames[-1].file}, line {frames[-1].line}: {frames[-1].text}" if frames else None
