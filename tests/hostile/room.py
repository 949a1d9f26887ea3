"""Where hostile submissions are graded: a process with a zygote, suites and secrets of its own, seen from outside.

Run as `python -m tests.hostile.room PACK [USER]`, it is a grading process that takes a time-out with every task.
"""

from __future__ import annotations

import contextlib
import ctypes
import glob
import math
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from grader.catalogue import load_pack
from grader.engine.host.bootstrap import start_launcher
from grader.engine.wire import frames
from grader.instructor.grading import grading_process
from grader.instructor.grading.messages import Task
from grader.instructor.submissions.submission import Bundle
from grader.report.report import KataReport
from tests.hostile.entries import MODULES, TOY, Entry, honest
from tests.isolation.conftest import _let_others_reach_python
from tests.sandbox.conftest import become

ROOT = Path(__file__).parents[2]
SOURCES = {
    "insertion-sort": (ROOT / "tests/packs/tiny", ROOT / "tests/packs/solutions", "1.1-sorting"),
    "masks": (ROOT / "katas", ROOT / "solutions", "9.3-encoder-vs-decoder"),
    "layer-norm": (ROOT / "katas", ROOT / "solutions", "9.3-encoder-vs-decoder"),
    "decoder-lm": (ROOT / "katas", ROOT / "solutions", "9.3-encoder-vs-decoder"),
    "transfer": (ROOT / "katas", ROOT / "solutions", "9.6-pretraining"),
    "masked-attention": (ROOT / "katas", ROOT / "solutions", "9.3-encoder-vs-decoder"),
}
GIVING = Path("9.3-encoder-vs-decoder/encoder-layer")
"""A kata that is given blocks: handed in for the others, they earn nothing."""
NATIVE = frozenset({"insertion-sort"})
"""Here without a policy, under which a worker may not call the system past Python: the sandbox alone has to stop it."""
REACHED = "KATA-TOY-REACHED"
"""What one of the corpus prints when something answered that should be out of reach."""
SECRET = "KATA-SECRET-"
"""How secrets begin; the rest is drawn for each room."""
NAP = "0.031415"
"""Part of the command line of every program that one of the corpus starts."""
MEMORY_MB = 512
"""What the katas grant here, so that what exhausts memory does not exhaust the machine."""
SHM_KEY = 0x4B415441
DEVICE = "KATA_HOSTILE_DEVICE"
"""Names what submissions compute on, where that is not the CPU: `make gpu` asks for a GPU."""
PATIENCE_S = 60.0
ENDING_S = 30.0
"""How long a process may take to be gone that has been killed, on a machine with much to do."""


class Exam(msgspec.Struct):
    """A submission, and how long a check of it may take."""

    task: Task
    timeout_s: float | None


def make_pack(place: Path, secret: str, only: str | None = None) -> Path:
    """Copy katas, or only one, and their solutions, with a secret in what no submission may see; less memory."""
    (place / "katas").mkdir()
    (place / "katas/pack.toml").write_text('name = "hostile"\ntitle = "Hostile"\nversion = "1.0"\n')
    for slug, (katas, solutions, unit) in SOURCES.items():
        if only is not None and slug != only:
            continue
        mine = place / "katas" / unit
        mine.mkdir(exist_ok=True)
        for file in filter(Path.is_file, (katas / unit).iterdir()):  # what katas share too
            shutil.copy(file, mine)
        shutil.copytree(katas / unit / slug, mine / slug, ignore=shutil.ignore_patterns("__pycache__"))
        answers = place / "solutions" / unit / slug
        answers.mkdir(parents=True)
        for name in (f"{MODULES[slug]}.py", "hidden_checks.py"):
            text = (solutions / unit / slug / name).read_text()
            (answers / name).write_text(f'{text}\n\nKEPT_FROM_LEARNERS = "{secret}"\n')
        if unit == GIVING.parent.name and not (mine / GIVING.name).exists():
            _give(katas / GIVING, mine / GIVING.name)
        about = mine / slug / "kata.toml"
        text = about.read_text()
        if slug in NATIVE:
            text = re.sub(r"\[policy\]\n(?:(?!\[).*\n)*", "", text)
        lines = [line for line in text.splitlines() if not line.startswith(("memory_mb", "after"))]
        about.write_text("\n".join(lines).replace("[limits]", f"[limits]\nmemory_mb = {MEMORY_MB}") + "\n")
    return place / "katas"


def _give(kata: Path, place: Path) -> None:
    shutil.copytree(kata, place, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(kata.parent / "blocks.py", place.parent)
    about = place / "kata.toml"
    about.write_text(
        "\n".join(line for line in about.read_text().splitlines() if not line.startswith("after"))
    )


class Examined(msgspec.Struct):
    """Its report, and by how many seconds a stage took longer than was announced for it."""

    report: KataReport
    overrun_s: float


class Room:
    """A grading process at one isolation level, perhaps as another user, with things of others around it."""

    def __init__(self, level: str, user: int | None = None) -> None:
        self.level = level
        self.secret = SECRET + secrets.token_hex(12)
        self.place = Path(tempfile.mkdtemp(prefix="kata-hostile-room-"))
        try:
            self._open(user)
        except BaseException:
            shutil.rmtree(self.place, ignore_errors=True)
            raise

    def _open(self, user: int | None) -> None:
        level = self.level
        pack = make_pack(self.place, self.secret)
        for name in ("tmp", "desk", "home", "tmp/kata-submission-neighbour"):
            (self.place / name).mkdir()
        self.planted = [
            self.place / "desk/gradebook.sqlite",
            self.place / "home/token.txt",
            self.place / "tmp/kata-submission-neighbour/insertion_sort.py",
        ]
        for file in self.planted:
            file.write_text(f"{self.secret}\n")
        if user is not None:
            for path in (self.place, *self.place.rglob("*")):
                os.chown(path, user, user)
        self._errors = (self.place / "errors.txt").open("wb+")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.hostile.room", str(pack), *([] if user is None else [str(user)])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            cwd=self.place / "desk",
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": str(ROOT),
                "HOME": str(self.place / "home"),
                "TMPDIR": str(self.place / "tmp"),
                "KATA_ISOLATION": level,
                "API_TOKEN": self.secret,
                **{name: os.environ[name] for name in (DEVICE,) if name in os.environ},
            },
            start_new_session=True,
        )
        self.overrun_s = 0.0
        """By how much a stage of the latest submission took longer than was announced for it."""
        self.honest = {kata: self.again(kata) for kata in SOURCES}
        self._usual = self._files()
        self._staff = self._processes()

    def grade(self, entry: Entry) -> KataReport:
        """Return the report of a submission."""
        task = Task(kata=entry.kata, seed=7, bundle=Bundle(entry.main, entry.files))
        return self.ask(task, entry.timeout_s)

    def forget_peaks(self) -> None:
        """Let the kernel count anew how large the processes that grade have been (proc_pid_clear_refs(5))."""
        for pid in (self._process.pid, *(pid for pid, _ in self._staff)):
            with contextlib.suppress(OSError):
                Path(f"/proc/{pid}/clear_refs").write_text("5")

    def peaks(self) -> tuple[int, int]:
        """Return how large the process that grades has been, and the largest of those that start workers, in bytes."""
        own, *others = (_peak(pid) for pid in (self._process.pid, *(pid for pid, _ in self._staff)))
        return own, max(others, default=0)

    @property
    def alive(self) -> bool:
        """Whether it still grades."""
        return self._process.poll() is None

    def again(self, kata: str) -> KataReport:
        """Grade the wrong answer without tricks once more."""
        return self.ask(Task(kata=kata, seed=7, bundle=_bundle(honest(kata))))

    def ask(self, task: Task, timeout_s: float | None = None) -> KataReport:
        """Return the report; fail when the process that grades does not live to write it."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        with contextlib.suppress(BrokenPipeError):
            frames.write_frame(stdin, frames.encode(Exam(task, timeout_s)))  # type: ignore[arg-type]
        answer = frames.read_frame(stdout)  # type: ignore[arg-type]
        if not answer:
            self._errors.seek(0)
            said = self._errors.read().decode(errors="replace")[-3000:]
            raise AssertionError(f"the process that grades is gone ({self._process.poll()}): {said}")
        examined = msgspec.msgpack.decode(answer, type=Examined)
        self.overrun_s = examined.overrun_s
        return examined.report

    def left(self) -> list[str]:
        """Name what a submission left behind, and clear it away."""
        # What is at its end has until then: a cell's keeper is taken apart while the next submission is graded.
        ends = time.monotonic() + ENDING_S
        # Sockets have no owner to go by: one of a room beside this goes with the submission that is graded there.
        while ((processes := self._processes() - self._staff) or _sockets()) and time.monotonic() < ends:
            time.sleep(0.02)
        found = [f"process {pid} {name}" for pid, name in processes]
        found += [f"file {name}" for name in self._files() - self._usual]
        found += _shared_memory()
        for path in sorted(map(Path, self._files() - self._usual), reverse=True):
            with contextlib.suppress(OSError):
                if path.is_dir() and not path.is_symlink():
                    path.rmdir()
                    continue
                if path.is_file() and self.secret.encode() in path.read_bytes():
                    found.append(f"secret in {path}")
                path.unlink()
        for pid, _ in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return found

    def harmed(self) -> list[str]:
        """Name what is not as it was, and mend it."""
        text = f"{self.secret}\n"
        found = [file.name for file in self.planted if not file.is_file() or file.read_text() != text]
        for file in self.planted:
            file.write_text(text)
        return found

    def close(self) -> None:
        """End it; what a submission left counts no more."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._errors.close()
        shutil.rmtree(self.place, ignore_errors=True)

    def _files(self) -> frozenset[str]:
        toys = [name for place in ("/tmp", "/var/tmp", "/dev/shm") for name in glob.glob(f"{place}/*{TOY}*")]
        own = (self.place / name for name in ("tmp", "desk", "home"))
        return frozenset([*toys, *(str(path) for folder in own for path in folder.rglob("*"))])

    def _processes(self) -> frozenset[tuple[int, str]]:
        """Return what lives below the room, and what got away from it."""
        lines, parents = {}, {}
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                lines[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                # A command may contain spaces and parentheses: the fields start behind the last one.
                state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
                if state not in "ZX":
                    parents[int(folder.name)] = int(parent)
        own = self._process.pid

        def mine(pid: int) -> bool:
            if str(self.place) in lines[pid] or NAP in lines[pid]:
                return True
            while pid in parents and pid != own:
                pid = parents[pid]
            return pid == own

        return frozenset((pid, lines[pid][:80]) for pid in parents if pid != own and mine(pid))


def _peak(pid: int) -> int:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) << 10
    return 0


class Stages:
    """Notes by how much a stage of grading took longer than was announced for it."""

    def __init__(self) -> None:
        self.overrun_s = 0.0
        self._ends = math.inf

    def begin(self, seconds: float) -> None:
        now = time.monotonic()
        self.overrun_s = max(self.overrun_s, now - self._ends)
        self._ends = now + seconds


def _bundle(files: dict[str, bytes]) -> Bundle:
    return Bundle(next(iter(files)), files)


def _shared_memory() -> list[str]:
    found = []
    with contextlib.suppress(OSError):
        lines = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
        for line in lines:
            key, number = line.split()[:2]
            if int(key) & 0xFFFFFFFF == SHM_KEY:
                found.append(f"shared memory {number}")
                ctypes.CDLL(None).shmctl(int(number), 0, None)
    return [*found, *_sockets()]


def _sockets() -> list[str]:
    lines = Path("/proc/net/unix").read_text().splitlines()
    return [f"socket {line.split()[-1]}" for line in lines if TOY in line]


def main() -> None:
    """Grade what comes in, one after the other, until the input ends."""
    requests, answers = grading_process._claim_streams()
    for user in map(int, sys.argv[2:]):
        _let_others_reach_python()
        become(user)
    device = os.environ.get(DEVICE, "cpu")
    launcher = start_launcher(device=device)
    from grader.engine.runner.suite import RunConfig, Suite, suites_of

    def serve(suites: dict[str, Suite]) -> None:
        while frame := frames.read_frame(requests):
            exam = msgspec.msgpack.decode(frame, type=Exam)
            stages = Stages()
            options = RunConfig(
                seed=exam.task.seed,
                timeout_s=exam.timeout_s,
                device=device,
                tell=stages.begin,
                by_script=True,
            )
            report = grading_process.grade(exam.task, suites[exam.task.kata], launcher, options)
            stages.begin(0.0)
            answer = Examined(report, stages.overrun_s)
            frames.write_frame(answers, frames.encode(answer))

    katas = [kata for kata in load_pack(Path(sys.argv[1])).katas if kata.slug in MODULES]
    with suites_of(katas, hidden=True) as suites:
        serve(suites)
    launcher.close()


if __name__ == "__main__":
    main()
