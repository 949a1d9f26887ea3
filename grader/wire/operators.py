"""Which of torch's operators the names of a policy mean; both sides have to mean the same."""

from __future__ import annotations

import fnmatch
import functools
from collections.abc import Iterable

import torch


@functools.cache
def overloads() -> dict[str, list[str]]:
    """Return the overloads of every operator that torch brings, by the operator's name such as `aten::gelu`."""
    found: dict[str, list[str]] = {}
    for name in torch._C._dispatch_get_all_op_names():
        found.setdefault(name.partition(".")[0], []).append(name)
    return found


def resolved(forbid: Iterable[str], allow: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the names of a policy with every pattern, such as `*::*gelu*`, replaced by the operators that it matches.

    The patterns themselves stand at the end: they also watch operators that torch makes later.
    """
    names = list(forbid)
    patterns = [name for name in names if "*" in name]
    excused = set(allow)
    found = (one for pattern in patterns for one in _matching(pattern) if one not in excused)
    return tuple(dict.fromkeys([*(name for name in names if "*" not in name), *found, *patterns]))


@functools.cache
def _matching(pattern: str) -> tuple[str, ...]:
    return tuple(sorted(name for name in overloads() if fnmatch.fnmatchcase(name.lower(), pattern)))


def operators_of(name: str) -> list[str]:
    """Return the operators behind a dotted name of torch's: its namesake and the one in place, if there are such.

    A name such as `aten::gelu` stands for itself.
    """
    if "::" in name:
        return [name] if name in overloads() else []
    last = name.rpartition(".")[2]
    if not name.startswith("torch."):
        return []
    return [operator for operator in (f"aten::{last}", f"aten::{last}_") if operator in overloads()]
