"""A kata's data as the terms that its submissions run under."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from grader.catalogue import Kata
from grader.catalogue.given import blocks_in, given_files
from grader.engine.host.calls import Calls
from grader.engine.host.limits import Terms
from grader.engine.host.source import Source, read_source
from grader.engine.wire.messages import EMPTY
from grader.machine import pace

if TYPE_CHECKING:
    from grader.engine.host.launcher import Launcher
    from grader.engine.timing.benchmark_run import BenchmarkConfig

_folders: dict[tuple[Path, str], Path] = {}


def terms_for(kata: Kata) -> Terms:
    """Return what a kata grants a submission and asks of it; its seconds are those of a machine of this pace."""
    return Terms(
        module=kata.module,
        required=kata.required,
        check_timeout_s=kata.limits.check_timeout_s * pace(),
        submission_timeout_s=kata.limits.submission_timeout_s * pace(),
        memory_bytes=kata.limits.memory_mb << 20,
        gpu_bytes=kata.limits.gpu_memory_mb << 20,
        given=_folder(kata, "given", given_files) if kata.given else None,
        support=_folder(kata, "support", _support) if kata.support else None,
        forbid=kata.policy.forbid,
        within=kata.policy.within,
        blocks=bool(blocks_in(kata.unit.pack)),
        advice=kata.policy.say,
        preload=kata.preload,
        attributes=kata.attributes,
    )


def _folder(kata: Kata, kind: str, files: Callable[[Kata], dict[str, bytes]]) -> Path:
    """Return a folder with the grader's copies of a kata's files of this kind, and nothing else."""
    if (kata.folder, kind) not in _folders:
        folder = Path(tempfile.mkdtemp(prefix=f"kata-{kind}-"))
        # One for the whole process: every worker of the kata reads the same copies.
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        for name, data in files(kata).items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(data)
        _folders[kata.folder, kind] = folder
    return _folders[kata.folder, kind]


def _support(kata: Kata) -> dict[str, bytes]:
    """Return the modules of the checks, and for each an empty one, which a submission gets that imports it."""
    files = {}
    for path in kata.support:
        files[path.name] = path.read_bytes()
        files[f"{EMPTY}/{path.name}"] = _EMPTY_MODULE.format(path.stem).encode()
    return files


_EMPTY_MODULE = """import sys

frame = sys._getframe(1)
while "importlib" in frame.f_code.co_filename:
    frame = frame.f_back
print(
    f"{{frame.f_code.co_filename}}, line {{frame.f_lineno}}: `{}` belongs to the checks; for a submission it is empty"
)
"""
"""It says so with the line of the import."""


def setting_of(
    kata: Kata, source: Source, launcher: Launcher, device: str, calls: Calls | None = None
) -> BenchmarkConfig:
    """Return what arenas of a submission are made of, on the kata's terms; `calls` is where its calls are noted."""
    from grader.engine.timing.benchmark_run import BenchmarkConfig  # late: most runs time nothing

    baseline = read_source(kata.baseline)
    return BenchmarkConfig(launcher, source, baseline, terms_for(kata), calls or Calls(), device)
