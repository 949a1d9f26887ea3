"""Who handed in what, as the layouts find it; then an identity for each."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from grader.instructor.submissions.entry import Place
from grader.instructor.submissions.learner import Clock, LearnerFolder
from grader.instructor.submissions.names import learner_name, natural_key, printable, short_digest


@dataclass
class Claim:
    """Somebody's work: who, and where."""

    name: str
    suffix: str
    """What tells them from others of the same name."""
    places: list[Place] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    ids: dict[str, str] = field(default_factory=dict)
    closed: list[str] = field(default_factory=list)
    """Sentences on what is there and is not looked into."""
    rank: int = 0
    """How sure the name is; where two claim one name, the surer keeps it: 0 is what a system vouches for."""


class Claims:
    """Everybody's claims, filled by one layout after the other."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        """What the instructor should know of the class."""
        self._claims: dict[tuple[str, str], Claim] = {}

    def of(self, layout: str, key: str, name: str, suffix: str, rank: int = 0) -> Claim:
        """Return the claim that a layout knows by `key`, making it when there is none."""
        return self._claims.setdefault((layout, key), Claim(name, suffix, rank=rank))

    def nobody(self, layout: str, name: str, why: str) -> None:
        """List what cannot be told whose it is: a row of its own, under the whole name, which takes from nobody."""
        claim = self.of(layout, f"doubt {name}", name, short_digest(name), rank=9)
        claim.closed.append(f"{name} {why}")
        self.notes.append(f"{name} {why}, so it goes to nobody")

    def learners(self, clock: Clock | None) -> tuple[LearnerFolder, ...]:
        """Return the learners, in natural order."""
        learners = [
            LearnerFolder(
                learner,
                tuple(claim.places),
                tuple(printable(note) for note in claim.notes),
                {key: printable(value) for key, value in claim.ids.items()},
                clock,
                tuple(claim.closed),
            )
            for learner, claim in self._named()
        ]
        return tuple(sorted(learners, key=lambda folder: natural_key(folder.learner)))

    def _named(self) -> Iterable[tuple[str, Claim]]:
        """Return every claim with its identity: unique, and the same whoever else is in the class.

        Where several come to one name, the surest keeps it: what a system vouches for, then what is spelled exactly
        so. Only where two are equally sure do both get an addition.
        """
        wanted: dict[str, list[Claim]] = defaultdict(list)
        for claim in self._claims.values():
            wanted[learner_name(claim.name)].append(claim)
        named: dict[str, Claim] = {}
        doubtful: list[tuple[str, Claim]] = []
        for name, claims in wanted.items():
            sure = [(claim.rank, claim.name != name) for claim in claims]
            for claim, mine in zip(claims, sure, strict=True):
                if mine == min(sure) and sure.count(mine) == 1:
                    named[name] = claim
                else:
                    doubtful.append((name, claim))
                if len(claims) > 1:
                    # A learner of whom there is only the system's own note has no place.
                    which = claim.places[0].entry.label if claim.places else claim.suffix
                    claim.notes.append(f"{len(claims)} learners are called {name}; this is {which}")
        for name, claim in doubtful:
            identity = f"{name} ({learner_name(claim.suffix)[:60]})"
            while identity in named:
                identity = f"{name} ({short_digest(identity)})"
            named[identity] = claim
        for claim in named.values():
            if learner_name(claim.name) != claim.name:
                claim.notes.append(f"the name stands for {claim.name[:400]!r}")
        folded = Counter(name.casefold() for name in named)
        for name, claim in named.items():
            if folded[name.casefold()] > 1:
                twins = [other for other in named if other != name and other.casefold() == name.casefold()]
                claim.notes.append(f"another learner's name differs in case only: {', '.join(twins[:3])}")
        return named.items()
