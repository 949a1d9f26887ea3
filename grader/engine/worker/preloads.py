"""Try a module that a kata wants imported before its workers are forked: `MODULE` as the only argument.

Run as a program of its own. It fails where the module cannot be imported, or leaves threads running: a process with
threads must not fork.
"""

from __future__ import annotations

import importlib
import os
import sys


def main() -> int:
    """Return 0 where a zygote may import it."""
    import torch  # noqa: F401 - as in a zygote, where it is there before

    importlib.import_module(sys.argv[1])
    return sys.platform == "linux" and len(os.listdir("/proc/self/task")) > 1


if __name__ == "__main__":
    sys.exit(main())
