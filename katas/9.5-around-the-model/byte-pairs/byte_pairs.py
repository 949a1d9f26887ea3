"""9.5.1 Byte pairs: a tokeniser that learns its vocabulary from a text, and loses nothing of any other.

References: Sennrich et al. 2015 (arXiv:1508.07909); Radford et al. 2019, section 2.2, for bytes in place of characters.

First step: `Tokenizer.encode`, as the lesson says under that heading; `kata check byte-pairs -k test_bytes_alone` then
shows that it is right.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

PIECES = r" ?\w+| ?[^\w\s]+|\s+"
"""The pattern by which a text is cut before anything is counted or merged. Each character is in one piece."""


def train(text: str, num_merges: int) -> list[tuple[bytes, bytes]]:
    """Learn which pairs to merge.

    Args:
        text: what to learn from. It is cut into PIECES, each of which becomes its UTF-8 bytes; at first a token is one
            byte.
        num_merges: how many pairs to merge, one after the other.

    Returns:
        The pairs in the order in which they were merged: each time the one that occurs side by side most often in the
        text as it then is; on a tie the greatest, as Python compares tuples of bytes. A pair never crosses a piece.
        Fewer when no pair is left.
    """
    # TODO: count, choose, merge, and again.
    raise NotImplementedError("train")


class Tokenizer:
    """Turns any text into ids and ids into a text.

    Ids: 0 to 255 are the bytes, then come the merges in their order, then the special strings in theirs.

    Args:
        merges: pairs as `train` returns them.
        special: strings that become one token each wherever they occur in a text, such as "<|end|>".
    """

    vocab_size: int
    """How many ids there are."""

    def __init__(self, merges: Sequence[tuple[bytes, bytes]], special: Sequence[str] = ()) -> None:
        # TODO: which tables do encode and decode need?
        raise NotImplementedError("Tokenizer")

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text.

        A special string becomes its own id; where several begin at the same place, the longest is taken. The text
        between them is cut into PIECES, each on its own side. In each piece the merge that was learned first is done
        first, from left to right, wherever its pair occurs; then the next, until none applies.
        """
        # TODO: special strings first, then pieces, then merges.
        raise NotImplementedError("Tokenizer.encode")

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of these ids; invalid UTF-8 becomes U+FFFD, as errors="replace" has it."""
        # TODO: when are the bytes of a character complete?
        raise NotImplementedError("Tokenizer.decode")
