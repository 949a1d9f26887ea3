"""The folder that pages go into: never somebody else's, never with half a page."""

from __future__ import annotations

import hashlib
import hmac
import re
import unicodedata
from pathlib import Path

from grader.data_files import read_bounded
from grader.errors import EngineError, UsageError
from grader.files import write_atomic

MARK = ".kata-report"
WORDS = "`kata report` replaces and removes its own pages in this folder, and nothing else.\n"
READABLE = 40
"""Letters of a learner's identity that a file name repeats."""
_OTHER = re.compile(r"[^a-z0-9]+")
_OURS = re.compile(r"[a-z0-9-]+-[0-9a-f]{32}\.(html|md)")
"""What `file_stem` makes: nobody else calls a file so."""


class Folder:
    """A report's folder. Every file is whole from the moment it has its name."""

    def __init__(self, root: Path) -> None:
        """Take over a folder that is new, empty or an earlier report's.

        Raises:
            UsageError: it holds something else, or is a file.
            EngineError: it cannot be read or written.
        """
        self._root = root
        self._now: set[Path] = set()
        try:
            if not root.is_dir() and (root.exists() or root.is_symlink()):
                raise UsageError(f"{root} is a file.", "Name a folder: kata report --out FOLDER")
            # `finish` removes what an earlier report wrote: in another folder that could be anything.
            if root.is_dir() and not (root / MARK).is_file() and any(root.iterdir()):
                raise UsageError(
                    f"{root} holds other files; a report would get mixed up with them.",
                    "Name another folder, one that does not exist yet: kata report --out FOLDER",
                )
        except OSError as error:
            raise EngineError(f"{root}: cannot be read ({error}).") from error
        write_atomic(root / MARK, WORDS)

    def write(self, name: str, text: str) -> None:
        """Write a file.

        One that is there already, letter by letter, is left as it is: most of a class has not changed since last time.
        """
        file, data = self._root / name, text.encode()
        self._now.add(file)
        try:
            # No further than it could be equal.
            same = read_bounded(file, len(data)) == data
        except (OSError, ValueError):
            same = False
        if not same:
            write_atomic(file, text)

    def finish(self) -> None:
        """Remove what an earlier report wrote and this one did not, in the folders that this one wrote into."""
        for folder in {file.parent for file in self._now} - {self._root}:
            for file in folder.iterdir():
                if file not in self._now and _OURS.fullmatch(file.name):
                    file.unlink(missing_ok=True)


def file_stem(learner: str, secret: bytes = b"") -> str:
    """Return a file name without suffix for a learner's identity.

    It is made of small letters, digits and hyphens alone, is at most 73 characters long, and ends in 128 bits of the
    identity's SHA-256, so that what looks alike (`Ada`, `ada`, `a/da`) still has a file of its own; with a secret, of
    an HMAC under it, so that no classmate can compute where somebody's feedback lies.

    >>> file_stem("../Zoë")
    'zoe-8840d1f49662e9e8074fdc9974c5f4a4'
    """
    name = learner.encode("utf-8", "surrogatepass")
    # Prefixed, since the same secret makes other things as well.
    made = hmac.new(secret, b"pages of " + name, hashlib.sha256) if secret else hashlib.sha256(name)
    digest = made.hexdigest()[:32]
    plain = unicodedata.normalize("NFKD", learner[: 4 * READABLE]).encode("ascii", "ignore").decode().lower()
    readable = _OTHER.sub("-", plain)[:READABLE].strip("-")
    return f"{readable or 'learner'}-{digest}"
