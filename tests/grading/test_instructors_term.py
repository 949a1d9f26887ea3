"""docs/instructors.md tells a term from the first roster to the last export: it is played, command by command."""

from __future__ import annotations

import csv
import io
import re
import shlex
import zipfile
from contextlib import nullcontext
from pathlib import Path
from urllib.parse import urlencode

import pytest

from grader.catalogue import Catalogue
from grader.instructor.grading import executors
from tests import answers
from tests.conftest import Ran, Run
from tests.extras.desk.conftest import Running
from tests.ours import OWN

pytestmark = pytest.mark.slow


PAGE = Path(__file__).parents[2] / "docs" / "instructors.md"
CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section\n    Points Possible,,,,\n"
    '"Lovelace, Ada",1001,S-17,ada,Lab A\n"Hopper, Grace",1002,S-18,grace,Lab B\n'
    '"Torvalds, Linus",1003,S-19,linus,Lab B\n'
)
GITHUB = "identifier,github_username,github_id,name\nada@example.org,adal,7,Ada Lovelace\n"
SHEET = "<!-- kata: masks -->\n## 1. x\nPosition t predicts token t + 1.\n"


def commands() -> list[str]:
    """Every command of the section, in its order."""
    page = PAGE.read_text(encoding="utf-8")
    section = page.partition("## A term, from the first roster")[2].partition("\n## ")[0]
    blocks = re.findall(r"(?ms)^```sh\n(.*?)^```$", section)
    return [line for block in blocks for line in block.splitlines()]


def packed(path: Path, files: dict[str, str]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)


@pytest.fixture
def course(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What an instructor has before each command: rosters, downloads, tables."""
    monkeypatch.delenv("KATA_PACKS", raising=False)
    monkeypatch.setattr(executors, "grading_processes", nullcontext)
    monkeypatch.setattr("getpass.getuser", lambda: "kim")
    masks = Catalogue.discover().resolve_one("masks")
    assert masks.solution is not None
    right = masks.solution.read_text()
    mine = right + OWN
    other = {answer.name: answer.text for answer in answers.right(masks)}["row_by_row"]
    (folder / "canvas-roster.csv").write_text(CANVAS)
    (folder / "github-roster.csv").write_text(GITHUB)
    packed(
        folder / "week01.zip",
        {
            "countess/masks_final_v3.py": other,
            "countess/answers.md": SHEET,
            "grace/masks.py": mine,
            "linus/masks.py": f"# my own work\n{mine}",
        },
    )
    packed(folder / "week01-late.zip", {"grace/masks.py": f"{mine}\n# Told so in class.\n"})
    (folder / "times.csv").write_text(
        "learner,submitted_at\nada,2026-10-13T10:00:00\ngrace,2026-10-11T10:00:00\nlinus,2026-10-11T11:00:00\n"
    )
    (folder / "points.csv").write_text("learner,kata,points,comment\ngrace,masks,-2,oral exam\n")
    return folder


def cells(path: Path) -> list[list[str]]:
    data = path.read_bytes()
    text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    return list(csv.reader(io.StringIO(text), delimiter="\t" if "\t" in text.splitlines()[0] else ","))


@pytest.mark.nightly
def test_the_term_of_the_page(kata: Run, course: Path) -> None:
    said: dict[str, Ran] = {}
    desk_was_open = False
    for command in commands():
        words = shlex.split(command)
        assert words[0] == "kata"
        if words[1] == "desk":
            at_the_desk(course, words[2:])
            desk_was_open = True
            continue
        ran = kata(*words[1:]).done()
        said.setdefault(command, ran)
    assert desk_was_open

    def told(beginning: str) -> str:
        return next(ran.text for command, ran in said.items() if command.startswith(beginning))

    first = said["kata grade week01.zip --assignment week1 --times times.csv"].text
    assert "countess: like nobody in the roster" in first
    assert "masks_final_v3.py" in first
    assert "0/15" not in told("kata gradebook show")
    assert "@@" in told("kata gradebook code grace masks")
    assert "Position t predicts" in told("kata gradebook answers ada masks")
    assert "was ill" in told("kata gradebook rulings")
    for again in ("kata regrade --only masks --dry-run", "kata regrade --only masks"):
        assert "4 hand-ins, 0 " in said[again].out, "nothing was mended, so nothing changes"
    (pair,) = [line for line in told("kata similar").splitlines() if "–" in line]
    assert re.findall(r"ada|grace|linus", pair) in (["grace", "linus"], ["linus", "grace"])

    marks = {
        line["learner"]: float(line["score"])
        for line in csv.DictReader(io.StringIO((course / "marks.csv").read_text()))
        if line["kata"] == "masks"
    }
    assert marks == {"ada": 4, "grace": 13, "linus": 15}
    with zipfile.ZipFile(course / "feedback.zip") as feedback:
        pages = {name[:5]: feedback.read(name).decode() for name in feedback.namelist()}
    assert any("well put" in page for page in pages.values()), "it was released before"
    assert not any("not for learners" in page for page in pages.values())
    given = {
        name: cells(course / f"{name}.csv") for name in ("canvas", "moodle", "blackboard", "brightspace")
    }
    for name, key in (("canvas", "1001"), ("moodle", "ada"), ("blackboard", "ada"), ("brightspace", "ada")):
        (line,) = [line for line in given[name] if any(key in cell for cell in line)]
        assert any(cell.startswith("5") for cell in line), (name, line)  # 4 for code, 1 for the answer
    assert (course / "results").is_dir()


def at_the_desk(course: Path, options: list[str]) -> None:
    """Kim looks at what is hers, marks an answer, takes it back, releases, and takes that back."""
    assert options == ["--author", "kim"]
    desk = Running(str(course / "gradebook.sqlite"), course, author=options[1])
    try:
        assert re.search(r"Mine <span class=\"tag\">\d", desk.page("/"))
        page = desk.page("/answer", learner="ada", of="masks", question=1)
        names = ("learner", "of", "question", "seen", "digest", "here", "back")
        form = {
            name: found[1] for name in names if (found := re.search(rf'name="{name}" value="([^"]*)"', page))
        }
        form = {name: value.replace("&amp;", "&") for name, value in form.items()}
        answer = desk.ask(
            "POST", "/do/mark_answer", urlencode({**form, "met1": "1", "comment": "not for learners"})
        )
        assert answer.status == 303, answer.text
        number = re.search(r'name="number" value="(\d+)"', desk.page("/log"))
        assert number is not None
        assert desk.do("unmark_answer", version=0, number=number[1], comment="told otherwise").status == 303
        assert (
            desk.ask(
                "POST",
                "/do/release",
                urlencode({"for": "week1", "comment": "done", "back": "/written", "anyway": "1"}),
            ).status
            == 303
        )
        assert "Attention masks: released" in desk.page("/written")
        number = re.search(
            r'action="/do/withdraw">\s*<input type="hidden" name="number" value="(\d+)"', desk.page("/log")
        )
        assert number is not None
        assert desk.do("withdraw", version=0, number=number[1], comment="too early").status == 303
        assert "Attention masks: not released" in desk.page("/written")
    finally:
        desk.close()
