from __future__ import annotations

import ctypes
import errno
import fcntl
import mmap
import os
import platform
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from grader.engine.sandbox import (
    AUDIT,
    ConfinementError,
    ResourceLimits,
    SandboxConfig,
    confine,
    landlock,
    libc,
    seccomp,
)
from grader.engine.sandbox import limits as resource_limits

PROJECT = Path(__file__).resolve().parents[2]
MIB = 1024 * 1024


def test_a_worker_is_confined(worker):
    assert worker(lambda: "ran").value == "ran"


# Files


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "/etc/hostname",
        str(PROJECT / "pyproject.toml"),
        __file__,
        "/proc/self/environ",
        "/proc/1/status",
    ],
)
def test_files_of_the_machine_and_the_project_are_closed(worker, path):
    assert worker(lambda: len(Path(path).read_bytes())).refused


@pytest.mark.slow
@pytest.mark.parametrize(
    "folder",
    ["/", "/etc", "/tmp", str(PROJECT), str(Path.home())]
    + [
        str(PROJECT / name) for name in ("grader", "tests") if (PROJECT / name).is_dir()
    ],  # a wheel's tree has one
)
def test_folders_cannot_be_listed(worker, folder):
    assert worker(lambda: os.listdir(folder)).refused


def test_the_graders_environment_is_closed(worker):
    path = f"/proc/{os.getpid()}/environ"
    assert worker(lambda: Path(path).read_bytes().decode()).refused


@pytest.mark.slow
def test_answers_that_any_user_may_read_are_closed(worker, open_folder):
    answers = open_folder / "solutions"
    answers.mkdir(mode=0o755)
    (answers / "masks.py").write_text("answer")

    def read() -> str:
        return (answers / "masks.py").read_text()

    assert worker(read, confined=False).value == "answer"
    assert worker(read).refused
    assert worker(lambda: os.listdir(answers)).refused
    assert worker(read, read=(answers,)).value == "answer"
    assert worker(read, read=(answers / "masks.py",)).value == "answer"


@pytest.mark.slow
def test_only_scratch_can_be_written(worker, open_folder, scratch):
    beside = open_folder / "beside.txt"
    beside.write_text("before")
    beside.chmod(0o666)

    def write_inside() -> str:
        (scratch / "folder").mkdir()
        (scratch / "folder" / "a.txt").write_text("mine")
        (scratch / "folder" / "a.txt").rename(scratch / "b.txt")
        text = (scratch / "b.txt").read_text()
        (scratch / "b.txt").unlink()
        (scratch / "folder").rmdir()
        return text

    assert worker(write_inside).value == "mine"
    assert worker(lambda: beside.write_text("after")).refused
    assert worker(lambda: (open_folder / "new.txt").write_text("new")).refused
    assert worker(lambda: os.truncate(beside, 0)).refused
    assert worker(lambda: os.unlink(beside)).refused
    assert beside.read_text() == "before"


@pytest.mark.slow
def test_a_readable_file_cannot_be_changed(worker, open_folder):
    given = open_folder / "given.py"
    given.write_text("given")
    given.chmod(0o666)
    read = (given,)
    assert worker(lambda: os.open(given, os.O_WRONLY), read=read).refused
    assert worker(lambda: os.open(given, os.O_RDONLY | os.O_TRUNC), read=read).refused
    assert worker(lambda: os.chown(given, os.getuid(), os.getgid()), read=read).refused
    before = given.stat()
    assert worker(lambda: os.chmod(given, 0o777), read=read).error is None
    assert worker(lambda: os.utime(given, (0, 0)), read=read).error is None
    assert worker(lambda: os.fchmod(os.open(given, os.O_RDONLY), 0o777), read=read).error is None
    assert given.stat() == before
    assert given.read_text() == "given"


def test_files_can_be_copied_in_scratch_with_all_that_is_known_of_them(worker, scratch):
    def copy() -> str:
        (scratch / "a").mkdir()
        (scratch / "a" / "b.txt").write_text("mine")
        shutil.copytree(scratch / "a", scratch / "c")
        shutil.copy2(scratch / "c" / "b.txt", scratch / "d.txt")
        return Path(shutil.move(scratch / "d.txt", scratch / "e.txt")).read_text()

    assert worker(copy).value == "mine"


def test_links_and_pipes_cannot_be_left_in_scratch(worker, scratch):
    assert worker(lambda: os.symlink("/etc/passwd", scratch / "link")).refused
    assert worker(lambda: os.mkfifo(scratch / "pipe")).refused
    assert not list(scratch.iterdir())


def test_the_usual_devices_work(worker):
    def use() -> list[int]:
        Path("/dev/null").write_text("gone")
        with open("/dev/null", "w") as null:
            null.write("gone")
        return [
            len(Path("/dev/null").read_bytes()),
            len(os.urandom(8)),
            len(os.read(os.open("/dev/urandom", 0), 8)),
        ]

    assert worker(use).value == [0, 8, 8]


# The network


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "kind"),
    [
        (socket.AF_INET, socket.SOCK_STREAM),
        (socket.AF_INET, socket.SOCK_DGRAM),
        (socket.AF_INET6, socket.SOCK_STREAM),
        (getattr(socket, "AF_NETLINK", 16), socket.SOCK_RAW),
        (socket.AF_UNIX, socket.SOCK_DGRAM),
    ],
)
def test_sockets_to_the_world_are_refused(worker, family, kind):
    assert worker(lambda: socket.socket(family, kind).close()).refused


def test_an_inherited_socket_cannot_connect(worker):
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as client:
        address = server.getsockname()
        assert worker(lambda: client.connect(address)).refused


@pytest.mark.slow
@pytest.mark.parametrize("abstract", [False, True])
def test_local_services_cannot_be_reached(worker, open_folder, abstract):
    address = f"\0kata-test-{os.getpid()}" if abstract else str(open_folder / "service")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        if not abstract:
            os.chmod(address, 0o777)
        assert worker(lambda: socket.socket(socket.AF_UNIX).connect(address), confined=False).error is None
        assert worker(lambda: socket.socket(socket.AF_UNIX).connect(address)).refused


def test_a_socket_pair_works(worker):
    def talk() -> str:
        one, other = socket.socketpair()
        one.sendall(b"hello")
        return other.recv(5).decode()

    assert worker(talk).value == "hello"


# Processes


def spawn() -> int:
    return os.posix_spawn("/bin/true", ["true"], {})


@pytest.mark.slow
@pytest.mark.parametrize(
    "start",
    [
        os.fork,
        lambda: os.execv("/bin/true", ["true"]),
        lambda: subprocess.run([sys.executable, "-c", ""]).returncode,
        spawn,
    ],
    ids=["fork", "exec", "subprocess", "spawn"],
)
def test_no_process_can_be_started(worker, start):
    assert worker(start).refused


def test_threads_work(worker):
    def count() -> list[int]:
        seen: list[int] = []
        threads = [threading.Thread(target=seen.append, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sorted(seen)

    assert worker(count).value == [0, 1, 2, 3]


def test_what_a_thread_does_is_confined_too(worker):
    def read() -> list[str]:
        errors: list[str] = []

        def body() -> None:
            for action in (lambda: Path("/etc/passwd").read_text(), socket.socket, os.fork):
                try:
                    action()
                except OSError as error:
                    errors.append(type(error).__name__)

        thread = threading.Thread(target=body)
        thread.start()
        thread.join()
        return errors

    assert worker(read).value == ["PermissionError"] * 3


@pytest.mark.slow
def test_other_processes_are_out_of_reach(worker):
    grader = os.getpid()
    assert worker(lambda: os.kill(grader, 0)).refused
    assert worker(lambda: os.kill(0, signal.SIGCONT)).refused
    assert worker(lambda: os.kill(-1, signal.SIGCONT)).refused
    assert worker(lambda: os.sched_setaffinity(grader, {0})).refused
    assert worker(lambda: os.setpriority(os.PRIO_PROCESS, grader, 5)).refused
    assert worker(lambda: resource.prlimit(grader, resource.RLIMIT_NOFILE)).refused
    assert worker(lambda: os.pidfd_open(grader)).refused
    assert worker(os.setsid).refused


def test_a_worker_may_signal_and_pin_itself(worker):
    def use() -> list[int]:
        caught: list[int] = []
        signal.signal(signal.SIGUSR1, lambda number, frame: caught.append(number))
        os.kill(os.getpid(), signal.SIGUSR1)
        signal.raise_signal(signal.SIGUSR1)
        os.sched_setaffinity(0, os.sched_getaffinity(0))
        return caught

    assert worker(use).value == [signal.SIGUSR1] * 2


def test_a_worker_that_aborts_dies_of_it(worker):
    assert worker(os.abort).signal == signal.SIGABRT


def test_the_grader_can_still_kill_a_worker(scratch, user):
    from tests.sandbox.conftest import become

    receive, send = os.pipe()
    pid = os.fork()
    if pid == 0:
        become(user)
        confine(SandboxConfig((), (scratch,)))
        os.write(send, b"confined")
        while True:
            signal.pause()
    assert os.read(receive, 20) == b"confined"
    os.kill(pid, signal.SIGKILL)
    assert os.WTERMSIG(os.waitpid(pid, 0)[1]) == signal.SIGKILL


# Powers


def test_root_loses_its_powers(worker):
    def effective() -> str:
        status = Path("/proc/self/status").read_text()
        return next(line.split()[1] for line in status.splitlines() if line.startswith("CapEff"))

    assert int(worker(effective, read=(Path("/proc"),)).value, 16) == 0


@pytest.mark.sampled(21)
@pytest.mark.slow
@pytest.mark.parametrize(
    "number",
    [
        ("ptrace", 101, 117),
        ("process_vm_readv", 310, 270),
        ("pidfd_getfd", 438, 438),
        ("bpf", 321, 280),
        ("perf_event_open", 298, 241),
        ("userfaultfd", 323, 282),
        ("keyctl", 250, 219),
        ("mount", 165, 40),
        ("fsopen", 430, 430),
        ("unshare", 272, 97),
        ("setns", 308, 268),
        ("io_uring_setup", 425, 425),
        ("reboot", 169, 142),
        ("shmget", 29, 194),
        ("shmat", 30, 196),
        ("shmctl", 31, 195),
        ("semop", 65, 193),
        ("semctl", 66, 191),
        ("msgsnd", 69, 189),
        ("msgrcv", 70, 188),
        ("msgctl", 71, 187),
        ("mq_open", 240, 180),
        ("mq_unlink", 241, 181),
        ("landlock_create_ruleset", 444, 444),
        ("seccomp", 317, 277),
        ("open_by_handle_at", 304, 265),
    ],
    ids=lambda number: number[0],
)
def test_dangerous_system_calls_are_refused(worker, number):
    assert worker(lambda: raw_call(number[1:])).value in (errno.EPERM, errno.ENOSYS)


F_SETLEASE, F_NOTIFY, F_SETSIG, F_SETPIPE_SZ, F_OFD_SETLK = 1024, 1026, 10, 1031, 37


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "value"),
    [
        (F_SETLEASE, fcntl.F_WRLCK),
        (F_SETLEASE, fcntl.F_RDLCK),
        (F_NOTIFY, 1),
        (F_SETSIG, signal.SIGIO),
        (F_SETPIPE_SZ, MIB),
        (F_OFD_SETLK, 0),
    ],
)
def test_what_fcntl_does_to_others_is_refused(worker, open_folder, command, value):
    (open_folder / "installed.py").write_text("")
    path = open_folder / "installed.py"
    assert worker(lambda: fcntl.fcntl(os.open(path, os.O_RDONLY), command, value), read=(path,)).refused


def test_an_installed_file_cannot_be_locked(worker, open_folder):
    path = open_folder / "installed.py"
    path.write_text("")
    assert worker(lambda: fcntl.flock(os.open(path, os.O_RDONLY), fcntl.LOCK_EX), read=(path,)).refused


@pytest.mark.slow
@pytest.mark.parametrize("request_", [0x5412, 0x541C, 0x8901, 0x8902, 0x5423])
def test_other_uses_of_ioctl_are_refused(worker, request_):
    assert worker(lambda: fcntl.ioctl(0, request_, b"x")).refused


def test_clone3_looks_absent_so_that_libraries_fall_back(worker):
    assert worker(lambda: raw_call((435, 435))).value == errno.ENOSYS


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="x32 belongs to x86_64")
@pytest.mark.parametrize("number", [39, 59, 521])
def test_the_x32_numbers_are_refused(worker, number):
    assert worker(lambda: raw_call((0x40000000 | number, 0))).value == errno.ENOSYS


MOVES = {
    "close": lambda: os.close(AUDIT),
    "dup2 over it": lambda: os.dup2(other(), AUDIT),
    "dup3 over it": lambda: os.dup2(other(), AUDIT, inheritable=False),
    "dup": lambda: os.dup(AUDIT),
    "a copy": lambda: fcntl.fcntl(AUDIT, fcntl.F_DUPFD, 50),
    "its size": lambda: fcntl.fcntl(AUDIT, 1031, 4096),
    "its flags": lambda: os.set_blocking(AUDIT, True),
}


@pytest.mark.slow
@pytest.mark.parametrize("way", MOVES)
def test_the_audit_channel_stays_where_it_is(worker, way):
    assert worker(lambda: MOVES[way]() if occupied() else None).refused


@pytest.mark.slow
def test_closing_a_range_leaves_the_audit_channel_open(worker):
    assert worker(lambda: raw_call_of(436, AUDIT, 9)).value == errno.ENOSYS
    assert worker(lambda: raw_call_of(436, 0, 1 << 31)).value == errno.ENOSYS
    assert worker(lambda: raw_call_of(436, AUDIT + 1, AUDIT + 1)).value == 0


def occupied() -> bool:
    """Make sure that something has the number of the audit channel."""
    while True:
        try:
            os.fstat(AUDIT)
        except OSError:
            os.pipe()
        else:
            return True


def other() -> int:
    return os.pipe()[1]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="machine code for x86_64")
def test_a_32_bit_call_ends_the_worker(worker):
    def call() -> int:
        code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # eax = getpid; int 0x80; return
        address = ctypes.addressof(ctypes.c_char.from_buffer(code))
        return ctypes.CFUNCTYPE(ctypes.c_int)(address)()

    # A kernel without 32-bit calls answers with SIGSEGV before the filter is asked.
    assert worker(call).signal in (signal.SIGSYS, signal.SIGSEGV)


def raw_call_of(number: int, *arguments: int) -> int:
    """Make a system call; return the errno, 0 when there is none."""
    library = ctypes.CDLL(None, use_errno=True)
    result = library.syscall(ctypes.c_long(number), *map(ctypes.c_ulong, (*arguments, 0)))
    return ctypes.get_errno() if result < 0 else 0


def raw_call(numbers: tuple[int, int]) -> int:
    """Make a system call with arguments that no kernel accepts; return the errno."""
    library = ctypes.CDLL(None, use_errno=True)
    number = numbers[platform.machine() != "x86_64"]
    invalid = ctypes.c_long(-1)
    library.syscall(ctypes.c_long(number), invalid, invalid, invalid, invalid, invalid)
    return ctypes.get_errno()


# Limits


@pytest.mark.nightly
def test_memory_beyond_the_limit_is_a_memory_error(worker):
    limits = ResourceLimits(memory_bytes=256 * MIB)
    assert worker(lambda: len(bytearray(128 * MIB)), limits=limits).value == 128 * MIB
    # Far beyond: what this process has freed and kept may serve a part of it.
    assert worker(lambda: len(bytearray(1024 * MIB)), limits=limits).error == "MemoryError"
    assert (
        worker(lambda: len(bytearray(1024 * MIB)), limits=ResourceLimits(memory_bytes=None)).value
        == 1024 * MIB
    )


def test_a_file_beyond_the_limit_fails(worker, scratch):
    limits = ResourceLimits(file_bytes=MIB)
    assert worker(lambda: (scratch / "a").write_bytes(b"x" * MIB), limits=limits).value == MIB
    assert worker(lambda: (scratch / "b").write_bytes(b"x" * 2 * MIB), limits=limits).errno == errno.EFBIG


def test_files_beyond_the_limit_cannot_be_opened(worker):
    def open_many() -> int:
        return len([os.open("/dev/null", os.O_RDONLY) for _ in range(100)])

    assert worker(open_many, limits=ResourceLimits(open_files=50)).errno == errno.EMFILE
    assert worker(open_many).value == 100


def test_limits_cannot_be_raised_again(worker):
    def raise_again() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    assert worker(raise_again).error == "ValueError"


def test_nothing_dumps_core(worker):
    assert worker(lambda: resource.getrlimit(resource.RLIMIT_CORE)).value == [0, 0]


# Confined as promised, or not at all


def refuse(*_: object, **__: object) -> None:
    raise OSError(errno.EIO, "this once")


STEPS = {
    "the count of threads": lambda patch: patch.setattr(os, "listdir", lambda path: ["1", "2"]),
    "the limits": lambda patch: patch.setattr(resource, "setrlimit", refuse),
    "a limit out of range": lambda patch: patch.setattr(resource, "getrlimit", lambda kind: (-5, -5)),
    "the size of memory": lambda patch: patch.setattr(resource_limits, "mapped_bytes", refuse),
    "no_new_privs": lambda patch: patch.setattr(libc, "prctl", lambda *_: errno.EIO),
    "Landlock's rules": lambda patch: patch.setattr(landlock, "Ruleset", refuse),
    "Landlock's absence": lambda patch: patch.setattr(landlock, "abi", lambda: 0),
    "the capabilities": lambda patch: patch.setattr(libc, "drop_capabilities", lambda: errno.EPERM),
    "the architecture": lambda patch: patch.setattr(seccomp, "architecture", lambda: None),
    "the filter": lambda patch: patch.setattr(seccomp, "assemble", lambda *_: b"\0" * 8),
}


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
def test_a_step_that_fails_ends_the_confinement(worker, monkeypatch, step):
    STEPS[step](monkeypatch)
    outcome = worker(lambda: "ran")
    assert (outcome.value, outcome.error) == (None, "ConfinementError")


def test_full_without_a_sandbox_is_not_confined_instead(scratch, monkeypatch):
    monkeypatch.setattr(os, "listdir", lambda path: ["1"])
    with pytest.raises(ConfinementError, match="no sandbox was prepared"):
        confine(SandboxConfig((), (scratch,), level="full"))


def test_paths_that_do_not_exist_are_skipped(worker):
    assert worker(lambda: 1, read=(Path("/no/such/place"),)).value == 1
