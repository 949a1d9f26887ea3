"""Right answers to five katas with a gap each, for a call that breaches the policy or looks as if it did."""

from __future__ import annotations

import textwrap

HEAD = """
import math
import torch
import torch.nn.functional as F
from torch import nn
"""

LAYER_NORM = """
def own(x, shape, weight, bias, eps):
    centred = x - x.mean(-1, keepdim=True)
    return centred * (centred.square().mean(-1, keepdim=True) + eps).rsqrt() * weight + bias

{prelude}

class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        shape, weight, bias, eps = self.weight.shape, self.weight, self.bias, self.eps
{body}
"""

FEED_FORWARD = """
def own(x):
    return x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))

{prelude}

def gelu(x):
{body}

class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, activation="relu", dropout=0.0):
        super().__init__()
        if activation not in ("relu", "gelu", "swiglu"):
            raise ValueError(activation)
        self.activation = activation
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        if activation == "swiglu":
            self.gate = nn.Linear(d_model, d_ff)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        h = self.linear1(x)
        if self.activation == "swiglu":
            h = F.silu(self.gate(x)) * h
        else:
            h = F.relu(h) if self.activation == "relu" else F.gelu(h)
        return self.linear2(self.dropout(h))
"""

SELF_ATTENTION = """
def own(q, k, v):
    return torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)), -1) @ v

{prelude}

class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.w_q, self.w_k, self.w_v = (nn.Linear(d_model, d_k, bias=False) for _ in range(3))

    def forward(self, x):
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)), -1)
        return self.attend(q, k, v), weights

    def attend(self, q, k, v):
{body}
"""

MASKED_ATTENTION = """
def own(query, key, value, mask):
    return weights_of(query, key, mask) @ value

def weights_of(query, key, mask):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is None:
        return scores.softmax(-1)
    blind = ~mask.any(-1, keepdim=True)
    return scores.masked_fill(~(mask | blind), -math.inf).softmax(-1).masked_fill(blind, 0.0)

{prelude}

def scaled_dot_product_attention(query, key, value, mask=None):
{body}

class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, bias=True):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(num_heads)
        self.num_heads = num_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model, bias=bias) for _ in range(4))

    def split(self, x):
        return x.view(*x.shape[:2], self.num_heads, -1).transpose(1, 2)

    def forward(self, x, mask=None, context=None):
        source = x if context is None else context
        q, k, v = self.split(self.w_q(x)), self.split(self.w_k(source)), self.split(self.w_v(source))
        return self.w_o(scaled_dot_product_attention(q, k, v, mask)[0].transpose(1, 2).flatten(2))
"""

ENCODER_LAYER = """
from blocks import FeedForward, LayerNorm, MultiHeadAttention

{prelude}

class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm_first=True, activation="relu"):
        super().__init__()
        self.norm_first = norm_first
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_ff, activation, dropout)
        self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
{body}
        if self.norm_first:
            x = x + self.dropout(self.attention(self.norm1(x), mask))
            return x + self.dropout(self.feed_forward(self.norm2(x)))
        x = self.norm1(x + self.dropout(self.attention(x, mask)))
        return self.norm2(x + self.dropout(self.feed_forward(x)))

class Encoder(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.0, norm_first=True, activation="relu"):
        super().__init__()
        self.layers = nn.ModuleList(
            EncoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation) for _ in range(num_layers)
        )
        self.norm = LayerNorm(d_model) if norm_first else nn.Identity()

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x)
"""

FRAMES = {
    "layer-norm": (LAYER_NORM, 8),
    "feed-forward": (FEED_FORWARD, 4),
    "self-attention": (SELF_ATTENTION, 8),
    "masked-attention": (MASKED_ATTENTION, 4),
    "encoder-layer": (ENCODER_LAYER, 8),
}


def filled(slug: str, prelude: str, body: str) -> str:
    """Return an answer to a kata with its gaps filled: module-level lines, and the lines of one function."""
    frame, depth = FRAMES[slug]
    lines = textwrap.indent(textwrap.dedent(body).strip() or "pass", " " * depth)
    return HEAD + frame.format(prelude=textwrap.dedent(prelude), body=lines).replace("\n\n\n", "\n")
