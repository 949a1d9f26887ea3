"""A kata's data as the terms that its submissions run under."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path

from grader.catalogue import Kata
from grader.catalogue.given import given_files
from grader.host.terms import Terms
from grader.machine import pace

_folders: dict[Path, Path] = {}


def terms_for(kata: Kata) -> Terms:
    """Return what a kata grants a submission and asks of it; its seconds are those of a machine of this pace."""
    return Terms(
        module=kata.module,
        required=kata.required,
        check_timeout_s=kata.limits.check_timeout_s * pace(),
        submission_timeout_s=kata.limits.submission_timeout_s * pace(),
        memory_bytes=kata.limits.memory_mb << 20,
        gpu_bytes=kata.limits.gpu_memory_mb << 20,
        given=_given_folder(kata),
        forbid=kata.policy.forbid,
        within=kata.policy.within,
        advice=kata.policy.say,
        preload=kata.preload,
    )


def _given_folder(kata: Kata) -> Path | None:
    """Return a folder with the grader's copies of what is given beside the stub, and nothing else."""
    if not (kata.given or kata.support):
        return None
    if kata.folder not in _folders:
        folder = Path(tempfile.mkdtemp(prefix="kata-given-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        for name, data in given_files(kata).items():
            (folder / name).write_bytes(data)
        for file in kata.support:
            shutil.copy(file, folder)
        _folders[kata.folder] = folder
    return _folders[kata.folder]
