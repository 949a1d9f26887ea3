"""What people decide: each kind is kept as it always was, says what it is, and follows from nothing but its own row."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from grader.instructor.gradebook import events
from grader.instructor.gradebook.store import Gradebook, GradebookError
from grader.report.json_text import encode
from tests.gradebook.handmade import event, grade

KEPT = {
    "adjust": "1.5",
    "override": "9.0",
    "answer_mark": '{"question":1,"answer":"d","criteria":[1,3],"points":1.0,"max_points":2.0}',
    "choose": "3",
    "extend": '{"of":"week1","days":2.0}',
    "take": '"week1/my_masks.py"',
    "alias": '"linus.p"',
    "left": "null",
    "team": '{"of":"week1","name":"Team 7","members":["ada","bob"]}',
    "release": '{"of":"","katas":["masks"],"points":{"masks":[2.0]}}',
    "remark": '{"attempt":4,"file":"masks.py","line":7}',
    "dispute": "null",
    "answer": "5",
    "close": "5",
    "assign": '"kim"',
    "reviewed": "4",
    "ignore": '"misnamed: x.py: its name is similar"',
    "alike": '"bob"',
    "criterion": '{"kata":"masks","question":1,"number":null,"met":"says why","points":0.5}',
    "together": "[1,2]",
}
"""The value of each kind, as tables have had it from the first version on."""
MADE = events.Provenance(author="kim", comment="so")


def test_every_kind_is_here() -> None:
    assert set(KEPT) == {events.kind_of(one) for one in get_args(events.Event)}


@pytest.mark.parametrize("kind", KEPT)
def test_a_kind_is_kept_as_it_was(kind: str) -> None:
    found = events._READERS[kind](KEPT[kind], made=MADE, learner="ada", kata="masks", id=8)
    assert type(found) is events.TYPES[kind]
    assert encode(found.value).decode() == KEPT[kind]
    assert found.kind == kind
    assert events.words(found, {4: 2}) != f"ruling {found.id}"


@pytest.mark.parametrize("old", ['{"of":"masks"}', '{"of":"","points":{"masks":[1.0]}}'])
def test_a_release_of_an_earlier_version_is_kept_as_it_was(old: str) -> None:
    found = events._READERS["release"](old, made=MADE)
    assert encode(found.value).decode() == old
    assert found.covers("masks") == ("points" in old)


def test_what_was_decided_about_a_mark_is_made_in_one_pass() -> None:
    about = {"comment": "so", "author": "kim", "kata": "masks"}
    made = [
        event("adjust", "ada", 1.0, **about),
        event("dispute", "Ada", None, **about),
        event("answer", "ada", 2, **about),
        event("assign", "ada", "kim", **about),
        event("reviewed", "ada", 4, **about),
        event("remark", "ada", {"attempt": 4, "file": "b.py", "line": 1}, **about),
        event("remark", "ada", {"attempt": 4, "file": "a.py", "line": 9}, **about),
        event("release", None, {"of": "", "katas": ["masks"]}, comment="so", author="kim"),
        event("alias", "ada", "a.l", comment="so", author="kim"),
    ]
    numbered = [type(one)(**{**_fields(one), "id": number}) for number, one in enumerate(made, 1)]
    ((key, mark),) = events.fold(numbered, str.lower).items()
    assert key == ("ada", "masks")
    assert ([one.points for one in mark.changes], mark.marker, mark.reviewed) == ([1.0], "kim", 4)
    assert [one.file for one in mark.remarks] == ["a.py", "b.py"]
    assert [len(thread.answers) for thread in mark.threads] == [1]
    assert (mark.disputed, mark.touched, mark.released) == (True, True, True)
    closed = event("close", "ada", 2, **about)
    taken_back = [type(one)(**{**_fields(one), "undone": MADE}) for one in numbered[:1]]
    ((_, mark),) = events.fold([*taken_back, *numbered[1:2], closed], str.lower).items()
    assert ([one.revoked for one in mark.changes], mark.disputed, mark.touched) == ([True], False, False)


def _fields(one: events.Decision) -> dict[str, object]:
    return {name: getattr(one, name) for name in one.__struct_fields__}


def test_a_run_does_not_begin_in_a_damaged_file(tmp_path: Path) -> None:
    file = tmp_path / "gradebook.sqlite"
    with Gradebook.open(str(file), create=True) as book:
        run = book.start_run({})
        for number in range(40):
            grade(book, run, f"l{number}", source=str(number) * 2000)
        run.finish()
    data = bytearray(file.read_bytes())
    size = int.from_bytes(data[16:18], "big")
    data[-3 * size : -size] = b"\7" * (2 * size)
    file.write_bytes(data)
    with Gradebook.open(str(file), create=False) as book:
        with pytest.raises(GradebookError) as refused:
            book.start_run({})
        assert "the file is damaged" in refused.value.message
        assert "cp COPY" in (refused.value.hint or "")
    assert file.read_bytes() == data
