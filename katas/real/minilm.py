"""MiniLM as `kata data get minilm` leaves it: its weights in an Encoder, its words, and sentences to read."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from pydoc_data import topics
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional as F

LONGEST = 64
"""Tokens of a sentence that are read."""
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
CHAPTERS = ("specialnames", "compound", "types", "formatstrings", "string-methods", "debugger")
"""Chapters of Python's documentation that come with Python itself."""


class SentenceEncoder(nn.Module):
    """BERT's embeddings, and the learner's encoder with BERT's weights."""

    def __init__(self, encoder: Any, folder: str) -> None:
        super().__init__()
        words = Path(folder, "vocab.txt").read_text(encoding="utf-8").splitlines()
        self.vocabulary = {word: number for number, word in enumerate(words)}
        state = load_file(Path(folder, "model.safetensors"))
        width = state["embeddings.word_embeddings.weight"].shape[1]
        layers = 1 + max(int(name.split(".")[2]) for name in state if name.startswith("encoder.layer."))
        inner = len(state["encoder.layer.0.intermediate.dense.bias"])
        self.embeddings = {
            name.split(".", 1)[1]: one for name, one in state.items() if name.startswith("embeddings")
        }
        self.encoder = encoder(layers, width, max(1, width // 32), inner, 0.0, False, "gelu")
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
        found = ["[CLS]"]
        for word in words_of(sentence):
            place, pieces = 0, []
            while place < len(word):
                starts = ((word[place:end], end) for end in range(len(word), place, -1))
                known = (("##" * (place > 0) + piece, end) for piece, end in starts)
                piece, place = next((one for one in known if one[0] in self.vocabulary), ("[UNK]", len(word)))
                pieces.append(piece)
            found += pieces
        return [self.vocabulary[token] for token in [*found[: LONGEST - 1], "[SEP]"]]

    @torch.no_grad()
    def read(self, sentences: list[str]) -> tuple[Tensor, Tensor]:
        """Return the vectors of all tokens, [B, T, D], and which of them are real, bool [B, T]."""
        rows = [torch.tensor(self.tokens(sentence)) for sentence in sentences]
        batch = nn.utils.rnn.pad_sequence(rows, batch_first=True)
        parts = self.embeddings
        x = parts["word_embeddings.weight"][batch] + parts["position_embeddings.weight"][: batch.shape[1]]
        x = x + parts["token_type_embeddings.weight"][0]
        x = F.layer_norm(x, x.shape[-1:], parts["LayerNorm.weight"], parts["LayerNorm.bias"], 1e-12)
        real = batch != 0
        return self.encoder(x, real[:, None, None, :]), real


def words_of(sentence: str) -> list[str]:
    """Return the words of a sentence, and its marks, in small letters and without accents."""
    plain = unicodedata.normalize("NFD", sentence.lower())
    return re.findall(r"\w+|[^\w\s]", "".join(one for one in plain if unicodedata.category(one) != "Mn"))


def sentences_of(source: str) -> list[str]:
    """Return the sentences of a text, each once, without what is code."""
    parts = re.split(r"(?<=[.!?])\s+(?=[A-Z])|\n\s*\n", source)
    plain = (re.sub(r"\s+", " ", part).strip(" *-") for part in parts)
    return list(dict.fromkeys(one for one in plain if len(one.split()) > 3 and len(one) < 300)) or [
        source[:300]
    ]


def chapters(own: str | None, most: int) -> tuple[list[str], list[str], Tensor]:
    """Return names of classes, sentences, and each one's class: a chapter it is from, or a quarter of one's own text.

    The order is drawn once, so the first sentences may be learned from and the last ones kept for a test.
    """
    if own:
        every = sentences_of(own)
        quarter = max(1, -(-len(every) // 4))
        groups = {
            f"quarter {number // quarter + 1}": every[number : number + quarter]
            for number in range(0, len(every), quarter)
        }
    else:
        groups = {name: sentences_of(topics.topics[name]) for name in CHAPTERS}
    least = min(most, *map(len, groups.values()))
    found = [(sentence, label) for label, group in enumerate(groups.values()) for sentence in group[:least]]
    order = torch.randperm(len(found), generator=torch.Generator().manual_seed(0)).tolist()
    return list(groups), [found[at][0] for at in order], torch.tensor([found[at][1] for at in order])
