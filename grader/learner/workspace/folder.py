"""The workspace: the folder that holds a learner's katas and the progress file."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from grader.catalogue import Catalogue, Kata, Unit
from grader.data_files import read_bounded
from grader.errors import KataError, UsageError
from grader.files import users_folder, write_atomic
from grader.learner.workspace.progress import PROGRESS_FILE

BACKUPS = "backups"
LONGEST_PATH = 1 << 16


@dataclass(frozen=True)
class Workspace:
    """A folder with a progress file."""

    root: Path

    def unit_folder(self, unit: Unit) -> Path:
        """Return where this workspace keeps a unit."""
        return self.root / unit.folder.name

    def kata_folder(self, kata: Kata) -> Path:
        """Return where this workspace keeps a kata."""
        return self.unit_folder(kata.unit) / kata.slug

    def answer(self, kata: Kata) -> Path:
        """Return where the answer to a kata is, as a module: in its folder, or where a course has it."""
        home = self.root if kata.adapter is not None else self.kata_folder(kata)
        return home / kata.answer

    def backups(self, kata: Kata) -> Path:
        """Return where `kata reset` puts what it replaces."""
        return self.root / BACKUPS / kata.slug

    def holds(self, path: Path) -> bool:
        """Return whether a file lies in this workspace: itself, not a link to it or a path that leads out again."""
        return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(self.root))

    @property
    def exists(self) -> bool:
        """Whether the progress file is there; a workspace about to be made has none yet."""
        return os.path.lexists(self.root / PROGRESS_FILE)

    @property
    def is_own(self) -> bool:
        """Whether it was noted on this machine, by this user, at this place: files in it say nothing of that."""
        try:
            return read_bounded(self._note(), LONGEST_PATH) == self._place()
        except (KataError, OSError, ValueError):
            return False

    def note_as_own(self) -> None:
        """Note that this user trusts what is in it; without a place for such notes, ask again the next time."""
        with suppress(KataError):
            write_atomic(self._note(), self._place())

    def _place(self) -> bytes:
        return os.fsencode(os.path.realpath(self.root))

    def _note(self) -> Path:
        state = users_folder("XDG_STATE_HOME", ".local/state")
        return state / "kata" / "workspaces" / hashlib.sha256(self._place()).hexdigest()[:32]


def find_workspace(folder: Path) -> Workspace | None:
    """Return the workspace that `folder` lies in: the nearest folder upwards with a progress file."""
    here = folder.absolute()
    for place in (here, *here.parents):
        if os.path.lexists(place / PROGRESS_FILE):
            return Workspace(place)
    return None


def lost_workspace(folder: Path) -> Workspace | None:
    """Return the workspace that `folder` was in before its progress was lost: the nearest upwards that was noted."""
    here = folder.absolute()
    return next((space for place in (here, *here.parents) if (space := Workspace(place)).is_own), None)


def require_workspace(folder: Path) -> Workspace:
    """Return the workspace that `folder` lies in.

    Raises:
        UsageError: there is none.
    """
    found = find_workspace(folder)
    if found is None:
        raise UsageError(
            f"{folder} is not in a kata workspace (no {PROGRESS_FILE} here or above).",
            "Go to the folder where you typed `kata start`, or begin here: kata start ID",
        )
    return found


def workspace_to_start_in(folder: Path, catalogue: Catalogue, *, own: bool = False) -> Workspace:
    """Return the workspace that `folder` lies in, or one that would begin there; with `own`, always that one.

    Raises:
        UsageError: `folder` is inside a pack, where scaffolding would mix learners' files with the pack's.
    """
    found = (None if own else find_workspace(folder)) or Workspace(folder.absolute())
    resolved = found.root.resolve()
    for pack in catalogue.packs:
        if resolved.is_relative_to(pack.root):
            raise UsageError(
                f"{found.root} is inside the pack {pack.name}, which is not a place for answers.",
                "Make a folder of your own and start there: mkdir ~/kata && cd ~/kata",
            )
    return found


def kata_around(folder: Path, catalogue: Catalogue) -> Kata | None:
    """Return the kata whose own folder (`<unit folder>/<slug>`) is `folder` or holds it."""
    here = folder.absolute()
    katas = {(kata.unit.folder.name, kata.slug): kata for kata in catalogue.katas}
    for place in (here, *here.parents):
        kata = katas.get((place.parent.name, place.name))
        if kata is not None:
            return kata
    return None


def unit_around(folder: Path, catalogue: Catalogue) -> Unit | None:
    """Return the unit whose folder is `folder` or holds it."""
    here = folder.absolute()
    units = {unit.folder.name: unit for unit in catalogue.units}
    return next((units[place.name] for place in (here, *here.parents) if place.name in units), None)
