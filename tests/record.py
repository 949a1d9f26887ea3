"""What passed in full, and on which files: `gate.json`, committed, so that only what changed is repeated in full.

`make gate` runs everything that is recorded here and writes it anew. `make test` runs a light gate for every kata, and
fails where the record is of other files; a walk whose files changed it runs.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import random
import re
import subprocess
import tomllib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from grader.catalogue import Kata, load_pack
from grader.catalogue.given import BLOCKS, blocks_of
from grader.catalogue.katas import RUBRIC
from grader.catalogue.syllabus import SYLLABUS_FILE
from grader.packs.gate import TRANSCRIPTS
from grader.packs.steadiness import Gradings

TESTS = Path(__file__).parent
ROOT = TESTS.parent
RECORD = TESTS / "gate.json"
WALKS = {
    "demo": ("demo", "grader/cli", "grader/grading", "tests/project/test_demo.py"),
    "authors": (
        "docs/authors.md",
        "grader/packs",
        "grader/cli/pack.py",
        "tests/project/test_authors_example.py",
    ),
}
"""Commands played one after the other, each of which has tests of its own: what of the repository they are about."""
SAMPLE, SAMPLE_WHERE_CHECKS_TRAIN = 4, 1
"""Mistakes of each kata that a light gate tries."""
KATAS = 2
"""Katas whose light gate is run, and whose second corpus is sampled, when nothing of them has changed."""
DEMOS = 1
"""Demos that run when nothing of them has changed."""
SEEDS = 1000
"""From so many seeds one is drawn for what is graded on one."""
DEMO = "demo.py"
APART = ("README.md", RUBRIC, DEMO, SYLLABUS_FILE, TRANSCRIPTS, "calibration.json")
"""Files that no verdict hangs on: a unit that gets another kata, a lesson or a message that is told better, and what a
machine measured need no new gate. Transcripts are compared by a light one, too."""
SPEED = ("speed_checks.py", "baseline.py", "slow")
"""What speed is decided by, beside `[speed]` in kata.toml. It has a gate and a record of its own: it takes a minute,
and whether answers are right does not hang on it."""
DRAW = "KATA_TEST_DRAW"
BASE = "KATA_TEST_BASE"


def draw() -> str:
    """Return what samples are drawn by: the commit, or the day. Set it to draw the same again."""
    if DRAW not in os.environ:
        head = _git("rev-parse", "--short=10", "HEAD")
        os.environ[DRAW] = (
            head or datetime.now(UTC).date().isoformat()
        )  # the processes of xdist draw the same
    return os.environ[DRAW]


def sample(what: str, names: Sequence[str], count: int = SAMPLE) -> list[str]:
    """Return some of the names, in their order."""
    chosen = set(random.Random(f"{draw()} {what}").sample(sorted(names), min(count, len(names))))
    return [name for name in names if name in chosen]


def has_turn(what: str, chance: float) -> bool:
    """Tell whether something that runs with this chance does so this time."""
    return random.Random(f"{draw()} turn of {what}").random() < chance


@cache
def touched() -> frozenset[str]:
    """Return the test files that differ from the commit before, and the folders of tests whose code does."""
    changed = _git("diff", "--name-only", os.environ.get(BASE, "HEAD~1"), "--").splitlines()
    files = {path for path in changed if path.startswith("tests/")}
    return frozenset(
        files | {f"tests/{path.split('/')[1]}" for path in changed if path.startswith("grader/")}
    )


@cache
def katas() -> dict[str, Kata]:
    """Return our katas by name."""
    return {kata.slug: kata for kata in load_pack(ROOT / "katas").katas}


def digest_of_kata(slug: str) -> str:
    """Return a digest of what a kata's verdict hangs on beside the engine: its files, its unit's, its blocks, torch.

    Not of what decides about speed.
    """
    kata = katas()[slug]
    blocks = blocks_of(kata)  # of the file that all katas share, only what this one is given
    parts: list[Path] = [*kata.given, *kata.support]
    for top in (ROOT / "katas", ROOT / "solutions"):
        unit = top / kata.unit.folder.name
        unit_folder = kata.unit.folder
        others = {o.folder.name for o in katas().values() if o.unit.folder == unit_folder and o is not kata}
        for folder in (top, unit):
            parts += [path for path in folder.iterdir() if path.is_file()] if folder.is_dir() else []
        for folder in unit.iterdir() if unit.is_dir() else ():
            parts += [folder] if folder.is_dir() and folder.name not in others else []
    torch = re.search(r"^torch==(\S+)$", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    told = {name: table for name, table in _kata_toml(slug).items() if name != "speed"}
    more = (torch[1] if torch else "") + (blocks.data.decode() if blocks else "") + json.dumps(told)
    return _digest(parts, more, (*APART, *SPEED, BLOCKS, "kata.toml"))


def digest_of_speed(slug: str) -> str:
    """Return a digest of what decides about a kata's speed, and of the kata: its wasteful answers are right ones."""
    kata = katas()[slug]
    assert kata.solution is not None
    parts = [folder / name for folder in (kata.folder, kata.solution.parent) for name in SPEED]
    return _digest(parts, digest_of_kata(slug) + json.dumps(_kata_toml(slug).get("speed")))


def timed() -> list[str]:
    """Return the katas that have checks of speed, by name."""
    return [slug for slug, kata in katas().items() if kata.speed_checks is not None]


def _kata_toml(slug: str) -> dict[str, Any]:
    return tomllib.loads((katas()[slug].folder / "kata.toml").read_text(encoding="utf-8"))


def digest_of_answers(slug: str) -> str:
    """Return a digest of what the second corpus's verdict on a kata hangs on: of the kata, and of its answers."""
    return _digest([TESTS / "answers" / slug.replace("-", "_")], digest_of_kata(slug))


def drawn(slug: str) -> bool:
    """Tell whether a kata is one of those that this commit looks at closely, or has no record of its very files."""
    recorded = kept("katas").get(slug, {}).get("digest") == digest_of_kata(slug)
    return not recorded or slug in sample("katas", list(katas()), KATAS)


def repeated(which: str, kind: str, name: str, digest: str) -> bool:
    """Tell whether all of something is run under `--gate WHICH`, and not a sample."""
    return which == "full" or (which == "changed" and changed(kind, name, digest))


def in_full(which: str, slug: str) -> bool:
    """Tell whether all of a kata's gate is run under `--gate WHICH`."""
    return repeated(which, "katas", slug, digest_of_kata(slug))


def speed_in_full(which: str, slug: str) -> bool:
    """Tell whether all of what decides about a kata's speed is examined under `--gate WHICH`."""
    return repeated(which, "speed", slug, digest_of_speed(slug))


def seed(name: str) -> int:
    """Return a seed that is another for each name, and for each commit."""
    return random.Random(f"{draw()} {name}").randrange(SEEDS)


def demos() -> dict[str, Path]:
    """Return our demos by the kata or unit that they are of."""
    return {path.parent.name: path for path in sorted((ROOT / "katas").rglob(DEMO))}


def digest_of_demo(name: str) -> str:
    """Return a digest of a demo, and of the data and scripts that it may use."""
    folder = demos()[name].parent
    beside = [path for path in folder.iterdir() if path.suffix == ".py" and path.name != "checks.py"]
    return _digest([*beside, ROOT / "katas" / "play"])


def digest_of_walk(name: str) -> str:
    """Return a digest of what a walk is about."""
    return _digest(ROOT / part for part in WALKS[name])


def kept(kind: str) -> dict[str, dict[str, Any]]:
    """Return what is recorded of katas, walks or demos, by name."""
    return dict(_read().get(kind, {}))


def keep(kind: str, name: str, digest: str, **found: object) -> None:
    """Record that something passed in full; what no longer exists is forgotten."""
    with RECORD.with_suffix(".lock").open("w") as lock:  # beside other processes of the same run
        fcntl.flock(lock, fcntl.LOCK_EX)
        record = _read()
        here = {"katas": katas, "speed": timed, "walks": WALKS.copy, "demos": demos}[kind]()
        part = {one: entry for one, entry in record.get(kind, {}).items() if one in here}
        part[name] = {"digest": digest, **found, "when": datetime.now(UTC).date().isoformat()}
        record[kind] = dict(sorted(part.items()))
        lines = [
            f"{json.dumps(kind)}: {{\n"
            + ",\n".join(f" {json.dumps(name)}: {json.dumps(entry)}" for name, entry in part.items())
            + "\n}"
            for kind, part in sorted(record.items())
        ]
        text = "{\n" + ",\n".join(lines) + "\n}\n"
        fresh = RECORD.with_suffix(".new")
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(RECORD)


def summary(marks: Sequence[Gradings]) -> dict[str, Any]:
    """Return of a kata's mistakes on how many seeds they were graded, what each costs, and how far its marks spread."""
    return {
        "seeds": max(len(one.scores()) for one in marks),
        "loss": {one.mistake: round(one.loss, 3) for one in marks},
        "spread": {one.mistake: round(one.spread, 3) for one in marks if one.spread},
    }


def changed(kind: str, name: str, digest: str) -> bool:
    """Tell whether something differs from the record here, or from the one of the commit before: CI runs it in full."""
    before = _git("show", f"{os.environ.get(BASE, 'HEAD~1')}:{RECORD.relative_to(ROOT)}")
    records = [_read(), json.loads(before) if before else {}]
    return any(record.get(kind, {}).get(name, {}).get("digest") != digest for record in records)


def walked(name: str) -> bool:
    """Tell whether a walk passed on what it is about now."""
    return bool(kept("walks").get(name, {}).get("digest") == digest_of_walk(name))


def _read() -> dict[str, Any]:
    return dict(json.loads(RECORD.read_text(encoding="utf-8"))) if RECORD.is_file() else {}


def _digest(parts: Iterable[Path], more: str = "", without: Iterable[str] = ()) -> str:
    apart = frozenset(without)
    total = hashlib.sha256(more.encode())
    files = {
        path for part in parts for path in ([part] if part.is_file() else part.rglob("*")) if path.is_file()
    }
    for path in sorted(files):
        name = path.relative_to(ROOT)
        if apart.isdisjoint(name.parts) and not any(
            one.startswith((".", "__pycache__")) for one in name.parts
        ):
            total.update(f"\0{name}\0{path.stat().st_size}\0".encode() + path.read_bytes())
    return total.hexdigest()[:20]


def _git(*arguments: str) -> str:
    """Return what git prints; nothing where there is no repository, or not that in it."""
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
