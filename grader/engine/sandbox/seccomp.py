"""The BPF program that lets the listed system calls of a worker through, some by their arguments, and no others.

Files are Landlock's business; this filter covers what Landlock does not see.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import struct
from dataclasses import dataclass

from grader.engine.sandbox import libc
from grader.engine.sandbox.system_calls import architecture, call_number, ignored, reasons, refusals

_SET_MODE_FILTER = 1
_GET_ACTION_AVAIL = 2  # Linux 4.14
# Without this flag kernels before 5.16 slow a filtered process down; it has no secrets to keep from itself.
_SPEC_ALLOW = 4
_ALL_THREADS = 1  # Linux 3.17

_ALLOW = 0x7FFF0000
_KILL_PROCESS = 0x80000000  # Linux 4.14; before that only the thread could be killed
_ERRNO = 0x00050000
_REFUSE = _ERRNO | errno.EPERM
_IGNORE = _ERRNO  # an error of 0 is success
_ABSENT = _ERRNO | errno.ENOSYS

_AUDIT_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

_AF_UNIX = 1
_SOCK_STREAM, _SOCK_SEQPACKET, _SOCK_TYPE_MASK = 1, 5, 0xF
_THREAD = 0x00010000 | 0x00000400
"""CLONE_THREAD and CLONE_FILES: every C library's threads have both."""
_O_ACCMODE, _O_TRUNC = 0o3, 0o1000
_DESCRIPTORS = (0, 1, 2, 3, 4, 1030)
"""Of fcntl(2): F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC."""
_RECORD_LOCKS = (5, 6, 7)
"""F_GETLK, F_SETLK, F_SETLKW: sqlite locks its own files so. Only who may write to a file can keep readers away."""
_TERMINAL = (0x5401, 0x802C542A, 0x5413)
"""TCGETS and TCGETS2, by which `isatty` finds out; TIOCGWINSZ."""
_OPEN_FILE = (0x541B, 0x5421, 0x5450, 0x5451)
"""FIONREAD, FIONBIO, FIONCLEX, FIOCLEX: what asyncio and `os.set_inheritable` need."""
_SEALS = (1033, 1034)
"""F_ADD_SEALS, F_GET_SEALS."""
_THREAD_NAMES = (15, 16)
"""PR_SET_NAME and PR_GET_NAME."""
_HARMFUL = (0x5412, 0x541C, 0x5423, 0x8901, 0x8902)
"""TIOCSTI, TIOCLINUX, TIOCSETD, FIOSETOWN, SIOCSPGRP."""

AUDIT = 4
"""The descriptor of a worker's record of uses: nothing may close it, replace it or change how it works."""
OWN = 0x6B617461
"""Stands for the worker's own process id in a program that is assembled before there is one; no process has it."""


@dataclass(frozen=True)
class Condition:
    """Whether the low 32 bits of an argument, masked, are one of `values`; or none, if it is `negated`."""

    argument: int
    values: tuple[int, ...]
    mask: int = 0xFFFFFFFF
    negated: bool = False


_UNIX = Condition(0, (_AF_UNIX,))
# A datagram socket could still send to any path; a stream needs connect(2), which is refused.
_CONNECTED = Condition(1, (_SOCK_STREAM, _SOCK_SEQPACKET), _SOCK_TYPE_MASK)
_TO_ITSELF = Condition(0, (OWN,))
_ON_ITSELF = Condition(0, (0, OWN))
# Who could lead the audit channel elsewhere for the length of one call would use what a kata excludes unnoticed.
_NOT_AUDIT = Condition(0, (AUDIT,), negated=True)
_NOT_OVER_AUDIT = Condition(1, (AUDIT,), negated=True)


def _conditions(cuda: bool) -> dict[str, tuple[Condition, ...]]:
    """Return what must hold for calls that have several meanings."""
    conditions = {
        "close": (_NOT_AUDIT,),
        "dup": (_NOT_AUDIT,),
        "dup2": (_NOT_AUDIT, _NOT_OVER_AUDIT),
        "dup3": (_NOT_AUDIT, _NOT_OVER_AUDIT),
        "close_range": (Condition(0, tuple(range(AUDIT + 1)), negated=True),),
        "fcntl": (_NOT_AUDIT, Condition(1, (*_DESCRIPTORS, *_RECORD_LOCKS))),
        "ioctl": (_NOT_AUDIT, Condition(1, (*_TERMINAL, *_OPEN_FILE))),
        # Landlock before ABI 3 (Linux 6.2) lets a file that is open for reading be truncated.
        "open": (Condition(1, (_O_TRUNC,), _O_TRUNC | _O_ACCMODE, negated=True),),
        "openat": (Condition(2, (_O_TRUNC,), _O_TRUNC | _O_ACCMODE, negated=True),),
        # A thread with descriptors of its own would hold files that are counted nowhere.
        "clone": (Condition(0, (_THREAD,), _THREAD),),
        "prctl": (Condition(0, _THREAD_NAMES),),
        "kill": (_TO_ITSELF,),
        "tgkill": (_TO_ITSELF,),
        "prlimit64": (_ON_ITSELF,),
        # MKL pins its own threads in turn to learn the topology.
        "sched_setaffinity": (_ON_ITSELF,),
        "socketpair": (_UNIX, _CONNECTED),
    }
    if cuda:
        # Its devices have calls of their own, which only they know; its shared memory is sealed.
        conditions |= {
            "fcntl": (_NOT_AUDIT, Condition(1, (*_DESCRIPTORS, *_RECORD_LOCKS, *_SEALS))),
            "ioctl": (_NOT_AUDIT, Condition(1, _HARMFUL, negated=True)),
            "prctl": (),
            "socket": (_UNIX,),
            "socketpair": (_UNIX,),
        }
    return conditions


_FALLS_BACK = "close_range"
"""Absent where its conditions do not hold: C libraries then close one descriptor after the other, which leaves the
audit channel open."""


def _load(offset: int) -> bytes:
    # BPF_LD | BPF_W | BPF_ABS: a word of struct seccomp_data, which has the number at 0 and the architecture at
    # 4.
    return struct.pack("=HBBI", 0x20, 0, 0, offset)


def _and(mask: int) -> bytes:
    # BPF_ALU | BPF_AND | BPF_K.
    return struct.pack("=HBBI", 0x54, 0, 0, mask)


def _jump_if_equal(value: int, then: int, otherwise: int) -> bytes:
    # BPF_JMP | BPF_JEQ | BPF_K: how many instructions are skipped, in a byte each.
    return struct.pack("=HBBI", 0x15, then, otherwise, value)


def _jump_if_at_least(value: int, then: int, otherwise: int) -> bytes:
    # BPF_JMP | BPF_JGE | BPF_K.
    return struct.pack("=HBBI", 0x35, then, otherwise, value)


def _return(verdict: int) -> bytes:
    # BPF_RET | BPF_K.
    return struct.pack("=HBBI", 0x06, 0, 0, verdict)


def _jump(distance: int) -> bytes:
    # BPF_JMP | BPF_JA, which alone takes a distance of 32 bits: half of a search tree is more than a byte
    # counts.
    return struct.pack("=HBBI", 0x05, 0, 0, distance)


def _test(condition: Condition, refusal: int) -> list[bytes]:
    """Assemble a test that returns `refusal`, or goes on after itself where the condition holds."""
    values = condition.values
    # The low half of the argument, on machines that begin with it: what the kernel itself reads of an int. The
    # high half is whatever the register held.
    code = [_load(16 + 8 * condition.argument), _and(condition.mask)]
    # What equals a value skips the comparisons that are left and the first instruction after them.
    code += [_jump_if_equal(value, len(values) - index, 0) for index, value in enumerate(values)]
    return [*code, _jump(1), _return(refusal)] if condition.negated else [*code, _return(refusal)]


def _leaves(machine: str, cuda: bool) -> list[tuple[int, list[bytes]]]:
    """List what happens from which number on, in their order: equal ones that follow each other are one."""
    # Later ones win: what is refused, then what is allowed, then what depends on its arguments.
    codes = {name: [_return(_REFUSE)] for name in refusals()}
    codes |= {name: [_return(_IGNORE)] for name in ignored()}
    codes |= {name: [_return(_ALLOW)] for name in reasons(cuda)}
    for name, conditions in _conditions(cuda).items():
        refusal = _ABSENT if name == _FALLS_BACK else _REFUSE
        tests = [step for condition in conditions for step in _test(condition, refusal)]
        codes[name] = [*tests, _return(_ALLOW)]
    listed = {call_number(name, machine): code for name, code in codes.items()}
    # ENOSYS for what is not listed: libraries then do without, as on an older kernel, where EPERM makes them
    # give up.
    absent = [_return(_ABSENT)]
    found: list[tuple[int, list[bytes]]] = []
    # The numbers of later kernels come after the last one, and those of the x32 ABI (bit 30).
    for number in range(max(filter(None, listed)) + 2):
        code = listed.get(number, absent)
        if not found or found[-1][1] != code:
            found.append((number, code))
    return found


def _tree(leaves: list[tuple[int, list[bytes]]]) -> list[bytes]:
    """Assemble a binary search for the leaf of the number that is loaded; every leaf returns."""
    if len(leaves) == 1:
        return leaves[0][1]
    middle = len(leaves) // 2
    lower, upper = _tree(leaves[:middle]), _tree(leaves[middle:])
    return [_jump_if_at_least(leaves[middle][0], 0, 1), _jump(len(lower)), *lower, *upper]


@functools.cache
def assemble(machine: str, cuda: bool = False) -> bytes:
    """Assemble the filter for `machine`, with `OWN` for the process's number; 8 bytes an instruction."""
    code = [
        # The architecture before the number: the same numbers mean other calls in 32-bit mode.
        _load(4),
        _jump_if_equal(_AUDIT_ARCHITECTURE[machine], 1, 0),
        _return(_KILL_PROCESS),
        _load(0),
        # A search tree: the kernel runs the filter for each number when it is installed (Linux 5.11), to know
        # those that are always allowed and need no filter.
        *_tree(_leaves(machine, cuda)),
    ]
    return b"".join(code)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))


def restrict(own: int, cuda: bool = False) -> None:
    """Install the filter in this process for good. `own` is its process id; no_new_privs must have been set.

    Raises:
        OSError: the kernel did not take it, or calls of this architecture are not known.
    """
    machine = architecture()
    if machine is None:
        raise OSError(errno.ENOSYS, "no filter for this architecture")
    # The zygote assembles it once: that takes longer than all other steps of a confinement together.
    code = assemble(machine, cuda).replace(struct.pack("=I", OWN), struct.pack("=I", own))
    # The bytes are referred to by `code` until the call is over: a structure does not keep what it points to
    # alive.
    program = ctypes.byref(_Program(len(code) // 8, code))
    mode = ctypes.c_uint(_SET_MODE_FILTER)
    flags = ctypes.c_uint(_SPEC_ALLOW | _ALL_THREADS)
    failed = libc.system_call("seccomp", mode, flags, program)
    if failed == errno.EINVAL:  # before Linux 4.17 there is no such flag
        failed = libc.system_call("seccomp", mode, ctypes.c_uint(_ALL_THREADS), program)
    if failed:
        raise OSError(failed, os.strerror(failed), "seccomp")


def available() -> bool:
    """Ask the kernel, without changing anything, whether it takes filters such as ours."""
    action = ctypes.c_uint32(_KILL_PROCESS)
    mode = ctypes.c_uint(_GET_ACTION_AVAIL)
    return libc.system_call("seccomp", mode, ctypes.c_uint(0), ctypes.byref(action)) == 0
