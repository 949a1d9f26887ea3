"""Marks pushed into Canvas and Moodle: what is set, what is left alone, and what happens when it ends in the middle."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend

from grader.extras.push import courses
from tests.conftest import Ran, Run

from .lms_servers import TOKEN, Canvas, Lms, Moodle, serving

SYSTEMS = ("canvas", "moodle")
ADA, ADAM, ZED = "77", "78", "79"
ROSTER = """learner,name,email,canvas_id,username
ada,Ada Lovelace,ada@example.org,77,al1
adam,Adam,adam@example.org,78,
zed,Zed,,,
"""


@pytest.fixture(params=SYSTEMS)
def lms(
    request: pytest.FixtureRequest, course_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Lms]:
    """A system with the class in it, and a course that knows where it is: Ada has 6 of 10 points, Adam none."""
    monkeypatch.setenv("KATA_LMS_TOKEN", TOKEN)
    (course_folder / "roster.csv").write_text(ROSTER)
    with serving({"canvas": Canvas, "moodle": Moodle}[request.param]) as found:
        page = {"canvas": "/courses/7/gradebook", "moodle": "/moodle/course/view.php?id=12"}[request.param]
        (course_folder / "course.toml").write_text(
            'name = "Transformers"\nroster = "roster.csv"\n[columns]\nmasks = "Week 1 (501)"\n'
            f'[lms]\naddress = "{found.url}{page}"\n'
        )
        logins = {ADA: "al1", ADAM: "adam", ZED: "somebody-else"}
        for id_, login in logins.items():
            found.accounts[id_] = (
                {"login_id": login}
                if request.param == "canvas"
                else {"username": login, "email": f"{login}@example.org"}
            )
        yield found


@pytest.fixture
def push(lms: Lms, kata: Run, request: pytest.FixtureRequest) -> Run:
    system = request.node.callspec.params["lms"]

    def run(*options: str) -> Ran:
        result = kata("push", system, *options)
        assert TOKEN not in result.text
        return result

    return run


def test_a_dry_run_prints_the_difference_and_sets_nothing(push: Run, lms: Lms) -> None:
    lms.marks[ADAM] = 0.0
    result = push("--dry-run")
    assert result.code == 0
    assert "Week 1   10 points" in result.out
    assert "ada  Ada Lovelace   no mark → 6" in result.out
    assert "adam" not in result.out  # the same already
    assert "zed  Zed   has no account" in result.out
    assert "1 to set, 1 already the same" in result.err
    assert lms.given == []


@pytest.mark.slow
def test_marks_are_set_once(push: Run, lms: Lms) -> None:
    assert "2 set" in push().err
    assert sorted(lms.given) == [(ADA, 6.0), (ADAM, 0.0)]
    assert "2 already the same" in push().err
    assert len(lms.given) == 2


@pytest.mark.slow
def test_what_changes_here_follows_there(push: Run, kata: Run, lms: Lms) -> None:
    push()
    kata("adjust", "ada", "masks", "+1.5", "--comment", "a bonus")
    assert "ada  Ada Lovelace   6 → 7.5" in push().out
    assert lms.marks[ADA] == 7.5


@pytest.mark.slow
def test_what_was_changed_there_stays(push: Run, kata: Run, lms: Lms) -> None:
    push()
    lms.marks[ADA] = 9.0
    lms.marks[ADAM] = None  # somebody took it out
    kata("adjust", "ada", "masks", "+1.5", "--comment", "a bonus")
    result = push()
    assert "9 stays: it was changed" in result.out
    assert "no mark stays" in result.out
    assert lms.marks == {ADA: 9.0, ADAM: None}
    lms.marks[ADA] = 7.5  # as the last lines said: entered there, it is ours again
    push()
    kata("adjust", "ada", "masks", "+1", "--comment", "another")
    push()
    assert lms.marks[ADA] == 8.5


def test_one_refused_mark_is_named_and_stops_no_other(push: Run, lms: Lms) -> None:
    lms.refused = {ADA}
    for others in ("1 set", "1 already the same"):
        result = push()
        assert result.code == 3
        assert "ada  Ada Lovelace   no mark stays: " in result.out
        assert "refuses it" in result.out
        assert others in result.err
    assert lms.given == [(ADAM, 0.0)]
    lms.refused = set()
    assert "1 set, 1 already the same" in push().err


def test_a_mark_that_never_was_ours_stays(push: Run, lms: Lms) -> None:
    lms.marks[ADA] = 3.0
    assert "3 stays" in push().out
    assert lms.marks[ADA] == 3.0


@pytest.mark.slow
def test_one_that_is_set_there_between_looking_and_sending_stays(
    push: Run, lms: Lms, monkeypatch: pytest.MonkeyPatch
) -> None:
    from grader.instructor.gradebook.store import Gradebook

    noted = Gradebook.note_push

    def meanwhile(self: Gradebook, learner: str, *given: object) -> None:
        if learner == "ada" and not lms.given:
            lms.marks[ADA] = 2.0
        noted(self, learner, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Gradebook, "note_push", meanwhile)
    assert "2 stays" in push().out
    assert lms.marks[ADA] == 2.0
    assert "2 stays" in push().out


@pytest.mark.nightly
def test_it_goes_on_after_a_break_at_any_request(push: Run, kata: Run, lms: Lms) -> None:
    push("--dry-run")
    looking, here = len(lms.asked), {ADA: 6.0, ADAM: 0.0}

    def change() -> None:
        for learner, account in (("ada", ADA), ("adam", ADAM)):
            kata("adjust", learner, "masks", "+0.05", "--comment", "another number each time")
            here[account] = round(here[account] + 0.05, 2)

    lms.break_after = True  # what was asked is done, and no answer comes
    for place in range(1, 20):
        change()
        lms.asked.clear()
        lms.break_at = place
        first = push()
        lms.break_at = None
        if first.code == 0:
            break
        assert first.code == 3
        assert "the same command goes on" in first.err
        change()  # so that what was under way is no longer what is to be there
        again = push()
        assert again.code == 0
        assert "stays" not in again.out
        assert lms.marks == here
    assert place > looking + 2


@pytest.mark.sampled(2)
@pytest.mark.slow
@pytest.mark.parametrize("done", [False, True])
def test_it_goes_on_after_a_kill(
    push: Run, kata: Run, lms: Lms, done: bool, request: pytest.FixtureRequest
) -> None:
    push("--dry-run")
    sending = len(lms.asked) + 2
    lms.asked.clear()
    lms.break_after, lms.break_at = done, sending
    system = request.node.callspec.params["lms"]
    command = [sys.executable, "-m", "grader", "gradebook", "push", system]
    with subprocess.Popen(command, env=os.environ | {"KATA_WARM": "0"}, stdout=subprocess.PIPE) as process:
        lms.kill = process.pid
        assert process.wait() == -9
    lms.break_at = lms.kill = None
    assert len(lms.given) == done
    kata("adjust", "ada", "masks", "+1", "--comment", "changed before it goes on")
    assert push().code == 0
    assert lms.marks == {ADA: 7.0, ADAM: 0.0}


def test_a_server_that_is_silent_is_given_up(push: Run, lms: Lms, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(courses, "TIMEOUT_S", 0.05)
    lms.hold, lms.break_at = threading.Event(), 1
    result = push()
    lms.hold.set()
    assert result.code == 3
    assert "cannot be reached: ReadTimeout" in result.err


def test_other_points_there_are_refused_before_anything_is_set(push: Run, lms: Lms) -> None:
    lms.max_points = 100.0
    push().refused("Week 1 is out of 100", "out of 10 here")
    assert lms.given == []


def test_a_wrong_token_is_named_and_not_shown(push: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATA_LMS_TOKEN", "wrong-token")
    result = push()
    assert result.code == 3
    assert "token" in result.err.casefold()
    assert "wrong-token" not in result.text


class Ring(KeyringBackend):
    """A keyring with one token."""

    priority = 1  # type: ignore[assignment]

    def get_password(self, service: str, username: str) -> str | None:
        return TOKEN if (service, username) == ("kata", "127.0.0.1") else None

    def set_password(self, service: str, username: str, password: str) -> None:
        raise NotImplementedError


class Empty(Ring):
    """A keyring with none."""

    def get_password(self, service: str, username: str) -> str | None:
        return None


@pytest.mark.slow
@pytest.mark.parametrize(("ring", "code"), [(Ring, 0), (Empty, 2)])
def test_the_keyring_is_asked_where_the_environment_has_no_token(
    push: Run, monkeypatch: pytest.MonkeyPatch, ring: type[Ring], code: int
) -> None:
    monkeypatch.delenv("KATA_LMS_TOKEN")
    before = keyring.get_keyring()
    keyring.set_keyring(ring())
    try:
        result = push()
    finally:
        keyring.set_keyring(before)
    assert result.code == code
    assert ("keyring set kata 127.0.0.1" in result.err) == (code == 2)


def test_the_token_is_in_no_file_and_no_address(push: Run, lms: Lms, course_folder: Path) -> None:
    push()
    assert all(TOKEN not in one for one in lms.asked)
    assert all(TOKEN.encode() not in one.read_bytes() for one in course_folder.rglob("*") if one.is_file())


@pytest.mark.parametrize("lms", ["canvas"], indirect=True)
def test_what_canvas_takes_off_for_lateness_and_who_is_excused(push: Run, lms: Lms) -> None:
    lms.marks |= {ADA: 6.0}
    lms.deducted[ADA], lms.excused = 2.0, {ADAM}
    result = push()
    assert "1 already the same" in result.err
    assert "excused stays" in result.out
    assert lms.given == []


@pytest.mark.parametrize("lms", ["moodle"], indirect=True)
def test_a_marking_workflow_is_left_to_people(push: Run, lms: Lms) -> None:
    lms.workflow = 1
    result = push()
    assert (result.code, lms.given) == (2, [])
    assert "marking workflow" in result.err


@pytest.mark.parametrize(
    ("system", "address", "told"),
    [
        ("canvas", "https://canvas.example.edu", "not the address of a course in Canvas"),
        ("canvas", "https://me:secret@canvas.example.edu/courses/7", "not the address of a course"),
        ("canvas", "http://canvas.example.edu/courses/7", "https alone"),
        ("moodle", "https://canvas.example.edu/courses/7", "not the address of a course in Moodle"),
        ("moodle", "", "kata course set --lms"),
    ],
)
def test_an_address_that_is_no_course_is_refused(
    kata: Run, course_folder: Path, monkeypatch: pytest.MonkeyPatch, system: str, address: str, told: str
) -> None:
    monkeypatch.setenv("KATA_LMS_TOKEN", TOKEN)
    settings = course_folder / "course.toml"
    settings.write_text(settings.read_text() + (f'[lms]\naddress = "{address}"\n' if address else ""))
    result = kata("push", system)
    assert result.code == 2
    assert told in " ".join(result.err.split())
