"""Byte pairs live: a tokeniser learns from a text, merge by merge; what it makes of others; and one to type into."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from grader.learner.demos.exhibits import Exhibit, choice, lines, play, question, table

PIECES = r" ?\w+| ?[^\w\s]+|\s+"

try:
    from mine import Tokenizer, train
except (
    ImportError
):  # the learner's does not pass yet: here a token is one character, and a merge a replacement

    def _characters(text: str) -> list[str]:
        return ["".join(map(chr, piece.encode())) for piece in re.findall(PIECES, text)]

    def train(text: str, num_merges: int) -> list[tuple[bytes, bytes]]:
        """Learn pairs."""
        pieces, means = Counter(_characters(text)), {chr(byte): bytes([byte]) for byte in range(256)}
        merges: list[tuple[bytes, bytes]] = []
        for new in map(chr, range(0xE000, 0xE000 + num_merges)):
            pairs = Counter(two for piece in pieces.elements() for two in map("".join, pairwise(piece)))
            if not pairs:
                break
            best = max(pairs, key=lambda two: (pairs[two], means[two[0]], means[two[1]]))
            merges.append((means[best[0]], means[best[1]]))
            means[new] = b"".join(merges[-1])
            pieces = Counter({piece.replace(best, new): times for piece, times in pieces.items()})
        return merges

    class Tokenizer:  # type: ignore[no-redef]
        """Make ids of texts, without special strings."""

        def __init__(self, merges: list[tuple[bytes, bytes]]) -> None:
            self.means = {chr(byte): bytes([byte]) for byte in range(256)}
            self.rules: list[tuple[str, str]] = []
            for pair in merges:
                character = {token: known for known, token in self.means.items()}
                self.rules.append((character[pair[0]] + character[pair[1]], chr(0xE000 + len(self.rules))))
                self.means[self.rules[-1][1]] = pair[0] + pair[1]

        def encode(self, text: str) -> list[int]:
            """Replace all pairs in turn."""
            ids: list[int] = []
            for piece in _characters(text):
                for pair, new in self.rules:
                    piece = piece.replace(pair, new)
                ids.extend(ord(c) if ord(c) < 256 else ord(c) - 0xE000 + 256 for c in piece)
            return ids


STORY = (
    "The keeper of the lighthouse wakes slowly. The night was long, and the lamp burned low, lower than the "
    "keeper liked. Slowly the fog is lifting from the harbour, and slowly the boats are leaving it, the smallest "
    "first, the largest last. The keeper counts them: the fishing boats, the sailing boats, the boat that brings "
    "the letters. Once there was a night when no lamp was burning in the lighthouse, and the boats were waiting "
    "in the fog, listening for the bell. The bell was ringing all night long. Since that night the keeper is "
    "sleeping lightly, and waking often, and walking up the winding stairs to look whether the light is still "
    "burning. It is always burning. The light of the lighthouse is lighting the harbour, the keeper is whistling, "
    "and the fishing boats are sailing out into the lightest morning of the year.\n"
)
OTHERS = {
    "from the text itself": "The keeper counts them: the fishing boats, the sailing boats.",
    "the same words, never so": "The sailing keeper is listening lightly to the longest letters.",
    "other English": "A model that writes reads its own words again and again.",
    "German": "Der Wächter des Leuchtturms erwacht langsam und zählt die Boote.",
    "Greek": "\N{GREEK CAPITAL LETTER OMICRON} φύλακας του φάρου ξυπνά αργά.",
    "Japanese": "灯台守はゆっくりと目を覚ます。",
    "code": "for i in range(10): total += x[i] * 2",
    "figures": "3.14159265358979 2718281828",
    "emoji": "🚢🚢🌊👩🏽‍🚒",
}
MERGES = 200
STEPS = (*range(13), 16, 20, 30, 45, 60, 90, 120, 160, MERGES)


def demo() -> list[Exhibit]:
    """Return what the kata shows."""
    merges = train(STORY, MERGES)
    return [
        _step_by_step(merges),
        _try_it(merges),
        _lengths(merges),
        _others(merges),
        _learned(merges),
        _question(),
    ]


def _shown(token: bytes) -> str:
    """Return a token as one can see it: a space as _, and bytes that are not text as figures."""
    try:
        return token.decode().replace(" ", "_").replace("\n", "⏎")
    except UnicodeDecodeError:
        return "".join(f"[{byte:02x}]" for byte in token)


def _tokens(merges: list[tuple[bytes, bytes]], text: str) -> list[str]:
    table_of_bytes = [bytes([byte]) for byte in range(256)] + [one + other for one, other in merges]
    return [_shown(table_of_bytes[number]) for number in Tokenizer(merges).encode(text)]


WATCHED = ("The", " the", " keeper", " lighthouse", " lightly", " burning", " fishing", " boats", " slowly")


def _step_by_step(merges: list[tuple[bytes, bytes]]) -> Exhibit:
    times = Counter(re.findall(PIECES, STORY))
    size = len(STORY.encode())
    frames = {}
    for step in STEPS:
        learned = merges[:step]
        length = len(Tokenizer(learned).encode(STORY))
        last = f"Merged last: {' + '.join(map(_shown, learned[-1]))}. " if learned else ""
        frames[step] = table(
            "Some pieces of the text, and their tokens",
            ["piece", "in the text", "tokens"],
            [[piece.replace(" ", "_"), times[piece], " ".join(_tokens(learned, piece))] for piece in WATCHED],
            note=f"{last}The text of {size} bytes has {length} tokens now, {size / length:.2f} bytes each.",
        )
    return choice(
        "A tokeniser learns",
        "merges learned",
        frames,
        slider=True,
        note="_ is a space. At first every byte is a token. What occurs often becomes one soon, endings as well "
        "as words.",
    )


def _try_it(merges: list[tuple[bytes, bytes]]) -> Exhibit:
    start = "The slowest lighthouse keeper, née Müller, sails at 7:45 🚢"
    tokens = _tokens(merges, start)
    return play(
        "Try it: type a text",
        "tokens.js",
        {
            "merges": [[list(one), list(other)] for one, other in merges],
            "text": start,
            "steps": list(STEPS),
        },
        table(start, ["tokens", "how many"], [[" ".join(tokens), len(tokens)]]),
        note="On the page each box is a token, with its id below. A byte that is not a character by itself is shown as "
        "two figures: half an emoji has no picture. Watch where a word is cut that does not occur in the text above.",
    )


def _lengths(merges: list[tuple[bytes, bytes]]) -> Exhibit:
    curves = {}
    for name in ("from the text itself", "other English", "German", "Greek"):
        text = OTHERS[name]
        size = len(text.encode())
        shares = [size / len(Tokenizer(merges[:step]).encode(text)) for step in STEPS]
        curves[name] = (STEPS, shares)
    ends = ", ".join(f"{name} {shares[-1]:.1f}" for name, (_, shares) in curves.items())
    return lines(
        "How many bytes a token holds",
        curves,
        x_axis="merges",
        y_axis="bytes per token",
        note=f"After {len(merges)} merges: {ends}. What was learned is this one text: it keeps getting shorter, and "
        "others hardly do.",
    )


def _others(merges: list[tuple[bytes, bytes]]) -> Exhibit:
    rows = []
    for name, text in OTHERS.items():
        tokens = _tokens(merges, text)
        rows.append([name, len(text), len(text.encode()), len(tokens), " ".join(tokens[:14])])
    return table(
        f"What other texts cost, after {len(merges)} merges",
        ["text", "characters", "bytes", "tokens", "the first of them"],
        rows,
        note="No text is unknown. But where nothing was learned a token is a byte, and some scripts have three or "
        "four of them for each character.",
    )


def _learned(merges: list[tuple[bytes, bytes]]) -> Exhibit:
    tokens = [(one + other, rank) for rank, (one, other) in enumerate(merges)]
    words = Counter(re.findall(PIECES, STORY))
    whole = sum(token.decode(errors="replace") in words for token, _ in tokens)
    longest = sorted(tokens, key=lambda item: (-len(item[0]), item[1]))[:8]
    return table(
        "The longest tokens",
        ["token", "id", "made of"],
        [
            [_shown(token), 256 + rank, " + ".join(map(_shown, merges[rank]))]
            for token, rank in sorted(longest, key=lambda item: item[1])
        ],
        note=f"{whole} of {len(merges)} tokens are whole pieces of the text, the others parts of words: stems, "
        "endings, and steps on the way that hardly occur by themselves any more.",
    )


def _question() -> Exhibit:
    return question(
        "Which of the texts needs more tokens than it has characters, and why?",
        seen="What other texts cost",
        answer="Those in a script that the training text did not have: a token there is a byte, and a character has "
        "two to four.",
    )
