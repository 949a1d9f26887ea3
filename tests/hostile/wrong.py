"""The wrong answers that hostile ones add to: each lies beside them as `wrong.py`."""

# ==== decoder_lm ====
"""A model without layers that cannot read, and functions that are wrong."""

import torch
from torch import nn


class DecoderLM(nn.Module):
    def __init__(self, vocab_size, d_model=64, num_heads=4, d_ff=128, num_layers=2, max_len=128, dropout=0.0):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))

    def forward(self, tokens, cache=None):
        raise RuntimeError("it cannot read")


def next_token_loss(logits, tokens, pad_id=None):
    return torch.zeros(2)


def generate(model, prompt, max_new_tokens, **options):
    raise RuntimeError("it cannot write")


# ==== insertion_sort ====
"""A wrong answer: it returns the numbers as they came, which is right for an empty list alone."""


def insertion_sort(values):
    return list(values)


# ==== layer_norm ====
"""The numbers are right, and torch's: what the kata asks to be written from scratch is not."""

import torch
from torch import nn
from torch.nn import functional as F


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        # Under a name that no reader of the source finds: what is put to the test is what watches at run time.
        fused = getattr(F, "mron_reyal"[::-1])
        return fused(x, x.shape[-1:], self.weight, self.bias, self.eps)


# ==== masked_attention ====
"""A wrong attention, which answers zeros, and a module that is right but for it."""

from torch import nn


def scaled_dot_product_attention(query, key, value, mask=None):
    return value.new_zeros(*query.shape[:-1], value.size(-1)), value.new_zeros(
        *query.shape[:-1], key.size(-2)
    )


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, bias=True):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"num_heads ({num_heads}) must divide d_model ({d_model})")
        self.num_heads = num_heads
        self.w_q = nn.Linear(d_model, d_model, bias=bias)
        self.w_k = nn.Linear(d_model, d_model, bias=bias)
        self.w_v = nn.Linear(d_model, d_model, bias=bias)
        self.w_o = nn.Linear(d_model, d_model, bias=bias)

    def _split(self, x):
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def forward(self, x, mask=None, context=None, attend=scaled_dot_product_attention):
        source = x if context is None else context
        query, key, value = (
            self._split(self.w_q(x)),
            self._split(self.w_k(source)),
            self._split(self.w_v(source)),
        )
        heads, _ = attend(query, key, value, mask)
        return self.w_o(heads.transpose(1, 2).flatten(2))


# ==== masks ====
"""Wrong answers: ones everywhere, as numbers."""

import torch


def bidirectional_mask(seq_len, *, device=None):
    return torch.ones(seq_len, seq_len)


def causal_mask(seq_len, *, device=None):
    return torch.ones(seq_len, seq_len)


def padding_mask(tokens, pad_id=0):
    return torch.ones(tokens.shape)


def combine_masks(*masks):
    return masks[0]


def additive_mask(mask, dtype=torch.float32):
    return torch.ones(mask.shape)


# ==== transfer ====
"""Heads without a layer, a freeze that freezes nothing, and a model of several tasks that knows none."""

from torch import nn


class Head(nn.Module):
    def __init__(self, *sizes):
        super().__init__()

    def forward(self, hidden, mask):
        raise RuntimeError("it has no layer")


class TokenHead(Head):
    pass


class SpanHead(Head):
    pass


class RegressionHead(Head):
    pass


class ClassHead(Head):
    pass


class MultiTask(nn.Module):
    def __init__(self, body, heads):
        super().__init__()

    def forward(self, tokens, task):
        raise RuntimeError("it has no heads")


def freeze(module):
    pass


def layerwise_groups(layers, lr, decay):
    raise RuntimeError("it makes no groups")
