"""Where the errors lie, in words: only statements that hold exactly, and that chance would rarely make true.

A statement is about every value. With few errors many statements are true by accident ("only key 3", for one
error), so each is weighed against errors thrown at random and said only when that would make it true one time
in twenty or less.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, lgamma, log

import torch
from torch import Tensor

from grader.engine.checks.text import Axes, is_unnamed, label, listed, short

STATEMENTS = 3
"""At most so many are said."""
FEWEST = 4
"""So many numbers on both sides of 0 say that what is below is cut off, and not by chance."""
CHANCE = 0.05
"""Greatest probability that errors at random places make a statement true."""
_LARGE = 1 << 20
"""Tensors of more values are not searched for transformations, only for places."""
_VAST = 1 << 22
"""Tensors of more values are searched for nothing: where the first error lies has to do."""
_MOVES = 1 << 24
"""Values times pairs of axes, over which exchanges are tried."""
_MOVED_WAYS = 4
"""Kinds of moves that are tried on every axis: an exchange, a reversal, a shift, no difference."""
_EXACT = 1000
"""Up to so many things, ways to choose among them are counted; above, their logarithm is estimated."""


def locate(got: Tensor, want: Tensor, wrong: Tensor, axes: Axes, tolerance: float = 0.0) -> list[str]:
    """Return up to three true statements about how `got` differs from `want`, most telling first.

    `wrong` is True where they differ.
    """
    if not wrong.any():
        return []
    if got.numel() <= _LARGE:
        explained = transformation(got, want, axes, tolerance)
        if explained is not None:
            return [explained]
    found = places(wrong, axes, want)
    # Only where something else is wrong as well: otherwise the places say the same.
    leak = [] if torch.equal(wrong, wrong & (want == 0)) else _leak(got, want, axes)
    return [*leak, *found][:STATEMENTS]


def places(
    wrong: Tensor,
    axes: Axes,
    want: Tensor | None = None,
    noun: str = "difference",
    judged: bool = True,
) -> list[str]:
    """Return up to three true statements about where `wrong` is True; an exact one stands alone.

    `noun` is what is found there. Where it is not `judged` by right values, the rest need not be right.
    """
    if wrong.numel() > _VAST or not wrong.any():
        return []
    diagonal = _diagonal(wrong, axes, noun)
    # An exact statement says where every error is: others after it would be true, and only make it longer.
    if diagonal is not None and diagonal.exact:
        return [diagonal.text]
    # Before the axes, where what these explain already is left out.
    by_value = list(_by_value(wrong, want, noun))
    regions = [region for _, region in by_value]
    none = "" if judged else f"no{'ne' if noun == 'one' else f' {noun}'}"
    along = [s for axis in range(wrong.ndim) if (s := _along(wrong, axis, axes, regions, none)) is not None]
    exact = next((s for s in along if s.exact), None)
    if exact is not None:
        return [exact.text]
    found = [diagonal, *(s for s, _ in by_value), *along, _repeated(wrong, axes)]
    return [s.text for s in found if s is not None][:STATEMENTS]


@dataclass(frozen=True)
class _Statement:
    text: str
    exact: bool = False
    """Whether it says where every single error is."""


# -- what the whole result is --------------------------------------------------------------------------


def transformation(got: Tensor, want: Tensor, axes: Axes, tolerance: float) -> str | None:
    """Return what turns the expected values into `got` everywhere, or None."""
    if got.shape != want.shape or not got.numel():
        return None
    if got.dtype == torch.bool or want.dtype == torch.bool:
        if got.dtype == want.dtype and got.numel() > 1 and torch.equal(got, ~want):
            return "yours is the expected with True and False swapped"
        moved = _moved(got, want, axes, 0.0)
        # Of few values that have no more than two ways to be, many ways to move them give the same.
        wrong = int((got != want).sum())
        return _one_value(got) or (moved if _is_rare(wrong, got.numel(), _MOVED_WAYS) else None)
    if got.dtype.is_complex or want.dtype.is_complex:  # which are compared exactly
        return _one_value(got) or _moved(got, want, axes, 0.0)
    a, b = got.double(), want.double()
    sides = (b < -4 * tolerance).sum(), (b > 4 * tolerance).sum()
    if min(sides) >= FEWEST and _close(a, b.clamp(min=0), tolerance):
        return "yours is the expected with 0 in place of all that is below 0, as relu makes it"
    plain = _one_value(got) or _factor(a, b, tolerance) or _offset(a, b, tolerance)
    if plain or (moved := _moved(a, b, axes, tolerance)) is None:
        return plain
    wrong = int(((a != b) & ~((a - b).abs() <= tolerance)).sum())
    return moved if len(torch.unique(b)) > 2 or _is_rare(wrong, got.numel(), _MOVED_WAYS) else None


def _close(a: Tensor, b: Tensor, tolerance: float) -> bool:
    if tolerance == 0:
        return torch.equal(a, b)
    return bool(((a == b) | ((a - b).abs() <= tolerance)).all())


def _one_value(got: Tensor) -> str | None:
    if got.numel() < 2:
        return None
    first = got.reshape(-1)[0]
    if not bool((got == first).all()):
        return None
    value = first.item()
    if not isinstance(value, bool):
        value += 0  # no negative zero
    shown = short(value) if isinstance(value, float) else str(value)
    same = not isinstance(value, float) or float(shown) == value
    return f"yours is {shown} everywhere" if same else "yours is the same number everywhere"


def _factor(got: Tensor, want: Tensor, tolerance: float) -> str | None:
    finite = want.isfinite()
    if not bool(finite.all()) or not bool(got.isfinite().all()):
        return None
    everywhere = " everywhere" if got.numel() > 1 else ""
    # The ratio of the largest value is the one that rounding disturbs least.
    at = int(want.abs().argmax())
    top = float(want.reshape(-1)[at])
    # Of numbers as small as the tolerance any factor would fit.
    if abs(top) <= 4 * tolerance or top == 0:
        return None
    factor = float(got.reshape(-1)[at]) / top
    power = _power(got, want, tolerance / abs(top))
    if power:
        return f"yours is the expected to the power of {power}{everywhere}"
    if factor == 0 or not 1e-6 < abs(factor) < 1e6:
        return None
    if _fits(got, want, -1.0, tolerance):
        return "yours is the expected with the opposite sign"
    inverse = 1 / want
    # As above: of an inverse as small as the tolerance, any small number would be it.
    if (
        bool((want != 0).all())
        and float(inverse.abs().max()) > 4 * tolerance
        and _close(got, inverse, tolerance)
    ):
        return f"yours is 1 / the expected{everywhere}"
    whole = round(factor)
    if 2 <= abs(whole) <= 10_000 and _fits(got, want, whole, tolerance):
        return f"yours is the expected times {whole}{everywhere}"
    part = round(1 / factor)
    # Where its neighbours would fit as well, a divisor says nothing.
    told_apart = part != 0 and abs(top / part / part) > 4 * tolerance
    if 2 <= abs(part) <= 10_000 and told_apart and _fits(got, want, 1 / part, tolerance):
        return f"yours is the expected divided by {part}{everywhere}"
    # Two numbers always have some ratio.
    if got.numel() < 4 or abs(top * factor) <= 4 * tolerance or not _fits(got, want, factor, tolerance):
        return None
    about = "" if _fits(got, want, float(short(factor)), tolerance) else "about "
    return f"yours is the expected times {about}{short(factor)} everywhere"


def _power(got: Tensor, want: Tensor, share: float) -> int:
    """Return which whole power of the expected values `got` is, 0 if none: of positive ones, to a share of each."""
    if bool((got <= 0).any()) or bool((want <= 0).any()):
        return 0
    logs = want.log()
    at = int(logs.abs().argmax())
    # Of numbers near 1 any power is near 1.
    if abs(float(logs.reshape(-1)[at])) < 0.5:
        return 0
    power = round(float(got.log().reshape(-1)[at] / logs.reshape(-1)[at]))
    return power if 2 <= power <= 1000 and _close(got.log(), logs * power, share * power) else 0


def _fits(got: Tensor, want: Tensor, factor: float, tolerance: float) -> bool:
    return _close(got, want * factor, tolerance * max(1.0, abs(factor)))


def _offset(got: Tensor, want: Tensor, tolerance: float) -> str | None:
    if got.numel() < 4:
        return None
    difference = got - want
    if not bool(difference.isfinite().all()):
        return None
    low, high = float(difference.min()), float(difference.max())
    # An offset that rounding could have made is none.
    if high - low > 2 * tolerance or low <= 0 <= high:
        return None
    middle = (low + high) / 2
    shown = short(abs(middle))
    about = "" if _close(difference.abs(), torch.full_like(difference, float(shown)), tolerance) else "about "
    return f"yours is the expected {'plus' if middle > 0 else 'minus'} {about}{shown} everywhere"


def _moved(got: Tensor, want: Tensor, axes: Axes, tolerance: float) -> str | None:
    """Find an exchange, a reversal, a shift by one, or an axis that makes no difference in `got`."""
    if got.numel() * got.ndim**2 > _MOVES:
        return None
    names, spans = axes.names, axes.spans
    for i, j in combinations(range(got.ndim), 2):
        # Axes of a slice count from elsewhere: exchanged there they are not the transpose that the learner
        # sees.
        alike = got.shape[i] == got.shape[j] > 1 and spans[i] == spans[j]
        if alike and _close(got, want.transpose(i, j), tolerance):
            return f"yours is the expected with {_bare(names[i])} and {_bare(names[j])} swapped (transposed)"
    long = [axis for axis in range(got.ndim) if got.shape[axis] > 1]
    for axis in long:
        if spans[axis] is not None or not _close(got, want.flip(axis), tolerance):
            continue
        if got.shape[axis] == 2:  # which are reversed by whatever exchanges neighbours
            return f"yours is the expected with {_labels(names[axis], (0, 1))} swapped"
        return f"yours is the expected in reverse order along {names[axis]}"
    for axis in long:
        n, span = got.shape[axis], spans[axis]
        # What does not change along an axis is the same after any shift.
        if n < 3 or _constant(want, axis, tolerance):
            continue
        for step, sign in ((1, "-"), (-1, "+")):
            # Without the one end that a shift fills from elsewhere.
            a = got.narrow(axis, max(step, 0), n - 1)
            b = want.narrow(axis, max(-step, 0), n - 1)
            if not _constant(b, axis, tolerance) and _close(a, b, tolerance):
                there = f"i {sign} {1 if span is None else span.step}"
                return f"yours at {label(names[axis], 'i')} is the expected at {label(names[axis], there)}"
    for axis in long:
        if _constant(got, axis, tolerance) and not _constant(want, axis, tolerance):
            return f"yours is the same for every {_bare(names[axis], 'index of ')}, the expected is not"
    return None


def _constant(x: Tensor, axis: int, tolerance: float) -> bool:
    return _close(x, x.narrow(axis, 0, 1).expand_as(x), tolerance)


def _bare(name: str, before: str = "") -> str:
    if not is_unnamed(name):
        return name
    return f"{before}{name}" if before else name.removeprefix("axis ")


# -- where it differs ----------------------------------------------------------------------------------

_DIAGONALS: tuple[tuple[str, Callable[[Tensor], Tensor]], ...] = (
    ("{c} = {r}", lambda d: d == 0),
    ("{c} = {r} + 1", lambda d: d == 1),
    ("{c} = {r} - 1", lambda d: d == -1),
    ("{c} > {r}", lambda d: d > 0),
    ("{c} < {r}", lambda d: d < 0),
    ("{c} >= {r}", lambda d: d >= 0),
    ("{c} <= {r}", lambda d: d <= 0),
)


def _diagonal(wrong: Tensor, axes: Axes, noun: str) -> _Statement | None:
    if wrong.ndim < 2 or min(wrong.shape[-2:]) < 2 or not (axes.grid or wrong.shape[-1] == wrong.shape[-2]):
        return None
    rows, columns = wrong.shape[-2:]
    hit = wrong.reshape(-1, rows, columns).any(0)
    down, across = (
        torch.tensor(range(n) if span is None else span)
        for n, span in zip((rows, columns), axes.spans[-2:], strict=True)
    )
    # In the learner's own indices: in a slice the diagonal is somewhere else.
    offset = across[None, :] - down[:, None]
    count = int(hit.sum())
    names = [f"index of {name}" if is_unnamed(name) else name for name in axes.names[-2:]]
    for words, inside in _DIAGONALS:
        region = inside(offset)
        if bool((hit & ~region).any()):
            continue
        size = int(region.sum())
        # So many regions are tried that chance has as many tries to make one of them true.
        if size == rows * columns or len(_DIAGONALS) * (size / (rows * columns)) ** count > CHANCE:
            return None
        claim = words.format(r=names[0], c=names[1])
        exact = torch.equal(wrong, region.expand_as(wrong))
        return _Statement(
            f"{noun}s are exactly where {claim}" if exact else f"every {noun} has {claim}", exact
        )
    return None


def _leak(got: Tensor, want: Tensor, axes: Axes) -> list[str]:
    """Say where `got` is not 0 though it should be: a cause that normalising spreads over whole rows."""
    leaks = (want == 0) & (got != 0)
    if got.dtype == torch.bool or not leaks.any():
        return []
    found = _diagonal(leaks, axes, "value")
    if found is None:
        return []
    claim = found.text.partition(" where " if found.exact else " has ")[2]
    return [f"what should be 0 but is not {'lies exactly where' if found.exact else 'all has'} {claim}"]


def _same_indices(wrong: Tensor, region: Tensor, axis: int) -> bool:
    """Return whether errors lie at every index of an axis at which there is anything of the region."""
    hits = (part.movedim(axis, 0).reshape(part.shape[axis], -1).any(1) for part in (wrong, region))
    return torch.equal(*hits)


def _by_value(wrong: Tensor, want: Tensor | None, noun: str) -> Iterator[tuple[_Statement, Tensor]]:
    if want is None:
        return
    count = int(wrong.sum())
    kinds = [(want == 0, "every {} is where 0 is wanted")]
    if want.dtype == torch.bool:
        kinds = [
            (~want, "every {} is a True that should be False"),
            (want, "every {} is a False that should be True"),
        ]
    elif want.dtype.is_floating_point:
        kinds.append((want == -math.inf, "every {} is where -inf is wanted"))
    for region, words in kinds:
        share = float(region.double().mean())
        # Two statements are tried, so chance has two tries.
        if 0 < share < 1 and not bool((wrong & ~region).any()) and 2 * share**count <= CHANCE:
            yield _Statement(words.format(noun)), region


def _along(wrong: Tensor, axis: int, axes: Axes, regions: Sequence[Tensor], none: str) -> _Statement | None:
    """Say which indices of one axis have errors, or which have none; `regions` explain the errors already.

    `none` is what those have that have no errors, where that does not make them right.
    """
    n = wrong.shape[axis]
    hit = wrong.movedim(axis, 0).reshape(n, -1).any(1)
    count, k = int(wrong.sum()), int(hit.sum())
    if k == n or k == 0:
        return None
    first, last = _ends(hit)
    # A run of indices is one of few: those from here to there.
    ways = log(n * (n + 1) / 2) if last - first == k - 1 else _log_comb(n, k)
    # How likely errors strewn at random would lie in so few indices, times the ways to choose these: in
    # logarithms, since both leave the range of a float.
    if min(ways, _log_comb(n, k)) + count * log(k / n) > log(CHANCE):
        return None
    exact = count == k * (wrong.numel() // n)
    known = any(_same_indices(wrong, region, axis) for region in regions)
    span = axes.spans[axis]
    text = _Row(hit, axes.names[axis], exact, range(n) if span is None else span, span is None).text(
        none, known
    )
    return None if text is None else _Statement(text, exact)


@dataclass(frozen=True)
class _Row:
    """Which indices of one axis have errors: some, not all."""

    hit: Tensor
    name: str
    exact: bool
    """Whether everything at them is an error."""
    shown: range
    """How these indices are called."""
    whole: bool
    """Whether they are all that the axis has."""

    def text(self, none: str, known: bool) -> str | None:
        """Return in words where the errors are; None where there is no short way to say it.

        `known`: what else is said of the errors names the same indices already.
        """
        shown, n, k = self.shown, len(self.hit), int(self.hit.sum())
        first, last = _ends(self.hit)
        # Of every second column nothing is known about those between: few are listed, and of many only the ends told.
        listing = shown.step > 1 and k <= 3
        only = not (self.exact and (shown.step == 1 or listing))
        words = "only {}" if only else "all of {}, nothing else"
        if k == 1:
            ends = {0: ", the first", len(self.hit) - 1: ", the last"}
            is_one = self.whole and len(self.hit) >= 3 and not is_unnamed(self.name)
            return words.format(f"{label(self.name, shown[first])}{ends.get(first, '') if is_one else ''}")
        if shown.step % 2 and not known and _is_every_second(self.hit, first):
            index = f"the index of {self.name}" if is_unnamed(self.name) else self.name
            where = f"where {index} is {'odd' if shown[first] % 2 else 'even'}"
            return f"{'everywhere and only' if self.exact else 'only'} {where}"
        # With so few without errors, naming those is shorter.
        if n - k <= 2:
            return self._but_for([shown[i] for i in (~self.hit).nonzero().flatten().tolist()], none)
        if last - first == k - 1 and last == n - 1 and self.whole:
            return words.format(label(self.name, f"{shown[first]} and later", several=True))
        if last - first == k - 1 and not listing:
            return words.format(label(self.name, f"{shown[first]} to {shown[last]}", several=True))
        if k <= 3:
            return words.format(_labels(self.name, [shown[i] for i in self.hit.nonzero().flatten().tolist()]))
        return None

    def _but_for(self, good: list[int], none: str) -> str:
        """Say which few indices have no errors; `none` is what they have, where that does not make them right."""
        one, which = len(good) == 1, _labels(self.name, good)
        if not none:
            return f"{which} {'is' if one else 'are'} right{', all else is wrong' if self.exact else ''}"
        return f"all but {which}" if self.exact else f"{which} {'has' if one else 'have'} {none}"


def _is_every_second(hit: Tensor, first: int) -> bool:
    """Return whether errors lie at the even indices, or the odd ones, and chance would rarely choose so many of them.

    Errors come in rows, so that each index counts once, however many lie there.
    """
    every = torch.equal(hit.nonzero().flatten(), torch.arange(first, len(hit), 2))
    return first < 2 and every and _is_rare(int(hit.sum()), len(hit))


def _is_rare(chosen: int, of: int, tries: int = 1) -> bool:
    """Return whether one of so many choices of places that were looked for would rarely be met by chance."""
    return _log_comb(of, chosen) >= log(tries / CHANCE) - 1e-9


def _ends(hit: Tensor) -> tuple[int, int]:
    """Return the first and the last index at which a row of booleans is True."""
    row = hit.to(torch.uint8)
    return int(row.argmax()), row.numel() - 1 - int(row.flip(0).argmax())


def _log_comb(n: int, k: int) -> float:
    """Return the logarithm of the ways to choose `k` of `n`: for a million, their number has 300,000 digits."""
    return log(comb(n, k)) if n <= _EXACT else lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def first_index(wrong: Tensor) -> tuple[int, ...]:
    """Return the index of the first True."""
    flat = int(wrong.reshape(-1).to(torch.uint8).argmax())
    index = []
    for size in reversed(wrong.shape):
        index.append(flat % size)
        flat //= size
    return tuple(reversed(index))


def _labels(name: str, indices: Sequence[int]) -> str:
    return label(name, listed([str(i) for i in indices]), several=len(indices) > 1)


def _repeated(wrong: Tensor, axes: Axes) -> _Statement | None:
    """Say along which axes the errors lie at the same places."""
    names = []
    for axis, n in enumerate(wrong.shape):
        first = wrong.narrow(axis, 0, 1)
        # the chance that other slices of as many errors have them at the same places
        if n < 2 or (n - 1) * _log_comb(first.numel(), int(first.sum())) < -log(CHANCE) - 1e-9:
            continue
        if torch.equal(wrong, first.expand_as(wrong)):
            name = axes.names[axis]
            names.append(f"index of {name}" if is_unnamed(name) else name)
    return _Statement(f"the same places in every {listed(names)}") if names else None
