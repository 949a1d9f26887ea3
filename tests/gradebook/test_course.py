"""Course settings mean what they say, and every mistake in them is named."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from grader.catalogue import Catalogue
from grader.errors import UsageError
from grader.instructor.gradebook.course import Course
from grader.instructor.gradebook.roster import Person, read_roster
from grader.instructor.gradebook.times import lateness

CATALOGUE = Catalogue.discover()
UNIT = [kata.slug for kata in CATALOGUE.resolve("9.3")]


def course(folder: Path, text: str, roster: str | None = None) -> Course:
    path = folder / "course.toml"
    path.write_text(text, encoding="utf-8")
    if roster is not None:
        (folder / "roster.csv").write_text(roster, encoding="utf-8")
    return Course.load(path, CATALOGUE)


FULL = """
name = "Deep learning, autumn 2026"
timezone = "Europe/Berlin"
katas = ["9.3.2", "masks", "9.1"]
roster = "roster.csv"

[due]
"9.3" = 2026-10-12T12:00:00
masks = 2026-10-05
"9.1" = 2026-10-01T12:00:00+02:00

[late]
grace_minutes = 10
percent_per_day = 20
most_percent = 60
refused_after_days = 14

[extensions]
ada = 2
"bob b." = { masks = 7, "9.3" = 1 }

[weights]
"9.3" = 2
masks = 0.5
"""


def test_a_course_is_read(tmp_path: Path) -> None:
    found = course(tmp_path, FULL, "learner,name,Canvas ID,E-Mail\nada,Ada,17,a@b\nbob b.,,,\neve,Eve,,\n")
    assert found.name == "Deep learning, autumn 2026"
    assert found.katas == ("self-attention", "masks", "masked-attention")
    assert found.due["masked-attention"] == datetime(2026, 10, 12, 10, tzinfo=UTC)
    assert found.due["masks"] == datetime(2026, 10, 5, 22, tzinfo=UTC)
    assert found.due["self-attention"] == datetime(2026, 10, 1, 10, tzinfo=UTC)
    assert "positional-encoding" not in found.due
    assert (found.late.grace_minutes, found.late.of, found.late.refused_after_days) == (10, "earned", 14)
    assert found.weight("masks") == 0.5
    assert found.weight("layer-norm") == 2
    assert found.weight("self-attention") == 1
    assert list(found.roster) == ["ada", "bob b.", "eve"]
    assert found.roster["ada"] == Person(learner="ada", name="Ada", canvas_id="17", other={"e_mail": "a@b"})
    assert [found.name_of(who) for who in ("ada", "bob b.", "guest")] == ["Ada", "bob b.", "guest"]
    assert found.path == tmp_path / "course.toml"


def test_extensions_move_due_dates(tmp_path: Path) -> None:
    found = course(tmp_path, FULL, "learner\nada\nbob b.\neve\n")
    plain = found.due["masks"]
    assert found.due_for("eve", "masks") == plain
    assert found.due_for("ada", "masks") == plain + timedelta(days=2)
    assert found.due_for("bob b.", "masks") == plain + timedelta(days=7)
    assert found.due_for("bob b.", "layer-norm") == found.due["layer-norm"] + timedelta(days=1)
    assert found.due_for("bob b.", "self-attention") == found.due["self-attention"]
    assert found.due_for("ada", "positional-encoding") is None
    for who, later, points in (("ada", timedelta(days=2, hours=1), 2.0), ("eve", timedelta(minutes=9), 0.0)):
        late = lateness(found.due_for(who, "masks"), plain + later, found.late, score=10, max_score=10)
        assert late.points == points


def test_the_least_that_a_course_says(tmp_path: Path) -> None:
    found = course(tmp_path, 'name = "x"\n')
    assert (found.katas, found.due, found.roster) == (None, {}, {})
    assert found.due_for("ada", "masks") is None


def test_where_a_course_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    away, here = tmp_path / "away", tmp_path / "given.toml"
    away.mkdir()
    (away / "course.toml").write_text('name = "beside"\n')
    here.write_text('name = "given"\n')
    assert Course.find(str(away / "g.sqlite"), None, CATALOGUE).name == "beside"
    assert Course.find(f"sqlite:///{away}/g.sqlite", None, CATALOGUE).name == "beside"
    assert Course.find(str(away / "g.sqlite"), here, CATALOGUE).name == "given"
    assert Course.find("gradebook.sqlite", None, CATALOGUE) == Course()
    assert Course.find("postgresql://host/db", None, CATALOGUE) == Course()
    (tmp_path / "course.toml").write_text('name = "here"\n')
    assert Course.find("postgresql://host/db", None, CATALOGUE).name == "here"
    with pytest.raises(UsageError, match="this file is missing"):
        Course.find("g.sqlite", tmp_path / "none.toml", CATALOGUE)


NAMED = 'name = "x"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", r"`name`: is missing \(text in quotes: the course's name\)"),
        ("name = 3", "toml:1: `name`: must be text in quotes"),
        ("name = ", "not valid TOML"),
        (".".join(["a"] * 20_000) + " = 1", "too many parts"),
        ("x = {" + " . ".join(['"a"'] * 20_000) + " = 1}", "too many parts"),
        ("[[" + ".".join(["'a.b'"] * 9) + "]]", "too many parts"),
        ("#" * 300_000, "larger than 200000 bytes"),
        (NAMED + "kata = []", r"toml:2: `kata`: is not known\. Did you mean `katas`\?"),
        (NAMED + 'katas = ["7.7"]', r"`katas\[0\]`: There is no 7\.7\."),
        (
            NAMED + 'katas = ["9.3", "maks"]',
            r"`katas\[1\]`: There is no kata or unit called maks\. Did you mean masks\?",
        ),
        (NAMED + "katas = []", "`katas`"),
        (NAMED + "katas = [9.3]", r"`katas`: must be a list of IDs in quotes"),
        (
            NAMED + 'timezone = "Europe/Berln"',
            r"`timezone`: there is no time zone Europe/Berln\. Did you mean Europe/Berlin\?",
        ),
        (NAMED + 'timezone = "../etc/passwd"', "`timezone`: there is no time zone"),
        (
            NAMED + "[due]\nmasks = 2026-10-05T12:00:00",
            "`due.masks`: is a local time, and no time zone is given",
        ),
        (NAMED + "[due]\nmasks = 2026-10-05", "`due.masks`: is a local time"),
        (NAMED + '[due]\nmasks = "2026-10-05"', "`due.masks`: must be a date or a time, without quotes"),
        (
            NAMED + "[due]\nmasks = 9999-12-31T23:59:00-05:00",
            "`due.masks`: is too far in the past or the future",
        ),
        (NAMED + '[due]\n"7.9" = 2026-10-05T12:00:00Z', r'`due\."7\.9"`: There is no 7\.9'),
        (
            NAMED + "[due]\n9.3 = 2026-10-05T12:00:00Z",
            r"`due\.9`: is a table here; an ID with dots must be in quotes",
        ),
        (
            NAMED + '[due]\nmasks = 2026-10-05T12:00:00Z\n"9.3.1" = 2026-10-06T12:00:00Z',
            r'`due\."9\.3\.1"`: masks is already covered by due\.masks',
        ),
        (
            NAMED + "[late]\npercent_a_day = 3",
            r"`late\.percent_a_day`: is not known\. Did you mean `percent_per_day`\?",
        ),
        (
            NAMED + "[late]\npercent_per_day = 120",
            "toml:3: `late.percent_per_day`: must be a number from 0 to 100",
        ),
        (NAMED + '[late]\nof = "all"', r"`late\.of`: must be one of: earned, possible"),
        (
            NAMED + "[late]\nrefused_after_days = -1",
            "`late.refused_after_days`: must be a number of days, from 0 to 3650",
        ),
        (NAMED + "[weights]\nmasks = -1", "`weights.masks`: must be a number from 0 to 1000"),
        (NAMED + "[weights]\nmasks = true", "`weights.masks`: must be a number"),
        (NAMED + "[weights]\nmasks = nan", "`weights.masks`: must be a number"),
        (NAMED + '[extensions]\nada = "2"', "`extensions.ada`: must be a number of days from 0 to 3650"),
        (
            NAMED + "[extensions]\nada = { maskz = 2 }",
            r"`extensions\.ada\.maskz`: There is no kata .* Did you mean masks",
        ),
        (
            NAMED + '[late]\npercent_per_day = "10 %"',
            "must be a number from 0 to 100, without quotes or a sign such as %: percent_per_day = 10",
        ),
        (
            NAMED + '[assignments.week1]\nkatas = ["masks"]\nattempts = "latest"',
            "toml:4: `assignments.week1.attempts`: must be one of: newest, best, chosen",
        ),
        (
            NAMED + '[assignments.week1]\nkatas = ["masks"]\n[columns]\nweek9 = "x"',
            r"`columns.week9`: There is no kata or unit called week9\. The assignments are week1\.",
        ),
        (
            NAMED + 'roster = "roster.csv"\n[extensions]\n"Ada Lovelace" = 2',
            r"the roster has no learner Ada Lovelace\. Did you mean ada\?",
        ),
        (
            NAMED + 'roster = "roster.csv"\n[extensions]\n"Wei Zhang" = 2',
            r"the roster has no learner Wei Zhang\. 2 are called so: wei, wei2\.",
        ),
        (NAMED + 'roster = "none.csv"', r"course\.toml:2: `roster`: there is no file .*none\.csv\."),
        (
            NAMED + "[weights]\nmasks = 1,5",
            r"not valid TOML: .* \(at line 3, .*\)\. The line is: masks = 1,5$",
        ),
        (
            NAMED + 'roster = "roster.csv"\n[extensions]\nadda = 2',
            r"`extensions\.adda`: the roster has no learner adda\. Did you mean ada\?",
        ),
    ],
)
def test_every_mistake_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        course(tmp_path, text, "learner,name\nada,Ada Lovelace\nwei,Wei Zhang\nwei2,Wei Zhang\n")
    assert caught.value.exit_code == 2
    assert str(tmp_path) in caught.value.message


def test_all_mistakes_are_named_at_once_with_their_lines(tmp_path: Path) -> None:
    text = """
name = "x"
roster = "roster.csv"
[assignments."week 1"]
katas = ["masks", "maks"]
due = "2026-10-12"
deadline = 3
[late]
percent_per_day = 130  # of = 3
[extensions]
nobody = { "week 1" = "2" }
ada = { "week 1" = "2" }
[extras."x y"]
[points.masks]
values = "3"
"""
    with pytest.raises(UsageError) as caught:
        course(tmp_path, text, "learner\nada\nada\n")
    lines = [line for line in caught.value.message.splitlines() if not line.startswith(" ")]
    assert [line.partition(": must")[0].removeprefix(str(tmp_path) + "/") for line in lines] == [
        'course.toml:5: `assignments."week 1".katas[1]`: There is no kata or unit called maks. Did you mean masks?',
        'course.toml:6: `assignments."week 1".due`',
        'course.toml:7: `assignments."week 1".deadline`: is not known.',
        "course.toml:9: `late.percent_per_day`",
        'course.toml:11: `extensions.nobody."week 1"`',
        'course.toml:12: `extensions.ada."week 1"`',
        "course.toml:13: `extras`: is not known.",
        "course.toml:15: `points.masks.values`",
        "roster.csv:3: ada is already in line 2.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "learner;name;email\n2;Lovelace, Ada;a@b\n",
        "learner\tname\temail\n2\tLovelace, Ada\ta@b\n",
        'learner,name,email\n2,"Lovelace, Ada",a@b\n',
        '\ufeffLearner , NAME,Email\r\n\r\n 2 ,"Lovelace, Ada", a@b ,,\r\n,,\r\n',
    ],
)
def test_every_usual_csv_is_read(tmp_path: Path, text: str) -> None:
    path = tmp_path / "roster.csv"
    path.write_text(text, encoding="utf-8", newline="")
    assert read_roster(path) == {"2": Person(learner="2", name="Lovelace, Ada", email="a@b")}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", r"no column is called `learner` \(there are: none\)"),
        (b"name,lerner\nAda,ada\n", r"\(there are: name, lerner\)\. Did you mean the column `lerner`\?"),
        (b"learner,name,Name\nada,x,y\n", "csv:1: two columns are called `name`"),
        (b"learner,name\nada,Lovelace, Ada\n", "csv:2: 3 cells for 2 columns"),
        (b"learner,name\nada,x\n,y\n", "csv:3: the column `learner` is empty"),
        (b"learner\nada\n\nbob\nada\n", "csv:5: ada is already in line 2"),
        ("learner\nzo\u00eb\nzoe\u0308\n".encode(), "csv:3: .* is already in line 2"),
        (
            b"learner,canvas_id\nada,1.2E+15\n",
            r"csv:2: 1.2E\+15 in `canvas_id` is what a spreadsheet makes of a long",
        ),
        (
            b"Student,ID,SIS Login ID,Section\nAda,7,ada,A\nBob,7,bob,A\n",
            "csv:3: bob has the number in Canvas 7, as the learner in line 2 has",
        ),
        (b"learner,name\nada,\xff\n", r"not UTF-8 \(byte 17\)"),
        (b'learner,name\nada,"x\n', "not CSV"),
        (b"learner,name\nada,x\0\n", "not CSV"),
    ],
)
def test_every_mistake_in_a_roster_is_named(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "roster.csv"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=said) as caught:
        read_roster(path)
    assert str(path) in caught.value.message


def test_a_roster_that_is_a_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_roster(tmp_path)


def test_the_documented_example_is_one(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "instructors-reference.md").read_text(encoding="utf-8")
    toml, csv = (
        re.findall(rf"(?ms)^```{kind}\n(.*?)^```", page.partition("## Course settings")[2])[0]
        for kind in ("toml", "csv")
    )
    found = course(tmp_path, toml, csv)
    assert found.due_for("grace hopper", "masks") == datetime(2026, 10, 19, 16, tzinfo=UTC)
    assert found.due_for("ada", "positional-encoding") == datetime(2026, 10, 10, 22, tzinfo=UTC)
    assert found.roster["ada"].canvas_id == "1001"
