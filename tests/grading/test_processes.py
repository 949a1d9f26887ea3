"""Grading processes: what survives their death, who is charged with it, and what they refuse."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from grader.catalogue import Catalogue, Kata
from grader.engine.wire import frames
from grader.instructor.grading import processes
from grader.instructor.grading.messages import (
    Answer,
    NotGraded,
    Setup,
    Stopped,
    Task,
    decode_answer,
    task_decoder,
)
from grader.instructor.grading.run import RunPolicy, setup_for
from grader.instructor.submissions import Bundle
from grader.report.report import KataReport
from tests.conftest import TINY
from tests.grading.conftest import MODULE, RIGHT, SOLUTIONS

pytestmark = pytest.mark.slow


@pytest.fixture
def sort(warm: Path) -> Kata:
    return Catalogue.discover().resolve_one("insertion-sort")


@pytest.fixture
def setup(sort: Kata) -> Setup:
    return setup_for([sort], RunPolicy())


def ask(setup: Setup, source: str = RIGHT, **files: bytes) -> Answer:
    bundle = Bundle(MODULE, {MODULE: source.encode(), **files})
    task = Task(kata="insertion-sort", seed=3, bundle=bundle)
    return decode_answer(processes.grade(frames.encode(setup), frames.encode(task)))


def test_a_right_answer(setup: Setup) -> None:
    answer = ask(setup)
    assert isinstance(answer, KataReport)
    assert (answer.status, answer.seed) == ("pass", 3)
    assert any(check.hidden for check in answer.checks)
    assert answer.file == MODULE


def test_what_lies_beside_the_module_can_be_imported(setup: Setup) -> None:
    source = "from parts.pick import pick\n\ndef insertion_sort(values):\n    return pick(values)\n"
    answer = ask(setup, source, **{"parts/__init__.py": b"", "parts/pick.py": b"pick = sorted\n"})
    assert isinstance(answer, KataReport)
    assert answer.checks[0].status == "pass", answer.message


def test_a_station_that_was_killed_is_replaced_and_its_task_done_again(
    setup: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(setup)
    before = processes.GradingProcess.run_task
    killed = []

    def kill_first(process: processes.GradingProcess, task: bytes) -> bytes:
        if not killed:
            killed.append(process)
            process.kill()
        return before(process, task)

    monkeypatch.setattr(processes.GradingProcess, "run_task", kill_first)
    answer = ask(setup)
    assert killed
    assert isinstance(answer, KataReport)
    assert answer.status == "pass"


def test_a_station_that_dies_again_and_again_is_a_refusal(
    setup: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(process: processes.GradingProcess, task: bytes) -> bytes:
        raise processes.GradingProcessDied("exit code -9")

    monkeypatch.setattr(processes.GradingProcess, "run_task", die)
    answer = ask(setup)
    assert isinstance(answer, NotGraded)
    assert "exit code -9" in answer.message


def dies_unless(monkeypatch: pytest.MonkeyPatch, graded: Callable[[Task], bool]) -> list[Task]:
    """Let every grading process end on a task that is not to be graded; return what they are asked for."""
    before, asked = processes.GradingProcess.run_task, []

    def ask_it(process: processes.GradingProcess, task: bytes) -> bytes:
        asked.append(task_decoder.decode(task))
        if not graded(asked[-1]):
            raise processes.GradingProcessDied("exit code -9")
        return before(process, task)

    monkeypatch.setattr(processes.GradingProcess, "run_task", ask_it)
    return asked


@pytest.mark.nightly
def test_what_ends_every_grading_process_but_the_references_is_the_submissions(
    setup: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = dies_unless(monkeypatch, lambda task: task.control)
    answer = ask(setup)
    assert isinstance(answer, Stopped)
    assert answer.status == "error"
    assert "ended its grading 3 times, and the reference does not" in answer.message
    assert [task.control for task in asked] == [False, False, True, False]


@pytest.mark.nightly
def test_a_fault_that_passes_while_the_reference_is_graded_is_nobodys(
    setup: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = dies_unless(monkeypatch, lambda task: len(asked) > processes.ATTEMPTS)
    answer = ask(setup)
    assert isinstance(answer, KataReport)
    assert (answer.status, len(asked)) == ("pass", processes.ATTEMPTS + 2)


@pytest.mark.nightly
def test_another_version_of_the_pack_is_refused(setup: Setup) -> None:
    answer = ask(msgspec.structs.replace(setup, katas={"insertion-sort": "0" * 64}))
    assert isinstance(answer, NotGraded)
    assert "another version" in answer.message


@pytest.mark.nightly
def test_a_kata_that_is_not_there_is_refused(setup: Setup) -> None:
    answer = ask(msgspec.structs.replace(setup, katas={**setup.katas, "no-such-kata": "0" * 64}))
    assert isinstance(answer, NotGraded)
    assert "no-such-kata" in answer.message


def before_asking(
    monkeypatch: pytest.MonkeyPatch, do: Callable[[processes.GradingProcess], object], times: int = 1
) -> list[processes.GradingProcess]:
    """Do something to the first grading processes that are asked; return them."""
    before, met = processes.GradingProcess.run_task, []

    def ask_it(process: processes.GradingProcess, task: bytes) -> bytes:
        if len(met) < times:
            met.append(process)
            do(process)
        return before(process, task)

    monkeypatch.setattr(processes.GradingProcess, "run_task", ask_it)
    return met


def stop(process: processes.GradingProcess) -> None:
    process._process.send_signal(signal.SIGSTOP)


@pytest.mark.nightly
@pytest.mark.parametrize("size", [1, 1 << 20], ids=["a small task", "one that no pipe holds"])
def test_a_station_that_takes_nothing_is_replaced_and_nobody_is_charged(
    setup: Setup, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    ask(setup)
    monkeypatch.setattr(processes, "IDLE_S", 0.5)
    met = before_asking(monkeypatch, stop)
    answer = ask(setup, **{"beside.txt": b"x" * size})
    assert met[0]._process.returncode == -signal.SIGKILL
    assert isinstance(answer, KataReport)
    assert answer.status == "pass"


def test_an_answer_that_makes_no_sense_is_the_machines(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes.GradingProcess, "run_task", lambda process, task: b"\xc1")
    answer = ask(setup)
    assert isinstance(answer, NotGraded)
    assert "cannot be understood" in answer.message


STUCK = """

@check(aspect="values", points=1)
def test_no_word(submission):
    "no word is in it"
    import re

    # The pattern takes for ever over a long word that almost fits, and never lets another thread go on.
    assert not re.fullmatch("(a|a)*b", str(submission.insertion_sort([])))
"""


@pytest.fixture
def stuck(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Setup:
    """A pack with a check that never ends over some answers."""
    shutil.copytree(TINY, folder / "packs" / "tiny")
    shutil.copytree(SOLUTIONS.parents[1], folder / "packs" / "solutions")
    checks = folder / "packs" / "tiny" / "1.1-sorting" / "insertion-sort" / "checks.py"
    checks.write_text(checks.read_text() + STUCK)
    about = checks.with_name("kata.toml")
    about.write_text(about.read_text().replace("points = 4", "points = 5"))
    monkeypatch.setenv("KATA_PACKS", str(folder / "packs" / "tiny"))
    return setup_for([Catalogue.discover().resolve_one("insertion-sort")], RunPolicy(timeout_s=1.0))


@pytest.mark.nightly
def test_who_keeps_the_grader_busy_for_ever_gets_a_time_out_and_the_class_goes_on(
    stuck: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[Any] = []
    before_asking(monkeypatch, begun.append, times=9)
    answer = ask(stuck, "def insertion_sort(values):\n    return 'a' * 64\n")
    assert isinstance(answer, Stopped), answer
    assert "kept the grader busy" in answer.message
    assert [process._process.returncode for process in begun] == [-signal.SIGKILL, -signal.SIGKILL, None]
    answer = ask(stuck)
    assert isinstance(answer, KataReport)
    assert answer.checks[0].status == "pass"


def test_a_grader_that_everything_keeps_busy_is_nobodys_fault(
    stuck: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(process: processes.GradingProcess, task: bytes) -> bytes:
        raise processes.GradingProcessStalled("it was busy")

    monkeypatch.setattr(processes.GradingProcess, "run_task", never)
    answer = ask(stuck)
    assert isinstance(answer, NotGraded)
    assert "it was busy" in answer.message
