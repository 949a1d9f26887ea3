"""The system calls that a worker may make, each with its reason, and their numbers on each architecture.

What is not listed here is absent (ENOSYS), so that a C library falls back to an older call.
"""

from __future__ import annotations

import functools
import os
import sys

ARCHITECTURES = ("x86_64", "aarch64")

# fmt: off
_ALLOWED = {
    "reads and writes what is open": """
        read 0 63, write 1 64, readv 19 65, writev 20 66, pread64 17 67, pwrite64 18 68, preadv 295 69,
        pwritev 296 70, preadv2 327 286, pwritev2 328 287, lseek 8 62, sendfile 40 71,
        copy_file_range 326 285, ftruncate 77 46, fallocate 285 47, fsync 74 82, fdatasync 75 83""",
    "opens and closes files; Landlock decides which": """
        open 2 -, openat 257 56, close 3 57, close_range 436 436, dup 32 23, dup2 33 -, dup3 292 24,
        fcntl 72 25, ioctl 16 29""",
    "looks at files and folders": """
        stat 4 -, fstat 5 80, lstat 6 -, newfstatat 262 79, statx 332 291, access 21 -, faccessat 269 48,
        faccessat2 439 439, readlink 89 -, readlinkat 267 78, getdents 78 -, getdents64 217 61, getcwd 79 17,
        statfs 137 43, fstatfs 138 44""",
    "makes, renames and removes files in its scratch; Landlock decides where": """
        mkdir 83 -, mkdirat 258 34, rmdir 84 -, unlink 87 -, unlinkat 263 35, rename 82 -, renameat 264 38,
        renameat2 316 276, chdir 80 49, fchdir 81 50, umask 95 166""",
    "takes and gives back memory, within its limit": """
        mmap 9 222, munmap 11 215, mremap 25 216, mprotect 10 226, brk 12 214, madvise 28 233, msync 26 227,
        mincore 27 232""",
    "starts threads of its own, waits for them, chooses their processors": """
        clone 56 220, exit 60 93, exit_group 231 94, futex 202 98, set_robust_list 273 99,
        set_tid_address 218 96, rseq 334 293, membarrier 324 283, arch_prctl 158 -, prctl 157 167,
        gettid 186 178, sched_yield 24 124, getcpu 309 168, sched_getaffinity 204 123,
        sched_setaffinity 203 122""",
    "handles signals, and sends them to itself": """
        rt_sigaction 13 134, rt_sigprocmask 14 135, rt_sigreturn 15 139, rt_sigpending 127 136,
        rt_sigsuspend 130 133, rt_sigtimedwait 128 137, sigaltstack 131 132, restart_syscall 219 128,
        pause 34 -, kill 62 129, tgkill 234 131""",
    "reads the clock, sleeps, sets an alarm": """
        clock_gettime 228 113, clock_getres 229 114, clock_nanosleep 230 115, nanosleep 35 101,
        gettimeofday 96 169, time 201 -, alarm 37 -, getitimer 36 102, setitimer 38 103""",
    "waits for its own descriptors; asyncio, selectors, the answer to the grader": """
        poll 7 -, ppoll 271 73, select 23 -, pselect6 270 72, epoll_create 213 -, epoll_create1 291 20,
        epoll_ctl 233 21, epoll_wait 232 -, epoll_pwait 281 22, epoll_pwait2 441 441, eventfd2 290 19,
        pipe 22 -, pipe2 293 59""",
    "talks to the grader, and over pairs of sockets that lead to itself": """
        socketpair 53 199, sendto 44 206, recvfrom 45 207, recvmsg 47 212, shutdown 48 210,
        getsockname 51 204, getpeername 52 205, getsockopt 55 209""",
    "learns who it is, where it runs and what it has used": """
        getpid 39 172, getppid 110 173, getuid 102 174, geteuid 107 175, getgid 104 176, getegid 108 177,
        getgroups 115 158, getresuid 118 148, getresgid 120 150, uname 63 160, sysinfo 99 179,
        getrusage 98 165, times 100 153, getrlimit 97 163, setrlimit 160 164, prlimit64 302 261,
        getrandom 318 278""",
}
"""Why a worker makes these calls; seven of them depend on their arguments as well (`seccomp.rules`)."""
_CUDA = {
    "is a GPU's driver: local sockets, pinned and shared memory, its cache, its threads": """
        socket 41 198, bind 49 200, listen 50 201, accept 43 202, accept4 288 242, sendmsg 46 211,
        sendmmsg 307 269, recvmmsg 299 243, setsockopt 54 208, memfd_create 319 279, mlock 149 228,
        munlock 150 229, mlock2 325 284, get_mempolicy 239 236, set_mempolicy 238 237, mbind 237 235,
        eventfd 284 -, flock 73 32, capget 125 90, sched_getparam 143 121, sched_getscheduler 145 120,
        sched_get_priority_max 146 125, sched_get_priority_min 147 126, getpriority 140 141,
        timer_create 222 107, timer_settime 223 110, timer_delete 226 111""",
}
_REFUSED = {
    "starts no processes": """
        fork 57 -, vfork 58 -, execve 59 221, execveat 322 281, setsid 112 157, setpgid 109 154, wait4 61 260,
        waitid 247 95, pidfd_open 434 434""",
    "opens no connections": """
        socket 41 198, connect 42 203, bind 49 200, listen 50 201, accept 43 202, accept4 288 242,
        sendmsg 46 211, sendmmsg 307 269, setsockopt 54 208""",
    "leaves others alone, and what it shares with them": """
        tkill 200 130, ptrace 101 117, setpriority 141 140, flock 73 32, inotify_init 253 -,
        inotify_init1 294 26, memfd_create 319 279, sched_setparam 142 118, sched_setscheduler 144 119""",
    "leaves nothing but plain files, as they are when they are made": """
        link 86 -, linkat 265 37, symlink 88 -, symlinkat 266 36, mknod 133 -, mknodat 259 33, truncate 76 45,
        chown 92 -, fchown 93 55, lchown 94 -, fchownat 260 54, setxattr 188 5, lsetxattr 189 6,
        fsetxattr 190 7, removexattr 197 14, lremovexattr 198 15, fremovexattr 199 16""",
    "becomes nobody else": """
        setuid 105 146, setgid 106 144, setreuid 113 145, setregid 114 143, setresuid 117 147,
        setresgid 119 149, setgroups 116 159, chroot 161 51, unshare 272 97, setns 308 268""",
}
"""What is refused by EPERM, which Python makes a PermissionError; the C library knows no other way to do it."""
_IGNORED = """
    chmod 90 -, fchmod 91 52, fchmodat 268 53, fchmodat2 452 452, utime 132 -, utimes 235 -, utimensat 280 88,
    futimesat 261 -, listxattr 194 11, llistxattr 195 12, flistxattr 196 13"""
"""Modes, times and attributes of files: nothing is done and 0 is returned, since whatever copies a file sets them."""
_OURS = """
    seccomp 317 277, capset 126 91, open_tree 428 428, move_mount 429 429, mount_setattr 442 442, pivot_root 155 41"""
# fmt: on


def _numbers(text: str) -> dict[str, tuple[int | None, int | None]]:
    entries = (entry.split() for entry in text.split(","))
    return {name: (_number(x86), _number(arm)) for name, x86, arm in entries}


def _number(text: str) -> int | None:
    return None if text == "-" else int(text)


NUMBERS = _numbers(",".join((*_ALLOWED.values(), *_CUDA.values(), *_REFUSED.values(), _IGNORED, _OURS)))
"""Name to its number on x86_64 and aarch64; None where the architecture has no such call."""


@functools.cache
def reasons(cuda: bool) -> dict[str, str]:
    """Return what a worker may call, with why; the CUDA driver calls more."""
    groups = {**_ALLOWED, **(_CUDA if cuda else {})}
    return {name: reason for reason, text in groups.items() for name in _numbers(text)}


@functools.cache
def refusals() -> dict[str, str]:
    """Return what is refused with EPERM, with what a worker does not do."""
    return {name: reason for reason, text in _REFUSED.items() for name in _numbers(text)}


@functools.cache
def ignored() -> frozenset[str]:
    """Return what a worker may call to no effect."""
    return frozenset(_numbers(_IGNORED))


def architecture() -> str | None:
    """Name the architecture this process speaks, or None when we have no table for it."""
    if sys.platform != "linux" or sys.maxsize < 2**32:
        return None
    machine = os.uname().machine
    return machine if machine in ARCHITECTURES else None


def call_number(name: str, machine: str) -> int | None:
    """Look a system call up; None when `machine` does not have it."""
    return NUMBERS[name][ARCHITECTURES.index(machine)]
