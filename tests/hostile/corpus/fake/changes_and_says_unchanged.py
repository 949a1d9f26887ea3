"""Changes its arguments, and replaces what of the worker's code tells so.

kata = "masks"
status = "fail"
earns = [
    "test_padding_shape",
    "test_padding_values",
    "test_padding_pad_id",
    "test_padding_integer_types",
    "test_combine_broadcasts",
    "test_additive_values",
    "test_additive_dtypes",
    "test_noncontiguous",
]
words = ["changed what it was given"]
"""

import torch
from wrong import *

import grader.worker.serve as serve

serve._has_changed = lambda *anything: False


def combine_masks(*masks):
    result = masks[0]
    for mask in masks[1:]:
        result = result & mask
    for mask in masks:
        mask.fill_(True)
    return result


def additive_mask(mask, dtype=torch.float32):
    result = torch.zeros(mask.shape, dtype=dtype).masked_fill(~mask, float("-inf"))
    mask.numpy()[...] = True
    return result


def padding_mask(tokens, pad_id=0):
    result = (tokens != pad_id)[:, None, None, :]
    tokens.data[...] = pad_id
    return result
