"""Puts another socket where the worker answers, reads the questions itself and says what it likes.

kata = "insertion-sort"
status = "error or fail"
words = ["closed its connection"]
"""

import os
import socket

from wrong import *

mine, other = socket.socketpair()
os.dup2(other.fileno(), 3)
other.close()
