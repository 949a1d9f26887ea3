"""A pretended accelerator: tensors whose device is `pretend:0` and whose numbers are computed by the CPU.

For rehearsals only. It is there so that every path that a GPU takes through the engine runs on machines without one.
No figure and no mark that stems from it says anything about an accelerator, and whatever names the device says so: it
is called `pretend`. Nothing loads it but `grader.devices`, when that device is asked for by name.

How it works (seen with torch 2.13; `_setup_privateuseone_for_python_backend` and `torch._C._acc` are experimental):
torch has a free place for one more kind of device, "PrivateUse1", whose kernels may be written in Python. What Python
cannot register there is an allocator. DLPack can hand torch memory of ours that claims to lie on that device, with a
function to call when it is let go of: so tensors are real ones, with storages, views and autograd like any other's, and
what is in use can be counted. Views are made by the CPU's own kernels, which look at no data; every other operator is
run by the CPU on the same bytes.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import struct
import threading
import time
import types
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import torch
from torch.utils import backend_registration

NAME = "pretend"
LABEL = "a pretended accelerator, no GPU"
TOTAL_BYTES = 8 << 30
"""What it says it has."""
CONTEXT_BYTES = 256 << 20
"""What a process is charged when it first uses the device, as a GPU's driver does."""
_PROCESSES, _TENSORS = 4096, 1 << 16
"""So many can be told apart, and so many can there be at once in one process."""
_DEVICE = torch.device("cpu")
_DL_UINT, _DL_EXTENSION = 1, 12
_MIB = 1 << 20


class _DLDevice(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("index", ctypes.c_int32)]


class _DLType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _DLDevice),
        ("ndim", ctypes.c_int32),
        ("dtype", _DLType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _DLManaged(ctypes.Structure):
    pass


_LetGo = ctypes.CFUNCTYPE(None, ctypes.POINTER(_DLManaged))
_DLManaged._fields_ = [("tensor", _DLTensor), ("context", ctypes.c_void_p), ("deleter", _LetGo)]
_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.restype, _capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


class _Memory:
    """What is in use, of this process; and of all processes that share the device, as a driver would tell.

    torch calls a tensor's deleter wherever the last of it goes: without the interpreter's lock, or while an exception
    is on its way, in which Python code must not run. So the deleter is `time(3)`, which writes the hour over the first
    field of what it is given, and whose was overwritten is seen at the next look.
    """

    def __init__(self) -> None:
        self.limit = TOTAL_BYTES
        self.allocated = self.peak = self.reserved = 0
        self.lock = threading.RLock()
        self._managed = (_DLManaged * _TENSORS)()
        self._first = ctypes.addressof(self._managed)
        self._lengths = (ctypes.c_int64 * _TENSORS)()
        self._written = np.frombuffer(memoryview(self._managed), np.int64).reshape(_TENSORS, -1)[:, 0]
        self._expected = np.zeros(_TENSORS, np.int64)
        self._kept: dict[int, tuple[torch.UntypedStorage, int]] = {}
        """By place: the memory, and the bytes that are counted for it."""
        self._vacant: list[int] = []
        self._top = 0
        # Shared with everybody who is forked from here on: the grader asks how much its workers hold.
        self._everybody = mmap.mmap(-1, 8 * _PROCESSES)
        self._slot = -1

    def adopt(self, source: torch.UntypedStorage) -> torch.Tensor:
        """Return the bytes of a CPU's storage as a tensor on the device.

        Raises:
            torch.OutOfMemoryError: that would be more than this process may have.
        """
        size = source.nbytes()
        with self.lock:
            self.demand(size)
            place = self._vacant.pop() if self._vacant else self._top
            if place == self._top:
                self._prepare(place)
            self._lengths[place] = size
            self._written[place] = self._expected[place] = source.data_ptr()
            self._kept[place] = source, size
            self._count(size)
        return torch._C._from_dlpack(
            _capsule(self._first + place * ctypes.sizeof(_DLManaged), b"dltensor", None)
        )

    def _prepare(self, place: int) -> None:
        """Fill in what is the same for whatever lies there."""
        self._top = place + 1
        managed = self._managed[place]
        managed.tensor.device = _DLDevice(_DL_EXTENSION, 0)
        managed.tensor.ndim = 1
        managed.tensor.dtype = _DLType(_DL_UINT, 8, 1)
        managed.tensor.shape = ctypes.pointer(ctypes.c_int64.from_buffer(self._lengths, 8 * place))
        managed.deleter = _let_go

    def demand(self, size: int) -> None:
        """Refuse what is more than this process may have."""
        self.look()
        if self.allocated + size > self.limit:
            raise torch.OutOfMemoryError(
                f"{NAME} out of memory. Tried to allocate {size / _MIB:.2f} MiB. {self.allocated / _MIB:.2f} MiB "
                f"is allocated, and this process may have {self.limit / _MIB:.2f} MiB."
            )

    def look(self) -> int:
        """Let go of what torch has let go of; return what is allocated."""
        with self.lock:
            top = self._top
            for place in np.flatnonzero(self._written[:top] != self._expected[:top]).tolist():
                self._written[place] = self._expected[place] = 0
                self._count(-self._kept.pop(place)[1])
                self._vacant.append(place)
            return self.allocated

    def initialised(self) -> bool:
        return self._slot >= 0

    def initialise(self) -> None:
        """Take notice of this process: charge it what a driver takes for itself."""
        if self._slot < 0:
            self._slot = int.from_bytes(os.urandom(4), "big") % _PROCESSES
            self._tell()

    def forget(self) -> None:
        """Begin anew, in a process that was forked: what was allocated is its parent's."""
        self._slot = -1
        self.lock = threading.RLock()
        self.allocated = self.peak = self.reserved = 0
        self._kept = {place: (source, 0) for place, (source, _) in self._kept.items()}

    def free(self) -> int:
        """Return what is left of the device, for all processes together; torch's allocators keep what they took."""
        return TOTAL_BYTES - int(sum(struct.unpack(f"{_PROCESSES}q", self._everybody[:])))

    def _count(self, size: int) -> None:
        self.initialise()
        self.allocated += size
        self.peak = max(self.peak, self.allocated)
        if self.allocated > self.reserved:
            self.reserved = self.allocated
            self._tell()

    def _tell(self) -> None:
        struct.pack_into("q", self._everybody, 8 * self._slot, CONTEXT_BYTES + self.reserved)


_let_go = _LetGo(ctypes.cast(ctypes.CDLL(None).time, ctypes.c_void_p).value or 0)
_memory = _Memory()


class Stream:
    """A queue of work. Work is done when it is handed in, but for what `_sleep` pretends is still running."""

    def __init__(self) -> None:
        self.busy_until = 0.0

    def synchronize(self) -> None:
        """Wait until its work is done."""
        while (left := self.busy_until - time.monotonic()) > 0:
            time.sleep(min(left, 3600.0))


class Event:
    """A moment in a stream, by the clock of the machine."""

    def __init__(self, enable_timing: bool = False) -> None:
        self._at: float | None = None

    def record(self, stream: Stream | None = None) -> None:
        """Note when the stream will have come so far."""
        self._at = max(time.monotonic(), (stream or current_stream()).busy_until)

    def synchronize(self) -> None:
        """Wait for that moment."""
        while self._at is not None and (left := self._at - time.monotonic()) > 0:
            time.sleep(min(left, 3600.0))

    def query(self) -> bool:
        """Return whether it has passed."""
        return self._at is None or self._at <= time.monotonic()

    def elapsed_time(self, end: Event) -> float:
        """Return the milliseconds from here to another."""
        if self._at is None or end._at is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return (end._at - self._at) * 1e3


class Generator(torch._C.Generator):
    """A generator that may say that it is the device's: Python can register none, so it is a CPU's by another name."""

    ours: ClassVar[weakref.WeakValueDictionary[int, Generator]] = weakref.WeakValueDictionary()
    _where: torch.device
    """By torch's own object: an operator is handed another wrapper around it."""

    def __new__(cls, device: Any = "cpu") -> Generator:
        """Make one for a device, as torch's own does."""
        where = torch.device(device)
        made: Generator = super().__new__(cls, "cpu" if where.type == NAME else where)  # type: ignore[call-arg]
        made._where = torch.device(NAME, 0) if where.type == NAME else where
        if where.type == NAME:
            cls.ours[made._cdata] = made  # type: ignore[attr-defined]
        return made

    def __init__(self, device: Any = "cpu") -> None:
        """Take what `__new__` took."""

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        """The device it draws for."""
        return self._where


_default = Stream()
_current = threading.local()
_streams: list[Stream] = [_default]
_generator = torch.Generator()


def current_stream(device: Any = None) -> Stream:
    """Return the stream that work is handed to."""
    found: Stream = getattr(_current, "stream", _default)
    return found


@contextmanager
def stream(chosen: Stream) -> Iterator[None]:
    """Hand work to another stream meanwhile."""
    before = current_stream()
    if chosen not in _streams:
        _streams.append(chosen)
    _current.stream = chosen
    try:
        yield
    finally:
        _current.stream = before


def synchronize(device: Any = None) -> None:
    """Wait until all work is done."""
    _memory.initialise()
    for one in _streams:
        one.synchronize()


def _sleep(nanoseconds: int) -> None:
    """Keep the current stream busy, and return at once: a kernel that runs for so long."""
    now = current_stream()
    now.busy_until = max(now.busy_until, time.monotonic()) + nanoseconds * 1e-9


def _set_fraction(fraction: float, device: Any = None) -> None:
    if not 0 <= fraction <= 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    _memory.limit = int(TOTAL_BYTES * fraction)


def _manual_seed(seed: int) -> None:
    _generator.manual_seed(seed)


def _reset_peak(device: Any = None) -> None:
    _memory.peak = _memory.look()


_module = types.ModuleType(f"torch.{NAME}", "The names that `torch.cuda` has, as far as they are used here.")
_module.__dict__.update(
    Event=Event,
    Stream=Stream,
    _is_in_bad_fork=lambda: False,
    _sleep=_sleep,
    current_device=lambda: 0,
    current_stream=current_stream,
    default_stream=lambda device=None: _default,
    device_count=lambda: 1,
    empty_cache=lambda: None,
    get_amp_supported_dtype=lambda: [torch.float16, torch.bfloat16],
    get_device_name=lambda device=None: LABEL,
    get_device_properties=lambda device=None: SimpleNamespace(name=LABEL, total_memory=TOTAL_BYTES),
    get_rng_state=lambda device=None: _generator.get_state(),
    init=_memory.initialise,
    is_available=lambda: True,
    is_initialized=_memory.initialised,
    manual_seed=_manual_seed,
    manual_seed_all=_manual_seed,
    max_memory_allocated=lambda device=None: _memory.peak,
    mem_get_info=lambda device=None: (_memory.free(), TOTAL_BYTES),
    memory_reserved=lambda device=None: _memory.reserved,
    memory_allocated=lambda device=None: _memory.look(),
    reset_peak_memory_stats=_reset_peak,
    set_device=lambda device: None,
    set_per_process_memory_fraction=_set_fraction,
    set_rng_state=lambda state, device=None: _generator.set_state(state),
    stream=stream,
    synchronize=synchronize,
)


# --- Operators ---

_aten = torch.ops.aten
_CPU_KEYS = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
_MAY_MIX = frozenset({"aten::index", "aten::index_put_", "aten::_index_put_impl_", "aten::index_put"})
"""Where a GPU, too, takes indices that lie on the CPU."""


def _is_ours(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.device.type == NAME


def _bytes_of(storage: torch.UntypedStorage) -> torch.UntypedStorage:
    """Return the same memory as a CPU's storage; it must not outlive `storage`."""
    return torch._C._construct_storage_from_data_pointer(  # type: ignore[return-value]
        storage.data_ptr(), _DEVICE, storage.nbytes()
    )


def _alias(value: torch.Tensor) -> torch.Tensor:
    """Return the same memory as a CPU's tensor; it must not outlive `value`."""
    plain = torch.empty(0, dtype=value.dtype)
    plain.set_(_bytes_of(value.untyped_storage()), value.storage_offset(), value.shape, value.stride())
    return plain


def _wrap(value: torch.Tensor) -> torch.Tensor:
    """Return what the CPU has computed as a tensor on the device: the same memory."""
    if value.layout != torch.strided:
        raise NotImplementedError(f"{NAME} has no tensors of layout {value.layout}")
    value = value.resolve_conj().resolve_neg()
    if not value.untyped_storage().nbytes():
        value = torch.empty(1, dtype=value.dtype).as_strided(value.shape, value.stride(), 0)
    taken = _memory.adopt(value.untyped_storage())
    typed = _aten.view.dtype.redispatch(_CPU_KEYS, taken, value.dtype)
    return _aten.as_strided.default.redispatch(  # type: ignore[no-any-return]
        _CPU_KEYS, typed, value.shape, value.stride(), value.storage_offset()
    )


def _empty(
    size: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    memory_format: Any = None,
) -> torch.Tensor:
    kind = dtype or torch.get_default_dtype()
    _memory.demand(torch.Size(size).numel() * kind.itemsize)
    return _wrap(torch.empty(size, dtype=kind, memory_format=memory_format or torch.contiguous_format))


def _empty_strided(
    size: Any,
    stride: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
) -> torch.Tensor:
    return _wrap(torch.empty_strided(size, stride, dtype=dtype or torch.get_default_dtype()))


def _copy(target: torch.Tensor, source: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    if not _is_ours(target):
        current_stream().synchronize()  # the way back to the machine's memory waits for the device
    plain_target = _alias(target) if _is_ours(target) else target
    plain_target.copy_(_alias(source) if _is_ours(source) else source)
    return target


def _copy_from(source: torch.Tensor, target: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    return _copy(target, source, non_blocking)


def _set_storage(target: torch.Tensor, *source: Any) -> torch.Tensor:
    """Serve `set_` in all its forms: the CPU's kernel looks at no data."""
    found: torch.Tensor = _SET[len(source)].redispatch(_CPU_KEYS, target, *source)
    return found


_clone_on_cpu: Callable[[torch.UntypedStorage], torch.UntypedStorage] = torch.UntypedStorage.clone


def _clone_storage(storage: torch.UntypedStorage) -> torch.UntypedStorage:
    """Serve `copy.deepcopy`: torch's own asks the device's allocator for a storage, and crashes where there is none."""
    if storage.device.type != NAME:
        return _clone_on_cpu(storage)
    return _wrap(torch.empty(0, dtype=torch.uint8).set_(_bytes_of(storage)).clone()).untyped_storage()


_SET = {0: _aten.set_.default, 4: _aten.set_.source_Storage_storage_offset}


@dataclass(frozen=True)
class _Shape:
    """What an operator's schema says, looked up once."""

    view: bool
    written: tuple[str, ...]
    outs: tuple[str, ...]
    names: tuple[str, ...]
    tensors: frozenset[str]
    generator: int | None
    returned: tuple[bool, ...]
    """For every result, whether it is something that was written into."""


@functools.cache
def _shape(op: Any) -> _Shape:
    schema = op._schema
    names = tuple(argument.name for argument in schema.arguments)
    written = [one for one in schema.arguments if one.alias_info is not None and one.alias_info.is_write]
    return _Shape(
        any(one.alias_info is not None and not one.alias_info.is_write for one in schema.returns),
        tuple(one.name for one in written),
        tuple(one.name for one in written if one.is_out),
        names,
        frozenset(one.name for one in schema.arguments if str(one.type) == "Tensor"),
        names.index("generator") if "generator" in names else None,
        tuple(one.alias_info is not None for one in schema.returns),
    )


def _on_cpu(op: Any, *arguments: Any, **options: Any) -> Any:
    """Run an operator that has no kernel of its own."""
    shape = _shape(op)
    if shape.view:
        return op.redispatch(_CPU_KEYS, *arguments, **options)
    given = dict(zip(shape.names, arguments, strict=False)) | options
    tensors = list(_tensors(given.values()))
    if op._schema.name not in _MAY_MIX:
        _demand_one_device(tensors)
    if op is _aten._local_scalar_dense.default:
        current_stream().synchronize()
    # An empty `out` is resized, which an alias cannot be: it gets the result afterwards.
    outs = [given[name] for name in shape.outs if _is_ours(given[name])]
    late = {id(one): torch.empty(0, dtype=one.dtype) for one in outs if not one.numel()}
    plain = {id(one): _alias(one) for one in tensors if _is_ours(one) and id(one) not in late} | late
    # A number that stands where a tensor is wanted comes as a number: it takes the kind of the tensors beside it.
    arguments = tuple(
        _tensor_of(value, tensors)
        if name in shape.tensors and isinstance(value, int | float | complex)
        else value
        for name, value in zip(shape.names, arguments, strict=False)
    )
    options = {name: _converted(value, plain) for name, value in options.items()}
    if shape.generator is not None:
        options["generator"] = _generator_of(given)
        arguments = arguments[: shape.generator]
    result = op(*(_converted(value, plain) for value in arguments), **options)
    for one in outs:
        if id(one) in late:
            _fill(one, late[id(one)])
    if not any(shape.returned):
        return _converted_back(result)
    written = [given[name] for name in shape.written]
    results = result if isinstance(result, tuple) else (result,)
    made = [
        written.pop(0) if same else _converted_back(value)
        for same, value in zip(shape.returned, results, strict=True)
    ]
    return tuple(made) if isinstance(result, tuple) else made[0]


def _tensor_of(number: complex, beside: list[torch.Tensor]) -> torch.Tensor:
    made = torch.tensor(number, dtype=torch.float64 if isinstance(number, float) else None)
    if beside and torch.result_type(beside[0], number) == beside[0].dtype:
        return made.to(beside[0].dtype)
    return made.to(torch.get_default_dtype()) if isinstance(number, float) else made


def _fill(out: torch.Tensor, value: torch.Tensor) -> None:
    if out.shape == value.shape:
        _copy(out, value)
        return
    made = _wrap(value)
    _set_storage(out, made.untyped_storage(), made.storage_offset(), made.shape, made.stride())


def _demand_one_device(tensors: list[torch.Tensor]) -> None:
    for one in tensors:
        if not _is_ours(one) and one.ndim:
            raise RuntimeError(
                "Expected all tensors to be on the same device, but found at least two devices, "
                f"{NAME}:0 and {one.device}!"
            )


def _generator_of(given: dict[str, Any]) -> torch.Generator:
    chosen = given.get("generator")
    if chosen is not None and chosen._cdata in Generator.ours:
        return chosen  # type: ignore[no-any-return]
    if chosen is not None:
        raise RuntimeError(f"Expected a '{NAME}' device type for generator but found '{chosen.device.type}'")
    return _generator


def _tensors(values: Any) -> Iterator[torch.Tensor]:
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from _tensors(value)


def _converted(value: Any, plain: dict[int, torch.Tensor]) -> Any:
    if isinstance(value, torch.Tensor):
        return plain.get(id(value), value)
    if isinstance(value, list | tuple):
        return type(value)(_converted(one, plain) for one in value)
    if isinstance(value, torch.device):
        return _DEVICE
    return value


def _converted_back(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return _wrap(value)
    if isinstance(value, list | tuple):
        return type(value)(_converted_back(one) for one in value)
    return value


def _register() -> list[torch.library.Library]:
    torch.Generator = Generator  # type: ignore[misc]
    torch.UntypedStorage.clone = _clone_storage  # type: ignore[method-assign, assignment]
    backend_registration._setup_privateuseone_for_python_backend(NAME, _module)
    own = torch.library.Library("aten", "IMPL")  # type: ignore[no-untyped-call]
    for name, function in {
        "empty.memory_format": _empty,
        "empty_strided": _empty_strided,
        "copy_": _copy,
        "_copy_from": _copy_from,
        "set_.source_Storage_storage_offset": _set_storage,
        "set_": _set_storage,
    }.items():
        own.impl(name, function, "PrivateUse1")  # type: ignore[no-untyped-call]
    rest = torch.library.Library("_", "IMPL")  # type: ignore[no-untyped-call]
    rest.fallback(_on_cpu, "PrivateUse1")  # type: ignore[no-untyped-call]
    return [own, rest]


_libraries = _register()  # they unregister when they are let go of
os.register_at_fork(after_in_child=_memory.forget)
