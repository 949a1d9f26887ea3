"""A class of two weeks as a new instructor has it, through commands alone: no file is written or edited by hand."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path

import nbformat
import pytest

from grader.catalogue import Catalogue
from grader.instructor.grading import executors
from tests import answers
from tests.conftest import Run

pytestmark = pytest.mark.slow


PEOPLE = {
    "ada": "Lovelace, Ada", "jmueller": "Müller, Jörg", "grace": "Hopper, Grace", "linus": "Torvalds, Linus",
    "eyilmaz": "Y\u0131lmaz, Elif", "xli": "Li, Xin", "kvogel": "Vogel, Kim", "obrien": "O'Brien, Pat",
}  # fmt: skip
HEAD = "Student,ID,SIS User ID,SIS Login ID,Section,Week 1 (501),Homework on norms (502),Final Score"


@pytest.fixture
def downloads(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What Canvas and Moodle give."""
    monkeypatch.delenv("KATA_PACKS", raising=False)
    monkeypatch.setattr(executors, "grading_processes", nullcontext)
    monkeypatch.setattr("getpass.getuser", lambda: "kim")
    lines = [HEAD, "    Points Possible,,,,,10,10,(read only)", '"Student, Test",9,,t,A,,,']
    lines += [f'"{name}",{1001 + i},S-{i},{login},A,,,' for i, (login, name) in enumerate(PEOPLE.items())]
    (folder / "canvas.csv").write_text("\n".join(lines) + "\n", encoding="utf-8-sig")
    return folder


def packed(path: Path, files: Mapping[str, str]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)


def in_canvas(login: str, file: str, mark: str = "") -> str:
    last, _, first = PEOPLE[login].partition(", ")
    called = "".join(c for c in f"{last}{first}".lower() if c.isalpha())
    place = list(PEOPLE).index(login)
    return f"{called}{mark}_{1001 + place}_{9000 + place}_{file}"


def played(kata: Run, commands: list[list[str]]) -> str:
    """Run commands, all of which end well; return what they said."""
    said = ""
    for command in commands:
        ran = kata(*command).done()
        said += ran.text
    return said


def marks(path: Path, column: str) -> dict[str, str]:
    """Return an export's cells by login."""
    lines = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    return {line["SIS Login ID"]: line[column] for line in lines[1:]}


def texts(slug: str) -> tuple[str, str]:
    """Return a right answer and one that has some of the points."""
    kata = Catalogue.discover().resolve_one(slug)
    assert kata.solution is not None
    return kata.solution.read_text(), answers.wrong(kata)[0].text


NEW = [
    "course", "new", "--roster", "canvas.csv", "--timezone", "Europe/Berlin", "--late", "10%",
    "--assignment", "week1=9.3.1", "--due", "week1=2026-10-12T18:00",
    "--assignment", "week2=9.3.3", "--due", "week2=2026-10-19T18:00", "--column", "week2=Homework on norms (502)",
]  # fmt: skip
EXPORT = ["gradebook", "export", "--format", "canvas", "--per-assignment", "-o", "out.csv"]


@pytest.mark.nightly
def test_clean_names_take_three_commands(kata: Run, downloads: Path) -> None:
    right, wrong = texts("masks")
    files = {in_canvas(login, "masks.py"): wrong if login == "xli" else right for login in PEOPLE}
    packed(downloads / "week1.zip", files)
    commands = [NEW, ["grade", "week1.zip", "--assignment", "week1"], EXPORT]
    played(kata, commands)
    assert len(commands) == 3
    found = marks(downloads / "out.csv", "Week 1 (501)")
    assert set(found) == set(PEOPLE)
    assert {login for login, mark in found.items() if mark == "15"} == set(PEOPLE) - {"xli"}
    assert 0 < float(found["xli"]) < 15


def test_the_two_weeks(kata: Run, downloads: Path) -> None:
    right, wrong = texts("masks")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(right)])
    week1 = {
        in_canvas("ada", "masks.ipynb"): nbformat.writes(notebook),
        in_canvas("jmueller", "masks-1.py"): right,
        in_canvas("grace", "masks_final_v3.py"): right,
        in_canvas("linus", "my_masks-2.py"): right,  # handed in for the third time, as Canvas numbers it
        in_canvas("obrien", "masks.py.txt"): f"# mine\n{right}",
        in_canvas("eyilmaz", "masks.py", "_LATE"): right,
        in_canvas("xli", "masks.py"): "def causal_mask(n:\n",
    }
    packed(downloads / "week1.zip", week1)
    grade = ["grade", "week1.zip", "--assignment", "week1"]
    first = [NEW, grade, [*grade, "--take-proposed"], EXPORT]
    said = played(kata, first)
    assert len(first) == 4  # three files with wrong names cost one command
    assert "all of these names  the same command with --take-proposed" in said
    assert "taken  grace, masks: masks_final_v3.py" in said
    found = marks(downloads / "out.csv", "Week 1 (501)")
    full = {"ada", "jmueller", "grace", "linus", "obrien", "eyilmaz"}
    assert found == {login: "15" if login in full else "0" for login in PEOPLE}

    right, wrong = texts("layer-norm")
    called = {"Ada Lovelace": right, "Joerg Mueller": wrong, "Grace Hoper": right, "Linus Torvalds": right}
    files = {
        f"{name}_{70 + i}_assignsubmission_file_/layer_norm.py": text
        for i, (name, text) in enumerate(called.items())
    }
    packed(downloads / "week2.zip", files)
    second = [
        ["grade", "week2.zip", "--assignment", "week2"],
        ["gradebook", "alias", "muller", "Joerg Mueller", "--comment", "his name in Moodle"],
        ["gradebook", "alias", "hopper", "Grace Hoper", "--comment", "a slip"],
        EXPORT,
        ["gradebook", "show", "week2"],
    ]
    said = played(kata, second)
    assert len(first) + len(second) == 9
    assert "Joerg Mueller is jmueller" in said
    found = marks(downloads / "out.csv", "Homework on norms (502)")
    assert {login for login, mark in found.items() if mark == "28"} == {"ada", "grace", "linus"}
    assert 0 < float(found["jmueller"]) < 28
    assert marks(downloads / "out.csv", "Week 1 (501)")["grace"] == "15"
