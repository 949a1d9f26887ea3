"""The folder that pages go into: known by a list of its own, never somebody else's, never with half a page."""

from __future__ import annotations

import hashlib
import hmac
import re
import unicodedata
from pathlib import Path

from grader.errors import EngineError, UsageError
from grader.files import read_bounded, write_atomic

LIST = ".kata-report"
HEAD = "# Files written by `kata report`. It replaces and removes these, and no others."
LIMIT_BYTES = 64 << 20
READABLE = 40
"""Letters of a learner's identity that a file name repeats."""
_OTHER = re.compile(r"[^a-z0-9]+")


class Folder:
    """A report's folder. Every file is whole from the moment it has its name."""

    def __init__(self, root: Path) -> None:
        """Take over a folder that is new, empty or an earlier report's.

        Raises:
            UsageError: it holds something else, or is a file.
            EngineError: it cannot be read or written.
        """
        self._root = root
        self._before = self._listed()
        self._now: dict[str, None] = {}
        write_atomic(root / LIST, self._list(self._before))

    def write(self, name: str, text: str) -> None:
        """Write a file; it is on the list before it exists, so that an interrupted run leaves nothing unknown.

        One that is there already, letter by letter, is left as it is: most of a class has not changed since last time.
        """
        self._now[name] = None
        if name in self._before and self._holds(name, text.encode()):
            return
        if name not in self._before:
            try:
                with (self._root / LIST).open("a", encoding="utf-8") as file:
                    file.write(name + "\n")
            except OSError as error:
                raise EngineError(f"{self._root / LIST}: cannot be written ({error.strerror}).") from error
        write_atomic(self._root / name, text)

    def finish(self, keep: tuple[str, ...] = ()) -> None:
        """Remove what an earlier report wrote and this one did not.

        Args:
            keep: beginnings of names that stay, because this run left that part alone.
        """
        kept = dict(self._now)
        for name in self._before:
            if name in kept:
                continue
            if name.startswith(keep):
                kept[name] = None
            else:
                (self._root / name).unlink(missing_ok=True)
        write_atomic(self._root / LIST, self._list(kept))

    def _holds(self, name: str, data: bytes) -> bool:
        try:
            return read_bounded(self._root / name, len(data)) == data
        except (OSError, ValueError):
            return False

    def _listed(self) -> dict[str, None]:
        try:
            if not self._root.is_dir():
                if self._root.exists() or self._root.is_symlink():
                    raise UsageError(f"{self._root} is a file.", "Name a folder: kata report --out FOLDER")
                return {}
            if not (self._root / LIST).is_file():
                if any(self._root.iterdir()):
                    raise UsageError(
                        f"{self._root} holds other files; a report would get mixed up with them.",
                        "Name another folder, one that does not exist yet: kata report --out FOLDER",
                    )
                return {}
            lines = read_bounded(self._root / LIST, LIMIT_BYTES).decode("utf-8").split("\n")
        except (OSError, ValueError) as error:
            raise EngineError(f"{self._root}: cannot be read ({error}).") from error
        # Only plain names below the folder are ever removed, whatever somebody wrote into the list.
        return {line: None for line in lines if line and not line.startswith("#") and _is_below(line)}

    @staticmethod
    def _list(names: dict[str, None]) -> str:
        return "\n".join([HEAD, *sorted(names)]) + "\n"


def _is_below(name: str) -> bool:
    return not name.startswith("/") and ".." not in name.split("/") and name.count("/") <= 1


def file_stem(learner: str, secret: bytes = b"") -> str:
    """Return a file name without suffix for a learner's identity.

    It is made of small letters, digits and hyphens alone, is at most 73 characters long, and ends in 128 bits of the
    identity's SHA-256, so that what looks alike (`Ada`, `ada`, `a/da`) still has a file of its own; with a secret, of
    an HMAC under it, so that no classmate can compute where somebody's feedback lies.

    >>> file_stem("../Zoë")
    'zoe-8840d1f49662e9e8074fdc9974c5f4a4'
    """
    name = learner.encode("utf-8", "surrogatepass")
    made = hmac.new(secret, b"pages of " + name, hashlib.sha256) if secret else hashlib.sha256(name)
    digest = made.hexdigest()[:32]
    plain = unicodedata.normalize("NFKD", learner[: 4 * READABLE]).encode("ascii", "ignore").decode().lower()
    readable = _OTHER.sub("-", plain)[:READABLE].strip("-")
    return f"{readable or 'learner'}-{digest}"
