"""Which file answers a kata: predictable, told in the notes, never a guess."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from grader.engine.host.source import MAX_SOURCE
from grader.instructor.lms.find import find_learners
from grader.instructor.submissions.file_selection import MAX_BESIDE
from grader.learner.workspace.notebook import notebook_text
from tests.submissions.conftest import content, lay, zipped

OWN = "9.3-encoder-vs-decoder/masks/masks.py"


def main_of(row):
    return content(row)[row.bundle.main]


@pytest.mark.parametrize(
    "name", ["Masks.py", "MASKS.PY", "masks (1).py", "masks-1.py", "masks - Copy.py", "Copy of masks.py"]
)
def test_a_renamed_file_is_taken_with_a_note(tmp_path, read, name):
    lay(tmp_path, {f"ada/{name}": "work"})
    row = read()["ada", "masks"]
    assert content(row) == {"masks.py": b"work"}
    assert row.notes == (f"ada/{name} was taken for masks.py",)


def test_a_renamed_file_steps_back_behind_the_right_name(tmp_path, read):
    lay(tmp_path, {"ada/masks (1).py": "copy", "ada/masks.py": "work"})
    row = read()["ada", "masks"]
    assert main_of(row) == b"work"
    assert row.notes == ("ada/masks (1).py was left out: ada/masks.py has the right name",)


@pytest.mark.parametrize(
    ("name", "near"), [("masks1.py", True), ("mask.py", True), ("masks.txt", False), ("final.py", False)]
)
def test_another_name_is_missing_and_named_where_it_is_near(tmp_path, katas, name, near):
    lay(tmp_path, {f"ada/{name}": "work", "ada/masked_attention.py": "x"})
    row = find_learners(tmp_path, katas).learners[0].submissions(katas)[0]
    assert row.status == "missing"
    assert row.bundle is None
    asked = f"; was ada/{name} meant?" if near else "."
    assert row.message == f"There is no masks.py or masks.ipynb{asked}"


@pytest.mark.parametrize(
    "files",
    [
        {"a/masks.py": "one", "b/masks.py": "two"},
        {"a/masks.py": "one", "a/masks.ipynb": '{"cells": []}'},
        {"masks (1).py": "one", "masks (2).py": "two"},
        {"a/masks.py": "one", "b.zip": zipped({"masks.py": "two"})},
        {"x/masks/masks.py": "one", "y/masks/masks.py": "two"},
    ],
)
def test_two_that_differ_are_an_error_that_names_both(tmp_path, read, files):
    lay(tmp_path, {"bob/notes.txt": "", **{f"ada/{name}": text for name, text in files.items()}})
    row = read()["ada", "masks"]
    assert row.status == "error"
    assert row.bundle is None
    assert "two files could be the answer" in row.message
    for name in files:
        assert f"ada/{name}" in row.message


def test_a_notebook_without_a_name_steps_aside(tmp_path, read):
    lay(tmp_path, {"ada/masks.ipynb": '{"cells": []}', "ada/Untitled.ipynb": '{"cells": [1]}'})
    assert main_of(read()["ada", "masks"]) == b'{"cells": []}'


def test_two_that_are_equal_count_as_one(tmp_path, read):
    lay(tmp_path, {"ada/a/masks.py": "one", "ada/b/masks.py": "one", "bob/notes.txt": ""})
    row = read()["ada", "masks"]
    assert main_of(row) == b"one"
    assert row.origin == "ada/a/masks.py"
    assert row.notes == ("ada/b/masks.py: the same as ada/a/masks.py",)


@pytest.mark.parametrize("own", ["masks/masks.py", OWN, "9.3/masks.py", "hw/Masks/masks.py"])
def test_the_file_in_the_katas_folder_wins(tmp_path, read, own):
    lay(tmp_path, {f"ada/{own}": "mine", "ada/aaa/masks.py": "other", "ada/masks.py": "third"})
    row = read()["ada", "masks"]
    assert main_of(row) == b"mine"
    assert len([note for note in row.notes if "left out" in note]) == 2


def test_an_untouched_stub_steps_back_even_in_the_katas_folder(tmp_path, katas, read):
    stub = katas[0].stub.read_text()
    lay(tmp_path, {f"ada/{OWN}": stub.replace("\n", "\r\n") + "\n\n", "ada/final/masks.py": "work"})
    row = read()["ada", "masks"]
    assert main_of(row) == b"work"
    assert row.notes == (f"ada/{OWN} was left out: an untouched stub",)


def test_a_stub_alone_is_handed_on(tmp_path, katas, read):
    stub = katas[0].stub.read_text()
    lay(tmp_path, {"ada/masks.py": stub, "bob/a/masks.py": stub, "bob/b/masks.py": stub + "\n"})
    rows = read()
    assert main_of(rows["ada", "masks"]) == stub.encode()
    assert rows["bob", "masks"].status == "error", "two stubs that differ in a line are two files"


def test_an_untouched_notebook_steps_back_behind_a_module(tmp_path, katas, read):
    lay(tmp_path, {"ada/masks.ipynb": notebook_text(katas[0]), "ada/masks.py": "work"})
    lay(tmp_path, {"bob/masks.ipynb": '{"cells": [{"cell_type": "code", "source": ["x = 1"]}]}'})
    lay(tmp_path, {"bob/masks.py": katas[0].stub.read_text()})
    rows = read()
    assert rows["ada", "masks"].bundle.main == "masks.py"
    assert rows["bob", "masks"].bundle.main == "masks.ipynb"


def test_only_what_lies_beside_the_module_goes_with_it(tmp_path, read):
    lay(
        tmp_path,
        {
            f"ada/{OWN}": "work",
            "ada/9.3-encoder-vs-decoder/masks/tools/deep.py": "d",
            "ada/9.3-encoder-vs-decoder/masks/words.bin": b"\x00\xff",
            "ada/9.3-encoder-vs-decoder/masks/old.zip": zipped({"x.py": "x"}),
            "ada/9.3-encoder-vs-decoder/masked-attention/masked_attention.py": "other",
            "ada/above.py": "a",
        },
    )
    assert content(read()["ada", "masks"]) == {
        "masks.py": b"work",
        "tools/deep.py": b"d",
        "words.bin": b"\x00\xff",
    }


def test_equal_work_has_an_equal_digest_wherever_it_lies(tmp_path, read):
    lay(
        tmp_path,
        {
            "ada/x/masks.py": "w",
            "ada/x/h.py": "h",
            "bob.zip": zipped({"h.py": "h", "y/z.txt": "", "masks.py": "w"}),
        },
    )
    lay(tmp_path, {"carol.zip": zipped({"q/h.py": "h", "q/masks.py": "w"})})
    rows = read()
    assert rows["ada", "masks"].bundle.digest == rows["carol", "masks"].bundle.digest
    assert rows["ada", "masks"].bundle.digest != rows["bob", "masks"].bundle.digest


def test_over_the_limit_only_python_goes_along_and_over_that_it_is_an_error(tmp_path, read):
    lay(
        tmp_path,
        {f"ada/data/{number}.txt": "" for number in range(MAX_BESIDE)}
        | {"ada/masks.py": "w", "ada/h.py": "h"},
    )
    lay(tmp_path, {f"bob/lib/m{number}.py": "" for number in range(MAX_BESIDE)} | {"bob/masks.py": "w"})
    lay(tmp_path, {"carol/masks.py": "w", "carol/big.bin": bytes(17 << 20), "carol/h.py": "h"})
    rows = read()
    assert content(rows["ada", "masks"]) == {"masks.py": b"w", "h.py": b"h"}
    assert "only the .py files" in rows["ada", "masks"].notes[0]
    assert rows["bob", "masks"].status == "error"
    assert f"at most {MAX_BESIDE} files" in rows["bob", "masks"].message
    assert content(rows["carol", "masks"]) == {"masks.py": b"w", "h.py": b"h"}


def test_a_module_that_is_too_large_is_an_error(tmp_path, read):
    lay(
        tmp_path,
        {"ada/masks.py": b"#" * MAX_SOURCE, "bob/masks.py": b"#" * (MAX_SOURCE + 1), "zoe/masks.py": b""},
    )
    rows = read()
    assert rows["ada", "masks"].status == "found"
    assert rows["bob", "masks"].status == "error"
    assert "at most 2.0 MB" in rows["bob", "masks"].message
    assert main_of(rows["zoe", "masks"]) == b"", "what an empty file is worth is the grader's affair"


def test_links_are_never_followed(tmp_path, read):
    secret = tmp_path / "secret"
    secret.mkdir()
    lay(secret, {"masks.py": "SECRET", "masked_attention.py": "SECRET"})
    root = lay(tmp_path / "class", {"ada/": "", "bob/masks.py": "w", "carol/": "", "zoe/x.py": ""})
    os.symlink(secret / "masks.py", root / "ada/masks.py")
    os.symlink(secret, root / "bob/lib")
    os.symlink(secret / "masks.py", root / "bob/helper.py")
    os.symlink(secret, root / "carol/9.3")
    os.symlink(secret, root / "dave")
    os.link(secret / "masked_attention.py", root / "zoe/masked_attention.py")
    rows = read(root)
    assert rows["ada", "masks"].status == "error"
    assert "symbolic link" in rows["ada", "masks"].message
    assert content(rows["bob", "masks"]) == {"masks.py": b"w"}
    assert len([note for note in rows["bob", "masks"].notes if "symbolic link" in note]) == 2
    assert rows["carol", "masks"].status == "missing"
    assert "carol/9.3 is a symbolic link" in rows["carol", "masks"].message
    assert rows["dave", "masks"].status == "error"
    assert "dave is a symbolic link" in rows["dave", "masks"].message


def test_what_is_no_ordinary_file(tmp_path, read):
    lay(tmp_path, {"ada/masks.py/i.txt": "x"})
    lay(tmp_path, {"bob/masked_attention.py": "w"})
    os.mkfifo(tmp_path / "bob/masks.py")
    rows = read()
    assert rows["ada", "masks"].status == "error"
    assert "is a folder" in rows["ada", "masks"].message
    assert rows["bob", "masks"].status == "error"
    assert "not a regular file" in rows["bob", "masks"].message
    assert rows["bob", "masked-attention"].status == "found"


@pytest.mark.skipif(os.name != "posix", reason="permissions")
def test_what_may_not_be_read_is_an_error_for_that_learner_alone(tmp_path, katas):
    lay(
        tmp_path,
        {
            "ada/masks.py": "w",
            "bob/9.3/masks.py": "w",
            "carol.zip": zipped({"masks.py": "w"}),
            "zoe/masks.py": "w",
        },
    )
    own = next(place for place in tmp_path.parents if place.name.startswith("pytest-of-"))
    for place in (tmp_path, *tmp_path.parents):
        if place == own or own in place.parents:
            place.chmod(0o755)
    (tmp_path / "ada/masks.py").chmod(0)
    (tmp_path / "bob/9.3").chmod(0)
    (tmp_path / "carol.zip").chmod(0)
    try:
        rows = _as_nobody(tmp_path, katas)
    finally:
        (tmp_path / "bob/9.3").chmod(0o755)
    assert {learner: status for learner, (status, _) in rows.items()} == {
        "ada": "error",
        "bob": "error",
        "carol": "error",
        "zoe": "found",
    }
    assert all("permission denied" in message for _, message in rows.values() if message)


def _as_nobody(root, katas):
    """Read the class without root's rights, in a child: root may read everything."""
    import json

    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            rows = {
                learner.learner: next((row.status, row.message) for row in learner.submissions(katas[:1]))
                for learner in find_learners(root, katas[:1]).learners
            }
            os.write(sending, json.dumps(rows).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(sending)
    with os.fdopen(receiving, "rb") as pipe:
        answer = pipe.read()
    assert os.waitpid(child, 0)[1] == 0
    return json.loads(answer)


def test_a_file_that_was_decided_goes_before_one_of_the_right_name(tmp_path, katas):
    lay(tmp_path, {"ada/masks.py": "x = 2", "ada/other.py": "x = 1"})
    (ada,) = find_learners(tmp_path, katas).learners
    rows = {
        name: replace(ada, taken={"masks": name}).submissions(katas)[0] for name in ("other.py", "gone.py")
    }
    assert main_of(rows["other.py"]) == b"x = 1"
    assert rows["other.py"].notes == (
        "ada/other.py was taken for masks.py, as was decided",
        "ada/masks.py was left out",
    )
    assert main_of(rows["gone.py"]) == b"x = 2"
    assert rows["gone.py"].notes == (
        "gone.py, which was decided to be the answer, is missing; ada/masks.py was taken instead",
    )
