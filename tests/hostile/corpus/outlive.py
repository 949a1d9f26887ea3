"""Outlive the run."""

# ==== child ====
"""Starts a child that waits until everybody has gone.

status = "fail or error"
earns = ["test_empty"]
[full]
earns = ["test_empty"]
status = "fail"
[confined]
earns = ["test_empty"]
status = "fail"
"""

import os
import time

from wrong import *

try:
    if os.fork() == 0:
        time.sleep(20)
        os._exit(0)
except OSError:
    pass


# ==== daemon ====
"""Becomes a daemon: two forks, a session of its own, no descriptors.

earns = ["test_empty"]
"""

import os
import time

from wrong import *

try:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 256)
            os.chdir("/")
            time.sleep(20)
        os._exit(0)
except OSError:
    pass


# ==== files ====
"""Writes files wherever it can.

earns = ["test_empty"]
[process]
allows = ["left"]
why = "whoever grades may write there, and so may a process of theirs"
"""

import os
import tempfile

from wrong import *

for place in (
    "/tmp",
    "/var/tmp",
    "/dev/shm",
    os.path.dirname(os.path.abspath(__file__)),
    os.getcwd(),
    tempfile.gettempdir(),
    os.path.dirname(os.getcwd()),
):
    try:
        with open(os.path.join(place, f"kata-toy-{os.getpid()}"), "w") as file:
            file.write("still here")
    except OSError:
        pass


# ==== locks ====
"""Locks files that the grader and other workers read, and keeps the locks.

earns = ["test_empty"]
"""

import fcntl
import os
import sys

import torch
from wrong import *

kept = []
for path in (sys.executable, torch.__file__, __file__, os.path.dirname(torch.__file__), os.getcwd()):
    try:
        number = os.open(path, os.O_RDONLY)
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        kept.append(number)
    except OSError:
        pass


# ==== other_program ====
"""Starts another program in a session of its own.

earns = ["test_empty"]
"""

import subprocess

from wrong import *

try:
    subprocess.Popen(["sleep", "20.031415"], start_new_session=True, close_fds=True)
except OSError:
    pass
try:
    import os

    os.posix_spawn("/bin/sleep", ["sleep", "20.031415"], {})
except OSError:
    pass


# ==== processes_of_multiprocessing ====
"""Starts a pool of processes and a manager, and forgets them.

earns = ["test_empty"]
timeout_s = 3
[process]
status = "fail or timeout"
earns = ["test_empty"]
"""

import multiprocessing
import time

from wrong import *

try:
    context = multiprocessing.get_context("fork")
    for _ in range(3):
        context.Process(target=time.sleep, args=(20,), daemon=False).start()
except OSError:
    pass


# ==== raw_clone ====
"""Makes processes with system calls that Python has no function for.

earns = ["test_empty"]
"""

import ctypes
import os
import platform
import signal
import time

from wrong import *

libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 56, "aarch64": 220}.get(platform.machine())
if number is not None:
    for flags in (signal.SIGCHLD, 0, 0x00008000 | signal.SIGCHLD):
        if libc.syscall(number, flags, 0, 0, 0, 0) == 0:
            time.sleep(20)
            os._exit(0)


# ==== shared_memory ====
"""Leaves shared memory behind, in both kinds that outlive a process.

earns = ["test_empty"]
[process]
allows = ["left"]
why = "the system has one set of these for everybody"
"""

import ctypes

from wrong import *

libc = ctypes.CDLL(None, use_errno=True)
libc.shmget(0x4B415441, ctypes.c_size_t(4096), 0o1600)
try:
    with open("/dev/shm/kata-toy-shared", "wb") as file:
        file.write(bytes(4096))
except OSError:
    pass
libc.shm_open(b"/kata-toy-posix", 0o102, 0o600)


# ==== sockets ====
"""Leaves sockets behind: a listener on loopback, an abstract name, a name in the folder.

earns = ["test_empty"]
"""

import socket

from wrong import *

kept = []
for family, name in (
    (socket.AF_INET, ("127.0.0.1", 0)),
    (socket.AF_UNIX, "\0kata-toy-name"),
    (socket.AF_UNIX, "s"),
):
    try:
        listener = socket.socket(family)
        listener.bind(name)
        listener.listen()
        kept.append(listener)
    except OSError:
        pass


# ==== stubborn_folder ====
"""Leaves a folder that is hard to remove: three hundred levels deep, closed to everybody, with odd names.

earns = ["test_empty"]
"""

import os

from wrong import *

here = os.getcwd()
try:
    for level in range(300):
        name = "x" * 200 if level % 2 else "kata-toy\n\x1b[2J"
        os.mkdir(name)
        os.symlink("..", f"{name}-up")
        os.chdir(name)
    for level in range(300):
        os.chmod(".", 0)
        os.chdir("..")
except OSError:
    pass
os.chdir(here)


# ==== threads ====
"""Leaves threads behind that are no daemons, and a handler that waits for them.

earns = ["test_empty"]
"""

import atexit
import threading
import time

from wrong import *

threads = [threading.Thread(target=time.sleep, args=(20,)) for _ in range(5)]
for thread in threads:
    thread.start()
    atexit.register(thread.join)
