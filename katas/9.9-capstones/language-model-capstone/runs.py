"""The runs of the capstone: `python runs.py` trains them with your `train`, and logs them.

It writes log.csv next to this file, prints where each run ended, and puts the log's text at the end of
language_model.py, as `LOG`; one that is there is replaced.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

STEPS = 150
SEED = 1
STORIES = 200
"""The text: the first so many stories of story.py."""
RUNS: dict[str, dict[str, Any]] = {
    "base": {},
    "base-2": {},
    "base-3": {},
    "base-4": {},
    "no-warmup": {"warmup": 0},
    "norm-last": {"norm": "last"},
    "norm-last-no-warmup": {"norm": "last", "warmup": 0},
    "no-positions": {"positions": False},
    "one-layer": {"num_layers": 1},
    "four-layers": {"num_layers": 4},
}
"""What `train` is given besides text, steps and seed. The base runs differ in their seed alone."""
LOGGED = (*range(1, 9), *range(10, STEPS + 1, 5))
"""The steps that are logged: the first ones all, then every fifth."""
HEADER = "run,seed,step,loss,rate"


def seed_of(run: str) -> int:
    """Return the seed of a run: base-2 has 2, and so on; the others have that of base."""
    return int(run.removeprefix("base-")) if run.startswith("base-") else SEED


def end_of(rows: list[tuple[int, float, float]]) -> float:
    """Return where a run ends: the mean of its last four logged losses."""
    losses = [loss for step, loss, _ in rows if step in LOGGED]
    return sum(losses[-4:]) / 4


def lines_of(run: str, rows: list[tuple[int, float, float]]) -> list[str]:
    """Return a run's lines of the log."""
    return [
        f"{run},{seed_of(run)},{step},{loss:.4f},{rate:.4g}" for step, loss, rate in rows if step in LOGGED
    ]


def put(text: str, module: Path) -> None:
    """Put the log at the end of a module, in place of the one that is there."""
    kept = re.sub(r'\n*^LOG = """.*?"""\n', "\n", module.read_text(encoding="utf-8"), flags=re.M | re.S)
    module.write_text(f'{kept.rstrip()}\n\n\nLOG = """\\\n{text}"""\n', encoding="utf-8")


def main() -> None:
    """Train all runs and log them."""
    import language_model
    from story import CHARACTERS, encode, text

    tokens, here = encode(text(0, STORIES)), Path(__file__).parent
    lines, ends = [HEADER], {}
    for run, settings in RUNS.items():
        _, rows = language_model.train(tokens, len(CHARACTERS), STEPS, seed_of(run), **settings)
        lines += lines_of(run, rows)
        ends[run] = end_of(rows)
        print(f"{run:20} first {rows[0][1]:.4f}   mean of the last four logged {ends[run]:.4f}", flush=True)
    base = [end for run, end in ends.items() if run.startswith("base")]
    print(f"base runs: mean {sum(base) / len(base):.4f}, spread {max(base) - min(base):.4f}")
    log = "\n".join(lines) + "\n"
    (here / "log.csv").write_text(log, encoding="utf-8")
    put(log, here / "language_model.py")


if __name__ == "__main__":
    main()
