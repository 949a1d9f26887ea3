"""`kata run`: on tiny stand-ins of the real things always, on what the index serves with --everything."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from grader.catalogue import Pack
from grader.catalogue.load import load_pack
from grader.learner.data.archive import available
from grader.learner.demos.exhibit_types import Exhibit
from grader.learner.demos.page import write_page
from grader.learner.demos.runner import Inputs, Own, RunError, needs, run_real, uses
from tests.conftest import Run

ROOT = Path(__file__).parents[2]
REAL = sorted((ROOT / "katas").rglob("*/real.py"))
CASES = [
    (real.parent.name, own)
    for real in REAL
    for own in (False, True)
    if own or real.parent.name not in needs(real)
]
SAMPLES = ("decoder-lm", "language-model-capstone")
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "film", "bridge", "##s", "."]
BERT = {"word": len(WORDS), "position": 64, "token_type": 2}


def minilm(folder: Path) -> None:
    """Write a BERT of 2 layers."""
    width, state = 64, {}
    for name, rows in BERT.items():
        state[f"embeddings.{name}_embeddings.weight"] = torch.randn(rows, width)
    state |= {
        "embeddings.LayerNorm.weight": torch.ones(width),
        "embeddings.LayerNorm.bias": torch.zeros(width),
    }
    shapes = {
        **{f"attention.self.{part}": (width, width) for part in ("query", "key", "value")},
        "attention.output.dense": (width, width), "intermediate.dense": (96, width), "output.dense": (width, 96),
    }  # fmt: skip
    for layer in range(2):
        start = f"encoder.layer.{layer}."
        for part, shape in shapes.items():
            state[f"{start}{part}.weight"], state[f"{start}{part}.bias"] = (
                torch.randn(shape),
                torch.randn(shape[0]),
            )
        for part in ("attention.output", "output"):
            state[f"{start}{part}.LayerNorm.weight"] = torch.ones(width)
            state[f"{start}{part}.LayerNorm.bias"] = torch.zeros(width)
    save_file(state, folder / "model.safetensors")
    (folder / "vocab.txt").write_text("\n".join(WORDS))


def smollm2(folder: Path) -> None:
    """Write a language model of 2 layers and a vocabulary of bytes."""
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = [*map(chr, seen), *(chr(256 + number) for number in range(256 - len(seen)))]
    tokens = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *letters, "th", "the"]
    (folder / "vocabulary.json").write_text(json.dumps({"tokens": tokens, "merges": ["t h", "th e"]}))
    state = {"tokens.weight": torch.randn(len(tokens), 36), "norm.weight": torch.ones(36)}
    for layer in range(2):
        start = f"layers.{layer}."
        state |= {f"{start}{norm}.weight": torch.ones(36) for norm in ("norm1", "norm2")}
        for part, rows in (("w_q", 36), ("w_k", 12), ("w_v", 12), ("w_o", 36)):
            state[f"{start}attention.{part}.weight"] = torch.randn(rows, 36) / 6
        for part, shape in (("gate", (48, 36)), ("linear1", (48, 36)), ("linear2", (36, 48))):
            state[f"{start}feed_forward.{part}.weight"] = torch.randn(shape) / 6
    save_file({name: tensor.half() for name, tensor in state.items()}, folder / "model.safetensors")


def handwriting(folder: Path) -> None:
    """Write 60 images."""
    rows = np.concatenate(
        [np.random.default_rng(0).integers(0, 255, (60, 784)), np.arange(60)[:, None] % 10], axis=1
    )
    with gzip.open(folder / "mnist_5k.csv.gz", "wt") as file:
        np.savetxt(file, rows, "%d", delimiter=",")


def merges(folder: Path) -> None:
    """Write two merges."""
    (folder / "vocab.bpe").write_text("#version: 0.2\nt h\nth e\n")


MAKE = {"minilm": minilm, "smollm2": smollm2, "handwriting": handwriting, "gpt2-merges": merges}


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Pack:
    """Our pack, whose runs train for a second."""
    folder = shutil.copytree(ROOT / "katas", tmp_path_factory.mktemp("pack") / "katas")
    for file in folder.rglob("real.py"):
        text = re.sub(r"\bSECONDS, (.*) = (.*)\b\d+\.0, ", r"SECONDS, \1 = \g<2>1.0, ", file.read_text())
        for long, short in (("READ = 60, 4000", "READ = 9, 900"), (", 96, 300", ", 96, 20")):
            text = text.replace(long, short)
        file.write_text(text)
    return load_pack(folder)


@pytest.fixture
def stand_ins(tmp_path: Path) -> dict[str, Path]:
    """Folders with tiny stand-ins of what can be fetched."""
    torch.manual_seed(0)
    found = {}
    for name, make in MAKE.items():
        found[name] = tmp_path / "data" / name
        found[name].mkdir(parents=True)
        make(found[name])
    return found


def kata_of(pack: Pack, slug: str) -> Any:
    return next(kata for kata in pack.katas if kata.slug == slug)


def solved(pack: Pack, *slugs: str) -> list[Own]:
    """Return our solutions as a learner's files."""
    katas = [kata_of(pack, slug) for slug in slugs]
    return [
        Own(kata, ROOT / "solutions" / kata.unit.folder.name / kata.slug / f"{kata.module}.py")
        for kata in katas
    ]


def texts(shown: list[Exhibit]) -> str:
    return " ".join(f"{one.title} {getattr(one, 'body', '')}" for one in shown)


@pytest.mark.sampled(1)
@pytest.mark.slow
@pytest.mark.parametrize(("slug", "own"), CASES)
def test_every_run_ends_with_a_page_on_own_and_on_given_code(
    quick: Pack, stand_ins: dict[str, Path], launcher: Any, tmp_path: Path, slug: str, own: bool
) -> None:
    kata = kata_of(quick, slug)
    mine = solved(quick, *(other.slug for other in uses(kata.real, quick))) if own else []
    steps: list[tuple[str, int, int]] = []
    data = {name: folder for name, folder in stand_ins.items() if name in used_by(slug)}
    shown = run_real(kata, mine, launcher, Inputs(data), lambda *step: steps.append(step))
    assert steps
    assert all(0 <= done <= total for _, done, total in steps)
    assert len({one.title for one in shown}) == len(shown) >= 3
    *_, page = write_page(tmp_path / "page", slug, "", shown, {})
    assert "<script" not in page.read_text() or slug in SAMPLES  # which has samples to choose from


def used_by(slug: str) -> set[str]:
    return {name for name, one in available([load_pack(ROOT / "katas")]).items() if slug in one.facts.used_by}


@pytest.mark.slow
def test_what_a_run_needs_can_be_had() -> None:
    for path in REAL:
        assert set(needs(path)) <= {path.parent.name, *used_by(path.parent.name)}


def test_own_text_and_own_question_are_used(quick: Pack, stand_ins: dict[str, Path], launcher: Any) -> None:
    # More than is sent to a worker at once.
    words = 7000 * "and " + "so on. The bridges are many here. A film was shown at night. " + 70_000 * "\n"
    inputs = Inputs({"minilm": stand_ins["minilm"]}, words, "film")
    shown = run_real(kata_of(quick, "encoder-layer"), [], launcher, inputs, lambda *_: None)
    assert "“film”, of 2 sentences of your text" in texts(shown)


@pytest.mark.slow
def test_a_class_that_takes_base_and_eps_is_given_them(
    quick: Pack, stand_ins: dict[str, Path], launcher: Any, tmp_path: Path
) -> None:
    (given,) = solved(quick, "modern-block")
    source = given.file.read_text()
    head, tail = source.rsplit("        max_len: int,\n", 1)
    taking = tmp_path / "modern_block.py"
    taking.write_text(
        f"{head}        max_len: int,\n        base: float = 1e4,\n        eps: float = 1e-6,\n{tail}"
    )
    kata, data = kata_of(quick, "modern-block"), {"smollm2": stand_ins["smollm2"]}
    said = [
        texts(run_real(kata, [replace(given, file=file)], launcher, Inputs(data), lambda *_: None))
        for file in (given.file, taking)
    ]
    assert "costs 4.10 nats" in said[0]
    assert "was given the base of 100,000" in said[1]


@pytest.mark.slow
def test_a_crash_in_the_learners_code_is_a_clear_sentence(
    quick: Pack, stand_ins: dict[str, Path], launcher: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (given,) = solved(quick, "encoder-layer")
    broken = tmp_path / "encoder_layer.py"
    kata, inputs = kata_of(quick, "encoder-layer"), Inputs({"minilm": stand_ins["minilm"]})
    for edited, says in (
        ("return self.norm(x)[:, 0] / None", "stopped: TypeError"),
        ("while True: x = self.norm(x)", "took longer than 5 s"),
    ):
        broken.write_text(given.file.read_text().replace("return self.norm(x)", edited))
        with pytest.raises(RunError, match=f"The run {says}") as raised:
            run_real(kata, [replace(given, file=broken)], launcher, inputs, lambda *_: None)
        assert "encoder_layer.py, line" in str(raised.value.hint)
        monkeypatch.setattr("grader.learner.demos.runner.RUN_TIME_S", 5.0)


@pytest.fixture
def cached(folder: Path, stand_ins: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's cache with the tiny BERT in it; returns the current folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    home = available([load_pack(ROOT / "katas")])["minilm"].folder
    home.parent.mkdir(parents=True)
    stand_ins["minilm"].rename(home)
    return folder


@pytest.mark.slow
def test_the_command_shows_writes_and_says_whose_code_it_was(
    kata: Run, cached: Path, launcher: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.cli.learner.demo.start_launcher", lambda: launcher)
    (cached / "own.txt").write_text("The bridges are many here. A film was shown at night.")
    ran = kata("run", "encoder-layer", "--text", "own.txt", "--prompt", "film").done()
    assert "of your text" in ran.out
    whose = "On given blocks; yours take their place when they pass: encoder-layer, classifier."
    assert whose in " ".join(ran.out.split())
    page = (cached / "kata-run" / "encoder-layer" / "index.html").read_text()
    assert "width=device-width" in page
    assert "color-scheme: light dark" in page
    again = kata("run", "encoder-layer", "--json", "--text", "own.txt").json
    assert (again["id"], again["own"], again["data"]) == ("encoder-layer", [], ["minilm"])


@pytest.mark.slow
def test_what_is_not_here_or_has_no_run_is_said(kata: Run, cached: Path) -> None:
    ran = kata("run", "modern-block")
    assert ran.code == 2
    assert "modern-block runs on smollm2, which is not here: 92.9 MB, Apache-2.0." in ran.err
    assert "kata data get smollm2" in ran.err
    assert "Without network these run: classifier, decoder-lm," in " ".join(ran.err.split())
    assert "-capstone" not in ran.err
    kata("run", "translator-capstone").refused(
        "runs on your own code alone, and that has not passed yet", "kata start translator-capstone"
    )
    ran = kata("run", "masks")
    assert "masks has no run of its own" in ran.err
    assert "These have: encoder-layer, " in ran.err
    assert "These use it: modern-block" in kata("run", "sampling").err


@pytest.mark.gate
@pytest.mark.parametrize("slug", [slug for slug, own in CASES if not own])
def test_every_run_on_what_the_index_serves(
    kata: Run, folder: Path, tmp_path: Path, slug: str, everything: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not everything:
        pytest.skip("the network is asked by --everything alone")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name in used_by(slug):
        ran = kata("data", "get", name)
        if "is not to be had" in ran.err:
            pytest.skip("no index can be reached")
        assert ran.code == 0, ran.text
    kata("run", slug).done()
