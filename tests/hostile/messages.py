"""A hand-made worker that answers anything at all, and what the grader may make of it.

`Stranger` puts bytes in front of a real session, over a real socket pair; `Mutator` makes such bytes out of valid
answers. Whatever arrives, a call ends in a value of a known kind, bounded, or in one of the four ways a submission
can fail.
"""

from __future__ import annotations

import contextlib
import copy
import math
import os
import random
import socket
from collections.abc import Callable, Iterator, Sequence
from itertools import count, islice
from pathlib import Path
from typing import Any

import msgspec
import torch

from grader.engine.checks.describe import describe, describe_call, type_name, type_names
from grader.engine.checks.expect import expect
from grader.engine.checks.failure import CheckFailure
from grader.engine.host.calls import CallRecord, Calls
from grader.engine.host.channel import Channel
from grader.engine.host.deadline import Deadline
from grader.engine.host.errors import SubmissionRaised, SubmissionUnsendable, WorkerDied, WorkerTimeout
from grader.engine.host.launcher import WorkerProcess
from grader.engine.host.objects import RemoteObject
from grader.engine.host.session import Session
from grader.engine.host.source import Source, Terms
from grader.engine.mistakes.recognise import fingerprint
from grader.engine.runner.outcome import MessageContext, judge
from grader.engine.wire import codec, messages, uses
from grader.engine.wire.codec import Encoder

FAILS = (WorkerDied, WorkerTimeout, SubmissionRaised, SubmissionUnsendable)
"""How a call may end instead of with a value."""
PLAIN = (bool, int, float, str, bytes, complex, slice, torch.dtype, torch.device, torch.Generator, type(...))
PATIENCE_S = 0.002
WORDING = MessageContext("a.py", timeout_s=1.0)
"""For an answer that stays away; all that comes is there before the question."""
FORBID = ("torch.nn.functional.gelu", "aten::gelu")
HELD = 1 << 21
"""Bytes that a socket takes without anybody reading them."""


class Misled(Exception):
    """The grader took something for an answer that is none."""


class _Process(WorkerProcess):
    def kill(self) -> None:
        """Nobody is there to be killed."""

    def overrun(self) -> str | None:
        return None


class _Launcher:
    name = "fork"

    def reap(self, pid: int, patience_s: float) -> int | None:
        return None


class Stranger:
    """The far end of a session."""

    def __init__(self) -> None:
        ours, self._end = socket.socketpair()
        for end in (ours, self._end):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, HELD)
        self._end.setblocking(False)
        read, self._print = os.pipe()
        uses, self._uses = os.pipe()
        ours.setblocking(False)
        for number in (read, self._print, uses, self._uses):
            os.set_blocking(number, False)
        process = _Process(0, ours, read, Path("/nowhere/kata"), _Launcher(), uses)  # type: ignore[arg-type]
        self.channel = Channel(process)
        self.session = Session(_Launcher(), Source(Path("a.py"), b"pass"), Terms("a", (), forbid=FORBID))  # type: ignore[arg-type]
        self.session._channel = self.channel
        self._asked = 0

    @property
    def alive(self) -> bool:
        """Whether the grader still listens."""
        return self.channel.alive

    def put(self, data: bytes) -> None:
        """Send bytes, as much of them as anybody takes."""
        with contextlib.suppress(BlockingIOError, BrokenPipeError):
            self._end.sendall(data)

    def exchange(
        self, what: str, data: bytes, *, hang_up: bool, noise: bytes = b"", closely: bool = True
    ) -> str:
        """Put bytes where answers are expected, ask, use what comes, and say what became of it.

        Raises:
            Misled: the grader believed it.
            Exception: anything else is a fault of the grader, too.
        """
        self.put(data)
        with contextlib.suppress(BlockingIOError, BrokenPipeError):
            os.write(self._uses, noise)
            os.write(self._print, noise)
        if hang_up:
            self._end.shutdown(socket.SHUT_WR)
        self.session.deadline = Deadline(60.0 if hang_up else PATIENCE_S)
        self.session.log.observed.clear()
        self._asked += 1
        try:
            outcome = self._ask(what, data)
            if closely:
                for value in self.session.log.observed[:2]:
                    look_closely(value, self.session)
        except FAILS as error:
            lines = judge(error, Calls(), WORDING).lines
            if any(not letter.isprintable() for letter in "".join(lines)):
                raise Misled(f"unprintable: {lines}") from None
            outcome = f"{type(error).__name__}: {_shape(' '.join(lines))}"
        self._read_questions()
        return outcome

    def close(self) -> None:
        """Hang up."""
        self.session.close()
        self._end.close()
        for number in (self._print, self._uses):
            os.close(number)

    def _ask(self, what: str, data: bytes) -> str:
        session = self.session
        if what == "hello":
            return session._channel.hello(session.deadline)[:3]  # type: ignore[union-attr]
        if what == "uses":
            found = session.forbidden_uses()
            if not set(found) <= {uses.CLOSED, *(f"torch.ops.aten.gelu{more}" for more in ("", "_"))}:
                raise Misled(str(found))
            return "uses"
        if what == "backward":
            x = torch.ones(2, 3, requires_grad=True)
            value, _ = session.call(0, CallRecord("f", "", (x,), {}))
            self._believed(data)
            for part in value if isinstance(value, list | tuple) else [value]:
                if isinstance(part, torch.Tensor) and part.requires_grad:
                    try:
                        part.sum().abs().backward()
                    except (
                        NotImplementedError
                    ):  # torch cannot add such numbers; a check that asks for it fails
                        return "backward refused"
                    return f"backward {x.grad is not None}"
            return use(value, session)
        if what == "call":
            value, changed = session.call(
                0, CallRecord("f", "", (torch.ones(2, 3), torch.Generator(), [1]), {"k": (1.5,)}), "f"
            )
            if not all(isinstance(one, torch.Tensor) for one in changed):
                raise Misled("changed")
        else:
            value = session.get(0, "thing")
        self._believed(data)
        return use(value, session)

    def _believed(self, data: bytes) -> None:
        """Demand that what was taken for an answer begins with one, to this question."""
        if self._asked > 1:
            return  # what came too early may have answered, and rightly
        size = messages.PREFIX.unpack_from(data)[1]
        head = msgspec.msgpack.decode(data[messages.PREFIX.size : messages.PREFIX.size + size])
        if head["is"] != "done" or head.get("id", 0) != 1:
            raise Misled(f"believed {str(head)[:200]}")

    def _read_questions(self) -> None:
        with contextlib.suppress(OSError):
            while self._end.recv(1 << 20):
                pass


def use(value: Any, session: Session) -> str:
    """Do with a value what checks do, and return its shape."""
    shape = _known(value, 0)
    for compare in (
        lambda: expect(value, "x").is_value([1, 2, 3]),
        lambda: expect(value, "x").is_tensor(shape=(2, 3), dtype=torch.float32),
        lambda: expect(value, "x", "batch width").close_to(torch.ones(2, 3), tolerance=1e-6),
    ):
        try:
            compare()
        except CheckFailure as error:
            lines = error.failure.lines()
            if sum(map(len, lines)) > 20_000 or any(not one.isprintable() for one in "".join(lines)):
                raise Misled(f"an odd message: {lines}"[:500]) from None
        except FAILS:
            pass
    fingerprint(session.log.observed)
    return shape


def look_closely(value: Any, session: Session) -> None:
    """Do with a value all that any check may do."""
    parts = list(islice(value, 3)) if type(value) in (list, tuple) else []
    for one in (value, *parts):
        for compare in COMPARISONS:
            try:
                compare(one)
            except CheckFailure as error:
                _readable(error.failure.lines())
            except (Exception, *FAILS) as error:  # as the plugin does
                _readable(judge(error, Calls(), WORDING, session.log.observed).lines)
    _readable(describe_call("f", ["x"], (value, parts), {"more": value}))
    _readable([describe(value), type_name(value), *type_names(value)[:4]])


def _readable(lines: list[str]) -> None:
    if sum(map(len, lines)) > 20_000 or any(not one.isprintable() for one in "".join(lines)):
        raise Misled(f"an odd message: {lines}"[:500])


ONES = torch.ones(2, 3)
COMPARISONS: tuple[Callable[[Any], object], ...] = (
    lambda x: expect(x, "x").is_value({"a": [1, 2], 3: (4.0, "b")}),
    lambda x: expect(x, "x").is_value({1: 2}),
    lambda x: expect(x, "x").has_names(["a", "b"]),
    lambda x: expect(x, "x").is_list(3, of=int),
    lambda x: expect(x, "x").is_tuple(2),
    lambda x: expect(x, "x").is_instance("torch.nn.Linear", "a.B"),
    lambda x: expect(x, "x").is_scalar(float),
    lambda x: expect(x, "x").is_between(0.25, 0.5),
    lambda x: expect(x, "x").is_finite(),
    lambda x: expect(x, "x").is_tensor(shape=(2, None, 7)),
    lambda x: expect(x, "x").equals(torch.zeros(5, 4), "why"),
    lambda x: expect(x, "x", picture="attention").close_to(ONES, tolerance=0.0),
    lambda x: expect(x, "x").equals(ONES.bool()),
    lambda x: expect(x, "x").sums_to(1.0, -1),
    lambda x: expect(x, "x").is_zero_where(torch.ones((), dtype=torch.bool)),
    lambda x: expect(x, "x").same_as(x),
    lambda x: expect(x, "x", picture="mask").same_as(~x if x.dtype == torch.bool else x.flip(0) * 2 + 1),
    lambda x: expect(x, "x").differs_from(x, "why"),
    lambda x: expect(x, "x").same_as(ONES),
)
"""What checks ask of a value; the last of them only of tensors."""


def _known(value: Any, depth: int, seen: dict[int, str] | None = None) -> str:
    """Return what kind of value this is; anything else than the known kinds is a breach."""
    kind = type(value)
    seen = {} if seen is None else seen
    if id(value) in seen:  # a tensor may be there many times
        return seen[id(value)]
    if value is None or kind in PLAIN:
        return kind.__name__
    if kind in (list, tuple, torch.Size, dict):
        if depth > messages.MAX_DEPTH + 2:
            raise Misled("too deep")
        parts = [*value, *value.values()] if kind is dict else value
        return f"{kind.__name__}[{','.join(sorted({_known(part, depth + 1, seen) for part in parts}))}]"[:300]
    if kind is RemoteObject:
        return "handle"
    if kind is torch.Tensor:
        if value.numel() * value.element_size() > messages.MAX_PAYLOAD or value.layout != torch.strided:
            raise Misled(f"a tensor of {tuple(value.shape)}")
        torch.isfinite(value.detach().to(torch.complex128)).all()
        return seen.setdefault(id(value), f"tensor {value.dtype}")
    raise Misled(f"a value of type {kind}")


def _shape(text: str) -> str:
    return "".join("0" if letter.isdigit() else letter for letter in text)[:90]


# --- what is sent -----------------------------------------------------------------------------------------------------

INTERESTING: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 12, 13, 255, 2**31 - 1, 2**31, 2**32, 2**48, 2**48 + 1, 2**63 - 1, -(2**63),
    2**64 - 1, 0.0, -0.0, 1e308, math.nan, math.inf, "", "\0", "cpu", "cuda:0", "meta", "float32", "bool", "qint8",
    "\x1b[2J", "\u202e", "x" * 5000, b"", b"\xff", [], {}, [[]], [0, [0, [0]]], [3, 0], [4, 1, "a", "object"],
    {"a": 1, 2: [{}]}, [8, "f" * 9], [11, "cpu", [3, 0]], [2, [3, 0], 1], [7, -1], [9, 1, 2, 3], [10, math.nan, 1],
    msgspec.msgpack.Ext(1, b"x"), "done", "raised", "unsendable", "hello", list(range(40)), ["f", 1, "g", "t", 0],
)  # fmt: skip


def values(draw: random.Random) -> Any:
    """Return something that an honest worker could answer."""
    kind = draw.randrange(12)
    if kind < 5:
        dtype = draw.choice(
            [torch.float32, torch.bool, torch.int64, torch.float64, torch.bfloat16, torch.complex64]
        )
        shape = [draw.randrange(4) for _ in range(draw.randrange(4))]
        tensor = torch.zeros(shape, dtype=dtype)
        return tensor.requires_grad_() if dtype.is_floating_point and draw.random() < 0.5 else tensor
    if kind == 5:
        return [values(draw) for _ in range(draw.randrange(4))]
    if kind == 6:
        return tuple(values(draw) for _ in range(draw.randrange(3)))
    if kind == 7:
        return {str(number): values(draw) for number in range(draw.randrange(3))}
    if kind == 8:
        return torch.Generator()
    return draw.choice(
        [
            None,
            3,
            2.5,
            "text",
            b"raw",
            1 << 70,
            torch.float32,
            slice(1, 2),
            1j,
            ...,
            object(),
            torch.Size([2]),
        ]
    )


def valid(draw: random.Random, number: int, what: str) -> tuple[dict[str, Any], bytes]:
    """Return the head and the payload of a valid frame."""
    if what == "hello":
        return {"is": "hello", "isolation": "full"}, b""
    kind = draw.random()
    if kind < 0.08:
        frames = [["a.py", line, "f", "x = 1", 3] for line in range(draw.randrange(4))]
        return {
            "is": "raised", "id": number, "bases": ["a.B", "ValueError", "Exception", "BaseException", "object"],
            "message": "no\nluck", "frames": frames, "own": True,
        }, b""  # fmt: skip
    if kind < 0.1:
        return {"is": "unsendable", "id": number, "reason": "a module"}, b""
    if kind < 0.14:
        return {"is": "ask", "id": number, "function": 1, "value": [codec.LIST, 1, "a"]}, b""
    encoder = Encoder(
        lambda thing: (draw.randrange(9), "a.B < object", draw.choice(["object", "class", "module"]))
    )
    value = encoder.encode(values(draw) if what != "uses" else None)
    head: dict[str, Any] = {"is": "done", "id": number, "value": value}
    head["tensors"] = [msgspec.to_builtins(tensor) for tensor in encoder.tensors]
    if draw.random() < 0.4:
        head["graph"] = 5
    if draw.random() < 0.2:
        head["changed"] = [0]
    payload = bytearray()
    for buffer in encoder.buffers:
        payload += bytes(buffer)
        payload += bytes(-len(payload) % messages.ALIGNMENT)
    return head, bytes(payload)


PRIME = (1 << 61) - 1
"""Integers that differ by it have one hash."""


def many(draw: random.Random) -> int:
    return draw.choice((1, 17, 33, 300, 3000, 12_000, 20_001, 60_000))


def keys(draw: random.Random) -> Iterator[Any]:
    """Yield values that share a hash, or the places that hashes lead to."""
    return draw.choice(
        [
            lambda: ([codec.BIGINT, format(n * PRIME, "x")] for n in count(3)),
            lambda: ([codec.TUPLE, *(-1 - (n >> bit & 1) for bit in range(16))] for n in count()),
            lambda: ([codec.TUPLE, [codec.TUPLE, -1 - n % 2, n % 7], n // 14 % 2 - 2] for n in count()),
            lambda: ([codec.COMPLEX, float(-1000003 * n), float(n)] for n in count()),
            lambda: (n << 40 for n in count()),
            lambda: (float(2.0 ** (n % 900)) * (1 + n // 900) for n in count()),
            lambda: ([codec.TENSOR, 0] for n in count()),
            lambda: ([codec.HANDLE, n, "a", "object"] for n in count()),
            lambda: (str(n) for n in count()),
            lambda: ([codec.BYTES, str(n)] for n in count()),
        ]
    )()


def nested(value: Any, levels: int, wide: int = 1) -> Any:
    for _ in range(levels):
        value = [codec.LIST, *[value] * wide]
    return value


def long_text(draw: random.Random, size: int) -> str:
    return (
        draw.choice(
            ("a", "e\u0301", "\u0301", "\x1b[2J", "\u202e", "\n", "\t", "漢", "' object has no ", " < a.B")
        )
        * size
    )


def odd(draw: random.Random) -> tuple[Any, list[Any], bytes]:
    """Return a value that is made to cost much, with its tensors and their payload."""
    shape = draw.choice(
        (
            [1] * draw.randrange(65), [2, 1] * draw.randrange(9), [1 << 48, 0], [1 << 20, 0], [0] * 64, [2] * 16,
            [16, 1024], [3, 3, 40], [1 << 14], [2] * 12, [0, 1 << 48], [128, 128],
        )
    )  # fmt: skip
    dtype = draw.choice([*codec.DTYPES, *("float32", "bool", "float64", "int64") * 4])
    size = min(math.prod(shape), 1 << 14) * getattr(codec.DTYPES[dtype], "itemsize", 1)
    fill = draw.choice(
        (b"\x00", b"\xff", b"\x00\x00\xc0\x7f", b"\x01", b"\x7f\xff\x3c", b"\x00\x00\x80\x3f\x00\x00\x00\x00")
    )
    payload = (fill * (size // len(fill) + 1))[:size]
    tensors = [
        [dtype, shape, 0, size, "cpu", None, draw.random() < 0.3, draw.choice(("tensor", "a" * 4000)), -1]
    ]
    n = many(draw)
    value = draw.choice(
        [
            lambda: [codec.DICT, *(part for key in islice(keys(draw), n) for part in (key, 0))],
            lambda: [codec.LIST, *islice(keys(draw), n)],
            lambda: [codec.LIST, *([codec.DICT, key, [codec.TENSOR, 0]] for key in islice(keys(draw), n))],
            lambda: nested([codec.TENSOR, 0], 3, 12),
            lambda: nested([codec.TENSOR, 0], draw.randrange(60)),
            lambda: [codec.LIST, *[[codec.TENSOR, 0]] * n],
            lambda: [
                codec.LIST,
                *([codec.HANDLE, m, long_text(draw, 20), "object"] for m in range(min(n, 12_000))),
            ],
            lambda: [codec.HANDLE, 1, " < ".join(["a.B"] * 900), long_text(draw, 40)],
            lambda: [codec.LIST, *[[codec.GENERATOR, "cpu", [codec.TENSOR, 0]]] * n],
            lambda: [codec.LIST, *[long_text(draw, draw.choice((60, 4000, 30_000)))] * draw.choice((1, 3))],
            lambda: [
                codec.DICT,
                long_text(draw, 4000),
                [codec.BIGINT, "f" * draw.choice((16, 1024, 1100, 5000))],
            ],
            # A map of MessagePack's own, whose keys share a hash.
            lambda: {tuple(-1 - (m >> bit & 1) for bit in range(17)): 0 for m in range(n)},
            lambda: [codec.TENSOR, 0],
            lambda: [codec.TENSOR, 0],
            lambda: [codec.TUPLE, [codec.TENSOR, 0], [codec.TENSOR, 0]],
        ]
    )()
    if draw.random() < 0.1:  # each the gradient of the one before
        size = 64 * draw.choice((3, 900, 4000))
        tensors = [
            ["float32", [], place, 4, "cpu", None, True, "tensor", place // 64 + 1]
            for place in range(0, size, 64)
        ]
        payload = bytes(size)
    return value, tensors, payload + bytes(-len(payload) % messages.ALIGNMENT)


def costly(draw: random.Random, number: int) -> bytes:
    """Return an answer that is made to cost the grader much."""
    if draw.random() < 0.1:
        lines = [["a.py", 1 << 31, long_text(draw, 400)[:4000], long_text(draw, 4000)[:4000], 3]] * 32
        text = long_text(draw, 4000)[:4000]
        return frame(
            {
                "is": "raised",
                "id": number,
                "type": text,
                "bases": [text] * 64,
                "message": text,
                "frames": lines,
            },
            b"",
        )
    value, tensors, payload = odd(draw)
    head = {"is": "done", "id": number, "value": value, "tensors": tensors}
    if draw.random() < 0.2:
        head |= {"is": "ask", "function": 1}
    elif draw.random() < 0.1:
        head |= {"changed": [0] * 10_000, "generators": [0] * draw.choice((1, 16)), "graph": 1}
    if draw.random() < 0.03:  # deeper than anything that builds it could go
        levels = draw.choice((400, 10_000, 200_000))
        data = (
            b"\x83\xa2is\xa4done\xa2id"
            + msgspec.msgpack.encode(number)
            + b"\xa5value"
            + b"\x92\x00" * levels
            + b"\x01"
        )
        return messages.PREFIX.pack(messages.MAGIC, len(data), 0) + data
    return frame(head, payload)


def frame(head: Any, payload: bytes) -> bytes:
    """Return a frame."""
    data = msgspec.msgpack.encode(head)
    return messages.PREFIX.pack(messages.MAGIC, len(data), len(payload)) + data + payload


class Mutator:
    """Makes messages out of valid answers, by mutations that know how these are built."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self._earlier: list[bytes] = [b"KATA" + bytes(12)]

    def message(self, number: int, what: str) -> bytes:
        """Return what a stranger sends as the answer to question `number`."""
        draw = self._draw
        frames = [self._frame(number + ahead, what) for ahead in range(draw.choice((1, 1, 1, 1, 2, 3)))]
        if what == "backward" and draw.random() < 0.7:
            head, payload = valid(draw, number, what)
            gradient = [codec.LIST, [codec.TENSOR, 0]]
            tensor = ["float32", [2, 3], 0, 24, "cpu", None, False, "tensor", -1]
            one = frame({"is": "done", "id": number + 1, "value": gradient, "tensors": [tensor]}, bytes(64))
            frames = [frame({**head, "graph": 1}, payload), one if draw.random() < 0.3 else self._bytes(one)]
        data = b"".join(frames)
        if draw.random() < 0.25:
            data = self._bytes(data)
        if len(self._earlier) < 64:
            self._earlier.append(data[:4096])
        else:
            self._earlier[draw.randrange(64)] = data[:4096]
        return data[: HELD // 4]

    def _frame(self, number: int, what: str) -> bytes:
        draw = self._draw
        head, payload = valid(draw, number, what)
        for _ in range(draw.choice((0, 1, 1, 1, 2, 3))):
            if draw.random() < 0.7:
                head = self._tree(head)
            else:
                payload = self._bytes(payload)
        data = frame(head, payload)
        if draw.random() < 0.1:
            sizes = (
                draw.choice((0, 1, 16, len(payload), messages.MAX_HEAD, messages.MAX_HEAD + 1, 2**32 - 1)),
                draw.choice(
                    (0, 1, 64, len(payload), messages.MAX_PAYLOAD, messages.MAX_PAYLOAD + 1, 2**64 - 1)
                ),
            )
            data = messages.PREFIX.pack(messages.MAGIC, *sizes) + data[messages.PREFIX.size :]
        return data

    def _tree(self, head: Any) -> Any:
        """Change one place of a message."""
        draw = self._draw
        head = copy.deepcopy(head)
        places = list(_places(head))
        if not places:
            return draw.choice(INTERESTING)
        owner, key = draw.choice(places)
        way = draw.randrange(6)
        if way == 0 and isinstance(owner, list):
            owner.insert(key, draw.choice(INTERESTING))
        elif way == 1:
            del owner[key]
        elif way == 2:
            other, place = draw.choice(places)
            with contextlib.suppress(LookupError):
                owner[key] = copy.deepcopy(other[place])
        elif way == 3 and isinstance(owner[key], int) and not isinstance(owner[key], bool):
            changed = owner[key] + draw.choice((-1, 1, 64, -64, 2**32))
            owner[key] = min(max(changed, -(2**63)), 2**64 - 1)
        elif way == 4:
            value = owner[key]
            for _ in range(draw.choice((1, 2, 40))):
                value = [draw.randrange(14), value]
            owner[key] = value
        else:
            owner[key] = draw.choice(INTERESTING)
        return head

    def _bytes(self, data: bytes) -> bytes:
        draw = self._draw
        changed = bytearray(data)
        for _ in range(draw.choice((1, 1, 2, 8))):
            place = draw.randrange(len(changed) + 1)
            way = draw.randrange(6)
            if way == 0 and place < len(changed):
                changed[place] = draw.randrange(256)
            elif way == 1:
                changed[place:place] = draw.randbytes(draw.choice((1, 4, 64)))
            elif way == 2:
                del changed[place : place + draw.choice((1, 4, 64))]
            elif way == 3:
                del changed[place:]
            elif way == 4:
                other = draw.choice(self._earlier)
                changed[place:place] = other[draw.randrange(len(other) + 1) :]
            elif place < len(changed):
                changed[place] ^= 1 << draw.randrange(8)
        return bytes(changed)


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    keys: Sequence[Any] = list(tree) if isinstance(tree, dict) else range(len(tree))
    for key in keys:
        yield tree, key
        if isinstance(tree[key], dict | list) and tree[key]:
            yield from _places(tree[key])


COSTLY = 0.02
"""Share of the messages that are made to cost much."""
CLOSELY = 0.1
"""Share of the others whose values are used in every way that a check has."""
QUESTIONS = ("get", "get", "call", "call", "backward", "uses", "hello")


class Conversation:
    """Many exchanges; a stranger who was hung up on is followed by another."""

    def __init__(
        self, draw: random.Random, costly: float = COSTLY / 10, closely: float = CLOSELY / 10
    ) -> None:
        self._draw = draw
        self._costly, self._closely = costly, closely
        self._mutator = Mutator(draw)
        self._stranger: Stranger | None = None
        self.last: tuple[str, bytes, bool] = ("", b"", True)

    def step(self) -> str:
        """Exchange one message, and say what became of it."""
        if self._stranger is None or not self._stranger.alive:
            self.close()
            self._stranger = Stranger()
        draw, stranger = self._draw, self._stranger
        what = draw.choice(QUESTIONS)
        dear = draw.random() < self._costly
        if dear:
            data = costly(draw, stranger.channel._next)[: HELD // 4]
        else:
            data = self._mutator.message(stranger.channel._next, what)
        hang_up = draw.random() < 0.97
        noise = draw.randbytes(draw.choice((0, 0, 0, 10, 33)))
        self.last = what, data, hang_up
        outcome = stranger.exchange(
            what, data, hang_up=hang_up, noise=noise, closely=dear or draw.random() < self._closely
        )
        if hang_up:
            self.close()
        return f"{what} {outcome}"

    def close(self) -> None:
        """End the last one."""
        if self._stranger is not None:
            self._stranger.close()
            self._stranger = None
