"""The system calls a worker may not make, and the BPF program that refuses them.

Everything else that was known when this was written stays allowed: what torch, oneDNN and CUDA call changes from
release to release. What came later is absent. Files are Landlock's business; this filter covers what Landlock does not
see.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import struct
from dataclasses import dataclass

from grader.sandbox import libc
from grader.sandbox.system_calls import FIRST_UNKNOWN, architecture, call_number

_SET_MODE_FILTER = 1
_GET_ACTION_AVAIL = 2  # Linux 4.14
# Without this flag kernels before 5.16 slow a filtered process down; it has no secrets to keep from itself.
_SPEC_ALLOW = 4
_ALL_THREADS = 1  # Linux 3.17

_ALLOW = 0x7FFF0000
_KILL_PROCESS = 0x80000000  # Linux 4.14; before that only the thread could be killed
_ERRNO = 0x00050000
_REFUSE = _ERRNO | errno.EPERM
_ABSENT = _ERRNO | errno.ENOSYS

_AUDIT_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

_AF_UNIX = 1
_SOCK_STREAM, _SOCK_SEQPACKET, _SOCK_TYPE_MASK = 1, 5, 0xF
_THREAD = 0x00010000 | 0x00000400
"""CLONE_THREAD and CLONE_FILES: every C library's threads have both."""
_O_ACCMODE, _O_TRUNC = 0o3, 0o1000
_F_SETOWN, _F_SETSIG, _F_SETOWN_EX = 8, 10, 15
_TIOCSTI, _TIOCLINUX, _FIOSETOWN, _SIOCSPGRP = 0x5412, 0x541C, 0x8901, 0x8902

AUDIT = 4
"""The descriptor of a worker's record of uses."""
OWN = -1
"""Stands for the worker's own process id in a `Condition`."""


@dataclass(frozen=True)
class Condition:
    """Whether the low 32 bits of an argument, masked, are one of `values`."""

    argument: int
    values: tuple[int, ...]
    mask: int = 0xFFFFFFFF


@dataclass(frozen=True)
class CallRule:
    """One system call and when it is refused: always, `when` all conditions hold, or `unless` all hold.

    Where `when` does not hold, the rules that follow decide; after `unless` none is looked at.
    """

    call: str
    when: tuple[Condition, ...] = ()
    unless: tuple[Condition, ...] = ()
    verdict: int = _REFUSE


# fmt: off
_REFUSED = (
    # other processes: their memory, signals, descriptors, place in the system
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "kcmp",
    "pidfd_open", "pidfd_getfd", "pidfd_send_signal", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo",
    "migrate_pages", "move_pages", "setpriority", "ioprio_set",
    # new processes, and the ways out of the grader's reach
    "fork", "vfork", "execve", "execveat", "setsid", "setpgid", "unshare", "setns",
    # sockets with a name; System V objects that outlive the worker
    "connect", "shmget", "msgget", "semget", "mq_open",
    # the kernel's large attack surfaces
    "bpf", "perf_event_open", "userfaultfd", "add_key", "request_key", "keyctl",
    "io_uring_setup", "io_uring_enter", "io_uring_register",
    # the tree of files
    "mount", "umount2", "pivot_root", "chroot", "open_tree", "open_tree_attr", "move_mount", "mount_setattr",
    "fsopen", "fsconfig", "fsmount", "fspick", "statmount", "listmount",
    "name_to_handle_at", "open_by_handle_at",
    # what Landlock does not see: owners, modes, times, attributes, truncation by path, watching
    "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "file_setattr",
    "setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr", "lremovexattr", "fremovexattr",
    "removexattrat", "utime", "utimes", "utimensat", "futimesat", "truncate",
    "inotify_init", "inotify_init1", "fanotify_init", "fanotify_mark",
    # the machine
    "kexec_load", "kexec_file_load", "reboot", "init_module", "finit_module", "delete_module", "acct",
    "swapon", "swapoff", "quotactl", "quotactl_fd", "sethostname", "setdomainname", "settimeofday",
    "clock_settime", "clock_adjtime", "adjtimex", "syslog", "iopl", "ioperm", "modify_ldt", "lookup_dcookie",
    "uselib", "nfsservctl", "vhangup",
)
_UNSEEN = ("bind", "memfd_create", "memfd_secret", "sendmsg", "sendmmsg")
_OWN_ONLY = ("prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr")
# fmt: on

_UNIX = Condition(0, (_AF_UNIX,))
# A datagram socket could still send to any path; a stream needs connect(2), which is refused.
_CONNECTED = Condition(1, (_SOCK_STREAM, _SOCK_SEQPACKET), _SOCK_TYPE_MASK)
_ITSELF = Condition(0, (0, OWN))
_TRUNCATES_UNWRITABLE = (_O_TRUNC | _O_ACCMODE, _O_TRUNC)


def rules(cuda: bool) -> list[CallRule]:
    """List what is refused; the CUDA driver may name and use local sockets of any type."""
    unix = (_UNIX,) if cuda else (_UNIX, _CONNECTED)
    mask, truncating = _TRUNCATES_UNWRITABLE
    return [
        *(CallRule(call) for call in _REFUSED),
        # Memory that is mapped nowhere comes under no limit, nor do files that are on their way through a socket; CUDA
        # cannot do without.
        *([] if cuda else [CallRule(call) for call in _UNSEEN]),
        # ENOSYS makes libraries fall back (glibc 2.36 to clone): their flags lie behind a pointer, where a filter
        # cannot look.
        CallRule("clone3", verdict=_ABSENT),
        CallRule("openat2", verdict=_ABSENT),
        # A thread with descriptors of its own would hold files that are counted nowhere.
        CallRule("clone", unless=(Condition(0, (_THREAD,), _THREAD),)),
        CallRule("socket", unless=unix),
        CallRule("socketpair", unless=unix),
        CallRule("kill", unless=(Condition(0, (OWN,)),)),
        CallRule("tgkill", unless=(Condition(0, (OWN,)),)),
        # MKL pins its own threads in turn to learn the topology, so affinity stays allowed for oneself.
        *(CallRule(call, unless=(_ITSELF,)) for call in _OWN_ONLY),
        CallRule("fcntl", when=(Condition(1, (_F_SETOWN, _F_SETSIG, _F_SETOWN_EX)),)),
        CallRule("ioctl", when=(Condition(1, (_TIOCSTI, _TIOCLINUX, _FIOSETOWN, _SIOCSPGRP)),)),
        # Landlock before ABI 3 (Linux 6.2) lets a file that is open for reading be truncated.
        CallRule("open", when=(Condition(1, (truncating,), mask),)),
        CallRule("openat", when=(Condition(2, (truncating,), mask),)),
    ]


def _load(offset: int) -> bytes:
    return struct.pack("=HBBI", 0x20, 0, 0, offset)


def _and(mask: int) -> bytes:
    return struct.pack("=HBBI", 0x54, 0, 0, mask)


def _jump_if_equal(value: int, then: int, otherwise: int) -> bytes:
    return struct.pack("=HBBI", 0x15, then, otherwise, value)


def _jump_if_at_least(value: int, then: int, otherwise: int) -> bytes:
    return struct.pack("=HBBI", 0x35, then, otherwise, value)


def _return(verdict: int) -> bytes:
    return struct.pack("=HBBI", 0x06, 0, 0, verdict)


def _jump(distance: int) -> bytes:
    return struct.pack("=HBBI", 0x05, 0, 0, distance)


def _block(rule: CallRule, own: int) -> list[bytes]:
    """Assemble what happens once the call's number has matched.

    Every path returns, but for a `when` that does not hold: it leads behind the block, with the number loaded again.
    """
    matched = _ALLOW if rule.unless else rule.verdict
    tests: list[list[bytes]] = []
    for condition in rule.when or rule.unless:
        code = [_load(16 + 8 * condition.argument)]
        if condition.mask != 0xFFFFFFFF:
            code.append(_and(condition.mask))
        values = [own if value == OWN else value for value in condition.values]
        # The instruction behind the last comparison is for what equals none of the values.
        code += [_jump_if_equal(value, len(values) - index, 0) for index, value in enumerate(values)]
        tests.append(code)
    if not rule.when:
        return [step for test in tests for step in (*test, _return(rule.verdict))] + [_return(matched)]
    block: list[bytes] = []
    ahead = sum(len(test) + 1 for test in tests)
    for test in tests:
        ahead -= len(test) + 1
        block += [*test, _jump(ahead + 1)]  # over the other tests and the verdict
    return [*block, _return(matched), _load(0)]


@functools.cache
def assemble(machine: str, own: int, cuda: bool = False) -> bytes:
    """Assemble the filter of the process `own` on `machine`; 8 bytes an instruction."""
    code = [
        _load(4),
        _jump_if_equal(_AUDIT_ARCHITECTURE[machine], 1, 0),
        _return(_KILL_PROCESS),
        _load(0),
        # Nobody knows what a call does that came after this list. The calls of the x32 ABI (bit 30 of the number) lie
        # up there, too.
        _jump_if_at_least(FIRST_UNKNOWN, 0, 1),
        _return(_ABSENT),
    ]
    for rule in rules(cuda):
        call = call_number(rule.call, machine)
        if call is not None:
            block = _block(rule, own)
            code += [_jump_if_equal(call, 0, len(block)), *block]
    code.append(_return(_ALLOW))
    return b"".join(code)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))


def restrict(own: int, cuda: bool = False) -> bool:
    """Install the filter in this process for good; return whether the kernel took it.

    `own` is the caller's process id. no_new_privs must have been set.
    """
    machine = architecture()
    if machine is None:
        return False
    code = assemble(machine, own, cuda)
    program = _Program(len(code) // 8, code)
    flags = ctypes.c_uint(_SPEC_ALLOW | _ALL_THREADS)
    mode = ctypes.c_uint(_SET_MODE_FILTER)
    if libc.system_call("seccomp", mode, flags, ctypes.byref(program)) == 0:
        return True
    return libc.system_call("seccomp", mode, ctypes.c_uint(0), ctypes.byref(program)) == 0


def available() -> bool:
    """Ask the kernel, without changing anything, whether it takes filters such as ours."""
    action = ctypes.c_uint32(_KILL_PROCESS)
    mode = ctypes.c_uint(_GET_ACTION_AVAIL)
    return libc.system_call("seccomp", mode, ctypes.c_uint(0), ctypes.byref(action)) == 0
