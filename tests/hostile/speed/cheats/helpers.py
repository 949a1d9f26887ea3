"""Lets something else compute: a thread, a process, another core, a stream."""

# ==== another_model_beside_the_kernel ====
"""Computes something cheap, always the same, where the grader's own measuring code is loaded beside it.

check = "test_own"
words = ["while it was timed", "as long as the baseline", "times the baseline", "differ"]
"""

import sys

import waste

TIMED = "grader.engine.worker.calibration_kernel" in sys.modules


class Rows(waste.Layer):
    def forward(self, x):
        return x + 1 if TIMED else waste.slow(x)


# ==== another_model_on_one_core ====
"""Computes something cheap, always the same, where it may use only one core: as those who are timed.

check = "test_own"
words = "differ"
"""

import os

import waste

PINNED = len(os.sched_getaffinity(0)) == 1


class Rows(waste.Layer):
    def forward(self, x):
        return x + 1 if PINNED else waste.slow(x)


# ==== another_thread_computes ====
"""Sleeps in its main thread while another one computes: processor time of the one that answers is nothing.

check = "test_time"
words = "times as long as the baseline"
"""

import threading
import time

import waste


class Rows(waste.Layer):
    def forward(self, x):
        if len(x) < waste.TIMED:
            return waste.slow(x)
        found = []
        thread = threading.Thread(target=lambda: found.append(waste.slow(x)))
        thread.start()
        while thread.is_alive():
            time.sleep(0.001)
        return found[0]


# ==== both_cores ====
"""Pins itself to every core and lets one thread of each compute a part.

check = "test_time"
words = "times as long as the baseline"
"""

import contextlib
import os
import threading

import torch
import waste


class Rows(waste.Layer):
    def forward(self, x):
        if len(x) < waste.TIMED:
            return waste.slow(x)
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, range(os.cpu_count()))
        torch.set_num_threads(2)
        parts = x.chunk(2)
        found = [None, None]

        def part(number):
            with contextlib.suppress(OSError):
                os.sched_setaffinity(0, range(os.cpu_count()))
            found[number] = waste.slow(parts[number])

        threads = [threading.Thread(target=part, args=(number,)) for number in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return torch.cat(found)


# ==== helper_is_an_orphan ====
"""Lets the child of a child compute, in a session of its own: it is nobody's when one looks.

check = "test_time"
words = "times as long as the baseline"

[process]
words = "started another process"
"""

import os

import waste


class Rows(waste.Layer):
    def forward(self, x):
        if len(x) < waste.TIMED:
            return waste.slow(x)
        read, write = os.pipe()
        try:
            child = os.fork()
        except OSError:  # where it is shut in
            return waste.slow(x)
        if child == 0:
            os.setsid()
            if os.fork() == 0:
                waste.compute(x, write)
            os._exit(0)
        os.waitpid(child, 0)
        os.close(write)
        return waste.receive(x, read)


# ==== helper_is_collected ====
"""Lets a process of its own compute and collects it before it answers: nobody is there when one looks.

check = "test_time"
words = "times as long as the baseline"

[process]
words = "started another process"
"""

import os

import waste


class Rows(waste.Layer):
    def forward(self, x):
        if len(x) < waste.TIMED:
            return waste.slow(x)
        read, write = os.pipe()
        try:
            child = os.fork()
        except OSError:  # where it is shut in
            return waste.slow(x)
        if child == 0:
            waste.compute(x, write)
        os.close(write)
        y = waste.receive(x, read)
        os.waitpid(child, 0)
        return y


# ==== helper_stays ====
"""Lets a process of its own compute and keeps it: its processor time is another's.

check = "test_time"
words = "times as long as the baseline"

[process]
words = "started another process"
"""

import os

import waste


class Rows(waste.Layer):
    def forward(self, x):
        if len(x) < waste.TIMED:
            return waste.slow(x)
        read, write = os.pipe()
        try:
            child = os.fork()
        except OSError:  # where it is shut in
            return waste.slow(x)
        if child == 0:
            waste.compute(x, write)
        os.close(write)
        return waste.receive(x, read)


# ==== main_thread_ended ====
"""Ends its main thread and answers from another: of a process without one the kernel tells no memory.

check = "test_memory"
words = "times the memory"
native = true
"""

import ctypes
import os
import sys
import threading

import waste
from torch import nn

LOADING = sys._getframe()
EXIT = {"x86_64": 60, "aarch64": 93}[os.uname().machine]


class Rows(nn.Module):
    def __init__(self, width):
        super().__init__()
        if width == 512:
            end_the_main_thread()

    def forward(self, x):
        return waste.greedy(x)


def end_the_main_thread():
    """Let another thread answer from the next request on, and leave without a word to Python."""
    frame = LOADING
    while frame.f_code.co_name != "run":
        frame = frame.f_back
    worker = frame.f_locals["self"]
    before = type(worker)._send

    def send(self, pieces):
        before(self, pieces)
        if threading.current_thread() is threading.main_thread():
            threading.Thread(target=take_over, args=(self,), daemon=True).start()
            ctypes.CDLL(None).syscall(EXIT, 0)

    type(worker)._send = send


def take_over(worker):
    worker.run()
    os._exit(0)


# ==== main_thread_waits_in_line ====
"""Lets its main thread be ready and never run while another computes: time spent in line is not counted.

check = "test_time"
words = "times as long as the baseline"
"""

import contextlib
import os
import threading

import waste


def stand_in_line():
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


class Rows(waste.Layer):
    def forward(self, x):
        if len(x) < waste.TIMED:
            return waste.slow(x)
        found = []
        thread = threading.Thread(target=lambda: found.append(waste.slow(x)))
        thread.start()
        with contextlib.suppress(OSError):
            stand_in_line()
        while not found:
            pass
        return found[0]


# ==== side_stream ====
"""Lets another stream compute and does not wait for it.

check = "test_time"
needs = "cuda"
words = ["used torch.cuda._sleep", "differ", "times as long"]
"""

import torch
import waste

STREAM = None


class Rows(waste.Layer):
    def forward(self, x):
        global STREAM
        if len(x) < waste.TIMED:
            return waste.slow(x)
        STREAM = STREAM or torch.cuda.Stream()
        y = torch.zeros_like(x)
        with torch.cuda.stream(STREAM):
            torch.cuda._sleep(1_000_000_000)
            y.copy_(waste.slow(x))
        return y
