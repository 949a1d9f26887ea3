"""Reading: files of others up to a limit, and data against its types; errors name file, key and what is allowed."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import tomllib
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import msgspec

from grader.errors import KataError, PackError, did_you_mean

LIMIT_BYTES = 1_000_000
LIMIT_TOML = 200_000
"""Of a file that is parsed in Python: a course of a thousand exceptions has 60 KB."""

Data = TypeVar("Data", bound=msgspec.Struct)

_AT = re.compile(r"(?P<problem>.*) - at `\$\.?(?P<key>.*)`", re.DOTALL)
_KEY = re.compile(r".* - at `key` in `\$\.?(?P<table>.*)`", re.DOTALL)
_TEXT = re.compile(
    r'"""(?:[^"\\]++|\\.|"(?!""))*+(?:""")?'
    r"|\'\'\'(?:[^\']++|\'(?!\'\'))*+(?:\'\'\')?"
    r'|"(?:[^"\\\n]++|\\.)*+"?|\'[^\'\n]*+\'?|#[^\n]*+',
    re.DOTALL,
)
"""What in TOML is a text or a comment; one that never ends goes on to the end, so that nothing is looked at twice."""
_DEEP_KEY = re.compile(r"(?<![\w-])[\w-]++(?:[ \t]*+\.[ \t]*+[\w-]++){8}")
"""A key of more parts than any of ours has: `tomllib` takes a time that grows with their square."""
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<name>.*)`")
_MISSING = re.compile(r"Object missing required field `(?P<name>.*)`")

READING = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
"""How to open what others wrote: it may be a pipe, whose reader would wait for ever for somebody who writes."""
_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class UnreadableSubmission(Exception):
    """Raised where a file or an archive of a learner's is not read; the message says why, as the end of `NAME …`."""


class NotRegularError(OSError):
    """It is there and can be opened, but is not a file that holds something."""


def regular_file(descriptor: int) -> BinaryIO:
    """Return an open file to read from.

    Args:
        descriptor: opened with `READING`; closed where it is refused.

    Raises:
        NotRegularError: it is a pipe, a socket, a device.
        IsADirectoryError: it is a folder.
    """
    # Of what is open, not of the path: that could be something else by now.
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    kind = _KINDS.get(stat.S_IFMT(mode), "something else")
    raise NotRegularError(errno.EINVAL, f"it is {kind}, and a file was expected")


def read_bounded(path: Path, limit: int) -> bytes:
    """Read at most `limit` bytes; one more is an error rather than a silent cut.

    Raises:
        ValueError: the file is larger than `limit`.
        OSError: it cannot be read.
    """
    with regular_file(os.open(path, READING)) as file:
        # Not by its size: a file may grow while it is read.
        data = file.read(limit + 1)
    if len(data) > limit:
        raise ValueError(f"it is larger than {limit} bytes")
    return data


def read_bytes(
    path: Path,
    limit: int = LIMIT_BYTES,
    *,
    what: str = "",
    refuse: type[KataError] = PackError,
    hint: str | None = None,
) -> bytes:
    """Read a file whole.

    Args:
        path: the file.
        limit: what is larger is refused.
        what: how the error calls it, such as "the hints".
        refuse: the error's kind.
        hint: the error's hint.

    Raises:
        KataError: of the kind `refuse`: it is absent, too large, or cannot be read.
    """
    try:
        return read_bounded(path, limit)
    except FileNotFoundError as error:
        raise refuse(f"{path}: this file is missing.", hint) from error
    except (OSError, ValueError) as error:
        reason = error.strerror or error if isinstance(error, OSError) else error
        refusal = f"{what} cannot" if what else "cannot"
        raise refuse(f"{path}: {refusal} be read ({reason}).", hint) from error


def read_text(
    path: Path,
    limit: int = LIMIT_BYTES,
    *,
    what: str = "",
    refuse: type[KataError] = PackError,
    hint: str | None = None,
) -> str:
    """Read a file as UTF-8, whatever editor wrote it; arguments and errors as `read_bytes`."""
    try:
        # Editors on Windows put a byte order mark before UTF-8, which no parser of ours would know.
        return read_bytes(path, limit, what=what, refuse=refuse, hint=hint).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise refuse(f"{path}: not UTF-8 (byte {error.start}); save it as UTF-8.", hint) from error


def read_data(path: Path, kind: type[Data], refuse: type[KataError] = PackError) -> Data:
    """Read the TOML or JSON file at `path` as `kind`.

    Raises:
        KataError: of the kind `refuse`: as `read_text`, or it is not valid TOML or JSON, or breaks the type.
    """
    try:
        return msgspec.convert(read_document(path, refuse)[1], kind)
    except msgspec.ValidationError as error:
        raise refuse(f"{path}: {_explained(str(error), kind)}") from error


def read_document(path: Path, refuse: type[KataError] = PackError) -> tuple[str, dict[str, Any]]:
    """Read the TOML or JSON file at `path`; return its text, and what it says.

    Raises:
        KataError: of the kind `refuse`: as `read_text`, or it is not valid TOML or JSON.
    """
    text = read_text(path, LIMIT_BYTES if path.suffix == ".json" else LIMIT_TOML, refuse=refuse)
    # tomllib recurses into a key's parts: a key of a thousand would end Python instead of the reading.
    if path.suffix != ".json" and (deep := _DEEP_KEY.search(_TEXT.sub("_", text))):
        raise refuse(f"{path}: the key `{deep[0][:60]}…` has too many parts; at most 8 are read.")
    try:
        return text, json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"at line (\d+)", str(error))
        line = text.split("\n")[int(at[1]) - 1].strip()[:80] if at else ""
        raise refuse(f"{path}: not valid TOML: {error}.{line and f' The line is: {line}'}") from error
    except (ValueError, RecursionError) as error:
        raise refuse(f"{path}: cannot be read ({error}).") from error


def _explained(message: str, kind: type[msgspec.Struct]) -> str:
    """Turn msgspec's message about a breach of `kind` into the key and what is allowed."""
    name = _KEY.fullmatch(message)
    if name is not None:
        named = getattr(_unwrap(_walk(kind, name["table"])), "key_type", None)
        return f"a key of `{name['table']}` must be {_words(named)}."
    at = _AT.fullmatch(message)
    problem, key = (at["problem"], at["key"]) if at else (message, "")
    fields = _fields(kind, key)
    missing = _MISSING.fullmatch(problem)
    if missing is not None:
        absent = _join(key, missing["name"])
        return f"the key `{absent}` is missing ({_allowed(kind, absent)})."
    unknown = _UNKNOWN.fullmatch(problem)
    if unknown is not None:
        guess = did_you_mean(unknown["name"], {field: f"`{field}`" for field in fields}, most=1)
        return f"the key `{_join(key, unknown['name'])}` is not known.{guess} Allowed: {', '.join(fields)}."
    if problem.startswith("Invalid enum value"):
        return f"`{key}` must be one of: {', '.join(map(str, getattr(_walk(kind, key), 'values', ())))}."
    if "matching regex" in problem:
        return f"`{key}` must be {_allowed(kind, key)}."
    return f"`{key}`: {problem[:1].lower()}{problem[1:]}."


def _join(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name


def _fields(kind: type[msgspec.Struct], key: str) -> list[str]:
    described = _walk(kind, key)
    return [field.encode_name for field in described.fields] if hasattr(described, "fields") else []


def _allowed(kind: type[msgspec.Struct], key: str) -> str:
    """Say in words what the type at `key` allows."""
    return _words(_walk(kind, key))


def _words(described: Any) -> str:
    words: dict[str, Any] = getattr(described, "extra_json_schema", None) or {}
    if "description" in words:
        return str(words["description"])
    names = {
        "StrType": "a sentence",
        "FloatType": "a number",
        "IntType": "a whole number",
        "VarTupleType": "a list",
        "StructType": "a table",
    }
    return names.get(type(described).__name__, "see the authors' guide")


def _walk(kind: type[msgspec.Struct], key: str) -> Any:
    """Return msgspec's description of the type at a path such as `policy.forbid[0]`."""
    import msgspec.inspect

    described: Any = msgspec.inspect.type_info(kind)
    for step in re.findall(r"[^.\[\]]+|\[[^\]]*\]", key):
        described = _unwrap(described)
        if step.startswith("["):
            described = getattr(described, "item_type", getattr(described, "value_type", described))
        else:
            described = next(
                (f.type for f in getattr(described, "fields", ()) if f.encode_name == step), described
            )
    if type(described).__name__ == "UnionType":
        described = described.types[0]
    return described


def _unwrap(described: Any) -> Any:
    if type(described).__name__ == "Metadata" and (
        hasattr(described.type, "item_type") or hasattr(described.type, "value_type")
    ):
        return described.type
    return described
