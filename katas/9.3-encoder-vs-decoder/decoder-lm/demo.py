"""The decoder live: teacher forcing, the cache, memory by purpose, text before and after training, and use at work."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable

import torch
from mine import (
    FeedForward,
    LayerNorm,
    MultiHeadAttention,
    causal_mask,
    scaled_dot_product_attention,
    sinusoidal_positions,
)
from torch import Tensor, nn
from torch.nn import functional as F

from grader.learner.demos.exhibits import Exhibit, bars, choice, lines, question, table, text

try:
    from mine import DecoderLM, generate, next_token_loss

    OWN = True
except ImportError:  # the learner's does not pass yet: a small one without a cache replaces it
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
        """Return the mean cross-entropy of each next token."""
        return F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())

    @torch.no_grad()
    def generate(model: nn.Module, prompt: Tensor, max_new_tokens: int, *, temperature: float = 0.0,
                 top_k: int | None = None, generator: torch.Generator | None = None) -> Tensor:  # fmt: skip
        """Return the prompt and new tokens, greedy or drawn."""
        for _ in range(max_new_tokens):
            logits = model(prompt)[0][:, -1]
            if temperature:
                if top_k is not None:
                    logits = logits.masked_fill(logits < logits.topk(top_k).values[:, -1:], -torch.inf)
                best = (logits / temperature).softmax(-1).multinomial(1, generator=generator)
            else:
                best = logits.argmax(-1, keepdim=True)
            prompt = torch.cat([prompt, best], dim=1)
        return prompt


WHOSE = "your own model" if OWN else "a given stand-in (yours takes its place when it passes)"
TEXT = (
    "A lamp on the hill says where the harbour is. A bell in the harbour says when the fog is thick. "
    "When the lamp is out the bell is rung, and when the bell is still the lamp is lit. "
)
LENGTHS = [16, 32, 64, 128, 256]
LONGER = [*LENGTHS, 512, 1024]
PARALLEL = 256
PROMPT, STEPS, SHOWN = "A lamp on", 120, (0, 20, 60, 120)
LEVELS, AHEAD, WINDOW = 24, 48, 96
TEMPERATURES = (0.25, 0.5, 1.0, 2.0, 4.0)
TOP_K = 5
SIZES = {
    "vocab_size": 500,
    "d_model": 128,
    "num_heads": 4,
    "d_ff": 512,
    "num_layers": 4,
    "max_len": LENGTHS[-1],
}
"""A model large enough that its memory is worth counting."""
BATCHES = (1, 2, 4, 8, 16, 32)


def demo() -> list[Exhibit]:
    """Return what the kata shows."""
    torch.manual_seed(0)
    measured = [_forcing(), _processor(), _recurrence(), _cache(), _memory()]
    return [*measured, *_training(), _series(), _batching(), _export(), _question()]


def _forcing() -> Exhibit:
    model = DecoderLM(40, max_len=LENGTHS[-1]).eval()
    rows = []
    for length in LENGTHS:
        tokens = torch.randint(40, (1, length))
        together = _least_ms(lambda tokens=tokens: model(tokens), 5)
        alone = _least_ms(
            lambda tokens=tokens: [model(tokens[:, : t + 1]) for t in range(tokens.shape[1])], 1
        )
        rows.append([length, round(together, 2), round(alone, 1), f"{alone / together:.0f}×"])
    return table(
        "Guessing every next token of a text: one pass, or one pass per token (measured here)",
        ["length", "teacher forcing, ms", "token by token, ms", "ratio"],
        rows,
        note="In training the right tokens are known, so all positions run at once (teacher forcing); the causal "
        "mask keeps "
        f"it honest. From length {rows[0][0]} to {rows[-1][0]} the ratio goes from {rows[0][3]} to {rows[-1][3]} on "
        "this machine.",
    )


def _processor() -> Exhibit:
    """Measure how much of the processor's arithmetic a step of training uses, in one pass and position by position."""
    layer, x = FeedForward(256, 1024), torch.randn(PARALLEL, 256)
    products = 3 * 2 * PARALLEL * sum(p.numel() for p in layer.parameters() if p.dim() > 1)

    @torch.enable_grad()
    def one_pass() -> None:
        layer(x).sum().backward()

    @torch.enable_grad()
    def position_by_position() -> None:
        for row in x[:, None]:
            layer(row).sum().backward()

    square = torch.randn(1024, 1024)
    best = 2 * 1024**3 / _least_ms(lambda: square @ square, 5)
    rows = []
    for name, work, times in (
        ("one position after the other", position_by_position, 2),
        ("all positions in one pass", one_pass, 5),
    ):
        taken = _least_ms(work, times)
        share = products / taken / best
        rows.append([name, round(taken, 1), round(products / taken / 1e6, 1), f"{share:.0%}"])
    return table(
        f"Use of the processor: training one layer on {PARALLEL} positions, in turn or at once (measured here)",
        ["", "ms", "billion operations a second", "of a large product's"],
        rows,
        note="Both do the same arithmetic. One position at a time reads every weight for a single row of numbers, and "
        "the processor waits for memory; in one pass each weight that was read serves all rows. The last column is a "
        "share of what this machine reaches in a product of two matrices of 1,024 × 1,024.",
    )


def _recurrence() -> Exhibit:
    attention, cell, fused = (
        MultiHeadAttention(64, 4).eval(),
        nn.RNNCell(64, 64),
        nn.RNN(64, 64, batch_first=True),
    )
    times: dict[str, list[float]] = {"attention": [], "nn.RNN": [], "RNNCell in a Python loop": []}
    for length in LONGER:
        x, mask = torch.randn(1, length, 64), causal_mask(length)
        works = (
            lambda x=x, mask=mask: attention(x, mask),
            lambda x=x: fused(x),
            lambda x=x: _unroll(cell, x),
        )
        for taken, work in zip(times.values(), works, strict=True):
            taken.append(_least_ms(work, 5))
    first, last = (min(times, key=lambda name, at=at: times[name][at]) for at in (0, -1))
    loop = times["RNNCell in a Python loop"][-1] / times["nn.RNN"][-1]
    return lines(
        "A recurrent layer next to one pass of attention (measured here)",
        {name: (LONGER, taken) for name, taken in times.items()},
        x_axis="length",
        y_axis="ms",
        log_x=True,
        log_y=True,
        note=f"The recurrent layer is measured twice: nn.RNN runs its loop in C++, RNNCell in Python, {loop:.1f} "
        "times as "
        f"slow at length {LONGER[-1]} for the same steps. Fastest at length {LONGER[0]}: {first}; at {LONGER[-1]}: "
        f"{last}. "
        "What attention gains is not arithmetic, of which it does T² where the recurrent layer does T: its positions "
        "do not wait for each other, which counts most where thousands of them run at once, on a GPU.",
    )


def _unroll(rnn: nn.RNNCell, x: Tensor) -> Tensor:
    state = torch.zeros(1, 64)
    for t in range(x.shape[1]):
        state = rnn(x[:, t], state)
    return state


def _cache() -> Exhibit:
    rows = []
    for length in LENGTHS[:-1]:
        again, cached = _whole_model(length) if OWN else _one_layer(length)
        without, with_cache = _least_ms(again, 7), _least_ms(cached, 7)
        rows.append([length, round(without, 2), round(with_cache, 2), f"{without / with_cache:.1f}×"])
    whose = (
        "your own model"
        if OWN
        else "one given layer of attention (your model takes its place when it passes)"
    )
    return table(
        "One more token after a prefix: all again, or with the cache (measured here)",
        ["prefix", "all again, ms", "with the cache, ms", "ratio"],
        rows,
        note=f"Measured: {whose}. The key/value cache holds the keys and values of the prefix, which no later token "
        f"can change. At a prefix of {rows[-1][0]} the ratio is {rows[-1][3]}.",
    )


def _whole_model(length: int) -> tuple[Callable[[], object], Callable[[], object]]:
    model = DecoderLM(40, max_len=LENGTHS[-1]).eval()
    tokens = torch.randint(40, (1, length + 1))
    with torch.no_grad():
        _, cache = model(tokens[:, :-1])
    return lambda: model(tokens), lambda: model(tokens[:, -1:], cache)


def _one_layer(length: int) -> tuple[Callable[[], object], Callable[[], object]]:
    """Measure keys and values of one head: made again for all positions, or for the new one alone."""
    w_q, w_k, w_v = (nn.Linear(64, 64) for _ in range(3))
    x, mask = torch.randn(1, length + 1, 64), causal_mask(length + 1)
    keys, values = w_k(x[:, :-1]), w_v(x[:, :-1])

    def cached() -> object:
        new = x[:, -1:]
        key, value = torch.cat([keys, w_k(new)], 1), torch.cat([values, w_v(new)], 1)
        return scaled_dot_product_attention(w_q(new), key, value)

    return lambda: scaled_dot_product_attention(w_q(x), w_k(x), w_v(x), mask), cached


def _memory() -> Exhibit:
    """Count what a training step keeps, by what it is kept for, at several lengths."""
    columns: dict[int, dict[str, float]] = {}
    for length in (64, LENGTHS[-1]):
        model = DecoderLM(**SIZES)
        tokens = torch.randint(SIZES["vocab_size"], (8, length))
        own = {one.untyped_storage().data_ptr() for one in (*model.parameters(), *model.buffers(), tokens)}
        kept: dict[int, int] = {}

        def keep(saved: Tensor, own: set[int] = own, kept: dict[int, int] = kept) -> Tensor:
            storage = saved.untyped_storage()  # views of one memory count once
            if storage.data_ptr() not in own:
                kept[storage.data_ptr()] = storage.nbytes()
            return saved

        optimizer = torch.optim.AdamW(model.parameters())
        with torch.autograd.graph.saved_tensors_hooks(keep, lambda saved: saved):
            loss = next_token_loss(model(tokens)[0], tokens)
        loss.backward()
        optimizer.step()
        moments = [one for state in optimizer.state.values() for one in state.values()]
        parameters = list(model.parameters())
        columns[length] = {
            "parameters": _mib(parameters),
            "gradients": _mib(one.grad for one in parameters if one.grad is not None),
            "the optimizer's moments": _mib(moments),
            "activations, kept for the way back": round(sum(kept.values()) / 2**20, 1),
            "in use: keys and values of the cache": 2
            * SIZES["num_layers"]
            * 8
            * length
            * SIZES["d_model"]
            / 2**18,
        }
    short, long = columns.values()
    grown = long["activations, kept for the way back"] / short["activations, kept for the way back"]
    return bars(
        f"Memory by purpose: a step of AdamW on 8 texts, {sum(p.numel() for p in parameters) / 1e6:.1f} M parameters",
        list(short),
        {f"{length} tokens a text": list(column.values()) for length, column in columns.items()},
        y_axis="MiB",
        note="Parameters, gradients and two moments are four times the model, whatever it reads. Memory for the "
        f"backward pass grows with the length: {grown:.1f} times for {LENGTHS[-1] // 64} times the length, more than "
        "in proportion where tables of T × T are kept. In use only the parameters are needed, and the cache if there "
        "is one. " + _gpu(),
    )


def _gpu() -> str:
    """Say what a GPU has to do with it: measured, where there is one."""
    if not torch.cuda.is_available():
        return "No GPU is in reach here: all times on this page are the CPU's."
    model, tokens = DecoderLM(**SIZES).cuda(), torch.randint(SIZES["vocab_size"], (8, LENGTHS[-1])).cuda()
    torch.cuda.reset_peak_memory_stats()
    next_token_loss(model(tokens)[0], tokens).backward()
    return f"The same pass took at most {torch.cuda.max_memory_allocated() / 2**20:.0f} MiB of the GPU here."


def _mib(tensors: Iterable[Tensor]) -> float:
    return round(sum(one.numel() * one.element_size() for one in tensors) / 2**20, 1)


def _batching() -> Exhibit:
    model, rows = DecoderLM(**SIZES).eval(), []
    for batch in BATCHES:
        tokens = torch.randint(SIZES["vocab_size"], (batch, 64))
        again = _least_ms(lambda tokens=tokens: model(tokens), 3)
        rows.append([batch, again, 1000 * batch / again])
    alone, together = rows[0], rows[-1]
    return table(
        "At work: how many texts at once (one more token each, 64 tokens before it, measured here)",
        ["texts at once", "each waits, ms", "tokens a second"],
        [[batch, round(wait, 1), round(rate)] for batch, wait, rate in rows],
        note=f"{together[0]} texts at once give {together[2] / alone[2]:.1f} times the tokens a second of one, and "
        f"each waits {together[1] / alone[1]:.1f} times as long. A server chooses between the two; a GPU, which one "
        "text leaves idle most of the time, gains far more. How the wait grows with the length is in the table "
        "of the cache.",
    )


def _export() -> Exhibit:
    """Trace the model for use without Python, with any number of texts of any length."""
    model = DecoderLM(20, d_model=32, num_heads=2, d_ff=64, num_layers=1, max_len=64).eval()
    free = torch.export.Dim.AUTO  # found by tracing; what the model holds fast fails below
    rows: list[list[object]] = []
    try:
        only = _Logits(model)
        program = torch.export.export(
            only, (torch.randint(20, (3, 7)),), dynamic_shapes=({0: free, 1: free},), strict=False
        )
        kinds = [str(node.target) for node in program.graph.nodes if node.op == "call_function"]
        rows.append(["operators in the graph", f"{len(kinds)}, of {len(set(kinds))} kinds"])
        for shape in ((2, 5), (5, 40)):
            tokens = torch.randint(20, shape)
            apart = float((program.module()(tokens) - only(tokens)).abs().max())
            rows.append([f"{shape[0]} texts of {shape[1]} tokens: largest difference", f"{apart:.1g}"])
        note = "The graph needs no Python: so a model runs in a server or on a phone. It was traced with 3 texts of 7."
    except Exception as error:  # a right model may do what no graph can hold
        rows.append(["it cannot be exported", str(error).strip().splitlines()[0][:100]])
        note = "Usual reasons: an `if` on a value, a length made a Python number, a list that grows with each call."
    return table(
        "At work: the model as a graph (torch.export)",
        ["", "found"],
        rows,
        note=note + f" Exported: {WHOSE}.",
    )


class _Logits(nn.Module):
    """A model that returns its logits alone, as a graph for many texts has to."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits [B, T, V]."""
        return self.model(tokens)[0]


def _training() -> list[Exhibit]:
    letters = sorted(set(TEXT))
    codes = torch.tensor([letters.index(letter) for letter in TEXT * 2])
    windows = codes.unfold(0, 48, 1)[: len(TEXT)]
    torch.manual_seed(2)
    model = DecoderLM(len(letters), max_len=128)
    prompt = torch.tensor([[letters.index(letter) for letter in PROMPT]])

    def write() -> str:
        model.eval()
        return _text(generate(model, prompt, 60)[0], letters)

    written, losses = {0: write()}, []
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    order = torch.Generator().manual_seed(0)
    for step in range(1, STEPS + 1):
        model.train()
        tokens = windows[torch.randint(len(windows), (32,), generator=order)]
        loss = next_token_loss(model(tokens)[0], tokens)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step in SHOWN:
            written[step] = write()
    model.eval()
    known = [_agrees(text) for text in written.values()]
    return [
        lines(
            "Training to guess the next letter",
            {"loss": (list(range(1, STEPS + 1)), losses)},
            x_axis="step",
            y_axis="cross-entropy",
            note=f"Trained: {WHOSE}. A blind guess among {len(letters)} letters costs {math.log(len(letters)):.2f}. "
            "The last "
            f"loss is {losses[-1]:.2f}: a perplexity of {math.exp(losses[-1]):.2f}, as if it hesitated between that "
            f"many letters; at the first step it was {math.exp(losses[0]):.0f}.",
        ),
        choice(
            f"What it writes after “{PROMPT}”",
            "training step",
            {step: text("greedy text", said) for step, said in written.items()},
            start=len(written) - 1,
            slider=True,
            note="Letters written before the first that differs from the text: "
            + ", ".join(f"{many} after {step} steps" for step, many in zip(written, known, strict=True))
            + ".",
        ),
        *_sampling(model, letters),
        text(
            "Trained in one way, used in another",
            "In training it is not autoregressive: all positions at once, each given the right past (teacher "
            "forcing). In use "
            "it is: each token that it writes becomes part of its own past. So a mistake of its own is a past such "
            "as it never saw in training: this gap is called exposure bias.",
        ),
    ]


def _series() -> Exhibit:
    """Train on a series of measurements, rounded to levels that serve as words, and let it go on."""
    generator = torch.Generator().manual_seed(5)
    time_ = torch.arange(600)
    wave = (2 * math.pi * time_ / 24).sin() + 0.6 * (2 * math.pi * time_ / 60).sin()
    noisy = wave + 0.03 * torch.randn(len(wave), generator=generator)
    levels = ((noisy + 1.7) / 3.4 * (LEVELS - 1)).round().long().clamp(0, LEVELS - 1)
    known, later = levels[:-AHEAD], levels[-AHEAD:]
    windows = known.unfold(0, WINDOW, 1)
    torch.manual_seed(3)
    model = DecoderLM(LEVELS, max_len=WINDOW)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(STEPS):
        tokens = windows[torch.randint(len(windows), (16,), generator=generator)]
        loss = next_token_loss(model(tokens)[0], tokens)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    start = known[AHEAD - WINDOW :]  # no further than it has learned positions for
    went_on = generate(model.eval(), start[None], AHEAD)[0, len(start) :]
    shown = list(range(-48, AHEAD))
    apart, naive = (
        float((guess - later).abs().float().mean()) for guess in (went_on, known[-1].expand(AHEAD))
    )
    return lines(
        f"A series that is continued: {AHEAD} measurements, each from those before it",
        {
            "measured": (shown, torch.cat((known[-48:], later)).tolist()),
            "continued by the model": (list(range(AHEAD)), went_on.tolist()),
        },
        x_axis="time from the last measurement that it was given",
        y_axis=f"level, 0 to {LEVELS - 1}",
        note=f"Two waves and some noise, rounded to {LEVELS} levels: a vocabulary of {LEVELS} words. Trained: {WHOSE}, "
        f"with the loss and the loop for texts, {STEPS} steps. What it writes is {apart:.1f} levels off on average; "
        f"the last measurement, repeated, is {naive:.1f} off. It reads its own values back, so what is wrong early "
        "moves what comes after.",
    )


def _text(codes: Tensor, letters: list[str]) -> str:
    return "".join(letters[code] for code in codes.tolist())


def _agrees(written: str) -> int:
    """Return how many letters after the prompt go on as the text does somewhere."""
    for length in range(len(written), len(PROMPT), -1):
        if written[:length] in TEXT * 2:
            return length - len(PROMPT)
    return 0


@torch.no_grad()
def _sampling(model: nn.Module, letters: list[str]) -> list[Exhibit]:
    """Show what temperature and top-k make of one distribution, and of whole texts."""
    prompt = torch.tensor([[letters.index(letter) for letter in "A "]])
    logits = model(prompt)[0][0, -1]
    best = logits.topk(8).indices.tolist()
    names = [letters[code].replace(" ", "space") for code in best]
    kept = logits.masked_fill(logits < logits.topk(TOP_K).values[-1], -torch.inf)
    frames, rows, shares = {}, [], []
    for temperature in TEMPERATURES:
        all_of_it, some = (100 * (one / temperature).softmax(-1)[best] for one in (logits, kept))
        shares.append(float(all_of_it[0]))
        frames[f"{temperature:g}"] = bars(
            "probabilities", names, {"all letters": all_of_it, f"top {TOP_K}": some}, y_axis="%"
        )
        for top_k in (None, TOP_K):
            drawn = generate(
                model,
                prompt,
                40,
                temperature=temperature,
                top_k=top_k,
                generator=torch.Generator().manual_seed(3),
            )
            rows.append([f"{temperature:g}", top_k or "all", _text(drawn[0], letters)])
    return [
        choice(
            "Temperature and top-k: which letter comes after “A ”?",
            "temperature",
            frames,
            start=TEMPERATURES.index(1.0),
            slider=True,
            note="logits / temperature, then the softmax. The best letter has "
            f"{shares[TEMPERATURES.index(1.0)]:.0f}% at 1, "
            f"{shares[0]:.0f}% at {TEMPERATURES[0]:g} and {shares[-1]:.0f}% at {TEMPERATURES[-1]:g}. Top-k gives "
            "letters "
            f"after the {TOP_K} best a logit of -inf before the softmax, and shares their part among the {TOP_K}.",
        ),
        table("Texts drawn with one seed", ["temperature", "top-k", "text"], rows),
    ]


@torch.no_grad()
def _least_ms(run: Callable[[], object], times: int) -> float:
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        taken.append(1000 * (time.perf_counter() - start))
    return min(taken)


def _question() -> Exhibit:
    return question(
        "One more token costs far more without the cache than with it. Does the ratio stay the same as the "
        "prefix grows?",
        seen="One more token after a prefix",
        answer="No. Without the cache all of the prefix is computed again, so the ratio in the last column grows "
        "with it.",
    )
