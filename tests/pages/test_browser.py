"""Pages as a browser shows them: nothing loaded, nothing run but ours, nothing cut off, everything reachable."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from axe_playwright_python.sync_playwright import Axe

from grader.catalogue import Catalogue
from grader.commands import COMMANDS
from grader.instructor.gradebook.course import Course
from grader.instructor.html import KataTexts, Viewer, write_report
from grader.instructor.submissions.submission import Bundle
from tests.pages import demo_class
from tests.pages.builders import HOSTILE, NOW, hostile_rows

pytestmark = pytest.mark.slow

LEARNERS = 8 + len(HOSTILE) + 1
PAPER = 703
"""Width of an A4 page between its margins, in CSS pixels."""
READABLE = 4.5
"""The contrast that WCAG 2 asks of text at level AA."""

CONTRAST = """(least, root = document.body) => {
  const rgb = (text) => (text.match(/[\\d.]+/g) ?? []).map((n) => text.startsWith("color(") ? 255 * n : Number(n));
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = rgb(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const poor = new Set();
  const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !element.getClientRects().length) continue;
    const style = getComputedStyle(element);
    const ink = rgb(element.closest("svg") ? style.fill : style.color);
    const [a, b] = [light(ink), light(ground(element))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < least) poor.add(`${element.outerHTML.slice(0, 80)} ${ink} on ${ground(element)}`);
  }
  return [...poor];
}"""
CUT = """() => [...document.querySelectorAll("body *")].filter((e) => {
  const style = getComputedStyle(e);
  return style.display !== "inline" && !e.closest("svg, .unseen") && e.clientWidth > 0
    && e.scrollWidth > e.clientWidth + 1;
}).map((e) => `${e.tagName}.${e.className} ${e.scrollWidth} > ${e.clientWidth}`)"""
CLIPPED = """() => [...document.querySelectorAll("body *")].filter((e) => {
  const { overflowX, overflowY, display } = getComputedStyle(e);
  return display !== "inline" && e.clientWidth > 0 && !e.closest("svg, .unseen")
    && ((overflowX === "hidden" && e.scrollWidth > e.clientWidth + 1)
      || (overflowY === "hidden" && e.scrollHeight > e.clientHeight + 1));
}).map((e) => e.outerHTML.slice(0, 80))"""
OUTSIDE = """() => [...document.querySelectorAll("body *")].filter((e) => !e.closest(".unseen"))
  .map((e) => [e, e.getBoundingClientRect()]).filter(([, box]) => box.width && box.right > innerWidth + 1)
  .map(([e, box]) => `${e.tagName}.${e.className} ends at ${box.right}`)"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class over the real katas, and learners that mean harm."""
    out = tmp_path_factory.mktemp("pages") / "out"
    hostile = hostile_rows()
    everything = [msgspec.structs.replace(row, learner="zz", name=HOSTILE[2]) for row in hostile]
    rows = [*demo_class.rows(8), *hostile, *everything]
    catalogue = Catalogue.discover()
    viewer = Viewer(Course(name="A course"), KataTexts(catalogue))
    write_report(rows, viewer, out, built=NOW)
    # Of two katas: what looks at every element takes minutes where there are thirty.
    few = [row for row in rows if row.kata in ("masks", "layer-norm")]
    write_report(few, viewer, out.parent / "few", built=NOW)
    code = (catalogue.resolve_one("masks").stub.read_text() + "    return " + "seen + " * 40 + "1\n").encode()
    if "similar" in COMMANDS:
        from grader.extras.similar.pages import Candidate, compare, similar_page

        works = [Candidate(name, Bundle("masks.py", {"masks.py": code}), 1) for name in (HOSTILE[0], "bo")]
        alike = compare(catalogue.resolve_one("masks"), works)
        (out.parent / "similar.html").write_text(similar_page([alike], [("cleo", "no file")], {}, most=9))
    if "questions" in COMMANDS:  # an extra, which may be absent
        from grader.extras.questions.class_commands import Asked, write_questions
        from grader.extras.questions.quiz import QuizQuestion

        asked = QuizQuestion(
            kind="result", text="What is it?", code="x = 1\n" * 9, options=("1", HOSTILE[1]), right=1,
            why="it ran",
        )  # fmt: skip
        quiz = Asked("ada", "Ada", "masks", "9.3.1", (asked,))
        write_questions([quiz], out.parent / "questions", b"secret")
    return out


Open = Callable[..., Any]
Picture = Callable[[Any, str], None]


@pytest.fixture
def show(look: Open) -> Open:
    """Open a page."""
    return lambda file, width=1200, **settings: look(file.as_uri(), width, **settings)


def pages(report: Path) -> list[Path]:
    """The class report, the fullest page of either kind, and the one with every hostile text in it."""
    fullest = [
        max((report / kind).glob("[!0-9z]*.html"), key=lambda file: file.stat().st_size)
        for kind in ("learners", "feedback")
    ]
    return [report / "index.html", *fullest, *(report / "feedback").glob("zz*.html")]


def test_wide_pictures_scroll_in_a_box_of_their_own(show: Open, report: Path) -> None:
    page = show(pages(report)[1], 390)
    wide = page.evaluate(
        """() => [...document.querySelectorAll("pre")].filter((e) => e.scrollWidth > e.clientWidth)
        .map((e) => (e.scrollLeft = 50, [e.scrollLeft, e.tabIndex, getComputedStyle(e).whiteSpace]))"""
    )
    assert wide
    assert all(left > 0 and index == 0 and space == "pre" for left, index, space in wide)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 375])
def test_every_page_can_be_read_by_everybody(
    show: Open, report: Path, picture: Picture, width: int, scheme: str
) -> None:
    grounds = set()
    few = pages(report.parent / "few")
    named = dict(zip(("report", "learner", "feedback", "hostile"), few, strict=True))
    named |= {file.stem: file for file in report.parent.glob("similar.html")}
    named |= {file.parent.parent.name: file for file in report.parent.glob("questions/*/*.html")}
    for name, file in named.items():
        page = show(file, width, color_scheme=scheme)
        picture(page, f"report-{name}")
        page.evaluate("document.querySelectorAll('details').forEach((folded) => { folded.open = true; })")
        found = Axe().run(page).response["violations"]
        # Whoever means harm has the same kata ten times, which nobody else can.
        told = [one for one in found if (name, one["id"]) != ("hostile", "landmark-unique")]
        assert [(one["id"], one["nodes"][0]["html"]) for one in told] == [], file.name
        assert page.evaluate(CLIPPED) == [], file.name
        assert page.evaluate("typeof window.hacked") == "undefined"
        for other in (width, 320, 700):
            page.set_viewport_size({"width": other, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") == other, file.name
        assert page.evaluate(CONTRAST, READABLE) == []
        assert page.evaluate(CONTRAST, 22.0), "the measure itself can fail"
        grounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert grounds == {"rgb(255, 255, 255)" if scheme == "light" else "rgb(21, 23, 27)"}


@pytest.mark.nightly
def test_print_cuts_nothing_off(show: Open, report: Path) -> None:
    for file in pages(report):
        page = show(file, PAPER, color_scheme="dark")
        page.emulate_media(media="print")
        assert page.evaluate(CUT) == [], file.name
        assert page.evaluate(OUTSIDE) == [], file.name
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert page.evaluate(CONTRAST, READABLE) == []
        assert page.locator("nav:visible, input:visible").count() == 0


def test_a_line_of_the_table_of_learners_is_one_line_high(show: Open, report: Path) -> None:
    heights = "rows => rows.map((row) => row.getBoundingClientRect().height)"
    rows = show(report / "index.html", 1280).locator("table.roll tbody tr:has-text('Okafor')")
    assert 0 < max(rows.evaluate_all(heights)) <= 28


def column(page: Any, number: int) -> list[str]:
    return page.locator(f"table.roll tbody tr:visible > :nth-child({number})").all_inner_texts()  # type: ignore[no-any-return]


@pytest.mark.nightly
def test_the_table_of_learners_sorts_and_finds(show: Open, report: Path) -> None:
    page = show(report / "index.html")
    names = column(page, 1)
    total = page.locator("table.roll thead button", has_text="total")
    total.click()
    scores = [float(text) for text in column(page, 2)]
    assert scores == sorted(scores)
    assert scores[0] < scores[-1]
    assert total.locator("..").get_attribute("aria-sort") == "ascending"
    total.click()
    assert [float(text) for text in column(page, 2)] == scores[::-1]
    page.locator("table.roll thead button", has_text="learner").click()
    assert total.locator("..").get_attribute("aria-sort") is None
    assert sorted(column(page, 1)) == sorted(names)
    page.get_by_label("Find a learner").fill("aDa")
    assert column(page, 1)
    assert all("ada" in name.lower() for name in column(page, 1))
    assert page.get_by_role("status").inner_text() == f"{len(column(page, 1))} of {len(names)}"
    page.get_by_label("Find a learner").fill("Okáfor, barb")
    assert len(column(page, 1)) == 1
    assert "Barbara Okafor" in column(page, 1)[0]


@pytest.mark.nightly
def test_the_table_shows_who_has_at_most_so_much(show: Open, report: Path) -> None:
    page = show(report / "index.html")
    slider = page.get_by_label("With a total of at most")
    slider.focus()
    for _ in range(10):
        page.keyboard.press("ArrowLeft")
    parts = page.locator("table.roll tbody tr:visible > :nth-child(3)").evaluate_all(
        "cells => cells.map((c) => c.dataset.v)"
    )
    assert parts
    assert all(float(part) <= 0.5 for part in parts)
    assert page.get_by_role("status").inner_text() == f"{len(parts)} of {LEARNERS}"


@pytest.mark.nightly
def test_problems_can_be_walked_through_one_at_a_time(show: Open, report: Path) -> None:
    file = max((report / "feedback").glob("[!z]*.html"), key=lambda path: path.read_text().count("<article"))
    page = show(file, 390)
    articles = page.locator("article")
    assert articles.count() > 1
    page.get_by_label("Show").select_option("one problem at a time")
    seen = []
    slider = page.get_by_role("slider", name="Problem")
    slider.focus()
    for _ in range(articles.count()):
        assert page.locator("article:visible").count() == 1
        seen.append(page.locator("article:visible").inner_text())
        page.keyboard.press("ArrowRight")
    assert len(seen) == articles.count()
    assert len(set(seen)) == len(seen)
    page.get_by_label("Show").select_option("everything")
    assert page.locator("article:visible").count() == articles.count()
    assert show(file, java_script_enabled=False).locator("select, input").count() == 0


def test_without_a_script_everything_is_there(show: Open, report: Path) -> None:
    page = show(report / "index.html", java_script_enabled=False)
    assert page.locator("table.roll tbody tr").count() == LEARNERS
    assert page.locator("button, input").count() == 0
    links = page.locator("table.roll tbody a").evaluate_all("links => links.map((link) => link.href)")
    assert len(links) == 3 * LEARNERS
    for link in links:
        assert Path(link.removeprefix("file://")).is_file()


def test_a_page_refuses_what_is_not_its_own(browser: Any, report: Path) -> None:
    """Were something to slip into a page after all, it would neither run nor ask for anything."""
    context = browser.new_context()
    page = context.new_page()
    refused: dict[str, str] = {}
    page.on("requestfailed", lambda request: refused.update({request.url: request.failure}))
    page.goto((report / "index.html").as_uri())
    page.evaluate(
        """() => {
          const script = document.createElement("script");
          script.textContent = "window.hacked = 1";
          const style = document.createElement("style");
          style.textContent = "body { visibility: hidden }";
          document.body.append(script, style);
          document.body.insertAdjacentHTML("beforeend", "<img src='https://evil.invalid/x' onerror='window.hacked = 1'>"
            + "<p id=late style='position: fixed' onclick='window.hacked = 1'>x</p><iframe src='https://evil.invalid/'></iframe>");
          document.querySelector("#late").click();
        }"""
    )
    assert page.evaluate("typeof window.hacked") == "undefined"
    assert page.evaluate("getComputedStyle(document.body).visibility") == "visible"
    assert page.evaluate("getComputedStyle(document.querySelector('#late')).position") == "static"
    assert refused["https://evil.invalid/x"] == "csp"
    context.close()
