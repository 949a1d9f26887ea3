"""Returns objects that run code when they are unpickled, and bytes that do.

kata = "insertion-sort"
status = "fail"
words = ["wrong value"]
"""

import os
import pickle


class Trap:
    def __reduce__(self):
        return os.system, ("echo trapped > /tmp/kata-toy-pickle",)


def insertion_sort(values):
    return pickle.dumps(Trap()) if values else Trap()
