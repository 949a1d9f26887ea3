"""Hand-ins that fail alike: who is in a group, and one decision about all of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest

from grader.instructor.gradebook.course import Course
from grader.instructor.gradebook.events import Adjust, Provenance, Remark
from grader.instructor.gradebook.row_types import Decided
from grader.instructor.gradebook.store import Gradebook
from grader.instructor.grading.groups import Group, groups
from tests.conftest import Ran
from tests.extras.desk.conftest import Open, Running, turned_to
from tests.extras.desk.made_class import COURSE
from tests.gradebook.handmade import check, decide, key, report, submission

SAME = "def causal_mask(n):\n    rows = torch.ones(n)\n    return rows > {}\n"
RENAMED = "# mine\ndef causal_mask(n):\n    seen = torch.ones(n)  # all\n    return seen > {}\n"
FAILED = "called  causal_mask(3)\nfirst difference  mask[0, 1]  got 1  want 0"


def failing(source: str, *names: str | None, message: str = FAILED) -> tuple[str, list[Any]]:
    """A hand-in's text, and a failed check for each name of a mistake."""
    made = [check(f"claim {number}", "fail", misconception=name) for number, name in enumerate(names)]
    return source, [msgspec.structs.replace(one, message=message) for one in made]


def recorded(where: Path, work: Sequence[tuple[str, list[Any]]]) -> Gradebook:
    """Keep what was handed in, by learners a, b, c and so on."""
    with Gradebook.open(str(where), create=True) as book:
        run = book.start_run({})
        for learner, (source, checks) in zip("abcdefghij", work, strict=False):
            given = submission(learner, source=f"{source}# {learner}\n")
            run.record(given, key(given), report(learner, checks=checks, status="fail"))
        run.finish()
    return Gradebook.open(str(where), create=False, course=Course())


def who(found: list[Group]) -> list[str]:
    return ["".join(row.learner for row in one.members) for one in found]


def test_a_named_mistake_is_one_group_however_it_is_written(tmp_path: Path) -> None:
    work = [failing(SAME.format(0), "shifted"), failing("x = 1", "shifted"), failing("x = 1", "turned")]
    with recorded(tmp_path / "book.sqlite", work) as book:
        assert who(groups(book, "masks")) == ["ab", "c"]


def test_what_has_no_name_is_alike_where_the_function_at_fault_is(tmp_path: Path) -> None:
    work = [
        failing(SAME.format(0), None), failing(RENAMED.format(0), None), failing(SAME.format(1), None),
        failing(SAME.format(0), None, None), failing(SAME.format(0) + "def other():\n    return 4\n", None),
    ]  # fmt: skip
    with recorded(tmp_path / "book.sqlite", work) as book:
        assert who(groups(book, "masks")) == ["abe", "c", "d"]


def test_what_does_not_run_is_alike_where_the_exception_is_but_for_numbers_and_names(tmp_path: Path) -> None:
    raised = "called  causal_mask({})\nNameError: name '{}' is not defined"
    work = [
        failing(SAME.format(0), None, message=raised.format(3, "a")),
        failing(SAME.format(0), None, message=raised.format(4, "b")),
        failing(SAME.format(0), None, message="called  causal_mask(3)\nTypeError: no"),
    ]
    with recorded(tmp_path / "book.sqlite", work) as book:
        assert who(groups(book, "masks")) == ["ab", "c"]


def test_a_decision_about_many_is_written_whole_or_not_and_taken_back_whole(tmp_path: Path) -> None:
    work = [failing(SAME.format(0), "shifted") for _ in range(4)]
    with recorded(tmp_path / "book.sqlite", work) as book:
        before = list(book.rows())
        made = Provenance(author="kim", comment="all")
        about = [Adjust(learner=name, kata="masks", points=-1.0, made=made) for name in "abcd"]
        with pytest.raises(Exception, match="nobody"):
            book.decide_together([*about, Adjust(learner="nobody", kata="masks", points=1.0, made=made)])
        assert list(book.rows()) == before
        number = book.decide_together(about)
        assert [row.score for row in book.rows()] == [row.score - 1 for row in before]
        assert [one[2].comment for one in book.decisions(10)] == ["4 hand-ins at once: all"]
        (out, *_) = [one for one in book.history("b", "masks") if isinstance(one, Decided)]
        book.undo(out.decision.id, author="kim", comment="not this one")
        book.undo(number, author="kim", comment="not so")
        assert [row.score for row in book.rows()] == [row.score for row in before]


def test_the_command_lists_them(kata: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded(tmp_path / "gradebook.sqlite", [failing(SAME.format(0), "shifted") for _ in range(3)]).close()
    monkeypatch.chdir(tmp_path)
    ran: Ran = kata("gradebook", "groups", "masks", "--json")
    (one,) = ran.json["groups"]
    assert (one["members"], one["mistakes"], one["failing"]) == (list("abc"), ["shifted"], ["claim 0"])
    assert "a, b, c" in kata("gradebook", "groups").out


@pytest.mark.nightly
def test_a_remark_for_a_group_reaches_each_but_who_was_left_out(
    browser: Any, running: Open, tmp_path: Path
) -> None:
    work = [failing(SAME.format(0), "shifted") for _ in range(4)]
    recorded(tmp_path / "gradebook.sqlite", work).close()
    (tmp_path / "course.toml").write_text(COURSE.replace('roster = "roster.csv"\n', ""))
    desk = running(str(tmp_path / "gradebook.sqlite"), tmp_path)
    page = browser.new_page()
    page.goto(desk.address)
    page.wait_for_url(desk.base + "/")
    page.goto(desk.base + "/groups?kata=masks")
    page.wait_for_selector("html[data-keys]")
    page.keyboard.press("f")
    turned_to(page, "text=Decide for all 4")
    page.keyboard.press("c")
    page.keyboard.type("look at the first row")
    page.keyboard.press("Escape")
    page.locator("details summary", has_text="Leave somebody out").click()
    page.locator("label", has_text=re.compile("^ ?b$")).locator("input").check()
    page.keyboard.press("m")
    turned_to(page, ".just")
    assert page.locator("tbody td").all_inner_texts() == ["4", "1", "3"]
    assert "3 hand-ins at once: look at the first row" in page.locator(".just").inner_text()
    assert told(desk) == ["a", "c", "d"]
    with Gradebook.open(desk.where, create=False) as book:
        assert [one.line for one in book.standing(Remark)] == [1, 1, 1]
    page.keyboard.press("u")
    turned_to(page, "text=Log")
    page.wait_for_url(lambda url: "just" not in url)
    assert told(desk) == []
    page.context.close()


@pytest.mark.sampled(1)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "score"),
    [
        ({}, None),
        ({"points": "-1"}, lambda before: before - 1),
        ({"points": "2,5", "set": "1"}, lambda _: 2.5),
    ],
    ids=["remark", "points", "mark"],
)
def test_one_decision_is_in_the_feedback_of_each_and_one_undo_restores_every_row(
    running: Open, tmp_path: Path, kata: Any, monkeypatch: pytest.MonkeyPatch,
    what: dict[str, str], score: Any,
) -> None:  # fmt: skip
    words = "look at the first row"
    work = [failing(SAME.format(0), "shifted") for _ in range(5)]
    recorded(tmp_path / "gradebook.sqlite", [*work, failing(SAME.format(0), "turned")]).close()
    (tmp_path / "course.toml").write_text(COURSE.replace('roster = "roster.csv"\n', ""))
    monkeypatch.chdir(tmp_path)
    desk = running(str(tmp_path / "gradebook.sqlite"), tmp_path)
    before = standing_rows(desk)
    page = desk.page("/groups", kata="masks")
    group = next(one for one in re.findall("group=([0-9a-f]+)", page))
    back = "/groups?kata=masks"
    form = {"of": "masks", "group": group, "comment": words, "back": back, "out:b": "1", **what}
    stamp = re.search('name="stamp" value="([0-9a-f]+)"', desk.page("/groups", kata="masks", group=group))
    assert stamp is not None
    made = desk.ask("POST", "/do/decide_group", urlencode({**form, "stamp": stamp[1]}))
    assert made.status == 303
    if score is not None:
        after = {name: row.score for name, row in standing_rows(desk).items()}
        assert after == {
            name: score(row.score) if name in "acde" else row.score for name, row in before.items()
        }
    with Gradebook.open(desk.where, create=False, course=Course()) as book:
        decide(book, "release", None, {"of": "", "katas": ["masks"], "points": {}}, comment="x", author="kim")
    kata("report", "--feedback-only")
    told = {one.stem[0] for one in Path("kata-report/feedback").glob("*.md") if words in one.read_text()}
    assert told == set("acde")
    number = made.headers["location"].rpartition("just=")[2].partition("&")[0]
    undone = desk.ask("POST", "/do/withdraw", urlencode({"number": number, "comment": "no", "back": "/log"}))
    assert undone.status == 303
    assert standing_rows(desk) == before


def standing_rows(desk: Running) -> dict[str, Any]:
    """Every row by learner, without what was taken back."""
    with Gradebook.open(desk.where, create=False, course=Course()) as book:
        return {
            row.learner: msgspec.structs.replace(
                row, adjustments=[one for one in row.adjustments if not one.revoked]
            )
            for row in book.rows()
        }


@pytest.mark.slow
def test_a_group_that_changed_is_looked_at_again(running: Open, tmp_path: Path) -> None:
    recorded(tmp_path / "gradebook.sqlite", [failing(SAME.format(0), "shifted")]).close()
    (tmp_path / "course.toml").write_text(COURSE.replace('roster = "roster.csv"\n', ""))
    desk = running(str(tmp_path / "gradebook.sqlite"), tmp_path)
    with Gradebook.open(desk.where, create=False, course=Course()) as book:
        (one,) = groups(book, "masks")
    form = {"of": "masks", "group": one.id, "stamp": "old", "comment": "x", "back": "/groups?kata=masks"}
    refused = desk.ask("POST", "/do/decide_group", urlencode(form))
    assert (refused.status, told(desk)) == (409, [])
    assert "Nothing was written" in refused.text


def told(desk: Running) -> list[str]:
    """Who has a remark that stands."""
    with Gradebook.open(desk.where, create=False, course=Course()) as book:
        return [one.learner for one in book.standing(Remark)]
