"""The file that holds an answer is found, or the doubt is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.catalogue import Catalogue, Kata
from grader.errors import UsageError
from grader.learner.workspace import Workspace, katas_in, locate, start


def write(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    return path


@pytest.mark.parametrize("below", [".", "1.1-sorting", "1.1-sorting/merge"])
def test_the_katas_own_folder_comes_first(merge: Kata, space: Workspace, below: str) -> None:
    (one,) = start([merge], space)
    write(space.root / "old" / "merge.py")
    assert locate(merge, space.root / below) == one.submission


def test_any_folder_below_will_do(merge: Kata, tmp_path: Path) -> None:
    answer = write(tmp_path / "hand-in" / "week 3" / "merge.ipynb")
    assert locate(merge, tmp_path / "hand-in") == answer


@pytest.mark.parametrize(
    "place",
    ["backups/merge/x", ".git", ".venv/lib", "node_modules", "__pycache__", "a/b/c/d/e/f/g", "env/lib"],
)
def test_places_that_hold_no_answers_are_left_out(merge: Kata, tmp_path: Path, place: str) -> None:
    home = tmp_path / "home"
    write(home / place / "merge.py")
    write(home / "env" / "pyvenv.cfg")
    assert locate(merge, home) is None


def test_a_pack_below_is_no_answer(merge: Kata, pack: Path, tmp_path: Path) -> None:
    assert locate(merge, tmp_path) is None
    assert locate(merge, pack) == merge.stub


def test_links_to_folders_are_not_followed(merge: Kata, tmp_path: Path) -> None:
    write(tmp_path / "elsewhere" / "merge.py")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "link").symlink_to(tmp_path / "elsewhere")
    assert locate(merge, tmp_path / "home") is None


def test_a_module_and_a_notebook_side_by_side_are_named(merge: Kata, space: Workspace) -> None:
    (one,) = start([merge], space)
    write(one.folder / "merge.ipynb")
    with pytest.raises(UsageError, match=r"exists twice: .*merge\.py and .*merge\.ipynb"):
        locate(merge, space.root)


def test_several_candidates_are_named(merge: Kata, tmp_path: Path) -> None:
    write(tmp_path / "home" / "a" / "merge.py")
    write(tmp_path / "home" / "b" / "merge.py")
    with pytest.raises(UsageError, match=r"Several files could be the answer.*a/merge\.py and .*b/merge\.py"):
        locate(merge, tmp_path / "home")


def test_a_copy_elsewhere_does_not_stand_in_for_a_file_that_is_gone(
    merge: Kata, catalogue: Catalogue, space: Workspace
) -> None:
    (one,) = start([merge], space)
    one.submission.unlink()
    write(space.root / "old" / "merge.py")
    assert locate(merge, space.root) is None
    assert katas_in(space.root, catalogue) == [(merge, one.submission)]
    assert katas_in(one.folder, catalogue) == [(merge, one.submission)]


def test_a_folder_in_the_files_place_is_still_found(merge: Kata, space: Workspace) -> None:
    (one,) = start([merge], space)
    one.submission.unlink()
    one.submission.mkdir()
    assert locate(merge, space.root) == one.submission


def test_a_workspace_holds_what_was_started(catalogue: Catalogue, space: Workspace) -> None:
    first, second = start(catalogue.resolve("1.1"), space)
    both = [(first.kata, first.submission), (second.kata, second.submission)]
    assert katas_in(space.root, catalogue) == both
    assert katas_in(first.folder.parent, catalogue) == both
    assert katas_in(second.folder, catalogue) == both[1:]


def test_a_folder_inside_a_kata_stands_for_it(merge: Kata, catalogue: Catalogue, space: Workspace) -> None:
    (one,) = start([merge], space)
    (one.folder / "notes").mkdir()
    assert katas_in(one.folder / "notes", catalogue) == [(merge, one.submission)]


def test_a_plain_folder_holds_what_lies_in_it(merge: Kata, catalogue: Catalogue, tmp_path: Path) -> None:
    folder = tmp_path / "ada"
    answer = write(folder / "src" / "merge.py")
    write(folder / "other.py")
    assert katas_in(folder, catalogue) == [(merge, answer)]


def test_a_folder_without_answers_holds_nothing(catalogue: Catalogue, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert katas_in(tmp_path / "empty", catalogue) == []


def test_a_file_is_known_by_its_name(merge: Kata, catalogue: Catalogue, tmp_path: Path) -> None:
    answer = write(tmp_path / "merge.ipynb")
    assert katas_in(answer, catalogue) == [(merge, answer)]
    with pytest.raises(UsageError, match=r"no kata has a file of this name\. Did you mean merge\.py\?"):
        katas_in(write(tmp_path / "merg.py"), catalogue)
    with pytest.raises(UsageError, match="no kata has a file of this name"):
        katas_in(write(tmp_path / "merge.txt"), catalogue)
    with pytest.raises(UsageError, match="there is no such file or folder"):
        katas_in(tmp_path / "nowhere", catalogue)
