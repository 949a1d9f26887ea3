"""The block of today's models live: trained weights in your code, what they write, and what one slip makes of it."""

from __future__ import annotations

import math
import re

import story
import torch
from torch import Tensor
from torch.nn import functional as F

from grader.learner.demos.exhibits import Exhibit, bars, choice, lines, question, table, text

try:
    from mine import ModernLM
except ImportError:  # the learner's does not pass yet: one that only reads whole texts stands in

    class ModernLM:  # type: ignore[no-redef]
        """The model as a function of its weights."""

        def __init__(self, num_heads: int, num_kv_heads: int, **_: int) -> None:
            self.heads, self.shared = num_heads, num_kv_heads

        def load_state_dict(self, state: dict[str, Tensor]) -> None:
            """Keep the weights."""
            self.state = state

        def __call__(self, tokens: Tensor) -> tuple[Tensor, None]:
            """Return the logits, and nothing to go on with."""
            w = {name.removesuffix(".weight"): tensor for name, tensor in self.state.items()}
            x = F.embedding(tokens, w["tokens"])
            wave = self._wave(tokens.shape[1], x.shape[-1] // self.heads)
            for i in range(len({name.split(".")[1] for name in w if name.startswith("layers")})):
                y, part = F.rms_norm(x, x.shape[-1:], w[f"layers.{i}.norm1"], 1e-6), f"layers.{i}.attention."
                q, k, v = (
                    (y @ w[part + name].T).unflatten(-1, (count, -1)).transpose(1, 2)
                    for name, count in (("w_q", self.heads), ("w_k", self.shared), ("w_v", self.shared))
                )
                q, k = (torch.view_as_real(self._pairs(one) * wave).flatten(-2) for one in (q, k))
                mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
                x = x + mixed.transpose(1, 2).flatten(2) @ w[part + "w_o"].T
                y, part = (
                    F.rms_norm(x, x.shape[-1:], w[f"layers.{i}.norm2"], 1e-6),
                    f"layers.{i}.feed_forward.",
                )
                x = x + (F.silu(y @ w[part + "gate"].T) * (y @ w[part + "linear1"].T)) @ w[part + "linear2"].T
            return F.rms_norm(x, x.shape[-1:], w["norm"], 1e-6) @ w["head"].T, None

        @staticmethod
        def _pairs(x: Tensor) -> Tensor:
            return torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())

        @staticmethod
        def _wave(length: int, width: int) -> Tensor:
            angle = torch.outer(torch.arange(length), 1e4 ** (-torch.arange(0, width, 2) / width))
            return torch.polar(torch.ones_like(angle), angle)


STATE, SIZES = story.weights(), story.SIZES
READ, ASKED, WRITTEN, BEGUN = 500, 20, 160, 110
"""Stories that are counted, stories that every model is asked about; characters that are written, and given."""
HEADS, SHARED = SIZES["num_heads"], SIZES["num_kv_heads"]
WIDTH = SIZES["d_model"] // HEADS
STORIES = [story.story(story.HELD_OUT + number) + "\n" for number in range(ASKED)]


def demo() -> list[Exhibit]:
    """Return what the kata shows."""
    return [_losses(), _written(), _names(), _slips(), _caches(), _question()]


def model_of(state: dict[str, Tensor]) -> ModernLM:
    """Return a model with these weights."""
    model = ModernLM(**SIZES)
    model.load_state_dict(state)
    return model


@torch.no_grad()
def paid(model: ModernLM, one: str) -> Tensor:
    """Return what the model pays for each character of a text but the first."""
    tokens = story.encode(one)
    logits, _ = model(tokens[None, :-1])
    return F.cross_entropy(logits[0], tokens[1:], reduction="none")


@torch.no_grad()
def continued(model: ModernLM, prompt: str, count: int) -> str:
    """Return what the model writes after a prompt, always the best character."""
    tokens = story.encode(prompt)[None]
    for _ in range(count):
        logits, _ = model(tokens)
        tokens = torch.cat((tokens, logits[:, -1].argmax(-1, keepdim=True)), dim=1)
    return story.decode(tokens[0, len(prompt) :])


def _losses() -> Exhibit:
    read, model = story.text(0, READ), model_of(STATE)
    found = {f"{order}-gram": story.ngram_loss(read, STORIES, order) for order in (1, 2, 3, 5)}
    own = float(torch.cat([paid(model, one) for one in STORIES]).mean())
    best = min(found.values())
    return bars(
        f"What each model pays for a character of {ASKED} new stories",
        ["any character", *found, "the model"],
        {
            "nats a character": [
                round(one, 2) for one in (math.log(len(story.CHARACTERS)), *found.values(), own)
            ]
        },
        y_axis="nats a character",
        note=f"Counts are those of {READ} stories. The best of them pays {best:.2f} nats, the trained model {own:.2f}: "
        f"as if it had to choose among {math.exp(own):.1f} characters each time, not among {math.exp(best):.1f}.",
    )


def _written() -> Exhibit:
    model, parts = model_of(STATE), []
    for one in STORIES[:3]:
        parts.append(f"{one[1:BEGUN]} ▸ {continued(model, one[:BEGUN], WRITTEN)}".replace("\n", " ¶ "))
    return text("It writes: what comes after ▸ is the model's, always the best character", "\n\n".join(parts))


def occurrences(one: str) -> list[tuple[int, int, int]]:
    """Return for each name of a story how often it has occurred before, and where its letters after the first are."""
    names, found = set(re.findall(r"\b[A-Z][a-z]+", one)) - {"One", "By", "In", "Then", "So", "All", "No"}, []
    for name in names:
        for time, hit in enumerate(re.finditer(rf"\b{name}\b", one)):
            found.append((time, hit.start() + 1, hit.end()))
    return found


def _names() -> Exhibit:
    model, times = model_of(STATE), range(6)
    sums, counts = torch.zeros(6), torch.zeros(6)
    for one in STORIES:
        cost = paid(model, one)  # cost[t] is that of character t + 1
        for time, start, end in occurrences(one):
            if time < 6:
                sums[time] += cost[start - 1 : end - 1].sum()
                counts[time] += end - start
    mean = sums / counts
    return lines(
        "What a letter of a name costs, by how often the name has occurred",
        {"letters after the first": (times, mean)},
        x_axis="times that it has occurred before",
        y_axis="nats a letter",
        note=f"New, a letter of a name costs {float(mean[0]):.2f} nats. Names are drawn at random, one of 5 vowels "
        "and one of 14 consonants by turns, so nobody can pay much less. When it has occurred once it costs "
        f"{float(mean[1]):.2f}: the model looks up where the name occurred before. Counts of other stories know "
        "nothing of it.",
    )


def exchanged(state: dict[str, Tensor], one: str, other: str) -> dict[str, Tensor]:
    """Return the weights with two parts under each other's names."""
    back = {one: other, other: one}
    return {
        ".".join(back.get(part, part) for part in name.split(".")): tensor for name, tensor in state.items()
    }


def reordered(state: dict[str, Tensor], parts: tuple[str, ...], order: Tensor) -> dict[str, Tensor]:
    """Return the weights with the rows of some projections in another order."""
    return {
        name: tensor[order[: len(tensor)]] if name.split(".")[-2] in parts else tensor
        for name, tensor in state.items()
    }


def _slips() -> Exhibit:
    halves = torch.arange(WIDTH).reshape(2, -1).T.flatten()  # what sits in columns 0 and d/2 becomes a pair
    halves = torch.cat([head * WIDTH + halves for head in range(HEADS)])
    mixed = torch.arange(HEADS * WIDTH).reshape(-1, SHARED, WIDTH).transpose(0, 1).flatten()
    slips = {
        "nothing wrong": STATE,
        "gate and linear1 exchanged": exchanged(STATE, "gate", "linear1"),
        "norm1 and norm2 exchanged": exchanged(STATE, "norm1", "norm2"),
        "pairs of columns i and i + d/2": reordered(STATE, ("w_q", "w_k"), halves),
        "shared heads 0 1 0 1 in place of 0 0 0 1 1 1": {
            name: tensor[:, mixed] if name.endswith("w_o.weight") else tensor
            for name, tensor in reordered(STATE, ("w_q",), mixed).items()
        },
        "scores divided by the root of D, not of d": {
            name: tensor / HEADS**0.5 if "w_q" in name else tensor for name, tensor in STATE.items()
        },
    }
    frames, prompt = {}, STORIES[0][:BEGUN]
    for name, state in slips.items():
        model = model_of(state)
        loss = float(torch.cat([paid(model, one) for one in STORIES[:5]]).mean())
        written = continued(model, prompt, 100).replace("\n", " ¶ ")
        said = f"It pays {loss:.2f} nats a character."
        frames[name] = text("written", f"{said}\n\n{prompt[1:]} ▸ {written}")
    return choice(
        "One slip: every weight loads, no exception is raised, and this is what is written",
        "what is wrong",
        frames,
        start=3,
        note="The slips are made in the weights here, so that your right code computes what wrong code would.",
    )


def _caches() -> Exhibit:
    rows = []
    for name, layers, heads, width, length, size in (
        ("the stories' model, 512 characters, float32", SIZES["num_layers"], HEADS, WIDTH, 512, 4),
        ("32 layers, 32 heads of 128, 8,192 tokens, bfloat16", 32, 32, 128, 8192, 2),
        ("80 layers, 64 heads of 128, 32,768 tokens, bfloat16", 80, 64, 128, 32768, 2),
    ):
        for shared in dict.fromkeys((heads, heads // 3 if heads % 3 == 0 else 8, 1)):
            needed = 2 * layers * shared * width * length * size
            saved = 1 - shared / heads
            rows.append([name, f"{heads} / {shared}", f"{needed / 1e6:,.1f}", f"{saved:.0%}"])
            name = ""
    return table(
        "What a cache needs for one text",
        ["model", "H / G", "megabytes", "saved"],
        rows,
        note="Twice (keys and values) layers · G · width of a head · positions · bytes a number. G = H is the "
        "attention of 9.3.2, G = 1 multi-query attention. All of it is read again for every token that is written.",
    )


def _question() -> Exhibit:
    return question(
        "How many copies of a name does the model need before its letters become cheap?",
        seen="What a letter of a name costs",
        answer="One. New, a letter costs what drawing it costs; at the second occurrence the model looks the name "
        "up.",
    )
