"""`blocks.py`: what of it a kata gets, when it is written, and what opening it early leaves in the progress."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.catalogue import Catalogue, Kata, load_pack
from grader.catalogue.given import blocks_of, given_files
from grader.errors import PackError
from grader.learner.workspace import Workspace, edit_progress, load_progress, reset, start
from tests.conftest import Run, invoke

BLOCKS = '''"""Answers."""

import math

LIMIT = math.inf


# Sorting comes first.
def insertion_sort(values):
    """Sort."""
    return _ordered(values)


def _ordered(values):
    return sorted(values)


# --- merging ---


def merge(left, right):
    """Merge."""
    return insertion_sort(_joined(left, right))


def _joined(left, right):
    return [*left, *right]


# --- what nobody has to write ---


def helper():
    """Help."""
    return LIMIT
'''


@pytest.fixture
def unit(pack: Path) -> Path:
    """The unit's folder; both of its katas from the second on are given blocks."""
    unit = pack / "1.1-sorting"
    (unit / "blocks.py").write_text(BLOCKS)
    kata = unit / "merge" / "kata.toml"
    kata.write_text(kata.read_text().replace('["helpers.py"]', '["blocks.py", "helpers.py"]'))
    return unit


@pytest.fixture
def merge(unit: Path) -> Kata:
    return Catalogue((load_pack(unit.parent),)).resolve_one("merge")


@pytest.fixture
def home(tmp_path: Path, unit: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("KATA_PACKS", str(unit.parent))
    monkeypatch.setattr("grader.catalogue.catalogue.builtin_folder", lambda: None)
    return folder


@pytest.fixture
def kata(home: Path) -> Run:
    return invoke


def given(home: Path) -> list[Path]:
    return list(home.rglob("blocks.py"))


# --- what a kata gets ---


def test_a_kata_gets_what_earlier_ones_answer_and_no_more(merge: Kata) -> None:
    blocks = blocks_of(merge)
    assert blocks is not None
    before, _, after = BLOCKS.partition("\n\n\n# --- merging ---")
    assert blocks.data.decode() == before + after[after.index("\n\n\n# --- what nobody") :]
    assert blocks.names == {"LIMIT", "insertion_sort", "_ordered", "helper"}
    assert [shown.slug for shown in blocks.shows] == ["insertion-sort"]
    assert set(given_files(merge)) == {"blocks.py", "helpers.py"}


def test_an_earlier_answer_that_needs_a_later_one_is_the_packs_fault(unit: Path, merge: Kata) -> None:
    (unit / "blocks.py").write_text(BLOCKS.replace("return _ordered(values)", "return merge([], values)"))
    with pytest.raises(PackError, match=r"line 9: it uses merge, which 1\.1\.2 merge must not be given"):
        blocks_of(merge)


def test_blocks_that_are_no_python_are_named_with_the_line(unit: Path, merge: Kata) -> None:
    (unit / "blocks.py").write_text("def broken(:\n")
    with pytest.raises(PackError, match=r"blocks\.py, line 1: not valid Python"):
        blocks_of(merge)


# --- when they are written ---


def test_a_unit_comes_without_blocks(kata: Run, home: Path) -> None:
    for name in ("1.1", "sorting", "1"):
        ran = kata("start", name).done()
        assert "not written  blocks.py of merge: it answers earlier katas" in ran.out
        assert "kata start merge" in " ".join(ran.out.split())
    assert given(home) == []
    assert (home / "1.1-sorting" / "merge" / "helpers.py").is_file()


def test_by_name_the_answers_stay_closed_and_nothing_is_asked(kata: Run, home: Path) -> None:
    ran = kata("start", "merge").done()
    assert "it answers insertion-sort, not passed yet" in ran.out
    assert "kata start merge --given" in " ".join(ran.out.split())
    assert given(home) == []
    progress = load_progress(home)
    assert progress.get("merge").started
    assert progress.get("insertion-sort").gave_up is None
    ran = kata("start", "merge", "--json")
    assert ran.json["katas"][0]["unopened"] == ["blocks.py"]


def test_given_opens_them_and_is_recorded_as_giving_up_is(kata: Run, home: Path) -> None:
    ran = kata("start", "1.1.2", "--given").done()
    assert "given up: insertion-sort" in ran.err
    (blocks,) = given(home)
    assert "def merge" not in blocks.read_text()
    progress = load_progress(home)
    assert progress.get("insertion-sort").gave_up
    assert progress.get("merge").gave_up is None
    assert "solution shown" in kata("list").out
    assert kata("--json").json["katas"][0]["gave_up"]


@pytest.mark.parametrize("entry", ["passed", "gave_up"])
def test_what_has_passed_or_was_given_up_is_written_without_asking(kata: Run, home: Path, entry: str) -> None:
    with edit_progress(home) as progress:
        setattr(progress.of("insertion-sort"), entry, "2020-01-01T00:00:00Z")
    ran = kata("start", "merge").done()
    assert "not written" not in ran.out
    assert len(given(home)) == 1
    after = load_progress(home).get("insertion-sort")
    assert after.gave_up == ("2020-01-01T00:00:00Z" if entry == "gave_up" else None)


def test_given_goes_with_one_kata(kata: Run, home: Path) -> None:
    kata("start", "1.1", "--given").refused("1.1 is a unit")
    assert list(home.iterdir()) == []


# --- one part of them ---


def test_the_insides_of_one_block_cost_no_other_kata(kata: Run, home: Path) -> None:
    kata("start", "merge").done()
    kata("solution", "merge", "--block").refused("1.1.2 merge has not passed yet")
    with edit_progress(home) as progress:
        progress.of("merge").passed = "2020-01-01T00:00:00Z"
    ran = kata("solution", "merge", "--block").done()
    assert "def merge(left, right):" in ran.out
    assert "def _joined" in ran.out
    assert "def insertion_sort" not in ran.out, "the answer to a kata that has not passed"
    assert load_progress(home).get("insertion-sort").gave_up is None
    ran = kata("solution", "insertion-sort", "--block", "--give-up").done()
    assert "insertion-sort: recorded as given up" in ran.err
    assert "def _ordered" in ran.out
    assert "def merge" not in ran.out
    assert load_progress(home).get("insertion-sort").gave_up


def test_a_kata_that_no_block_answers_has_none_to_show(kata: Run, unit: Path, home: Path) -> None:
    (unit / "blocks.py").write_text(BLOCKS.replace("merge", "mixed"))
    kata("start", "1.1").done()
    kata("solution", "merge", "--block").refused("No later kata is given anything for 1.1.2 merge")


# --- afterwards ---


def test_blocks_of_an_older_workspace_stay_and_count_as_nothing(kata: Run, home: Path) -> None:
    folder = home / "1.1-sorting" / "merge"
    folder.mkdir(parents=True)
    (folder / "blocks.py").write_text("mine = 1\n")
    ran = kata("start", "merge")
    assert "kept     1.1-sorting/merge/  blocks.py" in ran.out
    assert (folder / "blocks.py").read_text() == "mine = 1\n"
    assert load_progress(home).get("insertion-sort").gave_up is None


def test_reset_writes_no_blocks_where_none_were(merge: Kata, space: Workspace) -> None:
    (one,) = start([merge], space)
    one.submission.write_text("mine")
    reset(merge, space)
    assert given(space.root) == []


def test_reset_puts_opened_blocks_back(merge: Kata, space: Workspace) -> None:
    (one,) = start([merge], space, blocks=True)
    blocks = one.folder / "blocks.py"
    was = blocks.read_bytes()
    blocks.write_text("mine = 1\n")
    done = reset(merge, space)
    assert blocks.read_bytes() == was
    assert done.backup is not None
    assert (done.backup / "blocks.py").read_text() == "mine = 1\n"
