from __future__ import annotations

import os
import signal

import pytest

from grader.engine.sandbox import become_subreaper, kill_descendants


def start_sleeper() -> int:
    pid = os.fork()
    if pid == 0:
        signal.alarm(30)  # so that a failing test leaves nothing behind
        while True:
            signal.pause()
    return pid


def start_orphan() -> int:
    """Let a child start a grandchild and die; return the grandchild."""
    receive, send = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(send, str(start_sleeper()).encode())
        os._exit(0)
    orphan = int(os.read(receive, 20))
    os.waitpid(pid, 0)
    return orphan


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_orphans_are_killed_and_reaped(worker):
    def work() -> list[object]:
        adopted = become_subreaper()
        orphan = start_orphan()
        return [adopted, kill_descendants(), alive(orphan), kill_descendants()]

    assert worker(work, confined=False).value == [True, 1, False, 0]


@pytest.mark.slow
def test_excluded_children_live_on(worker):
    def work() -> list[object]:
        become_subreaper()
        spared, child, orphan = start_sleeper(), start_sleeper(), start_orphan()
        killed = kill_descendants({spared})
        states = [killed, alive(spared), alive(child), alive(orphan)]
        return [*states, kill_descendants()]

    assert worker(work, confined=False).value == [2, True, False, False, 1]


def test_what_a_killed_child_leaves_behind_goes_too(worker):
    def work() -> list[object]:
        become_subreaper()
        receive, send = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.write(send, str(start_sleeper()).encode())
            while True:
                signal.pause()
        grandchild = int(os.read(receive, 20))
        return [kill_descendants(), alive(pid), alive(grandchild)]

    assert worker(work, confined=False).value == [2, False, False]


def test_kernels_without_lists_of_children_are_searched(worker, monkeypatch):
    from pathlib import Path

    listed = Path.glob
    monkeypatch.setattr(
        Path, "glob", lambda self, pattern: [] if "children" in pattern else listed(self, pattern)
    )

    def work() -> list[object]:
        become_subreaper()
        orphan = start_orphan()
        return [kill_descendants(), alive(orphan)]

    assert worker(work, confined=False).value == [1, False]
