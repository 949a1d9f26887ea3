"""Answer calls: the loop that a worker runs once it is confined.

Everything here shares its process with the learner's code, so nothing here is believed by the grader.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import itertools
import random
import socket
import sys
import threading
import types
import zlib
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.random  # numpy loads it on first use, which would be in every worker
import torch
from torch.nn.parameter import is_lazy

from grader.devices import CPU, Device, known
from grader.engine.wire import messages
from grader.engine.wire.codec import MRO, Decoder, Encoder, Unencodable, products
from grader.engine.wire.uses import writer
from grader.engine.worker import loader
from grader.engine.worker import stand_in as _stand_in  # noqa: F401 - what checks hand over is made of it, when files are closed
from grader.engine.worker.adapted import load_adapted
from grader.engine.worker.exceptions import bounded, describe_raised
from grader.engine.worker.loader import Support, copy_neighbours, load_module, load_notebook
from grader.engine.worker.policy import Exclusion, run_compiled_eagerly, taken_away

# memcmp(3), which stops at the first byte that differs and needs no copy.
_compare = ctypes.CDLL(None).memcmp
_compare.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
DRAWN_ALIKE = 0.5
"""The deviation of parameters that are drawn alike: large enough that no mistake hides in small numbers."""
MAX_STREAM = 10_000
"""How much of a generator or other iterator is read."""
CHUNK = 1 << 16
"""Bytes that are read at once, and that answers may come to before they are sent."""
OWN_NUMBERS = 1 << 20
"""Handles and graphs of a check are numbers from here on: the same in every worker that is asked the same."""
NAMED_NUMBERS = 1 << 29
"""And from here on those of functions and classes that are asked for and not required, by their names."""


class Worker:
    """Hold one submission and answer one request at a time."""

    def __init__(self, channel: socket.socket, audit_end: int, device: Device = CPU) -> None:
        self._device = device
        self._channel = channel
        self._audit = audit_end
        self._policy: Exclusion | None = None
        self._objects: dict[int, Any] = {}
        self._numbers: dict[int, int] = {}
        self._alike: int | None = None
        """What parameters are drawn from when they are to be alike in every submission."""
        self._attributes: dict[str, list[str]] = {}
        """By class, the names of its parts that every submission has."""
        self._below: frozenset[str] = frozenset()
        """The names of parts of these."""
        self._named: set[int] = set()
        """Handles of the submission's own functions and classes, which outlive a check."""
        self._graphs: dict[int, tuple[list[torch.Tensor], list[torch.Tensor]]] = {}
        self._given: dict[Any, torch.Tensor] = {}
        """Arguments that later calls write over, by their form."""
        self._returned: list[torch.Tensor] = []
        """What the latest call returned, if it was one of a function."""
        self._counter = itertools.count(OWN_NUMBERS)
        self._ahead = bytearray()
        """What has been read and not been looked at: the grader may ask for more before it is answered."""
        self._out = bytearray()
        """Answers that wait until nothing more is at hand."""
        self._folder = self._shim = ""
        self._support = Support(None)
        self._id = 0
        """Of the request that is being answered."""
        self._asking = threading.Lock()

    def run(self) -> None:
        """Serve until the grader hangs up; whatever is raised becomes an answer."""
        while True:
            found = self._receive()
            if found is None:
                return
            request, payload = found
            try:
                self._prepare(request)
                if isinstance(request, messages.Call):
                    reply, buffers = self._call(request, payload)
                else:
                    with torch.enable_grad():  # what a call left set is not their business
                        reply, buffers = self._perform(request, payload)
            except Unencodable as error:
                reply, buffers = (
                    messages.UnserializableReply(reason=bounded(str(error)), device=error.device),
                    [],
                )
            except BaseException as error:  # SystemExit and KeyboardInterrupt are the learner's too
                reply, buffers = describe_raised(error, self._folder, self._shim), []
            # Before the next is waited for: these arguments may be gigabytes, and those that come would be the second.
            del found, request, payload
            reply.id = self._id
            # Before the answer goes out: the grader takes what was printed when it has that.
            _flush()
            self._send(_packed(reply, buffers))

    def greet(self, isolation: str) -> None:
        """Say that the worker is ready and how far it is confined."""
        self._send(messages.pack(messages.ReadyReply(isolation=isolation), []))

    def _receive(self) -> tuple[messages.AnyRequest, bytearray] | None:
        """Return what the grader asks next; None when it has hung up."""
        prefix = self._read(messages.PREFIX.size)
        if prefix is None:
            return None
        # No bound worth the name: what the grader sends is believed, and answers are bounded where they
        # arrive.
        head_size, payload_size = messages.unpack_prefix(prefix, max_payload=1 << 40)
        head, payload = self._read(head_size), self._read(payload_size)
        if head is None or payload is None:
            return None
        request = messages.decode_request(head)
        self._id = request.id
        return request, payload

    def _read(self, size: int) -> bytearray | None:
        """Return so many bytes; None when the grader has hung up."""
        while len(self._ahead) < min(size, CHUNK):
            if self._out:
                self._channel.sendall(self._out)
                self._out.clear()
            some = self._channel.recv(CHUNK)
            if not some:
                return None
            self._ahead += some
        # A bytearray of its own: tensors look into it.
        data = self._ahead[:size]
        del self._ahead[:size]
        if len(data) < size:  # the rest of it comes by itself, without a copy
            filled = len(data)
            data += bytes(size - filled)
            with memoryview(data) as whole:
                while filled < size:
                    with whole[filled:] as rest:
                        count = self._channel.recv_into(rest)
                    if not count:
                        return None
                    filled += count
        return data

    def _callback(self, number: int) -> Callable[..., Any]:
        """Return a function that asks the grader for its answers; a plain one, so that copies of a model share it."""

        def ask(*arguments: Any) -> Any:
            encoder = Encoder(self._handle)
            value = encoder.encode(list(arguments))
            # Threads of the submission may ask at once, and the channel holds one conversation.
            with self._asking:
                message = messages.CallbackRequest(
                    id=self._id, function=number, value=value, tensors=encoder.tensors
                )
                self._send(messages.pack(message, encoder.buffers))
                found = self._receive()
                if found is None:
                    raise ConnectionError("the grader has hung up")
                request, payload = found
            if not isinstance(request, messages.Answer) or request.refused:
                raise RuntimeError("the check does not answer this call")
            return self._decoder(request, payload).decode(request.value)

        return ask

    def _decoder(self, request: messages.AnyRequest, payload: bytearray) -> Decoder:
        return Decoder(
            request.tensors, payload, self._resolve, trusted=True, callbacks=self._callback, present=known
        )

    def _send(self, pieces: list[Any]) -> None:
        # Every write wakes the grader, which finds less than it waits for: what is small goes together, and with the
        # answers to what has been asked already.
        if sum(memoryview(piece).nbytes for piece in pieces) <= messages.TOGETHER:
            self._out += b"".join(pieces)
            pieces = []
        if self._out and (pieces or len(self._out) > CHUNK or not self._ahead):
            self._channel.sendall(self._out)
            self._out.clear()
        for piece in pieces:
            self._channel.sendall(piece)

    def _prepare(self, request: messages.AnyRequest) -> None:
        """Let go of what the grader has forgotten; the first request of a check seeds it."""
        for number in request.release:
            self._forget(number)
        if request.begin is not None:
            self._reset(request.begin, request.alike)

    def _perform(self, request: messages.AnyRequest, payload: bytearray) -> tuple[messages.Reply, list[Any]]:
        """Do anything else than a call."""
        match request:
            case messages.Get():
                value = getattr(self._objects[request.target], request.name)
                if request.target == messages.MODULE and _sort(value) in ("function", "class"):
                    self._name(value, NAMED_NUMBERS + zlib.crc32(request.name.encode()) % NAMED_NUMBERS)
                return self._reply(value)
            case messages.Backward():
                return self._backward(request, payload)
            case messages.Set():
                decoder = self._decoder(request, payload)
                _set(self._objects[request.target], request.name, decoder.decode(request.value))
                return messages.Done(), []
            case messages.Watch():
                # Before the submission is loaded, which could else keep an operator's kernel from before.
                self._policy = policy = taken_away(request.excluded)
                policy.watch(request, writer(self._audit))
                loader.refused.append(lambda: policy.refused)
                return messages.Done(), []
            case messages.Import():
                return self._reply(self._support.load(request.name))
            case messages.Call() | messages.Answer():
                raise RuntimeError("an answer to what was not asked")
            case messages.Load():
                # The payload is padded: what comes after `size` is not the learner's.
                self._load(request, bytes(payload[: request.size]))
                return self._reply(self._required(request.required))

    def _load(self, request: messages.Load, source: bytes) -> None:
        if messages.MODULE in self._objects:  # nothing is left of the submission and what it imported
            self._objects, self._numbers, self._graphs = {}, {}, {}
            self._named, self._given, self._returned = set(), {}, []
            folders = tuple(f"{folder}/" for folder in (request.root, request.given) if folder)
            for name, loaded in list(sys.modules.items()):
                if str(getattr(loaded, "__file__", None)).startswith(folders):
                    del sys.modules[name]
        self._folder = request.root
        run_compiled_eagerly()
        # Before it is loaded: a module may open its vocabulary at import.
        copy_neighbours(self._folder)
        self._support = Support(request.support)
        self._attributes, self._below = request.attributes, frozenset(request.below)
        if request.adapt is not None:
            self._shim = request.adapt.shim
            places = request.path, request.root
            module = load_adapted(request.module, *places, source, request.given, request.adapt)
        elif request.notebook:
            module = load_notebook(request.module, request.path, source, request.given, request.required)
        else:
            module = load_module(request.module, request.path, source, request.given)
        self._objects[messages.MODULE] = module

    def _required(self, names: Sequence[str]) -> dict[str, Any]:
        """Return those of the required names that are functions and classes, so that nobody has to ask for them."""
        found = vars(self._objects[messages.MODULE])
        required = {name: found.get(name) for name in names}
        required = {name: value for name, value in required.items() if _sort(value) in ("function", "class")}
        for name, value in required.items():
            self._name(value, 1 + names.index(name))
        return required

    def _name(self, value: Any, number: int) -> None:
        """Give one of the submission's own functions or classes a number that it keeps when a check ends."""
        if id(value) not in self._numbers and number not in self._objects:
            self._numbers[id(value)], self._objects[number] = number, value
        self._named.add(self._handle(value)[0])

    def _reset(self, seed: int, alike: bool) -> None:
        self._alike = seed if alike else None
        module = self._objects[messages.MODULE]
        # The grader looks the module's functions and classes up once and keeps their numbers over all
        # checks.
        stored = {number: self._objects[number] for number in self._named if number in self._objects}
        # What an earlier check made goes: it could be gigabytes, and its numbers mean nothing any more.
        self._objects, self._graphs, self._given = {messages.MODULE: module, **stored}, {}, {}
        self._numbers = {id(value): number for number, value in stored.items()}
        self._counter = itertools.count(OWN_NUMBERS)
        random.seed(seed)
        # NumPy's own bound of a seed.
        np.random.seed(seed % (1 << 32))
        torch.default_generator.manual_seed(seed)
        self._device.seed(seed)
        torch.set_grad_enabled(True)

    def _forget(self, number: int) -> None:
        self._graphs.pop(number, None)
        if number != messages.MODULE and number in self._objects:
            self._numbers.pop(id(self._objects.pop(number)), None)

    def _resolve(self, number: int, type_name: str, kind: str) -> Any:
        return self._objects[number]

    def _number(self) -> int:
        return next(number for number in self._counter if number not in self._objects)

    def _handle(self, value: Any) -> tuple[int, str, str]:
        # By identity, and kept alive here: no other object can get its address while it has a number.
        number = self._numbers.get(id(value))
        if number is None:
            number = self._number()
            self._numbers[id(value)] = number
            self._objects[number] = value
        names = [bounded(f"{base.__module__}.{base.__qualname__}", 300) for base in type(value).__mro__[:12]]
        return number, MRO.join(names), _sort(value)

    def _call(self, request: messages.Call, payload: bytearray) -> tuple[messages.Reply, list[Any]]:
        decoder = self._decoder(request, payload)
        if request.same_tensors:
            _overwrite(self._returned)
            decoder.write_into(self._given)
        args = decoder.decode(request.args)
        kwargs = decoder.decode(request.kwargs)
        # What the arguments are like before, to tell afterwards which of them were changed.
        tensors = [decoder.tensor(index) for index in range(len(request.tensors))]
        # torch's counter of writes in place, and what a resize, a transpose or another storage would change;
        # most calls change nothing, and this is seen without reading a byte.
        versions = [(tensor._version, tensor.shape, tensor.stride(), tensor.data_ptr()) for tensor in tensors]
        target = self._objects[request.target]
        if request.method is not None:
            target = getattr(target, request.method)
        recording = request.grad if request.grad is not None else torch.is_grad_enabled()
        torch.set_grad_enabled(recording)  # not back again: the grader may ask for what the call leaves set
        result = target(*args, **kwargs)
        if isinstance(result, torch.nn.Module):
            # Only modules of the submission's own classes: of what checks bring along the parameters are meant.
            if self._alike is not None and request.target in self._named:
                first = self._attributes.get(type(result).__name__, [])
                _draw_alike(result, self._alike, first, self._below, _parameters_in([args, kwargs]))
            if self._device.accelerates and isinstance(target, type):
                # Inputs are drawn there: a check that forgot to move the module would blame the learner for it.
                result.to(self._device.name)
        # A generator cannot cross, its parts can; it may be without end.
        iterated = isinstance(result, Iterator)
        if iterated:
            result = list(itertools.islice(result, MAX_STREAM))
        sent = zip(tensors, request.tensors, versions, strict=True)
        changed = [index for index, arguments in enumerate(sent) if _has_changed(*arguments, payload)]
        reply, encoder = self._encode(result)
        # Of functions alone: what a module returns may be its own parameter.
        is_function = request.target in self._named and request.method is None
        self._returned = encoder.sent if is_function else []
        reply.changed, reply.iterated = changed, iterated
        # The graph stays here, for `Backward` to find by its number.
        outputs = [tensor for tensor in encoder.sent if tensor.requires_grad]
        if recording and outputs:
            reply.graph = self._number()
            self._graphs[reply.graph] = (outputs, [tensor for tensor in tensors if tensor.requires_grad])
        for generator in decoder.generators:
            reply.generators.append(encoder.encode(generator.get_state())[1])
        return reply, encoder.buffers

    def _backward(self, request: messages.Backward, payload: bytearray) -> tuple[messages.Reply, list[Any]]:
        decoder = self._decoder(request, payload)
        cotangents = decoder.decode(request.cotangents)
        outputs, inputs = self._graphs[request.graph]
        pairs = [
            (o, g) for o, g in zip(outputs, cotangents, strict=True) if g is not None and o.requires_grad
        ]
        # The grader's side may ask for the same graph again, as torch's own would allow it with `retain_graph`.
        torch.autograd.backward(products(pairs), retain_graph=True)
        gradients = [tensor.grad for tensor in inputs]
        for tensor in inputs:
            # Else the next pass would add to it. Parameters keep theirs, as they would in one process.
            tensor.grad = None
        return self._reply(gradients)

    def _reply(self, value: Any) -> tuple[messages.Reply, list[Any]]:
        reply, encoder = self._encode(value)
        return reply, encoder.buffers

    def _encode(self, value: Any) -> tuple[messages.Done, Encoder]:
        encoder = Encoder(self._handle)
        data = encoder.encode(value)
        return messages.Done(value=data, tensors=encoder.tensors), encoder


def _overwrite(returned: list[torch.Tensor]) -> None:
    """Change what was returned, as the caller may do: given out again, it is not what it was."""
    for tensor in returned:
        whole = tensor if tensor._base is None else tensor._base
        if not (whole.requires_grad or isinstance(whole, torch.nn.Parameter)):
            with contextlib.suppress(RuntimeError):  # expanded: one number for several places
                tensor.logical_not_() if tensor.dtype == torch.bool else tensor.add_(1)


def _parameters_in(value: Any) -> set[torch.nn.Parameter]:
    """Return the parameters of all modules among arguments, which may be in lists and dicts."""
    if isinstance(value, torch.nn.Module):
        return set(value.parameters())
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return set().union(*map(_parameters_in, parts))


def _draw_alike(
    module: torch.nn.Module,
    seed: int,
    attributes: Container[str],
    below: Container[str],
    given: Container[torch.nn.Parameter],
) -> None:
    """Draw the random parameters of a module anew, the same in every submission.

    What an author of a submission is free in (the order in which layers are made, how they are initialised, names of
    parts that the stub leaves open) would otherwise hide a mistake that two of them share. A parameter is known by its
    shape and by what the stub fixes of its name; those that these do not tell apart, by their order. What was `given`
    has numbers that the check may know: with others even a right answer would fail.
    """

    def fixed(name: str) -> str:
        first, *rest = name.split(".")
        # The last part is what torch calls it, weight or bias, which differ in shape.
        known = itertools.takewhile(lambda part: part.isdigit() or part in below, rest[:-1])
        return ".".join((first, *known)) if first in attributes else ""

    names: dict[torch.nn.Parameter, str] = {}
    for name, parameter in module.named_parameters(remove_duplicate=False):
        # One that a second module holds as well has two names.
        names[parameter] = max(names.get(parameter, ""), fixed(name), key=len)
    streams: dict[str, torch.Generator] = {}
    with torch.no_grad():
        for parameter, name in names.items():
            if is_lazy(parameter) or parameter.is_meta or not parameter.is_floating_point():
                continue
            if parameter in given:
                continue
            flat = parameter.detach().reshape(-1)
            # Constants stay: a norm begins with ones.
            if not flat.numel() or bool((flat == flat[0]).all()):
                continue
            key = f"{seed}/{list(parameter.shape)}{name}"
            if key not in streams:
                digest = hashlib.sha256(key.encode()).digest()
                streams[key] = torch.Generator().manual_seed(int.from_bytes(digest[:6], "big"))
            parameter.copy_(torch.randn(parameter.shape, generator=streams[key]) * DRAWN_ALIKE)
    torch.default_generator.manual_seed(seed)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # the submission may have closed or replaced them
            stream.flush()


def _packed(reply: messages.Reply, buffers: list[Any]) -> list[Any]:
    try:
        return messages.pack(reply, buffers)
    except ValueError as error:
        return messages.pack(messages.UnserializableReply(id=reply.id, reason=str(error)), [])


def _set(owner: Any, name: str, value: Any) -> None:
    current = getattr(owner, name, None)
    if isinstance(current, torch.nn.Parameter) and isinstance(value, torch.Tensor):
        with torch.no_grad():
            # In place, as `load_state_dict` does it: an optimizer or a second name of the parameter would else
            # keep the old one.
            current.copy_(value)
    else:
        setattr(owner, name, value)


def _has_changed(
    tensor: torch.Tensor, head: messages.TensorHead, before: tuple[int, Any, Any, int], payload: bytearray
) -> bool:
    if (tensor._version, tensor.shape, tensor.stride(), tensor.data_ptr()) != before:
        return True
    if head.nbytes == 0:
        return False
    # torch's version counter misses what is written through `.data` or NumPy: the bytes tell.
    sent = torch.frombuffer(payload, dtype=torch.uint8, count=head.nbytes, offset=head.offset)
    with torch.no_grad():
        plain = tensor.detach()
        now = plain.as_strided((head.nbytes // tensor.element_size(),), (1,)).cpu()
        # As bytes, in which NaN equals itself; torch.equal takes twenty times as long over bytes.
        return bool(_compare(now.data_ptr(), sent.data_ptr(), head.nbytes))


def _sort(value: Any) -> str:
    if isinstance(value, type):
        return "class"
    functions = types.FunctionType | types.BuiltinFunctionType | types.MethodType
    if isinstance(value, functions | functools._lru_cache_wrapper):
        return "function"
    if isinstance(value, torch.nn.Module):
        return "module"
    return "object"
