"""The optimizer live: paths through a ravine, one bad batch with and without clipping, and the schedule."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from grader.learner.demos.exhibits import Exhibit, choice, lines, question, scatter, table

try:
    from mine import AdamW, clip_gradients, warmup_cosine
except ImportError:  # the learner's does not pass yet: torch's own stand in
    from torch.optim import AdamW

    def clip_gradients(parameters, max_norm: float) -> float:  # type: ignore[no-untyped-def]
        """Clip by torch's own function."""
        return float(nn.utils.clip_grad_norm_(parameters, max_norm))

    def warmup_cosine(step: int, *, warmup: int, total: int, peak: float, floor: float = 0.0) -> float:
        """Read the rate off a line and a circle."""
        if step < warmup:
            return peak / warmup * step
        angle = torch.linspace(0, torch.pi, total - warmup + 1)[min(step, total) - warmup]
        return floor + (peak - floor) * float(1 + angle.cos()) / 2


STEPS = 60
RAVINE = torch.tensor([1.0, 50.0])
"""How steep the ravine is along, and across."""


def demo() -> list[Exhibit]:
    """Return what the kata shows."""
    return [_ravine(), _bad_batch(), _schedule(), _decay(), _training(), _question()]


def height(place: Tensor) -> Tensor:
    """Return the height of the ravine at a place."""
    return (RAVINE * place.square()).sum() / 2


def _ravine() -> Exhibit:
    frames, ends = {}, []
    ways = {
        "gradient descent, lr 0.038": lambda p: torch.optim.SGD(p, lr=0.038),
        "gradient descent, lr 0.005": lambda p: torch.optim.SGD(p, lr=0.005),
        "AdamW, lr 0.1": lambda p: AdamW(p, lr=0.1, weight_decay=0.0),
    }
    for name, make in ways.items():
        place = nn.Parameter(torch.tensor([-2.0, 0.4]))
        optimizer, path = make([place]), [place.detach().clone()]
        for _ in range(STEPS):
            optimizer.zero_grad()
            height(place).backward()
            optimizer.step()
            path.append(place.detach().clone())
        ends.append(f"{name}: {float(height(path[-1])):.4f}")
        points = torch.stack(path)
        frames[name] = scatter(
            "path",
            {"path": points, "begins": points[:1], "ends": points[-1:], "bottom": torch.zeros(1, 2)},
            x_axis="along the ravine",
            y_axis="across",
        )
    return choice(
        f"A ravine 50 times as steep across as along: {STEPS} steps",
        "optimizer",
        frames,
        start=2,
        note=f"Heights at the end, from {float(height(torch.tensor([-2.0, 0.4]))):.1f}, {'; '.join(ends)}. "
        "One rate for both directions is too large for the steep one or too small for the flat one. "
        "AdamW has a size for each.",
    )


def _bad_batch() -> Exhibit:
    curves, ends = {}, []
    for name, max_norm in (("as they come", 1e9), ("clipped to 1", 1.0)):
        place = nn.Parameter(torch.tensor([-2.0, 1.0]))
        optimizer, heights = AdamW([place], lr=0.05, weight_decay=0.0), []
        for step in range(120):
            optimizer.zero_grad()
            place.square().sum().backward()
            if step == 20:
                place.grad.mul_(-1000)  # a batch that is wrong, and loud
            clip_gradients([place], max_norm)
            optimizer.step()
            heights.append(float(place.detach().square().sum()))
        curves[name] = (range(120), heights)
        ends.append(f"{name}: {heights[-1]:.4f}")
    return lines(
        "One batch of 120 has a gradient 1000 times too large, the wrong way",
        curves,
        x_axis="step",
        y_axis="loss",
        note=f"Loss at the end, {'; '.join(ends)}. AdamW takes no giant step; but its moments remember that batch, "
        "and the steps after it follow its direction and are tiny.",
    )


def _schedule() -> Exhibit:
    steps = range(0, 1101, 10)
    curves = {
        f"warm-up {warmup}": (
            steps,
            [warmup_cosine(step, warmup=warmup, total=1000, peak=1.0, floor=0.1) for step in steps],
        )
        for warmup in (0, 100, 400)
    }
    halves = [
        next(
            s for s in steps if s > w and warmup_cosine(s, warmup=w, total=1000, peak=1.0, floor=0.1) <= 0.55
        )
        for w in (0, 100, 400)
    ]
    return lines(
        "Warm-up and half a cosine: total 1000, peak 1, floor 0.1",
        curves,
        x_axis="step",
        y_axis="rate",
        note=f"Half way between peak and floor they are at steps {', '.join(map(str, halves))}: half way "
        "from warmup to total.",
    )


def _decay() -> Exhibit:
    rows = []
    for scale in (0.01, 1.0, 100.0):
        found = []
        for coupled in (False, True):
            generator = torch.Generator().manual_seed(0)
            place = nn.Parameter(torch.tensor([1.0]))
            optimizer = AdamW([place], lr=0.01, weight_decay=0.0 if coupled else 0.1)
            for _ in range(300):
                noise = scale * torch.randn(1, generator=generator)
                place.grad = noise + (0.1 * place.detach() if coupled else 0.0)
                optimizer.step()
            found.append(f"{float(place.detach()):.3f}")
        rows.append([f"{scale:g}", *found])
    return table(
        "A weight that starts at 1, with noise for gradients: 300 steps with weight decay 0.1",
        ["size of the noise", "decoupled (AdamW)", "added to the gradient (L2)"],
        rows,
        note="Decoupled, decay does the same whatever the gradients' size. Added to the gradient it is divided by that "
        "size, so that it is strong where gradients are small and next to nothing where they are large.",
    )


def _training() -> Exhibit:
    curves, ends = {}, []
    for name, scheduled, norm in (
        ("rate 0.03 throughout", False, 1e9),
        ("warm-up and cosine", True, 1e9),
        ("warm-up, cosine, clipped to 1", True, 1.0),
    ):
        torch.manual_seed(0)
        generator = torch.Generator().manual_seed(1)
        model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 4))
        teacher = torch.randn(8, 4, generator=generator)
        optimizer, losses = AdamW(model.parameters(), lr=0.03), []
        for step in range(200):
            x = torch.randn(32, 8, generator=generator)
            loss = F.cross_entropy(model(x), (x @ teacher).argmax(-1))
            optimizer.zero_grad()
            loss.backward()
            clip_gradients(model.parameters(), norm)
            if scheduled:
                for group in optimizer.param_groups:
                    group["lr"] = warmup_cosine(step, warmup=20, total=200, peak=0.03)
            optimizer.step()
            losses.append(float(loss))
        smooth = [sum(losses[max(0, s - 9) : s + 1]) / len(losses[max(0, s - 9) : s + 1]) for s in range(200)]
        curves[name] = (range(200), smooth)
        ends.append(f"{name}: {sum(losses[-20:]) / 20:.3f}")
    return lines(
        "A small network, trained three ways (loss, mean of 10 steps)",
        curves,
        x_axis="step",
        y_axis="loss",
        log_y=True,
        note=f"Mean loss of the last 20 steps, {'; '.join(ends)}. One network and one seed; what it shows is the "
        "end: a rate that falls lets the loss settle.",
    )


def _question() -> Exhibit:
    return question(
        "One batch has a gradient a thousand times too large. Which curve jumps, and what do the steps after "
        "it look like under AdamW?",
        seen="One batch of 120",
        answer="Plain descent jumps, and with clipping it does not. AdamW takes no giant step, but its moments "
        "remember the batch: the steps after it are tiny and go the wrong way.",
    )
