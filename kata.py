"""Kata from Python: `python -m kata` is the command `kata`.

In a notebook: `import kata; kata.check("masks")`, or `%load_ext kata` once and then `%kata check masks`. What is judged
there is what the notebook has run. The command runs in a process of its own, as it does from a terminal.
"""

from __future__ import annotations

TYPE_CHECKING = False  # `python -m kata` finds a warm process sooner without `typing`
if TYPE_CHECKING:
    from typing import Any

    from grader.cli.learner.notebook import NotebookVerdict


def check(*arguments: str) -> NotebookVerdict | None:
    """Check a kata: `kata.check("masks")`, `kata.check("masks", "-k", "causal")`.

    In a notebook it judges the cells that were run, and returns the verdict, which a cell shows whose last line it is.
    Elsewhere it judges what is saved, and prints.
    """
    from grader.cli.learner.notebook import command_here, shell_here

    verdict: NotebookVerdict | None = command_here(["check", *arguments], shell_here())
    return verdict


def run(*arguments: str) -> int:
    """Run a command, print what it says, and return its exit code: `kata.run("hint", "masks")`."""
    from grader.cli.learner import notebook

    return notebook.run(*arguments)


def load_ipython_extension(ipython: Any) -> None:
    """Give a notebook the line magic `%kata`."""
    import shlex

    from grader.cli.learner.notebook import command_here

    def kata(line: str) -> Any:
        return command_here(shlex.split(line), ipython)

    ipython.register_magic_function(kata, "line", "kata")


if __name__ == "__main__":
    from grader.cli.entry import main

    main()
