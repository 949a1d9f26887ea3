"""Defines its function under the names of everything that the worker calls.

kata = "insertion-sort"
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
