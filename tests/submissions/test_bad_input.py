"""What cannot be a class is refused at once, with what was expected; a class of ten thousand stays small."""

from __future__ import annotations

import gc
import pathlib
import shutil
import tracemalloc

import pytest

from grader.errors import UsageError
from grader.instructor.lms.find import find_learners
from grader.instructor.submissions.file_selection import choose
from tests.submissions.conftest import content, lay, tarred, zipped


def refused(root, katas):
    with pytest.raises(UsageError) as error:
        find_learners(root, katas)
    assert error.value.hint
    return error.value


def test_what_is_not_there(tmp_path, katas):
    assert "there is no such file or folder" in refused(tmp_path / "class", katas).message


def test_an_empty_folder(tmp_path, katas):
    error = refused(tmp_path, katas)
    assert "it holds no learner's work" in error.message
    assert "one folder or one .zip or .tar.gz per learner" in error.hint


def test_only_loose_files(tmp_path, katas):
    error = refused(lay(tmp_path, {"notes.txt": "", "hw.py": ""}), katas)
    assert "2 files are at the top and belong to no learner: hw.py, notes.txt" in error.message


@pytest.mark.parametrize("name", ["class.pdf", "class.rar", "class", "class.zip", "class.tar.gz"])
def test_a_file_that_is_no_archive(tmp_path, katas, name):
    lay(tmp_path, {name: "text"})
    error = refused(tmp_path / name, katas)
    assert name in error.message
    assert "archive" in error.message


def test_one_module(tmp_path, katas):
    error = refused(lay(tmp_path, {"masks.py": ""}) / "masks.py", katas)
    assert "kata check" in error.hint


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_an_empty_archive(tmp_path, katas, pack):
    root = tmp_path / ("class.zip" if pack is zipped else "class.tar.gz")
    root.write_bytes(pack({}))
    assert "no learner's work" in refused(root, katas).message


def test_a_bomb_as_the_class(tmp_path, katas):
    root = tmp_path / "class.zip"
    root.write_bytes(zipped({"ada/masks.py": "w", "x.bin": bytes(1 << 20)}))
    data = root.read_bytes()
    assert find_learners(root, katas).learners
    root.write_bytes(data[:-30])
    assert "not a readable archive" in refused(root, katas).message


def test_nothing_that_any_kata_asks_for(tmp_path, katas):
    lay(tmp_path, {"ada/homework.py": "", "bob.zip": zipped({"essay.docx": ""}), "carol/": ""})
    error = refused(tmp_path, katas)
    assert "none of its 3 learners" in error.message
    assert "Seen: homework.py, essay.docx." in error.message
    assert "masks.py, masked_attention.py" in error.hint


def test_a_class_where_nothing_can_be_read_still_has_its_rows(tmp_path, katas):
    lay(tmp_path, {"ada.zip": b"broken", "bob/": ""})
    scan = find_learners(tmp_path, katas)
    assert [row.status for learner in scan.learners for row in learner.submissions(katas)] == [
        "error",
        "error",
        "missing",
        "missing",
    ]


@pytest.mark.slow
def test_memory_does_not_grow_with_the_class(tmp_path, katas):
    for number in range(600):
        folder = tmp_path / f"learner {number}"
        folder.mkdir()
        (folder / "masks.py").write_bytes(b"#" * 100_000)
    scan = find_learners(tmp_path, katas)

    def read(learners):
        for learner in learners:
            assert learner.submissions(katas)[0].status == "found"

    read(scan.learners[:5])
    tracemalloc.start()
    try:
        read(scan.learners[:50])
        few = tracemalloc.get_traced_memory()[1]
        read(scan.learners)
        many = tracemalloc.get_traced_memory()[1]
        gc.collect()
        # Where pathlib interns a name, Python's table of all such strings grows by megabytes now and then.
        elsewhere = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(False, pathlib.__file__)])
        kept = sum(trace.size for trace in elsewhere.traces)
    finally:
        tracemalloc.stop()
    assert many < few + 10_000_000, "60 MB were read, and that table may have grown"
    assert kept < 100_000, "nothing of a submission is kept"


@pytest.mark.parametrize("when", ["after the scan", "after the listing"])
@pytest.mark.parametrize("inner", ["masks.py", "deep/er/masks.py", "work.zip", "work.tar.gz"])
def test_a_folder_swapped_for_a_link_is_not_followed(tmp_path, katas, monkeypatch, when, inner):
    work: dict[str, bytes | str] = {
        "work.zip": zipped({"masks.py": "mine"}),
        "work.tar.gz": tarred({"masks.py": "mine"}),
    }
    lay(tmp_path, {f"class/ada/{inner}": work.get(inner, "mine"), f"secret/{inner}": work.get(inner, "mine")})
    lay(tmp_path, {"class/bob/masks.py": "bob"})
    scan = find_learners(tmp_path / "class", katas)

    def swap() -> None:
        shutil.rmtree(tmp_path / "class" / "ada")
        (tmp_path / "class" / "ada").symlink_to(tmp_path / "secret")

    if when == "after the scan":
        swap()
    elif "work" in inner:
        pytest.skip("an archive is open by then")
    else:

        def later(*given):
            if not (tmp_path / "class" / "ada").is_symlink():
                swap()
            return choose(*given)

        monkeypatch.setattr("grader.instructor.submissions.learner.choose", later)
    row = scan.learners[0].submissions(katas)[0]
    assert row.status == "error"
    assert row.bundle is None
    monkeypatch.undo()
    assert content(scan.learners[1].submissions(katas)[0]) == {"masks.py": b"bob"}


def test_a_class_behind_a_link_is_read(tmp_path, katas):
    lay(tmp_path, {"class/ada/masks.py": "a", "class/bob.zip": zipped({"masks.py": "b"})})
    (tmp_path / "link").symlink_to(tmp_path / "class")
    rows = [folder.submissions(katas)[0] for folder in find_learners(tmp_path / "link", katas).learners]
    assert [content(row) for row in rows] == [{"masks.py": b"a"}, {"masks.py": b"b"}]
