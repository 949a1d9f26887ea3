"""What a line of a submission does that no error tells, for all katas: rules over its syntax tree.

Each sentence is true wherever its rule holds; that it is the reason of a failure is likely at most, so the rules come
in ranks, and only those of the first rank that fits are said.
"""

from __future__ import annotations

import ast
import difflib
import functools
import re
from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import torch

from grader.catalogue.pack_code import default_nodes
from grader.engine.checks.text import clean
from grader.engine.runner.riddles import LAYERS
from grader.notebooks import placed


@dataclass(frozen=True)
class Likely:
    """A line that does something which no error tells, and the messages of which it may be the reason."""

    words: str
    """A pattern of the message."""
    sentence: str
    certain: bool = False
    """Whether it is the reason of such a failure, whatever else may be."""
    at_line: bool = False
    """Whether it explains what was raised in just that line."""
    weak: bool = False
    """Whether right answers hold such lines, too: said only where nothing else fits."""


Rule = Callable[[Any], Iterator[Likely]]
RULES: list[tuple[type[ast.AST], Rule]] = []
"""What is looked at, by the kind of node that it is about."""


@functools.lru_cache(maxsize=2048)
def _walk(node: ast.AST) -> tuple[ast.AST, ...]:
    """Return a node and all below it: many rules go through the same functions."""
    return tuple(ast.walk(node))


def rule(*kinds: type[ast.AST]) -> Callable[[Rule], Rule]:
    """List a function that finds what is doubtful about nodes of these kinds."""

    def listed(find: Rule) -> Rule:
        RULES.extend((kind, find) for kind in kinds)
        return find

    return listed


def written_in(parts: Sequence[ast.AST]) -> Iterator[Likely]:
    """Return what a statement of a module holds of that kind; `parts` are its own nodes."""
    cut: set[int] = set()
    forwards = [part for part in parts if isinstance(part, ast.FunctionDef) and part.name == "forward"]
    inside = {part for forward in forwards for part in _walk(forward)}
    # What a branch stores in an attribute may be made at the first call alone.
    for branch in [part for part in inside if isinstance(part, ast.If)]:
        stores = [part for part in _walk(branch) if isinstance(part, ast.Assign)]
        inside -= {store.value for store in stores if isinstance(store.targets[0], ast.Attribute)}
    for part in parts:
        for kind, find in RULES:
            if isinstance(part, kind):
                yield from find(part)
        match part:
            case ast.Call(ast.Attribute(attr=name) | ast.Name(id=name)) if name in LAYERS and part in inside:
                yield Likely(
                    "",
                    f"{_at(part)}, makes new weights at each call: make the layer in "
                    "__init__, as self.NAME = …, and call that here",
                    certain=True,
                )
            case ast.expr() if _cuts(part) and part.lineno not in cut:
                cut.add(part.lineno)
                yield Likely(
                    "(?m)^(wrong|no) gradient",
                    f"{_at(part)}, lets no gradient through: is that meant there?",
                )
    _walk.cache_clear()  # it holds the tree


_NAN = r"(?m)^not finite .*got nan"
_DIFFERS = "(?m)^(first difference|wrong)"
ANY = r"(?ms)\A(?!.*^(?:no answer within|not run|your code ))"
"""Whatever a failure says but what ends a call from outside."""


@rule(ast.For, ast.Call, ast.Subscript)
def rarely_meant(part: ast.AST) -> Iterator[Likely]:
    """Return what a node holds that is rarely on purpose, and otherwise is why values differ."""
    match part:
        case ast.For(body=[*_, ast.Return()]) if not any(isinstance(x, ast.Continue) for x in _walk(part)):
            yield Likely(
                _DIFFERS,
                f"{placed(part.body[-1].lineno)}: return is inside the loop, which ends in its first round: "
                "is that meant?",
            )
        case ast.Call(ast.Attribute(_, "deg2rad" | "rad2deg" | "radians" | "degrees")):
            yield Likely(
                _DIFFERS,
                f"{_at(part)}: angles are radians here: is that meant?",
            )
        case ast.Call(ast.Attribute(_, "sin" | "cos" as name), [ast.BinOp() as angle]) if _in_degrees(angle):
            yield Likely(
                _DIFFERS,
                f"{_at(part)}: {name} takes radians: half a turn is math.pi",
            )
        case ast.Subscript(
            ast.Call(ast.Attribute(_, "topk")), ast.Constant(1) | ast.UnaryOp(ast.USub(), ast.Constant(1))
        ):
            yield Likely(
                _DIFFERS,
                f"{_at(part)}: topk gives (values, indices), so these are places: is that meant?",
            )


@rule(ast.ClassDef)
def unused_layers(owner: ast.ClassDef) -> Iterator[Likely]:
    """Find layers and parameters that __init__ makes, and nothing uses."""
    init = next((node for node in owner.body if getattr(node, "name", "") == "__init__"), None)
    read = {
        node.attr
        for node in _walk(owner)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
    }
    named = [
        (node.value.id, node.targets[0].attr)
        for node in _walk(init or owner)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Attribute)
        and isinstance(node.value, ast.Name)
    ]
    for node in _walk(init or owner):
        match node:
            case ast.Assign([ast.Name(name)], made) if _makes_layer(made):
                shared = [f"self.{attribute}" for value, attribute in named if value == name]
                if len(shared) > 1:
                    yield Likely(
                        ANY,
                        f"{' and '.join(shared)} are one and the same layer, that of {placed(node.lineno)}: "
                        "make one for each",
                        certain=True,
                    )
    # What is found by its name as a text, or by all that a module has, is used.
    whole = any(getattr(node, "id", "") in ("getattr", "vars") for node in _walk(owner))
    for node in _walk(init) if init is not None and not whole else ():
        match node:
            case ast.Assign([ast.Attribute(ast.Name("self"), name)], made) if (
                name not in read and _makes_layer(made)
            ):
                yield Likely(
                    ANY,
                    f"self.{name}, which {placed(node.lineno)} makes, is used by no method of {owner.name}: "
                    "is something else in its place?",
                )
            case ast.Assign([ast.Attribute(ast.Name("self")), *_, ast.Attribute()], ast.Call() as made):
                yield Likely(
                    "(?m)^(first difference|wrong names)",
                    f"{placed(node.lineno)} makes one {_shown(made)} for all of these names: make one for each",
                    certain=getattr(made.func, "attr", getattr(made.func, "id", "")) in LAYERS,
                )
            case ast.Assign([ast.Attribute(ast.Name("self"), name)], ast.List() | ast.ListComp() as made) if (
                any(_makes_layer(part) for part in _walk(made))
            ):
                yield Likely(
                    "(?m)^(wrong names|no gradient|wrong gradient|first difference)|missing:",
                    f"{placed(node.lineno)}: a plain list hides its layers from parameters() and state_dict(): "
                    "make it a ModuleList",
                    certain=True,
                )
            case ast.BinOp(ast.List([ast.Call() as made]), ast.Mult()) if _makes_layer(made):
                yield Likely(
                    ANY,
                    f"{_at(node)}: that is one and the same layer several times: "
                    "make a new one in each round, [… for _ in range(n)]",
                    certain=True,
                )


def _makes_layer(node: ast.AST) -> bool:
    """Tell whether something is called by a class's name."""
    name = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
    return name[:1].isupper()


def _in_degrees(angle: ast.BinOp) -> bool:
    parts = list(_walk(angle))
    degrees = any(isinstance(part, ast.Constant) and part.value in (180, 360) for part in parts)
    turned = any(isinstance(part, ast.Call) or getattr(part, "attr", "") == "pi" for part in parts)
    return degrees and not (turned or any(getattr(part, "id", "") == "pi" for part in parts))


_LACKED = {
    "__init__": r"(?m)^TypeError: .*(__init__\(\)|takes no arguments)",
    "forward": 'missing the required "forward" function',
}
"""Methods that a class may lack, and what is raised then."""


@rule(ast.ClassDef)
def lacking_methods(owner: ast.ClassDef) -> Iterator[Likely]:
    """Find methods that Python does not see: misspelt, or indented into another one."""
    methods = {node.name: node for node in owner.body if isinstance(node, ast.FunctionDef)}
    for name in _LACKED.keys() - methods.keys():
        lacks = f"{owner.name} has no {name}"
        for near in difflib.get_close_matches(name, methods, 1, 0.8):
            sentence = f"{lacks}; {placed(methods[near].lineno)} has {near}: is that meant?"
            yield Likely(_LACKED[name], sentence, certain=True)
        for method in methods.values():
            for node in _walk(method):
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
            names = {part.id for part in _walk(value) if isinstance(part, ast.Name)}
            return not names <= {"float", "math", "torch"}
    return False


def _shown(node: ast.AST) -> str:
    return clean(ast.unparse(node), 60)


def _at(node: ast.expr) -> str:
    """Return the line of an expression, and the expression."""
    return f"{placed(node.lineno)}, {_shown(node)}"


def _spreads(first: ast.expr, rest: Sequence[ast.expr]) -> bool:
    """Tell whether a call of `repeat` copies along the first axis alone."""
    ones = [isinstance(size, ast.Constant) and size.value == 1 for size in (first, *rest)]
    return bool(rest) and not ones[0] and all(ones[1:])


@rule(ast.FunctionDef)
def taken_for_left_out(function: ast.FunctionDef) -> Iterator[Likely]:
    """Find where a number that may be left out is tested for its truth, which 0 has not either."""
    optional = {
        name
        for name, default in default_nodes(function.args).items()
        if isinstance(default, ast.Constant) and default.value is None
    }
    for part in _walk(function):
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
    """Return what fits a message: what is certain, else of the line that raised, else what may be; of several two."""
    fitting = [written for written in found if re.search(written.words, message)]
    raised = _RAISED_IN.findall(message)
    of_line = [
        replace(written, at_line=True)
        for written in fitting
        if written.at_line
        or (raised and not written.weak and re.search(rf"\b{raised[-1]}\b", written.sentence))
    ]
    chosen = [written for written in fitting if written.certain] or of_line
    chosen = chosen or [written for written in fitting if not written.weak] or fitting
    sentences = list(dict.fromkeys(written.sentence for written in chosen))
    sentences = [
        said for said in sentences if not any(other != said and other in said for other in sentences)
    ]
    return replace(chosen[0], sentence="; ".join(sentences[:2])) if chosen else None


_RAISED_IN = re.compile(r"(?m)^ *\S+, ((?:cell \d+, )?line \d+) in ")
"""The place of a line that an exception came through."""


# Within a function -----------------------------------------------------------------------------------------------


@rule(ast.FunctionDef, ast.ClassDef)
def floored_floats(owner: ast.FunctionDef | ast.ClassDef) -> Iterator[Likely]:
    """Find // with an argument that is a float, or with an attribute that keeps one."""
    floats = {
        argument.arg
        for argument in _walk(owner)
        if isinstance(argument, ast.arg) and getattr(argument.annotation, "id", "") == "float"
    }
    attributes = {
        part.targets[0].attr
        for part in _walk(owner)
        if isinstance(part, ast.Assign)
        and isinstance(part.targets[0], ast.Attribute)
        and isinstance(part.value, ast.Name)
        and part.value.id in floats
    }
    for node in _walk(owner):
        match node:
            case ast.BinOp(ast.Attribute(_, left), ast.FloorDiv(), _) if left in attributes:
                yield _floored(node)
            case ast.BinOp(_, ast.FloorDiv(), _) if isinstance(owner, ast.FunctionDef) and (
                floats & {name.id for name in _names(node, ast.Load)}
            ):
                yield _floored(node)


@rule(ast.FunctionDef, ast.For, ast.While, ast.If)
def never_reached(block: ast.FunctionDef | ast.For | ast.While | ast.If) -> Iterator[Likely]:
    """Find statements after one that leaves their block."""
    for earlier, later in (*pairwise(block.body), *pairwise(getattr(block, "orelse", ()))):
        if isinstance(earlier, ast.Return | ast.Continue | ast.Break | ast.Raise):
            yield Likely(ANY, f"{placed(later.lineno)} never runs: {placed(earlier.lineno)} leaves before it")


@rule(ast.FunctionDef)
def added_after_division(function: ast.FunctionDef) -> Iterator[Likely]:
    """Find a small number that is added to a quotient in place of its divisor."""
    below: set[ast.AST] = set()
    for node in _walk(function):
        match node:
            case ast.BinOp(_, ast.Div(), part) | ast.Call(
                ast.Attribute(part, "sqrt" | "rsqrt" | "log" | "add")
            ):
                below |= set(_walk(part))
            case ast.Call(ast.Attribute(ast.Name("torch" | "math"), "sqrt" | "rsqrt"), [part]):
                below |= set(_walk(part))
    for node in _walk(function):
        match node:
            case ast.BinOp(ast.BinOp(_, ast.Div(), _), ast.Add(), small) if (
                "eps" in ast.unparse(small) and node not in below
            ):
                yield Likely(
                    _DIFFERS,
                    f"{placed(node.lineno)}: {_shown(small)} is added after the division: "
                    "put ( ) round the sum that it should be part of",
                    weak=True,
                )


@rule(ast.FunctionDef)
def fixed_axis(function: ast.FunctionDef) -> Iterator[Likely]:
    """Find a fixed axis in a function whose axis is an argument."""
    axes = {argument.arg for argument in (*function.args.args, *function.args.kwonlyargs)} & {"dim", "axis"}
    for node in _walk(function) if axes else ():
        match node:
            case ast.keyword("dim" | "axis", ast.Constant() | ast.UnaryOp() as value):
                yield Likely(
                    ANY,
                    f"{placed(value.lineno)} has {node.arg}={ast.unparse(value)}, whatever the argument {min(axes)} "
                    "says",
                )


def _floored(node: ast.BinOp) -> Likely:
    return Likely(
        f"{ANY}|floor_div",
        f"{_at(node)}: // cuts the fraction off and lets no gradient through; / divides",
        certain=True,
    )


@rule(ast.FunctionDef)
def lost_axes(function: ast.FunctionDef) -> Iterator[Likely]:
    """Find a name that has an axis fewer than what it was made of, and meets that again."""
    fewer: dict[str, tuple[str, int]] = {}
    for node in _walk(function):
        match node:
            case ast.Assign(
                [ast.Name(name)],
                ast.Subscript(source, ast.Tuple([*_, ast.Constant(int()) | ast.UnaryOp(_, ast.Constant())])),
            ):
                fewer[name] = _root(source), node.lineno
            case ast.Assign([ast.Name(name)], made):
                while isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute):
                    keeps = any(word.arg in ("keepdim", "keepdims") for word in made.keywords)
                    if made.func.attr in _REDUCTIONS and (made.args or made.keywords) and not keeps:
                        fewer[name] = _root(made), node.lineno
                    made = made.func.value
    for node in _walk(function):
        match node:
            case ast.BinOp(left, _, right) | ast.Compare(left, _, [right]):
                made_of, line = fewer.get(_root(right), ("", 0))
                known = made_of not in ("", _root(right), "torch", "np", "F")
                if known and line < node.lineno and not isinstance(right, ast.Subscript):
                    same = isinstance(left, ast.Name) and left.id == made_of
                    yield Likely(
                        # Of another tensor it may be right: there only the sizes tell.
                        ANY if same else rf"(?s)\b{placed(node.lineno)} in .*must match",
                        f"{_root(right)} of {placed(line)} has an axis fewer than {made_of}, and {placed(node.lineno)} "
                        "matches axes from the right: did the right axis go, and should it stay (keepdim=True)?",
                    )


def _root(node: ast.expr) -> str:
    """Return the name that a chain of methods, attributes and items begins with."""
    while not isinstance(node, ast.Name):
        match node:
            case ast.Call(ast.Attribute(inner)) | ast.Attribute(inner) | ast.Subscript(inner):
                node = inner
            case _:
                return ""
    return node.id


def _names(node: ast.AST, context: type[ast.expr_context]) -> list[ast.Name]:
    return [part for part in _walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, context)]


@rule(ast.FunctionDef)
def unread(function: ast.FunctionDef) -> Iterator[Likely]:
    """Find names that are given something which nothing reads."""
    read = Counter(name.id for name in _names(function, ast.Load))
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    shared = {
        name for node in _walk(function) if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names
    }
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    whole = {"locals", "vars", "eval", "exec"} & read.keys()
    if whole or (body and isinstance(body[0], ast.Raise | ast.Pass)) or len(function.body) != len(body) == 0:
        return
    for argument in arguments:
        if not (read[argument.arg] or argument.arg.startswith("_") or argument.arg in ("self", "cls")):
            yield Likely(ANY, f"{function.name} never reads its argument {argument.arg}", weak=True)
    looped = {
        name.id
        for node in _walk(function)
        if isinstance(node, ast.For)
        for name in _names(node.target, ast.Store)
    }
    for node in _walk(function):
        match node:
            case ast.Assign([ast.Name(name)], value) if not (
                read[name] or name in shared or name in looped or name.startswith("_")
            ):
                yield Likely(
                    ANY,
                    f"{placed(node.lineno)}: nothing reads {name}, which gets {_shown(value)}: "
                    "is another name in its place?",
                )


@rule(ast.FunctionDef)
def begun_anew(function: ast.FunctionDef) -> Iterator[Likely]:
    """Find what begins at 0 or empty before a loop, and is made anew in each of its rounds."""
    for body in (getattr(node, "body", []) for node in _walk(function)):
        started: set[str] = set()
        zeros: set[str] = set()
        for node in body if isinstance(body, list) else ():
            match node:
                case ast.Assign([ast.Name(name)], ast.Constant(0) | ast.List([]) | ast.Dict([])):
                    started.add(name)
                case ast.Assign(
                    [ast.Name(name)], ast.Call(ast.Attribute(_, "zeros" | "zeros_like" | "new_zeros"))
                ):
                    zeros.add(name)
                case ast.For() | ast.While():
                    yield from _not_carried(node, zeros)
                    for step in node.body:
                        match step:
                            case ast.Assign([ast.Name(name)]) if name in started:
                                end = step.end_lineno or step.lineno
                                if all(
                                    part.id != name or part.lineno > end for part in _names(node, ast.Load)
                                ):
                                    yield _replacing(step)


def _not_carried(loop: ast.For | ast.While, zeros: Container[str]) -> Iterator[Likely]:
    """Find what each round reads and then makes anew, next to something that grows from round to round."""
    grows, anew = False, []
    for step in loop.body:
        match step:
            case ast.AugAssign(ast.Name(name)) if name in zeros:
                grows = True
            case ast.Assign([ast.Name(name)], value) if name in zeros:
                if any(part.id == name for part in _names(value, ast.Load)):
                    grows = True
                elif any(part.id == name and part.lineno < step.lineno for part in _names(loop, ast.Load)):
                    anew.append(step)
    # A running maximum is made anew, too.
    yield from (replace(_replacing(step), weak=True) for step in anew if grows)


def _replacing(step: ast.Assign) -> Likely:
    return Likely(
        ANY,
        f"{placed(step.lineno)}, {_shown(step)}, replaces what earlier rounds made: should it be added to that?",
    )


@rule(ast.If)
def counted_where_it_begins(branch: ast.If) -> Iterator[Likely]:
    """Find a count that grows only in the branch that begins it, which runs once."""
    begun: set[str] = set()
    for step in branch.body:
        match step:
            case ast.Assign([ast.Subscript() | ast.Attribute() as target], ast.Constant(0)):
                begun.add(ast.unparse(target))
            case ast.Assign(
                [ast.Subscript() | ast.Attribute() | ast.Name() as owner], ast.Dict(keys, values)
            ):
                begun |= {
                    f"{ast.unparse(owner)}[{ast.unparse(key)}]"
                    for key, value in zip(keys, values, strict=True)
                    if key is not None and isinstance(value, ast.Constant) and value.value == 0
                }
            case ast.AugAssign(target, ast.Add()) if ast.unparse(target) in begun:
                yield Likely(
                    "",
                    f"{placed(step.lineno)}, {_shown(step)}, is inside the `if` of {placed(branch.lineno)}, which also "
                    "begins it at 0, so it never grows further: is it indented too far?",
                    certain=True,
                )


@rule(ast.FunctionDef)
def gone_through_twice(function: ast.FunctionDef) -> Iterator[Likely]:
    """Find an argument that two loops go through, of which an iterator leaves the second one nothing."""
    names = {argument.arg for argument in (*function.args.args, *function.args.kwonlyargs)}
    names -= {name.id for name in _names(function, ast.Store)}
    lines: dict[str, list[int]] = {}
    for node in _walk(function):
        match node:
            case ast.For(iter=ast.Name() as held) | ast.comprehension(iter=ast.Name() as held) if (
                held.id in names
            ):
                lines.setdefault(held.id, []).append(held.lineno)
    for name, places in lines.items():
        if len(set(places)) > 1:
            first, second = sorted(set(places))[:2]
            yield Likely(
                "(?i)iterator|generator",
                f"{placed(first)} and {placed(second)} both go through {name}: the first uses an iterator up; "
                f"{name} = list({name}) before them keeps it",
                certain=True,
            )


@rule(ast.For)
def unread_in_loops(loop: ast.For) -> Iterator[Likely]:
    """Find loops that do not read what they go through, or that only give its name away."""
    read = {name.id for name in _names(loop, ast.Load)}
    names = [name.id for name in _names(loop.target, ast.Store)]
    counts = isinstance(loop.iter, ast.Call) and getattr(loop.iter.func, "id", "") == "range"
    if not counts and names and not any(name in read or name.startswith("_") for name in names):
        yield Likely(ANY, f"{placed(loop.lineno)}: nothing in this loop reads {' or '.join(names)}")
    for node in (part for statement in loop.body for part in _walk(statement)):
        match node:
            case ast.Assign([ast.Name(name)]) if name in names:
                end = node.end_lineno or node.lineno
                if not any(part.id == name and part.lineno > end for part in _names(loop, ast.Load)):
                    yield Likely(
                        ANY,
                        f"{placed(node.lineno)}, {name} = …, only gives the name {name} to a new value: "
                        f"to write into the old one, {name}.copy_(…) or {name}[…] = …",
                    )


@rule(ast.FunctionDef)
def never_written_back(function: ast.FunctionDef) -> Iterator[Likely]:
    """Find what is read out of a dict, computed anew and never written back."""
    origin: dict[str, str] = {}
    written: dict[str, int] = {}
    for node in _walk(function):
        match node:
            case ast.Assign([ast.Name(name)], ast.Subscript(_, ast.Constant(str())) as source):
                origin[name] = ast.unparse(source)
            case ast.Assign([ast.Tuple(names)], ast.Tuple(values)) if len(names) == len(values):
                for target, value in zip(names, values, strict=True):
                    match target, value:
                        case ast.Name(name), ast.Subscript(_, ast.Constant(str())):
                            origin[name] = ast.unparse(value)
            case ast.Subscript(_, ast.Constant(str()), ast.Store()):
                written[ast.unparse(node)] = node.lineno
            case ast.Dict(_, values):
                written |= {name.id: node.lineno for value in values for name in _names(value, ast.Load)}
            case ast.Call(ast.Attribute(_, "update" | "copy_")):
                written |= {name.id: node.lineno for name in _names(node, ast.Load)}
    for node in _walk(function):
        match node:
            case ast.Assign([ast.Name(name)], ast.BinOp() as value) if name in origin:
                again = any(part.id == name for part in _names(value, ast.Load))
                if again and max(written.get(origin[name], 0), written.get(name, 0)) <= node.lineno:
                    yield Likely(
                        ANY,
                        f"{placed(node.lineno)}, {name} = …, makes a new tensor, and {origin[name]} stays as it "
                        f"was: write it back, {origin[name]} = {name}",
                    )


@rule(ast.FunctionDef)
def never_stored(function: ast.FunctionDef) -> Iterator[Likely]:
    """Find what a function puts into a dict and then computes further, without ever putting that back."""
    begun: set[str] = set()
    read: Counter[str] = Counter()
    stored: dict[str, list[ast.AST]] = {}
    for node in _walk(function):
        match node:
            case ast.Subscript(_, ast.Constant(str() as key), ast.Load()):
                read[key] += 1
            case ast.Subscript(_, ast.Constant(str() as key)):
                begun.add(key)
            case ast.Dict(keys, _):
                begun |= {
                    key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)
                }
            case ast.Call(ast.Attribute(_, "setdefault"), [ast.Constant(str() as key), *_]):
                begun.add(key)
        match node:
            # What is put anywhere, or given to a method that may, is not lost.
            case ast.Assign([ast.Subscript() | ast.Attribute()], value) | ast.Return(value) if (
                value is not None
            ):
                for name in _names(value, ast.Load):
                    stored.setdefault(name.id, []).append(node)
            case ast.Dict() | ast.Call(ast.Attribute(_, "update" | "copy_" | "append" | "setdefault")):
                for name in _names(node, ast.Load):
                    stored.setdefault(name.id, []).append(node)
    for node in _walk(function):
        match node:
            case ast.Assign([ast.Name(made)], ast.BinOp() as value) if made not in stored:
                for part in _walk(value):
                    match part:
                        case ast.Subscript(_, ast.Constant(str() as key)) if key in begun and read[key] == 1:
                            place = ast.unparse(part)
                            yield Likely(
                                ANY,
                                f"{placed(node.lineno)}, {made} = …, reads {place}, which stays as it was: "
                                f"write it back, {place} = {made}",
                            )


_MADE = re.compile(
    r"zeros|ones|empty|full|rand|clone|len|range|append|pop|next|size|Linear|Parameter|Embedding"
)


@rule(ast.FunctionDef)
def computed_twice(function: ast.FunctionDef) -> Iterator[Likely]:
    """Find two names that get the same, which copying a line and changing half of it leaves."""
    if function.name == "__init__":
        return
    seen: dict[str, ast.Assign] = {}
    for node in (part for part in _walk(function) if isinstance(part, ast.Assign)):
        text, target = ast.unparse(node.value), ast.unparse(node.targets[0])
        if not any(isinstance(part, ast.Call | ast.BinOp) for part in _walk(node.value)) or _MADE.search(
            text
        ):
            continue
        earlier = seen.setdefault(text, node)
        # In two branches the same may be meant.
        if (
            earlier is not node
            and ast.unparse(earlier.targets[0]) != target
            and earlier.col_offset == node.col_offset
        ):
            yield Likely(
                ANY,
                f"{placed(earlier.lineno)} and {placed(node.lineno)} both compute {_shown(node.value)}: is that meant?",
            )


_IN_PLACE_TOO = frozenset(
    {"add", "sort", "split", "to", "float", "half", "double", "cpu", "cuda", "apply", "copy", "zero"}
)
"""Methods of sets, lists and modules that change these."""


@rule(ast.Expr, ast.FunctionDef, ast.Global)
def dropped_results(node: ast.AST) -> Iterator[Likely]:
    """Find statements whose result is dropped."""
    match node:
        case ast.Expr(ast.Call(ast.Attribute(owner, name)) as call) if not name.endswith("_"):
            of_torch = isinstance(owner, ast.Name) and owner.id in ("torch", "F")
            drops = (
                hasattr(torch, name) and hasattr(torch.Tensor, name)
                if of_torch
                else hasattr(torch.Tensor, name)
            )
            pure = hasattr(torch.Tensor, f"{name}_") or name in _PURE
            if drops and pure and name not in _IN_PLACE_TOO:
                yield Likely(
                    ANY,
                    f"{placed(node.lineno)}, {_shown(call)}: what {name} returns is dropped, and nothing is changed: "
                    "give it a name",
                    certain=True,
                )
        case ast.Expr(ast.Attribute(_, str()) as value):
            yield Likely(
                ANY,
                f"{placed(node.lineno)}, {_shown(value)}, calls nothing: {_shown(value)}() does",
                certain=True,
            )
        case ast.Expr(ast.Compare() | ast.BinOp() as value):
            yield Likely(
                ANY, f"{placed(node.lineno)}, {_shown(value)}: what this computes is dropped", certain=True
            )
        case ast.FunctionDef(args=arguments):
            for default in (*arguments.defaults, *arguments.kw_defaults):
                if isinstance(default, ast.List | ast.Dict | ast.Set):
                    yield Likely(
                        ANY,
                        f"{placed(default.lineno)}: a default such as {_shown(default)} is made once and kept "
                        "between calls: None, and a new one inside",
                    )
        case ast.Global(names):
            yield Likely(
                ANY, f"{placed(node.lineno)}: {', '.join(names)} outlives the call, and nothing may be kept"
            )


_PURE = frozenset(
    {
        "view",
        "reshape",
        "permute",
        "expand",
        "flatten",
        "repeat",
        "softmax",
        "log_softmax",
        "type",
        "long",
        "bool",
        "int",
        "detach",
        "sum",
        "mean",
        "flip",
        "roll",
        "gather",
        "where",
        "cat",
        "stack",
        "contiguous",
        "expand_as",
        "repeat_interleave",
    }
)
_REDUCTIONS = ("mean", "sum", "std", "var", "max", "min", "amax", "amin", "norm")


@rule(ast.Call, ast.BinOp)
def not_a_number(node: ast.AST) -> Iterator[Likely]:
    """Find where NaN may begin."""
    match node:
        case ast.Call(ast.Attribute(owner, "sqrt" | "log" | "log2" | "rsqrt" as name), args) if (
            getattr(owner, "id", "") not in ("math", "np")  # which raise
        ):
            inner = args[0] if args else owner
            what = "logarithm" if "log" in name else "root"
            if not _held_above(inner):
                yield Likely(
                    _NAN,
                    f"{_at(node)}: the {what} of a number below 0 is NaN: "
                    f"can {clean(ast.unparse(inner), 40)} get there?",
                )
        case ast.BinOp(inner, ast.Pow(), ast.Constant(0.5)) if not _held_above(inner):
            yield Likely(_NAN, f"{_at(node)}: the root of a number below 0 is NaN")
        case ast.BinOp(_, ast.Div(), ast.Call(ast.Attribute(_, "sum" | "count_nonzero" | "std")) as inner):
            yield Likely(
                _NAN, f"{placed(node.lineno)}: 0 / 0 is NaN: can {clean(ast.unparse(inner), 50)} be 0?"
            )
        case ast.Call(ast.Attribute(_, "softmax")):
            yield Likely(
                _NAN,
                f"{_at(node)}: the softmax of a row that is -inf all over is NaN: can that be?",
            )


@rule(ast.Call)
def infinite(node: ast.AST) -> Iterator[Likely]:
    """Find the wrong infinity."""
    match node:
        case ast.Call(
            ast.Attribute(_, "masked_fill" | "masked_fill_" | "where" | "full" | "full_like"), args
        ) if any(ast.unparse(part) in _INFINITE for part in args) and not any(
            "inf" in ast.unparse(part) for part in args if ast.unparse(part) not in _INFINITE
        ):
            yield Likely(
                ANY,
                f"{_at(node)}, puts in inf, the largest of all: should it be -inf?",
                certain=True,
            )


@rule(ast.BinOp, ast.Call)
def cut_off(node: ast.AST) -> Iterator[Likely]:
    """Find what takes fractions away."""
    match node:
        case ast.BinOp(left, ast.FloorDiv(), right) if any(map(_is_fractional, (left, right))):
            yield _floored(node)
        case ast.Call(ast.Name("int" | "round" as name), [argument]) if _is_fractional(argument):
            yield Likely(
                _DIFFERS,
                f"{_at(node)}: {name} takes the fraction away: is that meant?",
            )


@rule(ast.Call)
def without_dim(node: ast.AST) -> Iterator[Likely]:
    """Find a softmax that is not given its axis."""
    match node:
        case ast.Call(ast.Attribute(owner, "softmax" | "log_softmax" as name), args, keywords):
            given = (
                args[1:] if isinstance(owner, ast.Name) and owner.id in ("F", "functional", "torch") else args
            )
            deep = isinstance(owner, ast.Attribute) and owner.attr == "functional"
            if not (given[1:] if deep else given) and not any(
                word.arg in ("dim", "axis") for word in keywords
            ):
                yield Likely(
                    ANY,
                    f"{_at(node)}: without dim, {name} takes axis 0 or 1: dim=-1 is the last one",
                )


@rule(ast.BinOp, ast.Compare)
def in_another_order(node: ast.AST) -> Iterator[Likely]:
    """Find operators that are computed in another order than is likely meant."""
    match node:
        case ast.BinOp(divided, ast.Div(), ast.Constant(1)):
            yield Likely(
                ANY,
                f"{placed(node.lineno)}: {_shown(divided)} is divided by 1, before the rest: "
                "put ( ) round all that it should be divided by",
                certain=True,
            )
        case ast.Compare(left, _, others):
            for mixed in (left, *others):
                match mixed:
                    case ast.BinOp(_, ast.BitAnd(), ast.BinOp(_, ast.Sub(), ast.Constant(1))):
                        pass  # whether a number is a power of two
                    case ast.BinOp(_, ast.BitAnd() | ast.BitOr()):
                        yield Likely(
                            ANY,
                            f"{placed(node.lineno)}: {_shown(mixed)} is computed before it is compared: "
                            "put ( ) round each comparison",
                        )


@rule(ast.BinOp, ast.Call)
def same_twice(node: ast.AST) -> Iterator[Likely]:
    """Find one thing at two places."""
    match node:
        case ast.BinOp(
            ast.BinOp(_, ast.Mult()) as left, ast.Add() | ast.Sub(), ast.BinOp(_, ast.Mult()) as right
        ):
            pairs = [{ast.unparse(part.left), ast.unparse(part.right)} for part in (left, right)]
            # Sums of products of numbers, as sizes and counts are, often have a factor in common.
            factors = (left.left, left.right, right.left, right.right)
            if any(isinstance(factor, ast.BinOp | ast.Constant) for factor in factors):
                return
            if (both := pairs[0] & pairs[1]) and pairs[0] != pairs[1]:
                yield Likely(
                    _DIFFERS,
                    f"{_at(node)}: both products are with {both.pop()}: is that meant?",
                    weak=True,
                )
        case ast.Call(ast.Attribute(_, "stack" | "cat" as name), [ast.List(parts) | ast.Tuple(parts), *_]):
            texts = [ast.unparse(part) for part in parts]
            if len(texts) > 1 and len(set(texts)) == 1:
                yield Likely(
                    ANY,
                    f"{placed(node.lineno)}: {name} gets {clean(texts[0], 40)} more than once: is that meant?",
                    weak=True,
                )
        case ast.BinOp(left, ast.MatMult(), right) if _bare(left) and _bare(left) == _bare(right):
            yield Likely(
                ANY,
                f"{_at(node)}, multiplies {_bare(left)} with itself: is that meant?",
                weak=True,
            )


@rule(ast.BinOp, ast.Assign)
def reduced(node: ast.AST) -> Iterator[Likely]:
    """Find a mean or the like over the wrong axes, or that loses its own."""
    while isinstance(node, ast.BinOp):
        match node.right:
            case ast.Call(ast.Attribute(inner, "log" | "sqrt" | "exp" | "abs"), []):
                node = ast.copy_location(ast.BinOp(node.left, node.op, inner), node)
            case _:
                break
    match node:
        case ast.BinOp(left, ast.Sub() | ast.Div(), ast.Call(ast.Attribute(owner, name), args, keywords)) if (
            name in _REDUCTIONS and not any(word.arg in ("keepdim", "keepdims") for word in keywords)
        ):
            module = isinstance(owner, ast.Name) and owner.id in ("torch",)
            base, dims = (args[0] if module and args else owner), (args[1:] if module else args)
            has_dim = bool(dims) or any(word.arg in ("dim", "axis") for word in keywords)
            calls = [part for part in _walk(left) if isinstance(part, ast.Call)]
            reduced = any(getattr(part.func, "attr", "") in _REDUCTIONS for part in calls)
            alike = _root(base) and _root(base) in {name.id for name in _names(left, ast.Load)}
            if alike and not reduced and len(dims) < 2:
                what = (
                    "without keepdim=True the axis is gone, and what is left is matched from the right"
                    if has_dim
                    else f"without dim, {name} goes over all axes, the batch too"
                )
                yield Likely(ANY, f"{_at(node)}: {what}")
        case ast.Assign(_, ast.Call(ast.Attribute(owner, name), [], []) as call) if (
            name in (*_REDUCTIONS, "argmax", "argmin") and getattr(owner, "id", "") != "torch"
        ):
            yield Likely(
                "(?m)^first difference",
                f"{placed(node.lineno)}, {_shown(call)}, goes over all axes, the batch too: is dim meant?",
                weak=True,
            )


@rule(ast.Call)
def split_for_found(node: ast.AST) -> Iterator[Likely]:
    """Find a split by the pattern of what is looked for."""
    match node:
        case ast.Call(ast.Attribute(ast.Name("re"), "split"), [ast.Name(name), *_]) if name.isupper():
            yield Likely(
                ANY,
                f"{_at(node)}: split gives what is between the matches of {name}; findall gives the matches",
                certain=True,
            )


@rule(ast.Call)
def short_ranges(node: ast.AST) -> Iterator[Likely]:
    """Find ranges that leave one out."""
    match node:
        case ast.Call(ast.Name("range"), [*_, ast.BinOp(_, ast.Sub(), ast.Constant(1))]):
            yield Likely(
                _DIFFERS,
                f"{_at(node)}, leaves the last round out: is that meant?",
                weak=True,
            )
        case ast.Call(ast.Name("range"), [ast.Constant(1), _]):
            yield Likely(_DIFFERS, f"{_at(node)}, begins at 1: is that meant?", weak=True)


@rule(ast.FunctionDef)
def added_to_the_item(function: ast.FunctionDef) -> Iterator[Likely]:
    """Find `x[i] + 1` next to `x[i]`, where `x[i + 1]` may be meant."""
    read = Counter(ast.unparse(node) for node in _walk(function) if isinstance(node, ast.Subscript))
    for node in _walk(function):
        match node:
            case ast.BinOp(
                ast.Subscript(ast.Name(name), ast.Name(index), ast.Load()) as item,
                ast.Add() | ast.Sub() as sign,
                ast.Constant(1),
            ) if read[ast.unparse(item)] > 1:
                way, side = ("+", "next") if isinstance(sign, ast.Add) else ("-", "last")
                yield Likely(
                    _DIFFERS,
                    f"{_at(node)}, changes what {name} holds at {index}; "
                    f"{name}[{index} {way} 1] is what it holds at the {side} place",
                )


@rule(ast.BinOp)
def divided_by_rows(node: ast.AST) -> Iterator[Likely]:
    """Find a sum over all axes that is divided by the length of the first one."""
    match node:
        case ast.BinOp(left, ast.Div(), ast.Call(ast.Name("len"), [held])) if _sums(_number(left), False):
            yield Likely(
                _DIFFERS,
                f"{_at(node)}: len({_shown(held)}) is the size of its first axis alone, and the sum is over all of "
                "them: .numel() counts every number",
                weak=True,
            )


@rule(ast.ClassDef)
def vectors_in_products(owner: ast.ClassDef) -> Iterator[Likely]:
    """Find a matrix product with a parameter that is a vector, which sums where each entry may be meant."""
    vectors = {
        node.targets[0].attr
        for node in _walk(owner)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Attribute)
        and re.fullmatch(r"(nn|torch\.nn)\.Parameter\(torch\.\w+\([\w.]+\)\)", ast.unparse(node.value))
    }
    for node in _walk(owner):
        match node:
            case ast.BinOp(_, ast.MatMult(), ast.Attribute(ast.Name("self"), name)) if name in vectors:
                yield Likely(
                    ANY,
                    f"{_at(node)}: self.{name} is a vector, so @ sums over the last axis, which is gone then; "
                    "* multiplies each entry",
                    at_line=True,
                )


@rule(ast.Assign)
def misspelt_settings(node: ast.AST) -> Iterator[Likely]:
    """Find an attribute of a tensor that is set by nearly its name, which torch takes and never reads."""
    match node:
        case ast.Assign([ast.Attribute(ast.Name(owner), attribute)]) if owner not in ("self", "torch"):
            near = difflib.get_close_matches(attribute, ("requires_grad", "training"), 1, 0.85)
            if near and attribute not in near:
                yield Likely(
                    "",
                    f"{placed(node.lineno)} sets {attribute}, which nothing reads: is it {near[0]}?",
                    certain=True,
                )


@rule(ast.FunctionDef)
def divided_by_all(function: ast.FunctionDef) -> Iterator[Likely]:
    """Find sums along an axis that are divided by a sum over all axes."""
    along = {
        node.targets[0].id
        for node in _walk(function)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and _sums(node.value, True)
    }
    for node in _walk(function):
        match node:
            case ast.BinOp(left, ast.Div(), divisor) if _sums(left, True) or getattr(left, "id", "") in along:
                while not _sums(divisor, False):
                    match divisor:
                        case ast.Call(ast.Attribute(inner, "clamp" | "clamp_min" | "float" | "item" | "to")):
                            divisor = inner
                        case _:
                            break
                else:
                    yield Likely(
                        _DIFFERS,
                        f"{_at(node)}: {_shown(divisor)} is over all axes, the batch too, "
                        "and what it divides is not",
                    )


def _number(node: ast.expr) -> ast.expr:
    """Return what a number is taken of: without a sign before it, or `.item()` after it."""
    match node:
        case ast.UnaryOp(_, inner) | ast.Call(ast.Attribute(inner, "item")):
            return _number(inner)
    return node


def _sums(node: ast.expr, along: bool) -> bool:
    """Tell whether something is a sum: along an axis, or over all of them."""
    match node:
        case ast.Call(ast.Attribute(owner, "sum"), args, keywords) if getattr(owner, "id", "") != "torch":
            return along == bool(args or any(word.arg in ("dim", "axis") for word in keywords))
    return False


@rule(ast.FunctionDef)
def length_of_another_axis(function: ast.FunctionDef) -> Iterator[Likely]:
    """Find the length of another axis than that which grows where tensors are joined."""
    grows: dict[str, tuple[int, int]] = {}
    for node in _walk(function):
        match node:
            case ast.Call(
                ast.Attribute(_, "cat" | "concat"),
                [ast.List([first, *_]) | ast.Tuple([first, *_]), *rest],
                keywords,
            ):
                dims = [*rest, *(word.value for word in keywords if word.arg in ("dim", "axis"))]
                if dims and isinstance(dims[0], ast.Constant) and isinstance(dims[0].value, int):
                    grows[ast.unparse(first)] = dims[0].value, node.lineno
    lengths: dict[str, dict[int, ast.expr]] = {}
    for node in _walk(function):
        match node:
            case ast.Subscript(ast.Attribute(owner, "shape"), ast.Constant(int() as axis)) | ast.Call(
                ast.Attribute(owner, "size"), [ast.Constant(int() as axis)]
            ):
                lengths.setdefault(ast.unparse(owner), {})[axis] = node
    for name, (axis, line) in grows.items():
        # The first axis is the batch, whose size is wanted for other reasons.
        for other, node in lengths.get(name, {}).items() if axis not in lengths.get(name, {}) else ():
            if other > 0:
                yield Likely(
                    ANY,
                    f"{_at(node)}: {placed(line)} joins {name} along axis {axis}, whose "
                    f"length is {name}.shape[{axis}]",
                )


_HEADS = re.compile(r"(self\.)?(num_heads|n_heads?|heads|num_kv_heads|kv_heads|H|h)")
_WIDTH = re.compile(r"(self\.)?(d_head|head_dim|dim_head|head_width|head_size|d_k|dk|d|D_h)")


@rule(ast.Call)
def heads_last(node: ast.AST) -> Iterator[Likely]:
    """Find columns that are parted with the heads last, which takes them from all over the row."""
    match node:
        case ast.Call(ast.Attribute(_, "view" | "reshape" as name), [_, *_, width, heads]) if (
            _HEADS.fullmatch(ast.unparse(heads)) and _WIDTH.fullmatch(ast.unparse(width))
        ):
            w, h = ast.unparse(width), ast.unparse(heads)
            yield Likely(
                _DIFFERS,
                f"{placed(node.lineno)}, {name}(…, {w}, {h}), gives each head columns that lie {h} apart; "
                f"{name}(…, {h}, {w}) keeps them together",
            )


@rule(ast.FunctionDef)
def set_by_a_path(function: ast.FunctionDef) -> Iterator[Likely]:
    """Find attributes that are set by names of named_modules and the like, which have dots."""
    called = {getattr(node.func, "attr", "") for node in _walk(function) if isinstance(node, ast.Call)}
    if not called & {"named_modules", "named_parameters"} or called & {
        "split",
        "rsplit",
        "partition",
        "rpartition",
    }:
        return
    for node in _walk(function):
        match node:
            case ast.Call(ast.Name("setattr"), [ast.Name(owner), ast.Name(), _]):
                yield Likely(
                    ANY,
                    f"{_at(node)}: a name such as 'a.b' is one attribute to setattr; "
                    f"{owner}.get_submodule('a') has the attribute b",
                )


@rule(ast.Return)
def returned_exceptions(node: ast.AST) -> Iterator[Likely]:
    """Find exceptions that are returned."""
    match node:
        case ast.Return(ast.Call(ast.Name(name))) if name.endswith(("Error", "Exception")):
            yield Likely(
                ANY,
                f"{placed(node.lineno)}, return {name}(…), raises nothing: raise {name}(…) does",
                certain=True,
            )


@rule(ast.Assign)
def tuples_of_one(node: ast.AST) -> Iterator[Likely]:
    """Find a comma that makes a tuple of one value."""
    match node:
        # Without brackets the tuple begins where its value does.
        case ast.Assign([target], ast.Tuple([value]) as made) if made.col_offset == value.col_offset:
            yield Likely(
                "tuple",
                f"{placed(node.lineno)}, {_shown(target)} = {_shown(value)},: the comma at its end makes a tuple of it",
                certain=True,
            )


@rule(ast.FunctionDef)
def given_a_sign(function: ast.FunctionDef) -> Iterator[Likely]:
    """Find `=+`, which adds nothing, of what begins at 0."""
    begun = {
        ast.unparse(node.targets[0])
        for node in _walk(function)
        if isinstance(node, ast.Assign) and ast.unparse(node.value) in ("0", "0.0")
    }
    for node in _walk(function):
        match node:
            case ast.Assign([target], ast.UnaryOp(ast.UAdd(), value)) if ast.unparse(target) in begun:
                name = _shown(target)
                yield Likely(
                    ANY,
                    f"{placed(node.lineno)}: {name} =+ {_shown(value)} adds nothing, and only gives it that value; "
                    f"{name} += {_shown(value)} adds",
                    certain=True,
                )


@rule(ast.BoolOp)
def always_the_same(node: ast.AST) -> Iterator[Likely]:
    """Find comparisons of one name with several values, joined by the wrong word."""
    match node:
        case ast.BoolOp(ast.Or() as joined, tests) if len(tests) > 1:
            sign: type[ast.cmpop] = ast.NotEq
        case ast.BoolOp(ast.And() as joined, tests) if len(tests) > 1:
            sign = ast.Eq
        case _:
            return
    pairs = {
        (ast.unparse(test.left), ast.unparse(test.comparators[0]))
        for test in tests
        if isinstance(test, ast.Compare)
        and len(test.ops) == 1
        and isinstance(test.ops[0], sign)
        and isinstance(test.left, ast.Name)
        and isinstance(test.comparators[0], ast.Constant)
    }
    if len(pairs) == len(tests) and len({name for name, _ in pairs}) == 1:
        word, holds = ("and", "always holds") if isinstance(joined, ast.Or) else ("or", "never holds")
        yield Likely(
            ANY,
            f"{_at(node)}, {holds}, whatever {min(pairs)[0]} is: join these with `{word}`",
            certain=True,
        )


@rule(ast.FunctionDef)
def left_out_of_the_sum(function: ast.FunctionDef) -> Iterator[Likely]:
    """Find `h = x + a` where what is made of h is added to x again, and a is lost."""
    read = Counter(name.id for name in _names(function, ast.Load))
    sums = {
        node.targets[0].id: (node.value.left.id, node)
        for node in _walk(function)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.BinOp)
        and isinstance(node.value.op, ast.Add)
        and isinstance(node.value.left, ast.Name)
        and node.value.left.id != node.targets[0].id
    }
    for node in _walk(function):
        match node:
            case ast.BinOp(ast.Name(stream), ast.Add(), ast.Call() as made):
                for name in {part.id for part in _names(made, ast.Load)} & sums.keys():
                    earlier, line = sums[name]
                    if earlier == stream and read[name] == 1 and node is not line.value:
                        yield Likely(
                            _DIFFERS,
                            f"{_at(node)}, adds to {stream}: what {placed(line.lineno)} "
                            f"added is not in the sum; {name} + … has it",
                        )


_INFINITE = ("float('inf')", "torch.inf", "math.inf", "float('infinity')")


def _held_above(node: ast.expr) -> bool:
    """Tell whether something is not below 0 by the way it is made, or is a size."""
    match node:
        case ast.BinOp(_, ast.Pow(), ast.Constant(2)) | ast.Constant():
            return True
        case ast.BinOp(left, ast.Add() | ast.Mult() | ast.Div(), right):
            return _held_above(left) and _held_above(right)
        case ast.Attribute(ast.Name("self"), name) | ast.Name(name):
            return name in ("d", "D", "d_k", "d_model", "eps", "d_head", "head_dim", "width")
        case ast.Call(
            ast.Attribute(_, "exp" | "square" | "abs" | "var" | "clamp" | "softmax" | "size" | "relu")
        ):
            return True
        case ast.Call(ast.Attribute(inner, "mean" | "sum")):
            return _held_above(inner)
        case ast.Subscript(ast.Attribute(_, "shape")):
            return True
    return False


def _is_fractional(node: ast.expr) -> bool:
    """Tell whether an expression has a root, a matrix product or the like in it, which is not whole."""
    for part in _walk(node):
        match part:
            case ast.Call(
                ast.Attribute(
                    _, "sqrt" | "exp" | "log" | "mean" | "std" | "var" | "softmax" | "rsqrt" | "matmul"
                )
            ):
                return True
            case ast.BinOp(_, ast.MatMult() | ast.Div(), _) | ast.BinOp(_, ast.Pow(), ast.Constant(float())):
                return True
    return False


def _bare(node: ast.expr) -> str:
    """Return the name of a tensor, or of what it is when its axes are exchanged."""
    match node:
        case ast.Name(name):
            return name
        case ast.Attribute(inner, "T" | "mT") | ast.Call(
            ast.Attribute(inner, "transpose" | "mT" | "permute" | "t")
        ):
            return _bare(inner)
    return ""


@rule(ast.Call, ast.Assign, ast.BinOp, ast.BoolOp)
def meant_otherwise(part: ast.AST) -> Iterator[Likely]:
    """Find what torch and Python take otherwise than it is likely meant."""
    match part:
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
                f"{_at(part)}, lays whole copies one after the other (0 1 0 1); "
                "repeat_interleave repeats each row (0 0 1 1)",
            )
        case ast.BinOp(_, ast.Pow(), power):
            quotients = [inner for inner in _walk(power) if isinstance(inner, ast.BinOp)]
            # After a true division, as in 2 * (i // 2) / D, the exponent is not whole.
            for inner in () if any(isinstance(other.op, ast.Div) for other in quotients) else quotients:
                if isinstance(inner.op, ast.FloorDiv):
                    yield Likely(
                        "(?m)^first difference",
                        f"{placed(part.lineno)}, {_shown(inner)}: // in an exponent makes it a whole number; "
                        "should it be /?",
                    )
        case ast.BoolOp(ast.Or(), [ast.Compare(), *_, ast.Constant(str(text))]) if text:
            yield Likely(
                "",
                f"{_at(part)}, always holds, since a text alone counts as true: "
                "compare on both sides of `or`",
                certain=True,
            )
