"""Written answers in what a learner handed in: whose kata they are, and that hostile ones cost nobody anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.catalogue import Catalogue
from grader.catalogue.answer_sheet import answers_in, sheet_for
from grader.instructor.lms.find import find_learners

MASKS = "def causal_mask(n): ...\n"


@pytest.fixture
def katas() -> list:  # type: ignore[type-arg]
    everything = Catalogue.discover()
    return [everything.resolve_one(name) for name in ("masks", "layer-norm")]


def found(folder: Path, katas: list) -> dict:  # type: ignore[type-arg]
    learners = find_learners(folder, katas).learners
    return {one.learner: {sub.kata: sub for sub in one.submissions(katas)} for one in learners}


def put(folder: Path, files: dict[str, str | bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def test_a_sheet_is_its_kata_s_by_what_it_says_then_by_where_it_lies(tmp_path: Path, katas: list) -> None:  # type: ignore[type-arg]
    laid = sheet_for(katas[1])
    assert laid is not None
    put(
        tmp_path,
        {
            "ada/masks.py": MASKS,
            "ada/answers.md": "## 1. x\nbeside masks",
            "bob/week/masks.py": MASKS,
            "bob/week/answers (1).md": laid.replace("## 1.", "## 1.", 1) + "late words",
            "eve/layer-norm/answers.md": "## 2. y\nin its folder, without code",
            "eve/masks/masks.py": MASKS,
        },
    )
    got = found(tmp_path, katas)
    sheets = {(who, kata) for who, mine in got.items() for kata, one in mine.items() if one.answers}
    assert sheets == {("ada", "masks"), ("bob", "layer-norm"), ("eve", "layer-norm")}
    assert got["ada"]["masks"].bundle is not None
    assert "answers.md" not in got["ada"]["masks"].bundle.files  # words make no other attempt at the code


@pytest.mark.parametrize(
    "content",
    [
        b"x" * (2 << 20),
        b"\xff\xfe\x00",
        b"\x80\x81 <script>alert(1)</script>\x1b[2J\x00",
        b"<!--" * 50_000,
        None,
        "link",
    ],
    ids=["huge", "half utf-16", "bytes", "open comments", "a folder", "a link"],
)
def test_a_hostile_sheet_costs_nobody_a_row(tmp_path: Path, katas: list, content: bytes | str | None) -> None:  # type: ignore[type-arg]
    put(tmp_path, {"ada/masks.py": MASKS, "bob/masks.py": MASKS, "bob/answers.md": "## 1. q\nfine"})
    place = tmp_path / "ada" / "answers.md"
    if content is None:
        put(place, {"inner.txt": "x"})
    elif isinstance(content, str):
        place.symlink_to("/etc/passwd")
    else:
        place.write_bytes(content)
    got = found(tmp_path, katas)
    assert got["ada"]["masks"].status == got["bob"]["masks"].status == "found"
    assert got["bob"]["masks"].answers is not None
    if isinstance(content, bytes) and len(content) < 1 << 20:
        assert got["ada"]["masks"].answers is not None
        answers_in(content)
    else:
        assert got["ada"]["masks"].answers is None


def test_a_numbered_comment_in_code_is_no_heading() -> None:
    code = "```python\n# 1. build the mask\n## 1. so\nmask = 1\n```"
    text = (
        f"## 1. Why?\nBecause.\n## 2. How?\nSo:\n{code}\n### 1. first\nthat is all\n"
        "## 3. Who?\n```\nme\n## 4. When?\nnow"
    )
    assert answers_in(text.encode()) == {
        1: "Because.",
        2: f"So:\n{code}\n### 1. first\nthat is all",
        3: "```\nme",
        4: "now",
    }


def test_answers_are_read_by_their_numbers() -> None:
    text = "# Answers\n<!-- kata: masks -->\n## 1. Why?\n\nBecause.\n\n## 2. How?\n<!-- nothing -->\n\n## 3) Who?\nme"
    assert answers_in(text.encode()) == {1: "Because.", 3: "me"}
    assert answers_in(b"no headings at all") == {1: "no headings at all"}
    assert answers_in("## 1. x\nä".encode("utf-16")) == {1: "ä"}
