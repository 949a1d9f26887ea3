"""What makes the commands pleasant: pipes, places that cannot be written to, narrow terminals, notebooks, help."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.errors import EngineError
from tests import ours
from tests.conftest import KATA, Run, completed

ROOT = Path(__file__).parents[2]
WRONG = ours.masks("return torch.ones(seq_len, seq_len).tril(1).bool()")


@pytest.mark.sampled(1)
@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("list",), ("check", "masks", "-v"), ("show", "masks")], ids=str)
def test_a_reader_that_went_away_ends_a_command_with_141(folder: Path, arguments: tuple[str, ...]) -> None:
    subprocess.run([KATA, "start", "masks"], cwd=folder, check=True, capture_output=True)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([KATA, *arguments], cwd=folder, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert done.returncode == 141, done.stderr
    assert "Traceback" not in done.stderr
    known = json.loads((folder / "kata-progress.json").read_text())["katas"]["masks"]
    assert bool(known.get("checked")) == (arguments[0] == "check")


def test_a_hint_is_shown_where_nothing_can_be_recorded(
    kata: Run, stub: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(root: Path, progress: object) -> None:
        raise EngineError(f"{root / 'kata-progress.json'}: cannot be written (Read-only file system).")

    monkeypatch.setattr("grader.learner.workspace.progress.save_progress", refuse)
    ran = kata("hint", "masks").done()
    assert len(ran.out) > 50
    assert "not recorded, because" in ran.err
    assert "Read-only file system" in ran.err
    assert kata("hint", "masks", "--json").json["recorded"] is False


def test_reset_of_a_read_only_file_leaves_one_that_can_be_edited(kata: Run, stub: Path) -> None:
    stub.write_text("mine")
    stub.chmod(0o444)
    assert kata("reset", "masks").code == 0
    assert stub.stat().st_mode & 0o200
    assert "raise NotImplementedError" in stub.read_text()


def test_a_workspace_below_another_is_made_when_asked_for(
    kata: Run, stub: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = folder / "again"
    below.mkdir()
    monkeypatch.chdir(below)
    assert "kata start masks --here" in kata("start", "masks").err
    assert list(below.iterdir()) == []
    assert kata("start", "masks", "--here").code == 0
    assert (below / "9.3-encoder-vs-decoder" / "masks" / "masks.py").is_file()
    assert kata("--json").json["workspace"] == str(below)


def test_python_m_kata_is_the_command(folder: Path) -> None:
    for arguments, code in ((["--version"], 0), (["chek"], 2)):
        ran = completed([sys.executable, "-m", "kata", *arguments], cwd=folder)
        assert ran.returncode == code, ran.stderr
    assert "Did you mean check" in ran.stderr


@pytest.mark.nightly
def test_a_notebook_has_a_cell_that_checks_it_and_that_is_no_part_of_the_answer(
    kata: Run, folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import nbformat

    import kata as library

    assert kata("start", "masks", "--notebook").code == 0
    file = folder / "9.3-encoder-vs-decoder" / "masks" / "masks.ipynb"
    book = nbformat.read(file, as_version=4)
    assert book.cells[-1].source.endswith("%reload_ext kata\n%kata check masks")
    book.cells.insert(1, nbformat.v4.new_code_cell("import kata\nkata.check('masks')"))
    nbformat.write(book, file)
    assert kata("check", "masks", "--json").json["katas"][0]["status"] == "not_started"

    class Shell:
        """What an extension asks of IPython."""

        magics: dict[str, Callable[[str], None]] = {}  # noqa: RUF012

        def register_magic_function(self, function: Callable[[str], None], kind: str, name: str) -> None:
            assert kind == "line"
            self.magics[name] = function

    monkeypatch.chdir(file.parent)
    library.load_ipython_extension(Shell())
    Shell.magics["kata"]("check masks -q")
    assert "not started  9.3.1 masks" in capfd.readouterr().out


@pytest.mark.sampled(2)
@pytest.mark.slow
@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_what_does_not_fit_goes_on_below_its_own_beginning(
    kata: Run, stub: Path, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    stub.write_text(WRONG)
    monkeypatch.setenv("COLUMNS", str(width))
    for arguments in (("check", "masks"), ("check", "masks", "-v"), ()):
        lines = kata(*arguments).out.splitlines()
        copied = [line for line in lines if line.lstrip().startswith("repeat")]
        assert max(len(line) for line in lines if line not in copied) <= width
    lines = kata("check", "masks", "-v").out.splitlines()
    column = next(line for line in lines if "✔" in line).index("a bidirectional")
    for line in lines[2:18]:
        assert "✔" in line or "✘" in line or line[:2].isspace()
        if line[:column].strip() == "":
            assert line[column] != " "


def screen(command: list[str], folder: Path, keys: bytes, until: str, **variables: str) -> str:
    """Run a command on a terminal of 80 by 24, type keys once `until` is there, and return all that was written."""
    import fcntl
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "1", **variables}
    environment.pop("COLUMNS", None)
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
        start_new_session=True,
    )
    os.close(theirs)
    written = b""
    try:
        while True:
            try:
                piece = os.read(ours, 65_536)
            except OSError:
                break
            if not piece:
                break
            written += piece
            if keys and until.encode() in written:
                os.write(ours, keys)
                keys = b""
    finally:
        os.close(ours)
        process.wait(60)
    return re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", written.decode(errors="replace"))


@pytest.mark.nightly
def test_watch_ends_with_the_verdict_and_the_score(stub: Path) -> None:
    stub.write_text(WRONG)
    text = screen([str(KATA), "watch", "masks"], stub.parent, b"q", "waiting for a save")
    last = text.rstrip().splitlines()[-1]
    assert "✘ failed  9.3.1 masks" in last
    assert "/" in last
    assert len(last) <= 80
    assert "q quit" in text.rstrip().splitlines()[-2]


@pytest.mark.slow
@pytest.mark.parametrize("command", ["show masks", "show masks --stub", "solution masks --give-up"])
def test_what_is_longer_than_the_terminal_goes_through_a_pager(kata: Run, folder: Path, command: str) -> None:
    kata("start", "masks").done()
    text = screen([str(KATA), *command.split()], folder, b"", "", PAGER="sed s/^/paged:/")
    assert text.count("paged:") > 24


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variables", "coloured"),
    [({}, True), ({"LESS": "-RX"}, True), ({"LESS": "-X"}, False), ({"PAGER": "other"}, False)],
)
def test_a_pager_gets_colours_where_it_shows_them(
    folder: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], coloured: bool
) -> None:
    for name in ("less", "other"):
        pager = folder / name
        pager.write_text('#!/bin/sh\necho "told [$LESS]"\ncat -v\n')
        pager.chmod(0o755)
    monkeypatch.delenv("LESS", raising=False)
    monkeypatch.delenv("PAGER", raising=False)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    text = screen([str(KATA), "show", "masks"], folder, b"", "", PATH=path, **variables)
    assert ("^[[1" in text) == coloured
    if coloured:
        assert re.search(r"told \[-RX?\]", text)


def test_code_on_a_terminal_has_the_lines_of_its_file(folder: Path) -> None:
    text = screen([str(KATA), "show", "masks", "--stub"], folder, b"", "", PAGER="cat")
    stub = ROOT / "katas" / "9.3-encoder-vs-decoder" / "masks" / "masks.py"
    assert max(map(len, stub.read_text().splitlines())) > 80
    assert [line.rstrip() for line in text.rstrip().splitlines()] == stub.read_text().splitlines()


def test_no_line_of_a_lesson_is_taken_for_a_list_by_its_first_character() -> None:
    for lesson in Path(__file__).parents[2].glob("katas/**/README.md"):
        fenced = False
        for number, line in enumerate(lesson.read_text().splitlines(), 1):
            fenced ^= line.startswith("```")
            assert fenced or not line.startswith(("+ ", "* ")), f"{lesson}, line {number}"


@pytest.mark.nightly
def test_on_a_terminal_several_katas_are_counted_while_they_are_checked(folder: Path) -> None:
    subprocess.run([KATA, "start", "9.3"], cwd=folder, check=True, capture_output=True)
    text = screen([str(KATA), "check", "-q"], folder, b"", "")
    # A stub that is looked at between two frames is not drawn; the last one stays until the summary.
    assert re.search(r"[1-6] of 7  9\.3\.[1-6] [a-z-]+", text)
    assert "7 of 7  9.3.7 decoder-lm" in text
