"""Times, extensions and teams pulled from Canvas and Moodle: whose they are, and that nothing is written half-way."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from grader.instructor.gradebook.row_types import Key
from grader.instructor.gradebook.store import Gradebook
from grader.instructor.submissions.submission import Bundle, Submission
from tests.conftest import Ran, Run, invoke
from tests.pages.builders import check, row

from .lms_servers import TOKEN, Canvas, Lms, Moodle, serving

pytestmark = pytest.mark.slow
ADA, BOB, WEI, WEI2 = "77", "78", "79", "80"
ROSTER = """learner,name,email,canvas_id,username
ada,Ada Lovelace,ada@example.org,77,ada
bob,Bob Roe,bob@example.org,78,bob
wei,Wei Zhang,wei@example.org,79,wei
wei2,Wei Zhang,wei2@example.org,80,wei2
"""
COURSE = """name = "A course"
roster = "roster.csv"
timezone = "Europe/Berlin"
[assignments.week1]
katas = ["masks"]
due = 2026-10-12T18:00:00
[columns]
week1 = "Week 1 (501)"
[late]
percent_per_day = 10
[lms]
address = "{}"
"""
IN_TIME, LATE, FUTURE = "2026-10-12T15:30:00Z", "2026-10-13T15:30:00Z", "2126-10-12T15:30:00Z"


@pytest.fixture
def kata(folder: Path) -> Run:
    return lambda *words: invoke("gradebook", *words)


@pytest.fixture(params=["canvas", "moodle"])
def lms(request: pytest.FixtureRequest, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lms]:
    """A system where the class hands in, and a gradebook that knows no times. Wei2's is graded, Wei has nothing."""
    monkeypatch.setenv("KATA_LMS_TOKEN", TOKEN)
    (folder / "roster.csv").write_text(ROSTER)
    with serving({"canvas": Canvas, "moodle": Moodle}[request.param]) as found:
        page = {"canvas": "/courses/7", "moodle": "/moodle/course/view.php?id=12"}[request.param]
        (folder / "course.toml").write_text(COURSE.format(found.url + page))
        for id_, login in {ADA: "ada", BOB: "bob", WEI: "wei", WEI2: "wei2"}.items():
            found.accounts[id_] = (
                {"login_id": login, "name": "Somebody"}
                if request.param == "canvas"
                else {"username": login, "email": f"{login}@example.org"}
            )
        with Gradebook.open("gradebook.sqlite", create=True) as book:
            run = book.start_run({})
            for learner, user, file in (("ada", ADA, 901), ("bob", BOB, 902), ("wei2", WEI2, 904)):
                bundle = Bundle("masks.py", {"masks.py": learner.encode()})
                submission = Submission(
                    learner=learner, kata="masks", bundle=bundle, origin=f"{learner}_{user}_{file}_masks.py"
                )
                report = row(learner, checks=[check(max_points=10.0, points=10.0)]).report
                run.record(submission, Key(bundle.digest, "terms"), report)
            run.finish()
        found.handed_in = [(ADA, IN_TIME, "901"), (BOB, LATE, "902"), (WEI2, LATE, "904")]
        yield found


@pytest.fixture
def pull(lms: Lms, kata: Run) -> Run:
    def run(*options: str) -> Ran:
        result = kata("pull", "times", *options)
        assert TOKEN not in result.text
        return result

    return run


def scores(kata: Run) -> dict[str, float]:
    found = kata("show", "--json").json["learners"]
    return {one["learner"]: one["katas"][0]["score"] for one in found}


def test_every_hand_in_gets_its_time_and_a_second_pull_changes_nothing(
    pull: Run, kata: Run, lms: Lms
) -> None:
    lms.more_time = {BOB: "2026-10-15T16:00:00Z"}
    assert scores(kata) == {"ada": 10.0, "bob": 10.0, "wei": 0.0, "wei2": 10.0}
    ran = pull().done()
    assert "Week 1   3 times, 1 extension\n" in ran.out
    # Bob has three days more, and Wei2 is one day late; the two of one name are told apart by number.
    assert scores(kata) == {"ada": 10.0, "bob": 10.0, "wei": 0.0, "wei2": 9.0}
    shown = kata("show", "wei2", "masks").out
    assert "handed in 2026-10-13 17:30, says " in shown
    assert "bob: 3 more days for week1" in kata("rulings").out
    assert kata("problems").err == "Nothing is open.\n"
    before = kata("rulings").out
    assert "Week 1   0 times, 1 extension" in pull().out
    assert kata("rulings").out == before
    lms.more_time = {BOB: "2026-10-12T20:00:00Z"}
    pull().done()
    assert scores(kata)["bob"] == 9.0
    lms.more_time = {}
    pull().done()
    assert [line for line in kata("rulings").out.splitlines() if "withdrawn" not in line] == []


def test_what_could_not_be_used_is_a_problem(pull: Run, kata: Run, lms: Lms) -> None:
    lms.accounts["99"] = {"login_id": "guest", "username": "guest", "name": "A Guest", "fullname": "A Guest"}
    lms.handed_in += [("99", IN_TIME, "999"), (WEI, LATE, "903"), (ADA, FUTURE, "905")]
    ran = pull().done()
    assert "3 times not used" in ran.out
    found = kata("problems").out
    assert "nobody is called A Guest; 2026-10-12 17:30 was not used" in found
    assert "what wei handed in then is in no download that was graded; 2026-10-13 17:30" in found
    assert "what ada handed in then is in no download that was graded; 2126-10-12 17:30" in found
    lms.handed_in = lms.handed_in[:3]
    pull().done()
    assert kata("problems").err == "Nothing is open.\n"


def test_a_team_s_hand_in_counts_for_its_members(pull: Run, kata: Run, lms: Lms) -> None:
    lms.groups = {"Team 7": [WEI, WEI2]}
    assert "1 team" in pull().done().out
    assert scores(kata) == {"ada": 10.0, "bob": 9.0, "wei": 9.0, "wei2": 9.0}
    assert "Team 7 hands in together for week1: wei, wei2" in kata("rulings").out


@pytest.mark.parametrize(
    ("canvas", "moodle"),
    [
        ("/users", "core_enrol_get_enrolled_users"),
        ("/assignments/501/submissions", "mod_assign_get_submissions"),
        ("/overrides", "mod_assign_get_user_flags"),
        ("/groups", "core_group_get_group_members"),
    ],
)
def test_a_refused_call_is_named_and_changes_nothing(
    pull: Run, kata: Run, lms: Lms, request: pytest.FixtureRequest, canvas: str, moodle: str
) -> None:
    lms.groups, lms.more_time = {"Team 7": [WEI, WEI2]}, {BOB: "2026-10-15T16:00:00Z"}
    is_moodle = request.node.callspec.params["lms"] == "moodle"
    lms.forbidden = moodle if is_moodle else {"/users": "/search_users"}.get(canvas, canvas)
    before = scores(kata)
    result = pull()
    assert result.code == 3
    said = {
        "/users": "who is in this course",
        "/assignments/501/submissions": "the submissions of assignment 501",
        "/overrides": "who has more time for assignment 501",
        "/groups": "the groups of this course",
    }
    assert (
        f"Moodle refuses {moodle}" if is_moodle else f"Canvas refuses to show {said[canvas]}"
    ) in result.err
    assert scores(kata) == before
    assert "no decisions" in kata("rulings").err


def test_another_course_is_refused(pull: Run, kata: Run, lms: Lms) -> None:
    lms.accounts = {"1": {"login_id": "x", "username": "x"}}
    pull().refused("Nobody of the class is in this course")
    assert "handed in 2026" not in kata("show", "ada", "masks").out


def test_a_time_that_is_known_stays(pull: Run, kata: Run, lms: Lms) -> None:
    with Gradebook.open("gradebook.sqlite", create=False) as book:
        run = book.start_run({})
        ((_, (hand_in,)),) = book.handed_in("wei2").values()
        run.record_times({hand_in.id: datetime(2026, 10, 12, 12, tzinfo=UTC)}, "a table")
        run.finish()
    pull().done()
    assert "handed in 2026-10-12 14:00, says a table" in kata("show", "wei2", "masks").out
