"""What torch says in riddles, for all katas: what an error's text means.

Said as what is likely, where neither a mistake is recognised nor the check knows a cause. Unlike a cause it groups no
failures, so no mark depends on it. Each sentence is true wherever its words are.
"""

from __future__ import annotations

import ast
import contextlib
import math
import re
from collections.abc import Callable, Mapping

import torch

from grader.engine.checks.describe import is_tensor
from grader.engine.checks.draw import axes_of
from grader.engine.checks.raised import sizes_at_odds
from grader.engine.checks.text import WHOLE, clean
from grader.engine.host.calls import CallRecord
from grader.engine.host.errors import SubmissionRaised

NOTHING: Mapping[str, str] = {}
Sentence = str | Callable[[re.Match[str], str], str]
"""The sentence, or what makes it from the match and the line that raised."""


def _of_one_number(found: re.Match[str], line: str) -> str:
    """Name torch's function where one of math's got a tensor."""
    used = re.search(r"\bmath\.(\w+)", line)
    if "torch.tensor(" in line:
        return "torch.tensor([…]) is made of numbers; torch.stack([…]) makes one tensor of several"
    if used and hasattr(torch, used[1]):
        return f"math.{used[1]} takes one number; torch.{used[1]} takes a whole tensor"
    return "Python wants one number here, as float, round, range, math and indices of lists do: this tensor has several"


def _of_sizes(found: re.Match[str], line: str) -> str:
    _, inner, other, right = map(int, found.groups())
    turned = "; transposed, the second one would fit" if inner == right else ""
    return (
        f"a matrix product needs as many columns on the left ({inner}) as rows on the right ({other}){turned}"
    )


def _of_targets(found: re.Match[str], line: str) -> str:
    return f"these are {found[1]} rows of logits and {found[2]} targets: cut and flatten both alike"


def _of_axes(found: re.Match[str], line: str) -> str:
    many = -int(found[1])
    axes = "1 axis, 0 or -1" if many == 1 else f"{many} axes, {found[1]} to {found[2]}"
    return f"this tensor has {axes}: has another one been lost, or is it to be added first, as in x[:, None]?"


_IMPORTS = {
    "F": "import torch.nn.functional as F",
    "nn": "from torch import nn",
    "np": "import numpy as np",
    **{name: f"import {name}" for name in ("torch", "math", "copy", "random", "re", "json", "itertools")},
}


def _of_names(found: re.Match[str], line: str) -> str:
    if found[1] in _IMPORTS:
        return f"an import is missing above: {_IMPORTS[found[1]]}"
    return (
        f"nothing is called {found[1]} here: what __init__ stores is self.{found[1]}, what another module has is "
        "imported first, and all else is spelt as where it was made"
    )


def _of_layers(found: re.Match[str], line: str) -> str:
    layer = found[1] or found[2]
    if layer not in LAYERS:
        return ""
    return f"a layer is called, as in self.NAME(x): the left side here is the {layer} itself, not what it makes of x"


def of_new_shape(found: re.Match[str], line: str) -> str:
    """Compare the numbers that a shape has room for with those that are there."""
    sizes, number = [int(size) for size in found[1].split(",")], int(found[2])
    held = math.prod(size for size in sizes if size >= 0)
    if -1 in sizes:
        return (
            f"the sizes next to -1 come to {held}, which does not divide the {number} numbers of the tensor"
        )
    return f"[{found[1]}] has room for {held} numbers, and the tensor has {number}"


def of_index(found: re.Match[str], line: str) -> str:
    """Say which places an axis has."""
    return f"axis {found[1]} has the places 0 to {int(found[2]) - 1} here" if int(found[2]) else ""


def of_unpacking(found: re.Match[str], line: str) -> str:
    """Say of what there have to be so many."""
    wanted = found[1] or found[2]
    return (
        f"this line takes {wanted} values apart: x.shape has one for each axis, and a tensor one for each row"
    )


def of_self(found: re.Match[str], line: str) -> str:
    """Say that self is an argument too."""
    more = int(found[2]) - int(found[1])
    return "self counts as one of them: it is the first parameter of every method" if more == 1 else ""


def of_joined(found: re.Match[str], line: str) -> str:
    """Say along which axis cat joins where it is not told."""
    with contextlib.suppress(SyntaxError, ValueError):
        for call in (node for node in ast.walk(ast.parse(line)) if isinstance(node, ast.Call)):
            if getattr(call.func, "attr", "") == "cat" and len(call.args) == 1 and not call.keywords:
                return "cat joins along axis 0 where dim is left out; the sizes of all other axes have to be alike"
    return ""


_OF_NUMPY = {
    "astype": "x.to(dtype)",
    "copy": "x.clone()",
    "concatenate": "torch.cat([…], dim=…)",
    "expand_dims": "x.unsqueeze(dim)",
    "array": "torch.tensor(…)",
    "newaxis": "None",
    "random": "torch.rand and torch.randn",
    "power": "torch.pow, or **",
    "repeat": "torch.repeat_interleave",
    "triu_indices_from": "torch.triu_indices",
    "dot": "@",
    "fill": "x.fill_(…)",
    "nonzero_count": "torch.count_nonzero",
}


def of_numpy(found: re.Match[str], line: str) -> str:
    """Name what torch has in the place of NumPy's."""
    name = found[1] or found[2]
    return f"{name} is NumPy's; torch has {_OF_NUMPY[name]}" if name in _OF_NUMPY else ""


def of_misplaced(found: re.Match[str], line: str) -> str:
    """Say of a name that it has no value yet."""
    name = found[1] or found[2]
    return (
        f"{name} has no value yet at this line: it gets one further down, or where this run did not come by"
    )


LAYERS = frozenset(
    {"Linear", "Embedding", "LayerNorm", "RMSNorm", "MultiheadAttention", "Conv1d", "Conv2d", "Parameter"}
)
"""What of torch.nn has weights that are learned."""

RAISED: Mapping[str, Sentence] = {
    r"NameError: name '(\w+)' is not defined": _of_names,
    "leaf Variable that requires grad": (
        "+=, an assignment into it and what ends in _ write into a tensor that gradients are wanted for: make a new "
        "one, or, where it has to be written (an optimizer's step, a first value), write under torch.no_grad()"
    ),
    "only one element tensors can be converted|doesn't define __round__|integer tensors of a single element": (
        _of_one_number
    ),
    "elements cannot be converted to Scalar": ".item() gives one number, and this tensor holds several",
    "Boolean value of Tensor with more than one value": (
        "if, and, or, not and max want one yes or no, and this tensor holds several: &, |, ~, torch.where and "
        "torch.maximum work on each number, and `is None` asks whether there is one"
    ),
    r"Expected target size \[": (
        "cross_entropy wants the classes on axis 1: flatten the positions of both first, as in "
        "logits.reshape(-1, V) and targets.reshape(-1)"
    ),
    r"input batch_size \((\d+)\) to match target batch_size \((\d+)\)": _of_targets,
    r"Can't call numpy\(\) on Tensor that requires grad": (
        "NumPy lets no gradient through, and .detach() before it only hides that: stay in torch"
    ),
    "index out of range in self": (
        "an index is below 0, or not below the number of rows that it is looked up in: a token, or a position"
    ),
    "one of the following scalar types: Long, Int|tensors used as indices must be long|applicable to index tensor": (
        "what is looked up by is of whole numbers: make it with dtype=torch.long, or turn it with .long()"
    ),
    "UnicodeDecodeError: 'utf-8' codec can't decode": (
        "a character may be several bytes, and these begin or end within one: join all bytes first, then decode"
    ),
    "implicitly created only for scalar outputs": ".backward() begins at one number: take a mean or a sum first",
    "backward through the graph a second time": (
        "either .backward() is called twice on one result, or something that an earlier step computed is used again"
    ),
    r"shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)": _of_sizes,
    r"Dimension out of range \(expected to be in range of \[(-\d+), (-?\d+)\]": _of_axes,
    "bitwise_.* not implemented for '(Float|Double|Half|BFloat16)'": (
        "&, |, ^ and ~ work on True and False and on whole numbers: compare first, as in mask == 1"
    ),
    "not implemented for '(Long|Int|Bool|Byte)'|could not infer output dtype. Input dtype must be": (
        "torch does not have this for whole numbers or for True and False: turn the tensor with .float() first"
    ),
    "not implemented for '(Half|BFloat16)'": (
        "torch does not have this for so few digits here: compute it with .float(), and turn the result back"
    ),
    "can't be cast to the desired output type (Long|Int|Bool|Byte)": (
        "what is computed in place has fractions, which this tensor cannot hold: turn it with .float() first"
    ),
    "masked_fill_? only supports boolean masks|expected condition to be a boolean tensor": (
        "the mask is of numbers here: compare it, as in mask == 0, or turn it with .bool()"
    ),
    "cannot be converted to type .*(Half|BFloat16|float) without overflow": (
        "the number is too large for this dtype: float('-inf'), or torch.finfo(x.dtype).min, fits"
    ),
    "probability tensor contains either": (
        "multinomial takes probabilities: a softmax makes them of logits, but not of a row that is -inf all over or "
        "holds NaN"
    ),
    "'builtin_function_or_method' object is not subscriptable": "a function is called with ( ), not [ ]: x.size(0)",
    "'torch.Size' object is not callable": "x.shape is not a method: x.shape[0] is the first size",
    "'NoneType' (object|and)|and 'NoneType'": (
        "one value here is None, such as an argument that was left out, or what a function without return gives"
    ),
    "^AttributeError: 'tuple' object": "this is a tuple of several values: take it apart first, as in a, b = …",
    r"must be Tensor, not (int|float)": (
        "torch's functions take tensors, and this is one number: torch.tensor(…) makes a tensor of it, and math has "
        "functions of numbers"
    ),
    r"Module \[ModuleList\] is missing": "a ModuleList is a list: go through it and call each of its modules",
    r"Index tensor must have the same number of dimensions as input tensor": (
        "gather wants as many axes in its index as its input has: for one number of each row give the index an axis of "
        "length 1 more, as in .gather(-1, ids[..., None])[..., 0]; table[ids] takes whole rows"
    ),
    r"for [*+-]: '(\w+)' and 'Tensor'|for @: '(\w+)' and 'Tensor'": _of_layers,
    "'(float|int|bool)' object is not callable": (
        "this is a number, and it is called: is a layer to be made of it in __init__, as nn.Dropout(p)?"
    ),
    r"before Module.__init__\(\) call": "super().__init__() has to come before this line",
    r"shape '\[((?:-?\d{1,9}, ){0,15}-?\d{1,9})\]' is invalid for input of size (\d{1,9})": of_new_shape,
    r"index -?\d+ is out of bounds for dimension (\d{1,3}) with size (\d{1,9})": of_index,
    r"too many indices for tensor of dimension (\d)": "this tensor has fewer axes than are asked for in [ ]",
    r"not enough values to unpack \(expected (\d+)|too many values to unpack \(expected (\d+)": of_unpacking,
    r"unsupported operand type.*'(method|builtin_function_or_method|function)'|'method' object is not|"
    r"'(method|function)' object has no attribute '__": ("a function or method stands here without its ( )"),
    r"\w\.\w+\(\) takes (\d{1,3}) positional arguments? but (\d{1,3}) (?:was|were) given": of_self,
    r"torch\.return_types\.(max|min|sort|topk|kthvalue|median|mode)\b": (
        "with dim, this gives (values, indices): .values takes the first, and amax and amin give values alone"
    ),
    r"must be Tensor, not tuple": "this is a tuple of several values: take it apart first, as in a, b = …",
    r"must be Tensor, not (?:[A-Z]\w*|method|function|builtin_function_or_method)\b": (
        "this is the layer or the function itself: call it, as in self.norm(x)"
    ),
    r"but got float|(reshape|view)\(\) takes 1 positional|must be tuple of ints, not float": (
        "sizes are whole numbers: / gives a float, also of whole numbers, and // a whole one"
    ),
    r"Sizes of tensors must match except in dimension (\d)": of_joined,
    r"must be Tensor, not list": "this is a list: torch.tensor(…) or torch.stack(…) makes a tensor of it",
    r"cannot assign .* as parameter": (
        "this attribute is a parameter: put nn.Parameter(…) around what takes its place"
    ),
    r"expects a tensor with <= 2 dimensions": "t() is of matrices; x.mT exchanges the last two axes of any tensor",
    r"must be a matrix|must be a 3D tensor|1D tensors expected|expected 2D tensor": (
        "mm takes two matrices, bmm two tensors of three axes, dot two vectors; @ takes all of these"
    ),
    r"selected index k out of range": (
        "topk is asked for more than the axis holds: min(k, x.shape[-1]) of them are there"
    ),
    r"Tensors must have same number of dimensions": (
        "cat joins tensors that have equally many axes: x[:, None] or x.unsqueeze(dim) adds one"
    ),
    r"stack expects each tensor to be equal size": (
        "stack makes a new axis of tensors of one shape; cat joins them along an axis that is there"
    ),
    r"'Tensor' object has no attribute '(\w+)'|module 'torch' has no attribute '(\w+)'": of_numpy,
    r"Weights only load failed": (
        "a checkpoint is read as tensors, numbers, texts, lists and dicts alone: of a generator save get_state()"
    ),
    r"unhashable type": "keys of a dict and members of a set cannot be lists or the like: tuple(…) makes one",
    r"can only concatenate (list|tuple|str)|can't multiply sequence by non-int": (
        "+ and * put lists, tuples and texts together: torch.tensor(…) or a loop computes with what is in them"
    ),
    r"'float' object cannot be interpreted as an integer|slice indices must be integers": (
        "a whole number is wanted: / gives a float, also of whole numbers, and // a whole one"
    ),
    r"local variable '(\w+)' (?:referenced before|where)|cannot access local variable '(\w+)'": of_misplaced,
    r"dictionary changed size during iteration": "go through list(…) of it where the loop adds or removes",
    r"'Tensor' object is not callable": (
        "a tensor is indexed with [ ]; ( ) calls: has a layer's name been given to a tensor?"
    ),
    r"Only Tensors of floating point": "whole numbers cannot learn: make it with a dtype such as torch.float32",
}
"""By what torch or Python says, which is words of nothing else."""


def riddle_of(error: SubmissionRaised, call: CallRecord | None, made: Mapping[str, str] = NOTHING) -> str:
    """Return what an error's text means; "" where nothing has to be added.

    `made` are the parameters of the class that was called, with their defaults, where they are known.
    """
    text = f"{error.type_name}: {error.message}"
    line = error.frames[-1].text if error.frames else ""
    given = (*call.args, *call.kwargs.values()) if call is not None else ()
    # Of two axes .T exchanges both, as is intended: so it does of a weight, and of what torch calls a mat2.
    deep = any(isinstance(value, torch.Tensor) and value.ndim > 2 for value in given) and "mat2" not in text
    if deep and sizes_at_odds(text) is not None and re.search(r"\.T\b", re.sub(r"\bself(\.\w+)+", "", line)):
        return "x.T turns all axes round; x.transpose(-2, -1), or x.mT, exchanges the last two alone"
    for words, sentence in RAISED.items():
        if (found := re.search(words, text)) is not None:
            explained = sentence if isinstance(sentence, str) else sentence(found, line)
            return "; ".join(filter(None, (explained, _named_sizes(text, call, made))))
    return _named_sizes(text, call, made) or _of_neighbours(text)


def _of_neighbours(text: str) -> str:
    """Say of two sizes that one is longer by one, as with a token in front; only of two that nothing else names."""
    sizes = sizes_at_odds(text)
    if sizes is None or "must match the size" not in text or abs(sizes[0] - sizes[1]) != 1 or min(sizes) < 3:
        return ""
    longer = "left" if sizes[0] > sizes[1] else "right"
    return f"the {longer} one has one place more: does something come in front too late, or is one cut off too early?"


def _named_sizes(text: str, call: CallRecord | None, made: Mapping[str, str]) -> str:
    """Say what has the two sizes that do not fit: few axes of the arguments, or numbers of the constructor.

    One size alone explains nothing: it may be that of something else, such as a number of heads.
    """
    sizes = sizes_at_odds(text)
    if sizes is None or call is None:
        return ""
    names: dict[int, set[str]] = {}
    for value in (*call.args, *call.kwargs.values()):
        for name, size in (axes_of(value) or {}).items() if is_tensor(value) else ():
            names.setdefault(size, set()).add(name)
    phrases = {size: [f"the size of {name}" for name in sorted(some)] for size, some in names.items()}
    numbers = _numbers_of(call, made)
    for size, some in numbers.items():
        phrases[size] = [*phrases.get(size, ()), *some]
    for size in {*sizes} - phrases.keys():
        phrases[size] = [f"half of {name}" for name in numbers.get(2 * size, ())]
    known = [size for size in sizes if 0 < len(phrases.get(size, ())) < 4]
    listed_sizes = [f"{size} is {' or '.join(phrases[size])}" for size in known]
    both = len(listed_sizes) == 2 and len(set(sizes)) == 2
    return clean(", ".join(listed_sizes), WHOLE) if both else ""


def _numbers_of(call: CallRecord, made: Mapping[str, str]) -> dict[int, list[str]]:
    """Return what whole numbers stand for: 13 and 4 in `Net(13, width=4)`, or those that the call itself got."""
    values: dict[str, object] = dict(made)
    with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        tree = ast.parse(call.label.partition(").")[0].removesuffix(")") + ")", mode="eval").body
        if isinstance(tree, ast.Call):
            values |= {name: ast.unparse(value) for name, value in zip(made, tree.args, strict=False)}
            values |= {word.arg: ast.unparse(word.value) for word in tree.keywords if word.arg}
    if "(" not in call.label:
        values |= dict(zip(made, call.args, strict=False)) | call.kwargs
    found: dict[int, list[str]] = {}
    for name, value in values.items():
        # Never a tensor, nor what a submission made: only what the check wrote.
        if (type(value) is str and value.isdecimal() and len(value) < 10) or type(value) is int:
            found.setdefault(int(value), []).append(name)
    return found
