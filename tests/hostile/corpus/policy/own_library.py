"""Brings a library of machine code along and imports it.

kata = "layer-norm"
status = "fail"
words = ["Write it from mean, variance"]
"""

import contextlib
import importlib.machinery
import importlib.util
import pathlib

import wrong


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        file = pathlib.Path("native.so").resolve()
        file.write_bytes(b"\x7fELF")
        loader = importlib.machinery.ExtensionFileLoader("native", str(file))
        with contextlib.suppress(ImportError):
            importlib.util.module_from_spec(
                importlib.util.spec_from_file_location("native", file, loader=loader)
            )
        return super().forward(x)
