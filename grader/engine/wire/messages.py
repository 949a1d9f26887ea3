"""Frames and messages between grader and worker: sizes first, types checked, nothing pickled.

A frame is `KATA | head length (u32) | payload length (u64) | head | payload`. The head is one MessagePack message of a
type below; the payload holds raw tensor bytes, to which the head's `tensors` point. The grader believes neither.
"""

from __future__ import annotations

import gc
import struct
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

MAGIC = b"KATA"
TOGETHER = 1 << 20
"""Bytes: the pieces of a frame up to this size are copied together, for less than a write for each."""
PREFIX = struct.Struct("!4sIQ")
ALIGNMENT = 64
MODULE = 0
"""The handle of the submission itself."""
EMPTY = "empty"
"""In the folder of what supports checks: the folder with an empty module of every name."""

# What one answer may be. These bounds are all that keeps the grader's own work on an answer short: it is done on the
# grader's side, where no deadline interrupts it, and a worker may send anything. They count steps, not seconds, so a
# submission gets the same verdict on any machine; the worker's encoder knows them too, and says which was passed.

MAX_HEAD = 2 << 20
"""Bytes of structure: everything but the tensors' own bytes."""
MAX_PAYLOAD = 256 << 20
"""Bytes of tensors, together."""
MAX_TENSOR = 128 << 20
"""Bytes of one tensor."""
MAX_TEXT = 4000
"""No message, name or line of text that a worker sends is longer."""
MAX_STRING = 64_000
"""Characters or bytes of a string that is a value."""
MAX_DIGITS = 1100
"""Hexadecimal digits of an integer beyond 64 bits."""
MAX_DEPTH = 32
"""Levels of lists, tuples and dicts in each other."""
MAX_ITEMS = 200_000
"""Parts of lists, tuples and dicts, all together."""
MAX_KEYS = 20_000
"""Keys of dicts, all together: a dict of keys that were chosen to meet costs as much as their number squared."""
MAX_ALIKE = 32
"""Different keys, tuples or large numbers with one hash: each is compared with all others of its hash."""
MAX_TENSORS = 10_000
"""Places at which a value holds a tensor: who goes through them looks at one as often as it is there."""
MAX_EXPANDED = 512 << 20
"""Bytes of tensors, each counted as often as it is there."""
MAX_HANDLES = 10_000
"""Objects that stay in the worker, as often as they are named."""
MAX_GENERATORS = 16
MAX_AXES = 16
"""Axes of a tensor; torch knows up to 64, and what is said about a shape compares them with each other."""
MAX_EMPTY = 1 << 20
"""Sizes of a tensor without elements, multiplied without the zeros: who goes through its rows should come to an end."""


Size = Annotated[int, Meta(ge=0, le=1 << 48)]
Text = Annotated[str, Meta(max_length=MAX_TEXT)]


def _values(depth: int) -> Any:
    """Return the type of what `codec` writes for a value: lists in each other, and no map of MessagePack's."""
    # A map's keys would be hashed while it is read, before anybody could count them, and what is nested as deep
    # as the interpreter allows costs more than it says.
    leaf: Any = None | bool | int | float | Annotated[str, Meta(max_length=MAX_STRING)]
    found = leaf
    for _ in range(depth):
        # Built at run time, since msgspec knows no type that is defined by itself but a struct.
        deeper: Any = list[found]  # type: ignore[valid-type]
        found = leaf | Annotated[deeper, Meta(min_length=1, max_length=MAX_ITEMS + 1)]
    return found


if TYPE_CHECKING:
    Values = Any
else:
    Values = _values(MAX_DEPTH + 3)


class ProtocolError(Exception):
    """The other side sent something that is not a message."""


class TensorHead(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    """Where a tensor's bytes are in the payload, and how to read them."""

    dtype: Text
    shape: Annotated[list[Size], Meta(max_length=MAX_AXES)]
    offset: Size
    nbytes: Size
    device: Text = "cpu"
    strides: Annotated[list[Size], Meta(max_length=MAX_AXES)] | None = None
    """Only towards the worker, in elements: a non-contiguous argument arrives non-contiguous."""
    requires_grad: bool = False
    kind: Text = "tensor"
    """`tensor`, `parameter`, or the dotted name of a subclass."""
    grad: int = -1
    """Index of the tensor that is this one's `.grad`."""


class Request(msgspec.Struct, tag_field="do", forbid_unknown_fields=True, kw_only=True):
    """Base of what the grader asks."""

    id: int = 0
    tensors: list[TensorHead] = []
    release: list[int] = []
    """Handles and graphs that the grader no longer holds."""
    begin: int | None = None
    """The first request of a check carries its seed: forget the handles of the last check, seed everything."""
    alike: bool = False
    """With `begin`: modules that are made get parameters that do not depend on how they were initialised."""


class TakenAway(msgspec.Struct, array_like=True, frozen=True, forbid_unknown_fields=True):
    """What a kata excludes of torch."""

    operators: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """Of functions and classes that torch writes in Python."""
    pattern: str = ""
    """A regular expression that finds them, also where they are not loaded yet; "" where nothing is excluded."""


class Watch(Request, tag="watch"):
    """Take away what the kata excludes, before the submission at this path is loaded."""

    path: str
    root: str
    """The top of what was handed in."""
    excluded: TakenAway = TakenAway()
    advice: str = ""
    blocks: bool = False
    """Whether `torch.ops` is for given blocks alone."""
    given: str | None = None
    """The folder of what is given."""


class Adapt(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    """What makes the kata's API of a course's own files."""

    shim: str
    """The path of the module that the checks see."""
    theirs: list[str]
    """The learner's files, from the top; the first is the submission."""
    given: dict[str, str]
    """Texts that take the place of what these assign to such names."""
    parameters: dict[str, dict[str, str]]
    """By class of the shim, for each parameter, where the learner's class has it."""


class Load(Request, tag="load"):
    """Load the submission; its source is the first `size` bytes of the payload."""

    module: str
    path: str
    root: str
    """The top of what was handed in."""
    size: int
    notebook: bool = False
    given: str | None = None
    support: str | None = None
    required: list[str] = []
    attributes: dict[str, list[str]] = {}
    """By class, the names of its parts that every submission has."""
    below: list[str] = []
    """The names of parts of these."""
    adapt: Adapt | None = None


class Import(Request, tag="import"):
    """Import a module for the checks: one that supports them, one that is given, or any that is installed."""

    name: str


class Get(Request, tag="get"):
    """Read an attribute."""

    target: int
    name: str


class Set(Request, tag="set"):
    """Set an attribute."""

    target: int
    name: str
    value: Any


class Call(Request, tag="call"):
    """Call a handle, or one of its methods."""

    target: int
    method: str | None = None
    args: Any = None
    kwargs: Any = None
    grad: bool | None = True
    """Whether gradients are recorded; None leaves it as the call before left it."""
    same_tensors: bool = False
    """Whether arguments are written into the tensors of earlier calls of the same form that said so."""


class Backward(Request, tag="backward"):
    """Push cotangents into the graph that a call left behind."""

    graph: int
    cotangents: Any


class Answer(Request, tag="answer"):
    """What a lent function returns to a worker that asked; the call in which it asked goes on."""

    value: Any = None
    refused: bool = False
    """It raised; what, is the grader's affair."""


class Reply(msgspec.Struct, tag_field="is", forbid_unknown_fields=True, kw_only=True):
    """Base of what a worker answers."""

    id: int = 0
    tensors: Annotated[list[TensorHead], Meta(max_length=MAX_TENSORS)] = []


class ReadyReply(Reply, tag="hello"):
    """Sent once, when the worker is confined and ready."""

    isolation: Annotated[str, Meta(max_length=16)]


class Done(Reply, tag="done"):
    """The call returned."""

    value: Values = None
    graph: int | None = None
    changed: Annotated[list[Size], Meta(max_length=MAX_TENSORS)] = []
    """Which of the tensors that were sent hold something else now."""
    generators: Annotated[list[Size], Meta(max_length=MAX_GENERATORS)] = []
    """Tensors holding the new states of the torch.Generators among the arguments, in order."""
    iterated: bool = False
    """Whether `value` is a list of what a generator or another iterator gave."""


class CallbackRequest(Reply, tag="ask"):
    """Before it is done, a call wants the answer of a lent function; see `grader.engine.host.calls`."""

    function: Size
    value: Values = None
    """The arguments."""


class StackFrame(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    """One line of a learner's traceback."""

    file: Text
    line: Annotated[int, Meta(ge=0, le=1 << 31)]
    function: Text
    text: Text
    column: Annotated[int, Meta(ge=0, le=1 << 31)] = 0
    """1-based, only for syntax errors; 0 says unknown."""
    call: Text = ""
    """What was being called or computed there: `view`, `matmul`; of the innermost line alone."""


class ExceptionReply(Reply, tag="raised"):
    """The call raised."""

    bases: Annotated[list[Text], Meta(min_length=1, max_length=64)]
    """Its type and that type's bases, nearest first: built-in ones by their bare names, others with their module."""
    message: Text
    frames: Annotated[list[StackFrame], Meta(max_length=32)] = []
    own: bool = False
    """Raised in the submission's own code, not in a library it called."""
    hint: Text = ""
    """What Python adds when it prints it ("Did you mean: 'seq_len'?"), or why a name of a notebook is not there."""
    shim: StackFrame | None = None
    """The line of the pack's shim that raised, or that called what raised, when no line of the learner's came after."""


class UnserializableReply(Reply, tag="unsendable"):
    """The call returned something that cannot be serialized."""

    reason: Text
    device: Annotated[str, Meta(max_length=16)] = ""
    """Where it is, when a tensor cannot cross because it has no values there: `meta`."""


AnyRequest = Watch | Load | Import | Get | Set | Call | Backward | Answer
AnyReply = ReadyReply | Done | CallbackRequest | ExceptionReply | UnserializableReply

_encoder = msgspec.msgpack.Encoder()
_request = msgspec.msgpack.Decoder(AnyRequest)
_reply = msgspec.msgpack.Decoder(AnyReply)


def pack(message: Request | Reply, buffers: list[Any]) -> list[Any]:
    """Return the pieces of a frame, ready for `sendmsg`; buffers are written in order, each aligned."""
    head = _encoder.encode(message)
    # Refused where it is made: the other end would take it for a broken frame, and its sender for a liar.
    if len(head) > MAX_HEAD:
        raise ValueError(f"too many values at once ({len(head)} bytes of structure, at most {MAX_HEAD})")
    pieces: list[Any] = []
    length = 0
    for buffer in buffers:
        size = memoryview(buffer).nbytes
        pieces.append(buffer)
        length += size
        if padding := -length % ALIGNMENT:
            # Aligned, so that the other side can look at the bytes as numbers where they are.
            pieces.append(bytes(padding))
            length += padding
    return [PREFIX.pack(MAGIC, len(head), length), head, *pieces]


def unpack_prefix(data: bytes | bytearray | memoryview, max_payload: int = MAX_PAYLOAD) -> tuple[int, int]:
    """Return the lengths of head and payload.

    Raises:
        ProtocolError: wrong magic, or a length over its bound.
    """
    magic, head, payload = PREFIX.unpack(data)
    if magic != MAGIC:
        raise ProtocolError("a frame does not begin as frames do")
    # Before a byte of it is read, since room is made for what is announced.
    if head > MAX_HEAD or payload > max_payload:
        raise ProtocolError(f"a frame announces {head} + {payload} bytes, which is over the bound")
    return head, payload


def check_layout(tensors: list[TensorHead], payload: int) -> None:
    """Demand that the tensors fill the payload one after the other, as `pack` writes them.

    Raises:
        ProtocolError: gaps, overlaps (which would multiply the memory they take), bytes that belong to none.
    """
    place = 0
    for head in tensors:
        # In order and without a gap: then no byte is used twice.
        if head.offset != place:
            raise ProtocolError("tensors that overlap or lie apart")
        place += head.nbytes + -head.nbytes % ALIGNMENT
    if place != payload:
        raise ProtocolError("a payload of another size than its tensors")


class Uncollected:
    """Puts off Python's search for cycles while an answer is read.

    There are none in it, and the search goes through all that has been read so far, again and again: two million lists
    took 7 s instead of 1 (Python 3.11).
    """

    def __enter__(self) -> None:
        self._was = gc.isenabled()
        gc.disable()

    def __exit__(self, *_: object) -> None:
        if self._was:
            gc.enable()


def decode_request(head: bytes | bytearray | memoryview) -> AnyRequest:
    """Parse what the grader sent."""
    request: AnyRequest = _request.decode(head)
    return request


def decode_reply(head: bytes | bytearray | memoryview) -> AnyReply:
    """Parse what a worker sent.

    Raises:
        ProtocolError: not MessagePack, not a known message, a wrong type or a value out of bounds.
    """
    try:
        with Uncollected():
            # Bounds of lists and texts are checked while it is read: too long a list is refused before it is
            # made.
            reply: AnyReply = _reply.decode(head)
        return reply
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError) as error:
        raise ProtocolError(f"an answer that is none: {str(error)[:200]}") from None
