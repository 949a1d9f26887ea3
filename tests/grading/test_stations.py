"""Stations: what survives their death, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from grader.catalogue import Catalogue, Kata
from grader.grading import stations
from grader.grading.run import Policy, setup_for
from grader.grading.task import Graded, Refused, Setup, Task, answer_decoder, encode
from grader.submissions import Bundle
from tests.grading.conftest import MODULE, RIGHT


@pytest.fixture
def sort(warm: Path) -> Kata:
    return Catalogue.discover().resolve_one("insertion-sort")


@pytest.fixture
def setup(sort: Kata) -> Setup:
    return setup_for([sort], Policy())


def ask(setup: Setup, source: str = RIGHT, **files: bytes) -> Graded | Refused:
    bundle = Bundle(MODULE, {MODULE: source.encode(), **files})
    task = Task(kata="insertion-sort", seed=3, bundle=bundle)
    return answer_decoder.decode(stations.grade(encode(setup), encode(task)))


def test_a_right_answer(setup: Setup) -> None:
    answer = ask(setup)
    assert isinstance(answer, Graded)
    assert (answer.report.status, answer.report.seed) == ("pass", 3)
    assert any(check.hidden for check in answer.report.checks)
    assert answer.report.file == MODULE


def test_what_lies_beside_the_module_can_be_imported(setup: Setup) -> None:
    source = "from parts.pick import pick\n\ndef insertion_sort(values):\n    return pick(values)\n"
    answer = ask(setup, source, **{"parts/__init__.py": b"", "parts/pick.py": b"pick = sorted\n"})
    assert isinstance(answer, Graded)
    assert answer.report.checks[0].status == "pass", answer.report.message


def test_a_station_that_was_killed_is_replaced_and_its_task_done_again(
    setup: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(setup)
    before = stations.Station.ask
    killed = []

    def kill_first(station: stations.Station, task: bytes, patience_s: float) -> bytes:
        if not killed:
            killed.append(station)
            station.kill()
        return before(station, task, patience_s)

    monkeypatch.setattr(stations.Station, "ask", kill_first)
    answer = ask(setup)
    assert killed
    assert isinstance(answer, Graded)
    assert answer.report.status == "pass"


def test_a_station_that_dies_again_and_again_is_a_refusal(
    setup: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(station: stations.Station, task: bytes, patience_s: float) -> bytes:
        raise stations.StationDied("exit code -9")

    monkeypatch.setattr(stations.Station, "ask", die)
    answer = ask(setup)
    assert isinstance(answer, Refused)
    assert "exit code -9" in answer.message


def test_another_version_of_the_pack_is_refused(setup: Setup) -> None:
    answer = ask(msgspec.structs.replace(setup, katas={"insertion-sort": "0" * 64}))
    assert isinstance(answer, Refused)
    assert "another version" in answer.message


def test_a_kata_that_is_not_there_is_refused(setup: Setup) -> None:
    answer = ask(msgspec.structs.replace(setup, katas={**setup.katas, "no-such-kata": "0" * 64}))
    assert isinstance(answer, Refused)
    assert "no-such-kata" in answer.message
