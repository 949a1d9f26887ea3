"""What hints, model answers, README and the curriculum say in numbers: computed again, as the lessons' numbers are."""

from __future__ import annotations

import math
import re
import runpy
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch.nn import functional as F

from tests.ours import katas

ROOT = Path(__file__).resolve().parents[2]
KATAS = ROOT / "katas"
FILES = {
    f"{path.parent.name}/{path.stem}": path.read_text(encoding="utf-8")
    for name in ("hints", "reflect")
    for path in sorted(KATAS.glob(f"*/*/{name}.md"))
}
CAPSTONES = {"language-model-capstone/reflect", "translator-capstone/reflect"}
"""Theirs are held to the log: test_capstones.py."""
NOT_A_NUMBER = re.compile(r"^#[^\n]*$|\b9\.\d(?:\.\d+)?\b|arXiv:\S+|`[^`]*`|```.*?```", re.M | re.S)
DATA = [tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(KATAS.glob("*/*/kata.toml"))]


def plain(name: str) -> str:
    """Return hints or model answers on one line."""
    return " ".join(FILES[name].split())


def adam_first(first: bool, second: bool) -> float:
    """Return the length of Adam's first step, in units of the rate, with and without each correction."""
    m, v = (1.0 if first else 0.1), (1.0 if second else 0.001)
    return m / v**0.5


def new_logits() -> float:
    """Return the deviation of the logits of a new model, as our capstone begins."""
    solution = katas()["language-model-capstone"].solution
    torch.manual_seed(0)
    model = runpy.run_path(str(solution))["LanguageModel"](57)
    with torch.no_grad():
        return float(model(torch.randint(57, (8, 64))).std())


def blind_translator() -> float:
    """Return what a word of the target costs at least without its source: the entropy of the grammar."""
    language = runpy.run_path(str(KATAS / "given" / "language.py"))
    none, one, two = language["_ADJECTIVE"]
    negated, adjectives = language["_NOT"], len(language["_ADJECTIVES"])

    def entropy(*shares: float) -> float:
        return -sum(share * math.log(share) for share in shares)

    phrase = math.log(len(language["_NOUNS"])) + math.log(2) + entropy(none, one, two)
    phrase += (one + two) * math.log(adjectives) + two * math.log(adjectives - 1)
    sentence = 2 * phrase + math.log(len(language["_VERBS"])) + entropy(negated, 1 - negated)
    words = 2 * (2 + one + 2 * two) + 1 + negated + 1  # both noun phrases, the verb, "no", the end
    return sentence / words


def smoothed_entropy() -> float:
    shares = torch.full((42,), 0.1 / 42, dtype=torch.float64)
    shares[0] += 0.9
    return float(torch.special.entr(shares).sum())


one = torch.tensor(1.0, dtype=torch.float64)
NUMBERS: dict[str, Callable[[], list[str]]] = {
    "self-attention/hints": lambda: [f"{2 / 3**0.5:.3f}"],
    "classifier/hints": lambda: [
        f"{(2 + 0 + 4 + 9) / 4:.2f}", f"{(2 + 0 + 4) / 4:.1f}", "0.5", "2.0", f"{(4 * 0.5 + 4 * 0.5 + 2) / 9:.3f}",
    ],
    "decoder-lm/hints": lambda: [
        f"{F.cross_entropy(torch.tensor([[1.0, 0, 2], [2, 1, 0]]), torch.tensor([2, 0])):.4f}", f"{math.log(3):.4f}",
    ],
    "feed-forward/hints": lambda: [
        f"{(1 + torch.erf(one / 2**0.5)) / 2:.4f}", f"{(1 + torch.erf(one)) / 2:.4f}", f"{torch.erf(one / 2**0.5):.4f}",
        # the third hidden number of the lesson's example: silu of linear1, -0.5, times the gate, -1; and exchanged
        f"{float(F.silu(-one / 2) * -1):.4f}", f"{float(F.silu(-one) * -0.5):.4f}", "0.0",
    ],
    "layer-norm/hints": lambda: [f"{torch.tensor([1.0, 3, 2, 6]).var(correction=0):.1f}"],
    "layer-norm/reflect": lambda: [
        f"{torch.tensor([1.0, 3, 2, 6]).var(correction=0):.1f}", f"{math.ulp(1e8) * 1e8:.1f}",
    ],
    "masks/hints": lambda: ["1.0"],
    "translator/hints": lambda: ["0.2"],
    "translator/reflect": lambda: ["0.7", "0.9", "0.1", f"{smoothed_entropy():.2f}", "0.5"],
    "optimizer/hints": lambda: ["0.9", "0.999", f"{adam_first(False, False):.1f}"],
    "optimizer/reflect": lambda: ["0.999"],
    "sampling/hints": lambda: ["0.7"],
    "masked-lm/reflect": lambda: ["0.9", "0.01"],
    "preferences/hints": lambda: [
        f"{2 * math.log(2):.4f}", f"{math.log(2):.4f}", f"{0.75 / 0.1875**0.5:.4f}",
        f"{0.75 / 0.25**0.5:g}", "0.1",
    ],
    "preferences/reflect": lambda: [f"{7 / 7**0.5:.1f}", f"{1 / 7**0.5:.1f}"],  # one right answer of eight
    "language-model-capstone/hints": lambda: ["3.0", f"{new_logits():.1f}", "2.05"],
    "translator-capstone/hints": lambda: [f"{blind_translator():.1f}"],
}  # fmt: skip
"""Every decimal number of a file, computed where it follows from something; the others begin an example."""


@pytest.mark.parametrize("name", [name for name in FILES if name not in CAPSTONES])
def test_every_decimal_number_of_hints_and_model_answers_is_accounted_for(name: str) -> None:
    found = re.findall(r"(?<![\w.])\d+\.\d+(?![\d.]*\d)", NOT_A_NUMBER.sub("", FILES[name]))
    assert set(found) == set(NUMBERS.get(name, list)())


def test_whole_numbers_of_hints() -> None:
    assert f"There should be 3 · 6 · 4 = {3 * 6 * 4}; {3 * 6 * 4 + 3 * 4} means biases" in plain(
        "self-attention/hints"
    )
    assert f"{adam_first(True, False):.0f} times too large when only the first is" in plain("optimizer/hints")
    assert f"{1 / adam_first(False, True):.0f} times too small when only the second" in plain(
        "optimizer/hints"
    )
    assert "10% of all chosen tokens is half of the 20% that are not masked" in plain("masked-lm/hints")
    image = torch.arange(24).view(4, 6)
    assert int(image[2, 2]) == 14
    assert "Number 14 is in channel 0, row 2, column 2" in plain("patches/hints")
    table = (KATAS / "9.8-modern-variants" / "modern-block" / "README.md").read_text(encoding="utf-8")
    for words, shown in (("unigram", "about 3.0"), ("bigram", "about 2.05")):
        [nats] = re.findall(rf"{words}\)? +(\d\.\d+)$", table, re.M)
        digits = len(shown.partition(".")[2])
        assert shown == f"about {float(nats):.{digits}f}"
        assert shown in plain("language-model-capstone/hints")


def test_whole_numbers_of_model_answers() -> None:
    says = {
        "self-attention": [
            f"one table takes {1024**2 * 4 / 2**20:.0f} MB at T = 1024, {2048**2 * 4 / 2**20:.0f} MB at 2048",
        ],
        "feed-forward": ["3·D·F = 8·D² gives F = 8·D/3", "some 16·D² operations"],
        "decoder-lm": [f"2 GiB at {4096:,} tokens"],
        "patches": [
            f"14 x 14 places became {384 // 16} x {384 // 16}", f"scores of attention are {4**2} times as many",
        ],
        "positional-encoding": [
            "From wavelength 6 to about 60,000", "about 1600 positions", "nine in ten of them are longer than 160",
        ],
        "decoder-layer": [f"about {4 + 2 + 8}·D² with d_ff = 4·D"],
        "optimizer": ["it takes thousands of steps until v has forgotten it"],
    }  # fmt: skip
    for name, phrases in says.items():
        assert [phrase for phrase in phrases if phrase not in plain(f"{name}/reflect")] == []
    assert 2 * 32 * 4096 * 2 * 4096 == 2 * 2**30
    assert (int(2 * math.pi), round(2 * math.pi * 10_000, -4)) == (6, 60_000)
    waves = [2 * math.pi * number for number in range(1, 257)]
    assert round(waves[-1], -2) == 1600
    assert round(10 * sum(wave > 160 for wave in waves) / 256) == 9
    assert 1000 < math.log(1e6) / -math.log(0.999) < 20_000


def test_hours_in_readme_are_those_of_the_katas() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    row = re.compile(r"^\| (9\.\d) [^|]+\|[^|]+\| (?:(\d+) h ?)?(?:(\d+) min )?\|$", re.M)
    shown = {unit: 60 * int(hours or 0) + int(rest or 0) for unit, hours, rest in row.findall(text)}
    minutes = {
        unit: sum(kata["minutes"] for kata in DATA if kata["number"].startswith(unit)) for unit in shown
    }
    assert sum(minutes.values()) == sum(kata["minutes"] for kata in DATA)
    assert minutes == shown
    assert f"lists all {len(DATA)} katas" in text


def test_runs_on_real_things_are_counted_in_readme() -> None:
    words = (
        "no",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
    )
    learners = (ROOT / "docs" / "learners.md").read_text(encoding="utf-8").partition("| `kata run` |")[2]
    needs = re.findall(r"^\| `[\w-]+` \|.*\| ([^|]+) \|$", learners.partition("\n\n")[0], re.M)
    assert len(needs) == len(list(KATAS.glob("*/*/real.py")))
    free = sum(need.startswith(("nothing", "a pass")) for need in needs)
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert f"[{words[len(needs) - 1]} more](docs/learners.md#kata-run) run for real" in text
    assert f"run for real, {words[free]} of them without a download" in text


def test_points_in_the_curriculum_are_those_of_the_katas() -> None:
    worth = {kata["slug"]: 5 * kata["points"] / kata["minutes"] for kata in DATA}
    least, most = min(worth, key=worth.__getitem__), max(worth, key=worth.__getitem__)
    text = " ".join((ROOT / "docs" / "curriculum.md").read_text(encoding="utf-8").split())
    assert f"from {worth[least]:.1f} ({least}) to {worth[most]:.1f} ({most})" in text
