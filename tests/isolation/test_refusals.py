"""What is refused is said so that a learner understands it, also where a library wraps it."""

from __future__ import annotations

import pytest

from tests.isolation.conftest import Lab, Submission

SOURCE = """
    import ctypes, concurrent.futures, fcntl, multiprocessing, os, socket, subprocess, sys, urllib.request
    import torch
    from torch.utils.data import DataLoader

    def loader():
        return next(iter(DataLoader(torch.ones(8, 2), num_workers=1))).tolist()

    def pool():
        multiprocessing.Pool(1)

    def spawned_pool():
        multiprocessing.get_context("spawn").Pool(1)

    def process():
        multiprocessing.Process(target=print).start()

    def lock():
        multiprocessing.Lock()

    def queue():
        multiprocessing.Queue()

    def executor():
        concurrent.futures.ProcessPoolExecutor().submit(print)

    def program():
        subprocess.run(["true"])

    def shell():
        os.system("true") and os.posix_spawn("/bin/true", ["true"], {})

    def fork():
        os.fork()

    def connection():
        socket.create_connection(("127.0.0.1", 1))

    def name():
        socket.getaddrinfo("example.org", 80)

    def page():
        urllib.request.urlopen("http://127.0.0.1/")

    def shared():
        torch.ones(2).share_memory_()

    def lease():
        fcntl.fcntl(os.open(os.__file__, os.O_RDONLY), 1024, fcntl.F_WRLCK)

    def lock_installed():
        fcntl.flock(os.open(os.__file__, os.O_RDONLY), fcntl.LOCK_EX)

    def watch():
        library = ctypes.CDLL(None, use_errno=True)
        if library.inotify_init() < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    def reraised():
        try:
            os.fork()
        except OSError as error:
            raise error from error
"""
PROCESSES = "a submission starts no processes"
CONNECTIONS = "a submission opens no connections"
ALONE = "starts no processes, opens no connections and leaves others alone"
WORDS = {
    **dict.fromkeys(
        ("loader", "pool", "spawned_pool", "process", "lock", "queue", "executor"), "num_workers=0"
    ),
    **dict.fromkeys(("program",), PROCESSES),
    **dict.fromkeys(("connection", "name", "page"), CONNECTIONS),
    **dict.fromkeys(("shell", "fork", "shared", "lease", "lock_installed", "watch", "reraised"), ALONE),
}


@pytest.fixture(scope="module")
def opened() -> dict[Lab, Submission]:
    """The submission, once in each lab, which closes it."""
    return {}


@pytest.mark.sampled(19)
@pytest.mark.slow
@pytest.mark.parametrize("way", WORDS)
def test_what_is_refused_is_explained(confined: Lab, opened: dict[Lab, Submission], way: str) -> None:
    if confined not in opened:
        opened[confined] = confined.open(SOURCE, "refusals")
    text = opened[confined](way).text
    assert WORDS[way] in text
    assert text.count("a submission") + text.count(ALONE) - text.count("a submission " + ALONE) == 1
