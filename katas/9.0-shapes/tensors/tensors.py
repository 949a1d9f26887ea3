"""9.0.1 Tensors: the moves on shapes that every later kata takes for granted.

B is the batch size, T the length of the sequence, D the width of a vector, H the number of heads. `[..]` stands
for any number of axes, also none. None of these functions needs a loop.

Reference: Harris et al. 2020 (arXiv:2006.10256), broadcasting and indexing by arrays.

First step: `outer_compare`, as the lesson says under that heading; `kata check tensors -k test_outer` then
shows that it is right.
"""

from __future__ import annotations

from torch import Tensor


def outer_compare(a: Tensor, b: Tensor) -> Tensor:
    """Compare every entry of a with every entry of b.

    Args:
        a: [A] numbers.
        b: [B] numbers of the same dtype.

    Returns:
        bool [A, B], True at [i, j] where a[i] <= b[j].
    """
    # TODO 1: give a an axis of length 1 for the columns, and b one for the rows.
    # TODO 2: compare; torch stretches the axes of length 1.
    raise NotImplementedError("outer_compare")


def one_hot(ids: Tensor, size: int) -> Tensor:
    """Write each id as a row of zeros with a single one.

    Args:
        ids: int64 [..], each from 0 to size - 1.
        size: how many different ids there are.

    Returns:
        float32 [.., size], 1 where the last axis counts up to the id, 0 elsewhere.

    Raises:
        ValueError: an id is negative, or is not below size.
    """
    # TODO 1: refuse ids outside the table; say which one, and what is allowed.
    # TODO 2: compare each id with 0, 1, ..., size - 1, along a new last axis.
    # TODO 3: turn True and False into float32.
    raise NotImplementedError("one_hot")


def pick(table: Tensor, ids: Tensor) -> Tensor:
    """Read one row of a table for each id, all of them at once.

    Args:
        table: float [V, D], one row for each id.
        ids: int64 [..], each from 0 to V - 1; the same id may come several times.

    Returns:
        [.., D], of the table's dtype: row ids[..] of the table.

    Raises:
        ValueError: an id is negative, or is not below V.
    """
    # TODO 1: refuse ids outside the table; torch would count negative ones from the end.
    # TODO 2: index the table by all ids at once, without a loop.
    raise NotImplementedError("pick")


def masked_mean(x: Tensor, keep: Tensor) -> Tensor:
    """Average over the positions that count.

    Args:
        x: float [B, T, D].
        keep: bool [B, T], True where a position counts, anywhere in a row.

    Returns:
        [B, D], of x's dtype: the mean over the positions that are kept, and 0 where a row keeps none.
    """
    # TODO 1: give keep an axis that stretches over D, and let nothing else into the sum over T.
    # TODO 2: divide by how many positions are kept in each row. What if there are none?
    raise NotImplementedError("masked_mean")


def split_heads(x: Tensor, heads: int) -> Tensor:
    """Divide the last axis among heads.

    Args:
        x: [B, T, D].
        heads: H, which divides D.

    Returns:
        [B, H, T, D/H]; head h holds the columns h·D/H to (h+1)·D/H of x.

    Raises:
        ValueError: heads is below 1, or does not divide D.
    """
    # TODO 1: refuse heads that do not fit; name both numbers.
    # TODO 2: make two axes of the last one: which comes first, the head or its columns?
    # TODO 3: exchange two axes, so that heads come before time.
    raise NotImplementedError("split_heads")


def join_heads(x: Tensor) -> Tensor:
    """Undo split_heads: put the columns of all heads side by side again.

    Args:
        x: [B, H, T, D/H].

    Returns:
        [B, T, D], so that join_heads(split_heads(x, heads)) is x.
    """
    # TODO 1: exchange heads and time first.
    # TODO 2: make one axis of the last two. Memory is now in another order: which function copies if it must?
    raise NotImplementedError("join_heads")


def shift_right(tokens: Tensor, start: int) -> Tensor:
    """Move each row one place to the right, and put start in front: what a decoder reads while it learns.

    Args:
        tokens: int64 [B, T].
        start: the id in front.

    Returns:
        int64 [B, T]: start, then all tokens of the row but the last.
    """
    # TODO 1: a column of start, of the tokens' dtype and device.
    # TODO 2: join it with all columns but the last; the tokens you are given stay as they are.
    raise NotImplementedError("shift_right")
