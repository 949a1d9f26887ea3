"""Experts live: a small model reads stories, and its experts share the work, or do not."""

from __future__ import annotations

import story
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from grader.learner.demos.exhibits import Exhibit, bars, choice, heatmap, lines, panel, question, table

try:
    from mine import MoE, balance_loss, route
except ImportError:  # the learner's do not pass yet: a table of tokens and experts, in which nothing is saved

    def route(logits: Tensor, k: int) -> tuple[Tensor, Tensor]:
        """Choose one expert after the other."""
        left, chosen = logits, []
        for _ in range(k):
            chosen.append(left.argmax(-1, keepdim=True))
            left = left.scatter(-1, chosen[-1], -torch.inf)
        experts = torch.cat(chosen, -1)
        return logits.gather(-1, experts).softmax(-1), experts

    class MoE(nn.Module):  # type: ignore[no-redef]
        """All experts for all rows."""

        def __init__(self, d_model: int, d_ff: int, experts: int, k: int, capacity: int | None = None) -> None:
            super().__init__()
            self.k, self.capacity = k, capacity or 10**9
            self.router = nn.Linear(d_model, experts, bias=False)
            networks = (nn.ModuleDict({"linear1": nn.Linear(d_model, d_ff), "linear2": nn.Linear(d_ff, d_model)})
                        for _ in range(experts))  # fmt: skip
            self.experts, self.shared = nn.ModuleList(networks), nn.ModuleList()

        def forward(self, x: Tensor) -> Tensor:
            """Return the shape of x."""
            logits = self.router(x.flatten(0, 1))
            weights, chosen = route(logits, self.k)
            gates = torch.zeros_like(logits).scatter(1, chosen, weights)
            gates = gates * (gates.gt(0).cumsum(0) <= self.capacity)
            answers = [network["linear2"](F.gelu(network["linear1"](x.flatten(0, 1)))) for network in self.experts]
            return torch.einsum("ne,end->nd", gates, torch.stack(answers)).view_as(x)

    def balance_loss(logits: Tensor, experts: Tensor) -> Tensor:
        """Compare counts with probabilities."""
        counts = F.one_hot(experts, logits.shape[-1]).sum(-2).float()
        return (counts.mean(0) / experts.shape[-1] * logits.softmax(-1).mean(0)).sum() * logits.shape[-1]


READ, WIDTH, INNER, EXPERTS, K = 8, 64, 32, 16, 2
"""Characters that the model sees, the sizes of its layer."""
STEPS, BATCH, SHOWN, WAYS = 150, 512, (0, 5, 10, 20, 50, 100, 150), {"without": 0.0, "with": 0.1}
"""How it is trained, after which steps its loads are shown, and how much the balance loss counts."""
KINDS = {"vowel": "aeiou", "consonant": "bcdfghjklmnpqrstvwxyz", "capital": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
         "blank": " \n", "mark": ",.?"}  # fmt: skip


class Reader(nn.Module):
    """Predicts a character from those before it: embeddings side by side, one mixture of experts, a head."""

    def __init__(self, capacity: int | None = None) -> None:
        super().__init__()
        self.tokens, self.join = nn.Embedding(len(story.CHARACTERS), 16), nn.Linear(16 * READ, WIDTH)
        self.moe = MoE(WIDTH, INNER, EXPERTS, K, capacity)
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, len(story.CHARACTERS))

    def forward(self, windows: Tensor) -> tuple[Tensor, Tensor]:
        """Return the next character's logits [N, V] and those of the router [N, E]."""
        x = self.join(self.tokens(windows).flatten(1))
        return self.head(self.norm(x + self.moe(x[None])[0])), self.moe.router(x)


def demo() -> list[Exhibit]:
    """Return what the kata shows."""
    models = {name: _trained(weight) for name, weight in WAYS.items()}
    loads = {name: found for name, (_, found) in models.items()}
    windows, following = _windows(story.encode(story.text(story.HELD_OUT, 20)))
    return [
        _loads(loads),
        _curves(loads),
        _capacities({name: model for name, (model, _) in models.items()}, windows, following),
        _kinds(models["with"][0], windows),
        _question(),
    ]


def _windows(text: Tensor) -> tuple[Tensor, Tensor]:
    """Return all windows of a text, and the character that follows each."""
    return text[:-1].unfold(0, READ, 1), text[READ:]


def _trained(weight: float) -> tuple[Reader, Tensor]:
    """Train a model; return it with each expert's share of the choices in each step [steps, E]."""
    torch.manual_seed(0)
    model, draw = Reader(), torch.Generator().manual_seed(0)
    windows, following = _windows(story.encode(story.text(0, 300)))
    optimizer, loads = torch.optim.Adam(model.parameters(), lr=0.01), []
    for _ in range(STEPS + 1):
        batch = torch.randint(len(windows), (BATCH,), generator=draw)
        predicted, logits = model(windows[batch])
        experts = route(logits, K)[1]
        loads.append(experts.flatten().bincount(minlength=EXPERTS) / experts.numel())
        loss = F.cross_entropy(predicted, following[batch]) + weight * balance_loss(logits, experts)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model, torch.stack(loads)


def _loads(loads: dict[str, Tensor]) -> Exhibit:
    """Show what each expert takes, after several steps."""
    frames = {
        step: bars(
            "shares of all choices", range(EXPERTS),
            {name: [round(share, 3) for share in found[step].tolist()] for name, found in loads.items()},
            y_axis="share",
            note="Experts with less than a tenth of an even share: "
            + ", ".join(f"{int((found[step] < 0.1 / EXPERTS).sum())} {name}" for name, found in loads.items()) + ".",
        )
        for step in SHOWN
    }  # fmt: skip
    return choice(f"What each of {EXPERTS} experts takes, without and with the balance loss", "step", frames,
                  start=len(SHOWN) - 1, slider=True,
                  note=f"{1 / EXPERTS:.4f} is an even share. A token goes to {K} experts, so none can have more than "
                  f"{1 / K:g}.")  # fmt: skip


def _curves(loads: dict[str, Tensor]) -> Exhibit:
    """Show how uneven the loads are, at each step."""
    most = {name: found.amax(1) * EXPERTS for name, found in loads.items()}
    smooth = {name: values.unfold(0, 5, 1).mean(1).tolist() for name, values in most.items()}
    return lines(
        "The busiest expert, step by step",
        {f"{name} balance loss": (range(2, STEPS - 1), values) for name, values in smooth.items()},
        x_axis="step", y_axis="times an even share",
        note="It is ahead by chance, learns most, and is chosen again: at its worst it has "
        f"{max(smooth['without']):.1f} times its share. With the balance loss the "
        f"busiest one ends with {smooth['with'][-1]:.1f} times its share. That loss counts "
        f"{WAYS['with']:g} times here, more than usual, since the steps are few.",
    )  # fmt: skip


@torch.no_grad()
def _capacities(models: dict[str, Reader], windows: Tensor, following: Tensor) -> Exhibit:
    """Give both models little room, and show what is lost."""
    rows, even = [], len(windows) * K / EXPERTS
    for factor in (1.0, 1.25, 2.0, None):
        cells: list[object] = ["no limit" if factor is None else f"{factor:g} × even"]
        for model in models.values():
            capacity = None if factor is None else int(factor * even)
            limited = Reader(capacity)
            limited.load_state_dict(model.state_dict())
            predicted, logits = limited(windows)
            counts = route(logits, K)[1].flatten().bincount(minlength=EXPERTS)
            lost = 0.0 if capacity is None else float((counts - capacity).clamp(min=0).sum() / counts.sum())
            cells += [f"{lost:.0%}", f"{float(F.cross_entropy(predicted, following)):.2f}"]
        rows.append(cells)
    columns = ["capacity", *(f"{name}: {what}" for name in models for what in ("dropped", "nats"))]
    return table(
        "Little room: choices that are dropped, and what a character of new stories costs", columns, rows,
        note="Without a limit one model is about as good as the other. With a limit, what is uneven is lost.",
    )  # fmt: skip


@torch.no_grad()
def _kinds(model: Reader, windows: Tensor) -> Exhibit:
    """Show which characters go to which expert."""
    experts = route(model(windows)[1], K)[1]
    shares = [
        experts[torch.isin(windows[:, -1], story.encode(letters))].flatten().bincount(minlength=EXPERTS).float()
        for letters in KINDS.values()
    ]
    values = torch.stack([counts / counts.sum() for counts in shares])
    return heatmap(
        "Where characters go, with the balance loss", [panel("share", values, list(KINDS), range(EXPERTS))],
        row_axis="last character", column_axis="expert",
        note="Each row adds up to 1. Nobody said what an expert is for; the router found kinds of its own.",
    )  # fmt: skip


def _question() -> Exhibit:
    return question(
        "Without the balance loss, new stories cost about as much. What is it good for, then?",
        seen="Little room",
        answer="For room and for machines. Without it a few experts do most of the work and some hardly any. If each "
        "has a fixed number of places, many choices are dropped, and the loss grows. These stories are simple, so that "
        "a few experts suffice; but all of them have to be in memory.",
    )
