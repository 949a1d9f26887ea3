"""Every JSON that leaves the program: characters that a terminal or an editor would obey stand as escapes.

What it means stays the same: `\\u009b` in JSON is the character. A report quotes what a submission printed and raised,
and JSON escapes by itself no more than the control characters of ASCII.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from grader.words import hidden


def json_text(value: Any, *, indent: int = -1) -> str:
    """Return anything that msgspec knows as JSON: on one line without `indent`, else with so many blanks a level."""
    encoded = encode(value)
    if indent >= 0:
        encoded = msgspec.json.format(encoded, indent=indent)
    text = encoded.decode()
    # Between its strings JSON has none of these but line feeds.
    return text.translate({ord(letter): _escape(letter) for letter in hidden(text).difference("\n")})


def _escape(letter: str) -> str:
    """Return a letter as JSON escapes it: one unit of UTF-16, or a pair."""
    units = letter.encode("utf-16-be").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))


def encode(value: Any) -> bytes:
    """Return anything that msgspec knows as JSON, as it is; half characters stand as the text of their escape."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:  # from a file's name or a submission's print
        return msgspec.json.encode(escape_surrogates(msgspec.to_builtins(value)))


def escape_surrogates(value: Any) -> Any:
    """Return plain data in which half characters, which UTF-8 does not have, are the text of their escape."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, Mapping):
        return {escape_surrogates(name): escape_surrogates(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [escape_surrogates(item) for item in value]
    return value
