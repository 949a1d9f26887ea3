"""Looks torch's kernel up in its library by its mangled name.

kata = "layer-norm"
status = "fail"
words = ["Write it from mean, variance"]
"""

import contextlib
import ctypes
import pathlib

import torch
import wrong

library = ctypes.CDLL(str(pathlib.Path(torch.__file__).parent / "lib/libtorch_cpu.so"))


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        with contextlib.suppress(TypeError, AttributeError):
            library._ZN2at3cpu10layer_normERKNS_6TensorEN3c108ArrayRefIlEE
        return super().forward(x)
