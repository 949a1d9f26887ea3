"""The commands of the command line, by name, and what extras add: what runs them and what prints them look here."""

import importlib
import os
from typing import Any

CORE = {
    "list": "grader.cli.status:list_katas",
    "start": "grader.cli.learner.start:start",
    "show": "grader.cli.learner.reading:show",
    "check": "grader.cli.learner.check:check",
    "try": "grader.cli.learner.try_:try_",
    "watch": "grader.cli.learner.watch:watch",
    "hint": "grader.cli.learner.reading:hint",
    "solution": "grader.cli.learner.reading:solution",
    "reset": "grader.cli.learner.start:reset",
    "demo": "grader.cli.learner.demo:demo",
    "run": "grader.cli.learner.demo:run",
    "data": "grader.cli.learner.data:data",
    "doctor": "grader.cli.doctor:doctor",
    "completion": "grader.cli.completion:completion",
    "course": "grader.cli.instructor.course:course",
    "grade": "grader.cli.instructor.grade:grade",
    "regrade": "grader.cli.instructor.grade:regrade",
    "gradebook": "grader.cli.instructor.gradebook:gradebook",
    "report": "grader.cli.instructor.report:report",
    "pack": "grader.cli.author.pack:pack",
}
"""Where each command of the core lives; a module is imported when its command is used."""
FOR_LEARNERS = (
    "list", "start", "show", "check", "try", "questions", "watch", "hint", "solution", "reset", "demo", "run", "data",
    "mcp", "doctor", "completion",
)  # fmt: skip
"""What learners type, in the order in which they meet it."""
FOR_OTHERS = ("course", "grade", "regrade", "gradebook", "report", "similar", "desk", "pack")
"""What instructors and authors type: help lists it after learners' commands."""


def load(target: str) -> Any:
    """Import what a target such as `package.module:name` names, or a whole module."""
    module, _, name = target.partition(":")
    found = importlib.import_module(module)
    return getattr(found, name) if name else found


EXTRAS: dict[str, str] = {}
"""Where what our extras add lives: a command ("mcp"), a command of a group ("gradebook push"), a part of one."""
_FOLDER = os.path.join(os.path.dirname(__file__), "extras")
for _name in sorted(os.listdir(_FOLDER)):
    # Each is one line; to read entry points takes a hundred times as long.
    if os.path.isfile(os.path.join(_FOLDER, _name, "__init__.py")):
        EXTRAS |= importlib.import_module(f"grader.extras.{_name}").ADDS
_FOUND = CORE | {name: target for name, target in EXTRAS.items() if " " not in name}
COMMANDS = {name: _FOUND[name] for name in (*FOR_LEARNERS, *FOR_OTHERS) if name in _FOUND}
"""Where each command of ours lives, in the order of help."""


def others() -> dict[str, str]:
    """Return what other people's extras add; finding them takes time: for what is not ours."""
    from importlib.metadata import entry_points

    every = [added for entry in entry_points(group="kata.extras") for added in entry.load().ADDS.items()]
    return {name: target for name, target in every if name not in COMMANDS and name not in EXTRAS}
