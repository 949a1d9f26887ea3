"""Mistakes that are a matter of a number: any finite fill, any base, any factor. Which one is read off a curve.

An author gives a mistake a value and its range. When the fingerprints are made, the mistake is handed in with values
all over that range; what it leaves behind is a curve in the space of marks. What a submission left behind is looked
for on that curve, which has one freedom among many numbers, so that nothing else lies there by chance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

Mark = dict[str, Any]
Numbers = NDArray[np.float64]
SAMPLES = 33
"""Values that a curve is made of."""
DENSE = 129
"""Places that are tried between two samples."""
FINER = 3
"""Times that the best place is looked for again between its neighbours."""
NODES = 4
"""Neighbours that a place between samples is told by: a cubic."""
LEAST_SLACK = 1e-4
STEEPEST = 0.02
"""A curve that its samples do not tell better than this says too little."""
VALUE = "{VALUE}"
"""Where a sentence has the value."""
COORDINATES: Mapping[str, Callable[[Numbers], Numbers]] = {
    "plain": lambda value: value,
    "log": lambda value: np.log(np.abs(value)),
    "inverse": lambda value: 1 / value,
}
"""Along which a curve may be nearly straight; those that are not for values around 0 are left out there."""


class ValueCurve(msgspec.Struct, forbid_unknown_fields=True):
    """What one check sees of a mistake at each of its values."""

    frame: str
    """All of the marks but the numbers, as JSON."""
    along: str
    values: list[float]
    numbers: list[list[float]]
    """For each value."""
    scaled_by: list[int]
    """Which number says how large the one at this place may be."""
    slack: float
    """How far off the curve may be between its samples, in parts of that."""

    def value(self, marks: Sequence[Mark]) -> float | None:
        """Return the value at which the mistake leaves these marks: NaN where many do, None where none does."""
        frame, seen, _ = _flattened(marks)
        if frame != self.frame:
            return None
        values, numbers = np.array(self.values), np.array(self.numbers)
        position = COORDINATES[self.along](values)
        found, off = math.nan, math.inf
        for piece in range(len(values) - 1):
            low, high = position[piece], position[piece + 1]
            for _ in range(FINER):
                places = np.linspace(low, high, DENSE)
                distance = self._off(_told(position, numbers, piece, places), np.array(seen)).max(axis=1)
                at = int(distance.argmin())
                if distance[at] < off:
                    off, found = (
                        float(distance[at]),
                        self._value_at(float(places[at]), bool(values[piece] < 0)),
                    )
                low, high = places[max(at - 1, 0)], places[min(at + 1, DENSE - 1)]
        if off > self.slack:
            return None
        near = self._off(numbers, np.array(seen)).max(axis=1) <= self.slack
        return math.nan if near.sum() > 2 else found

    def _off(self, told: Numbers, seen: Numbers) -> Numbers:
        scale = np.maximum(np.abs(told[:, self.scaled_by]), 1e-9)
        return np.abs(told - seen) / scale

    def _value_at(self, place: float, negative: bool) -> float:
        if self.along == "log":
            return -math.exp(place) if negative else math.exp(place)
        return 1 / place if self.along == "inverse" else place


class Family(msgspec.Struct, forbid_unknown_fields=True):
    """A mistake with a value."""

    say: str
    """What is said, with {VALUE} where the value belongs."""
    otherwise: str
    """What stands there when the value cannot be told."""
    checks: dict[str, ValueCurve]

    def said(self, check: str, marks: Sequence[Mark]) -> str | None:
        """Return the sentence for what was left behind in a check; None where it is not this mistake."""
        value = self.checks[check].value(marks) if check in self.checks else None
        return None if value is None else with_value(self.say, value, self.otherwise)


def alike(one: Family, other: Family) -> bool:
    """Return whether two families are the same but for rounding."""
    if (one.say, one.otherwise, one.checks.keys()) != (other.say, other.otherwise, other.checks.keys()):
        return False
    return all(_same_curve(one.checks[check], curve) for check, curve in other.checks.items())


def _same_curve(one: ValueCurve, other: ValueCurve) -> bool:
    if (one.frame, one.scaled_by, len(one.values)) != (other.frame, other.scaled_by, len(other.values)):
        return False
    if not np.allclose(one.values, other.values, rtol=1e-8, atol=0.0):
        return False
    return bool((one._off(np.array(one.numbers), np.array(other.numbers)) <= LEAST_SLACK).all())


def with_value(say: str, value: float, otherwise: str) -> str:
    """Return a sentence with its value, as somebody writes it into code.

    >>> with_value("filled with {VALUE}", -1e4, "a finite number"), with_value("filled with {VALUE}", 0.25, "")
    ('filled with -1e4', 'filled with 0.25')
    """
    return say.replace(VALUE, otherwise if math.isnan(value) else _written(value))


def _written(value: float) -> str:
    value = float(f"{value:.3g}")
    if 1e-3 <= abs(value) < 1e4:
        return f"{value:g}"
    mantissa, _, exponent = f"{value:.1e}".partition("e")
    return f"{mantissa.removesuffix('.0')}e{int(exponent)}"


def spread(low: float, high: float) -> list[float]:
    """Return values from one to the other: by equal factors where both have one sign, else by equal steps.

    They are rounded: in the last digit of a power processors differ.
    """
    if low * high > 0:
        values = math.copysign(1.0, low) * np.geomspace(abs(low), abs(high), SAMPLES)
    else:
        values = np.linspace(low, high, SAMPLES)
    return rounded(values)


def curve(marks: Mapping[float, Sequence[Mark]]) -> ValueCurve | None:
    """Return the curve through marks, by value; None where they are of different kinds, or hold too few numbers."""
    flat = [_flattened(one) for one in marks.values()]
    if len({frame for frame, _, _ in flat}) != 1 or len(flat) < 2 * NODES or len(flat[0][1]) < NODES:
        return None
    frame, _, scaled_by = flat[0]
    values, numbers = np.array(list(marks)), np.array([numbers for _, numbers, _ in flat])
    scale = np.maximum(np.abs(numbers[:, scaled_by]), 1e-9)
    errors = {}
    for name, along in (
        COORDINATES.items() if values.min() * values.max() > 0 else [("plain", COORDINATES["plain"])]
    ):
        position = along(values)
        off = [
            np.abs(
                _told(np.delete(position, i), np.delete(numbers, i, 0), i - 1, position[i : i + 1])[0]
                - numbers[i]
            )
            / scale[i]
            for i in range(2, len(values) - 2)
        ]
        errors[name] = float(np.max(off))
    best = min(errors, key=lambda name: errors[name])
    # Left out, a sample is told from twice as far away as a place between two; a cubic errs 16 times as much there.
    slack = max(LEAST_SLACK, float(f"{errors[best] / 8:.2g}"))
    return ValueCurve(frame, best, list(marks), [rounded(row) for row in numbers], scaled_by, slack)


def rounded(values: Iterable[float]) -> list[float]:
    """Return values with nine digits, as marks and families are recorded."""
    return [float(f"{value:.9g}") for value in values]


def _told(position: Numbers, numbers: Numbers, piece: int, places: Numbers) -> Numbers:
    """Return what a cubic through the samples around a piece of the curve says of places on it."""
    first = min(max(piece - 1, 0), len(position) - NODES)
    nodes = position[first : first + NODES]
    told = np.zeros((len(places), numbers.shape[1]))
    for i, node in enumerate(nodes):
        others = np.delete(nodes, i)
        weight = np.prod((places[:, None] - others) / (node - others), axis=1)
        told += weight[:, None] * numbers[first + i]
    return told


def _flattened(marks: Sequence[Mark]) -> tuple[str, list[float], list[int]]:
    """Return marks without their numbers, as text; the numbers; and for each which of them says how large it may be."""
    numbers: list[float] = []
    scaled_by: list[int] = []

    def take(part: Any) -> Any:
        if isinstance(part, dict):
            if "p" in part:
                start = len(numbers)
                numbers.extend(part["p"])
                scaled_by.extend([len(numbers) - 1] * len(part["p"]))  # the last is the norm
                return {key: take(value) for key, value in part.items() if key != "p"} | {
                    "p": len(numbers) - start
                }
            return {key: take(value) for key, value in part.items()}
        if isinstance(part, list | tuple):
            return [take(one) for one in part]
        if isinstance(part, float):
            numbers.append(part)
            scaled_by.append(len(numbers) - 1)
            return "number"
        return part

    frame = msgspec.json.encode([take(dict(mark)) for mark in marks]).decode()
    return frame, numbers, scaled_by
