"""Replaces itself in `sys.modules`, and what stands beside it.

kata = "insertion-sort"
status = "fail"
earns = ["test_empty"]
"""

import sys
import types

from wrong import *


class Fake(types.ModuleType):
    def __getattr__(self, name):
        return lambda values: sorted(values)


for name in list(sys.modules):
    if name in ("insertion_sort", "submission", "__main__") or name.endswith(".insertion_sort"):
        sys.modules[name] = Fake(name)
