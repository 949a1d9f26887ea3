"""Starts another program in a session of its own.

kata = "insertion-sort"
status = "fail"
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
