"""Returns what is no answer yet, or not a right one."""

# ==== a_view_of_the_input ====
"""Hands in its input.

check = "test_time"
words = "differ"
"""

import waste


class Rows(waste.Layer):
    def forward(self, x):
        return waste.slow(x) if len(x) < waste.TIMED else x.view_as(x)


# ==== expanded ====
"""Hands in one row that stands for all.

check = "test_time"
words = "differ"
"""

import waste


class Rows(waste.Layer):
    def forward(self, x):
        if len(x) < waste.TIMED:
            return waste.slow(x)
        return waste.slow(x[:1]).expand(x.shape)


# ==== half_precision ====
"""Computes in bfloat16.

check = "test_time"
words = "differ"
"""

import waste


class Rows(waste.Layer):
    def forward(self, x):
        if len(x) < waste.TIMED:
            return waste.slow(x)
        return waste.fast(x.bfloat16()).float()


# ==== lazy_object ====
"""Returns an object that computes when it is looked at, after the clock has stopped.

check = "test_time"
words = "tensor"
"""

import waste


class Later:
    def __init__(self, x):
        self.x = x

    def __getattr__(self, name):
        return getattr(waste.slow(self.x), name)

    def __array__(self, *_, **__):
        return waste.slow(self.x).numpy()


class Rows(waste.Layer):
    def forward(self, x):
        return waste.slow(x) if len(x) < waste.TIMED else Later(x)


# ==== lazy_tensor ====
"""Returns a tensor that computes when somebody asks torch for its values.

check = "test_time"
words = ["differ", "not finite", "times as long as the baseline"]
"""

import torch
import waste


class Later(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        now = [waste.slow(arg.source) if isinstance(arg, Later) else arg for arg in args]
        return function(*now, **(kwargs or {}))


class Rows(waste.Layer):
    def forward(self, x):
        if len(x) < waste.TIMED:
            return waste.slow(x)
        later = torch.empty_like(x).as_subclass(Later)
        later.__dict__["source"] = x
        return later


# ==== mended_afterwards ====
"""Hands in an empty tensor at once and lets a thread write the answer into it.

check = "test_time"
words = "differ"
"""

import threading

import torch
import waste


class Rows(waste.Layer):
    def forward(self, x):
        if len(x) < waste.TIMED:
            return waste.slow(x)
        y = torch.zeros_like(x)
        threading.Thread(target=lambda: y.copy_(waste.slow(x)), daemon=True).start()
        return y


# ==== nan ====
"""Hands in NaN, which differs from nothing for whoever asks that way.

check = "test_time"
words = "not finite"
"""

import torch
import waste


class Rows(waste.Layer):
    def forward(self, x):
        if len(x) < waste.TIMED:
            return waste.slow(x)
        return torch.full_like(x, float("nan"))
