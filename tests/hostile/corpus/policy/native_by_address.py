"""Makes a function of an address with ctypes, which tells no audit hook.

kata = "layer-norm"
status = "fail"
words = ["Write it from mean, variance"]
"""

import contextlib
import ctypes

import wrong


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        made = None
        with contextlib.suppress(TypeError):
            made = ctypes.CFUNCTYPE(ctypes.c_int)(id(self))
        assert made is None
        return super().forward(x)
