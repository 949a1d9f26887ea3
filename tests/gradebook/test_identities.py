"""Rosters as systems write them, and the names of a download led to them: believed, proposed, never dropped."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.errors import UsageError
from grader.instructor.gradebook.course import Course
from grader.instructor.gradebook.identities import Match, match, whole_name, words_in
from grader.instructor.gradebook.roster import read_roster
from grader.instructor.lms.person import Found, Person

# The first lines of files as the systems' own documentation and importers have them.
CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,Masks (1234)
    Points Possible,,,,,10
"Lovelace, Ada",1001,S-17,ada17,Lab A,
"Hopper, Grace",1002,S-18,grace18,Lab B,7
"Student, Test",99,,abcdef0123,Lab A,
"""
MOODLE_WORKSHEET = """\
Identifier,"Full name","Email address",Status,Grade,"Maximum Grade","Last modified (submission)"
"Participant 12345","Ada Lovelace",ada@example.org,"Submitted for grading",,10.00,"Monday, 5 October 2026, 3:14 PM"
"""
MOODLE = """\
"First name",Surname,"ID number",Institution,Department,"Email address"
Ada,Lovelace,S17,,,ada@example.org
"""
MOODLE_USERS = """\
"First name","Last name",Username,"Email address",Groups
Ada,Lovelace,alovelace,ada@example.org,"Lab A"
"""
BLACKBOARD = """\
"Last Name"\t"First Name"\t"Username"\t"Student ID"\t"Last Access"\t"Availability"\t"Masks [Total Pts: 10 Score] |123"
"Lovelace"\t"Ada"\t"alovelace"\t"S17"\t"2026-10-05 12:00:00"\t"Yes"\t""
"""
GRADESCOPE = """\
First Name,Last Name,SID,Email,Role,Section
Ada,Lovelace,S17,ada@example.org,Student,Lab A
Kim,Marker,,kim@example.org,TA,
"""
BRIGHTSPACE = """\
OrgDefinedId,Username,Last Name,First Name,Email,Masks Points Grade <Numeric MaxPoints:10>,End-of-Line Indicator
#S17,#alovelace,Lovelace,Ada,ada@example.org,,#
"""
MOODLE_GERMAN = """\
ID,"Vollständiger Name",E-Mail-Adresse,Status,"Zuletzt geändert (Abgabe)"
Teilnehmer/in12345,"Ada Lovelace",ada@example.org,"Keine Abgabe - - ",-
"""
MOODLE_USERS_GERMAN = """\
Vorname,Nachname,ID-Nummer,E-Mail-Adresse,Gruppen
Ada,Lovelace,S17,ada@example.org,"Lab A"
"""
GITHUB = "identifier,github_username,github_id,name\nada@example.org,adal,7,Ada Lovelace\n"
CLASSROOM50 = """\
username,first_name,last_name,email,section,github_id,role
adal,Ada,Lovelace,ada@example.org,Lab A,7,student
kimm,Kim,Marker,,,8,teacher
"""


ROSTERS = {
    "canvas": (CANVAS, ("ada17", "Ada Lovelace", "", "Lab A", "1001", "")),
    "moodle-worksheet": (
        MOODLE_WORKSHEET,
        ("ada@example.org", "Ada Lovelace", "ada@example.org", "", "", ""),
    ),
    "moodle": (MOODLE, ("S17", "Ada Lovelace", "ada@example.org", "", "", "S17")),
    "moodle-users": (
        MOODLE_USERS,
        ("alovelace", "Ada Lovelace", "ada@example.org", "Lab A", "", "alovelace"),
    ),
    "moodle-worksheet-german": (
        MOODLE_GERMAN,
        ("ada@example.org", "Ada Lovelace", "ada@example.org", "", "", ""),
    ),
    "moodle-users-german": (
        MOODLE_USERS_GERMAN,
        ("S17", "Ada Lovelace", "ada@example.org", "Lab A", "", "S17"),
    ),
    "blackboard": (BLACKBOARD, ("alovelace", "Ada Lovelace", "", "", "", "")),
    "brightspace": (BRIGHTSPACE, ("alovelace", "Ada Lovelace", "ada@example.org", "", "", "")),
    "gradescope": (GRADESCOPE, ("ada@example.org", "Ada Lovelace", "ada@example.org", "Lab A", "", "")),
    "github": (GITHUB, ("ada@example.org", "Ada Lovelace", "ada@example.org", "", "", "")),
    "classroom50": (CLASSROOM50, ("adal", "Ada Lovelace", "ada@example.org", "Lab A", "", "")),
}


@pytest.mark.parametrize("system", ROSTERS)
def test_a_system_s_own_roster_is_read_as_it_is(tmp_path: Path, system: str) -> None:
    text, expected = ROSTERS[system]
    path = tmp_path / "roster.csv"
    path.write_text(text)
    people = list(read_roster(path).values())
    one = people[0]
    assert (one.learner, one.name, one.email, one.section, one.canvas_id, one.moodle_id) == expected
    assert [person.name for person in people][1:] == (["Grace Hopper"] if text is CANVAS else [])


def test_blackboard_s_own_encoding_is_read(tmp_path: Path) -> None:
    path = tmp_path / "gc.xls"
    path.write_bytes(BLACKBOARD.encode("utf-16"))
    assert list(read_roster(path)) == ["alovelace"]


@pytest.mark.parametrize("line", ["sep=;\n", "SEP=;\r\n", '"sep=;"\n', "sep=|\n", "sep=\t\n"])
def test_a_first_line_that_says_what_separates_is_read(tmp_path: Path, line: str) -> None:
    path, mark = tmp_path / "roster.csv", line.strip('"\r\n')[-1]
    path.write_text(f"\ufeff{line}learner{mark}name\nada{mark}Lovelace, Ada\n", newline="")
    assert read_roster(path)["ada"].name == "Lovelace, Ada"
    path.write_text(f"{line}learner{mark}name\nada{mark}x\nada{mark}y\n", newline="")
    with pytest.raises(UsageError, match=r"roster\.csv:4: ada is already in line 3"):
        read_roster(path)


def test_aliases_stand_in_a_column_of_our_own(tmp_path: Path) -> None:
    path = tmp_path / "roster.csv"
    path.write_text("learner,aliases\nada,hw1-ada; ada l.\n")
    assert read_roster(path)["ada"].aliases == ("hw1-ada", "ada l.")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "bob,Ada@example.org,",
            r"csv:3: bob has the e-mail address Ada@example.org, as the learner in line 2",
        ),
        ("bob,,u17", r"csv:3: bob has the sis user id u17, as the learner in line 2"),
        ("bob,,2.02612E+11", r"csv:3: 2.02612E\+11 in `sis_user_id` is what a spreadsheet makes"),
    ],
)
def test_an_address_or_a_number_is_of_one_learner_alone(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "roster.csv"
    path.write_text(f"learner,email,sis_user_id\nada,ada@example.org,u17\n{line}\n")
    with pytest.raises(UsageError, match=said):
        read_roster(path)


def test_a_blank_before_a_quote_is_no_part_of_a_cell(tmp_path: Path) -> None:
    path = tmp_path / "roster.csv"
    path.write_text('learner, name, email\nada, "Lovelace, Ada", ada@example.org\n')
    assert read_roster(path)["ada"].name == "Lovelace, Ada"


@pytest.mark.parametrize("line", ["eve,x", "eve,y; bob"])
def test_another_name_leads_to_one_learner_alone(tmp_path: Path, line: str) -> None:
    path = tmp_path / "roster.csv"
    path.write_text(f"learner,aliases\nada,x; ada\nbob,\n{line}\n")
    with pytest.raises(
        UsageError, match=r"roster\.csv:4: (x|bob) is to be eve, and is in line [23] for another"
    ):
        read_roster(path)


def course(*people: Person) -> Course:
    return Course(roster={one.learner: one for one in people})


ADA = Person(
    learner="ada",
    name="Ada Lovelace",
    email="ada.l@example.org",
    canvas_id="1001",
    other={"github_username": "adal", "moodle_participant": "12345", "sid": "S17"},
)
GRACE = Person(learner="Grace Hopper", name="Grace Hopper", email="grace@example.org")


@pytest.mark.parametrize(
    "found",
    [
        Found("Ada"),
        Found("ADA.L@example.org"),
        Found("lovelaceada_1001", {"canvas": "1001"}),
        Found("somebody_12345", {"moodle": "12345"}),
        Found("x", {"email": "ada.l@example.org"}),
        Found("x", {"sid": "s17"}),
        Found("week1-adal"),
        Found("hw-9-adal"),
        Found("Ada_Ada", {"ends": "Lovelace_Maria_Ada_Ada"}),
        Found("ada lovelace"),
        Found("Lovelace, Ada"),
        Found("lovelaceada_777", {"canvas": "777"}),
        Found("Ada L\u00f3velace"),
    ],
    ids=lambda one: one.name,
)
def test_identifiers_and_equal_names_are_believed_and_the_reason_is_kept(found: Found) -> None:
    matches = match([found], course(ADA, GRACE), {})
    assert matches.known == {found.name: "ada"}
    assert matches.learnt[found.name].reason
    assert matches.absent == ["Grace Hopper"]


def test_what_is_only_alike_is_proposed_and_never_taken() -> None:
    linus = Person(learner="linus", name="Linus P. Torvalds")
    matches = match([Found("linus.p"), Found("zzz")], course(linus, GRACE), {})
    assert matches.known == {}
    assert matches.strangers == {"linus.p": [Match("linus", "all of the roster's name is in it")], "zzz": []}
    assert matches.absent == ["linus", "Grace Hopper"]


def test_who_has_handed_in_is_proposed_to_nobody() -> None:
    matches = match([Found("ada"), Found("adda")], course(ADA), {})
    assert matches.strangers == {"adda": []}


def test_two_who_could_be_one_are_neither() -> None:
    twice = match([Found("Ada"), Found("ADA")], course(ADA), {})
    assert twice.known == {}
    assert set(twice.strangers) == {"Ada", "ADA"}
    one_name = course(Person(learner="a1", name="Kim Lee"), Person(learner="a2", name="Kim Lee"))
    assert match([Found("Kim Lee")], one_name, {}).known == {}
    assert match([Found("hw1-x-ada")], course(ADA, Person(learner="x-ada")), {}).known == {}


def test_whoever_is_spelled_exactly_so_goes_first() -> None:
    matches = match([Found("ada"), Found("Ada")], course(ADA), {})
    assert matches.known == {"ada": "ada"}
    assert set(matches.strangers) == {"Ada"}


def test_what_was_learnt_holds_and_without_a_roster_names_are_names() -> None:
    assert match([Found("hw9-x")], course(ADA), {"hw9-x": "ada"}).known == {"hw9-x": "ada"}
    loose = match([Found("bob")], Course(), {}, known=["ada"])
    assert (loose.known, loose.strangers, loose.absent) == ({}, {}, [])
    again = match([Found("hw9-ada")], Course(), {}, known=["ada"])
    assert again.strangers == {"hw9-ada": [Match("ada", "all of the roster's name is in it")]}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Müller, Jörg", ["jorg", "muller"]),
        ("Mu\u0308ller", ["muller"]),
        ("Łukasz Øst", ["lukasz", "ost"]),
        ("Æsa Œuf", ["aesa", "oeuf"]),
        ("Straße", ["strasse"]),
        ("Đặng", ["dang"]),
        ("Ελένη", ["ελενη"]),
        ("李雷", ["李雷"]),
    ],
)
def test_a_name_is_read_without_case_and_accents(name: str, words: list[str]) -> None:
    assert words_in(name) == words


BOB = Person(learner="bob_ada", name="Bob Roe", canvas_id="7")
LEE = Person(learner="lee", name="Bruce Lee", canvas_id="8")


@pytest.mark.parametrize(
    ("found", "people"),
    [
        # A login that ends in another's, and is not in the roster.
        ([Found("ada", {"name": "Roe Bob Bob", "ends": "Roe_Bob_Bob_ada"})], [ADA, GRACE]),
        ([Found("ada", {"blackboard": "HW_bob_ada", "ends": "HW_bob_ada"}), Found("HW_x")], [ADA, GRACE]),
        ([Found("week1-bob-ada"), Found("week1-carl")], [ADA, GRACE]),
        # A name that ends in another's login.
        ([Found("Anna Smith-Lee", {"moodle": "12", "name": "Anna Smith-Lee"})], [LEE, GRACE]),
        ([Found("Smith-Lee"), Found("Grace Hopper")], [LEE, GRACE]),
        # Two of one name: by the number it is the other.
        ([Found("leebruce_9", {"canvas": "9"}), Found("roebob_7", {"canvas": "7"})], [LEE, BOB]),
    ],
    ids=["folder", "attempt", "repository", "double name", "folder of a double name", "two of one name"],
)
def test_a_guess_that_may_be_somebody_else_is_asked_about(found: list[Found], people: list[Person]) -> None:
    first, *others = found
    named = first._replace(name=whole_name(first, found, course(*people)))
    matches = match([named, *others], course(*people), {})
    assert named.name not in matches.known
    assert people[0].learner in matches.absent
    assert named.name in matches.strangers


def test_a_login_with_another_s_in_it_is_led_to_its_own_learner() -> None:
    found = Found("ada", {"name": "Roe Bob Bob", "ends": "Roe_Bob_Bob_ada"})
    roster = course(ADA, BOB)
    named = found._replace(name=whole_name(found, [found], roster))
    assert match([named], roster, {}).known == {"Roe_Bob_Bob_ada": "bob_ada"}
    assert match([Found("hw-ada"), Found("hw-bob-x"), Found("hw-zz")], roster, {}).known == {"hw-ada": "ada"}
