"""Kata from Python: `python -m kata` is the command `kata`.

In a notebook: `import kata; kata.check("masks")`, or `%load_ext kata` once and then `%kata check masks`. The command
runs in an interpreter of its own, as it does from a terminal, and reads what is saved: save first.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from typing import Any

WIDTH = "100"
"""Columns of what is printed below a cell."""


def check(*arguments: str) -> None:
    """Check a kata and print what was found: `kata.check("masks")`, `kata.check("masks", "-k", "causal")`."""
    run("check", *arguments)


def run(*arguments: str) -> int:
    """Run a command, print what it says, and return its exit code: `kata.run("hint", "masks")`."""
    from grader.interpreter import command

    process = subprocess.Popen(
        command("grader", *arguments),
        env={"COLUMNS": WIDTH, **os.environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    assert process.stdout is not None
    # A notebook shows what Python prints, and not what a process writes.
    with process, process.stdout as printed:
        for line in printed:
            sys.stdout.write(line)
    return process.returncode


def load_ipython_extension(ipython: Any) -> None:
    """Give a notebook the line magic `%kata`."""

    def kata(line: str) -> None:
        run(*shlex.split(line))

    ipython.register_magic_function(kata, "line", "kata")


if __name__ == "__main__":
    from grader.cli.entry import main

    main()
