"""What was found of each kata, kept in curriculum.json, so that only what changed is worked out again.

To look at a kata closely takes minutes to an hour: each is looked at in a process of its own, and kept at once.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable, Sequence, Set
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol, TypeVar

from grader.catalogue.given import BLOCKS, blocks_of
from grader.catalogue.katas import RUBRIC
from grader.files import write_atomic
from grader.host.warm import start_launcher
from grader.packs.gate import TRANSCRIPTS
from tests.ours import ROOT, katas

FILE = Path(__file__).parent / "curriculum.json"
APART = {
    *("README.md", RUBRIC, "demo.py", TRANSCRIPTS, "calibration.json", "kata.toml", BLOCKS),
    *("speed_checks.py", "baseline.py", "slow", "course-4.toml", "course-8.toml", "course-14.toml"),
}
"""Files that no finding hangs on, or of which only a part counts."""


class Finding(Protocol):
    """What can be kept: a dataclass of plain data. Its class's name says in the file what it is."""

    kata: str


Found = TypeVar("Found", bound=Finding)


def digest_of_kata(slug: str) -> str:
    """Return a digest of what is found of a kata beside the engine: its files, its unit's, its blocks, torch."""
    kata = katas()[slug]
    blocks = blocks_of(kata)  # of the file that all katas share, only what this one is given
    parts: list[Path] = [*kata.given, *kata.support]
    for top in (ROOT / "katas", ROOT / "solutions"):
        unit = top / kata.unit.folder.name
        own = kata.unit.folder
        others = {o.folder.name for o in katas().values() if o.unit.folder == own and o is not kata}
        for folder in (top, unit):
            parts += [path for path in folder.iterdir() if path.is_file()] if folder.is_dir() else []
        for folder in unit.iterdir() if unit.is_dir() else ():
            parts += [folder] if folder.is_dir() and folder.name not in others else []
    torch = re.search(r"^torch==(\S+)$", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    table = tomllib.loads((kata.folder / "kata.toml").read_text(encoding="utf-8"))
    table.pop("speed", None)
    more = (torch[1] if torch else "") + (blocks.data.decode() if blocks else "") + json.dumps(table)
    return _digest(parts, more)


def digest_of_answers(slug: str) -> str:
    """Return a digest of what the second corpus's verdict on a kata hangs on: of the kata, and of its answers."""
    return _digest([ROOT / "tests" / "answers" / slug.replace("-", "_")], digest_of_kata(slug), apart=set())


def _digest(parts: Iterable[Path], more: str, apart: Set[str] = APART) -> str:
    total = hashlib.sha256(more.encode())
    files = {
        path for part in parts for path in ([part] if part.is_file() else part.rglob("*")) if path.is_file()
    }
    for path in sorted(files):
        name = path.relative_to(ROOT)
        hidden = any(one.startswith((".", "__pycache__")) for one in name.parts)
        if apart.isdisjoint(name.parts) and not hidden:
            total.update(f"\0{name}\0{path.stat().st_size}\0".encode() + path.read_bytes())
    return total.hexdigest()[:20]


class Record:
    """What was found of each kata, by which files, and where."""

    def __init__(self, digest: Callable[[str], str] = digest_of_kata) -> None:
        self._digest = digest
        """Of all that findings of a kata hang on."""
        self._kept = _read()

    def holds(self, slug: str, kind: type[Any]) -> bool:
        """Tell whether something was found of a kata as it is now."""
        entry = self._entry(slug, kind)
        return entry is not None and entry["digest"] == self._digest(slug)

    def keep(self, found: Any, *, write: bool) -> None:
        """Remember what was found; with `write` beyond this process, whatever others have written there since."""
        name = type(found).__name__.lower()
        entry = {"digest": self._digest(found.kata), "where": where(), name: asdict(found)}
        if write:
            self._kept = _read()
        self._kept.setdefault(found.kata, {})[name] = entry
        if write:
            text = json.dumps(dict(sorted(self._kept.items())), indent=1, ensure_ascii=False) + "\n"
            write_atomic(FILE, text)

    def found(self, kind: type[Found], slugs: Sequence[str]) -> list[Found]:
        """Return what is known of katas, in their order."""
        name = kind.__name__.lower()
        return [kind(**entry[name]) for slug in slugs if (entry := self._entry(slug, kind))]

    def places(self, slugs: Sequence[str], kind: type[Any]) -> list[str]:
        """Return where it was found."""
        return sorted({entry["where"] for slug in slugs if (entry := self._entry(slug, kind))})

    def late(self, kind: type[Any], slugs: Sequence[str]) -> list[str]:
        """Return sentences about what is not known of katas, or was found of what they were before."""
        known = [slug for slug in slugs if self._entry(slug, kind)]
        return [
            f"{told}: {', '.join(some)}."
            for told, some in (
                ("Not looked at yet", [slug for slug in slugs if slug not in known]),
                (
                    "Looked at before their last change",
                    [slug for slug in known if not self.holds(slug, kind)],
                ),
            )
            if some
        ]

    def _entry(self, slug: str, kind: type[Any]) -> Any:
        return self._kept.get(slug, {}).get(kind.__name__.lower())


def renew(
    record: Record, kind: type[Any], slugs: Sequence[str], options: Sequence[str], *, jobs: int, write: bool
) -> None:
    """Let this script find something of katas: so many side by side, each in a process of its own that prints it.

    Args:
        record: where it is kept.
        kind: what is found.
        slugs: of which katas.
        options: of the command line, beside `KATA --json`.
        jobs: katas side by side.
        write: whether to keep it beyond this process.
    """

    def find(slug: str) -> Any:
        command = [sys.executable, sys.argv[0], slug, "--json", *options]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
        return kind(**json.loads(done.stdout)[0])

    with ThreadPoolExecutor(jobs) as pool:
        for done in as_completed([pool.submit(find, slug) for slug in slugs]):
            record.keep(done.result(), write=write)


def found_here(
    slugs: Sequence[str], find: Callable[[Any, Any, Any], Any], *, hidden: bool = True
) -> list[Any]:
    """Return what `find` finds of each kata: it is given the kata, its suite, and a launcher for all of them."""
    launcher = start_launcher(many=True)

    from grader.catalogue import Catalogue
    from grader.running.suite import with_suites

    katas = [kata for kata in Catalogue.discover().katas if kata.slug in slugs]
    found: list[Any] = with_suites(
        katas, lambda suites: [find(kata, suites[kata.slug], launcher) for kata in katas], hidden=hidden
    )
    launcher.close()
    return found


def where() -> str:
    """Return what a figure was found on."""
    import torch  # here, where it is sure to be loaded only once a launcher has been started

    return (
        f"Measured on {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"torch {torch.__version__}"
    )


def _read() -> dict[str, Any]:
    return dict(json.loads(FILE.read_text(encoding="utf-8"))) if FILE.is_file() else {}
