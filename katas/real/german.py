"""Numbers and dates in German words: siebenundvierzig is seven and forty, and a day comes before its year."""

from __future__ import annotations

from datetime import date

ONES = ["null", "ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwölf",
        "dreizehn", "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn"]  # fmt: skip
TENS = ["", "", "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"]
PARTS = [*ONES, *TENS[2:], "eins", "und", "hundert", "tausend"]
"""All that the words of numbers below a million are made of."""
MONTHS = ["januar", "februar", "märz", "april", "mai", "juni", "juli", "august", "september", "oktober", "november",
          "dezember"]  # fmt: skip
IRREGULAR = {1: "erst", 3: "dritt", 7: "siebt", 8: "acht"}
ASKED = (47, 1, 21_304, 600_093, 999_999, 70_017)
"""Numbers that runs ask for: ones before tens, zeros between, the shortest and the longest."""


def parts(number: int, last: bool = True) -> list[str]:
    """Return the parts of a number's word; of those, only `eins` has a form of its own at the end."""
    if number >= 1000:
        rest = parts(number % 1000) if number % 1000 else []
        return [*parts(number // 1000, last=False), "tausend", *rest]
    if number >= 100:
        return [ONES[number // 100], "hundert", *(parts(number % 100, last) if number % 100 else [])]
    if number >= 20:
        ten = TENS[number // 10]
        return [ONES[number % 10], "und", ten] if number % 10 else [ten]
    return ["eins" if number == 1 and last else ONES[number]]


def spoken(number: int) -> str:
    """Return a number as one word."""
    return "".join(parts(number))


def spoken_date(day: date) -> str:
    """Return a date in three words: third of May, nineteen hundred seventy-five."""
    stem = IRREGULAR.get(day.day) or spoken(day.day) + ("t" if day.day < 20 else "st")
    hundreds, rest = divmod(day.year, 100)
    # From 1100 on a year has hundreds and no thousand, but for the years after 2000.
    year = (
        spoken(hundreds) + "hundert" + (spoken(rest) if rest else "")
        if 11 <= hundreds < 20
        else spoken(day.year)
    )
    return f"{stem}er {MONTHS[day.month - 1]} {year}"
