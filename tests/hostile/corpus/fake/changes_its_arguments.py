"""Makes its arguments, shared or not, equal to what it returns, and returns them.

kata = "masks"
status = "fail"
earns = ["test_noncontiguous"]
"""

import torch
from wrong import *


def combine_masks(*masks):
    for mask in masks:
        mask.fill_(True)
    return masks[0]


def additive_mask(mask, dtype=torch.float32):
    mask.zero_()
    return mask


def padding_mask(tokens, pad_id=0):
    return tokens.fill_(pad_id)
