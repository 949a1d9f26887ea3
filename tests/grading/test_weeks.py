"""Download after download into one gradebook: what one does not contain is left as it is."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from grader.instructor.grading import executors
from grader.instructor.submissions.safe_path import SafePath
from tests.conftest import TINY, Run
from tests.grading.conftest import MODULE, RIGHT, SOLUTIONS, WRONG

pytestmark = pytest.mark.slow


COURSE = """
name = "Sorting"
timezone = "UTC"

[assignments.week1]
katas = ["insertion-sort"]
due = 2026-10-05T12:00:00

[assignments.week2]
katas = ["bubble-sort"]
due = 2026-10-12T12:00:00
"""


@pytest.fixture
def week(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A course of two katas, one a week; call it to put an answer into a week's download."""
    home = tmp_path_factory.mktemp("packs")
    pack, answers = home / "katas", home / "solutions"
    shutil.copytree(TINY, pack)
    shutil.copytree(SOLUTIONS.parent.parent, answers)
    for root in (pack, answers):
        first, second = root / "1.1-sorting/insertion-sort", root / "1.1-sorting/bubble-sort"
        shutil.copytree(first, second)
        (second / MODULE).rename(second / "bubble_sort.py")
    data = pack / "1.1-sorting/bubble-sort/kata.toml"
    text = data.read_text().replace('"1.1.1"', '"1.1.2"').replace("Insertion sort", "Bubble sort")
    data.write_text(text.replace('module = "insertion_sort"', 'module = "bubble_sort"'))
    monkeypatch.setenv("KATA_PACKS", str(pack))
    monkeypatch.setattr(executors, "grading_processes", nullcontext)
    (folder / "course.toml").write_text(COURSE)

    def put(number: int, learner: str, source: str | None = RIGHT) -> Path:
        place = folder / f"week{number}" / learner
        place.mkdir(parents=True, exist_ok=True)
        if source is not None:
            (place / ("insertion_sort.py", "bubble_sort.py")[number - 1]).write_text(source)
        return place

    return put


def marks(kata: Run) -> dict[tuple[str, str], tuple[str, float]]:
    """What counts, by learner and kata."""
    found = kata("gradebook", "show", "--json").json
    return {
        (one["learner"], row["kata"]): (row["status"], row["score"])
        for one in found["learners"]
        for row in one["katas"]
    }


@pytest.mark.nightly
def test_the_second_week_changes_nothing_of_the_first(kata: Run, week: Any) -> None:
    week(1, "ada")
    week(1, "bob", WRONG)
    assert kata("grade", "week1", "-j", "1", "--assignment", "week1").code == 0
    first = marks(kata)
    assert first["ada", "insertion-sort"] == ("pass", 5.0)
    week(2, "ada")
    kata("grade", "week2", "-j", "1", "--assignment", "week2").done()
    both = marks(kata)
    assert {key: both[key] for key in first} == first
    assert both["ada", "bubble-sort"] == ("pass", 5.0)
    assert both["bob", "bubble-sort"] == ("missing", 0.0)


@pytest.mark.nightly
def test_without_a_name_the_assignments_are_those_that_were_handed_in(kata: Run, week: Any) -> None:
    week(1, "ada")
    ran = kata("grade", "week1", "-j", "1")
    assert "note: week1, judging by the files there" in ran.err
    assert set(marks(kata)) == {("ada", "insertion-sort")}


def test_a_download_of_one_late_learner_leaves_the_others(kata: Run, week: Any, folder: Path) -> None:
    (folder / "roster.csv").write_text("learner\nada\nbob\n")
    (folder / "course.toml").write_text(COURSE.replace("\n[ass", 'roster = "roster.csv"\n[ass', 1))
    week(1, "ada")
    week(1, "bob")
    kata("grade", "week1", "-j", "1")
    before = marks(kata)
    shutil.rmtree(folder / "week1" / "ada")
    week(1, "bob", WRONG)
    ran = kata("grade", "week1", "-j", "1")
    assert "1 not in this download and left as they were" in ran.out
    after = marks(kata)
    assert after["ada", "insertion-sort"] == before["ada", "insertion-sort"] == ("pass", 5.0)
    assert after["bob", "insertion-sort"][0] == "fail"


def test_what_a_run_says_at_its_end_is_about_what_it_was_given(kata: Run, week: Any, folder: Path) -> None:
    (folder / "roster.csv").write_text("learner\nada\nbob\neve\n")
    (folder / "course.toml").write_text(COURSE.replace("\n[ass", 'roster = "roster.csv"\n[ass', 1))
    for learner, text in {"ada": RIGHT, "bob": WRONG, "eve": "def"}.items():
        place = week(1, learner, text)
    first = kata("grade", "week1", "-j", "1", "--assignment", "week1")
    assert "3 rows in gradebook.sqlite: 1 passed, 1 failed, 1 error." in first.out
    assert "eve, insertion-sort: " in first.out
    for learner in ("ada", "eve"):
        shutil.rmtree(place.with_name(learner))
    second = kata("grade", "week1", "-j", "1", "--assignment", "week1", "--force")
    assert "grading 1 submission," in second.err
    (line,) = [line.split() for line in second.out.splitlines() if " insertion-sort " in line]
    assert line[2] == "1", "of three learners this run was about one"
    assert "could not judge" not in second.out
    assert "3 rows in gradebook.sqlite: 1 failed, 2 not in this download and left as they were." in second.out


def test_a_misnamed_file_is_told_of_who_handed_in_before(kata: Run, week: Any) -> None:
    place = week(1, "ada", WRONG)
    kata("grade", "week1", "-j", "1")
    (place / "insertion_sort.py").rename(place / "insertionsort.py")
    ran = kata("grade", "week1", "-j", "1")
    assert "take ada insertion-sort insertionsort.py" in ran.out
    assert marks(kata)["ada", "insertion-sort"][0] == "fail"  # until somebody says so
    open_ = "kata gradebook take ada insertion-sort insertionsort.py"
    assert open_ in kata("gradebook", "problems").out
    shutil.rmtree(place)
    week(1, "bob")
    kata("grade", "week1", "-j", "1")
    assert open_ in kata("gradebook", "problems").out  # the next download has settled nothing
    week(1, "ada")
    kata("grade", "week1", "-j", "1")
    assert "Nothing is open." in kata("gradebook", "problems").err


def test_without_a_course_totals_are_out_of_what_was_handed_in(kata: Run, week: Any, folder: Path) -> None:
    (folder / "course.toml").unlink()
    week(1, "ada")
    week(1, "bob", None)
    ran = kata("grade", "week1", "-j", "1")
    assert "note: insertion-sort, judging by the files there (--only ID chooses)." in ran.err
    assert marks(kata) == {
        ("ada", "insertion-sort"): ("pass", 5.0),
        ("bob", "insertion-sort"): ("missing", 0.0),
    }
    totals = {
        one["learner"]: one["max_score"] for one in kata("gradebook", "show", "--json").json["learners"]
    }
    assert totals == {"ada": 5.0, "bob": 5.0}

    both = "note: insertion-sort, bubble-sort, judging by the files there"
    (week(2, "cyd", None) / "insertion_sort.py").write_text(RIGHT)
    sheet = week(2, "ada", None) / "answers.md"
    sheet.write_text("<!-- kata: bubble-sort -->\n## 1. Why?\n\nBecause.\n")
    assert both in kata("grade", "week2", "-j", "1").err, "nobody's code, but somebody's answers"
    sheet.unlink()
    (week(2, "bob", None) / "bubblesort.py").write_text(RIGHT)
    ran = kata("grade", "week2", "-j", "1")
    assert both in ran.err, "a near name hides no kata"
    assert "bob, bubble-sort: bob/bubblesort.py," in ran.out


def test_a_note_on_several_katas_is_said_once_and_all_of_them_are_shown(kata: Run, week: Any) -> None:
    for number in range(12):
        name = f"learner {number:02}"
        week(1, name, None).joinpath("insertion_sort (1).py").write_text(RIGHT)
        week(1, name, None).joinpath("bubble_sort.py").write_text(RIGHT)
        week(1, name, None).joinpath("elsewhere").symlink_to("/")
    ran = kata("grade", "week1", "-j", "1")
    worth = ran.out.partition("Worth a look:")[2]
    line = "learner 00, insertion-sort, bubble-sort: learner 00/elsewhere is a symbolic link"
    assert worth.count("learner 00/elsewhere") == 1
    assert line in worth
    assert "and 14 more, in kata gradebook show LEARNER ID" in worth
    ran = kata("gradebook", "show", "learner 11", "insertion-sort")
    assert "is a symbolic link" in ran.out
    assert "was taken for insertion_sort.py" in ran.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--assignment", "wek1"), "there is no such assignment. Did you mean week1"),
        (("--assignment", "week1", "--only", "bubble-sort"), "bubble-sort is not in the assignment week1"),
    ],
)
def test_what_assignments_there_are_is_said(
    kata: Run, week: Any, arguments: tuple[str, ...], said: str
) -> None:
    week(1, "ada")
    kata("grade", "week1", *arguments).refused(said)


def test_a_course_without_assignments_says_how_to_name_them(kata: Run, week: Any, folder: Path) -> None:
    (folder / "course.toml").unlink()
    week(1, "ada")
    kata("grade", "week1", "--assignment", "week1").refused("[assignments.week1]")


def test_a_folder_that_may_not_be_read_is_no_learners_fault(
    kata: Run, week: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    week(1, "ada")
    week(1, "bob")
    kata("grade", "week1", "-j", "1")
    opened = SafePath.open

    def closed(self: SafePath, *flags: int) -> int:
        if self.names[-1:] == ("bob",):
            raise PermissionError(13, "Permission denied")
        return opened(self, *flags)

    monkeypatch.setattr(SafePath, "open", closed)
    ran = kata("grade", "week1", "-j", "1")
    assert ran.code == 3
    assert "bob cannot be opened: permission denied. Correct its permissions" in ran.text
    assert marks(kata)["bob", "insertion-sort"] == ("pass", 5.0)


def test_one_is_meant_by_the_beginning_of_a_name(kata: Run, week: Any) -> None:
    week(1, "ada")
    week(1, "bob")
    ran = kata("grade", "week1", "-j", "1", "--only", "AD", "--json", "-")
    assert [json.loads(line)["learner"] for line in ran.out.splitlines()] == ["ada"]


def roster(folder: Path, text: str) -> None:
    (folder / "roster.csv").write_text(text)
    (folder / "course.toml").write_text(COURSE.replace("\n[ass", 'roster = "roster.csv"\n[ass', 1))


@pytest.mark.nightly
def test_names_are_led_to_the_roster_and_told(kata: Run, week: Any, folder: Path) -> None:
    roster(folder, "learner,name,email\nada,Ada L,\nGrace Hopper,,grace@example.org\nlinus,,\nzed,,\n")
    for name in ("Ada", "grace hopper", "linus.p"):
        week(1, name)
    ran = kata("grade", "week1", "-j", "1").done()
    assert (
        "linus.p: linus? (all of the roster's name is in it). If so: kata gradebook alias linus linus.p --comment TEXT"
        in ran.out
    )
    assert "In the roster, but not in this download: linus, zed" in ran.out
    ran = kata("gradebook", "rulings")
    assert "except for upper and lower case, it is what the roster has" in ran.out
    stands = marks(kata)
    assert stands["ada", "insertion-sort"] == stands["Grace Hopper", "insertion-sort"] == ("pass", 5.0)
    assert stands["linus", "insertion-sort"] == ("missing", 0.0)
    assert kata("grade", "week1", "-j", "1", "--strict").code == 3

    export = ("gradebook", "export", "--format", "canvas")
    ran = kata(*export)
    assert "not in the roster: linus.p; linus? (all of the roster's name is in it)" in ran.err
    assert "2 in the roster handed in nothing: linus, zed" in ran.err
    cells = {line.split(",")[0]: line.split(",")[-1] for line in ran.out.splitlines()[2:]}
    assert (cells["Ada L"], cells["linus"], cells["zed"]) == ("5", "", "")
    assert kata(*export, "--strict").code == 3

    assert kata("gradebook", "alias", "linus", "linus.p", "--comment", "his folder").code == 0
    assert marks(kata)["linus", "insertion-sort"] == ("pass", 5.0)
    ran = kata(*export, "--strict").done()
    cells = {line.split(",")[0]: line.split(",")[-1] for line in ran.out.splitlines()[2:]}
    assert (cells["linus"], cells["zed"]) == ("5", "0")
    assert kata("grade", "week1", "-j", "1", "--strict").code == 0
    told = kata("gradebook", "rulings").out
    assert "linus: also called linus.p" in told
    assert "kata grade: except for upper and lower case, it is what the roster has" in told
    number = told.split("linus: also")[0].split("\n")[-1].split()[0]
    history = ("gradebook", "history", "linus", "insertion-sort")
    assert "also called linus.p: his folder" in kata(*history).out
    assert "withdrawn  linus" in kata("gradebook", "withdraw", number, "--comment", "no").out
    told = kata(*history).out
    told = " ".join(told.split())  # however wide a terminal is
    assert "also called linus.p: his folder, withdrawn later" in told
    assert f"withdrawn ruling {number}" in told
    assert ("linus.p", "insertion-sort") in marks(kata)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("insertion_sort.py.txt", "it defines the name that insertion_sort.py must have"),
        ("insertion_sort_final_v3.py", "it defines the name that insertion_sort.py must have"),
        ("homework9.py", "it defines the name that insertion_sort.py must have"),
    ],
)
def test_a_wrong_name_is_proposed_and_taken_by_one_command(kata: Run, week: Any, name: str, why: str) -> None:
    place = week(1, "ada", None)
    week(1, "bob")
    (place / name).write_text(RIGHT)
    ran = kata("grade", "week1", "-j", "1")
    assert f"ada, insertion-sort: ada/{name}, {why}." in ran.out
    assert f"kata gradebook take ada insertion-sort {name} --comment TEXT" in ran.out
    assert marks(kata)["ada", "insertion-sort"] == ("missing", 0.0)
    take = ("gradebook", "take", "ada", "insertion-sort")
    kata(*take, "nosuch.py", "--comment", "she asked").refused(
        f"ada handed in no file nosuch.py.\n  There: {name}"
    )
    assert f"misnamed: ada, insertion-sort: {name}: {why}" in kata("gradebook", "problems", "week1").out
    exported = kata("gradebook", "export", "--format", "moodle")
    assert (
        "A misnamed file may be the answer of ada; until that is settled, their cells are empty"
        in exported.err
    )
    assert exported.out.splitlines()[1:] == ["ada,ada,,", "bob,bob,,5"]
    ran = kata(*take, name, "--comment", "she asked")
    assert f"ada, insertion-sort: {name} is the answer, 5/5 points" in ran.out, ran.text
    assert marks(kata)["ada", "insertion-sort"] == ("pass", 5.0)
    assert "Nothing is open." in kata("gradebook", "problems").err
    kata("grade", "week1", "-j", "1", "--strict").done()
    assert marks(kata)["ada", "insertion-sort"] == ("pass", 5.0)


def test_a_file_is_taken_out_of_a_class_that_the_roster_tells(kata: Run, week: Any, folder: Path) -> None:
    roster(folder, "learner,name\nada,Ada Lovelace\nbob,Bob Roe\n")
    place = week(1, "Box/ada", None)
    week(1, "Box/bob")
    (place / "sort_final.py").write_text(RIGHT)
    assert "Box was taken for the folder around the class" in kata("grade", "week1", "-j", "1").err
    ran = kata("gradebook", "take", "ada", "insertion-sort", "sort_final.py", "--comment", "she asked")
    assert "sort_final.py is the answer, 5/5 points" in ran.out, ran.text


def test_the_code_that_was_handed_in_can_be_seen_and_compared(kata: Run, week: Any) -> None:
    week(1, "ada", WRONG)
    kata("grade", "week1", "-j", "1")
    week(1, "ada", RIGHT)
    kata("grade", "week1", "-j", "1")
    assert kata("gradebook", "code", "ada").out.strip().endswith(RIGHT.strip())
    old = kata("gradebook", "code", "ada", "insertion-sort", "--attempt", "1")
    assert WRONG.strip() in old.out
    diff = kata("gradebook", "code", "ada", "insertion-sort", "--attempt", "2", "--diff", "1").out
    assert "insertion_sort.py  attempt 1" in diff
    assert any(line.startswith("-") and line[1:] in WRONG for line in diff.splitlines())
    kata("gradebook", "code", "ada", "insertion-sort", "--attempt", "9").refused("Stored attempts: 1, 2.")


def test_an_attempt_is_chosen_and_time_is_given(kata: Run, week: Any) -> None:
    week(1, "ada", RIGHT)
    kata("grade", "week1", "-j", "1")
    week(1, "ada", WRONG)
    kata("grade", "week1", "-j", "1")
    assert marks(kata)["ada", "insertion-sort"][0] == "fail"
    ran = kata("gradebook", "choose", "ada", "insertion-sort", "1", "--comment", "agreed", "--author", "kim")
    assert "ada, insertion-sort: attempt 1 counts, 5 points" in ran.out
    assert marks(kata)["ada", "insertion-sort"] == ("pass", 5.0)
    assert kata("gradebook", "choose", "ada", "insertion-sort", "7", "--comment", "x").code == 2
    ran = kata("gradebook", "extend", "ada", "week1", "2.5", "--comment", "was ill", "--author", "kim")
    assert "ada: 2.5 more days for week1" in ran.out
    told = kata("gradebook", "history", "ada", "insertion-sort").out
    assert "kim: 2.5 more days for week1: was ill" in told
    assert kata("gradebook", "extend", "ada", "wek1", "2", "--comment", "x").code == 2
    for days in ("1_5", "1e1", "nan", "0"):
        assert kata("gradebook", "extend", "ada", "week1", days, "--comment", "x").code == 2
    kata("gradebook", "alias", "ada", "countes", "--comment", "x").refused(
        "Nothing has come in under the name countes."
    )
    week(1, "ada", RIGHT + "# and again\n")
    ran = kata("grade", "week1", "-j", "1")
    assert "Decided, and without effect by now:" in ran.out
    told = kata("gradebook", "problems").out
    assert (
        "week1:\n  decision without effect: ada, insertion-sort: 1 attempt came in after this was chosen"
        in told
    )


def test_times_from_a_table_make_late_work_late(kata: Run, week: Any, folder: Path) -> None:
    roster(folder, "learner,email\nada,ada@example.org\nbob,\n")
    with (folder / "course.toml").open("a") as file:
        file.write("\n[late]\npercent_per_day = 20\n")
    week(1, "ada")
    week(1, "bob")
    kata("grade", "week1", "-j", "1")
    assert marks(kata)["ada", "insertion-sort"] == ("pass", 5.0)
    told = kata("gradebook", "show", "ada", "insertion-sort").out
    assert "when it was handed in is not known, so it counts as on time" in told
    (folder / "times.csv").write_text(
        "learner,submitted_at\nADA@example.org,2026-10-06T12:00:00\neve,2026-10-06\n"
    )
    ran = kata("grade", "week1", "-j", "1", "--times", "times.csv")
    told = " ".join(kata("gradebook", "problems").out.split())
    assert "times.csv:3: nobody is called eve; 2026-10-06 00:00 was not used" in told
    assert "2 unchanged" in ran.out
    assert marks(kata)["ada", "insertion-sort"] == ("pass", 4.0)
    assert (
        "handed in 2026-10-06 12:00, says times.csv" in kata("gradebook", "show", "ada", "insertion-sort").out
    )
    told = kata("gradebook", "history", "ada", "insertion-sort").out
    assert "time added, says times.csv, handed in 2026-10-06 12:00" in " ".join(told.split())
    assert kata("gradebook", "code", "ada").code == 0


def test_moodle_s_worksheet_tells_who_is_who(kata: Run, week: Any, folder: Path) -> None:
    roster(folder, "learner,name,email\nann1,Ann Lee,ann1@example.org\nann2,Ann Lee,ann2@example.org\n")
    for number, source in ((7, RIGHT), (8, WRONG)):
        place = folder / "week1" / f"Ann Lee_{number}_assignsubmission_file_"
        place.mkdir(parents=True)
        (place / "insertion_sort.py").write_text(source)
    (folder / "worksheet.csv").write_text(
        "Identifier,Full name,Email address,Last modified (submission)\n"
        'Participant 7,Ann Lee,ann1@example.org,"Monday, 5 October 2026, 9:14 AM"\n'
        'Participant 8,Ann Lee,ann2@example.org,"Monday, 5 October 2026, 9:15 AM"\n'
    )
    kata("grade", "week1", "-j", "1", "--times", "worksheet.csv", "--strict").done()
    assert {one: status for (one, _), (status, _) in marks(kata).items()} == {"ann1": "pass", "ann2": "fail"}


def mend(old: str, new: str) -> None:
    """Change a check of the first week's kata."""
    checks = Path(os.environ["KATA_PACKS"]) / "1.1-sorting" / "insertion-sort" / "checks.py"
    text = checks.read_text()
    assert old in text
    checks.write_text(text.replace(old, new))


@pytest.mark.nightly
def test_a_name_that_two_have_is_asked_about_anew(kata: Run, week: Any, folder: Path) -> None:
    (folder / "roster.csv").write_text("learner,name,email\nkl1,Kim Lee,k1@x.org\nkl2,Kim Lee,k2@x.org\n")
    (folder / "course.toml").write_text(f'roster = "roster.csv"\n{COURSE}')
    (folder / "sheet.csv").write_text(
        "Identifier,Full name,Email address,Last modified (submission)\n"
        'Participant 77,Kim Lee,k2@x.org,"Monday, 5 October 2026, 9:14 AM"\n'
    )
    week(1, "Kim Lee_77_assignsubmission_file_")
    assert kata("grade", "week1", "--assignment", "week1", "--times", "sheet.csv").code == 0
    week(2, "397063-11 - Kim Lee - Oct 9, 2026 1200 PM")
    ran = kata("grade", "week2", "--assignment", "week2")
    # In the first week the worksheet said who; what is called so in the second may be the other's.
    assert "Kim Lee: kl1 or kl2? (100% alike)" in ran.text, ran.text
    rows = {one["learner"]: one["katas"] for one in kata("gradebook", "show", "--json").json["learners"]}
    assert [one["status"] for one in rows["kl2"]] == ["pass", "missing"]


def test_what_checks_are_worth_is_rehearsed_without_a_process_that_grades(
    kata: Run, week: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    week(1, "ada", WRONG)
    week(1, "bob")
    kata("grade", "week1", "-j", "1").done()
    (row,) = kata("gradebook", "show", "ada", "insertion-sort", "--json").json["katas"]
    failed = next(check["name"] for check in row["report"]["checks"] if check["status"] == "fail")
    (folder / "course.toml").write_text(f"{COURSE}[points.insertion-sort]\n{json.dumps(failed)} = 900\n")
    tasks: list[bytes] = []
    monkeypatch.setattr("grader.instructor.grading.run.grade", lambda _, task: tasks.append(task))
    ran = kata("regrade", "--only", "insertion-sort", "--dry-run", "-j", "1").done()
    assert "changes 1 mark:" in ran.out
    assert "0 higher, 1 lower" in ran.out
    assert "2 hand-ins, 0 would change. Nothing was written" in ran.out
    assert tasks == []


@pytest.mark.nightly
def test_a_mended_check_is_graded_from_the_gradebook_alone(kata: Run, week: Any, folder: Path) -> None:
    week(1, "ada", WRONG)
    kata("grade", "week1", "-j", "1")
    week(1, "ada", RIGHT)
    week(1, "bob")
    kata("grade", "week1", "-j", "1")
    shutil.rmtree(folder / "week1")
    before = marks(kata)
    assert before["ada", "insertion-sort"] == ("pass", 5.0)

    mend('insertion_sort([]), "result").is_value([])', 'insertion_sort([]), "result").is_value([7])')
    ran = kata("regrade", "--dry-run", "-j", "1").done()
    assert "3 hand-ins, 3 would change. Nothing was written" in ran.out
    assert "an empty list stays empty" in ran.out
    assert "does not count" in ran.out
    assert marks(kata) == before

    ran = kata("regrade", "-j", "1", "--only", "bob")
    assert "1 hand-in, 1 changed" in ran.out
    # Our own answer fails the check as well: it counts for nobody.
    assert marks(kata)["bob", "insertion-sort"] == ("pass", 4.0)
    assert marks(kata)["ada", "insertion-sort"] == ("pass", 5.0)
    events = kata("gradebook", "history", "bob", "--json").json["events"]
    assert [event["score"] for event in events] == [5.0, 4.0]

    mend("is_value([7])", "is_value([])")
    ran = kata("regrade", "-j", "1", "--json", "-").done()
    (change,) = map(json.loads, ran.out.splitlines())
    assert (change["learner"], change["checks"]) == ("bob", ["an empty list stays empty"])
    assert marks(kata) == before
    assert "3 hand-ins, 0 would change" in kata("regrade", "-j", "1", "--force", "--dry-run").out
    assert kata("grade").code == 2
