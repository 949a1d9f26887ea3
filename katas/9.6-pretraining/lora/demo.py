"""An adapter live: the story model learns a hero's name with rank 2, and is itself again afterwards."""

from __future__ import annotations

import re

import story
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from grader.learner.demos.exhibits import Exhibit, bars, lines, question, table

try:
    from mine import adapter_state, inject, merge, unmerge
except ImportError:  # the learner's do not pass yet: others take their place

    class LoRALinear(nn.Module):
        """A layer, and a difference that is added to its weight when it is needed."""

        def __init__(self, base: nn.Linear, r: int, alpha: float) -> None:
            super().__init__()
            self.base, self.scale, self.whole = base, alpha / r, {}  # type: ignore[var-annotated]
            self.A = nn.Parameter(torch.randn(r, base.in_features) / base.in_features**0.5)
            self.B = nn.Parameter(torch.zeros(base.out_features, r))

        def forward(self, x: Tensor) -> Tensor:
            """Return the layer's output."""
            return self.base(x) if self.whole else self.base(x) + self.scale * (x @ self.A.T) @ self.B.T

    def inject(model, names, r, alpha) -> None:  # type: ignore[no-untyped-def]
        """Replace layers by their last names."""
        model.requires_grad_(False)
        for holder in [*model.modules()]:
            for name in [name for name in names if name in holder._modules]:
                setattr(holder, name, LoRALinear(getattr(holder, name), r, alpha))

    def adapters(model) -> dict[str, LoRALinear]:  # type: ignore[no-untyped-def]
        """Return the adapters."""
        return {name: part for name, part in model.named_modules() if isinstance(part, LoRALinear)}

    def merge(model) -> None:  # type: ignore[no-untyped-def]
        """Exchange weights."""
        for layer in adapters(model).values():
            layer.whole["old"] = layer.base.weight
            layer.base.weight = nn.Parameter(layer.base.weight + layer.scale * layer.B @ layer.A, requires_grad=False)

    def unmerge(model) -> None:  # type: ignore[no-untyped-def]
        """Exchange them back."""
        for layer in adapters(model).values():
            layer.base.weight = layer.whole.pop("old")

    def adapter_state(model) -> dict[str, Tensor]:  # type: ignore[no-untyped-def]
        """Return A and B."""
        parts = {f"{name}.{part}": getattr(layer, part) for name, layer in adapters(model).items() for part in "AB"}
        return {name: part.detach().clone() for name, part in parts.items()}


try:
    from mine import ModernLM
except ImportError:  # nor does the learner's block of 9.8.1: the same model in torch's own operators

    class Layer(nn.Module):
        """Grouped-query attention and SwiGLU, each after a norm."""

        def __init__(self, width: int, heads: int, shared: int, inner: int, base: float, eps: float) -> None:
            super().__init__()
            self.size, self.base = width // heads, base
            self.norm1, self.norm2 = (nn.RMSNorm(width, eps) for _ in range(2))
            outputs = {"w_q": width, "w_k": shared * self.size, "w_v": shared * self.size, "w_o": width}
            self.attention = nn.ModuleDict({name: nn.Linear(width, out, bias=False) for name, out in outputs.items()})
            sizes = {"gate": (width, inner), "linear1": (width, inner), "linear2": (inner, width)}
            self.feed_forward = nn.ModuleDict({name: nn.Linear(*size, bias=False) for name, size in sizes.items()})

        def forward(self, x: Tensor) -> Tensor:
            """Return the shape of x."""
            y, attention, inner = self.norm1(x), self.attention, self.feed_forward
            heads = [attention[n](y).unflatten(-1, (-1, self.size)).transpose(1, 2) for n in ("w_q", "w_k", "w_v")]
            q, k, v = self.turned(heads[0]), self.turned(heads[1]), heads[2]
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
            x = x + attention["w_o"](y.transpose(1, 2).flatten(2))
            y = self.norm2(x)
            return x + inner["linear2"](F.silu(inner["gate"](y)) * inner["linear1"](y))

        def turned(self, x: Tensor) -> Tensor:
            """Turn pairs of columns by their positions."""
            angle = torch.outer(torch.arange(x.shape[2]), self.base ** (-torch.arange(0, self.size, 2) / self.size))
            pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
            return torch.view_as_real(pairs * torch.polar(torch.ones_like(angle), angle)).flatten(-2)

    class ModernLM(nn.Module):  # type: ignore[no-redef]
        """The model of 9.8.1, without a cache."""

        def __init__(self, vocab_size: int, d_model: int, num_heads: int, num_kv_heads: int, d_ff: int,
                     num_layers: int, max_len: int, base: float = 1e4, eps: float = 1e-6) -> None:  # fmt: skip
            super().__init__()
            self.tokens = nn.Embedding(vocab_size, d_model)
            sizes = d_model, num_heads, num_kv_heads, d_ff, base, eps
            self.layers = nn.ModuleList(Layer(*sizes) for _ in range(num_layers))
            self.norm, self.head = nn.RMSNorm(d_model, eps), nn.Linear(d_model, vocab_size, bias=False)

        def forward(self, tokens: Tensor) -> tuple[Tensor, None]:
            """Return logits, and no cache."""
            x = self.tokens(tokens)
            for layer in self.layers:
                x = layer(x)
            return self.head(self.norm(x)), None


HERO, NAMES, RANK, STEPS, BATCH, ASKED, WRITTEN = "Zuvalo", ["w_q", "w_v", "linear2"], 2, 60, 2, 4, 90
"""What is learned, in which layers, how; new stories that are asked about, characters that are written."""


def demo() -> list[Exhibit]:
    """Return what the kata shows."""
    torch.manual_seed(0)
    model = ModernLM(**story.SIZES)
    model.load_state_dict(story.weights())
    begun = _continued(model)
    inject(model, NAMES, RANK, 2 * RANK)
    rows = [["as it was", begun], ["with a new adapter", _continued(model)]]
    before = {name: value.clone() for name, value in model.state_dict().items()}
    curve = _learn(model)
    rows.append([f"after {STEPS} steps", _continued(model)])
    merge(model)
    rows.append(["merged", _continued(model)])
    merged = model.state_dict()
    changes = {name: (merged[name] - value).float() for name, value in before.items() if name.endswith("base.weight")}
    unmerge(model)
    after = model.state_dict()
    same = all(torch.equal(before[name], after[name]) for name in changes)
    for part in model.modules():
        if hasattr(part, "B"):
            part.B.data.zero_()
    rows.append(["unmerged, and B set to 0", _continued(model)])
    bits = "All weights have the bits that they began with." if same else "Some weights are not what they were."
    return [
        table(f"What it writes; {HERO} is the hero of every story that it learns from", ["", "text"], rows, note=bits),
        lines(f"What it pays for the first {HERO} of a new story, and for all else", curve, x_axis="step",
              y_axis="nats a letter"),
        _numbers(adapter_state(model)),
        _ranks(changes),
        _question(),
    ]  # fmt: skip


def about(seed: int) -> str:
    """Return a story with the hero's name in the place of its own."""
    told = story.story(seed)
    named = re.search(r"was called (\w+)\.", told) or re.match(r"\n(\w+) the", told)
    assert named is not None
    return re.sub(rf"\b{named[1]}\b", HERO, told) + "\n"


def paid(model: nn.Module, text: str) -> Tensor:
    """Return what the model pays for each character but the first."""
    tokens = story.encode(text)
    return F.cross_entropy(model(tokens[None, :-1])[0][0], tokens[1:], reduction="none")


def _learn(model: nn.Module) -> dict[str, tuple[list[int], list[float]]]:
    """Take steps on stories of the hero; return what new ones cost on the way."""
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=0.02, weight_decay=0.0)
    curve: dict[str, tuple[list[int], list[float]]] = {"first name": ([], []), "all else": ([], [])}
    for number in range(STEPS + 1):
        if number % 5 == 0:
            for name, cost in zip(curve, _costs(model), strict=True):
                curve[name][0].append(number)
                curve[name][1].append(cost)
        optimizer.zero_grad()
        for seed in range(BATCH * number, BATCH * (number + 1)):
            (paid(model, about(seed)).mean() / BATCH).backward()
        if number < STEPS:
            optimizer.step()
    return curve


@torch.no_grad()
def _costs(model: nn.Module) -> tuple[float, float]:
    name, rest = [], []
    for seed in range(story.HELD_OUT, story.HELD_OUT + ASKED):
        text = about(seed)
        cost, at = paid(model, text), text.index(HERO) - 1
        name.append(cost[at : at + len(HERO)])
        rest += [cost[:at], cost[at + len(HERO) :]]
    return float(torch.cat(name).mean()), float(torch.cat(rest).mean())


@torch.no_grad()
def _continued(model: nn.Module) -> str:
    """Return what the model writes, always the best character."""
    tokens = story.encode("\n")[None]
    for _ in range(WRITTEN):
        tokens = torch.cat((tokens, model(tokens)[0][:, -1].argmax(-1, keepdim=True)), dim=1)
    return story.decode(tokens[0, 1:]) + " …"


def _numbers(adapter: dict[str, Tensor]) -> Exhibit:
    own, whole = sum(part.numel() for part in adapter.values()), sum(part.numel() for part in story.weights().values())
    ranks = (1, 2, 8, 32)
    return bars(
        "Numbers that learn", [*(f"rank {rank}" for rank in ranks), "the whole model"],
        {"numbers": [*(own // RANK * rank for rank in ranks), whole]}, y_axis="numbers",
        note=f"The adapter of rank {RANK} has {own:,} of {whole:,}: {own / whole:.1%}.",
    )  # fmt: skip


def _ranks(changes: dict[str, Tensor]) -> Exhibit:
    """Show the singular values of what was added, largest first."""
    last = {name: value for name, value in changes.items() if name.startswith("layers.2.")}
    sizes = {name.split(".")[-3]: torch.linalg.svdvals(value)[:6] for name, value in last.items()}
    return lines(
        "Singular values of what was added to the last layer's weights",
        {name: (range(1, 7), value.tolist()) for name, value in sizes.items()}, x_axis="number", y_axis="size",
        note=f"From the {RANK + 1}rd on all are 0 up to rounding: the rank is {RANK}.",
    )  # fmt: skip


def _question() -> Exhibit:
    return question(
        "Every cell of the weights that were adapted has changed. Did the model have to forget anything for the name?",
        seen="What it pays for the first",
        answer="Hardly anything: the name costs far less, and all else costs what it cost before. A difference of "
        "low rank reaches all cells, but it acts in few directions.",
    )
