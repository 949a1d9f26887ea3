"""Feedback: it says what helps, nothing that is hidden, and obeys nobody."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from grader.catalogue import Catalogue, read_hints
from grader.instructor.gradebook.course import Assignment, Course
from grader.instructor.gradebook.row_types import Mark
from grader.instructor.html.viewer import hint_about
from tests.pages.builders import HOSTILE, adjusted, check, failed, feedback_of, hostile_rows, row, written


class Parsed(HTMLParser):
    """What a browser would make of a page: elements, attributes, text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.pieces: list[str] = []
        self.blocks: list[str] = []
        self.open_block = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag == "pre":
            self.blocks.append("")
            self.open_block = True

    def handle_endtag(self, tag: str) -> None:
        self.open_block = self.open_block and tag != "pre"

    def handle_data(self, data: str) -> None:
        self.pieces.append(data)
        if self.open_block:
            self.blocks[-1] += data

    @property
    def text(self) -> str:
        return " ".join("".join(self.pieces).split())


def both(tmp_path: Path, *rows: Mark, course: Course | None = None) -> tuple[str, str]:
    """The text of the feedback's page, and the Markdown without its escapes."""
    written(list(rows), tmp_path / "out", course=course)
    page = Parsed(feedback_of(tmp_path / "out")).text
    return page, re.sub(r"\\(\W)", r"\1", feedback_of(tmp_path / "out", ".md"))


# What it says


def test_a_failure_has_its_message_as_it_was_and_the_likely_mistake(tmp_path: Path) -> None:
    picture = "first difference\n  key   0 1 2\n  q0    # . .\n  q1    # ! ."
    page, markdown = both(
        tmp_path,
        row(checks=[failed("nothing later", picture, likely="it is shifted", output="mine 1\n"), check()]),
    )
    assert picture in Parsed(feedback_of(tmp_path / "out")).blocks
    assert f"```text\n{picture}\n```" in markdown
    for told in (page, markdown):
        assert "nothing later" in told
        assert "0 of 1 point" in told
        assert "it is shifted" in told
        assert "mine 1" in told
        assert "it adds up" in told


def test_a_failed_kata_has_the_first_hint_only(tmp_path: Path) -> None:
    hints = read_hints(Catalogue.discover().resolve_one("masks").hints)
    first, second = (re.findall(r"[A-Z][a-z ,]{20,}", hint)[0] for hint in hints[:2])
    page, markdown = both(tmp_path, row(checks=[failed()]))
    for told in (page, " ".join(markdown.split())):
        assert first in told
        assert second not in told
        assert "kata hint masks" in told


HINT = """Read the lesson first.

- `one`, `other`: draw it.
  On paper.
- `three.forward`: count.
- Any of them: print it."""


@pytest.mark.parametrize(
    ("told", "left_out"),
    [
        (["called  other(4)"], ["count"]),
        (["called  three(4)"], ["draw", "paper"]),
        (["called  one(4)", "called  three(4)"], []),
        (["the output is [T, T]"], []),
        ([], []),
    ],
)
def test_a_hint_is_about_what_went_wrong(told: list[str], left_out: list[str]) -> None:
    found = hint_about(HINT, told)
    for word in ("Read", "draw", "paper", "count", "print"):
        assert (word in found) == (word not in left_out), found
    assert found != HINT or not left_out


def test_after_a_pass_come_questions_without_answers(tmp_path: Path) -> None:
    text = Catalogue.discover().resolve_one("masks").reflections.read_text()
    question = text.split("## ")[1].splitlines()[0]
    answer = text.split("## ")[1].splitlines()[2]
    _, markdown = both(tmp_path, row(checks=[check()]))
    assert question in markdown
    assert answer not in markdown
    assert "A hint" not in markdown


def test_lateness_and_peoples_words_explain_the_score(tmp_path: Path) -> None:
    own = row(
        checks=[check(max_points=10.0, points=10.0)], days_late=1.25, late_points=2.5, score=8.5,
        adjustments=[adjusted(1, "a fine proof"), adjusted(5, "by mistake", revoked=True)],
    )  # fmt: skip
    by_hand = row(kata="layer-norm", adjustments=[adjusted(9, "by hand", kind="override")])
    page, markdown = both(tmp_path, own, by_hand)
    for told in (page, markdown):
        assert "10 by the checks" in told
        assert "1.25 days late: \N{MINUS SIGN}2.5" in told
        assert "adjusted: +1" in told
        assert "a fine proof" in told
        assert "set to 9" in told
        assert "by mistake" not in told
        assert "kim" not in told
        assert "8.5 of 10 points" in told


@pytest.mark.parametrize(
    ("status", "message", "says"),
    [
        ("error", "masks.py does not load.", "masks.py does not load."),
        ("missing", "There is no masks.py.", "There is no masks.py."),
        ("not_started", None, "kata show masks"),
    ],
)
def test_one_reason_for_all_checks_is_said_once(
    tmp_path: Path, status: str, message: str | None, says: str
) -> None:
    checks = [failed(f"claim {n}", "not run", status="skipped", id=f"test_{n}") for n in range(5)]
    page, markdown = both(tmp_path, row(status=status, message=message, checks=checks))
    for told in (page, markdown):
        assert says in told
        assert "claim 3" not in told


def test_what_was_skipped_takes_a_line_beside_what_went_wrong(tmp_path: Path) -> None:
    why = "skipped: “it adds up” has to hold first"
    checks = [failed("it adds up", "called  f(1)\nfirst difference  got 1  want 2")]
    checks += [failed(f"claim {n}", why, status="skipped", id=f"test_{n}") for n in range(3)]
    _, markdown = both(tmp_path, row(checks=checks))
    page = feedback_of(tmp_path / "out")
    assert page.count("<article") == 1
    assert len(re.findall(r"(?s)<li>(?:(?!</li>).)*claim \d(?:(?!</li>).)*has to hold first", page)) == 3
    assert len(re.findall(r"(?m)^- claim \d: skipped: .*has to hold first \(0 of ", markdown)) == 3


@pytest.mark.parametrize(
    ("message", "wrapping"),
    [
        (
            "called  f(1)\nfirst difference  got 1  want 2",
            ["called  f(1)", "first difference  got 1  want 2"],
        ),
        ("called  f(1)\n\n     key 0 1\nquery 0  #.", ["called  f(1)", "query 0  #."]),
        ("the row\n[1.0   2.0   3.0]", ["the row"]),
        (
            "called  f(x)   x float32 [2]\n    y   int64 [3]\n  a 1   want -inf\nwant -inf",
            [
                "called  f(x)   x float32 [2]",
                "    y   int64 [3]",
                'want <span class="whole">-inf</span>',
            ],
        ),
    ],
)
def test_lines_of_words_wrap_and_those_of_pictures_do_not(
    tmp_path: Path, message: str, wrapping: list[str]
) -> None:
    both(tmp_path, row(checks=[failed("it adds up", message)]))
    assert re.findall('<span class="words">(.*)</span>', feedback_of(tmp_path / "out")) == wrapping


def test_totals_are_weighed_and_moments_are_in_the_courses_time_zone(tmp_path: Path) -> None:
    from zoneinfo import ZoneInfo

    course = Course(weights={"masks": 2.0}, timezone=ZoneInfo("Asia/Tokyo"))
    rows = [row(checks=[check()]), row(kata="layer-norm", number="9.3.3", checks=[failed()])]
    page, markdown = both(tmp_path, *rows, course=course)
    assert "2 of 3 points" in page
    assert "2 of 3 points" in markdown
    for told in (page, markdown):  # else the lines do not add up to the total
        assert "1 of 1 × 2" in told
        assert "In the total, a kata counts as many times as the number after × says." in told
    assert "2026-03-03 02:00 JST" in page


def test_several_assignments_come_one_by_one_and_the_last_is_open(tmp_path: Path) -> None:
    weeks = {
        "week1": Assignment("week1", katas=("masks",)),
        "week2": Assignment("week2", title="Norms", katas=("layer-norm",)),
    }
    rows = [
        row(checks=[check()]),
        row(kata="layer-norm", number="9.3.3", checks=[failed()]),
        row(kata="gone", number="1.2", checks=[check()]),
    ]
    _, markdown = both(tmp_path, *rows, course=Course(assignments=weeks))
    page = feedback_of(tmp_path / "out")
    found = re.findall(
        r'<details class="week"( open)?><summary><h2>(.*?)</h2> <span class="score">(.*?)</span>', page
    )
    assert found == [
        (" open", "Norms", "0 of 1 point"), ("", "week1", "1 of 1 point"), ("", "Other katas", "1 of 1 point"),
    ]  # fmt: skip
    # The table at the top leads into them.
    assert re.findall('<h2 id="(k.)">', page) == ["k2", "k1", "k3"]
    assert re.findall("(?m)^# (.*)", markdown)[1:] == [
        "Norms: 0 of 1 point", "week1: 1 of 1 point", "Other katas: 1 of 1 point",
    ]  # fmt: skip
    written(rows[:1], tmp_path / "one", course=Course(assignments=weeks))
    assert '<details class="week' not in feedback_of(tmp_path / "one"), "there is nothing to tell apart"


def test_a_kata_that_has_left_the_catalogue_is_still_told(tmp_path: Path) -> None:
    page, markdown = both(tmp_path, row(kata="gone", number="1.2", checks=[failed()]))
    assert "1.2 gone" in page
    assert "got 1  want 2" in markdown


# What it does not say


def test_no_file_of_the_feedback_holds_anything_of_a_hidden_check_or_a_seed(tmp_path: Path) -> None:
    told = ("name", "id", "message", "misconception", "likely", "output")
    rows, names = [], []
    for number, status in enumerate(["pass", "fail", "error", "timeout", "skipped"]):
        words = {field: f"Secret{field}{number}" for field in told}
        names.append(words["name"])
        secret = check(hidden=True, status=status, location={"Secretaxis": 987654}, **words)
        rows.append(
            row(kata=f"nine-{number}", number=f"9.{number}", seed=987654, checks=[failed(), secret, check()])
        )
    written(rows, tmp_path / "out")
    files = list((tmp_path / "out/feedback").iterdir())
    assert {file.suffix for file in files} == {".html", ".md"}
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert "Secret" not in text
        assert "987654" not in text
        assert "hidden check" in text
    (page,) = (tmp_path / "out/learners").iterdir()
    assert all(name in page.read_text(encoding="utf-8") for name in names), "the instructor sees them"


def test_hidden_checks_are_counted_with_their_points_and_aspects(tmp_path: Path) -> None:
    secret = [
        failed("secret one", hidden=True, aspect="masks", max_points=2.0),
        check("secret two", hidden=True, aspect="dtype", points=3.0, max_points=3.0),
    ]
    for told in both(tmp_path, row(checks=[check(), *secret])):
        assert "2 hidden checks, 3 of 5 points. They look at: dtype, masks." in told
        assert "secret" not in told


# Hostile texts

UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
ALLOWED = {"#", "..", "learners", "feedback"}


def test_no_hostile_text_becomes_a_part_of_a_page(tmp_path: Path) -> None:
    out = tmp_path / "out"
    written(hostile_rows(), out)
    pages = sorted(out.rglob("*.html"))
    assert len(pages) == 2 * len(HOSTILE) + 1
    for file in pages:
        text = file.read_text(encoding="utf-8")
        page = Parsed(text)
        assert not UNPRINTABLE.search(text)
        assert page.tags.count("script") == 1, "each page has its own, known by its hash"
        assert page.tags.count("h1") == 1
        assert not {"img", "iframe", "object", "form", "base", "link"} & set(page.tags)
        for name, value in page.attributes:
            assert not name.startswith("on")
            assert name not in ("style", "src", "srcset", "action")
            if name == "href":
                assert value is not None
                assert value.startswith("#") or value.split("/")[0] in ALLOWED
                assert re.fullmatch(r"[#\w./-]+", value)
    assert "<script>window.hacked = 1</script>" in Parsed(pages[0].read_text()).text


def test_no_hostile_text_becomes_a_part_of_the_markdown(tmp_path: Path) -> None:
    out = tmp_path / "out"
    written(hostile_rows(), out)
    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    files = sorted((out / "feedback").glob("*.md"))
    assert len(files) == len(HOSTILE)
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert not UNPRINTABLE.search(text)
        tokens = reader.parse(text)
        inside = [child for token in tokens for child in token.children or ()]
        kinds = {token.type for token in (*tokens, *inside)}
        assert not {"html_block", "html_inline", "link_open", "image"} & kinds
        headings = [
            tokens[place + 1].content for place, token in enumerate(tokens) if token.type == "heading_open"
        ]
        assert not any(heading.startswith("heading of") for heading in headings)
        assert sum(token.type == "heading_open" and token.tag in ("h1", "h2") for token in tokens) == 2


MARKUP = st.text("`*_[]()<>!#-+=~|&@$\\:/. 1aw\n\t", max_size=40)


@pytest.mark.slow
@given(MARKUP | st.text(max_size=200))
@settings(max_examples=400, deadline=None)
def test_markdown_shows_any_name_letter_by_letter(name: str) -> None:
    from grader.instructor.html.text import escape_markdown
    from grader.report.style import escape_controls

    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    heading, line, item = (
        reader.parse(f"# {escape_markdown(name)}"),
        reader.parse(f"x {escape_markdown(name)}"),
        reader.parse(f"- {escape_markdown(name)}"),
    )
    assert [token.type for token in heading] == ["heading_open", "inline", "heading_close"]
    shown = "".join(child.content for child in line[1].children or ())
    assert shown == " ".join(f"x {escape_controls(name)}".split())
    assert sum(token.type == "bullet_list_open" for token in item) == 1
    assert not any(token.type in ("ordered_list_open", "heading_open", "fence", "hr") for token in item)


@given(st.text("`~\n a", max_size=60))
@settings(max_examples=200, deadline=None)
def test_nothing_closes_a_fence(text: str) -> None:
    from grader.instructor.html.text import fenced

    tokens = MarkdownIt().parse(fenced(text) + "\n\nafter")
    assert [token.type for token in tokens] == ["fence", "paragraph_open", "inline", "paragraph_close"]
    assert tokens[0].content == text + "\n"


def test_floods_are_cut_and_say_so(tmp_path: Path) -> None:
    flood = "x" * 100_000
    lines = "\n".join(f"line {number}" for number in range(20_000))
    problems = [failed("one", flood, output=lines), failed("two", lines, output=flood, id="test_two")]
    own = row("a" * 300, name="b" * 5000, checks=problems, message=lines, output=flood)
    page, markdown = both(tmp_path, own)
    assert len(page) < 60_000
    assert len(markdown) < 60_000
    for told in (page, markdown):
        assert "line 19999" in told
        assert "19960 earlier lines" in told
        assert "19920 more lines" in told
        assert "b" * 130 not in told


def test_what_to_look_at_in_a_file_is_the_instructors_alone(tmp_path: Path) -> None:
    words = "torch is asked for a name that is made at run time (line 3)"
    written([row(look_at=[words])], tmp_path / "out")
    (page,) = (tmp_path / "out/learners").glob("*.html")
    assert words in Parsed(page.read_text(encoding="utf-8")).text
    assert words not in Parsed(feedback_of(tmp_path / "out")).text + feedback_of(tmp_path / "out", ".md")
