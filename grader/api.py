"""What an extra may import: every name that is public, and where it is from.

Nothing here is imported before somebody asks for it: some extras are light commands, and torch is heavy.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader import __version__, interpreter
    from grader.learner.workspace import find_workspace
    from grader.learner.workspace.tools import policy_of, template
else:
    # Written once, as type checkers and linters read it.
    _HOMES = {
        alias.name: node.module
        for node in ast.walk(ast.parse(Path(__file__).read_text("utf-8")))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }

    def __getattr__(name):
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(__import__(_HOMES[name], fromlist=[name]), name)
