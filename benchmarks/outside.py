"""How many of our catalogued mistakes pass the tests that others publish; for docs/outside.md.

    python benchmarks/outside.py ~/outside            where TorchCode and assignment1-basics have been cloned
    python benchmarks/outside.py ~/outside --write    and rewrite the table of docs/outside.md

A mistake is a whole module, handed in under their names by a shim. It passes when all tests of the task pass. These
run in processes of their own and nothing else holds them: read them before.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import multiprocessing
import os
import resource
import sys
import time
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(1, str(Path(__file__).resolve().parent.parent))

import pytest
import torch
from published import cs336, torchcode
from table import Figures, arguments, publish

from grader.catalogue import Kata, load_pack
from grader.engine.mistakes.mistakes import mistakes

ROOT = Path(__file__).resolve().parent.parent
PATIENCE_S = 60
"""Processor seconds that the tests of a task may take with one answer; who takes longer has not passed.

No other limit is there to fail an answer because the machine is busy: AdamW's right one took 53 s of a loaded clock.
"""
STUCK_S = 900.0
"""Seconds of the clock after which an answer that waits for something is given up."""
SOURCES = {
    "TorchCode": "git clone https://github.com/duoan/TorchCode",
    "assignment1-basics": "git clone https://github.com/stanford-cs336/assignment1-basics",
}


@dataclass(frozen=True)
class Part:
    """A part of a kata that others ask for as well."""

    title: str
    kata: str
    names: tuple[str, ...]
    """What a mistake changes that belongs to this part."""
    task: str = ""
    """TorchCode's name for it."""
    tests: tuple[str, ...] = ()
    """CS336's."""


PARTS = (
    Part("AdamW", "optimizer", ("AdamW",), "adam", ("test_optimizer.py::test_adamw",)),
    Part(
        "gradient clipping",
        "optimizer",
        ("clip_gradients",),
        "gradient_clipping",
        ("test_nn_utils.py::test_gradient_clipping",),
    ),
    Part(
        "warm-up and cosine",
        "optimizer",
        ("warmup_cosine",),
        "cosine_lr",
        ("test_optimizer.py::test_get_lr_cosine_schedule",),
    ),
    Part("rotary positions", "rotary-positions", ("rotate",), "rope", ("test_model.py::test_rope",)),
    Part(
        "scaled dot product",
        "masked-attention",
        ("scaled_dot_product_attention",),
        "attention",
        (
            "test_model.py::test_scaled_dot_product_attention",
            "test_model.py::test_4d_scaled_dot_product_attention",
        ),
    ),
    Part(
        "multi-head attention",
        "masked-attention",
        ("MultiHeadAttention",),
        "mha",
        ("test_model.py::test_multihead_self_attention",),
    ),
    Part("layer norm", "layer-norm", ("LayerNorm",), "layernorm"),
    Part("RMSNorm", "modern-block", ("RMSNorm",), "rmsnorm", ("test_model.py::test_rmsnorm",)),
    Part(
        "byte pairs, training",
        "byte-pairs",
        ("train", "_pieces", "_merged"),
        tests=("test_train_bpe.py::test_train_bpe",),
    ),
    Part("top-k and top-p", "sampling", ("top_k", "top_p"), "topk_sampling"),
    Part("linear attention", "long-attention", ("linear_attention",), "linear_attention"),
    Part("GELU", "feed-forward", ("gelu",), "gelu"),
)


def module_of(text: str) -> types.ModuleType:
    """Run an answer."""
    module = types.ModuleType("answer")
    sys.modules["answer"] = module
    exec(compile(text, "answer.py", "exec"), vars(module))
    return module


def passes_torchcode(place: Path, part: Part, text: str) -> bool:
    """Return whether all tests of a task of TorchCode's pass."""
    sys.path.insert(0, str(place / "torch_judge" / "tasks"))
    task = importlib.import_module(part.task).TASK
    answer = getattr(torchcode, part.task)(module_of(text))
    for test in task["tests"]:
        name = task["function_name"]
        exec(test["code"].replace("{fn}", name), {name: answer})
    return True


def passes_cs336(place: Path, part: Part, text: str) -> bool:
    """Return whether these tests of CS336's pass."""
    os.chdir(place)
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]
    sys.path.insert(0, str(place))
    cs336.OURS = module_of(text)
    sys.modules["tests.adapters"] = cs336
    return pytest.main(["-q", "-p", "no:cacheprovider", *(f"tests/{test}" for test in part.tests)]) == 0


Passes = Callable[[Path, Part, str], bool]


def passes(examine: Passes, place: Path, part: Part, text: str) -> bool:
    """Return what a process of its own finds out, in its time."""
    ends, ours = multiprocessing.Pipe(duplex=False)

    def examine_here() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE_S, PATIENCE_S))
        torch.set_num_threads(1)  # threads that wait for one another spend the time
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            try:
                good = examine(place, part, text)
            except BaseException:
                good = False
        ours.send(good)

    process = multiprocessing.get_context("fork").Process(target=examine_here)
    process.start()
    ours.close()
    good = ends.poll(STUCK_S) and _received(ends)
    process.kill()
    process.join()
    return good


def _received(ends: Connection) -> bool:
    try:
        return bool(ends.recv())
    except EOFError:  # it has ended its process
        return False


def belongs(changed: Sequence[str] | frozenset[str], part: Part) -> bool:
    """Return whether a mistake is one of this part."""
    return any(name.partition(".")[0] in part.names for name in changed)


def main() -> None:
    """Hand all of them in."""
    parser = arguments(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="parts whose titles hold this")
    asked = parser.parse_args()
    places = {name: asked.folder.expanduser().resolve() / name for name in SOURCES}
    missing = [name for name, place in places.items() if not place.is_dir()]
    for name in missing:
        print(f"missing: {places[name]}; {SOURCES[name]}", file=sys.stderr)
    if missing and (asked.write or len(missing) == len(SOURCES)):
        # A page with "not there" for what was measured before would say less than the old one.
        sys.exit("nothing was measured: clone what is missing, then type this again")
    katas = {kata.slug: kata for kata in load_pack(ROOT / "katas").katas}
    table = Figures("Our mistakes in others' tests", "", ["part", "mistakes", "pass TorchCode", "pass CS336"])
    sums = {name: [0, 0] for name in SOURCES}
    began = time.monotonic()
    for part in PARTS:
        if asked.only not in part.title:
            continue
        kata = katas[part.kata]
        texts = [mistake.text for mistake in mistakes(kata) if belongs(mistake.changed, part)]
        row = [part.title, str(len(texts))]
        for name, examine, there in (
            ("TorchCode", passes_torchcode, bool(part.task)),
            ("assignment1-basics", passes_cs336, bool(part.tests)),
        ):
            row.append(cell(kata, part, texts, examine, places[name], sums[name]) if there else "–")
        table.rows.append(row)
        print(*row, sep="  ", flush=True)
    table.rows.append(
        [
            "**all**",
            "",
            *(f"**{good} of {of}, {good / of:.0%}**" if of else "–" for good, of in sums.values()),
        ]
    )
    how = f"`make outside`, {(time.monotonic() - began) / 60:.0f} minutes"
    publish([table], "outside.md", "outside", write=asked.write, how=how)


def cell(kata: Kata, part: Part, texts: Sequence[str], examine: Passes, place: Path, sums: list[int]) -> str:
    """Return how many mistakes pass, and add it up; where our own answer does not, nothing is known."""
    assert kata.solution is not None
    if not place.is_dir():
        return "not there"
    if not passes(examine, place, part, kata.solution.read_text(encoding="utf-8")):
        return "not run: the right answer does not pass"
    good = sum(passes(examine, place, part, text) for text in texts)
    sums[0] += good
    sums[1] += len(texts)
    return str(good)


if __name__ == "__main__":
    main()
