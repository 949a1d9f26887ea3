"""The lock of a device: among processes that know nothing of each other, whoever is timed is alone on it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.engine.timing import device
from grader.errors import EngineError, MachineFault
from grader.instructor.grading.grading_process import in_turn
from grader.instructor.grading.messages import Setup, Task
from grader.instructor.submissions.submission import Bundle
from grader.report.report import KataReport

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel lists who waits for a lock")

HOLDER = """
import sys
from grader.engine.timing import device
mode, name = sys.argv[1:]
print("asks", flush=True)
with getattr(device, mode)(name):
    print("in", flush=True)
    sys.stdin.readline()
print("out", flush=True)
"""
PATIENCE_S = 60.0


class Holder:
    """A process that wants a device."""

    def __init__(self, mode: str, name: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, mode, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        self.hear("asks")

    def hear(self, word: str) -> None:
        """Wait until it says this next."""
        assert self.process.stdout is not None
        assert self.process.stdout.readline().strip() == word

    def has_to_wait(self) -> bool:
        """Return whether the kernel lets it wait for a lock, as soon as that is known."""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            for line in Path("/proc/locks").read_text().splitlines():
                _, *words = line.split()
                if words[0] == "->" and words[4] == str(self.process.pid):
                    return True
            if self.process.poll() is not None:
                return False
        return False

    def leave(self) -> None:
        """Let it give the device back."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.hear("out")
        self.process.wait()

    def die(self) -> None:
        self.process.kill()
        self.process.wait()


Want = Callable[..., Holder]


@pytest.fixture
def want(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Want]:
    """Start a process that wants the device: `want("exclusive_lock")`."""
    monkeypatch.setenv("KATA_LOCKS", str(tmp_path))
    made: list[Holder] = []

    def start(mode: str, name: str = "cpu") -> Holder:
        made.append(Holder(mode, name))
        return made[-1]

    yield start
    for holder in made:
        holder.process.kill()
        holder.process.communicate()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("exclusive_lock", "exclusive_lock"),
        ("exclusive_lock", "shared_lock"),
        ("shared_lock", "exclusive_lock"),
    ],
)
def test_whoever_is_alone_keeps_others_out(want: Want, first: str, second: str) -> None:
    one = want(first)
    one.hear("in")
    other = want(second)
    assert other.has_to_wait()
    one.leave()
    other.hear("in")


def test_those_who_share_are_in_together(want: Want) -> None:
    one, other = want("shared_lock"), want("shared_lock")
    one.hear("in")
    other.hear("in")


def test_another_device_is_another_lock(want: Want) -> None:
    for name in ("cpu", "cuda:0", "cuda:1"):
        want("exclusive_lock", name).hear("in")


def test_newcomers_queue_behind_whoever_wants_to_be_alone(want: Want) -> None:
    sharing = want("shared_lock")
    sharing.hear("in")
    timed = want("exclusive_lock")
    assert timed.has_to_wait()
    newcomer = want("shared_lock")
    assert newcomer.has_to_wait()
    sharing.leave()
    timed.hear("in")
    assert newcomer.has_to_wait()
    timed.leave()
    newcomer.hear("in")


@pytest.mark.parametrize("mode", ["exclusive_lock", "shared_lock"])
def test_who_dies_gives_it_back(want: Want, mode: str) -> None:
    one = want(mode)
    one.hear("in")
    other = want("exclusive_lock")
    assert other.has_to_wait()
    one.die()
    other.hear("in")


def test_who_shares_it_may_have_it_alone_for_a_while(want: Want) -> None:
    with device.shared_lock("cpu"):
        with device.exclusive_lock("cpu"):
            sharing = want("shared_lock")
            assert sharing.has_to_wait()
        sharing.hear("in")
        timed = want("exclusive_lock")
        assert timed.has_to_wait()
        sharing.leave()
        assert timed.has_to_wait()
    timed.hear("in")


def test_who_is_alone_may_be_timed_meanwhile(want: Want) -> None:
    with device.exclusive_lock("cuda"):
        with device.exclusive_lock("cuda"):
            pass
        assert want("exclusive_lock", "cuda").has_to_wait()


@pytest.mark.slow
@pytest.mark.parametrize(
    "outcomes", [["pass"], ["fail", "pass"], ["fail", "fail"], [MachineFault("no memory is left"), "pass"]]
)
def test_beside_others_on_a_gpu_only_a_pass_is_believed(want: Want, outcomes: list[Any]) -> None:
    left = iter(outcomes)
    neighbour = want("shared_lock", "cuda")
    neighbour.hear("in")
    began: list[float] = []

    def graded() -> KataReport:
        outcome = next(left)
        if len(began) > 2:
            assert want("shared_lock", "cuda").has_to_wait()
        elif outcome != "pass":
            neighbour.leave()
        if isinstance(outcome, MachineFault):
            raise outcome
        return KataReport(kata="masks", number="9.3.1", status=outcome, score=0.0, max_score=1.0, seed=0)

    task = Task(kata="masks", seed=0, bundle=Bundle("masks.py", {"masks.py": b""}))
    answer = in_turn(task, Setup(katas={}, device="cuda"), began.append, graded)
    assert isinstance(answer, KataReport)
    assert answer.status == outcomes[-1]
    assert next(left, None) is None
    assert began == [0.0] * 2 * len(outcomes)


def test_a_lock_that_cannot_be_made_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATA_LOCKS", str(tmp_path / "nowhere"))
    with pytest.raises(EngineError, match=r"kata-cuda-0-turn\.lock"), device.exclusive_lock("cuda:0"):
        pass
