"""A worker is looked at at the same rate whatever it sends, and its limits are the ones that messages name."""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from grader.engine import sandbox
from grader.engine.host import channel as channel_module
from grader.engine.host.channel import Channel, describe_exit
from grader.engine.host.deadline import Deadline
from grader.engine.host.errors import WorkerDied, WorkerTimeout
from grader.engine.host.session import Session
from grader.engine.host.source import Source, Terms
from tests.host.test_hostile_worker import Peer, done

STEP_S = sandbox.LOOK_S / 5
"""What a clock of the test moves on by whenever it is read."""


class Watched:
    """A session whose process counts how often it is looked at."""

    def __init__(self, scratch: Path) -> None:
        self.peer = Peer(scratch)
        self.looks = 0
        self.reason: str | None = None
        self.process = self.peer.launch()
        self.process.exceeded_limit = self._overrun  # type: ignore[method-assign]
        self.channel = Channel(self.process)
        self.session = Session(self.peer, Source(Path("a.py"), b"x"), Terms("a", ()))  # type: ignore[arg-type]
        self.session._channel = self.channel
        self.session.deadline = Deadline(600)

    def _overrun(self) -> str | None:
        self.looks += 1
        return self.reason

    def pour(self, pieces: Iterator[bytes]) -> None:
        """Send one piece whenever the grader begins to wait, and no sooner."""
        real, end = self.channel._poll, self.peer.end

        def poll(patience: float) -> Any:
            for piece in itertools.islice(pieces, 1):
                end.sendall(piece)
            return real.poll(patience)

        self.channel._poll = SimpleNamespace(poll=poll, modify=real.modify, unregister=real.unregister)  # type: ignore[assignment]


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    clock = itertools.count(1000.0, STEP_S)
    monkeypatch.setattr(channel_module, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    one = Watched(tmp_path)
    yield one
    one.session.close()
    one.peer.close()


def test_an_answer_in_drops_does_not_put_off_the_next_look(watched: Watched) -> None:
    answer = done(7)
    watched.pour(iter([answer[place : place + 1] for place in range(len(answer))]))
    assert watched.session.get(0, "thing") == 7
    assert watched.looks >= len(answer) // 5


def test_many_quick_answers_do_not_put_off_the_next_look(watched: Watched) -> None:
    for number in range(1, 41):
        watched.peer.end.sendall(done(number, id=number))  # it is there before the question
        assert watched.session.get(0, "thing") == number
    assert watched.looks >= 5
    watched.reason = "used more than 1 MB of memory"
    for number in range(41, 81):
        watched.peer.end.sendall(done(number, id=number))

    def ask_on() -> None:
        for number in range(41, 81):
            assert watched.session.get(0, "thing") == number

    with pytest.raises(WorkerDied, match="used more than 1 MB of memory, so it was stopped"):
        ask_on()


def test_quick_answers_come_to_an_end_at_the_deadline(watched: Watched) -> None:
    watched.peer.end.sendall(done(1))
    watched.session.deadline = Deadline(-1)
    with pytest.raises(WorkerTimeout):
        watched.session.get(0, "thing")
    assert watched.peer.killed


def test_what_is_printed_is_counted_whenever_it_is_read(watched: Watched) -> None:
    watched.process.limits = replace(watched.process.limits, output_bytes=1 << 10)
    os.write(watched.peer.print, bytes(2 << 10))
    watched.pour(iter([done(7)]))
    with pytest.raises(WorkerDied, match="printed more than"):
        watched.session.get(0, "thing")


def test_how_it_ended_names_the_limit_that_it_had() -> None:
    limits = replace(sandbox.ResourceLimits(), cpu_s=7)
    assert "more than 7 s of processor time" in describe_exit(-signal.SIGXCPU, limits)
