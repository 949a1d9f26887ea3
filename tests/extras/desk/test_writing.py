"""What the desk writes is what commands write: who, when and why, and an undo. Two edits of one thing are told."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest

from grader.catalogue import Catalogue
from grader.extras.desk import actions, queries
from grader.extras.desk.queries import DeskReader, Filter
from grader.instructor.gradebook.course import Course, total
from grader.instructor.gradebook.events import (
    Adjust,
    AnswerMark,
    Assign,
    Close,
    Dispute,
    Provenance,
    Remark,
)
from grader.instructor.gradebook.row_types import Decided, Given, Mark
from grader.instructor.gradebook.store import Gradebook
from grader.instructor.html import KataTexts
from grader.report.style import points
from tests.extras.desk import made_class
from tests.extras.desk.conftest import Open, Running, version_of
from tests.gradebook.conftest import new_schema
from tests.gradebook.handmade import adjust, decide

pytestmark = pytest.mark.slow

WHO = "ada.0000"


@pytest.fixture(scope="module")
def desk(running: Open, tmp_path_factory: pytest.TempPathFactory) -> Running:
    folder = tmp_path_factory.mktemp("written")
    return running(made_class.make(folder, 6), folder)


def opened(desk: Running) -> Gradebook:
    return Gradebook.open(desk.where, create=False, course=Course())


def row_of(desk: Running, kata: str) -> Mark:
    with opened(desk) as book:
        return next(iter(book.rows(katas=[kata], learners=[WHO])))


def test_points_are_given_and_taken_back(desk: Running) -> None:
    before = row_of(desk, "layer-norm").score
    change = {"of": "layer-norm", "points": "+1,5", "comment": "ours <b>to</b> mend"}
    beyond = desk.do("adjust", **change)
    assert (beyond.status, "points there are" in beyond.text) == (400, True)
    assert desk.do("adjust", **change, beyond="1").status == 303
    with opened(desk) as book:
        (event,) = (one.decision for one in book.history(WHO, "layer-norm") if isinstance(one, Decided))
    assert isinstance(event, Adjust)
    assert (event.points, event.made.author, event.made.comment) == (1.5, "kim", "ours <b>to</b> mend")
    assert row_of(desk, "layer-norm").score == before + 1.5
    assert "ours &lt;b&gt;to&lt;/b&gt; mend" in desk.page("/log")
    assert desk.do("revoke", number=event.id, comment="not so").status == 303
    assert row_of(desk, "layer-norm").score == before
    again = desk.do("revoke", number=event.id, comment="twice")
    assert again.status == 400
    assert "already revoked" in again.text


def test_who_handed_nothing_in_is_counted_nowhere_as_work(desk: Running) -> None:
    with opened(desk) as book:
        marks = [one for one in book.marks() if one.kata in ("masks", "masked-attention")]
    there = [one for one in marks if one.status != "missing"]
    assert 0 < len(there) < len(marks)
    first = re.search(r'<a href="/class\?assignment=week1".*?</tr>', desk.page("/"), re.DOTALL)
    assert first is not None
    assert [int(one) for one in re.findall(r"(?<=>)\d+(?=<)", first[0])][:2] == [len(marks), len(there)]
    free = re.search(r"(\d+) hand-ins here have no marker", desk.page("/class", assignment="week1"))
    assert free is not None
    assert int(free[1]) <= len(there)


@pytest.mark.nightly
@pytest.mark.parametrize("named", [False, True], ids=["by default", "by --gradebook"])
def test_look_alikes_are_found_wherever_the_gradebook_is_named_from(
    running: Open, tmp_path: Path, named: bool
) -> None:
    where = made_class.make(tmp_path, 6)
    if named:
        other = tmp_path / "autumn.sqlite"
        Path(where).rename(other)
        where = other.name
    desk = running(where, tmp_path)
    page = desk.page("/alike", kata="masks")
    while "being compared" in page:
        page = desk.page("/alike", kata="masks")
    assert "could not be compared" not in page
    assert "hand-ins" in page


def test_the_list_of_the_class_adds_up_what_the_gradebook_does(desk: Running) -> None:
    """Written answers are part of the total, and attempts are numbered for each learner and kata."""
    rules = Course.load(Path(desk.where).with_name("course.toml"), Catalogue.discover())
    with Gradebook.open(desk.where, create=False, course=rules) as book:
        course = book.course
        before = total(list(book.rows(learners=[WHO])), course)[0]
        made = Provenance(author="kim", comment="")
        given = AnswerMark(question=1, answer="", criteria=(1,), points=1.75, max_points=2.0, made=made)
        book.mark_answers([Given(WHO, "masks", given)])
        assert total(list(book.rows(learners=[WHO])), course)[0] == before, "it is not released"
        worth = {"of": "", "katas": ["masks"], "points": {"masks": [2.0]}}
        decide(book, "release", None, worth, comment="done", author="kim")
        after = total(list(book.rows(learners=[WHO])), course)[0]
        assert after == before + 1.75
        whole = total(list(book.marks(learners=[WHO])), course)
        assert whole.score == after
        last = [one.learner for one in book.rows(katas=["feed-forward"]) if one.attempt][-1]
        event = next(one for one in book.history(last, "feed-forward") if one.kind == "attempt")
    # What others write is shown after half a second; what this desk writes, or tries to, at once.
    assert desk.ask("POST", "/do/revoke", "number=9999&comment=x&back=/log").status == 400
    page = desk.page("/class", find=WHO)
    assert f'<td class="n">{points(after)}</td>' in page
    assert f'total <span class="soft">/{points(whole.most)}</span>' in page
    assert re.search(r'written <span class="soft">/2</span>.*<td class="n">1.75</td>', page, re.DOTALL)
    assert (event.number, (event.attempt or 0) > 1) == (1, True)
    shown = desk.mark(last, "feed-forward")
    assert "attempt 1, which counts" in shown
    assert f"attempt {event.attempt}" not in re.sub("<[^>]*>", "", shown)


@pytest.mark.nightly
def test_a_mark_is_set(desk: Running) -> None:
    assert desk.do("override", of="masks", points="7", comment="by hand").status == 303
    assert row_of(desk, "masks").score == 7
    assert points(7) in desk.mark()


def test_what_two_decide_is_told_and_what_was_typed_is_kept(desk: Running) -> None:
    seen = version_of(desk.mark(kata="feed-forward"))
    change = {"of": "feed-forward", "points": 2, "beyond": "1", "version": seen}
    first = desk.do("adjust", **change, comment="the third check")
    back = f"/mark?learner={WHO}&of=feed-forward"
    second = desk.do("adjust", **change, comment="check three!", back=back)
    assert (first.status, second.status) == (303, 409)
    assert "Nothing was written" in second.text
    assert "the third check" in second.text, "what has changed is on the page"
    assert ">check three!</textarea>" in second.text, "nothing that was typed is lost"
    with opened(desk) as book:
        assert len([one for one in book.history(WHO, "feed-forward") if one.kind == "adjust"]) == 1
    assert version_of(second.text) > seen, "the next try is about what is there now"


@pytest.mark.parametrize(
    ("action", "form"),
    [
        ("adjust", {"points": "nan"}), ("adjust", {"points": "0"}), ("adjust", {"points": ""}),
        ("adjust", {"points": "1e9"}), ("override", {"points": "-1"}), ("override", {"points": "inf"}),
        ("adjust", {"points": "1", "comment": "  "}), ("adjust", {"points": "1", "comment": "x" * 20_001}),
        ("adjust", {"points": "1", "learner": "nobody"}), ("adjust", {"points": "1", "of": "nothing"}),
        ("adjust", {"points": "1", "version": "x"}), ("extend", {"days": "-1"}),
        ("extend", {"days": "4", "for": "week9"}),
        ("choose", {"attempt": "9999"}), ("remark", {"attempt": "1", "file": "../../etc/passwd", "line": "1"}),
        ("remark", {"attempt": "9999", "file": "masks.py", "line": "1"}), ("withdraw", {"number": "9999"}),
        ("answer", {"dispute": "9999"}), ("close", {"dispute": "x"}), ("reviewed", {"attempt": "9999"}),
        ("assign", {"markers": " , "}),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_told_and_writes_nothing(
    desk: Running, action: str, form: dict[str, str]
) -> None:
    with opened(desk) as book:
        before = book.stamps()
    version = version_of(desk.mark(kata="masked-attention"))
    answer = desk.do(action, **{"of": "masked-attention", "comment": "why", "version": version, **form})
    assert answer.status in (400, 404, 409)
    assert "Nothing was written" in answer.text
    assert "Traceback" not in answer.text
    with opened(desk) as book:
        assert book.stamps() == before


def test_a_remark_stands_at_its_line_until_it_is_taken_back(desk: Running) -> None:
    attempt = row_of(desk, "layer-norm").attempt
    said = "why <script>x</script>\nhere?"
    form = {"attempt": attempt, "file": "layer_norm.py", "line": 3, "comment": said, "of": "layer-norm"}
    assert desk.do("remark", **form).status == 303
    page = desk.mark(kata="layer-norm")
    assert "why &lt;script&gt;x&lt;/script&gt;\nhere?" in page
    assert page.index('-3"><td') < page.index("why &lt;") < page.index('-4"><td')
    with opened(desk) as book:
        (ruling,) = book.rulings([Remark])
    assert ruling.value == {"attempt": attempt, "file": "layer_norm.py", "line": 3}
    desk.do("withdraw", number=ruling.id, comment="wrong line")
    assert 'class="said"' not in desk.mark(kata="layer-norm")


@pytest.mark.parametrize("line", ["0", "999999999", "\N{SUPERSCRIPT TWO}", "9" * 5000])
def test_there_is_no_remark_on_a_line_that_is_not_there(desk: Running, line: str) -> None:
    form = {"attempt": row_of(desk, "layer-norm").attempt, "file": "layer_norm.py", "comment": "x"}
    answer = desk.do("remark", **form, line=line, of="layer-norm")
    assert answer.status == 400
    assert "Nothing was written" in answer.text


def test_a_dispute_is_opened_answered_and_closed_with_a_reason(desk: Running) -> None:
    of = {"of": "masked-attention"}
    assert desk.do("dispute", **of, comment="my mask is right").status == 303
    with opened(desk) as book:
        (about,) = book.rulings([Dispute])
    assert "my mask is right" in desk.page("/disputes")
    assert "1 of 6" in re.sub("<[^>]*>", "", desk.page("/class", only="disputed"))
    assert desk.do("answer", **of, dispute=about.id, comment="look at row 2").status == 303
    assert desk.do("close", **of, dispute=about.id, comment="agreed on row 2").status == 303
    page = desk.mark(kata="masked-attention")
    for words in ("my mask is right", "look at row 2", "agreed on row 2"):
        assert words in page
    late = desk.do("answer", **of, dispute=about.id, comment="but")
    assert late.status == 409
    assert "has closed this dispute" in late.text
    with opened(desk) as book:
        (closed,) = book.rulings([Close])
    desk.do("withdraw", number=closed.id, comment="open again")
    assert "0 of 6" not in re.sub("<[^>]*>", "", desk.page("/class", only="disputed"))


def test_more_time_moves_when_it_is_due(desk: Running) -> None:
    assert "due 2026-03-02 12:00" in desk.mark()
    assert desk.do("extend", **{"for": "week1"}, days=3, comment="was ill").status == 303
    assert "due 2026-03-05 12:00" in desk.mark()
    assert "3 more days for week1" in desk.page("/log")


def test_who_takes_the_next_few_takes_different_ones(desk: Running) -> None:
    took = [
        desk.ask("POST", "/do/assign", f"markers={name}&most=3&comment=mine&back=/class&kata=feed-forward")
        for name in ("kim", "lee")
    ]
    assert {one.status for one in took} == {303}
    with opened(desk) as book:
        given = [(one.learner, one.kata) for one in book.rulings([Assign])]
    assert len(given) == len(set(given)) > 3
    assert "<strong>3</strong> of 6" in desk.page("/class", only="mine")
    first = next(name for name, one in book_marks(desk, "kim"))
    page = desk.mark(first, "feed-forward", only="mine")
    number = re.search(r'name="attempt" value="(\d+)"', page)
    assert number is not None
    form = {"learner": first, "of": "feed-forward", "attempt": number[1]}
    assert desk.do("reviewed", **form).status == 303
    assert "<strong>2</strong> of 6" in desk.page("/class", only="mine")


def test_the_next_few_are_those_that_are_free_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Each desk goes on with what it read before the others took theirs.
    monkeypatch.setattr(queries, "FRESH_S", 3600)
    where = made_class.make(tmp_path, 6)
    lessons = KataTexts(Catalogue.discover())
    form = {"kata": "feed-forward", "comment": "mine", "most": "2"}
    with Gradebook.open(where, create=False, course=Course()) as book:
        desks = [DeskReader(book, lessons, name) for name in ("kim", "lee")]
        free = [len(desk.unassigned(Filter.of(form))) for desk in desks]
        assert free[0] == free[1] >= 4
        before = len(list(book.rulings([Assign])))
        for desk in desks:
            actions.assign(desk, form | {"markers": desk.author})
        given = [(one.learner, one.marker) for one in book.standing(Assign)][before:]
    assert [marker for _, marker in given] == ["kim", "kim", "lee", "lee"]
    assert len({learner for learner, _ in given}) == 4


def book_marks(desk: Running, marker: str) -> list[tuple[str, str]]:
    with opened(desk) as book:
        return [(one.learner, str(one.kata)) for one in book.standing(Assign) if one.marker == marker]


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def shared_by(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "gradebook.sqlite")
    return new_schema(request.getfixturevalue("postgres"))


@pytest.mark.nightly
def test_of_many_markers_no_edit_is_lost(shared_by: str, tmp_path: Path) -> None:
    """Each looks, decides, and looks again where somebody was faster: all their points are there in the end."""
    from grader.instructor.gradebook.errors import ConflictError

    made_class.make(tmp_path, 2, shared_by)
    told, each, markers = [0], 8, 4

    def work(name: str) -> None:
        with Gradebook.open(shared_by, create=False) as book:
            left = each
            while left:
                seen = book.version(WHO, "masks")
                try:
                    adjust(book, WHO, "masks", 1, comment=name, author=name, seen=seen)
                    left -= 1
                except ConflictError:
                    told[0] += 1

    threads = [threading.Thread(target=work, args=(f"marker{n}",)) for n in range(markers)]
    with Gradebook.open(shared_by, create=False) as book:
        before = next(iter(book.rows(katas=["masks"], learners=[WHO]))).score
        first = book.version(WHO, "masks")
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        after = next(iter(book.rows(katas=["masks"], learners=[WHO]))).score
        assert after - before == each * markers
        assert book.version(WHO, "masks") == first + each * markers
