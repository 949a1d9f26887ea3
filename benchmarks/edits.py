"""Edits that leave a file's size and time as they were: is any verdict that of another content?

    python benchmarks/edits.py                   10,000 edits, a quarter of an hour
    python benchmarks/edits.py --count 200       a look
    python benchmarks/edits.py --write           and rewrite the table of docs/benchmarks.md

Each edit draws one of two submissions, one of two files beside it and one of two versions of the pack's checks, writes
them in place or under a new name, and sets the time that all have. The two of a kind have one length, and the verdict
follows from the three draws. One `kata check` judges many edited katas, and a process stands by for it.
Every other time it runs without a sandbox (isolation `process`), where Python could keep what it compiled.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from table import Figures, arguments, publish, verdict

from grader.cli.warm_process import end_all, standing_by
from grader.interpreter import command

TINY = Path(__file__).resolve().parent.parent / "tests" / "packs" / "tiny"
UNIT, SLUG, MODULE = "1.1-sorting", "insertion-sort", "insertion_sort"
COUNT, KATAS = 10_000, 25
STAMP = 1_700_000_000
PATIENCE_S = 120
ANSWER = """\
import turns


def insertion_sort(numbers):
    done = []
    for number in numbers:
        place = sum(other {} number for other in done)
        done.insert(place, number)
    return done[:: turns.STEP]
"""
SUBMISSIONS = tuple(ANSWER.format(sign) for sign in ("<=", ">="))
HELPERS = ("STEP = +1\n", "STEP = -1\n")
ASKED = ("[1, 2, 3]", "[3, 2, 1]")
"""What one check of the pack wants of `insertion_sort([3, 1, 2])`."""


def main() -> None:
    """Edit, ask, count, and print what was found."""
    parser = arguments(__doc__)
    parser.add_argument("--count", type=int, default=COUNT, help="edits (default %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    if chosen.count % KATAS:
        parser.error(f"--count: {KATAS} katas are edited at a time")
    with tempfile.TemporaryDirectory(prefix="kata-e-") as name:
        os.environ["XDG_RUNTIME_DIR"] = name  # a warm process of its own
        try:
            found, warm = edited(Path(name), chosen.count // KATAS, random.Random(chosen.seed))
        finally:
            end_all()
    table = Figures(
        "Edits that leave size and time as they were",
        "The submission, a file beside it and the pack's checks each have two contents of one length and one time of "
        f"change; every edit draws them anew and writes in place or under a new name. {KATAS} edits are judged by "
        "one `kata check`, every other one without a sandbox. *Stale* is a verdict that belongs to other contents than "
        "those on disk.",
        ["edits", "commands", "answered by a process that stood by", "stale verdicts", "none"],
        [
            [
                f"{found.total():,}",
                f"{chosen.count // KATAS:,}",
                f"{warm:,}",
                str(found["stale"]),
                verdict(found["stale"], 0),
            ]
        ],
    )
    publish(
        [table],
        "benchmarks.md",
        "edits",
        write=chosen.write,
        how="measured with `python benchmarks/edits.py"
        + ("`" if chosen.count == COUNT else f" --count {chosen.count}`"),
    )
    sys.exit(1 if found["stale"] else 0)


def edited(folder: Path, rounds: int, chance: random.Random) -> tuple[Counter[str], int]:
    """Return how many verdicts were right and stale, and how many commands a process answered that stood by."""
    folder.chmod(0o700)
    pack, space = _pack(folder / "pack"), folder / "space"
    space.mkdir()
    left_out = ("CI", "KATA_WARM", "KATA_ISOLATION", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
    environment = {name: value for name, value in os.environ.items() if name not in left_out} | {
        "KATA_PACKS": str(pack)
    }
    subprocess.run(
        command("grader", "start", "1.1"), cwd=space, env=environment, check=True, capture_output=True
    )
    ask = command("grader", "check", "-k", "three", "--json")
    checks = (TINY / UNIT / SLUG / "checks.py").read_text()
    versions = tuple(checks.replace(ASKED[0], asked) for asked in ASKED)
    for contents in (SUBMISSIONS, HELPERS, versions):
        assert len({len(content) for content in contents}) == 1 < len(set(contents))
    found: Counter[str] = Counter()
    for number in range(rounds):
        drawn: dict[str, list[int]] = {}
        for kata in sorted((pack / UNIT).glob(f"{SLUG}-*")):
            mine = space / UNIT / kata.name
            files = {
                mine / f"{kata.name.replace('-', '_')}.py": SUBMISSIONS,
                mine / "turns.py": HELPERS,
                kata / "checks.py": versions,
            }
            drawn[kata.name] = [chance.randrange(2) for _ in files]
            for (file, contents), one in zip(files.items(), drawn[kata.name], strict=True):
                _save(file, contents[one], in_place=chance.random() < 0.5)
        how = {"KATA_ISOLATION": "process"} if number % 2 else {}
        done = subprocess.run(ask, cwd=space, env=environment | how, capture_output=True, check=False)
        told = {report["kata"]: report["checks"][0]["status"] for report in json.loads(done.stdout)["katas"]}
        for name, draw in drawn.items():
            right = told[name] == ("fail" if sum(draw) % 2 else "pass")
            found["right" if right else "stale"] += 1
            if not right:
                print(f"round {number}, {name}: {draw} gave {told[name]}", file=sys.stderr)
        if number == 0:
            _wait()
        if number % 10 == 9:
            print(f"{number + 1} of {rounds}: {dict(found)}", file=sys.stderr)
    return found, sum(one.served for one in standing_by())


def _pack(folder: Path) -> Path:
    """Make a pack of the same kata so many times."""
    shutil.copytree(TINY, folder)
    first = folder / UNIT / SLUG
    settings = (first / "kata.toml").read_text()
    for number in range(1, KATAS + 1):
        copy = first.with_name(f"{SLUG}-{number:02}")
        shutil.copytree(first, copy)
        module = f"{MODULE}_{number:02}"
        (copy / "kata.toml").write_text(
            settings.replace('"1.1.1"', f'"1.1.{number}"').replace(
                f'module = "{MODULE}"', f'module = "{module}"'
            )
        )
        (copy / f"{MODULE}.py").rename(copy / f"{module}.py")
    shutil.rmtree(first)
    return folder


def _save(file: Path, content: str, *, in_place: bool) -> None:
    target = file if in_place else file.with_name(f".{file.name}.new")
    target.write_text(content)
    os.utime(target, (STAMP, STAMP))
    if not in_place:
        os.replace(target, file)


def _wait() -> None:
    """Wait until a process stands by."""
    until = time.monotonic() + PATIENCE_S
    while not standing_by():
        if time.monotonic() > until:
            raise SystemExit("no process came to stand by")
        time.sleep(0.1)


if __name__ == "__main__":
    main()
