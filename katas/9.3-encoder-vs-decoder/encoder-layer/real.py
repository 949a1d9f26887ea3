"""The encoder is a BERT: trained weights loaded into it strictly, and sentences found by what they mean."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from pathlib import Path
from pydoc_data import topics

import torch
from mine import Encoder
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional as F

from grader.learner.demos.exhibits import Exhibit, heatmap, panel, table, text

NEEDS = ("minilm",)
QUESTION = "How do I do something again and again?"
MOST, LONGEST, BATCH = 1200, 64, 32
"""Sentences that are read, tokens of each, and how many at once."""
NAMES = {
    "attention.self.query": "attention.w_q",
    "attention.self.key": "attention.w_k",
    "attention.self.value": "attention.w_v",
    "attention.output.dense": "attention.w_o",
    "attention.output.LayerNorm": "norm1",
    "intermediate.dense": "feed_forward.linear1",
    "output.dense": "feed_forward.linear2",
    "output.LayerNorm": "norm2",
}
"""What BERT calls the parts of a layer, and what they are called in 9.3.5."""
PAIRS = [
    "The film was a delight.", "I enjoyed the movie very much.",
    "The bridge is closed because of ice.", "You cannot cross the river: it is frozen over.",
    "She plays the violin in an orchestra.", "He is a musician.",
    "The oven has to be hot before the bread goes in.", "Baking begins with heat.",
]  # fmt: skip


class SentenceEncoder(nn.Module):
    """BERT's embeddings, the learner's encoder, and the mean over the tokens."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        words = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
        self.vocabulary = {word: number for number, word in enumerate(words)}
        state = load_file(folder / "model.safetensors")
        width = state["embeddings.word_embeddings.weight"].shape[1]
        layers = 1 + max(int(name.split(".")[2]) for name in state if name.startswith("encoder.layer."))
        inner = len(state["encoder.layer.0.intermediate.dense.bias"])
        self.embeddings = {
            name.split(".", 1)[1]: one for name, one in state.items() if name.startswith("embeddings")
        }
        self.encoder = Encoder(layers, width, max(1, width // 32), inner, 0.0, False, "gelu")
        renamed = {}
        for name, tensor in state.items():
            if name.startswith("encoder.layer."):
                number, part = name.removeprefix("encoder.layer.").split(".", 1)
                stem, _, kind = part.rpartition(".")
                renamed[f"layers.{number}.{NAMES[stem]}.{kind}"] = tensor
        self.encoder.load_state_dict(renamed)  # strict: nothing is missing, nothing is left over
        self.eval()

    def tokens(self, sentence: str) -> list[int]:
        """Return a sentence's tokens: the longest known beginning of each word, then of what is left of it."""
        plain = unicodedata.normalize("NFD", sentence.lower())
        plain = "".join(one for one in plain if unicodedata.category(one) != "Mn")
        found = ["[CLS]"]
        for word in re.findall(r"\w+|[^\w\s]", plain):
            place, pieces = 0, []
            while place < len(word):
                starts = ((word[place:end], end) for end in range(len(word), place, -1))
                known = (("##" * (place > 0) + piece, end) for piece, end in starts)
                piece, place = next((one for one in known if one[0] in self.vocabulary), ("[UNK]", len(word)))
                pieces.append(piece)
            found += pieces
        return [self.vocabulary[token] for token in [*found[: LONGEST - 1], "[SEP]"]]

    @torch.no_grad()
    def forward(self, sentences: list[str]) -> Tensor:
        """Return a vector of length 1 for each sentence."""
        rows = [torch.tensor(self.tokens(sentence)) for sentence in sentences]
        batch = nn.utils.rnn.pad_sequence(rows, batch_first=True)
        parts = self.embeddings
        x = parts["word_embeddings.weight"][batch] + parts["position_embeddings.weight"][: batch.shape[1]]
        x = x + parts["token_type_embeddings.weight"][0]
        x = F.layer_norm(x, x.shape[-1:], parts["LayerNorm.weight"], parts["LayerNorm.bias"], 1e-12)
        real = batch != 0
        hidden = self.encoder(x, real[:, None, None, :])
        weight = real[..., None] / real.sum(1)[:, None, None]
        return F.normalize((hidden * weight).sum(1), dim=-1)


def run(
    step: Callable[[str, int, int], None], data: dict[str, str], own: str | None, prompt: str | None
) -> list[Exhibit]:
    """Search among sentences by what they mean."""
    model, question = SentenceEncoder(Path(data["minilm"])), prompt or QUESTION
    sentences = sentences_of(own or "\n\n".join(topics.topics.values()))
    sentences = sentences[:: -(-len(sentences) // MOST)]
    parts = []
    for start in range(0, len(sentences), BATCH):
        parts.append(model(sentences[start : start + BATCH]))
        step("reading sentences", min(start + BATCH, len(sentences)), len(sentences))
    close = torch.cat(parts) @ model([question])[0]
    best = close.argsort(descending=True)[:8].tolist()
    words = set(re.findall(r"\w+", question.lower()))
    shared = [
        len(words & set(re.findall(r"\w+", one.lower()))) / (1 + len(one.split())) ** 0.5 for one in sentences
    ]
    plain = sorted(range(len(sentences)), key=shared.__getitem__, reverse=True)[:4]
    of = "your text" if own else "the documentation of Python"
    count = sum(parameter.numel() for parameter in model.encoder.parameters())
    return [
        text("This encoder is a BERT", f"All {count:,} trained weights of MiniLM's layers went into Encoder, by name "
             "and shape, strictly. Nothing was trained here: what follows is computed by the code of 9.3.5."),
        table(f"Closest in meaning to “{question}”, of {len(sentences)} sentences of {of}", ["cosine", "sentence"],
              [[f"{float(close[at]):.2f}", sentences[at]] for at in best]),
        table("What a search for the same words finds", ["cosine", "sentence"],
              [[f"{float(close[at]):.2f}", sentences[at]] for at in plain],
              note="Words in common, whatever they mean; the cosine is that of the encoder."),
        _pairs(model),
    ]  # fmt: skip


def sentences_of(source: str) -> list[str]:
    """Return the sentences of a text, each once, without what is code."""
    parts = re.split(r"(?<=[.!?])\s+(?=[A-Z])|\n\s*\n", source)
    plain = (re.sub(r"\s+", " ", part).strip(" *-") for part in parts)
    return list(dict.fromkeys(one for one in plain if len(one.split()) > 3 and len(one) < 300)) or [
        source[:300]
    ]


def _pairs(model: SentenceEncoder) -> Exhibit:
    vectors = model(PAIRS)
    names = [f"{number // 2 + 1}{'ab'[number % 2]}" for number in range(len(PAIRS))]
    lines = "  ".join(f"{name}: {sentence}" for name, sentence in zip(names, PAIRS, strict=True))
    shown = panel("cosine", vectors @ vectors.T, names, names)
    axes = dict.fromkeys(("row_axis", "column_axis"), "sentence")
    return heatmap(
        "Four pairs that say much the same in other words", [shown], **axes, diverging=True, note=lines
    )
