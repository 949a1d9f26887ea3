"""What the scorer of the packages for Inspect and verifiers says of replies whose worth is known; for docs/proof.md.

    python benchmarks/proof.py                     a sample of the wrong answers; see docs/proof.md
    python benchmarks/proof.py --everything        all of them, and all right ones on all seeds
    python benchmarks/proof.py --only masks        replies to the katas whose names hold this
    python benchmarks/proof.py --write             and rewrite the table of docs/proof.md

A package is made and its scorer imported from it, so that replies take the way that those of a model take.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(1, str(Path(__file__).resolve().parent.parent))

from further import Watch
from table import Figures, arguments, publish

from grader import __version__
from grader.author.contracts import Contracts, Sabotage
from grader.catalogue import Kata, load_pack
from grader.engine.host.launcher import Launcher
from grader.engine.mistakes.mistakes import mistakes
from grader.engine.runner.suite import suites_of
from grader.extras.environments.environments import Framework, write_package
from tests import answers, ours
from tests.conftest import evenly
from tests.hostile.entries import HONEST, MODULES, WRONG, entries

ROOT = ours.ROOT
SEEDS = range(5)
CAPSTONES = ("language-model-capstone", "translator-capstone")
"""What they demand is also a log of training, which takes minutes to check."""
SMALL = ("self-attention", "masks", "layer-norm", "sampling")
REPEATED = (16, 56)
"""Replies of two runs: what the longer one takes more is the others' time, without that of starting. By the shorter
one's end a process has met each draw of a class."""


@dataclass(frozen=True, eq=False)
class Known:
    """A reply, and what it is worth at the most and at the least."""

    what: str
    kata: Kata
    code: str
    least: float = 0.0
    most: float = 0.0
    seed: int = 0
    wrapped: str = "```python\n{}\n```\n"
    """The reply around the code."""
    honest: frozenset[str] | None = None
    """Checks that give points which are its own, where points and not their share are looked at."""

    @property
    def reply(self) -> str:
        """What the model says."""
        return self.wrapped.replace("{}", self.code.rstrip("\n"))

    @property
    def expected(self) -> str:
        """What it is worth, in words."""
        if self.honest is not None:
            return "nothing unearned"
        return "1.0" if self.least == 1.0 else "less than 1.0" if self.most else "0"


def right(kata: Kata, seeds: Sequence[int], *, everything: bool) -> Iterator[Known]:
    """Yield the reference and the stub on all seeds, other right answers on one or on all."""
    assert kata.solution is not None
    for seed in seeds:
        yield Known("reference", kata, kata.solution.read_text(), 1.0, 1.0, seed)
        yield Known("stub", kata, kata.stub.read_text(), seed=seed)
    others = [file.read_text() for file in kata.alternatives]
    if everything:
        others += [answer.text for answer in answers.right(kata)]
    elif kata.slug in CAPSTONES:
        others = []
    for place, text in enumerate(others):
        for seed in seeds if everything else [seeds[place % len(seeds)]]:
            yield Known("other right answer", kata, text, 1.0, 1.0, seed)


def wrong(kata: Kata, sabotaged: Sequence[Sabotage], most: int) -> Iterator[Known]:
    """Yield so many catalogued mistakes, and so many of what breaks one property of one part."""
    texts = [("catalogued mistake", one.text) for one in evenly(mistakes(kata), most)]
    texts += [("saboteur", one.text) for one in evenly(sabotaged, most)]
    for place, (what, text) in enumerate(texts):
        yield Known(what, kata, text, most=1.0 - 1e-9, seed=place % len(SEEDS))


def sabotages(kata: Kata, launcher: Launcher) -> list[Sabotage]:
    """Return what breaks one property of one part, without that for which `contracts.toml` has a reason."""
    found: list[Sabotage] = []

    def note(every: list[Sabotage]) -> list[Sabotage]:
        found.extend(every)
        return []  # they are handed in as replies, and not here

    with suites_of([kata], hidden=True) as suites:
        contracts = Contracts(kata, suites[kata.slug], launcher)
        contracts.cells(draw=note)
    reasons = contracts.reasons
    return [one for one in found if not {one.name, one.breaks} & reasons.get(one.part, {}).keys()]


def hostile() -> Iterator[Known]:
    """Yield those hostile submissions that are text as replies, with the wrong answer inside that they import."""
    tiny = load_pack(ROOT / "tests/packs/tiny")
    katas = ours.katas() | {kata.slug: kata for kata in tiny.katas}
    for entry in entries():
        if not entry.main.endswith(".py") or b"\0" in entry.files[entry.main]:
            continue
        code = entry.files[entry.main].decode(errors="replace")
        # A reply is one file, so the wrong answer that it adds to is part of it.
        code = code.replace("from wrong import *\n", WRONG[MODULES[entry.kata]])
        honest = HONEST[entry.kata] | entry.expected("full").earns
        yield Known("hostile", katas[entry.kata], code, honest=frozenset(honest), seed=7)


def wrapped(kata: Kata) -> Iterator[Known]:
    """Yield a right and a wrong answer as models write them."""
    assert kata.solution is not None
    code, stub = kata.solution.read_text(), kata.stub.read_text()
    ways = {
        "line ends of Windows": ("```python\r\n{}\r\n```\r\n", code.replace("\n", "\r\n")),
        "prose around it": ("Think: `x = 1`.\n\n```py\n{}\n```\n\nThis is right; see ``y``.\n", code),
        "a draft before it": (f"```python\n{stub}\n```\nBetter:\n\n```python\n{{}}\n```\n", code),
        "in a list": ("1. So:\n\n   ```python\n{}\n   ```\n", code),
        "no fence": ("{}\n", code),
    }
    for way, (around, text) in ways.items():
        yield Known(f"right, {way}", kata, text, 1.0, 1.0, wrapped=around)
    yield Known(
        "wrong after right", kata, stub, wrapped=f"```python\n{code}\n```\nOr:\n```python\n{{}}\n```\n"
    )
    # Byte code of the right one would be taken for that of a file of the same name, size and time.
    yield Known("wrong, as long as the right one", kata, f"{stub}\n#".ljust(len(code), "-"))


def scorer(framework: Framework, katas: Sequence[Kata], place: Path) -> Any:
    """Return the module that scores, from a package made for this."""
    pack = load_pack(ROOT / "katas")
    write_package(framework, pack, katas, place / framework, __version__)
    path = place / framework / f"kata_{framework}" / "scoring.py"
    spec = importlib.util.spec_from_file_location(f"scoring_{framework}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def troubles(scoring: Any, known: Sequence[Known]) -> dict[Known, str]:
    """Grade replies, those of one seed in one run; return what became of those that are not worth what they should."""
    found = {}
    for seed in sorted({one.seed for one in known}):
        some = [one for one in known if one.seed == seed]
        replies = [scoring.ModelReply(one.kata.slug, one.kata.module, one.reply) for one in some]
        began = time.monotonic()
        scoring.grade(replies, "--seed", str(seed))
        print(
            f"seed {seed}: {len(some)} replies, {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True
        )
        for one, reply in zip(some, replies, strict=True):
            if (trouble := wanting(one, reply.report)) is not None:
                found[one] = f"{one.kata.slug}, {one.what}, seed {seed}: {trouble}"
    return found


def wanting(one: Known, report: dict[str, Any] | None) -> str | None:
    """Return what is not as it should be."""
    if report is None:
        return "not graded"
    if one.honest is not None:
        forged = {check["id"] for check in report["checks"] if check["points"]} - one.honest
        return f"points for {', '.join(sorted(forged))}" if forged else None
    share = report["score"] / report["max_score"]
    if one.least <= share <= one.most:
        return None
    lost = [f"{check['id']}: {check['message']}" for check in report["checks"] if check["message"]]
    return f"{share:.3f}, and not {one.least:g} to {one.most:.3g}; {' / '.join(lost[:1])}"


def throughput(scoring: Any, kata: Kata) -> tuple[float, float]:
    """Return verdicts a second of processor time, and a second of one process, once it is warm."""
    assert kata.solution is not None
    code, times = kata.solution.read_text(), []
    for count in REPEATED:
        # Every text differs: equal ones would be graded once.
        texts = [f"{code}\n# {number} of {count}\n" for number in range(count)]
        replies = [scoring.ModelReply(kata.slug, kata.module, text) for text in texts]
        # Nobody waits for a fork server, so that the kernel adds its time to nobody's.
        began, watch = time.monotonic(), Watch(os.getpid(), whole=True)
        scoring.grade(replies, "-j", "1")
        times.append((watch.stop(), time.monotonic() - began))
        assert all(reply.report["status"] == "pass" for reply in replies)
    more = REPEATED[1] - REPEATED[0]
    return more / (times[1][0] - times[0][0]), more / (times[1][1] - times[0][1])


def known_replies(katas: Sequence[Kata], launcher: Launcher, *, everything: bool) -> Iterator[Known]:
    """Yield all replies but the hostile ones."""
    sabotaged = katas if everything else evenly(katas, 8)
    for kata in katas:
        # Each answer to a capstone trains for a minute.
        quick = everything or kata.slug not in CAPSTONES
        yield from right(kata, [*SEEDS] if quick else [0], everything=everything)
        if quick:
            broken = sabotages(kata, launcher) if kata in sabotaged else []
            yield from wrong(kata, broken, 10_000 if everything else 2)
        if kata.slug == SMALL[1]:
            yield from wrapped(kata)


def main() -> None:
    """Grade, print, and write what was asked for."""
    parser = arguments(__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--everything", action="store_true")
    asked = parser.parse_args()
    from grader.engine.host.bootstrap import start_launcher

    os.environ |= {"KATA_PACKS": str(ROOT / "tests/packs/tiny"), "KATA_SOLUTIONS": str(ROOT / "solutions")}
    began = time.monotonic()
    katas = [kata for slug, kata in ours.katas().items() if asked.only in slug]
    table = Figures("Replies", "", ["reply", "katas", "graded", "expected", "otherwise"])
    speed = Figures("Speed", "", ["kata", "verdicts a second of processor", "of one process"])
    with tempfile.TemporaryDirectory() as place:
        scoring = scorer("inspect", katas, Path(place))
        # First, since hours of other work come and go.
        for slug in SMALL:
            if asked.only in slug:
                speed.rows.append([slug, *(f"{one:.1f}" for one in throughput(scoring, ours.katas()[slug]))])
        with closing(start_launcher(many=True)) as launcher:
            known = list(known_replies(katas, launcher, everything=asked.everything))
        known += [one for one in hostile() if asked.only in one.kata.slug]
        found = troubles(scoring, known)
        for kind in dict.fromkeys(one.what for one in known):
            some = [one for one in known if one.what == kind]
            counts = (len({one.kata.slug for one in some}), len(some))
            bad = sum(one in found for one in some)
            table.rows.append([kind, *map(str, counts), some[0].expected, str(bad)])
    how = f"`make proof`, {(time.monotonic() - began) / 60:.0f} minutes"
    publish([table, speed], "proof.md", "proof", write=asked.write, how=how)
    if found:
        raise SystemExit("\n".join(found.values()))


if __name__ == "__main__":
    main()
