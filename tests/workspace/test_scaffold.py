"""`start` never overwrites, `reset` never loses."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grader import files
from grader.catalogue import Catalogue, Kata
from grader.errors import EngineError, UsageError
from grader.learner.workspace import (
    PROGRESS_FILE,
    Workspace,
    edit_progress,
    find_workspace,
    kata_around,
    load_progress,
    require_workspace,
    reset,
    start,
    unit_around,
    workspace_to_start_in,
)
from grader.learner.workspace.notebook import split_source


def tree(space: Workspace) -> set[str]:
    return {str(path.relative_to(space.root)) for path in space.root.rglob("*") if path.is_file()}


def test_start_writes_stub_lesson_and_given_files(catalogue: Catalogue, space: Workspace) -> None:
    first, second = start(catalogue.resolve("1.1"), space)
    assert tree(space) == {
        PROGRESS_FILE,
        "1.1-sorting/README.md",
        "1.1-sorting/insertion-sort/README.md",
        "1.1-sorting/insertion-sort/insertion_sort.py",
        "1.1-sorting/merge/README.md",
        "1.1-sorting/merge/helpers.py",
        "1.1-sorting/merge/merge.py",
    }
    assert first.submission.read_text() == first.kata.stub.read_text()
    assert {file.action for file in (*first.files, *second.files)} == {"written"}
    assert not first.resumed
    assert load_progress(space.root).of("merge").started is not None


def test_start_again_keeps_everything(insertion: Kata, space: Workspace) -> None:
    (one,) = start([insertion], space)
    one.submission.write_text("mine")
    (one.folder / "README.md").unlink()
    with edit_progress(space.root) as progress:
        progress.of("insertion-sort").started = "2020-01-01T00:00:00Z"
    (again,) = start([insertion], space)
    assert again.resumed
    assert {file.path.name: file.action for file in again.files if file.path.parent == one.folder} == {
        "insertion_sort.py": "kept",
        "README.md": "written",
    }
    assert one.submission.read_text() == "mine"
    assert load_progress(space.root).of("insertion-sort").started == "2020-01-01T00:00:00Z"


def test_start_refuses_what_is_in_the_way_before_it_writes(catalogue: Catalogue, space: Workspace) -> None:
    (space.root / "1.1-sorting" / "merge" / "merge.py").mkdir(parents=True)
    with pytest.raises(UsageError, match=r"merge\.py is a folder"):
        start(catalogue.resolve("1.1"), space)
    assert tree(space) == set()


def test_start_refuses_a_file_where_a_folder_belongs(insertion: Kata, space: Workspace) -> None:
    (space.root / "1.1-sorting").write_text("notes")
    with pytest.raises(UsageError, match=r"1\.1-sorting is not a folder"):
        start([insertion], space)
    assert tree(space) == {"1.1-sorting"}


def test_start_writes_nothing_beside_damaged_progress(insertion: Kata, space: Workspace) -> None:
    (space.root / PROGRESS_FILE).write_text("{")
    with pytest.raises(UsageError, match="not valid JSON"):
        start([insertion], space)
    assert tree(space) == {PROGRESS_FILE}


def test_a_notebook_holds_the_same_code(merge: Kata, space: Workspace) -> None:
    nbformat = pytest.importorskip("nbformat")
    (one,) = start([merge], space, notebook=True)
    assert one.submission.name == "merge.ipynb"
    assert {path.name for path in one.folder.iterdir()} == {"README.md", "helpers.py", "merge.ipynb"}
    notebook = nbformat.read(one.submission, as_version=4)
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)
    kinds = [cell.cell_type for cell in notebook.cells]
    assert kinds == ["markdown", "markdown", "code", "code", "code", "code", "code"]
    assert notebook.cells[-1].source.endswith("%kata check merge")  # no part of the code
    assert notebook.cells[0].source == merge.lesson.read_text(encoding="utf-8")
    assert "kata check merge" in notebook.cells[1].source
    assert "1.1.2" not in notebook.cells[1].source  # the lesson's heading has said it
    code = [cell.source for cell in notebook.cells[2:]]
    assert code[0].startswith("from __future__ import annotations")
    assert code[0].endswith("INFINITY = math.inf")
    assert code[1].startswith("# The comparison that everything uses.\ndef before")
    assert code[2].startswith("@staticmethod\ndef merge")
    assert code[3].startswith("class Merger")


def test_a_notebook_that_nobody_touched_equals_a_fresh_one(
    merge: Kata, space: Workspace, tmp_path: Path
) -> None:
    (one,) = start([merge], space, notebook=True)
    assert reset(merge, space).backup is None
    (tmp_path / "other").mkdir()
    (two,) = start([merge], Workspace(tmp_path / "other"), notebook=True)
    assert one.submission.read_bytes() == two.submission.read_bytes()


def test_no_line_of_code_is_lost_between_cells() -> None:
    source = '"""Doc."""\n# why\nimport os\n\nx = 1\n\n\n@d\ndef f():\n    return "a\x0cb"\n\n\n'
    source += "y = 2\nz = 3\n# the end\n"
    introduction, cells = split_source(source)
    assert introduction == "Doc."
    assert cells == [
        "# why\nimport os\n\nx = 1",
        '@d\ndef f():\n    return "a\x0cb"',
        "y = 2\nz = 3",
        "# the end",
    ]


def test_the_other_form_is_refused_with_what_to_do(
    catalogue: Catalogue, insertion: Kata, space: Workspace
) -> None:
    start([insertion], space)
    before = tree(space)
    with pytest.raises(UsageError) as caught:
        start(catalogue.resolve("1.1"), space, notebook=True)
    assert "was started as a module" in caught.value.message
    assert "--notebook" in (caught.value.hint or "")
    assert tree(space) == before


def test_a_notebook_is_resumed_as_a_notebook(merge: Kata, space: Workspace) -> None:
    start([merge], space, notebook=True)
    (again,) = start([merge], space)
    assert again.submission.suffix == ".ipynb"
    assert again.resumed
    assert not (again.folder / "merge.py").exists()


def test_the_next_kata_takes_the_form_of_the_last(
    merge: Kata, insertion: Kata, space: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    start([merge], space, notebook=True)
    (went_on,) = start([insertion], space)
    assert went_on.submission.suffix == ".ipynb"
    went_on.submission.unlink()
    (module,) = start([insertion], space, notebook=False)
    assert module.submission.suffix == ".py"
    monkeypatch.setenv("KATA_IN_NOTEBOOK", "1")
    assert start([insertion], space)[0].submission == module.submission
    module.submission.unlink()
    assert start([insertion], space)[0].submission.suffix == ".ipynb"


def test_both_forms_side_by_side_are_refused(merge: Kata, space: Workspace) -> None:
    (one,) = start([merge], space, notebook=True)
    (one.folder / "merge.py").write_text("")
    with pytest.raises(UsageError, match=r"exists twice: .*merge\.py and .*merge\.ipynb"):
        start([merge], space)


def test_reset_backs_up_what_differs_and_restores_it(merge: Kata, space: Workspace) -> None:
    (one,) = start([merge], space)
    one.submission.write_text("mine")
    (one.folder / "helpers.py").unlink()
    (one.folder / "scratch.py").write_text("keep")
    done = reset(merge, space)
    assert {file.path.name: file.action for file in done.files} == {
        "merge.py": "restored",
        "README.md": "unchanged",
        "helpers.py": "written",
    }
    assert done.backup is not None
    assert done.backup.parent == space.root / "backups" / "merge"
    assert [path.name for path in done.backup.iterdir()] == ["merge.py"]
    assert (done.backup / "merge.py").read_text() == "mine"
    assert one.submission.read_text() == merge.stub.read_text()
    assert (one.folder / "scratch.py").read_text() == "keep"


def test_resets_within_a_second_do_not_overwrite_each_other(merge: Kata, space: Workspace) -> None:
    (one,) = start([merge], space)
    contents = ["first", "second", "third"]
    backups = []
    for text in contents:
        one.submission.write_text(text)
        backups.append(reset(merge, space).backup)
    assert [(backup / "merge.py").read_text() for backup in backups if backup] == contents


def test_reset_keeps_what_was_achieved(merge: Kata, space: Workspace) -> None:
    start([merge], space)
    with edit_progress(space.root) as progress:
        entry = progress.of("merge")
        entry.status, entry.best, entry.passed, entry.hints, entry.attempts = (
            "pass",
            6,
            "2020-01-01T00:00:00Z",
            2,
            3,
        )
    reset(merge, space)
    entry = load_progress(space.root).of("merge")
    assert (entry.status, entry.best, entry.hints, entry.attempts) == ("not_started", 6, 2, 3)
    assert entry.passed == "2020-01-01T00:00:00Z"


def test_reset_moves_a_folder_that_took_the_stubs_place(merge: Kata, space: Workspace) -> None:
    (one,) = start([merge], space)
    one.submission.unlink()
    one.submission.mkdir()
    (one.submission / "deep.py").write_text("mine")
    done = reset(merge, space)
    assert done.backup is not None
    assert (done.backup / "merge.py" / "deep.py").read_text() == "mine"
    assert one.submission.read_text() == merge.stub.read_text()


@pytest.mark.slow
def test_reset_of_a_kata_that_was_not_started_says_so(merge: Kata, space: Workspace) -> None:
    with pytest.raises(UsageError, match="was not started in"):
        reset(merge, space)


@pytest.mark.slow
def test_a_full_disk_during_reset_leaves_the_work_where_it_was(
    merge: Kata, space: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (one,) = start([merge], space)
    one.submission.write_text("mine")

    def full(path: Path, data: bytes | str) -> None:
        raise EngineError(f"{path}: cannot be written (No space left on device).", "Free some space.")

    monkeypatch.setattr(files, "write_atomic", full)
    with pytest.raises(EngineError) as caught:
        reset(merge, space)
    assert "Your files are safe in" in (caught.value.hint or "")
    assert one.submission.read_text() == "mine"


@pytest.mark.slow
def test_a_workspace_is_the_nearest_folder_with_progress(
    insertion: Kata, space: Workspace, tmp_path: Path
) -> None:
    (one,) = start([insertion], space)
    assert find_workspace(one.folder) == space
    assert find_workspace(tmp_path) is None
    with pytest.raises(UsageError, match="not in a kata workspace"):
        require_workspace(tmp_path)


@pytest.mark.slow
def test_nothing_is_started_inside_a_pack(catalogue: Catalogue, pack: Path, space: Workspace) -> None:
    with pytest.raises(UsageError, match="inside the pack tiny"):
        workspace_to_start_in(pack / "1.1-sorting", catalogue)
    assert workspace_to_start_in(space.root, catalogue) == space


@pytest.mark.slow
def test_a_folder_knows_its_kata_and_unit(insertion: Kata, catalogue: Catalogue, space: Workspace) -> None:
    (one,) = start([insertion], space)
    deep = one.folder / "notes"
    deep.mkdir()
    assert kata_around(deep, catalogue) is insertion
    assert unit_around(deep, catalogue) is insertion.unit
    assert kata_around(one.folder.parent, catalogue) is None
    assert unit_around(space.root, catalogue) is None


@pytest.mark.slow
def test_reset_moves_a_file_that_may_not_be_read(
    merge: Kata, space: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Root may read everything, so that a mode of 0 would prove nothing there.
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    (one,) = start([merge], space)
    one.submission.write_text("mine")
    done = reset(merge, space)
    assert done.backup is not None
    assert (done.backup / "merge.py").read_text() == "mine"
