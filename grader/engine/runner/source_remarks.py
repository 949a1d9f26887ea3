"""What a submission holds that may explain a failure, and that the failure itself does not show.

Statements of a notebook that are left out, a name that is defined twice, settings that hold for all of torch, also
those in files next to it that it imports; arguments that are exchanged, by their names, and defaults other than the
stub's. Read from the syntax tree: no line of it is run.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from grader.catalogue import Kata
from grader.catalogue.pack_code import Defaults, Signatures, defaults_of, signatures_of
from grader.engine.checks.describe import is_starred
from grader.engine.checks.text import clean, listed
from grader.engine.host.source import (
    MAX_CODE,
    UNPARSED,
    Source,
    Unreadable,
    base_name,
    body_of,
    flat,
    globals_of,
    own_nodes,
    reached,
    read_source,
)
from grader.engine.runner.doubtful_lines import ANY, Likely, likeliest, written_in
from grader.engine.runner.outcome import MessageContext
from grader.notebooks import CELL, DEFINITIONS, Cell, NotebookRule, placed, read_notebook, statements

NO_DEFAULTS: Defaults = {}
LONGEST = 200
"""Letters of a module's name that are looked at: each of its parts may be a file."""
MOST = 3
"""So many remarks are made about one failure."""
_SETTINGS = {
    "set_default_device": r"(?i)cuda|meta|mps|xpu|device",
    "set_default_dtype": r"(?i)dtype|float|double|half",
    "set_default_tensor_type": r"(?i)dtype|float|double|half|cuda",
    "set_grad_enabled": r"(?i)grad",
    "set_num_threads": r"no answer within|times as long|slow",
    "use_deterministic_algorithms": r"(?i)deterministic",
}
"""Functions that change all of torch, and what a failure says that they may explain."""


_OF_NOTEBOOKS = re.compile(
    rb"^[ \t]*(?:[!%]{1,2}\w|get_ipython\(\)|display\(|(?:from|import) google\.colab)", re.MULTILINE
)
"""Lines that Jupyter and Colab leave in a notebook that they write as a `.py`."""


def wording_of(source: Source, kata: Kata, timeout_s: float) -> MessageContext:
    """Return what messages about a submission say: its file and names, and what its source holds."""

    @functools.cache
    def remarks() -> SourceRemarks:
        return SourceRemarks(source, kata.required, kata.given, kata.defaults())

    own_names = kata.adapter.own_names if kata.adapter is not None else {}
    return MessageContext(
        str(source.path.relative_to(source.root)),
        kata.signatures(),
        timeout_s,
        {} if kata.adapter is not None else _unstarred(source, kata),
        # The source is read only when something has failed.
        lambda name, message: remarks().on(own_names.get(name, name), message),
        lambda name, message, names: remarks().likely(
            own_names.get(name, name), message, [own_names.get(other, other) for other in names]
        ),
        kata.adapter,
        lambda name: own_names.get(name, name) in remarks().empty,
        kata.defaults(),
    )


def _unstarred(source: Source, kata: Kata) -> Mapping[str, Sequence[str]]:
    """Return the learner's own parameters where any number of arguments is asked for and none of them is that."""
    starred = {name for name, names in kata.signatures().items() if any(map(is_starred, names))}
    if not starred or len(source.data) > MAX_CODE:
        return {}
    try:
        own = signatures_of(body_of(source))
    except UNPARSED:
        return {}
    return {name: own[name] for name in starred & own.keys() if not any(map(is_starred, own[name]))}


def _empty(body: Iterable[ast.stmt], around: str = "") -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _empty(node.body, f"{node.name}.")
        elif isinstance(node, ast.FunctionDef) and all(
            isinstance(step, ast.Pass)
            or (isinstance(step, ast.Expr) and isinstance(step.value, ast.Constant))
            for step in node.body
        ):
            yield around + node.name


def exported(source: Source) -> list[str]:
    """Say that a file which does not load was a notebook, where it looks like one."""
    if source.is_notebook or (found := _OF_NOTEBOOKS.search(source.data)) is None:
        return []
    line = source.data.count(b"\n", 0, found.end()) + 1
    shown = source.data.split(b"\n")[line - 1].decode(errors="replace").strip()[:60]
    return [
        f"{source.path.name} was exported from a notebook (line {line}: {shown}): hand in the .ipynb itself, "
        "or delete the lines that only a notebook understands"
    ]


class SourceRemarks:
    """The remarks on one submission, each asked for by a failure."""

    def __init__(
        self,
        source: Source,
        required: Collection[str],
        given: Iterable[Path] = (),
        defaults: Defaults = NO_DEFAULTS,
    ) -> None:
        self._about: dict[str, list[str]] = defaultdict(list)
        self._reads: dict[str, set[str]] = defaultdict(set)
        """For each name that counts, the names that it leads to; those of helper.py are called `helper.name`.

        "" and "helper." are what runs while a file loads.
        """
        self._folder = source.root
        self._helpers: dict[str, set[str]] = {source.path.stem: set()}
        """The names of each module that is imported, none where no file next to the submission is called so."""
        self._left = MAX_CODE
        self.empty: set[str] = set()
        """Functions, and methods as `Class.method`, in whose body nothing is done."""
        self._settings: list[tuple[str, str, str]] = []
        """The name that a setting is made by, as in `_reads`; what it may explain; the sentence."""
        self._written: list[tuple[str, Likely]] = []
        """By the name that it is written in: what may be the reason of a failure, without an error that tells."""
        with contextlib.suppress(*UNPARSED):
            self._read(source, required, given, defaults)

    def on(self, name: str, message: str) -> list[str]:
        """Return what may explain a failure: of a call of this name, or of loading where there is none."""
        ran = reached(self._reads, (name, ""))
        found = [text for owner, words, text in self._settings if owner in ran and re.search(words, message)]
        for other in reached(self._reads, (name,)):
            found += self._about.get(other, ())
        return list(dict.fromkeys(found))[:MOST]

    def likely(self, name: str, message: str, names: Collection[str]) -> Likely | None:
        """Return what a failure of a call of this name likely comes of, by lines that the call reaches.

        A helper of the check is none of the submission's names, and may call all of `names`, which the check asked for.
        """
        ran = reached(self._reads, (name,) if name in self._reads else (*names, name))
        return likeliest([written for owner, written in self._written if owner in ran], message)

    def _read(
        self, source: Source, required: Collection[str], given: Iterable[Path], defaults: Defaults
    ) -> None:
        cells = read_notebook("", source.data)[0] if source.is_notebook else []
        # A remark is a kindness: for very much code nobody waits until it is found.
        if (sum(len(cell.source) for cell in cells) or len(source.data)) > MAX_CODE:
            return
        body = statements(cells) if source.is_notebook else ast.parse(source.data).body
        rule = NotebookRule(cells, required)
        counted = [node for node in body if not source.is_notebook or rule.counts(node)]
        self._note_counted(counted)
        self.empty = set(_empty(counted))
        blocks: Signatures = {}
        for file in given:
            blocks |= signatures_of(ast.parse(file.read_bytes()).body) if file.suffix == ".py" else {}
        self._written += misplaced(counted, signatures_of(counted), blocks)
        self._written += other_defaults(counted, defaults)
        self._written += dropped(counted)
        counting = set(counted)
        self._note_left_out([node for node in body if node not in counting], cells)

    def _note_counted(self, body: Iterable[ast.stmt], module: str = "", file: str = "") -> None:
        """Note what statements read, change and set: of the submission, or of a module next to it."""
        defined: dict[str, list[int]] = defaultdict(list)
        within = f"{module}." if module else ""
        for node in flat(body):
            parts = list(own_nodes(node))
            owner = node.name if isinstance(node, DEFINITIONS) else ""
            self._note_imports(parts, within, owner)
            if isinstance(node, ast.Import | ast.ImportFrom):
                continue
            reads = {f"{within}{name}" for name in (*globals_of(node, parts), *_attributes(parts))}
            for name in _changed(node, parts):
                self._reads[f"{within}{name}"] |= reads
            # Overloads are meant to be several; a file next to it may define what it likes.
            if isinstance(node, DEFINITIONS) and not node.decorator_list and not module:
                defined[owner].append(node.lineno)
            self._written += ((f"{within}{owner}", written) for written in written_in(parts) if not module)
            calls = {getattr(call.func, "attr", getattr(call.func, "id", "")): call for call in _calls(parts)}
            # Code outside of functions runs while the file loads, whether or not anything calls it.
            if not owner:
                self._reads[within] |= {name for name in reads if name.rpartition(".")[2] in calls}
            for called in calls.keys() & _SETTINGS.keys():
                place, text = f"{file}{placed(calls[called].lineno)}", ast.unparse(calls[called])[:80]
                sentence = f"{place}, {text}, holds for all that torch does here: leave it out"
                self._settings.append((f"{within}{owner}", _SETTINGS[called], sentence))
        for name, lines in defined.items():
            # The earlier one is silently replaced, which Python says to nobody.
            if len(lines) > 1:
                times = "twice" if len(lines) == 2 else f"{len(lines)} times"
                self._about[name].append(
                    f"`{name}` is defined {times}: {_places(lines[-3:])}; the last counts"
                )

    def _note_imports(self, nodes: Iterable[ast.AST], within: str, owner: str) -> None:
        """Let names that are imported lead to those of the file next to the submission that they are of."""
        for node in nodes:
            for alias in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
                source = node.module if isinstance(node, ast.ImportFrom) else None
                full = f"{source}.{alias.name}" if source else alias.name
                bound = alias.asname or alias.name
                # Of `a.b.c` any beginning may be a file, and each that is one runs.
                ends = [place for place, letter in enumerate(f"{full[:LONGEST]}.") if letter == "."]
                for module in (full[:end] for end in ends):
                    names = self._names(module)
                    self._reads[f"{within}{owner}"] |= {f"{module}."} if names else set()
                    for name in names if module == full else ():
                        self._reads[f"{within}{bound}.{name}"].add(f"{module}.{name}")
                    for name in names if module == source else ():
                        if alias.name in (name, "*"):
                            # A function's own imports are not among the names of its module.
                            reader = owner or (name if alias.name == "*" else bound)
                            self._reads[f"{within}{reader}"].add(f"{module}.{name}")

    def _names(self, module: str) -> set[str]:
        """Return the names of a module next to the submission, which is read when it is first asked for."""
        if module not in self._helpers:
            names = self._helpers[module] = set()  # first: modules may import each other
            path = module.replace(".", "/")
            for file in (f"{path}.py", f"{path}/__init__.py"):
                with contextlib.suppress(Unreadable, *UNPARSED):
                    data = read_source(self._folder / file).data
                    self._left -= len(data)
                    body = ast.parse(data).body if self._left >= 0 else []
                    # With "" it is there even if it defines nothing.
                    names |= {""}.union(*(_changed(node, own_nodes(node)) for node in flat(body)))
                    self._note_counted(body, module, f"{file}, ")
        return self._helpers[module]

    def _note_left_out(self, body: Iterable[ast.stmt], cells: Iterable[Cell]) -> None:
        for node in flat(body):
            for name in _changed(node, own_nodes(node)) & self._reads.keys():
                self._about[name].append(
                    f"{placed(node.lineno)} changes {name} and was left out: in a notebook only imports, "
                    "definitions and simple assignments count"
                )
        for cell in cells:
            for name, sentence in cell.hidden().items():
                self._about[name] += [sentence] if name in self._reads else []


def _places(lines: list[int]) -> str:
    cells = [line // CELL for line in lines]
    if len(set(cells)) == len(cells) > 1:
        return f"cells {listed(list(map(str, cells)))}"
    return listed(list(map(placed, lines)))


def _attributes(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        match node:
            case ast.Attribute(ast.Name(owner), name):
                yield f"{owner}.{name}"


def _calls(parts: Sequence[ast.AST]) -> Iterator[ast.Call]:
    # What `with` calls comes to its end there, whatever it changes.
    within = {part.context_expr for part in parts if isinstance(part, ast.withitem)}
    return (part for part in parts if isinstance(part, ast.Call) and part not in within)


def _changed(node: ast.stmt, parts: Iterable[ast.AST]) -> set[str]:
    """Return the names of the module that a statement with these parts makes, or whose objects it changes."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        # A method whose result nobody takes is called for what it changes.
        case ast.Expr(ast.Call(ast.Attribute() as method)):
            return {base_name(method)}
        case ast.Expr(ast.Call(ast.Name("setattr"), [owner, *_])):
            return {base_name(owner)}
    stored = [part for part in parts if not isinstance(getattr(part, "ctx", ast.Load()), ast.Load)]
    return {base_name(part) for part in stored} - {""}


def misplaced(body: Iterable[ast.stmt], own: Signatures, given: Signatures) -> Iterator[tuple[str, Likely]]:
    """Return what is odd about calls of what the submission or a given file defines, by the name it is written in.

    Signatures are those of `pack_code.signatures_of`.
    """
    known = {**given, **own}
    for node in body:
        owner = getattr(node, "name", "")
        methods = _classes_of(node, known)
        for call in (part for part in ast.walk(node) if isinstance(part, ast.Call)):
            called = ast.unparse(call.func)
            name = methods.get(called) or (called if called in known else "")
            parameters = known.get(name)
            if parameters is None or any(parameter.startswith("*") for parameter in parameters):
                continue
            spread = any(isinstance(argument, ast.Starred) for argument in call.args)
            pairs = list(zip(parameters, () if spread else call.args, strict=False))
            shown = clean(called, 40)
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


def _own_name(argument: ast.expr) -> str:
    if isinstance(argument, ast.Attribute):
        return argument.attr
    return argument.id if isinstance(argument, ast.Name) else ""
