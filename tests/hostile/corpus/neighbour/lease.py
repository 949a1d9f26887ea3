"""Takes a lease on installed files: whoever opens one of them waits until it is given back, 45 seconds by default.

kata = "insertion-sort"
status = "fail"
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
