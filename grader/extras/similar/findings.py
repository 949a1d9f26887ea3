"""What was found. It says what is alike and how rare that is, never how it came about."""

from __future__ import annotations

import msgspec


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One of the two hand-ins of a pair."""

    learner: str
    attempt: int | None
    term: str
    """Which earlier term it is from; empty for the class that is looked at."""
    share: float
    """How much of what is its own, weighed by rarity, the other has too: 0 to 1."""

    @property
    def name(self) -> str:
        """How the hand-in is called."""
        attempt = f", attempt {self.attempt}" if self.attempt is not None else ""
        return f"{self.learner}{attempt}" + (f" ({self.term})" if self.term else "")


class Passage(msgspec.Struct, frozen=True, kw_only=True):
    """Lines that two hand-ins share, first and last, counted from 1."""

    left: tuple[int, int]
    right: tuple[int, int]
    learners: int
    """How many learners have the rarest part of it, these two included."""


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """Two hand-ins that share much that others do not have."""

    left: Side
    right: Side
    rarity: float
    """What they share, in bits: each fingerprint counts the logarithm of how few learners have it."""
    identical: bool
    """The modules are the same, byte by byte."""
    passages: tuple[Passage, ...]
    """What they share, the rarest first."""
    others: int = 0
    """Further pairs of attempts of these two learners that are alike."""


class Identical(msgspec.Struct, frozen=True, kw_only=True):
    """Files that are the same, byte by byte."""

    digest: str
    file: str
    where: tuple[Side, ...]
    learners: int
    """Of how many learners they are."""
    known: str = ""
    """What of the pack it is, if it is that."""

    @property
    def is_relevant(self) -> bool:
        """Whether it is more than one learner's handing in the same file again."""
        return self.learners > 1 or bool(self.known)


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """A hand-in that is close to something that the pack holds."""

    side: Side
    to: str
    """Such as `reference`, `alternative loops`, `given block blocks.py`."""
    rarity: float
    passages: tuple[Passage, ...]


class Unread(msgspec.Struct, frozen=True, kw_only=True):
    """What could not be compared, and why."""

    learner: str
    attempt: int | None
    term: str
    why: str


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    """What one kata's hand-ins have in common."""

    kata: str
    number: str
    learners: int
    """Learners of the class of whom something was read."""
    handed_in: int
    """What of theirs was read."""
    earlier: int
    """Learners of earlier terms."""
    left_out: int
    """Fingerprints that were left out because many learners have them."""
    common: int
    """From so many learners on."""
    pairs: tuple[Pair, ...]
    more: int
    """Pairs that share less, beyond the first thousand; they are counted alone."""
    clusters: tuple[tuple[str, ...], ...]
    identical: tuple[Identical, ...]
    known: tuple[Known, ...]
    unread: tuple[Unread, ...]
    texts: dict[str, tuple[str, ...]]
    """The lines of every hand-in of `pairs` and `known`, by `Side.name`; no part of the JSON."""
    has_solutions: bool
    """Whether the pack's solutions were at hand; without, what they share with everybody is not left out."""
