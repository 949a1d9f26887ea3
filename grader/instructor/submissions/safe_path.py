"""Places on disk, opened name by name: no link below what was handed in is ever followed, whenever it was put there.

A path that was looked at can be another one when it is opened: anyone who may write there swaps a folder for a link in
between. So every folder is opened below the one before it (`openat`), and none may be a link (`O_NOFOLLOW`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

_FOLDER = os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY


@dataclass(frozen=True, slots=True)
class SafePath:
    """A path that follows no links below its root: the path that the instructor named, and names below it."""

    root: str
    names: tuple[str, ...] = ()

    def __truediv__(self, name: str) -> SafePath:
        return SafePath(self.root, (*self.names, name))

    def open(self, flags: int = _FOLDER) -> int:
        """Return a descriptor.

        Raises:
            OSError: it is not there, or it or a folder around it is a link.
        """
        if not self.names:
            return os.open(self.root, flags)
        descriptor = os.open(self.root, _FOLDER)
        for name, how in zip(self.names, (*[_FOLDER] * (len(self.names) - 1), flags), strict=True):
            try:
                # Folder by folder from an open one: no link on the way is followed, also one that is made
                # meanwhile.
                below = os.open(name, how | os.O_NOFOLLOW, dir_fd=descriptor)
            finally:
                os.close(descriptor)
            descriptor = below
        return descriptor

    @contextmanager
    def entries(self) -> Iterator[Iterator[os.DirEntry[str]]]:
        """Open the folder and yield what is in it; their paths say nothing, their names lie below this.

        Raises:
            OSError: as `open`.
        """
        descriptor = self.open()
        try:
            with os.scandir(descriptor) as found:
                yield found
        finally:
            os.close(descriptor)

    def is_folder(self) -> bool:
        """Whether a folder is there, or a link leads to one."""
        return os.path.isdir(os.path.join(self.root, *self.names))
