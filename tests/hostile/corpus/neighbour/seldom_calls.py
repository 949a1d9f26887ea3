"""Makes the calls that filters forget: whatever the kernel does not refuse before it looks at the arguments.

kata = "insertion-sort"
status = "fail"
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
