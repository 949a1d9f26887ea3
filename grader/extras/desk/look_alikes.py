"""What hand-ins share, found by a process of its own: comparing a class takes half a minute of one core."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from grader.api import (
    EXTRAS,
    Alike,
    Catalogue,
    Gradebook,
    Kata,
    KataError,
    __version__,
    frames,
    kata_digest,
    load,
)
from grader.extras.desk import process

SIMILAR: Any = load(EXTRAS["look-alikes"]) if "look-alikes" in EXTRAS else None
"""What compares hand-ins, and draws pairs of them: an extra, which may be absent."""
_MODULE = "grader.extras.desk.look_alikes"  # of the process that compares, `main`


class LookAlikes:
    """Findings by kata, made when somebody asks, for all desks, and kept until something else was handed in."""

    def __init__(self, book: Gradebook) -> None:
        self._book = book
        self._found: dict[str, tuple[str, Any]] = {}
        self._comparing = False
        self._guard = threading.Lock()

    def all(self, katas: Iterable[Kata], state: Callable[[str], str]) -> bool:
        """Have all katas compared, one after the other; return whether all are."""
        return all([self.findings(kata, state(kata.slug)) is not None for kata in katas])

    def known(self) -> Mapping[str, Any]:
        """Return what was found so far, by kata."""
        return {kata: found for kata, (_, found) in self._found.items() if not isinstance(found, str)}

    def findings(self, kata: Kata, state: str) -> Any:
        """Return what a kata's hand-ins share, or why that cannot be said; None while they are being compared.

        Args:
            kata: which.
            state: a text that is another one when something else was handed in.
        """
        if SIMILAR is None:
            return "What compares hand-ins is not installed."
        with self._guard:
            stored = self._found.get(kata.slug)
            if stored is not None and stored[0] == state:
                return stored[1]
            if not self._comparing:  # one at a time: each takes a core and its memory
                self._comparing = True
                # In the background: comparing takes seconds, and no page should wait for it.
                threading.Thread(target=self._compare, args=(kata, state), daemon=True).start()
            return None

    def _compare(self, kata: Kata, state: str) -> None:
        found: Any
        try:
            found = self._compared(kata, state)
        except (OSError, KataError, msgspec.MsgspecError) as error:
            found = f"The hand-ins could not be compared: {error}"
        with self._guard:
            self._found[kata.slug] = state, found
            self._comparing = False

    def _compared(self, kata: Kata, state: str) -> Any:
        """Return what is stored, or else what this desk, as the only one, finds now."""
        # Also another one when the pack has changed, or what compares.
        name, stamp = f"look-alikes {kata.slug}", f"{__version__} {kata_digest(kata)} {state}"
        while (stored := self._book.computed(name, stamp)) is None:
            with self._book.alone("look-alikes") as ours:
                # Once more: who was alone until now has stored it before.
                if ours and (stored := self._book.computed(name, stamp)) is None:
                    place = process.BookAddress.of(self._book)
                    found = process.ask(_MODULE, (place, kata.slug), SIMILAR.Findings)
                    self._book.keep_computed(name, stamp, frames.encode(found))
                    return found
            if not ours:
                time.sleep(process.POLL_S)
        return frames.Decoder(SIMILAR.Findings).decode(stored)


COPY = 0.995
"""From so large a share of what is its own on, on both sides, a hand-in is a copy of the other."""
Verdicts = Mapping[tuple[frozenset[str], str], Alike]
"""What stands about two learners and a kata."""


def verdicts(book: Gradebook) -> Verdicts:
    """Return what somebody has found out about pairs."""
    whose = book.identity()
    return {
        (frozenset((whose(verdict.learner or ""), whose(verdict.other))), verdict.kata or ""): verdict
        for verdict in book.standing(Alike)
    }


class AlikePair(NamedTuple):
    """Two learners of whom something is alike."""

    learners: tuple[str, str]
    katas: dict[str, Any]
    verdicts: dict[str, Alike]
    """By kata, what somebody has found out."""

    @property
    def open(self) -> list[str]:
        """The katas of which nobody has said anything."""
        return [kata for kata in self.katas if kata not in self.verdicts]


def is_copy(pair: Any) -> bool:
    """Whether two hand-ins are the same but for names and layout: nothing of either is only its own."""
    return bool(pair.identical) or min(pair.left.share, pair.right.share) >= COPY


class Cluster(NamedTuple):
    """Learners who are connected through pairs that nobody has said anything about."""

    learners: tuple[str, ...]
    pairs: list[AlikePair]

    @property
    def katas(self) -> dict[str, list[Any]]:
        """The open pairs, by kata."""
        found: dict[str, list[Any]] = {}
        for alike in self.pairs:
            for kata in alike.open:
                found.setdefault(kata, []).append(alike.katas[kata])
        return found

    @property
    def copies(self) -> dict[str, int]:
        """How many of the pairs are copies, by kata."""
        return {kata: sum(map(is_copy, pairs)) for kata, pairs in self.katas.items()}


def clusters(pairs: Iterable[AlikePair]) -> list[Cluster]:
    """Return open pairs by who is connected through them: those with copies first, then those in most katas."""
    of: dict[str, Cluster] = {}
    for alike in pairs:
        if not alike.open:
            continue
        # Each learner is in one: a pair joins what its two are in.
        parts = {id(of[learner]): of[learner] for learner in alike.learners if learner in of}
        learners = dict.fromkeys(name for part in parts.values() for name in part.learners)
        learners |= dict.fromkeys(alike.learners)
        joined = Cluster(tuple(learners), [pair for part in parts.values() for pair in part.pairs] + [alike])
        of |= dict.fromkeys(learners, joined)
    found = list({id(cluster): cluster for cluster in of.values()}.values())

    def first(cluster: Cluster) -> tuple[bool, int, float]:
        every = [pair for pairs in cluster.katas.values() for pair in pairs]
        return not any(map(is_copy, every)), -len(cluster.katas), -max(pair.rarity for pair in every)

    return sorted(found, key=first)


def alike_pairs(known: Mapping[str, Any], settled: Verdicts) -> list[AlikePair]:
    """Return who is alike in which katas: what is settled last, else those first who are so in most katas."""
    katas: dict[frozenset[str], dict[str, Any]] = {}
    for kata, found in known.items():
        for pair in found.pairs:
            katas.setdefault(frozenset((pair.left.learner, pair.right.learner)), {})[kata] = pair
    pairs = []
    for who, own in katas.items():
        first = next(iter(own.values()))
        about = {kata: settled[who, kata] for kata in own if (who, kata) in settled}
        pairs.append(AlikePair((first.left.learner, first.right.learner), own, about))
    rarity = {alike.learners: sum(pair.rarity for pair in alike.katas.values()) for alike in pairs}
    return sorted(pairs, key=lambda alike: (not alike.open, -len(alike.katas), -rarity[alike.learners]))


def main() -> None:
    """Compare what the gradebook keeps of one kata; write what is found on standard output."""
    os.nice(10)
    place, kata = process.question(tuple[process.BookAddress, str])
    try:
        with place.open() as book:
            contents = book.contents_of_kata(kata)
            works = [SIMILAR.Candidate(learner, bundle, attempt) for learner, attempt, bundle in contents]
            process.answer(SIMILAR.compare(Catalogue.discover().resolve_one(kata), works))
    except KataError as error:
        sys.exit(error.message)


if __name__ == "__main__":
    main()
