"""The stage: narrate, type a command, show what it prints, and insist on what it should have done."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.text import Text

from grader.report.style import console

KATA = Path(sys.executable).with_name("kata")
PATIENCE_S = 120
WIDTH = 80
"""Narration is no wider; what commands print is as wide as they like."""


_OURS = ("KATA_", "PYTEST_")


class Unexpected(Exception):
    """A step did not do what the demo is there to show."""


class Stage:
    """Plays commands in a folder of its own; `out` is where the audience looks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.commands = 0
        self._out: Console = console()
        self._scene = 0
        self._printed = False
        self._began = time.monotonic()

    def go_to(self, name: str) -> None:
        """Go on in a fresh folder beside this one."""
        self.folder = self.folder.parent / name
        self.folder.mkdir()

    def scene(self, title: str, *lines: str) -> None:
        """Begin a scene: its number, what it is about, and a few words before it."""
        self._scene += 1
        head = f"── {self._scene}  {title} "
        self._out.print()
        self._out.print(Text(head.ljust(min(self._out.width, WIDTH), "─"), "bold cyan"), no_wrap=True)
        self._printed = False
        for line in lines:
            self.say(line)

    def say(self, text: str) -> None:
        """Tell the audience something."""
        if self._printed:
            self._out.print()
            self._printed = False
        self._out.print(Text(text, "italic"), width=min(self._out.width, WIDTH))

    def save(self, file: str, source: str, excerpt: str = "") -> None:
        """Save a file as an editor would, and show the part of it that matters."""
        path = self.folder / file
        if not path.parent.is_dir():
            raise Unexpected(f"{path.parent} is not there to save {path.name} in")
        path.write_text(source, encoding="utf-8")
        self._out.print()
        self._printed = True
        self._out.print(Text(f"# saved {file}", "dim"), soft_wrap=True)
        if excerpt:
            self.code(excerpt)

    def code(self, source: str) -> None:
        """Show some Python."""
        if self._out.is_terminal:
            from rich.syntax import Syntax

            # As text, so that a long line is wrapped and not cut.
            text = Syntax("", "python", theme="ansi_dark", background_color="default").highlight(source)
            self._out.print(text, soft_wrap=True, end="")
        else:
            self._out.file.write(source + "\n")

    def type(
        self,
        command: str,
        *,
        code: int = 0,
        shows: tuple[str, ...] = (),
        unless: str | None = None,
        lines: int | None = None,
        quiet: bool = False,
    ) -> str:
        """Type a command, show what it prints as it comes, and return it.

        Args:
            command: as a learner types it; it begins with `kata`.
            code: the exit code that it must have.
            shows: what it must print.
            unless: what it may print instead, with another exit code: that the machine is too busy to tell.
            lines: show only so many lines and say how many are left out.
            quiet: run it and show nothing of what it prints.

        Raises:
            Unexpected: another exit code, or something is not printed.
        """
        self._out.print()
        self._out.print(Text.assemble(("$ ", "green"), (command, "bold")), soft_wrap=True)
        program, *arguments = shlex.split(command)
        assert program == "kata"
        process = subprocess.Popen(
            [KATA, *arguments],
            cwd=self.folder,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if quiet else subprocess.STDOUT,
            encoding="utf-8",
        )
        assert process.stdout is not None
        printed: list[str] = []
        for line in process.stdout:
            printed.append(line)
            if not quiet and (lines is None or len(printed) <= lines):
                self._out.file.write(line)
                self._out.file.flush()
        ended = process.wait(PATIENCE_S)
        self.commands += 1
        self._printed = True
        if lines is not None and len(printed) > lines:
            more = len(printed) - lines
            words = f"… and {more} more line{'' if more == 1 else 's'}, left out here"
            self._out.print(Text(words, "dim"))
        text = "".join(printed)
        if unless is not None and unless in Text.from_ansi(text).plain:
            self.say("This machine is too busy to judge speed now. Nobody loses a point for that.")
            return text
        if ended != code:
            raise Unexpected(f"`{command}` ended with exit code {ended} instead of {code}")
        for wanted in shows:
            if wanted not in Text.from_ansi(text).plain:
                raise Unexpected(f"`{command}` did not print “{wanted}”")
        return text

    def seconds(self) -> float:
        """Return how long the play has taken so far."""
        return time.monotonic() - self._began

    def _environment(self) -> dict[str, str]:
        """Return the audience's environment without settings that would change the play."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
        if self._out.is_terminal:
            # The output passes through here, so say what it ends up on.
            kept |= {"FORCE_COLOR": "1", "COLUMNS": str(self._out.width)}
        return kept
