"""Where the command begins: it asks the warm process first, and is the whole command line only where there is none."""

from __future__ import annotations

from grader import interpreter

interpreter.forget_foreign_paths()  # before anything is imported from where a learner could have put it

import sys

TYPE_CHECKING = False  # `typing` takes longer than all the rest
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """Run the command line and leave the process."""
    if sys.platform == "win32":  # no fork, no sockets of Unix: nothing of what follows can even be imported
        sys.exit("error: Kata needs Linux or macOS.\n  On Windows it runs in WSL 2: wsl --install -d Debian")
    from grader.cli import warm_process

    if not warm_process.is_warm(sys.argv[1:]):
        _here()
    code = warm_process.run(sys.argv[1:])
    if code is not None:
        sys.exit(code)
    spawn = warm_process.spawner()
    try:
        _here()
    finally:
        spawn()


def _here() -> NoReturn:
    from grader.cli.main import main as run

    run()
