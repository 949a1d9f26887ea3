"""The filter against the kernel's own table: each call is allowed for a reason, or refused."""

from __future__ import annotations

import errno
import fcntl
import re
import signal
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.engine.sandbox import seccomp
from grader.engine.sandbox.system_calls import ARCHITECTURES, NUMBERS, call_number, ignored, reasons, refusals

HEADERS = {
    "x86_64": "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
    "aarch64": "/usr/include/asm-generic/unistd.h",
}
REVIEWED = Path(__file__).parent / "reviewed_calls.txt"
"""Every call that somebody has decided about; what a later kernel adds is refused, and named by a test."""
ALLOW, REFUSE, IGNORE, ABSENT = 0x7FFF0000, 0x50000 | errno.EPERM, 0x50000, 0x50000 | errno.ENOSYS
OWN = seccomp.OWN


def table(machine: str) -> dict[str, int]:
    header = Path(HEADERS[machine])
    if not header.exists():
        pytest.skip("the kernel's headers are not installed (linux-libc-dev)")
    found = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\s*$", header.read_text(), re.MULTILINE)
    # On 32-bit systems some have another name; two are no calls.
    renamed = {"fstatat": "newfstatat"}
    calls = {renamed.get(name, name): int(code) for name, code in found}
    return {
        name: code
        for name, code in calls.items()
        if name not in ("syscalls", "arch_specific_syscall", "sync_file_range2")
        and not (machine == "aarch64" and 403 <= code <= 423)
    }


def verdict(machine: str, number: int, *arguments: int, cuda: bool = False) -> int:
    """Run the filter as the kernel would."""
    code = list(struct.iter_unpack("=HBBI", seccomp.assemble(machine, cuda)))
    data = struct.pack("=IIQ", number, seccomp._AUDIT_ARCHITECTURE[machine], 0)
    data += struct.pack("=6Q", *(*arguments, 0, 0, 0, 0, 0, 0)[:6])
    value = place = 0
    while True:
        kind, then, otherwise, operand = code[place]
        place += 1
        match kind:
            case 0x20:
                [value] = struct.unpack_from("=I", data, operand)
            case 0x54:
                value &= operand
            case 0x05:
                place += operand
            case 0x15:
                place += then if value == operand else otherwise
            case 0x35:
                place += then if value >= operand else otherwise
            case 0x06:
                return operand
            case _:
                raise AssertionError(kind)


def decided(machine: str, cuda: bool) -> Iterator[tuple[str, int, str | None]]:
    for name, number in table(machine).items():
        yield name, number, reasons(cuda).get(name)


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_the_numbers_are_the_kernels(machine: str) -> None:
    defined = table(machine)
    ours = {name: call_number(name, machine) for name in NUMBERS}
    assert {name: defined[name] for name in ours if name in defined} == {
        name: code for name, code in ours.items() if name in defined
    }
    # What the header lacks is younger than it.
    assert all(
        code is None or code > max(defined.values()) for name, code in ours.items() if name not in defined
    )


@pytest.mark.parametrize("machine", ARCHITECTURES)
@pytest.mark.parametrize("cuda", [False, True])
def test_each_call_of_the_kernel_is_allowed_for_a_reason_or_refused(machine: str, cuda: bool) -> None:
    conditional = seccomp._conditions(cuda)
    for name, number, reason in decided(machine, cuda):
        if reason is None:
            expected = {REFUSE if name in refusals() else IGNORE if name in ignored() else ABSENT}
        elif conditional.get(name):
            expected = {ALLOW, REFUSE, ABSENT}
        else:
            expected = {ALLOW}
        assert verdict(machine, number, cuda=cuda) in expected, (name, reason or "refused")


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_a_call_that_nobody_has_looked_at_is_named(machine: str) -> None:
    reviewed = set(REVIEWED.read_text().split())
    assert set(NUMBERS) <= reviewed
    assert not set(table(machine)) - reviewed, (
        "refused until somebody decides: add them to reviewed_calls.txt"
    )


def test_every_group_has_a_reason_of_its_own() -> None:
    assert all(len(reason.split()) > 2 for reason in {*reasons(True).values(), *refusals().values()})
    assert not set(reasons(False)) & set(refusals())


@pytest.mark.parametrize("number", [470, 471, 511, 548, 4095, 0x3FFFFFFF, 0x40000000 | 39, 0xFFFFFFFF])
def test_a_system_call_of_a_later_kernel_or_of_x32_is_absent(number: int) -> None:
    for machine in ARCHITECTURES:
        assert verdict(machine, number) == ABSENT


FCNTL, IOCTL, PRCTL, KILL, CLONE, SOCKETPAIR, OPENAT, SOCKET = (
    NUMBERS[name][0] or 0
    for name in ("fcntl", "ioctl", "prctl", "kill", "clone", "socketpair", "openat", "socket")
)
BY_ARGUMENT = {
    "copies a descriptor": (ALLOW, FCNTL, 7, fcntl.F_DUPFD),
    "copies the audit channel": (REFUSE, FCNTL, seccomp.AUDIT, fcntl.F_DUPFD),
    "takes a lease": (REFUSE, FCNTL, 7, 1024),
    "watches a folder": (REFUSE, FCNTL, 7, 1026),
    "asks for a terminal": (ALLOW, IOCTL, 7, 0x5401),
    "types into one": (REFUSE, IOCTL, 7, 0x5412),
    "names a thread": (ALLOW, PRCTL, 15),
    "becomes a subreaper": (REFUSE, PRCTL, 36),
    "signals itself": (ALLOW, KILL, OWN, signal.SIGTERM),
    "signals its group": (REFUSE, KILL, 0, signal.SIGTERM),
    "starts a thread": (ALLOW, CLONE, 0x3D0F00),
    "starts a process": (REFUSE, CLONE, signal.SIGCHLD),
    "makes a pair": (ALLOW, SOCKETPAIR, socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC),
    "makes a pair of datagrams": (REFUSE, SOCKETPAIR, socket.AF_UNIX, socket.SOCK_DGRAM),
    "opens to write": (ALLOW, OPENAT, 0, 0, 0o1 | 0o100 | 0o1000),
    "opens to read, and truncates": (REFUSE, OPENAT, 0, 0, 0o1000),
}


@pytest.mark.parametrize("case", BY_ARGUMENT)
def test_calls_with_several_meanings_are_told_apart(case: str) -> None:
    expected, number, *arguments = BY_ARGUMENT[case]
    assert verdict("x86_64", number, *arguments) == expected


def test_the_driver_of_a_gpu_has_its_devices_and_local_sockets_and_no_terminal() -> None:
    for expected, number, *arguments in (
        (ALLOW, IOCTL, 7, 0xC020462A),  # nvidiactl
        (ALLOW, IOCTL, 7, 0x30000001),  # nvidia-uvm
        (REFUSE, IOCTL, 7, 0x5412),
        (REFUSE, IOCTL, 7, 0x8901),
        (REFUSE, IOCTL, seccomp.AUDIT, 0xC020462A),
        (ALLOW, SOCKET, socket.AF_UNIX, socket.SOCK_SEQPACKET),
        (REFUSE, SOCKET, socket.AF_INET, socket.SOCK_STREAM),
        (ALLOW, FCNTL, 7, 1033),
        (REFUSE, FCNTL, 7, 1024),
    ):
        assert verdict("x86_64", number, *arguments, cuda=True) == expected, (number, arguments)


@pytest.mark.parametrize("machine", ARCHITECTURES)
@pytest.mark.parametrize("cuda", [False, True])
def test_a_filter_is_whole_instructions_and_fits_the_kernels_limit(machine: str, cuda: bool) -> None:
    code = seccomp.assemble(machine, cuda)
    assert len(code) % 8 == 0
    assert len(code) // 8 < 4096
