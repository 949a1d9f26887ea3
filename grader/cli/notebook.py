"""Kata in a notebook: what `import kata` and `%load_ext kata` do, with verdicts that a page can show."""

from __future__ import annotations

import ast
import contextlib
import importlib
import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.catalogue import Kata
    from grader.reports.report import KataReport

WIDTH = "100"
"""Columns of what is printed below a cell."""
_PLAIN = frozenset({"--json", "--format", "--pdb", "--stdin", "--help", "-h"})
"""Options that ask for other things than a verdict."""
_WITH_VALUE = frozenset({"-k", "--seed", "--timeout", "--device"})


@dataclass(frozen=True)
class NotebookVerdict:
    """What `kata check` found: rich where a notebook shows it, text elsewhere."""

    reports: list[KataReport]
    note: str = ""
    """What else there is to say, such as what was judged."""
    verbose: bool = False
    quiet: bool = False

    @property
    def score(self) -> float:
        """The points of all katas."""
        return sum(report.score for report in self.reports)

    @property
    def max_score(self) -> float:
        """The most that `score` could be."""
        return sum(report.max_score for report in self.reports)

    @property
    def passed(self) -> bool:
        """Whether every kata passed."""
        return all(report.status == "pass" for report in self.reports)

    def __repr__(self) -> str:
        from grader.reports.markup import verdict_text

        text = verdict_text(self.reports, verbose=self.verbose, quiet=self.quiet)
        return f"{text}\n\n{self.note}".rstrip()

    def _repr_html_(self) -> str:
        from grader.reports.markup import note_html, verdict_html

        return verdict_html(self.reports, verbose=self.verbose, quiet=self.quiet) + note_html(self.note)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


def run(*arguments: str) -> int:
    """Run a command, print what it says, and return its exit code: `kata.run("hint", "masks")`."""
    process = _start(arguments, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT)
    assert process.stdout is not None
    # A notebook shows what Python prints, and not what a process writes.
    with process, process.stdout as printed:
        for line in printed:
            sys.stdout.write(line)
    return process.returncode


def command_here(arguments: list[str], shell: Any) -> Any:
    """Run a command for a notebook: some show more there than text."""
    in_notebook = getattr(shell, "history_manager", None) is not None
    if (extensions := getattr(shell, "extension_manager", None)) is not None:
        extensions.load_extension("kata")  # a verdict names commands of `%kata`
    with _commands_of_a_notebook() if in_notebook else contextlib.nullcontext():
        if in_notebook and _PLAIN.isdisjoint(_names_of(arguments)):
            match arguments[:1]:
                case ["check"]:
                    return _verdict(arguments, shell)
                case ["hint"]:
                    return _hint(arguments)
                case ["try"]:
                    return _try(arguments, shell)
        run(*arguments)
    return None


@contextlib.contextmanager
def _commands_of_a_notebook() -> Iterator[None]:
    """Let all that is said, here and by processes, name commands as a notebook has them."""
    from grader.reports.style import IN_NOTEBOOK

    before = os.environ.get(IN_NOTEBOOK)
    os.environ[IN_NOTEBOOK] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[IN_NOTEBOOK]


def _names_of(arguments: list[str]) -> set[str]:
    return {argument.partition("=")[0] for argument in arguments}


def _verdict(arguments: list[str], shell: Any) -> NotebookVerdict | None:
    import msgspec

    from grader.reports.report import KataReport

    book, note = _what_was_run(_meant(arguments), shell)
    extra = ["--json", *(["--stdin"] if book is not None else [])]
    out, err = _ask([*arguments, *extra], book)
    if not out.strip():
        sys.stderr.write(err)
        return None
    reports = [msgspec.convert(one, KataReport) for one in json.loads(out)["katas"]]
    if any(report.isolation == "process" for report in reports):
        note += (
            " Isolation: process. This machine cannot confine your code; it could read and write your files."
        )
    chosen = _names_of(arguments)
    return NotebookVerdict(
        reports, f"{note} {err.strip()}".strip(), bool(chosen & {"-v"}), bool(chosen & {"-q"})
    )


def _hint(arguments: list[str]) -> Any:
    """Show a hint as the text that it is, with its formulas and code."""
    out, err = _ask([*arguments, "--json"], None)
    if not out.strip():
        sys.stderr.write(err)
        return None
    told = json.loads(out)
    head = f"**{told['number']} {told['kata']}, hint {told['tier']} of {told['tiers']}**"
    left = f"{told['left']} left: `%kata hint {told['kata']}`" if told["left"] else "no hints left"
    return importlib.import_module("IPython.display").Markdown(f"{head}\n\n{told['hint']}\n\n*{left}*")


def _try(arguments: list[str], shell: Any) -> None:
    """Put the failing call into the notebook's own names: its inputs, `yours`, `expected`, `difference`."""
    from grader.cli.try_ import at_hand
    from grader.errors import KataError

    kata = _meant(arguments)
    book, note = _what_was_run(kata, shell)
    what, keyword = _word_of(arguments), _keyword_of(arguments)
    if book is not None and kata is not None:
        what, keyword = kata.slug, what if _is_check(what) else keyword
    try:
        names = at_hand(what, keyword, book.encode() if book is not None else None)
    except KataError as error:
        from grader.cli.main import report

        report(error.message, error.hint)
        return
    if names:
        shell.push(names)
        print(f"{note}\n{', '.join(names)}: you can now use these names in this notebook.".strip())


def _meant(arguments: list[str]) -> Kata | None:
    """Return the one kata that is meant, as the command understands it; None where it is none or several."""
    from grader.cli.context import here
    from grader.errors import KataError
    from grader.workspace import katas_in

    what = _word_of(arguments)
    try:
        place = here()
        if what is not None and not _is_check(what):
            katas = place.catalogue.resolve(what)
        elif arguments[0] == "check":
            katas = [kata for kata, _ in katas_in(place.folder, place.catalogue)]
        else:
            katas = [place.kata(None)]
    except KataError:
        return None
    return katas[0] if len(katas) == 1 else None


def _word_of(arguments: list[str]) -> str | None:
    """Return what stands in a command beside its options and their values."""
    pairs = itertools.pairwise(arguments)
    return next((word for before, word in pairs if word[:1] != "-" and before not in _WITH_VALUE), None)


def _keyword_of(arguments: list[str]) -> str | None:
    pairs = itertools.pairwise(arguments)
    return next((word for before, word in pairs if before == "-k"), None)


def _is_check(word: str | None) -> bool:
    return word is not None and word.startswith("test_")


def _what_was_run(kata: Kata | None, shell: Any) -> tuple[str | None, str]:
    """Return the cells that were run as a notebook, or None where what is saved is to be judged; and which it is."""
    if kata is None:
        return None, "Judged: what is saved."
    cells = [str(cell) for cell in shell.history_manager.input_hist_raw[1:]]
    if not _made(cells) & set(kata.required):
        names = ", ".join(kata.required)
        return None, f"Judged: what is saved. No cell that you ran defines {names}."
    # Numbered as the notebook numbers them: a message's cell is the one beside which [n] stands.
    book = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {},
        "cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "source": cell} for cell in cells],
    }
    return json.dumps(
        book
    ), "Judged: the cells that you ran; messages count cells by the number in brackets beside each."


def _made(cells: list[str]) -> set[str]:
    """Return the names that cells make, as far as answers go."""
    from grader.notebooks import parse_cell

    made: set[str] = set()
    for number, cell in enumerate(cells, 1):
        try:
            tree = parse_cell("cell", number, cell).tree
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                made.add(node.name)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                made |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.Assign):
                made |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return made


def _ask(arguments: list[str], given: str | None) -> tuple[str, str]:
    """Return what a command says on both its streams: its document as soon as that is whole, or all to its end."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as told:
        process = _start(arguments, stdin=subprocess.PIPE, stderr=told)
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError), process.stdin as stdin:
            stdin.write(given or "")
        lines = []
        with process.stdout as printed:
            for line in printed:
                lines.append(line)
                if line == "}\n":  # no line within an indented document
                    break
        # Before it ends it ends its workers: nobody has to wait for that.
        threading.Thread(target=process.wait, daemon=True).start()
        told.seek(0)
        return "".join(lines), told.read()


def _start(arguments: Any, **streams: Any) -> subprocess.Popen[str]:
    from grader.interpreter import command

    return subprocess.Popen(
        command("grader", *arguments),
        env={"COLUMNS": WIDTH, **os.environ},
        stdout=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        **streams,
    )


def shell_here() -> Any:
    """Return the notebook's own shell; None elsewhere."""
    made = sys.modules.get("IPython")
    return made.get_ipython() if made is not None else None
