"""A trained model looked into: heads that copy, entropy by layer, what each layer knows, and what a head is worth."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import story
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from grader.learner.demos.exhibits import Exhibit, bars, choice, heatmap, lines, panel, question, table

try:
    from mine import ablate_heads, attention_entropy, induction_score, probe
except ImportError:  # the learner's do not pass yet: others stand in

    def attention_entropy(weights: Tensor) -> Tensor:
        """Return the entropy of each query."""
        return torch.special.entr(weights).sum(-1)

    def induction_score(weights: Tensor, period: int) -> Tensor:
        """Return the mean weight on what followed the previous copy."""
        return torch.stack([weights[..., t, t - period + 1] for t in range(period, weights.shape[-1])]).mean(
            0
        )

    def probe(features: Tensor, labels: Tensor, *, ridge: float = 1e-3) -> Callable[[Tensor], Tensor]:
        """Fit one-hot labels by least squares with a penalty."""
        classes, place = torch.unique(labels, return_inverse=True)
        middle = features.double().mean(0)
        x, y = features.double() - middle, F.one_hot(place).double()
        inner = torch.cat([x, ridge**0.5 * torch.eye(x.shape[1]).double()])
        outer = torch.cat([y - y.mean(0), torch.zeros(x.shape[1], y.shape[1]).double()])
        weight = torch.linalg.lstsq(inner, outer).solution
        return lambda new: classes[((new.double() - middle) @ weight + y.mean(0)).argmax(-1)]

    @contextmanager
    def ablate_heads(model: nn.Module, layer: int, heads: Iterable[int]) -> Iterator[None]:
        """Let a copy of w_o without these heads stand in for it."""
        attention = model.layers[layer].attention
        keep = torch.ones(attention.num_heads)
        keep[list(heads)] = 0
        kept = attention.w_o.weight.detach().clone()
        with torch.no_grad():
            attention.w_o.weight.mul_(keep.repeat_interleave(kept.shape[1] // len(keep)))
        try:
            yield
        finally:
            with torch.no_grad():
                attention.w_o.weight.copy_(kept)


try:
    from mine import ModernLM
except ImportError:  # nor does the learner's block of 9.8.1: the same model in torch's own operators

    class Norm(nn.Module):
        """RMSNorm."""

        def __init__(self, width: int) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(width))

        def forward(self, x: Tensor) -> Tensor:
            """Return the shape of x."""
            return F.rms_norm(x, x.shape[-1:], self.weight, 1e-6)

    class Attention(nn.Module):
        """Grouped-query attention."""

        def __init__(self, width: int, heads: int, shared: int) -> None:
            super().__init__()
            self.width = width // heads
            self.w_q, self.w_o = (nn.Linear(width, width, bias=False) for _ in range(2))
            self.w_k, self.w_v = (nn.Linear(width, shared * self.width, bias=False) for _ in range(2))

        def forward(self, x: Tensor) -> Tensor:
            """Return [B, T, D]."""
            q, k, v = (
                one(x).unflatten(-1, (-1, self.width)).transpose(1, 2)
                for one in (self.w_q, self.w_k, self.w_v)
            )
            y = F.scaled_dot_product_attention(turned(q), turned(k), v, is_causal=True, enable_gqa=True)
            return self.w_o(y.transpose(1, 2).flatten(2))

    class Gated(nn.Module):
        """SwiGLU."""

        def __init__(self, width: int, inner: int) -> None:
            super().__init__()
            self.gate, self.linear1 = (nn.Linear(width, inner, bias=False) for _ in range(2))
            self.linear2 = nn.Linear(inner, width, bias=False)

        def forward(self, x: Tensor) -> Tensor:
            """Return the shape of x."""
            return self.linear2(F.silu(self.gate(x)) * self.linear1(x))

    class Layer(nn.Module):
        """Both, each after a norm."""

        def __init__(self, width: int, heads: int, shared: int, inner: int) -> None:
            super().__init__()
            self.norm1, self.norm2 = Norm(width), Norm(width)
            self.attention, self.feed_forward = Attention(width, heads, shared), Gated(width, inner)

        def forward(self, x: Tensor) -> Tensor:
            """Return the shape of x."""
            x = x + self.attention(self.norm1(x))
            return x + self.feed_forward(self.norm2(x))

    class ModernLM(nn.Module):  # type: ignore[no-redef]
        """The model of 9.8.1, without a cache."""

        def __init__(self, vocab_size: int, d_model: int, num_heads: int, num_kv_heads: int, d_ff: int,
                     num_layers: int, max_len: int) -> None:  # fmt: skip
            super().__init__()
            self.tokens = nn.Embedding(vocab_size, d_model)
            self.layers = nn.ModuleList(
                Layer(d_model, num_heads, num_kv_heads, d_ff) for _ in range(num_layers)
            )
            self.norm, self.head = Norm(d_model), nn.Linear(d_model, vocab_size, bias=False)

        def forward(self, tokens: Tensor) -> tuple[Tensor, None]:
            """Return logits, and no cache."""
            x = self.tokens(tokens)
            for layer in self.layers:
                x = layer(x)
            return self.head(self.norm(x)), None


LAYERS, HEADS = story.SIZES["num_layers"], story.SIZES["num_heads"]
WIDTH = story.SIZES["d_model"] // HEADS
TEXTS = [story.story(story.HELD_OUT + number) + "\n" for number in range(20)]
PERIOD, COPIES = 24, 3
WATCHED, RATES = 40, (0.003, 0.03)
PERIODS = (22, PERIOD, 26)
"""At which the score is taken again: a head that looks a fixed way back is right at one of them."""
NO_NAMES = {"One", "By", "In", "Then", "So", "All", "No"}
NAMED = [f"layer {layer}" for layer in range(LAYERS)]


def demo() -> list[Exhibit]:
    """Return what the kata shows."""
    model = built(story.weights())
    scores = _scores(model)
    best = _best(scores)
    return [
        _induction(model, scores, best),
        _control(model, best),
        _looks(model, best),
        _entropy(model),
        _watched(),
        _probes(model),
        _prices(model, scores),
        _together(model, best),
        _question(),
    ]


def built(state: dict[str, Tensor]) -> nn.Module:
    """Return the model with these weights; its attention says how many heads there are."""
    model = ModernLM(**story.SIZES)
    model.load_state_dict(state)
    for layer in model.layers:
        layer.attention.num_heads = HEADS
    return model.eval()


def turned(x: Tensor) -> Tensor:
    """Turn neighbouring columns of x [.., T, d] by their position."""
    angle = torch.outer(
        torch.arange(x.shape[-2]).float(), 1e4 ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    )
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angle), angle)).flatten(-2)


@torch.no_grad()
def looked(model: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    """Return the weights of all heads [layers, B, H, T, T], and what goes into each layer and out of the last.

    Queries and keys are caught where w_q and w_k make them; what comes out, where the next part reads it.
    """
    caught: dict[tuple[str, int], Tensor] = {}
    handles = []
    for index, layer in enumerate(model.layers):
        for name, part in (("q", layer.attention.w_q), ("k", layer.attention.w_k)):
            handles.append(
                part.register_forward_hook(lambda _m, _a, out, key=(name, index): caught.update({key: out}))
            )
        handles.append(
            layer.norm1.register_forward_pre_hook(
                lambda _m, args, i=index: caught.update({("x", i): args[0]})
            )
        )
    handles.append(
        model.norm.register_forward_pre_hook(lambda _m, args: caught.update({("x", LAYERS): args[0]}))
    )
    try:
        model(tokens)
    finally:
        for handle in handles:
            handle.remove()
    found = []
    future = torch.ones(tokens.shape[1], tokens.shape[1], dtype=torch.bool).triu(1)
    for index in range(LAYERS):
        q, k = (turned(caught[name, index].unflatten(-1, (-1, WIDTH)).transpose(1, 2)) for name in ("q", "k"))
        k = k.repeat_interleave(q.shape[1] // k.shape[1], dim=1)
        found.append((q @ k.mT * WIDTH**-0.5).masked_fill(future, -torch.inf).softmax(-1))
    return torch.stack(found), torch.stack([caught["x", index] for index in range(LAYERS + 1)])


def repeated(count: int = 16, period: int = PERIOD) -> Tensor:
    """Return texts of four made-up names each, `period` characters, COPIES times."""
    rows, chance = [], random.Random(0)
    syllables = story.SYLLABLES
    while len(rows) < count:
        names = ("".join(chance.choice(syllables) for _ in range(chance.choice([2, 3]))) for _ in range(4))
        text = "".join(name.capitalize() + " " for name in names)
        if len(text) == period:
            rows.append(story.encode(text * COPIES))
    return torch.stack(rows)


def _scores(model: nn.Module) -> Tensor:
    weights, _ = looked(model, repeated())
    return induction_score(weights, PERIOD).mean(1)  # [layers, H]


def _best(scores: Tensor) -> tuple[int, list[int]]:
    """Return the layer with the greatest score, and its heads with at least a third of that."""
    layer = int(scores.amax(1).argmax())
    return layer, [head for head in range(HEADS) if scores[layer, head] > scores.max() / 2]


def _several(heads: Iterable[int]) -> str:
    words = [str(head) for head in heads]
    return "head " + words[0] if len(words) == 1 else "heads " + ", ".join(words[:-1]) + " and " + words[-1]


def _by_head(values: Tensor) -> dict[str, list[float]]:
    return {name: [round(float(one), 4) for one in row] for name, row in zip(NAMED, values, strict=True)}


def _induction(model: nn.Module, scores: Tensor, best: tuple[int, list[int]]) -> Exhibit:
    layer, heads = best
    even = induction_score(torch.ones(72, 72).tril() / torch.arange(1.0, 73)[:, None], PERIOD)
    return bars(
        "Induction heads found: four made-up names, three times over",
        [f"head {head}" for head in range(HEADS)],
        _by_head(scores),
        y_axis="induction score",
        note=f"The mean weight on what followed the previous copy. Looking everywhere alike gives {float(even):.3f}. "
        f"{_several(heads).capitalize()} of layer {layer} give {float(scores[layer, heads].min()):.2f} and more.",
    )


def control(model: nn.Module, best: tuple[int, list[int]]) -> dict[str, list[float]]:
    """Return scores at each of PERIODS: of the best heads, and of one that looks a fixed way back."""
    layer, heads = best
    scores: dict[str, list[float]] = {f"layer {layer}, head {head}": [] for head in heads}
    fixed = f"no model: always {PERIOD - 1} back"
    scores[fixed] = []
    for period in PERIODS:
        texts = repeated(period=period)
        found = induction_score(looked(model, texts)[0][layer], period).mean(0)
        for head in heads:
            scores[f"layer {layer}, head {head}"].append(float(found[head]))
        back = (torch.arange(texts.shape[1]) - PERIOD + 1).clamp(min=0)
        scores[fixed].append(float(induction_score(F.one_hot(back, texts.shape[1]).float(), period)))
    return scores


def _control(model: nn.Module, best: tuple[int, list[int]]) -> Exhibit:
    scores = control(model, best)
    return table(
        "The control: the same score at other periods",
        ["head", *(f"period {period}" for period in PERIODS)],
        [[name, *(round(score, 2) for score in row)] for name, row in scores.items()],
        note=f"A head that matches nothing and always looks {PERIOD - 1} back is perfect at period {PERIOD} "
        "and gets 0 at any other. Heads that find the copy are found at every period.",
    )


def _looks(model: nn.Module, best: tuple[int, list[int]]) -> Exhibit:
    tokens = repeated()[:1, : 2 * PERIOD]
    weights, _ = looked(model, tokens)
    letters = [character.replace(" ", "·") for character in story.decode(tokens[0])]
    rows, columns = range(PERIOD, 2 * PERIOD), range(PERIOD)
    frames = {}
    for layer, head in ((best[0], best[1][-1]), (1, 2), (2, 5)):
        map_ = weights[layer, 0, head, PERIOD:, :PERIOD]
        frames[f"layer {layer}, head {head}"] = heatmap(
            f"layer {layer}, head {head}",
            [
                panel(
                    "the second copy looks at the first",
                    map_,
                    [letters[i] for i in rows],
                    [letters[i] for i in columns],
                )
            ],
            note=f"Weight on what followed: {float(induction_score(weights[layer, 0, head], PERIOD)):.2f}; "
            f"the first copy gets {float(map_.sum(-1).mean()):.2f} of the whole.",
        )
    return choice(
        "Where a head looks while it reads the second copy",
        "head",
        frames,
        note="An induction head draws a diagonal next to the main one: each letter looks at what followed it before.",
    )


def _entropy(model: nn.Module) -> Exhibit:
    entropies = []
    for text in TEXTS[:8]:
        weights, _ = looked(model, story.encode(text)[None, :300])
        entropies.append(attention_entropy(weights)[:, 0].mean(-1))  # [layers, H]
    mean = torch.stack(entropies).mean(0)
    even = attention_entropy(torch.ones(300, 300).tril() / torch.arange(1.0, 301)[:, None]).mean()
    said = ", ".join(f"{float(one):.2f} in layer {index}" for index, one in enumerate(mean.mean(1)))
    return bars(
        "Entropy of attention, by layer and head, on stories",
        [f"head {head}" for head in range(HEADS)],
        _by_head(mean),
        y_axis="nats",
        note=f"On average {said}; looking at all that came before alike gives {float(even):.2f}. A head of 2 nats is "
        f"undecided among {float(torch.tensor(2.0).exp()):.0f} characters.",
    )


def watched(rate: float) -> tuple[list[float], list[float]]:
    """Train a new model for WATCHED steps, and return its losses and the entropy of its attention, every fifth step."""
    torch.manual_seed(0)
    model = built(ModernLM(**story.SIZES).state_dict()).train()
    text = story.encode("\n".join(story.story(number) for number in range(40)))
    optimizer, chance = torch.optim.Adam(model.parameters(), lr=rate), torch.Generator().manual_seed(0)
    losses, entropies = [], []
    for step in range(WATCHED + 1):
        begin = torch.randint(len(text) - 49, (8, 1), generator=chance)
        batch = text[begin + torch.arange(49)]
        loss = F.cross_entropy(model(batch[:, :-1])[0].flatten(0, 1), batch[:, 1:].flatten())
        if step % 5 == 0:
            losses.append(loss.item())
            entropies.append(float(attention_entropy(looked(model, batch[:2, :-1])[0]).mean()))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return losses, entropies


def _watched() -> Exhibit:
    steps, found = range(0, WATCHED + 1, 5), {f"rate {rate:g}": watched(rate) for rate in RATES}
    ends = "; ".join(
        f"{name}: {entropies[-1]:.2f} nats at a loss of {losses[-1]:.2f}"
        for name, (losses, entropies) in found.items()
    )
    return lines(
        "Entropy of attention, watched while a model learns",
        {name: (steps, entropies) for name, (_, entropies) in found.items()},
        x_axis="step",
        y_axis="nats, mean over heads",
        note=f"The same new model at {len(RATES)} learning rates. At the end, {ends}. Entropy that drops to almost "
        "nothing within a few steps says that each query has chosen one key, where hardly any gradient flows; it shows "
        "before the loss tells why. Entropy that slowly falls is learning.",
    )


def knowledge(text: str) -> dict[str, list[int]]:
    """Return labels of the characters of a text, for each question."""
    names = {*re.findall(r"\b[A-Z][a-z]+", text)} - NO_NAMES
    inside = [0] * len(text)
    for name in names:
        for hit in re.finditer(rf"\b{name}\b", text):
            inside[hit.start() : hit.end()] = [1] * (hit.end() - hit.start())
    column, word = [], 0
    for character in text:
        word = word + 1 if character.isalpha() else 0
        column.append(min(word, 6))
    return {
        "which character it is": [story.CHARACTERS.index(character) for character in text],
        "the character before": [0, *(story.CHARACTERS.index(character) for character in text[:-1])],
        "how far into the word": column,
        "inside a name or not": inside,
        "the next character": [*(story.CHARACTERS.index(character) for character in text[1:]), 0],
    }


def _probes(model: nn.Module) -> Exhibit:
    torch.manual_seed(0)
    fresh = ModernLM(**story.SIZES).state_dict()
    found: dict[str, tuple[list[int], list[float]]] = {}
    places = list(range(LAYERS + 1))
    half = len(TEXTS) // 2
    said = {}
    for model_name, one in (("", model), (", untrained", built(fresh))):
        vectors = [looked(one, story.encode(text)[None])[1][:, 0] for text in TEXTS]
        answers = [knowledge(text) for text in TEXTS]
        for asked in answers[0]:
            if model_name and asked != "the next character":
                continue
            right = []
            for place in places:
                x, y = (
                    (torch.cat([v[place, 1:-1] for v in vectors[part]]),
                     torch.cat([torch.tensor(a[asked][1:-1]) for a in answers[part]]))
                    for part in (slice(half), slice(half, None))
                )  # fmt: skip
                guess = probe(x[0], x[1], ridge=1.0)(y[0])
                right.append(round(float((guess == y[1]).double().mean()), 3))
            found[asked + model_name] = (places, right)
            said[asked + model_name] = right
    before, after = said["which character it is"][0], said["which character it is"][-1]
    nexts = said["the next character"]
    return lines(
        "What is known where: probes by layer",
        found,
        x_axis="vectors after so many layers",
        y_axis="right, on stories that the probe has not seen",
        note=f"Which character is there is read off the embedding ({before:.0%}) and less well at the end "
        f"({after:.0%}): the vector has become one of what comes next, from {nexts[0]:.0%} to {nexts[-1]:.0%}. With "
        f"random weights the same probe ends at {said['the next character, untrained'][-1]:.0%}: the control.",
    )


def places_of(text: str) -> tuple[list[int], list[int]]:
    """Return where letters of names are after the first that have occurred, and where no name is."""
    later, inside = [], set()
    for name in {*re.findall(r"\b[A-Z][a-z]+", text)} - NO_NAMES:
        for time, hit in enumerate(re.finditer(rf"\b{name}\b", text)):
            letters = range(hit.start() + 1, hit.end())
            inside.update(letters)
            later.extend(letters if time else ())
    return later, [place for place in range(1, len(text)) if place not in inside]


@torch.no_grad()
def paid(model: nn.Module, texts: list[str] = TEXTS) -> tuple[float, float]:
    """Return what the model pays for a letter of a name that has occurred, and for what is not a name."""
    known, rest = [], []
    for text in texts:
        tokens = story.encode(text)
        logits = model(tokens[None, :-1])[0]
        cost = F.cross_entropy(logits[0], tokens[1:], reduction="none")
        later, outside = places_of(text)
        known.append(cost[[place - 1 for place in later]])
        rest.append(cost[[place - 1 for place in outside]])
    return float(torch.cat(known).mean()), float(torch.cat(rest).mean())


def _prices(model: nn.Module, scores: Tensor) -> Exhibit:
    texts = TEXTS[:6]
    whole = paid(model, texts)
    price = torch.zeros(2, LAYERS, HEADS)
    for layer in range(LAYERS):
        for head in range(HEADS):
            with ablate_heads(model, layer, [head]):
                price[:, layer, head] = torch.tensor(paid(model, texts)) - torch.tensor(whole)
    price = price.round(decimals=2) + 0.0  # no -0.00
    dearest = divmod(int(price[0].argmax()), HEADS)
    names, others = (
        panel(title, values, NAMED, [f"head {head}" for head in range(HEADS)])
        for title, values in zip(
            ("letters of a name that has occurred", "what is not a name"), price, strict=True
        )
    )
    return heatmap(
        "Heads switched off, one at a time: the price in nats a character",
        [names, others],
        row_axis="layer",
        column_axis="head",
        note=f"Most expensive for names: head {dearest[1]} of layer {dearest[0]}, {float(price[0].max()):.2f} nats a "
        f"letter. Its induction score is {float(scores[dearest]):.2f}.",
    )


def _together(model: nn.Module, best: tuple[int, list[int]]) -> Exhibit:
    layer, heads = best
    others = [head for head in range(HEADS) if head not in heads][-3:]
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    rows = [["nothing", *paid(model)]]
    for some in (heads, others):
        with ablate_heads(model, layer, some):
            rows.append([f"layer {layer}, {_several(some)}", *paid(model)])
    undone = all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())
    return table(
        "Switched off together, and the price of it",
        ["off", "nats, names that have occurred", "nats, no names"],
        [[name, f"{known:.3f}", f"{rest:.3f}"] for name, known, rest in rows],
        note=f"Without {_several(heads)} the model knows its sentences and not what its hero is called. "
        + (
            "Afterwards every weight is as it was."
            if undone
            else "Afterwards the weights are not as they were."
        ),
    )


def _question() -> Exhibit:
    return question(
        "Is the head whose loss costs most for names the one with the highest induction score?",
        seen="Heads switched off",
        answer="The note gives both numbers. A score says what a head looks at; only switching it off says what the "
        "model does with it.",
    )
