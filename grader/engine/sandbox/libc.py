"""The few C library calls that Python does not offer: those that return 0 or an errno, and those that raise OSError."""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import sys

from grader.engine.sandbox.system_calls import architecture, call_number

PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_NOSUID = 2
MS_NODEV = 4
MS_REC = 16384
MS_PRIVATE = 1 << 18

MOUNT_READ_ONLY = 1
MOUNT_NOSUID = 2
MOUNT_NODEV = 4
_MOUNT_IDMAP = 0x00100000
_OPEN_TREE_CLONE = 1
_AT_FDCWD = -100
_AT_RECURSIVE = 0x8000
_AT_EMPTY_PATH = 0x1000
_MOVE_FROM_DESCRIPTOR = 4

_CAPABILITY_VERSION_3 = 0x20080522


@functools.cache
def _library() -> ctypes.CDLL:
    # With `use_errno`, ctypes keeps errno at the moment of the call: Python itself makes others before we could
    # read it.
    library = ctypes.CDLL(None, use_errno=True)
    # By default ctypes takes the result for an int, which cuts a long one: -1 would still arrive, a large
    # descriptor or count would not.
    library.syscall.restype = ctypes.c_long
    return library


def prctl(option: int, value: int = 0) -> int:
    """Call prctl(2) with unused arguments zero; return 0 or the errno."""
    if sys.platform != "linux":
        return errno.ENOSYS
    # All five as words: prctl(2) is variadic, the kernel refuses some options with EINVAL if an unused argument
    # is not 0, and a Python int would be passed as an int.
    zero = ctypes.c_ulong(0)
    result = _library().prctl(option, ctypes.c_ulong(value), zero, zero, zero)
    return 0 if result == 0 else ctypes.get_errno()


def unshare(flags: int) -> int:
    """Leave the namespaces in `flags`; return 0 or the errno."""
    if sys.platform != "linux":
        return errno.ENOSYS
    return 0 if _library().unshare(flags) == 0 else ctypes.get_errno()


def system_call(name: str, *arguments: object) -> int:
    """Make a system call by name; return 0 or the errno (a positive result counts as EINVAL)."""
    machine = architecture()
    code = call_number(name, machine) if machine else None
    if code is None:
        return errno.ENOSYS
    result = int(_library().syscall(ctypes.c_long(code), *arguments))
    if result == 0:
        return 0
    # A number where none was expected means that this kernel has another call under it.
    return ctypes.get_errno() if result < 0 else errno.EINVAL


def drop_capabilities() -> int:
    """Give up every capability of this thread, root's included; return 0 or the errno."""
    # First the ambient ones, which would be permitted again at the next exec. Its failure does not matter:
    # before Linux 4.3 there are none.
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    # Two sets of three words (effective, permitted, inheritable): version 3 has 64 capabilities.
    nothing = (ctypes.c_uint32 * 6)()
    return system_call("capset", ctypes.byref(header), ctypes.byref(nothing))


def mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    """Call mount(2).

    Raises:
        OSError: it was refused.
    """
    # None is a null pointer, which mount(2) takes for what a change of flags has no use for.
    names = [None if text is None else os.fsencode(text) for text in (source, target, kind)]
    data = options.encode() or None
    _check(_library().mount(*names, ctypes.c_ulong(flags), data), f"mount {target}")


def copy_tree(source: str, attributes: int = 0, owners: int | None = None) -> int:
    """Return the descriptor of a mount of the tree `source`, with everything mounted below it.

    `attributes` (MOUNT_*) are added to all of it; `owners` is the descriptor of a user namespace through whose map
    the owners of files are seen.

    Raises:
        OSError: it was refused, or this kernel is older than 5.12.
    """
    # A copy that is attached nowhere yet: its attributes are changed before anybody can reach it.
    flags = ctypes.c_uint(_OPEN_TREE_CLONE | os.O_CLOEXEC | _AT_RECURSIVE)
    # The newer calls (5.2, 5.12), which say what is refused; mount(2) with MS_BIND forgets the flags that come
    # with it.
    tree = _descriptor("open_tree", ctypes.c_int(_AT_FDCWD), os.fsencode(source), flags)
    # At once with the attributes: a map can be set once, and only while nobody can reach the mount.
    wanted = attributes | (_MOUNT_IDMAP if owners is not None else 0)
    try:
        if wanted:
            _set_mount(tree, b"", _AT_EMPTY_PATH | _AT_RECURSIVE, wanted, owners or 0)
    except OSError:
        os.close(tree)
        raise
    return tree


def attach(tree: int, target: str) -> None:
    """Mount what `copy_tree` returned.

    Raises:
        OSError: it was refused.
    """
    here, flags = ctypes.c_int(_AT_FDCWD), ctypes.c_uint(_MOVE_FROM_DESCRIPTOR)
    _descriptor("move_mount", ctypes.c_int(tree), b"", here, os.fsencode(target), flags)


def bind(source: str, target: str, attributes: int = 0) -> None:
    """Show the tree `source` at `target` too: `copy_tree`, then `attach`.

    Raises:
        OSError: it was refused.
    """
    tree = copy_tree(source, attributes)
    try:
        attach(tree, target)
    finally:
        os.close(tree)


def make_read_only(path: str) -> None:
    """Make the mount at `path` read-only, without those below it.

    Raises:
        OSError: it was refused.
    """
    _set_mount(_AT_FDCWD, os.fsencode(path), 0, MOUNT_READ_ONLY, 0)


def _set_mount(folder: int, path: bytes, flags: int, attributes: int, owners: int) -> None:
    # struct mount_attr: set, clear, propagation, the descriptor of a user namespace.
    wanted = (ctypes.c_uint64 * 4)(attributes, 0, 0, owners)
    size = ctypes.c_size_t(ctypes.sizeof(wanted))
    _descriptor("mount_setattr", ctypes.c_int(folder), path, ctypes.c_uint(flags), ctypes.byref(wanted), size)


def move_root(folder: str) -> None:
    """Make `folder`, where something is mounted, the root of this mount namespace.

    Raises:
        OSError: it was refused.
    """
    os.chdir(folder)
    # The only way out of the old root for good: a process with a descriptor of a folder outside leaves a
    # chroot(2) again.
    _descriptor("pivot_root", b".", b".")
    # What was the root lies on top of it then, where no path leads (`pivot_root(".", ".")`, as pivot_root(2)
    # tells): a process without powers cannot get there. Unmounting it would wait for every processor of the
    # machine.
    os.chdir("/")


def _descriptor(name: str, *arguments: object) -> int:
    machine = architecture()
    code = call_number(name, machine) if machine else None
    if code is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), name)
    result = int(_library().syscall(ctypes.c_long(code), *arguments))
    # A descriptor is 0 or more; what is below says that errno has been set.
    _check(min(result, 0), name)
    return result


def _check(result: int, what: str) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), what)
