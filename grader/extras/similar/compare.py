"""From hand-ins to findings: who shares fingerprints with whom, weighed by how few others have them.

What was given, what the pack's solutions hold and what many learners have is left out of both sides: of what two share,
and of what each of them has. A fingerprint that `n` of `N` learners have weighs `log2((N + PRIOR) / n)` bits.
"""

from __future__ import annotations

import ast
import hashlib
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from grader.api import Kata, Piece, Words, blocks_in, defined_names, given_files, read_bounded
from grader.extras.similar.findings import Findings, Identical, Known, Pair, Passage, Side, Unread
from grader.extras.similar.tokenized_submission import (
    SPAN,
    Candidate,
    TokenizedSubmission,
    all_hashes,
    by_hash,
)

PRIOR = 20
"""Learners who are assumed besides the class: of two who share something in a class of two, little is known."""
FEWEST = 5
"""So many learners at least have what counts as common."""
MOST_PAIRS = 1000
"""Pairs of a kata that are looked into; nobody reads more, and of a class in which hundreds share one answer there are
hundreds of thousands. The others are counted."""
_NEAR = SPAN
"""Words between two fingerprints of one passage."""
LIMIT_BYTES = 1 << 20
_OPERATOR = re.compile(rb"\baten\.(\w+)(?:\.default\b)?")
_FENCED = re.compile(r"^(```|~~~)[^\n]*\n(.*?)^\1", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Settings:
    """What is reported."""

    share: float = 0.4
    """Of what is one hand-in's own, so much at least is in the other."""
    rarity: float = 30.0
    """Bits that two share at least: a short answer shared by many has few."""
    common: float = 0.3
    """What this part of the learners has is left out."""
    known_share: float = 0.8
    """As `share`, for what the pack holds."""


DEFAULTS = Settings()


def compare(
    kata: Kata, works: Iterable[Candidate], earlier: Iterable[Candidate] = (), settings: Settings = DEFAULTS
) -> Findings:
    """Compare what was handed in for one kata.

    Args:
        kata: whose stub, given files, lessons and solutions are left out.
        works: the class's hand-ins, several of one learner included; these are never compared with each other.
        earlier: other terms': they are compared with the class, and not with each other.
        settings: what is reported.

    Raises:
        PackError: a file of the pack cannot be read.
    """
    foreign = _foreign_names(kata)
    # What is graded anew is not another hand-in.
    distinct: dict[tuple[str, str, str], Candidate] = {}
    for work in (*works, *earlier):
        distinct.setdefault((*work.who, work.bundle.digest), work)
    read = [TokenizedSubmission(work, foreign) for work in distinct.values()]
    given, catalogued = _given(kata), _catalogued(kata)
    given_hashes = _hashes_of(given)
    # Without what was given and what the pack holds: everybody has that in common.
    index = _Index(read, given_hashes | _hashes_of(catalogued), settings)
    alike = _alike(index, settings)
    pairs = [_pair(index, *found) for found in alike[:MOST_PAIRS]]
    close = tuple(_close_to_known(read, given_hashes, catalogued, settings))
    sides = [side for pair in pairs for side in (pair.left, pair.right)]
    shown = {side.name for side in (*sides, *(near.side for near in close))}
    mine = [submission for submission in read if not submission.work.term]
    return Findings(
        kata=kata.slug,
        number=kata.number,
        learners=len({submission.work.who for submission in mine}),
        handed_in=len(mine),
        earlier=len({submission.work.who for submission in read if submission.work.term}),
        left_out=index.left_out,
        common=index.common,
        pairs=tuple(pairs),
        more=len(alike) - len(pairs),
        clusters=_clusters(index, alike),
        identical=tuple(_identical(read, given, catalogued)),
        known=close,
        unread=tuple(
            Unread(
                learner=submission.work.learner,
                attempt=submission.work.attempt,
                term=submission.work.term,
                why=why,
            )
            for submission in read
            for why in submission.problems
        ),
        # Of those shown alone: the report is one file, and everybody's text would be most of it.
        texts={
            name: tuple(submission.lines)
            for submission in read
            if (name := _side(submission, 1.0).name) in shown
        },
        has_solutions=kata.solution is not None,
    )


class _Index:
    """Who has which fingerprint, without what is left out."""

    def __init__(self, read: Sequence[TokenizedSubmission], ignored: set[int], settings: Settings) -> None:
        self.read = read
        owners: dict[int, set[tuple[str, str]]] = defaultdict(set)
        for submission in read:
            for value in submission.fingerprints:
                if value not in ignored:
                    owners[value].add(submission.work.who)
        people = len({submission.work.who for submission in read})
        self.common = max(FEWEST, math.ceil(settings.common * people))
        self.learners = {value: len(who) for value, who in owners.items() if len(who) < self.common}
        self.left_out = len(owners) - len(self.learners)
        self._bits = [math.log2((people + PRIOR) / max(count, 1)) for count in range(self.common + 1)]
        self.total = np.zeros(len(read))
        places: dict[int, list[int]] = defaultdict(list)
        for number, submission in enumerate(read):
            for value in submission.fingerprints:
                if value in self.learners:
                    places[value].append(number)
                    self.total[number] += self.bits(value)
        self._holders = {value: np.array(own) for value, own in places.items() if len(own) > 1}

    def bits(self, value: int) -> float:
        """Return what a fingerprint weighs."""
        return self._bits[self.learners[value]]

    def shared(self, number: int) -> npt.NDArray[np.float64]:
        """Return the bits that one hand-in shares with every other."""
        mine = [value for value in self.read[number].fingerprints if value in self._holders]
        if not mine:
            return np.zeros(len(self.read))
        holders = [self._holders[value] for value in mine]
        weights = np.repeat([self.bits(value) for value in mine], [len(own) for own in holders])
        return np.bincount(np.concatenate(holders), weights, len(self.read)).astype(np.float64)


_Alike = tuple[float, int, int, int]
"""Bits in common, the two hand-ins, and how many further attempts of the two learners are alike."""


def _alike(index: _Index, settings: Settings) -> list[_Alike]:
    """Return the most alike pair of hand-ins of every two learners, those that share most that is rare first."""
    best: dict[frozenset[tuple[str, str]], list[tuple[float, int, int]]] = defaultdict(list)
    for left, submission in enumerate(index.read):
        if submission.work.term:
            continue
        shared = index.shared(left)
        smaller = np.minimum(index.total, index.total[left])
        for right in np.flatnonzero(
            (shared > 0) & (shared >= settings.rarity) & (shared >= settings.share * smaller)
        ).tolist():
            other = index.read[right].work
            if (right > left or other.term) and other.who != submission.work.who:
                best[frozenset((submission.work.who, other.who))].append((float(shared[right]), left, right))
    found: list[_Alike] = []
    for alike in best.values():
        bits, left, right = max(alike)
        found.append((bits, left, right, len(alike) - 1))
    found.sort(key=lambda pair: (-pair[0], pair[1], pair[2]))
    return found


def _pair(index: _Index, bits: float, left: int, right: int, others: int) -> Pair:
    one, other = index.read[left], index.read[right]
    sides = [_side(index.read[number], bits / index.total[number]) for number in (left, right)]
    return Pair(
        left=sides[0],
        right=sides[1],
        rarity=round(float(bits), 1),
        identical=_main(one) == _main(other),
        passages=_passages(one, other.words, other.fingerprints, index.learners),
        others=others,
    )


def _side(submission: TokenizedSubmission, share: float) -> Side:
    work = submission.work
    share = round(min(float(share), 1.0), 3)
    return Side(learner=work.learner, attempt=work.attempt, term=work.term, share=share)


def _main(submission: TokenizedSubmission) -> str:
    return submission.digests[submission.work.bundle.main]


def _passages(
    one: TokenizedSubmission, words: Words, prints: Mapping[int, list[int]], learners: Mapping[int, int]
) -> tuple[Passage, ...]:
    """Return what two texts share: runs of fingerprints that go on in both, each as lines here and there."""
    common = sorted(
        (place, value)
        for value in one.fingerprints.keys() & prints.keys()
        if value in learners
        for place in one.fingerprints[value][:1]
    )
    runs: list[list[tuple[int, int, int]]] = []
    for place, value in common:
        there = prints[value][0]
        last = runs[-1][-1] if runs else None
        # A run goes on in both texts, and further apart in the other: a line that was put in must not end
        # it.
        if last is not None and place - last[0] <= _NEAR and 0 <= there - last[1] <= 2 * _NEAR:
            runs[-1].append((place, there, value))
        else:
            runs.append([(place, there, value)])
    found = [
        Passage(
            left=_lines(one.words, [here for here, _, _ in run]),
            right=_lines(words, [there for _, there, _ in run]),
            learners=min(learners[value] for _, _, value in run),
        )
        for run in runs
    ]
    return tuple(sorted(found, key=lambda passage: (passage.learners, passage.left)))


def _lines(words: Words, places: Sequence[int]) -> tuple[int, int]:
    lines = [words.lines[place + step] for place in places for step in range(SPAN)]
    return min(lines), max(lines)


def _clusters(index: _Index, alike: Sequence[_Alike]) -> tuple[tuple[str, ...], ...]:
    """Return who hangs together through pairs, three and more, the largest first."""
    above: dict[str, str] = {}

    def top(name: str) -> str:
        above.setdefault(name, name)
        while above[name] != name:
            # Halves the path for the next look-up, as pairs may form one long chain.
            above[name] = above[above[name]]
            name = above[name]
        return name

    for _, left, right, _ in alike:
        one, other = (top(index.read[number].work.label) for number in (left, right))
        above[one] = other
    groups: dict[str, list[str]] = defaultdict(list)
    for name in above:
        groups[top(name)].append(name)
    large = [tuple(sorted(group)) for group in groups.values() if len(group) > 2]
    return tuple(sorted(large, key=lambda group: (-len(group), group)))


def _identical(
    read: Sequence[TokenizedSubmission], given: Sequence[PackText], catalogued: Sequence[PackText]
) -> Iterator[Identical]:
    """Yield files that came in more than once, or are the pack's answers; those of most learners first."""
    answers = {text.digest: text.name for text in catalogued}
    # An answer's name goes before a given file's: that it was handed in is worth a look.
    names = {text.digest: text.name for text in given} | answers
    groups: dict[str, list[tuple[str, TokenizedSubmission]]] = defaultdict(list)
    for submission in read:
        for file, digest in submission.digests.items():
            groups[digest].append((file, submission))
    found = []
    for digest, group in groups.items():
        people = {submission.work.who for _, submission in group}
        # Two earlier terms that share a file are nobody's business now.
        current = any(not submission.work.term for _, submission in group)
        modules = [file == submission.work.bundle.main for file, submission in group]
        if current and (len(people) > 1 or sum(modules) > 1 or digest in answers):
            where, known = tuple(_side(submission, 1.0) for _, submission in group), names.get(digest, "")
            found.append(
                Identical(digest=digest, file=group[0][0], where=where, learners=len(people), known=known)
            )
    yield from sorted(found, key=lambda files: (bool(files.known), -files.learners, files.digest))


def _close_to_known(
    read: Sequence[TokenizedSubmission], given: set[int], texts: Sequence[PackText], settings: Settings
) -> Iterator[Known]:
    """Yield hand-ins that are close to what the pack holds and few others have."""
    mine = [submission for submission in read if not submission.work.term]
    index = _Index(mine, given, settings)
    # Every span of a text, whether winnowing would choose it or not.
    texts_spans = [(text, by_hash(*all_hashes(text.words))) for text in texts]
    for number, submission in enumerate(mine):
        own = [value for value in submission.fingerprints if value in index.learners]
        closest = None
        for text, prints in texts_spans:
            bits = sum(index.bits(value) for value in own if value in prints)
            if bits and bits >= settings.rarity and bits >= settings.known_share * index.total[number]:
                found = (bits, text, prints)
                closest = found if closest is None or bits > closest[0] else closest
        if closest is not None and closest[1].digest != _main(submission):  # said already
            bits, text, prints = closest
            yield Known(
                side=_side(submission, bits / index.total[number]),
                to=text.name,
                rarity=round(float(bits), 1),
                passages=_passages(submission, text.words, prints, index.learners),
            )


# What everybody was given, and what the pack knows: neither makes two hand-ins alike


@dataclass(frozen=True)
class PackText:
    """A file of the pack."""

    name: str
    digest: str
    """SHA-256."""
    words: Words


def _given(kata: Kata) -> list[PackText]:
    """Return what every learner has in front of them: the stub, what is given, the code in lessons and hints."""
    files = [("the stub", read_bounded(kata.stub, LIMIT_BYTES))]
    files += [(f"given file {name}", data) for name, data in given_files(kata).items()]
    files += [(f"given file {path.name}", read_bounded(path, LIMIT_BYTES)) for path in kata.support]
    found = [_python(name, data) for name, data in files if not name.endswith((".md", ".ipynb"))]
    folder, unit = kata.folder, kata.unit.folder
    lessons = [*folder.glob("*.md"), *unit.glob("*.md"), *folder.glob("demo.py")]
    for path in sorted(lessons):
        data = read_bounded(path, LIMIT_BYTES)
        fenced: list[bytes | str] = [data]
        if path.suffix != ".py":
            fenced = [code[2] for code in _FENCED.finditer(data.decode("utf-8", "replace"))]
        found.append(PackText(path.name, _digest(data), _words(fenced)))
    return found


def _catalogued(kata: Kata) -> list[PackText]:
    """Return the right answers that the pack knows, and the blocks that are given in place of answers."""
    paths = [("the reference", kata.solution)] if kata.solution is not None else []
    paths += [(f"the alternative {path.stem}", path) for path in kata.alternatives]
    found = [_python(name, read_bounded(path, LIMIT_BYTES)) for name, path in paths]
    return found + [text for path in blocks_in(kata.unit.pack) for text in _blocks(path, kata)]


def _blocks(path: Path, kata: Kata) -> list[PackText]:
    """Return the given blocks as they look when their operators are renamed: all of them, and this kata's answers.

    Handed in as they are, they earn nothing.
    """
    data = read_bounded(path, LIMIT_BYTES)
    # As somebody would write them who hands a block in under ordinary names.
    body = ast.parse(_OPERATOR.sub(rb"torch.\1", data)).body
    names = {node: set(defined_names(node)) for node in body}
    answers = [node for node in body if names[node].intersection(kata.required) or not names[node]]
    texts = []
    # In a file of its own, an answer imports the blocks that it builds on, so these are names from outside
    # there.
    for part in (body, answers):
        words = Words()
        words.add([Piece(part)])
        texts.append(PackText(f"the given blocks {path.name}", _digest(data), words))
    return texts


def _foreign_names(kata: Kata) -> frozenset[str]:
    """Return names of files that are next to an answer and are not part of it."""
    others = {other.module for other in kata.unit.pack.katas} - {kata.module}
    return frozenset(
        {f"{name}{suffix}" for name in others for suffix in (".py", ".ipynb")}
        | {path.name for path in (*kata.given, *kata.support)}
        | {path.name for path in blocks_in(kata.unit.pack)}
    )


def _hashes_of(texts: Iterable[PackText]) -> set[int]:
    """Return the hash of every span of the texts."""
    return {value for text in texts for value in all_hashes(text.words)[0].tolist()}


def _python(name: str, data: bytes) -> PackText:
    return PackText(name, _digest(data), _words([data]))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _words(pieces: Iterable[bytes | str]) -> Words:
    words, readable = Words(), []
    for piece in pieces:
        # An excerpt, or no Python at all: then no learner's code is it.
        with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            readable.append(Piece(ast.parse(piece).body))
    words.add(readable)
    return words
