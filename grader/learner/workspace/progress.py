"""What a learner has done so far, keyed by slug, in a file that people can read and commit.

A later release may know more than this one: katas and keys it does not know are kept as they are.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from grader import files
from grader.data_files import read_bytes
from grader.errors import UsageError
from grader.report.report import WRONG, KataReport, KataStatus

PROGRESS_FILE = "kata-progress.json"
SCHEMA = 1
LIMIT_BYTES = 10_000_000

_LEAVE = (
    "The file is left as it is. Correct it, restore it from version control or a backup, or move it away."
)


NOTHING: Mapping[str, str] = {}
Count = Annotated[int, Meta(ge=0, le=1_000_000)]
Points = Annotated[float, Meta(ge=0, le=1e6)]


class KataProgress(msgspec.Struct, kw_only=True):
    """What was done with one kata. Times are UTC, ISO 8601."""

    started: str | None = None
    checked: str | None = None
    attempts: Count = 0
    status: KataStatus = "not_started"
    score: Points = 0.0
    max_score: Points = 0.0
    best: Points = 0.0
    passed: str | None = None
    """When it first passed; a later failure does not take that back."""
    hints: Count = 0
    """The highest tier of hints that was shown."""
    gave_up: str | None = None
    """When the solution was shown without a pass."""
    wrong: list[str] = []
    """What the latest check found wrong or not written, by the names of functions and classes."""
    edited: list[str] = []
    """Which of them had changed when it was last checked after a change."""
    code: dict[str, str] = {}
    """A digest of each, to see that."""


class Progress(msgspec.Struct, kw_only=True):
    """The whole file."""

    katas: dict[str, KataProgress] = msgspec.field(default_factory=dict)
    document: dict[str, Any] = msgspec.field(default_factory=dict)
    """The file as it was read, with what this release does not know."""

    def of(self, slug: str) -> KataProgress:
        """Return the entry of a kata, made on first use."""
        return self.katas.setdefault(slug, KataProgress())

    def get(self, slug: str) -> KataProgress:
        """Return the entry of a kata without making one."""
        return self.katas.get(slug) or KataProgress()


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def load_progress(root: Path) -> Progress:
    """Read the progress file of the workspace `root`; without a file, an empty one.

    Raises:
        UsageError: it cannot be read, is damaged (file and line), or was written by a newer release.
    """
    path = root / PROGRESS_FILE
    if not os.path.exists(path):
        return Progress()
    files.within(path, root)
    return _decode(read_bytes(path, LIMIT_BYTES, what="the progress", refuse=UsageError, hint=_LEAVE), path)


def save_progress(root: Path, progress: Progress) -> None:
    """Write the progress file of the workspace `root`, whole or not at all.

    Raises:
        EngineError: the file system refused; what was there is unchanged.
    """
    before = progress.document.get("katas", {})
    katas = {
        # Over what was read, so that keys of another version of Kata stay.
        slug: before.get(slug, {}) | msgspec.to_builtins(entry)
        for slug, entry in progress.katas.items()
    }
    document = {**progress.document, "schema": SCHEMA, "katas": katas}
    text = msgspec.json.format(msgspec.json.encode(document, order="sorted"), indent=2)
    files.write_atomic(root / PROGRESS_FILE, text + b"\n")


@contextmanager
def edit_progress(root: Path) -> Iterator[Progress]:
    """Read the progress, let the block change it, write it; two commands at once wait for each other.

    Nothing is written when the block raises. Not to be nested.
    """
    with _lock(root):
        progress = load_progress(root)
        yield progress
        save_progress(root, progress)


def record_check(progress: Progress, report: KataReport, code: Mapping[str, str] = NOTHING) -> None:
    """Note the outcome of a full check of this code, and say in the report which failure to begin with.

    A kata that nobody has worked on yet is not an attempt, and one without a file that nobody has begun is nothing.
    """
    known = progress.get(report.kata)
    if report.status == "missing" and known.started is None and known.attempts == 0:
        return
    entry = progress.of(report.kata)
    entry.checked = now()
    entry.status = report.status
    entry.score = report.score
    entry.max_score = report.max_score
    entry.best = max(entry.best, report.score)
    if report.status not in ("not_started", "missing"):
        entry.attempts += 1
    if report.status == "pass" and entry.passed is None:
        entry.passed = entry.checked
    failed = [check for check in report.checks if check.status in WRONG]
    unwritten = [name.partition(".")[0] for name in report.todo]
    entry.wrong = list(dict.fromkeys([*(check.called for check in failed), *unwritten]))
    # Before there is anything to compare with, and where nothing changed since, what was edited stays as it was.
    changed = [name for name, digest in code.items() if entry.code.get(name) != digest] if entry.code else []
    entry.edited, entry.code = changed or entry.edited, dict(code) or entry.code
    first = next((check.id for check in failed if check.called in entry.edited), None)
    if first is not None and first != failed[0].id:
        report.first = first


def _decode(data: bytes, path: Path) -> Progress:
    try:
        document = msgspec.json.decode(data)
    except RecursionError as error:
        raise UsageError(f"{path}: nested too deep to be a progress file.", _LEAVE) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}, line {_line(data)}: the progress is not valid JSON.", _LEAVE) from error
    if not isinstance(document, dict) or not isinstance(document.get("katas", {}), dict):
        raise UsageError(f"{path}, line 1: not a progress file; it must be an object with `katas`.", _LEAVE)
    schema = document.get("schema", SCHEMA)
    # Refused, not read as far as it goes: written back, it would lose what is not known here.
    if not isinstance(schema, int) or schema > SCHEMA:
        raise UsageError(
            f"{path}: written by a newer kata (schema {schema}; this one knows {SCHEMA}).",
            "Upgrade kata; the file is left as it is.",
        )
    progress = Progress(document=document)
    for slug, raw in document.get("katas", {}).items():
        try:
            progress.katas[slug] = msgspec.convert(raw, KataProgress)
        except msgspec.ValidationError as error:
            message = str(error).replace("`$.", f"`katas.{slug}.")
            line = data.count(b"\n", 0, max(data.find(f'"{slug}"'.encode()), 0)) + 1
            raise UsageError(f"{path}, line {line}: {message}.", _LEAVE) from error
    return progress


def _line(data: bytes) -> int:
    """Say in which line damaged JSON goes wrong."""
    import json

    try:
        json.loads(data)
    except json.JSONDecodeError as error:
        return error.lineno
    except UnicodeDecodeError as error:
        return data.count(b"\n", 0, error.start) + 1
    except (ValueError, RecursionError):  # a number of thousands of digits
        return 1
    return 1


@contextmanager
def _lock(root: Path) -> Iterator[None]:
    """Hold the folder itself, so that no lock file is left behind; where that is impossible, go without."""
    try:
        import fcntl

        descriptor = os.open(root, os.O_RDONLY)
    except (ImportError, OSError):
        yield
        return
    try:
        with suppress(OSError):  # some network file systems have no locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
