"""Writing that cannot lose a learner's work: atomic, and never through a link that leads elsewhere."""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from grader.errors import EngineError, UsageError


def write_atomic(path: Path, data: bytes | str) -> None:
    """Replace `path` whole or not at all; the old content survives a full disk or a crash.

    Raises:
        EngineError: the file system refused (full, read-only, no permission).
    """
    with atomic_open(path) as file:
        file.write(data.encode("utf-8") if isinstance(data, str) else data)


def users_folder(variable: str, otherwise: str) -> Path:
    """Return a folder of the user's own: what an environment's variable names, else one below the home.

    Raises:
        UsageError: there is neither, as for a user of a container that has no name.
    """
    named = os.environ.get(variable, "")
    # The specification ignores relative paths: they would depend on where a command runs.
    if os.path.isabs(named):
        return Path(named)
    try:
        return Path.home() / otherwise
    except RuntimeError as error:
        raise UsageError(
            "This user has no home folder.", f"Say where: {variable}=FOLDER, or HOME=FOLDER."
        ) from error


@contextmanager
def atomic_open(path: Path) -> Iterator[BinaryIO]:
    """Open a file that takes the place of `path` when the block ends well, and vanishes when it does not.

    Raises:
        EngineError: as `write_atomic`.
    """
    temporary: str | None = None
    try:
        # A device or a pipe is written to as it is: /dev/null must not become a file.
        if path.exists() and not (path.is_file() or path.is_dir()):
            with path.open("wb") as file:
                yield file
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        # In the same folder: a rename is atomic within one file system only. The name is cut, since 255
        # bytes is what file systems allow.
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name[:50]}.", dir=path.parent)
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            # Before the rename: after a power cut the new name could otherwise be there with nothing in it.
            os.fsync(file.fileno())
        # `mkstemp` makes files for the owner alone; others could no longer read what they could read
        # before.
        mask = os.umask(0)
        os.umask(mask)
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~mask
        os.chmod(temporary, mode)
        os.replace(temporary, path)
        temporary = None
    except OSError as error:
        raise EngineError(
            f"{path}: cannot be written ({error.strerror or error}).",
            "What was there before is unchanged. Free some space or mend the permissions, then try again.",
        ) from error
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


EARLIEST = (1980, 1, 1, 0, 0, 0)
"""What an archive says of every file's time: the same contents make the same bytes."""


def write_zip(path: Path, parts: Mapping[str, bytes | Path], *, programs: Collection[str] = ()) -> None:
    """Write an archive, whole or not at all, of bytes and files by their names in it; `programs` may be executed.

    Raises:
        EngineError: as `write_atomic`.
    """
    with atomic_open(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name, part in parts.items():
            # One time for all entries, so that equal contents give equal archives.
            entry = zipfile.ZipInfo(name, EARLIEST)
            entry.external_attr = (0o755 if name in programs else 0o644) << 16
            # A wheel is compressed already.
            packed = zipfile.ZIP_STORED if name.endswith(".whl") else zipfile.ZIP_DEFLATED
            archive.writestr(entry, part.read_bytes() if isinstance(part, Path) else part, packed)


def create_new(path: Path, data: bytes | str, root: Path) -> bool:
    """Write `path`, below the folder `root`, only if nothing is there; return whether it was written.

    Raises:
        UsageError: a folder on the way is a link that leads out of `root`.
        EngineError: as `write_atomic`.
    """
    # A link that leads nowhere is something as well: writing would create what it points to.
    if os.path.lexists(path):
        return False
    write_atomic(within(path, root), data)
    return True


def within(path: Path, root: Path) -> Path:
    """Return `path`, which lies below the folder `root`: also where its links lead.

    The folder's author may have put links into it: nothing is to be written or read through those elsewhere.

    Raises:
        UsageError: it leads out of `root`.
    """
    # Both sides resolved: the root may itself be reached by a link.
    leads_to = os.path.realpath(path)
    if not Path(leads_to).is_relative_to(os.path.realpath(root)):
        raise UsageError(f"{path} leads out of {root}, to {leads_to}.", "Move the link away, then try again.")
    return path
