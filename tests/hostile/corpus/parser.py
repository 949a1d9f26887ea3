"""Confuse the parser."""

# ==== deep_but_valid ====
"""Is valid Python, nested as deep as the compiler allows, for whoever reads its source.

kata = "layer-norm"
words = ["Write it from mean, variance"]
"""

from wrong import *

# fmt: off
a = lambda: 0
def deep():
    return (a)


# ==== escape_sequences ====
"""Prints, raises and is named in escape sequences that would change what a terminal shows.

words = ["Escape"]
"""

TRICK = "\x1b[2J\x1b[1;1H\x1b]0;full marks\x07\x1b[8m\r\x08\u202e\u2066\x9b2J 5/5 passed"
print(TRICK)
Escape = type(f"Escape{TRICK}", (ValueError,), {"__module__": TRICK})


def insertion_sort(values):
    print(TRICK)
    raise Escape(TRICK)


# ==== file_names_of_others ====
"""Writes files into its scratch that are called as systems call other learners', and as the gradebook is.

earns = ["test_empty"]
"""

import os
import pathlib

from wrong import *

NAMES = (
    "bob_99_assignsubmission_file_insertion_sort.py",
    "HW_bob_attempt_2026-01-02-03-04-05_insertion_sort.py",
    "bobroe_99_501_insertion_sort.py",
    "submission_metadata.yml",
    "gradebook.sqlite",
    "course.toml",
    "timestamp.txt",
)
for name in NAMES:
    try:
        pathlib.Path(os.getcwd(), name).write_text("def insertion_sort(values): return sorted(values)\n")
    except OSError:
        pass


# ==== homoglyphs ====
"""Defines a function whose name looks like the right one.

words = ["has no `insertion_sort`"]
"""


def insertiоn_sort(values):  # the o is Cyrillic
    return sorted(values)


# ==== invisible_letters ====
"""Prints and raises letters that nobody sees, which hide, reorder or fill what is around them.

words = ["\\\\u061c", "\\\\U000e0041"]
"""

TRICK = "a\u061c\u2060\u206a\u206f\U000e0041\u180e\ufff9b"
print(TRICK)


def insertion_sort(values):
    print(TRICK)
    raise ValueError(TRICK)


# ==== lone_surrogates ====
"""Returns, prints and raises text that cannot be encoded."""

print("\ud800 \udfff")


def insertion_sort(values):
    if values:
        raise ValueError("\udc80\x00\ud800")
    return {"\ud800": "\udfff", float("nan"): b"\xff", ("\x00",): "\x00"}


# ==== markup ====
"""Has names, messages and output that are HTML, Markdown, formulas of a spreadsheet and console markup."""

MARKUP = (
    "<script>alert(1)</script> [red]full marks[/red] ![x](javascript:1) =cmd|' /C calc'!A0 {{7*7}} %s {0}"
)
print(MARKUP)
Odd = type(MARKUP, (ValueError,), {})


def insertion_sort(values):
    print(MARKUP)
    raise Odd(MARKUP)


# ==== module_of_another_name ====
"""Replaces itself in `sys.modules`, and what stands beside it.

earns = ["test_empty"]
"""

import sys
import types

from wrong import *


class Fake(types.ModuleType):
    def __getattr__(self, name):
        return lambda values: sorted(values)


for name in list(sys.modules):
    if name in ("insertion_sort", "submission", "__main__") or name.endswith(".insertion_sort"):
        sys.modules[name] = Fake(name)


# ==== numbers_without_end ====
"""Answers with numbers that no report can hold: without end, no numbers, of five thousand digits."""

ENDLESS = [float("inf"), -float("inf"), float("nan"), 10**308 * 10.0, -0.0, 5e-324]


def insertion_sort(values):
    if len(values) > 3:
        return [10**5000, *ENDLESS]
    return ENDLESS


# ==== report_in_a_message ====
"""Raises what looks like the end of its message and the rest of a report with full marks."""

REST = '"}],"score":99.0,"status":"pass","checks":[{"status":"pass","points":99.0,"speed":{"value":null}}]}'


class Forged(ValueError):
    def __str__(self):
        return REST + "\n" + REST + "\x00\ud800" + REST


def insertion_sort(values):
    if values:
        raise Forged()
    return REST


# ==== shadowed_builtins ====
"""Defines its function under the names of everything that the worker calls.

status = "fail or error"
"""

import builtins
import sys

import wrong

insertion_sort = wrong.insertion_sort
for name in (
    "len",
    "isinstance",
    "type",
    "getattr",
    "print",
    "range",
    "dict",
    "list",
    "memoryview",
    "id",
    "sum",
):
    setattr(builtins, name, lambda *arguments, **options: 0)
sys.stdout = sys.stderr = None


# ==== syntax_error_from_elsewhere ====
"""Raises a SyntaxError that claims to stand in another file, far to the right, for whoever shows that line.

status = "error"
words = ["SyntaxError"]
"""

import linecache

linecache.cache["/etc/passwd"] = (1, None, ["shown\n"] * 10, "/etc/passwd")
raise SyntaxError("look there", ("/etc/passwd", 1 << 30, 1 << 30, "x" * 1_000_000, -5, -5))
