"""File handling that cannot lose a learner's work: atomic writes and bounded reads."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from grader.errors import EngineError


def write_atomic(path: Path, data: bytes | str) -> None:
    """Replace `path` whole or not at all; the old content survives a full disk or a crash.

    Raises:
        EngineError: the file system refused (full, read-only, no permission).
    """
    payload = data.encode("utf-8") if isinstance(data, str) else data
    temporary: str | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(descriptor, "wb") as file:
            file.write(payload)
            file.flush()
            os.fsync(file.fileno())
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise EngineError(
            f"{path}: cannot be written ({error.strerror or error}).",
            "What was there before is unchanged. Free some space or mend the permissions, then try again.",
        ) from error


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
        raise ValueError(f"{path} is larger than {limit} bytes")
    return data


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
