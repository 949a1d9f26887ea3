"""Other people's hand-in systems: what is uploaded there, and what runs there.

May import everything of the instructor's below it; never cli.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from grader.catalogue import Kata, Pack
from grader.commands import EXTRAS

FOLDERS = {name.split()[-1]: target for name, target in EXTRAS.items() if name.startswith("pack bundle ")}
"""What is a folder and not an archive: where extras have its `FolderBundle`."""
SYSTEMS = ("gradescope", "classroom50", "actions", *FOLDERS)
PUBLIC = frozenset({"classroom50", "actions"})
"""Learners read what these archives hold: nothing hidden is put into them."""


class FolderBundle(NamedTuple):
    """A bundle that is a folder, which an extra knows how to write."""

    write: Callable[[Pack, Sequence[Kata], Callable[[Kata], dict[str, Path]], Path, str], list[Path]]
    """Is given katas of a pack, what of the pack a kata's verifier needs, the folder and a version of Python; returns
    the files."""
    steps: tuple[str, ...]
    """What to do with it, a line each."""
    public: bool = False
    """Whether learners read it: then it needs no solutions, and gets none."""
    holds_pack: bool = False
    """Whether what grades is in it; others ask the Kata that is installed."""
