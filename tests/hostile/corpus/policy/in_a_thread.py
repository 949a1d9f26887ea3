"""Uses torch's operator in a thread.

kata = "layer-norm"
status = "fail"
words = ["Write it from mean, variance"]
timeout_s = 10
"""

import threading

import torch
import wrong


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        found = []

        def work():
            with torch.set_grad_enabled(grad):
                found.append(wrong.LayerNorm.forward(self, x))

        grad = torch.is_grad_enabled()
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        return found[0]
