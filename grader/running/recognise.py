"""Name a mistake that we have seen before: compare what a submission returned with what each mutant returned.

Learners hold no mutants. Their pack holds fingerprints: for each mutant and each check that it fails, a few numbers per
result, taken at one fixed seed. A result's fingerprint is its type, shape, dtype, what is not finite in it, and three
projections on fixed directions; two results share it only when they are equal up to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import torch

from grader.checks.describe import describe
from grader.errors import PackError
from grader.host.objects import RemoteObject, facts_of

SEED = 0
"""The seed that fingerprints are taken at; a check that failed at another is run again at this one."""
KEPT = 12
"""Results per check that count: the last ones, since a failing check stops at what is wrong."""
DIRECTIONS = 3
MARKED = 1 << 24
"""Entries of all tensors that are marked for one check; one that is there a thousand times counts once."""
PROJECTED = 1 << 16
"""Entries of a tensor that are projected; of a larger one the first, so that no result can cost much memory."""
_ROUNDING = {torch.float64: 1e-7, torch.float32: 3e-5, torch.float16: 5e-3, torch.bfloat16: 4e-2}
_GOLDEN = 0.7548776662466927  # irrational, so that no direction repeats

Mark = dict[str, Any]
"""One value's fingerprint: plain data."""


class MutantMarks(msgspec.Struct, forbid_unknown_fields=True):
    """What one mutant leaves behind."""

    say: str
    checks: dict[str, list[Mark]]


class Fingerprints(msgspec.Struct, forbid_unknown_fields=True):
    """`fingerprints.json` of a kata."""

    schema: int
    seed: int
    mutants: dict[str, MutantMarks]

    @classmethod
    def load(cls, path: Path) -> Fingerprints:
        """Read the file; a kata without one recognises nothing.

        Raises:
            PackError: it cannot be read.
        """
        if not path.is_file():
            return cls(1, SEED, {})
        try:
            return msgspec.json.decode(path.read_bytes(), type=cls)
        except (msgspec.MsgspecError, OSError, ValueError, RecursionError) as error:
            raise PackError(
                f"{path}: {error}", "Remove it, then make it anew: kata pack check --update"
            ) from error

    def encode(self) -> bytes:
        """Return the file's bytes: sorted, a line per check, so that a change is easy to read."""
        lines = []
        for name, mutant in sorted(self.mutants.items()):
            checks = ",\n".join(
                f"        {_json(check)}: {_json(marks)}" for check, marks in sorted(mutant.checks.items())
            )
            lines.append(
                f'    {_json(name)}: {{\n      "say": {_json(mutant.say)},\n'
                f'      "checks": {{\n{checks}\n      }}\n    }}'
            )
        body = ",\n".join(lines)
        return f'{{\n  "schema": {self.schema},\n  "seed": {self.seed},\n  "mutants": {{\n{body}\n  }}\n}}\n'.encode()

    def recognise(self, failures: Mapping[str, list[Mark]]) -> dict[str, str]:
        """Return for each failed check the one mutant that fits; nothing where none or several do.

        Args:
            failures: for each failed check what `fingerprint` gave.
        """
        fitting = {
            check: [name for name, mutant in self.mutants.items() if same(mutant.checks.get(check), marks)]
            for check, marks in failures.items()
        }
        # Where a single check cannot tell two mutants apart, the one that explains more of the failures is meant.
        explained = {name: sum(name in names for names in fitting.values()) for name in self.mutants}
        found: dict[str, str] = {}
        for check, names in fitting.items():
            best = max((self._fit(name, failures, explained) for name in names), default=None)
            chosen = [name for name in names if self._fit(name, failures, explained) == best]
            if len(chosen) == 1:
                found[check] = chosen[0]
        return found

    def _fit(
        self, name: str, failures: Mapping[str, list[Mark]], explained: Mapping[str, int]
    ) -> tuple[int, int]:
        unexplained = sum(check not in failures for check in self.mutants[name].checks)
        return explained[name], -unexplained


def fingerprint(observed: Sequence[Any]) -> list[Mark]:
    """Return the marks of the last results of a check, with how many there were."""
    values = [value for value in observed if not isinstance(value, RemoteObject)]  # a handle says nothing
    marker = _Marker()
    return [{"n": len(values)}, *(marker.mark(value) for value in values[-KEPT:])]


def same(one: Sequence[Mark] | None, other: Sequence[Mark]) -> bool:
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
        """By identity; the tensor is kept, so that no other takes its place."""

    def mark(self, value: Any, depth: int = 0) -> Mark:
        """Return the mark of a value."""
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, bool) or value is None or isinstance(value, str):
            return {"v": value if not isinstance(value, str) else value[:80]}
        if isinstance(value, int | float):
            try:
                return {"f": float(value) if math.isfinite(value) else str(value)}
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
        mark["odd"] = [_rounded(_project(part.to(torch.float64))) for part in odd]
        numbers = numbers.where(finite, torch.zeros((), dtype=torch.float64))
    mark["p"] = _rounded([*_project(numbers), float(numbers.norm())])
    return mark


def _kind(value: object) -> str:
    if isinstance(value, RemoteObject):
        return facts_of(value).types[0]
    kind = getattr(value, "kata_type", None) if isinstance(value, torch.Tensor) else None
    return kind if isinstance(kind, str) else type(value).__name__


def _project(numbers: torch.Tensor) -> list[float]:
    numbers = numbers[:PROJECTED]
    return [float(numbers @ direction) for direction in _directions(numbers.numel())]


@lru_cache(maxsize=64)
def _directions(size: int) -> tuple[torch.Tensor, ...]:
    index = torch.arange(1, size + 1, dtype=torch.float64)
    return tuple(torch.sin(index * (_GOLDEN * (k + 1)) + k) for k in range(DIRECTIONS))


def _rounded(values: Iterable[float]) -> list[float]:
    return [float(f"{value:.9g}") for value in values]


def _equal(one: Any, other: Any, rounding: float = 3e-5) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        if one.keys() != other.keys():
            return False
        if "p" in one:
            if one["dtype"] != other["dtype"] or one["shape"] != other["shape"]:
                return False
            rounding = _ROUNDING.get(getattr(torch, one["dtype"], None), 1e-9)  # type: ignore[arg-type]
            size = max(abs(one["p"][-1]), abs(other["p"][-1]))
            close = all(
                abs(a - b) <= rounding * size + 1e-12 for a, b in zip(one["p"], other["p"], strict=True)
            )
            return close and _equal(one.get("odd"), other.get("odd"))
        return all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(_equal(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=rounding, abs_tol=1e-9)
    return bool(one == other)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
