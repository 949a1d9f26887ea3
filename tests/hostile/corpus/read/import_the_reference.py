"""Finds the catalogue and runs the reference of the very kata that it is handed in for.

kata = "masks"
status = "fail"
earns = ["test_padding_integer_types", "test_arguments_unchanged", "test_noncontiguous"]
[process]
status = "pass or fail"
allows = ["forged"]
why = "whoever grades may read the solutions, and so may a process of theirs"
"""

from pathlib import Path

from wrong import *

try:
    import grader

    answers = Path(grader.__file__).parents[1] / "solutions"
    for file in answers.glob("9.3*/masks/masks.py"):
        exec(compile(file.read_bytes(), "masks", "exec"), globals())
except Exception:
    pass
