"""The grader's end of a worker: send a request, wait for its answer, keep the clock, drain what is printed."""

from __future__ import annotations

import contextlib
import hashlib
import os
import select
import signal
import time
from collections import deque
from collections.abc import Sequence
from typing import Any, NoReturn

from grader.engine import sandbox
from grader.engine.host.deadline import Deadline
from grader.engine.host.errors import WorkerDied, WorkerTimeout
from grader.engine.host.launcher import PATIENCE_S, WorkerProcess
from grader.engine.wire import messages
from grader.errors import MachineFault

MAX_OUTPUT = 16_384
"""Printed bytes kept for one check; the rest is read and dropped."""


MAX_USES = 1 << 20
"""Bytes read from a record of uses at a time; a pipe holds less, so only one that is being filled reaches it."""


TRACE_S = 0.5
"""How long the traceback of a worker that hangs is waited for."""
TRACE_HEAD, TRACED = b"Stack (most recent call first):", b"/grader/engine/worker/serve.py"
"""How it begins; below the learner's lines come those of the worker's loop."""


FIRST_READ = 1 << 20
"""Bytes made room for at once; for more there is room when that has come."""


AT_ONCE = 1 << 16
"""Bytes that are read at once: several answers, where many are due."""


FIRST_NUMBERS = 1 << 40
"""The first request of a check has a number below this, which its draw chooses."""
Answer = tuple[bytearray, bytearray]
"""Head and payload of a frame."""


class AnswerDigest:
    """A running digest of a check's replies, bit by bit, and their size."""

    def __init__(self) -> None:
        # Cryptographic: no hostile submission may find other replies with the digest of passing ones.
        self._digest, self.size = hashlib.sha256(), 0
        self.all: list[bytes] = []
        """After each reply the digest of all so far."""

    def add(self, answer: Answer) -> None:
        """Add one reply."""
        for part in answer:
            self._digest.update(len(part).to_bytes(8, "big"))
            self._digest.update(part)
            self.size += len(part)
        self.all.append(self._digest.digest())


class OffScript(Exception):
    """Raised when a check makes another request than its script, to which the worker has already replied."""


class Channel:
    """Exchange frames with one worker. Not shared between threads."""

    def __init__(self, process: WorkerProcess) -> None:
        self.process = process
        self._poll = select.poll()
        self._poll.register(process.channel, select.POLLIN)
        # The record of uses is not polled: it is read after each exchange, and a worker that fills it waits for
        # nobody.
        self._poll.register(process.output, select.POLLIN)
        self._channel = process.channel.fileno()
        self._events = select.POLLIN
        """What the channel is polled for."""
        self._output_open = True
        self._printed = bytearray()
        self._dropped = 0
        self._uses = bytearray()
        self._uses_closed = False
        self._next = 1
        self.requests: list[bytes] | None = None
        """The frames of all requests since the check began, while they are recorded."""
        self.replies = AnswerDigest()
        """And the digest of the replies."""
        self.ahead: deque[tuple[bytes, Answer]] = deque()
        """Requests that the check will make, each with the reply to it."""
        self._unsent = memoryview(b"")
        self._part = bytearray(AT_ONCE)
        self._ahead = bytearray()
        """Bytes that were read together with a reply and come after it."""
        self._look_at = time.monotonic() + sandbox.LOOK_S
        self.alive = True

    def hello(self, deadline: Deadline) -> str:
        """Return the isolation level that the worker reached."""
        reply = self._decoded(*self._receive(deadline))
        if not isinstance(reply, messages.ReadyReply):
            self.violation("it did not send its greeting")
        return reply.isolation

    def ask(
        self, request: messages.Request, buffers: list[Any], deadline: Deadline
    ) -> tuple[messages.AnyReply, bytearray]:
        """Send a request and return the answer with its payload.

        Raises:
            WorkerTimeout: the deadline passed.
            WorkerDied: it ended, or broke the protocol.
        """
        self.check_limits(deadline)
        request.id = self._next
        self._next += 1
        pieces = messages.pack(request, buffers)
        if self.ahead:
            expected, answer = self.ahead.popleft()
            if b"".join(pieces) != expected:
                raise OffScript
            if self.requests is not None:
                self.requests.append(expected)
                self.replies.add(answer)
            return self._reply_to(request, *answer)
        if self.requests is not None:
            # Before they are sent: a check may overwrite its tensors afterwards.
            self.requests.append(b"".join(pieces))
        views = [memoryview(piece).cast("B") for piece in pieces if memoryview(piece).nbytes]
        while views:
            # A few at a time: the kernel takes no more than IOV_MAX pieces in one call.
            sent = self._send_some(views[:16])
            if not sent:
                self._wait(deadline, select.POLLOUT)
                continue
            # The socket may have taken any part of them: what is left begins within a piece.
            while views and sent >= views[0].nbytes:
                sent -= views.pop(0).nbytes
            if sent:
                views[0] = views[0][sent:]
        answer = self._receive(deadline)
        if self.requests is not None:
            self.replies.add(answer)  # now: a check may overwrite its tensors
        return self._reply_to(request, *answer)

    def _reply_to(
        self, request: messages.Request, head: bytearray, payload: bytearray
    ) -> tuple[messages.AnyReply, bytearray]:
        reply = self._decoded(head, payload)
        if reply.id != request.id or isinstance(reply, messages.ReadyReply):
            self.violation("it answered what it was not asked")
        return reply, payload

    def begin(self, seed: int, *, keep: bool) -> None:
        """Number requests alike for every submission in this draw, and start or stop recording them."""
        # Not from 1 on: a reply to a request yet to come would have to guess its number.
        self._next = 1 + seed % FIRST_NUMBERS
        self.requests, self.replies = [] if keep else None, AnswerDigest()
        self.ahead.clear()

    def ask_all(self, frames: Sequence[bytes], most: int, deadline: Deadline) -> list[Answer]:
        """Send a script's requests without waiting for one reply before the next; return the replies, not decoded.

        The list is empty if the worker sends more than `most` bytes.

        Raises:
            WorkerTimeout, WorkerDied: as `ask`.
        """
        self._unsent = memoryview(b"".join(frames))
        found: list[Answer] = []
        for _ in frames:
            sizes = self._sizes(self._read(messages.PREFIX.size, deadline))
            most -= sum(sizes)
            if most < 0:  # before it is read
                return []
            found.append(self._answer(sizes, deadline))
        # More than replies are due: whatever comes next is not believed.
        return [] if self._ahead else found

    def check_limits(self, deadline: Deadline) -> float:
        """Look at the clock, and at what the worker uses when that is due; return the seconds left.

        Raises:
            WorkerTimeout: the deadline has passed.
            WorkerDied: it uses more than it is granted.
        """
        left = deadline.left()
        if left <= 0:
            # Before it is killed: only the worker itself can say at which line it is.
            trace = self._traceback()
            self.close()
            raise WorkerTimeout(trace)
        # When the next look is due is the channel's to know, not a wait's: a worker that sends a byte now and
        # then, or answers at once a thousand times, ends many waits and is looked at as often as one that is
        # silent.
        if time.monotonic() >= self._look_at:
            # Looked at from here, not by a timer: the grader has one thread, which is in this loop while a
            # worker computes.
            reason = self.process.exceeded_limit()
            if reason is not None:
                self._stop(reason)
            self._look_at = time.monotonic() + sandbox.LOOK_S
        return left

    def take_output(self) -> str:
        """Return what was printed since the last time, bounded, with the cut stated."""
        if self.alive:
            self._drain()
        text = self._printed.decode("utf-8", "replace")
        if self._dropped:
            text += f"\n… {self._dropped:,} more bytes were printed and were not kept"
        self._printed.clear()
        self._dropped = 0
        return text

    def is_silent(self) -> bool:
        """Return whether nothing was printed since the last time."""
        if self.alive:
            self._drain()
        return not (self._printed or self._dropped)

    def take_uses(self) -> tuple[bytes, bool]:
        """Return what was written to the record of uses since the last time, and whether a live worker closed it."""
        if self.alive:
            self._uses_closed |= self._drain_uses()
        data, self._uses = bytes(self._uses), bytearray()
        return data, self._uses_closed

    def close(self) -> None:
        """End the worker."""
        if self.alive:
            self.process.kill()
            with contextlib.suppress(MachineFault):  # how it ended does not matter
                self._end(0.0)

    def _end(self, patience_s: float) -> int | None:
        """See `WorkerProcess.end`."""
        # What it wrote before it ended is still in the pipes.
        self.alive = False
        self._drain_until_silent()
        self._drain_uses()
        return self.process.end(patience_s)

    def _receive(self, deadline: Deadline) -> Answer:
        """Return a frame's head and payload. What comes beyond it stays: it will answer what was not asked."""
        return self._answer(self._sizes(self._read(messages.PREFIX.size, deadline)), deadline)

    def _answer(self, sizes: tuple[int, int], deadline: Deadline) -> Answer:
        head, payload = (self._read(size, deadline) for size in sizes)
        return head, payload

    def _sizes(self, prefix: bytes | bytearray) -> tuple[int, int]:
        try:
            return messages.unpack_prefix(prefix)
        except messages.ProtocolError as error:
            self.violation(str(error))

    def _decoded(self, head: bytearray, payload: bytearray) -> messages.AnyReply:
        try:
            reply = messages.decode_reply(head)
            # Before anything is made of it: offsets and sizes are the worker's word.
            messages.check_layout(reply.tensors, len(payload))
            return reply
        except messages.ProtocolError as error:
            self.violation(str(error))

    def _read(self, size: int, deadline: Deadline) -> bytearray:
        """Return the next `size` bytes."""
        data = self._ahead[:size]
        del self._ahead[:size]
        filled = len(data)
        while filled < size:
            # What is large goes to its place; of the rest as much is read as there is.
            small = size - filled < len(self._part)
            if not small and filled == len(data):  # what is announced takes no memory before it comes
                data += bytes(min(size - filled, max(filled, FIRST_READ)))
            with memoryview(self._part if small else data) as whole, whole[0 if small else filled :] as place:
                count = self._receive_into(place)
            if not count:
                self._wait(deadline)
            elif small:
                with memoryview(self._part) as part:
                    data[filled:] = part[: min(count, size - filled)]
                    self._ahead += part[len(data) - filled : count]
                count = len(data) - filled
            filled += count
        return data

    def _send_some(self, pieces: Sequence[memoryview]) -> int:
        """Return how many bytes there was room for."""
        try:
            return self.process.channel.sendmsg(pieces)
        except BlockingIOError:
            return 0
        except OSError:
            self._died()

    def _receive_into(self, view: memoryview) -> int:
        """Return how many bytes have come; none where there was nothing after all."""
        try:
            count = self.process.channel.recv_into(view)
        except BlockingIOError:
            return 0
        except OSError:
            count = 0
        if count == 0:
            self._died()
        return count

    def _wait(self, deadline: Deadline, events: int = select.POLLIN) -> None:
        """Return when the channel is ready; meanwhile whatever the submission prints is drained."""
        channel = self._channel
        while True:
            # In turns: a worker that cannot send its replies reads no more requests.
            if self._unsent:
                self._unsent = self._unsent[self._send_some([self._unsent]) :]
            wanted = events | (select.POLLOUT if self._unsent else 0)
            if wanted != self._events:
                self._poll.modify(channel, wanted)
                self._events = wanted
            # No longer than until the next look: what a silent worker uses is looked at, too.
            left = self.check_limits(deadline)
            began = time.monotonic()
            wait_s = max(min(left, self._look_at - began), 0.0)
            # poll(2), since select(2) knows no descriptor above 1023, and a grading process may have 4,096.
            ready = dict(self._poll.poll(wait_s * 1000))
            deadline.add_stall(began, wait_s)
            # First what is printed: a worker that waits for room in that pipe will never answer.
            if self.process.output in ready:
                self._drain()
                granted = self.process.limits.output_bytes
                if len(self._printed) + self._dropped > granted:
                    self._stop(f"printed more than {granted >> 20} MB")
            if ready.get(channel, 0) & ~(wanted & ~events):
                return

    def _stop(self, reason: str) -> NoReturn:
        self.close()
        raise WorkerDied(f"{reason}, so it was stopped")

    def _drain(self) -> bool:
        """Read what is printed, at most a few chunks so that the clock is looked at; return whether there was any."""
        found = False
        for _ in range(64 if self._output_open else 0):
            try:
                data = os.read(self.process.output, 65_536)
            except BlockingIOError:
                break
            if not data:
                self._output_open = False
                # A closed pipe is always ready: poll would return at once, again and again.
                self._poll.unregister(self.process.output)
                break
            found = True
            # Read all the same: a worker that prints into a full pipe waits for ever.
            fitting = data[: max(MAX_OUTPUT - len(self._printed), 0)]
            self._printed += fitting
            self._dropped += len(data) - len(fitting)
        return found

    def _traceback(self) -> str:
        """Return where a worker is that is about to be ended, as it writes it itself; nothing where it does not."""
        self._drain_until_silent()
        self.process.ask_where()
        # Into a place of its own: what is kept of the output may be full, and the report shows that as printed.
        text, until = bytearray(), time.monotonic() + TRACE_S
        output = select.poll()
        output.register(self.process.output, select.POLLIN)
        while self._output_open and not text.count(TRACED) and (left := until - time.monotonic()) > 0:
            if output.poll(1000 * left):
                # The end of it: faulthandler writes last, and the submission may print on meanwhile.
                text = text[-MAX_OUTPUT:] + os.read(self.process.output, 65_536)
        self._output_open = False  # the rest of it, late on a busy machine, is nothing that was printed
        return text.partition(TRACE_HEAD)[2].decode("utf-8", "replace")

    def _drain_uses(self) -> bool:
        """Read what is in the record; return whether nobody holds its other end any more."""
        if self.process.audit is None:
            return False
        with contextlib.suppress(BlockingIOError):
            # Bounded: a worker that writes as fast as it is read would keep the grader here.
            while len(self._uses) < MAX_USES:
                data = os.read(self.process.audit, 65_536)
                self._uses += data
                if not data:
                    return True
        return False

    def _drain_until_silent(self) -> None:
        # Bounded: a worker that prints without end is never silent.
        for _ in range(16):
            if not self._drain():
                return

    def _died(self) -> NoReturn:
        # Its socket closes a moment before the process can be waited for: without patience there is no exit
        # code.
        code = self._end(PATIENCE_S)
        raise WorkerDied(describe_exit(code, self.process.limits), killed=code == -signal.SIGKILL)

    def violation(self, what: str) -> NoReturn:
        """Kill a worker whose answer was well framed but makes no sense.

        Raises:
            WorkerDied: always.
        """
        self.close()
        raise WorkerDied(f"broke off the conversation with the grader ({what})")


def describe_exit(code: int | None, limits: sandbox.ResourceLimits) -> str:
    """Say how a process under these limits ended, for somebody who has not read about signals."""
    if code is None:
        return "closed its connection to the grader"
    if code >= 0:
        return f"ended the whole process (exit code {code}; os._exit or a crash handler does this)"
    # These two are the sandbox's doing: a signal's number would not tell a learner which rule was broken.
    if code == -signal.SIGXCPU:
        return f"used more than {limits.cpu_s} s of processor time, so it was stopped"
    if code == -signal.SIGSYS:
        return "made a system call that no submission needs, so it was stopped"
    names = {
        4: "illegal instruction",
        6: "abort",
        7: "bus error",
        8: "arithmetic error",
        9: "killed",
        11: "segmentation fault",
    }
    extra = "; often out of memory" if code == -9 else ""
    return f"crashed the interpreter ({names.get(-code, 'signal')}, signal {-code}{extra})"
