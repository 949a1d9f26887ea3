"""Take away what a kata excludes, before a submission is loaded, by whatever name it is called.

Functions and classes that torch writes in Python lose their code (`torch_code`). Below all names of an operator, its
kernels are replaced in torch's dispatcher, once for the whole process. So scripts, custom operators, other threads and
names put together at run time all come past, and nothing is left to be found.

This decides what a kata asks for, not what can do harm; the sandbox does that.
"""

from __future__ import annotations

import ctypes
import dis
import functools
import os
import re
import sys
import threading
import types
import warnings
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import torch
from torch._ops import OpOverload, OpOverloadPacket, _OpNamespace

from grader.engine.wire import uses
from grader.engine.wire.messages import TakenAway, Watch
from grader.engine.wire.uses import AROUND, TORCH, Note, codes, functions, namespaces, overloads, sources
from grader.engine.worker import torch_code
from grader.notebooks import cell_prefix, place_of

_FRAMES = 100
"""How far out the submission's line is looked for."""
_OWN = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "")
_PASS_ON = (
    *tuple(
        os.path.join(os.path.realpath(folder), "")
        for folder in (os.path.dirname(TORCH.rstrip(os.sep)), os.path.dirname(os.__file__))
    ),
    _OWN,
)
"""Where files are that do not use an operator for themselves: installed libraries, Python's own, and ours."""
_AROUND = {
    **{f"gc.{name}": f"gc.{name}" for name in ("get_objects", "get_referrers", "get_referents")},
    **{f"sys.{name}": f"sys.{name}" for name in ("_current_frames", "settrace", "setprofile")},
    **{"exec": "eval", "compile": "eval", "marshal.loads": "marshal.loads"},
    **{"code.__new__": "types.CodeType", "function.__new__": "types.FunctionType"},
}
"""By audit event, what may find what is taken away, or run a text that nobody reads."""
_TO_FRAMES = frozenset({"tb_frame", "gi_frame", "cr_frame", "ag_frame"})
_NATIVE = re.compile(
    "_?import_ir_module.*|parse_ir|_create_function_from_graph|StaticModule|_(fuse|jit)_to_.*|_te"
    "|_jit_set_te_must_use_llvm_cpu|_jit_set_llga_enabled"
)
"""Parts of torch that compute without its dispatcher: graphs that no Python is the source of, the static runtime, and
the compilers of scripts."""

_ACCELERATORS = ("CUDA", "XPU", "MPS", "PrivateUse1")
_KINDS = ("Quantized", "Sparse", "SparseCsr", "NestedTensor")
_BACKENDS = (
    "CPU",
    "Meta",
    "MkldnnCPU",
    *_ACCELERATORS,
    *(f"{k}{on}" for k in _KINDS for on in ("CPU", "CUDA")),
)
"""Where kernels compute; all else (autograd, vmap, autocast, modes) lies above and ends up in one of these."""
_COMPOSITE = "CompositeImplicitAutograd"
"""An operator that is written in others has one kernel for everything, under this key."""

_TRANSFORMS = ("FuncTorchVmapMode", "FuncTorchBatchedDecomposition", "FuncTorchBatched")
"""Where vmap may have a kernel for such an operator, which takes it apart and never calls the one for everything."""


@functools.cache
def _registered(key: str) -> frozenset[str]:
    """Return the overloads that have a kernel under a key: asking for them one by one takes 15 µs each."""
    return frozenset(torch._C._dispatch_get_registrations_for_dispatch_key(key))


@functools.cache
def _native() -> list[str]:
    return [name for name in dir(torch._C) if _NATIVE.fullmatch(name)]


for _prepare in (overloads, namespaces, functions, codes, sources, _native):
    _prepare()  # now, so that a zygote does it for all its workers
for _key in (*_BACKENDS, _COMPOSITE, "CompositeExplicitAutograd", *_TRANSFORMS):
    _registered(_key)


class ExcludedError(RuntimeError):
    """Raised where a submission uses what its kata excludes."""


class _Handed:
    """A namespace of torch's operators for given blocks, in which each call costs no more than without a guard."""

    def __init__(self, space: Any, let: dict[int, types.CodeType]) -> None:
        self._space, self._let = space, let

    def __getattr__(self, name: str) -> Any:
        operator = getattr(self._space, name)
        found = _fast(operator, self._let)
        if isinstance(operator, OpOverloadPacket):
            for overload in operator.overloads():  # type: ignore[no-untyped-call]
                setattr(found, overload, _fast(getattr(operator, overload), self._let))
        setattr(self, name, found)
        return found


def _fast(operator: Any, let: dict[int, types.CodeType]) -> Any:
    # What its own `__call__` does in the end.
    inner, frame_at = operator.__dict__["_op"], sys._getframe

    def called(*args: Any, **kwargs: Any) -> Any:
        if id(frame_at(1).f_code) in let:
            return inner(*args, **kwargs)
        return operator(*args, **kwargs)  # which looks who it is

    return called


class Exclusion:
    """What a kata excludes, taken away in this process for as long as it lives."""

    def __init__(self, excluded: TakenAway) -> None:
        self.refused = 0
        """How often something was refused."""
        self._request = Watch("", "")
        self._note: Note = lambda name, line: None
        self._line: Callable[[], int] = lambda: 0
        self._own: tuple[str, ...] = ()
        self._trusted: tuple[str, ...] = ()
        self._below: frozenset[types.FrameType] = frozenset()
        """The frames below this: what is called from there, without code of a submission between, is ours."""
        self._askers: dict[int, tuple[types.CodeType, bool | None, bool]] = {}
        """By code, with the code itself: whether it may ask for operators (None: it passes on), and is ours."""
        self._let: dict[int, types.CodeType] = {}
        """The codes that may ask themselves, by number."""
        self._torch = codes()
        self._code_of: Callable[[str], types.CodeType] = torch_code.code_of
        self._codes: dict[str, frozenset[types.CodeType]] = {}
        self._loaded: set[types.CodeType] = set()
        """What torch has loaded since, without what is excluded."""
        if excluded.pattern:
            is_excluded = re.compile(excluded.pattern).search
            torch_code.replace(excluded.names, self._refuse_function)
            self._code_of = torch_code.guard_sources(
                excluded.names,
                is_excluded,
                self._refuse_function,
                self._count,
                lambda code: self._loaded.update(_parts(code)),
            )
            for name in _native():
                delattr(torch._C, name)
            with warnings.catch_warnings():  # torch warns of an override; this one is meant
                warnings.simplefilter("ignore")
                for operator in excluded.operators:
                    self._take_operator(operator)
        # What asks for them gets others: in these a submission could enter its own. To copy them takes 19 ms.
        codes.cache_clear()

    def watch(self, request: Watch, note: Note) -> None:
        """Note what the submission at a path uses, which is loaded next; the caller's frames are ours."""
        self._request, self._note = request, note
        self._line = _liner(request.path)
        self._own = tuple(
            os.path.join(os.path.realpath(folder), "") for folder in (request.root, os.getcwd())
        )
        given = (os.path.join(os.path.realpath(request.given), ""),) if request.given else ()
        self._trusted = (uses.REAL, *given)
        self._below = frozenset(_outward(sys._getframe(1)))
        if request.blocks:
            self._keep_for_blocks()
        installed = (*_PASS_ON, *self._trusted)
        sys.addaudithook(_pointer(note, self._line, self._own, installed, self._below))

    def _count(self) -> None:
        self.refused += 1

    def _refuse(self, name: str, why: str = "") -> NoReturn:
        """Note a use, and raise.

        Raises:
            ExcludedError: always.
        """
        self._count()
        self._note(name, self._line())
        own = name.rpartition(".")[2]
        raise ExcludedError(
            why or f"torch's own {own} is excluded in this kata. {self._request.advice}".rstrip()
        )

    def _refuse_function(self, name: str) -> None:
        caller = sys._getframe(2).f_code
        # What registers it while a module of torch is loaded does nothing: nobody has called it yet.
        if not (caller.co_name == "<module>" and caller.co_filename.startswith(TORCH)):
            self._refuse(name)

    def _take_operator(self, operator: str) -> None:
        namespace, _, own = operator.partition("::")
        library = torch._C._dispatch_library("IMPL", namespace, "", __file__, 0)
        name = f"torch.ops.{namespace}.{own}"

        def refuse(*args: Any, **kwargs: Any) -> NoReturn:
            self._refuse(name)

        for overload in overloads().get(operator, ()):
            for key in _kernels(overload):
                library.impl(overload.partition("::")[2], key, refuse)
        # Kept for ever, by a count that no object stands for: what a library registered is taken back when it is freed.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))

    def _keep_for_blocks(self) -> None:
        """Let the operators of torch be got and called by their inner names from given blocks and from torch alone."""
        own = namespaces()
        get, find = _OpNamespace.__getattribute__, _OpNamespace.__getattr__
        # Blocks call operators a million times in a training: who has been let is known by the number of its code.
        let, frame_at = self._let, sys._getframe

        def checked(namespace: Any, name: str, value: Any, asker: types.FrameType) -> Any:
            space = types.ModuleType.__getattribute__(namespace, "__dict__").get("name")
            # Torch's C++ looks an operator up as well, for a dispatch mode, in the frame of whoever computes.
            is_operator = isinstance(value, OpOverloadPacket) and space in own
            if is_operator and not self._is_let(asker) and _loads(asker, name):
                self._refuse_inner(f"{space}.{name}")
            return value

        def got(namespace: Any, name: str) -> Any:
            value, asker = get(namespace, name), frame_at(1)
            return value if id(asker.f_code) in let else checked(namespace, name, value, asker)

        def inner(operator: Any) -> Any:
            code = frame_at(1).f_code
            if id(code) not in let and not code.co_filename.startswith(TORCH):
                self._refuse_inner(str(operator))
            return operator.__dict__["_op"]

        kind: Any = _OpNamespace
        # Both: Python asks the second where the first has nothing yet.
        kind.__getattribute__ = got
        kind.__getattr__ = lambda self, name: checked(self, name, find(self, name), frame_at(1))
        for kind in (OpOverload, OpOverloadPacket):
            let[id(kind.__call__.__code__)] = kind.__call__.__code__
            kind.__call__ = self._keep_calls(kind.__call__)
            kind._op = property(inner, lambda operator, value: operator.__dict__.update(_op=value))
        handed = {name: _Handed(getattr(torch.ops, name), let) for name in own} if self._request.given else {}
        get_space = types.ModuleType.__getattribute__

        def space_got(ops: Any, name: str) -> Any:
            space = get_space(ops, name)
            is_given = name in handed and self._is_of(frame_at(1).f_code, self._trusted[1:])
            return handed[name] if is_given else space

        kind = type(torch.ops)
        kind.__getattribute__ = space_got
        for name in ("_jit_get_operation", "_get_operation_overload"):
            setattr(torch._C, name, self._keep_finding(getattr(torch._C, name)))

    def _keep_finding(self, find: Any) -> Any:
        def found(name: str, *args: Any) -> Any:
            if not self._is_let(sys._getframe(1)):
                self._refuse_inner(name.replace("::", "."))
            return find(name, *args)

        return found

    def _keep_calls(self, call: Any) -> Any:
        let, frame_at = self._let, sys._getframe

        def called(operator: Any, /, *args: Any, **kwargs: Any) -> Any:
            asker = frame_at(1)
            if id(asker.f_code) not in let:
                # Torch hands these the operators to be called.
                handed = asker.f_code.co_name in ("__torch_dispatch__", "__torch_function__")
                if not handed and not self._is_let(asker):
                    self._refuse_inner(".".join(str(operator).split(".")[:2]))
            return call(operator, *args, **kwargs)

        return called

    def _refuse_inner(self, name: str) -> NoReturn:
        self._refuse(f"torch.ops.{name}", "torch.ops is for given blocks, which are not an answer")

    def _is_let(self, frame: types.FrameType | None) -> bool:
        """Whether who asks is torch or a given block; Python's own and what is installed only pass on."""
        foreign = False
        for caller in _outward(frame):
            if caller in self._below:
                return not foreign  # a block that is installed, and is in the place of an answer
            code = caller.f_code
            known = self._askers.get(id(code))
            if known is None:  # with the code, whose number would else be another's one day
                known = self._askers[id(code)] = code, self._asker(code), self._is_of(code, (_OWN,))
            _, may_ask, is_ours = known
            if may_ask is not None:
                if may_ask and not foreign:
                    self._let[id(code)] = code
                return may_ask
            foreign = foreign or not is_ours
        return False  # a thread that began with nobody's code

    def _asker(self, code: types.CodeType) -> bool | None:
        # What torch had loaded need not be read again: the largest file takes 10 ms.
        if id(code) in self._torch or self._is_of(code, self._trusted):
            return True
        file = _file_of(code.co_filename)
        if file.startswith(_PASS_ON) and not file.startswith(self._own):
            return None
        return _spelled(code) in self._blocks

    def _is_of(self, code: types.CodeType, folders: tuple[str, ...]) -> bool:
        """Whether it is what a file in these folders says: any code may be given the name of that file."""
        file = _file_of(code.co_filename)
        if not file.startswith(folders):
            return False
        if file not in self._codes:
            try:
                self._codes[file] = frozenset(_parts(self._code_of(file)))
            except (OSError, ValueError, SyntaxError):
                self._codes[file] = frozenset()
        return code in self._codes[file] or code in self._loaded

    @functools.cached_property
    def _blocks(self) -> frozenset[Any]:
        """How the functions of the given files are spelled, which may be copied."""
        found: set[Any] = set()
        folder = self._request.given
        for name in os.listdir(folder) if folder else ():
            if name.endswith(".py"):
                found.update(map(_spelled, _parts(self._code_of(f"{folder}/{name}"))))
        return frozenset(found)


@functools.cache
def taken_away(excluded: TakenAway) -> Exclusion:
    """Take it away from this process, unless that was done in the one that it was forked from."""
    return Exclusion(excluded)


def _pointer(
    note: Note,
    line: Callable[[], int],
    own: tuple[str, ...],
    installed: tuple[str, ...],
    below: frozenset[types.FrameType],
) -> Callable[[str, tuple[Any, ...]], None]:
    """Return an audit hook that notes what may lead around the exclusion, where the submission asks for it."""
    busy = threading.local()
    noted: set[str] = set()

    @functools.cache  # by a name: a path is followed link by link
    def whose(name: str) -> str:
        # An import runs and reads code for whoever asks; torch and the grader do much for everybody.
        file = _file_of(name)
        if name.startswith("<frozen importlib") or file.startswith((uses.REAL, _OWN)):
            return "end"
        is_own = not name.startswith("<frozen") and (file.startswith(own) or not file.startswith(installed))
        return "own" if is_own else "installed"

    def is_own(frame: types.FrameType | None, *, far: bool) -> bool:
        for caller in _outward(frame):
            place = "end" if caller in below else whose(caller.f_code.co_filename)
            if place != "installed" or not far:
                return place == "own"
        return False

    def look(event: str, arguments: tuple[Any, ...]) -> None:
        what = _AROUND.get(event)
        if what is None:
            if event == "object.__getattr__":
                what = arguments[1] if arguments[1] in _TO_FRAMES else None
            elif event.startswith("ctypes."):
                what = "ctypes"
        if what is None or what in noted or getattr(busy, "now", False):
            return
        busy.now = True
        try:
            if is_own(sys._getframe(1), far=event.startswith(("ctypes.", "gc."))):
                noted.add(what)
                note(f"{AROUND}{what}", line())
        finally:
            busy.now = False

    return look


@functools.cache  # a path is followed link by link
def _file_of(name: str) -> str:
    # Not as it is spelled: `//…` and links lead to the same file. A text that is run is in no file.
    return os.path.realpath(name) if os.path.isabs(name) else ""


def _parts(code: types.CodeType) -> Iterable[types.CodeType]:
    yield code
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            yield from _parts(part)


def _loads(frame: types.FrameType, name: str) -> bool:
    """Whether what a frame does now is to get an attribute or a variable of this name."""
    return any(
        step.offset == frame.f_lasti and step.argval == name for step in dis.get_instructions(frame.f_code)
    )


def _outward(frame: types.FrameType | None) -> Iterable[types.FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _spelled(code: types.CodeType) -> Any:
    """Return what two copies of a function have in common, wherever they are."""
    return code.co_name, code.co_code, code.co_names, code.co_varnames


def _kernels(overload: str) -> Iterable[str]:
    """Return under which keys kernels have to be replaced."""

    def has(key: str) -> bool:
        return overload in _registered(key)

    # It has no kernel of a backend: by the time one is called, only the operators that it is written in are
    # left.
    if has(_COMPOSITE):
        return [_COMPOSITE, *filter(has, _TRANSFORMS)]
    keys = {key for key in _BACKENDS if has(key)}
    if has("CompositeExplicitAutograd") and not overload.endswith("out"):
        # One kernel for all; an overload with `out` calls the one without.
        keys |= {"CPU", "Meta", *_ACCELERATORS}
    return sorted(keys) if keys != {"Meta"} else []


def _liner(path: str) -> Callable[[], int]:
    """Return what finds the line of a file that the innermost call comes from; 0 where there is none.

    Of a notebook it is a place, as `grader.notebooks` has it.
    """
    cell = cell_prefix(path)

    def line() -> int:
        frame: types.FrameType | None = sys._getframe(1)
        # Bounded, since an operator may be called at the bottom of a deep recursion, a million times.
        for _ in range(_FRAMES):
            if frame is None:
                break
            file = frame.f_code.co_filename
            if file == path:
                return frame.f_lineno
            # A notebook's cells are compiled under names of their own.
            if file.startswith(cell):
                return place_of(int(file[len(cell) :]), frame.f_lineno)
            frame = frame.f_back
        return 0

    return line


def run_compiled_eagerly() -> None:
    """Let `torch.compile` return what it is given: a confined worker has no compiler, and values are what counts."""

    def compile(model: Any = None, **options: Any) -> Any:
        if not announced:
            announced.append(print("torch.compile: while it is checked, this runs uncompiled"))
        return (lambda model: model) if model is None else model

    announced: list[None] = []
    torch.compile = compile
