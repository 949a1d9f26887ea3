"""Computes in a thread that began while the file was loaded.

kata = "layer-norm"
status = "fail"
words = ["Write it from mean, variance"]
timeout_s = 10
"""

import queue
import threading

import wrong
from torch.nn import functional as F

asked, answers = queue.Queue(), queue.Queue()


def work():
    while True:
        answers.put(F.layer_norm(*asked.get()))


threading.Thread(target=work, daemon=True).start()


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        asked.put((x.detach(), x.shape[-1:]))
        answers.get()
        return super().forward(x)
