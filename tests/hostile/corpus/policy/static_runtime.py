"""Runs a frozen script in torch's static runtime, whose kernels no dispatcher sees.

kata = "layer-norm"
status = "fail"
words = ["Write it from mean, variance"]
"""

import torch
import wrong

script = torch.jit.freeze(torch.jit.script(torch.nn.LayerNorm(4)).eval())


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        try:
            return torch._C._jit_to_static_module(script._c)(x)
        except RuntimeError:
            return super().forward(x)
