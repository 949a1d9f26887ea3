"""The requests of a check in one draw: recorded with a submission that passed, sent to later ones in one go.

A check's verdict is a function of the replies, bit by bit. A submission that replies as an earlier one did, which
passed, passes as well; any other is judged by the check itself, which finds the replies in place.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from grader.engine.host.calls import CallStats

MAX_BYTES = 128 << 20
"""Upper limit of the scripts of one kata."""
MAX_SCRIPT = 8 << 20
"""A longer script is not recorded: such a check spends its time on computing."""
MAX_PASSES = 64
"""How many different sets of passing replies are remembered (submissions round differently), the latest ones."""


@dataclass(frozen=True)
class Passed:
    """What a run notes of a submission that passed a check, besides the verdict."""

    names: frozenset[str]
    called: frozenset[str]
    asked_uses: bool
    stats: CallStats


@dataclass(frozen=True)
class Script:
    """The frames of all requests, in order."""

    requests: tuple[bytes, ...]
    opened: bool
    """Whether the worker was one in which what is excluded is there."""
    seconds: float
    """How long the check took."""
    most: int
    """Limit for the bytes of all replies."""
    passes: OrderedDict[bytes, Passed] = field(default_factory=OrderedDict)
    """By the digest of replies that passed."""

    @property
    def size(self) -> int:
        """Bytes that it takes."""
        return sum(map(len, self.requests))

    def note(self, answers: bytes, passed: Passed) -> None:
        """Add the digest of replies with which a submission has passed."""
        self.passes[answers] = passed
        while len(self.passes) > MAX_PASSES:
            self.passes.popitem(last=False)


class Scripts:
    """The scripts of a kata by check and seed, in memory only; the least recently used are dropped first."""

    def __init__(self) -> None:
        self._found: OrderedDict[tuple[str, int], Script] = OrderedDict()
        self._bytes = 0

    def __iter__(self) -> Iterator[Script]:
        return iter(self._found.values())

    def find(self, check: str, seed: int) -> Script | None:
        """Return the script of a check in one draw, if there is one."""
        if (found := self._found.get((check, seed))) is not None:
            self._found.move_to_end((check, seed))
        return found if found is not None and found.requests else None

    def keep(self, check: str, seed: int, script: Script) -> None:
        """Add a script, unless it is too long.

        If there is one already, this check makes other requests for other replies: then it cannot have a script.
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
