"""A submission as found on disk, and what it is granted: read once, with every way it can be unreadable named.

Its syntax tree says which statements it has, and what each of them reads and changes: no line of it is run here.
"""

from __future__ import annotations

import ast
import codecs
import contextlib
import dis
import re
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from grader.catalogue.pack_code import FREE, Attributes
from grader.data_files import NotRegularError, read_bounded
from grader.engine.wire.messages import StackFrame
from grader.errors import MachineFault
from grader.machine import shortage
from grader.notebooks import (
    UnreadableNotebook,
    has_endless_name,
    named_encoding,
    parse_module,
    read_notebook,
    statements,
)

MAX_SOURCE = 2 << 20
MAX_NOTEBOOK = 32 << 20
"""Notebooks carry pictures."""


class Unreadable(Exception):
    """The file cannot be a submission; `status` is the report's."""

    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


@dataclass(frozen=True)
class Source:
    """The bytes of a submission and where they came from."""

    path: Path
    data: bytes
    depth: int = 0
    """How many folders below the top of what was handed in it lies."""

    @property
    def root(self) -> Path:
        """The top of what was handed in: the folder of the file, unless a course puts it deeper."""
        return self.path.parents[self.depth]

    @property
    def is_notebook(self) -> bool:
        """Whether this is an `.ipynb`."""
        return self.path.suffix == ".ipynb"


_FRAME = re.compile(r'File "(?P<file>[^"\n]+)", line (?P<line>\d{1,7}) in (?P<function>\S+)')
"""A line of what Python's faulthandler writes."""


def innermost(trace: str, source: Source) -> StackFrame | None:
    """Return the learner's innermost line in what a faulthandler wrote of a worker; None where there is none."""
    # It escapes what is not ASCII, and knows no text of a line.
    folder = ascii(str(source.root))[1:-1].rstrip("/")
    for found in _FRAME.finditer(trace):
        file = found["file"].removeprefix(f"{folder}/")
        if file != found["file"] or ".ipynb, cell " in file:
            own = file == str(source.path.relative_to(source.root)) and not source.is_notebook
            lines = source.data.splitlines() if own else []
            number = int(found["line"])
            text = lines[number - 1].decode("utf-8", "replace").strip() if number <= len(lines) else ""
            return StackFrame(file, number, found["function"], text)
    return None


def read_source(path: Path, depth: int = 0) -> Source:
    """Read a submission, which lies so many folders below the top of what was handed in.

    Raises:
        Unreadable: missing, a folder, no permission, empty, too large, something else than its name says.
        MachineFault: the disk does not give it, or nothing can be opened any more.
    """
    path = path.absolute()
    try:
        # Notebooks carry pictures, of which nothing is parsed.
        limit = MAX_NOTEBOOK if path.suffix == ".ipynb" else MAX_SOURCE
        data = read_bounded(path, limit)
    except FileNotFoundError:
        raise Unreadable("missing", f"{path.name} is not there.") from None
    except IsADirectoryError:
        raise Unreadable("error", f"{path.name} is a folder; a file of that name was expected.") from None
    # A pipe would block the reader for ever, and a device never ends.
    except NotRegularError:
        raise Unreadable("error", f"{path.name} is not a regular file.") from None
    except PermissionError:
        raise Unreadable("error", f"{path.name} cannot be read: permission denied.") from None
    except OSError as error:
        # A full table of open files is this machine's trouble: the learner must not lose a mark by it.
        if help_for := shortage(error):
            raise MachineFault(f"{path.name} cannot be read: {error.strerror}.", help_for) from error
        raise Unreadable("error", f"{path.name} cannot be read: {error.strerror or error}.") from None
    except ValueError:
        size = path.stat().st_size / 2**20
        raise Unreadable(
            "error", f"{path.name} is {size:.1f} MB; source of at most {limit / 2**20:.0f} MB is read."
        ) from None
    return source_of(path, data, depth)


def source_of(path: Path, data: bytes, depth: int = 0) -> Source:
    """Return the content of a submission that is, or is to be, saved there.

    Raises:
        Unreadable: empty, or something else than its name says.
    """
    if not data.strip():
        raise Unreadable("error", f"{path.name} is empty: was it saved before it was handed in?")
    if sentence := _other_than_named(path, data):
        raise Unreadable("error", f"{path.name} {sentence}.")
    # `compile` would refuse it too, but without a line.
    if b"\0" in data and path.suffix != ".ipynb":
        line = data[: data.index(b"\0")].count(b"\n") + 1
        raise Unreadable(
            "error", f"{path.name} holds NUL bytes (the first in line {line}): it is not Python source."
        )
    if path.suffix != ".ipynb" and has_endless_name(data):
        raise Unreadable("error", f"{path.name} has a name of hundreds of parts, which no Python needs.")
    return Source(path, data, depth)


_UNPACK = "is a {} archive: unpack it and hand in the file inside"
_FORMATS = {
    b"PK\x03\x04": _UNPACK.format("zip"),
    b"\x1f\x8b": _UNPACK.format("gzip"),
    b"7z\xbc\xaf\x27\x1c": _UNPACK.format("7z"),
    b"Rar!": _UNPACK.format("rar"),
    b"BZh": _UNPACK.format("bzip2"),
    b"\xfd7zXZ": _UNPACK.format("xz"),
    b"%PDF-": "is a PDF document: hand in the source itself",
    b"{\\rtf": "is a word processor's document: save it as plain text",
    b"\xd0\xcf\x11\xe0": "is a word processor's document: save it as plain text",
    b"\x89PNG": "is a picture: hand in the source itself",
    b"\xff\xd8\xff": "is a picture: hand in the source itself",
    b"version https://git-lfs": "is a Git LFS pointer and not the file: run `git lfs pull`, then hand it in again",
}
"""What other kinds of files begin with, and what to say of them."""
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)
_PYTHON = re.compile(rb"^(?:def|class|import|from|@)\b", re.MULTILINE)
_CONFLICT = re.compile(rb"^(?:<{7}|>{7}) ", re.MULTILINE)


def _other_than_named(path: Path, data: bytes) -> str | None:
    """Say what a file is whose first bytes are not those of its ending; None where they may be."""
    start = data.removeprefix(codecs.BOM_UTF8).lstrip()
    notebook = path.suffix == ".ipynb"
    for mark, sentence in _FORMATS.items():
        if data.startswith(mark):
            return sentence
    # A tar archive has no mark at its start: the first file's name is there.
    if data[257:262] == b"ustar":
        return _UNPACK.format("tar")
    if data.startswith(_WIDE) or _is_wide(data):
        return "is saved as UTF-16: save it as UTF-8"
    if conflict := _CONFLICT.search(data):
        line = data.count(b"\n", 0, conflict.start()) + 1
        # Python that parses may hold such lines in a string, and is whole.
        if notebook or not _parses(data):
            return (
                f"holds an unfinished merge (line {line}): keep one side of it and delete the lines "
                "<<<<<<<, ======= and >>>>>>>"
            )
    # No Python and no JSON begins like this, but the page that a login answers with does.
    if start.startswith(b"<") and not conflict:
        return "is a web page, perhaps of a login: download the file itself again"
    if not notebook and start.startswith(b"{") and b'"cells"' in data:
        return f"holds a notebook: hand it in as {path.stem}.ipynb"
    if notebook and not start.startswith((b"{", b"[")) and _PYTHON.search(start):
        return f"holds Python and is not a notebook: hand it in as {path.stem}.py"
    return _not_utf8(data, notebook)


def _is_wide(data: bytes) -> bool:
    """Whether every other byte is zero, as in a text of two bytes a letter without a mark."""
    start = data[:64]
    return len(start) >= 8 and any(
        set(start[place::2]) == {0} and 0 not in start[1 - place :: 2] for place in (0, 1)
    )


def _parses(data: bytes) -> bool:
    try:
        parse_module(data)
    except (SyntaxError, ValueError):
        return False
    return True


def _not_utf8(data: bytes, notebook: bool) -> str | None:
    """Say where a file is not UTF-8 that names no other encoding."""
    named = None if notebook else named_encoding(data)
    if named and not named.startswith("utf-8"):
        return None  # the worker decodes it: an encoding may be work
    try:
        data.decode()
    except UnicodeDecodeError as error:
        place = error.start
        line = data.count(b"\n", 0, place) + 1
        letter = data[place : place + 1].decode("cp1252", "replace")
        byte = f"the byte 0x{data[place]:02x} ({letter} in Windows-1252)"
        return f"is not UTF-8: line {line} holds {byte}; save it as UTF-8"
    return None


MAX_CODE = 256 << 10
"""Bytes of code in all files, and of notebooks letters: what follows takes time in proportion to it."""
UNPARSED = (SyntaxError, ValueError, UnreadableNotebook, RecursionError, MemoryError)
"""What parsing may raise."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_UNCALLED = frozenset({"annotation", "returns"})
_GLOBAL = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})


def body_of(source: Source) -> list[ast.stmt]:
    """Return a submission's statements, of a notebook those of its cells; may raise one of `UNPARSED`."""
    if source.is_notebook:
        return statements(read_notebook("", source.data)[0])
    return ast.parse(source.data).body


def flat(body: Iterable[ast.AST]) -> Iterator[ast.stmt]:
    """Return the statements of a module in order, those in its branches and loops included."""
    stack = list(reversed(list(body)))
    while stack:
        node = stack.pop()
        if _is_main_guard(node):
            continue  # it runs only where the file is started as a program, which the grader never does
        if isinstance(node, ast.stmt):
            yield node
        if isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case) and not isinstance(
            node, Definition
        ):
            stack.extend(reversed(list(ast.iter_child_nodes(node))))


def _is_main_guard(node: ast.AST) -> bool:
    match node:
        case ast.If(ast.Compare(ast.Name("__name__"), [ast.Eq()], [ast.Constant("__main__")]), orelse=[]):
            return True
    return False


def own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """Return what is in a statement, from the outside inwards.

    Without annotations and what `isinstance` compares with: neither is called. A definition is read as a whole, a
    branch or loop without its statements.
    """
    # A function is called as a whole; of a branch, each statement inside is read by itself.
    apart: tuple[type[ast.AST], ...] = () if isinstance(statement, Definition) else (ast.stmt,)
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        yield node
        compares = isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass")
        children: list[ast.AST] = []
        for name in node._fields:
            value = getattr(node, name, None)
            if value.__class__ is list:
                # `isinstance(x, nn.Linear)` asks for a name that it does not use.
                parts = value[:1] if compares and name == "args" else value
                children += [p for p in parts if isinstance(p, ast.AST) and not isinstance(p, apart)]
            elif isinstance(value, ast.AST) and not isinstance(value, apart) and name not in _UNCALLED:
                children.append(value)
        stack += reversed(children)


def globals_of(node: ast.stmt, nodes: list[ast.AST]) -> Iterator[str]:
    """Return the names of the module that a statement reads: the compiler knows which are a function's own."""
    # A statement with a body of its own, such as `if`, is not compiled: its parts are read by themselves.
    codes: list[types.CodeType] = []
    if isinstance(node, Definition) or not hasattr(node, "body"):
        with contextlib.suppress(SyntaxError, ValueError):
            codes.append(compile(ast.Module([node], []), "", "exec", dont_inherit=True))
    if not codes:
        yield from (node.id for node in nodes if isinstance(node, ast.Name))
    while codes:
        code = codes.pop()
        yield from (step.argval for step in dis.get_instructions(code) if step.opname in _GLOBAL)
        codes += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]


def reached(reads: Mapping[str, Iterable[str]], names: Iterable[str]) -> dict[str, None]:
    """Return these names and all that they lead to, in the order in which that is found."""
    found, ahead = dict[str, None](), list(names)
    while ahead:
        if (name := ahead.pop()) not in found:
            found[name] = None
            ahead += sorted(reads.get(name, ()))
    return found


def base_name(node: ast.AST) -> str:
    """Return the name that attributes and items in a row begin with; nothing where they begin otherwise."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


@dataclass(frozen=True)
class Adaptation:
    """What makes the kata's API of a course's own files; see `grader.catalogue.adapters`."""

    shim: Path
    """The module that the checks see, among what is given."""
    theirs: tuple[str, ...]
    given: Mapping[str, str]
    parameters: Mapping[str, Mapping[str, str]]
    own_names: Mapping[str, str]
    """By what the shim defines, the learner's name that it uses; "" where it uses none."""

    @property
    def depth(self) -> int:
        """How deep the learner's file lies."""
        return self.theirs[0].count("/")


@dataclass(frozen=True)
class Convention:
    """The form of a convention that holds, and what to say of an answer in another."""

    form: str
    others: Mapping[str, str]
    """By form, the sentence."""


@dataclass(frozen=True)
class Terms:
    """What a submission of one kata gets: time, memory, what is given, what is forbidden."""

    module: str
    required: tuple[str, ...]
    check_timeout_s: float = 10.0
    submission_timeout_s: float = 60.0
    memory_bytes: int | None = 2 << 30
    gpu_bytes: int | None = None
    given: Path | None = None
    """The folder of what the submission may import."""
    support: Path | None = None
    """The folder of what supports the checks in the worker."""
    forbid: tuple[str, ...] = ()
    """Families of torch's names, and dotted names."""
    within: tuple[str, ...] = ()
    """The required names that may not use what is forbidden; all of them when there are none."""
    blocks: bool = False
    """Whether `torch.ops` is for given blocks alone."""
    advice: str = ""
    """What to write instead of what is forbidden."""
    read: tuple[Path, ...] = ()
    preload: tuple[str, ...] = ()
    """Modules that are imported before the submission is."""
    attributes: Attributes = FREE
    """The names of parts of its classes that the learner did not choose."""
    adaptation: Adaptation | None = None
    conventions: Mapping[str, Convention] = field(default_factory=dict)
    """Those in which another form holds than the kata's first."""

    @property
    def depth(self) -> int:
        """How many folders below the top of what is handed in the answer lies."""
        return self.adaptation.depth if self.adaptation is not None else 0
