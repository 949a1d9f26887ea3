"""The desk as a browser shows it: by keyboard alone, on a phone, in the dark, and to who cannot see it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from grader.extras.desk import routes
from grader.instructor.gradebook.course import Course
from grader.instructor.gradebook.store import Gradebook
from grader.instructor.grading.groups import groups
from tests.extras.desk import made_class
from tests.extras.desk.conftest import Open, Running, heard, turned_to
from tests.extras.desk.test_sheets import hand_in
from tests.pages import demo_class
from tests.pages.builders import hostile_rows
from tests.pages.test_browser import CLIPPED, CONTRAST, READABLE, Picture

pytestmark = pytest.mark.slow

PATHS = (
    "/", "/class", "/class?only=late", "/mark?learner=ada.0000&of=layer-norm",
    "/mark?learner=ada.0002&of=layer-norm&file=layer_norm.py&line=3", "/disputes", "/alike", "/alike?kata=layer-norm",
    "/log", "/problems", "/groups?kata=layer-norm", "/groups?kata=layer-norm&group=GROUP", "/items", "/written",
    "/answer?learner=ada.0000&of=masks&question=1", "/mark?learner=nobody&of=masks", "/nothing",
)  # fmt: skip


@pytest.fixture(scope="module")
def desk(running: Open, tmp_path_factory: pytest.TempPathFactory) -> Running:
    """A class with some who mean harm, and one of everything that can be decided."""
    folder = tmp_path_factory.mktemp("looked-at")
    where = made_class.make(folder, 12, rows=[*demo_class.rows(12), *hostile_rows()])
    hand_in(where, ["ada.0000"])
    desk = running(str(folder / "gradebook.sqlite"), folder)
    desk.do("adjust", of="layer-norm", points=1, comment="a mark <i>more</i>")
    desk.do("dispute", of="layer-norm", comment="the second check errs")
    attempt = next(iter(opened(desk).rows(katas=["layer-norm"], learners=["ada.0000"]))).attempt
    desk.do("remark", of="layer-norm", attempt=attempt, file="layer_norm.py", line=2, comment="why?")
    return desk


def opened(desk: Running) -> Gradebook:
    return Gradebook.open(desk.where, create=False, course=Course())


Show = Callable[..., Any]


@pytest.fixture
def show(look: Show, desk: Running) -> Show:
    """Open the desk as a person does."""

    def show(path: str = "/", width: int = 1280, **settings: Any) -> Any:
        page = look(desk.address, width, own=desk.base, **settings)
        page.wait_for_url(desk.base + "/")
        page.goto(desk.base + path)
        if settings.get("java_script_enabled", True):
            page.wait_for_selector("html[data-keys]")
        return page

    return show


@pytest.mark.sampled(1)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 375])
def test_every_page_can_be_read_by_everybody(
    show: Show, desk: Running, picture: Picture, width: int, scheme: str
) -> None:
    page = show(width=width, color_scheme=scheme)
    with opened(desk) as book:
        group = groups(book, "layer-norm")[0].id
    for number, path in enumerate(one.replace("GROUP", group) for one in PATHS):
        page.goto(desk.base + path)
        # The page of look-alikes comes again by itself until all were compared.
        page.wait_for_selector("html:not(:has([data-again]))", state="attached", timeout=240_000)
        picture(page, f"desk-{number:02}-{re.split('[/?]', path)[1] or 'course'}")
        page.evaluate("document.querySelectorAll('details').forEach((folded) => { folded.open = true; })")
        found = Axe().run(page).response["violations"]
        assert [(one["id"], one["nodes"][0]["html"]) for one in found] == [], path
        assert page.evaluate(CONTRAST, READABLE) == [], path
        assert page.evaluate(CLIPPED) == [], path
        assert page.evaluate("document.documentElement.scrollWidth") == width, path
        page.evaluate("window.scrollTo(500, 0)")
        assert page.evaluate("window.scrollX") == 0, path
        assert page.evaluate("typeof window.hacked") == "undefined"


def test_every_page_there_is_was_looked_at() -> None:
    source = Path(routes.__file__).read_text(encoding="utf-8")
    there = set(re.findall(r'"(/[a-z]*)": self._', source))
    assert there == {path.partition("?")[0] for path in PATHS} - {"/nothing"}


def test_what_scrolls_in_a_box_says_so(show: Show, desk: Running) -> None:
    page = show("/class", width=375)
    wide = page.evaluate(
        "() => [...document.querySelectorAll('.scroll')].filter((e) => e.scrollWidth > e.clientWidth)"
        ".map((e) => getComputedStyle(e).backgroundAttachment)"
    )
    assert wide == ["local, local, scroll, scroll"]


def test_a_page_that_is_not_there_does_not_speak_of_writing(desk: Running) -> None:
    page = desk.ask("GET", "/mark?learner=nobody&of=masks").text
    assert "has no learner nobody" in page
    assert "Nothing was written" not in page
    told = desk.do("adjust", learner="nobody", version=1, points=1, comment="x")
    assert told.status == 400
    assert "Nothing was written" in told.text


@pytest.mark.nightly
def test_who_means_harm_is_shown_and_not_obeyed(show: Show, desk: Running) -> None:
    page = show("/class", width=375)
    links = page.locator("table.roll tbody a").evaluate_all("links => links.map((link) => link.href)")
    hostile = [link for link in links if "ada" not in link][-10:]
    assert len(hostile) == 10
    for link in hostile:
        page.goto(link)
        assert page.locator("#broken, img, iframe, form[action^='http']").count() == 0
        assert page.locator("script").count() == 1
        assert page.evaluate("typeof window.hacked") == "undefined"
        assert page.evaluate("document.documentElement.scrollWidth") == 375


@pytest.mark.nightly
def test_a_hand_in_is_marked_by_keyboard_alone(show: Show, desk: Running) -> None:
    page = show("/mark?learner=ada.0002&of=feed-forward&assignment=week2")
    keys = page.keyboard
    for _ in range(3):
        keys.press("j")
    keys.press("k")
    assert page.evaluate("document.activeElement.textContent") == "2"
    keys.press("Enter")
    # Not `wait_for_function`: it evaluates text in the page, which the page's own policy forbids.
    page.locator("#remark:focus").wait_for()
    keys.type("name this")
    keys.press("Tab")
    keys.press("Enter")
    turned_to(page, "tr.said p")
    assert "name this" in page.locator("tr.said").inner_text()
    page.locator("h1").click()
    keys.press("a")
    assert page.evaluate("document.activeElement.id") == "adjust-points"
    keys.type("-1.5")  # more than there is would be asked about
    keys.press("Tab")
    keys.type("no derivation")
    keys.press("Tab")
    keys.press("Enter")
    turned_to(page, "text=no derivation")
    place = page.url
    keys.press("r")
    heard(page, lambda url: url != place and "/mark" in url)
    assert "reviewed" in page.locator(".just").inner_text()
    assert "assignment=week2" in page.url, "the filter is carried on"
    keys.press("p")
    turned_to(page, "text=reviewed")
    with opened(desk) as book:
        kinds = {one.kind for one in book.history("ada.0002", "feed-forward")}
        kinds |= {one.kind for one in book.rulings(learners=["ada.0002"])}
    assert {"adjust", "remark", "reviewed"} <= kinds


def test_no_shortcut_loses_a_half_typed_remark_and_ctrl_enter_sends_it(show: Show, desk: Running) -> None:
    page = show("/mark?learner=ada.0002&of=layer-norm&file=layer_norm.py&line=3")
    asked: list[str] = []

    def stay(dialog: Any) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    keys, place, remark = page.keyboard, page.url, page.locator("#remark")
    remark.focus()
    keys.type("half a")
    for key in ("h", "n", "p", "q", "r"):
        keys.press("Escape")
        keys.press(key)
        # The field again, not the page that the key leads to.
        page.locator("#remark:focus").wait_for()
    assert asked == []
    # A line is a link like any other, so that the browser asks.
    keys.press("Escape")
    for key in ("j", "Enter"):
        keys.press(key)
    page.locator("a[data-line]:focus").wait_for()
    assert (asked, page.url, remark.input_value()) == (["beforeunload"], place, "half a")
    # Points are refused without a number; what was typed with them is not lost afterwards, either.
    remark.fill("")
    page.locator("[data-key=a] summary").click()
    page.fill("#adjust-why", "half a reason")
    page.fill("#adjust-points", "many")
    keys.press("Control+Enter")
    turned_to(page, ".trouble")
    page.locator("h1").click()
    keys.press("h")
    page.locator("#adjust-why:focus").wait_for()
    page.fill("#adjust-points", "-1")
    keys.press("Control+Enter")
    turned_to(page, "text=half a reason")
    assert asked == ["beforeunload"]


def test_a_learner_is_found_by_one_key_on_every_page(show: Show, desk: Running) -> None:
    page = show()
    for path in (
        "/",
        "/class",
        "/mark?learner=ada.0000&of=masks",
        "/answer?learner=ada.0000&of=masks&question=1",
        "/log",
    ):
        page.goto(desk.base + path)
        turned_to(page, "h1")
        # The rest of the name is text, and no shortcut.
        page.keyboard.type("/hurq")
        assert page.locator("input[name=find]").input_value() == "hurq", path
        page.keyboard.press("Enter")
        heard(page, lambda url: "find=hurq" in url)


def test_everything_is_reached_with_tab_and_shows_where_it_is(show: Show, desk: Running) -> None:
    page = show("/mark?learner=ada.0000&of=masks")
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
        reached.add(page.evaluate("document.activeElement.textContent.trim().slice(0, 20)"))
    assert {"Skip to the page", "Class", "Log"} <= reached


def test_without_a_script_everything_can_be_done(show: Show, desk: Running) -> None:
    # Who handed what in is drawn, and hangs on how many katas there are; ada.0000 has a remark.
    rows = [row for row in opened(desk).rows(katas=["layer-norm"]) if row.attempt]
    who = next(row.learner for row in rows if row.learner.startswith("ada.") and row.learner != "ada.0000")
    page = show(f"/mark?learner={who}&of=layer-norm", java_script_enabled=False)
    page.locator("a[data-line]").nth(4).click()
    page.fill("#remark", "without a script")
    page.locator("button", has_text="Save the remark").click()
    assert "without a script" in page.locator("tr.said").inner_text()


def failing(desk: Running, kata: str) -> list[str]:
    """Who failed a kata."""
    return [row.learner for row in opened(desk).rows(katas=[kata]) if row.report.status == "fail"]


def top(page: Any, selector: str) -> Any:
    return page.locator(selector).first.bounding_box()["y"]


def test_what_one_marks_by_is_seen_without_scrolling(show: Show, desk: Running) -> None:
    who = next(name for name in failing(desk, "layer-norm") if not name.startswith("ada."))
    page = show(f"/mark?learner={who}&of=layer-norm")
    assert top(page, ".head .total") < top(page, ".bench") < 220
    assert top(page, ".verdict article") < top(page, "[data-key=a]")
    right = "(e) => [e, e.closest('pre')].map((one) => one.getBoundingClientRect().right)"
    words = [one.evaluate(right) for one in page.locator(".verdict pre .words").all()]
    assert words
    assert all(inner <= outer for inner, outer in words)
    named = page.locator("tr.hit").first
    box, line = page.locator(".code").first.bounding_box(), named.bounding_box()
    assert box["y"] <= line["y"] < min(box["y"] + box["height"], 900)


def test_the_line_of_an_error_is_a_link_to_it(show: Show, desk: Running) -> None:
    broken = next(row for row in opened(desk).rows() if "line 12" in (row.report.message or ""))
    page = show(f"/mark?learner={broken.learner}&of={broken.kata}")
    page.locator(".verdict pre a").click()
    assert page.locator("tr:target td.no").inner_text() == "12"
    assert page.locator("tr.hit").count() == 1


def test_the_written_answers_are_one_key_away(show: Show, desk: Running) -> None:
    page = show("/mark?learner=ada.0000&of=masks")
    page.keyboard.press("w")
    heard(page, lambda url: "/answer?learner=ada.0000&of=masks" in url)


@pytest.mark.nightly
def test_what_passed_is_in_the_queue_only_where_it_is_asked_for(show: Show, desk: Running) -> None:
    wrong = failing(desk, "masks")
    page = show(f"/mark?learner={wrong[0]}&of=masks")
    few = int(page.locator(".head nav li.soft").inner_text().split(" of ")[1])
    page.locator("text=also what passed").click()
    heard(page, lambda url: "queue=all" in url)
    many = int(page.locator(".head nav li.soft").inner_text().split(" of ")[1])
    statuses = [row.report.status for row in opened(desk).rows(katas=["masks"])]
    assert (few, many) == (sum(one not in ("pass", "missing") for one in statuses), len(statuses))


@pytest.mark.nightly
def test_on_a_phone_question_and_answer_come_before_the_form(show: Show, desk: Running) -> None:
    page = show("/answer?learner=ada.0000&of=masks&question=1", width=375)
    assert top(page, ".paper h2") < top(page, "blockquote") < top(page, "fieldset") < top(page, ".model h2")
    assert top(page, "fieldset") < 900
