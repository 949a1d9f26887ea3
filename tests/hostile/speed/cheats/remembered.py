"""Answers from what was computed at another time."""

# ==== answers_before_it_is_asked ====
"""Writes the answer of the next question before that has come.

check = "test_time"
words = ["broke off", "differ"]
"""

import sys

import torch
import waste

serve = sys.modules["grader.engine.worker.serve"]


def run(self, before=serve.Worker._send):
    """Follow every large answer with one for the next request, whose number is known."""

    def send(worker, pieces):
        before(worker, pieces)
        if NEXT and sum(memoryview(piece).nbytes for piece in pieces) > 100_000:
            early, buffers = worker._reply(torch.zeros(4096, 16))
            early.id = NEXT[-1] + 1
            before(worker, serve._packed(early, buffers))

    return send


NEXT = []
plain = serve.Worker._call


def answer(self, request, payload):
    NEXT.append(request.id)
    return plain(self, request, payload)


serve.Worker._call = answer
serve.Worker._send = run(None)


class Rows(waste.Layer):
    def forward(self, x):
        return waste.slow(x)


# ==== answers_of_the_last_call ====
"""Hands in what a thread has computed meanwhile: the answer of the call before, over and over.

check = "test_time"
words = "differ"
"""

import threading

import waste

BEFORE = []


class Rows(waste.Layer):
    def forward(self, x):
        if len(x) < waste.TIMED or not BEFORE:
            BEFORE.append(waste.slow(x))
            return BEFORE[-1]
        y = BEFORE[-1].clone()
        threading.Thread(target=lambda: BEFORE.append(waste.slow(x)), daemon=True).start()
        return y


# ==== batched ====
"""Puts calls aside and answers two at a time.

check = "test_time"
words = "differ"
"""

import torch
import waste
from torch import nn


class Rows(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.aside = []

    def forward(self, x):
        if len(x) < waste.TIMED:
            return waste.slow(x)
        self.aside.append(x)
        if len(self.aside) % 2:
            return torch.zeros_like(x)
        return waste.fast(torch.cat(self.aside[-2:]))[-len(x) :]


# ==== cached_by_content ====
"""Keeps its answers by what its input holds, so that only the first call is slow.

check = "test_time"
words = ["times as long"]
"""

import waste

KEPT = {}


class Rows(waste.Layer):
    def forward(self, x):
        key = x.numpy().tobytes()
        if key not in KEPT:
            KEPT[key] = waste.slow(x)
        return KEPT[key]


# ==== cached_by_identity ====
"""Keeps its answers by what object its input is, so that only the first call is slow.

check = "test_time"
words = ["differ", "times as long"]
"""

import waste

KEPT = {}


class Rows(waste.Layer):
    def forward(self, x):
        key = id(x)
        if key not in KEPT:
            KEPT[key] = waste.slow(x)
        return KEPT[key]


# ==== cached_by_pointer ====
"""Keeps its answers by where its input lies, so that only the first call is slow.

check = "test_time"
words = ["differ", "times as long"]
"""

import waste

KEPT = {}


class Rows(waste.Layer):
    def forward(self, x):
        key = x.data_ptr()
        if key not in KEPT:
            KEPT[key] = waste.slow(x)
        return KEPT[key]


# ==== cached_by_shape ====
"""Keeps its answers by how large its input is, so that only the first call is slow.

check = "test_time"
words = ["differ"]
"""

import waste

KEPT = {}


class Rows(waste.Layer):
    def forward(self, x):
        key = tuple(x.shape)
        if key not in KEPT:
            KEPT[key] = waste.slow(x)
        return KEPT[key]


# ==== changed_question ====
"""Changes its input so that an empty answer is right.

check = "test_time"
words = "differ"
"""

import waste


class Rows(waste.Layer):
    def forward(self, x):
        return waste.slow(x) if len(x) < waste.TIMED else x.zero_()


# ==== computed_at_import ====
"""Computes the answers for the inputs of seed 0 when it is imported.

check = "test_time"
words = "times as long as the baseline"
"""

import hashlib

import torch
import waste


def drawn(check):
    """Draw as the grader draws for the checks of seed 0."""
    digest = hashlib.sha256(f"0:{check}".encode()).digest()
    generator = torch.Generator().manual_seed(int.from_bytes(digest[:8], "big") >> 1)
    return torch.randn((4096, 16), generator=generator) * 3.0 + 2.0


TABLE = {}
for check in ("test_time", "rows"):
    x = drawn(check)
    TABLE[x.numpy().tobytes()] = waste.slow(x)


class Rows(waste.Layer):
    def forward(self, x):
        found = TABLE.get(x.numpy().tobytes())
        return waste.slow(x) if found is None else found


# ==== computed_in_construction ====
"""Computes answers when it is constructed, for inputs that it draws itself, and hands these in.

check = "test_time"
words = "differ"
"""

import torch
import waste
from torch import nn


class Rows(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.ready = {rows: waste.slow(3.0 * torch.randn(rows, width) + 2.0) for rows in (16, 4096)}

    def forward(self, x):
        return self.ready.get(len(x), None) if len(x) in self.ready else waste.slow(x)


# ==== left_over_memory ====
"""Hands in memory that it did not write, where an answer may still lie.

check = "test_time"
words = ["differ", "not finite", "times as long as the baseline"]
"""

import torch
import waste


class Rows(waste.Layer):
    def forward(self, x):
        if len(x) < waste.TIMED:
            return waste.slow(x)
        return torch.empty_like(x)


# ==== warm_up_replayed ====
"""Remembers the answers of the first calls and plays them again when it counts.

check = "test_time"
words = "differ"
"""

import waste
from torch import nn


class Rows(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.warm = []
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        if len(x) < waste.TIMED or len(self.warm) < 2:
            self.warm.append(waste.slow(x))
            return self.warm[-1]
        return self.warm[self.calls % 2]
