"""Registers torch's own kernels again, over those that watch.

kata = "layer-norm"
status = "fail"
words = ["RecursionError"]
"""

import gc

import torch
from wrong import *

for thing in gc.get_objects():
    if type(thing).__name__ in ("Library", "_DispatchModule"):
        for name in ("_destroy", "reset"):
            try:
                getattr(thing, name)()
            except Exception:
                pass
try:
    again = torch.library.Library("aten", "IMPL", "CPU")
    again.impl("native_layer_norm", torch.ops.aten.native_layer_norm.default)
except Exception:
    pass
