"""The decoder layer live: what an output depends on, where it learns to look, and what a wrong mask costs."""

from __future__ import annotations

import torch
from mine import EncoderLayer, sinusoidal_positions
from torch import Tensor, nn
from torch.nn import functional as F

from grader.learner.demos.exhibits import Exhibit, choice, heatmap, lines, panel, question, table

try:
    from mine import Decoder, DecoderLayer
except ImportError:  # the learner's does not pass yet: torch's own stands in, which calls True what is hidden

    def _hidden(mask: Tensor | None) -> Tensor | None:
        return None if mask is None else ~mask

    class DecoderLayer(nn.TransformerDecoderLayer):  # type: ignore[no-redef]
        """Torch's layer with our arguments."""

        def __init__(self, d_model: int, num_heads: int, d_ff: int) -> None:
            super().__init__(d_model, num_heads, d_ff, dropout=0.0, batch_first=True, norm_first=True)
            self.self_attention, self.cross_attention = self.self_attn, self.multihead_attn
            self.feed_forward = nn.ModuleList([self.linear1, self.linear2])

        def forward(self, x: Tensor, memory: Tensor, self_mask: Tensor | None = None,
                    memory_mask: Tensor | None = None) -> Tensor:  # fmt: skip
            """Turn the masks round."""
            return super().forward(x, memory, _hidden(self_mask), _hidden(memory_mask))

    class Decoder(nn.Module):  # type: ignore[no-redef]
        """Layers, and a norm."""

        def __init__(self, num_layers: int, *sizes: int) -> None:
            super().__init__()
            self.layers = nn.ModuleList(DecoderLayer(*sizes) for _ in range(num_layers))
            self.norm = nn.LayerNorm(sizes[0])

        def forward(self, x: Tensor, *rest: Tensor | None) -> Tensor:
            """One after the other."""
            for one in self.layers:
                x = one(x, *rest)
            return self.norm(x)


D_MODEL, HEADS, D_FF = 32, 4, 64
WORDS, LENGTH = 12, 8
STEPS, SHOWN = 240, (0, 40, 80, 160, 240)


def demo() -> list[Exhibit]:
    """Return what the kata shows."""
    return [_parameters(), _hangs_on(), *_reversed(), _question()]


def count(module: nn.Module) -> int:
    """Return the number of parameters."""
    return sum(parameter.numel() for parameter in module.parameters())


def causal(length: int) -> Tensor:
    """Return who may look at whom in what is written."""
    return torch.ones(length, length, dtype=torch.bool).tril()


def _parameters() -> Exhibit:
    layer, encoder = DecoderLayer(512, 8, 2048), EncoderLayer(512, 8, 2048)
    rows = []
    for name in ("self_attention", "cross_attention", "feed_forward", "norm1", "norm2", "norm3"):
        size = count(getattr(layer, name))
        rows.append([name, f"{size:,}", f"{size / count(layer):.0%}"])
    return table(
        "Where the parameters are (D = 512, 8 heads, d_ff = 2048)",
        ["part", "parameters", "share"],
        [*rows, ["decoder layer", f"{count(layer):,}", "100%"], ["encoder layer", f"{count(encoder):,}", ""]],
        note=f"A decoder layer has {count(layer) / count(encoder):.2f} times as many as an encoder layer: it has one "
        "more attention and one more norm.",
    )


def sensitivity(outputs: Tensor, source: Tensor) -> Tensor:
    """Return how much the output at each position [T] depends on each position of a source [1, S, D]: [T, S]."""
    rows = []
    for output in outputs[0]:
        (gradient,) = torch.autograd.grad(output.square().sum(), source, retain_graph=True)
        rows.append(gradient[0].norm(dim=-1))
    table = torch.stack(rows)
    return table / table.amax(-1, keepdim=True).clamp(min=1e-12)


def faint(table: Tensor) -> Tensor:
    """Return 1 for the largest of a row, 0 for a thousandth of it or less, and equal steps for equal factors."""
    return (1 + table.clamp(min=1e-9).log10() / 3).clamp(min=0)


def _hangs_on() -> Exhibit:
    torch.manual_seed(0)
    layer, T, S = DecoderLayer(D_MODEL, HEADS, D_FF), 5, 6
    weights = torch.randn(D_MODEL, D_MODEL) / D_MODEL**0.5
    masks = {
        "as it should be": (causal(T), None),
        "no mask at all": (None, None),
        "padding of the source hidden": (causal(T), (torch.arange(S) < 4).expand(T, S)),
        "causal over the memory too": (causal(T), torch.ones(T, S, dtype=torch.bool).tril()),
    }
    frames = {}
    for name, pair in masks.items():
        x = torch.randn(1, T, D_MODEL, requires_grad=True)
        memory = torch.randn(1, S, D_MODEL, requires_grad=True)
        y = layer(x, memory, *pair) @ weights  # a norm's own squares would sum to the same number everywhere
        frames[name] = heatmap(
            "what an output depends on",
            [
                panel("on x", faint(sensitivity(y, x)), range(T), range(T)),
                panel("on the memory", faint(sensitivity(y, memory)), range(T), range(S)),
            ],
            row_axis="output at",
            column_axis="input at",
        )
    return choice(
        "What each output depends on: gradients of an untrained layer",
        "masks",
        frames,
        note="1 is the largest gradient of a row, 0 a thousandth of it or none: nothing from there reaches the "
        "output. Left is what was written, right is what was read. The causal mask applies to the left table alone: "
        "the whole source was there before the first word was written.",
    )


class Model(nn.Module):
    """A decoder with an embedded source."""

    def __init__(self) -> None:
        super().__init__()
        self.source, self.target = nn.Embedding(WORDS, D_MODEL), nn.Embedding(WORDS + 1, D_MODEL)
        self.decoder, self.head = Decoder(1, D_MODEL, HEADS, D_FF), nn.Linear(D_MODEL, WORDS)

    def memory(self, source: Tensor) -> Tensor:
        """Return what stands for the source: words and their places. An encoder would know more."""
        return self.source(source) + sinusoidal_positions(LENGTH, D_MODEL)

    def forward(self, target: Tensor, memory: Tensor, memory_mask: Tensor | None) -> Tensor:
        """Return logits [B, T, words]."""
        x = self.target(target) + sinusoidal_positions(LENGTH, D_MODEL)
        return self.head(self.decoder(x, memory, causal(LENGTH), memory_mask))


def _texts(generator: torch.Generator, number: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return sources, what a decoder has written before each word (it begins with a word of its own), and the words."""
    source = torch.randint(WORDS, (number, LENGTH), generator=generator)
    wanted = source.flip(1)
    return source, torch.cat([torch.full((number, 1), WORDS), wanted[:, :-1]], 1), wanted


def _looks(model: Model, target: Tensor, memory: Tensor) -> Tensor:
    """Return how much the score of each word depends on each position of the memory."""
    memory = memory[:1].detach().requires_grad_()
    logits = model(target[:1], memory, None)
    return sensitivity(logits.gather(-1, logits.argmax(-1, keepdim=True)), memory)


def _reversed() -> list[Exhibit]:
    ways = {
        "the whole memory": None,
        "causal over the memory too": causal(LENGTH),
        "no memory": torch.zeros(LENGTH, LENGTH, dtype=torch.bool),
    }
    curves, frames, ends = {}, {}, {}
    for name, mask in ways.items():
        torch.manual_seed(0)
        model, generator = Model(), torch.Generator().manual_seed(1)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        shown = _texts(torch.Generator().manual_seed(2), 1)
        for step in range(STEPS + 1):
            if mask is None and step in SHOWN:
                frames[step] = heatmap(
                    "looks",
                    [
                        panel(
                            f"after {step} steps",
                            _looks(model, shown[1], model.memory(shown[0])),
                            range(LENGTH),
                            range(LENGTH),
                        )
                    ],
                    row_axis="word written",
                    column_axis="word of the source",
                )
            source, written, wanted = _texts(generator, 32)
            loss = F.cross_entropy(model(written, model.memory(source), mask).flatten(0, 1), wanted.flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        source, written, wanted = _texts(generator, 400)
        with torch.no_grad():
            right = (model(written, model.memory(source), mask).argmax(-1) == wanted).float().mean(0)
        curves[name] = (range(LENGTH), right)
        ends[name] = right
    cut = ends["causal over the memory too"]
    early, late = float(cut[: LENGTH // 2].mean()), float(cut[LENGTH // 2 :].mean())
    return [
        choice(
            f"One layer learns to write {LENGTH} words backwards: where each word looks in the source",
            "training step",
            frames,
            start=len(SHOWN) - 1,
            slider=True,
            note=f"At the end {float(ends['the whole memory'].mean()):.0%} of the words of new texts are right. The "
            "diagonal from the upper right is the alignment: word 0 is the source's last. Nobody told the layer: "
            "queries that know their own place have learned which key to ask for.",
        ),
        lines(
            "The same task under three masks for the memory",
            curves,
            x_axis="word written",
            y_axis="share right",
            note="Under a causal mask over the memory, word t sees the source up to its word t. Then "
            f"{early:.0%} of the first half are right and {late:.0%} of the second: what has to be written early is "
            f"late in the source. A guess is right in {1 / WORDS:.0%}.",
        ),
    ]


def _question() -> Exhibit:
    return question(
        "The causal mask hides later words of what is written. Does it hide anything of what was read?",
        seen="What each output depends on",
        answer="No. In the right-hand table every output depends on all of the memory; only the left-hand table has "
        "an empty corner.",
    )
