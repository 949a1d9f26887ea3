"""Kata in a notebook: what `import kata` and `%load_ext kata` do, with verdicts that a page can show."""

from __future__ import annotations

import contextlib
import importlib
import io
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader import interpreter
from grader.cli.learner.cells import as_notebook, should_judge_cells
from grader.cli.warm_process import Running, begin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.catalogue import Kata
    from grader.report.report import KataReport

WIDTH = "100"
"""Columns of what is printed below a cell."""
_PLAIN = frozenset({"--json", "--format", "--pdb", "--stdin", "--help", "-h"})
"""Options that ask for other things than a verdict."""
_WITH_VALUE = frozenset({"-k", "--seed", "--timeout", "--device"})
_latest: list[str] = []
"""The katas of the latest verdict here, those that went wrong first: outside a workspace they are what comes next."""


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
        from grader.report.markup import verdict_text

        text = verdict_text(self.reports, verbose=self.verbose, quiet=self.quiet)
        return f"{text}\n\n{self.note}".rstrip()

    def _repr_html_(self) -> str:
        from grader.report.markup import note_html, verdict_html

        return verdict_html(self.reports, verbose=self.verbose, quiet=self.quiet) + note_html(self.note)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


def run(*arguments: str) -> int:
    """Run a command, print what it says, and return its exit code: `kata.run("hint", "masks")`."""
    process = _start(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
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
                case ["show"]:
                    return _show(arguments)
                case ["try"]:
                    return _try(arguments, shell)
                case ["demo" | "run"]:
                    return _page(arguments)
        run(*arguments)
    return None


@contextlib.contextmanager
def _commands_of_a_notebook() -> Iterator[None]:
    """Make all messages, here and of processes, name commands as a notebook has them."""
    from grader.report.style import IN_NOTEBOOK

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

    from grader.report.report import KataReport

    out, err = _ask([*arguments, "--json", "--cells"], as_notebook(_cells(shell)))
    if not out.strip():
        sys.stderr.write(err)
        return None
    reports = [msgspec.convert(item, KataReport) for item in json.loads(out)["katas"]]
    # What does not pass first: `%kata try` without a name is about that.
    _latest[:] = [report.kata for report in sorted(reports, key=lambda report: report.status == "pass")]
    if any(report.isolation == "process" for report in reports):
        err += (
            "Isolation: process. This machine cannot confine your code; it could read and write your files."
        )
    chosen = _names_of(arguments)
    return NotebookVerdict(
        reports,
        "\n".join(line.strip() for line in err.splitlines()),
        bool(chosen & {"-v"}),
        bool(chosen & {"-q"}),
    )


def _hint(arguments: list[str]) -> Any:
    """Show a hint as the text that it is, with its formulas and code."""
    out, err = _ask([*arguments, "--json"], b"")
    if not out.strip():
        sys.stderr.write(err)
        return None
    hint = json.loads(out)
    head = f"**{hint['number']} {hint['kata']}, hint {hint['tier']} of {hint['tiers']}**"
    left = f"{hint['left']} left: `%kata hint {hint['kata']}`" if hint["left"] else "no hints left"
    if not hint["whole"]:
        left += f"; this is about what does not pass yet, `--tier {hint['tier']}` shows all of it"
    return _markdown(f"{head}\n\n{hint['hint']}\n\n*{left}*")


def _show(arguments: list[str]) -> Any:
    """Show a lesson or a stub as what it is."""
    out, err = _ask([*arguments, "--json"], b"")
    if not out.strip():
        sys.stderr.write(err)
        return None
    shown = json.loads(out)
    if "stub" in shown:
        return _markdown(f"```python\n{shown['stub']}\n```")
    # A notebook looks for pictures next to itself, wherever the lesson is.
    from grader.catalogue.markdown import embedded
    from grader.cli.context import here

    item = here().catalogue.find(shown["number"])[0]
    return _markdown(embedded(item, shown["lesson"]))


def _page(arguments: list[str]) -> Any:
    """Show a demo's page, in a frame of its own: its style is not that of the notebook."""
    out, err = _ask([*arguments, "--json"], b"")
    if not out.strip():
        sys.stderr.write(err)
        return None
    from html import escape
    from pathlib import Path

    page = Path(json.loads(out)["files"][-1])
    print(f"page  {page}")
    frame = (
        '<iframe sandbox="allow-scripts" style="width: 100%; height: 640px; border: 0" srcdoc="{}"></iframe>'
    )
    content = frame.format(escape(page.read_text(encoding="utf-8")))
    return importlib.import_module("IPython.display").HTML(content)


def _markdown(text: str) -> Any:
    return importlib.import_module("IPython.display").Markdown(text)


def _try(arguments: list[str], shell: Any) -> None:
    """Put the failing call into the notebook's own names: its inputs, `yours`, `expected`, `difference`."""
    from grader.cli.learner.try_ import at_hand
    from grader.errors import KataError

    cells, kata = _cells(shell), _kata_of(arguments)
    chosen, reason = should_judge_cells(kata, cells)
    what = _word_of(arguments)
    keyword = next((word for before, word in itertools.pairwise(arguments) if before == "-k"), None)
    if chosen and kata is not None:
        what, keyword = kata.slug, what if _is_check(what) else keyword
    # In one piece: a notebook shows each line that is printed by itself.
    with io.StringIO() as text:
        try:
            with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
                names = at_hand(what, keyword, as_notebook(cells) if chosen else None, "--trust" in arguments)
        except KataError as error:
            from grader.cli.main import report

            report(error.message, error.hint)
            return
        if names:
            shell.push(names)
            text.write(f"{reason}\n{', '.join(names)}: you can now use these names in this notebook.\n")
        sys.stdout.write(text.getvalue())


def _kata_of(arguments: list[str]) -> Kata | None:
    """Return the one kata that is to be tried, as the command understands it; None where it is none or several."""
    from grader.cli.context import here
    from grader.errors import KataError

    what = _word_of(arguments)
    try:
        place = here()
        if what is not None and not _is_check(what):
            katas = place.catalogue.resolve(what)
        elif place.workspace is None and _latest:
            katas = place.catalogue.resolve(_latest[0])
        else:
            katas = [place.kata(None)]
    except KataError:
        return None
    return katas[0] if len(katas) == 1 else None


def _cells(shell: Any) -> list[str]:
    """Return the cells that were run, in their order; [n] is next to the one with number n."""
    return [str(cell) for cell in shell.history_manager.input_hist_raw[1:]]


def _word_of(arguments: list[str]) -> str | None:
    """Return a command's arguments: what is neither an option nor an option's value."""
    pairs = itertools.pairwise(arguments)
    return next((word for before, word in pairs if word[:1] != "-" and before not in _WITH_VALUE), None)


def _is_check(word: str | None) -> bool:
    return word is not None and word.startswith("test_")


def _ask(arguments: list[str], given: bytes) -> tuple[str, str]:
    """Return what a command says on both its streams: its document as soon as that is whole, or all to its end."""
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stderr:
        stdin.write(given)
        stdin.seek(0)
        out, into = os.pipe()
        with open(out, encoding="utf-8", errors="replace") as printed:
            try:
                process = _begin(arguments, stdin.fileno(), into, stderr.fileno())
            finally:
                os.close(into)
            try:
                lines = []
                for line in printed:
                    lines.append(line)
                    # The one line of a document, or the last of one that is indented.
                    if line[:1] in "{}" and line.endswith("}\n"):
                        break
            except KeyboardInterrupt:
                # Any other is of this process's group, and was interrupted with it.
                if isinstance(process, Running):
                    process.send(signal.SIGINT)
                raise
            finally:
                # Before it ends it ends its workers: nobody has to wait for that.
                threading.Thread(target=process.wait, daemon=True).start()
        stderr.seek(0)
        return "".join(lines), stderr.read().decode(errors="replace")


def _begin(arguments: list[str], *streams: int) -> Running | subprocess.Popen[str]:
    """Have a command run on these three streams: by a process that stands by, or by a new one."""
    if (begun := begin(arguments, streams, _environment())) is not None:
        return begun
    stdin, stdout, stderr = streams
    return _start(arguments, stdin=stdin, stdout=stdout, stderr=stderr)


def _start(arguments: Any, **streams: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        interpreter.command("grader", *arguments),
        env=_environment(),
        encoding="utf-8",
        errors="replace",
        **streams,
    )


def _environment() -> dict[str, str]:
    return {"COLUMNS": WIDTH, **os.environ}


def shell_here() -> Any:
    """Return the notebook's own shell; None elsewhere."""
    made = sys.modules.get("IPython")
    return made.get_ipython() if made is not None else None
