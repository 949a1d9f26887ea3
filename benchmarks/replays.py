"""Marks made again: does the kept submission, with the kept seed, come to the same mark?

    python benchmarks/replays.py                        100 replays, some 2 minutes
    python benchmarks/replays.py --count 1000 --write   and rewrite the table of docs/security.md

Grades right answers, catalogued mistakes, stubs and noisy answers, whose numbers and addresses differ from run to
run, each with a seed of its own; then makes every mark again, at grading processes that are started once a kata.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import classroom
from rich.progress import Progress
from table import Figures, arguments, publish

from grader.catalogue import Catalogue, Kata
from grader.gradebook.records import Attempt, Key
from grader.grading.cache_key import seed_for
from grader.grading.processes import grading_processes
from grader.grading.replay import Replay, mark_again, setup_and_grade
from grader.grading.run import RunPolicy
from grader.reports.style import console
from grader.submissions.submission import Bundle

KATAS = ("masks", "masked-attention", "layer-norm", "feed-forward")
SHARES = {"right": 0.3, "mutant": 0.4, "stub": 0.05, "noisy": 0.25}
NOISE = {
    "uninitialised": "return torch.empty(257)[: torch.randint(250, (1,)).item() + 1]",
    "of the clock": "return torch.full((3, 3), time.time())",
    "raises an address": 'raise ValueError(f"{object()} at {time.time()}")',
    "prints": "print(object(), time.time(), os.urandom(3)); return torch.zeros(3, 3)",
    "of the system": "return torch.tensor([float(byte) for byte in os.urandom(9)]).reshape(3, 3)",
}
"""What every function does instead."""


@dataclass(frozen=True)
class Handed:
    """One submission, to be graded and graded again."""

    kata: Kata
    kind: str
    bundle: Bundle
    seed: int


def noisy(kata: Kata, body: str) -> str:
    """Return an answer whose names all do `body`."""
    text = "import os, time\nimport torch\n\n\ndef _noise(*_arguments, **_options):\n    " + body + "\n\n\n"
    return text + "\n".join(f"{name} = _noise" for name in kata.required) + "\n"


def handed_in(count: int, seed: int) -> list[Handed]:
    """Return so many submissions, the same for the same seed."""
    catalogue = Catalogue.discover()
    chance = random.Random(seed)
    made = []
    for number in range(count):
        kata = catalogue.resolve_one(KATAS[number % len(KATAS)])
        kind = chance.choices(list(SHARES), list(SHARES.values()))[0]
        if kind == "noisy":
            text = noisy(kata, chance.choice(list(NOISE.values())))
        else:
            text = chance.choice(classroom.answers(kata)[kind]).text
        files = {f"{kata.module}.py": f"{text}\n# {number}\n".encode()}
        bundle = Bundle(f"{kata.module}.py", files)
        made.append(Handed(kata, kind, bundle, seed_for(bytes(32), kata.slug, bundle.digest, None)))
    return made


def again(one: Handed, policy: RunPolicy) -> Callable[[], Replay]:
    """Grade a submission; return what grades it again and compares."""
    report = setup_and_grade(one.kata, policy, one.seed, one.bundle)
    now = datetime.now(UTC)
    attempt = Attempt(
        id=1,
        run=1,
        learner="ada",
        kata=one.kata.slug,
        key=Key(one.bundle.digest, ""),
        report=report,
        submitted_at=None,
        graded_at=now,
    )
    return lambda: mark_again(attempt, one.bundle, one.kata, policy)


def main() -> None:
    """Measure, show, and write."""
    parser = arguments(__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    began = time.monotonic()
    found: Counter[tuple[str, bool]] = Counter()
    steady: Counter[str] = Counter()
    submissions = handed_in(options.count, options.seed)
    policy = RunPolicy()
    with (
        grading_processes(),
        ThreadPoolExecutor(options.jobs) as pool,
        Progress(console=console(stderr=True)) as bar,
    ):
        line = bar.add_task("graded", total=len(submissions))
        replays = []
        # Kata after kata: grading processes are kept for one set-up.
        for slug in KATAS:
            own = [one for one in submissions if one.kata.slug == slug]
            for one, ready in zip(own, pool.map(lambda one: again(one, policy), own), strict=True):
                replays.append((one, ready))
                bar.advance(line)
        line = bar.add_task("made again", total=len(submissions))
        for slug in KATAS:
            own_again = [pair for pair in replays if pair[0].kata.slug == slug]
            random.Random(options.seed).shuffle(own_again)
            for (one, _), outcome in zip(own_again, pool.map(lambda pair: pair[1](), own_again), strict=True):
                found[one.kind, not outcome.differences] += 1
                steady[one.kind] += not outcome.differences and not outcome.unsteady
                for difference in outcome.differences:
                    bar.console.print(
                        f"{one.kata.slug}, {one.kind}: {difference}", markup=False, highlight=False
                    )
                bar.advance(line)
    figures = Figures(
        "Marks made again",
        f"{options.count} marks of {len(KATAS)} katas, each with a seed of its own, made again from what is kept. "
        "Equal: status, points and mistake of every check, and its message without the numbers in it. *To the number*: "
        "also what the messages quote and where the first difference is; noisy answers change that themselves. "
        f"`python benchmarks/replays.py --count {options.count} --write`",
        ("answers", "replays", "equal", "to the number"),
    )
    for kind in SHARES:
        same, other = found[kind, True], found[kind, False]
        figures.rows.append((kind, str(same + other), str(same), str(steady[kind])))
    same = sum(count for (_, equal), count in found.items() if equal)
    figures.rows.append(("all", str(sum(found.values())), str(same), str(steady.total())))
    took = f"{time.monotonic() - began:.0f} s with {options.jobs} jobs"
    publish([figures], "security.md", "replays", write=options.write, how=took)
    sys.exit(0 if same == sum(found.values()) else 1)


if __name__ == "__main__":
    main()
