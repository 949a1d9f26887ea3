"""Nouns and numbers in sentences, numbers that people type, and letters that nobody sees."""

from __future__ import annotations

import re
import shlex
import unicodedata

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINERS = "\u200c\u200d"
"""Emoji and several scripts need them."""
_FILLERS = "\u115f\u1160\u3164\uffa0"
"""Letters of Hangul without a shape."""


def plural(noun: str) -> str:
    """Return the noun for several.

    >>> plural("file"), plural("query"), plural("batch"), plural("axis 1")
    ('files', 'queries', 'batches', 'axis 1')
    """
    *before, last = noun.split(" ")
    if not last.replace("-", "").isalpha():
        return noun
    if last[-1] == "y" and last[-2:-1] not in "aeiou":
        last = last[:-1] + "ies"
    else:
        last += "es" if last.endswith(("s", "x", "z", "ch", "sh")) else "s"
    return " ".join([*before, last])


def counted(count: float, noun: str) -> str:
    """Return so many of them.

    >>> counted(1, "check"), counted(0, "written answer"), counted(2.5, "day")
    ('1 check', '0 written answers', '2.5 days')
    """
    return f"{count:g} {noun if count == 1 else plural(noun)}"


def hours(minutes: float) -> str:
    """Return minutes as people say them.

    >>> hours(55), hours(120), hours(610)
    ('55 min', '2 h', '10 h 10 min')
    """
    whole, rest = divmod(round(minutes), 60)
    return " ".join([*([f"{whole} h"] if whole else []), *([f"{rest} min"] if rest or not whole else [])])


def whole_number(text: str) -> int | None:
    """Return the whole number that a text of at most nine digits is; None for anything else.

    `str.isdigit` accepts what `int` refuses.

    >>> whole_number("12"), whole_number("-1"), whole_number("²"), whole_number("9" * 5000)
    (12, None, None, None)
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else None


def typed_number(text: str) -> float | None:
    """Return the number that a person typed in digits; None for anything else.

    `float` reads 1_5 as 15, and takes exponents, nan and the digits of every script.

    >>> typed_number("2"), typed_number(" +.5"), typed_number("-1.5"), typed_number("1_5"), typed_number("1e3")
    (2.0, 0.5, -1.5, None, None)
    """
    word = text.strip().replace("\N{MINUS SIGN}", "-")
    return float(word) if re.fullmatch(r"[-+]?(\d{1,12}\.?\d*|\.\d+)", word, re.ASCII) else None


def typed_name(name: str) -> str:
    """Return a name as an argument that a shell and `kata gradebook` take back, whatever it begins with.

    >>> typed_name("ada"), typed_name("Jo R."), typed_name("--help")
    ('ada', "'Jo R.'", '-- --help')
    """
    return "-- " * name.startswith("-") + shlex.quote(name)


def printable(text: str, keep: str = "") -> str:
    """Return a text with whatever hides, reorders or cannot be encoded written out: `\\u202e`, `\\x1b`, `\\udcff`.

    >>> printable("a\\x1b[2J\\n"), printable("a\\n", keep="\\n")
    ('a\\\\x1b[2J\\\\n', 'a\\n')
    """
    if text.isascii() and text.isprintable():
        return text
    return text.translate({ord(letter): ascii(letter)[1:-1] for letter in hidden(text).difference(keep)})


def hidden(text: str) -> set[str]:
    """Return the letters of a text that nobody sees as they are, by their Unicode category."""
    return {
        letter
        for letter in set(text)
        if letter in _FILLERS or (unicodedata.category(letter) in _HIDDEN and letter not in _JOINERS)
    }
