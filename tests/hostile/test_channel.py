"""A hand-made worker that answers anything at all never crashes, hangs, grows or misleads the grader."""

from __future__ import annotations

import base64
import gc
import os
import random
import resource
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.engine.host import calls as calls_module
from grader.engine.host.deadline import Deadline
from grader.engine.wire import messages
from tests.hostile import messages as made_up
from tests.hostile.messages import Conversation, Stranger, frame

KEPT = [line.split() for line in (Path(__file__).parent / "channel.txt").read_text().splitlines()]
"""Messages that had an outcome of their own when they were found: what had been asked with a digest of the outcome, and
the message in base64. `benchmarks/fuzz_channel.py --keep` adds to them."""


@pytest.fixture
def stranger() -> Iterator[Stranger]:
    one = Stranger()
    yield one
    one.close()


@pytest.mark.nightly
@settings(max_examples=150, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32))
def test_whatever_is_answered_is_a_value_or_a_failure(seed: int) -> None:
    talk = Conversation(random.Random(seed))
    try:
        for _ in range(20):
            talk.step()
    finally:
        talk.close()


@pytest.mark.slow
@pytest.mark.parametrize("number", range(8))
def test_what_was_found_before(number: int) -> None:
    assert len(KEPT) >= 100
    for name, message in KEPT[number::8]:
        one = Stranger()
        try:
            one.exchange(name.partition("-")[0], base64.b64decode(message), hang_up=True)
        finally:
            one.close()


@pytest.mark.slow
def test_nothing_is_left_open_or_held() -> None:
    def talk_for(steps: int) -> None:
        talk = Conversation(random.Random(steps))
        for _ in range(steps):
            talk.step()
        talk.close()

    talk_for(50)
    gc.collect()
    descriptors, objects = len(os.listdir("/proc/self/fd")), len(gc.get_objects())
    talk_for(400)
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == descriptors
    assert len(gc.get_objects()) - objects < 400


def test_an_answer_after_death_is_never_read(stranger: Stranger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(made_up, "PATIENCE_S", 60.0)  # both answers are there before they are asked for
    assert "broke off" in stranger.exchange("get", b"HTTP" + bytes(12), hang_up=False)
    assert not stranger.alive
    assert "had ended already" in stranger.exchange("get", b"KATA" + bytes(12), hang_up=False)


def test_what_is_announced_takes_no_memory_until_it_comes() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(10):
        one = Stranger()
        head = msgspec.msgpack.encode({"is": "done", "id": 1})
        announced = messages.PREFIX.pack(messages.MAGIC, len(head), messages.MAX_PAYLOAD) + head + bytes(1000)
        assert "closed its connection" in one.exchange("get", announced, hang_up=True)
        one.close()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 32 << 10


def test_what_is_kept_of_the_answers_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls_module, "MAX_OBSERVED_BYTES", 4096)
    one = Stranger()
    tensor = ["uint8", [1024], 0, 1024, "cpu", None, False, "tensor", -1]
    for number in range(1, 9):
        head = {"is": "done", "id": number, "value": [3, 0], "tensors": [tensor]}
        one.session.deadline = Deadline(60)
        one.put(frame(head, bytes(1024)))
        assert one.session.get(0, "thing").shape == (1024,)
    kept = [value for value in one.session.log.observed if isinstance(value, torch.Tensor)]
    assert (len(kept), len(one.session.log.observed)) == (4, 8)
    one.close()
