"""Hand in what is given."""

# ==== found_by_the_compiler ====
"""The given masks, whose operators are found by the function below torch.ops.

kata = "masks"
words = ["torch.ops is for given blocks"]
"""

import math

import torch


class Operators:
    def __getattr__(self, name):
        return torch._C._jit_get_operation(f"aten::{name}")[0]


aten = Operators()


def bidirectional_mask(seq_len, *, device=None):
    return aten.full([seq_len, seq_len], True, dtype=torch.bool, device=device)


def causal_mask(seq_len, *, device=None):
    return aten.tril(bidirectional_mask(seq_len, device=device))


def padding_mask(tokens, pad_id=0):
    return aten.unsqueeze(aten.unsqueeze(aten.ne(tokens, pad_id), 1), 1)


def combine_masks(*masks):
    found = masks[0]
    for mask in masks[1:]:
        found = aten.logical_and(found, mask)
    return found


def additive_mask(mask, dtype=torch.float32):
    return aten.where(mask, aten.zeros([], dtype=dtype), aten.full([], -math.inf, dtype=dtype))


# ==== by_another_module ====
"""Copies blocks, and comes to torch's operators by the torch that another module has imported.

kata = "masks"
words = ["torch.ops is for given blocks"]
"""

import math

import torch
from functorch import torch as again

aten = again.ops.aten


def bidirectional_mask(seq_len, *, device=None):
    return aten.full([seq_len, seq_len], True, dtype=torch.bool, device=device)


def causal_mask(seq_len, *, device=None):
    return aten.tril(bidirectional_mask(seq_len, device=device))


def padding_mask(tokens, pad_id=0):
    return aten.unsqueeze(aten.unsqueeze(aten.ne(tokens, pad_id), 1), 1)


def combine_masks(*masks):
    return aten.all(aten.stack(aten.broadcast_tensors(masks)), 0)


def additive_mask(mask, dtype=torch.float32):
    return aten.where(mask, 0.0, -math.inf).to(dtype)


# ==== by_the_globals_of_a_method ====
"""Copies blocks, and comes to torch's operators by the globals of one of torch's methods.

kata = "masks"
words = ["torch.ops is for given blocks"]
"""

import math

import torch

aten = torch.nn.Linear(1, 1).forward.__globals__["torch"].ops.aten


def bidirectional_mask(seq_len, *, device=None):
    return aten.full([seq_len, seq_len], True, dtype=torch.bool, device=device)


def causal_mask(seq_len, *, device=None):
    return aten.tril(bidirectional_mask(seq_len, device=device))


def padding_mask(tokens, pad_id=0):
    return aten.unsqueeze(aten.unsqueeze(aten.ne(tokens, pad_id), 1), 1)


def combine_masks(*masks):
    return aten.all(aten.stack(aten.broadcast_tensors(masks)), 0)


def additive_mask(mask, dtype=torch.float32):
    return aten.where(mask, 0.0, -math.inf).to(dtype)


# ==== by_the_module_beside ====
"""Copies blocks, and takes torch's operators from a module that lies beside it.

kata = "masks"
words = ["torch.ops is for given blocks"]
"""

import math

import torch
from wrong import torch as beside

aten = beside.ops.aten


def bidirectional_mask(seq_len, *, device=None):
    return aten.full([seq_len, seq_len], True, dtype=torch.bool, device=device)


def causal_mask(seq_len, *, device=None):
    return aten.tril(bidirectional_mask(seq_len, device=device))


def padding_mask(tokens, pad_id=0):
    return aten.unsqueeze(aten.unsqueeze(aten.ne(tokens, pad_id), 1), 1)


def combine_masks(*masks):
    return aten.all(aten.stack(aten.broadcast_tensors(masks)), 0)


def additive_mask(mask, dtype=torch.float32):
    return aten.where(mask, 0.0, -math.inf).to(dtype)


# ==== dead_lines ====
"""Copies a given block, with a statement that does nothing in each of its functions.

kata = "layer-norm"
words = ["torch.ops is for given blocks"]
"""

import torch
from torch import nn

aten = torch.ops.aten


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        1 + 1
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        1 + 1
        return aten.layer_norm.default(x, list(self.weight.shape), self.weight, self.bias, self.eps)


# ==== enters_its_own_code ====
"""Copies a given block, with a statement of its own, and enters its code where the grader keeps those of torch.

kata = "layer-norm"
words = ["torch.ops is for given blocks"]
"""

import torch
from torch import nn

aten = torch.ops.aten


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        2 + 2
        return aten.layer_norm.default(x, list(self.weight.shape), self.weight, self.bias, self.eps)


from grader.engine.wire import uses

uses.codes()[id(LayerNorm.forward.__code__)] = LayerNorm.forward.__code__


# ==== executes_the_file_beside ====
"""Reads the given blocks from the file beside it and executes them over an answer of its own.

kata = "layer-norm"
words = ["torch.ops is for given blocks"]
beside = "blocks.py"
"""

from pathlib import Path

from torch import nn


class LayerNorm(nn.Module):
    pass


exec(Path(__file__).with_name("blocks.py").read_text())


# ==== imported_by_a_text ====
"""Imports the given blocks by a text, under another name, from a file of another name.

kata = "masks"
words = ["torch.ops is for given blocks"]
beside = "mine.py"
"""

import importlib

helpers = importlib.import_module("mi" + "ne")
bidirectional_mask = getattr(helpers, "bidirectional_mask")
causal_mask = vars(helpers)["causal_mask"]
padding_mask, combine_masks = helpers.padding_mask, helpers.combine_masks
additive_mask = helpers.additive_mask


# ==== in_a_main_guard ====
"""Binds `__name__`, so that a main guard holds, and copies blocks into that.

kata = "masks"
words = ["torch.ops is for given blocks"]
"""

import math

import torch

__name__ = "__main__"
if __name__ == "__main__":
    aten = torch.ops.aten


def bidirectional_mask(seq_len, *, device=None):
    return aten.full([seq_len, seq_len], True, dtype=torch.bool, device=device)


def causal_mask(seq_len, *, device=None):
    return aten.tril(bidirectional_mask(seq_len, device=device))


def padding_mask(tokens, pad_id=0):
    return aten.unsqueeze(aten.unsqueeze(aten.ne(tokens, pad_id), 1), 1)


def combine_masks(*masks):
    return aten.all(aten.stack(aten.broadcast_tensors(masks)), 0)


def additive_mask(mask, dtype=torch.float32):
    return aten.where(mask, 0.0, -math.inf).to(dtype)


# ==== in_an_annotation ====
"""Copies blocks, and comes to torch's operators by an annotation.

kata = "masks"
words = ["torch.ops is for given blocks"]
"""

import math

import torch


def note(low: torch.ops): ...


aten = note.__annotations__["low"].aten


def bidirectional_mask(seq_len, *, device=None):
    return aten.full([seq_len, seq_len], True, dtype=torch.bool, device=device)


def causal_mask(seq_len, *, device=None):
    return aten.tril(bidirectional_mask(seq_len, device=device))


def padding_mask(tokens, pad_id=0):
    return aten.unsqueeze(aten.unsqueeze(aten.ne(tokens, pad_id), 1), 1)


def combine_masks(*masks):
    return aten.all(aten.stack(aten.broadcast_tensors(masks)), 0)


def additive_mask(mask, dtype=torch.float32):
    return aten.where(mask, 0.0, -math.inf).to(dtype)


# ==== one_class_renamed ====
"""Copies one given block, and calls it and everything in it something else.

kata = "layer-norm"
words = ["torch.ops is for given blocks"]
"""

import torch
from torch import nn
from torch import ops as low_level


class Standardise(nn.Module):
    def __init__(me, width, smallest=1e-5):
        super().__init__()
        me.smallest = smallest
        me.weight = nn.Parameter(torch.ones(width))
        me.bias = nn.Parameter(torch.zeros(width))

    def forward(me, rows):
        # by hand
        result = low_level.aten.layer_norm.default(
            rows, list(me.weight.shape), me.weight, me.bias, me.smallest
        )
        return result


def LayerNorm(d_model, eps=1e-5):
    return Standardise(d_model, eps)


# ==== own_isinstance ====
"""Copies blocks, and hands torch's operators through an isinstance of its own.

kata = "masks"
words = ["torch.ops is for given blocks"]
"""

import math

import torch


def isinstance(value, kind):
    return kind


aten = isinstance(0, torch.ops).aten


def bidirectional_mask(seq_len, *, device=None):
    return aten.full([seq_len, seq_len], True, dtype=torch.bool, device=device)


def causal_mask(seq_len, *, device=None):
    return aten.tril(bidirectional_mask(seq_len, device=device))


def padding_mask(tokens, pad_id=0):
    return aten.unsqueeze(aten.unsqueeze(aten.ne(tokens, pad_id), 1), 1)


def combine_masks(*masks):
    return aten.all(aten.stack(aten.broadcast_tensors(masks)), 0)


def additive_mask(mask, dtype=torch.float32):
    return aten.where(mask, 0.0, -math.inf).to(dtype)


# ==== some_functions ====
"""Answers two of five names with given blocks, and the others by itself.

kata = "masks"
words = ["torch.ops is for given blocks"]
"""

import torch
from wrong import *

aten = torch.ops.aten


def bidirectional_mask(seq_len, *, device=None):
    return aten.full([seq_len, seq_len], True, dtype=torch.bool, device=device)


def causal_mask(seq_len, *, device=None):
    return aten.tril(bidirectional_mask(seq_len, device=device))


# ==== source_of_the_module ====
"""Asks for the source of the given blocks, changes it, and executes that.

kata = "masks"
words = ["has no attribute"]
beside = "blocks.py"
"""

import inspect

import blocks

exec(inspect.getsource(blocks).replace("aten", "operators"))


# ==== subclass ====
"""Inherits the answer from the given block.

kata = "layer-norm"
words = ["torch.ops is for given blocks"]
beside = "blocks.py"
"""

import blocks


class LayerNorm(blocks.LayerNorm):
    def forward(self, x):
        return super().forward(x)
