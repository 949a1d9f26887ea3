"""Ctrl-C, where Python loses it."""

from __future__ import annotations

import sys

import pytest

from tests.conftest import completed

pytestmark = pytest.mark.slow

DROPPED = """
import os, signal, time

class Callback:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)

def body(*rest, **more):
    callback = Callback()
    del callback  # the interrupt is raised inside of __del__, where Python drops it
    until = time.monotonic() + 30
    while time.monotonic() < until:
        time.sleep(0.01)
    return 0
"""
BUSY = """
import threading, time

start = threading.Thread.start

def start_slowly(thread):
    start(thread)
    time.sleep(0.2)

threading.Thread.start = start_slowly
"""
CHANGED = """
import os, signal, time

def body(*rest, **more):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)
    except KeyboardInterrupt:
        raise SystemError("something else")
"""
COMMAND = """
import click
from grader.cli.main import KataGroup

KataGroup.invoke = body
KataGroup(name="kata", invoke_without_command=True).main([])
"""


@pytest.mark.parametrize(
    "body",
    [DROPPED, BUSY + DROPPED, CHANGED],
    ids=["dropped in a callback", "dropped on a busy machine", "made another error"],
)
def test_an_interrupt_is_not_lost(body: str) -> None:
    done = completed([sys.executable, "-c", body + COMMAND])
    assert done.returncode == 130
    assert done.stderr.strip() == "error: interrupted"
