"""Every submission of the corpus, at every isolation level that the machine has: nothing forged, leaked or left."""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Set
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from grader.engine import sandbox
from grader.engine.sandbox.levels import LEVELS
from grader.report.report import KataReport
from grader.report.terminal import print_reports
from tests.hostile.conftest import Enter
from tests.hostile.entries import FAMILIES, HONEST, KINDS, MODULES, Entry, entries
from tests.hostile.room import DEVICE, NAP, REACHED, Room
from tests.sandbox.conftest import NOBODY

CORPUS = entries()
ROOMS = [(level, user) for user in (None, NOBODY) for level in LEVELS[::-1]]


def wanted(everything: bool) -> list[tuple[str, int | None, Entry]]:
    """Return what is graded where, in the order of levels.

    As whoever runs the tests: all at the strongest level that the machine has, at the others what has another outcome
    there. With `--everything` everything everywhere, as an ordinary user, too.
    """
    strongest = sandbox.probe().level
    return [
        (level, user, entry)
        for level, user in ROOMS
        for entry in CORPUS
        if everything or (user is None and (level == strongest or entry.differs(level)))
    ]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Hand out what is graded."""
    cases = wanted(metafunc.config.getoption("--everything"))
    if metafunc.definition.name == "test_who_comes_after_them_is_graded_as_before":
        rooms = dict.fromkeys((level, user) for level, user, _ in cases)
        metafunc.parametrize(
            ("level", "user"), [pytest.param(*room, marks=in_one_room(*room)) for room in rooms]
        )
    if "entry_at" in metafunc.fixturenames:
        metafunc.parametrize(
            "entry_at",
            [
                pytest.param(
                    (level, user, entry),
                    id=f"{entry.id}-{level}{'' if user is None else '-user'}",
                    marks=in_one_room(level, user),
                )
                for level, user, entry in cases
            ],
        )


def in_one_room(level: str, user: int | None) -> pytest.MarkDecorator:
    """Let one process of a run grade all of a level: opening a room takes longer than most of what happens in it."""
    return pytest.mark.xdist_group(f"room-{level}-{user}")


def examine(room: Room, entry: Entry) -> None:
    """Grade it, and compare what happened with what is expected at this level."""
    expected = entry.expected(room.level)
    with among_rooms(alone=entry.marks_the_machine):
        report = room.grade(entry)
        happened = trouble(room, report, expected.earns)
    assert set(happened) <= expected.allows, happened
    assert room.alive
    assert report.isolation in (room.level, "none")
    told = "\n".join(messages(report))
    assert report.status in expected.status, told
    if "forged" not in expected.allows:
        assert earned(report) == expected.earns, told
    # A GPU leaves open what is refused elsewhere: a cheat may get further, and be told of where it ended.
    assert DEVICE in os.environ or all(word in told for word in expected.words), told
    assert_printable(report)


@contextlib.contextmanager
def among_rooms(*, alone: bool) -> Iterator[None]:
    """Keep what is left outside a room, in `/tmp` say, from being seen by another one that grades at the time."""
    with (Path(tempfile.gettempdir()) / "kata-rooms.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield


def earned(report: KataReport) -> frozenset[str]:
    """Return the checks that give points of their own; what one slip costs once gives back no more than these."""
    giving = [check for check in report.checks if check.points]
    passed = [check for check in giving if check.status == "pass"]
    assert all(check.points <= check.max_points for check in giving)
    assert report.score == sum(check.points for check in giving) <= 2 * sum(check.points for check in passed)
    return frozenset(check.id for check in passed)


def trouble(room: Room, report: KataReport, honest: Set[str]) -> dict[str, object]:
    """Return what went wrong, by kind."""
    everything = "\n".join([*messages(report), *printed(report)])
    left = room.left()
    found = {
        "forged": earned(report) - honest,
        "leaked": room.secret in everything or any(line.startswith("secret") for line in left),
        "reached": REACHED in everything,
        "left": left,
        "harmed": room.harmed(),
    }
    assert set(found) == KINDS
    return {kind: what for kind, what in found.items() if what}


def messages(report: KataReport) -> list[str]:
    return [text for text in (report.message, *(check.message for check in report.checks)) if text]


def printed(report: KataReport) -> list[str]:
    return [text for text in (report.output, *(check.output for check in report.checks)) if text]


def assert_printable(report: KataReport) -> None:
    """Demand that the report is text wherever it goes, of a size that a person reads."""
    text = msgspec.json.encode(report).decode()
    assert len(text) < 400_000
    out = io.StringIO()
    print_reports([report], Console(file=out, width=100), verbose=True)
    shown = out.getvalue().replace("\n", "")
    assert not {letter for letter in shown if not letter.isprintable()}


@pytest.mark.gate
def test_it_gets_what_it_earns_and_nothing_else(
    enter: Enter, entry_at: tuple[str, int | None, Entry]
) -> None:
    level, user, entry = entry_at
    examine(enter(level, user), entry)


@pytest.mark.gate
def test_who_comes_after_them_is_graded_as_before(enter: Enter, level: str, user: int | None) -> None:
    room = enter(level, user)
    for kata, before in room.honest.items():
        after = room.again(kata)
        assert earned(after) == HONEST[kata]
        for one, other in zip(before.checks, after.checks, strict=True):
            assert one == other


def test_the_corpus_is_large_and_every_family_is_in_it() -> None:
    count = Counter(entry.family for entry in CORPUS)
    assert set(count) == set(FAMILIES)
    assert min(count.values()) >= 5
    assert len(CORPUS) >= 180
    assert len({entry.id for entry in CORPUS}) == len(CORPUS)


@pytest.mark.slow
@pytest.mark.parametrize("entry", CORPUS, ids=lambda entry: entry.id)
def test_every_entry_says_what_it_tries_and_why_a_level_cannot_stop_it(entry: Entry) -> None:
    assert entry.tries.endswith(".")
    assert entry.kata in MODULES
    for level in ("full", "confined"):
        assert not entry.expected(level).allows
    expected = entry.expected("process")
    assert expected.allows <= KINDS
    assert not expected.allows or entry.table["process"]["why"]  # type: ignore[index]


@pytest.mark.nightly
def test_what_is_left_or_harmed_would_be_seen(enter: Enter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.hostile.room.ENDING_S", 0.05)
    room = enter("process")
    # Its command line is empty in `/proc` for a moment after `Popen` returns, so it says when it runs.
    waits = [sys.executable, "-c", "print(flush=True); input()", NAP]
    stray = subprocess.Popen(waits, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert stray.stdout is not None
    stray.stdout.readline()
    (room.place / "tmp/stray").write_text(room.secret)
    room.planted[0].write_text("everybody passed")
    report = room.honest["insertion-sort"]
    report.checks[0].output = f"{REACHED} {room.secret}"
    try:
        happened = trouble(room, report, set())
    finally:
        report.checks[0].output = None
        stray.kill()
        stray.communicate()
    assert set(happened) == KINDS
    assert len(happened["left"]) == 3  # type: ignore[arg-type]
    assert set(trouble(room, report, HONEST["insertion-sort"])) == set()
