"""What `[policy] forbid` of a kata stands for: families of torch's names, from `torch_names.toml`, and dotted names."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from grader.data_files import read_data


class NameFamily(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Names of torch that compute the same kind of thing."""

    like: tuple[str, ...] = ()
    """Parts of names, in small letters and without underscores."""
    names: tuple[str, ...] = ()

    def holds(self, part: str) -> bool:
        """Tell whether a name without its dots is of this family; in place (`gelu_`) it is the same."""
        return (
            part.rstrip("_") in self.names
            or part in self.names
            or any(piece in part.lower().replace("_", "") for piece in self.like)
        )


class TorchNames(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """`torch_names.toml`."""

    never: tuple[str, ...]
    lists: tuple[str, ...]
    harmless: tuple[str, ...]
    families: dict[str, NameFamily]


@functools.cache
def torch_names() -> TorchNames:
    """Read the file, once."""
    return read_data(Path(__file__).with_name("torch_names.toml"), TorchNames)


class Excluded:
    """What a kata excludes: decides about full names, such as `torch.nn.functional.gelu`."""

    def __init__(self, forbid: Iterable[str]) -> None:
        known = torch_names().families
        self._dotted = frozenset(name for name in forbid if name not in known)
        last = (name.rpartition(".")[2] for name in self._dotted if name.startswith("torch."))
        self._families = [*(known[name] for name in forbid if name in known), NameFamily(names=tuple(last))]

    def is_nowhere(self, name: str) -> bool:
        """Tell whether this may not be anywhere in the file, used or not."""
        # A name in two underlines, such as `torch.__version__`, hides nothing.
        private = re.match(r"torch\._(?!_)", name) and not _is_harmless(name)
        return bool(private) or any(_is_in(name, package) for package in torch_names().never)

    def is_used(self, name: str) -> bool:
        """Tell whether a required part that names this uses what is excluded, or hides what it uses."""
        root, *parts = name.split(".")
        if name in self._dotted or any(_is_in(name, package) for package in torch_names().lists):
            return True
        if root != "torch":
            return False
        lists = torch_names().lists
        private = any(part in lists or (part.startswith("_") and part[:2] != "__") for part in parts)
        return any(map(self.is_of, parts)) or (private and not _is_harmless(name))

    def is_of(self, part: str) -> bool:
        """Tell whether a name without dots, of a function, class or operator, is that of something excluded."""
        return any(family.holds(part) for family in self._families)


def _is_in(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def _is_harmless(name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in torch_names().harmless)
