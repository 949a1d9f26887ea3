"""Values as they cross the boundary.

Numbers and texts are themselves; everything else is a list that begins with a code. Tensors are raw bytes in the
payload, and the list holds their index. What has no form here becomes a handle, kept by its owner.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import torch

from grader.engine.wire.messages import (
    ALIGNMENT,
    MAX_ALIKE,
    MAX_AXES,
    MAX_DEPTH,
    MAX_DIGITS,
    MAX_EMPTY,
    MAX_EXPANDED,
    MAX_GENERATORS,
    MAX_HANDLES,
    MAX_ITEMS,
    MAX_KEYS,
    MAX_PAYLOAD,
    MAX_STRING,
    MAX_TENSOR,
    MAX_TENSORS,
    MAX_TEXT,
    TOGETHER,
    ProtocolError,
    TensorHead,
)

MRO = " < "
"""Between the names of a type and its bases, in the handle of an object."""
(
    LIST,
    TUPLE,
    DICT,
    TENSOR,
    HANDLE,
    DTYPE,
    DEVICE,
    SIZE,
    BIGINT,
    SLICE,
    COMPLEX,
    GENERATOR,
    ELLIPSIS,
    BYTES,
    LENT,
    ARRAY,
) = range(16)

DTYPES: dict[str, torch.dtype] = {
    str(value).removeprefix("torch."): value
    for value in vars(torch).values()
    if isinstance(value, torch.dtype)
}
"""What a dtype may be called."""
_NUMBERS = frozenset({
    "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64",
    "float16", "bfloat16", "float32", "float64", "complex32", "complex64", "complex128",
    "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
})  # fmt: skip
"""What a tensor may hold. The others (quantised, raw bits) cannot even be compared."""
_USUAL = {
    dtype: (name, dtype.itemsize)
    for name, dtype in DTYPES.items()
    if name in _NUMBERS and not dtype.is_complex and name in vars(torch)
}
"""Of these tensors nothing has to be resolved first."""


class Unencodable(Exception):
    """A value that cannot cross, and why, worded for the learner; `device` is where it is, when that is why."""

    def __init__(self, reason: str, device: str = "") -> None:
        super().__init__(reason)
        self.device = device


class Encoder:
    """Turn one message's values into plain data plus buffers."""

    def __init__(
        self,
        handle: Callable[[Any], tuple[int, str, str] | None],
        *,
        towards_worker: bool = False,
        lend: Callable[[object], int | None] = lambda value: None,
    ) -> None:
        self.tensors: list[TensorHead] = []
        self.buffers: list[Any] = []
        self.sent: list[torch.Tensor] = []
        """The tensors encoded, in order of their index."""
        self.generators: list[torch.Generator] = []
        self._handle = handle
        self._lend = lend
        self._towards_worker = towards_worker
        self._offset = 0
        self._budget = _Budget(Unencodable)
        self._seen: dict[int, int] = {}

    def encode(self, value: Any, depth: int = 0) -> Any:
        """Return plain data for `value`.

        Raises:
            Unencodable: nested too deep, too large, or of a form that neither side knows.
        """
        kind = type(value)
        # Numbers and texts are themselves.
        if value is None or kind is bool or kind is float:
            return value
        if kind is int:
            return value if -(1 << 63) <= value < 1 << 63 else [BIGINT, self._bigint(value)]
        if kind is str:
            if len(value) > MAX_STRING:
                raise Unencodable(f"a string of {len(value):,} characters; at most {MAX_STRING:,} are read")
            # Half a surrogate pair is a Python string, and has no UTF-8.
            return value.encode("utf-8", "replace").decode() if not value.isascii() else value
        if kind is bytes:
            if len(value) > MAX_STRING:
                raise Unencodable(f"{len(value):,} bytes; at most {MAX_STRING:,} are read")
            # As a string, one character a byte: MessagePack's own bytes would need another type on every
            # level.
            return [BYTES, value.decode("latin-1")]
        if isinstance(value, torch.Tensor):
            return self._tensor(value, kind)
        if (kind is np.ndarray or isinstance(value, np.generic)) and (tensor := tensor_of(value)) is not None:
            return [ARRAY, self._tensor(tensor, torch.Tensor)[1], kind is not np.ndarray]
        # What holds other values, and may hold itself.
        if depth > MAX_DEPTH:
            raise Unencodable(f"a value nested too deep (more than {MAX_DEPTH} levels)")
        if kind is list:
            return [LIST, *self._all(value, depth)]
        if kind is torch.Size:
            return [SIZE, *self._all(value, depth)]
        if isinstance(value, tuple):
            # By tuple's own iterator: a named tuple of the submission's may iterate as it likes.
            return [TUPLE, *self._all(tuple(tuple.__iter__(value)), depth)]
        if isinstance(value, dict) and (kind is dict or kind.__module__ == "collections"):
            # Before a dict is made of them on the other side.
            self._budget.keys(list(dict.keys(value)))
            return [DICT, *self._all([part for item in dict.items(value) for part in item], depth)]
        # What is known on both sides.
        if kind is torch.dtype:
            return [DTYPE, str(value).removeprefix("torch.")]
        if kind is torch.device:
            return [DEVICE, str(value)]
        if kind is slice:
            return [SLICE, *self._all((value.start, value.stop, value.step), depth)]
        if kind is complex:
            return [COMPLEX, value.real, value.imag]
        if value is Ellipsis:
            return [ELLIPSIS]
        if kind is torch.Generator:
            self._budget.take(GENERATORS)
            self.generators.append(value)
            return [GENERATOR, str(value.device), self._tensor(value.get_state(), torch.Tensor)]
        # What stays where it is.
        if (number := self._lend(value)) is not None:
            return [LENT, number]
        found = self._handle(value)
        if found is None:
            raise Unencodable(f"a value of type {kind.__module__}.{kind.__qualname__}")
        self._budget.take(HANDLES)
        return [HANDLE, *found]

    def _all(self, values: Sequence[Any], depth: int) -> list[Any]:
        self._budget.take(PARTS, len(values))
        return [self.encode(value, depth + 1) for value in values]

    def _bigint(self, value: int) -> str:
        if value.bit_length() > 4096:  # 1,024 digits
            raise Unencodable(f"an integer of {value.bit_length():,} bits; at most 4,096 are read")
        return format(value, "x")

    def _tensor(self, value: torch.Tensor, kind: type) -> Any:
        # A tensor that occurs twice crosses once, so that over there it is one object, too. `sent` keeps it
        # alive, or another could get its address.
        if (index := self._seen.get(id(value))) is not None:
            if not self._towards_worker:
                self._budget.tensor(self.tensors[index].nbytes)
            return [TENSOR, index]
        if (kind is torch.Tensor or kind is torch.nn.Parameter) and (usual := self._usual(value, kind)):
            head, buffer = usual
        else:
            # A subclass may redefine every method: here torch's own are called, of which no graph keeps a
            # trace.
            with torch._C.DisableTorchFunctionSubclass(), torch.no_grad():
                head, buffer = self._describe(value, kind)
        if not self._towards_worker:
            self._budget.tensor(head.nbytes)
        index = len(self.tensors)
        self._seen[id(value)] = index
        self.tensors.append(head)
        self.buffers.append(buffer)
        self.sent.append(value)
        self._offset += head.nbytes + -head.nbytes % ALIGNMENT
        if self._offset > MAX_PAYLOAD and not self._towards_worker:
            raise Unencodable(f"tensors of more than {MAX_PAYLOAD >> 20} MB together")
        # Only a leaf keeps `.grad`; to ask another tensor for it makes torch warn.
        grad = None if self._towards_worker or not (head.requires_grad and value.is_leaf) else value.grad
        if grad is not None:
            head.grad = self._tensor(grad, torch.Tensor)[1]
        return [TENSOR, index]

    def _usual(self, value: torch.Tensor, kind: type) -> tuple[TensorHead, Any] | None:
        """Describe a small tensor as nearly all are, in fewer steps; None where it is another."""
        name, size = _USUAL.get(value.dtype, ("", 0))
        nbytes = value.numel() * size
        if (
            not 0 < nbytes <= TOGETHER
            or not value.is_cpu
            or value.layout is not torch.strided
            or value.is_nested
            or value.dim() > MAX_AXES
            or not value.is_contiguous()
            # A lazy negation: the memory holds the numbers with the other sign.
            or value.is_neg()
        ):
            return None
        head = TensorHead(
            dtype=name,
            shape=list(value.shape),
            offset=self._offset,
            nbytes=nbytes,
            requires_grad=value.requires_grad,
            kind="tensor" if kind is torch.Tensor else "parameter",
        )
        # A copy by address: what is small is copied anyway when it is sent.
        return head, ctypes.string_at(value.data_ptr(), nbytes)

    def _describe(self, value: torch.Tensor, kind: type) -> tuple[TensorHead, Any]:
        # What has no ordinary values, or more of anything than is read.
        if (
            value.layout != torch.strided
            or value.is_quantized
            or value.is_nested
            or value.device.type == "meta"
        ):
            device = "meta" if value.device.type == "meta" else ""
            form = device or (
                "quantized" if value.is_quantized else "nested" if value.is_nested else str(value.layout)
            )
            raise Unencodable(f"a tensor without ordinary values ({form}); return a dense tensor", device)
        if (dtype := str(value.dtype).removeprefix("torch.")) not in _NUMBERS:
            raise Unencodable(f"a tensor of dtype {dtype}, which has no ordinary numbers")
        shape = list(value.shape)
        if len(shape) > MAX_AXES:
            raise Unencodable(f"a tensor of {len(shape)} axes; at most {MAX_AXES} are read")
        # Without elements it has no bytes to bound, but a loop over its rows would have no end.
        if not self._towards_worker and _is_vast(shape):
            raise Unencodable(f"a tensor of shape {shape}, which has no elements and yet no end")
        nbytes = value.numel() * value.element_size()
        if nbytes > MAX_TENSOR:
            size, limit = nbytes / 2**20, MAX_TENSOR / 2**20
            raise Unencodable(
                f"a tensor of shape {shape}, {size:,.0f} MB; at most {limit:,.0f} MB is read back"
            )
        # Its bytes: in order, except that a check's own views keep theirs, as a submission may depend on it.
        plain = value.detach() if kind is torch.Tensor else value.detach().as_subclass(torch.Tensor)
        # torch conjugates and negates lazily: the memory holds the numbers from before.
        plain = plain.resolve_conj().resolve_neg()
        strides: list[int] | None = None
        if self._towards_worker and not plain.is_contiguous() and value.numel():
            # The span between first and last element travels whole, gaps and all.
            strides = list(plain.stride())
            span = 1 + sum((size - 1) * step for size, step in zip(shape, strides, strict=True))
            if span * value.element_size() <= MAX_TENSOR:
                plain = plain.as_strided((span,), (1,))
            else:
                strides = None
        # Numbers cross, never a device's memory: the other process has another context on it.
        plain = plain.to("cpu").contiguous()
        head = TensorHead(
            dtype=dtype,
            shape=shape,
            offset=self._offset,
            nbytes=plain.numel() * plain.element_size(),
            device=str(value.device),
            strides=strides,
            requires_grad=value.requires_grad,
            kind=_kind_name(kind),
        )
        return head, _buffer(plain)


class Decoder:
    """Turn plain data plus a payload back into values, believing nothing."""

    def __init__(
        self,
        tensors: list[TensorHead],
        payload: Any,
        handle: Callable[[int, str, str], Any],
        *,
        trusted: bool = False,
        callbacks: Callable[[int], Any] | None = None,
        present: Callable[[str], bool] = lambda device: False,
    ) -> None:
        """`present` says of a device other than the CPU whether a tensor can be put there."""
        self._heads = tensors
        self._payload = payload
        self._handle = handle
        self._trusted = trusted
        self._callbacks = callbacks
        self._present = present
        self._made: dict[int, torch.Tensor] = {}
        self.generators: list[torch.Generator] = []
        self._budget = _Budget(ProtocolError)
        self._compound: list[Hashable] = []
        """Values that a sender can make up any number of with one hash."""

    @property
    def steps(self) -> int:
        """How many values were read."""
        return self._budget.taken[PARTS]

    def decode(self, data: Any) -> Any:
        """Return the value.

        Raises:
            ProtocolError: a code, size, type or index that no honest sender writes, or more than is read.
        """
        value = self._value(data, 0)
        # Keys with one hash make a dict take time that grows with their square: the grader's, which nothing
        # interrupts.
        if len(self._compound) > MAX_ALIKE and not self._trusted:
            self._budget.unlike(self._compound)
        return value

    def _value(self, data: Any, depth: int) -> Any:
        kind = type(data)
        if data is None or kind in (bool, int, float, str):
            return data
        if kind is not list or not data or depth > MAX_DEPTH + 1:
            raise ProtocolError("a value of no known form")
        code, rest = data[0], data[1:]
        if type(code) is not int:
            raise ProtocolError("a value without a code")
        # What torch or Python refuses to make of it is the sender's fault, whatever they raise.
        try:
            if code == BYTES:  # first: a vocabulary has thousands
                return str.encode(rest[0], "latin-1")
            return self._decode(code, rest, depth)
        except (
            TypeError,
            ValueError,
            KeyError,
            IndexError,
            RuntimeError,
            OverflowError,
            RecursionError,
        ) as error:
            raise ProtocolError(f"a value that cannot be read: {str(error)[:200]}") from None

    def _decode(self, code: int, rest: list[Any], depth: int) -> Any:
        # What is not in the head: bytes of tensors, and objects that stay over there.
        if code == TENSOR:
            found = self.tensor(*rest)
            if not self._trusted:
                self._budget.tensor(self._heads[rest[0]].nbytes)
            return found
        if code == ARRAY:
            array = self._decode(TENSOR, rest[:1], depth).detach().numpy()
            return array[()] if rest[1] else array
        if code == HANDLE:
            self._budget.take(HANDLES)
            number, type_name, kind = rest
            # `type(x) is`, since True is an int as well.
            if type(number) is not int or type(type_name) is not str or type(kind) is not str:
                raise ProtocolError("an invalid handle")
            return self._handle(number, type_name[:MAX_TEXT], kind)
        # What holds other values.
        if code in (LIST, TUPLE, SIZE):
            items = self._all(rest, depth)
            if code == LIST:
                return items
            if code == SIZE and not all(type(item) is int and abs(item) < 1 << 63 for item in items):
                raise ProtocolError("a size that is none")
            return self._noted(tuple(items) if code == TUPLE else torch.Size(items))
        if code == DICT:
            keys = self._all(rest[::2], depth)
            self._budget.keys(keys)
            return dict(zip(keys, self._all(rest[1::2], depth), strict=True))
        # What is known on both sides.
        if code == DTYPE:
            return DTYPES[rest[0]]
        if code == DEVICE:
            return torch.device(rest[0])
        if code == BIGINT:
            if len(rest[0]) > MAX_DIGITS:
                raise ProtocolError("an integer too large")
            # In hexadecimal: decimal digits take Python time that grows with their square.
            return self._noted(int(rest[0], 16))
        if code == SLICE:
            return slice(*self._all(rest, depth))
        if code == COMPLEX:
            return self._noted(complex(*rest))
        if code == ELLIPSIS:
            return Ellipsis
        if code == GENERATOR:
            self._budget.take(GENERATORS)
            # A worker's word must not make the grader touch a device.
            generator = torch.Generator(rest[0] if self._trusted else "cpu")
            generator.set_state(self._value(rest[1], depth + 1))
            self.generators.append(generator)
            return generator
        if code == LENT and self._callbacks is not None:
            return self._callbacks(rest[0])
        raise ProtocolError(f"an unknown code {code}")

    def _all(self, values: list[Any], depth: int) -> list[Any]:
        self._budget.take(PARTS, len(values))
        return [self._value(value, depth + 1) for value in values]

    def _noted(self, value: Hashable) -> Hashable:
        self._compound.append(value)
        return value

    def _place(self, tensor: torch.Tensor, device: str) -> torch.Tensor:
        if device == "cpu":
            return tensor
        if self._present(device):
            return tensor.to(device)
        raise ProtocolError(f"a tensor on {device[:20]}, which is not here")

    def tensor(self, index: Any) -> torch.Tensor:
        """Return the tensor at `index`; asked twice, the same object."""
        if type(index) is not int or not 0 <= index < len(self._heads):
            raise ProtocolError("a tensor that was not sent")
        if index not in self._made:
            head = self._heads[index]
            try:
                self._made[index] = self._make(head)
                if head.grad >= 0:
                    # A gradient comes after its tensor, so that none can be its own, directly or by a
                    # detour.
                    if head.grad <= index:
                        raise ProtocolError("a gradient that is none")
                    self._made[index].grad = self.tensor(head.grad)
            except (RuntimeError, ValueError, TypeError, OverflowError) as error:  # torch refuses it
                raise ProtocolError(f"a tensor that cannot be made: {str(error)[:200]}") from None
        return self._made[index]

    def write_into(self, earlier: dict[Any, torch.Tensor]) -> None:
        """Write the message's tensors over those that earlier messages of the same form had, and add new ones."""
        for index, head in enumerate(self._heads):
            own, form = self.tensor(index), (index, head.dtype, tuple(head.shape), tuple(head.strides or ()))
            if (old := earlier.setdefault(form, own)) is not own:
                # All of its memory, since an expanded tensor cannot be written; storages of some devices have no copy.
                size = own.untyped_storage().nbytes() // own.element_size()
                old.as_strided((size,), (1,), 0).copy_(own.as_strided((size,), (1,), 0))
                self._made[index] = old

    def _make(self, head: TensorHead) -> torch.Tensor:
        dtype = DTYPES.get(head.dtype) if head.dtype in _NUMBERS else None
        if dtype is None:
            raise ProtocolError("an unknown dtype")
        count = math.prod(head.shape)
        if not self._trusted and _is_vast(head.shape):
            raise ProtocolError("a tensor without elements and without end")
        # Strides may let tiny memory look like a tensor of any size.
        if head.strides is not None and not self._trusted:
            raise ProtocolError("strides from a worker")
        stored = count if head.strides is None else head.nbytes // dtype.itemsize
        if stored * dtype.itemsize != head.nbytes or head.offset + head.nbytes > len(self._payload):
            raise ProtocolError("a tensor whose bytes are not there")
        if head.nbytes == 0:
            result = self._place(torch.empty(head.shape, dtype=dtype), head.device)
        else:
            # Without a copy, over the bytes that came; in a worker a copy, which a submission may write to
            # without changing what it was sent (`_has_changed` compares both).
            flat = torch.frombuffer(self._payload, dtype=torch.uint8, count=head.nbytes, offset=head.offset)
            if dtype == torch.bool and not self._trusted:
                flat = flat != 0  # a byte of 2 in a bool tensor would be neither true nor false
            # It is moved flat: a copy to another device would close the gaps between its strides.
            result = self._place((flat.clone() if self._trusted else flat).view(dtype), head.device)
            shape, strides = head.shape, head.strides
            result = result.reshape(shape) if strides is None else result.as_strided(shape, strides)
        if head.requires_grad and (dtype.is_floating_point or dtype.is_complex):
            result.requires_grad_()
        if head.kind not in ("tensor", "parameter", "buffer"):
            result.kata_type = head.kind  # type: ignore[attr-defined]
        return result


def tensor_of(value: np.ndarray[Any, Any] | np.generic) -> torch.Tensor | None:
    """Return a tensor over an array's memory, or over a copy where it runs backwards; None for what torch has not."""
    array = np.asarray(value)
    if any(step < 0 for step in array.strides) or not array.flags.writeable:
        array = array.copy()
    try:
        return torch.from_numpy(array)
    except (TypeError, ValueError):  # of text, of objects, in the other byte order
        return None


PARTS, KEYS, TENSORS, GENERATORS = "parts", "keys of dicts", "tensors", "random generators"
HANDLES = "objects that are not numbers, texts or tensors"
_LIMITS = {
    PARTS: MAX_ITEMS,
    KEYS: MAX_KEYS,
    TENSORS: MAX_TENSORS,
    HANDLES: MAX_HANDLES,
    GENERATORS: MAX_GENERATORS,
}


class _Budget:
    """What one message may still hold; the same on both sides, so that the worker can say what was too much."""

    def __init__(self, refusal: type[Exception]) -> None:
        self._refusal = refusal
        self.taken = dict.fromkeys(_LIMITS, 0)
        self.expanded = 0

    def take(self, what: str, count: int = 1) -> None:
        """Count so many more of what `_LIMITS` lists."""
        self.taken[what] += count
        if self.taken[what] > _LIMITS[what]:
            raise self._refusal(f"a value with too many {what} (more than {_LIMITS[what]:,})")

    def tensor(self, nbytes: int) -> None:
        """Count a place at which a tensor is, with its bytes."""
        self.take(TENSORS)
        # As often as it is there: a check that goes through a list computes with each place of it.
        self.expanded += nbytes
        if self.expanded > MAX_EXPANDED:
            raise self._refusal(
                f"tensors of more than {MAX_EXPANDED >> 20} MB together, each counted as often as it is there"
            )

    def keys(self, keys: list[Any]) -> None:
        """Count the keys of one dict, before they are put into one."""
        self.take(KEYS, len(keys))
        # So few are quickly compared, whatever they are.
        if len(keys) > MAX_ALIKE:
            self.unlike(keys)

    def unlike(self, values: list[Hashable]) -> None:
        """Demand that no more than a few different values share a hash, in as many steps as sorting takes."""
        try:
            hashes = sorted(map(hash, values))
        except TypeError:  # a tuple that holds a list
            values = [value for value in values if _is_hashable(value)]
            hashes = sorted(map(hash, values))
        crowded = {first for first, last in zip(hashes, hashes[MAX_ALIKE:], strict=False) if first == last}
        # Only of the hashes that are too common: to compare all would be the square that this is to prevent.
        met: dict[int, list[Hashable]] = {number: [] for number in crowded}
        for value in values if met else ():
            others = met.get(hash(value))
            if others is None or any(_same(value, other) for other in others):
                continue
            others.append(value)
            if len(others) > MAX_ALIKE:
                raise self._refusal(f"more than {MAX_ALIKE} different values that share a hash")


def _is_hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _same(one: object, other: object) -> bool:
    return one is other or (type(one) is type(other) and not isinstance(one, torch.Tensor) and one == other)


def _is_vast(shape: list[int]) -> bool:
    return 0 in shape and math.prod(size for size in shape if size) > MAX_EMPTY


def _kind_name(kind: type) -> str:
    if kind is torch.Tensor:
        return "tensor"
    if kind is torch.nn.Parameter:
        return "parameter"
    if kind is torch.nn.Buffer:
        return "buffer"
    return f"{kind.__module__}.{kind.__qualname__}"[:MAX_TEXT]


def _buffer(tensor: torch.Tensor) -> Any:
    """Return the bytes of a contiguous CPU tensor without copying; the buffer keeps the tensor alive."""
    nbytes = tensor.numel() * tensor.element_size()
    if nbytes == 0:
        return b""
    array = (ctypes.c_char * nbytes).from_address(tensor.data_ptr())
    # An address keeps nothing alive, an attribute does.
    array.tensor = tensor  # type: ignore[attr-defined]
    return memoryview(array).cast("B")


def products(pairs: Iterable[tuple[torch.Tensor, torch.Tensor]]) -> list[torch.Tensor]:
    """Return, for each output and its cotangent, a real scalar whose gradient by the output is the cotangent.

    Backward from these equals backward from the outputs with the cotangents given.
    """
    # Torch imports sympy (0.3 s) when a process first gives it an explicit gradient; from scalars it does not.
    return [(output * cotangent.conj()).sum().real for output, cotangent in pairs]
