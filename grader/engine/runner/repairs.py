"""Where a slip likely is: the place of a small change after which a failing check holds.

No list of mistakes is needed: each change of one place in the submission is tried, as in the repair of programs by
generating and testing (Weimer et al. 2009, "Automatically finding patches using genetic programming"; the operators are
those of mutation testing). Told is the place, and what kind of change it takes; which one is the learner's to find.
"""

from __future__ import annotations

import ast
import difflib
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, zip_longest
from typing import Literal

from grader.engine.checks.text import clean
from grader.engine.host.source import UNPARSED, globals_of, own_nodes, reached
from grader.notebooks import placed

MOST = 400
"""So many changes are tried of one submission."""
SECONDS = 5.0
"""So long a person waits for them."""
Rest = Literal["all", "kept", "broken"]
"""Whether all checks hold, at least those that held before, or not even these."""


@dataclass(frozen=True)
class Repair:
    """A change of one place."""

    start: int
    """Of the bytes that are replaced."""
    end: int
    text: str
    line: int
    shown: str
    """The place, as it is written."""
    kind: str
    """What takes its place, without saying which one."""
    of: str = ""
    """What it is another one of."""

    def applied(self, data: bytes) -> bytes:
        """Return the submission with this change."""
        return data[: self.start] + self.text.encode() + data[self.end :]

    def is_named_in(self, sentence: str) -> bool:
        """Tell whether a sentence speaks of its line."""
        return re.search(rf"\b{re.escape(placed(self.line))}\b", sentence) is not None

    @property
    def sentence(self) -> str:
        """Say where it is, and what kind of change it takes."""
        how = f"{self.kind} {self.of}".rstrip()
        return f"{placed(self.line)}, {clean(self.shown, 60)}: {how} this check would hold"


def repaired(
    data: bytes,
    names: Iterable[str],
    holds: Callable[[bytes], bool],
    rest: Callable[[bytes], Rest],
    first: int = 0,
) -> Repair | None:
    """Return a change after which a check holds and nothing else breaks, None where none was found within the time.

    One after which everything holds is taken at once. Others may only hide what is wrong: of these the first is
    returned, where there is no better one.

    Args:
        data: a module.
        names: what the failing check calls: only what these lead to is changed.
        holds: whether the failing check holds.
        rest: what becomes of all other checks.
        first: the line that raised; what is near it is tried before the rest.
    """
    try:
        body = ast.parse(data).body
    except UNPARSED:
        return None
    until, found = time.monotonic() + SECONDS, None
    for repair, _ in zip(_ordered(data, body, names, first), range(MOST), strict=False):
        if time.monotonic() > until:
            break
        changed = repair.applied(data)
        outcome = rest(changed) if holds(changed) else "broken"
        if outcome == "all":
            return repair
        if outcome == "kept" and repair.kind not in _HIDES:
            found = found or repair
    return found


def _ordered(data: bytes, body: Sequence[ast.stmt], names: Iterable[str], first: int) -> Iterator[Repair]:
    """Return all changes of what these names lead to, those of each kind in turn."""
    reads = {getattr(node, "name", ""): set(globals_of(node, list(own_nodes(node)))) for node in body}
    ran = reached(reads, [name for name in names if name in reads] or reads)
    place = _Places(data)
    kinds: dict[str, list[Repair]] = {}
    seen: set[tuple[int, int, str]] = set()
    defined = {node.name: node for node in body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    # What is called first, in the order of calls; a constructor after what it makes is used by.
    for node in (defined[name] for name in ran if name in defined):
        functions = [part for part in ast.walk(node) if isinstance(part, ast.FunctionDef)]
        for function in sorted(functions, key=lambda function: function.name == "__init__"):
            for repair in _Function(place, node, function).repairs():
                if (key := (repair.start, repair.end, repair.text)) not in seen:
                    seen.add(key)
                    kinds.setdefault(repair.kind, []).append(repair)
    for row in kinds.values():
        # The likeliest change of each place first, then the second one of each.
        tried = Counter[int]()
        ranks = [tried[repair.start] for repair in row if not tried.update([repair.start])]
        order = sorted(range(len(row)), key=lambda i: (ranks[i], abs(row[i].line - first) if first else 0))
        row[:] = [row[i] for i in order]
    left_out = [kinds.pop(kind) for kind in _LEFT_OUT if kind in kinds]
    often = [kinds.pop(kind) for kind in _OFTEN if kind in kinds]
    # In turns: of names there are many more than of brackets. A line that is wrong can often be left out as well.
    rows = [*(row[half::2] for row in often for half in (0, 1)), *kinds.values()]
    turns = chain(zip_longest(*rows), zip_longest(*left_out))
    return (repair for turn in turns for repair in turn if repair is not None)


_OFTEN = ("with another number", "with another name", "with another operator")
_LEFT_OUT = ("without this call", "without this line", "after the next line")
_HIDES = (*_LEFT_OUT, "with the opposite of True", "with the opposite of False", "with another default")
"""What may make one check hold, whatever is wrong."""


class _Places:
    """Where nodes are in a module's bytes."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._starts = [0]
        for line in data.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Return the first byte of a node, and the one after its last."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return (
            self._starts[node.lineno - 1] + node.col_offset,
            self._starts[node.end_lineno - 1] + node.end_col_offset,
        )

    def text(self, node: ast.expr | ast.stmt) -> str:
        """Return what is written there."""
        start, end = self.span(node)
        return self.data[start:end].decode()

    def lines(self, node: ast.stmt) -> tuple[int, int]:
        """Return the span of the lines that a statement is on."""
        assert node.end_lineno is not None
        return self._starts[node.lineno - 1], self._starts[node.end_lineno]


_OPERATORS: Mapping[type[ast.AST], tuple[str, Sequence[str]]] = {
    ast.Add: ("+", "-*"),
    ast.Sub: ("-", "+/"),
    ast.Mult: ("*", ["/", "@", "**", "+"]),
    ast.Div: ("/", ["*", "//", "**", "-"]),
    ast.FloorDiv: ("//", "/%"),
    ast.Mod: ("%", ["//"]),
    ast.Pow: ("**", "*/"),
    ast.MatMult: ("@", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.Lt: ("<", ["<=", ">", ">="]),
    ast.LtE: ("<=", ["<", ">=", ">"]),
    ast.Gt: (">", [">=", "<", "<="]),
    ast.GtE: (">=", [">", "<=", "<"]),
    ast.Eq: ("==", ["!="]),
    ast.NotEq: ("!=", ["=="]),
    ast.Is: ("is", ["is not"]),
    ast.IsNot: ("is not", ["is"]),
}
_PAIRS = (
    "append extend", "repeat repeat_interleave", "gather scatter", "min max", "amin amax", "argmin argmax", "sum mean",
    "tril triu", "any all", "sin cos", "zeros ones", "softmax log_softmax", "keys values", "floor ceil",
)  # fmt: skip
_OTHERS = {one: other for pair in map(str.split, _PAIRS) for one, other in (pair, pair[::-1])}
"""Functions and methods that are easily taken for each other."""
_NUMBERS = 64
"""Whole numbers up to here are axes, bounds and steps."""
_VALUES = frozenset(
    {"shape", "dtype", "device", "T", "mT", "data", "grad", "ndim", "is_cuda", "requires_grad"}
)
"""Attributes of a tensor that are not called."""


class _Function:
    """What may be changed in one function."""

    def __init__(self, place: _Places, owner: ast.stmt, function: ast.FunctionDef) -> None:
        self._place, self._function = place, function
        arguments = function.args
        self._lines = {
            argument.arg: argument.lineno
            for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
            if argument.arg not in ("self", "cls")
        }
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self._lines.setdefault(node.id, node.lineno)
        self._own = list(
            dict.fromkeys(
                node.attr
                for node in ast.walk(owner)
                if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "self"
            )
        )
        # What is called by name is not a value that another one could stand for.
        self._called = {id(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)}

    def repairs(self) -> Iterator[Repair]:
        """Return all changes of the function's defaults and statements."""
        arguments = self._function.args
        for default in filter(None, (*arguments.defaults, *arguments.kw_defaults)):
            yield from self._of_constant(default)
            if isinstance(default, ast.Constant) and default.value is not None:
                yield self._instead(default, "None", "with another default")
        for statement in self._function.body:
            for node in ast.walk(statement):
                if isinstance(node, ast.expr):
                    yield from self._of_expression(node)
                if isinstance(node, ast.stmt):
                    yield from self._of_statement(node)
        for node in ast.walk(self._function):
            for body in (getattr(node, name, None) for name in ("body", "orelse")):
                if isinstance(body, list):
                    yield from self._of_block(body)

    def _instead(
        self, node: ast.expr | ast.stmt, text: str, kind: str, shown: ast.AST | None = None, *, of: str = ""
    ) -> Repair:
        start, end = self._place.span(node)
        return Repair(start, end, text, node.lineno, ast.unparse(shown or node), kind, of)

    # Expressions ------------------------------------------------------------------------------------------------------

    def _of_expression(self, node: ast.expr) -> Iterator[Repair]:
        yield from self._of_constant(node)
        text = self._place.text
        match node:
            case ast.Name(name, ast.Load()) if id(node) not in self._called and name in self._lines:
                for other in self._nearest(name, node.lineno):
                    yield self._instead(
                        node, other, "with another name", self._around(node), of=f"than {name} there"
                    )
            case ast.Attribute(ast.Name("self"), name, ast.Load()):
                alike = difflib.get_close_matches(name, self._own, 4, 0.5)
                # The first one is the name itself.
                for other in list(dict.fromkeys([name, *alike, *self._own]))[1 : len(alike) + 3]:
                    yield self._instead(
                        node, f"self.{other}", "with another attribute", self._around(node), of=f"than {name}"
                    )
            case ast.Attribute(owner, name, ast.Load()) if name in _OTHERS and id(node) in self._called:
                call = f"({text(owner)}).{_OTHERS[name]}"
                yield self._instead(node, call, "with another function", of=f"than {name}")
            case ast.Attribute(_, name, ast.Load()) if id(node) not in self._called and name not in _VALUES:
                yield self._instead(node, f"{text(node)}()", "with () after it")
            case ast.BinOp(left, operator, right) if type(operator) in _OPERATORS:
                yield from self._of_operator(node, left, operator, right)
                yield from self._of_brackets(node)
                if isinstance(operator, ast.Sub | ast.Div | ast.Pow | ast.MatMult | ast.FloorDiv):
                    yield self._instead(node, f"({text(right)}) {_OPERATORS[type(operator)][0]} ({text(left)})",
                                        "with its two sides exchanged")  # fmt: skip
            case ast.Compare(left, operators, rights):
                for before, kind, after in zip([left, *rights], operators, rights, strict=False):
                    if type(kind) in _OPERATORS:
                        yield from self._of_operator(node, before, kind, after)
            case ast.BoolOp(joined, [before, after, *_]):
                words = ("and", "or") if isinstance(joined, ast.And) else ("or", "and")
                yield from self._between(node, before, after, words[0], [words[1]])
            case ast.UnaryOp(ast.USub() | ast.Not() | ast.Invert(), operand):
                yield self._instead(node, f"({text(operand)})", "without the sign before it")
            case ast.Call():
                yield from self._of_call(node)
            case ast.Subscript(owner, ast.Constant(int()) | ast.Name() as index):
                if isinstance(owner, ast.Name) and isinstance(node.ctx, ast.Load):
                    for other in self._nearest(owner.id, node.lineno):
                        yield self._instead(
                            node, other, "with another name", of=f"in the place of {ast.unparse(node)}"
                        )
                yield self._instead(node, f"({text(owner)})[:, {text(index)}]", "with another axis")
            case ast.Subscript(owner, ast.Tuple([ast.Slice(None, None, None), index])):
                yield self._instead(node, f"({text(owner)})[{text(index)}]", "with another axis")
            case ast.Subscript(_, ast.Slice(lower, upper, None)):
                for bound in filter(None, (lower, upper)):
                    yield from self._by_one(bound, node)

    def _of_call(self, node: ast.Call) -> Iterator[Repair]:
        text = self._place.text
        if len(node.args) > 1 and not any(isinstance(part, ast.Starred) for part in node.args):
            first, *others = node.args
            start, end = self._place.span(first)[0], self._place.span(others[0])[1]
            yield Repair(start, end, f"{text(others[0])}, {text(first)}", node.lineno, ast.unparse(node),
                         "with its arguments in another order")  # fmt: skip
        yield from self._of_steps(node)
        match node.func:
            case ast.Attribute(owner, _):
                if getattr(owner, "id", "") not in ("torch", "F", "nn", "math", "self"):
                    yield self._instead(node, f"({text(owner)})", "without this call")
                if isinstance(owner, ast.Name) and owner.id in self._lines:
                    yield self._instead(owner, f"(-{owner.id})", "with a sign before it", node)
            case ast.Name("range"):
                for bound in node.args:
                    yield from self._by_one(bound, node)

    def _of_steps(self, node: ast.Call) -> Iterator[Repair]:
        """Take two steps in another order: f(x + 1) and f(x) + 1, x.f().g() and x.g().f()."""
        text, how = self._place.text, "with its steps in another order"
        match node:
            case ast.Call(ast.Attribute(ast.BinOp(left, operator, right), name), []) if (
                type(operator) in _OPERATORS
            ):
                sign = _OPERATORS[type(operator)][0]
                yield self._instead(node, f"(({text(left)}).{name}() {sign} ({text(right)}))", how)
            case ast.Call(function, [ast.BinOp(left, operator, right)], []) if type(operator) in _OPERATORS:
                sign = _OPERATORS[type(operator)][0]
                yield self._instead(node, f"({text(function)}({text(left)}) {sign} ({text(right)}))", how)
            case ast.Call(ast.Attribute(ast.Call(ast.Attribute(owner)) as inner, _)):
                first = self._place.data[self._place.span(owner)[1] : self._place.span(inner)[1]].decode()
                second = self._place.data[self._place.span(inner)[1] : self._place.span(node)[1]].decode()
                yield self._instead(node, f"{text(owner)}{second}{first}", how)

    def _by_one(self, bound: ast.expr, around: ast.expr) -> Iterator[Repair]:
        if not isinstance(bound, ast.Constant):
            for step in ("+ 1", "- 1"):
                yield self._instead(bound, f"{self._place.text(bound)} {step}", "with an end one further on or back",
                                    around)  # fmt: skip

    def _of_constant(self, node: ast.expr) -> Iterator[Repair]:
        match node:
            case ast.Constant(bool() as value):
                yield self._instead(node, str(not value), f"with the opposite of {value}", self._around(node))
            case ast.Constant(int() as value) | ast.UnaryOp(ast.USub(), ast.Constant(int() as value)) if (
                type(value) is int and value <= _NUMBERS
            ):
                own = -value if isinstance(node, ast.UnaryOp) else value
                near = (own + 1, own - 1) if own in (-2, 0) else (own - 1, own + 1)
                for other in dict.fromkeys((*near, -own, -own - 1, own - 2, own + 2)):
                    if other != own:
                        yield self._instead(
                            node, str(other), "with another number", self._around(node), of=f"than {own}"
                        )

    def _of_operator(
        self, node: ast.expr, left: ast.expr, operator: ast.AST, right: ast.expr
    ) -> Iterator[Repair]:
        own, others = _OPERATORS[type(operator)]
        yield from self._between(node, left, right, own, others)

    def _between(
        self, node: ast.expr, left: ast.expr, right: ast.expr, own: str, others: Iterable[str]
    ) -> Iterator[Repair]:
        start, end = self._place.span(left)[1], self._place.span(right)[0]
        gap = self._place.data[start:end].decode()
        at = gap.find(own)
        for other in others if at >= 0 and "#" not in gap else ():
            changed = gap[:at] + other + gap[at + len(own) :]
            yield Repair(
                start, end, changed, node.lineno, ast.unparse(node), "with another operator", f"than {own}"
            )

    def _of_brackets(self, node: ast.BinOp) -> Iterator[Repair]:
        text, how = self._place.text, "with other brackets"
        sign = _OPERATORS[type(node.op)][0]
        match node:
            case ast.BinOp(left, _, ast.BinOp(one, operator, other)) if type(operator) in _OPERATORS:
                inner = _OPERATORS[type(operator)][0]
                yield self._instead(
                    node, f"(({text(left)}) {sign} ({text(one)})) {inner} ({text(other)})", how
                )
        match node:
            case ast.BinOp(ast.BinOp(one, operator, other), _, right) if type(operator) in _OPERATORS:
                inner = _OPERATORS[type(operator)][0]
                yield self._instead(
                    node, f"({text(one)}) {inner} (({text(other)}) {sign} ({text(right)}))", how
                )

    def _nearest(self, name: str, line: int) -> list[str]:
        """Return the names that may be right: those that are like it, and those that got their value last."""
        others = [other for other in self._lines if other != name]
        alike = difflib.get_close_matches(name, others, 2, 0.5)
        late = sorted((other for other in others if self._lines[other] <= line), key=self._lines.__getitem__)
        return list(dict.fromkeys(chain(alike, reversed(late))))[:5]

    def _around(self, node: ast.expr) -> ast.AST:
        """Return the call or operation that a name or number is in, so that its place can be told."""
        inside = [
            part
            for part in ast.walk(self._function)
            if isinstance(
                part, ast.Call | ast.BinOp | ast.Compare | ast.Subscript | ast.Assign | ast.AugAssign
            )
            and part is not node
            and any(child is node for child in ast.walk(part))
        ]
        return inside[-1] if inside else node

    # Statements -------------------------------------------------------------------------------------------------------

    def _of_statement(self, node: ast.stmt) -> Iterator[Repair]:
        text = self._place.text
        match node:
            case ast.Assign([ast.Name(name)], value):
                yield self._instead(
                    node, f"{name} = {name} + {text(value)}", "with what was there before added to it"
                )
            case ast.Break() | ast.Continue():
                words = ("break", "continue") if isinstance(node, ast.Break) else ("continue", "break")
                yield self._instead(node, words[1], "with another word", of=f"than {words[0]}")
            case ast.AugAssign(target, _, value):
                yield self._instead(
                    node, f"{text(target)} = {text(value)}", "with = in place of its operator"
                )
        match node:
            case ast.Assign([ast.Tuple(targets)]):
                for place in range(len(targets) - 1):
                    start, end = self._place.span(targets[place])[0], self._place.span(targets[place + 1])[1]
                    swapped = f"{text(targets[place + 1])}, {text(targets[place])}"
                    yield Repair(
                        start, end, swapped, node.lineno, ast.unparse(node), "with its names in another order"
                    )
            case ast.Assign([ast.Name(name)], value) if not isinstance(value, ast.Name):
                read = [part for part in ast.walk(value) if isinstance(part, ast.Name)]
                others = dict.fromkeys(part.id for part in read if id(part) not in self._called)
                for other in others if all(part.id != name for part in read) else ():
                    if other in self._lines:
                        yield self._renamed(node, name, other)

    def _renamed(self, node: ast.stmt, name: str, other: str) -> Repair:
        """Let one name stand for both, from this statement on."""
        (start, _), (_, end) = self._place.span(node), self._place.span(self._function.body[-1])
        parts, at = [], start
        named = [part for part in ast.walk(self._function) if isinstance(part, ast.Name) and part.id == name]
        for place in sorted(self._place.span(part)[0] for part in named):
            if place >= start:
                parts += [self._place.data[at:place], other.encode()]
                at = place + len(name.encode())
        text = b"".join((*parts, self._place.data[at:end])).decode()
        return Repair(
            start, end, text, node.lineno, ast.unparse(node), "with one name", f"for {name} and {other}"
        )

    def _of_block(self, body: Sequence[ast.stmt]) -> Iterator[Repair]:
        data = self._place.data
        for node in body:
            start, end = self._place.span(node)
            plain = isinstance(node, ast.Assign | ast.AugAssign | ast.Expr)
            if plain and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
                yield Repair(start, end, "pass", node.lineno, ast.unparse(node), "without this line")
        for one, other in pairwise(body):
            if not all(isinstance(node, ast.Assign | ast.AugAssign | ast.Expr) for node in (one, other)):
                continue
            (a, b), (c, d) = self._place.span(one), self._place.span(other)
            swapped = data[c:d] + data[b:c] + data[a:b]
            yield Repair(a, d, swapped.decode(), one.lineno, ast.unparse(one), "after the next line")
        for one, other in pairwise(body):
            if isinstance(one, ast.For | ast.While | ast.If):
                yield from self._indented(one, other)
            if isinstance(one, ast.If) and isinstance(other, ast.If) and not one.orelse:
                start, _ = self._place.span(other)
                yield Repair(
                    start, start + 2, "elif", other.lineno, f"if {ast.unparse(other.test)}", "with elif"
                )
        for node in body:
            if isinstance(node, ast.For | ast.While | ast.If) and len(node.body) > 1:
                yield from self._dedented(node)

    def _indented(self, block: ast.For | ast.While | ast.If, after: ast.stmt) -> Iterator[Repair]:
        """Let what comes after a block be the last in it."""
        start, end = self._place.lines(after)
        own = self._place.data[start:end].decode()
        more = block.body[-1].col_offset - after.col_offset
        if more > 0 and not block.orelse:
            moved = "".join(" " * more + line for line in own.splitlines(keepends=True))
            yield Repair(start, end, moved, after.lineno, ast.unparse(after), "at another indent")

    def _dedented(self, block: ast.For | ast.While | ast.If) -> Iterator[Repair]:
        """Let the last statement of a block come after it."""
        last = block.body[-1]
        start, end = self._place.lines(last)
        less = last.col_offset - block.col_offset
        if less > 0 and not block.orelse:
            own = self._place.data[start:end].decode()
            moved = "".join(line[less:] for line in own.splitlines(keepends=True))
            yield Repair(start, end, moved, last.lineno, ast.unparse(last), "at another indent")
