"""What torch says in riddles, for all katas: what an error's text means, and what a line does that no error tells.

Said as what is likely, where neither a mistake is recognised nor the check knows a cause. Unlike a cause it groups no
failures, so no mark depends on it. Each sentence is true wherever its words are.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch

from grader.engine.checks.describe import is_tensor
from grader.engine.checks.draw import axes_of
from grader.engine.checks.raised import sizes_at_odds
from grader.engine.checks.text import WHOLE, clean
from grader.engine.host.calls import CallRecord
from grader.engine.host.errors import SubmissionRaised
from grader.notebooks import placed

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
    return f"axes are counted from 0, and -1 is the last one: here from {found[1]} to {found[2]}"


def _of_names(found: re.Match[str], line: str) -> str:
    return (
        f"nothing is called {found[1]} here: what __init__ stores is self.{found[1]}, what another module has is "
        "imported first, and all else is spelt as where it was made"
    )


def _of_layers(found: re.Match[str], line: str) -> str:
    layer = found[1] or found[2]
    if layer not in LAYERS:
        return ""
    return f"a layer is called, as in self.NAME(x): the left side here is the {layer} itself, not what it makes of x"


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
}
"""By what torch or Python says, which is words of nothing else."""


def riddle_of(error: SubmissionRaised, call: CallRecord | None) -> str:
    """Return what an error's text means; "" where nothing has to be added."""
    text = f"{error.type_name}: {error.message}"
    line = error.frames[-1].text if error.frames else ""
    given = (*call.args, *call.kwargs.values()) if call is not None else ()
    # Of two axes .T exchanges both, as is intended: so it does of a weight, and of what torch calls a mat2.
    deep = any(isinstance(value, torch.Tensor) and value.ndim > 2 for value in given) and "mat2" not in text
    if deep and sizes_at_odds(text) is not None and re.search(r"\.T\b", re.sub(r"\bself(\.\w+)+", "", line)):
        return "x.T turns all axes round; x.transpose(-2, -1), or x.mT, exchanges the last two alone"
    for words, sentence in RAISED.items():
        if (found := re.search(words, text)) is not None:
            return sentence if isinstance(sentence, str) else sentence(found, line)
    return _named_sizes(text, call)


def _named_sizes(text: str, call: CallRecord | None) -> str:
    """Say which axes of the arguments have the two sizes that do not fit; each has to be that of one axis alone.

    One size alone explains nothing: it may be that of something else, such as a number of heads.
    """
    sizes = sizes_at_odds(text)
    if sizes is None or call is None:
        return ""
    names: dict[int, set[str]] = {}
    for value in (*call.args, *call.kwargs.values()):
        for name, size in (axes_of(value) or {}).items() if is_tensor(value) else ():
            names.setdefault(size, set()).add(name)
    listed_sizes = [
        f"{size} is the size of {next(iter(names[size]))}" for size in sizes if len(names.get(size, ())) == 1
    ]
    both = len(listed_sizes) == 2 and len(set(sizes)) == 2
    return clean(", ".join(listed_sizes), WHOLE) if both else ""


LAYERS = frozenset(
    {"Linear", "Embedding", "LayerNorm", "RMSNorm", "MultiheadAttention", "Conv1d", "Conv2d", "Parameter"}
)
"""What of torch.nn has weights that are learned."""


@dataclass(frozen=True)
class Likely:
    """A line that does something which no error tells, and the messages of which it may be the reason."""

    words: str
    """A pattern of the message."""
    sentence: str
    certain: bool = False
    """Whether it is the reason of such a failure, whatever else may be."""


def written_in(parts: Sequence[ast.AST]) -> Iterator[Likely]:
    """Return what a statement of a module holds of that kind; `parts` are its own nodes."""
    cut: set[int] = set()
    forwards = [part for part in parts if isinstance(part, ast.FunctionDef) and part.name == "forward"]
    inside = {part for forward in forwards for part in ast.walk(forward)}
    # What a branch stores in an attribute may be made at the first call alone.
    for branch in [part for part in inside if isinstance(part, ast.If)]:
        stores = [part for part in ast.walk(branch) if isinstance(part, ast.Assign)]
        inside -= {store.value for store in stores if isinstance(store.targets[0], ast.Attribute)}
    for part in parts:
        yield from _doubtful(part)
        match part:
            case ast.Call(ast.Attribute(attr=name) | ast.Name(id=name)) if name in LAYERS and part in inside:
                yield Likely(
                    "",
                    f"{placed(part.lineno)}, {_shown(part)}, makes new weights at each call: make the layer in "
                    "__init__, as self.NAME = …, and call that here",
                    certain=True,
                )
            case ast.Assign(
                [ast.Attribute(ast.Name("self"), name)], ast.Call(ast.Attribute(ast.Name("torch"), made))
            ):
                yield Likely(
                    rf"(?m)^\s*missing: .*\b{re.escape(name)}\b",
                    f"{placed(part.lineno)}, self.{name} = torch.{made}(…), makes a plain tensor: "
                    "nn.Parameter(…) around it makes it a parameter",
                    certain=True,
                )
            case ast.Call(ast.Attribute(_, "repeat"), [first, *rest]) if _spreads(first, rest):
                yield Likely(
                    "(?m)^first difference",
                    f"{placed(part.lineno)}, {_shown(part)}, lays whole copies one after the other (0 1 0 1); "
                    "repeat_interleave repeats each row (0 0 1 1)",
                )
            case ast.BinOp(_, ast.Pow(), power):
                quotients = [inner for inner in ast.walk(power) if isinstance(inner, ast.BinOp)]
                # After a true division, as in 2 * (i // 2) / D, the exponent is not whole.
                for inner in () if any(isinstance(other.op, ast.Div) for other in quotients) else quotients:
                    if isinstance(inner.op, ast.FloorDiv):
                        yield Likely(
                            "(?m)^first difference",
                            f"{placed(part.lineno)}, {_shown(inner)}: // in an exponent makes it a whole number; "
                            "should it be /?",
                        )
            case ast.expr() if _cuts(part) and part.lineno not in cut:
                cut.add(part.lineno)
                yield Likely(
                    "(?m)^(wrong|no) gradient",
                    f"{placed(part.lineno)}, {_shown(part)}, lets no gradient through: is that meant there?",
                )
            case ast.BoolOp(ast.Or(), [ast.Compare(), *_, ast.Constant(str(text))]) if text:
                yield Likely(
                    "",
                    f"{placed(part.lineno)}, {_shown(part)}, always holds, since a text alone counts as true: "
                    "compare on both sides of `or`",
                    certain=True,
                )
            case ast.ClassDef():
                yield from _of_methods(part)
            case ast.FunctionDef():
                yield from _of_zeros(part)


_DIFFERS = "(?m)^(first difference|wrong)"


def _doubtful(part: ast.AST) -> Iterator[Likely]:
    """Return what a node holds that is rarely on purpose, and otherwise is why values differ."""
    match part:
        case ast.For(body=[*_, ast.Return()]) if not any(isinstance(x, ast.Continue) for x in ast.walk(part)):
            yield Likely(
                _DIFFERS,
                f"{placed(part.body[-1].lineno)}: return is inside the loop, which ends in its first round: "
                "is that meant?",
            )
        case ast.Call(ast.Attribute(_, "deg2rad" | "rad2deg" | "radians" | "degrees")):
            yield Likely(
                _DIFFERS,
                f"{placed(part.lineno)}, {_shown(part)}: angles are radians here: is that meant?",
            )
        case ast.Call(ast.Attribute(_, "sin" | "cos" as name), [ast.BinOp() as angle]) if _in_degrees(angle):
            yield Likely(
                _DIFFERS,
                f"{placed(part.lineno)}, {_shown(part)}: {name} takes radians: half a turn is math.pi",
            )
        case ast.Subscript(
            ast.Call(ast.Attribute(_, "topk")), ast.Constant(1) | ast.UnaryOp(ast.USub(), ast.Constant(1))
        ):
            yield Likely(
                _DIFFERS,
                f"{placed(part.lineno)}, {_shown(part)}: topk gives (values, indices), so these are places: "
                "is that meant?",
            )


def _in_degrees(angle: ast.BinOp) -> bool:
    parts = list(ast.walk(angle))
    degrees = any(isinstance(part, ast.Constant) and part.value in (180, 360) for part in parts)
    turned = any(isinstance(part, ast.Call) or getattr(part, "attr", "") == "pi" for part in parts)
    return degrees and not (turned or any(getattr(part, "id", "") == "pi" for part in parts))


_LACKED = {
    "__init__": r"(?m)^TypeError: .*(__init__\(\)|takes no arguments)",
    "forward": 'missing the required "forward" function',
}
"""Methods that a class may lack, and what is raised then."""


def _of_methods(owner: ast.ClassDef) -> Iterator[Likely]:
    """Find methods that Python does not see: misspelt, or indented into another one."""
    methods = {node.name: node for node in owner.body if isinstance(node, ast.FunctionDef)}
    for name in _LACKED.keys() - methods.keys():
        lacks = f"{owner.name} has no {name}"
        for near in difflib.get_close_matches(name, methods, 1, 0.8):
            sentence = f"{lacks}; {placed(methods[near].lineno)} has {near}: is that meant?"
            yield Likely(_LACKED[name], sentence, certain=True)
        for method in methods.values():
            for node in ast.walk(method):
                if isinstance(node, ast.FunctionDef) and node.name == name and node is not method:
                    sentence = (
                        f"{lacks}; that of {placed(node.lineno)} is inside {method.name}: move it to the left"
                    )
                    yield Likely(_LACKED[name], sentence, certain=True)


def _cuts(node: ast.expr) -> bool:
    """Tell whether an expression keeps a gradient from what is in it."""
    match node:
        case ast.Call(ast.Attribute(_, "detach" | "numpy")) | ast.Attribute(_, "data"):
            return True
        case ast.Call(ast.Attribute(ast.Name("torch"), "no_grad" | "inference_mode")):
            return True
        case ast.Call(ast.Attribute(ast.Name("torch"), "tensor"), [value, *_]):
            names = {part.id for part in ast.walk(value) if isinstance(part, ast.Name)}
            return not names <= {"float", "math", "torch"}
    return False


def _shown(node: ast.AST) -> str:
    return clean(ast.unparse(node), 60)


def _spreads(first: ast.expr, rest: Sequence[ast.expr]) -> bool:
    """Tell whether a call of `repeat` copies along the first axis alone."""
    ones = [isinstance(size, ast.Constant) and size.value == 1 for size in (first, *rest)]
    return bool(rest) and not ones[0] and all(ones[1:])


def _of_zeros(function: ast.FunctionDef) -> Iterator[Likely]:
    """Find where a number that may be left out is tested for its truth, which 0 has not either."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = [
        *zip(reversed(positional), reversed(arguments.defaults), strict=False),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    optional = {
        argument.arg
        for argument, default in pairs
        if isinstance(default, ast.Constant) and default.value is None
    }
    for part in ast.walk(function):
        tests: Sequence[ast.expr] = ()
        match part:
            case ast.If(test) | ast.IfExp(test) | ast.While(test):
                tests = [test]
            case ast.BoolOp(_, values):
                tests = values
            case ast.UnaryOp(ast.Not(), operand):
                tests = [operand]
        for name in (value.id for value in tests if isinstance(value, ast.Name) and value.id in optional):
            yield Likely(
                rf"(?m)^called .*\b{re.escape(name)}=0\b(?!\.)",
                f"{placed(tests[0].lineno)} takes {name}=0 for left out: 0 counts as false, so write "
                f"`{name} is not None`",
                certain=True,
            )


def likeliest(found: Sequence[Likely], message: str) -> Likely | None:
    """Return what fits a message: what is certain, else what may be the reason; of several two."""
    fitting = [written for written in found if re.search(written.words, message)]
    chosen = [written for written in fitting if written.certain] or fitting
    sentences = list(dict.fromkeys(written.sentence for written in chosen))
    return Likely("", "; ".join(sentences[:2]), chosen[0].certain) if chosen else None
