"""Merges of one's own next to those of GPT-2 and SmolLM2: where each cuts, and how many characters a token holds."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from pydoc_data import topics

import smollm2

from grader.learner.demos.exhibits import Exhibit, bars, lines, table, text

try:
    from mine import Tokenizer, train

    LEARNED, READ = 500, 60_000
except (
    ImportError
):  # the learner's does not pass yet: others replace them, of which the demo's `train` is slow
    from demo import PIECES, train

    LEARNED, READ = 60, 4000

    class Tokenizer:  # type: ignore[no-redef]
        """Make ids of texts."""

        def __init__(self, merges: list[tuple[bytes, bytes]]) -> None:
            self.ranks = {pair: rank for rank, pair in enumerate(merges)}
            self.ids = {bytes([byte]): byte for byte in range(256)}
            self.ids |= {left + right: 256 + rank for (left, right), rank in self.ranks.items()}

        def encode(self, text: str) -> list[int]:
            """Join pairs piece by piece."""
            pieces = ([bytes([byte]) for byte in piece.encode()] for piece in re.findall(PIECES, text))
            return [self.ids[token] for piece in pieces for token in smollm2.joined(piece, self.ranks)]


NEEDS = ()
ASKED = 1500
"""Characters of each text that are cut."""
WRITTEN = "A blank separates two tokens; Ġ is a blank of the text, Ċ a new line; other bytes are written as GPT-2 does."
TEXTS = {
    "English": "The keeper of the lighthouse wakes slowly, and counts the boats: the fishing boats, the sailing boats.",
    "German": "Der Wächter des Leuchtturms erwacht langsam und zählt die Fischerboote.",
    "code": "for name, value in sorted(found.items()):\n    total[name] += value * 2\n",
    "figures": "3.14159265358979 2718281828 1999-12-31",
}
Merges = list[tuple[bytes, bytes]]


def run(
    step: Callable[[str, int, int], None], data: dict[str, str], own: str | None, prompt: str | None
) -> list[Exhibit]:
    """Learn merges from a text, and compare them with trained ones."""
    source = own or "\n".join(topics.topics.values())
    step("learning merges", 0, 1)
    sets = {"learned here": train(source[:READ], LEARNED)}
    if "gpt2-merges" in data:
        written = Path(data["gpt2-merges"], "vocab.bpe").read_text(encoding="utf-8").splitlines()
        sets["GPT-2"] = smollm2.merges_of([line for line in written[1:] if line])
    if "smollm2" in data:
        words = json.loads(Path(data["smollm2"], "vocabulary.json").read_text(encoding="utf-8"))
        sets["SmolLM2"] = smollm2.merges_of(words["merges"])
    texts = {"the text learned from": source[:ASKED], **TEXTS}
    if prompt:
        texts = {"yours to cut": prompt, **texts}
    rows, heights, done = [], {}, 0
    for name, merges in sets.items():
        tokenizer = Tokenizer(merges)
        heights[name] = []
        for which, one in texts.items():
            ids = tokenizer.encode(one)
            heights[name].append(len(one) / max(1, len(ids)))
            if len(one) < ASKED:
                rows.append([which, name, len(ids), cut(ids, merges)])
            done += 1
            step(f"cutting with {name}", done, len(sets) * len(texts))
    missing = [name for name in ("gpt2-merges", "smollm2") if name not in data]
    fetch = "".join(f"\n\nTo see more next to it: kata data get {name}" for name in missing)
    of = "your text" if own else "the documentation of Python"
    said = f"{len(sets['learned here'])} merges were learned from {READ:,} characters of {of}."
    said += f" Tokenizer cuts with each set of merges, in the pieces of 9.5.1.{fetch}"
    rows.sort(key=lambda row: list(texts).index(row[0]))
    return [
        text("Merges learned here, and trained ones", said),
        bars("Characters a token holds", list(texts), heights, y_axis="characters a token"),
        table("Where they cut", ["text", "merges", "tokens", "cut"], rows, note=WRITTEN),
        _by_number(sets, texts["the text learned from"]),
    ]  # fmt: skip


def cut(ids: list[int], merges: Merges) -> str:
    """Return tokens as they are written; a blank of the text is Ġ, so one of ours parts two of them."""
    tokens = [bytes([byte]) for byte in range(256)] + [left + right for left, right in merges]
    seen = smollm2.visible_bytes()
    return " ".join("".join(seen[byte] for byte in tokens[number]) for number in ids)


def _by_number(sets: dict[str, Merges], source: str) -> Exhibit:
    curves = {}
    for name, merges in sets.items():
        counts = [count for count in (1, 10, 30, 100, 300, 1000, 3000) if count <= len(merges)]
        lengths = [len(source) / len(Tokenizer(merges[:count]).encode(source)) for count in counts]
        curves[name] = (counts, lengths)
    note = "Merges learned from this very text shorten it sooner than those of a whole web."
    title, axes = (
        "Characters a token, by how many merges are used",
        {"x_axis": "merges", "y_axis": "characters a token"},
    )
    return lines(title, curves, **axes, log_x=True, note=note)
