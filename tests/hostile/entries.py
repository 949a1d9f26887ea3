"""The corpus: each entry says in its docstring what it tries, and in TOML below that what a good grader reports.

    kata = "masks"                      which kata it is handed in for; insertion-sort without it
    status = "error"                    what the report says, several with " or "; fail without it
    words = ["RecursionError"]          what stands somewhere in its messages
    earns = ["test_empty"]              the checks that give it points, and honestly so; none without it
    timeout_s = 0.5                     for one check; the kata's own without it
    beside = "blocks.py"                lies in the same folder: the given blocks, under this name
    [process]                           what is different at this level, which cannot stop everything, and why
    allows = ["reached"]
    why = "the network is the machine's"

An entry is a section of `corpus/FAMILY.py`, as `tests.sections` tells. Those
that cannot have a docstring (no text, a million lines, notebooks) are made by `tests.hostile.made`.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from tests.hostile import made
from tests.sections import sections

HERE = Path(__file__).parent
CORPUS = HERE / "corpus"
FAMILIES = {
    "forge": "forge the result",
    "read": "read the answer",
    "fake": "fake the comparison",
    "timeout": "escape the time-out",
    "outlive": "outlive the run",
    "exhaust": "exhaust a resource",
    "network": "reach the network",
    "neighbour": "harm the neighbour",
    "parser": "confuse the parser",
    "policy": "dodge the operator policy",
    "given": "hand in what is given",
}
MODULES = {
    "insertion-sort": "insertion_sort",
    "masks": "masks",
    "layer-norm": "layer_norm",
    "decoder-lm": "decoder_lm",
    "transfer": "transfer",
    "masked-attention": "masked_attention",
}
WRONG = sections(HERE / "wrong.py")
HONEST = {
    "insertion-sort": {"test_empty"},
    "masks": set(),
    "layer-norm": set(),
    "decoder-lm": set(),
    "transfer": {"test_freeze_leaves"},
    "masked-attention": {
        "test_from_scratch",
        "test_indivisible",
        "test_modes",
        "test_parameters",
        "test_without_bias",
    },
}
"""The checks that give the wrong answers points by themselves."""
TOY = "kata-toy"
"""In the name of everything that a submission of the corpus leaves anywhere, on purpose."""
KINDS = frozenset({"forged", "leaked", "left", "reached", "harmed"})
"""What can go wrong: points that were not earned; something secret in what it prints or writes; a process, file,
memory, or socket that stays; something outside its cell that answers; something of others that is changed."""


@dataclass(frozen=True)
class Expected:
    """What a good grader reports."""

    status: tuple[str, ...]
    earns: frozenset[str]
    """The checks whose points are its own."""
    words: tuple[str, ...]
    allows: frozenset[str] = frozenset()
    """What cannot be stopped at this level."""


@dataclass(frozen=True)
class Entry:
    """One hostile submission."""

    family: str
    name: str
    tries: str
    kata: str
    files: dict[str, bytes] = field(repr=False)
    main: str
    table: dict[str, object] = field(repr=False)

    @property
    def id(self) -> str:
        return f"{self.family}/{self.name}"

    @property
    def timeout_s(self) -> float | None:
        found = self.table.get("timeout_s")
        return float(found) if isinstance(found, int | float) else None

    @property
    def marks_the_machine(self) -> bool:
        """Whether it tries to leave something that no room has for itself."""
        return any(TOY.encode() in content for content in self.files.values())

    def differs(self, level: str) -> bool:
        """Return whether something else is right at this level than at the others."""
        return level in self.table

    def expected(self, level: str) -> Expected:
        """Return what is right at this isolation level."""
        own = self.table.get(level, {})
        assert isinstance(own, dict)
        table = {"words": [], "allows": [], "earns": [], **self.table, **own}
        return Expected(
            tuple(table["status"].split(" or ")),
            frozenset(table["earns"]),
            tuple(table["words"]),
            frozenset(table["allows"]),
        )


def entries() -> list[Entry]:
    """Return the whole corpus, by family and name."""
    found = [
        _read(family, name, source)
        for family in FAMILIES
        for name, source in sections(CORPUS / f"{family}.py").items()
    ]
    for function in (value for value in vars(made).values() if inspect.isfunction(value)):
        family, _, name = function.__name__.partition("_")
        if family in FAMILIES:
            main, content = function()
            found.append(_entry(family, name, inspect.getdoc(function) or "", {main: content}))
    return sorted(found, key=lambda entry: (list(FAMILIES).index(entry.family), entry.name))


def honest(kata: str) -> dict[str, bytes]:
    """Return the wrong answer that hostile ones add to, as it would be handed in without any tricks."""
    return {f"{MODULES[kata]}.py": b"from wrong import *\n", **_beside(kata)}


def _read(family: str, name: str, source: str) -> Entry:
    text = ast.get_docstring(ast.parse(source)) or ""
    kata = _table(text)["kata"]
    return _entry(family, name, text, {f"{MODULES[kata]}.py": source.encode()})


def _entry(family: str, name: str, text: str, files: dict[str, bytes]) -> Entry:
    table = _table(text)
    kata = table["kata"]
    main = next(iter(files))
    given = {table["beside"]: made.BLOCKS.encode()} if "beside" in table else {}
    return Entry(
        family, name, text.partition("\n")[0], kata, {**files, **_beside(kata), **given}, main, table
    )


def _table(text: str) -> dict[str, object]:
    return {
        "kata": "insertion-sort",
        "status": "fail",
        **tomllib.loads(textwrap.dedent(text.partition("\n\n")[2])),
    }


def _beside(kata: str) -> dict[str, bytes]:
    return {"wrong.py": WRONG[MODULES[kata]].encode()}
