"""What one answer may be is bounded in steps, and who passes a bound is told which."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec
import numpy as np
import pytest
import torch
from msgspec import inspect

from grader.engine.host.errors import SubmissionUnsendable
from grader.engine.host.objects import state_of
from grader.engine.wire import codec, messages
from grader.engine.wire.codec import Decoder, Encoder, Unencodable
from tests.host.test_hostile_worker import TENSOR, Peer, ask, done, head, refuses

PRIME = (1 << 61) - 1
"""Integers that differ by it have one hash."""


class Costly:
    """Counts how often keys are compared while a dict is built of them."""

    compared = 0

    def __init__(self, number: int) -> None:
        self.number = number

    def __hash__(self) -> int:
        return 7

    def __eq__(self, other: object) -> bool:
        Costly.compared += 1
        return self is other


@pytest.fixture
def peer(tmp_path: Path) -> Any:
    peer = Peer(tmp_path)
    yield peer
    peer.close()


def bigint(value: int) -> list[Any]:
    return [codec.BIGINT, format(value, "x")]


def mixed(number: int) -> list[Any]:
    """Return a tuple of -1 and -2, which have one hash."""
    return [codec.TUPLE, *(-1 if number >> bit & 1 else -2 for bit in range(12))]


def complexes(number: int) -> list[Any]:
    # hash(a + bj) is hash(a) + 1000003 * hash(b)
    return [codec.COMPLEX, float(-1000003 * number), float(number)]


def nested(number: int) -> list[Any]:
    return [codec.TUPLE, [codec.TUPLE, mixed(number), 1], 2]


COLLIDING = {
    "large integers": lambda number: bigint(number * PRIME),
    "tuples": mixed,
    "tuples in tuples": nested,
    "complex": complexes,
}


@pytest.mark.slow
@pytest.mark.parametrize("key", COLLIDING.values(), ids=COLLIDING)
@pytest.mark.parametrize("form", ["keys", "items", "keys of many dicts"])
def test_values_of_one_hash_never_meet(peer: Peer, key: Any, form: str) -> None:
    keys = [key(number) for number in range(1, 2000)]
    answer = {
        "keys": [codec.DICT, *(part for key in keys for part in (key, 0))],
        "items": [codec.LIST, *keys],  # a check may make a set of them
        "keys of many dicts": [codec.LIST, *([codec.DICT, key, 0] for key in keys)],
    }[form]
    assert "that share a hash" in refuses(peer, done(answer))


def test_keys_are_compared_a_bounded_number_of_times() -> None:
    keys = [Costly(number) for number in range(5000)]
    budget = codec._Budget(Unencodable)
    with pytest.raises(Unencodable, match="share a hash"):
        budget.keys(keys)
    assert Costly.compared <= messages.MAX_ALIKE**2


def test_a_few_values_of_one_hash_are_nobodys_business() -> None:
    value = {
        (-1, -1): 0,
        (-1, -2): 1,
        (-2, -1): 2,
        (-2, -2): 3,
        -1: 4,
        -2: 5,
        1 << 70: 6,
        1.5: 7,
        "a": 8,
        b"a": 9,
    }
    assert crossed(value) == value
    pairs = [(number % 50, 0) for number in range(5000)]  # each often, and few of them different
    assert crossed(pairs) == pairs
    many: dict[Any, int] = {(number, str(number)): number for number in range(5000)}
    assert crossed(many) == many
    assert crossed(dict.fromkeys(range(15_000))) == dict.fromkeys(range(15_000))


def unbounded(node: Any, place: str) -> Iterator[str]:
    """Yield what a message may hold without a bound, or of any form at all."""
    if isinstance(node, inspect.AnyType | inspect.DictType | inspect.ExtType | inspect.RawType):
        yield f"{place}: {type(node).__name__}"
    if isinstance(node, inspect.ListType | inspect.StrType | inspect.BytesType) and node.max_length is None:
        yield f"{place}: {type(node).__name__} without a bound"
    for name in ("types", "fields", "item_type", "item_types", "type"):
        parts = getattr(node, name, ())
        for part in parts if isinstance(parts, tuple) else (parts,):
            yield from unbounded(part, f"{place}.{getattr(node, 'name', name)}")


def test_no_answer_is_of_any_form_or_without_bounds() -> None:
    """A map's keys are hashed while it is read, before anybody could count them: 30,000 of one hash took 31 s."""
    for reply in get_args(messages.AnyReply):
        fields = inspect.type_info(reply).fields  # type: ignore[attr-defined]
        assert [name for field in fields for name in unbounded(field, reply.__name__)] == []


def crossed(value: Any) -> Any:
    """Return what arrives of a value that an honest worker sends."""
    encoder = Encoder(lambda value: (1, "a", "object"))
    reply = messages.decode_reply(
        msgspec.msgpack.encode(messages.Done(value=encoder.encode(value), tensors=encoder.tensors))
    )
    assert isinstance(reply, messages.Done)
    return Decoder(reply.tensors, bytearray(), lambda *_: None).decode(reply.value)


def generator() -> list[Any]:
    return [codec.GENERATOR, "cpu", [codec.TENSOR, 0]]


STATE = torch.Generator().get_state()
SHAPE = {"tensors": [head("uint8", [len(STATE)], nbytes=len(STATE))], "payload": bytes(STATE.tolist())}
"""Of what a generator's state is made."""


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [codec.LIST, value]
    return value


TOO_MUCH: dict[str, tuple[Any, dict[str, Any], str]] = {
    "parts": ([codec.LIST, *([codec.LIST, *[1] * 60_000] for _ in range(4))], {}, "too many parts (more than 200,000)"),
    "parts of one list": ([codec.LIST, *[1] * 250_000], {}, "length <= 200001"),
    "keys": ([codec.DICT, *range(40_002)], {}, "too many keys of dicts (more than 20,000)"),
    "objects": ([codec.LIST, *[[codec.HANDLE, 1, "a", "object"]] * 10_001], {}, "(more than 10,000)"),
    "generators": ([codec.LIST, *[generator()] * 17], SHAPE, "too many random generators (more than 16)"),
    "places of a tensor": (
        [codec.LIST, *[TENSOR] * 10_001],
        {"tensors": [head()], "payload": bytes(64)},
        "too many tensors (more than 10,000)",
    ),
    "one tensor, again and again": (
        [codec.LIST, *[TENSOR] * 5000],
        {"tensors": [head("uint8", [1 << 17], nbytes=1 << 17)], "payload": bytes(1 << 17)},
        "tensors of more than 512 MB together, each counted as often as it is there",
    ),
    "tensors": (0, {"tensors": [head(nbytes=0, shape=[0])] * 10_001}, "length <= 10000"),
    "axes": (0, {"tensors": [head(shape=[1] * 17, nbytes=4)], "payload": bytes(64)}, "length <= 16"),
    "depth": (deep(60), {}, "str | null`, got `array`"),
    "text": ("x" * 64_001, {}, "length <= 64000"),
    "a map, whose keys are hashed while it is read": ({1: 2}, {}, "got `object`"),
    "a number of no honest handle": ([codec.HANDLE, 1 << 31, "a", "object"], {}, "an invalid handle"),
}  # fmt: skip


@pytest.mark.parametrize(("value", "fields", "told"), TOO_MUCH.values(), ids=TOO_MUCH)
def test_too_much_of_anything_ends_the_worker(
    peer: Peer, value: Any, fields: dict[str, Any], told: str
) -> None:
    assert told in refuses(peer, done(value, **fields))


HONEST: dict[str, tuple[Any, str]] = {
    "parts": ([0] * 200_001, "a value with too many parts (more than 200,000)"),
    "keys": ({number: 0 for number in range(20_001)}, "a value with too many keys of dicts (more than 20,000)"),
    "objects": ([object()] * 10_001, "a value with too many objects"),
    "tensors": ([torch.zeros(()) for _ in range(10_001)], "a value with too many tensors (more than 10,000)"),
    "places of a tensor": ([torch.zeros(())] * 10_001, "a value with too many tensors (more than 10,000)"),
    "one tensor, again and again": ([torch.zeros(32 << 20)] * 5, "tensors of more than 512 MB together"),
    "axes": (torch.zeros([1] * 17), "a tensor of 17 axes; at most 16 are read"),
    "text": ("x" * 64_001, "a string of 64,001 characters; at most 64,000 are read"),
    "bytes": (bytes(64_001), "64,001 bytes; at most 64,000 are read"),
    "a large integer": (1 << 5000, "an integer of 5,001 bits; at most 4,096 are read"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("value", "told"), HONEST.values(), ids=HONEST)
def test_an_honest_worker_says_what_was_too_much(value: Any, told: str) -> None:
    with pytest.raises(Unencodable) as caught:
        Encoder(lambda value: (1, "a", "object")).encode(value)
    assert told in str(caught.value)


def test_the_largest_honest_answers_fit_into_a_frame() -> None:
    for value in ([0.1] * 199_999, [(1 << 40) + number for number in range(199_999)]):
        data = Encoder(lambda value: None).encode(value)
        assert sum(len(piece) for piece in messages.pack(messages.Done(value=data), [])) < messages.MAX_HEAD


def test_bytes_cross_as_they_are() -> None:
    value = {b"\xff\x00": [bytes(range(256)), b""]}
    assert crossed(value) == value


def test_one_object_is_one_proxy_until_the_worker_says_something_else_of_it(peer: Peer) -> None:
    one, other = [codec.HANDLE, 1, "a.B", "object"], [codec.HANDLE, 1, "a.C", "object"]
    first, again, changed = ask(peer, done([codec.LIST, one, one, other]))
    assert first is again
    assert [state_of(value).types for value in (first, changed)] == [("a.B",), ("a.C",)]


def test_a_length_that_no_check_comes_to_the_end_of_is_refused(examine: Any) -> None:
    opened = examine("class A:\n    def __len__(self): return 1 << 40\na = A()")
    opened.begin(0)
    with pytest.raises(SubmissionUnsendable, match="a length of 1,099,511,627,776; at most 200,000 parts"):
        len(opened.submission.a)


@pytest.mark.parametrize(
    ("dtype", "data"),
    [
        ("bfloat16", [codec.ARRAY, 0, False]),
        ("float32", [codec.ARRAY, 1, False]),
        ("float32", [codec.ARRAY, 0]),
    ],
    ids=["a dtype that NumPy has not", "not sent", "half of it"],
)
def test_an_array_is_a_tensor_that_was_sent(dtype: str, data: list[Any]) -> None:
    size = 2 if dtype == "bfloat16" else 4
    there = messages.TensorHead(dtype=dtype, shape=[1], offset=0, nbytes=size)
    with pytest.raises(messages.ProtocolError):
        Decoder([there], bytearray(size), lambda *handle: None).decode(data)


def test_arrays_cross_with_their_dtype_and_scalars_as_scalars() -> None:
    for value in (np.arange(6, dtype=np.int16).reshape(2, 3)[:, ::-1], np.float64(2.5), np.array(True)):
        encoder = Encoder(lambda other: None)
        data = encoder.encode(value)
        found = Decoder(encoder.tensors, bytearray(b"".join(encoder.buffers)), lambda *handle: None).decode(
            data
        )
        assert (type(found), found.dtype, found.tolist()) == (type(value), value.dtype, value.tolist())
    with pytest.raises(Unencodable):
        Encoder(lambda other: None).encode(np.array(["a"]))
