"""File handling that cannot lose a learner's work: atomic writes and bounded reads."""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from grader.errors import EngineError


def write_atomic(path: Path, data: bytes | str) -> None:
    """Replace `path` whole or not at all; the old content survives a full disk or a crash.

    Raises:
        EngineError: the file system refused (full, read-only, no permission).
    """
    with replacing(path) as file:
        file.write(data.encode("utf-8") if isinstance(data, str) else data)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a file that takes the place of `path` when the block ends well, and vanishes when it does not.

    A device or a pipe is written to as it is: /dev/null must not become a file.

    Raises:
        EngineError: as `write_atomic`.
    """
    temporary: str | None = None
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            with path.open("wb") as file:
                yield file
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name[:50]}.", dir=path.parent)
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
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
    with replacing(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name, part in parts.items():
            entry = zipfile.ZipInfo(name, EARLIEST)
            entry.external_attr = (0o755 if name in programs else 0o644) << 16
            packed = zipfile.ZIP_STORED if name.endswith(".whl") else zipfile.ZIP_DEFLATED
            archive.writestr(entry, part.read_bytes() if isinstance(part, Path) else part, packed)


def create_new(path: Path, data: bytes | str) -> bool:
    """Write `path` only if nothing is there; return whether it was written."""
    if path.exists() or path.is_symlink():
        return False
    write_atomic(path, data)
    return True


def read_bounded(path: Path, limit: int) -> bytes:
    """Read at most `limit` bytes; one more is an error rather than a silent cut.

    Raises:
        ValueError: the file is larger than `limit`.
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise ValueError(f"it is larger than {limit} bytes")
    return data


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
