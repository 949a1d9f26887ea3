"""A submission that wastes what it gets is stopped with the reason named, and leaves nothing, whatever it was."""

from __future__ import annotations

import os
import select
import signal
from pathlib import Path

import pytest

from tests.isolation.conftest import Lab, Submission

pytestmark = pytest.mark.slow

SOURCE = """
    import _thread, ctypes, mmap, os, threading, time
    from pathlib import Path

    def memory():
        held = []
        while True:
            held.append(bytearray(64 << 20))

    def tensors():
        import torch
        held = []
        while True:
            held.append(torch.ones(16 << 20))

    def shared_memory():
        held = []
        for _ in range(30):
            descriptor = os.memfd_create("bomb")
            os.truncate(descriptor, 60 << 20)
            held.append(os.pwrite(descriptor, bytes(60 << 20), 0))

    def one_file():
        with open("large", "wb") as file:
            while True:
                file.write(bytes(1 << 20))

    def many_bytes():
        for number in range(100_000):
            Path(f"{number}").write_bytes(bytes(16 << 20))
            time.sleep(0.001)

    def many_files():
        for number in range(10_000_000):
            open(f"{number}", "w").close()

    def descriptors():
        held = []
        while True:
            held.append(open("/dev/null"))

    def threads():
        def wait():
            time.sleep(60)
        while True:
            # Not Thread.start: it waits for ever where the new thread finds no memory for its first frame.
            _thread.start_new_thread(wait, ())

    def output():
        while True:
            print("x" * 65536)

    def processes():
        for _ in range(200):
            if os.fork() == 0:
                time.sleep(60)
                os._exit(0)
        time.sleep(60)

    def fork():
        return os.fork()

    def loop():
        while True:
            pass

    def linger():
        def work():
            while True:
                time.sleep(0.01)
        for _ in range(4):
            threading.Thread(target=work, daemon=True).start()

    def deep():
        for number in range(600):
            os.mkdir("d")
            os.chdir("d")
        Path("leaf").write_text("x")

    def litter():
        Path("a/b").mkdir(parents=True)
        Path("a/b/c").write_text("x")
        made = []
        for name in ("/dev/shm/kata-litter", "/tmp/kata-litter", "/var/tmp/kata-litter"):
            try:
                Path(name).write_text("x")
                made.append(name)
            except OSError:
                pass
        libc = ctypes.CDLL(None, use_errno=True)
        made += ["shm"] * (libc.shmget(0x6b617461, 4096, 0o1666) >= 0)
        made += ["msg"] * (libc.msgget(0x6b617461, 0o1666) >= 0)
        made += ["sem"] * (libc.semget(0x6b617461, 1, 0o1666) >= 0)
        made += ["queue"] * (libc.mq_open(b"/kata-litter", os.O_CREAT | os.O_RDWR, 0o666, None) >= 0)
        return made

    def f():
        return 7
"""


def gone(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


def users_of(folder: Path) -> list[str]:
    """Processes that live in a folder or have a mount of that name."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(process / "cwd").startswith(str(folder)):
                found.append(process.name)
        except OSError:
            continue
    return found


def wasteful(lab: Lab, function: str, words: str, neighbour: Submission) -> None:
    """Check the reason, that a neighbour keeps working, and that nothing is left."""
    submission = lab.open(SOURCE, "wasteful")
    answer = submission(function)
    assert answer.error is not None
    assert words in answer.text
    assert neighbour("f").value == 7
    submission.close()
    assert gone(submission.pid)
    assert not submission.scratch.exists()
    assert not users_of(submission.scratch)


@pytest.fixture
def neighbour(lab: Lab) -> Submission:
    return lab.open("def f():\n    return 7\n", "neighbour")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("function", ["memory", "tensors"])
def test_memory(lab: Lab, neighbour: Submission, function: str) -> None:
    wasteful(lab, function, "it asked for more than 1024 MB of memory", neighbour)


def test_memory_that_is_mapped_nowhere(confined: Lab, neighbour: Submission) -> None:
    wasteful(confined, "shared_memory", "memfd_create", neighbour)


def test_one_large_file(lab: Lab, neighbour: Submission) -> None:
    wasteful(lab, "one_file", "it wrote more than 64 MB to one file", neighbour)


@pytest.mark.sampled(2)
def test_many_large_files(lab: Lab, neighbour: Submission) -> None:
    wasteful(lab, "many_bytes", "wrote more than 256 MB", neighbour)


@pytest.mark.sampled(2)
def test_many_files(lab: Lab, neighbour: Submission) -> None:
    wasteful(lab, "many_files", "2,000 files", neighbour)


def test_open_files(lab: Lab, neighbour: Submission) -> None:
    wasteful(lab, "descriptors", "it opened more than 256 files", neighbour)


def test_threads(lab: Lab, neighbour: Submission) -> None:
    wasteful(lab, "threads", "it started more threads than", neighbour)


def test_output(lab: Lab, neighbour: Submission) -> None:
    wasteful(lab, "output", "printed more than 256 MB, so it was stopped", neighbour)


@pytest.mark.nightly
@pytest.mark.sampled(1)
def test_processes(lab: Lab, neighbour: Submission) -> None:
    words = (
        "starts no processes"
        if lab.level != "process"
        else "started more than 64 processes, so it was stopped"
    )
    wasteful(lab, "processes", words, neighbour)


@pytest.mark.sampled(2)
def test_a_loop(lab: Lab, neighbour: Submission) -> None:
    submission = lab.open(SOURCE, "wasteful")
    assert "no answer within 0.5 s" in submission("loop", timeout_s=0.5).text
    assert gone(submission.pid)
    assert neighbour("f").value == 7
    submission.close()


@pytest.mark.sampled(11)
@pytest.mark.parametrize("function", ["linger", "deep", "litter", "f"])
def test_nothing_is_left(lab: Lab, function: str) -> None:
    submission = lab.open(SOURCE, "wasteful")
    made = submission(function)
    assert made.error is None, made.text
    submission.close()
    assert gone(submission.pid)
    assert not submission.scratch.exists()
    assert not users_of(submission.scratch)
    if lab.level != "process" and function == "litter":
        assert made.value == []
        assert not Path("/dev/shm/kata-litter").exists()
    for name in ("/dev/shm/kata-litter", "/tmp/kata-litter", "/var/tmp/kata-litter"):
        Path(name).unlink(missing_ok=True)


def test_a_process_that_hides_is_found(lab: Lab) -> None:
    if lab.level != "process":
        pytest.skip("forks are refused")
    submission = lab.open(
        """
        import os, time
        def hide():
            receive, send = os.pipe()
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    os.write(send, str(os.getpid()).encode())
                    time.sleep(600)
                os._exit(0)
            return int(os.read(receive, 20))
        """
    )
    pid = submission("hide").value
    assert not gone(pid)
    submission.close()
    assert gone(pid)


def test_a_grader_that_is_killed_takes_its_workers_along(lab: Lab) -> None:
    """The whole lab dies at once, as it would when the machine runs out of memory."""
    own = Lab(lab.level, lab.user)
    submission = own.open(SOURCE)
    scratch = os.open(submission.scratch, os.O_RDONLY)
    pidfd = os.pidfd_open(submission.pid)
    os.kill(own.pid, signal.SIGKILL)
    own.close()
    assert select.select([pidfd], [], [], 30)[0]
    # Its folder goes last, with nobody left to say so: wait until it is unlinked.
    patience = 300
    while os.fstat(scratch).st_nlink and (patience := patience - 1):
        select.select([], [], [], 0.1)
    assert not submission.scratch.exists()
    os.close(pidfd)
    os.close(scratch)
