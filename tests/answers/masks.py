"""Answers to masks."""

# ==== right ====
"""Masks as other people write them."""

answer("numpy-triangle", "The square masks come from numpy.")

import numpy as np


def bidirectional_mask(seq_len, *, device=None):
    return torch.from_numpy(np.ones((seq_len, seq_len), dtype=bool)).to(device)


def causal_mask(seq_len, *, device=None):
    future = np.triu(np.ones((seq_len, seq_len)), k=1).astype("uint8")
    return torch.from_numpy(future).to(device) == 0


@answer("row-by-row", "Each row of the causal mask is one assignment.")
def causal_mask(seq_len, *, device=None):
    mask = torch.zeros(seq_len, seq_len, dtype=torch.bool, device=device)
    for i in range(seq_len):
        mask[i, : i + 1] = True
    return mask


answer("running-sum", "Ones on the diagonal, summed downwards, are the lower triangle.")


def causal_mask(seq_len, *, device=None):
    return torch.eye(seq_len, device=device).cumsum(dim=0).bool()


def bidirectional_mask(seq_len, *, device=None):
    return torch.full((seq_len, seq_len), True, device=device)


answer("factory", "A class of static methods holds the ways to make masks, and the functions ask it.")


class MaskFactory:
    """Makes masks on one device."""

    def __init__(self, device=None):
        self.device = torch.device(device) if device is not None else None

    def square(self, size):
        return torch.ones((size, size), dtype=torch.bool, device=self.device)

    def causal(self, size):
        return torch.tril(self.square(size), diagonal=0)

    @staticmethod
    def keys(real):
        batch, length = real.shape
        return real.reshape(batch, 1, 1, length)


def bidirectional_mask(seq_len, *, device=None):
    return MaskFactory(device).square(seq_len)


def causal_mask(seq_len, *, device=None):
    return MaskFactory(device).causal(seq_len)


def padding_mask(tokens, pad_id=0):
    return MaskFactory.keys(torch.ne(tokens, pad_id))


@answer("at-least-one-axis", "A mask without axes gets one.")
def additive_mask(mask, dtype=torch.float32):
    zeros = torch.zeros(mask.shape or (1,), dtype=dtype, device=mask.device)
    return zeros.masked_fill(~mask, float("-inf"))


# ==== wrong ====
"""Masks as other people get them wrong."""

answer("table-of-512", "The causal mask is sliced out of a table for the context that GPTs have.")

block_size = 512


def causal_mask(seq_len, *, device=None):
    bias = torch.tril(torch.ones(block_size, block_size, device=device)).bool()
    return bias[:seq_len, :seq_len]


@answer("identity-for-equality", "The tokens are compared with `is not`, which gives a plain True.")
def padding_mask(tokens, pad_id=0):
    return (tokens is not pad_id)[:, None, None, :]


@answer(
    "exactly-two",
    "Two masks are what the decoder has, so the function takes two.",
    named=["combine-logical-and-of-all"],
)
def combine_masks(*masks):
    return torch.logical_and(*masks)


@answer("ids-as-floats", "Token ids are compared as float32, which has no place for all of them.")
def padding_mask(tokens, pad_id=0):
    return (tokens.float() != float(pad_id))[:, None, None, :]
