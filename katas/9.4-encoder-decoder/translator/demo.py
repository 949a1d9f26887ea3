"""The translator live: what it writes, where it looks, what a wrong word does to the rest, what beams are good for."""

from __future__ import annotations

import torch
from language import BOS, EOS, PAD, SOURCE_WORDS, TARGET_WORDS, Pairs, spell, splits
from mine import (
    Decoder,
    Encoder,
    causal_mask,
    padding_mask,
    scaled_dot_product_attention,
    sinusoidal_positions,
)
from torch import Tensor, nn
from torch.nn import functional as F

from grader.learner.demos.exhibits import Exhibit, choice, heatmap, lines, panel, question, table

try:
    from mine import Translator, translate

    OWN = True
except ImportError:  # the learner's does not pass yet: small ones stand in
    OWN = False

    class Translator(nn.Module):  # type: ignore[no-redef]
        """Embeddings, an encoder, a decoder and a head."""

        def __init__(self, source_vocab: int, target_vocab: int, d_model: int, num_heads: int, d_ff: int,
                     num_layers: int, max_len: int) -> None:  # fmt: skip
            super().__init__()
            self.pad_id = PAD
            self.read, self.written = nn.Embedding(source_vocab, d_model), nn.Embedding(target_vocab, d_model)
            self.encoder = Encoder(num_layers, d_model, num_heads, d_ff)
            self.decoder = Decoder(num_layers, d_model, num_heads, d_ff)
            self.head = nn.Linear(d_model, target_vocab)
            self.register_buffer("positions", sinusoidal_positions(max_len, d_model))

        def encode(self, source: Tensor) -> Tensor:
            """Return the memory."""
            return self.encoder(self.read(source) + self.positions[: source.shape[1]], padding_mask(source))

        def decode(self, target: Tensor, memory: Tensor, source: Tensor) -> Tensor:
            """Return logits."""
            x = self.written(target) + self.positions[: target.shape[1]]
            return self.head(self.decoder(x, memory, causal_mask(target.shape[1]), padding_mask(source)))

        def forward(self, source: Tensor, target: Tensor) -> Tensor:
            """Return logits."""
            return self.decode(target, self.encode(source), source)

    @torch.no_grad()
    def translate(model: nn.Module, source: Tensor, *, bos_id: int, eos_id: int, max_len: int, beams: int = 1,
                  length_penalty: float = 0.0) -> Tensor:  # fmt: skip
        """Search, one source after the other."""
        memory, rows = model.encode(source), []
        for b in range(len(source)):
            kept = [(0.0, [bos_id])]
            for _ in range(max_len):
                going = [words for _, words in kept if words[-1] != eos_id]
                if not going:
                    break
                places = [b] * len(going)
                logs = iter(
                    model.decode(torch.tensor(going), memory[places], source[places])[:, -1].log_softmax(-1)
                )
                candidates = []
                for total, words in kept:
                    if words[-1] == eos_id:
                        candidates.append((total, words))
                    else:
                        best = next(logs).topk(beams)
                        candidates += [
                            (total + float(log), [*words, int(word)]) for log, word in zip(*best, strict=True)
                        ]
                candidates.sort(
                    key=lambda one: one[0] / max(len(one[1]) - 1, 1) ** length_penalty, reverse=True
                )
                kept = candidates[:beams]
            rows.append(torch.tensor(kept[0][1][1:]))
        return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=model.pad_id)


STEPS, BATCH, LONGEST = 260, 48, 14
HALF = 91
"""After so many steps a model still makes mistakes, so that there is something to compare."""


class Recurrent(nn.Module):
    """An encoder-decoder of two GRUs: the last state alone is handed over, or all states are looked at."""

    def __init__(self, attention: bool, width: int = 48) -> None:
        super().__init__()
        self.attention, self.pad_id = attention, PAD
        self.read, self.written = (
            nn.Embedding(len(SOURCE_WORDS), width),
            nn.Embedding(len(TARGET_WORDS), width),
        )
        self.reader, self.writer = (
            nn.GRU(width, width, batch_first=True),
            nn.GRU(width, width, batch_first=True),
        )
        self.ask = nn.Linear(width, width)
        self.head = nn.Linear(width * (2 if attention else 1), len(TARGET_WORDS))

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Return logits [B, T, V]."""
        states, _ = self.reader(self.read(source))
        real = source != PAD
        last = states[torch.arange(len(source)), real.sum(1) - 1]
        hidden, _ = self.writer(self.written(target), last[None].contiguous())
        if self.attention:  # as Luong et al. 2015: the state asks, and what it finds is next to it
            found, _ = scaled_dot_product_attention(self.ask(hidden), states, states, real[:, None])
            hidden = torch.cat((hidden, found), -1)
        return self.head(hidden)


def demo() -> list[Exhibit]:
    """Return what the kata shows."""
    train, test = splits(1000, 120, seed=0)
    torch.manual_seed(0)
    model = Translator(len(SOURCE_WORDS), len(TARGET_WORDS), 32, 4, 64, 1, LONGEST + 2)
    half, curve = _train(model, train, test)
    return [
        _sentences(model, test),
        _looks(model, test),
        *_fed_back(model, half, test),
        _beams(half, test),
        _recurrent(train, test, curve),
        _question(),
    ]


def _train(model: nn.Module, train: Pairs, test: Pairs) -> tuple[nn.Module, tuple[list[int], list[float]]]:
    """Train a model; return it as it was half-way, and how many new sentences were right on the way."""
    generator = torch.Generator().manual_seed(0)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, betas=(0.9, 0.98))
    steps, shares, half = [], [], {}
    for step in range(STEPS + 1):
        if step % 65 == 0:
            steps.append(step)
            shares.append(_right(test, _greedy(model.eval(), test.source)))
        if step == HALF:
            half = {name: value.clone() for name, value in model.state_dict().items()}
        rows = torch.randint(len(train.source), (BATCH,), generator=generator)
        source, wanted = train.source[rows], train.target[rows]
        logits = model.train()(source, _begun(wanted))
        loss = F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=PAD, label_smoothing=0.1)
        for group in optimizer.param_groups:
            group["lr"] = 1e-2 * min(1.0, (step + 1) / 20, 1.5 * (1 - step / (STEPS + 1)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    if not isinstance(model, Translator):
        return model, (steps, shares)
    early = Translator(len(SOURCE_WORDS), len(TARGET_WORDS), 32, 4, 64, 1, LONGEST + 2)
    early.load_state_dict(half)
    return early.eval(), (steps, shares)


def _begun(wanted: Tensor) -> Tensor:
    """Return what a decoder has read before each word."""
    return torch.cat((torch.full_like(wanted[:, :1], BOS), wanted[:, :-1]), 1)


@torch.no_grad()
def _greedy(model: nn.Module, source: Tensor, begun: Tensor | None = None) -> Tensor:
    """Write by any model, after what has been begun."""
    found = torch.full_like(source[:, :1], BOS) if begun is None else begun
    while found.shape[1] <= LONGEST:
        found = torch.cat((found, model(source, found)[:, -1].argmax(-1, keepdim=True)), 1)
    return found[:, 1:]


def _text(row: Tensor) -> str:
    return spell(row, TARGET_WORDS)


def _right(test: Pairs, found: Tensor) -> float:
    """Return the share of sentences without a slip."""
    return sum(_text(one) == _text(other) for one, other in zip(found, test.target, strict=True)) / len(found)


def _sentences(model: nn.Module, test: Pairs) -> Exhibit:
    found = translate(model, test.source, bos_id=BOS, eos_id=EOS, max_len=LONGEST)
    rows = [
        [spell(source, SOURCE_WORDS), _text(one), "yes" if _text(one) == _text(wanted) else _text(wanted)]
        for source, one, wanted in zip(test.source[:8], found[:8], test.target[:8], strict=True)
    ]
    return table(
        "New sentences, translated greedily",
        ["English", "Spanish", "right"],
        rows,
        note=f"After {STEPS} steps on 1,000 sentences {_right(test, found):.0%} of {len(found)} others are right to "
        "the last word. Articles, adjectives and verbs agree with nouns that are elsewhere in the source. "
        + ("Your own translator." if OWN else "A given stand-in: yours takes its place when it passes."),
    )


def _weights(model: nn.Module, source: Tensor, target: Tensor) -> Tensor:
    """Return the weights [T, S] of the last cross-attention, the mean over its heads."""
    met: list[tuple[nn.Module, Tensor, Tensor]] = []

    def look(module: nn.Module, given: tuple[Tensor, ...], named: dict[str, Tensor], _: object) -> None:
        context = given[2] if len(given) > 2 else named.get("context")
        if context is not None:
            met.append((module, given[0] if given else named["x"], context))

    hooks = [
        module.register_forward_hook(look, with_kwargs=True)
        for module in model.modules()
        if all(hasattr(module, name) for name in ("w_q", "w_k", "num_heads"))
    ]
    with torch.no_grad():
        logits = model(source, target)
    for hook in hooks:
        hook.remove()
    if met:
        module, x, context = met[-1]
        q, k = (
            part.detach().unflatten(-1, (module.num_heads, -1)).transpose(1, 2)
            for part in (module.w_q(x), module.w_k(context))
        )
        return scaled_dot_product_attention(q, k, k)[1][0].mean(0)
    # Attention of another make: what the score of each word depends on says nearly the same.
    memory = model.encode(source).detach().requires_grad_()
    rows = []
    for best in model.decode(target, memory, source)[0].amax(-1):
        (gradient,) = torch.autograd.grad(best, memory, retain_graph=True)
        rows.append(gradient[0].norm(dim=-1))
    found = torch.stack(rows)
    assert logits.shape[1] == len(found)
    return found / found.sum(-1, keepdim=True)


def _looks(model: nn.Module, test: Pairs) -> Exhibit:
    frames, share = {}, []
    longest = (test.source != PAD).sum(1).argsort(descending=True, stable=True)
    for row in (int(longest[0]), int(longest[20]), int(longest[60])):
        source, target = (part[row : row + 1] for part in test)
        source, target = (part[:, : int((part != PAD).sum())] for part in (source, target))
        weights = _weights(model, source, _begun(target))
        words = [
            [names[token] for token in part[0]]
            for names, part in ((TARGET_WORDS, target), (SOURCE_WORDS, source))
        ]
        share.append(float(weights.amax(-1).mean()))
        frames[spell(source[0], SOURCE_WORDS)] = heatmap(
            "cross-attention",
            [panel("mean of 4 heads", weights, *words)],
            row_axis="word written",
            column_axis="word read",
        )
    return choice(
        "Where each word looks while it is written: cross-attention of the trained model",
        "sentence",
        frames,
        note=f"A word puts {sum(share) / len(share):.0%} of its weight on one word of the source, on average. After "
        "a noun the map runs backwards: adjectives come in the other order. Nobody provided an alignment: pairs of "
        "sentences were enough.",
    )


@torch.no_grad()
def _fed_back(model: nn.Module, half: nn.Module, test: Pairs) -> list[Exhibit]:
    real, wanted = test.target != PAD, test.target
    curves = {}
    taught = half(test.source, _begun(wanted)).argmax(-1) == wanted
    used = _greedy(half, test.source)[:, : wanted.shape[1]] == wanted
    for name, right in (
        ("after the right past (teacher forcing)", taught),
        ("after its own past (in use)", used),
    ):
        counts = real.sum(0)
        places = [place for place in range(wanted.shape[1]) if counts[place] >= 20]
        curves[name] = (places, [float((right & real)[:, place].sum() / counts[place]) for place in places])
    lost = float((taught & real).sum() / real.sum() - (used & real).sum() / real.sum())
    begun = _begun(wanted)[:, :2].clone()
    articles = [TARGET_WORDS.index(word) for word in ("el", "la", "los", "las")]
    other = {one: articles[place ^ 1 if place < 2 else 5 - place] for place, one in enumerate(articles)}
    begun[:, 1] = torch.tensor([other[int(word)] for word in wanted[:, 0]])
    after = _greedy(model, test.source, begun)
    untouched = _greedy(model, test.source)
    rows = [
        [_text(one), _text(two), _text(three)]
        for one, two, three in zip(test.target[:5], untouched[:5], after[:5], strict=True)
    ]
    width = wanted.shape[1]
    kept = [
        float(((found[:, 1:width] == wanted[:, 1:]) & real[:, 1:]).sum() / real[:, 1:].sum())
        for found in (untouched, after)
    ]
    return [
        lines(
            f"The same model after {HALF} steps, by the place of the word",
            curves,
            x_axis="place in the translation",
            y_axis="share right",
            note=f"The loss sees numbers of the upper kind. In use another {lost:.0%} of all words are lost: a wrong "
            "word becomes the past of the next.",
        ),
        table(
            "A wrong first word, fed back: the article in the other gender",
            ["right", "by itself", "after the wrong article"],
            rows,
            note=f"Of the words after the first one {kept[0]:.0%} are right when the model begins by itself, and "
            f"{kept[1]:.0%} after a wrong article: such a past was never met in training.",
        ),
    ]


@torch.no_grad()
def _beams(half: nn.Module, test: Pairs) -> Exhibit:
    rows = []
    for beams in (1, 2, 4, 8):
        found = translate(half, test.source, bos_id=BOS, eos_id=EOS, max_len=LONGEST, beams=beams)
        logs = half(test.source, _begun(found)).log_softmax(-1).gather(-1, found[..., None])[..., 0]
        total = float(logs.where(found != PAD, 0.0).sum(1).mean())
        length = float((found != PAD).sum(1).float().mean())
        rows.append([beams, f"{total:.3f}", f"{length:.2f}", f"{_right(test, found):.0%}"])
    better = float(rows[-1][1]) - float(rows[0][1])
    return table(
        f"Greedy against beams, after {HALF} steps",
        ["beams", "log p of the text, mean", "words, mean", "right"],
        rows,
        note=f"Eight beams find texts that the model thinks e^{better:.2f} times as likely as the greedy ones. "
        f"Right to the last word are {rows[0][3]} greedily and {rows[-1][3]} with eight: a search is only as good as "
        "its model.",
    )


def _recurrent(train: Pairs, test: Pairs, curve: tuple[list[int], list[float]]) -> Exhibit:
    curves = {"transformer": curve}
    for name, attention in (("recurrent, with attention", True), ("recurrent, last state alone", False)):
        torch.manual_seed(0)
        curves[name] = _train(Recurrent(attention), train, test)[1]
    return lines(
        "New sentences right to the last word: a transformer next to recurrent encoder-decoders",
        curves,
        x_axis="training step",
        y_axis="share right",
        note="The same pairs, steps and optimizer for all. Right at the end, "
        + "; ".join(f"{name}: {shares[-1]:.0%}" for name, (_, shares) in curves.items())
        + ". Handing over one state squeezes the whole sentence into one vector; attention was invented to avoid that.",
    )


def _question() -> Exhibit:
    return question(
        "Eight beams find texts that the model thinks likelier than the greedy ones. Are as many more of them "
        "right?",
        seen="Greedy against beams",
        answer="Compare the columns: the probability rises with every beam, the share that is right hardly does. A "
        "search is only as good as its model.",
    )
