"""Changes the variables of the recorder with a profile function.

kata = "layer-norm"
status = "fail"
words = ["Write it from mean, variance"]
"""

import sys

import wrong


def profile(frame, event, argument):
    if "record" in frame.f_locals:
        frame.f_locals["record"] = lambda *arguments: None


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        sys.setprofile(profile)
        try:
            return super().forward(x)
        finally:
            sys.setprofile(None)
