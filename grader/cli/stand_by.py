"""What a warm process runs and imports: `python -I -c … grader.cli.stand_by FOLDER NAME`. Nobody types this."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys

from grader.standby.server import stand_by

MODULES = (
    "torch",
    "torch._dynamo",  # which a first optimizer and packs' `preload` import, for a second or more
    "torch.nn.attention.flex_attention",
    "grader.cli.main",
    "grader.cli.check",
    "grader.cli.try_",
    "grader.cli.demo",
    "grader.host.launcher",
    "grader.running.suite",
    "grader.running.at_hand",
    "grader.reports.terminal",
    "grader.reports.json_text",
)
"""What takes long; of the engine nothing that knows a pack."""


def main() -> None:
    """Stand by."""
    stand_by(sys.argv[1], sys.argv[2], _command, _import)


def _import() -> None:
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # no thread may exist when this process forks
    os.environ.setdefault(
        "PYTORCH_NVML_BASED_CUDA_CHECK", "1"
    )  # a driver that was asked does not survive a fork
    for name in MODULES:
        with contextlib.suppress(ImportError):  # one of torch's that this version lacks
            importlib.import_module(name)
    from grader import sandbox
    from grader.errors import KataError

    with contextlib.suppress(KataError):  # who asks next is told
        sandbox.offered()


def _command() -> None:
    from grader.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
