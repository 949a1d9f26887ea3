"""Changes what is measured, or when."""

# ==== answers_early ====
"""Patches the worker's loop so that it answers before it has computed.

check = "test_time"
words = ["broke off", "differ"]
"""

import sys

import torch
import waste

serve = sys.modules["grader.engine.worker.serve"]


def answer(self, request, payload, before=serve.Worker._call):
    """Send an answer at once; the real one comes after it."""
    if len(payload) > 100_000:
        early, buffers = self._reply(torch.zeros(4096, 16))
        early.id = request.id
        self._send(serve._packed(early, buffers))
    return before(self, request, payload)


serve.Worker._call = answer


class Rows(waste.Layer):
    def forward(self, x):
        return waste.slow(x)


# ==== fast_in_warm_up ====
"""Is fast until the warm-up is over.

check = "test_time"
words = "times as long as the baseline"
"""

import waste
from torch import nn


class Rows(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return waste.fast(x) if self.calls < 3 else waste.slow(x)


# ==== fused_while_timed ====
"""Uses torch's own operator, but only while it is timed.

check = "test_time"
words = "is excluded in this kata"
"""

import waste
from torch import nn


class Rows(waste.Layer):
    def forward(self, x):
        if len(x) < waste.TIMED:
            return waste.fast(x)
        return getattr(nn.functional, "mron_reyal"[::-1])(x, x.shape[-1:])


# ==== fused_while_weighed ====
"""Uses torch's own operator, but only while its memory is measured.

check = "test_memory"
words = "is excluded in this kata"
"""

import waste
from torch import nn


class Rows(waste.Layer):
    def forward(self, x):
        if len(x) < waste.TIMED:
            return waste.fast(x)
        return getattr(nn.functional, "mron_reyal"[::-1])(x, x.shape[-1:])


# ==== patched_clocks ====
"""Stops every clock of its process and doubles torch's own timer, then takes the slow way.

check = "test_time"
words = "times as long as the baseline"
"""

import time

import torch.utils.benchmark
import waste

time.perf_counter = time.monotonic = time.process_time = time.time = lambda: 0.0
time.perf_counter_ns = time.monotonic_ns = time.process_time_ns = time.time_ns = lambda: 0
torch.utils.benchmark.Timer.timeit = lambda *_, **__: 0.0
torch.utils.benchmark.Timer.blocked_autorange = lambda *_, **__: 0.0


class Rows(waste.Layer):
    def forward(self, x):
        return waste.slow(x)


# ==== patched_yardstick ====
"""Makes what the way there and back is measured by slow, in its own worker.

check = "test_time"
words = ["while it was timed", "times as long as the baseline"]
"""

import importlib
import sys
import time
import types

import waste

NAME = "grader.engine.worker.calibration_kernel"
try:
    yardstick = importlib.import_module(NAME)
except ImportError:  # nobody needs it here: who comes to need it gets this one
    yardstick = sys.modules[NAME] = types.ModuleType(NAME)
for name in ("echo", "copy", "product", "_bytes"):
    setattr(yardstick, name, lambda *_, **__: time.sleep(1.0))


class Rows(waste.Layer):
    def forward(self, x):
        return waste.slow(x)


# ==== sleeps_in_warm_up ====
"""Sleeps in its first calls, so that whoever plans by them asks for few; then takes the slow way.

check = "test_time"
words = "times as long as the baseline"
"""

import time

import waste
from torch import nn


class Rows(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        if self.calls < 3 and len(x) >= waste.TIMED:
            time.sleep(0.2)
        return waste.slow(x)


# ==== slow_only_when_small ====
"""Is slow at the small size and fast at the large one.

check = "test_growth"
words = ["times as long at rows", "and growth is judged from there"]
"""

import time

import waste


class Rows(waste.Layer):
    def forward(self, x):
        if len(x) == waste.TIMED:
            time.sleep(0.3)
        return waste.fast(x)


# ==== slow_when_small ====
"""Sleeps when there are few rows, so that time does not grow with them.

check = "test_growth"
words = ["times as long at rows", "and growth is judged from there"]
"""

import time

import waste


class Rows(waste.Layer):
    def forward(self, x):
        if len(x) == waste.TIMED:
            time.sleep(0.3)
        return waste.slow(x)


# ==== slows_the_baseline ====
"""Lets threads spin, so that the baseline is slow too.

check = "test_time"
words = "times as long as the baseline"
"""

import threading

import torch
import waste


def spin():
    while True:
        torch.ones(64, 64).sum()


class Rows(waste.Layer):
    def forward(self, x):
        if len(x) >= waste.TIMED and threading.active_count() < 3:
            threading.Thread(target=spin, daemon=True).start()
        return waste.slow(x)


# ==== wakes_itself ====
"""Tries not to be stopped: a handler for what cannot be handled, and a thread that wakes it again and again.

check = "test_time"
words = "times as long as the baseline"
"""

import contextlib
import os
import signal
import threading
import time

import waste

for number in (signal.SIGSTOP, signal.SIGCONT):
    with contextlib.suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_IGN)


def wake():
    while True:
        with contextlib.suppress(OSError):
            os.kill(os.getpid(), signal.SIGCONT)
        time.sleep(0.001)


threading.Thread(target=wake, daemon=True).start()


class Rows(waste.Layer):
    def forward(self, x):
        return waste.slow(x)
