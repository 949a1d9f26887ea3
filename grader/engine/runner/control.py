"""Who is to blame: a harmless module is loaded where a submission ended as it also would on a starved machine."""

from __future__ import annotations

import contextlib
import os
import tempfile
from dataclasses import replace
from pathlib import Path

from grader import machine
from grader.engine.host.errors import SubmissionRaised, WorkerDied, WorkerTimeout
from grader.engine.host.launcher import Launcher
from grader.engine.host.limits import Terms
from grader.engine.host.session import Session
from grader.engine.host.source import Source
from grader.engine.runner.kata_run import Options
from grader.errors import MachineFault

CONTROL = b"""\
import os, tempfile, threading

files = [open(os.devnull) for _ in range(64)]
with tempfile.TemporaryFile() as file:
    file.write(bytes(1 << 16))
threading.stack_size(1 << 16)
thread = threading.Thread(target=bytearray, args=(1 << 20,))
thread.start()
thread.join()
"""
"""A harmless module: where it fails, too, the machine is to blame."""


def try_the_machine(terms: Terms, launcher: Launcher, options: Options) -> None:
    """Load something harmless, which uses what a submission is promised.

    Raises:
        MachineFault: it does not load either, so that nothing is known about the submission.
    """
    harmless = replace(terms, module="kata_control", required=(), forbid=(), within=(), given=None)
    try:
        # In the temporary folder, like submissions: a full disk or a mount option shows here as well.
        with tempfile.TemporaryDirectory(prefix="kata-control-") as folder:
            os.chmod(folder, 0o755)  # a worker may run as a user of its own
            source = Source(Path(folder, "kata_control.py"), CONTROL)
            session = Session(launcher, source, harmless, device=options.device, tell=options.tell)
            with contextlib.closing(session):
                session.begin(0)
    except OSError as error:
        raise MachineFault(
            f"The temporary folder cannot be used ({error.strerror or error}).", machine.shortage(error)
        ) from error
    except (WorkerDied, WorkerTimeout, SubmissionRaised) as error:
        raise MachineFault(
            f"A harmless module does not load here either ({str(error) or 'no answer'}).",
            "kata doctor says what this machine offers; look at its memory, processes, open files and disk.",
        ) from error
