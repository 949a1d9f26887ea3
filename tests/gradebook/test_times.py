"""When things were handed in: from tables as systems write them, and from a repository that is not trusted."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import zlib
import zoneinfo
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from grader.catalogue import Catalogue
from grader.errors import UsageError
from grader.instructor.gradebook.course import Course
from grader.instructor.gradebook.store import Gradebook
from grader.instructor.gradebook.times import HandedInAt, read_times
from grader.instructor.grading.roster_matching import match_learners
from grader.instructor.lms.find import find_learners
from grader.instructor.submissions.git_time import SOURCE
from grader.instructor.submissions.learner import LearnerFolder
from tests.conftest import completed

CATALOGUE = Catalogue.discover()
BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")


def read(folder: Path, text: str) -> list[HandedInAt]:
    path = folder / "times.csv"
    path.write_text(text, encoding="utf-8")
    return list(read_times(path, BERLIN, CATALOGUE))


@pytest.mark.parametrize(
    ("text", "name", "at"),
    [
        (
            "learner,submitted_at\nada,2026-10-12T17:30:00\n",
            "ada",
            datetime(2026, 10, 12, 15, 30, tzinfo=UTC),
        ),
        (
            "learner;submitted_at\nada;2026-10-12T17:30:00Z\n",
            "ada",
            datetime(2026, 10, 12, 17, 30, tzinfo=UTC),
        ),
        (
            'Identifier,"Full name","Email address","Last modified (submission)"\n'
            '"Participant 7","Ada L","a@b","Monday, 12 October 2026, 5:30 PM"\n"Participant 8",Bob,b@b,-\n',
            "Ada L",
            datetime(2026, 10, 12, 15, 30, tzinfo=UTC),
        ),
        (
            "assignment_name,github_username,roster_identifier,submission_timestamp\n"
            "masks,adal,ada@b,2026-10-12 17:30:00 UTC\n",
            "adal",
            datetime(2026, 10, 12, 17, 30, tzinfo=UTC),
        ),
        (
            'Identifier,"Full name","Last modified (submission)"\n'
            '"Participant 7","Ada L","Monday, October 12, 2026, 5:30 PM"\n',
            "Ada L",
            datetime(2026, 10, 12, 15, 30, tzinfo=UTC),
        ),
        (
            'ID,"Vollständiger Name",E-Mail-Adresse,"Zuletzt geändert (Abgabe)"\n'
            '"Teilnehmer/in7","Ada L",a@b,"Dienstag, 2. März 2027, 18:05"\n"Teilnehmer/in8",Bob,b@b,-\n',
            "Ada L",
            datetime(2027, 3, 2, 17, 5, tzinfo=UTC),
        ),
        (
            "First Name,Last Name,SID,Email,Submission Time\nAda,L,S1,a@b,2026-10-12 17:30:00 -0700\n",
            "a@b",
            datetime(2026, 10, 13, 0, 30, tzinfo=UTC),
        ),
    ],
    ids=["own", "own-utc", "moodle", "moodle-us", "moodle-german", "github", "gradescope"],
)
def test_tables_as_systems_write_them(tmp_path: Path, text: str, name: str, at: datetime) -> None:
    (one,) = read(tmp_path, text)
    assert (one.who.name, one.kata, one.at) == (name, None, at)


def test_a_line_may_be_about_one_kata(tmp_path: Path) -> None:
    (one,) = read(tmp_path, "learner,kata,submitted_at\nada,9.3.1,2026-10-12T17:30:00\n")
    assert one.kata == "masks"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "who,when\nada,now\n",
            r"times.csv:1: no columns `learner` and `submitted_at` \(there are: who, when\)",
        ),
        ("learner,submitted_at\nada,soon\n", r"times.csv:2: 'soon' is not a time"),
        ("learner,kata,submitted_at\nada,maks,2026-10-12\n", r"times.csv:2: There is no kata .* mean masks"),
    ],
)
def test_every_mistake_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read(tmp_path, text)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no such times"):
        list(read_times(tmp_path / "none.csv", UTC, CATALOGUE))


@pytest.mark.skipif(shutil.which("git") is None, reason="no git here")
@pytest.mark.parametrize("packed", [False, True])
def test_a_repository_tells_when_its_commit_was_made_and_runs_nothing(tmp_path: Path, packed: bool) -> None:
    home = tmp_path / "class" / "hw-ada"
    home.mkdir(parents=True)
    (home / "masks.py").write_text("x = 1\n")
    (tmp_path / "class" / "bob").mkdir()
    (tmp_path / "class" / "bob" / "masks.py").write_text("x = 2\n")
    when = "2024-10-12T17:30:00+02:00"
    environment = {**os.environ, "GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when, "HOME": str(tmp_path)}
    who = ("-c", "user.name=Ada", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    steps = [("init", "-q"), ("add", "."), (*who, "commit", "-q", "-m", "done")]
    for step in [*steps, *([("gc", "-q"), ("pack-refs", "--all")] if packed else [])]:
        subprocess.run(["git", *step], cwd=home, env=environment, check=True)
    trap = tmp_path / "ran"
    (home / ".git" / "config").write_text(
        f"[core]\n\tfsmonitor = touch {trap}\n\tpager = touch {trap}\n[log]\n\tshowSignature = true\n"
    )
    masks = [kata for kata in CATALOGUE.katas if kata.slug == "masks"]
    found = {
        one.learner: one.submissions(masks)[0] for one in find_learners(tmp_path / "class", masks).learners
    }
    assert found["hw-ada"].submitted_at == datetime(2024, 10, 12, 15, 30, tzinfo=UTC)
    assert found["hw-ada"].time_source == SOURCE
    assert found["bob"].submitted_at is None
    assert not trap.exists()


@pytest.mark.skipif(shutil.which("git") is None, reason="no git here")
@pytest.mark.parametrize("packed", [False, True])
def test_a_tag_called_as_the_assignment_tells_when_it_was_handed_in(tmp_path: Path, packed: bool) -> None:
    home = tmp_path / "class" / "ada"
    home.mkdir(parents=True)
    (tmp_path / "class" / "bob").mkdir()
    (home / "masks.py").write_text("x = 1\n")

    def git(when: str, *words: str) -> None:
        environment = {
            **os.environ,
            "GIT_AUTHOR_DATE": when,
            "GIT_COMMITTER_DATE": when,
            "HOME": str(tmp_path),
        }
        who = (
            "-c",
            "user.name=Ada",
            "-c",
            "user.email=a@b",
            "-c",
            "commit.gpgsign=false",
            "-c",
            "tag.gpgsign=false",
        )
        subprocess.run(["git", *who, *words], cwd=home, env=environment, check=True)

    masks = [kata for kata in CATALOGUE.katas if kata.slug == "masks"]

    def found(assignment: str = "week1") -> tuple[datetime | None, str | None, tuple[str, ...]]:
        if packed:
            git(commit, "pack-refs", "--all")
        ada = find_learners(tmp_path / "class", masks).learners[0]
        one = replace(ada, assignments={"masks": assignment}).submissions(masks)[0]
        return one.submitted_at, one.time_source, one.notes

    commit, tag, later = (f"2024-10-{day}T12:00:00+00:00" for day in (10, 11, 12))
    git(commit, "init", "-q")
    git(commit, "add", ".")
    git(commit, "commit", "-q", "-m", "done")
    git(commit, "tag", "light")
    git(tag, "tag", "-a", "week1", "-m", "handed in")
    by_commit = (datetime(2024, 10, 10, 12, tzinfo=UTC), SOURCE, ())
    assert found() == (
        datetime(2024, 10, 11, 12, tzinfo=UTC), "the tag week1 in git, by the tagger's own clock", ()
    )  # fmt: skip
    assert found("light") == found("no-such") == found("../heads/main") == found("") == by_commit
    (home / "masks.py").write_text("x = 2\n")
    git(later, "commit", "-q", "-a", "-m", "more")
    at, source, notes = found()
    assert (at, source) == (datetime(2024, 10, 12, 12, tzinfo=UTC), SOURCE)
    assert notes == (
        "the tag week1 is on another commit than the one that is checked out: git checkout week1",
    )
    assert "the tag light is on another commit" in found("light")[2][0]


@pytest.mark.skipif(shutil.which("git") is None, reason="no git here")
@pytest.mark.parametrize("wrong", ["commit", "tag"])
def test_a_time_that_is_yet_to_come_is_a_wrong_clock(tmp_path: Path, wrong: str) -> None:
    home = tmp_path / "class" / "ada"
    home.mkdir(parents=True)
    (home / "masks.py").write_text("x = 1\n")
    who = ("-c", "user.name=Ada", "-c", "user.email=a@b")
    tag = ("tag", "-a", "week1", "-m", "handed in")
    for step in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "done"), *((tag,) * (wrong == "tag"))):
        when = "2099-01-01T12:00:00+00:00" if step[0] == wrong else "2024-10-12T17:30:00+00:00"
        environment = {**os.environ, "GIT_COMMITTER_DATE": when, "HOME": str(tmp_path)}
        subprocess.run(["git", *who, *step], cwd=home, env=environment, check=True)
    masks = [kata for kata in CATALOGUE.katas if kata.slug == "masks"]
    (ada,) = find_learners(tmp_path / "class", masks).learners
    (found,) = replace(ada, assignments={"masks": "week1"}).submissions(masks)
    assert (found.submitted_at, found.time_source) == (None, None)
    assert any(
        "says 2099-01-01 12:00 UTC, which is yet to come: the time is unknown" in n for n in found.notes
    )


@pytest.mark.skipif(shutil.which("git") is None, reason="no git here")
def test_git_runs_once_for_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "class" / "ada"
    for name in ("9.3-attention/masks/masks.py", "9.3-attention/masked-attention/masked_attention.py"):
        (home / name).parent.mkdir(parents=True)
        (home / name).write_text("x = 1\n")
    who = ("-c", "user.name=Ada", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    for step in [("init", "-q"), ("add", "."), (*who, "commit", "-q", "-m", "done")]:
        subprocess.run(["git", *step], cwd=home, env={**os.environ, "HOME": str(tmp_path)}, check=True)
    katas = [kata for kata in CATALOGUE.katas if kata.slug in ("masks", "masked-attention")]
    (ada,) = find_learners(tmp_path / "class", katas).learners
    real, ran = subprocess.run, []
    monkeypatch.setattr(subprocess, "run", lambda *words, **how: ran.append(words) or real(*words, **how))
    found = replace(ada, assignments={"masks": "week1", "masked-attention": "week2"}).submissions(katas)
    assert [one.time_source for one in found] == [SOURCE, SOURCE]
    assert len(ran) == 1


def _committed(home: Path) -> Path:
    """Make a repository of one commit; return the object of that."""
    home.mkdir(parents=True)
    (home / "masks.py").write_text("x = 1\n")
    who = ("-c", "user.name=Ada", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    for step in [("init", "-q"), ("add", "."), (*who, "commit", "-q", "-m", "done")]:
        subprocess.run(["git", *step], cwd=home, env={**os.environ, "HOME": str(home.parent)}, check=True)
    head = completed(["git", "rev-parse", "HEAD"], cwd=home, check=True)
    digest = head.stdout.strip()
    return home / ".git" / "objects" / digest[:2] / digest[2:]


def _time(home: Path) -> datetime | None:
    masks = [kata for kata in CATALOGUE.katas if kata.slug == "masks"]
    (ada,) = find_learners(home.parent, masks).learners
    return ada.submissions(masks)[0].submitted_at


@pytest.mark.skipif(shutil.which("git") is None, reason="no git here")
@pytest.mark.parametrize("what", ["pipe", "link", "alternates"])
def test_git_opens_files_of_the_repository_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    home = tmp_path / "class" / "ada"
    commit = _committed(home)
    assert _time(home) is not None
    if what == "alternates":
        (home / ".git" / "objects" / "info" / "alternates").write_text(str(tmp_path))
    else:
        moved = commit.rename(tmp_path / "moved")
        os.mkfifo(commit) if what == "pipe" else commit.symlink_to(moved)
    ran: list[object] = []
    monkeypatch.setattr(subprocess, "run", lambda *words, **how: ran.append(words))
    assert _time(home) is None
    assert not ran


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None or sys.platform != "linux", reason="needs git and Linux")
def test_an_object_that_unpacks_to_more_memory_than_git_may_have_tells_nothing(tmp_path: Path) -> None:
    home = tmp_path / "class" / "ada"
    commit = _committed(home)
    packer = zlib.compressobj(1)
    text = zlib.decompress(commit.read_bytes()).partition(b"\0")[2]
    packed = packer.compress(b"commit %d\0" % (len(text) + (300 << 20)) + text)
    packed += b"".join(packer.compress(bytes(1 << 20)) for _ in range(300)) + packer.flush()
    commit.chmod(0o644)
    commit.write_bytes(packed)
    assert _time(home) is None


@pytest.mark.skipif(shutil.which("git") is None, reason="no git here")
def test_all_repositories_of_a_learner_have_one_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "class" / "ada"
    for folder in (home, home / "a", home / "a" / "b"):
        _committed(folder)
    (home / "masks.py").unlink()
    (home / "a" / "masks.py").unlink()
    allowed: list[float] = []

    def slow(*words: object, timeout: float, **how: object) -> None:
        allowed.append(timeout)
        clock[0] += 7
        raise subprocess.TimeoutExpired("git", timeout)

    clock = [0.0]
    monkeypatch.setattr(subprocess, "run", slow)
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    assert _time(home) is None
    assert allowed == [10, 3, 0]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("HEAD", "ref: refs/heads/../../../../outside"),
        ("HEAD", "ref: refs/heads/main"),
        ("HEAD", "0" * 40),
        ("HEAD", "\0" * 100),
    ],
)
def test_a_folder_that_only_looks_like_a_repository_tells_nothing(
    tmp_path: Path, name: str, text: str
) -> None:
    place = tmp_path / "class" / "ada"
    (place / ".git" / "objects").mkdir(parents=True)
    (place / "masks.py").write_text("x = 1\n")
    (place / ".git" / name).write_text(text)
    masks = [kata for kata in CATALOGUE.katas if kata.slug == "masks"]
    (one,) = find_learners(tmp_path / "class", masks).learners
    assert one.submissions(masks)[0].submitted_at is None


@pytest.mark.parametrize(("settings", "zone"), [('timezone = "Europe/Berlin"', BERLIN), ("", None)])
def test_times_that_name_no_zone_are_meant_where_the_course_is(
    tmp_path: Path, settings: str, zone: zoneinfo.ZoneInfo | None
) -> None:
    path = tmp_path / "course.toml"
    path.write_text(f'name = "A course"\n{settings}\n')
    with Gradebook.open(
        str(tmp_path / "gradebook.sqlite"), create=True, course=Course.load(path, CATALOGUE)
    ) as book:
        assert [one.zone for one in match_learners([LearnerFolder("ada")], book).learners] == [zone]
