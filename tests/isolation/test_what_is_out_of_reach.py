"""What a submission tries, and cannot do, at every level that claims to stop it."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.engine.sandbox import python_read_paths
from tests.isolation.conftest import Lab, Submission

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).resolve().parents[2]

SOURCE = """
    import ctypes, os, resource, signal, socket, subprocess

    LIBC = ctypes.CDLL(None, use_errno=True)

    def attempt(body):
        try:
            return body()
        except OSError as error:
            return f"refused: {type(error).__name__}"

    def read(path):
        return attempt(lambda: open(path, "rb").read(64).decode("latin-1"))

    def names(path):
        return attempt(lambda: sorted(os.listdir(path)))

    def write(path):
        return attempt(lambda: str(open(path, "a").write("x")))

    def kill(pid):
        return attempt(lambda: str(os.kill(pid, 0)))

    def connect(family, address):
        return attempt(lambda: str(socket.socket(family).connect(address)))

    def serve():
        return attempt(lambda: str(socket.create_server(("127.0.0.1", 0))))

    def call(number, *arguments):
        result = LIBC.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments))
        return [result, ctypes.get_errno() if result < 0 else 0]

    def mount():
        result = LIBC.mount(b"none", os.getcwd().encode(), b"tmpfs", 0, None)
        return [result, ctypes.get_errno()]

    def start(program):
        return attempt(lambda: subprocess.run([program]).returncode)

    def identity():
        return [os.getpid(), os.getuid(), os.geteuid(), os.getgid(), os.getgroups()]

    def become(user):
        return attempt(lambda: str(os.setuid(user)))

    def folder():
        return os.getcwd()
"""


@pytest.fixture
def submission(lab: Lab) -> Iterator[Submission]:
    opened = lab.open(SOURCE)
    yield opened
    opened.close()


def refused(value: object) -> bool:
    return isinstance(value, str) and value.startswith("refused")


def test_files_of_others(confined: Lab, submission: Submission) -> None:
    for path in (
        "/etc/passwd",
        "/etc/shadow",
        PROJECT / "pyproject.toml",
        PROJECT / "grader" / "errors.py",
        next((PROJECT / "solutions").rglob("*.py"), PROJECT / "pyproject.toml"),
        "/proc/self/environ",
        "/proc/1/cmdline",
        f"/proc/{os.getpid()}/environ",
        f"/proc/{os.getpid()}/maps",
    ):
        assert refused(submission("read", str(path)).value), path


def test_folders_of_others(confined: Lab, submission: Submission) -> None:
    for path in ("/", "/etc", "/tmp", "/proc", "/dev", str(Path.home()), str(PROJECT)):
        assert refused(submission("names", path).value), path
        assert refused(submission("write", f"{path}/kata-was-here").value), path


def test_its_own_folder_can_be_read_and_not_written(confined: Lab, submission: Submission) -> None:
    own = confined.folder / "own"
    (own / "data.txt").write_text("mine")
    (own / "data.txt").chmod(0o600)
    os.chown(own / "data.txt", own.stat().st_uid, own.stat().st_gid)
    assert submission("read", str(own / "data.txt")).value == "mine"
    assert {"answer.py", "data.txt"} <= set(submission("names", str(own)).value)
    assert refused(submission("write", str(own / "data.txt")).value)
    assert refused(submission("write", str(own / "new.txt")).value)
    assert (own / "data.txt").read_text() == "mine"


def test_the_scratch_of_another(confined: Lab, submission: Submission) -> None:
    other = confined.open("import os\ndef leave():\n    open('secret', 'w').write('42')\n", "other")
    assert other("leave").error is None
    assert refused(submission("read", str(other.scratch / "secret")).value)
    assert refused(submission("names", str(other.scratch)).value)
    other.close()


def test_the_scratch_of_the_submission_before(confined: Lab) -> None:
    source = SOURCE + "\n    def leave():\n        open('left', 'w').write('42')\n"
    before = confined.open(source, "before")
    assert before("leave").error is None
    assert "left" in before("names", before("folder").value).value
    before.close()
    after = confined.open(source, "after")
    assert "left" not in after("names", after("folder").value).value
    assert refused(after("names", str(before.scratch)).value)
    after.close()


def test_processes_of_others(confined: Lab, submission: Submission) -> None:
    other = confined.open("x = 1", "other")
    for pid in (confined.pid, other.pid, os.getpid(), os.getppid(), 1, -1, 0):
        assert refused(submission("kill", pid).value)
    other.close()


def test_no_process_of_the_machine_is_in_its_cell(shut_in: Lab, submission: Submission) -> None:
    pid, user, effective, group, groups = submission("identity").value
    assert pid < 1000, "counted in the zygote's namespace"
    assert user == effective
    namespaces = {
        name: os.readlink(f"/proc/{submission.pid}/ns/{name}") for name in ("pid", "mnt", "ipc", "net")
    }
    assert all(os.readlink(f"/proc/self/ns/{name}") != there for name, there in namespaces.items())
    other = shut_in.open("x = 1", "other")
    assert all(os.readlink(f"/proc/{other.pid}/ns/{name}") != namespaces[name] for name in ("mnt", "ipc"))
    other.close()
    if shut_in.user is None and os.geteuid() == 0:
        assert 0x70000000 <= user < 0x80000000
        assert (group, groups) == (user, [])


def test_two_workers_of_root_are_two_users(shut_in: Lab, submission: Submission) -> None:
    if shut_in.user is not None or os.geteuid() != 0:
        pytest.skip("an ordinary user has one name only")
    other = shut_in.open(SOURCE, "other")
    assert submission("identity").value[1] != other("identity").value[1]
    other.close()


def test_nothing_of_the_machine_is_in_view(shut_in: Lab, submission: Submission) -> None:
    view = Path(f"/proc/{submission.pid}/root")
    assert not (view / "etc/passwd").exists()
    assert not (view / "etc/shadow").exists()
    assert not (view / PROJECT.relative_to("/") / "solutions").exists()
    assert not (view / PROJECT.relative_to("/") / "grader").exists()
    assert not (view / "dev/shm").exists()
    assert sorted(path.name for path in (view / "proc").iterdir()) == ["cpuinfo", "meminfo", "stat"]
    beside = {path.name for path in (view / submission.scratch.parent.relative_to("/")).iterdir()}
    # Where Python itself lies below the temporary folder, the way there is in view, too.
    temporary = submission.scratch.parent
    way = {
        path.relative_to(temporary).parts[0] for path in python_read_paths() if path.is_relative_to(temporary)
    }
    assert beside - way == {submission.scratch.name, shut_in.folder.name}


def test_the_network(confined: Lab, submission: Submission) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert refused(submission("connect", int(socket.AF_INET), server.getsockname()).value)
        assert refused(submission("connect", int(socket.AF_INET), ("127.0.0.1", 1)).value)
    assert refused(submission("connect", int(socket.AF_INET6), ("::1", 1)).value)
    assert refused(submission("serve").value)


@pytest.mark.parametrize("abstract", [True, False])
def test_local_services(confined: Lab, submission: Submission, abstract: bool) -> None:
    path = confined.folder / "own" / "service"
    address = f"\0kata-{os.getpid()}" if abstract else str(path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        if not abstract:
            path.chmod(0o777)
        assert refused(submission("connect", int(socket.AF_UNIX), address).value)
    path.unlink(missing_ok=True)


def test_other_programs(confined: Lab, submission: Submission) -> None:
    for program in ("/bin/true", "/usr/bin/su", "/usr/bin/passwd", "sh"):
        assert refused(submission("start", program).value)


def test_powers(confined: Lab, submission: Submission) -> None:
    status = Path(f"/proc/{submission.pid}/status").read_text().splitlines()
    powers = {line.split()[0]: int(line.split()[1], 16) for line in status if line.startswith("Cap")}
    assert [powers[name] for name in ("CapInh:", "CapPrm:", "CapEff:", "CapAmb:")] == [0] * 4
    if confined.level == "full" and confined.user is None and os.geteuid() == 0:
        assert refused(submission("become", 0).value)
    assert submission("mount").value[0] == -1


def test_calls_that_lead_out(confined: Lab, submission: Submission) -> None:
    numbers = {"ptrace": (101, 117), "bpf": (321, 280), "mount": (165, 40), "open_by_handle_at": (304, 265)}
    numbers |= {"unshare": (272, 97), "setns": (308, 268), "pivot_root": (155, 41), "chroot": (161, 51)}
    for name, pair in numbers.items():
        result, code = submission("call", pair[os.uname().machine == "aarch64"], 16, 1, 0, 0).value
        assert (result, code in (errno.EPERM, errno.ENOSYS)) == (-1, True), name
