"""Every layout that a class comes in."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from grader.errors import UsageError
from grader.instructor.lms.find import find_learners
from tests.submissions.conftest import content, lay, tarred, zipped

ADA, BOB = "ada = 1\n", "bob = 2\n"


def test_a_folder_for_each_learner_nested_anyhow(tmp_path, katas, read):
    lay(
        tmp_path,
        {
            "ada/9.3-encoder-vs-decoder/masks/masks.py": ADA,
            "bob/deep/down/masks.py": BOB,
            "bob/deep/down/helper.py": "h",
            "bob/masked_attention.ipynb": "{}",
            "carol/": "",
        },
    )
    rows = read()
    assert [learner.learner for learner in find_learners(tmp_path, katas).learners] == ["ada", "bob", "carol"]
    assert content(rows["ada", "masks"]) == {"masks.py": ADA.encode()}
    assert content(rows["bob", "masks"]) == {"masks.py": BOB.encode(), "helper.py": b"h"}
    assert rows["bob", "masked-attention"].bundle.main == "masked_attention.ipynb"
    assert rows["bob", "masks"].origin == "bob/deep/down/masks.py"
    assert {rows["carol", kata.slug].status for kata in katas} == {"missing"}
    assert "masks.py or masks.ipynb" in rows["carol", "masks"].message
    assert rows["ada", "masks"].submitted_at is None, "a file's own time says nothing"


def test_learners_come_in_natural_order(tmp_path, katas):
    lay(tmp_path, {f"learner {number}/masks.py": ADA for number in (10, 9, 1)})
    lay(tmp_path, {"Learner 2/masks.py": ADA})
    names = [learner.learner for learner in find_learners(tmp_path, katas).learners]
    assert names == ["learner 1", "Learner 2", "learner 9", "learner 10"]


@pytest.mark.parametrize("name", ["ada.zip", "ada.tar.gz", "ada.tgz", "ada.tar", "ADA.ZIP"])
def test_an_archive_for_each_learner(tmp_path, read, name):
    files = {"hw/masks.py": ADA, "hw/data/words.txt": "w", "notes.txt": "n"}
    packed = (
        zipped(files)
        if name.lower().endswith("zip")
        else tarred(files, "w" if name.endswith(".tar") else "w:gz")
    )
    lay(tmp_path, {name: packed, "bob/masks.py": BOB})
    rows = read()
    row = rows[name.split(".")[0], "masks"]
    assert content(row) == {"masks.py": ADA.encode(), "data/words.txt": b"w"}
    assert row.origin == f"{name} › hw/masks.py"


def test_archives_inside_a_learners_folder(tmp_path, read):
    packed = zipped({"masked_attention.py": ADA})
    lay(
        tmp_path,
        {"ada/week 1/masks.py": BOB, "ada/week 2.zip": packed, "ada/old.zip": zipped({"read.me": "r"})},
    )
    rows = read()
    assert content(rows["ada", "masked-attention"]) == {"masked_attention.py": ADA.encode()}
    assert content(rows["ada", "masks"]) == {"masks.py": BOB.encode()}
    assert rows["ada", "masked-attention"].origin == "ada/week 2.zip › masked_attention.py"


@pytest.mark.parametrize("given", ["course", "submitted"])
def test_nbgrader(tmp_path, read, given):
    stamp = "2026-02-02 15:58:23.948203 America/Los_Angeles"
    lay(
        tmp_path / "course",
        {
            "nbgrader_config.py": "c = get_config()",
            "source/hw1/masks.ipynb": "{}",
            "submitted/ada/hw1/masks.py": ADA,
            "submitted/ada/hw1/timestamp.txt": stamp,
            "submitted/bob/hw1/masks.py": BOB,
            "submitted/bob/hw1/inner/timestamp.txt": stamp,
            "submitted/carol/hw1/masks.zip": zipped(
                {"masks.py": ADA, "hw1/timestamp.txt": "2001-01-01 00:00:00"}
            ),
        },
    )
    rows = read(tmp_path / "course" if given == "course" else tmp_path / "course" / "submitted")
    assert {learner for learner, _ in rows} == {"ada", "bob", "carol"}
    assert rows["ada", "masks"].submitted_at == datetime(2026, 2, 2, 23, 58, 23, 948203, UTC)
    assert content(rows["ada", "masks"]) == {"masks.py": ADA.encode()}, "a new time makes no new content"
    assert content(rows["bob", "masks"])["masks.py"] == BOB.encode()
    assert "inner/timestamp.txt" in content(rows["bob", "masks"])
    assert rows["bob", "masks"].submitted_at is None, "only the assignment's own timestamp is nbgrader's"
    assert rows["carol", "masks"].submitted_at is None


ZONE = ZoneInfo("Asia/Kolkata")
HW1, HW2 = "2026-02-02 12:00:00 UTC", "2026-02-09 12:00:00 UTC"


def test_two_of_nbgraders_assignments_with_one_kata(tmp_path, katas, read):
    both = {"submitted/ada/hw1/masks.py": ADA, "submitted/ada/hw2/masks.py": BOB}
    times = {"submitted/ada/hw1/timestamp.txt": HW1, "submitted/ada/hw2/timestamp.txt": HW2}
    lay(tmp_path, {"nbgrader_config.py": "", **both, **times})
    row = read()["ada", "masks"]
    assert content(row)["masks.py"] == BOB.encode()
    assert row.submitted_at == datetime(2026, 2, 9, 12, tzinfo=UTC)
    left = "submitted/ada/hw1/masks.py was left out: submitted/ada/hw2/masks.py was handed in later"
    assert row.notes == (left,)

    (learner,) = find_learners(tmp_path, katas).learners
    first = replace(learner, assignments={"masks": "hw1"}).submissions(katas)[0]
    assert content(first)["masks.py"] == ADA.encode()
    assert first.submitted_at == datetime(2026, 2, 2, 12, tzinfo=UTC)
    assert "is in the assignment's folder" in first.notes[0]

    (tmp_path / "submitted/ada/hw1/timestamp.txt").unlink()
    row = read()["ada", "masks"]
    assert "two files could be the answer, and they differ" in row.message


def test_a_timestamp_of_a_learners_own_is_not_believed(tmp_path, read):
    lay(tmp_path, {"ada/hw1/masks.py": ADA, "ada/hw1/timestamp.txt": "2001-01-01 00:00:00 UTC"})
    assert read()["ada", "masks"].submitted_at is None


CANVAS = {
    "lovelaceada_1234_5001_masks-1.py": ADA,
    "lovelaceada_1234_4001_masks.py": "old",
    "lovelaceada_1234_5002_helper.py": "h",
    "roebob_LATE_77_5003_hw.zip": zipped({"masks.py": BOB}),
    "noecarol_78_5004_text.html": "<p>",
    "anon_x7Kq2_5005_masks.py": "anonymous",
}


@pytest.mark.parametrize("form", ["folder", "zip"])
def test_canvas(tmp_path, katas, read, form):
    root = lay(tmp_path / "hw", CANVAS) if form == "folder" else tmp_path / "submissions.zip"
    if form == "zip":
        root.write_bytes(zipped(CANVAS))
    rows = read(root)
    scan = find_learners(root, katas)
    assert scan.layout == "canvas"
    assert scan.notes == ()
    assert {learner for learner, _ in rows} == {"lovelaceada_1234", "roebob_77", "noecarol_78", "anon_x7Kq2"}
    row = rows["lovelaceada_1234", "masks"]
    assert content(row) == {"masks.py": ADA.encode(), "helper.py": b"h"}, (
        "nobody else's files, names restored"
    )
    assert any("4001" in note and "newer" in note for note in row.notes)
    assert content(rows["roebob_77", "masks"]) == {"masks.py": BOB.encode()}
    late = rows["roebob_77", "masks"]
    assert (late.submitted_at, late.time_source) == (None, "Canvas"), "late without a time"
    assert rows["noecarol_78", "masks"].status == "missing"
    assert {folder.learner: folder.ids for folder in scan.learners}["roebob_77"] == {"canvas": "77"}


@pytest.mark.parametrize("names", [("ada_9_3_masks", "bob_9_3_masks"), ("ada_1_3_masks", "bob_2_3_masks")])
def test_learners_archives_with_numbers_in_their_names_are_not_canvas(tmp_path, read, names):
    lay(tmp_path, {f"{name}.zip": zipped({"masks.py": ADA}) for name in names})
    assert {learner for learner, _ in read()} == set(names)


MOODLE = {
    "Ada Lovelace_12345_assignsubmission_file_/masks.py": ADA,
    "Ada Lovelace_12345_assignsubmission_onlinetext_/onlinetext.html": "<p>",
    "Bob Roe_12346_assignsubmission_file_masks.py": BOB,
    "Bob Roe_12346_assignsubmission_file_helper.py": "h",
    "Zoë_12347_assignsubmission_file/hw.zip": zipped({"x/masks.py": "zoe"}),
}


@pytest.mark.parametrize("form", ["folder", "zip", "tar.gz"])
def test_moodle(tmp_path, katas, read, form):
    root = tmp_path / ("class" if form == "folder" else f"class.{form}")
    if form == "folder":
        lay(root, MOODLE)
    else:
        root.write_bytes(zipped(MOODLE) if form == "zip" else tarred(MOODLE))
    rows = read(root)
    assert find_learners(root, katas).layout == "moodle"
    assert {learner for learner, _ in rows} == {"Ada Lovelace", "Bob Roe", "Zoë"}
    assert content(rows["Ada Lovelace", "masks"]) == {"masks.py": ADA.encode()}
    assert content(rows["Bob Roe", "masks"]) == {"masks.py": BOB.encode(), "helper.py": b"h"}
    assert content(rows["Zoë", "masks"]) == {"masks.py": b"zoe"}
    assert all(row.submitted_at is None for row in rows.values())


def test_two_moodle_learners_of_one_name_stay_two(tmp_path, read):
    lay(
        tmp_path,
        {"Ann Lee_1_assignsubmission_file_/masks.py": ADA, "Ann Lee_2_assignsubmission_file_/masks.py": BOB},
    )
    rows = read()
    assert content(rows["Ann Lee (1)", "masks"])["masks.py"] == ADA.encode()
    assert content(rows["Ann Lee (2)", "masks"])["masks.py"] == BOB.encode()
    assert "2 learners are called Ann Lee" in rows["Ann Lee (1)", "masks"].notes[0]


GRADESCOPE_METADATA = """---
submission_101:
  :submitters:
  - :name: Ada Lovelace
    :sid: '007'
    :email: ada@example.org
  :created_at: 2026-03-01 23:59:59.123456789 Z
  :score: 1.0
  :results:
    :tests:
    - :name: a test, not a person
    output: |
      submission_103:
        :submitters:
        - :name: Mallory
      :email: forged@example.org
submission_102:
  :submitters:
  - :name: "Bob \\"B\\" Roe"
    :sid: ''
    :email: bob@example.org
  - :name: Carol
    :email: carol@example.org
  :created_at: 2026-03-02 01:00:00.0 -08:00
"""
GRADESCOPE = {
    "submission_metadata.yml": GRADESCOPE_METADATA,
    "submission_101/masks.py": ADA,
    "submission_102/masks.py": BOB,
    "submission_103/masks.py": "nobody",
}


@pytest.mark.parametrize("form", ["folder", "zip", "wrapped folder", "wrapped zip"])
def test_gradescope(tmp_path, katas, read, form):
    files = {f"assignment_5_export/{name}": text for name, text in GRADESCOPE.items()}
    files = files if form.startswith("wrapped") else GRADESCOPE
    root = tmp_path / "export.zip"
    if form.endswith("zip"):
        root.write_bytes(zipped(files))
    else:
        root = lay(tmp_path / "export", files)
    rows = read(root)
    assert find_learners(root, katas).layout == "gradescope"
    assert {learner for learner, _ in rows} == {
        "ada@example.org",
        "bob@example.org",
        "carol@example.org",
        "submission_103",
    }
    ada = rows["ada@example.org", "masks"]
    assert content(ada) == {"masks.py": ADA.encode()}
    assert ada.submitted_at == datetime(2026, 3, 1, 23, 59, 59, tzinfo=UTC)
    for partner in ("bob", "carol"):
        assert content(rows[f"{partner}@example.org", "masks"]) == {"masks.py": BOB.encode()}
    assert rows["carol@example.org", "masks"].submitted_at == datetime(2026, 3, 2, 9, tzinfo=UTC)
    assert any('Bob "B" Roe' in note for note in rows["carol@example.org", "masks"].notes)
    assert any("does not say who" in note for note in rows["submission_103", "masks"].notes)
    ids = {folder.learner: folder.ids for folder in find_learners(root, katas).learners}["ada@example.org"]
    assert ids == {
        "name": "Ada Lovelace",
        "sid": "007",
        "email": "ada@example.org",
        "gradescope": "submission_101",
    }


def test_gradescope_without_its_metadata(tmp_path, katas, read):
    lay(tmp_path, {"submission_101/masks.py": ADA, "submission_102/masks.py": BOB})
    assert {learner for learner, _ in read()} == {"submission_101", "submission_102"}
    assert "submission_metadata.yml is missing" in find_learners(tmp_path, katas).notes[0]


BLACKBOARD = {
    "HW 9_ada_attempt_2026-01-02-03-04-05.txt": "Name: Ada Lovelace (ada)\nAssignment: HW 9\n",
    "HW 9_ada_attempt_2026-01-02-03-04-05_masks.py": "old",
    "HW 9_ada_attempt_2026-01-03-03-04-05.txt": "Name: Ada Lovelace (ada)\n",
    "HW 9_ada_attempt_2026-01-03-03-04-05_masks.py": ADA,
    "HW 9_ada_attempt_2026-01-03-03-04-05_helper.py": "h",
    "HW 9_bob_r_attempt_2026-01-02-03-04-05.txt": "Name: Bob Roe (bob_r)\r\nAssignment: HW 9\r\n",
    "HW 9_bob_r_attempt_2026-01-02-03-04-05_hw.zip": zipped({"masks.py": BOB}),
    "HW 9_carol_attempt_2026-01-02-03-04-05.txt": "Name: Carol (carol)\n",
}


@pytest.mark.parametrize("form", ["folder", "zip"])
def test_blackboard(tmp_path, katas, read, form):
    root = tmp_path / "gradebook_HW9.zip"
    if form == "zip":
        root.write_bytes(zipped(BLACKBOARD))
    else:
        root = lay(tmp_path / "hw", BLACKBOARD)
    rows = read(root)
    assert find_learners(root, katas).layout == "blackboard"
    assert {learner for learner, _ in rows} == {"ada", "bob_r", "carol"}
    assert content(rows["ada", "masks"]) == {"masks.py": ADA.encode(), "helper.py": b"h"}
    assert rows["ada", "masks"].submitted_at == datetime(2026, 1, 3, 3, 4, 5).astimezone()
    assert any("newest attempt" in note for note in rows["ada", "masks"].notes)
    assert content(rows["bob_r", "masks"]) == {"masks.py": BOB.encode()}
    assert rows["bob_r", "masks"].submitted_at == datetime(2026, 1, 2, 3, 4, 5).astimezone()
    assert rows["carol", "masks"].status == "missing"


BRIGHTSPACE = {
    "index.html": "<html>",
    "397063-2557369 - Mary-Ann Smith - Sep 24, 2024 926 PM/masks.py": ADA,
    "397063-2557001 - Mary-Ann Smith - Sep 23, 2024 1201 AM/masks.py": "old",
    "397064-2557370 - John - Doe - Sep 4, 2024 1205 PM/hw/masks.py": BOB,
}


@pytest.mark.parametrize("form", ["folder", "zip"])
def test_brightspace(tmp_path, katas, read, form):
    root = tmp_path / "Week 1 Download Sep 25, 2024 1000 AM.zip"
    if form == "zip":
        root.write_bytes(zipped(BRIGHTSPACE))
    else:
        root = lay(tmp_path / "hw", BRIGHTSPACE)
    rows = read(root)
    scan = find_learners(root, katas)
    assert (scan.layout, scan.notes) == ("brightspace", ())
    assert {learner for learner, _ in rows} == {"Mary-Ann Smith", "John - Doe"}
    mary = rows["Mary-Ann Smith", "masks"]
    assert content(mary) == {"masks.py": ADA.encode()}
    assert mary.submitted_at == datetime(2024, 9, 24, 21, 26).astimezone()
    assert any("Sep 23, 2024 1201 AM" in note for note in mary.notes)
    assert rows["John - Doe", "masks"].submitted_at == datetime(2024, 9, 4, 12, 5).astimezone()
    assert {one.learner: one.ids["brightspace"] for one in scan.learners} == {
        "Mary-Ann Smith": "397063",
        "John - Doe": "397064",
    }


def test_two_brightspace_learners_of_one_name_stay_two(tmp_path, read):
    lay(
        tmp_path,
        {
            "1-10 - Ann Lee - Sep 24, 2024 926 PM/masks.py": ADA,
            "2-11 - Ann Lee - Sep 24, 2024 927 PM/masks.py": BOB,
        },
    )
    rows = read()
    assert content(rows["Ann Lee (1)", "masks"])["masks.py"] == ADA.encode()
    assert content(rows["Ann Lee (2)", "masks"])["masks.py"] == BOB.encode()


def test_blackboard_says_of_somebody_else_called_ada_that_there_is_a_note_only(tmp_path, katas, read):
    notes = {f"HW_{who}_attempt_2026-01-02-03-04-05.txt": b"no file" for who in ("ada", "bob")}
    rows = read(lay(tmp_path / "hw", {"ada/masks.py": ADA.encode(), **notes}))
    assert rows.pop(("bob", "masks")).status == "missing"
    assert rows.pop(("bob", "masked-attention")).status == "missing"
    found = {learner: rows[learner, "masks"].status for learner, kata in rows if kata == "masks"}
    assert sorted(found.values()) == ["found", "missing"]
    assert all(learner.startswith("ada") for learner in found)


@pytest.mark.parametrize("form", ["zip", "tar.gz", "tar"])
@pytest.mark.parametrize("wrapper", ["", "class/", "submissions/"])
def test_the_class_as_one_archive(tmp_path, read, form, wrapper):
    files = {
        f"{wrapper}ada/9.3/masks.py": ADA,
        f"{wrapper}bob.zip": zipped({"masks.py": BOB}),
        "__MACOSX/x": "x",
    }
    root = tmp_path / f"class.{form}"
    root.write_bytes(zipped(files) if form == "zip" else tarred(files, "w" if form == "tar" else "w:gz"))
    rows = read(root)
    assert {learner for learner, _ in rows} == {"ada", "bob"}
    assert content(rows["ada", "masks"]) == {"masks.py": ADA.encode()}
    assert content(rows["bob", "masks"]) == {"masks.py": BOB.encode()}


@pytest.mark.parametrize(
    "files",
    [
        {"kata-progress.json": "{}", "notes/x.txt": "", "9.3-encoder-vs-decoder/masks/masks.py": ADA},
        {"9.3-encoder-vs-decoder/masks/masks.py": ADA, "9.1-self-attention/": ""},
        {"masks/masks.py": ADA},
        {"masks.py": ADA, "notes.txt": "n"},
    ],
)
def test_one_learners_folder_is_a_class_of_one(tmp_path, katas, read, files):
    rows = read(lay(tmp_path / "ada", files))
    assert {learner for learner, _ in rows} == {"ada"}
    assert content(rows["ada", "masks"])["masks.py"] == ADA.encode()
    assert rows["ada", "masks"].origin.startswith("ada/")


@pytest.mark.parametrize("top", ["", "ada/"])
def test_one_learners_archive_is_a_class_of_one(tmp_path, read, top):
    root = tmp_path / "ada.zip"
    root.write_bytes(zipped({f"{top}masks.py": ADA}))
    rows = read(root)
    assert content(rows["ada", "masks"]) == {"masks.py": ADA.encode()}
    assert rows["ada", "masks"].origin == f"ada.zip › {top}masks.py"


def test_loose_files_are_reported_and_no_learner(tmp_path, katas):
    lay(
        tmp_path,
        {"ada/masks.py": ADA, "masks.py": BOB, "readme.txt": "", "gradebook.sqlite": "", ".hidden": ""},
    )
    scan = find_learners(tmp_path, katas)
    assert [learner.learner for learner in scan.learners] == ["ada"]
    assert scan.notes == ("2 files are at the top and belong to no learner: masks.py, readme.txt",)


def test_what_no_learner_wrote_is_ignored(tmp_path, read):
    junk = {
        f"ada/{place}/masks.py": "junk"
        for place in (
            "__MACOSX",
            ".git",
            "__pycache__",
            ".ipynb_checkpoints",
            "node_modules",
            "venv",
            ".venv",
        )
    }
    lay(tmp_path, {**junk, "ada/env/pyvenv.cfg": "", "ada/env/masks.py": "junk", "ada/masks.py": ADA})
    lay(tmp_path, {"ada/._masks.py": "junk", "ada/.DS_Store": "junk"})
    everything = {name[4:]: "junk" for name in junk} | {
        "env/pyvenv.cfg": "",
        "env/masks.py": "j",
        "masks.py": ADA,
    }
    lay(tmp_path, {"bob.zip": zipped(everything)})
    rows = read()
    assert content(rows["ada", "masks"]) == {"masks.py": ADA.encode()}
    assert content(rows["bob", "masks"]) == {"masks.py": ADA.encode()}
    assert rows["ada", "masks"].notes == ()


def test_backups_of_a_workspace_are_ignored_and_other_backups_are_not(tmp_path, read):
    lay(
        tmp_path,
        {"ada/kata-progress.json": "{}", "ada/backups/masks/masks.py": "old", "ada/9.3/masks.py": ADA},
    )
    lay(tmp_path, {"bob/backups/masks.py": BOB})
    rows = read()
    assert content(rows["ada", "masks"]) == {"masks.py": ADA.encode()}
    assert content(rows["bob", "masks"]) == {"masks.py": BOB.encode()}


def test_nothing_of_a_submission_is_opened_by_the_scan(tmp_path, katas, monkeypatch):
    lay(tmp_path, {"ada/masks.py": ADA, "zoe.zip": b"not a zip at all"})
    scan = find_learners(tmp_path, katas)
    (tmp_path / "zoe.zip").write_bytes(zipped({"masks.py": BOB}))
    assert [row.status for row in scan.learners[1].submissions(katas)] == ["found", "missing"]
    Path(tmp_path / "ada/masks.py").write_text(BOB)
    assert content(scan.learners[0].submissions(katas)[0])["masks.py"] == BOB.encode()


def test_a_text_typed_into_canvas_is_a_learner_with_a_note(tmp_path, katas, read):
    lay(tmp_path, {"lovelaceada_1_11_masks.py": "x", "hoppergrace_LATE_2_text.html": "<p>see my repo</p>"})
    found = read()
    row = found["hoppergrace_2", "masks"]
    assert row.status == "missing"
    assert "a text was typed into Canvas; it is not read" in row.notes
    assert found["lovelaceada_1", "masks"].status == "found"


def test_what_wraps_a_class_is_no_learner(tmp_path, katas):
    lay(tmp_path, {"Submitted files/Ada Lovelace/masks.py": "x", "Submitted files/Bob/masks.py": "y"})
    assert [one.learner for one in find_learners(tmp_path, katas).learners] == ["Ada Lovelace", "Bob"]


def test_a_folder_that_may_be_the_class_or_a_learner_is_asked_about(tmp_path, katas):
    lay(tmp_path, {"class/submissions/ada/masks.py": "x", "class/submissions/bob/masks.py": "y"})
    with pytest.raises(UsageError, match="class is the only folder, and it holds only submissions"):
        find_learners(tmp_path, katas)
    assert len(find_learners(tmp_path / "class", katas).learners) == 2


def test_a_time_without_a_zone_is_the_course_s(tmp_path, katas):
    """A server that grades stands in UTC more often than not."""
    for name, files, learner, at in (
        ("hw", BLACKBOARD, "ada", datetime(2026, 1, 3, 3, 4, 5, tzinfo=ZONE)),
        ("d2l", BRIGHTSPACE, "Mary-Ann Smith", datetime(2024, 9, 24, 21, 26, tzinfo=ZONE)),
    ):
        found = {one.learner: one for one in find_learners(lay(tmp_path / name, files), katas).learners}
        told = replace(found[learner], zone=ZONE).submissions(katas)[0]
        assert told.submitted_at == at
        assert replace(found[learner], zone=UTC).submissions(katas)[0].submitted_at == at.replace(tzinfo=UTC)
