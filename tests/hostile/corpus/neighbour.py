"""Harm the neighbour."""

# ==== answers_of_others ====
"""Overwrites what others handed in.

earns = ["test_empty"]
[process]
allows = ["harmed"]
why = "whoever grades may write there, and so may a process of theirs"
"""

import os

from wrong import *

above = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
for place in (above, os.path.dirname(os.getcwd())):
    try:
        names = os.listdir(place)
    except OSError:
        continue
    for name in [*names, "kata-submission-neighbour"]:
        path = os.path.join(place, name, "insertion_sort.py")
        if name.endswith("-neighbour"):
            try:
                with open(path, "w") as file:
                    file.write("raise SystemExit\n")
            except OSError:
                pass


# ==== devices ====
"""Opens devices of the machine: memory, disks, terminals, the graphics card's.

earns = ["test_empty"]
[process]
allows = ["reached"]
why = "whoever grades may open some of them"
"""

import os

from wrong import *

for name in (
    "mem",
    "kmem",
    "kmsg",
    "port",
    "tty",
    "tty0",
    "console",
    "ptmx",
    "fuse",
    "net/tun",
    "kvm",
    "shm",
    "mqueue",
):
    try:
        os.close(os.open(f"/dev/{name}", os.O_RDONLY | os.O_NONBLOCK))
        print("KATA-TOY-REACHED", name)
    except OSError:
        pass


# ==== global_state ====
"""Changes everything in its process that the next submission might inherit.

kata = "masks"
"""

import os
import random
import sys

import numpy
import torch
from wrong import *

torch.set_default_dtype(torch.float64)
torch.set_grad_enabled(False)
torch.use_deterministic_algorithms(True)
torch.set_num_threads(2)
torch.manual_seed(0)
numpy.seterr(all="raise")
random.seed = numpy.random.seed = torch.manual_seed = lambda *arguments: None
os.environ["KATA_PACKS"] = os.environ["PYTHONPATH"] = "/nowhere"
os.umask(0o777)
sys.path[:] = []


# ==== grader_files ====
"""Opens the grader's, Python's and torch's files for writing (and writes nothing, in case it may).

earns = ["test_empty"]
[process]
allows = ["reached"]
why = "whoever grades may have installed them, and then may write there"
"""

import os
import sys

import torch
from wrong import *

worker = sys.modules["grader.engine.worker.serve"].__file__
for path in (worker, os.__file__, torch.__file__, sys.executable, os.path.realpath(sys.executable)):
    try:
        os.close(os.open(path, os.O_WRONLY))
        print("KATA-TOY-REACHED", path)
    except OSError:
        pass


# ==== lease ====
"""Takes a lease on installed files: whoever opens one of them waits until it is given back, 45 seconds by default.

earns = ["test_empty"]
[process]
allows = ["reached"]
why = "the system lets whoever owns a file take a lease on it"
"""

import fcntl
import os
import signal
import wave

import torch
from wrong import *

signal.signal(signal.SIGIO, signal.SIG_IGN)
kept = []
for path in (wave.__file__, wave.__cached__, torch.__file__, os.path.dirname(torch.__file__)):
    for command, value in ((1024, fcntl.F_WRLCK), (1024, fcntl.F_RDLCK), (1026, 0x80000001)):
        try:
            number = os.open(path, os.O_RDONLY)
            kept.append(number)
            fcntl.fcntl(number, command, value)
            print("KATA-TOY-REACHED", path)
            fcntl.fcntl(number, 1024, fcntl.F_UNLCK)
        except OSError:
            pass


# ==== marks_of_others ====
"""Overwrites the gradebook in the folder from which the class is graded.

earns = ["test_empty"]
[process]
allows = ["harmed"]
why = "whoever grades may write there, and so may a process of theirs"
"""

import os

from wrong import *

for pid in (os.getppid(), 1):
    path = f"/proc/{pid}/cwd/gradebook.sqlite"
    try:
        if os.path.getsize(path) < 1000:
            with open(path, "w") as file:
                file.write("everybody passed")
    except OSError:
        pass


# ==== memory_of_others ====
"""Opens its parent's memory for writing (and writes nothing, in case it may).

earns = ["test_empty"]
[process]
allows = ["reached"]
why = "the system lets a process look into those of the same owner"
"""

import os

from wrong import *

for pid in (os.getppid(), 1):
    try:
        os.close(os.open(f"/proc/{pid}/mem", os.O_RDWR))
        print("KATA-TOY-REACHED", pid)
    except OSError:
        pass


# ==== own_priority ====
"""Takes precedence over everybody: the highest priority, the real-time scheduler, the first place to be spared.

earns = ["test_empty"]
[process]
allows = ["reached"]
why = "whoever grades as root may do that"
"""

import os

from wrong import *

for change in (
    lambda: os.setpriority(os.PRIO_PROCESS, 0, -20),
    lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)),
):
    try:
        change()
        print("KATA-TOY-REACHED")
    except OSError:
        pass


# ==== own_source ====
"""Overwrites its own source with a right answer, for when it is loaded again.

status = "error or fail"
earns = ["test_empty"]
"""

import os

RIGHT = "def insertion_sort(values):\n    return sorted(values)\n"
try:
    with open(__file__, "w") as file:
        file.write(RIGHT)
except OSError:
    pass


def insertion_sort(values):
    if values:
        os._exit(0)
    return []


# ==== priorities ====
"""Changes priority, processor and limits of its parent (to what they are).

earns = ["test_empty"]
[process]
allows = ["reached"]
why = "the system lets a process do that to those of the same owner"
"""

import os
import resource

from wrong import *

parent = os.getppid()
if parent > 0:
    for change in (
        lambda: os.setpriority(os.PRIO_PROCESS, parent, os.getpriority(os.PRIO_PROCESS, parent)),
        lambda: os.sched_setaffinity(parent, os.sched_getaffinity(parent)),
        lambda: resource.prlimit(parent, resource.RLIMIT_CORE, (0, 0)),
    ):
        try:
            change()
            print("KATA-TOY-REACHED")
        except OSError:
            pass


# ==== seldom_calls ====
"""Makes the calls that filters forget: whatever the kernel does not refuse before it looks at the arguments.

earns = ["test_empty"]
[process]
allows = ["reached"]
why = "nothing is filtered there"
"""

import ctypes
import os

from wrong import *

EPERM, ENOSYS = 1, 38
CALLS = {
    "inotify_init1": (294, 26),
    "fanotify_init": (300, 262),
    "memfd_create": (319, 279),
    "userfaultfd": (323, 282),
    "perf_event_open": (298, 241),
    "process_vm_readv": (310, 270),
    "pidfd_getfd": (438, 438),
    "pidfd_open": (434, 434),
    "kcmp": (312, 272),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "bpf": (321, 280),
    "io_setup": (206, 0),
    "io_uring_setup": (425, 425),
    "io_uring_register": (427, 427),
    "fsopen": (430, 430),
    "fsmount": (432, 432),
    "open_tree": (428, 428),
    "mount_setattr": (442, 442),
    "name_to_handle_at": (303, 264),
    "landlock_create_ruleset": (444, 444),
    "landlock_restrict_self": (446, 446),
    "seccomp": (317, 277),
    "sync": (162, 81),
    "syncfs": (306, 267),
    "readahead": (187, 213),
    "ioprio_set": (251, 30),
    "mbind": (237, 235),
    "move_pages": (279, 239),
    "mlockall": (151, 230),
    "vmsplice": (278, 75),
    "tee": (276, 77),
    "rt_sigqueueinfo": (129, 138),
    "personality": (135, 92),
    "setresuid": (117, 147),
    "capset": (126, 91),
    "syslog": (103, 116),
    "quotactl": (179, 60),
    "a call of tomorrow": (480, 480),
}
libc = ctypes.CDLL(None, use_errno=True)
nothing = ctypes.c_long(-1)
for name, numbers in CALLS.items():
    number = numbers[os.uname().machine == "aarch64"]
    result = libc.syscall(ctypes.c_long(number), nothing, nothing, nothing, nothing, nothing)
    if result >= 0 or ctypes.get_errno() not in (EPERM, ENOSYS):
        print("KATA-TOY-REACHED", name)


# ==== signals ====
"""Sends signals to other processes (one that changes nothing, in case it arrives).

earns = ["test_empty"]
[process]
allows = ["reached"]
why = "the system lets a process signal those of the same owner"
"""

import os
import signal

from wrong import *

parent = os.getppid()
for pid in (parent, 1):
    for number in (0, signal.SIGCONT):
        if pid > 1 or number == 0 < pid:
            try:
                os.kill(pid, number)
                print("KATA-TOY-REACHED", pid)
            except OSError:
                pass


# ==== system_v ====
"""Looks for System V shared memory, semaphores and queues of other processes by number, and maps or removes them.

earns = ["test_empty"]
[process]
allows = ["reached"]
why = "the system has one set of these for everybody"
"""

import ctypes

from wrong import *

INFO, STAT, READ_ONLY = 14, 13, 0o10000
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
libc.msgrcv.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_long, ctypes.c_int]
room = ctypes.create_string_buffer(256)
if libc.shmctl(0, INFO, room) >= 0:
    print("KATA-TOY-REACHED shmctl")
for number in range(8):
    found = libc.shmctl(number, STAT, room)
    if found >= 0 and libc.shmat(found, None, READ_ONLY) not in (None, ctypes.c_void_p(-1).value):
        print("KATA-TOY-REACHED shmat")
if libc.semctl(0, 0, 19, room) >= 0:  # SEM_INFO
    print("KATA-TOY-REACHED semctl")
if libc.msgctl(0, 12, room) >= 0:  # MSG_INFO
    print("KATA-TOY-REACHED msgctl")
for call, arguments in (
    (libc.semop, (0, room, 0)),
    (libc.msgsnd, (0, room, 0, 0o4000)),
    (libc.msgrcv, (0, room, 0, 0, 0o4000)),
    (libc.mq_unlink, (b"/kata-toy",)),
):
    if call(*arguments) >= 0 or ctypes.get_errno() not in (1, 38):
        print("KATA-TOY-REACHED", call.__name__)
