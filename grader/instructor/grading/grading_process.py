"""A process that knows the answers, has collected every check once, and grades what it is handed.

Run as `python -m grader.instructor.grading.grading_process FOLDER`; it keeps its temporary files in FOLDER, and
removes that at its end, which comes when its input ends. Frames on stdin and stdout: a length, then MessagePack. The
first frame is the set-up, every later one a task, and each task gets one answer. Before that come beats: a length of
0, and how many seconds the stage that begins now may take. What takes longer is the process's own work, which is
little: the caller that waits for the answer ends one that is busy, or stuck, for longer.
"""

from __future__ import annotations

import atexit
import os
import shutil
import struct
import sys
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from grader.catalogue import Catalogue, Kata
from grader.catalogue.catalogue import answers
from grader.devices import Device
from grader.engine import sandbox
from grader.engine.host.bootstrap import start_launcher
from grader.engine.timing.device import exclusive_lock, shared_lock
from grader.engine.wire import frames
from grader.errors import EngineError, KataError, MachineFault
from grader.instructor.grading.cache_key import kata_digest
from grader.instructor.grading.messages import (
    Answer,
    NotGraded,
    Setup,
    Stopped,
    Task,
    encode_answer,
    setup_decoder,
    task_decoder,
)
from grader.machine import shortage

if TYPE_CHECKING:
    from grader.engine.host.launcher import Launcher
    from grader.engine.runner.suite import RunConfig, Suite
    from grader.report.report import Isolation, KataReport

SECONDS = struct.Struct(">d")
_STRENGTH: dict[Isolation, int] = {"none": 0, "process": 1, "confined": 2, "full": 3}


def main() -> None:
    """Serve until the input ends."""
    requests, answers = _claim_streams()
    tempfile.tempdir = sys.argv[1]
    # Our parent removes it when we end, unless it ends first.
    atexit.register(shutil.rmtree, sys.argv[1], ignore_errors=True)
    setup = setup_decoder.decode(frames.read_frame(requests))
    try:
        _refuse_exposed(setup)
        launcher = start_launcher(many=True, timed=setup.perf, device=setup.device)
        try:
            _serve(setup, launcher, requests, answers)
        finally:
            launcher.close()
    except KataError as error:
        # Nothing was asked yet; the first request is answered with why nothing can be graded.
        refusal = encode_answer(NotGraded(error.message, error.hint, again=isinstance(error, MachineFault)))
        while frames.read_frame(requests):
            frames.write_frame(answers, refusal)


def _refuse_exposed(setup: Setup) -> None:
    """Refuse to grade where submissions could read answers, or each other's work. On a cluster nobody else looks."""
    secrets = {
        **dict.fromkeys(answers(), "a pack's answers"),
        Path(tempfile.gettempdir()): "other submissions",
    }
    agreed = setup.require_isolation == "process"
    sandbox.refuse_exposed(secrets, sandbox.python_view(answers()), sandbox.offered(), agreed=agreed)


def _serve(setup: Setup, launcher: Launcher, requests: BinaryIO, answers: BinaryIO) -> None:
    from grader.engine.runner.suite import RunConfig, suites_of

    def tell(seconds: float) -> None:
        answers.write(frames.LENGTH.pack(0) + SECONDS.pack(seconds))
        answers.flush()

    # A mark must not depend on which machine made it, so another version of the pack is refused.
    katas = [_same(kata, setup) for kata in Catalogue.discover().katas if kata.slug in setup.katas]
    if lacking := set(setup.katas) - {kata.slug for kata in katas}:
        raise EngineError(f"This machine has no kata {', '.join(sorted(lacking))}.", _SAME_PACK)

    with suites_of(katas, hidden=True, speed=setup.perf) as suites:
        while frame := frames.read_frame(requests):
            task = task_decoder.decode(frame)
            options = RunConfig(
                seed=task.seed,
                hidden_seed=task.hidden_seed,
                by_script=True,
                timeout_s=setup.timeout_s,
                device=setup.device,
                tell=tell,
                timed_s=setup.queue_s,
            )
            graded = partial(grade, task, suites[task.kata], launcher, options)
            frames.write_frame(answers, encode_answer(in_turn(task, setup, tell, graded)))


def in_turn(
    task: Task, setup: Setup, tell: Callable[[float], None], graded: Callable[[], KataReport]
) -> Answer:
    """Grade when the device is free for it; once more, and alone, what computes on a GPU and does not pass."""

    def answer() -> Answer:
        tell(0.0)
        try:
            return _isolated(graded(), setup)
        except KataError as error:
            return NotGraded(error.message, error.hint, again=isinstance(error, MachineFault))

    shares_gpu = task.bundle is not None and Device(setup.device).accelerates
    tell(setup.queue_s)
    # A process that is alone on this device waits until we are done, and we for it.
    with shared_lock(setup.device) if setup.perf or shares_gpu else nullcontext():
        first = answer()
    # Neighbours share a GPU's memory and its time, and no limit keeps one of them from taking all: of what ran
    # together with others only a pass is believed.
    if not shares_gpu or (not isinstance(first, NotGraded | Stopped) and first.status == "pass"):
        return first
    tell(setup.queue_s)
    with exclusive_lock(setup.device):
        return answer()


def grade(task: Task, suite: Suite, launcher: Launcher, options: RunConfig) -> KataReport:
    """Grade one submission in a folder of its own, which is gone afterwards."""
    if task.bundle is None:
        return suite.without("missing" if task.status == "missing" else "error", task.message or "", options)
    files, folder = task.bundle.files, None
    if task.control and (control := suite.control()) is not None:  # by the same way, copies and all
        root, every = control.root, control.root.rglob("*.py") if suite.kata.adapter is not None else ()
        files = {str(path.relative_to(root)): path.read_bytes() for path in every}
        files |= {str(control.path.relative_to(root)): control.data}
    try:
        folder = Path(tempfile.mkdtemp(prefix="kata-submission-"))
        folder.chmod(0o755)  # a worker may run as a user of its own
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        report = suite.check(folder / task.bundle.main, launcher, options)
    except OSError as error:
        raise MachineFault(
            f"The submission cannot be copied to where it is graded ({error.strerror or error}).",
            shortage(error) or "Free some space in the temporary folder.",
        ) from error
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
    report.file = task.bundle.main
    return report


def _same(kata: Kata, setup: Setup) -> Kata:
    if kata_digest(kata) != setup.katas[kata.slug]:
        raise EngineError(f"This machine has another version of {kata.slug}.", _SAME_PACK)
    return kata


_SAME_PACK = (
    "Install the same packs, with their solutions, on every machine that grades (KATA_PACKS names folders)."
)


def _isolated(report: KataReport, setup: Setup) -> KataReport:
    """Refuse a mark that was made under weaker isolation than was demanded."""
    wanted = setup.require_isolation
    if wanted and report.isolation != "none" and _STRENGTH[report.isolation] < _STRENGTH[wanted]:
        raise EngineError(
            f"Isolation {wanted!r} was required, but only {report.isolation!r} was reached.",
            "kata doctor says what is missing and how to get it.",
        )
    return report


def _claim_streams() -> tuple[BinaryIO, BinaryIO]:
    """Take stdin and stdout for the conversation; what anything here prints goes to stderr."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "rb") as empty:
        os.dup2(empty.fileno(), 0)
    os.dup2(2, 1)
    return requests, answers


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        sys.exit(0)  # nobody is left to answer to
