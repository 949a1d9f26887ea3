"""Every kata this install knows, and what an ID that a person types means."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from grader.catalogue import discover
from grader.catalogue.katas import SUBMISSION_SUFFIXES, Kata, Pack, Unit, number_key
from grader.catalogue.load import load_pack
from grader.errors import PackError, UsageError, did_you_mean

_NUMBER = re.compile(r"\d+(\.\d+)*", re.ASCII)
_LIST_HINT = "See what there is: kata list"


@dataclass(frozen=True, eq=False)
class Catalogue:
    """Packs, and the katas in them in the order of their numbers."""

    packs: tuple[Pack, ...]

    def __post_init__(self) -> None:
        _refuse_clashes(self.packs)

    @classmethod
    def discover(cls) -> Catalogue:
        """Load every pack of this install. One that KATA_PACKS names takes the place of another of its name.

        Raises:
            PackError: a pack is broken, or two packs clash.
            UsageError: KATA_PACKS is wrong, or there is no pack at all.
        """
        packs = [load_pack(folder) for folder in discover.pack_folders()]
        named = discover.named_folders()
        replaced = {pack.name for pack in packs if pack.root in named}
        packs = [pack for pack in packs if pack.name not in replaced or pack.root in named]
        if not packs:
            hint = "Reinstall kata, or name a pack's folder in KATA_PACKS."
            raise UsageError("No katas are installed.", hint)
        return cls(tuple(packs))

    @property
    def units(self) -> tuple[Unit, ...]:
        """Every unit, in the order of the numbers (not of their spelling: 9.10 follows 9.9)."""
        return tuple(sorted((unit for pack in self.packs for unit in pack.units), key=lambda unit: unit.key))

    @property
    def katas(self) -> tuple[Kata, ...]:
        """Every kata, in the order of the numbers."""
        return tuple(kata for unit in self.units for kata in unit.katas)

    def kata(self, slug: str) -> Kata | None:
        """Return the kata with exactly this slug."""
        return next((kata for kata in self.katas if kata.slug == slug), None)

    def by_module(self, module: str) -> tuple[Kata, ...]:
        """Return the katas whose submission is a file of this name (one a pack at most)."""
        return tuple(kata for kata in self.katas if kata.module == module)

    def resolve(self, text: str) -> list[Kata]:
        """Return the katas that `text` means, in order; a unit means all of its katas.

        `text` is a number (9.3, 9.3.2; 9 means everything under it), a kata's slug, a unit's slug or
        folder, or the beginning of exactly one of those names.

        Raises:
            UsageError: nothing is called that (with a suggestion), or several things are.
        """
        katas: dict[Kata, None] = {}
        for found in self.find(text):
            katas.update(dict.fromkeys(found.katas if isinstance(found, Unit) else (found,)))
        return sorted(katas, key=lambda kata: kata.key)

    def resolve_one(self, text: str) -> Kata:
        """Return the single kata that `text` means.

        Raises:
            UsageError: as `resolve`, or `text` means several katas.
        """
        katas = self.resolve(text)
        if len(katas) > 1:
            raise UsageError(f"{text} means {len(katas)} katas; name one: {_names(katas)}.")
        return katas[0]

    def find(self, text: str) -> list[Unit | Kata]:
        """Return the units and katas that `text` names, without opening up the units.

        Raises:
            UsageError: as `resolve`.
        """
        word = _normal(text)
        if not word:
            raise UsageError("The ID is empty.", _LIST_HINT)
        if _NUMBER.fullmatch(word):
            return self._by_number(word)
        return self._by_name(word, text)

    @property
    def _items(self) -> tuple[Unit | Kata, ...]:
        return (*self.units, *self.katas)

    def _by_number(self, number: str) -> list[Unit | Kata]:
        key = number_key(number)
        exact: list[Unit | Kata] = [item for item in self._items if item.key == key]
        if len(exact) > 1:
            raise UsageError(f"{number} is in several packs: {_names(exact)}.", "Use the name instead.")
        if exact:
            return exact
        under: list[Unit | Kata] = [unit for unit in self.units if unit.key[: len(key)] == key]
        if under:
            return under
        raise UsageError(f"There is no {number}.{self._near(number)}", _LIST_HINT)

    def _by_name(self, word: str, text: str) -> list[Unit | Kata]:
        for kata in self.katas:
            if kata.slug == word:
                return [kata]
        # Whole names before beginnings: else `attention` could not be typed where `attention-mask` exists.
        units: list[Unit | Kata] = [unit for unit in self.units if word in (unit.slug, unit.folder.name)]
        if len(units) == 1:
            return units
        begins: list[Unit | Kata] = units or [
            *(unit for unit in self.units if unit.slug.startswith(word) or unit.folder.name.startswith(word)),
            *(kata for kata in self.katas if kata.slug.startswith(word)),
        ]
        if len(begins) == 1:
            return begins
        if begins:
            raise UsageError(f"{text} could be {_names(begins, ' or ')}.", "Type more of it, or the number.")
        raise UsageError(f"There is no kata or unit called {text}.{self._near(word)}", _LIST_HINT)

    def _near(self, word: str) -> str:
        """Word a suggestion for something that does not exist; empty when nothing is close."""
        if _NUMBER.fullmatch(word):
            known = {item.number: item.number for item in self._items}
        else:
            known = {item.slug: item.slug for item in self._items}
            known |= {kata.title.lower().replace(" ", "-"): kata.slug for kata in self.katas}
            known |= {unit.title.lower().replace(" ", "-"): unit.slug for unit in self.units}
            known |= {unit.folder.name: unit.folder.name for unit in self.units}
        return did_you_mean(word, known)


def _normal(text: str) -> str:
    """Forgive what shells and habits add: a path, a slash at the end, a suffix, underscores, capitals."""
    word = text.strip().rstrip("/" + "\\").replace("\\", "/").rsplit("/", 1)[-1].rstrip(".").lower()
    for suffix in SUBMISSION_SUFFIXES:
        word = word.removesuffix(suffix)
    return word.replace("_", "-").replace(" ", "-")


def _names(items: Iterable[Unit | Kata], between: str = ", ") -> str:
    return between.join(f"{item.number} {item.slug}" for item in items)


def _refuse_clashes(packs: tuple[Pack, ...]) -> None:
    """Refuse two packs that a learner's folder could not hold side by side."""
    names: dict[str, Path] = {}
    folders: dict[str, Path] = {}
    slugs: dict[str, Path] = {}
    for pack in packs:
        _claim(names, pack.name, pack.root, "pack name")
        for unit in pack.units:
            _claim(folders, unit.folder.name, unit.folder, "unit folder")
        for kata in pack.katas:
            _claim(slugs, kata.slug, kata.folder, "kata slug")


def _claim(taken: dict[str, Path], name: str, place: Path, what: str) -> None:
    if name in taken:
        raise PackError(
            f"{place}: the {what} {name} is taken by {taken[name]}; two packs cannot share it.",
            "Rename one, or take a pack out of KATA_PACKS.",
        )
    taken[name] = place
