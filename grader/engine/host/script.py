"""What a check asks in one draw, known from a submission that passed it: asked of the next one all at once.

A check's verdict follows from the answers that it gets, bit by bit: whoever gives the answers with which somebody else
passed has passed. Whoever gives others is judged by the check itself, which finds them in place.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from grader.engine.host.calls import CallStats

MAX_BYTES = 128 << 20
"""What the scripts of one kata may take, with room for as much again in answers."""
MAX_SCRIPT = 8 << 20
"""Longer ones are not kept: there the time goes into computing, not into asking."""
MAX_PASSES = 64
"""So many ways to round are told apart; those that nobody had for long go."""


@dataclass(frozen=True)
class Passed:
    """What a run of a check knows of a submission that passed it, besides that it did."""

    names: frozenset[str]
    called: frozenset[str]
    asked_uses: bool
    stats: CallStats


@dataclass(frozen=True)
class Script:
    """The frames of all requests, in order."""

    requests: tuple[bytes, ...]
    opened: bool
    """Whether they were asked of a worker in which what is excluded is there."""
    seconds: float
    """How long the check took."""
    most: int
    """Bytes of answers beyond which nobody waits for the rest."""
    passes: OrderedDict[bytes, Passed] = field(default_factory=OrderedDict)
    """By the digest of the answers with which somebody passed."""

    @property
    def size(self) -> int:
        """Bytes that it takes."""
        return sum(map(len, self.requests))

    def note(self, answers: bytes, passed: Passed) -> None:
        """Note the digest of answers with which a submission has passed."""
        self.passes[answers] = passed
        while len(self.passes) > MAX_PASSES:
            self.passes.popitem(last=False)


class Scripts:
    """The scripts of a kata, by check and seed, in memory alone; those that nobody used for longest go first."""

    def __init__(self) -> None:
        self._found: OrderedDict[tuple[str, int], Script] = OrderedDict()
        self._bytes = 0

    def __iter__(self) -> Iterator[Script]:
        return iter(self._found.values())

    def find(self, check: str, seed: int) -> Script | None:
        """Return the script of a check in one draw, if it is known."""
        if (found := self._found.get((check, seed))) is not None:
            self._found.move_to_end((check, seed))
        return found if found is not None and found.requests else None

    def keep(self, check: str, seed: int, script: Script) -> None:
        """Keep one, unless it is too long.

        Where there is one already, another who passed was asked something else: what is asked follows from the answers.
        """
        if script.size > MAX_SCRIPT:
            return
        if (known := self._found.get((check, seed))) is not None:
            self._bytes -= known.size
            script = replace(script, requests=())
        self._found[check, seed] = script
        self._bytes += script.size
        while self._bytes > MAX_BYTES:
            self._bytes -= self._found.popitem(last=False)[1].size
