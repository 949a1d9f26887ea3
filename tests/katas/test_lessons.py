"""What lessons say: their numbers are computed again, the field's words are there, and the spelling is one."""

from __future__ import annotations

import math
import re
import runpy
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from tests.ours import module

KATAS = Path(__file__).resolve().parents[2] / "katas"
LESSONS = {path.parent.name: path.read_text(encoding="utf-8") for path in sorted(KATAS.glob("*/*/README.md"))}
UNITS = {path.parent.name: path.read_text(encoding="utf-8") for path in sorted(KATAS.glob("*/README.md"))}


def says(lesson: str, *numbers: float, places: int = 4, before: str = "") -> None:
    """Assert that these numbers stand in the lesson one after the other, behind some words where they are given."""
    forms = []
    for number in numbers:
        rounded = f"{number:.{places}f}"
        rounded = rounded.removeprefix("-") if float(rounded) == 0 else rounded
        short = rounded.rstrip("0").rstrip(".") if "." in rounded else rounded
        forms.append("(?:" + re.escape(rounded) + (f"|{re.escape(short)}" if short != rounded else "") + ")")
    pattern = re.escape(before) + r"[\s|│]*" + r"[\s|│,]+".join(forms) + r"(?![\d.]*\d)"
    assert re.search(pattern, lesson), f"{before} {[round(number, places) for number in numbers]}"


@pytest.fixture(scope="module")
def blocks() -> Any:
    return module(KATAS / "9.3-encoder-vs-decoder" / "blocks.py")


def rows(values: Sequence[Sequence[float]]) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


# --- 9.0 ---


def test_tensors() -> None:
    lesson = LESSONS["tensors"]
    x = torch.arange(12).view(2, 6)
    right, wrong = x.view(2, 3, 2).transpose(0, 1), x.reshape(3, 2, 2)
    for head in range(3):
        shown = (
            " +│ +".join(" +".join(map(str, part)) for part in way[head].tolist()) for way in (right, wrong)
        )
        assert re.search(rf"head {head}: +" + " +".join(shown) + "$", lesson, re.M), head
    values, keep = rows([4, 100, 6, 8]), torch.tensor([True, False, True, True])
    says(lesson, float(values.sum()), before="over all")
    says(lesson, float(values.mean()), before=f"over all            {int(values.sum())} / 4 =")
    left = values * keep
    says(lesson, float(left.mean()), before=f"0 for padding, / 4   {int(left.sum())} / 4 =")
    says(lesson, float(values[keep].mean()), before=f"0 for padding, / 3   {int(left.sum())} / 3 =")
    a, b = torch.tensor([1, 4, 2]), torch.arange(4)
    for value, row in zip(a.tolist(), (a[:, None] <= b).tolist(), strict=True):
        assert re.search(
            rf"a = {value} +" + " +".join("#" if cell else r"\." for cell in row) + "$", lesson, re.M
        )


# --- 9.1 ---


def attend(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    w_q = rows([[1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]])
    w_k = rows([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1]])
    w_v = rows([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, -1, 0]])
    scores = (x @ w_q.T) @ (x @ w_k.T).T / 2
    weights = scores.softmax(-1)
    return scores, weights, weights @ (x @ w_v.T)


def test_self_attention() -> None:
    lesson = LESSONS["self-attention"]
    scores, weights, output = attend(rows([[2, 0, 0], [1, 1, 0], [1, 0, 2]]))
    for name, score, weight, out in zip(("river", "bank", "floods"), scores, weights, output, strict=True):
        says(lesson, *score.tolist(), before=name, places=1)
        says(lesson, *weight.tolist(), *out.tolist())
    says(lesson, float(attend(rows([[0, 2, 0], [1, 1, 0]]))[2][1, 3]), before="becomes")
    says(UNITS["9.1-self-attention"], float(weights[1, 0]), places=2, before="river   ##########")
    assert torch.tensor(88.0).exp() < math.inf == torch.tensor(89.0).exp()
    for score, weight in ((3, 20.09), (2, 7.39), (2.5, 12.18)):
        assert round(math.exp(score), 2) == weight
        assert str(weight) in lesson


def test_why_scores_are_scaled() -> None:
    generator = torch.Generator().manual_seed(0)
    for width, shown in re.findall(r"^ *(\d+) +\d+\.0 +([\d. ]+)$", LESSONS["self-attention"], re.M):
        d = int(width)
        scores = torch.stack([
            torch.randn(10, d, generator=generator) @ torch.randn(d, generator=generator) for _ in range(1500)
        ])  # fmt: skip
        found = [float(one.softmax(-1).amax(-1).mean()) for one in (scores, scores / d**0.5)]
        assert found == pytest.approx([float(number) for number in shown.split()], abs=0.015), width


# --- 9.2 ---


def positions(length: int, width: int) -> Tensor:
    angles = torch.arange(length, dtype=torch.float64)[:, None] / 10_000 ** (
        torch.arange(0, width, 2) / width
    )
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


def test_positional_encoding() -> None:
    lesson, table = LESSONS["positional-encoding"], positions(7, 4)
    for t, row in enumerate(table):
        distance = float((table[0] - row).norm())
        says(lesson, t, *row.tolist(), distance, before="")
    far = positions(8, 64)
    says(lesson, *[float((far[0] - far[t]).norm()) for t in range(1, 8)], places=2)
    x = rows([[0.5, -1, 0.2, 0], [1, 0, 0, 1], [0.5, -1, 0.2, 0]])
    for row in x + table[:3]:
        says(lesson, *row.tolist())
    says(lesson, math.sin(3), before="0.5403 · sin 2 =")
    assert torch.arange(256, 261).bfloat16().unique().tolist() == [256, 258, 260]
    assert torch.tensor([2048, 2049]).half().unique().tolist() == [2048]


def test_hands_of_the_clock() -> None:
    lesson, table = LESSONS["positional-encoding"], positions(64, 16)
    drawn = re.findall(r"^  (\d) +([\d.]+)  ([#.]{64})$", lesson, re.M)
    assert len(drawn) == 4
    for pair, wavelength, signs in drawn:
        assert f"{2 * math.pi * 10_000 ** (2 * int(pair) / 16):.1f}" == wavelength
        # 0 counts as positive: the sine of position 0, and of whole turns up to rounding
        assert signs == "".join("#" if value > -1e-9 else "." for value in table[:, 2 * int(pair)])
    assert f"(the slowest wavelength is {2 * math.pi * 10_000 ** (14 / 16):,.0f})" in lesson


def test_rotary_positions() -> None:
    lesson, table = LESSONS["rotary-positions"], positions(4, 4)
    sine, cosine = table[:, 0::2], table[:, 1::2]

    def turned(a: Tensor) -> Tensor:
        one, two = a[0::2], a[1::2]
        return torch.stack([one * cosine - two * sine, one * sine + two * cosine], -1).flatten(1)

    q, k = turned(rows([1, 0, 1, 0])), turned(rows([0.5, 1, 0.2, 0]))
    for t in range(4):
        says(lesson, *q[t].tolist(), *k[t].tolist(), before=f"{t}")
        says(lesson, *(q[t] @ k.T).tolist())


def test_buckets_and_slopes() -> None:
    lesson = LESSONS["rotary-positions"]

    def bucket(distance: int, n: int, furthest: int) -> int:
        if distance < n // 2:
            return distance
        share = math.log(distance / (n // 2)) / math.log(furthest / (n // 2))
        return min(n // 2 + math.floor(share * (n - n // 2)), n - 1)

    shown = [bucket(abs(key - 11), 4, 16) + 4 * (key > 11) for key in range(23)]
    assert "bucket  " + "".join(f"{number:3}" for number in shown) in lesson
    past = [bucket(11 - key, 8, 16) for key in range(12)]
    assert " ".join(map(str, past)) in " ".join(lesson.split())
    slopes = [2 ** (-8 * head / 4) for head in range(1, 5)]
    says(lesson, *slopes, before="For four heads that is")
    for head in (1, 4):
        weights = torch.tensor([-slopes[head - 1] * (3 - key) for key in range(4)]).softmax(-1)
        says(lesson, *weights.tolist(), before=f"head {head}")


# --- 9.3.1, 9.3.2 ---


def test_masks() -> None:
    lesson, scores = LESSONS["masks"], rows([[2, 1, 0, 3]])[0]
    weights, right = scores.softmax(-1), scores[:3].softmax(-1)
    says(lesson, *weights.tolist(), before="softmax of everything")
    says(lesson, *weights[:3].tolist(), 0, before="... then 0 where blocked")
    assert f"sum {float(weights[:3].sum()):.4f}" in lesson
    says(lesson, *right.tolist(), 0, before="-∞ where blocked, then softmax")
    assert f"ends at {torch.finfo(torch.float16).max:.0f}" in lesson


def test_masked_attention() -> None:
    lesson = LESSONS["masked-attention"]
    for scores in ((8, 0, -8), (1, 0, -1)):
        says(lesson, *rows([scores]).softmax(-1)[0].tolist(), before=" =")
    slope = rows([[8, 0, -8]]).softmax(-1)
    assert float((slope * (1 - slope)).max()) < 0.0004
    q, k = rows([[1, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]]), rows([[1, 0, 1, 0], [0, 1, 0, 2], [2, 1, 1, 0]])
    v = rows([[1, 0], [0, 1], [4, 4]])
    scores_of = q @ k.T / 2
    masked = scores_of.masked_fill(~torch.ones(3, 3).tril().bool(), -math.inf)
    weights = masked.softmax(-1)
    for score, weight, output in zip(scores_of, weights, weights @ v, strict=True):
        says(lesson, *score.tolist(), places=1)
        says(lesson, *weight.tolist(), *output.tolist())
    says(lesson, float(scores_of.softmax(-1)[1, 2]), before="Key 2 would have had")
    keys, values = k.clone().requires_grad_(), v.clone().requires_grad_()
    seen = torch.tensor([True, True, False])
    ((q[1] @ keys.T / 2).masked_fill(~seen, -math.inf).softmax(-1) @ values).sum().backward()
    assert [bool(tensor.grad[2].any()) for tensor in (keys, values)] == [False, False]
    table = torch.arange(12).view(3, 4)
    right, wrong = table.view(3, 2, 2).transpose(0, 1).flatten(1), table.view(2, 3, 2).flatten(1)
    for head in range(2):
        assert re.search(
            rf"head {head}: +" + r"[ │]+".join(map(str, right[head].tolist()))
            + rf" +head {head}: +" + r"[ │]+".join(map(str, wrong[head].tolist())), lesson,
        )  # fmt: skip


def test_two_heads_worked_through() -> None:
    lesson = LESSONS["masked-attention"]
    q, k = rows([[1, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]]), rows([[1, 0, 1, 0], [0, 1, 0, 2], [2, 1, 1, 0]])
    v, w_o = (
        rows([[1, 0, 2, 0], [0, 1, 0, 2], [4, 4, 1, 1]]),
        rows([[1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0]]),
    )
    shown: dict[str, list[float]] = {"S": [], "W": [], "O": []}
    for head in (slice(0, 2), slice(2, 4)):
        scores = (q[1, head] @ k[:2, head].T) / 2**0.5
        weights = scores.softmax(-1)
        for name, values in zip("SWO", (scores, weights, weights @ v[:2, head]), strict=True):
            shown[name] += values.tolist()
    for name, numbers in shown.items():
        says(lesson, *numbers, before=f" {name} ")
    says(lesson, *shown["O"], before="joined")
    says(lesson, *(w_o @ rows([shown["O"]])[0]).tolist(), before="w_o of it")


# --- 9.3.3, 9.3.4 ---


def test_layer_norm() -> None:
    lesson = LESSONS["layer-norm"]
    x = rows([[1, 3, 2, 6], [10, 30, 20, 60], [-1, -3, -2, -6], [5, 5, 5, 5]])
    normal = F.layer_norm(x, (4,))
    for place, (row, out) in enumerate(zip(x, normal, strict=True)):
        says(
            lesson,
            *row.tolist(),
            float(row.mean()),
            float(row.var(correction=0)),
            *out.tolist(),
            before=f"pos {place}",
        )
    scaled = normal[0] * rows([[1, 1, 2, 0.5]])[0] + rows([[0, 1, 0, -1]])[0]
    says(lesson, *scaled.tolist(), before="bias 0 1 0 -1:")
    says(lesson, float((x[0, 0] - x[0].mean()) / x[0].std()), before="If you get")
    far = (x[0] + 10_000).float()
    exact = far.double()
    says(lesson, float(exact.square().mean()), float(far.square().mean()), places=1, before="E[x²]  ")
    says(lesson, float(exact.mean() ** 2), float(far.mean() ** 2), places=1, before="E[x]²  ")
    assert float(far.square().mean() - far.mean() ** 2) == 0.0
    assert float((far - far.mean()).square().mean()) == 3.5
    above = torch.nextafter(torch.tensor(1e8), torch.tensor(math.inf))
    assert f"Near 10⁸ its numbers are {float(above) - 1e8:.0f} apart" in lesson
    # Above 2,048 the numbers of bfloat16 are 16 apart: the squares at a mean of 50 do not differ by 3.5.
    assert torch.tensor(50.0**2 + 3.5).bfloat16() == torch.tensor(50.0**2).bfloat16()


def test_the_gradient_of_layer_norm() -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(3, 6, dtype=torch.float64, generator=generator, requires_grad=True)
    g = torch.randn(3, 6, dtype=torch.float64, generator=generator)
    n = F.layer_norm(x, (6,))
    (found,) = torch.autograd.grad(n, x, g)
    mean = g.mean(-1, keepdim=True) + n * (g * n).mean(-1, keepdim=True)
    torch.testing.assert_close(found, (g - mean) / (x.var(-1, correction=0, keepdim=True) + 1e-5).sqrt())


def test_feed_forward() -> None:
    lesson = LESSONS["feed-forward"]
    z = rows([[-3, -2, -1, -0.5, 0, 0.5, 1, 2, 3]])[0]
    for name, values in (
        ("Φ(z)", (1 + torch.erf(z / 2**0.5)) / 2), ("relu", F.relu(z)), ("gelu", F.gelu(z)), ("silu", F.silu(z)),
    ):  # fmt: skip
        says(lesson, *values.tolist(), before=f"\n{name}")
    w1, b1 = rows([[1, 0], [0, 1], [1, -1]]), rows([[0, -1, 0.5]])[0]
    gate, w2, b2 = rows([[0, 1], [1, 0], [-1, 0]]), rows([[1, 1, 0], [0, -1, 2]]), rows([[0, 1]])[0]
    x = rows([[1, 2]])[0]
    hidden = w1 @ x + b1
    for name, h in (
        ("relu", F.relu(hidden)), ("gelu", F.gelu(hidden)), ("times linear1(x)", F.silu(gate @ x) * hidden),
    ):  # fmt: skip
        numbers = r"\s+".join(f"{value:.4f}" for value in h.tolist())
        outputs = r"\s+".join(f"{value:.4f}" for value in (w2 @ h + b2).tolist())
        assert re.search(rf"^{re.escape(name)} +{numbers}  →  output +{outputs}$", lesson, re.M), name
    z = torch.linspace(-8, 8, 160_001, dtype=torch.float64)
    tanh = (F.gelu(z, approximate="tanh") - F.gelu(z)).abs().max()
    sigmoid = (z * torch.sigmoid(1.702 * z) - F.gelu(z)).abs().max()
    assert (f"{float(tanh):.4f}", f"{float(sigmoid):.2f}") == ("0.0005", "0.02")
    assert f"{4 * 512**2 + 4 * 512:,}" in lesson
    assert f"{2 * 512 * 2048 + 2048 + 512:,}" in lesson


# --- 9.3.5 ---


def test_encoder_layer(blocks: Any) -> None:
    lesson, x = LESSONS["encoder-layer"], rows([[1, 2, 3, 6], [4, 4, 0, 0]])

    def norm(y: Tensor) -> Tensor:
        return F.layer_norm(y, (4,))

    def mean(y: Tensor) -> Tensor:
        return y.mean(0, keepdim=True).expand(2, -1)

    h = x + mean(norm(x))
    pre = {"norm1(x)": norm(x), "h = x + attention": h, "norm2(h)": norm(h), "relu of it": F.relu(norm(h)),
           "y = h + relu": h + F.relu(norm(h))}  # fmt: skip
    post = {"x + attention": x + mean(x), "h = norm1 of the sum": norm(x + mean(x))}
    h = post["h = norm1 of the sum"]
    post |= {"relu(h)": F.relu(h), "h + relu": h + F.relu(h), "y = norm2 of the sum": norm(h + F.relu(h))}
    for name, both in (pre | post).items():
        says(lesson, *both.flatten().tolist(), places=2, before=f"\n{name}")
    layer = blocks.EncoderLayer(512, 8, 2048)
    assert f"{sum(p.numel() for p in layer.parameters()):,}" in lesson
    assert sum(p.numel() for p in layer.parameters()) == 12 * 512**2 + 13 * 512


@pytest.mark.slow
def test_what_the_place_of_the_norm_does(blocks: Any) -> None:
    deviations, gradients = [], []
    for norm_first in (True, False):
        for depth in (4, 24):
            deviation, gradient = 0.0, 0.0
            for seed in range(5):
                torch.manual_seed(seed)
                encoder = blocks.Encoder(depth, 64, 4, 256, norm_first=norm_first)
                head = torch.nn.Linear(64, 10)
                for parameter in encoder.parameters():
                    if parameter.dim() > 1:
                        torch.nn.init.xavier_uniform_(parameter)
                x, classes = torch.randn(8, 16, 64), torch.randint(10, (8,))
                for layer in encoder.layers:
                    x = layer(x)
                F.cross_entropy(head(encoder.norm(x).mean(1)), classes).backward()
                deviation += float(x.detach().std()) / 5
                gradient += float(encoder.layers[-1].feed_forward.linear2.weight.grad.norm()) / 5
            deviations.append(deviation)
            gradients.append(gradient)
    for name, found in (
        ("deviation of x after the last", deviations),
        ("gradient in the last layer", gradients),
    ):
        row = re.search(rf"^{name} +(.*)$", LESSONS["encoder-layer"], re.M)
        assert row is not None
        assert found == pytest.approx([float(number) for number in row[1].split()], abs=0.006)


# --- 9.3.6, 9.3.7 ---


def test_classifier() -> None:
    lesson = LESSONS["classifier"]
    hidden = rows([[2, -1], [0, -3], [4, -2], [9, 7]])
    real = hidden[:3]
    for name, pooled in (("cls", hidden[0]), ("mean", real.mean(0)), ("max", real.amax(0))):
        says(lesson, *pooled.tolist(), places=2, before=f"{name}     " if name == "mean" else f"{name}      ")
    wrong = [hidden.mean(0), real.sum(0) / 4]
    text = " ".join(lesson.split())
    for pooled in wrong:
        assert ", ".join(f"{value:g}" for value in pooled.tolist()) in text
    assert f"{(4 * 0.5 + 4 * 0.5 + 2.0) / 9:.3f}" in lesson
    assert f"{-math.log(math.e / (math.e + 1)):.4f}" in lesson


def test_what_the_last_adjective_alone_tells() -> None:
    sentiment = module(KATAS / "9.3-encoder-vs-decoder" / "classifier" / "sentiment.py")
    shown = re.search(r'without regard to "not" +(\d+)-(\d+)%', LESSONS["classifier"])
    assert shown is not None
    found = []
    for seed in range(10):
        _, test = sentiment.splits(seed=seed)
        last = [sentiment.decode(row).split()[-1] in sentiment.PRAISE for row in test.tokens]
        found.append(100 * sum(map(bool.__eq__, last, map(bool, test.labels.tolist()))) / len(last))
    assert (round(min(found)), round(max(found))) == (int(shown[1]), int(shown[2]))


def test_decoder_lm() -> None:
    lesson = LESSONS["decoder-lm"]
    logits = rows([[1, 0, 2], [2, 1, 0], [0, 3, 1]])
    for row in logits:
        says(lesson, *row.tolist(), *row.softmax(-1).tolist())
    loss = F.cross_entropy(logits[:2], torch.tensor([2, 0]))
    says(lesson, float(loss), before="mean")
    assert f"{math.log(13):.3f} for V = 13" in lesson
    scores = rows([[3, 2, 1, 0]])[0]
    for name, temperature in (("τ = 1   ", 1), ("τ = 0.5 ", 0.5), ("τ = 2   ", 2)):
        says(lesson, *(scores / temperature).softmax(-1).tolist(), before=name)
    says(lesson, *(scores[:2] / 2).softmax(-1).tolist(), 0, 0, before="τ = 2, top 2")
    assert f"{sum(range(20, 120)):,} positions to use 100" in " ".join(lesson.split())
    assert f"20 + 99 = {20 + 99} positions" in lesson
    assert 2 * 32 * 4096 * 2 == 2**19  # half a mebibyte, as reflect.md says


# --- 9.4.1 ---


def test_decoder_layer(blocks: Any) -> None:
    lesson, x = LESSONS["decoder-layer"], rows([[1, 2, 3, 6], [4, 4, 0, 0]])
    memory, causal = rows([[2, 0, 0, 2], [0, 4, 0, 0], [1, 1, 3, 3]]), rows([[1, 0], [0.5, 0.5]])

    def norm(y: Tensor) -> Tensor:
        return F.layer_norm(y, (4,))

    own, asked = causal @ norm(x), memory.mean(0, keepdim=True).expand(2, -1)
    a, b = x + own, x + own + asked
    lines = {"norm1(x)": norm(x), "mean of what is allowed": own, "a = x + that": a, "mean of the memory": asked,
             "b = a + that": b, "norm3(b)": norm(b), "relu of it": F.relu(norm(b)),
             "y = b + relu": b + F.relu(norm(b))}  # fmt: skip
    for name, both in lines.items():
        says(lesson, *both.flatten().tolist(), places=2, before=f"\n{name}")
    parts = (blocks.MultiHeadAttention(512, 8), blocks.FeedForward(512, 2048), blocks.LayerNorm(512))
    attention, network, one_norm = (sum(p.numel() for p in part.parameters()) for part in parts)
    assert f"{2 * attention + network + 3 * one_norm:,}" in lesson


# --- 9.4.2 ---


def test_translator() -> None:
    lesson, logits = LESSONS["translator"], rows([[1, 0, 3, 0]])[0]
    logs, q = logits.log_softmax(-1), torch.tensor([0.05, 0.05, 0.85, 0.05])
    says(lesson, *logits.tolist(), before="\nlogits ")
    says(lesson, *q.tolist(), before="\nq  ")
    says(lesson, *logs.exp().tolist(), before="\np  ")
    says(lesson, *(-q * logs).tolist(), before="\n-q·log p")
    says(lesson, float(-(q * logs).sum()), before="      sum")
    says(lesson, float(-logs[2]), before="without smoothing")
    assert f"the entropy of q, {float(-(q * q.log()).sum()):.4f}" in lesson
    smoothed = F.cross_entropy(logits[None], torch.tensor([2]), label_smoothing=0.2)
    assert f"{float(smoothed):.4f}" in lesson
    shares = torch.full((42,), 0.1 / 42, dtype=torch.float64)  # the kata's own vocabulary and smoothing
    shares[0] += 0.9
    least = f"{float(torch.special.entr(shares).sum()):.2f}"
    assert f"that is {least}. A loss of 0.5" in (
        KATAS / "9.4-encoder-decoder/translator/reflect.md"
    ).read_text("utf-8")
    texts = re.findall(r"0\.(\d) +([abxyeos]+ [a-z]+) +(-[\d.]+) +(-[\d.]+)\n", lesson)
    assert len(texts) == 5
    for share, text, total, mean in texts:
        first = {"a": 0.6, "b": 0.4}[text[0]]
        assert (
            f"{math.log(first * int(share) / 10):.2f} {math.log(first * int(share) / 10) / 2:.2f}"
            == f"{total} {mean}"
        )


# --- 9.5.1 ---


def test_byte_pairs() -> None:
    lesson = LESSONS["byte-pairs"]
    unit = KATAS.parent / "solutions" / "9.5-around-the-model" / "byte-pairs"
    reference = module(unit / "byte_pairs.py")
    text = re.search(r"The text `([^`]+)` has five pieces", lesson)
    assert text
    assert len(re.findall(reference.PIECES, text[1])) == 5
    shown = re.findall(r"^([1-5]) +(\S+) +(\S+) +(\d)  ", lesson, re.M)
    assert len(shown) == 5
    merges = reference.train(text[1], 5)
    assert [tuple(part.decode().replace(" ", "_") for part in pair) for pair in merges] == [
        (one, other) for _, one, other, _ in shown
    ]
    tokens = [reference._pieces(text[1])]
    for pair in merges:
        tokens.append([reference._merged(piece, pair) for piece in tokens[-1]])
    for before, pair, (number, *_, times) in zip(tokens, merges, shown, strict=False):
        assert sum(list(pairwise(piece)).count(pair) for piece in before) == int(times)
        written = re.search(rf"^{number} .{{25}}((?:\S+ )*\S+)", lesson, re.M)
        after = [token.decode().replace(" ", "_") for token in tokens[int(number)][3]]
        assert written
        assert written[1] == " ".join(after)
    counts = Counter(pair for piece in tokens[2] for pair in pairwise(piece))
    assert counts[b" ", b"s"] == counts[b"s", b"low"] == max(counts.values())
    says(lesson, *reference.Tokenizer(merges).encode("slow owls"), places=0, before='"slow owls"')
    assert re.findall(reference.PIECES, "slow owls,  no?\n") == ["slow", " owls", ",", "  ", "no", "?", "\n"]
    for character in "aé日🙂":
        assert f"{character}    {character.encode().hex(' ')} " in re.sub(r"[ ]{2,}", "    ", lesson)


# --- 9.5.2 ---


def test_optimizer() -> None:
    lesson, first, second, place = LESSONS["optimizer"], 0.0, 0.0, 1.0
    for t, gradient in enumerate((0.5, 0.5, -0.1, 0.001), 1):
        first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
        one, two = first / (1 - 0.9**t), second / (1 - 0.999**t)
        step = 0.1 * one / (two**0.5 + 1e-8)
        place -= step
        says(lesson, first, 1000 * second, one, two, step, place, before=f"\n{t}  {gradient:6.3f}")
    rates = [s / 4 if s < 4 else (1 + math.cos(math.pi * (s - 4) / 8)) / 2 for s in range(13)]
    assert " ".join(f"{rate:.4f}" for rate in rates) in " ".join(lesson.split())
    assert math.hypot(3, 4) == 5
    assert "(0.6, 0) and (0, 0.8)" in lesson


# --- 9.5.3 ---


def test_loss_and_loop() -> None:
    lesson = LESSONS["loss-and-loop"]
    logits = torch.tensor([2.0, 1.0, 0.0], dtype=torch.float64)
    p, wanted = logits.softmax(-1), torch.tensor([1.0, 0.0, 0.0])
    for logit, share, slope in zip(logits.tolist(), p.tolist(), (p - wanted).tolist(), strict=True):
        says(lesson, logit, math.exp(logit), share, -math.log(share), slope)
    says(lesson, -math.log(p[0]), before="The loss is")
    says(lesson, math.log(5), before="log V:")
    assert f"{math.log(50_000):.4f} for 50,000" in lesson
    parts = [[1, 2, 3, 2], [5]]
    means = [sum(part) / len(part) for part in parts]
    says(lesson, sum(means) / 2, before="(2 + 5) / 2")
    says(lesson, (4 * means[0] + 4 * means[1]) / 8, before="(4 · 2 + 4 · 5) / 8")
    says(lesson, sum(map(sum, parts)) / 5, before="(4 · 2 + 1 · 5) / 5")
    for place in range(3):
        x, y = (" ".join("abcdef"[start : start + 3]) for start in (place, place + 1))
        assert re.search(rf"^(x)? +{x} +(y +)?{y}$", lesson, re.M)
    for name, cut in (("never cut", None), ("without momentum", 2)):
        weight, speed, ways = 1.0, 0.0, []
        for step in range(4):
            speed = (0.0 if step == cut else 0.9 * speed) + 1
            weight -= 0.1 * speed
            ways.append(weight)
        for shown in ways[cut or 0 :]:
            assert re.search(rf"^{name} .*\b{shown:.4f}\b", lesson, re.M), (name, shown)


def account() -> Any:
    return module(KATAS.parent / "solutions" / "9.5-around-the-model" / "accounting" / "accounting.py")


def test_accounting() -> None:
    lesson, own = LESSONS["accounting"], account()
    small = own.Config(10, 4, 2, 2, 1, 6, gated=True)
    says(lesson, own.parameters(small), places=0, before="40 + 2 · 128 + 4 =")
    says(lesson, own.flops(small, 3), places=0, before="flops       ")
    state = own.training_bytes(small, 0, "bfloat16", "adamw")
    says(lesson, state, places=0, before="300 · (2 + 2 + 8 + 4)  =")
    more = own.training_bytes(small, 3, "bfloat16", "adamw") - state
    says(lesson, more, places=0, before="(2 · (24 + 4 + 18) + 8 + 10) =")
    says(lesson, own.cache_bytes(small, 1, 3, "bfloat16"), places=0, before="2 · 2 · 2 · 3 · 1 · 2  =")
    stub = module(KATAS / "9.5-around-the-model" / "accounting" / "accounting.py")
    known = [own.Config(**vars(config)) for config in (stub.GPT2, stub.SMOLLM2)]

    def row(name: str, form: str, *values: float) -> None:
        assert f"| {name} | " + " | ".join(format(value, form) for value in values) + " |" in lesson

    sizes = [own.parameters(config) for config in known]
    row("parameters", ",", *sizes)
    tables = [config.vocab_size * config.d_model for config in known]
    row(
        "of these in the embedding", ".0%", *(table / size for table, size in zip(tables, sizes, strict=True))
    )
    row("flops of 1,024 tokens", ",", *(own.flops(config, 1024) for config in known))
    row("2·N·T, the usual estimate", ",", *(2 * size * 1024 for size in sizes))
    row(
        "bytes of a token in the cache, bfloat16", ",", *(own.cache_bytes(c, 1, 1, "bfloat16") for c in known)
    )

    def pairs(tokens: int) -> float:
        config = known[0]
        return 4 * tokens**2 * config.num_layers * config.d_model / own.flops(config, tokens)

    assert pairs(6702) < 0.5 < pairs(6703)
    assert "from 6,703 tokens on" in lesson
    assert [f"{pairs(tokens):.0%}" for tokens in (128, 1024, 8192, 65536)] == ["2%", "13%", "55%", "91%"]
    for n, d in ((280e9, 300e9), (70e9, 1400e9)):
        assert f"{1.69 + 406.4 / n**0.34 + 410.7 / d**0.28:.3f}" in lesson
    assert 1 < 70 * 1400 / (280 * 300) < 1.2


@pytest.mark.slow
def test_accounting_counts_what_torch_counts() -> None:
    from torch.utils.flop_counter import FlopCounterMode

    own, T = account(), 11
    for change in (
        {},
        {"gated": True, "tied": False},
        {"bias": True, "norm": "layer", "learned_positions": 20},
    ):
        c = own.Config(50, 24, 3, 6, 2, 40, **change)
        norm = torch.nn.LayerNorm if c.norm == "layer" else torch.nn.RMSNorm
        linear = {"q": (24, 24), "k": (24, 8), "v": (24, 8), "o": (24, 24), "up": (24, 40), "down": (40, 24)}
        linear |= {"gate": (24, 40)} if c.gated else {}
        layers = [torch.nn.ModuleDict({name: torch.nn.Linear(*size, bias=c.bias) for name, size in linear.items()}
                                      | {name: norm(24) for name in ("norm1", "norm2")}) for _ in range(3)]  # fmt: skip
        tokens, head = torch.nn.Embedding(50, 24), torch.nn.Linear(24, 50, bias=False)
        positions = torch.nn.Parameter(torch.randn(c.learned_positions, 24))
        if c.tied:
            head.weight = tokens.weight
        model = torch.nn.ModuleList([tokens, head, norm(24), torch.nn.ParameterList([positions]), *layers])
        assert own.parameters(c) == sum(parameter.numel() for parameter in model.parameters())
        for backward in (False, True):
            with FlopCounterMode(display=False) as counter:
                x = tokens(torch.arange(T))
                for part in layers:
                    y = part["norm1"](x)
                    q, k, v = (part[name](y).unflatten(-1, (-1, 4)).transpose(0, 1) for name in "qkv")
                    k, v = (shared.repeat_interleave(3, 0) for shared in (k, v))
                    x = x + part["o"](((q @ k.mT).softmax(-1) @ v).transpose(0, 1).flatten(1))
                    y = part["norm2"](x)
                    inner = part["up"](y).relu()
                    x = x + part["down"](inner * part["gate"](y) if c.gated else inner)
                logits = head(model[2](x))
                if backward:
                    logits.sum().backward()
            assert own.flops(c, T, backward) == counter.get_total_flops(), (change, backward)


def test_sampling() -> None:
    lesson, six = LESSONS["sampling"], torch.tensor([0.4, 0.25, 0.15, 0.1, 0.06, 0.04])
    says(lesson, *six.tolist(), before="\nbefore")
    for name, kept in (("k = 2", 2), ("p = 0.7", 3)):
        left = six * (torch.arange(6) < kept)
        says(lesson, *(left / left.sum()).tolist(), before=f"\n{name}")
    assert float(six[:2].sum()) < 0.7 < float(six[:3].sum())
    assert int((six >= 0.3 * six[0]).sum()) == lesson.partition("min-p   p = 0.3")[2][:12].count("##")
    for name, logits in (("before", [2, 1, -1, 0.5]), ("after", [1, 1, -2, 0.5])):
        says(lesson, *rows([logits])[0].softmax(-1).tolist(), before=f"\n{name}")
    losses = [-math.log(p) for p in (0.5, 0.25, 0.125)]
    says(lesson, *losses, before="-log p")
    assert math.exp(sum(losses) / 3) == pytest.approx(4)
    assert f"exp({sum(losses) / 3:.4f}) = 4" in lesson


# --- 9.6.1 ---


def test_masked_lm() -> None:
    lesson, table = LESSONS["masked-lm"], torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    logits = table @ torch.tensor([2.0, 1.0])
    assert re.search(r"^logits +" + " +".join(f"{value:g}" for value in logits.tolist()) + "$", lesson, re.M)
    says(lesson, *logits.softmax(0).tolist(), before="\nprobability")
    share = f"{float(logits.softmax(0)[2]):.4f}"
    assert f"-log {share} = {float(-logits.log_softmax(0)[2]):.4f}" in lesson


def gaps(harbor: Any) -> dict[tuple[str, ...], Counter[str]]:
    """Return every sentence of the grammar with one word taken out, and how often each word is the one."""
    found: dict[tuple[str, ...], Counter[str]] = {}
    for number, kind, adjective, place in product(range(2), range(4), range(5), range(5)):
        for person, thing in product((harbor.PEOPLE, harbor.PLURALS)[number], harbor.THINGS[kind]):
            words = [("this", "these")[number], *harbor.ADJECTIVES[adjective - 1 : adjective], person]
            words += ["near", "the", harbor.PLACES[place - 1]] if place else []
            words += [(harbor.VERBS, harbor.PLURAL_VERBS)[number][kind], "the", thing]
            share = (0.1 if adjective else 0.6) * (0.125 if place else 0.5) / len(words)
            for index, word in enumerate(words):
                found.setdefault((*words[:index], "?", *words[index + 1 :]), Counter())[word] += share
    return found


def test_what_harbor_leaves_open() -> None:
    """What counts cost, and what nobody can beat: the entropy of a word given all others."""
    unit = KATAS / "9.6-pretraining" / "masked-lm"
    harbor, lesson = module(unit / "harbor.py"), LESSONS["masked-lm"]
    open_words = gaps(harbor)
    total = sum(sum(counts.values()) for counts in open_words.values())

    def cost(counts: Counter[str]) -> float:
        return -sum(n / total * math.log(n / sum(counts.values())) for n in counts.values())

    words = sum(open_words.values(), Counter())
    assert f"ln {len(harbor.WORDS)} = {math.log(len(harbor.WORDS)):.2f} nats" in lesson
    assert f"only by word counts costs {cost(words):.2f}" in " ".join(lesson.split())
    least = sum(map(cost, open_words.values()))
    most = sum(max(counts.values()) for counts in open_words.values()) / total
    assert re.search(rf"^mean over all words +{least:.2f} +{most:.0%} can be found$", lesson, re.M)


@pytest.mark.nightly
def test_what_the_masked_model_learns() -> None:
    """The lesson's run, with the reference; another processor rounds otherwise, so nearly is enough."""
    unit, lesson = KATAS / "9.6-pretraining" / "masked-lm", LESSONS["masked-lm"]
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(KATAS / "9.3-encoder-vs-decoder"))
        ours = module(KATAS.parent / "solutions" / "9.6-pretraining" / "masked-lm" / "masked_lm.py")
    harbor = module(unit / "harbor.py")
    test = harbor.sentences(400, 1 << 21)
    draw, rows = torch.Generator().manual_seed(0), torch.arange(len(test))
    place = torch.tensor([int(torch.randint(1, int((row != 0).sum()), (), generator=draw)) for row in test])
    inputs, wanted = test.clone(), test[rows, place]
    inputs[rows, place] = harbor.MASK
    steps = [int(step) for step in re.findall(r"\d+", re.search(r"^step .*$", lesson, re.M)[0])]
    losses, shares = torch.zeros(len(steps)), torch.zeros(len(steps))
    for seed in range(3):
        torch.manual_seed(seed)
        train = harbor.sentences(2000, seed)
        model = ours.MaskedLM(len(harbor.WORDS), d_model=32, num_heads=4, d_ff=64, num_layers=2, max_len=12)
        optimizer, drawn = torch.optim.AdamW(model.parameters(), lr=4e-3), torch.Generator().manual_seed(seed)
        for step in range(max(steps) + 1):
            if step in steps:
                with torch.no_grad():
                    logits = model(inputs)[rows, place]
                losses[steps.index(step)] += F.cross_entropy(logits, wanted) / 3
                shares[steps.index(step)] += (logits.argmax(-1) == wanted).float().mean() / 3
            read, asked = ours.hide(
                train[torch.randint(len(train), (64,), generator=drawn)], mask_id=harbor.MASK, rate=0.2,
                vocab_size=len(harbor.WORDS), special_ids=harbor.SPECIAL, generator=drawn,
            )  # fmt: skip
            optimizer.zero_grad()
            F.cross_entropy(model(read).flatten(0, 1), asked.flatten()).backward()
            optimizer.step()
    for name, found, near in (("loss on hidden words", losses, 0.15), ("found", 100 * shares, 3)):
        row = re.search(rf"^{name} +(.*)$", lesson, re.M)
        assert row is not None
        assert found.tolist() == pytest.approx([float(one.rstrip("%")) for one in row[1].split()], abs=near)
    with torch.no_grad():
        model.embedding.weight.normal_()  # as nn.Embedding begins
        model.scale = 1.0
        assert float(F.cross_entropy(model(inputs)[rows, place], wanted)) > 20


def test_transfer() -> None:
    lesson = LESSONS["transfer"]
    says(lesson, *(0.001 * 0.8 ** (3 - layer) for layer in range(4)), places=6, before="\nrate ")
    hidden, weight = torch.tensor([[2.0, 1.0], [4.0, 0.0], [9.0, 9.0]]), torch.tensor([1.0, -2.0])
    real, everything = hidden[:2].mean(0), hidden.mean(0)
    assert f"mean over real tokens  ({real[0]:g}, {real[1]:g})" in lesson
    assert f"=  {float(real @ weight + 0.5):g}\n" in lesson
    assert f"with the padding it would be {float(everything @ weight + 0.5):.4f}" in lesson


def test_lora() -> None:
    lesson = LESSONS["lora"]
    solution = module(KATAS.parent / "solutions" / "9.6-pretraining" / "lora" / "lora.py")
    base = torch.nn.Linear(3, 2, bias=False)
    W = torch.tensor([[1.0, 0, 2], [0, 1, -1]])
    base.weight.data = W.clone()
    layer = solution.LoRALinear(base, 1, 2.0)
    x = torch.ones(3)
    layer(x)[0].backward()
    assert "2 · (1, 0) · 2 = (4, 0)" in lesson
    assert not layer.A.grad.any()
    layer.A.data, layer.B.data = torch.tensor([[1.0, 2, -1]]), torch.tensor([[0.5], [-1.0]])
    layer.zero_grad()
    layer(x)[0].backward()
    assert layer.B.grad.flatten().tolist() == [4, 0]
    output, narrow = layer(x).tolist(), (layer.A @ x).tolist()
    says(lesson, *(W @ x).tolist(), places=0, before="base, W x")
    says(lesson, *narrow, places=0, before="\nA x")
    says(lesson, *(layer.B.flatten() * narrow[0]).tolist(), places=0, before="B A x")
    says(lesson, *output, places=0, before="\noutput")
    solution.merge(layer)
    for row in base.weight.tolist():
        assert "  ".join(f"{number:g}" for number in row).replace("  -", " -") in lesson
    assert base(x).tolist() == output
    lost = torch.tensor(0.1) + 3 - 3
    assert f"0.1 + 3 - 3  =  {float(lost):.7f}" in lesson
    assert f"{576 * 576:,} numbers" in lesson
    assert f"8 · (576 + 576) = {8 * 1152:,}" in lesson
    assert f"that is {8 * 1152 / 576**2:.1%}" in lesson


ANSWERS = {"chosen": ((0.5, 0.8, 0.5), (0.5, 0.4, 0.5)), "rejected": ((0.5, 0.2), (0.5, 0.6))}
"""What policy and reference give to the tokens of `) ) .` and of `) .`."""


def preferences() -> Any:
    return module(KATAS.parent / "solutions" / "9.6-pretraining" / "preferences" / "preferences.py")


def read(*answers: Sequence[float]) -> tuple[Tensor, Tensor]:
    """Return logits and tokens of answers, after a prompt of one token, in which each token has its probability."""
    p = rows([[*answer, 0.5] for answer in answers])
    return torch.stack((p, 1 - p), -1).log(), torch.zeros(p.shape, dtype=torch.int64)


def test_preferences() -> None:
    lesson, solution = LESSONS["preferences"], preferences()
    flat, sums = " ".join(lesson.split()), []
    for (name, models), tokens, ratio in zip(ANSWERS.items(), (") ) .", ") ."), ("2", "1/3"), strict=True):
        for start, shown in ((rf"{name} +{re.escape(tokens)}", models), (name, [[*map(math.prod, models)]])):
            numbers = " +".join(f"{number:g}" for model in shown for number in model)
            assert re.search(rf"^{start} +{numbers}( +{ratio})?$", lesson, re.M), name
        for model in models:
            logits, row = read(model)
            sums.append(solution.sequence_logps(logits, row, torch.ones(row.shape).bool()))
    chosen, reference_chosen, rejected, reference_rejected = sums
    assert f"sums are {float(chosen):.4f} and {float(rejected):.4f} for the policy" in flat
    assert f"{float(reference_chosen):.4f} and {float(reference_rejected):.4f} for the reference" in flat
    alone = solution.sft_loss(*read(ANSWERS["chosen"][0]), 1)
    together = -float(chosen + rejected) / 5
    logits, row = read(
        (0.5, 0.8, 0.5), (0.1, 0.5, 0.2)
    )  # the short one at the right, its padding counted as prompt
    assert float(solution.sft_loss(logits, row, torch.tensor([1, 2]))) == pytest.approx(together)
    assert f"is {float(alone):.4f}. With the wrong one" in flat
    means = (float(alone) - float(rejected) / 2) / 2
    assert (
        f"the mean of five numbers, {together:.4f}, and not the mean of the two means, which is {means:.4f}"
        in flat
    )
    h = float(chosen - reference_chosen - rejected + reference_rejected)
    assert f"h = ln 2 - ln 1/3 = ln 6 = {h:.4f}" in lesson
    assert h == pytest.approx(math.log(6))
    for beta in (0.1, 0.5, 1):
        given = chosen.clone().requires_grad_()
        loss = solution.dpo_loss(given, rejected, reference_chosen, reference_rejected, beta)
        loss.backward()
        found = (beta * h, 1 / (1 + math.exp(-beta * h)), loss.item(), given.grad.item())
        says(lesson, *found, before=f"\n{beta}  ")
    equal = float(solution.dpo_loss(chosen, rejected, chosen, rejected, 1))
    assert f"the loss ln 2 = {equal:.4f}" in lesson
    assert f"h would be {math.log(2) / 3 + math.log(3) / 2:.4f}" in lesson


def test_advantages_and_a_clipped_step() -> None:
    lesson, solution = LESSONS["preferences"], preferences()
    assert solution.group_advantages(rows([[1, 0]])).tolist() == [[1, -1]]
    for right in (1, 2, 3, 4):
        rewards = rows([[1] * right + [0] * (4 - right)])
        found = [rewards.mean(), rewards.std(correction=0), *solution.group_advantages(rewards)[0]]
        says(lesson, *rewards[0].tolist(), *map(float, found), before="\n")
    other = (rows([[1, 0, 0, 0]]) - 0.25) / rows([[1, 0, 0, 0]]).std()
    assert f"the first line would be {float(other[0, 0]):g} and {float(other[0, 1]):g}" in lesson
    padded = [[[*model, *[1.0] * (3 - len(model))] for model in models] for models in ANSWERS.values()]
    now, old = rows([model for model, _ in padded]).log(), rows([model for _, model in padded]).log()
    keep, A, means = torch.tensor([[True] * 3, [True, True, False]]), torch.tensor([1.0, -1]).double(), []
    for row, answer in enumerate((") ) .", ") .")):
        ratios, places = (now - old).exp()[row], keep[row].nonzero().flatten()
        objective = [
            -float(
                solution.grpo_loss(
                    now[row, t].view(1, 1), old[row, t].view(1, 1), A[row, None], keep[:1, :1], 0.2
                )
            )
            for t in places
        ]
        means.append(sum(objective) / len(objective))
        says(lesson, float(A[row]), *ratios[places].tolist(), before=f"\n{answer} ")
        says(
            lesson,
            *objective,
            means[row],
            before=f"{float(ratios[places[-1]]):.4f}" if row == 0 else "0.3333",
        )
    loss = float(solution.grpo_loss(now, old, A, keep, 0.2))
    assert f"The loss is -({means[0]:.4f} - {-means[1]:g}) / 2 = {loss:.4f}" in lesson
    assert f"all five tokens would be {-(3 * means[0] + 2 * means[1]) / 5:g}:" in lesson
    for advantage in (1.0, -1.0):
        ends = [
            -float(
                solution.grpo_loss(rows([[x]]).log(), rows([[0]]), rows([[advantage]])[0], keep[:1, :1], 0.2)
            )
            for x in (0.5, 2)
        ]
        assert re.search(rf"^\| A = {advantage:g} \| {ends[0]:g}: .+ \| {ends[1]:g}: .+ \|$", lesson, re.M)
    assert not float(solution.grpo_loss(old, old, A, keep, 0.2))  # at the first step
    same = torch.full((1, 7), 0.1)
    assert float(same.mean()) != float(same[0, 0])
    torch.testing.assert_close((same - same.mean()) / same.std(correction=0), -torch.ones(1, 7))


# --- 9.7.1 ---


def test_look_inside() -> None:
    lesson = LESSONS["look-inside"]
    for row in rows([[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.7, 0.1, 0.1, 0.1], [0.25, 0.25, 0.25, 0.25]]):
        entropy = float(torch.special.entr(row).sum())
        shown = " ".join(f"{entry:.2f} " for entry in row.tolist()).strip()
        says(lesson, entropy, before=shown)
        assert re.search(rf"{shown} +{entropy:.4f} +{math.exp(entropy):.2f}\n", lesson)

    table = re.findall(r"\n([abc])  +((?:\d\.\d\d *)+)(?=\n)", lesson)
    weights = [[float(entry) for entry in row.split()] for _, row in table]
    assert [len(row) for row in weights] == [1, 2, 3, 4, 5]
    assert all(math.isclose(sum(row), 1) for row in weights)
    followers = [weights[t][t - 3 + 1] for t in (2, 3, 4)]
    assert f"the score is {sum(followers[1:]) / 2:.4f}" in lesson
    assert f"If you count it, you get {sum(followers) / 3:.4f}" in lesson
    reference = module(KATAS.parent / "solutions" / "9.7-look-inside" / "look-inside" / "look_inside.py")
    for length, period, score in ((5, 3, 1.0), (8, 4, 0.0)):
        two_back = F.one_hot((torch.arange(length) - 2).clamp(min=0), length).double()
        assert float(reference.induction_score(two_back, period)) == score
    assert (
        "always looks two positions back has the score 1 here. On a b c d a b c d, of period 4, it has 0."
        in lesson
    )

    x, y = rows([[0, 1, 2, 7]])[0], rows([[0, 0, 1, 1]])[0]
    xc, yc = x - x.mean(), y - y.mean()
    w = xc @ yc / (xc @ xc + 1)
    b = y.mean() - x.mean() * w
    assert f"sum up to {float(xc @ xc):.0f}" in lesson
    says(lesson, float(w), before="W = 4 / (29 + 1) =")
    says(lesson, float(b), before=f"b = 0.5 - 2.5 · {float(w):.4f} =")
    says(lesson, *(x * w + b).tolist(), before="score of label 9")
    says(lesson, *(9 if score > 0.5 else 4 for score in x * w + b), places=0, before="the probe says")

    w_o, bias, z = rows([[1, -1], [0.5, 2]]), rows([[0.1, 0.2]])[0], rows([[2, 3]])[0]
    for name, keep in (
        ("both heads", [1, 1]),
        ("head 1 off", [1, 0]),
        ("head 0 off", [0, 1]),
        ("both off", [0, 0]),
    ):
        says(lesson, *(w_o @ (z * rows([keep])[0]) + bias).tolist(), before=name)


@pytest.mark.slow
def test_what_heads_of_the_story_model_are_worth() -> None:
    """The lesson's table is the demo's, on the stand-ins of the demo."""
    lesson, unit = LESSONS["look-inside"], KATAS / "9.7-look-inside" / "look-inside"
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(KATAS / "given"))
        demo = module(unit / "demo.py")
    model = demo.built(demo.story.weights())
    assert demo._best(demo._scores(model)) == (2, [0, 2])
    found, *others, fixed = demo.control(model, (2, [0, 2])).values()
    for scores in (found, *others):
        assert min(scores) > 0.1
    assert fixed == [0, 1, 0]
    assert "22, 24 and 26; a head that always looks 23 positions back only at 24" in lesson
    assert (demo.PERIODS, demo.PERIOD) == ((22, 24, 26), 24)
    says(lesson, *demo.paid(model), places=3, before="nothing off")
    for heads, name in (([0, 2], "layer 2, heads 0 and 2 off"), ([3, 4, 5], "layer 2, heads 3, 4, 5 off")):
        with demo.ablate_heads(model, 2, heads):
            says(lesson, *demo.paid(model), places=3, before=name)


# --- 9.8.2 ---


def test_long_attention() -> None:
    lesson = LESSONS["long-attention"]
    query, key = rows([[0, 1], [0, 0], [2, -math.log(2)]]), rows([[1, 0], [0, 0], [-math.log(2), 1]])
    value = torch.tensor([10.0, 20.0, 40.0], dtype=query.dtype)
    features, keys = F.elu(query) + 1, F.elu(key) + 1
    written = re.findall(
        r"^\d +-?[\d.]+ +-?[\d.]+ +([\d.]+) +([\d.]+) +-?[\d.]+ +-?[\d.]+ +([\d.]+) +([\d.]+) +\d+$",
        lesson,
        re.M,
    )
    numbers = torch.tensor([[float(each) for each in row] for row in written])
    assert torch.allclose(numbers.to(query.dtype), torch.cat((features, keys), 1), atol=1e-4)
    state, norm = keys.T @ value, keys.sum(0)
    assert f"=  {state[0]:g}, {state[1]:g}" in lesson
    assert f"=  {norm[0]:g}, {norm[1]:g}" in lesson
    says(lesson, *(features @ state / (features @ norm)).tolist(), before="\ny ")
    weights = (features @ keys.T).tril()
    says(lesson, *(weights @ value / weights.sum(-1)).tolist(), before="\ncausal ")
    state, norm, own = keys[:2].T @ value[:2], keys[:2].sum(0), float(features[2] @ keys[2])
    before, weight = float(features[2] @ state), float(features[2] @ norm)
    says(lesson, *(features[1] @ keys[:2].T).tolist(), places=0, before="query 1   φ(q)·φ(k)  =")
    says(lesson, *state.tolist(), places=0, before="S  =")
    says(lesson, before, places=0, before="φ(q)·S  =")
    assert f"{own:g}·40  =  {own * 40:g} " in lesson
    says(
        lesson,
        (before + own * 40) / (weight + own),
        places=1,
        before=f"({before:g} + {own * 40:g}) / ({weight:g} + {own:g})  =",
    )


# --- 9.8.1 ---


def test_modern_block() -> None:
    lesson, x = LESSONS["modern-block"], rows([[1, 2, 3, 6]])
    says(lesson, *x[0].tolist(), before="\nx")
    root = x.square().mean().sqrt()
    assert f"mean of the squares is {float(root**2):.1f}, its root {float(root):.4f}" in lesson
    says(lesson, *(x / root)[0].tolist(), before="\nRMSNorm")
    says(lesson, *F.layer_norm(x, (4,))[0].tolist(), before="\nLayerNorm")
    turn = rows([[math.cos(1), math.sin(1)], [-math.sin(1), math.cos(1)]])  # of rows, by one radian
    queries, keys = rows([[1, 0], [0, 1]]) @ turn, rows([[1, 1], [0, 2]])
    keys = torch.stack((keys[0], keys[1] @ turn))
    says(lesson, *keys[1].tolist(), before="key 1 becomes (")
    scores = queries @ keys.T / math.sqrt(2)
    weights = scores.softmax(-1)
    for head, output in enumerate(weights @ rows([[2, 0], [0, 4]])):
        line = (queries[head], scores[head], weights[head], output)
        says(lesson, *torch.cat(line).tolist(), before=f"\nhead {head}")
    for shared, written in ((32, "4.29 GB"), (8, "1.07 GB")):
        assert f"{2 * 32 * shared * 128 * 8192 * 2 / 1e9:.2f} GB" == written
        assert f"{written}" in lesson


def test_patches() -> None:
    lesson = LESSONS["patches"]
    first = torch.arange(24).view(4, 6)
    image = torch.stack([first, first + 100])
    corners = [(top, left) for top in (0, 2) for left in (0, 2, 4)]
    cut = [image[:, top : top + 2, left : left + 2] for top, left in corners]
    for number in (0, 1, 2, 3, 5):
        says(lesson, *cut[number].flatten().tolist(), before=f"\npatch {number}", places=0)
    for row in image.transpose(0, 1).reshape(4, 6, 2):  # three pairs of each channel
        says(lesson, *row.flatten().tolist(), places=0)
    says(lesson, *image.flatten()[:8].tolist(), before="makes", places=0)
    says(lesson, *cut[0].permute(1, 2, 0).flatten().tolist(), before="last it is", places=0)
    says(lesson, *cut[3][0].flatten().tolist(), before="when patch 1 is", places=0)
    side, size, width = 224, 16, 768
    places = (side // size) ** 2 + 1
    assert f"{side**2:,}, and attention" in lesson
    assert f"N = {places - 1}, and {places} rows" in lesson
    assert 3 * size**2 == width
    assert f"{width * width + width + width + places * width:,} of its" in lesson
    finer = (side // 8) ** 2
    assert f"{finer}, and the scores of every head {finer + 1}²" in lesson
    assert (finer + 1) ** 2 / places**2 == pytest.approx(16, rel=0.01)


def test_mixture_of_experts() -> None:
    lesson = LESSONS["mixture-of-experts"]
    folder = KATAS.parent / "solutions" / "9.8-modern-variants" / "mixture-of-experts"
    solution = module(folder / "mixture_of_experts.py")
    tokens = {"the": [1, 3, 2, 0], "red": [0, 2, 2, 1], "fox": [2, 3, 0, 1], "ran": [0, 1, 1, 3]}
    logits = rows(list(tokens.values()))
    weights, experts = solution.route(logits, 2)
    over_all = logits.softmax(-1).gather(-1, experts)
    torch.testing.assert_close(over_all / over_all.sum(-1, keepdim=True), weights)
    for word, row, pair, weight, share in zip(
        tokens, logits.tolist(), experts.tolist(), weights, over_all, strict=True
    ):
        says(lesson, *row, *pair, *weight.tolist(), *share.tolist(), before=f"\n{word}  ")
    (one, two), whole = over_all[0].tolist(), float(over_all[0].sum())
    assert f"gives {one:.4f} / {whole:.4f} = {one / whole:.4f} as well" in lesson
    assert f"gives {one:.4f} and {two:.4f}. They add up to {whole:.4f}" in lesson
    layers = [solution.MoE(4, 1, experts=4, k=2, capacity=room).double() for room in (None, 2)]
    for layer in layers:
        layer.router.weight.data = torch.eye(4).double()
        for number, expert in enumerate(
            layer.experts
        ):  # each answers i + 1 in all columns, whatever it is given
            torch.nn.init.zeros_(expert.linear2.weight)
            torch.nn.init.constant_(expert.linear2.bias, number + 1)
    free, limited = (layer(logits[None]).detach()[0, :, 0] for layer in layers)
    for word, pair, weight, output, short in zip(tokens, experts, weights, free, limited, strict=True):
        shown = weight[pair.argsort()].tolist()  # the table is ordered by expert
        says(lesson, *shown, float(output), float(short), before=f"\n{word}  ")
    alone = solution.MoE(4, 1, experts=4, k=1, capacity=2).double()
    alone.load_state_dict(layers[1].state_dict())
    assert alone(logits[None])[0].any(-1).tolist() == [True, True, False, True]  # "fox" finds no room
    loads = experts.flatten().bincount(minlength=4)
    says(lesson, *loads.tolist(), int(loads.sum()), places=0, before="\nrows")
    f, p = loads.double() / 8, logits.softmax(-1).mean(0)
    says(lesson, *f.tolist(), places=3, before="\nf ")
    says(lesson, *p.tolist(), before="\nP ")
    says(lesson, *(4 * f * p).tolist(), before="\n4 · f · P")
    says(lesson, float(solution.balance_loss(logits, experts)), before="together  ")
    collapsed = rows([[200, 100, 0, 0]] * 3)
    ends = [float(solution.balance_loss(collapsed, solution.route(collapsed, k)[1])) for k in (1, 2)]
    assert ends == pytest.approx([4, 4 / 2])  # E, and E/k


def tiled() -> Any:
    return module(
        KATAS.parent / "solutions" / "9.8-modern-variants" / "tiled-attention" / "tiled_attention.py"
    )


def test_tiled_attention() -> None:
    lesson, solution = LESSONS["tiled-attention"], tiled()
    scores, value = torch.tensor([1, 3, 2, 6, 4]).double(), torch.tensor([10, 40, 20, 30, 50]).double()
    query, key = torch.ones(1, 4).double(), scores[:, None].expand(5, 4) / 2
    says(lesson, *scores.tolist(), before="\nscore")
    says(lesson, *value.tolist(), before="\nvalue")
    m, sums, averages = -torch.inf, [], []
    for tile in ([0, 1], [2, 3], [4]):
        seen = tile[-1] + 1
        output, logsumexp = (
            float(found) for found in solution.tiled_attention(query, key[:seen], value[:seen, None], block=2)
        )
        new = float(scores[:seen].max())
        total, factor = math.exp(logsumexp - new), math.exp(m - new)
        row = (new, factor, *(scores[tile] - new).exp().tolist(), total, output * total, output)
        says(lesson, *row, before="\n" + ", ".join(map(str, tile)))
        m, sums, averages = new, [*sums, output * total], [*averages, output]
    weights = scores.softmax(-1)
    assert averages[-1] == pytest.approx(float(weights @ value))
    assert f"output  {averages[-1]:.4f}      logsumexp  6 + ln {total:.4f}  =  {logsumexp:.4f}" in lesson
    assert logsumexp == pytest.approx(float(scores.logsumexp(-1)))
    fade = math.exp(3 - 6)
    assert f"exp(3 - 6) = {fade:.4f}: of {sums[0]:.4f} there remains {fade * sums[0]:.4f}" in lesson
    flat = " ".join(lesson.split())
    assert f"over all five scores gives {averages[-1]:.4f} as well" in flat
    largest = torch.tensor([3, 3, 6, 6, 6])  # what each score was measured against
    unfaded = (scores - largest).exp()
    total, numerator = float(unfaded.sum()), float(unfaded @ value)
    assert (
        f"l would be {total:.4f} and a {numerator:.4f}: the output would be {numerator / total:.4f}" in flat
    )
    assert unfaded[1] == unfaded[3]  # key 1 as much as key 3
    given = (query, key, value[:, None])
    dq, dk, dv = solution.tiled_backward(
        query[:, :1], *given, *solution.tiled_attention(*given, block=2), block=2
    )
    assert f"So Δ is the output, {averages[-1]:.4f}" in lesson
    says(lesson, *weights.tolist(), before="\nP = dV")
    torch.testing.assert_close(dv[:, 0], weights)
    slopes = weights * (value - averages[-1])
    says(lesson, *slopes.tolist(), before="\ndS")
    assert float(slopes.sum()) == pytest.approx(0)
    says(lesson, *dk[:, 0].tolist(), before="\ndK")
    says(lesson, float(dq[0, 0]), before="\ndQ")
    assert len({round(number, 9) for number in dq[0].tolist()}) == 1


def test_which_tiles_are_seen() -> None:
    lesson, (queries, keys, block) = LESSONS["tiled-attention"], (7, 10, 4)
    seen = torch.ones(queries, keys).tril(keys - queries)
    output, _ = tiled().tiled_attention(
        torch.zeros(queries, 1), torch.zeros(keys, 1), torch.eye(keys), causal=True, block=block
    )
    assert torch.equal(output > 0, seen > 0)
    for number, row in enumerate(seen.tolist()):
        marks = ("#" if cell else "." for cell in row)
        assert re.search(rf"^query {number} +" + " +".join(map(re.escape, marks)) + "$", lesson, re.M), number
    shares = [float(tile.mean()) for rows in seen.split(block) for tile in rows.split(block, -1)]
    assert (len(shares), shares.count(0.0), shares.count(1.0)) == (6, 1, 3)
    assert "Here one of six is in the future" in lesson
    shown = " ".join(lesson.split())
    assert (
        "two tiles are cut by the diagonal, three are seen whole and one, at the top right, is skipped"
        in shown
    )


def test_what_tiles_hold() -> None:
    lesson, (T, D, block) = LESSONS["tiled-attention"], (8192, 64, 64)
    assert f"A text of {T:,} tokens has {T * T // 10**6} million pairs" in lesson
    assert f"their scores take {32 * T * T * 4 // 2**30} GiB" in lesson
    held = {"scores of all pairs": T * T, "Q, K, V and the output": 4 * T * D, "logsumexp": T,
            "one tile of scores": block * block, "m, l and a of one tile": block * (2 + D)}  # fmt: skip
    for name, count in held.items():
        assert re.search(rf"^\| {re.escape(name)}[^|]* \| {count:,} \|$", lesson, re.M), (name, count)


def test_mixtral_is_counted() -> None:
    lesson, account = LESSONS["mixture-of-experts"], account_of_mixtral()
    for name, count in account.items():
        assert re.search(rf"^\| {re.escape(name)}[^|]* \| {count:,} \|$", lesson, re.M), (name, count)
    whole, active = account["parameters"], account["active for a token"]
    assert f"{whole / 1e9:.1f} billion, of which {active / 1e9:.1f} billion are active" in " ".join(
        lesson.split()
    )


def account_of_mixtral() -> dict[str, int]:
    """Count Mixtral 8x7B: its matrices without experts as a Config of 9.5.5, the rest by hand."""
    width, layers, inner = 4096, 32, 14336
    own = account()
    dense = own.Config(32000, width, layers, 32, 8, inner, gated=True, tied=False)
    expert = 3 * width * inner
    rest = own.parameters(dense) - layers * expert + layers * 8 * width  # routers
    return {"an expert": expert, "8 experts in each of 32 layers": 8 * layers * expert, "all else": rest,
            "parameters": 8 * layers * expert + rest, "active for a token": 2 * layers * expert + rest}  # fmt: skip


# --- 9.9 ---


def test_language_model_capstone() -> None:
    lesson = LESSONS["language-model-capstone"]
    assert f"ln 57 = {math.log(57):.4f}" in lesson
    losses = [-math.log(share) for share in (0.5, 0.25, 0.125)]
    assert "cost {:.4f}, {:.4f} and {:.4f}".format(*losses) in lesson
    mean = sum(losses) / 3
    assert f"{mean:.4f}, as if the model chose among exp({mean:.4f}) = {math.exp(mean):.0f} " in lesson
    says(lesson, *(0.01 * step / 20 for step in (1, 5, 10, 20)), before="\nrate")
    D, hidden, V, length = 64, 128, 57, 64
    attention, network, norms = 4 * D * (D + 1), 2 * D * hidden + hidden + D, 2 * 2 * D
    layer = attention + network + norms
    assert f"{attention:,} numbers in its attention, {network:,} in its network" in lesson
    assert f"and {norms} in its norms: {layer:,}." in lesson
    assert f"make {2 * layer + V * D + length * D + 2 * D + V * (D + 1):,}." in lesson
    says_runs("language-model-capstone", layers=2)
    mean, spread = says_base_runs(lesson, r"Four base runs ended at (.+?): their mean", places=2)
    assert (
        f"their mean is {mean:.2f} and their spread {spread:.2f}, so a claim needs more than {3 * spread:.2f}"
        in lesson
    )
    norm, four = (
        float(end) for end in re.findall(r"(?:another norm|\nfour layers) ended at ([\d.]+\d)", lesson)
    )
    assert f"It is {norm - mean:.2f} away" in lesson
    assert f"and {four - mean:.2f} is a claim" in lesson
    assert norm - mean < 3 * spread < four - mean
    assert (
        f"the distance would have been {1.56 - 1.52:.2f}, and the norm's {norm:.2f}, which is {norm - 1.52:.2f}"
        in lesson
    )


def says_base_runs(lesson: str, pattern: str, places: int) -> tuple[float, float]:
    """Return mean and spread of the base runs whose ends a lesson's example gives, as they round."""
    shown = re.search(pattern, lesson)
    assert shown is not None
    ends = [float(end) for end in re.findall(r"\d\.\d+", shown[1])]
    assert len(ends) == 4
    return round(sum(ends) / 4, places), round(max(ends) - min(ends), places)


def says_runs(slug: str, layers: int) -> None:
    runs = runpy.run_path(str(KATAS / "9.9-capstones" / slug / "runs.py"))
    for run, settings in runs["RUNS"].items():
        positions = "yes" if settings.get("positions", True) else "no"
        shown = (settings.get("norm", "first"), positions, settings.get("num_layers", layers))
        shown = (*shown, settings.get("warmup", 20), runs["seed_of"](run))
        assert re.search(rf"^{run} +" + " +".join(map(str, shown)) + "$", LESSONS[slug], re.M), run


def test_translator_capstone() -> None:
    lesson = LESSONS["translator-capstone"]
    costs = [-math.log(share) for share in (0.5, 0.25, 0.5, 0.8, 0.5)]
    says(lesson, *costs, before="\ncosts")
    mean, padded = sum(costs) / 5, sum(costs) / 6
    assert (
        f"mean over 5 words, {mean:.4f}. Over six places with a zero for padding it would be {padded:.4f}"
        in lesson
    )
    assert f"has 42 tokens. A new model pays ln 42 = {math.log(42):.4f}" in lesson
    words = runpy.run_path(str(KATAS / "given" / "language.py"))["TARGET_WORDS"]
    assert len(words) == 42
    attention = 4 * 48 * 49
    assert f"{attention:,} numbers, so the decoder's two make {2 * attention:,} in each layer" in lesson
    says_runs("translator-capstone", layers=1)
    mean, spread = says_base_runs(lesson, r"Four base runs ended at (.+?): their mean", places=3)
    assert (
        f"their mean is {mean:.3f} and their spread {spread:.3f}, so a claim needs more than {3 * spread:.3f}"
        in lesson
    )
    two, four = (float(end) for end in re.findall(r"(?:run at|one at) ([\d.]+\d)", lesson))
    assert 1.7 < two / mean < 2
    assert two - mean < 3 * spread < four - mean


# --- words ---


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_gives_the_fields_words(name: str) -> None:
    section = re.search(r"^## Words of the field$(.*?)^## ", LESSONS[name], re.M | re.S)
    assert section, "the lesson has no section `Words of the field`"
    terms = re.findall(r"^- \*\*([^*]+)\*\*: \S", section[1], re.M)
    assert len(terms) >= 5


def test_the_words_that_learners_look_up_are_there() -> None:
    everything = " ".join("\n".join([*LESSONS.values(), *UNITS.values()]).split()).lower()
    for term in (
        "autoregressive", "teacher forcing", "exposure bias", "perplexity", "masked language modelling",
        "cross-attention", "residual connection", "information leak",
        "vanishing gradients", "length extrapolation", "key/value cache",
    ):  # fmt: skip
        assert term in everything, term


AMERICAN = re.compile(
    r"\b(?:\w*(?:ormaliz|ecogniz|eneraliz|nitializ|okeniz|ummariz|inimiz|aximiz|entraliz)\w*|colors?|behaviors?|"
    r"neighbors?\w*|centers?|centered|gr[a]y|labeled|modeling|favor\w*|learnt)\b",
    re.I,
)


def test_the_spelling_is_british() -> None:
    """Titles of papers are theirs; so are names of code."""
    for path in [
        *KATAS.glob("*/*.md"),
        *KATAS.glob("*/*/*.md"),
        *KATAS.glob("*/*/kata.toml"),
        *KATAS.glob("*/unit.toml"),
    ]:
        text = re.split(r"^## (?:References|Look further)$", path.read_text(encoding="utf-8"), flags=re.M)[0]
        text = re.sub(r"```.*?```|`[^`]*`|\*[^*\n]+\*, arXiv|\nrequired = [^\n]+", "", text, flags=re.S)
        assert not AMERICAN.findall(text), path


@pytest.mark.parametrize(
    ("sentence", "misread"),
    [
        ("your base is 1000: it is 10000", True),
        ("your base is 1000; it is 10000", True),
        ("your base is 1000; it should be 10000", False),
        ("your cosine starts at twice its height: divide 1 + cos by 2", False),
        ("your mask is late, so each query also sees the next key", False),
        ("your mask is late, so each query also sees the next key; the first query sees one key", True),
        ("your forward returns the output alone", True),
    ],
)
def test_make_lint_sees_a_rule_that_looks_like_a_consequence(
    sentence: str, misread: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    benchmarks = KATAS.parent / "benchmarks"
    monkeypatch.syspath_prepend(benchmarks)
    assert runpy.run_path(str(benchmarks / "words.py"))["is_misread"](sentence) is misread


def test_answers_stand_apart_from_questions() -> None:
    for name, text in UNITS.items():
        if "## Questions" in text:
            questions, _, answers = text.partition("\n## Answers\n")
            asked = questions.partition("## Questions")[2].partition("\n## ")[0]
            assert len(re.findall(r"^\d+\. ", asked, re.M)) == len(re.findall(r"^\d+\. ", answers, re.M)), (
                name
            )
            assert "*" not in asked, "an answer beside its question"
            assert "## " not in answers, "answers come last"


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_refers_to_the_contract_once(name: str) -> None:
    section = LESSONS[name].partition("\n## What you write\n")[2].partition("\n## ")[0]
    assert section.count("[contract of every kata](../../contract.md) (`kata show contract`)") == 1
