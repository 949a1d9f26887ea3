from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.conftest import completed

PROJECT = Path(__file__).resolve().parents[2]

SCRIPT = """
import ctypes, os
from pathlib import Path
from grader.engine.sandbox import replace_environment

def everywhere():
    library = ctypes.CDLL(None)
    library.getenv.restype = ctypes.c_char_p
    return [
        "TOKEN" in os.environ,
        library.getenv(b"TOKEN") is not None,
        b"hunter2" in Path("/proc/self/environ").read_bytes(),
    ]

print(everywhere())
replace_environment({"HOME": "/scratch"})
print(everywhere(), dict(os.environ))
"""


def test_inherited_variables_are_forgotten_and_wiped():
    environment = {**os.environ, "TOKEN": "hunter2", "PYTHONPATH": str(PROJECT)}
    done = completed([sys.executable, "-c", SCRIPT], env=environment)
    before, after = done.stdout.splitlines()
    assert before == "[True, True, True]"
    assert after == "[False, False, False] {'HOME': '/scratch'}"
