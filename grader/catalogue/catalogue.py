"""Every kata this install knows, what an ID that a person types means, and where packs are found."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from grader import DISTRIBUTION, __version__
from grader.catalogue.adapters import ADAPTER_FILE, Adapter, read_adapters
from grader.catalogue.katas import SUBMISSION_SUFFIXES, Kata, Pack, Unit, number_key
from grader.catalogue.load import PACK_FILE, adapt, load_pack
from grader.errors import PackError, UsageError, did_you_mean
from grader.interpreter import is_installed

_NUMBER = re.compile(r"\d+(\.\d+)*", re.ASCII)
_LIST_HINT = "See what there is: kata list"


@dataclass(frozen=True, eq=False)
class Catalogue:
    """Packs, and the katas in them in the order of their numbers."""

    packs: tuple[Pack, ...]

    def __post_init__(self) -> None:
        """Refuse two packs that a learner's folder could not hold side by side."""
        names: dict[str, Path] = {}
        folders: dict[str, Path] = {}
        slugs: dict[str, Path] = {}
        for pack in self.packs:
            _claim(names, pack.name, pack.root, "pack name")
            for unit in pack.units:
                _claim(folders, unit.folder.name, unit.folder, "unit folder")
            for kata in pack.katas:
                _claim(slugs, kata.slug, kata.folder, "kata slug")

    @classmethod
    def discover(cls) -> Catalogue:
        """Load every pack of this install.

        Of packs of one name, one that KATA_PACKS names takes the place of others, and an installed one that of the
        built-in one: so the instructors' wheel of Kata's own pack brings its solutions.

        Adapters that it names have katas asked of a course's own files.

        Raises:
            PackError: a pack is broken, needs a newer Kata, or two packs clash.
            UsageError: KATA_PACKS is wrong, or there is no pack at all.
        """
        folders = pack_folders()
        packs = [load_pack(folder) for folder in folders if (folder / PACK_FILE).is_file()]
        builtin = builtin_folder()
        for stronger in (named_folders(), [pack.root for pack in packs if pack.root != builtin]):
            replaced = {pack.name for pack in packs if pack.root in stronger}
            packs = [pack for pack in packs if pack.name not in replaced or pack.root in stronger]
        if not packs:
            hint = "Reinstall kata, or name a pack's folder in KATA_PACKS."
            raise UsageError("No katas are installed.", hint)
        _adapt(packs, folders)
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


def _adapt(packs: Iterable[Pack], folders: Iterable[Path]) -> None:
    """Have katas asked of the files that the adapters in these folders name.

    Raises:
        PackError: an adapter is wrong, or two adapt one kata.
    """
    homes = {kata.slug: (pack, kata.module) for pack in packs for kata in pack.katas}
    modules = {slug: module for slug, (_, module) in homes.items()}
    taken: dict[str, Adapter] = {}
    for folder in folders:
        for adapter in read_adapters(folder, modules):
            if adapter.kata in taken:
                raise adapter.refusal(
                    f"{adapter.kata} is adapted by {taken[adapter.kata].file} as well.",
                    hint="Take one of the two out of KATA_PACKS.",
                )
            taken[adapter.kata] = adapter
            adapt(homes[adapter.kata][0], adapter)


def _normal(text: str) -> str:
    """Forgive what shells and habits add: a path, a slash at the end, a suffix, underscores, capitals."""
    word = text.strip().rstrip("/" + "\\").replace("\\", "/").rsplit("/", 1)[-1].rstrip(".").lower()
    for suffix in SUBMISSION_SUFFIXES:
        word = word.removesuffix(suffix)
    return word.replace("_", "-").replace(" ", "-")


def _names(items: Iterable[Unit | Kata], between: str = ", ") -> str:
    return between.join(f"{item.number} {item.slug}" for item in items)


def _claim(taken: dict[str, Path], name: str, place: Path, what: str) -> None:
    if name in taken:
        raise PackError(
            f"{place}: the {what} {name} is taken by {taken[name]}; two packs cannot share it.",
            "Rename one, or take a pack out of KATA_PACKS.",
        )
    taken[name] = place


ENTRY_POINTS = "kata.packs"
SOLUTIONS = "solutions"
"""The folder next to a pack that holds its answers."""

_METADATA = (".dist-info", ".egg-info")


def pack_folders() -> list[Path]:
    """Return the folders of all packs, each once, the built-in one first.

    Raises:
        UsageError: KATA_PACKS names a folder that is not a pack.
        PackError: an installed distribution does.
    """
    found: dict[Path, None] = {}
    builtin = builtin_folder()
    if builtin is not None:
        found[builtin] = None
    for folder in (*named_folders(), *installed_folders()):
        found[folder.resolve()] = None
    return list(found)


def named_folders() -> list[Path]:
    """Return the folders of the packs that KATA_PACKS names.

    Raises:
        UsageError: it names a folder that is not a pack.
    """
    found = []
    for entry in filter(None, os.environ.get("KATA_PACKS", "").split(os.pathsep)):
        folder = Path(entry).expanduser()
        if not any((folder / name).is_file() for name in (PACK_FILE, ADAPTER_FILE)):
            raise UsageError(
                f"KATA_PACKS names {entry}, which is not a pack: it has no {PACK_FILE}, and no {ADAPTER_FILE} either.",
                f"List the folders that hold a {PACK_FILE} or an {ADAPTER_FILE}, separated by {os.pathsep!r}.",
            )
        # Resolved, as two names of one folder would be two packs that clash.
        found.append(folder.resolve())
    return found


def answers() -> list[Path]:
    """Return the folders that no submission may read: the packs that have solutions here, and those solutions.

    Packs of whatever course that lie where installers put them count, too, named by an entry point or not.

    Raises:
        UsageError, PackError: as `pack_folders`.
    """
    named = [Path(entry) for entry in os.environ.get("KATA_SOLUTIONS", "").split(os.pathsep) if entry]
    # Without links: a worker's view is cut by real paths.
    found = {folder.resolve(): None for folder in named}
    for pack in dict.fromkeys((*pack_folders(), *_installed_packs())):
        sibling = pack.parent / SOLUTIONS
        if named or sibling.is_dir():
            found[pack.resolve()] = None
            found[sibling.resolve()] = None
    return [folder for folder in found if folder.is_dir()]


def _installed_packs() -> Iterator[Path]:
    """Yield the packs among what is installed, as `kata pack build` lays them out."""
    for place in filter(is_installed, sys.path):
        try:
            # Not `*.dist-info`, of which there are hundreds.
            packages = [entry.path for entry in os.scandir(place) if "." not in entry.name and entry.is_dir()]
        except OSError:
            continue
        for package in packages:
            for folder in (package, os.path.join(package, "katas")):
                if os.path.isfile(os.path.join(folder, PACK_FILE)):
                    yield Path(folder)


def builtin_folder() -> Path | None:
    """Return the pack of the source tree, or the copy inside the installed package."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package.parent / "katas", package / "_katas"):
        if (folder / PACK_FILE).is_file():
            return folder.resolve()
    return None


def installed_folders() -> Iterator[Path]:
    """Yield the pack folders that installed distributions name.

    A distribution declares `[project.entry-points."kata.packs"]` with `any-name = "package"`, or `"package.folder"`.
    """
    # Only folders that installers fill are looked at: what lies in the current folder, or in a class's, names
    # no pack. Reading the small files ourselves takes 1 ms; importing importlib.metadata takes 30.
    for place in filter(is_installed, sys.path):
        try:
            # The time is part of the cache's key: a server that runs on sees what was installed meanwhile.
            found = _declarations(place, os.stat(place).st_mtime_ns)
        except OSError:
            continue
        for path, text in found:
            yield from _named_folders(text, path)


@cache
def _declarations(place: str, changed_ns: int) -> list[tuple[Path, str]]:
    """Return the files with entry points of ours in a folder that was last changed then, and what they say.

    Raises:
        OSError: the folder cannot be read.
    """
    found = []
    for entry in os.scandir(place):
        if entry.name.endswith(_METADATA):
            path = Path(entry.path, "entry_points.txt")
            with contextlib.suppress(OSError, UnicodeDecodeError):
                text = path.read_text(encoding="utf-8")
                # Read as text first: nearly all of these files are about other programs.
                if f"[{ENTRY_POINTS}]" in text:
                    found.append((path, text))
    return found


_NEEDS = re.compile(rf"^Requires-Dist: {DISTRIBUTION} *>= *([\w.]+)$", re.MULTILINE)


def _insist_on_new_enough(metadata: Path) -> None:
    """Refuse a pack that was built by a newer Kata, as pip does unless it is told to install without dependencies.

    Raises:
        PackError: it was.
    """
    with contextlib.suppress(OSError, UnicodeDecodeError):
        if needs := _NEEDS.search(metadata.read_text(encoding="utf-8")):
            from packaging.version import Version

            if Version(needs[1]) > Version(__version__):
                raise PackError(
                    f"{metadata}: this pack needs {DISTRIBUTION} {needs[1]} or newer; here is {__version__}.",
                    f"pip install --upgrade {DISTRIBUTION}, or uninstall the pack.",
                )


def _named_folders(text: str, path: Path) -> Iterator[Path]:
    import configparser
    import importlib.util

    _insist_on_new_enough(path.with_name("METADATA"))
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None)
    parser.read_string(text)
    for name, value in parser[ENTRY_POINTS].items():
        package, *folders = value.split(":")[0].strip().split(".")
        # It is next to its metadata, but for an editable one. Finding a top-level package imports nothing of it.
        sibling = path.parent.parent / package
        spec = None if sibling.is_dir() else importlib.util.find_spec(package)
        roots = list(spec.submodule_search_locations or ()) if spec is not None else []
        for root in (str(sibling), *roots):
            folder = Path(root, *folders)
            if (folder / PACK_FILE).is_file():
                yield folder
                break
        else:
            raise PackError(
                f"{path}: the entry point {name} = {value} of group {ENTRY_POINTS} does not lead to a folder "
                f"with a {PACK_FILE}."
            )
