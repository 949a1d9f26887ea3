"""Learners' names: anything at all comes in, an identity that is unique, printable and stable comes out."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.catalogue import load_pack
from grader.instructor.lms.find import find_learners
from grader.instructor.submissions.names import ignored_folder, learner_name, module_rank, natural_key
from tests.submissions.conftest import PACK, content, lay, zipped


@pytest.mark.parametrize(
    ("folder", "learner"),
    [
        ("Ada Lovelace", "Ada Lovelace"),
        ("🎓 Zoë 👩‍🚀", "🎓 Zoë 👩‍🚀"),
        ("李小龍", "李小龍"),
        (" padded ", "padded"),
        ("evil\u202eyp.ada", "evil\\u202eyp.ada"),
        ("red\x1b[31m", "red\\x1b[31m"),
        ("two\nlines", "two\\nlines"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("a\\..\\up", "a_.._up"),
        ("=1+1", "=1+1"),
        ("Jose\u0301", "José"),
    ],
)
def test_a_name_is_kept_as_far_as_it_can_be_shown(tmp_path, read, folder, learner):
    lay(tmp_path, {f"{folder}/masks.py": "w"})
    rows = read()
    assert content(rows[learner, "masks"]) == {"masks.py": b"w"}


def test_a_name_that_is_no_text(tmp_path, read):
    os.mkdir(os.fsencode(tmp_path) + b"/ad\xff")
    (tmp_path / "ad\udcff" / "masks.py").write_text("w")
    row = read()["ad\\udcff", "masks"]
    assert content(row) == {"masks.py": b"w"}
    assert msgspec.json.encode(row)


@pytest.mark.parametrize("count", [128, 129, 300])
def test_a_very_long_name(tmp_path, read, count):
    names = ["n" * (count - 1) + "a", "n" * (count - 1) + "b"]
    (tmp_path / "class.zip").write_bytes(zipped({f"{name}/masks.py": name for name in names}))
    rows = read(tmp_path / "class.zip")
    learners = {learner for learner, _ in rows}
    assert len(learners) == 2
    assert {len(learner) for learner in learners} == {128}
    assert {content(row)["masks.py"].decode() for (_, kata), row in rows.items() if kata == "masks"} == set(
        names
    )


def test_names_that_climb_are_no_learners_and_never_read(tmp_path, katas, read):
    root = tmp_path / "class.zip"
    root.write_bytes(zipped({"../../masks.py": "evil", "../bob/masks.py": "evil", "ada/masks.py": "w"}))
    rows = read(root)
    assert content(rows["ada", "masks"]) == {"masks.py": b"w"}
    assert rows["bob", "masks"].status == "error"
    assert "leads out of it" in rows["bob", "masks"].message
    assert "masks.py" in find_learners(root, katas).notes[0]


def test_names_that_differ_by_case_stay_apart_and_are_told(tmp_path, read):
    (tmp_path / "class.zip").write_bytes(zipped({"Ada/masks.py": "1", "ada/masks.py": "2"}))
    rows = read(tmp_path / "class.zip")
    assert content(rows["Ada", "masks"]) == {"masks.py": b"1"}
    assert content(rows["ada", "masks"]) == {"masks.py": b"2"}
    assert "differs in case only: ada" in rows["Ada", "masks"].notes[0]


def test_one_name_in_two_encodings_is_one_learner(tmp_path, read):
    composed, split = "José", unicodedata.normalize("NFD", "José")
    lay(tmp_path, {f"{composed}/masks.py": "1", f"{split}/masked_attention.py": "2"})
    rows = read()
    assert {learner for learner, _ in rows} == {"José"}
    assert content(rows["José", "masks"]) == {"masks.py": b"1"}
    assert content(rows["José", "masked-attention"]) == {"masked_attention.py": b"2"}
    assert rows["José", "masks"].notes[0] == "came in under two encodings of one name, read together"


def test_a_name_in_another_encoding_does_not_spoil_the_work_of_whose_it_is(tmp_path, read):
    lay(tmp_path, {"José/masks.py": "1", f"{unicodedata.normalize('NFD', 'José')}/masks.py": "2"})
    rows = read()
    assert content(rows["José", "masks"]) == {"masks.py": b"1"}
    (other,) = (row for (learner, kata), row in rows.items() if kata == "masks" and "(" in learner)
    assert content(other) == {"masks.py": b"2"}
    assert "2 learners are called José" in other.notes[0]


def test_names_that_differ_in_blanks_stay_apart_and_are_told(tmp_path, read):
    lay(tmp_path, {"ada/masks.py": "3", " ada/masks.py": "4"})
    rows = read()
    assert content(rows["ada", "masks"]) == {"masks.py": b"3"}
    (other,) = (row for (learner, kata), row in rows.items() if kata == "masks" and "(" in learner)
    assert content(other) == {"masks.py": b"4"}
    assert "2 learners are called ada" in other.notes[0]


def test_a_folder_and_an_archive_of_one_name_are_one_learner(tmp_path, read):
    lay(tmp_path, {"ada/masks.py": "1", "ada.zip": zipped({"masked_attention.py": "2"})})
    lay(tmp_path, {"bob.zip": zipped({"masks.py": "1"}), "bob.tar": b"broken"})
    lay(tmp_path, {"zoe/masks.py": "1", "zoe.zip": zipped({"masks.py": "2"})})
    rows = read()
    assert len(rows) == 6
    assert content(rows["ada", "masks"]) == {"masks.py": b"1"}
    assert content(rows["ada", "masked-attention"]) == {"masked_attention.py": b"2"}
    assert rows["ada", "masks"].notes == ("handed in more than once, read together: ada and ada.zip",)
    assert rows["bob", "masks"].status == "found"
    assert any("bob.tar" in note for note in rows["bob", "masks"].notes)
    assert rows["zoe", "masks"].status == "error"
    assert "zoe.zip › masks.py and zoe/masks.py" in rows["zoe", "masks"].message


any_name = st.text(min_size=1, max_size=400)


@given(name=any_name)
def test_an_identity_is_printable_short_and_its_own_identity(name):
    made = learner_name(name)
    assert 0 < len(made) <= 128
    assert made == made.strip()
    assert made not in {".", ".."}
    assert not set("/\\\n\r\0\x1b\u202e") & set(made) - {"\\"}
    assert made.encode()
    assert unicodedata.is_normalized("NFC", made) or learner_name(unicodedata.normalize("NFD", name))


# What can be the name of a folder on this machine, or stand in a zip.
folder_name = st.text(
    st.characters(exclude_characters="/\\\0", exclude_categories=("Cs",)), min_size=1, max_size=60
).filter(lambda name: name not in {".", ".."} and len(name.encode()) < 200)
KATAS = [kata for kata in load_pack(PACK).katas if kata.slug == "masks"]


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(names=st.lists(folder_name, min_size=1, max_size=6, unique=True))
def test_every_folder_is_one_learner_with_a_unique_identity(names, tmp_path_factory):
    root = tmp_path_factory.mktemp("class")
    for name in names:
        (root / name).mkdir()
        (root / name / "masks.py").write_text(name)
    (root / "anchor").mkdir(exist_ok=True)
    (root / "anchor" / "masks.py").write_text("anchor")
    seen = {name for name in {*names, "anchor"} if not ignored_folder(name)}
    scan = find_learners(root, KATAS)
    assert len({learner.learner for learner in scan.learners}) == len(scan.learners) == len(seen)
    found = [learner.submissions(KATAS)[0] for learner in scan.learners]
    assert {content(row)["masks.py"].decode() for row in found} == seen
    again = find_learners(root, KATAS)
    assert [learner.learner for learner in again.learners] == [learner.learner for learner in scan.learners]
    msgspec.json.encode(found)


@given(names=st.lists(st.text(max_size=20), max_size=20))
def test_the_natural_order_is_an_order(names):
    assert sorted(sorted(names, key=natural_key), key=natural_key) == sorted(names, key=natural_key)
    assert sorted(reversed(names), key=natural_key) == sorted(names, key=natural_key)


@given(stem=st.text(max_size=30))
def test_any_file_name_has_a_rank_or_none(stem):
    assert module_rank(f"{stem}.py", "masks") in {None, 0, 1, 2}
    assert module_rank(f"{stem}.txt", "masks") is None


def test_the_packs_own_modules_are_told_apart():
    modules = [kata.module for kata in load_pack(PACK).katas]
    for module in modules:
        assert [other for other in modules if module_rank(f"{module} (2).py", other) is not None] == [module]
    assert Path(f"{modules[0]}.py").suffix == ".py"
