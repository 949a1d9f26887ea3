"""A pretended accelerator: tensors whose device is `pretend:0` and whose numbers the CPU computes.

    python -m tests.host.pretended masks layer-norm        references on it, hidden checks too, training left out

Where there is no GPU, this finds checks that mix devices: on a GPU every right answer would lose their points.

How it works (seen with torch 2.13; `_setup_privateuseone_for_python_backend` is experimental): torch has a free place
for one more kind of device, "PrivateUse1", whose kernels may be written in Python. What Python cannot register there is
an allocator. DLPack can hand torch memory of ours that claims to lie on that device: so tensors are real ones, with
storages, views and autograd like any other's. Views are made by the CPU's own kernels, which look at no data; every
other operator is run by the CPU on the same bytes. Complex numbers, convolutions and tied parameters that are moved
are not what they are on a GPU.
"""

from __future__ import annotations

import ctypes
import functools
import sys
import types
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar

import torch
from torch.utils import backend_registration

NAME = "pretend"
_DEVICE = torch.device("cpu")
_DL_UINT, _DL_EXTENSION = 1, 12


class _DLDevice(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("index", ctypes.c_int32)]


class _DLType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _DLManaged(ctypes.Structure):
    """DLPack's DLManagedTensor, with its one size behind it."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _DLDevice),
        ("ndim", ctypes.c_int32),
        ("dtype", _DLType),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("size", ctypes.c_int64),
    ]


_HEAD = 128
"""Bytes before the data; what lies behind them is aligned as torch's own memory is."""
_libc = ctypes.CDLL(None)
_libc.aligned_alloc.restype, _libc.aligned_alloc.argtypes = (
    ctypes.c_void_p,
    (ctypes.c_size_t, ctypes.c_size_t),
)
# torch lets go of memory without the interpreter's lock, or while an exception is on its way: no Python may run then.
_free = ctypes.cast(_libc.free, ctypes.c_void_p).value
_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.restype, _capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


def _adopt(source: torch.UntypedStorage) -> torch.Tensor:
    """Return a copy of a CPU's storage as bytes on the device: one block, which begins with what describes it."""
    size = source.nbytes()
    block = _libc.aligned_alloc(64, _HEAD + size + -size % 64)
    managed = _DLManaged.from_address(block)
    managed.data, managed.device, managed.ndim = block + _HEAD, _DLDevice(_DL_EXTENSION, 0), 1
    managed.dtype, managed.size, managed.deleter = _DLType(_DL_UINT, 8, 1), size, _free
    managed.shape, managed.strides, managed.byte_offset = block + _DLManaged.size.offset, None, 0
    ctypes.memmove(block + _HEAD, source.data_ptr(), size)
    return torch._C._from_dlpack(_capsule(block, b"dltensor", None))


class Generator(torch._C.Generator):
    """A generator that may say that it is the device's: Python can register none, so it is a CPU's by another name."""

    ours: ClassVar[weakref.WeakValueDictionary[int, Generator]] = weakref.WeakValueDictionary()
    _where: torch.device
    """By torch's own object: an operator is handed another wrapper around it."""

    def __new__(cls, device: Any = "cpu") -> Generator:
        where = torch.device(device)
        made: Generator = super().__new__(cls, "cpu" if where.type == NAME else where)  # type: ignore[call-arg]
        made._where = torch.device(NAME, 0) if where.type == NAME else where
        if where.type == NAME:
            cls.ours[made._cdata] = made  # type: ignore[attr-defined]
        return made

    def __init__(self, device: Any = "cpu") -> None:
        pass

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        return self._where


_generator = torch.Generator()
_module = types.ModuleType(f"torch.{NAME}", "The names that `torch.cuda` has, as far as they are used here.")
_module.__dict__.update(
    _is_in_bad_fork=lambda: False,
    current_device=lambda: 0,
    device_count=lambda: 1,
    get_amp_supported_dtype=lambda: [torch.float16, torch.bfloat16],
    get_device_name=lambda device=None: "a pretended accelerator",
    get_device_properties=lambda device=None: SimpleNamespace(total_memory=8 << 30),
    get_rng_state=lambda device=None: _generator.get_state(),
    is_available=lambda: True,
    is_initialized=lambda: True,
    manual_seed=_generator.manual_seed,
    manual_seed_all=_generator.manual_seed,
    set_device=lambda device: None,
    set_rng_state=lambda state, device=None: _generator.set_state(state),
    synchronize=lambda device=None: None,
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
    taken = _adopt(value.untyped_storage())
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


def main(ids: list[str]) -> int:
    """Check references on it; say which checks do not pass."""
    torch.pretended = (
        _register(),
        sys.modules[__name__],
    )  # a fork server forgets our modules, and libraries end with theirs
    from grader.catalogue import Catalogue
    from grader.engine.host.bootstrap import start_launcher
    from grader.engine.runner import collected
    from grader.engine.runner.suite import RunConfig, Suite, suites_of

    # Our kernels are Python: torch gets their operators in the name of the line that calls one, as no real device does.
    collected.blocks_in = lambda pack: ()  # type: ignore[assignment]
    launcher = start_launcher(device=NAME)
    catalogue = Catalogue.discover()
    katas = [kata for one in ids for kata in catalogue.resolve(one)] if ids else catalogue.katas

    def body(suites: dict[str, Suite]) -> int:
        lost = 0
        for kata in katas:
            suite = suites[kata.slug]
            assert kata.solution is not None
            options = RunConfig(device=NAME, timeout_s=60.0, name=False)
            report = suite.exclude(suite.trained()).check(kata.solution, launcher, options)
            wrong = [check for check in report.checks if check.status not in ("pass", "skipped")]
            print(
                kata.slug, report.status, *(f"\n{check.id}: {check.message}" for check in wrong), flush=True
            )
            lost += report.status != "pass"
        return lost

    try:
        with suites_of(katas, hidden=True) as suites:
            return int(body(suites) > 0)
    finally:
        launcher.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
