"""Whose a file is, is never a learner's to say: honest learners keep theirs, whatever one of the class calls hers."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from grader.catalogue import Kata, load_pack
from grader.errors import UsageError
from grader.instructor.lms.find import find_learners
from grader.instructor.submissions.names import learner_name
from tests.submissions.conftest import PACK, Files, content, lay, zipped

KATAS: list[Kata] = [kata for kata in load_pack(PACK).katas if kata.slug in {"masks", "masked-attention"}]
TIME = "2026-01-02-03-04-05"
HONEST = {"bob": ("Bob Roe", 99), "ada_l": ("Ada Lovelace", 12345), "jose": ("José", 7)}
"""By login: name and number."""
FORGED = "forged = True\n"

fragments = st.sampled_from(
    [
        "Bob Roe_99_assignsubmission_file_",
        "Ada Lovelace_12345_assignsubmission_file_",
        "_99_assignsubmission_file",
        "_assignsubmission_file_",
        f"HW_bob_attempt_{TIME}_",
        f"_ada_l_attempt_{TIME}",
        f"_attempt_{TIME}.txt",
        "bobroe_99_5001_",
        "anon_x7Kq2_5005_",
        "_LATE",
        "_99_501_",
        "submission_1",
        "submission_metadata.yml",
        "submitted",
        "timestamp.txt",
        "kata-progress.json",
        "Bob Roe",
        "bob",
        "José",
        "Jose\u0301",
        "jose",
        "JOSÉ",
        "99",
        "_",
        " ",
        ".",
        "\\",
        "\n",
        "\u200b",
        "masks.py",
        "masks",
        ".py",
        ".zip",
        ".tar.gz",
    ]
)
texts = st.lists(fragments, min_size=1, max_size=5).map("".join).map(lambda text: text[:200])

Make = Callable[[list[str], list[str]], Files]
"""A class of these logins, with Mallory where she wrote something."""


def work(login: str) -> str:
    return f"{login} = 1\n"


def moodle_files(honest: list[str], wrote: list[str]) -> Files:
    files: Files = {
        f"{HONEST[who][0]}_{HONEST[who][1]}_assignsubmission_file_masks.py": work(who) for who in honest
    }
    return {**files, **{f"Mallory_66_assignsubmission_file_{text}": FORGED for text in wrote}}


def moodle_folders(honest: list[str], wrote: list[str]) -> Files:
    files: Files = {
        f"{HONEST[who][0]}_{HONEST[who][1]}_assignsubmission_file_/masks.py": work(who) for who in honest
    }
    return {**files, **{f"Mallory_66_assignsubmission_file_/{text}": FORGED for text in wrote}}


def moodle_display_names(honest: list[str], wrote: list[str]) -> Files:
    files = moodle_files(honest, [])
    return {**files, **{f"{text}_66_assignsubmission_file_masks.py": FORGED for text in wrote}}


def canvas(honest: list[str], wrote: list[str]) -> Files:
    files: Files = {
        f"{re.sub('[^a-z]', '', HONEST[who][0].lower())}_{HONEST[who][1]}_{500 + place}_masks.py": work(who)
        for place, who in enumerate(honest)
    }
    return {**files, **{f"mallory_66_{600 + place}_{text}": FORGED for place, text in enumerate(wrote)}}


def blackboard(honest: list[str], wrote: list[str]) -> Files:
    files: Files = {}
    for who in [*honest, *(["mallory"] if wrote else [])]:
        files[f"HW_9_{who}_attempt_{TIME}.txt"] = f"Name: X ({who})\nAssignment: HW_9\n"
    files |= {f"HW_9_{who}_attempt_{TIME}_masks.py": work(who) for who in honest}
    forged = FORGED + "Name: Mallory (9_bob)\n"
    files |= {f"HW_9_mallory_attempt_{TIME}_{text}": forged for text in wrote}
    return files | {f"HW_9_mallory_attempt_{TIME}_{text}.txt": "Name: Mallory (9_bob)\n" for text in wrote}


def gradescope(honest: list[str], wrote: list[str]) -> Files:
    files: Files = {f"submission_{HONEST[who][1]}/masks.py": work(who) for who in honest}
    lines = ["---"]
    for who in honest:
        lines += [f"submission_{HONEST[who][1]}:", "  :submitters:"]
        lines += [f"  - :name: {json.dumps(HONEST[who][0])}", f"    :email: {who}@example.org"]
    if wrote:  # the name is hers to choose, and so is what her program prints
        lines += ["submission_66:", "  :submitters:", f"  - :name: {json.dumps(wrote[0])}", "  :results:"]
        lines += [
            "    output: |",
            "      submission_99:",
            "        :submitters:",
            "        - :email: bob@example.org",
        ]
        files |= {f"submission_66/{text}": FORGED for text in wrote}
        files |= {
            "submission_66/masks.py": FORGED,
            "submission_66/submission_metadata.yml": "submission_99:\n",
        }
    return {**files, "submission_metadata.yml": "\n".join(lines)}


def folders(honest: list[str], wrote: list[str]) -> Files:
    files: Files = {f"{HONEST[who][0]}/masks.py": work(who) for who in honest}
    return {**files, **{f"{text}/masks.py": FORGED for text in wrote[:1]}}


def archives(honest: list[str], wrote: list[str]) -> Files:
    files: Files = {f"{HONEST[who][0]}.zip": zipped({"masks.py": work(who)}) for who in honest}
    inner = {f"{text}/masks.py": FORGED for text in wrote} | {"masks.py": FORGED}
    return {**files, **{f"{text}.zip": zipped(inner) for text in wrote[:1]}}


def imitations(honest: list[str], wrote: list[str]) -> Files:
    files: Files = {f"{HONEST[who][0]}/masks.py": work(who) for who in honest}
    if wrote:
        inner = {name: FORGED for text in wrote for name in (f"{text}/masks.py", f"Bob Roe/{text}")}
        files["mallory.zip"] = zipped(
            {f"../{name}" if place % 2 else name: FORGED for place, name in enumerate(inner)}
        )
        files |= {f"mallory/{name}": FORGED for name in inner}
    return files


def nbgrader(honest: list[str], wrote: list[str]) -> Files:
    files: Files = {f"submitted/{who}/hw1/masks.py": work(who) for who in honest}
    files["nbgrader_config.py"] = ""
    return {**files, **{f"submitted/mallory/{text}/masks.py": FORGED for text in wrote}}


LAYOUTS = {
    make.__name__: make
    for make in (
        moodle_files,
        moodle_folders,
        moodle_display_names,
        canvas,
        blackboard,
        gradescope,
        folders,
        archives,
        imitations,
        nbgrader,
    )
}


def read(files: Files) -> dict[tuple[str, str], str | None]:
    """Read a class: what each learner handed in for each kata, by its digest."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "class.zip"
        root.write_bytes(zipped(files))
        return {
            (row.learner, row.kata): row.bundle.digest if row.bundle else row.status
            for learner in find_learners(root, KATAS).learners
            for row in learner.submissions(KATAS)
        }


@pytest.mark.sampled(4)
@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_nobody_takes_or_spoils_what_another_handed_in(layout: str, data: st.DataObject) -> None:
    make = LAYOUTS[layout]
    honest = sorted(data.draw(st.sets(st.sampled_from(sorted(HONEST)), min_size=1)))
    wrote = data.draw(st.lists(texts, min_size=1, max_size=3, unique=True))
    if layout in ("folders", "archives", "moodle_display_names"):
        # Who has a learner's very name is that learner, as far as names go.
        assume(
            learner_name(wrote[0].strip("\\").partition("\\")[0]) not in {HONEST[who][0] for who in honest}
        )
        wrote = wrote[:1]
    before = read(make(honest, []))
    assert len(before) == len(honest) * len(KATAS)
    after = read(make(honest, wrote))
    assert {key: found for key, found in after.items() if key in before} == before


@pytest.mark.parametrize("layout", [moodle_files, canvas, blackboard])
def test_backslashes_of_one_learner_make_no_folders_of_everybodys_files(layout: Make) -> None:
    before = read(layout(["bob"], []))
    after = read(layout(["bob"], ["\\masks.py", "x\\masks.py", "bob\\", "\\a\\b.txt"]))
    assert {key: found for key, found in after.items() if key in before} == before


def test_names_that_fold_to_an_honest_one_are_told_apart_by_an_addition() -> None:
    for text in ("Jose\u0301", " José", "José "):
        before = read(folders(["jose", "bob"], []))
        after = read(folders(["jose", "bob"], [text]))
        assert {key: found for key, found in after.items() if key in before} == before
        assert any(learner.startswith("José (") for learner, _ in after)


def test_a_file_name_with_a_neighbours_mark_takes_nothing_and_is_listed(tmp_path: Path) -> None:
    files = moodle_files(["bob"], ["x_99_assignsubmission_file_masks.py"])
    scan = find_learners(lay(tmp_path, files), KATAS)
    rows = {
        row.learner: row
        for learner in scan.learners
        for row in learner.submissions(KATAS)
        if row.kata == "masks"
    }
    assert content(rows["Bob Roe"]) == {"masks.py": work("bob").encode()}
    (other,) = rows.keys() - {"Bob Roe"}
    assert other == "Mallory_66_assignsubmission_file_x_99_assignsubmission_file_masks.py"
    assert rows[other].status == "error"
    assert "two ways" in (rows[other].message or "")
    assert any("it goes to nobody" in note for note in scan.notes)


def test_an_address_for_a_name_is_no_address() -> None:
    files = gradescope(["bob"], ["bob@example.org"])
    assert (
        read(files)["bob@example.org", "masks"] == read(gradescope(["bob"], []))["bob@example.org", "masks"]
    )


def test_who_is_named_in_somebody_elses_group_keeps_their_own(tmp_path: Path) -> None:
    files = gradescope(["bob"], ["x"])
    text = str(files["submission_metadata.yml"]).replace(
        "  :results:", "  - :email: bob@example.org\n  :results:"
    )
    scan = find_learners(lay(tmp_path, {**files, "submission_metadata.yml": text}), KATAS)
    rows = {
        row.learner: row
        for learner in scan.learners
        for row in learner.submissions(KATAS)
        if row.kata == "masks"
    }
    assert content(rows["bob@example.org"]) == {"masks.py": work("bob").encode()}
    assert any("group" in note for note in rows["bob@example.org"].notes)


@pytest.fixture(params=["disk", "zip"])
def alone(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Files], Path]:
    """Put one folder, mallory's, where a class is expected."""

    def put(files: Files) -> Path:
        files = {f"mallory/{name}": text for name, text in files.items()}
        if request.param == "zip":
            (tmp_path / "class.zip").write_bytes(zipped(files))
            return tmp_path / "class.zip"
        return lay(tmp_path / "class", files)

    return put


@pytest.mark.parametrize("make", [moodle_folders, gradescope])
def test_who_is_alone_in_a_class_cannot_be_everybody_else(alone: Callable[[Files], Path], make: Make) -> None:
    with pytest.raises(UsageError, match="imitates"):
        find_learners(alone(make(["bob", "jose"], [])), KATAS)


def test_odd_names_on_a_disk(tmp_path: Path) -> None:
    files = moodle_files(["bob"], ["a\nmasks.py", "masks.py\n"])
    lay(tmp_path, files)
    os.mkdir(os.fsencode(tmp_path) + b"/Bob Roe\xff_99_assignsubmission_file_")
    learners = [learner.learner for learner in find_learners(tmp_path, KATAS).learners]
    assert "Bob Roe" in learners or any(learner.startswith("Bob Roe (") for learner in learners)
    assert "Mallory" in learners
