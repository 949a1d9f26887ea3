"""Ctrl-C that cannot be lost: Python drops a KeyboardInterrupt that is raised in a callback, and goes on."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
import time
from types import FrameType, TracebackType
from typing import Any, Self

LOOKED_S = 0.01
"""So often it is looked whether Python is done with the one that it dropped."""


class Interrupts:
    """Remembers that Ctrl-C was pressed, and presses it again where Python dropped it.

    An exception in a weak reference's callback (the import system has some for its locks) or in `__del__` is printed as
    "Exception ignored" and is gone: seen with Python 3.11 in 2 of 120 interrupts while modules were imported. Code that
    is interrupted may also raise something else instead; `came` tells that from an error of ours.
    """

    def __init__(self) -> None:
        self.came = False
        self._handler: Any = None
        self._hook = sys.unraisablehook

    def __enter__(self) -> Self:
        """Take over from Python's own handler; one that somebody else has set stays."""
        if threading.current_thread() is threading.main_thread():
            # Signals are the main thread's: elsewhere `signal.signal` raises.
            self._handler = signal.getsignal(signal.SIGINT)
            if self._handler is signal.default_int_handler:
                signal.signal(signal.SIGINT, self._interrupt)
                self._hook, sys.unraisablehook = sys.unraisablehook, self._unraisable
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give back what was there."""
        if self._handler is signal.default_int_handler:
            sys.unraisablehook = self._hook
            signal.signal(signal.SIGINT, self._handler)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self.came = True
        raise KeyboardInterrupt

    def _unraisable(self, dropped: Any) -> None:
        if not issubclass(dropped.exc_type, KeyboardInterrupt):
            self._hook(dropped)
            return
        # From another thread: in this one the hook is still running, in which Python drops whatever is raised.
        threading.Thread(target=self._again, daemon=True).start()

    def _again(self) -> None:
        """Press once more, but not while the first is being dropped: there, Python would drop this one, too."""
        while self._is_in_hook(sys._current_frames().get(threading.main_thread().ident or 0)):
            time.sleep(LOOKED_S)
        # As if the key had been pressed again: the handler runs in the main thread, at its next instruction.
        _thread.interrupt_main()

    def _is_in_hook(self, frame: FrameType | None) -> bool:
        while frame is not None and frame.f_code is not Interrupts._unraisable.__code__:
            frame = frame.f_back
        return frame is not None
