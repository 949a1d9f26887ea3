"""What `[policy] forbid` of a kata stands for: families of torch's names, from `torch_names.toml`, and dotted names."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from pathlib import Path

import msgspec

from grader.data_files import read_data


class NameFamily(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Names of torch that compute the same kind of thing."""

    like: tuple[str, ...] = ()
    """Parts of names, in small letters and without underscores."""
    operators: tuple[str, ...] = ()
    """Such parts that mean it in the names of operators alone."""
    names: tuple[str, ...] = ()


class TorchNames(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """`torch_names.toml`."""

    families: dict[str, NameFamily]


@functools.cache
def torch_names() -> TorchNames:
    """Read the file, once."""
    return read_data(Path(__file__).with_name("torch_names.toml"), TorchNames)


@dataclass(frozen=True)
class Excluded:
    """What a kata excludes: decides about names without dots, of functions, classes or operators."""

    like: tuple[str, ...]
    names: frozenset[str]

    @property
    def pattern(self) -> str:
        """A regular expression that finds these names."""
        # From the beginning of a word on: a method or property is no `rprop`.
        starts = (f"(?:(?<![a-z]){piece[0]}|{piece[0].upper()})" for piece in self.like)
        rests = ("".join(f"_?[{letter}{letter.upper()}]" for letter in piece[1:]) for piece in self.like)
        parts = [start + rest for start, rest in zip(starts, rests, strict=True)]
        return "|".join([*parts, f"^(?:{'|'.join(map(re.escape, sorted(self.names)))})_*$"])

    def of(self, listed: str) -> list[str]:
        """Return which of these names, one on each line, are excluded; in place (`gelu_`) it is the same.

        A namespace before `::` says nothing.
        """
        finds, lines = re.compile(self.pattern).search, listed.splitlines()
        # One text is searched for a part of it much faster than thousands, and than for a pattern.
        letters = listed.replace("_", "").lower()
        likely = {line for line in lines if line.rpartition("::")[2].rstrip("_") in self.names}
        for piece in self.like:
            number = last = 0
            while (at := letters.find(piece, last)) >= 0:
                number, last = number + letters.count("\n", last, at), at + 1
                likely.add(lines[number])
        return sorted(line for line in likely if finds(line.rpartition("::")[2]))


def excluded(forbid: tuple[str, ...], *, operators: bool = False) -> Excluded:
    """Return what these families and dotted names stand for among operators, or in torch's Python."""
    known = torch_names().families
    families = [known[name] for name in forbid if name in known]
    dotted = {name.rpartition(".")[2] for name in forbid if name not in known and name.startswith("torch.")}
    like = [
        piece for family in families for piece in (*family.like, *(family.operators if operators else ()))
    ]
    return Excluded(tuple(like), frozenset(dotted.union(*(family.names for family in families))))
