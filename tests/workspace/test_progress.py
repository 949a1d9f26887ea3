"""Progress survives upgrades, reorderings, damage and a full disk."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from grader.catalogue import Catalogue, load_pack
from grader.errors import EngineError, UsageError
from grader.learner.workspace import (
    PROGRESS_FILE,
    Progress,
    Workspace,
    edit_progress,
    load_progress,
    now,
    record_check,
    save_progress,
    start,
)
from grader.report.report import KataReport, KataStatus


def report(status: KataStatus, score: float, kata: str = "insertion-sort") -> KataReport:
    return KataReport(kata=kata, number="1.1.1", status=status, score=score, max_score=4, seed=0)


def test_without_a_file_there_is_no_progress(tmp_path: Path) -> None:
    assert load_progress(tmp_path).katas == {}
    assert not (tmp_path / PROGRESS_FILE).exists()


def test_a_failure_then_a_pass_then_a_failure_are_all_remembered(tmp_path: Path) -> None:
    for status, score in (("fail", 1.5), ("pass", 4), ("fail", 3)):
        with edit_progress(tmp_path) as progress:
            record_check(progress, report(status, score))  # type: ignore[arg-type]
    entry = load_progress(tmp_path).of("insertion-sort")
    assert (entry.attempts, entry.status, entry.score, entry.best, entry.max_score) == (3, "fail", 3, 4, 4)
    assert entry.passed is not None
    assert entry.checked is not None
    assert entry.checked.endswith("Z")


def test_the_first_pass_is_the_one_that_counts() -> None:
    progress = Progress()
    progress.of("insertion-sort").passed = "2020-01-01T00:00:00Z"
    record_check(progress, report("pass", 4))
    assert progress.of("insertion-sort").passed == "2020-01-01T00:00:00Z"


@pytest.mark.parametrize("status", ["not_started", "missing"])
def test_a_kata_nobody_worked_on_is_no_attempt(status: KataStatus) -> None:
    progress = Progress()
    progress.of("insertion-sort").started = now()
    record_check(progress, report(status, 0))
    entry = progress.of("insertion-sort")
    assert (entry.attempts, entry.status) == (0, status)


def test_a_kata_without_a_file_that_nobody_began_is_not_noted() -> None:
    progress = Progress()
    record_check(progress, report("missing", 0))
    assert progress.get("insertion-sort").status == "not_started"
    assert progress.katas == {}


def test_the_file_is_sorted_readable_json(tmp_path: Path) -> None:
    progress = Progress()
    for slug in ("zeta", "alpha"):
        progress.of(slug).hints = 1
    save_progress(tmp_path, progress)
    text = (tmp_path / PROGRESS_FILE).read_text()
    assert list(json.loads(text)["katas"]) == ["alpha", "zeta"]
    assert text == json.dumps(json.loads(text), indent=2, sort_keys=True) + "\n"


def test_progress_belongs_to_the_slug_whatever_the_pack_does(pack: Path, space: Workspace) -> None:
    before = Catalogue((load_pack(pack),))
    start(before.resolve("insertion-sort"), space)
    with edit_progress(space.root) as progress:
        record_check(progress, report("pass", 4))
    unit = pack / "1.1-sorting"
    (unit / "unit.toml").write_text((unit / "unit.toml").read_text().replace('"1.1"', '"7.4"'))
    for name, old, new in (("insertion-sort", "1.1.1", "7.4.9"), ("merge", "1.1.2", "7.4.1")):
        path = unit / name / "kata.toml"
        path.write_text(path.read_text().replace(old, new))
    unit.rename(pack / "7.4-sorting")
    after = Catalogue((load_pack(pack),))
    assert [kata.slug for kata in after.katas] == ["merge", "insertion-sort"]
    kata = after.resolve_one("7.4.9")
    entry = load_progress(space.root).of(kata.slug)
    assert (entry.status, entry.best) == ("pass", 4)
    assert entry.passed is not None


def test_what_a_newer_release_wrote_is_kept(tmp_path: Path) -> None:
    document = {
        "schema": 1,
        "learner": {"name": "ada"},
        "katas": {"gone": {"attempts": 2, "medal": "gold"}, "insertion-sort": {"streak": [1, 2]}},
    }
    (tmp_path / PROGRESS_FILE).write_text(json.dumps(document))
    with edit_progress(tmp_path) as progress:
        record_check(progress, report("fail", 1))
    written = json.loads((tmp_path / PROGRESS_FILE).read_text())
    assert written["learner"] == {"name": "ada"}
    assert written["katas"]["gone"]["attempts"] == 2
    assert written["katas"]["gone"]["medal"] == "gold"
    assert written["katas"]["insertion-sort"]["streak"] == [1, 2]
    assert written["katas"]["insertion-sort"]["attempts"] == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{\n  "katas": {\n    "a": {,}\n', "line 3: the progress is not valid JSON"),
        ("", "line 1: the progress is not valid JSON"),
        ('{\n"katas": {}}\n<<<<<<< HEAD\n', "line 3: the progress is not valid JSON"),
        ("[1]", "line 1: not a progress file"),
        ('{"katas": []}', "line 1: not a progress file"),
        ('{"schema": 2, "katas": {}}', "written by a newer kata (schema 2; this one knows 1)"),
        ('{"schema": "x", "katas": {}}', "written by a newer kata"),
        ('{"schema": 1,\n"katas": {\n"a": {"attempts": "many"}}}', "line 3: Expected `int`, got `str`"),
        ('{"schema": 1,\n"katas": {\n"a": {"hints": -5}}}', "line 3: Expected `int` >= 0"),
        ('{"schema": 1,\n"katas": {\n"a": {"best": -1}}}', "line 3: Expected `float` >= 0"),
        ('{"schema": 1,\n"katas": {\n"a": {"status": "odd"}}}', "`katas.a.status`"),
        ('{"schema": 1, "katas": {"a": 7}}', "line 1: Expected `object`, got `int`"),
    ],
)
def test_a_damaged_file_is_named_and_never_overwritten(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / PROGRESS_FILE
    path.write_text(text)
    with pytest.raises(UsageError) as caught, edit_progress(tmp_path) as progress:
        record_check(progress, report("pass", 4))
    assert str(path) in caught.value.message
    assert said in caught.value.message
    assert path.read_text() == text


def test_bytes_that_are_no_text_are_named_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / PROGRESS_FILE
    path.write_bytes(b'{\n"katas": {"\xff": {}}}')
    with pytest.raises(UsageError, match="line 2"):
        load_progress(tmp_path)


def test_a_folder_in_the_files_place_is_named(tmp_path: Path) -> None:
    (tmp_path / PROGRESS_FILE).mkdir()
    with pytest.raises(UsageError, match="the progress cannot be read"):
        load_progress(tmp_path)


def test_a_full_disk_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with edit_progress(tmp_path) as progress:
        record_check(progress, report("pass", 4))
    before = (tmp_path / PROGRESS_FILE).read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(EngineError, match="No space left"), edit_progress(tmp_path) as progress:
        record_check(progress, report("fail", 0))
    assert (tmp_path / PROGRESS_FILE).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [PROGRESS_FILE]


def test_nothing_is_written_when_the_change_fails(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), edit_progress(tmp_path) as progress:
        progress.of("a").attempts = 1 // 0
    assert not (tmp_path / PROGRESS_FILE).exists()


def test_two_commands_at_once_wait_for_each_other(tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    other = os.open(tmp_path, os.O_RDONLY)
    try:
        with edit_progress(tmp_path), pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(other)
    assert [path.name for path in tmp_path.iterdir()] == [PROGRESS_FILE]
