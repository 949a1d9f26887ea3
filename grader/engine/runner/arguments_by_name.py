"""Which argument goes to which parameter in the calls of a submission, by the names of both.

A call by position that exchanges two arguments raises nowhere near it, or not at all. Their names show it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from grader.catalogue.pack_code import Defaults, defaults_of
from grader.engine.checks.text import clean
from grader.engine.runner.doubtful_lines import ANY, Likely
from grader.notebooks import placed

Signatures = Mapping[str, Sequence[str]]


def misplaced(body: Iterable[ast.stmt], own: Signatures, given: Signatures) -> Iterator[tuple[str, Likely]]:
    """Return what is odd about calls of what the submission or a given file defines, by the name it is written in.

    Signatures are those of `pack_code.signatures_of`.
    """
    known = {**given, **own}
    for node in body:
        owner = getattr(node, "name", "")
        methods = _classes_of(node, known)
        for call in (part for part in ast.walk(node) if isinstance(part, ast.Call)):
            name = _callee(call, methods, known)
            parameters = known.get(name)
            if parameters is None or any(parameter.startswith("*") for parameter in parameters):
                continue
            shown, pairs = clean(ast.unparse(call.func), 40), _bound(call, parameters)
            takes = f"{shown} takes ({', '.join(parameters)})"
            gets = f"{takes}, and gets {', '.join(f'{p} = {clean(ast.unparse(a), 24)}' for p, a in pairs)}"
            others = [
                argument
                for parameter, argument in pairs
                if _own_name(argument) in {*parameters} - {parameter}
            ]
            place = placed(call.lineno)
            # Of blocks that are given the learner has not written the parameters.
            if others or (name in given and name not in own and len(pairs) > 1) or call.keywords:
                unfit = "size|shape|dim|argument|must|divide|Tensor|dtype"
                words = rf"(?m)^\S.*\b{re.escape(place)} in .*\n(.*\n)*?\w+: .*({unfit})"
                yield owner, Likely(words, gets if pairs else takes, at_line=True)
            if others:
                yield owner, Likely(ANY, f"{place}: {gets}", weak=len(others) < 2)


def other_defaults(body: Iterable[ast.stmt], stub: Defaults) -> Iterator[tuple[str, Likely]]:
    """Return where a parameter has another default than in the stub, by the name that it is of."""
    for name, own in defaults_of(body).items():
        for parameter, default in stub.get(name, {}).items():
            if own.get(parameter, default) != default and not _same(own[parameter], default):
                yield (
                    name.partition(".")[0],
                    Likely(
                        ANY,
                        f"{name} takes {parameter}={own[parameter]} by default; the stub says {parameter}={default}",
                    ),
                )


def dropped(body: Sequence[ast.stmt]) -> Iterator[tuple[str, Likely]]:
    """Return calls of functions and layers of the submission's own whose result nobody takes."""
    functions = {node.name for node in body if isinstance(node, ast.FunctionDef) and _only_returns(node)}
    for owner in body:
        layers = {
            part.targets[0].attr
            for part in ast.walk(owner)
            if isinstance(part, ast.Assign)
            and isinstance(part.targets[0], ast.Attribute)
            and isinstance(part.value, ast.Call)
            and ast.unparse(part.value.func).rpartition(".")[2][:1].isupper()
        }
        for part in ast.walk(owner):
            match part:
                case ast.Expr(
                    ast.Call(ast.Name(name) | ast.Attribute(ast.Name("self"), name) as called) as call
                ) if name in (functions if isinstance(called, ast.Name) else layers):
                    yield (
                        getattr(owner, "name", ""),
                        Likely(
                            ANY,
                            f"{placed(part.lineno)}, {clean(ast.unparse(call), 60)}: what {name} returns is dropped: "
                            "give it a name",
                            certain=True,
                        ),
                    )


def _only_returns(function: ast.FunctionDef) -> bool:
    """Tell whether a function returns something and changes nothing outside."""
    parts = list(ast.walk(function))
    returns = any(isinstance(part, ast.Return) and part.value is not None for part in parts)
    changes = any(
        (isinstance(part, ast.Subscript | ast.Attribute) and isinstance(part.ctx, ast.Store))
        or isinstance(part, ast.AugAssign | ast.Global | ast.Nonlocal | ast.With | ast.Raise)
        or (isinstance(part, ast.Expr) and not isinstance(part.value, ast.Constant))
        for part in parts
    )
    return returns and not changes


def _same(one: str, other: str) -> bool:
    try:
        return bool(ast.literal_eval(one) == ast.literal_eval(other))
    except (ValueError, TypeError, SyntaxError):
        return False


def _classes_of(owner: ast.stmt, known: Signatures) -> dict[str, str]:
    """Return the classes of what a class stores in attributes, and of what it takes from these in loops."""
    classes: dict[str, str] = {}
    parts = list(ast.walk(owner)) if isinstance(owner, ast.ClassDef) else []
    for part in parts:
        match part:
            case ast.Assign([ast.Attribute(ast.Name("self"), attribute)], ast.Call() as made):
                inner = [
                    getattr(call.func, "id", "") for call in ast.walk(made) if isinstance(call, ast.Call)
                ]
                kind = next((name for name in inner if f"{name}.forward" in known), "")
                classes[f"self.{attribute}"] = f"{kind}.forward"
    for part in parts:
        match part:
            case ast.For(ast.Name(name), ast.Attribute(ast.Name("self"), attribute)):
                classes[name] = classes.get(f"self.{attribute}", "")
    return classes


def _callee(call: ast.Call, classes: Mapping[str, str], known: Signatures) -> str:
    name = ast.unparse(call.func)
    return classes.get(name) or (name if name in known else "")


def _bound(call: ast.Call, parameters: Sequence[str]) -> list[tuple[str, ast.expr]]:
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return []
    return list(zip(parameters, call.args, strict=False))


def _own_name(argument: ast.expr) -> str:
    if isinstance(argument, ast.Attribute):
        return argument.attr
    return argument.id if isinstance(argument, ast.Name) else ""
