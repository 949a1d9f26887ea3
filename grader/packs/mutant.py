"""A mutant as its author describes it: the misconception, and the checks that must catch it."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from grader.errors import PackError

_FAILS = re.compile(r"^Fails:\s*(\w+(?:\s*,\s*\w+)*)\s*$", re.MULTILINE)
_UNNAMED = re.compile(r"^Unnamed:\s*(\S.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Mutant:
    """A catalogued wrong answer."""

    path: Path
    say: str
    """The misconception in one sentence, said to the learner."""
    fails: tuple[str, ...]
    """Check functions; the first must fail."""
    unnamed: str | None
    """Why visible checks cannot tell this mistake from others, where that is so."""

    @property
    def name(self) -> str:
        """The file's name."""
        return self.path.stem


def read_mutant(path: Path) -> Mutant:
    """Read a mutant's docstring without importing it.

    Raises:
        PackError: no docstring, no sentence, or no `Fails:` line.
    """
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"), str(path))) or ""
    fails = _FAILS.search(text)
    say = text.split("\n\n", 1)[0].replace("\n", " ").strip()
    if not say or say.startswith("Fails:") or fails is None:
        raise PackError(
            f"{path}: a mutant's docstring is the misconception in one sentence, a blank line, and `Fails: test_…`."
        )
    unnamed = _UNNAMED.search(text)
    names = tuple(name.strip() for name in fails[1].split(","))
    return Mutant(path, say, names, unnamed[1] if unnamed else None)
