"""Writes files into its scratch that are called as systems call other learners', and as the gradebook is.

kata = "insertion-sort"
status = "fail"
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
