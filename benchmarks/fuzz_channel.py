"""Fuzz the channel: a worker that answers anything at all, against the grader's end of a real socket pair.

    python benchmarks/fuzz_channel.py --count 1000000       about ten minutes on two cores
    python benchmarks/fuzz_channel.py --count 20000 --seed 7
    python benchmarks/fuzz_channel.py --keep                and keep what is new in tests/hostile/channel.txt
    python benchmarks/fuzz_channel.py --write               and write the figures to docs/security.md

Every message is a valid answer that was mutated with knowledge of how it is built (`tests/hostile/messages.py`); what
comes out of the grader's end is used as checks use it. A fault is an exception that no submission may cause, a value
of no known kind, an answer that takes longer than HANG_S, a process that dies, memory or descriptors that grow.
"""

from __future__ import annotations

import base64
import ctypes
import gc
import hashlib
import importlib
import os
import random
import re
import secrets
import signal
import sys
import time
import traceback
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(1, str(Path(__file__).resolve().parent.parent))

import machine
import torch
from table import Figures, arguments, publish

from grader.files import write_atomic
from tests.hostile.messages import CLOSELY, COSTLY, Conversation, Stranger

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT / "tests" / "hostile" / "channel.txt"
HANG_S = 5.0
"""Of processor time: what the machine gives to others meanwhile is nobody's hang."""
STANDS_S = 60.0
"""Longest that one message may keep the grader, on a machine that does other things, too."""
_libc = ctypes.CDLL(None)
WARM = 25_000
"""Messages after which memory is looked at first: until then caches fill."""
PART = 125_000
"""Messages of one process."""
KEPT_BYTES = 4096
MOST = 240
GROWTH_MB = 16.0
"""What a part may grow by between its first and its last look; a leak of one byte in a hundred would be more."""


class Hung(Exception):
    """A message kept the grader too long."""


@dataclass
class Part:
    """What became of the messages of one process."""

    seed: int
    count: int = 0
    seconds: float = 0.0
    slowest_s: float = 0.0
    slowest: tuple[str, bytes, bool] = ("get", b"", True)
    """The message that took longest, as far as it is sent again."""
    steps: int = 0
    """How many functions were called for it, measured once more: the same on any machine."""
    grown_mb: float = 0.0
    descriptors: int = 0
    """How many more were open at the end."""
    outcomes: dict[str, tuple[int, str, bytes, bool]] = field(default_factory=dict)
    """By what happened: how often, and the shortest message that made it."""
    faults: list[str] = field(default_factory=list)


def part(seed: int, count: int, costly: float, closely: float) -> Part:
    """Send so many messages."""
    torch.set_num_threads(1)
    importlib.import_module("torch.fx.experimental.symbolic_shapes")  # torch does it at the first odd shape
    signal.signal(signal.SIGALRM, _hung)
    signal.signal(signal.SIGPROF, _hung)
    found = Part(seed)
    talk = Conversation(random.Random(seed), costly, closely)
    began, before, open_before = time.perf_counter(), 0.0, 0
    for number in range(count):
        if number == min(WARM, count // 2):
            before, open_before = _memory_mb(), _descriptors()
        at = time.perf_counter()
        signal.setitimer(signal.ITIMER_PROF, HANG_S)
        signal.setitimer(signal.ITIMER_REAL, STANDS_S)
        try:
            outcome = talk.step()
        except Exception:
            what, data, hang_up = talk.last
            found.faults.append(
                f"seed {seed}, message {number}, {what} {hang_up} {data.hex()}\n{traceback.format_exc()}"
            )
            talk.close()
            continue
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.setitimer(signal.ITIMER_PROF, 0)
            took = time.perf_counter() - at
            if took > found.slowest_s:
                found.slowest_s, found.slowest = took, talk.last
            found.count += 1
        often, what, data, hang_up = found.outcomes.get(outcome, (0, *talk.last))
        if len(talk.last[1]) < len(data) or not data:
            what, data, hang_up = talk.last
        if not hang_up or len(data) > KEPT_BYTES:
            data = b""
        found.outcomes[outcome] = often + 1, what, data, hang_up
    talk.close()
    found.seconds = time.perf_counter() - began
    found.steps = _steps(*found.slowest)
    found.grown_mb, found.descriptors = _memory_mb() - before, _descriptors() - open_before
    return found


def _steps(what: str, data: bytes, hang_up: bool) -> int:
    """Return how many functions are called while this message is read and used."""
    stranger, steps = Stranger(), 0

    def counted(frame: object, event: str, argument: object) -> None:
        nonlocal steps
        steps += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        stranger.exchange(what, data, hang_up=hang_up)
    finally:
        sys.setprofile(None)
        stranger.close()
    return steps


def _hung(number: int, frame: object) -> None:
    raise Hung


def _memory_mb() -> float:
    gc.collect()
    # What is free and glibc keeps is not a leak: after a large message it may be tens of megabytes.
    _libc.malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def fuzz(count: int, seed: int, jobs: int, costly: float, closely: float) -> list[Part]:
    """Send all messages, in processes of PART each.

    Raises:
        SystemExit: a process died.
    """
    sizes = [PART] * (count // PART) + ([count % PART] if count % PART else [])
    seeds = [seed + number for number in range(len(sizes))]
    found = []
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        try:
            for one in pool.map(partial(part, costly=costly, closely=closely), seeds, sizes):
                found.append(one)
                print(
                    f"{sum(each.count for each in found):,} messages, {len(one.faults)} faults",
                    *(fault[:80] + " … " + fault[-1500:] for fault in one.faults),
                    sep="\n",
                    file=sys.stderr,
                )
        except BrokenProcessPool:
            raise SystemExit(
                f"a process died; it had one of the seeds {seeds[len(found) : len(found) + jobs]}"
            ) from None
    return found


def keep(parts: list[Part]) -> int:
    """Keep the shortest message for every outcome that no kept one has; return how many are new."""
    known = dict(line.split() for line in CORPUS.read_text(encoding="ascii").splitlines())
    before = len(known)
    for one in parts:
        for outcome, (_, what, data, _) in one.outcomes.items():
            # One for each way to end, whatever had been asked; of values, one for each kind.
            kind = re.split(r"[\[(]| - at ", outcome.partition(" ")[2], maxsplit=2)
            name = f"{what}-{hashlib.sha256(' '.join(kind[:2])[:100].encode()).hexdigest()[:12]}"
            if data and name not in known and len(known) < MOST:
                known[name] = base64.b64encode(data).decode()
    write_atomic(CORPUS, "".join(f"{name} {message}\n" for name, message in sorted(known.items())))
    return len(known) - before


def figures(parts: list[Part], seconds: float, costly: float, closely: float) -> Figures:
    """Return the figures as a table."""
    faults = [fault for one in parts for fault in one.faults]
    hangs = sum("Hung" in fault for fault in faults)
    outcomes = {outcome for one in parts for outcome in one.outcomes}
    grown = max(one.grown_mb for one in parts)
    table = Figures(
        "Fuzzing the channel",
        "A hand-made worker's answers, mutated with knowledge of their structure, read by the grader's end and used as "
        f"a check does; {closely:.1%} are compared, described, located and drawn in every way. {costly:.1%} are made "
        "to cost much (keys of one hash, shared tensors, 64 axes, deep nesting, thousands of objects); steps of the "
        "slowest are calls of functions. "
        f"{len(parts)} processes, seeds {parts[0].seed} to {parts[-1].seed}. "
        f"Memory and descriptors: the process that grew most, from message {WARM:,} on.",
        [
            "messages",
            "crashes",
            "hangs",
            "misled",
            "slowest",
            "its steps",
            "growth",
            "descriptors",
            "outcomes",
            "time",
        ],
    )
    worst = max(parts, key=lambda one: one.slowest_s)
    misled = sum("Misled" in fault for fault in faults)
    table.rows.append(
        [
            f"{sum(one.count for one in parts):,}",
            str(len(faults) - hangs - misled),
            str(hangs),
            str(misled),
            f"{worst.slowest_s * 1000:.0f} ms",
            f"{worst.steps:,}",
            f"{grown:.1f} MB",
            str(max(one.descriptors for one in parts)),
            str(len(outcomes)),
            f"{seconds / 60:.1f} min",
        ]
    )
    return table


def main() -> None:
    """Fuzz, print, and write what was asked for."""
    parser = arguments(__doc__)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=None, help="of the first process; drawn without it")
    parser.add_argument("--jobs", type=int, default=machine.cores())
    parser.add_argument("--costly", type=float, default=COSTLY, help="share that is made to cost much")
    parser.add_argument("--closely", type=float, default=CLOSELY, help="share that is used in every way")
    parser.add_argument("--keep", action="store_true")
    chosen = parser.parse_args()
    seed = chosen.seed if chosen.seed is not None else secrets.randbelow(2**31)
    began = time.perf_counter()
    parts = fuzz(chosen.count, seed, chosen.jobs, chosen.costly, chosen.closely)
    table = figures(parts, time.perf_counter() - began, chosen.costly, chosen.closely)
    faults = [fault for one in parts for fault in one.faults]
    for fault in faults[:5]:
        print(fault)
    if chosen.keep:
        print(f"{keep(parts)} new messages in {CORPUS.relative_to(ROOT)}")
    command = (
        f"python benchmarks/fuzz_channel.py --count {chosen.count} --seed {seed} --jobs {chosen.jobs} "
        f"--costly {chosen.costly:g} --closely {chosen.closely:g}"
    )
    publish([table], "security.md", "fuzz", write=chosen.write, how=f"`{command}`")
    grown = [one.seed for one in parts if one.grown_mb > GROWTH_MB or one.descriptors > 0]
    if faults or grown:
        raise SystemExit(f"{len(faults)} faults; grew: seeds {grown}")


if __name__ == "__main__":
    main()
