"""Examples that help pages, documents and the descriptions of MCP's tools show: each is typed here as it is shown."""

from __future__ import annotations

import io
import re
import shlex
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click
import pytest

from grader.cli.main import cli
from grader.commands import FOR_LEARNERS
from grader.errors import KataError
from grader.instructor.grading import executors
from tests import ours
from tests.conftest import Ran, Run
from tests.project.test_documentation import COMMANDS as HELPED
from tests.project.test_documentation import ROOT

PLACEHOLDER = re.compile(r"[A-Z]{2,}(?![a-z_=\d])|…|[\[<|]|^kata \w+,|\.\.\.")
"""A word of a form, not of an example."""
MASKED = (ROOT / "solutions/9.3-encoder-vs-decoder/masked-attention/masked_attention.py").read_text("utf-8")
BLIND = MASKED.replace('scores.masked_fill(~(mask | blind), float("-inf"))', "scores")
"""Attention that forgets its mask."""


def examples(name: str) -> list[str]:
    """Return the commands that a help page shows."""
    shown = (HELPED[name].help or "").partition("Example:")[2]
    lines = [line.strip() for line in shown.splitlines()]
    return [re.split(r"\s{3,}| > ", line)[0] for line in lines if line.startswith("kata ")]


def in_pages() -> Iterator[tuple[str, str]]:
    """Return each whole command of the documents with its page: lines of shell blocks, and code in a text."""
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        lines = [
            line
            for kind, block in re.findall(r"(?ms)^\s*```(sh|console)\n(.*?)```", text)
            for line in re.findall(
                r"(?m)^\$ (kata\b.*)$" if kind == "console" else r"(?m)^(kata\b.*)$", block
            )
        ]
        prose = re.sub(r"(?ms)^\s*```.*?```", "", text)
        for line in (*lines, *re.findall(r"(?<!`)`(kata [^`\n]+)`", prose)):
            command = re.split(r"\s+#|\s+>", line)[0].rstrip()
            if not PLACEHOLDER.search(command) and "kata missing" not in command:
                yield page.name, command


def read(command: str) -> click.Command:
    """Let click read a whole command without running it; return what it is for."""
    words, context, found = shlex.split(command)[1:], click.Context(cli, info_name="kata"), cli
    while words and isinstance(found, click.Group) and not words[0].startswith("-"):
        name, inner, words = found.resolve_command(context, words)
        assert inner is not None
        context, found = click.Context(inner, context, name), inner
    try:
        found.make_context(context.info_name, list(words), context.parent)
    except (click.MissingParameter, click.BadOptionUsage, click.exceptions.NoArgsIsHelpError) as error:
        # A text may mention a command or an option alone.
        if len(words) > 1 and not isinstance(error, click.exceptions.NoArgsIsHelpError):
            raise
    except click.BadParameter as error:
        # A file that the reader has, and nobody else.
        if not re.search("does not exist|No such file", error.message):
            raise
    return found


def test_help_pages_show_commands_that_are_read_as_they_stand() -> None:
    for name in HELPED:
        found = [read(command) for command in examples(name)]
        assert HELPED[name] in found or isinstance(HELPED[name], click.Group), name


def test_commands_in_documents_are_read_as_they_stand() -> None:
    for page, command in in_pages():
        try:
            read(command)
        except (click.ClickException, KataError) as error:
            pytest.fail(f"{page}: {command}: {error}")


ELSEWHERE = {
    "kata watch": "tests/cli/test_watch.py, on a terminal",
    "kata data get": "it needs a network",
    "kata data rm": "it needs what a network brings",
    "kata run": "minutes, and data that a network brings",
}
"""What is not typed here, and why."""


@pytest.mark.slow
@pytest.mark.usefixtures("kept_warm")
def test_learners_examples(
    folder: Path, kata: Run, kata_process: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A learner types the help pages of all commands, in their order."""
    for variable in ("HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(variable, str(folder))
    monkeypatch.setenv("SHELL", "/bin/bash")
    monkeypatch.setattr("sys.stdin", io.StringIO())
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere/masks.py").write_text(ours.MASKS)

    def typed(command: str) -> Ran:
        words = [word.replace("~", str(folder)) for word in shlex.split(command)[1:]]
        if words[0] == "try":  # whose prompt reads what is typed
            return kata_process(*words, "--trust", cwd=folder, input="q\n")
        return kata(*words)

    for name in (name for name in HELPED if name.split()[1] in FOR_LEARNERS and name not in ELSEWHERE):
        for command in examples(name):
            if any(command.startswith(other) for other in ELSEWHERE):
                continue
            ran = typed(command)
            found_something = name in ("kata check", "kata try") and ran.code == 1
            assert ran.code == 0 or found_something, f"{command}\n{ran.text}"
            if command == "kata start 9.3":
                unit = folder / "9.3-encoder-vs-decoder"
                (unit / "masks/masks.py").write_text(
                    ours.masks("return torch.ones(seq_len, seq_len).triu().bool()")
                )
                (unit / "masked-attention/masked_attention.py").write_text(BLIND)
            if command.startswith("kata try") and command.endswith("--pdb"):
                (unit / "masks/masks.py").write_text(ours.MASKS)  # what comes now needs a pass
                (unit / "masked-attention/masked_attention.py").write_text(MASKED)
                kata("check")


@pytest.mark.slow
def test_expressions_find_checks(launcher: Any) -> None:
    """Where an example takes only some checks, there are such checks."""
    from grader.catalogue import Catalogue
    from grader.engine.runner.suite import suites_of

    lines = [command for name in HELPED for command in examples(name)] + [
        command for _, command in in_pages()
    ]
    found = {
        (words[2], words[words.index("-k") + 1]) for words in map(shlex.split, lines) if "-k" in words[3:]
    }
    assert len(found) > 50
    for what, keyword in sorted(found):
        with suites_of(Catalogue.discover().resolve(what), keyword=keyword) as suites:
            assert any(map(len, suites.values())), f"{what} -k {keyword}"


CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section\n    Points Possible,,,,\n"
    '"Lovelace, Ada",1001,S-17,ada,A\n"Hopper, Grace",1002,S-18,grace,B\n"Torvalds, Linus",1003,S-19,linus,B\n'
)
SHEET = "<!-- kata: masks -->\n## 1. x\nPosition t predicts token t + 1.\n"
ELSEWHERE |= {
    "kata desk": "tests/extras/desk: it serves until it is stopped",
    "kata gradebook push": "tests/extras/push: it needs an LMS",
    "kata gradebook pull": "tests/extras/push: it needs an LMS",
    "kata grade submissions/ --scheduler": "tests/extras/cluster: it needs a cluster",
    "kata gradebook quiz-results": "tests/extras/questions: it reads what learners answered",
    **dict.fromkeys(
        (
            "kata gradebook undo",
            "kata gradebook unmark",
            "kata gradebook withdraw",
            "kata gradebook revoke ada masks 12",
        ),
        "tests/gradebook: their numbers are those of decisions",
    ),
    "kata course new --syllabus": "tests/cli/test_course.py: it needs a pack with that syllabus",
}
BEFORE = {
    "kata gradebook release": "kata gradebook mark-all week1.csv",
    "kata gradebook revoke": 'kata gradebook adjust ada masks +2 --comment "the third check was ours"',
}
"""What an instructor has typed by the time an example is of use, by the example's command."""


def a_class(folder: Path, kata: Run) -> None:
    """An instructor's folder: a course, three learners, what they handed in, tables."""
    (folder / "canvas.csv").write_text(CANVAS)
    (folder / "canvas-week3.csv").write_text(CANVAS)
    (folder / "groups.csv").write_text("team,learner\n1,ada\n1,grace\n")
    (folder / "github.csv").write_text(
        "identifier,github_username,github_id,name\nada@example.org,adal,7,Ada Lovelace\n"
    )
    norm = (ROOT / "solutions/9.3-encoder-vs-decoder/layer-norm/layer_norm.py").read_text("utf-8")
    network = (ROOT / "solutions/9.3-encoder-vs-decoder/feed-forward/feed_forward.py").read_text("utf-8")
    half = ours.masks("return torch.ones(seq_len, seq_len).triu().bool()")

    def hand_in(place: str, number: int) -> None:
        for learner, masks in (
            ("ada", half),
            ("grace", ours.MASKS + ours.OWN),
            ("linus", half + "\n# mine\n"),
        ):
            work = folder / place / learner
            work.mkdir(parents=True)
            (work / "masks.py").write_text(f"{masks}\n# attempt {number}\n")
            (work / "masked_attention.py").write_text(f"{MASKED}\n# {learner} {number}\n")
            (work / "layer_norm.py").write_text(f"{norm}\n# {learner} {number}\n")
            (work / "feed_forward.py").write_text(f"{network}\n# {learner} {number}\n")
            (work / "answers.md").write_text(SHEET)

    for number, place in enumerate(("first", "second", "submissions"), 1):
        hand_in(place, number)
    (folder / "submissions/ada/masks_final_v3.py").write_text(ours.MASKS)
    (folder / "submissions/linus.p").mkdir()
    (folder / "submissions/linus.p/layer_norm.py").write_text(norm)
    shutil.copytree(folder / "first", folder / "2024/submissions")
    for week, name, answer in (("week1", "masks", ours.MASKS), ("week2", "layer_norm", norm)):
        with zipfile.ZipFile(folder / f"{week}.zip", "w") as archive:
            archive.writestr(f"ada/{name}.py", answer)
    (folder / "oral.csv").write_text("learner,kata,points,comment\ngrace,masks,-2,oral exam\n")
    (folder / "week1.csv").write_text(
        "learner,kata,question,points,comment\nada,masks,1,0.5,fair\ngrace,masks,1,0.5,\nlinus,masks,1,0.5,\n"
    )
    weeks = ("week1=9.3.1,9.3.2", "week2=9.3.3", "week3=9.3.4")
    due = [word for week in ("week1", "week2", "week3") for word in ("--due", f"{week}=2030-10-12T18:00")]
    course = [word for week in weeks for word in ("--assignment", week)]
    kata("course", "new", "--roster", "canvas.csv", *course, *due).done()
    for place in ("first", "second", "submissions"):
        kata("grade", place).done()
    shutil.copyfile(folder / "gradebook.sqlite", folder / "last-year.sqlite")
    kata("report", "--feedback-only", "--out", "pages").done()
    pages = "".join(page.read_text() for page in folder.glob("pages/feedback/*.md"))
    shutil.rmtree(folder / "pages")
    line = re.findall(r"(?m)^kata-dispute ada masks .*:$", pages)[0]
    (folder / "mail.txt").write_text(f"{line} the third check asks for more than the lesson says\n")


@pytest.mark.nightly
def test_instructors_examples(
    folder: Path, kata: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An instructor types each help page in a course of its own."""
    monkeypatch.setattr(executors, "grading_processes", nullcontext)
    monkeypatch.setattr("getpass.getuser", lambda: "kim")
    a_class(folder, kata)
    wrong = []
    groups = ("course", "grade", "regrade", "gradebook", "report", "similar")
    for place, name in enumerate(name for name in HELPED if name.split()[1] in groups):
        for number, command in enumerate(examples(name)):
            if any(command.startswith(other) for other in ELSEWHERE):
                continue
            if number == 0 or "course new" in command:
                shutil.copytree(folder, here := tmp_path / f"{place}-{number}")
                monkeypatch.chdir(here)
                if name in BEFORE:
                    kata(*shlex.split(BEFORE[name])[1:]).done()
            if "course new" in command:
                for file in ("course.toml", "roster.csv"):
                    (here / file).unlink()
            ran = kata(*shlex.split(command)[1:])
            if ran.code:
                wrong.append(f"{command}\n{ran.text}")
    assert wrong == []


@pytest.mark.nightly
def test_authors_examples(folder: Path, kata: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """An author types the help pages of a pack that `kata pack new` has written, and bundles ours."""
    kata(*shlex.split(examples("kata pack new")[0])[1:]).done()
    for name in ("kata pack asked", "kata pack bundle", "kata pack mistake"):
        for command in examples(name):
            kata(*shlex.split(command)[1:]).done()
    assert list(folder.glob("tasks/*/task.toml"))
    monkeypatch.setenv("KATA_PACKS", "my-course/katas")
    for command in examples("kata pack build"):
        kata(*shlex.split(command)[1:]).done()
