"""`kata gradebook`, driven as an instructor drives it."""

from __future__ import annotations

import csv
import json
import os
import shlex
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from grader.cli.instructor.class_options import same_book
from grader.cli.main import cli
from grader.instructor.gradebook.store import Gradebook
from tests.conftest import Run, completed, invoke

from .conftest import record
from .made_up import SECRET, check, report

GONE = "no-such.sqlite"


def score(kata: Run, learner: str = "ada", id_: str = "masks") -> float:
    document = kata("show", learner, id_, "--json").json
    return float(document["katas"][0]["score"])


def test_a_class_is_a_line_a_learner_and_a_column_a_kata(kata: Run) -> None:
    lines = kata("show").out.splitlines()
    assert lines[0].split() == ["9.3.1", "9.3.3"]
    assert lines[1].split() == ["learner", "/10", "/20", "total"]
    assert lines[2].split() == ["ada", "Ada", "Lovelace", "✘", "6", "✔", "20", "26/30"]
    assert lines[3].split() == ["adam", "◷", "0", "!", "0", "0/30"]
    assert lines[4].split() == ["zed", "Zed", "?", "0", "?", "0", "0/30"], "who is in the roster has a line"
    assert lines[5].split() == ["mean", "2", "6.67"]
    assert lines[6].split() == ["passed", "0/3", "1/3"]
    assert "✔ passed   ✘ failed   ! error   ◷ timed out   ? no file" in lines[-1], (
        "signs are explained in words"
    )


def test_a_changed_mark_is_marked(kata: Run) -> None:
    assert "*" not in kata("show").out
    kata("adjust", "ada", "masks", "1", "--comment", "x")
    shown = kata("show").out
    assert "✘ 7*" in shown
    assert "* late, or changed by a person" in shown


def test_a_narrow_terminal_gets_the_class_in_blocks(kata: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "34")
    lines = kata("show").out.splitlines()
    assert max(map(len, lines[:-1])) <= 34
    heads = [line.split() for line in lines if "9.3." in line]
    assert heads == [["9.3.1"], ["9.3.3"]]
    assert sum("26/30" in line for line in lines) == 2, "the total stands in every block"


def test_show_can_be_narrowed(kata: Run) -> None:
    assert kata("show", "--only", "9.3.3").out.splitlines()[0].split() == ["9.3.3"]
    both = kata("show", "--only", "masks", "--only", "layer").out
    assert both.splitlines()[0].split() == ["9.3.1", "9.3.3"]


def test_one_learner_is_a_line_a_kata(kata: Run) -> None:
    lines = kata("show", "ada").out.splitlines()
    assert lines[0] == "ada  Ada Lovelace   26/30 points"
    assert " ".join(lines[1].split()) == "9.3.1 masks 6/10 ✘ failed 2 of 3 checks went wrong"
    assert lines[2].split() == ["9.3.3", "layer-norm", "20/20", "✔", "passed"]
    assert lines[-1] == "in full  kata gradebook show ada masks"
    assert r"\x1b[31mline 3: =1" in kata("show", "adam").out, "control characters are shown, not obeyed"


def test_weights_are_said_where_the_lines_do_not_add_up(kata: Run, course_folder: Path) -> None:
    with (course_folder / "course.toml").open("a") as file:
        file.write("\n[weights]\nmasks = 1.5\n")
    lines = kata("show", "ada").out.splitlines()
    assert lines[0] == "ada  Ada Lovelace   29/35 points"
    assert "counts 1.5 times" in lines[1]
    assert "counts" not in lines[2]


def test_one_mark_is_shown_with_all_that_made_it(kata: Run) -> None:
    kata("adjust", "ada", "masks", "2", "--comment", "ours to mend")
    shown = kata("show", "ada", "9.3.1").out
    assert shown.startswith("ada  Ada Lovelace   9.3.1 masks   8/10 points   ✘ failed\n")
    assert "  graded    6/10\n" in shown
    assert "  adjusted  +2 by kim: ours to mend\n" in shown
    assert "nothing later is seen" in shown
    assert "first difference  mask[0, 1]" in shown
    assert "likely  shifted" in shown
    assert f"{SECRET} (hidden)" in shown


def test_show_as_json(kata: Run) -> None:
    document = kata("show", "--json").json
    assert document["schema"] == 1
    ada, adam, zed = document["learners"]
    assert (ada["learner"], ada["name"], ada["score"], ada["max_score"]) == (
        "ada",
        "Ada Lovelace",
        26.0,
        30.0,
    )
    assert [mark["kata"] for mark in ada["katas"]] == ["masks", "layer-norm"]
    assert [mark["status"] for mark in adam["katas"]] == ["timeout", "error"]
    assert [mark["status"] for mark in zed["katas"]] == ["missing", "missing"]
    assert "report" not in ada["katas"][0]
    one = kata("show", "ada", "masks", "--json").json
    assert one["katas"][0]["report"]["checks"][2]["name"] == SECRET


@pytest.mark.slow
@pytest.mark.parametrize(
    ("points", "after"),
    [("2", 8.0), ("+2", 8.0), ("-1.5", 4.5), ("\u22121.5", 4.5), ("-100", 0.0), (".25", 6.25)],
)
def test_points_are_given_and_taken(kata: Run, points: str, after: float) -> None:
    result = kata("adjust", "ada", "masks", points, "--comment", "a reason").done()
    assert result.out == f"ada  Ada Lovelace   9.3.1 masks   6/10 → {after:g}/10\n"
    assert "undo  kata gradebook revoke ada masks --comment TEXT" in result.err
    assert score(kata) == after


def test_options_may_stand_anywhere_and_a_comment_may_begin_with_a_hyphen(kata: Run) -> None:
    assert kata("adjust", "--comment", "-1 for style", "--author", "lee", "ada", "masks", "-1").code == 0
    event = kata("history", "ada", "masks", "--json").json["events"][-1]
    assert (event["comment"], event["author"], event["points"]) == ("-1 for style", "lee", -1.0)


def test_an_override_is_the_mark(kata: Run) -> None:
    kata("adjust", "ada", "masks", "2", "--comment", "x")
    kata("override", "ada", "masks", "12", "--comment", "by hand").refused(
        "ada, masks: 12 is more than the 10 points there are"
    )
    kata("adjust", "ada", "masks", "2.5", "--comment", "by hand").refused("10.5 is more than the 10 points")
    result = kata("override", "ada", "masks", "12", "--comment", "by hand", "--beyond")
    assert "8/10 → 12/10" in result.out
    assert "12 is more than the 10 points there are" in result.err
    assert score(kata) == 12.0


def test_it_stays_when_a_kata_is_graded_again(kata: Run) -> None:
    kata("adjust", "ada", "masks", "1", "--comment", "x")
    with Gradebook.open("gradebook.sqlite", create=False) as book:
        run = book.start_run({})
        record(book, run, "ada", report("masks", "fail", [check(max_points=8.0), check("fail")]))
        run.finish()
    assert score(kata) == 9.0


@pytest.mark.slow
def test_the_newest_change_is_taken_back_or_the_one_that_is_named(kata: Run) -> None:
    for points in ("1", "2"):
        kata("adjust", "ada", "masks", points, "--comment", f"give {points}")
    first = kata("history", "ada", "masks", "--json").json["events"][1]["adjustment"]
    result = kata("revoke", "ada", "masks", "--comment", "not her")
    assert result.out.endswith("9/10 → 7/10\n")
    assert kata("revoke", "ada", "masks", str(first), "--comment", "nor that").out.endswith("7/10 → 6/10\n")
    assert score(kata) == 6.0
    kata("revoke", "ada", "masks", "--comment", "again").refused("nobody changed this mark")


def test_nobody_takes_back_what_was_said_about_another(kata: Run) -> None:
    kata("adjust", "adam", "masks", "1", "--comment", "his")
    kata("adjust", "ada", "masks", "1", "--comment", "hers")
    his = kata("history", "adam", "masks", "--json").json["events"][-1]["adjustment"]
    kata("revoke", "ada", "masks", str(his), "--comment", "x").refused(
        f"there is no change {his} to take back"
    )
    assert score(kata, "adam") == 1.0


@pytest.mark.slow
def test_history_tells_attempts_and_what_people_did(kata: Run) -> None:
    kata("adjust", "ada", "masks", "1", "--comment", "unlucky")
    kata("revoke", "ada", "masks", "--comment", "a slip", "--author", "lee")
    lines = [line.split() for line in kata("history", "ada").out.splitlines()]
    assert lines[0] == ["masks"]
    assert lines[1][2:5] == ["✘", "failed", "6/10"]
    assert " ".join(lines[2][2:]) == "adjusted +1 change 1 kim: unlucky, revoked later"
    assert " ".join(lines[3][2:]) == "revoked change 1 lee: a slip"
    assert lines[4] == ["layer-norm"]
    result = kata("history", "zed")
    assert (result.code, result.out) == (0, "")
    assert "Nothing has happened yet" in result.err


@pytest.mark.parametrize("word", ["ada", "ADA", "Ada Lovelace", "ada love", "ada lovelace"])
def test_a_learner_is_found_by_identity_name_or_beginning(kata: Run, word: str) -> None:
    assert kata("show", word).out.startswith("ada  Ada Lovelace")


NAMES = """learner,name,aliases
jmueller,"Müller-Łoś, Jörg",joerg-on-github;Jo R.
obrien,Bob O'Brien,
-rf,Rita Farias,
zoë,Zoë,
adam,Adam Müller,
"""
"""Of whom `show` and its like are asked by any word of theirs."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "learner"),
    [
        (["jorg"], "jmueller"),
        (["Müller-Los"], "jmueller"),
        (["muller jo"], "jmueller"),
        (["los, JÖRG"], "jmueller"),
        (["joerg-on"], "jmueller"),
        (["o'brien"], "obrien"),
        (["brien"], "obrien"),
        (["zoë"], "zoë"),
        (["Zoe"], "zoë"),
        (["-rf"], "-rf"),
        (["-rf", "masks"], "-rf"),
        (["--only", "masks", "-rf"], "-rf"),
        (["farias"], "-rf"),
        (["adam muller"], "adam"),
    ],
)
def test_a_learner_is_found_by_any_word_of_a_name(
    kata: Run, course_folder: Path, words: list[str], learner: str
) -> None:
    (course_folder / "roster.csv").write_text(NAMES, encoding="utf-8")
    assert kata("show", *words).out.startswith(f"{learner}  ")
    assert "could be adam, jmueller" in kata("show", "mull").err


def test_a_group_alone_shows_its_help_and_no_error(kata: Run) -> None:
    assert kata().err.startswith("Usage: ")


def test_a_column_of_an_assignment_is_pointed_out_where_a_file_has_one_for_each_kata(
    kata: Run, course_folder: Path
) -> None:
    with (course_folder / "course.toml").open("a") as file:
        file.write('[assignments.week1]\nkatas = ["masks"]\n[columns]\nweek1 = "Week 1 (501)"\n')
    told = "Week 1 (501) is one of an assignment: --per-assignment"
    assert told in kata("export", "--format", "canvas").err
    assert told not in kata("export", "--format", "canvas", "--per-assignment").err


@pytest.mark.slow
@pytest.mark.parametrize("name", ["-rf", "--help", "-h", "--", "--json", "--comment"])
def test_a_name_that_begins_with_a_hyphen_is_typed_as_it_is_shown(
    kata: Run, course_folder: Path, name: str
) -> None:
    (course_folder / "roster.csv").write_text(f"learner,name\n{name},Rita Farias\n", encoding="utf-8")
    shown = kata("show", "rita").out.splitlines()[-1].removeprefix("in full  kata gradebook ")
    assert kata(*shlex.split(shown)).out.startswith(f"{name}  Rita Farias")
    adjusted = kata("adjust", "--", name, "masks", "-1", "--comment", "--json")
    undo = adjusted.err.splitlines()[-1].removeprefix("undo  kata gradebook ")
    assert (adjusted.code, kata(*shlex.split(undo)).code) == (0, 0)
    assert kata("show", "--only", "masks", "--json", "--", name).out.startswith("{")


def test_names_that_begin_with_a_hyphen_and_are_no_options_need_nothing(
    kata: Run, course_folder: Path
) -> None:
    (course_folder / "roster.csv").write_text(NAMES, encoding="utf-8")
    assert kata("adjust", "-rf", "masks", "-1", "--comment=-a slip").code == 0
    assert kata("alias", "-rf", "-rita", "--comment", "a slip", "--ahead").out == "-rita is -rf\n"
    assert "No such option '--lines'" in kata("show", "-rf", "--lines").err


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "week1"], ["show", "ada", "week1"], ["show", "--only", "week1"], ["show", "--assignment", "week1"],
        ["history", "ada", "week1"], ["code", "ada", "week1"], ["export", "--format", "csv", "--only", "week1"],
        ["show", "masks"], ["adjust", "ada", "week1", "1", "--comment", "so"],
    ],
)  # fmt: skip
def test_an_assignment_stands_wherever_a_kata_does(
    kata: Run, course_folder: Path, arguments: list[str]
) -> None:
    with (course_folder / "course.toml").open("a") as file:
        file.write('[assignments.week1]\nkatas = ["masks"]\n[assignments.week2]\nkatas = ["layer-norm"]\n')
    result = kata(*arguments).done()
    assert "masks" in result.text or "9.3.1" in result.text  # a table has numbers
    assert "layer-norm" not in result.text
    assert "9.3.3" not in result.text


def test_an_ambiguous_beginning_names_whom_it_could_mean(kata: Run) -> None:
    kata("show", "ad").refused("ad could be ada, adam.")


@pytest.mark.sampled(11)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "adm"], "no learner adm. Did you mean ada"),
        (["show", "ada", "maks"], "no kata or unit called maks. Did you mean masks?"),
        (["show", "ada", "9.3.2"], "The gradebook has nothing of masked-attention."),
        (["show", "--only", "9.1"], "The gradebook has nothing of self-attention."),
        (["show", "--gradebook", GONE], f"{GONE}: there is no gradebook"),
        (["show", "--gradebook", "mysql://x/y"], "not in mysql"),
        (["show", "--course", "none.toml"], "none.toml"),
        (["history", ""], "no learner"),
        (["adjust", "ada", "masks", "nan", "--comment", "x"], "'nan' is not a number of points"),
        (["adjust", "ada", "masks", "inf", "--comment", "x"], "'inf' is not a number of points"),
        (["adjust", "ada", "masks", "1e3", "--comment", "x"], "'1e3' is not a number of points"),
        (["adjust", "ada", "masks", "2,5", "--comment", "x"], "'2,5' is not a number of points"),
        (["adjust", "ada", "masks", "99999999", "--comment", "x"], "are too many"),
        (["adjust", "ada", "masks", "0", "--comment", "x"], "0 points change nothing"),
        (["adjust", "ada", "masks", "1"], "Missing option '--comment'"),
        (["adjust", "ada", "masks", "1", "--comment", "  "], "not changed without a reason"),
        (["adjust", "ada", "9.3", "1", "--comment", "x"], "9.3 means 2 katas; name one: masks, layer-norm."),
        (["adjust", "nemo", "masks", "1", "--comment", "x"], "no learner nemo"),
        (["override", "ada", "masks", "-1", "--comment", "x"], "A mark cannot be -1"),
        (["export", "--format", "pdf"], "'pdf' is not one of"),
        (["export", "--format", "gradescope"], "Name a folder: -o results/"),
        (["export", "--format", "csv", "-o", "."], "this is a folder"),
        (["export", "--format", "gradescope", "-o", "course.toml"], "this is a file"),
        (["export", "--format", "canvas", "--assignment", "masks"], "neither like masks=1234"),
        (
            ["export", "--format", "moodle", "--assignment", "masks=1"],
            "--assignment with a number is only for canvas",
        ),
        (["export", "--format", "jsonl", "--bom"], "--bom is for csv and wide"),
    ],
)
def test_what_cannot_be_done_is_said_and_changes_nothing(
    kata: Run, arguments: list[str], message: str
) -> None:
    before = kata("show", "--json").out
    kata(*arguments).refused(message)
    assert kata("show", "--json").out == before
    assert not Path(GONE).exists()


def test_a_file_that_is_no_gradebook_is_named(kata: Run, course_folder: Path) -> None:
    (course_folder / "odd.sqlite").write_bytes(b"this is no database at all, whatever its name")
    result = kata("show", "--gradebook", "odd.sqlite")
    assert result.code in (2, 3)
    assert "odd.sqlite" in result.err


def test_an_empty_gradebook_says_so(kata: Run, tmp_path: Path) -> None:
    where = str(tmp_path / "new.sqlite")
    Gradebook.open(where, create=True).close()
    result = kata("show", "--gradebook", where).done()
    assert "Nothing is graded yet" in result.err


def test_a_learner_of_the_roster_without_any_mark(kata: Run, course_folder: Path) -> None:
    new = str(course_folder / "new.sqlite")
    Gradebook.open(new, create=True).close()
    assert "Nothing of ada is graded yet" in kata("show", "ada", "--gradebook", new).err
    document = kata("show", "ada", "--json", "--gradebook", new).json
    assert (document["learner"], document["katas"]) == ("ada", [])


def test_points_below_zero_come_after_an_option(kata: Run) -> None:
    assert kata("adjust", "ada", "masks", "--comment=why", "-2").code == 0
    assert score(kata) == 4


def test_options_come_from_the_environment_too(
    kata: Run, course_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (course_folder / "gradebook.sqlite").rename(course_folder / "week2.sqlite")
    monkeypatch.setenv("KATA_GRADEBOOK", "week2.sqlite")
    monkeypatch.setenv("KATA_AUTHOR", "kim")
    monkeypatch.setenv("KATA_GRADEBOOK_EXPORT_FORMAT", "jsonl")
    assert kata("adjust", "ada", "masks", "1", "--comment", "x").code == 0
    assert "kim" in kata("history", "ada", "masks").out
    assert json.loads(kata("export").out.splitlines()[0])["learner"] == "ada"


@pytest.mark.slow
@pytest.mark.parametrize("format_", ["csv", "wide", "jsonl", "canvas", "moodle"])
def test_every_format_goes_to_a_file_or_to_standard_output(
    kata: Run, course_folder: Path, format_: str
) -> None:
    shown = CliRunner().invoke(cli, ["gradebook", "export", "--format", format_])
    assert shown.exit_code == 0
    result = kata("export", "--format", format_, "-o", "out/marks")
    assert (result.code, result.out) == (0, "")
    assert "written  out/marks" in result.err
    written = course_folder / "out" / "marks"
    assert written.read_bytes() == shown.stdout_bytes
    assert [path.name for path in written.parent.iterdir()] == ["marks"], "nothing half written is left"
    text = written.read_text("utf-8")
    assert ("Lovelace" in text) == (format_ != "jsonl")


def test_a_gradescope_export_is_a_folder(kata: Run, course_folder: Path) -> None:
    result = kata("export", "--format", "gradescope", "-o", "results").done()
    assert "written  results   3 files" in result.err
    found = sorted(
        path.relative_to(course_folder).as_posix() for path in Path("results").absolute().rglob("*.json")
    )
    assert found == ["results/ada/results.json", "results/adam/results.json", "results/zed/results.json"]
    assert SECRET not in (course_folder / found[0]).read_text()


def test_exports_can_be_narrowed_and_canvas_told_its_assignments(kata: Run) -> None:
    head = kata(
        "export", "--format", "canvas", "--only", "9.3.3", "--assignment", "layer-norm=42"
    ).out.splitlines()[0]
    assert head.endswith("Section,9.3.3 Layer normalisation (42)")


def test_excel_gets_a_byte_order_mark_when_asked(kata: Run) -> None:
    assert kata("export", "--format", "csv", "--bom").out.startswith("\ufefflearner,")
    assert kata("export", "--format", "csv").out.startswith("learner,")


def test_a_full_disk_leaves_the_old_file(
    kata: Run, course_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (course_folder / "marks.csv").write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    result = kata("export", "--format", "csv", "-o", "marks.csv")
    assert result.code == 3
    assert "marks.csv: cannot be written (No space left on device)" in result.err
    assert (course_folder / "marks.csv").read_text() == "old"
    assert not list(course_folder.glob(".marks*"))


def test_a_pipe_is_written_to_and_stays_a_pipe(kata: Run, course_folder: Path) -> None:
    pipe = course_folder / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert kata("export", "--format", "wide", "-o", "pipe").code == 0
        assert os.read(reader, 65536).startswith(b"learner,")
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_a_gradebook_elsewhere_is_named_in_what_to_type_next(kata: Run, course_folder: Path) -> None:
    (course_folder / "gradebook.sqlite").rename(course_folder / "week 2.sqlite")
    result = kata("show", "ada", "--gradebook", "week 2.sqlite")
    assert "in full  kata gradebook show ada masks --gradebook 'week 2.sqlite'" in result.out


def test_what_to_type_next_holds_no_password() -> None:
    where = "postgresql://kim:open-sesame@db.example.org/autumn"
    with click.Context(cli) as context:
        context.params = {"where": where, "course_file": None}
        assert same_book() == " --gradebook 'postgresql://kim:***@db.example.org/autumn'"


def test_a_mark_of_nothing_takes_few_lines(kata: Run) -> None:
    assert len(kata("show", "zed", "masks").out.splitlines()) < 8
    assert len(kata("show", "adam", "masks").out.splitlines()) < 8


def test_sections_and_columns_of_the_roster_go_along(kata: Run, course_folder: Path) -> None:
    (course_folder / "roster.csv").write_text(
        "learner,name,section,tutor\nada,Ada Lovelace,A,Kim\nadam,,A,Lee\nzed,Zed,B,=1\n"
    )
    ran = kata("export", "--format", "wide", "--column", "section", "--column", "tutor", "--section", "A")
    lines = [line.split(",") for line in ran.out.splitlines()]
    assert [lines[0][3:5], lines[1][3:5], lines[2][3:5]] == [["section", "tutor"], ["A", "Kim"], ["A", "Lee"]]
    ran = kata("export", "--format", "csv", "--column", "tutor")
    assert {line["learner"]: line["tutor"] for line in csv.DictReader(ran.out.splitlines())} == {
        "ada": "Kim", "adam": "Lee", "zed": "'=1"
    }  # fmt: skip
    assert kata("export", "--format", "csv", "--column", "tutro").code == 2


def test_somebody_in_two_sections_is_in_both(kata: Run, course_folder: Path) -> None:
    (course_folder / "roster.csv").write_text(
        "learner,section\nada,Group A and Group B\nadam,Group A\nzed,Group B\neve,Arts and Crafts\n"
    )

    def listed(section: str) -> list[str]:
        ran = kata("export", "--format", "wide", "--section", section).done()
        return [line.partition(",")[0] for line in ran.out.splitlines()[1:]]

    assert (listed("Group B"), listed("a")) == (["ada", "zed"], ["ada", "adam"])
    assert listed("Arts and Crafts") == ["eve"]
    kata("export", "--format", "wide", "--section", "C").refused("there is Arts and Crafts, Group A, Group B")
    kata("export", "--format", "wide", "--section", "group").refused("several sections are called so")


def test_help_needs_no_database(course_folder: Path) -> None:
    """The command is offered by `kata --help`; SQLAlchemy is imported when a gradebook is opened."""
    program = (
        "import sys\nfrom grader.cli.main import main\n"
        "try:\n    main()\nfinally:\n    print(*sys.modules, file=sys.stderr)\n"
    )
    done = completed([sys.executable, "-c", program, "gradebook", "export", "--help"])
    assert done.returncode == 0
    assert "gradescope" in done.stdout
    loaded = {name.partition(".")[0] for name in done.stderr.splitlines()[-1].split()}
    assert not loaded & {"sqlalchemy", "torch", "numpy", "pytest"}
    assert "gradebook" in invoke("--help").out
