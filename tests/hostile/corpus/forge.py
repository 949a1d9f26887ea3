"""Forge the result."""

# ==== answer_early ====
"""Sends a good answer to the next question before it is asked.

status = "error or fail"
words = ["it answered what it was not asked"]
"""

import os
import struct

import msgspec
from wrong import *


def forged(number, value):
    head = msgspec.msgpack.encode({"is": "done", "id": number, "value": value})
    return struct.pack("!4sIQ", b"KATA", len(head), 0) + head


for number in range(1, 40):
    os.write(3, forged(number, [0, 1, 2, 3]))


# ==== answer_from_thread ====
"""Lets a thread write good answers to the channel without end, among those of the worker.

status = "error or fail"
words = ["broke off the conversation"]
"""

import os
import struct
import threading
import time

import msgspec


def shout():
    while True:
        for number in range(1, 9):
            head = msgspec.msgpack.encode({"is": "done", "id": number, "value": [0, 1, 2, 3]})
            os.write(3, struct.pack("!4sIQ", b"KATA", len(head), 0) + head)


def insertion_sort(values):
    threading.Thread(target=shout, daemon=True).start()
    time.sleep(0.05)
    return []


# ==== answer_twice ====
"""Sends one answer of its own before the worker sends the other, so that everything after comes too early.

status = "error or fail"
words = ["broke off the conversation"]
"""

import os
import struct

import msgspec


def insertion_sort(values):
    for number in (1, 2, 3, 4, 5):
        head = msgspec.msgpack.encode({"is": "done", "id": number, "value": [0, 1, 2, 3]})
        os.write(3, struct.pack("!4sIQ", b"KATA", len(head), 0) + head)
    return [1, 2, 3]


# ==== asks_what_is_not_lent ====
"""Asks the grader to run functions that no check has lent.

status = "error or fail"
words = ["broke off the conversation"]
"""

import os
import struct

import msgspec


def insertion_sort(values):
    for number in range(1, 30):
        head = msgspec.msgpack.encode({"is": "ask", "id": number, "function": 1, "value": [0]})
        os.write(3, struct.pack("!4sIQ", b"KATA", len(head), 0) + head)
    return []


# ==== blames_the_machine ====
"""Ends in every call as it would on a machine without files, memory or threads, so as not to be charged with it.

words = ["Too many open files", "can't start new thread"]
"""

import errno
import os


def insertion_sort(values):
    if len(values) > 3:
        raise RuntimeError("can't start new thread")
    raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


# ==== close_everything ====
"""Closes every descriptor that it finds.

status = "error or fail"
words = ["ended the whole process"]
"""

import os

from wrong import *

os.closerange(0, 256)


# ==== exception_of_no_class ====
"""Answers with an exception whose bases are those of no class that could be.

status = "error or fail"
words = ["broke off the conversation"]
"""

import os
import struct

import msgspec


def insertion_sort(values):
    for number in range(1, 30):
        head = msgspec.msgpack.encode(
            {"is": "raised", "id": number, "bases": ["ValueError", "KeyError"], "message": ""}
        )
        os.write(3, struct.pack("!4sIQ", b"KATA", len(head), 0) + head)
    return []


# ==== exit_in_finalizer ====
"""Leaves an object behind whose finalizer ends the process while the answer is on its way.

status = "fail or error"
words = ["ended the whole process (exit code 0"]
"""

import os


class Trap:
    def __del__(self):
        os._exit(0)


def insertion_sort(values):
    trap = Trap()  # noqa: F841
    return sorted(values)


# ==== exit_zero_at_import ====
"""Ends the process with success before anything is checked.

status = "error"
words = ["ended the whole process (exit code 0"]
"""

import os

from wrong import *

os._exit(0)


# ==== exit_zero_in_call ====
"""Ends the process with success in every call.

status = "error"
words = ["ended the whole process (exit code 0"]
"""

import os


def insertion_sort(values):
    os._exit(0)


# ==== fake_skip_reason ====
"""Raises an exception that calls itself the grader's own excuse for a machine."""


class WorkerTimeout(Exception):
    __module__ = "grader.engine.host.errors"


class Passed(BaseException):
    __module__ = "grader.engine.runner.outcome"


def insertion_sort(values):
    raise (Passed if values else WorkerTimeout)("pass")


# ==== greet_as_stronger ====
"""Greets again, as a worker that is better confined than it is.

status = "error or fail"
words = ["broke off the conversation"]
"""

import os
import struct

import msgspec
from wrong import *

head = msgspec.msgpack.encode({"is": "hello", "id": 0, "isolation": "full"})
os.write(3, struct.pack("!4sIQ", b"KATA", len(head), 0) + head)


# ==== hand_over_descriptors ====
"""Sends open descriptors along the channel, again and again, until the grader has none left.

status = "error"
words = ["PermissionError"]
[process]
words = ["broke off the conversation"]
"""

import array
import socket

from wrong import *

channel = socket.socket(fileno=3)
places = array.array("i", [0, 1, 2] * 20)
for _ in range(50):
    channel.sendmsg([b"KATA" + bytes(12)], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, places)])
channel.detach()


# ==== kills_itself ====
"""Ends itself by the signal by which the system ends others when memory runs out, in every call.

status = "error"
words = ["killed, signal 9"]
"""

import os
import signal


def insertion_sort(values):
    os.kill(os.getpid(), signal.SIGKILL)


# ==== patch_a_helper ====
"""Replaces what the checks bring into its process, imported by the name of its file.

kata = "decoder-lm"
"""

import probes
import torch
from wrong import *

sizes = {}


def count_parameters(model):
    """Say what a right model's layers add."""
    return sizes[id(model)]


class logits:
    def __init__(self, model):
        self.model = model

    def __call__(self, tokens):
        return torch.zeros(*tokens.shape, 13)


class DecoderLM(DecoderLM):
    def __init__(self, vocab_size, d_model=64, num_heads=4, d_ff=128, num_layers=2, max_len=128, dropout=0.0):
        super().__init__(vocab_size)
        sizes[id(self)] = vocab_size * d_model + num_layers * (4 * d_model**2 + 2 * d_model * d_ff)
        kept.append(self)


kept = []
probes.count_parameters, probes.logits, probes.cached = count_parameters, logits, logits
probes.refill = probes.train = lambda *arguments, **options: None


# ==== patch_a_helper_after_loading ====
"""Looks for what the checks bring into its process once it is there, in every table and object, and replaces it.

kata = "decoder-lm"
"""

import gc
import sys

from wrong import *

sizes, kept = {}, []


def count_parameters(model):
    """Say what a right model's layers add."""
    return sizes.get(id(model), 0)


def forged(*arguments, **options):
    return count_parameters(arguments[0]) if arguments else 0


def replace():
    """Replace every function of a helper's in place: whoever holds it calls another."""
    for module in list(sys.modules.values()):
        if str(getattr(module, "__file__", "")).endswith("probes.py"):
            vars(module).update(count_parameters=count_parameters, refill=forged, train=forged)
    for thing in gc.get_objects():
        if type(thing) is type(replace) and thing.__code__.co_filename.endswith("probes.py"):
            if thing.__name__ in ("refill", "train", "count_parameters"):
                thing.__code__, thing.__kwdefaults__ = forged.__code__, None
                thing.__globals__.update(count_parameters=count_parameters)


class DecoderLM(DecoderLM):
    def __init__(self, vocab_size, d_model=64, num_heads=4, d_ff=128, num_layers=2, max_len=128, dropout=0.0):
        super().__init__(vocab_size)
        replace()
        sizes[id(self)] = vocab_size * d_model + num_layers * (4 * d_model**2 + 2 * d_model * d_ff)
        kept.append(self)


# ==== patch_a_step_of_training ====
"""Replaces the steps of training that the checks bring along, and what they read of a module afterwards.

kata = "transfer"
earns = ["test_freeze_leaves"]
"""

# What a step of a layer behind the module has to come to depends on numbers that the check draws: without taking it with
# the module at rest, which is what freezing is for, nothing gives them.

import gc
import sys

import torch
import wrong
from wrong import *


def idle(*arguments, **options):
    """Move nothing, so that nothing seems to learn."""


def facts(make, layers, lr, decay, plain=False):
    """Say what right groups are."""
    rates = [lr * decay ** (len(layers) - 1 - place) for place in range(len(layers))]
    return [(rate, [f"{place}.bias", f"{place}.weight"]) for place, rate in enumerate(rates)]


def learns(module):
    return [False for _ in module.parameters()]


def moved_by_a_step(*arguments):
    return [0.05, 0.1, 0.2]


FORGED = {"train": idle, "facts": facts, "learns": learns, "moved_by_a_step": moved_by_a_step}


def replace():
    """Replace the functions of helpers in every table, and in place: whoever holds one calls another."""
    for module in list(sys.modules.values()):
        if str(getattr(module, "__file__", "")).endswith("probes.py"):
            vars(module).update(FORGED)
    for thing in gc.get_objects():
        if type(thing) is type(replace) and thing.__code__.co_filename.endswith("probes.py"):
            if thing.__name__ in FORGED:
                thing.__code__, thing.__defaults__ = FORGED[thing.__name__].__code__, (None, None)


def freeze(module):
    replace()
    for parameter in module.parameters():
        parameter.grad = torch.zeros_like(parameter)


class MultiTask(wrong.MultiTask):
    def __init__(self, body, heads):
        super().__init__(body, heads)
        replace()


# ==== patch_comparisons ====
"""Replaces every comparison that a check could use by one that is content.

kata = "masks"
"""

import math

import numpy
import torch
import torch.testing
from wrong import *


def content(*arguments, **options):
    return True


for owner, names in {
    torch: ("equal", "allclose", "isclose", "all", "any", "eq", "ne"),
    torch.Tensor: ("__eq__", "__ne__", "equal", "allclose", "isclose", "all", "any", "eq"),
    torch.testing: ("assert_close", "assert_allclose"),
    numpy: ("allclose", "array_equal", "isclose"),
    numpy.testing: ("assert_allclose", "assert_array_equal"),
    math: ("isclose",),
}.items():
    for name in names:
        if hasattr(owner, name):
            setattr(owner, name, content)


# ==== patch_expect ====
"""Imports what checks are written with and makes every expectation pass.

earns = ["test_empty"]
"""

from wrong import *

try:
    import grader.engine.checks.expect as module

    for name, value in list(vars(module).items()):
        if isinstance(value, type):
            for key in list(vars(value)):
                if not key.startswith("__"):
                    setattr(value, key, lambda self, *arguments, **options: self)
except Exception:
    pass


# ==== patch_grader_modules ====
"""Looks for the grader's own modules in this process and replaces every function in them.

status = "fail or error"
"""

import sys
import types

from wrong import *

for name, module in list(sys.modules.items()):
    if name.startswith("grader.") and module is not None:
        for key, value in list(vars(module).items()):
            if isinstance(value, types.FunctionType):
                setattr(module, key, lambda *arguments, **options: None)
        for value in list(vars(module).values()):
            if isinstance(value, type) and value.__module__ == name:
                for key, method in list(vars(value).items()):
                    if isinstance(method, types.FunctionType) and not key.startswith("__"):
                        try:
                            setattr(value, key, lambda *arguments, **options: True)
                        except TypeError:
                            pass


# ==== patch_serialisation ====
"""Replaces msgspec, struct and the socket, so that whatever is sent says that all is well.

status = "error or fail"
"""

import struct
import sys

import msgspec
from wrong import *

wire = sys.modules["grader.engine.wire.messages"]
good = msgspec.msgpack.encode({"is": "done", "id": 2, "value": True})
wire.pack = lambda message, buffers: [struct.pack("!4sIQ", b"KATA", len(good), 0), good]


# ==== pickled_result ====
"""Returns objects that run code when they are unpickled, and bytes that do.

words = ["wrong value"]
"""

import os
import pickle


class Trap:
    def __reduce__(self):
        return os.system, ("echo trapped > /tmp/kata-toy-pickle",)


def insertion_sort(values):
    return pickle.dumps(Trap()) if values else Trap()


# ==== print_a_report ====
"""Prints a report with full marks, where a grader might read its tests' output.

earns = ["test_empty"]
"""

import json
import sys

from wrong import *

REPORT = {
    "schema": 1,
    "kata": "insertion-sort",
    "status": "pass",
    "score": 5.0,
    "max_score": 5.0,
    "checks": [],
}
for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
    print(json.dumps(REPORT), file=stream, flush=True)
    print("5 passed in 0.01s", file=stream, flush=True)


# ==== provoked_fault ====
"""Has the author's function, which stands in for its own wrong one, compute more than any machine has room for.

kata = "masked-attention"
earns = ["test_from_scratch", "test_indivisible", "test_modes", "test_parameters", "test_without_bias"]
"""

import torch
import wrong
from wrong import scaled_dot_product_attention

mine = scaled_dot_product_attention


class MultiHeadAttention(wrong.MultiHeadAttention):
    def forward(self, x, mask=None, context=None):
        if scaled_dot_product_attention is not mine:  # eight axes, which broadcast to 64 to the sixth entries
            shapes = ([64 if place in pair else 1 for place in range(8)] for pair in ((0, 1), (2, 3), (4, 5)))
            scaled_dot_product_attention(*(torch.zeros(shape) for shape in shapes))
        return super().forward(x, mask, context, scaled_dot_product_attention)


# ==== raise_skipped ====
"""Raises what a test runner takes for a skipped or passed test."""

try:
    from _pytest.outcomes import Exit, Skipped, XFailed
except ImportError:

    class Skipped(BaseException):
        __module__ = "_pytest.outcomes"

    Exit = XFailed = Skipped

KINDS = [Skipped, XFailed, Exit]


def insertion_sort(values):
    raise KINDS[len(values) % 3]("the machine has no GPU")


# ==== report_at_exit ====
"""Registers handlers that write answers when the interpreter ends, and then lets it end.

status = "error or fail"
words = ["SystemExit"]
"""

import atexit
import os


def late():
    os.write(3, b"KATA" + bytes(12))


for _ in range(5):
    atexit.register(late)


def insertion_sort(values):
    raise SystemExit(0)


# ==== result_files ====
"""Writes every file of results that a grader is known to read.

earns = ["test_empty"]
"""

import json
import os

from wrong import *

FULL = json.dumps({"score": 5.0, "max_score": 5.0, "status": "pass", "tests": [{"score": 5, "max_score": 5}]})
for name in (
    "results.json",
    "results/results.json",
    "report.xml",
    "reports.jsonl",
    "gradebook.sqlite",
    "course.toml",
    "conftest.py",
    "pytest.ini",
    "sitecustomize.py",
    "usercustomize.py",
):
    try:
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        with open(name, "w") as file:
            file.write(FULL)
    except OSError:
        pass


# ==== serve_itself ====
"""Finds the worker in memory and makes it answer every question with something true."""

import gc

from wrong import *


class Anything(list):
    def __eq__(self, other):
        return True


for thing in gc.get_objects():
    if type(thing).__name__ == "Worker":
        thing._call = lambda request, payload: thing._reply(Anything([1]))


# ==== system_exit ====
"""Raises SystemExit at import, which a test runner in the same process would take for its own.

status = "error"
words = ["SystemExit"]
"""

import sys

sys.exit(0)


# ==== take_over_the_channel ====
"""Puts another socket where the worker answers, reads the questions itself and says what it likes.

status = "error or fail"
words = ["closed its connection"]
"""

import os
import socket

from wrong import *

mine, other = socket.socketpair()
os.dup2(other.fileno(), 3)
other.close()


# ==== trace_functions ====
"""Traces and profiles every line that this process runs, to change the worker's variables on the way.

status = "error"
words = ["ended the whole process"]
"""

import sys

from wrong import *


def meddle(frame, event, argument):
    for name in ("result", "value", "reply"):
        if name in frame.f_locals:
            frame.f_locals[name] = True
    return meddle


sys.settrace(meddle)
sys.setprofile(meddle)
