"""Every download that a class comes in, made by code: whose the files are, when they came in, and what is not taken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from grader.catalogue import Kata
from grader.errors import UsageError
from grader.instructor.lms.find import find_learners
from tests.submissions.conftest import Files, lay, tarred, zipped

BERLIN = ZoneInfo("Europe/Berlin")
SEVEN_Z, RAR = b"7z\xbc\xaf\x27\x1c" + bytes(40), b"Rar!\x1a\x07\x01\x00" + bytes(40)


@dataclass(frozen=True)
class Download:
    """One kind of download, and what is to be read from it."""

    layout: str
    files: Files
    works: dict[str, str]
    """By learner, what answers `masks`; a learner with nothing is missing."""
    times: dict[str, datetime] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    """Parts of what is said of the whole download or of a row."""
    late: tuple[str, ...] = ()
    """Whom the system marks late without a time."""
    file: str = ""
    """What its archive is called; else it is tried as a folder and as a zip of that folder."""


def at(hour: int, *, zone: ZoneInfo = BERLIN) -> datetime:
    return datetime(2026, 1, 2, hour, tzinfo=zone)


ADA, GRACE = "Lovelace_Ada_ada01_12345", "Hopper_Grace_gh02_12346"
MOODLE = "assignsubmission_file_"
STAMP = "2026-01-02 12:00:00 Europe/Berlin"

DOWNLOADS = {
    "canvas": Download(
        "canvas",
        {
            "lovelaceada_1234_501_masks-1.py": "ada", "lovelaceada_1234_401_masks.py": "old",
            "hoppergrace_LATE_77_502_hw.zip": zipped({"x/masks.py": "grace"}), "roebob_78_text.html": "<p>",
        },
        {"lovelaceada_1234": "ada", "hoppergrace_77": "grace", "roebob_78": ""},
        late=("hoppergrace_77",),
        notes=("is newer", "a text was typed into Canvas"),
    ),
    "moodle, files and text": Download(
        "moodle",
        {
            f"Ada Lovelace_11_{MOODLE}/masks.py": "ada", f"Grace Hopper_12_{MOODLE}masks.py": "grace",
            "Bob Roe_13_assignsubmission_onlinetext_/onlinetext.html": "<p>",
        },
        {"Ada Lovelace": "ada", "Grace Hopper": "grace", "Bob Roe": ""},
        notes=("a text was typed into Moodle",),
    ),
    "moodle, groups": Download(
        "moodle",
        {f"Team 1-Ada Lovelace_11_{MOODLE}/masks.py": "team", f"Team 1-Grace Hopper_12_{MOODLE}/masks.py": "team"},
        {"Team 1-Ada Lovelace": "team", "Team 1-Grace Hopper": "team"},
    ),
    "blackboard": Download(
        "blackboard",
        {
            "HW1_ada_attempt_2026-01-02-11-00-00_masks.py": "old",
            "HW1_ada_attempt_2026-01-02-12-00-00_masks.py": "ada",
            "HW1_ada_attempt_2026-01-02-12-00-00.txt": "Name: Ada Lovelace (ada)\n",
            "HW1_grace_attempt_2026-01-02-09-00-00_masks.py": "grace",
        },
        {"ada": "ada", "grace": "grace"},
        {"ada": at(12), "grace": at(9)},
        ("only the newest attempt counts",),
    ),
    "brightspace": Download(
        "brightspace",
        {
            "397063-11 - Ada Lovelace - Jan 2, 2026 1200 PM/masks.py": "ada",
            "397063-10 - Ada Lovelace - Jan 2, 2026 900 AM/masks.py": "old",
            "397064-12 - Grace Hopper - Jan 2, 2026 900 AM/masks.py": "grace", "index.html": "<p>",
        },
        {"Ada Lovelace": "ada", "Grace Hopper": "grace"},
        {"Ada Lovelace": at(12), "Grace Hopper": at(9)},
        ("only the newest hand-in counts",),
    ),
    "gradescope": Download(
        "gradescope",
        {
            "assignment_5_export/submission_metadata.yml": (
                "---\nsubmission_1:\n  :submitters:\n  - :name: Ada\n    :email: ada@example.org\n"
                "  :created_at: 2026-01-02 12:00:00 +01:00\nsubmission_2:\n  :submitters:\n  - :name: Grace\n"
                "    :email: gh@example.org\n"
            ),
            "assignment_5_export/submission_1/masks.py": "ada", "assignment_5_export/submission_2/masks.py": "grace",
        },
        {"ada@example.org": "ada", "gh@example.org": "grace"},
        {"ada@example.org": at(12)},
    ),
    "github classroom": Download(
        "folders",
        {"week1-submissions/week1-ada/masks.py": "ada", "week1-submissions/week1-grace/src/masks.py": "grace"},
        {"week1-ada": "ada", "week1-grace": "grace"},
    ),
    "classroom 50": Download(
        "folders",
        {
            "cs-week1_submissions_2026_05_09_T_14_30_45/cs-week1-ada/masks.py": "ada",
            "cs-week1_submissions_2026_05_09_T_14_30_45/cs-week1-ada/result.json": "{}",
            "cs-week1_submissions_2026_05_09_T_14_30_45/cs-week1-grace/masks.py": "grace",
            "cs-week1_submissions_2026_05_09_T_14_30_45/scores.csv": "",
        },
        {"cs-week1-ada": "ada", "cs-week1-grace": "grace"},
    ),
    "nbgrader": Download(
        "nbgrader",
        {
            "nbgrader_config.py": "", "source/hw1/masks.ipynb": "{}", "submitted/ada/hw1/masks.py": "ada",
            "submitted/ada/hw1/timestamp.txt": STAMP, "submitted/grace/hw1/masks.py": "grace",
        },
        {"ada": "ada", "grace": "grace"},
        {"ada": at(12)},
    ),
    "ilias, persons": Download(
        "ilias",
        {
            f"Blatt_01/Abgaben/{ADA}/masks.py": "ada", f"Blatt_01/Abgaben/{GRACE}/Late Submission - masks.py": "grace",
            "Blatt_01/Abgaben/Roe_Bob_bob_r_3_12347/masks.py": "bob", "Blatt_01/Blatt_01.xlsx": "x",
        },
        {"ada01": "ada", "gh02": "grace", "bob_r_3": "bob"},
        late=("gh02",),
    ),
    "ilias, teams": Download(
        "ilias",
        {
            f"Blatt_01/Abgaben/Team 77/{ADA}/masks.py": "ada", f"Blatt_01/Abgaben/Team 77/{GRACE}/note.txt": "",
            "Blatt_01/Abgaben/Team 78/Roe_Bob_bob3_12347/answer/masks.py": "bob",
        },
        {"ada01": "ada", "gh02": "", "bob3": "bob"},
        notes=("handed in for Team 77",),
    ),
    "sakai": Download(
        "sakai",
        {
            "Week 1/Lovelace, Ada(ada01)/Submission attachment(s)/masks.py": "ada",
            "Week 1/Lovelace, Ada(ada01)/timestamp.txt": "20260102110000000",
            "Week 1/Lovelace, Ada(ada01)/Feedback Attachment(s)/masks.py": "the tutor's",
            "Week 1/Hopper, Grace(gh02)/Submission attachment(s)/hw/masks.py": "grace",
            "Week 1/Roe, Bob(bob3)/Roe, Bob(bob3)_submissionText.html": "<p>", "Week 1/grades.csv": "",
        },
        {"ada01": "ada", "gh02": "grace", "bob3": ""},
        {"ada01": at(12)},
        ("a text was typed into Sakai",),
    ),
    "teams": Download(
        "teams",
        {
            "Submitted files/Ada Lovelace/Week 1/Version 1/masks.py": "old",
            "Submitted files/Ada Lovelace/Week 1/Version 2/masks.py": "ada",
            "Submitted files/Ada Lovelace/Week 1/Version 10/masks.py": "newest",
            "Submitted files/Grace Hopper/Week 1/Version 1/masks.py": "grace",
            "Working files/Grace Hopper/Week 1/masks.py": "a draft", "Working files/Bob/Week 1/masks.py": "a draft",
        },
        {"Ada Lovelace": "newest", "Grace Hopper": "grace"},
        notes=("holds drafts", "only Version 10 of Week 1 counts; left out: Version 2, Version 1"),
    ),
    "teams, in its library": Download(
        "teams",
        {
            "Class 1A - Student Work/Submitted files/Ada Lovelace/Week 1/masks.py": "ada",
            "Class 1A - Student Work/Working files/Ada Lovelace/Week 1/masks.py": "a draft",
        },
        {"Ada Lovelace": "ada"},
    ),
    "openolat": Download(
        "openolat",
        {
            "gta_Week_1/Lovelace_Ada_ada01/1_task/masks.py": "the task",
            "gta_Week_1/Lovelace_Ada_ada01/2_submissions/masks.py": "old",
            "gta_Week_1/Lovelace_Ada_ada01/3_corrections/masks.py": "the tutor's",
            "gta_Week_1/Lovelace_Ada_ada01/4_revisions_1/masks.py": "ada",
            "gta_Week_1/van_der_Hopper_Grace_gh_02/2_submissions/masks.py": "grace",
            "gta_Week_1/Group_A_123/2_submissions/masks.py": "group",
        },
        {"ada01": "ada", "gh_02": "grace", "Group_A_123": "group"},
        notes=("only 4_revisions_1 counts; left out: 2_submissions",),
    ),
    "google classroom": Download(
        "google",
        {
            "Ada Lovelace - masks.py": "ada", "Grace Hopper - masks.py": "grace", "Grace Hopper - helper.py": "h",
            "IMG_2041.jpg": "",
        },
        {"Ada Lovelace": "ada", "Grace Hopper": "grace"},
        notes=("belongs to no learner: IMG_2041.jpg",),
    ),
    "folders": Download(
        "folders", {"ada/week 1/masks.py": "ada", "grace/masks.py": "grace"}, {"ada": "ada", "grace": "grace"}
    ),
    "archives with the wrong ending": Download(
        "folders",
        {
            "ada.zip": tarred({"masks.py": "ada"}), "grace.tgz": zipped({"masks.py": "grace"}),
            "bob.tar": tarred({"masks.py": "bob"}), "eve.rar": zipped({"masks.py": "eve"}),
            "joe.tar.gz": tarred({"masks.py": "joe"}, "w"),
        },
        {"ada": "ada", "grace": "grace", "bob": "bob", "eve": "eve", "joe": "joe"},
    ),
    "archives that are not opened": Download(
        "folders",
        {"ada.7z": SEVEN_Z, "bob.zip": RAR, "grace/masks.py": "grace", "joe/hw.zip": SEVEN_Z},
        {"ada": "!7z archive", "bob": "!RAR archive", "joe": "!7z archive", "grace": "grace"},
    ),
    "the class's folder, zipped": Download(
        "folders",
        {"Week 1/ada/masks.py": "ada", "Week 1/grace/masks.py": "grace"},
        {"ada": "ada", "grace": "grace"},
        file="week01.zip",
    ),
    "the class's folder, zipped twice": Download(
        "folders",
        {"week01.zip": zipped({"Week 1/ada/masks.py": "ada", "Week 1/grace/masks.py": "grace"})},
        {"ada": "ada", "grace": "grace"},
        file="week 1.zip",
    ),
    "a zip for each learner in a zip": Download(
        "folders",
        {f"week01/{name}.zip": zipped({"masks.py": name}) for name in ("ada", "grace")},
        {"ada": "ada", "grace": "grace"},
        file="week01.zip",
    ),
    "a class with another ending": Download(
        "folders",
        {"ada/masks.py": "ada", "grace/masks.py": "grace"},
        {"ada": "ada", "grace": "grace"},
        file="class.tgz",
    ),
}  # fmt: skip


def roots(download: Download, folder: Path) -> list[Path]:
    """Return the download as what people name: a folder, an archive, or a folder around either."""
    if download.file:
        (folder / download.file).write_bytes(zipped(download.files))
        return [folder / download.file]
    (folder / "class.zip").write_bytes(zipped(download.files))
    return [lay(folder / "class", download.files), folder / "class.zip"]


@pytest.mark.parametrize("name", DOWNLOADS)
def test_a_download(tmp_path: Path, katas: list[Kata], name: str) -> None:
    download = DOWNLOADS[name]
    for root in roots(download, tmp_path):
        scan = find_learners(root, katas)
        assert scan.layout == download.layout
        rows = {one.learner: replace(one, zone=BERLIN).submissions(katas)[0] for one in scan.learners}
        found = {
            learner: row.bundle.files["masks.py"].decode() if row.bundle else ""
            for learner, row in rows.items()
        }
        assert found == {
            learner: "" if work.startswith("!") else work for learner, work in download.works.items()
        }
        for learner, work in download.works.items():
            assert (rows[learner].status == "error") == work.startswith("!")
            assert work.strip("!") in (rows[learner].message or work)
        assert {learner: row.submitted_at for learner, row in rows.items() if row.submitted_at} == {
            learner: when.astimezone(UTC) for learner, when in download.times.items()
        }
        late = {name for name, row in rows.items() if row.time_source and row.submitted_at is None}
        assert late == set(download.late)
        said = "\n".join((*scan.notes, *(note for row in rows.values() for note in row.notes)))
        for note in download.notes:
            assert note in said


LEARNERS: Files = {"ada/masks.py": "ada", "grace/masks.py": "grace"}
WRAPPED: dict[str, Files] = {
    "folder": {f"A/{name}": text for name, text in LEARNERS.items()},
    "folders": {f"A/B/{name}": text for name, text in LEARNERS.items()},
    "archive": {"A.zip": zipped(LEARNERS)},
    "folder in an archive": {"A.zip": zipped({f"B/{name}": text for name, text in LEARNERS.items()})},
    "archives in an archive": {"A.zip": zipped({f"{name}.zip": zipped({"masks.py": name}) for name in "xy"})},
    "canvas": {"A/lovelaceada_1_2_masks.py": "ada", "A/hoppergrace_3_4_masks.py": "grace"},
}


@pytest.mark.parametrize("form", ["disk", "zip"])
@pytest.mark.parametrize("name", WRAPPED)
def test_a_folder_around_a_class_is_no_learner(
    tmp_path: Path, katas: list[Kata], name: str, form: str
) -> None:
    """Without a roster it is asked about, and what to type is said; whom the roster does not know is no learner."""
    root = lay(tmp_path / "download", WRAPPED[name])
    if form == "zip":
        root = tmp_path / "download.zip"
        root.write_bytes(zipped(WRAPPED[name]))
    with pytest.raises(UsageError, match="it may be the class, or one learner") as asked:
        find_learners(root, katas)
    named = (asked.value.hint or "").partition("itself: ")[2].partition(". If it is")[0]
    for scan in (
        find_learners(Path(named), katas),
        find_learners(root, katas, known={"ada", "grace"}.__contains__),
    ):
        assert len(scan.learners) == 2
        assert all(one.submissions(katas)[0].status == "found" for one in scan.learners)
        assert not {"A", "B"}.intersection(one.learner for one in scan.learners)
    kept = find_learners(root, katas, ["A"]), find_learners(root, katas, known={"A"}.__contains__)
    assert [[one.learner for one in scan.learners] for scan in kept] == [["A"], ["A"]]


def test_groups_are_no_learners(tmp_path: Path, katas: list[Kata]) -> None:
    root = lay(
        tmp_path, {f"Group {group}/{who}{group}/masks.py": who for group in "AB" for who in ("ada", "bob")}
    )
    with pytest.raises(UsageError, match="Group A and Group B hold folders as a class does") as asked:
        find_learners(root, katas)
    assert f"'{root}/Group A'" in (asked.value.hint or "")
    assert len(find_learners(root, katas, known={"Group A"}.__contains__).learners) == 2


def test_whom_the_roster_knows_tells_what_is_around_them(tmp_path: Path, katas: list[Kata]) -> None:
    known = {"ada", "bob"}.__contains__
    alone = lay(tmp_path / "late", {"Week 1/ada/masks.py": "ada"})
    assert [one.learner for one in find_learners(alone, katas, known=known).learners] == ["ada"]
    weeks = lay(
        tmp_path / "weeks", {"Week 1/ada/masks.py": "ada", "Week 2/bob.zip": zipped({"masks.py": "bob"})}
    )
    with pytest.raises(UsageError, match="Week 1 and Week 2 hold folders as a class does"):
        find_learners(weeks, katas, known=known)


@pytest.mark.parametrize(
    "kind", ["canvas", "moodle, files and text", "blackboard", "openolat", "google classroom"]
)
def test_two_downloads_in_one_folder_are_no_two_learners(
    tmp_path: Path, katas: list[Kata], kind: str
) -> None:
    files = {name.removeprefix("gta_Week_1/"): text for name, text in DOWNLOADS[kind].files.items()}
    lay(tmp_path, {f"Group {group}/{name}": text for group in "AB" for name, text in files.items()})
    with pytest.raises(UsageError, match="Group A and Group B hold folders as a class does"):
        find_learners(tmp_path, katas)


def test_files_that_are_numbered_are_several_peoples(tmp_path: Path, katas: list[Kata]) -> None:
    root = lay(tmp_path / "Week 1", {"masks.py": "a", "masks (1).py": "b", "masks (2).py": "c"})
    with pytest.raises(UsageError, match="3 files are called masks but for a number"):
        find_learners(root, katas)
    assert find_learners(root, katas, ["Week 1"]).layout == "one learner"


@pytest.mark.parametrize(("data", "what"), [(SEVEN_Z, "a 7z archive"), (RAR, "a RAR archive")])
@pytest.mark.parametrize("name", ["class.zip", "class.7z", "class.bin", "class"])
def test_a_class_that_is_not_opened_is_named(
    tmp_path: Path, katas: list[Kata], name: str, data: bytes, what: str
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(UsageError, match=f"{name} is {what}, which is not opened here: unpack it"):
        find_learners(tmp_path / name, katas)


@pytest.mark.parametrize("name", ["class.zip", "class.rar", "class.tgz", "class"])
@pytest.mark.parametrize("pack", [zipped, tarred])
def test_the_first_bytes_say_how_a_class_is_packed(
    tmp_path: Path, katas: list[Kata], name: str, pack: Callable[[Files], bytes]
) -> None:
    (tmp_path / name).write_bytes(pack(LEARNERS))
    assert [one.learner for one in find_learners(tmp_path / name, katas).learners] == ["ada", "grace"]


EARLIER: dict[str, Files] = {
    "blackboard": {
        "HW1_ada_attempt_2026-01-01-10-00-00_masks.py": "older",
        "HW1_ada_attempt_2026-01-02-10-00-00_masks.py": "old",
        "HW1_ada_attempt_2026-01-02-10-00-00_helper.py": "h",
        "HW1_ada_attempt_2026-01-03-10-00-00_masked_attention.py": "new",
    },
    "brightspace": {
        "1-10 - ada - Jan 2, 2026 1000 AM/masks.py": "old",
        "1-10 - ada - Jan 2, 2026 1000 AM/helper.py": "h",
        "1-11 - ada - Jan 3, 2026 1000 AM/masked_attention.py": "new",
    },
    "teams": {
        "Submitted files/ada/Week 1/Version 1/masks.py": "old",
        "Submitted files/ada/Week 1/Version 1/helper.py": "h",
        "Submitted files/ada/Week 1/Version 2/masked_attention.py": "new",
    },
    "jupyter": {
        "ada/masked_attention.py": "new",
        "ada/.ipynb_checkpoints/masks-checkpoint.py": "old",
        "ada/.ipynb_checkpoints/helper.py": "h",
    },
}


@pytest.mark.parametrize("name", EARLIER)
def test_what_does_not_count_is_proposed_and_may_be_taken(
    tmp_path: Path, katas: list[Kata], name: str
) -> None:
    (ada,) = find_learners(lay(tmp_path, EARLIER[name]), katas).learners
    row, other = replace(ada, zone=UTC).submissions(katas)
    assert other.bundle is not None
    assert set(other.bundle.files) == {"masked_attention.py"}
    assert row.status == "missing"
    assert row.proposal is not None
    assert "not among what counts" in row.proposal.reason
    taken, _ = replace(ada, zone=UTC, taken={"masks": row.proposal.file}).submissions(katas)
    assert taken.bundle is not None
    assert taken.bundle.files == {"masks.py": b"old", "helper.py": b"h"}
    if name in ("blackboard", "brightspace"):
        assert taken.submitted_at == datetime(2026, 1, 2, 10, tzinfo=UTC), "its own attempt's"


def test_of_the_best_attempt_every_one_is_handed_in(tmp_path: Path, katas: list[Kata]) -> None:
    (ada,) = find_learners(lay(tmp_path, EARLIER["blackboard"]), katas).learners
    rows = replace(ada, zone=UTC, best=frozenset({"masks"})).submissions(katas)
    masks = [row for row in rows if row.kata == "masks"]
    assert [row.bundle and row.bundle.files["masks.py"] for row in masks] == [b"older", b"old", None]
    assert [row.submitted_at and row.submitted_at.day for row in masks] == [1, 2, None]
    assert len(rows) == 4


@pytest.mark.parametrize(
    "name", ["masks.pyw", "masks.py ", "masks.py.bak", "masks.txt", "answer.docx", "work"]
)
def test_whatever_it_is_called_what_defines_the_names_is_proposed(
    tmp_path: Path, katas: list[Kata], name: str
) -> None:
    """Also where nobody in the class has a right name."""
    text = "".join(f"def {name}():\n    pass\n" for name in katas[0].required)
    (ada,) = find_learners(lay(tmp_path, {f"ada/{name}": text, "ada/README.md": text}), katas).learners
    row = ada.submissions(katas)[0]
    assert row.status == "missing"
    assert row.proposal is not None
    assert row.proposal.file == name


def test_who_is_in_a_group_keeps_a_name(tmp_path: Path, katas: list[Kata]) -> None:
    """Moodle writes the group's name before the person's; in a class without groups a hyphen is the person's own."""
    for number, (first, second) in enumerate(
        [("Team 1-Ada Lovelace", "Team 2-Bob Roe"), ("Jo-Ann Li", "Bob Roe")]
    ):
        files: Files = {
            f"{who}_{place}_{MOODLE}/masks.py": who for place, who in enumerate((first, second), 10)
        }
        scan = find_learners(lay(tmp_path / str(number), files), katas)
        names = {one.learner: one.ids.get("name") for one in scan.learners}
        assert names[first] == (None if number else "Ada Lovelace")
