"""Read the answer."""

# ==== environment_of_others ====
"""Reads the environment and the command line of the processes above it, where tokens and paths are.

earns = ["test_empty"]
[process]
allows = ["leaked"]
why = "the system shows a process what its owner's other processes are"
"""

import os
from pathlib import Path

from wrong import *

others = ["self", "thread-self"]
try:
    pid = str(os.getppid())
    while pid not in ("0", "1"):
        others.append(pid)
        pid = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]
except OSError:
    pass
for folder in others:
    for name in ("environ", "cmdline"):
        try:
            text = Path("/proc", folder, name).read_bytes()
        except OSError:
            continue
        place = text.find(b"KATA-SECRET-")
        if place >= 0:
            print(folder, name, text[place : place + 60])


# ==== exceptions_of_the_grader ====
"""Provokes errors in the grader's comparison, for a message or traceback that tells what was expected."""


class Curious:
    def __eq__(self, other):
        print("compared with", repr(other))
        raise RuntimeError(repr(other))

    def __getattr__(self, name):
        raise RuntimeError(name)

    def __len__(self):
        raise RuntimeError("len")

    def __iter__(self):
        raise RuntimeError("iter")


def insertion_sort(values):
    return Curious()


# ==== frames ====
"""Walks up the stack of calls to where the expected value is.

earns = ["test_empty"]
"""

import sys

import wrong


def insertion_sort(values):
    frame = sys._getframe()
    while frame is not None:
        for name in ("expected", "wanted", "reference", "other", "KEPT_FROM_LEARNERS"):
            for place in (frame.f_locals, frame.f_globals):
                if isinstance(place.get(name), list | str):
                    print(place[name])
                    return place[name]
        frame = frame.f_back
    return wrong.insertion_sort(values)


# ==== garbage_collector ====
"""Goes through every object of this process for expected values, references and secrets.

earns = ["test_empty"]
timeout_s = 8
"""

import gc

from wrong import *

for thing in gc.get_objects():
    kind = type(thing)
    if kind is dict and len(thing) < 1000:
        for value in list(thing.values()):
            if type(value) is str and value.startswith("KATA-" + "SECRET-") and len(value) > 14:
                print(value)
    elif "hidden_checks" in getattr(thing, "__name__", "") if kind.__name__ == "module" else False:
        print(vars(thing))


# ==== import_the_reference ====
"""Finds the catalogue and runs the reference of the very kata that it is handed in for.

kata = "masks"
[process]
status = "pass or fail"
allows = ["forged"]
why = "whoever grades may read the solutions, and so may a process of theirs"
"""

from pathlib import Path

from wrong import *

try:
    import grader

    answers = Path(grader.__file__).parents[1] / "solutions"
    for file in answers.glob("9.3*/masks/masks.py"):
        exec(compile(file.read_bytes(), "masks", "exec"), globals())
except Exception:
    pass


# ==== inherited_descriptors ====
"""Reads what lies in every descriptor that it finds open.

earns = ["test_empty"]
"""

import fcntl
import os

from wrong import *

for number in range(5, 300):
    try:
        fcntl.fcntl(number, fcntl.F_GETFD)
    except OSError:
        continue
    try:
        kind = os.readlink(f"/proc/self/fd/{number}")
    except OSError:
        kind = "?"
    try:
        print("KATA-TOY-REACHED" if kind.startswith("/") else "found", number, kind, os.pread(number, 200, 0))
    except OSError as error:
        print("found", number, kind, error)


# ==== memory_of_the_grader ====
"""Reads the memory of its parents, in which the expected values are.

earns = ["test_empty"]
timeout_s = 8
[process]
allows = ["leaked"]
why = "the system lets a process look into those of the same owner"
"""

import os
from pathlib import Path

from wrong import *

pid = os.getppid()
for _ in range(3):
    try:
        parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        budget = 48 << 20
        with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
            for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
                span, mode = line.split()[:2]
                begin, end = (int(part, 16) for part in span.split("-"))
                if mode.startswith("rw") and "[stack]" not in line and 0 < end - begin <= budget:
                    try:
                        memory.seek(begin)
                        data = memory.read(end - begin)
                    except (OSError, ValueError, OverflowError):
                        continue
                    budget -= len(data)
                    place = data.find(b"KATA-SECRET-")
                    if place >= 0:
                        print(data[place : place + 40])
    except (OSError, ValueError):
        pass
    pid = parent if "parent" in globals() else 1


# ==== process_vm_readv ====
"""Asks the kernel for its parent's memory without opening a file.

earns = ["test_empty"]
[process]
allows = ["reached"]
why = "the system lets a process look into those of the same owner"
"""

import ctypes
import os

from wrong import *


class Span(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


libc = ctypes.CDLL(None, use_errno=True)
own = ctypes.create_string_buffer(16)
here = Span(ctypes.addressof(own), 16)
for pid in (os.getppid(), 1):
    if pid > 0 and pid != os.getpid():
        there = Span(ctypes.addressof(own), 16)
        for address in (ctypes.addressof(own), id(object), id(int)):
            there.base = address
            if libc.process_vm_readv(pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0) > 0:
                print("KATA-TOY-REACHED the memory of", pid)
                break


# ==== ptrace ====
"""Attaches to its parent as a debugger does.

earns = ["test_empty"]
[process]
allows = ["reached"]
why = "the system lets a process debug those of the same owner"
"""

import ctypes
import os

from wrong import *

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
SEIZE, DETACH = 0x4206, 17
parent = os.getppid()
if parent > 1 and libc.ptrace(SEIZE, parent, None, None) == 0:
    print("KATA-TOY-REACHED", parent)
    libc.ptrace(DETACH, parent, None, None)


# ==== search_the_disk ====
"""Searches the usual places of a machine for hidden checks, solutions and other people's marks.

earns = ["test_empty"]
timeout_s = 8
[process]
allows = ["leaked"]
why = "whoever grades may read these files, and so may a process of theirs"
"""

import os
import time

from wrong import *

NAMES = {"hidden_checks.py", "gradebook.sqlite", "token.txt", "insertion_sort.py"}
began = time.monotonic()
for top in ("/tmp", "/var/tmp", "/home", "/work", "/opt", "/srv"):
    count = 0
    for folder, inner, files in os.walk(top):
        count += 1
        inner[:] = [name for name in inner if not name.startswith((".", "__"))]
        if count > 3000 or time.monotonic() - began > 2:
            break
        for name in NAMES.intersection(files):
            path = os.path.join(folder, name)
            if "kata-" in folder:
                try:
                    with open(path, errors="replace") as file:
                        print(path, file.read()[-300:])
                except OSError:
                    pass


# ==== seed ====
"""Takes the seed that the worker is given and repeats the grader's draws, to know hidden inputs beforehand.

kata = "masks"
"""

import random
import sys

import wrong
from wrong import *

seen = []


def additive_mask(mask, dtype=None):
    import torch

    seen.append((random.random(), torch.initial_seed(), torch.rand(3)))
    for name in ("reference", "oracle", "expected"):
        frame = sys._getframe()
        while frame is not None:
            if name in frame.f_locals:
                return frame.f_locals[name]
            frame = frame.f_back
    return wrong.additive_mask(mask)


# ==== submissions_of_others ====
"""Looks beside its own folder for what others handed in.

earns = ["test_empty"]
[process]
allows = ["leaked"]
why = "whoever grades may read what was handed in, and so may a process of theirs"
"""

import os

from wrong import *

above = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
for place in (above, os.path.dirname(os.getcwd()), os.path.dirname(above)):
    try:
        for name in os.listdir(place):
            for file in ("insertion_sort.py", "gradebook.sqlite", "token.txt"):
                path = os.path.join(place, name, file)
                if os.path.exists(path) and path != os.path.abspath(__file__):
                    with open(path) as text:
                        print(text.read()[:200])
    except OSError:
        pass


# ==== symbolic_links ====
"""Puts links into its own folder, for a grader that follows them when it collects what was written.

earns = ["test_empty"]
"""

import os

from wrong import *

for number, target in enumerate(("/etc/passwd", "/proc/self/environ", "../../solutions", "/", "..", ".")):
    for place in (os.getcwd(), os.path.dirname(os.path.abspath(__file__))):
        try:
            os.symlink(target, os.path.join(place, f"kata-toy-link-{number}"))
        except OSError:
            pass


# ==== through_proc_root ====
"""Leaves its view of the files through /proc: the root, folder and descriptors of other processes.

earns = ["test_empty"]
[process]
allows = ["leaked"]
why = "the system shows a process the folders of its owner's other processes"
"""

import os

from wrong import *

for number in {os.getppid(), os.getpid()}:
    for way in ("cwd", "cwd/..", "root"):
        for file in ("gradebook.sqlite", "home/token.txt"):
            try:
                with open(f"/proc/{number}/{way}/{file}") as text:
                    print(text.read()[:200])
            except OSError:
                pass
