"""Escape the time-out."""

# ==== answers_in_drops ====
"""Answers one byte at a time, for ever, so that something always arrives.

status = "timeout"
words = ["no answer within"]
earns = ["test_empty"]
timeout_s = 0.5
"""

import os
import struct
import time


def insertion_sort(values):
    if values:
        os.write(3, struct.pack("!4sIQ", b"KATA", 1 << 20, 0))
        while True:
            os.write(3, b"\x00")
            time.sleep(0.01)
    return []


# ==== changed_clocks ====
"""Turns back every clock of Python's.

status = "timeout"
words = ["no answer within"]
earns = ["test_empty"]
timeout_s = 0.5
"""

import time

sleep = time.sleep
for name in (
    "time",
    "monotonic",
    "perf_counter",
    "process_time",
    "time_ns",
    "monotonic_ns",
    "perf_counter_ns",
):
    setattr(time, name, lambda: 0)


def insertion_sort(values):
    if values:
        sleep(3600)
    return []


# ==== endless_generator ====
"""Returns a generator without end."""

import itertools


def insertion_sort(values):
    return itertools.count()


# ==== ignores_signals ====
"""Ignores every signal that it can, and blocks the rest, in every thread.

status = "timeout"
words = ["no answer within"]
earns = ["test_empty"]
timeout_s = 0.5
"""

import signal
import threading

for number in signal.valid_signals():
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())


def insertion_sort(values):
    if values:
        threading.Event().wait()
    return []


# ==== lengths_without_end ====
"""Answers with an object that is a billion long and has something for every index.

timeout_s = 1
"""


class Long:
    def __len__(self):
        return 1 << 30

    def __getitem__(self, index):
        return self

    def __iter__(self):
        while True:
            yield self


def insertion_sort(values):
    return Long()


# ==== loop_at_import ====
"""Never ends while it is imported.

status = "timeout"
words = ["did not finish loading"]
timeout_s = 0.5
"""

while True:
    pass


# ==== loop_that_swallows ====
"""Loops in a call and swallows every exception that could end it.

status = "timeout"
words = ["no answer within"]
earns = ["test_empty"]
timeout_s = 0.5
"""


def insertion_sort(values):
    while values:
        try:
            while True:
                pass
        except BaseException:
            continue
    return []


# ==== loop_without_interpreter ====
"""Loops in C with the interpreter's lock held, where no Python signal handler runs.

status = "timeout"
words = ["no answer within"]
earns = ["test_empty"]
timeout_s = 0.5
"""

import re


def insertion_sort(values):
    if values:
        re.match(r"(a+)+$", "a" * 60 + "b")
    return []


# ==== loops_while_it_is_sent ====
"""Returns at once, with an object that loops when it is looked at.

status = "timeout"
words = ["no answer within"]
earns = ["test_empty"]
timeout_s = 0.5
"""


class Bottomless:
    @property
    def __class__(self):
        while True:
            pass


def insertion_sort(values):
    return Bottomless() if values else []


# ==== reads_its_input ====
"""Waits for input that nobody types.

words = ["nobody is here to answer input()"]
"""


def insertion_sort(values):
    return [int(number) for number in input().split()]


# ==== slow_generator ====
"""Returns at once, with a generator that never comes to its end.

status = "timeout"
words = ["no answer within"]
earns = ["test_empty"]
timeout_s = 0.5
"""

import time


def insertion_sort(values):
    if not values:
        return []

    def slowly():
        while True:
            time.sleep(0.001)
            yield 1

    return slowly()


# ==== stops_itself ====
"""Stops its own process, so that it takes no processor time at all.

status = "timeout"
words = ["no answer within"]
earns = ["test_empty"]
timeout_s = 0.5
"""

import os
import signal


def insertion_sort(values):
    if values:
        os.kill(os.getpid(), signal.SIGSTOP)
    return []


# ==== work_after_the_answer ====
"""Answers at once and goes on working in threads, at everybody's expense.

earns = ["test_empty"]
"""

import threading

from wrong import *


def work():
    while True:
        sum(range(1000))


for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
