"""Exhaust a resource."""

# ==== a_map_of_the_frame ====
"""Writes its own answer: a map of MessagePack's with keys of one hash, which is hashed while the answer is read.

status = "error"
words = ["an answer that is none"]
timeout_s = 2
"""

import os
import struct

import msgspec


def insertion_sort(values):
    keys = {tuple(-1 - (number >> bit & 1) for bit in range(7)): 0 for number in range(1 << 7)}
    head = msgspec.msgpack.encode({"is": "done", "id": 1, "value": keys})
    data = memoryview(struct.pack("!4sIQ", b"KATA", len(head), 0) + head)
    while data:
        data = data[os.write(3, data) :]
    return []


# ==== answer ====
"""Returns more than can be read back.

kata = "masks"
words = ["is read back", "MB together"]
"""

import torch
from wrong import *


def causal_mask(seq_len, *, device=None):
    return torch.zeros(160 << 20, dtype=torch.bool)


def combine_masks(*masks):
    one = torch.zeros(100 << 20, dtype=torch.bool)
    return [one.view(-1), one.view(10, -1), one.view(100, -1)]


# ==== axes ====
"""Answers with tensors of 64 axes, all of which a message about shapes would compare with each other.

kata = "masks"
words = ["a tensor of 64 axes; at most 16 are read"]
timeout_s = 2
"""

import torch
from wrong import *


def causal_mask(seq_len, *, device=None):
    return torch.zeros([1, 2] * 8 + [1] * 48, dtype=torch.bool)


def combine_masks(*masks):
    return torch.zeros([1] * 64, dtype=torch.bool)


# ==== chain_of_exceptions ====
"""Raises an exception that has a hundred thousand causes, in a ring."""


def insertion_sort(values):
    first = error = ValueError("0")
    for number in range(100_000):
        error.__cause__ = ValueError(str(number))
        error = error.__cause__
    error.__cause__ = first
    raise first


# ==== copied_files ====
"""Copies files in its scratch with modes and times, as programs do, and many times over.

earns = ["test_empty"]
"""

import os
import pathlib
import shutil

from wrong import *

pathlib.Path("kata-toy.txt").write_text("x")
for number in range(100):
    os.makedirs(f"kata-toy-{number}")
    shutil.copy("kata-toy.txt", f"kata-toy-{number}")
    shutil.copytree(f"kata-toy-{number}", f"kata-toy-{number}-copy")
    os.chmod(f"kata-toy-{number}", 0)
    os.utime("kata-toy.txt", (number, number))


# ==== descriptors ====
"""Opens files until no more can be opened.

status = "error"
words = ["opened more than 256 files"]
"""

import os

from wrong import *

kept = (
    [open(os.devnull) for _ in range(5000)]
    if os.path.exists(os.devnull)
    else [os.dup(0) for _ in range(5000)]
)


# ==== exception_that_cannot_be_told ====
"""Raises exceptions whose text, type or representation raise in turn, or end the process.

status = "error"
"""


class Silent(Exception):
    def __str__(self):
        raise SystemExit(0)

    __repr__ = __str__

    @property
    def __class__(self):
        raise KeyboardInterrupt

    @property
    def __traceback__(self):
        raise MemoryError


def insertion_sort(values):
    raise Silent


# ==== files_never_named ====
"""Fills the disk with files that never had a name.

status = "error"
words = ["256 MB"]
timeout_s = 8
"""

import os
import time

from wrong import *

zeros = bytes(1 << 20)
kept = []
for _ in range(8):
    try:
        kept.append(os.open(".", os.O_TMPFILE | os.O_RDWR))
    except OSError:  # not every file system has them
        kept.append(os.open("gone", os.O_CREAT | os.O_EXCL | os.O_RDWR))
        os.unlink("gone")
    for _ in range(48):
        os.write(kept[-1], zeros)
time.sleep(5)


# ==== files_on_their_way ====
"""Sends open files that it removed through a socket to itself and takes none out, so that no process has them open.

status = "error"
words = ["PermissionError"]
timeout_s = 8
[process]
status = "fail"
words = ["wrong value"]
earns = ["test_empty"]
why = "nothing tells what a socket holds, and only a filter of system calls keeps files out of it; here are 20 MB"
"""

import os
import socket

from wrong import *

one, other = socket.socketpair()
for number in range(20):
    with open(f"gone-{number}", "wb", buffering=0) as file:
        os.unlink(f"gone-{number}")
        file.write(bytes(1 << 20))
        socket.send_fds(one, [b"x"], [file.fileno()])


# ==== files_that_are_mapped_only ====
"""Fills the disk with files that it removes, closes, and keeps in its memory's map.

status = "error"
words = ["256 MB"]
timeout_s = 8
"""

import mmap
import os
import time

from wrong import *

zeros = bytes(1 << 20)
kept = []
for number in range(8):
    with open(f"gone-{number}", "w+b", buffering=0) as file:
        for _ in range(48):
            file.write(zeros)
        # The kernel's own descriptor of it, which Python's mmap would duplicate and keep open, is not needed.
        kept.append(mmap.mmap(file.fileno(), 48 << 20))
    os.unlink(f"gone-{number}")
for number in range(3, 256):
    if number > 4:
        try:
            os.close(number)
        except OSError:
            pass
time.sleep(5)


# ==== files_without_a_name ====
"""Fills the disk with files that it removes at once and keeps open, so that no folder holds them.

status = "error"
words = ["256 MB"]
timeout_s = 8
"""

import os
import time

from wrong import *

zeros = bytes(1 << 20)
kept = []
for number in range(8):
    kept.append(open(f"gone-{number}", "wb", buffering=0))
    os.unlink(f"gone-{number}")
    for _ in range(48):
        kept[-1].write(zeros)
time.sleep(5)


# ==== huge_exception ====
"""Raises exceptions with enormous messages, types, chains and tracebacks."""


def deeper(number, message):
    if number == 0:
        try:
            raise type("E" * 100_000, (ValueError,), {})(message)
        except ValueError as error:
            raise KeyError(message, error) from error
    deeper(number - 1, message)


def insertion_sort(values):
    deeper(900, "m" * 20_000_000 + "\n" * 100_000)


# ==== keys_of_one_hash ====
"""Answers with a dict of a hundred integers that share a hash, as its answer's own dict and in its place.

words = ["share a hash"]
earns = ["test_empty"]
timeout_s = 1
"""

from wrong import insertion_sort as wrong

PRIME = (1 << 61) - 1


def insertion_sort(values):
    return {number * PRIME: number for number in range(1, 100)} if values else wrong(values)


# ==== large_answers_that_are_kept ====
"""Answers every call with a quarter of a gigabyte of tensors, for a grader that keeps the answers of a check.

kata = "masks"
status = "fail or timeout"
timeout_s = 60
"""

import torch
from wrong import *


def bidirectional_mask(seq_len, *, device=None):
    return causal_mask(seq_len)


def causal_mask(seq_len, *, device=None):
    return [torch.zeros(63 << 20, dtype=torch.uint8) for _ in range(4)]


# ==== many_large_files ====
"""Fills its folder, file by file.

status = "error"
words = ["256 MB"]
timeout_s = 8
"""

from wrong import *

zeros = bytes(1 << 20)
for number in range(8):
    with open(f"large-{number}", "wb", buffering=0) as file:
        for _ in range(48):
            file.write(zeros)
            file.flush()
import time

time.sleep(5)


# ==== many_objects ====
"""Returns a new object in every call, each with a hundred more inside."""


class Thing:
    pass


def insertion_sort(values):
    return [Thing() for _ in range(20_000)]


# ==== many_small_files ====
"""Makes more files than a folder should hold.

status = "error"
words = ["files to its folder"]
[confined]
words = ["files in its folder"]
[process]
words = ["files in its folder"]
timeout_s = 8
"""

import os
import time

from wrong import *

for number in range(12_000):
    os.close(os.open(f"small-{number}", os.O_CREAT | os.O_WRONLY))
time.sleep(5)


# ==== map_in_a_request ====
"""Asks the grader for something with a map of MessagePack's own, whose 30,000 keys share a hash.

kata = "masks"
status = "error"
words = ["broke off the conversation"]
timeout_s = 5
"""

import itertools
import os
import struct

NUMBER = 30_000
bits = itertools.islice(itertools.product((255, 254), repeat=17), NUMBER)
keys = b"".join(b"\xdc\x00\x11" + bytes(one) + b"\x01" for one in bits)
begin = b"\x84\xa2is\xa3ask\xa2id\x01\xa8function\x01\xa5value\xdf" + struct.pack(">I", NUMBER)
data = struct.pack("!4sIQ", b"KATA", len(begin + keys), 0) + begin + keys
while data:
    data = data[os.write(3, data) :]


# ==== memory ====
"""Takes all the memory that there is, at import.

status = "error"
words = ["MemoryError", "MB of memory"]
"""

from wrong import *

kept = []
while True:
    kept.append(bytearray(64 << 20))


# ==== memory_of_tensors ====
"""Takes all the memory that there is, in tensors, in a call.

kata = "masks"
words = ["MB of memory"]
"""

import torch
from wrong import *


def causal_mask(seq_len, *, device=None):
    kept = []
    while True:
        kept.append(torch.empty(64 << 20, dtype=torch.uint8))


# ==== memory_that_is_caught ====
"""Takes all the memory, catches the error, and goes on without any left.

status = "fail or error or timeout"
timeout_s = 5
"""

kept = []


def insertion_sort(values):
    size = 1 << 28
    while size > 64:
        try:
            kept.append(bytearray(size))
        except MemoryError:
            size //= 2
    return [*values, 0]  # whether it lives for one more call is chance


# ==== number_of_thousands_of_digits ====
"""Answers with an integer that no float holds, for whoever turns it into one to say how far off it is."""


def insertion_sort(values):
    return [1 << 4000, -(1 << 4000)] if values else 1 << 4095


# ==== one_large_file ====
"""Writes one file without end.

status = "error"
words = ["more than 64 MB to one file"]
"""

from wrong import *

with open("large", "wb", buffering=0) as file:
    while True:
        if file.write(bytes(8 << 20)) == 0:
            break


# ==== one_tensor_a_hundred_thousand_times ====
"""Answers with one large tensor a hundred thousand times, for whoever looks at each.

words = ["each counted as often as it is there"]
timeout_s = 2
"""

import torch


def insertion_sort(values):
    return [torch.zeros(16 << 20)] * 100_000


# ==== output ====
"""Prints a hundred megabytes.

status = "fail or error"
earns = ["test_empty"]
timeout_s = 5
[full]
status = "error or fail"
"""

import sys

from wrong import *

line = "x" * 99_999 + "\n"
for _ in range(300):
    sys.stdout.write(line)
sys.stdout.flush()


# ==== processes ====
"""Forks as often as it can, up to a hundred times.

earns = ["test_empty"]
[process]
earns = []
status = "error"
words = ["started more than 64 processes"]
why = "what is there more than 64 times is ended when somebody looks"
"""

import os
import time

from wrong import *

started = 0
for _ in range(100):
    try:
        if os.fork() == 0:
            time.sleep(20)
            os._exit(0)
        started += 1
    except OSError:
        pass
if started:
    time.sleep(1)


# ==== recursion ====
"""Recurses until the stack is gone, with Python's own limit out of the way.

status = "fail or error"
words = ["crashed the interpreter"]
"""

import sys

sys.setrecursionlimit(1 << 30)


class Deep:
    def __repr__(self):
        return repr(self)

    def __getattr__(self, name):
        return getattr(self, name + "x")


def insertion_sort(values):
    return repr(Deep())


# ==== rows_of_nothing ====
"""Returns tensors without elements that have a billion rows, for whoever goes through them or makes lists of them.

words = ["no elements and yet no end"]
"""

import torch


def insertion_sort(values):
    return torch.empty([1 << 40, 0] if values else [*[2] * 50, 0], dtype=torch.int64)


# ==== stand_in_that_broadcasts ====
"""Has the author's function compute gigabytes of four small tensors that broadcast, in the grader.

kata = "masked-attention"
earns = ["test_from_scratch", "test_indivisible", "test_modes", "test_parameters", "test_without_bias"]
"""

import torch
import wrong
from wrong import scaled_dot_product_attention

mine = scaled_dot_product_attention


class MultiHeadAttention(wrong.MultiHeadAttention):
    def forward(self, x, mask=None, context=None):
        if scaled_dot_product_attention is not mine:
            n = 64
            shapes = ((n, 1, 1, 1, n, 1), (1, n, 1, 1, n, 1), (1, 1, n, 1, n, 1))
            mask = torch.ones(1, 1, 1, n, 1, 1, dtype=torch.bool)
            scaled_dot_product_attention(*(torch.zeros(shape) for shape in shapes), mask)
        return super().forward(x, mask, context, scaled_dot_product_attention)


# ==== tensor_as_a_key ====
"""Answers with a dict whose key is a tensor of ten million numbers, for whoever writes it out.

timeout_s = 5
"""

import torch


def insertion_sort(values):
    return {torch.zeros([6] * 9): 1}


# ==== threads ====
"""Starts thousands of threads.

status = "error"
words = ["can't start new thread"]
"""

import threading

from wrong import *

go = threading.Event()
for _ in range(3000):
    threading.Thread(target=go.wait, daemon=True).start()


# ==== tuples_of_one_hash ====
"""Answers with a hundred different tuples of one hash, past its own worker's encoder, for whoever makes a set of them.

status = "fail or error"
words = ["share a hash"]
timeout_s = 1
"""

import grader.engine.wire.codec as codec

codec._Budget.keys = lambda *_: None


def insertion_sort(values):
    return {tuple(-1 - (number >> bit & 1) for bit in range(7)): 0 for number in range(1 << 7)}


# ==== witness ====
"""Fills the pipe in which the grader is told what was used.

kata = "layer-norm"
words = ["Write it from mean, variance"]
"""

import os

from wrong import *

try:
    while True:
        os.write(4, bytes(10))
except OSError:
    pass
