"""One run at a time, and a run that is killed loses nothing and blocks nobody."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import Engine, ExceptionContext, event

from grader.instructor.gradebook import connections
from grader.instructor.gradebook.connections import FileLock
from grader.instructor.gradebook.row_types import Mark
from grader.instructor.gradebook.store import Gradebook, GradebookError
from tests.gradebook.handmade import adjust, check, grade, key, results, submission

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Run some lines in a process of their own; it prints, and waits for a line before it goes on."""
    running: list[subprocess.Popen[str]] = []

    def start(where: str, lines: str) -> subprocess.Popen[str]:
        head = """
        import sys
        from tests.gradebook.handmade import *
        from grader.instructor.gradebook.store import *
        where = sys.argv[1]
        """
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(head) + textwrap.dedent(lines), where],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate(timeout=60)


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=60)


def marks(rows: Iterator[Mark]) -> list[dict[str, Any]]:
    """Rows without what two runs can never share: when it came and was graded, and under which number."""
    plain = [msgspec.to_builtins(row, enc_hook=lambda reports: None) for row in rows]
    own = {"graded_at", "hand_in"}
    return [{name: value for name, value in row.items() if name not in own} for row in plain]


HOLD = """
    gradebook = Gradebook.open(where, create=True)
    run = gradebook.start_run({})
    grade(gradebook, run, "ada")
    print("holding", flush=True)
    sys.stdin.readline()
    run.finish()
    print("done", flush=True)
    sys.stdin.readline()
"""


def test_two_processes_cannot_grade_at_once(where: str, start: Start) -> None:
    other = start(where, HOLD)
    assert said(other) == "holding"
    with Gradebook.open(where, create=False) as gradebook:
        with pytest.raises(GradebookError, match=f"another run is grading .*process {other.pid}") as refused:
            gradebook.start_run({})
        assert refused.value.exit_code == 3
        assert "--gradebook" in (refused.value.hint or "")
        assert [row.learner for row in gradebook.rows()] == ["ada"]  # reading is free, and so is deciding
        adjust(gradebook, "ada", "masks", 1, comment="x", author="me")
        other.stdin.write("go on\n")  # type: ignore[union-attr]
        other.stdin.flush()  # type: ignore[union-attr]
        assert said(other) == "done"
        gradebook.start_run({})


def test_two_gradebooks_of_one_process_neither(where: str) -> None:
    with Gradebook.open(where, create=True) as one, Gradebook.open(where, create=False) as two:
        run = one.start_run({})
        with pytest.raises(GradebookError, match=f"another run is grading .*process {os.getpid()}"):
            two.start_run({})
        grade(one, run, "ada")
        run.finish()
        again = two.start_run({})
        grade(two, again, "bob")
        with pytest.raises(ValueError, match="in a run already"):
            two.start_run({})
    with Gradebook.open(where, create=False) as three:  # closing ended a run that was not finished
        three.start_run({})
        assert [run.finished_at is None for run in three.runs()] == [False, True, True]


def test_who_only_looks_whether_a_run_grades_refuses_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where, tries, release = str(tmp_path / "gradebook.sqlite"), threading.Event(), FileLock.release
    begun: list[Future[Any]] = []
    with Gradebook.open(where, create=True) as one, Gradebook.open(where, create=False) as two:

        def in_the_middle(lock: FileLock) -> None:
            if not begun:
                begun.append(pool.submit(two.start_run, {}))
                tries.wait(timeout=60)
            release(lock)

        with ThreadPoolExecutor(1) as pool, monkeypatch.context() as patch:
            patch.setattr(FileLock, "release", in_the_middle)
            patch.setattr(connections.time, "sleep", lambda _: tries.set())
            assert one.busy() == ""
            begun[0].result()
        assert f"process {os.getpid()}" in one.busy()


def test_turns_are_taken_by_name_and_who_is_killed_has_left(where: str, start: Start) -> None:
    other = start(
        where,
        """
        gradebook = Gradebook.open(where, create=True)
        with gradebook.alone("comparing") as ours:
            print(ours, flush=True)
            sys.stdin.readline()
        """,
    )
    assert said(other) == "True"
    with Gradebook.open(where, create=False) as gradebook:
        with gradebook.alone("comparing") as ours, gradebook.alone("something else") as another:
            assert (ours, another) == (False, True)
        gradebook.start_run({}).finish()
        kill(other)
        with gradebook.alone("comparing") as ours:
            assert ours


def test_a_killed_run_blocks_nobody_and_keeps_what_was_recorded(where: str, start: Start) -> None:
    other = start(where, HOLD)
    assert said(other) == "holding"
    kill(other)
    with Gradebook.open(where, create=False) as gradebook:
        assert [row.learner for row in gradebook.rows()] == ["ada"]
        run = gradebook.start_run({})
        grade(gradebook, run, "bob")
        run.finish()


def test_a_worker_that_survives_the_run_does_not_keep_the_lock(where: str, start: Start) -> None:
    other = start(
        where,
        """
        import os
        gradebook = Gradebook.open(where, create=True)
        gradebook.start_run({})
        if where.startswith("postgresql"):
            import subprocess
            child = subprocess.Popen(["sleep", "60"]).pid
        else:
            child = os.fork()
            if not child:
                sys.stdin.readline()
                os._exit(0)
        print(child, flush=True)
        sys.stdin.readline()
        """,
    )
    child = int(said(other))
    try:
        kill(other)
        with Gradebook.open(where, create=False) as gradebook:
            gradebook.start_run({})
    finally:
        os.kill(child, signal.SIGKILL)


CLASS = """
    gradebook = Gradebook.open(where, create=True)
    run = gradebook.start_run({})
    for number in range(30):
        for kata in ("masks", "layer-norm"):
            given = submission(f"s{number}", kata, f"x = {number % 7}")
            if key(given) in gradebook.keys(given.learner).get(kata, ()):
                run.mark_unchanged(given, key(given))
            else:
                checks = [check("a"), check("b", "fail", misconception="shifted")]
                grade(gradebook, run, given.learner, kata, f"x = {number % 7}", score=number, checks=checks)
            print(number, flush=True)
    run.finish()
    print("done", flush=True)
"""


@pytest.mark.nightly
def test_killed_and_resumed_equals_undisturbed(tmp_path: Path, where: str, start: Start) -> None:
    for stop in (0, 3, 17, 29):
        process = start(where, CLASS)
        while said(process) != str(stop):
            pass
        kill(process)  # anywhere behind that mark, most likely within the next
    process = start(where, CLASS)
    while said(process) != "done":
        assert process.poll() in (None, 0)
    undisturbed = str(tmp_path / "undisturbed")
    with Gradebook.open(undisturbed, create=True) as gradebook:
        run = gradebook.start_run({})
        checks = [check("a"), check("b", "fail", misconception="shifted")]
        for number in range(30):
            for kata in ("masks", "layer-norm"):
                source = f"x = {number % 7}"
                grade(gradebook, run, f"s{number}", kata, source, score=number, checks=checks)
        expected = marks(gradebook.rows())
    with Gradebook.open(where, create=False) as gradebook:
        assert marks(gradebook.rows()) == expected
        assert results(where) == results(undisturbed)
        for row in gradebook.rows():
            given = submission(row.learner, source=f"x = {int(row.learner[1:]) % 7}")
            assert gradebook.bundle(row.attempt or 0) == given.bundle
            assert [event.kind for event in gradebook.history(row.learner, row.kata)] == ["attempt"]


def test_killed_while_it_is_made(where: str, start: Start) -> None:
    """A gradebook is made whole or not at all."""
    process = start(
        where,
        """
        import os, signal
        from sqlalchemy import Engine, event
        @event.listens_for(Engine, "before_cursor_execute")
        def stop(connection, cursor, statement, *rest):
            if "CREATE TABLE decisions" in statement:
                os.kill(os.getpid(), signal.SIGKILL)
        Gradebook.open(where, create=True)
        """,
    )
    assert process.wait(timeout=60) == -signal.SIGKILL
    with pytest.raises(GradebookError, match="is empty"):
        Gradebook.open(where, create=False)
    with Gradebook.open(where, create=True) as gradebook:
        run = gradebook.start_run({})
        grade(gradebook, run, "ada")
        assert gradebook.keys("ada") == {"masks": {key(submission("ada"))}}


def test_a_new_file_is_waited_for_while_another_process_makes_it(tmp_path: Path) -> None:
    file = tmp_path / "gradebook.sqlite"
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    @event.listens_for(Engine, "handle_error")
    def release(context: ExceptionContext) -> None:
        refused.append(str(context.original_exception))
        other.rollback()

    refused: list[str] = []
    try:
        Gradebook.open(str(file), create=True).close()
    finally:
        event.remove(Engine, "handle_error", release)
        other.close()
    assert refused == ["database is locked"]


@pytest.mark.nightly
def test_many_processes_make_one_gradebook(where: str, start: Start) -> None:
    lines = """
        print("ready", flush=True)
        sys.stdin.readline()
        print(Gradebook.open(where, create=True).nonce.hex(), flush=True)
    """
    processes = [start(where, lines) for _ in range(3)]
    assert [said(process) for process in processes] == ["ready"] * 3
    for process in processes:
        process.stdin.write("go\n")  # type: ignore[union-attr]
        process.stdin.flush()  # type: ignore[union-attr]
    assert len({said(process) for process in processes}) == 1
