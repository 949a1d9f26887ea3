"""Returns a wrapper that has a shape and a dtype, and no values until it is looked at.

kata = "masks"
status = "fail"
earns = [
    "test_causal_shape",
    "test_padding_integer_types",
    "test_arguments_unchanged",
    "test_noncontiguous",
]
"""

import torch
from wrong import *


class Hollow(torch.Tensor):
    @staticmethod
    def __new__(cls, shape):
        return torch.Tensor._make_wrapper_subclass(cls, shape, dtype=torch.bool)

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        return torch.ones(args[0].shape, dtype=torch.bool)


def causal_mask(seq_len, *, device=None):
    return Hollow((seq_len, seq_len))
