"""The requests of a check in one draw: recorded with submissions that passed, sent to later ones in one go.

A check's verdict is a function of the replies, bit by bit. A submission that replies as an earlier one did, which
passed, passes as well; any other is judged by the check itself, which finds the replies in place.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from grader.engine.host.calls import CallStats

MAX_BYTES = 128 << 20
"""Upper limit of the scripts of one kata."""
MAX_SCRIPT = 8 << 20
"""A conversation with more bytes is not recorded: such a check spends its time on computing."""
MAX_PASSES = 64
"""How many conversations with passing submissions a script holds (submissions round differently), the latest ones."""


@dataclass(frozen=True)
class RecordedPass:
    """The whole conversation of a check with a submission that passed it, and what a run notes besides the verdict."""

    requests: tuple[bytes, ...]
    """Frames, in order."""
    replies: tuple[bytes, ...]
    """After each request the digest of all replies so far."""
    names: frozenset[str]
    called: frozenset[str]
    asked_uses: bool
    stats: CallStats


@dataclass
class Script:
    """What is known of a check in one draw."""

    opened: bool
    """Whether the worker was one in which what is excluded is there."""
    seconds: float = 0.0
    """How long the check took at most."""
    most: int = 0
    """The size of all replies together, at most."""
    size: int = 0
    """At most so many bytes are in its requests."""
    passes: list[RecordedPass] = field(default_factory=list)
    failed_after: set[int] = field(default_factory=set)
    """After how many of its requests submissions have failed."""

    def add(self, recorded: RecordedPass) -> None:
        """Add a conversation; frames with which another one begins as well are stored once."""
        requests, shared = recorded.requests, 0
        for known in self.passes:
            same = _common(known.requests, requests)
            requests, shared = (*same, *requests[len(same) :]), max(shared, len(same))
        self.passes.append(replace(recorded, requests=requests))
        self.size += sum(map(len, requests[shared:]))
        del self.passes[:-MAX_PASSES]

    def add_failure(self, requests: Sequence[bytes]) -> None:
        """Note up to where a conversation that ended in a failure was one of these."""
        # What a check asks after that, to explain the failure, no other submission need be asked.
        self.failed_after.add(max(len(_common(known.requests, requests)) for known in self.passes))

    def next_requests(self, passes: Sequence[RecordedPass], place: int) -> list[bytes]:
        """Return the requests that all of these make from a place on: until they differ, or others have failed."""
        end = min((failed for failed in self.failed_after if failed > place), default=None)
        same = zip(*(recorded.requests[place:end] for recorded in passes), strict=False)
        return [
            frames[0] for frames in takewhile(lambda frames: frames.count(frames[0]) == len(frames), same)
        ]


def _common(known: Sequence[bytes], requests: Sequence[bytes]) -> list[bytes]:
    """Return the requests with which both begin."""
    pairs = zip(known, requests, strict=False)
    return [theirs for theirs, ours in takewhile(lambda pair: pair[0] == pair[1], pairs)]


class Scripts:
    """The scripts of a kata by check and seed, in memory only; the least recently used are dropped first."""

    def __init__(self) -> None:
        self._found: OrderedDict[tuple[str, int], Script] = OrderedDict()

    def find(self, check: str, seed: int) -> Script | None:
        """Return the script of a check in one draw, if there is one."""
        if (found := self._found.get((check, seed))) is not None:
            self._found.move_to_end((check, seed))
        return found

    def add(self, check: str, seed: int, opened: bool, recorded: RecordedPass) -> Script:
        """Add a conversation to the script of a check in one draw, which is made if there is none; return it."""
        script = self._found.setdefault((check, seed), Script(opened))
        script.add(recorded)
        while len(self._found) > 1 and sum(known.size for known in self._found.values()) > MAX_BYTES:
            self._found.popitem(last=False)
        return script
