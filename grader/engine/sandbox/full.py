"""The sandbox a worker lives in at level *full*: files, shared memory and a user of its own, and nothing else.

The zygote makes what all its workers share: a pid namespace, a network without neighbours, mounts of Python and the
machine's libraries. Each worker adds its own mount, IPC and host name namespaces, which end with it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.engine.sandbox import landlock, libc, namespaces, seccomp
from grader.engine.sandbox.limits import ResourceLimits
from grader.engine.sandbox.namespaces import in_child
from grader.engine.sandbox.read_paths import (
    View,
    below,
    links_on_the_way,
    outermost,
    python_links,
    python_view,
)

_ROOT = "root"
_NOTHING = "nothing"
"""An empty folder, shown where something is hidden."""
_FIRST_USER = 0x70000000
"""Users for workers: from here to 0x7fffffff no system hands out any."""
_SLOTS = 64
_USER_THREADS = 256
"""Threads that a worker with a user of its own may have at a time."""

_MAPS = 512
"""Maps of owners kept open: a class has one owner, or one for each learner."""

_SPARE = 100
"""Low descriptors have a meaning in a worker."""
_OWN = libc.CLONE_NEWNS | libc.CLONE_NEWIPC | libc.CLONE_NEWUTS
"""What no two workers share, not even one after the other."""
_RDONLY = libc.MOUNT_READ_ONLY | libc.MOUNT_NOSUID
_DEVICES = ("/dev/", "/sys/")


@dataclass(frozen=True)
class BaseMounts:
    """Prepared mounts that every sandbox of one zygote starts from: Python, torch, the machine's libraries."""

    anchor: Path
    places: tuple[Path, ...]
    links: tuple[tuple[Path, str], ...]
    first_user: int | None
    """The first of the users that workers may become; None where they stay who they are."""
    private: frozenset[Path] = frozenset()
    """Places that only their owner may read: each worker sees them as its own."""
    hidden: tuple[Path, ...] = ()
    """Folders below the places which look empty."""
    _maps: dict[tuple[int, int, int], int] = field(default_factory=dict)

    @property
    def root(self) -> str:
        """The folder at which a worker puts its sandbox together."""
        return str(self.anchor / _ROOT)

    def owners_map(self, path: Path, user: int) -> int:
        """Return the descriptor of a user namespace in which the owner of `path` is `user`.

        Raises:
            OSError: it was refused.
        """
        status = path.stat()
        key = (status.st_uid, status.st_gid, user)
        if key not in self._maps:
            if len(self._maps) >= _MAPS:
                # The oldest makes room: each holds a descriptor.
                os.close(self._maps.pop(next(iter(self._maps))))
            self._maps[key] = _make_owners_map(key[:2], user)
        return self._maps[key]


def prepare(anchor: Path, view: View | None = None) -> BaseMounts | None:
    """Make ready what sandboxes share, in the empty folder `anchor`; None where the system refuses.

    For the zygote, as the first process of its pid namespace and with powers over its mounts. The mounts go with it.
    """
    view = python_view() if view is None else view
    places = view.places
    os.umask(0o022)  # this process and its workers make folders on the way to what a worker's user reads
    try:
        # A mount namespace of our own before the first mount: whatever is shown or hidden below ends with its
        # last process.
        _check(libc.unshare(libc.CLONE_NEWNS))
        # By default mounts propagate to the namespace they were copied from: ours would turn up in the
        # machine's.
        libc.mount("none", "/", None, libc.MS_REC | libc.MS_PRIVATE)
        # Small: it holds empty files and folders, over which places are mounted. A tmpfs, since the folder
        # itself may be on a file system that goes on after us.
        libc.mount("kata", str(anchor), "tmpfs", libc.MS_NOSUID | libc.MS_NODEV, "size=1m,mode=0755")
        (anchor / _ROOT).mkdir()
        (anchor / _NOTHING).mkdir()
        for index, place in enumerate(places):
            point = anchor / str(index)
            _point(point, place)
            if place.is_file() and place.stat().st_size:
                # /etc/ld.so.cache: an update of the machine puts another in its place, and a mount of what is
                # unlinked can be attached nowhere. Files of /proc have no size: those are shown as they are.
                shutil.copy(place, point)
            else:
                libc.bind(str(place), str(point), _attributes(place))
            for path in view.hidden:
                if path.is_relative_to(place):
                    libc.bind(str(anchor / _NOTHING), str(point / path.relative_to(place)), _RDONLY)
        # Here, since workers inherit this process's memory: each would else take longer for it than for its
        # whole confinement.
        seccomp.assemble(os.uname().machine)  # it remembers
        private = frozenset(place for place in places if not _is_public(place))
        return BaseMounts(anchor, places, python_links(), _first_user(), private, view.hidden)
    except (OSError, KeyError):
        return None


def renewed(shared: BaseMounts) -> BaseMounts:
    """Return what was prepared, for a process that was forked off the one that did: its workers are other users."""
    # Not the descriptors in `_maps`: those namespaces map owners to the users of the process that this was
    # forked off.
    first = None if shared.first_user is None else _first_user()
    return replace(shared, first_user=first, _maps={})


def probe_sandbox(folder: Path) -> bool:
    """Try in children, which are thrown away, whether workers of this process could live in sandboxes.

    `folder` is empty and in the temporary folder, where submissions will be as well: its file system has to map owners.
    """
    try:
        # Two forks: only the children of the process that makes a pid namespace live in it, and /proc and
        # mounts are tried as its first one.
        return bool(in_child(lambda: libc.unshare(libc.CLONE_NEWPID) == 0 and in_child(lambda: _act(folder))))
    except OSError:
        return False


def _act(folder: Path) -> int:
    anchor, given = folder / "anchor", folder / "given"
    anchor.mkdir()
    # As a learner's folder is: only its owner may enter, so that access is a proof that the owner was mapped.
    given.mkdir(mode=0o700)
    shared = prepare(anchor)
    if shared is None:
        return 0
    box = open_sandbox(shared, 0, (given,))

    def live() -> int:
        box.enter((given,), Path("/scratch"), ResourceLimits(), cuda=False)
        box.become_user()
        # What a worker cannot read would only be missed when a submission imports it.
        return all(os.access(path, os.R_OK) for path in (given, *shared.places))

    return in_child(live)


@dataclass(frozen=True)
class Sandbox:
    """One worker's sandbox: planned by the zygote with `open_sandbox`, made by the worker with `enter`."""

    shared: BaseMounts
    user: int | None
    """Who the worker becomes in it; None where it stays who it is."""
    owners: dict[Path, int]
    """For what is given to it, the descriptor of a map from the owner to the user."""

    def enter(self, read: Iterable[Path], scratch: Path, limits: ResourceLimits, *, cuda: bool) -> None:
        """Leave the machine's files for good: from here on there are the shared places, `read`, and an empty `scratch`.

        For the worker; `become_user` comes after it.

        Raises:
            OSError: something was refused, and the worker is not shut in.
        """
        try:
            self._enter(tuple(path for path in read if path not in self.shared.places), scratch, limits, cuda)
        finally:
            # A set: several folders may have one owner, and so one descriptor.
            for number in set(self.owners.values()):
                os.close(number)

    def _enter(self, read: Sequence[Path], scratch: Path, limits: ResourceLimits, cuda: bool) -> None:
        given = outermost(path for path in read if path.exists())
        if any(path == Path("/") for path in given):
            raise PermissionError("the whole machine cannot be given to a worker")
        # Left until now: from here on the machine's mounts are a copy, which nobody else sees change.
        _check(libc.unshare(_OWN))
        root = self.shared.root
        # What a worker finds at `/` is made anew for each, of points alone: a bound on inodes, since links and
        # points take no bytes.
        libc.mount("kata", root, "tmpfs", libc.MS_NOSUID | libc.MS_NODEV, "size=1m,nr_inodes=2048,mode=0755")
        self._show(given, cuda)
        for link, target in (*self.shared.links, *links_on_the_way(read)):
            with contextlib.suppress(OSError):  # it is shown already, as part of something larger
                _link(Path(root + str(link)), target)
        self._mount_scratch(Path(root + str(scratch)), limits)
        # Last, since all of the above had to be made in it.
        libc.make_read_only(root)
        libc.move_root(root)
        # The folder it stood in is of the old root: a relative path would still lead there.
        os.chdir(scratch)

    def become_user(self) -> None:
        """Become the slot's own user, if there is one; the worker's powers go with the change."""
        if self.user is not None:
            # Groups first: who is no longer root cannot give them up.
            os.setgroups([])
            os.setresgid(self.user, self.user, self.user)
            os.setresuid(self.user, self.user, self.user)
            libc.prctl(libc.PR_SET_DUMPABLE, 1)  # else its files in /proc, which CUDA writes to, stay root's

    def threads(self) -> int | None:
        """Say how many threads its user may have, None without a user of its own."""
        return None if self.user is None else _USER_THREADS

    def _show(self, given: Sequence[Path], cuda: bool) -> None:
        shared, root = self.shared, self.shared.root
        wanted = {place: shared.anchor / str(index) for index, place in enumerate(shared.places)}
        if cuda:
            wanted.update({path: path for path in landlock.cuda_paths()})
        ours = {path: path for path in given if not below(path, shared.places) or below(path, shared.hidden)}
        if self.user is not None:
            # A Python of mode 0700, such as pyenv's below /root, is mapped too: no worker stays root to read it.
            ours |= {place: wanted[place] for place in shared.private}
        own = self._copies(ours)
        # A reference is given what is next to it; the way there is made anew, and shows nothing else.
        opened = [
            path
            for path in shared.hidden
            if any(given != path and given.is_relative_to(path) for given in own)
        ]
        # Outer places first: what is shown below them lies on top.
        for path in sorted({*wanted, *opened, *own}, key=lambda path: len(path.parts)):
            target = Path(root + str(path))
            _point(target, path)
            if path in opened:
                libc.mount("kata", str(target), "tmpfs", libc.MS_NOSUID | libc.MS_NODEV, "size=64k,mode=0755")
            elif path in own:
                # A copy of the mount, and not a bind as for what all share: only a mount that is attached
                # nowhere takes a map of owners.
                libc.attach(own[path], str(target))
            else:
                libc.bind(str(wanted[path]), str(target), _attributes(path))
        # A descriptor of a mount would lead back out of the sandbox.
        for tree in own.values():
            os.close(tree)
        for path in opened:
            libc.make_read_only(root + str(path))
        if cuda:
            point = Path(root, "proc")
            point.mkdir(exist_ok=True)
            # The pid namespace is the zygote's: a worker finds no process there that it may not trace, none but itself.
            libc.mount("proc", str(point), "proc", libc.MS_NOSUID | libc.MS_NODEV, "hidepid=2")

    def _copies(self, sources: Mapping[Path, Path]) -> dict[Path, int]:
        """Open mounts of what is this worker's alone; its owner over there is the worker's user in here."""
        # Without devices, for which nothing that is given has any use.
        attributes = _RDONLY | libc.MOUNT_NODEV
        try:
            return {
                path: libc.copy_tree(
                    str(source), attributes, None if self.user is None else self.owners[path]
                )
                for path, source in sources.items()
            }
        except (OSError, KeyError) as error:
            # Not every file system can (ext4 and XFS since Linux 5.12, tmpfs since 6.3, overlay never). Without the map
            # the worker would have to stay root, which is not what was promised.
            places = ", ".join(map(str, sources))
            raise PermissionError(f"owners of files cannot be mapped below {places} ({error})") from error

    def _mount_scratch(self, point: Path, limits: ResourceLimits) -> None:
        point.mkdir(parents=True, exist_ok=True)
        user = os.geteuid() if self.user is None else self.user
        group = os.getegid() if self.user is None else self.user
        options = (
            f"size={limits.scratch_bytes},nr_inodes={limits.scratch_files},mode=0700,uid={user},gid={group}"
        )
        libc.mount("kata", str(point), "tmpfs", libc.MS_NOSUID | libc.MS_NODEV, options)


def open_sandbox(shared: BaseMounts, slot: int, read: Iterable[Path]) -> Sandbox:
    """Plan a worker's sandbox before it is forked: who it becomes, and whose files are seen as its own.

    `read` is what will be given to `Sandbox.enter`: its owner is to be the worker's user in there. Where that cannot
    be, the worker stays who it is. `slot` is a number that no living worker of this zygote has.

    Raises:
        OSError: it was refused.
    """
    # By slot, so that no two living workers of a zygote are one user: they could signal or trace each other.
    user = None if shared.first_user is None else shared.first_user + slot % _SLOTS
    given = () if user is None else (*outermost(path for path in read if path.exists()), *shared.private)
    return Sandbox(shared, user, {path: shared.owners_map(path, user or 0) for path in given})


def visible_pid(descriptor: int) -> int:
    """Return the number that a process has in this process's own /proc, given its pidfd; -1 when it is gone.

    Raises:
        OSError: /proc is not there.
    """
    # The only place that says it: the number which clone(2) returned is that of the caller's pid namespace.
    for line in Path(f"/proc/self/fdinfo/{descriptor}").read_text().splitlines():
        if line.startswith("Pid:"):
            return int(line.split()[1])
    return -1


def _make_owners_map(owner: tuple[int, int], user: int) -> int:
    """Return the descriptor of a user namespace in which `owner`, a user and a group, is `user`."""
    # A namespace is made by a process that enters it, and its map is written by one that has powers outside.
    with namespaces.waiting_in(libc.CLONE_NEWUSER) as descriptor:
        folder = Path("/proc", str(visible_pid(descriptor)))
        (folder / "uid_map").write_text(f"{owner[0]} {user} 1")
        (folder / "gid_map").write_text(f"{owner[1]} {user} 1")
        opened = os.open(folder / "ns/user", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return fcntl.fcntl(opened, fcntl.F_DUPFD_CLOEXEC, _SPARE)
    finally:
        os.close(opened)


def _first_user() -> int | None:
    """Choose users for the workers of this zygote: only root can, where the system has that many."""
    if os.geteuid() != 0:
        return None
    lines = [line.split() for line in Path("/proc/self/uid_map").read_text().splitlines()]
    if not any(
        int(first) <= _FIRST_USER and int(first) + int(count) > 0x7FFFFFFF for first, _, count in lines
    ):
        return None
    # /proc still is the machine's: its numbers are unique there, and a zygote lives as long as its workers.
    # Not `os.getpid()`, which is 1 in every pid namespace: all zygotes of a machine would choose the same
    # users.
    own = int(os.readlink("/proc/self"))
    return _FIRST_USER + own % (1 << 22) * _SLOTS


def _is_public(place: Path) -> bool:
    """Whether any user may read a file, or a folder and what is in it."""
    # Of a folder the right to enter it as well: a list of names alone opens no file.
    wanted = 0o005 if place.is_dir() else 0o004
    return place.stat().st_mode & wanted == wanted


def _attributes(path: Path) -> int:
    # With devices where they belong: without, /dev/null could be seen and not opened.
    return _RDONLY | (0 if str(path).startswith(_DEVICES) else libc.MOUNT_NODEV)


def _point(point: Path, source: Path) -> None:
    """Make something that `source` can be mounted on."""
    if point.exists():
        return
    if source.is_dir():
        point.mkdir(parents=True)
    else:
        point.parent.mkdir(parents=True, exist_ok=True)
        point.touch()


def _link(link: Path, target: str) -> None:
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(target)


def _check(code: int) -> None:
    if code != 0:
        raise OSError(code, os.strerror(code))
