"""Say what happened to a shape: pure functions over tuples of sizes, each a true statement about both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from math import prod

from grader.engine.checks.text import axis_names, is_unnamed, listed
from grader.engine.wire.messages import MAX_AXES

Shape = tuple[int, ...]
Names = tuple[str, ...]


def diagnose(got: Sequence[int], want: Sequence[int], axes: Sequence[str] | None = None) -> str | None:
    """Say in one sentence how `got` comes from `want`, or return None when nothing simple explains it.

    >>> diagnose((2, 5, 4, 8), (2, 4, 5, 8), ("batch", "head", "query", "key"))
    'axes head and query are swapped'
    >>> diagnose((2, 1, 5), (2, 5))
    'yours has an extra axis of size 1 (axis 1)'
    """
    mine, theirs = tuple(got), tuple(want)
    if mine == theirs:
        return None
    names = axis_names(axes, len(theirs))
    if max(len(mine), len(theirs)) > MAX_AXES:  # a tensor in this process: an answer has no more
        return _rank(mine, theirs, names)
    for explain in _RULES:
        text = explain(mine, theirs, names)
        if text is not None:
            return text
    return None


def _named(names: Names, indices: Sequence[int]) -> str:
    if any(is_unnamed(names[i]) for i in indices):
        return f"{'axis' if len(indices) == 1 else 'axes'} {listed([str(i) for i in indices])}"
    return f"{'axis' if len(indices) == 1 else 'axes'} {listed([names[i] for i in indices])}"


def _swapped(shape: Shape, i: int, j: int) -> Shape:
    sizes = list(shape)
    sizes[i], sizes[j] = sizes[j], sizes[i]
    return tuple(sizes)


def _without(shape: Shape, i: int) -> Shape:
    return shape[:i] + shape[i + 1 :]


def _merges(shape: Shape) -> Iterator[tuple[int, int, Shape]]:
    """Yield every way to merge a run of neighbouring axes: first axis, how many, the shape it gives."""
    for count in range(2, len(shape) + 1):
        for i in range(len(shape) - count + 1):
            yield i, count, (*shape[:i], prod(shape[i : i + count]), *shape[i + count :])


def _scalar(got: Shape, want: Shape, names: Names) -> str | None:
    if not got and prod(want) != 1:
        return "yours is a single number, without axes"
    if not want and prod(got) != 1:
        return "a single number is wanted: a mean or a sum over all axes is missing"
    if not want:
        return "a single number is wanted, without axes: yours holds one number but has axes"
    return None


def _permuted(got: Shape, want: Shape, names: Names) -> str | None:
    if len(got) != len(want) or sorted(got) != sorted(want):
        return None
    if len(got) == 2:
        return f"yours is transposed: {_named(names, (0, 1))} are swapped"
    # Neighbours first: sizes that occur twice leave several exchanges, and these are the usual ones.
    for i, j in sorted(combinations(range(len(got)), 2), key=lambda p: p[1] - p[0]):
        if _swapped(got, i, j) == want:
            return f"{_named(names, (i, j))} are swapped"
    if len(set(want)) == len(want) and not is_unnamed(names[0]):
        return f"your axes are in the order {', '.join(names[want.index(n)] for n in got)}"
    return "the axes are in another order"


def _extra(got: Shape, want: Shape, names: Names) -> str | None:
    if len(got) == len(want) + 1:
        # the last candidate of equal ones is where keepdim and unsqueeze leave it most often
        for i in reversed(range(len(got))):
            if got[i] == 1 and _without(got, i) == want:
                return f"yours has an extra axis of size 1 (axis {i})"
    if len(got) > len(want) and tuple(n for n in got if n != 1) == tuple(n for n in want if n != 1):
        return f"yours has {len(got) - len(want)} extra axes of size 1"
    return None


def _squeezed(got: Shape, want: Shape, names: Names) -> str | None:
    if len(got) >= len(want):
        return None
    ones = [i for i, n in enumerate(want) if n == 1]
    if len(ones) > 1 and tuple(n for n in want if n != 1) == got:
        return f"{_named(names, ones)}, of size 1, are missing: squeezed away, or without keepdim=True"
    for i in ones:
        if _without(want, i) == got:
            return f"{_named(names, (i,))}, of size 1, is missing: squeezed away, or without keepdim=True"
    return None


def _tells(merged: Shape) -> bool:
    """Return whether sizes show that axes were merged: with a size of 1 it may as well have been dropped."""
    return sum(n > 1 for n in merged) > 1


def _merged(got: Shape, want: Shape, names: Names) -> str | None:
    if prod(got) != prod(want):
        return None
    for i, count, shape in _merges(want):
        if shape == got and _tells(want[i : i + count]):
            axes = _named(names, range(i, i + count))
            return f"{axes} are merged into one axis of {got[i]}"
    return None


def _split(got: Shape, want: Shape, names: Names) -> str | None:
    if prod(got) != prod(want):
        return None
    for i, count, shape in _merges(got):
        if shape == want and _tells(got[i : i + count]):
            parts = " x ".join(str(n) for n in got[i : i + count])
            return f"{_named(names, (i,))} of {want[i]} is still split into {parts}"
    # After the plain merges: the simpler explanation wins where both would do.
    for first, second in combinations(range(len(got)), 2):
        turned = _swapped(got, first, second)
        for i, count, shape in _merges(turned):
            if shape == want and _tells(turned[i : i + count]):
                parts = " x ".join(str(n) for n in turned[i : i + count])
                split = f"{_named(names, (i,))} of {want[i]} is still split into {parts}"
                return f"{split}, and your axes {first} and {second} stand the wrong way round"
    return None


def _missing(got: Shape, want: Shape, names: Names) -> str | None:
    if len(got) != len(want) - 1:
        return None
    lost = [i for i in range(len(want)) if _without(want, i) == got]
    if len(lost) == 1:
        return f"{_named(names, lost)} is missing: summed, averaged or indexed away"
    return f"one of {_named(names, lost)} is missing" if lost else None


def _added(got: Shape, want: Shape, names: Names) -> str | None:
    if len(got) != len(want) + 1:
        return None
    added = [i for i in range(len(got)) if _without(got, i) == want]
    return f"yours has an extra axis of size {got[added[0]]} (axis {added[0]})" if added else None


def _one_size(got: Shape, want: Shape, names: Names) -> str | None:
    if len(got) != len(want):
        return None
    wrong = [i for i in range(len(want)) if got[i] != want[i]]
    if len(wrong) > 1:
        return f"{_named(names, wrong)} have the wrong size" if len(wrong) < len(want) else None
    i = wrong[0]
    mine, theirs, axis = got[i], want[i], _named(names, (i,))
    # A size of another axis is a surer hint than a difference of one.
    twin = [j for j in range(len(want)) if j != i and want[j] == mine and mine > 1]
    if twin:
        return (
            f"{axis} is {mine}, which is the size of {_named(names, twin).partition(' ')[2]}; want {theirs}"
        )
    if abs(mine - theirs) == 1:
        return f"{axis} is one {'longer' if mine > theirs else 'shorter'} than it should be"
    if mine == 1 and len(want) == 1:
        return f"{axis} is 1 instead of {theirs}: one number in place of {theirs}"
    if mine == 1:
        return f"{axis} is 1 instead of {theirs}: reduced with keepdim=True, or not expanded"
    if theirs and mine % theirs == 0 and mine:
        return f"{axis} is {mine // theirs} times as long as it should be"
    if mine and theirs % mine == 0:
        return f"{axis} is 1/{theirs // mine} as long as it should be"
    return f"{axis} is {mine}, want {theirs}"


def _same_count(got: Shape, want: Shape, names: Names) -> str | None:
    if len(got) != len(want) and prod(got) == prod(want):
        return "it holds as many values as expected, in other axes"
    return None


def _rank(got: Shape, want: Shape, names: Names) -> str | None:
    if len(got) == len(want):
        return None
    return f"yours has {len(got)} {'axis' if len(got) == 1 else 'axes'}, want {len(want)}"


_RULES: tuple[Callable[[Shape, Shape, Names], str | None], ...] = (
    _scalar, _permuted, _extra, _squeezed, _merged, _split, _missing, _added, _one_size, _same_count, _rank,
)  # fmt: skip
