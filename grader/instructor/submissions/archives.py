"""Archives of strangers, read in place and in bounded memory; nothing is ever unpacked to disk."""

from __future__ import annotations

import gzip
import io
import re
import stat
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from typing import IO, Any

from grader.catalogue import SUBMISSION_SUFFIXES
from grader.data_files import UnreadableSubmission
from grader.errors import EngineError
from grader.instructor.submissions.entry import ARROW, Entry, Reader, bounded, megabytes, open_file, too_large
from grader.instructor.submissions.names import archive_stem, foreign_archive
from grader.instructor.submissions.safe_path import SafePath

MAX_ENTRIES = 20_000
MAX_DIRECTORY = 4 << 20
"""Bytes of a zip's table of contents; it is read whole."""
MAX_HEADER = 1 << 20
"""Bytes of headers for one entry of a tar."""
MAX_NAME = 1024
MAX_DEPTH = 64
"""Characters and folders of an entry's name."""
MAX_UNPACKED = 1 << 30
"""What a zip may say that it holds; of this only what is needed is read."""
MAX_TAR = 256 << 20
"""What all the .tar.gz of a learner may hold together: each is unpacked once, into a nameless file, as it can only be
read from its beginning."""
RATIO = 200
RATIO_FROM = 64 << 20
"""A zip that claims to shrink more than 200 times, and to hold more than 64 MB, is a bomb."""
BULK = 50
"""The archive of a whole class may be that many times larger than one learner's."""

MAX_NESTED = 64 << 20
"""An archive inside an archive is read into memory."""

_CHUNK = 1 << 16
_FOREIGN = (
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"), (b"Rar!\x1a\x07", "a RAR archive"), (b"BZh", "compressed with bzip2"),
    (b"\xfd7zXZ\0", "compressed with xz"), (b"\x28\xb5\x2f\xfd", "compressed with zstd"),
)  # fmt: skip
"""How files begin that are not opened, and what they are."""


class UnpackingBudget:
    """What may still be unpacked into temporary files: one learner's share, for one learner is read at a time."""

    def __init__(self, scale: int = 1) -> None:
        self.whole = self.left = MAX_TAR * scale

    def take(self, size: int) -> None:
        """Note that so much is unpacked.

        Raises:
            UnreadableSubmission: it is too much, together with what was unpacked before.
        """
        self.left -= size
        if self.left < 0:
            raise UnreadableSubmission(
                f"unpacks to more than {megabytes(self.whole)}, the limit for all such archives together"
            )


def open_archive(
    source: SafePath | bytes, name: str, *, scale: int = 1, room: UnpackingBudget | None = None
) -> list[Entry]:
    """Return the files in the archive, in its order; the folder that lists one says where it lies.

    Args:
        source: a file, or the content of one.
        name: what it is called. The first bytes tell the kind, the ending only where they do not.
        scale: how many times larger than a learner's archive it may be.
        room: what it may be unpacked into, shared with others.

    Raises:
        UnreadableSubmission: corrupt, too large, a bomb, or no archive.
        EngineError: the temporary folder is full.
    """
    room = room or UnpackingBudget(scale)
    try:
        raw: IO[bytes] = io.BytesIO(source) if isinstance(source, bytes) else open_file(source)
        # What it is, its first bytes say: endings are what a learner's system made of them.
        head = raw.read(tarfile.BLOCKSIZE)
        raw.seek(0)
        return list(_kind(head, name)(raw, scale, room))
    except (UnreadableSubmission, EngineError):
        raise
    except PermissionError:
        raise UnreadableSubmission("cannot be read: permission denied") from None
    except Exception as error:
        # The parsers raise anything at all on hostile bytes; none of it is ours to show.
        raise UnreadableSubmission(
            f"is not a readable archive: damaged, cut short or of another kind ({_reason(error)})"
        ) from None


def opened(
    entry: Entry, limit: int = MAX_NESTED, *, scale: int = 1, room: UnpackingBudget | None = None
) -> Entry:
    """Return an archive as a folder.

    Args:
        entry: the archive.
        limit: how large it may be where it lies in another one.
        scale: as for `open_archive`.
        room: as for `open_archive`.

    Raises:
        UnreadableSubmission: it cannot be opened.
        EngineError: the temporary folder is full.
    """
    source = entry.spot if entry.spot is not None else entry.read(limit)
    files = open_archive(source, entry.name, scale=scale, room=room)
    return Entry(entry.name, f"{entry.label}{ARROW}", "folder", tuple(files))


def _kind(head: bytes, name: str) -> Callable[[IO[bytes], int, UnpackingBudget], Iterator[Entry]]:
    """Return what reads an archive that begins so: people rename archives, and systems do."""
    for magic, what in _FOREIGN:
        if head.startswith(magic):
            raise UnreadableSubmission(
                f"is {what}, which is not opened here: unpack it, and pack it again as a .zip"
            )
    if head.startswith((b"PK\3\4", b"PK\5\6")):
        return _zip
    if head.startswith(b"\x1f\x8b") or head[257:262] == b"ustar":
        return _tar
    if foreign_archive(name) is not None:
        raise UnreadableSubmission("is an archive of an unsupported kind: hand in a .zip or .tar.gz")
    if archive_stem(name) is None:
        raise UnreadableSubmission("is neither a folder nor an archive")
    return _tar if name.casefold().endswith((".tar", ".tar.gz", ".tgz")) else _zip


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return (str(error) or type(error).__name__)[:120]


class _Guard(io.RawIOBase):
    """A file whose reader may ask for so much and no more: parsers believe the lengths that they find."""

    def __init__(self, raw: IO[bytes], budget: int) -> None:
        self.raw = raw
        self.budget = budget
        self.size = raw.seek(0, io.SEEK_END)
        raw.seek(0)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self.raw.seek(offset, whence)

    def tell(self) -> int:
        return self.raw.tell()

    def read(self, size: int = -1) -> bytes:
        rest = max(self.size - self.raw.tell(), 0)
        wanted = rest if size is None or size < 0 else min(size, rest)
        self.budget -= wanted
        if self.budget < 0:
            raise UnreadableSubmission("has a table of contents that is too large")
        return self.raw.read(wanted)

    def close(self) -> None:
        self.raw.close()
        super().close()


def _zip(raw: IO[bytes], scale: int, _room: UnpackingBudget) -> Iterator[Entry]:
    # zipfile reads the whole directory at once, however large it says it is: here the bytes are counted.
    guard = _Guard(raw, (MAX_DIRECTORY + (1 << 18)) * scale)
    archive = zipfile.ZipFile(guard)
    guard.budget = 1 << 62  # from here on, the reads are ours
    infos = archive.infolist()
    if len(infos) > MAX_ENTRIES * scale:
        raise UnreadableSubmission(f"holds {len(infos)} entries; at most {MAX_ENTRIES * scale} are read")
    total = sum(info.file_size for info in infos)
    packed = sum(info.compress_size for info in infos)
    if total > MAX_UNPACKED * scale:
        raise UnreadableSubmission(
            f"would unpack to {megabytes(total)}; at most {megabytes(MAX_UNPACKED * scale)} is unpacked"
        )
    # Small archives may be as dense as they like: a file of zeros is not an attack.
    if total > RATIO_FROM * scale and total > RATIO * packed:
        raise UnreadableSubmission(
            f"would unpack to {megabytes(total)}, {total // max(packed, 1)} times its size: a zip bomb"
        )
    # A backslash in a name is a folder for Windows' own zips, and a letter like others elsewhere.
    windows = scale == 1 or _windows([info.filename for info in infos])
    for info in infos:
        name = _zip_name(info)
        if name.endswith(("/", "\\") if windows else "/"):
            continue
        path, problem = _safe(name, windows=windows)
        mode = info.external_attr >> 16
        if stat.S_ISLNK(mode):
            problem = "is a link; links are not followed"
        elif stat.S_IFMT(mode) not in {0, stat.S_IFREG}:
            problem = "is not a regular file"
        elif info.flag_bits & 0x1:
            problem = "is encrypted: hand it in without a password"
        elif info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
            # The others cannot be unpacked a piece at a time.
            problem = "is compressed in an unusual way: make the zip with the usual settings"
        yield Entry(path[-1], "", problem, _zip_reader(archive, info), info.file_size, path)


def _zip_name(info: zipfile.ZipInfo) -> str:
    if info.flag_bits & 0x800:
        return info.filename
    try:
        # Many programs write UTF-8 and forget to say so.
        return info.filename.encode("cp437").decode("utf-8")
    except ValueError:
        return info.filename


def _zip_reader(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Reader:
    def read(limit: int) -> bytes:
        if info.file_size > limit:
            raise too_large(info.file_size, limit)
        try:
            with archive.open(info) as file:
                return bounded(file, limit)
        except UnreadableSubmission:
            raise
        except Exception as error:
            raise UnreadableSubmission(f"is damaged in its archive ({_reason(error)})") from None

    return read


def _tar(raw: IO[bytes], scale: int, room: UnpackingBudget) -> Iterator[Entry]:
    if raw.read(2) == b"\x1f\x8b":
        raw = _unpacked(raw, room)
    guard = _Guard(raw, MAX_HEADER)
    archive: Any = tarfile.TarFile(fileobj=guard, mode="r", errors="surrogateescape")
    count = 0
    while True:
        guard.budget = MAX_HEADER
        info: tarfile.TarInfo | None = archive.next()
        if info is None:
            break
        archive.members = []  # else it keeps every one
        count += 1
        if count > MAX_ENTRIES * scale:
            raise UnreadableSubmission(f"holds more than {MAX_ENTRIES * scale} entries")
        if info.isdir():
            continue
        path, problem = _safe(info.name, windows=scale == 1)
        if info.issym() or info.islnk():
            problem = "is a link; links are not followed"
        elif info.issparse():
            problem = "is a sparse file; hand in a regular one"
        elif not info.isreg() or info.size < 0:
            problem = "is not a regular file"
        read = _tar_reader(guard, info.offset_data, info.size)
        yield Entry(path[-1], "", problem, read, info.size, path)
    guard.budget = MAX_HEADER
    # tarfile ends quietly at an entry that it cannot read, as if the archive were over.
    guard.seek(archive.offset)
    if guard.read(tarfile.BLOCKSIZE).strip(b"\0"):
        raise UnreadableSubmission("is damaged or cut short: an entry in it cannot be read")


def _unpacked(raw: IO[bytes], room: UnpackingBudget) -> IO[bytes]:
    """Return the plain tar in a nameless file: small ones stay in memory."""
    raw.seek(0)
    plain: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=8 << 20)  # noqa: SIM115  # lives as long as its members
    whole = False
    try:
        with gzip.GzipFile(fileobj=raw) as stream:
            while chunk := stream.read(_CHUNK):
                room.take(len(chunk))
                _write(plain, chunk)
        whole = True
    finally:
        if not whole:
            plain.close()
    return plain


def _write(plain: IO[bytes], chunk: bytes) -> None:
    try:
        plain.write(chunk)
    except OSError as error:  # the machine's fault, and nobody's work is to be called damaged for it
        raise EngineError(
            f"An archive cannot be unpacked ({error.strerror or error}).",
            f"Free some space in {tempfile.gettempdir()}, or name another folder in TMPDIR.",
        ) from error


def _tar_reader(guard: _Guard, offset: int, size: int) -> Reader:
    def read(limit: int) -> bytes:
        if size > limit:
            raise too_large(size, limit)
        # As much as the header announced and a byte: a longer one is damaged, or lies.
        guard.budget = size + 1
        try:
            guard.seek(offset)
            data = guard.read(size)
        except OSError as error:
            raise UnreadableSubmission(f"is damaged in its archive ({_reason(error)})") from None
        if len(data) < size:
            raise UnreadableSubmission("is cut short in its archive")
        return data

    return read


def _windows(names: list[str]) -> bool:
    """Whether the folders of a whole class are written with backslashes, as some Windows programs do."""
    handed_in = [
        name for name in names if name.casefold().endswith(SUBMISSION_SUFFIXES) or archive_stem(name)
    ]
    # In a system's download a backslash is the learner's, and must not make a folder of a file's name, however
    # many files one learner calls so: a single answer without one says that folders are not written like this.
    plain = any("\\" not in name for name in handed_in or names)
    return not any("/" in name for name in names) and not plain


def _safe(name: str, *, windows: bool) -> tuple[tuple[str, ...], str]:
    """Return the name as parts that stay inside, and what is wrong with it, if anything is."""
    if len(name) > MAX_NAME:
        return (re.split(r"[/\\]", name[-80:])[-1] or "unnamed",), f"has a name of {len(name)} characters"
    # Learners' archives come from Windows too; in a system's own, a backslash is part of a name.
    path = name.replace("\\", "/") if windows else name
    raw = path.split("/")
    # Nothing is ever written by these names; they are shown, and must not show as something outside.
    parts = tuple(part for part in raw if part not in {"", ".", ".."}) or ("unnamed",)
    if len(parts) > MAX_DEPTH:
        return parts[-1:], f"is {len(parts)} folders deep in its archive"
    if path.startswith("/") or ".." in raw or (len(raw[0]) == 2 and raw[0][1] == ":" and raw[0][0].isalpha()):
        return parts, f"is called {name[:120]!r} in its archive, a name that leads out of it"
    return parts, ""
