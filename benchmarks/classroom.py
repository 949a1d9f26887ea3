"""Generate a class: submissions made from references, alternatives, mutants and stubs, and a few that are hostile.

Lays out `FOLDER/<learner>/<module>.py`. The same arguments give the same bytes. Every two hundred learners are the same
mix in another order, so that a class of 2,000 differs from one of 200 in nothing but its size; no two files are equal.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

from grader.catalogue import Kata
from grader.running.mistakes import mistakes

BLOCK = 200
"""Learners after which the mix repeats."""
HOSTILE = 0.02
SHARES = {"right": 0.45, "mutant": 0.40, "stub": 0.13}
"""Of a block; hostile ones are the rest."""

HOSTILE_ENDINGS = {
    "loop": "\nwhile True:\n    pass\n",
    "exit": "\nraise SystemExit(0)\n",
    "die": "\nimport os\n\nos._exit(0)\n",
    "crash": "\nimport ctypes\n\nctypes.string_at(0)\n",
}
"""What stands after a right answer, and runs at import."""


@dataclass(frozen=True)
class Answer:
    """The text of a module and what it is made from."""

    kind: str
    text: str


def answers(kata: Kata) -> dict[str, list[Answer]]:
    """Return the kata's answers by share: right, mutant, stub, hostile."""
    reference = right(kata)
    texts = [path.read_text(encoding="utf-8") for path in kata.alternatives]
    return {
        "right": [reference, *(Answer("right", text) for text in texts)],
        "mutant": [Answer("mutant", mistake.text) for mistake in mistakes(kata)],
        "stub": [Answer("stub", kata.stub.read_text(encoding="utf-8"))],
        "hostile": [Answer(kind, reference.text + ending) for kind, ending in HOSTILE_ENDINGS.items()],
    }


def right(kata: Kata) -> Answer:
    """Return the reference."""
    if kata.solution is None:
        raise SystemExit(f"there is no solution of {kata.slug} here, so no class can be made of it")
    return Answer("right", kata.solution.read_text(encoding="utf-8"))


def honest(kata: Kata) -> list[Answer]:
    """Return every honest answer once: the mix that other graders get."""
    found = answers(kata)
    return [*found["right"], *found["mutant"], *found["stub"]]


def drawn(kata: Kata, count: int, seed: int, hostile: float = HOSTILE) -> Iterator[Answer]:
    """Yield so many answers in the order of a seed; every BLOCK of them is the same mix."""
    found, size = answers(kata), min(BLOCK, count)
    quotas = {name: round(share * size) for name, share in SHARES.items()}
    quotas["hostile"] = round(hostile * size)
    quotas["right"] = size - sum(quota for name, quota in quotas.items() if name != "right")
    mix = [answer for name, quota in quotas.items() for answer in islice(cycle(found[name]), quota)]
    order = random.Random(f"{seed} {kata.slug}")
    while count > 0:
        block = order.sample(mix, size)
        yield from block[:count]
        count -= size


def learner(number: int) -> str:
    """Return a learner's name."""
    return f"learner-{number:04d}"


def write(folder: Path, name: str, kata: Kata, answer: Answer) -> Path:
    """Write one answer; a last line with the learner's name makes it differ from all others."""
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    file = place / f"{kata.module}.py"
    file.write_text(f"{answer.text}\n# {name}\n", encoding="utf-8")
    return file


def generate(
    folder: Path, katas: Sequence[Kata], count: int, seed: int, hostile: float = HOSTILE
) -> Counter[str]:
    """Write a class; return how many answers there are of each kind."""
    kinds: Counter[str] = Counter()
    for kata in katas:
        for number, answer in enumerate(drawn(kata, count, seed, hostile), 1):
            write(folder, learner(number), kata, answer)
            kinds[answer.kind] += 1
    return kinds
