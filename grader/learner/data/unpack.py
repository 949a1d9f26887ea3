"""Take the named files out of an archive, and make one format of them; nothing in it is run."""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np

from grader.errors import EngineError, PackError
from grader.learner.data.archive import Archive
from grader.learner.data.fetch import CHUNK, Progress

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
