"""The decoder live: teacher forcing against one pass per token, the cache, text before and after training."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable

import torch
from mine import FeedForward, LayerNorm, MultiHeadAttention, causal_mask, sinusoidal_positions
from torch import Tensor, nn
from torch.nn import functional as F

from grader.demos.exhibits import Exhibit, lines, table, text

try:
    from mine import DecoderLM, generate, next_token_loss

    OWN = True
except ImportError:  # the learner's does not pass yet: a small one without a cache stands in
    OWN = False

    class DecoderLM(nn.Module):  # type: ignore[no-redef]
        """Embeddings, masked layers, and scores for every word."""

        def __init__(self, vocab_size: int, d_model: int = 64, num_heads: int = 4, d_ff: int = 128, num_layers: int = 2,
                     max_len: int = 128) -> None:  # fmt: skip
            super().__init__()
            self.embed, self.head = nn.Embedding(vocab_size, d_model), nn.Linear(d_model, vocab_size)
            parts = ((LayerNorm(d_model), MultiHeadAttention(d_model, num_heads), LayerNorm(d_model),
                      FeedForward(d_model, d_ff)) for _ in range(num_layers))  # fmt: skip
            self.layers = nn.ModuleList([nn.ModuleList(part) for part in parts])
            self.register_buffer("positions", sinusoidal_positions(max_len, d_model), persistent=False)

        def forward(self, tokens: Tensor, cache: object = None) -> tuple[Tensor, None]:
            """Return logits [B, T, V] for tokens [B, T], and no cache."""
            x = self.embed(tokens) + self.positions[: tokens.shape[1]]
            mask = causal_mask(tokens.shape[1])
            for norm1, attention, norm2, feed_forward in self.layers:
                x = x + attention(norm1(x), mask)
                x = x + feed_forward(norm2(x))
            return self.head(x), None

    def next_token_loss(logits: Tensor, tokens: Tensor) -> Tensor:
        """Return the mean cross entropy of each next token."""
        return F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())

    @torch.no_grad()
    def generate(model: nn.Module, prompt: Tensor, max_new_tokens: int) -> Tensor:
        """Return the prompt and greedy new tokens."""
        for _ in range(max_new_tokens):
            best = model(prompt)[0][:, -1].argmax(-1, keepdim=True)
            prompt = torch.cat([prompt, best], dim=1)
        return prompt


TEXT = (
    "A lamp on the hill says where the harbour is. A bell in the harbour says when the fog is thick. "
    "When the lamp is out the bell is rung, and when the bell is still the lamp is lit. "
)
LENGTHS = [16, 32, 64, 128, 256]


def demo() -> list[Exhibit]:
    """Return what the kata shows."""
    torch.manual_seed(0)
    shown = [_forcing(), _recurrence()]
    if OWN:
        shown.append(_cache())
    return [*shown, *_training()]


def _forcing() -> Exhibit:
    model = DecoderLM(40, max_len=LENGTHS[-1]).eval()
    rows = []
    for length in LENGTHS:
        tokens = torch.randint(40, (1, length))
        together = _median_ms(lambda tokens=tokens: model(tokens), 5)
        alone = _median_ms(
            lambda tokens=tokens: [model(tokens[:, : t + 1]) for t in range(tokens.shape[1])], 1
        )
        rows.append([length, round(together, 2), round(alone, 1), f"{alone / together:.0f}×"])
    return table(
        "Guessing every next token of a text: one pass, or one pass per token (measured here)",
        ["length", "teacher forcing, ms", "token by token, ms", "ratio"],
        rows,
        note="In training the right tokens are known, so all positions run at once; the mask keeps it honest. "
        "The ratio grows with the length and depends on the machine: this is what yours gives.",
    )


def _recurrence() -> Exhibit:
    attention, rnn = MultiHeadAttention(64, 4).eval(), nn.RNNCell(64, 64)
    attended, stepped = [], []
    for length in LENGTHS:
        x, mask = torch.randn(1, length, 64), causal_mask(length)
        attended.append(_median_ms(lambda x=x, mask=mask: attention(x, mask), 5))
        stepped.append(_median_ms(lambda x=x: _unroll(rnn, x), 3))
    return lines(
        "An RNN's steps beside one pass of attention (measured here)",
        {
            "attention, all positions at once": (LENGTHS, attended),
            "RNN, one step after the other": (LENGTHS, stepped),
        },
        x_axis="length",
        y_axis="ms",
        log_x=True,
        log_y=True,
        note="The RNN does less arithmetic, but step t waits for step t - 1. Attention does T² and waits for nothing.",
    )


def _unroll(rnn: nn.RNNCell, x: Tensor) -> Tensor:
    state = torch.zeros(1, 64)
    for t in range(x.shape[1]):
        state = rnn(x[:, t], state)
    return state


def _cache() -> Exhibit:
    model = DecoderLM(40, max_len=LENGTHS[-1]).eval()
    rows = []
    for length in LENGTHS[:-1]:
        tokens = torch.randint(40, (1, length + 1))
        _, cache = model(tokens[:, :-1])
        with_cache = _median_ms(lambda t=tokens, c=cache: model(t[:, -1:], c), 7)
        without = _median_ms(lambda t=tokens: model(t), 7)
        rows.append([length, round(without, 2), round(with_cache, 2), f"{without / with_cache:.1f}×"])
    return table(
        "One more token behind a prefix: all again, or with the cache (measured here)",
        ["prefix", "all again, ms", "with the cache, ms", "ratio"],
        rows,
        note="The cache holds the keys and values of the prefix, which no later token can change.",
    )


def _training() -> list[Exhibit]:
    letters = sorted(set(TEXT))
    codes = torch.tensor([letters.index(letter) for letter in TEXT * 2])
    windows = codes.unfold(0, 48, 1)[: len(TEXT)]
    torch.manual_seed(2)
    model = DecoderLM(len(letters), max_len=128)
    prompt = torch.tensor([[letters.index(letter) for letter in "A lamp on"]])

    def write() -> str:
        model.eval()
        return "".join(letters[code] for code in generate(model, prompt, 60)[0].tolist())

    written = [["before training", write()]]
    losses = []
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    order = torch.Generator().manual_seed(0)
    for step in range(1, 121):
        model.train()
        tokens = windows[torch.randint(len(windows), (32,), generator=order)]
        loss = next_token_loss(model(tokens)[0], tokens)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step in (20, 60, 120):
            written.append([f"after {step} steps", write()])
    who = "your own model" if OWN else "a given stand-in; yours takes its place when it passes"
    return [
        lines(
            "Training to guess the next letter",
            {"loss": (list(range(1, 121)), losses)},
            x_axis="step",
            y_axis="cross entropy",
            note=f"Trained: {who}. A blind guess among {len(letters)} letters costs {math.log(len(letters)):.2f}.",
        ),
        table("What it writes after “A lamp on”", ["", "greedy text"], written),
        text(
            "Twice one model",
            "In training it is not autoregressive: all positions at once, each given the right past. In use it is: "
            "each token it writes becomes part of its own past.",
        ),
    ]


@torch.no_grad()
def _median_ms(run: Callable[[], object], times: int) -> float:
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        taken.append(1000 * (time.perf_counter() - start))
    return statistics.median(taken)
