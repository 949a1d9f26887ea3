"""How good are our own tests? Mutate modules that decide, and count which mutants their tests catch.

    .venv/bin/python benchmarks/mutation.py grader/timing/decision.py    a drawn sample of a module's mutants, printed
    .venv/bin/python benchmarks/mutation.py --all --write    every mutant, into docs/benchmarks.md; an hour on two cores
    .venv/bin/python benchmarks/mutation.py --all --write --before    the same modules before the folders were drawn

The mutants are cosmic-ray's (`make mutation` installs it), without those that differ in annotations
alone. Each is put into a copy of the repository, where the tests of that module run until the first fails.
What was found, every survivor with it, is kept in mutation.json, module by module.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import random
import select
import signal
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path

import pytest
from curriculum import automatic_mutants
from table import Figures, arguments, publish

from grader.files import write_atomic

ROOT = Path(__file__).resolve().parent.parent
RECORD = Path(__file__).with_suffix(".json")
NOW, BEFORE = "HEAD", "2209db5"


@dataclass(frozen=True)
class Module:
    """A module that decides, and the tests that are held against it."""

    file: str
    tests: Sequence[str]


MODULES = {
    "does speed suffice": {
        BEFORE: Module("grader/timing/decision.py", ["tests/timing/test_decision.py"]),
        NOW: Module("grader/timing/decision.py", ["tests/timing/test_decision.py"]),
    },
    "a check's verdict": {
        BEFORE: Module("grader/checks/outcome.py", ["tests/checks/test_suite.py"]),
        NOW: Module(
            "grader/running/outcome.py", ["tests/running/test_outcome.py", "tests/running/test_suite.py"]
        ),
    },
    "what a learner has passed": {
        BEFORE: Module("grader/workspace/progress.py", ["tests/workspace/test_progress.py"]),
        NOW: Module("grader/workspace/progress.py", ["tests/workspace/test_progress.py"]),
    },
    "what lateness costs": {
        BEFORE: Module("grader/gradebook/lateness.py", ["tests/gradebook/test_lateness.py"]),
        NOW: Module("grader/gradebook/lateness.py", ["tests/gradebook/test_lateness.py"]),
    },
    "what an answer may hold": {
        BEFORE: Module(
            "grader/boundary/codec.py",
            ["tests/boundary/test_bounds.py", "tests/boundary/test_hostile_worker.py"],
        ),
        NOW: Module(
            "grader/wire/messages.py", ["tests/wire/test_bounds.py", "tests/host/test_hostile_worker.py"]
        ),
    },
    "which attempt counts": {
        NOW: Module("grader/gradebook/counting.py", ["tests/gradebook/test_counting.py"]),
    },
}
"""What each module decides, as it was and as it is."""
SAMPLE = 40
TIMEOUT_S = 90
"""Of a mutant that loops; whoever is that slow is caught."""
IMPORTED_ONCE = ("numpy", "torch", "hypothesis", "msgspec", "rich", "sqlalchemy", "click")
"""What tests import of others' and no mutant changes: a fork has it already."""
OURS = ("grader", "tests", "kata", "conftest")


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--all", action="store_true", help="every mutant")
    parser.add_argument("--before", action="store_true", help=f"as they were at {BEFORE}")
    parser.add_argument("--sample", type=int, default=SAMPLE, help="so many of each module's")
    parser.add_argument("--seed", type=int, default=0, help="what the sample is drawn by")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="mutants tried side by side")
    parser.add_argument("files", nargs="*", help="of the modules; all where none is named")
    chosen = parser.parse_args()
    revision = BEFORE if chosen.before else NOW
    record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.is_file() else {}
    for name in IMPORTED_ONCE:
        importlib.import_module(name)
    for what, versions in MODULES.items():
        module = versions.get(revision)
        if module is None or (chosen.files and module.file not in chosen.files):
            continue
        found = tried(module, revision, None if chosen.all else chosen.sample, chosen)
        record.setdefault(what, {})[revision] = found
        print(f"{module.file}: {found['caught']} of {found['tried']} caught", file=sys.stderr)
        for survivor in found["survivors"]:
            print(f"  survived: {survivor}", file=sys.stderr, flush=True)
        if chosen.write:
            write_atomic(RECORD, json.dumps(record, indent=1, ensure_ascii=False) + "\n")
    text = (
        "cosmic-ray's mutants of modules that decide, all or a drawn sample, caught by the tests that the script "
        f"names, before the folders were drawn ({BEFORE}) and now."
    )
    columns = ("what it decides", "module", "caught before", "score", "caught now", "score")
    rows = [row_of(what, record[what]) for what in MODULES if what in record]
    publish(
        [Figures("Caught by our tests", text, columns, rows)], "benchmarks.md", "mutation", write=chosen.write
    )


def row_of(what: str, found: dict) -> list[str]:
    """Return a module's line of the table."""
    row = [what, f"`{MODULES[what][NOW].file}`"]
    for revision in (BEFORE, NOW):
        one = found.get(revision)
        row += (
            [f"{one['caught']} of {one['tried']}", f"{one['caught'] / one['tried']:.0%}"] if one else ["", ""]
        )
    return row


def tried(module: Module, revision: str, sample: int | None, chosen) -> dict:
    """Return how many mutants of a module its tests catch, and which they do not."""
    with ProcessPoolExecutor(chosen.jobs, get_context("fork"), begin, (revision, module)) as pool:
        if not all(pool.map(passes_as_it_is, range(chosen.jobs))):
            raise SystemExit(f"{module.file}: its tests fail before anything is mutated")
        mutants = list(automatic_mutants(text_at(revision, module.file)))
        if sample is not None:
            mutants = random.Random(chosen.seed).sample(mutants, min(sample, len(mutants)))
        survived = list(pool.map(survives, [text for _, text in mutants]))
    survivors = [change for (change, _), one in zip(mutants, survived, strict=True) if one]
    found = {"tried": len(mutants), "caught": len(mutants) - len(survivors), "survivors": survivors}
    return {"module": asdict(module), **found}


def text_at(revision: str, file: str) -> str:
    return subprocess.run(
        ["git", "show", f"{revision}:{file}"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout


def begin(revision: str, module: Module) -> None:
    """Copy what is committed for one process of the pool: a run that is broken off leaves no mutant in our own tree."""
    global COPY, MODULE
    COPY, MODULE = tempfile.TemporaryDirectory(), module
    packed = subprocess.run(["git", "archive", revision], cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(COPY.name, filter="data")
    # By their hashes: a mutant may be as long as the module, and be written in the same second.
    compiled = [
        sys.executable,
        "-m",
        "compileall",
        "-q",
        "--invalidation-mode",
        "checked-hash",
        "grader",
        "tests",
    ]
    subprocess.run(compiled, cwd=COPY.name, check=False)


def passes_as_it_is(_: int) -> bool:
    return passes()


def survives(text: str) -> bool:
    """Tell whether all tests of the module pass on a mutant of it."""
    file = Path(COPY.name) / MODULE.file
    kept = file.read_text(encoding="utf-8")
    file.write_text(text, encoding="utf-8")
    try:
        return passes()
    finally:
        file.write_text(kept, encoding="utf-8")


def passes() -> bool:
    """Tell whether all tests of the module pass in the copy, in a fork that has others' modules already."""
    child = os.fork()
    if not child:
        os._exit(run())
    with open(os.pidfd_open(child), "rb", buffering=0) as ended:
        in_time = bool(select.select([ended], [], [], TIMEOUT_S)[0])
        os.killpg(child, signal.SIGKILL) if not in_time else None
    _, status = os.waitpid(child, 0)
    return in_time and os.waitstatus_to_exitcode(status) == 0


def run() -> int:
    """Run the module's tests in this process, the copy's own code and nothing printed, and return pytest's code."""
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.chdir(COPY.name)
    for name in [name for name in sys.modules if name.split(".")[0] in OURS]:
        del sys.modules[name]
    sys.path[:] = [
        COPY.name,
        *(path for path in sys.path if Path(path).resolve() not in (ROOT, ROOT / "benchmarks")),
    ]
    os.environ["PYTHONPATH"] = COPY.name
    try:
        return int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "--rootdir", COPY.name, *MODULE.tests]))
    except BaseException:  # a mutant may end everything
        return 1


if __name__ == "__main__":
    main()
