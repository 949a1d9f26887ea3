"""Store what the program says of every answer that the pack knows, and compare two such stores.

A change that must not be seen by users is run between the two:

    python benchmarks/freeze.py store before.json
    python benchmarks/freeze.py store after.json
    python benchmarks/freeze.py compare before.json after.json

Stored are status, points, messages and named mistakes of the reports of all references, alternatives and catalogued
mistakes at seed 0, hidden checks included, and the help text of every command. Checks that train are left out: they
take as long as all the rest. A kata that is in the file already is not graded again, so a store can be resumed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from grader.catalogue import Kata, load_pack
from grader.commands import COMMANDS
from grader.engine.host.bootstrap import start_launcher
from grader.engine.mistakes.mistakes import mistakes
from grader.engine.runner.suite import RunConfig, Suite, suites_of
from grader.files import write_atomic

ROOT = Path(__file__).parent.parent


@click.group()
def freeze() -> None:
    """Store what the program says, and compare."""


@freeze.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("slugs", nargs=-1)
def store(file: Path, slugs: tuple[str, ...]) -> None:
    """Grade every answer of these katas, or of all, and write what is said to FILE."""
    stored = json.loads(file.read_text()) if file.exists() else {}
    stored["help"] = {
        " ".join(command): help_of(*command) for command in [(), *((name,) for name in COMMANDS)]
    }
    katas = [kata for kata in load_pack(ROOT / "katas").katas if not slugs or kata.slug in slugs]
    for kata in katas:
        if kata.slug not in stored:
            # A process for each kata: collected suites and branches of the fork server end with it.
            done = subprocess.run(
                [sys.executable, __file__, "grade", kata.slug], capture_output=True, text=True, check=True
            )
            stored[kata.slug] = json.loads(done.stdout)
            write_atomic(file, json.dumps(stored, indent=1, ensure_ascii=False) + "\n")
            click.echo(f"{kata.slug}: {len(stored[kata.slug])} answers", err=True)


@freeze.command()
@click.argument("slug")
def grade(slug: str) -> None:
    """Print what is said of every answer of one kata."""
    [kata] = [kata for kata in load_pack(ROOT / "katas").katas if kata.slug == slug]
    launcher = start_launcher(many=True)

    with suites_of([kata], hidden=True) as suites:
        suite = suites[slug].exclude(suites[slug].trained())
        every = {name: said(suite, kata, launcher, content) for name, content in answers(kata)}
    click.echo(json.dumps(every, ensure_ascii=False))


def answers(kata: Kata) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of everything that the pack knows to be handed in."""
    assert kata.solution is not None
    for path in (kata.stub, kata.solution, *kata.alternatives):
        yield ("stub" if path == kata.stub else path.stem), path.read_bytes()
    for mistake in mistakes(kata):
        yield mistake.name, mistake.source.data


def said(suite: Suite, kata: Kata, launcher: Any, content: bytes) -> dict[str, Any]:
    """Return what users see of a report."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"{kata.module}.py")
        file.write_bytes(content)
        report = suite.check(file, launcher, RunConfig())
    checks = {check.id: [check.status, check.points, check.message] for check in report.checks}
    return {"status": report.status, "checks": checks}


def help_of(*command: str) -> str:
    """Return the help text of a command."""
    program = Path(sys.executable).with_name("kata")
    return subprocess.run([program, *command, "--help"], capture_output=True, text=True, check=False).stdout


@freeze.command()
@click.argument("before", type=click.Path(path_type=Path, exists=True))
@click.argument("after", type=click.Path(path_type=Path, exists=True))
def compare(before: Path, after: Path) -> None:
    """Print every difference, and end with 1 where there is one."""
    old, new = json.loads(before.read_text()), json.loads(after.read_text())
    lines = list(differences(old, new, ""))
    click.echo("\n".join(lines) or "no difference")
    sys.exit(bool(lines))


def differences(old: Any, new: Any, where: str) -> Iterator[str]:
    """Yield what differs, with the way to it."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys([*old, *new]):
            yield from differences(old.get(key), new.get(key), f"{where} › {key}" if where else key)
    elif old != new:
        yield f"{where}\n  - {old}\n  + {new}"


if __name__ == "__main__":
    freeze()
