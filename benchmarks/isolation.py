"""What a submission pays for its isolation: a worker from fork to greeting and its end, at each level, in turns.

python benchmarks/isolation.py              200 workers a level, under a minute
python benchmarks/isolation.py --write      and rewrite the table of docs/security.md
"""

from __future__ import annotations

import os
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import torch
from table import Figures, arguments, publish, verdict

from grader.engine import sandbox
from grader.engine.host.channel import Channel
from grader.engine.host.deadline import Deadline
from grader.engine.host.launcher import ForkLauncher, WorkerConfig
from grader.engine.sandbox.levels import LEVELS, VARIABLE

GOAL_MS = 10.0


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    chosen = parser.parse_args()
    torch.set_num_threads(1)  # no thread may exist when a zygote forks
    offered = [level for level in LEVELS if sandbox.reaches(sandbox.probe().level, level)]
    launchers: dict[str, ForkLauncher] = {}
    for level in offered:
        os.environ[VARIABLE] = level
        launchers[level] = ForkLauncher()
    os.environ.pop(VARIABLE)
    starts: dict[str, list[float]] = {level: [] for level in offered}
    ends: dict[str, list[float]] = {level: [] for level in offered}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "answer.py").write_text("x = 1\n")
        for _ in range(chosen.rounds):
            for level in random.sample(offered, len(offered)):
                began = time.perf_counter()
                channel = Channel(launchers[level].launch(WorkerConfig((folder,), 2 << 30)))
                reached = channel.hello(Deadline(30))
                greeted = time.perf_counter()
                channel.close()
                ends[level].append((time.perf_counter() - greeted) * 1000)
                starts[level].append((greeted - began) * 1000)
                if reached != level:
                    raise SystemExit(f"a worker reached {reached}, not {level}")
    for launcher in launchers.values():
        launcher.close()
    publish([_table(starts, ends, chosen.rounds)], "security.md", "isolation", write=chosen.write)


def _table(starts: dict[str, list[float]], ends: dict[str, list[float]], rounds: int) -> Figures:
    figures = Figures(
        "Cost of isolation",
        f"Milliseconds of {rounds} workers a level, started in turns: from the request to the greeting, and from the "
        f"kill until nothing is left. Medians, quartiles in brackets; what a level costs over *process* is the median "
        f"difference within a turn. Goal: at most {GOAL_MS:g} ms. `python benchmarks/isolation.py --write`",
        ("level", "start", "end", "over process", "goal kept"),
    )
    base = [start + end for start, end in zip(starts["process"], ends["process"], strict=True)]
    for level in starts:
        whole = (start + end for start, end in zip(starts[level], ends[level], strict=True))
        extra = statistics.median(one - other for one, other in zip(whole, base, strict=True))
        cost = ("", "") if level == "process" else (f"{extra:+.1f}", verdict(extra, GOAL_MS))
        figures.rows.append((level, _spread(starts[level]), _spread(ends[level]), *cost))
    return figures


def _spread(values: list[float]) -> str:
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return f"{middle:.1f} ({low:.1f} to {high:.1f})"


if __name__ == "__main__":
    main()
