"""A worker that lies: whatever it sends, the grader says that it died or timed out, and never trips itself."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch

from grader.engine.host.calls import CallRecord, Calls
from grader.engine.host.channel import Channel
from grader.engine.host.deadline import Deadline
from grader.engine.host.errors import WorkerDied, WorkerTimeout
from grader.engine.host.launcher import WorkerProcess
from grader.engine.host.remote import RemoteSubmission
from grader.engine.host.session import Session
from grader.engine.host.source import Source, Terms
from grader.engine.wire import codec, messages


class Peer:
    """The far end of a channel, in the hands of the test; also the launcher that hands it out."""

    name = "fork"

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self.killed = 0

    def launch(self, job: Any = None) -> WorkerProcess:
        ours, self.end = socket.socketpair()
        for end in (ours, self.end):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)
        output, self.print = os.pipe()
        ours.setblocking(False)
        os.set_blocking(output, False)
        peer = self

        class Process(WorkerProcess):
            def kill(self) -> None:
                peer.killed += 1

        return Process(0, ours, output, self._scratch / "none", self)

    def reap(self, pid: int, patience_s: float) -> int | None:
        return None

    def close(self) -> None:
        with suppress(OSError):
            self.end.close()
            os.close(self.print)


@pytest.fixture
def peer(tmp_path: Path) -> Iterator[Peer]:
    peer = Peer(tmp_path)
    yield peer
    peer.close()


def frame(message: object, payload: bytes = b"") -> bytes:
    head = message if isinstance(message, bytes) else msgspec.msgpack.encode(message)
    return messages.PREFIX.pack(messages.MAGIC, len(head), len(payload)) + head + payload


def done(value: object = None, id: int = 1, payload: bytes = b"", **fields: object) -> bytes:
    return frame({"is": "done", "id": id, "value": value, **fields}, payload)


def head(
    dtype: str = "float32", shape: Any = (2,), offset: int = 0, nbytes: int = 8, **more: Any
) -> list[Any]:
    """Return a TensorHead as it travels."""
    rest = {"device": "cpu", "strides": None, "requires_grad": False, "kind": "tensor", "grad": -1} | more
    return [dtype, list(shape), offset, nbytes, *rest.values()]


PAYLOAD = bytes(64)
TENSOR = [codec.TENSOR, 0]
PATIENCE_S = 60.0
"""For answers that do come, however busy the machine is."""


def ask(peer: Peer, answer: bytes, *, hang_up: bool = False, timeout_s: float = PATIENCE_S) -> Any:
    """Let the peer answer a call, and return what the check gets."""
    source = Source(Path("answer.py"), b"pass")
    session = Session(peer, source, Terms("answer", ()))  # type: ignore[arg-type]
    session._channel = Channel(peer.launch())
    session.deadline = Deadline(timeout_s)
    if len(answer) < 100_000:
        peer.end.sendall(answer)
    else:  # more than a socket holds
        threading.Thread(target=send, args=(peer.end, answer), daemon=True).start()
    if hang_up:
        peer.end.shutdown(socket.SHUT_RDWR)
    submission = RemoteSubmission(session, Calls())
    try:
        return submission.thing
    finally:
        session.close()


def call_of(*arguments: Any) -> CallRecord:
    return CallRecord("f", "", arguments, {})


def send(end: socket.socket, data: bytes) -> None:
    with suppress(OSError):  # whoever had enough has hung up
        end.sendall(data)


def refuses(peer: Peer, answer: bytes) -> str:
    with pytest.raises(WorkerDied) as caught:
        ask(peer, answer)
    assert peer.killed
    return caught.value.how


def test_an_honest_answer_is_believed(peer: Peer) -> None:
    assert ask(peer, done(3)) == 3
    tensor = ask(peer, done(TENSOR, tensors=[head()], payload=PAYLOAD))
    assert tensor.tolist() == [0, 0]


FRAMES = {
    "no magic": b"HTTP" + bytes(12),
    "a head over its bound": messages.PREFIX.pack(messages.MAGIC, messages.MAX_HEAD + 1, 0),
    "the largest head": messages.PREFIX.pack(messages.MAGIC, 2**32 - 1, 0),
    "a payload over its bound": messages.PREFIX.pack(messages.MAGIC, 1, messages.MAX_PAYLOAD + 1),
    "the largest payload": messages.PREFIX.pack(messages.MAGIC, 0, 2**64 - 1),
    "an empty head": frame(b""),
    "no message pack": frame(b"\xc1\xc1"),
    "trailing bytes in the head": frame(msgspec.msgpack.encode({"is": "done", "id": 1}) + b"\x00"),
    "a number": frame(5),
    "a list": frame([1, 2]),
    "no tag": frame({"id": 1}),
    "an unknown tag": frame({"is": "pickle", "id": 1}),
    "an unknown field": frame({"is": "done", "id": 1, "evil": 1}),
    "another id": done(id=2),
    "a negative id": done(id=-1),
    "an id of text": frame({"is": "done", "id": "1"}),
    "a second greeting": frame({"is": "hello", "id": 1, "isolation": "full"}),
    "a request": frame({"do": "call", "id": 1, "target": 0}),
    "nested too deep": frame(b"\x82\xa2is\xa4done\xa5value" + b"\x91" * 100_000 + b"\xc0"),
    "names without end": frame({"is": "raised", "id": 1, "bases": ["E" * 5000], "message": ""}),
    "an exception without a class": frame({"is": "raised", "id": 1, "bases": [], "message": ""}),
    "frames without end": frame(
        {
            "is": "raised",
            "id": 1,
            "bases": ["a.E"],
            "message": "",
            "frames": [["f", 1, "g", "t", 0]] * 33,
        }
    ),
    "a line before the first": frame(
        {"is": "raised", "id": 1, "bases": ["a.E"], "message": "", "frames": [["f", -1, "g", "t", 0]]}
    ),
    "text that is no UTF-8": frame(b"\x82\xa2is\xaaunsendable\xa6reason\xa2\xff\xff"),
    "payload for no tensor": done(1, payload=PAYLOAD),
}


@pytest.mark.parametrize("answer", FRAMES.values(), ids=FRAMES)
def test_a_frame_that_is_none_ends_the_worker(peer: Peer, answer: bytes) -> None:
    assert "broke off the conversation" in refuses(peer, answer)


HEADS: dict[str, tuple[list[Any], bytes]] = {
    "an unknown dtype": (head("float31"), PAYLOAD),
    "a quantised dtype": (head("qint8", (8,)), PAYLOAD),
    "a dtype of raw bits": (head("bits8", (8,)), PAYLOAD),
    "a dtype of half bytes": (head("float4_e2m1fn_x2", (64,), nbytes=64), PAYLOAD),
    "an attribute of torch": (head("__loader__"), PAYLOAD),
    "a negative size": (head(shape=(-2,)), PAYLOAD),
    "two negative sizes": (head(shape=(-1, -2)), PAYLOAD),
    "an enormous size": (head(shape=(2**48, 2**48), nbytes=8), PAYLOAD),
    "an enormous size times nothing": (head(shape=(0, 2**48, 2**48), nbytes=0), b""),
    "more rows of nothing than anybody can go through": (head(shape=(2**40, 0), nbytes=0), b""),
    "nothing in many axes": (head(shape=(2,) * 40 + (0,), nbytes=0), b""),
    "a shape of text": (head(shape=("2",)), PAYLOAD),
    "more axes than torch has": (head(shape=(1,) * 65, nbytes=4), PAYLOAD),
    "a gap before it": (head(offset=64), PAYLOAD * 2),
    "more bytes than were sent": (head(shape=(17,), nbytes=68), PAYLOAD),
    "fewer bytes than the shape needs": (head(shape=(3,), nbytes=8), PAYLOAD),
    "an offset behind the end": (head(offset=128), PAYLOAD),
    "a negative offset": (head(offset=-64), PAYLOAD),
    "an offset that is not aligned": (head(offset=1), PAYLOAD),
    "an offset of 2^63": (head(offset=2**63), PAYLOAD),
    "strides": (head(strides=[1]), PAYLOAD),
    "negative strides": (head(strides=[-1]), PAYLOAD),
    "a device that is not here": (head(device="cuda:7"), PAYLOAD),
    "a device that is none": (head(device="floppy"), PAYLOAD),
    "the meta device": (head(device="meta"), PAYLOAD),
    "itself as its gradient": (head(grad=0, requires_grad=True), PAYLOAD),
    "a gradient that was not sent": (head(grad=7, requires_grad=True), PAYLOAD),
    "too few fields": (head()[:2], PAYLOAD),
    "too many fields": ([*head(), 1], PAYLOAD),
    "bytes that nobody uses": (head(), PAYLOAD * 2),
}


@pytest.mark.slow
@pytest.mark.parametrize(("described", "payload"), HEADS.values(), ids=HEADS)
def test_a_tensor_that_is_none_ends_the_worker(peer: Peer, described: list[Any], payload: bytes) -> None:
    refuses(peer, done(TENSOR, tensors=[described], payload=payload))


@pytest.mark.parametrize("payload", [PAYLOAD, PAYLOAD * 2], ids=["of one", "of two"])
def test_tensors_may_not_share_bytes(peer: Peer, payload: bytes) -> None:
    """Else a payload of 256 MB becomes any number of tensors of that size."""
    both = [codec.LIST, TENSOR, [codec.TENSOR, 1]]
    refuses(peer, done(both, tensors=[head(), head()], payload=payload))


@pytest.mark.slow
def test_a_chain_of_gradients_does_not_overflow_the_stack(peer: Peer) -> None:
    heads = [head(shape=(0,), nbytes=0, grad=index + 1, requires_grad=True) for index in range(15_000)]
    refuses(peer, done(TENSOR, tensors=heads))


VALUES: dict[str, object] = {
    "an unknown code": [99],
    "a negative code": [-1],
    "a code of text": ["0"],
    "no code": [],
    "a map": {"a": 1},
    "an unhashable key": [codec.DICT, [codec.LIST], 1],
    "a key without a value": [codec.DICT, 1],
    "a tensor that was not sent": [codec.TENSOR, 0],
    "a tensor of index -1": [codec.TENSOR, -1],
    "a tensor of index true": [codec.TENSOR, True],
    "a tensor without index": [codec.TENSOR],
    "a handle of text": [codec.HANDLE, "1", "a", "b"],
    "a handle of two": [codec.HANDLE, 1, "a"],
    "a dtype that is none": [codec.DTYPE, "Tensor"],
    "a dtype of a list": [codec.DTYPE, []],
    "a device that is none": [codec.DEVICE, "nowhere:0"],
    "a device of a number": [codec.DEVICE, None],
    "a size of text": [codec.SIZE, "a"],
    "a size of floats": [codec.SIZE, 1.5],
    "a size beyond all": [codec.SIZE, [codec.BIGINT, "f" * 100]],
    "an integer of text": [codec.BIGINT, "xyz"],
    "an integer too long": [codec.BIGINT, "f" * 5000],
    "a slice of four": [codec.SLICE, 1, 2, 3, 4],
    "a complex of text": [codec.COMPLEX, "1", 2],
    "a random state of text": [codec.GENERATOR, "cpu", "state"],
    "a random state of nothing": [codec.GENERATOR, "cpu", None],
    "an extension": msgspec.msgpack.Ext(3, b"abc"),
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_a_value_that_is_none_ends_the_worker(peer: Peer, value: object) -> None:
    refuses(peer, done(value))


def test_a_random_state_that_is_none_ends_the_worker(peer: Peer) -> None:
    size = torch.Generator().get_state().numel()
    for count in (8, size):
        described = head("uint8", (count,), nbytes=count)
        payload = b"\xff" * count + bytes(-count % messages.ALIGNMENT)
        refuses(peer, done([codec.GENERATOR, "cpu", TENSOR], tensors=[described], payload=payload))


def test_not_a_number_is_a_value_like_any(peer: Peer) -> None:
    tensor = ask(peer, done(TENSOR, tensors=[head()], payload=b"\xff" * 64))
    assert tensor.isnan().all()


def test_a_boolean_is_true_or_false_whatever_its_byte(peer: Peer) -> None:
    tensor = ask(peer, done(TENSOR, tensors=[head("bool", (8,))], payload=bytes([0, 1, 2, 255]) * 16))
    assert tensor.sum() == 6
    assert torch.equal(tensor.to(torch.uint8).unique(), torch.tensor([0, 1], dtype=torch.uint8))


def test_an_empty_tensor_of_huge_shape_is_only_a_shape(peer: Peer) -> None:
    tensor = ask(peer, done(TENSOR, tensors=[head(shape=(0, 2**20), nbytes=0)]))
    assert tensor.shape == (0, 2**20)


@pytest.mark.parametrize("cut", [1, 15, 16, 20, -1])
def test_half_a_frame_and_then_nothing(peer: Peer, cut: int) -> None:
    whole = done(TENSOR, tensors=[head()], payload=PAYLOAD)
    with pytest.raises(WorkerDied, match="closed its connection"):
        ask(peer, whole[:cut], hang_up=True)
    with pytest.raises(WorkerTimeout):
        ask(peer, whole[:cut], timeout_s=0.02)


def test_silence_is_a_timeout_and_a_hang_up_is_not(peer: Peer) -> None:
    with pytest.raises(WorkerTimeout):
        ask(peer, b"", timeout_s=0.02)
    with pytest.raises(WorkerDied):
        ask(peer, b"", hang_up=True)


@pytest.mark.slow
def test_a_worker_that_prints_without_end_is_stopped_in_time(peer: Peer) -> None:
    def shout() -> None:
        with suppress(OSError):
            while True:
                os.write(peer.print, b"x" * 65_536)

    session = Session(peer, Source(Path("a.py"), b"x"), Terms("a", ()))  # type: ignore[arg-type]
    process = peer.launch()
    process.limits = replace(process.limits, output_bytes=1 << 50)  # so that it is the clock that stops it
    session._channel = Channel(process)
    session.deadline = Deadline(0.1)
    thread = threading.Thread(target=shout, daemon=True)
    thread.start()
    with pytest.raises(WorkerTimeout):
        session.get(0, "thing")
    assert len(session.take_output()) < 20_000
    peer.close()


def test_a_worker_that_does_not_read_is_a_timeout(peer: Peer) -> None:
    session = Session(peer, Source(Path("a.py"), b"x"), Terms("a", ()))  # type: ignore[arg-type]
    session._channel = Channel(peer.launch())
    session.deadline = Deadline(0.05)
    with pytest.raises(WorkerTimeout):
        session.call(0, call_of(torch.zeros(1 << 23)))


LIES: dict[str, Callable[[], bytes]] = {
    "no list": lambda: done(5, id=2),
    "too few": lambda: done([codec.LIST], id=2),
    "text": lambda: done([codec.LIST, "a"], id=2),
    "another shape": lambda: done(
        [codec.LIST, TENSOR], id=2, tensors=[head(shape=(1,), nbytes=4)], payload=PAYLOAD
    ),
    "another dtype": lambda: done([codec.LIST, TENSOR], id=2, tensors=[head("int32", (2,))], payload=PAYLOAD),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_gradients_that_do_not_fit_end_the_worker(peer: Peer, lie: Callable[[], bytes]) -> None:
    session = Session(peer, Source(Path("a.py"), b"x"), Terms("a", ()))  # type: ignore[arg-type]
    session._channel = Channel(peer.launch())
    session.deadline = Deadline(PATIENCE_S)
    x = torch.ones(2, requires_grad=True)
    peer.end.sendall(done(TENSOR, tensors=[head(requires_grad=True)], payload=PAYLOAD, graph=1) + lie())
    value, _ = session.call(0, call_of(x))
    with pytest.raises(WorkerDied):
        value.sum().backward()


def test_changes_and_states_that_do_not_exist(peer: Peer) -> None:
    session = Session(peer, Source(Path("a.py"), b"x"), Terms("a", ()))  # type: ignore[arg-type]
    session._channel = Channel(peer.launch())
    session.deadline = Deadline(PATIENCE_S)
    peer.end.sendall(done(1, changed=[0, 5, 99]))
    x = torch.ones(1)
    assert session.call(0, call_of(x))[1][0] is x
    peer.end.sendall(done(1, id=2, generators=[4]))
    with pytest.raises(WorkerDied):
        session.call(0, call_of(torch.Generator()))


def test_a_greeting_must_come_first(peer: Peer) -> None:
    for greeting in (done(1, id=0), frame({"is": "hello", "isolation": "x" * 17}), b"\n" * 16):
        channel = Channel(peer.launch())
        peer.end.sendall(greeting)
        with pytest.raises(WorkerDied):
            channel.hello(Deadline(PATIENCE_S))
