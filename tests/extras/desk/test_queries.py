"""What a page of the desk reads: as few queries in a large class as in a small one, names however they are spelled."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from grader.catalogue import Catalogue
from grader.extras.desk.look_alikes import LookAlikes
from grader.extras.desk.queries import DeskReader
from grader.extras.desk.routes import Desk
from grader.extras.desk.sheets import Sheets
from grader.instructor.gradebook.course import Course
from grader.instructor.gradebook.identities import LEARNT_BY
from grader.instructor.gradebook.store import Gradebook
from grader.instructor.gradebook.written_answers import Rubrics
from grader.instructor.html import KataTexts
from tests.extras.desk import made_class
from tests.extras.desk.test_groups import failing, recorded
from tests.extras.desk.test_sheets import hand_in
from tests.gradebook.handmade import adjust, decide, mark_of
from tests.pages import demo_class

pytestmark = pytest.mark.slow

Get = Callable[..., str]

PAGES: dict[str, tuple[str, dict[str, str], int]] = {
    "course": ("/", {}, 8),
    "class": ("/class", {}, 3),
    "another page of it": ("/class", {"page": "2"}, 3),
    "filtered": ("/class", {"kata": "masks", "status": "fail"}, 3),
    "mark": ("/mark", {"learner": "ada.0000", "of": "masks"}, 23),
    "mark, filtered": ("/mark", {"learner": "ada.0000", "of": "masks", "status": "fail"}, 23),
    "written": ("/written", {}, 3),
    "disputes": ("/disputes", {}, 3),
    "log": ("/log", {}, 5),
}
"""By a name, where it is and how many queries it may take."""


def desk_over(where: str, folder: Path) -> tuple[Gradebook, Get]:
    """Return a gradebook, and what returns a page of a desk over it, which looks again each time."""
    catalogue = Catalogue.discover()
    book = Gradebook.open(where, create=False, course=Course.load(folder / "course.toml", catalogue))
    reader = DeskReader(book, KataTexts(catalogue), "kim")
    desk = Desk(reader, Sheets(reader, Rubrics(catalogue, book)), LookAlikes(book), catalogue)
    app = desk.app()

    def get(path: str, **query: str) -> str:
        scope: dict[str, Any] = {
            "type": "http", "method": "GET", "path": path, "headers": [],
            "query_string": urlencode(query).encode(),
        }  # fmt: skip
        sent: list[Any] = []

        async def receive() -> Any:
            return {"type": "http.request"}

        async def send(message: Any) -> None:
            sent.append(message)

        reader.everybody.invalidate()
        with ThreadPoolExecutor(1) as thread:  # a loop of its own, whatever this process has running
            thread.submit(asyncio.run, app(scope, receive, send)).result()
        assert sent[0]["status"] == 200, sent
        return b"".join(message.get("body", b"") for message in sent[1:]).decode()

    return book, get


@pytest.fixture
def asked() -> Iterator[list[tuple[str, Any]]]:
    """The queries that are asked, each with what it is given."""
    found: list[tuple[str, Any]] = []

    def note(_connection: object, _cursor: object, statement: str, given: Any, *_rest: object) -> None:
        if statement.lstrip().startswith("SELECT"):
            found.append((statement, given))

    event.listen(Engine, "before_cursor_execute", note)
    yield found
    event.remove(Engine, "before_cursor_execute", note)


@pytest.mark.nightly
def test_a_page_takes_as_few_queries_in_a_large_class_as_in_a_small_one(
    tmp_path: Path, asked: list[tuple[str, Any]]
) -> None:
    counts: list[dict[str, int]] = []
    for size in (6, 130):
        folder = tmp_path / str(size)
        folder.mkdir()
        book, get = desk_over(made_class.make(folder, size), folder)
        with book:
            decide(book, "reviewed", "ada.0000", 1, comment="-", author="kim", kata="masks")
            get("/")
            counts.append({})
            for name, (path, query, _) in PAGES.items():
                asked.clear()
                get(path, **query)
                counts[-1][name] = len(asked)
    # Where nothing is an error, no report is read for the page of the course; else in portions.
    assert counts[0] | {"course": 8} == counts[1]
    assert {name: most for name, (_, _, most) in PAGES.items() if counts[1][name] > most} == {}


@pytest.mark.nightly
def test_after_a_decision_one_learner_is_read_again(tmp_path: Path, asked: list[tuple[str, Any]]) -> None:
    book, get = desk_over(made_class.make(tmp_path, 60), tmp_path)
    with book:
        get("/class")
        adjust(book, "ada.0000", "masks", 1, comment="-", author="lee")
        asked.clear()
        assert "ada.0000" in get("/class", only="changed")
        read = [given for statement, given in asked if "FROM submissions JOIN attempts" in statement]
        assert len(read) == 1
        learner_katas_and_constants = len(read[0])
        assert learner_katas_and_constants <= 3 + len(book.katas())
        asked.clear()
        get("/class", only="changed")
        assert len(asked) <= 3


@pytest.mark.parametrize("page", ["/groups", "/items"])
def test_of_what_came_in_since_alone_the_report_is_read(
    page: str, tmp_path: Path, asked: list[tuple[str, Any]]
) -> None:
    (tmp_path / "course.toml").write_text('name = "a course"')
    where = tmp_path / "book.sqlite"
    recorded(where, [failing("x = 1", "shifted") for _ in range(9)]).close()
    book, get = desk_over(str(where), tmp_path)
    with book:
        assert "turned" not in get(page)
        recorded(where, [failing("x = 2", "turned")]).close()
        asked.clear()
        assert "turned" in get(page)
        assert [len(given) for statement, given in asked if "attempts.report" in statement] == [1]


def test_what_no_check_could_judge_is_on_the_page_of_the_course_with_its_reason(tmp_path: Path) -> None:
    row = next(one for one in demo_class.rows(9) if one.kata == "masks" and one.report.status != "missing")
    why = "ada.zip is a 7z archive\nunpack it <now>"
    report = msgspec.structs.replace(row.report, status="error", message=why, checks=[])
    where = made_class.make(tmp_path, 0, rows=[mark_of(report, learner=row.learner, name=row.name)])
    book, get = desk_over(where, tmp_path)
    with book:
        page = get("/")
    assert "The checks could not judge" in page
    assert "ada.zip is a 7z archive unpack it &lt;now&gt;" in page
    assert f"/mark?learner={row.learner}&amp;of=masks" in page


def test_what_was_said_under_another_spelling_is_about_the_same_learner(tmp_path: Path) -> None:
    graded = [one for one in demo_class.rows(9) if one.kata == "masks" and one.report.status != "missing"]
    rows = [
        msgspec.structs.replace(one, learner=name)
        for one, name in zip(graded, ("zoe\u0308", "zo\xeb"), strict=False)
    ]
    where = made_class.make(tmp_path, 0, rows=rows[:1])
    with Gradebook.open(where, create=False) as first:  # in week 1 the folder was spelled so
        decide(
            first, "dispute", rows[0].learner, None, comment="Mine is right.", author="kim", kata=rows[0].kata
        )
    made_class.fill(where, rows[1:])
    book, get = desk_over(where, tmp_path)
    with book:
        assert len(book.learners()) == 1
        (name,) = book.learners()
        assert re.search(r"<strong>1</strong> of 1\b", get("/class", only="disputed"))
        for page in ("/disputes", "/log"):
            link = re.search(r'href="/mark\?([^"]+)"', get(page))
            assert link is not None
            assert urlencode({"learner": name}) in link[1]


def test_namesakes_strangers_and_what_waits_are_told(tmp_path: Path) -> None:
    graded = [one for one in demo_class.rows(9) if one.kata == "masks" and one.report.status != "missing"]
    names = ("Xiao Li", "Xiao Li", "Ada Abel")
    rows = [msgspec.structs.replace(one, name=name) for one, name in zip(graded, names, strict=False)]
    where = made_class.make(tmp_path, 0, rows=rows)
    *roster, _ = (tmp_path / "roster.csv").read_text().splitlines()
    (tmp_path / "roster.csv").write_text("\n".join(roster))
    hand_in(where, [rows[0].learner])
    book, get = desk_over(where, tmp_path)
    with book:
        page = get("/class")
        for row, both in zip(rows, (True, True, False), strict=True):
            line = next(line for line in page.splitlines() if f"learner={row.learner}&" in line)
            assert (f'<span class="soft small"><bdi>{row.learner}</bdi></span>' in line) == both
            assert ("not in the roster" in line) == (row is rows[-1])
        for path in ("/", "/class"):  # two of its questions have an answer
            assert re.search(r'href="/written">Written <span class="tag">2</span>', get(path))
        assert "feedback shows them" in get("/disputes")
        order = [page.index(f"learner={row.learner}&") for row in (rows[2], *rows[:2])]
        assert order == sorted(order), "by last name"


def test_a_learner_is_found_by_any_word_of_a_name_without_accents(tmp_path: Path) -> None:
    book, get = desk_over(made_class.make(tmp_path, 30), tmp_path)
    with book:
        for words in ("perez", "PÉREZ", "Pérez"):
            page = get("/class", find=words)
            assert "Pérez" in page, words
            assert "Okafor" not in page


@pytest.mark.nightly
def test_the_log_is_not_flooded_by_names_that_were_learnt(tmp_path: Path) -> None:
    book, get = desk_over(made_class.make(tmp_path, 1), tmp_path)
    with book:
        adjust(book, "ada.0000", "masks", 1, comment="ours to mend", author="kim")
        for number in range(250):
            learnt = decide(book, "alias", "ada.0000", f"ada_{number}", comment="the same", author=LEARNT_BY)
        decide(book, "alias", "ada.0000", "countess", comment="told in class", author="kim")
        page = get("/log")
        assert "ours to mend" in page
        assert "countess" in page
        assert "ada_24" not in page
        book.undo(learnt, comment="somebody else", author="kim")
        assert "ada_249" in get("/log")
