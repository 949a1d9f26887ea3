"""Read a pack from its folder, and refuse it with a reason when something in it is wrong."""

from __future__ import annotations

import ast
import keyword
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TypeVar

from msgspec import structs

from grader.catalogue.adapters import Adapter, check_adapter, check_not_asked, strange_form
from grader.catalogue.file_types import CalibrationFile, KataFile, PackFile, UnitFile
from grader.catalogue.katas import Kata, Pack, Unit, number_key
from grader.catalogue.markdown import read_hints
from grader.catalogue.pack_code import checks_asking, marked_checks, read_stub, read_tree, worth
from grader.catalogue.torch_names import torch_names
from grader.data_files import read_data
from grader.errors import PackError, did_you_mean

Item = TypeVar("Item")

PACK_FILE = "pack.toml"
UNIT_FILE = "unit.toml"
KATA_FILE = "kata.toml"
CALIBRATION = "calibration.json"

_UNIT_FOLDER = re.compile(r"(?P<number>\d+(?:\.\d+)*)-(?P<slug>[a-z][a-z0-9]*(?:-[a-z0-9]+)*)")
_OTHER_FOLDERS = frozenset({"given", "images"})
_RESERVED_MODULES = frozenset({"checks", "hidden_checks", "speed_checks", "baseline", "conftest"})
_CHECKS = ("checks.py", "speed_checks.py", "baseline.py")


def load_pack(folder: Path) -> Pack:
    """Read and validate the pack in `folder`; nothing in it is imported.

    Raises:
        PackError: the first thing that is wrong: the file, the key, and what is allowed.
    """
    root = folder.resolve()
    data = read_data(root / PACK_FILE, PackFile)
    unit_folders = [
        entry for entry in _subfolders(root) if (entry / UNIT_FILE).exists() or entry.name[:1].isdigit()
    ]
    for entry in unit_folders:
        if _UNIT_FOLDER.fullmatch(entry.name) is None:
            raise PackError(f"{entry}: a unit's folder is its number and its slug, such as `1.1-sorting`.")
    pack = Pack(
        data.name, data.title, data.version, root, _solutions(root, unit_folders), begin=data.begin or ""
    )
    units = tuple(sorted((_load_unit(entry, pack) for entry in unit_folders), key=lambda unit: unit.key))
    if not units:
        raise PackError(
            f"{root}: holds no unit; a unit is a folder such as `1.1-sorting` with a {UNIT_FILE}."
        )
    # A unit knows its pack and a pack its units: one of the two can only be made before the other.
    object.__setattr__(pack, "units", units)
    katas = pack.katas
    _refuse_twice(units, lambda unit: unit.key, "number", lambda unit: unit.folder / UNIT_FILE)
    _refuse_twice(units, lambda unit: unit.slug, "slug", lambda unit: unit.folder)
    _refuse_twice(katas, lambda kata: kata.key, "number", lambda kata: kata.folder / KATA_FILE)
    _refuse_twice(katas, lambda kata: kata.slug, "slug", lambda kata: kata.folder / KATA_FILE)
    # A submission is recognised by its file's name, wherever it lies.
    _refuse_twice(katas, lambda kata: kata.module, "module", lambda kata: kata.folder / KATA_FILE)
    _check_after(pack)
    known = {unit.number for unit in units} | {unit.slug for unit in units}
    known |= {kata.number for kata in katas} | {kata.slug for kata in katas}
    if pack.begin and pack.begin not in known:
        raise PackError(
            f"{root / PACK_FILE}: `begin` names {pack.begin}, which is not a unit or kata of this pack."
        )
    return pack


def adapt(pack: Pack, adapter: Adapter) -> None:
    """Let a kata of a pack that was just loaded be asked of a course's own files.

    Raises:
        PackError: the adapter names what the kata does not have.
    """
    for unit in pack.units:
        katas = [_adapted(kata, adapter) if kata.slug == adapter.kata else kata for kata in unit.katas]
        object.__setattr__(unit, "katas", tuple(katas))


def _adapted(kata: Kata, adapter: Adapter) -> Kata:
    check_adapter(adapter, required=kata.required, forbid=kata.policy.forbid, forms=kata.forms)
    visible, hidden = (
        read_tree(path).body if path is not None else [] for path in (kata.checks, kata.hidden_checks)
    )
    names = [check.name for check in marked_checks([*visible, *hidden])]
    check_not_asked(adapter, names, all_known=kata.hidden_checks is not None)
    rest = [name for name in kata.required if name not in adapter.uses]
    lacking = {check.name for body in (visible, hidden) for check in checks_asking(body, rest)}
    adapter = replace(adapter, lacking=frozenset(lacking))

    def points_left(body: list[ast.stmt], points: float) -> float:
        return points - sum(check.points for check in marked_checks(body) if check.name in adapter.not_asked)

    return structs.replace(
        kata,
        adapter=adapter,
        points=points_left(visible, kata.points),
        hidden_points=points_left(hidden, kata.hidden_points),
        preload=(*kata.preload, *adapter.requires),
    )


def _load_unit(folder: Path, pack: Pack) -> Unit:
    path = folder / UNIT_FILE
    data = read_data(path, UnitFile)
    named = _UNIT_FOLDER.fullmatch(folder.name)
    assert named is not None
    # Compared as numbers: 9.10 comes after 9.9, and is not 9.1.
    if number_key(named["number"]) != number_key(data.number):
        raise PackError(
            f"{path}: `number` is {data.number}, but the folder is called {folder.name}; the two must agree."
        )
    unit = Unit(
        data.number, named["slug"], data.title, data.summary, folder, pack, outcome=data.outcome or ""
    )
    _require_file(unit.lesson, "the unit's lesson")
    loaded = (_load_kata(entry, unit) for entry in _subfolders(folder) if entry.name not in _OTHER_FOLDERS)
    katas = tuple(sorted(loaded, key=lambda kata: kata.key))
    if not katas:
        raise PackError(f"{folder}: holds no kata; a kata is a folder with a {KATA_FILE}.")
    object.__setattr__(unit, "katas", katas)
    return unit


def _load_kata(folder: Path, unit: Unit) -> Kata:
    path = folder / KATA_FILE
    data = read_data(path, KataFile)
    slug = data.own_slug or folder.name
    # One name, as learners, gradebooks and paths go by it: two would be two katas somewhere.
    if slug != folder.name:
        raise PackError(
            f"{path}: `slug` is {slug}, but the folder is called {folder.name}; "
            "rename one, or leave `slug` out."
        )
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", slug):
        raise PackError(f"{folder}: a kata's folder is its slug, lower-case words joined by hyphens.")
    key = number_key(data.number)
    if key[:-1] != unit.key:
        raise PackError(
            f"{path}: `number` is {data.number}, which is not directly under its unit {unit.number}; "
            f"allowed: {unit.number}.1, {unit.number}.2, …"
        )
    if keyword.iskeyword(data.module) or data.module in _RESERVED_MODULES:
        raise PackError(f"{path}: `module` cannot be {data.module!r}; choose another Python module name.")
    _check_names(data, path)
    calibration = folder / CALIBRATION
    kata = Kata(
        **structs.asdict(data),
        folder=folder,
        unit=unit,
        given=tuple(_given("given", name, folder, unit, data.module) for name in data.given_names),
        support=tuple(_given("support", name, folder, unit, data.module) for name in data.support_names),
        points=data.own_points or 0.0,
        hidden_points=data.own_hidden_points or 0.0,
        measured=read_data(calibration, CalibrationFile).measured if calibration.is_file() else {},
    )
    _check_speed(kata, path)
    _require_file(kata.stub, "the stub, named after `module`")
    _require_file(kata.checks, "the kata's checks")
    _require_file(kata.lesson, "the kata's lesson")
    _require_file(kata.hints, "the kata's hints")
    read_hints(kata.hints)
    # Read from the checks' source, which is not imported: a learner's install lists katas without torch.
    if data.own_points is None:
        kata = structs.replace(kata, points=worth(kata.checks))
    if data.own_hidden_points is None and kata.hidden_checks is not None:
        kata = structs.replace(kata, hidden_points=worth(kata.hidden_checks))
    # What nobody can find in the stub would be missing in every answer.
    stub = read_stub(kata.stub)
    for name in kata.required:
        if name not in stub.names:
            defined = ", ".join(sorted(stub.names)) or "nothing"
            raise PackError(
                f"{path}: `required` names {name}, which {kata.stub.name} does not define; "
                f"it defines {defined}."
            )
    return kata


def _check_names(data: KataFile, path: Path) -> None:
    """Refuse names of stages and of the policy that mean nothing."""
    unknown = [name for name in data.policy.within if name not in data.required]
    if unknown:
        raise PackError(
            f"{path}: `policy.within` names {unknown[0]!r}, which is not in `required`; "
            f"allowed: {', '.join(data.required)}."
        )
    for name, form in data.conventions.items():
        if problem := strange_form(name, form, data.forms):
            raise PackError(f"{path}: `conventions` {problem}")
    staged = [name for stage in data.stages for name in stage.parts]
    # Each name once: a part that is in no stage would never be told as undone.
    if staged and sorted(staged) != sorted(data.required):
        raise PackError(
            f"{path}: the parts of all `stages` are {', '.join(staged)}; wanted each name of `required` once: "
            f"{', '.join(data.required)}."
        )
    families = torch_names().families
    # A family that is misspelled would forbid nothing, and nobody would notice.
    strange = [name for name in data.policy.forbid if "." not in name and name not in families]
    if strange:
        raise PackError(
            f"{path}: `policy.forbid` names {strange[0]!r}, which is not a family of torch's names; "
            f"there are {', '.join(families)}."
        )


def _check_speed(kata: Kata, path: Path) -> None:
    """Refuse thresholds that do not add up, or that nothing decides about."""
    worth = sum(threshold.points for threshold in kata.speed.values())
    if worth != kata.speed_points:
        raise PackError(
            f"{path}: `speed_points` says {kata.speed_points:g}, "
            f"but the thresholds of `speed` are worth {worth:g} together."
        )
    if kata.speed and kata.speed_checks is None:
        raise PackError(f"{path}: `speed` has thresholds, but there is no speed_checks.py next to it.")
    if kata.speed_checks is not None:
        _require_file(kata.baseline, "what the speed checks compare with")


def _given(key: str, name: str, folder: Path, unit: Unit, module: str) -> Path:
    path = folder / KATA_FILE
    if name in {f"{module}.py", f"{module}.ipynb", "README.md", "hints.md", KATA_FILE, *_CHECKS}:
        raise PackError(f"{path}: `{key}` cannot list {name}, a file that already has a meaning in a kata.")
    near = (folder, unit.folder, unit.pack.root / "given")
    for place in chain(near, _before(unit)):
        if (place / name).is_file():
            return place / name
    looked = ", ".join(str(place) for place in chain(near, _before(unit)))
    raise PackError(f"{path}: `{key}` lists {name}, which is in none of {looked}.")


def _before(unit: Unit) -> Iterator[Path]:
    """Yield the folders of the units before this one, the nearest first: what they give serves those that follow."""
    folders = {}
    for entry in _subfolders(unit.pack.root):
        if (named := _UNIT_FOLDER.fullmatch(entry.name)) and number_key(named["number"]) < unit.key:
            folders[number_key(named["number"])] = entry
    yield from (folders[key] for key in sorted(folders, reverse=True))


def _refuse_twice(
    items: Iterable[Item], value: Callable[[Item], object], key: str, where: Callable[[Item], Path]
) -> None:
    seen: dict[object, Item] = {}
    for item in items:
        found = seen.setdefault(value(item), item)
        if found is not item:
            shown = value(item)
            text = ".".join(map(str, shown)) if isinstance(shown, tuple) else str(shown)
            raise PackError(
                f"{where(item)}: `{key}` {text} is taken by {where(found)}; each must have its own."
            )


def _check_after(pack: Pack) -> None:
    import graphlib

    katas = {kata.slug: kata for kata in pack.katas}
    for kata in pack.katas:
        for slug in kata.after:
            if slug == kata.slug:
                raise PackError(f"{kata.folder / KATA_FILE}: `after` names the kata itself.")
            if slug not in katas:
                raise PackError(
                    f"{kata.folder / KATA_FILE}: `after` names {slug}, which is not a kata of this pack."
                    f"{did_you_mean(slug, list(katas), most=1)} "
                    f"Allowed: {', '.join(katas)}."
                )
    try:
        graphlib.TopologicalSorter({slug: kata.after for slug, kata in katas.items()}).prepare()
    except graphlib.CycleError as error:
        circle = error.args[1]
        path = katas[circle[0]].folder / KATA_FILE
        raise PackError(f"{path}: `after` forms a cycle: {' → '.join(circle)}.") from error


def _subfolders(folder: Path) -> list[Path]:
    """List the folders in `folder` that count; a leading dot or underscore puts one aside."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        raise PackError(f"{folder}: cannot be read ({error.strerror}).") from error
    return [Path(entry.path) for entry in entries if entry.is_dir() and entry.name[0] not in "._"]


def _require_file(path: Path, what: str) -> None:
    if not path.is_file():
        raise PackError(f"{path}: this file is missing; it is {what}.")


def _solutions(root: Path, units: list[Path]) -> Path | None:
    """Find the first folder of KATA_SOLUTIONS that knows a unit of this pack, or the sibling."""
    places = [Path(entry) for entry in os.environ.get("KATA_SOLUTIONS", "").split(os.pathsep) if entry]
    for place in (*places, root.parent / "solutions"):
        if any((place / unit.name).is_dir() for unit in units):
            return place.resolve()
    return None
