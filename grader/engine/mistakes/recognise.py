"""Name a mistake that we have seen before: compare what a submission returned with what each mutant returned.

Learners hold no mutants. Their pack holds fingerprints: for each mutant and each check that it fails, a few numbers per
result, taken at one fixed seed. A result's fingerprint is its type, shape, dtype, what is not finite in it, and three
projections on fixed directions; two results share it only when they are equal up to rounding. An exception's is its
type, the shape of its message, the sizes that do not fit, and what was being called at the submission's line: any of
them alone fits too many.
"""

from __future__ import annotations

import lzma
import math
import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import torch

from grader.engine.checks.describe import describe
from grader.engine.checks.raised import is_out_of_memory, numbers_at_odds
from grader.engine.host.calls import State
from grader.engine.host.errors import SubmissionRaised
from grader.engine.host.objects import RemoteObject, state_of
from grader.errors import PackError

SEED = 0
"""The seed that fingerprints are taken at; a check that failed at another is run again at this one."""
KEPT = 12
"""Results per check that count: the last ones, since a failing check stops at what is wrong."""
DIRECTIONS = 3
FEW = 4
"""Of fewer numbers than these many mistakes are made that give the same."""
MARKED = 1 << 24
"""Entries of all tensors that are marked for one check; one that is there a thousand times counts once."""
PROJECTED = 1 << 16
"""Entries of a tensor that are projected; of a larger one the first, so that no result can cost much memory."""
SCHEMA = 2
_QUOTED = re.compile(r"""'[^']*'|"[^"]*"|`[^`]*`""")
_NUMBER = re.compile(r"-?\b\d+(?:(?:x\d+)+|(?:\.\d+)?(?:e[+-]?\d+)?)\b")
_NUMBERS = re.compile(r"0(?:, 0)+,?")
_ROUNDING = {torch.float64: 1e-7, torch.float32: 3e-5, torch.float16: 5e-3, torch.bfloat16: 4e-2}
_PRODUCTS = dict.fromkeys(("bmm", "mm", "dot", "mv"), "matmul")
"""The same mistake is made by any of these, and each says the same of sizes that do not fit."""
_GOLDEN = 0.7548776662466927  # irrational, so that no direction repeats

Mark = dict[str, Any]
"""One value's fingerprint: plain data."""


class MutantSignatures(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Signatures of one mutant, or of two made at once, by check."""

    say: str = ""
    checks: dict[str, list[Mark]] = {}
    idle: bool = False
    """Whether its author says that it leaves out what the kata is about."""
    convention: bool = False
    """Whether its author says that it is right where others teach."""


class Fingerprints(msgspec.Struct, forbid_unknown_fields=True):
    """`fingerprints.json.xz` of a kata."""

    schema: int
    seed: int
    mutants: dict[str, MutantSignatures]
    pairs: dict[str, MutantSignatures] = {}
    """By both names, `one+other`: those in one function, with checks in which both leave what neither leaves alone."""
    free: list[str] = []
    """Checks in which right answers leave different numbers: these depend on a design that is the learner's own, so a
    mistake may leave others there than it left in the reference."""

    @classmethod
    def load(cls, path: Path) -> Fingerprints:
        """Read the file; a kata without one, or with one of another schema, recognises nothing.

        Raises:
            PackError: it cannot be read.
        """
        if not path.is_file():
            return cls(SCHEMA, SEED, {})
        try:
            # With its schema: fingerprints that an older engine took say nothing of what this one computes.
            found = msgspec.json.decode(lzma.decompress(path.read_bytes()), type=cls)
        except (msgspec.MsgspecError, OSError, EOFError, lzma.LZMAError, ValueError, RecursionError) as error:
            raise PackError(
                f"{path}: {error}", "Remove it, then make it anew: kata pack check --update"
            ) from error
        return found if found.schema == SCHEMA else cls(SCHEMA, SEED, {})

    def encode(self) -> bytes:
        """Return the file's bytes: the same for the same content on every day and machine."""
        # Mistakes leave the same numbers in most checks, farther apart than the 32 kB that gzip looks back.
        return lzma.compress(msgspec.json.encode(self, order="sorted"))

    def recognise(
        self,
        failures: Mapping[str, list[Mark]],
        passed: Container[str] = (),
        by_numbers: Iterable[str] | None = None,
    ) -> dict[str, RecognisedMistake]:
        """Return for each failed check the one mistake that fits, two made at once, or two of which either fits.

        Nothing is returned for a check that no mistake fits, or more than two.

        Args:
            failures: for each failed check what `fingerprint` gave.
            passed: the checks that passed.
            by_numbers: the failed checks that failed by what was returned; None when that is not known. What the others
                have is weak: in it all numbers may be right.
        """
        silent = set() if by_numbers is None else failures.keys() - set(by_numbers)
        weak = silent | {check for check, marks in failures.items() if _is_weak(marks)}
        short = silent | {check for check in weak if not _is_long(failures[check])}
        fitting = self._fitting(failures, passed, weak, short)
        fitting = self._without_the_refuted(fitting, weak)
        explained = Counter(name for names in fitting.values() for name in names)

        def fit(name: str) -> tuple[int, int, bool]:
            # A check that passed and that the mistake fails makes it the less likely one; of a check that did not run
            # nothing was seen.
            unexplained = sum(check in passed for check in self._checks_of(name))
            return explained[name], -unexplained, name in self.mutants

        # Where a single check cannot tell two mistakes apart, the one that explains more of the failures is meant.
        found = {}
        for check, names in fitting.items():
            best = max(map(fit, names), default=None)
            chosen = [name for name in names if fit(name) == best]
            if len(chosen) == 1:
                parts = chosen[0].split("+")
                found[check] = RecognisedMistake(tuple(parts), "; and ".join(map(self._says, parts)))
            elif self._agree(chosen, fitting.values()):
                one, other = chosen
                say = f"either {self._says(one)}; or {self._says(other)}"
                found[check] = RecognisedMistake((f"{one}/{other}",), say)
        return found

    def _says(self, name: str) -> str:
        return self.mutants[name].say

    def _agree(self, names: Sequence[str], fitting: Iterable[Sequence[str]]) -> bool:
        """Return whether these are two mistakes that explain the same failures: nothing that was seen tells which."""
        return (
            len(names) == 2
            and self.mutants.keys() >= set(names)
            and all((names[0] in fits) == (names[1] in fits) for fits in fitting)
        )

    def _fitting(
        self,
        failures: Mapping[str, list[Mark]],
        passed: Container[str],
        weak: Container[str],
        short: Container[str],
    ) -> dict[str, list[str]]:
        """Return for each failed check the mistakes and pairs that leave the same, and that nothing speaks against.

        What is `short` says too little for two mistakes at once, and what is `weak` for one that others speak against.
        """
        alike = {
            check: [
                name
                for name, known in (*self.pairs.items(), *self.mutants.items())
                if equal_fingerprints(known.checks.get(check), marks)
            ]
            for check, marks in failures.items()
        }
        # A pair counts only where some numbers are those of both together, and of neither alone.
        pairs = self._seen_pairs(alike, short)
        return {
            check: [
                name
                for name in names
                if (name in pairs or name in self.mutants)
                and not (check in weak and self._speaks_against(name, failures, passed))
            ]
            for check, names in alike.items()
        }

    def _without_the_refuted(
        self, fitting: dict[str, list[str]], weak: Iterable[str]
    ) -> dict[str, list[str]]:
        """Leave out mistakes that would have left other numbers in as many failed checks as those that they explain."""
        # Another mistake leaves the same where little is computed. A check that something else explains refutes
        # nothing: there may be two mistakes, each in a function of its own, and others call both.
        silent = {*weak, *self.free}
        open_checks = [check for check, names in fitting.items() if not names and check not in silent]
        explained = Counter(name for names in fitting.values() for name in names)
        # Where several are named, what is left open may be all of them together.
        alone = len({tuple(names) for names in fitting.values() if names}) == 1

        def refuted(name: str) -> bool:
            left = self._checks_of(name)
            return alone and sum(check in left for check in open_checks) >= explained[name]

        return {check: [name for name in names if not refuted(name)] for check, names in fitting.items()}

    def _checks_of(self, name: str) -> dict[str, list[Mark]]:
        """Return what a mistake or a pair leaves, by check."""
        return (self.pairs if name in self.pairs else self.mutants)[name].checks

    def _seen_pairs(self, alike: Mapping[str, Sequence[str]], short: Container[str]) -> set[str]:
        """Return the pairs of which numbers show both: those that neither mistake leaves alone."""
        # What one of the two leaves as well is not a sign of the other. What says little says too little for two:
        # that there are two is less likely from the start than one that nobody has catalogued.
        return {
            name
            for check, names in alike.items()
            if check not in short
            for name in names
            if name in self.pairs and not any(part in names for part in name.split("+"))
        }

    def _speaks_against(self, name: str, failures: Mapping[str, list[Mark]], passed: Container[str]) -> bool:
        """Return whether a check passed that the mistake fails alone, or failed with other numbers than it leaves."""
        # Of a pair only some checks are stored. Each of the two has more, which should fail as well.
        if name in self.pairs and any(
            check in passed for part in name.split("+") for check in self.mutants[part].checks
        ):
            return True
        return any(
            check in passed
            or (
                check in failures
                and check not in self.free
                # Weak marks are found under many mistakes: they neither prove one nor rule one out.
                and not (
                    _is_weak(marks) or _is_weak(failures[check]) or equal_fingerprints(marks, failures[check])
                )
            )
            for check, marks in self._checks_of(name).items()
        )


class FailureSignature(NamedTuple):
    """Signature of a failed check: which assertion, which values, which exception."""

    marks: list[Mark]
    by_numbers: bool
    """Whether the check failed by what was returned; by an exception, or a gradient that is missing, it did not."""

    @property
    def has_numbers(self) -> bool:
        """Whether there is more than masks in it: numbers, or an exception."""
        return any("raised" in mark or _has_numbers(mark) for mark in self.marks)


class RecognisedMistake(NamedTuple):
    """A recognised mistake, or two made at once."""

    names: tuple[str, ...]
    """`one/other` where nothing tells which of two it is."""
    say: str
    """What the learner is told."""


def _is_weak(marks: Sequence[Mark]) -> bool:
    """Return whether many mistakes would leave the same: no numbers but zeros, an exception, a name, nothing at all.

    Such marks name a mistake only where nothing speaks against it.
    """
    return not any(_has_numbers(mark) for mark in marks)


def _is_long(marks: Sequence[Mark]) -> bool:
    """Return whether a list or a text says enough for two mistakes at once: so many values that are not the same."""

    def plain(mark: Any) -> set[str]:
        if isinstance(mark, dict):
            mark = [part for key, part in mark.items() if key != "n"]
        return set().union(*map(plain, mark)) if isinstance(mark, list) else {repr(mark)}

    # Of an exception there is one, however long its message is.
    return not any("raised" in mark for mark in marks) and len(plain(list(marks))) >= FEW


def _has_numbers(mark: Any) -> bool:
    if isinstance(mark, dict):
        if "p" in mark:
            return mark["dtype"] != "bool" and math.prod(mark["shape"]) >= FEW and any(mark["p"])
        return any(_has_numbers(part) for part in mark.values())
    return isinstance(mark, list) and any(_has_numbers(part) for part in mark)


def fingerprint(observed: Sequence[Any]) -> list[Mark]:
    """Return the marks of the last results of a check, with how many there were."""
    # A handle says nothing; nor does what a module holds, unless the check failed right there: which buffers it
    # has, and what its parameters began as, is the submission's own affair.
    values = [value for value in observed[:-1] if not isinstance(value, RemoteObject | State)]
    values += [_by_name(value.value) if isinstance(value, State) else value for value in observed[-1:]]
    values = [value for value in values if not isinstance(value, RemoteObject)]
    marker = _Marker()
    return [{"n": len(values)}, *(marker.mark(value) for value in values[-KEPT:])]


def _by_name(state: Any) -> Any:
    """Return what a module holds, in the order of its names: that in which it was made is the learner's own."""
    if isinstance(state, dict):
        return dict(sorted(state.items(), key=lambda item: str(item[0])))
    if isinstance(state, list) and all(isinstance(part, tuple) for part in state):
        return sorted(state, key=lambda part: str(part[:1]))
    return state


def equal_fingerprints(one: Sequence[Mark] | None, other: Sequence[Mark]) -> bool:
    """Return whether two fingerprints are equal up to rounding."""
    return (
        one is not None
        and len(one) == len(other)
        and all(_equal(a, b) for a, b in zip(one, other, strict=True))
    )


class _Marker:
    """Makes marks of one check's results, of so many entries and no more."""

    def __init__(self) -> None:
        self._left = MARKED
        self._made: dict[int, tuple[torch.Tensor, Mark]] = {}
        """By identity; the tensor is stored, so that no other takes its place."""

    def mark(self, value: Any, depth: int = 0) -> Mark:
        """Return the mark of a value."""
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, SubmissionRaised):
            # At which of several allocations memory runs out depends on what was free.
            known = value.frames and not is_out_of_memory(value)
            at = value.frames[-1].call[:80] if known else ""
            mark = {"raised": value.type_name[:80], "says": message_shape(value.message), "at": at}
            # A check draws the same sizes for all answers: others that do not fit are another mistake.
            sizes = numbers_at_odds(value.message)
            return {**mark, "sizes": list(sizes)} if sizes else mark
        if isinstance(value, bool) or value is None or isinstance(value, str):
            return {"v": value if not isinstance(value, str) else value[:80]}
        if isinstance(value, bytes):
            return {"bytes": value[:80].decode("latin-1")}
        if isinstance(value, int | float):
            try:
                # JSON has neither NaN nor infinities.
                return {"f": float(value) if math.isfinite(value) else str(value)}
            # An int may have more digits than any float.
            except OverflowError:
                return {"type": "int"}
        if isinstance(value, list | tuple) and depth < 3:
            return {
                type(value).__name__: [self.mark(part, depth + 1) for part in value[:KEPT]],
                "n": len(value),
            }
        if isinstance(value, dict) and depth < 3:
            parts = [[_key(key), self.mark(part, depth + 1)] for key, part in islice(value.items(), KEPT)]
            return {"dict": parts, "n": len(value)}
        return {"type": _kind(value)[:80]}

    def _tensor(self, value: torch.Tensor) -> Mark:
        known = self._made.get(id(value))
        if known is None:
            self._left -= value.numel()
            mark = _tensor_mark(value) if self._left >= 0 else {"type": "a tensor beyond what is marked"}
            known = self._made[id(value)] = value, mark
        return known[1]


def message_shape(message: str) -> str:
    """Return what stays of a message when sizes and names differ, which are another learner's own.

    >>> message_shape("shape '[5, 1]' is invalid for input of size 12")
    "shape '…' is invalid for input of size 0"
    """
    first = (message[:2000].splitlines() or [""])[0]
    return _NUMBERS.sub("0", _NUMBER.sub("0", _QUOTED.sub("'…'", in_older_words(first))))[:200]


def in_older_words(message: str) -> str:
    """Return what Python 3.11 says where 3.12 says it in other words: fingerprints and transcripts hold the former."""
    return message.replace("iterable argument is empty", "arg is an empty sequence")


def _key(key: object) -> str:
    """Return a dict's key as text: of a tensor only what it is, since torch writes out millions of entries."""
    return str(key)[:80] if type(key) in (str, int, bool, float, bytes, type(None)) else describe(key)


def _tensor_mark(value: torch.Tensor) -> Mark:
    mark: Mark = {"shape": list(value.shape), "dtype": str(value.dtype).removeprefix("torch.")}
    plain = value.detach().cpu()
    if plain.is_complex():
        plain = torch.view_as_real(plain)
    numbers = plain.to(torch.float64).flatten()
    finite = numbers.isfinite()
    if not bool(finite.all()):
        odd = [numbers.isnan(), numbers == math.inf, numbers == -math.inf]
        mark["odd"] = [rounded(_project(part.to(torch.float64))) for part in odd]
        numbers = numbers.where(finite, torch.zeros((), dtype=torch.float64))
    # Seven digits of float32 are finer than what counts as equal, and a fifth of the file less than nine.
    digits = 7 if value.dtype == torch.float32 else 9
    mark["p"] = rounded([*_project(numbers), float(numbers.norm())], digits)
    return mark


def _kind(value: object) -> str:
    if isinstance(value, RemoteObject):
        return state_of(value).types[0]
    kind = getattr(value, "kata_type", None) if isinstance(value, torch.Tensor) else None
    return kind if isinstance(kind, str) else type(value).__name__


def _project(numbers: torch.Tensor) -> list[float]:
    numbers = numbers[:PROJECTED]
    return [float(numbers @ direction) for direction in _directions(numbers.numel())]


@lru_cache(maxsize=64)
def _directions(size: int) -> tuple[torch.Tensor, ...]:
    index = torch.arange(1, size + 1, dtype=torch.float64)
    return tuple(torch.sin(index * (_GOLDEN * (k + 1)) + k) for k in range(DIRECTIONS))


def _equal(one: Any, other: Any, rounding: float = 3e-5) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        if one.keys() != other.keys():
            return False
        if "p" in one:
            if one["dtype"] != other["dtype"] or one["shape"] != other["shape"]:
                return False
            # Relative to the largest projection: small ones are differences of large numbers.
            rounding = _ROUNDING.get(getattr(torch, one["dtype"], None), 1e-9)  # type: ignore[arg-type]
            size = max(abs(one["p"][-1]), abs(other["p"][-1]))
            close = all(
                abs(a - b) <= rounding * size + 1e-12 for a, b in zip(one["p"], other["p"], strict=True)
            )
            return close and _equal(one.get("odd"), other.get("odd"))
        if "raised" in one:
            one, other = ({**mark, "at": _PRODUCTS.get(mark["at"], mark["at"])} for mark in (one, other))
        return all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(_equal(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=rounding, abs_tol=1e-9)
    return bool(one == other)


def rounded(values: Iterable[float], digits: int = 9) -> list[float]:
    """Return values with so many digits, as marks are recorded."""
    return [float(f"{value:.{digits}g}") for value in values]
