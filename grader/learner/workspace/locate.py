"""Find the file that holds an answer, and the answers that a folder holds."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from pathlib import Path

from grader.catalogue import SUBMISSION_SUFFIXES, Catalogue, Kata
from grader.catalogue.adapters import ADAPTER_FILE
from grader.errors import UsageError, did_you_mean
from grader.learner.workspace.folder import BACKUPS, kata_around

MAX_DEPTH = 6
MAX_ENTRIES = 20_000

_SKIPPED = frozenset({BACKUPS, "node_modules", "__pycache__", "site-packages", "venv"})
_PACK_FILES = frozenset({"pack.toml", "unit.toml", "kata.toml", ADAPTER_FILE})


def locate(kata: Kata, folder: Path) -> Path | None:
    """Return the file below `folder` that holds the answer to `kata`, or None.

    The kata's own folder comes first, also when what lies there is no readable file (a directory, say): the
    caller then tells the learner so. Otherwise everything below that folder (or, where there is none, below
    `folder`) is looked through, down to a depth of 6, without backups, hidden folders, virtual environments
    and packs.

    Raises:
        UsageError: `.py` and `.ipynb` lie side by side, or several files could be meant.
    """
    here = Path(os.path.abspath(folder))
    own = _in_own_folder(kata, here)
    if own is not None:
        return own
    walked = _walk(_own_folder(kata, here) or here, _names([kata]))
    return _only(kata, list(filter(kata.is_answer, walked)))


def katas_in(folder: Path, catalogue: Catalogue) -> list[tuple[Kata, Path]]:
    """Return what `folder` holds: katas in the order of their numbers, each with the file of its answer.

    `folder` may be a workspace, a part of one, any folder with answers in it, or one file. A kata that was
    started there and whose file is gone comes with the path where the file should be. A folder inside a
    kata's own folder stands for that kata.

    Raises:
        UsageError: `folder` does not exist, or is a file of no kata; or as `locate`.
    """
    if not os.path.lexists(folder):
        raise UsageError(f"{folder}: there is no such file or folder.")
    if not folder.is_dir():
        return _katas_of_file(folder, catalogue)
    here = Path(os.path.abspath(folder))
    names = _names(catalogue.katas)
    # One walk for all katas: a course has hundreds, and a home folder has a hundred thousand files.
    walked = _walk(here, names)
    found: list[tuple[Kata, Path]] = []
    for kata in catalogue.katas:
        path = _in_own_folder(kata, here)
        own = _own_folder(kata, here)
        if path is None:
            # An old copy elsewhere does not stand in for a file that is gone from the kata's own folder.
            files = [file for file in walked if kata.is_answer(file)]
            path = _only(kata, [file for file in files if own is None or file.is_relative_to(own)])
        if path is None and own is not None:
            path = own / f"{kata.module}.py"
        if path is not None:
            found.append((kata, path))
    if not found:
        around = kata_around(here, catalogue)
        if around is not None:
            own_folder = (around.unit.folder.name, around.slug)
            places = (here, *here.parents)
            root = next(place for place in places if (place.parent.name, place.name) == own_folder)
            return katas_in(root, catalogue)
    return found


def submissions_at(kata: Kata, folder: Path) -> list[Path]:
    """Return the kata's files that lie directly in `folder`: none, one, or a module and a notebook."""
    suffixes = SUBMISSION_SUFFIXES if kata.adapter is None else (kata.answer.suffix,)
    paths = [folder / kata.answer.with_suffix(suffix) for suffix in suffixes]
    return [path for path in paths if os.path.lexists(path)]


def source_folders(kata: Kata, file: Path) -> list[Path]:
    """Return the folders of an answer's files: its own, or of a course's files all that may hold some."""
    if kata.adapter is None:
        return [file.parent]
    root = kata.root_of(file)
    return [root, *{path.parent: None for path in _walk(root, None)}]


def _names(katas: Iterable[Kata]) -> set[str]:
    return {kata.answer.stem + suffix for kata in katas for suffix in SUBMISSION_SUFFIXES}


def _in_own_folder(kata: Kata, folder: Path) -> Path | None:
    own = (folder / kata.unit.folder.name / kata.slug, folder / kata.slug)
    for place in (*(own if kata.adapter is None else ()), folder):
        found = submissions_at(kata, place)
        if found:
            return _only(kata, found)
    return None


def _own_folder(kata: Kata, folder: Path) -> Path | None:
    """Return the kata's own folder, when `folder` holds it or is it."""
    if kata.adapter is not None:
        return None
    unit = kata.unit.folder.name
    places = [folder / unit / kata.slug]
    if folder.name == unit:
        places.append(folder / kata.slug)
    if (folder.parent.name, folder.name) == (unit, kata.slug):
        places.append(folder)
    return next((place for place in places if place.is_dir()), None)


def _katas_of_file(path: Path, catalogue: Catalogue) -> list[tuple[Kata, Path]]:
    if path.suffix in SUBMISSION_SUFFIXES:
        katas = [kata for kata in catalogue.katas if kata.is_answer(path.absolute())]
        around = kata_around(path.parent, catalogue)
        # Packs may each have a module of this name: the folder it lies in decides.
        if len(katas) > 1 and around in katas:
            katas = [around]
        # A course may have the answers to several in one file.
        if len(katas) == 1 or (katas and all(kata.adapter is not None for kata in katas)):
            return [(kata, path) for kata in katas]
        if katas:
            raise UsageError(
                f"{path}: several katas have a file of this name.",
                f"Name one: {', '.join(kata.slug for kata in katas)}",
            )
    files = {
        kata.answer.stem: str(
            kata.answer if kata.adapter is not None else kata.answer.with_suffix(path.suffix)
        )
        for kata in catalogue.katas
    }
    guess = did_you_mean(path.stem, files, most=1) if path.suffix in SUBMISSION_SUFFIXES else ""
    raise UsageError(
        f"{path}: no kata has a file of this name.{guess}",
        "An answer is a .py or .ipynb file named as `kata start` named it; check a folder or an ID instead.",
    )


def _only(kata: Kata, paths: list[Path]) -> Path | None:
    if len(paths) < 2:
        return paths[0] if paths else None
    listed = " and ".join(str(path) for path in paths[:5])
    more = f" and {len(paths) - 5} more" if len(paths) > 5 else ""
    if len({path.parent for path in paths}) == 1:
        raise UsageError(
            f"{kata.number} {kata.slug} exists twice: {listed}.",
            "Keep the one you work in and move the other away, so that it is clear which one counts.",
        )
    raise UsageError(
        f"Several files could be the answer to {kata.number} {kata.slug}: {listed}{more}.",
        "Name the one you mean: kata check PATH",
    )


def _walk(folder: Path, names: Collection[str] | None) -> list[Path]:
    """Return the files below `folder` with one of `names`, or all sources, nearest first, within the limits above."""
    found: list[Path] = []
    level = [folder]
    budget = MAX_ENTRIES
    for _ in range(MAX_DEPTH + 1):
        below: list[Path] = []
        for place in level:
            entries = _entries(place)
            budget -= len(entries)
            # Somebody may have made a workspace of their home: what is found by then has to do.
            if budget < 0:
                return found
            # A pack's own stubs have the names of answers.
            if place is not folder and not _PACK_FILES.isdisjoint(entry.name for entry in entries):
                continue
            for entry in entries:
                wanted = entry.name.endswith(".py") if names is None else entry.name in names
                if wanted and _is_file(entry):
                    found.append(Path(entry.path))
                elif _is_searched(entry):
                    below.append(Path(entry.path))
        level = below
    return found


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:
        return False


def _is_searched(entry: os.DirEntry[str]) -> bool:
    if entry.name.startswith(".") or entry.name in _SKIPPED:
        return False
    try:
        # A virtual environment says so, whatever it is called.
        return entry.is_dir(follow_symlinks=False) and not os.path.exists(
            os.path.join(entry.path, "pyvenv.cfg")
        )
    except OSError:
        return False
