"""Looks for System V shared memory, semaphores and queues of other processes by number, and maps or removes them.

kata = "insertion-sort"
status = "fail"
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
