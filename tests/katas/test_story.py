"""The small trained model of 9.8.1: its weights, what it pays beside models that count, and how it was trained."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from tests.ours import module

ROOT = Path(__file__).resolve().parents[2]
GIVEN = ROOT / "katas" / "given"
SOLUTION = ROOT / "solutions" / "9.8-modern-variants" / "modern-block" / "modern_block.py"
LESSON = (ROOT / "katas" / "9.8-modern-variants" / "modern-block" / "README.md").read_text(encoding="utf-8")
ASKED = 30


@pytest.fixture(scope="module")
def story() -> Any:
    return module(GIVEN / "story.py")


@pytest.fixture(scope="module")
def weights(story: Any) -> dict[str, Tensor]:
    found: dict[str, Tensor] = story.weights()
    return found


@pytest.fixture(scope="module")
def model(story: Any, weights: dict[str, Tensor]) -> Any:
    built = module(SOLUTION).ModernLM(**story.SIZES)
    built.load_state_dict(weights)  # strictly: every name, and no other
    return built


@torch.no_grad()
def paid(model: Any, tokens: Tensor) -> Tensor:
    logits, _ = model(tokens[None, :-1])
    return F.cross_entropy(logits[0], tokens[1:], reduction="none")


def test_the_file_is_small_and_plain(weights: dict[str, Tensor]) -> None:
    file = GIVEN / "story.safetensors"
    assert file.stat().st_size <= 3_000_000
    assert file.stat().st_mode & 0o044 == 0o044, "workers may be other users"
    assert {tensor.dtype for tensor in weights.values()} == {torch.float32}
    count = sum(tensor.numel() for tensor in weights.values())
    assert f"this model, {count:,} parameters" in LESSON


def test_stories_are_the_same_for_a_seed_and_all_in_the_vocabulary(story: Any) -> None:
    first = [story.story(seed) for seed in range(50)]
    assert first == [story.story(seed) for seed in range(50)]
    assert len(set(first)) == 50
    assert all(story.decode(story.encode(one)) == one for one in first)
    assert max(map(len, first)) + 1 < story.SIZES["max_len"]


@pytest.mark.slow
def test_what_it_pays_is_what_the_lesson_says(story: Any, model: Any) -> None:
    said = dict(re.findall(r"^(uniform|bigram|5-gram|this model).*?(\d\.\d{3})$", LESSON, re.M))
    asked = [story.story(story.HELD_OUT + number) + "\n" for number in range(ASKED)]
    own = float(torch.cat([paid(model, story.encode(one)) for one in asked]).mean())
    assert own == pytest.approx(float(said["this model"]), abs=0.03)  # the lesson asks about 100 stories
    read = story.text(0, 300)  # the lesson counts 2,000
    assert story.ngram_loss(read, asked, 1) < float(said["uniform"])
    assert story.ngram_loss(read, asked, 2) == pytest.approx(float(said["bigram"]), abs=0.1)
    assert story.ngram_loss(read, asked, 5) > float(said["5-gram"]) > 2 * own


@pytest.mark.slow
def test_it_looks_up_names(story: Any, model: Any) -> None:
    """A letter of a name that has occurred before costs less than one of a new name: induction is worth its while."""
    costs: dict[bool, list[Tensor]] = {True: [], False: []}
    for number in range(ASKED):
        one = story.story(story.HELD_OUT + number)
        cost = paid(model, story.encode(one))
        hero = re.findall(r"[A-Z][a-z]+(?= had)", one)[0]
        for time, hit in enumerate(re.finditer(hero, one)):
            costs[time > 2].append(cost[hit.start() : hit.end() - 1])
    new, known = (float(torch.cat(costs[which]).mean()) for which in (False, True))
    assert known < new / 2


def test_a_workspace_gets_both_files(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "kata", "start", "modern-block"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    (folder,) = tmp_path.rglob("modern-block")
    for name in ("story.py", "story.safetensors"):
        assert (folder / name).read_bytes() == (GIVEN / name).read_bytes()


def test_training_is_the_same_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    script = module(ROOT / "benchmarks" / "story_model.py")
    monkeypatch.setattr(script, "ROUNDS", ((2, 1e-3), (1, 1e-3)))
    monkeypatch.setattr(script, "ROWS", 2)
    monkeypatch.setattr(script, "LENGTH", 64)
    one, other = script.trained(), script.trained()
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)
