"""SmolLM2-135M as `kata data get smollm2` leaves it: its weights in a ModernLM, and its vocabulary."""

from __future__ import annotations

import inspect
import json
import math
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

HEADS, SHARED, LONGEST = 9, 3, 8192
OPTIONS = {"base": 100_000.0, "eps": 1e-5}
"""What it was trained with. The kata fixes 10,000 and 1e-6: a class that takes these is given them."""
PIECES = re.compile(r"'(?:s|t|re|ve|m|ll|d)| ?[^\W\d_]+|\d| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")
"""How a text is cut before pairs are merged: GPT-2's way, and every digit by itself."""
SPECIAL = re.compile(r"(<\|(?:im_start|im_end|endoftext)\|>)")
END = "<|im_end|>"
UNSHOWN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def model_of(kind: Any, folder: str) -> tuple[Any, str]:
    """Return a model of this class with the weights, and a sentence about its options."""
    state = {name: tensor.float() for name, tensor in load_file(f"{folder}/model.safetensors").items()}
    state["head.weight"] = state["tokens.weight"]  # it reads and writes with one matrix
    layers = 1 + max(int(name.split(".")[1]) for name in state if name.startswith("layers."))
    vocab, width = state["tokens.weight"].shape
    sizes = {
        "vocab_size": vocab, "d_model": width, "num_heads": HEADS, "num_kv_heads": SHARED,
        "d_ff": len(state["layers.0.feed_forward.gate.weight"]), "num_layers": layers, "max_len": LONGEST,
    }  # fmt: skip
    takes = inspect.signature(kind).parameters
    options = {name: value for name, value in OPTIONS.items() if name in takes}
    model = kind(**sizes, **options)
    model.load_state_dict(state)  # strict: nothing is missing, nothing is left over
    if len(options) == len(OPTIONS):
        return (
            model,
            "It takes base and eps, and was given the base of 100,000 and the eps of 1e-5 that SmolLM2 has.",
        )
    return model, (
        "It was trained with a base of 100,000 and an eps of 1e-5; the kata's are 10,000 and 1e-6. On a novel that "
        "costs 4.10 nats a token in place of 3.98. A ModernLM that takes base and eps as optional arguments is given "
        "them."
    )


def base_of(kind: Any) -> float:
    """Return the base that `model_of` gives a class, or its own."""
    return OPTIONS["base"] if "base" in inspect.signature(kind).parameters else 1e4


def turned(x: Tensor, base: float) -> Tensor:
    """Turn neighbouring columns of heads [B, H, T, d] by their positions, as the model does itself."""
    length, width = x.shape[-2:]
    angle = torch.outer(torch.arange(length), base ** (-torch.arange(0, width, 2) / width))
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angle), angle)).flatten(-2)


def visible_bytes() -> dict[int, str]:
    """Return the character that GPT-2's kind of vocabulary writes for each byte: a blank is Ġ."""
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    unseen = [byte for byte in range(256) if byte not in seen]
    return {byte: chr(byte) for byte in seen} | {byte: chr(256 + place) for place, byte in enumerate(unseen)}


def merges_of(lines: list[str]) -> list[tuple[bytes, bytes]]:
    """Return merges that are written in such characters, as bytes."""
    known = {character: byte for byte, character in visible_bytes().items()}
    pairs = (line.split(" ") for line in lines)
    return [(bytes(known[one] for one in left), bytes(known[one] for one in right)) for left, right in pairs]


def joined(token: list[Any], ranks: dict[tuple[Any, ...], int]) -> list[Any]:
    """Join the neighbours of the lowest rank until none has one."""
    while len(token) > 1:
        rank, at = min((ranks.get(two, math.inf), at) for at, two in enumerate(pairwise(token)))
        if rank == math.inf:
            break
        token[at : at + 2] = [token[at] + token[at + 1]]
    return token


class Vocabulary:
    """Its tokens: bytes, written as characters that can be seen, and merged by rank."""

    def __init__(self, folder: str) -> None:
        words = json.loads((Path(folder) / "vocabulary.json").read_text(encoding="utf-8"))
        self.tokens: list[str] = words["tokens"]
        self.ids = {token: number for number, token in enumerate(self.tokens)}
        self.ranks = {tuple(pair.split(" ")): rank for rank, pair in enumerate(words["merges"])}
        self.characters = visible_bytes()
        self.bytes = {character: byte for byte, character in self.characters.items()}

    def pieces(self, text: str) -> list[str]:
        """Return the tokens of a text, as they are written."""
        found: list[str] = []
        for part in SPECIAL.split(text):
            if SPECIAL.fullmatch(part):
                found.append(part)
                continue
            for piece in PIECES.findall(part):
                token = [self.characters[byte] for byte in piece.encode()]
                while len(token) > 1:
                    rank, at = min(
                        (self.ranks.get(two, math.inf), at) for at, two in enumerate(pairwise(token))
                    )
                    if rank == math.inf:
                        break
                    token[at : at + 2] = [token[at] + token[at + 1]]
                found += token
        return found

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text."""
        return [self.ids.get(token, 0) for token in self.pieces(text)]

    def decode(self, ids: list[int]) -> str:
        """Return the text of ids."""
        letters = "".join(self.tokens[number] for number in ids)
        text = bytes(self.bytes.get(one, 63) for one in letters).decode("utf-8", "replace")
        # There is a token for each control character, which a terminal would obey: none is shown.
        return UNSHOWN.sub("\ufffd", text)
