"""Put generated sources to the scanner of submissions: none may make it stumble, and each is read within its steps.

python benchmarks/fuzz_sources.py --count 2000 --seed 1
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from grader.host.scan import MAX_SCANNED, MAX_STEPS, examined
from grader.host.source import Source

FORBID = ("torch.nn.functional.gelu", "torch.nn.GELU", "aten::_addmm_activation")
ROOTS = ("f", "Net")
HEAD = "import torch, sys, importlib\nimport torch.nn.functional as F\n"


def sources(seed: int, count: int) -> Iterator[tuple[str, bytes]]:
    """Yield what kind of source it is, and its bytes."""
    for number in range(count):
        rng = random.Random(seed * 1_000_003 + number)
        make = rng.choice(KINDS)
        text = HEAD + make(rng, rng.choice((3, 30, 300, 3000)))
        data = text.encode("utf-8", "surrogatepass")
        if rng.random() < 0.1:  # of another encoding, cut off, or no text at all
            data = rng.choice(
                (data[: rng.randrange(len(data))], b"\xff" + data, data.replace(b"f", b"\0", 1))
            )
        yield make.__name__.strip("_"), data[:MAX_SCANNED]


def _chain(rng: random.Random, n: int) -> str:
    lines = "".join(f"a{i + 1} = a{i}{rng.choice(('', '.nn', '.functional', '[0]'))}\n" for i in range(n))
    return f"a0 = torch\n{lines}def f(x): return a{n}.gelu(x)\n"


def _unpack(rng: random.Random, n: int) -> str:
    names = ", ".join(f"a{i}" for i in range(n))
    return f"{names} = range({n})\ndef f(x): return [{names}, F.gelu(x)]\n"


def _walrus(rng: random.Random, n: int) -> str:
    return "def f(x):\n    return [" + ", ".join(f"(a{i} := x)" for i in range(n)) + ", F.gelu(x)]\n"


def _stars(rng: random.Random, n: int) -> str:
    names = ", ".join(f"n{i} as m{i}" for i in range(n))
    return f"from torch.nn import *\nfrom torch import {names}\ndef f(x): return [{names.replace(' as ', '+')}]\n"


def _nested(rng: random.Random, n: int) -> str:
    depth = min(n, 90)
    lines = [f"{' ' * i}def f{i if i else ''}(x):\n" for i in range(depth)]
    return "".join(lines) + " " * depth + "return F.gelu(x)\n"


def _comprehensions(rng: random.Random, n: int) -> str:
    depth = min(n, 80)
    return (
        "def f(x): return "
        + "[" * depth
        + "F.gelu(x)"
        + "".join(f" for y{i} in x]" for i in range(depth))
        + "\n"
    )


def _match(rng: random.Random, n: int) -> str:
    cases = "".join(f"        case [a{i}, *b{i}, {{'k': c{i}, **d{i}}}]: x = a{i}\n" for i in range(n))
    return f"def f(x):\n    match x:\n{cases or '        case _: pass'}    return F.gelu(x)\n"


def _decorators(rng: random.Random, n: int) -> str:
    return "@F.gelu\n" * n + "class Net:\n    def forward(self, x): return x\n"


def _texts(rng: random.Random, n: int) -> str:
    return "def f(x): return getattr(F, " + " + ".join("'ge'" for _ in range(n)) + f")('{'é' * n}')\n"


def _brackets(rng: random.Random, n: int) -> str:
    left, right = rng.choice((("(", ")"), ("[", "]"), ("-", ""), ("not ", ""), ("lambda: ", ""), ("{", "}")))
    return f"def f(x): return {left * n * 10}x{right * n * 10}\n"


def _fstrings(rng: random.Random, n: int) -> str:
    return "def f(x): return f'" + "{x!r:>{x}}" * n + "'\n"


def _many(rng: random.Random, n: int) -> str:
    body = "".join(f"def g{i}(x): return g{i + 1}(x) if x else F.gelu\n" for i in range(n))
    return f"{body}def g{n}(x): return F.gelu(x)\ndef f(x): return g0(x)\n"


def _targets(rng: random.Random, n: int) -> str:
    return (
        " = ".join(f"é{i}" for i in range(n))
        + " = F\ndef f(x): return "
        + " + ".join(f"é{i}" for i in range(n))
        + "\n"
    )


def _scopes(rng: random.Random, n: int) -> str:
    kinds = (
        "global f",
        "x = 1",
        "class C: x = f",
        "try: x\n except E as e: e",
        "for y in x: y",
        "del x",
        "import os.path",
    )
    body = "".join(f" {rng.choice(kinds)}\n" for _ in range(n))
    return f"def f(x):\n{body} return F.gelu(x)\n"


KINDS: tuple[Callable[[random.Random, int], str], ...] = (
    _chain, _unpack, _walrus, _stars, _nested, _comprehensions, _match, _decorators, _texts, _brackets, _fstrings,
    _many, _targets, _scopes,
)  # fmt: skip


def run(seed: int, count: int) -> dict[str, object]:
    """Read them all and return what was slowest; whatever the scanner raises comes out here."""
    most = (0, "")
    slowest = (0.0, "")
    for kind, data in sources(seed, count):
        for name in ("answer.py", "answer.ipynb"):
            held = data
            if name.endswith("ipynb"):
                text = data.decode("utf-8", "replace")
                held = json.dumps({"cells": [{"cell_type": "code", "source": text}]}).encode()
            started = time.process_time()
            _, steps = examined(Source(Path(name), held), ROOTS, FORBID)
            slowest = max(slowest, (time.process_time() - started, kind))
            most = max(most, (steps, kind))
    return {"sources": 2 * count, "most_steps": most, "slowest_cpu_s": slowest, "budget": MAX_STEPS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    print(json.dumps(run(chosen.seed, chosen.count)))


if __name__ == "__main__":
    main()
