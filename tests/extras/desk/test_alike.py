"""Pairs that are alike have names and links, and what somebody found out about them is not asked again."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

import pytest

from grader.catalogue import Catalogue
from grader.errors import EngineError
from grader.extras.desk import look_alikes, process
from grader.extras.desk.look_alikes import AlikePair, clusters
from grader.instructor.gradebook import events
from grader.instructor.gradebook.store import Gradebook
from grader.instructor.submissions import Bundle, Submission
from tests import answers
from tests.extras.desk.conftest import Open, Running
from tests.extras.desk.test_queries import desk_over
from tests.gradebook.handmade import key, report
from tests.ours import OWN
from tests.standby.conftest import wait_for

pytestmark = pytest.mark.slow

PEOPLE = {"ada": "Ada Lovelace", "bob": "Bob Roe", "cy": "Cy Day", "dan": "Dan Kay"}
OTHER = """
def explain(mask):
    rows = [row.nonzero().flatten().tolist() for row in mask]
    longest = max((len(row) for row in rows), default=0)
    table = [row + [None] * (longest - len(row)) for row in rows]
    return {number: tuple(filter(None, row)) for number, row in enumerate(table)}


def causal_mask(length):
    seen = [[column <= row for column in range(length)] for row in range(length)]
    while len(seen) < length and seen[-1][0] is not None:
        seen.append([not value for value in reversed(seen[-1])])
    return torch.stack([torch.as_tensor(row, dtype=torch.bool) for row in seen], dim=-2)
"""


@pytest.fixture
def desk(running: Open, tmp_path: Path) -> Running:
    """A class of which two are alike in two katas, and two others in one, in which they share more."""
    honest = {one.name: one.text for one in answers.right(Catalogue.discover().resolve_one("masks"))}
    masks = {**dict(list(honest.items())[:8]), "ada": OWN, "bob": OWN, "cy": OTHER, "dan": OTHER}
    norms = {"ada": OWN, "bob": f"{OWN}\n# mine\n", "cy": "x = 1\n", "dan": "y = [1, 2]\n"}
    with Gradebook.open(str(tmp_path / "gradebook.sqlite"), create=True) as book:
        run = book.start_run({})
        for slug, module, texts in (("masks", "masks.py", masks), ("layer-norm", "layer_norm.py", norms)):
            for learner, text in texts.items():
                files = {module: text.encode()}
                given = Submission(learner=learner, kata=slug, bundle=Bundle(module, files))
                run.record(given, key(given), report(learner, slug))
        run.finish()
    lines = ["learner,name", *(f"{learner},{name}" for learner, name in PEOPLE.items())]
    (tmp_path / "roster.csv").write_text("\n".join(lines))
    (tmp_path / "course.toml").write_text('name = "A class"\nroster = "roster.csv"\n')
    return running(str(tmp_path / "gradebook.sqlite"), tmp_path)


def compared(desk: Running, **query: str) -> str:
    """The page, as soon as everything was compared."""
    page = desk.page("/alike", **query)
    while "data-again" in page:
        page = desk.page("/alike", **query)
    return page


def listed(page: str) -> list[str]:
    """The pairs on the page of all katas, as they are read."""
    found = re.findall(r"<li><a href=\"/mark.*?</li>", page, re.DOTALL)
    return [" ".join(re.sub("<[^>]*>", " ", one.split("<form")[0]).split()) for one in found]


def test_what_one_desk_has_compared_the_next_need_not(
    desk: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = compared(desk)
    assert 'byte for byte: <a href="/alike?kata=masks">' in page
    book, get = desk_over(desk.where, tmp_path)

    def refuse(*_: object) -> None:
        raise EngineError("compared again")

    monkeypatch.setattr(process, "ask", refuse)
    with book:
        wait_for(lambda: "data-again" not in get("/alike"))
        assert listed(get("/alike")) == listed(page) != []
        assert "compared again" not in get("/alike", kata="masks")
        # What is handed in afterwards is compared anew.
        run = book.start_run({})
        given = Submission(learner="eve", kata="masks", bundle=Bundle("masks.py", {"masks.py": OWN.encode()}))
        run.record(given, key(given), report("eve", "masks"))
        run.finish()
        wait_for(lambda: "compared again" in get("/alike", kata="masks"))


def test_what_one_desk_compares_another_waits_for(
    desk: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, may_end, compare, compared_katas = threading.Event(), threading.Event(), process.ask, []
    waits = threading.Event()

    def slow(module: str, asked: Any, *rest: Any) -> Any:
        compared_katas.append(asked[1])
        begun.set()
        may_end.wait(timeout=60)
        return compare(module, asked, *rest)

    monkeypatch.setattr(process, "ask", slow)
    monkeypatch.setattr(look_alikes.time, "sleep", lambda _: waits.set())
    one, first = desk_over(desk.where, tmp_path)
    two, second = desk_over(desk.where, tmp_path)
    with one, two:
        assert "data-again" in first("/alike", kata="masks")
        begun.wait(timeout=60)
        assert "data-again" in second("/alike", kata="masks")
        waits.wait(timeout=60)
        may_end.set()
        for get in (first, second):
            wait_for(lambda get=get: "data-again" not in get("/alike", kata="masks"))
            assert "Ada Lovelace" in get("/alike", kata="masks")
    assert compared_katas == ["masks"]


@pytest.mark.nightly
def test_a_verdict_is_recorded_once_for_all_katas_and_taken_back(desk: Running) -> None:
    first, second = listed(compared(desk))
    assert first.startswith("Ada Lovelace and Bob Roe : ")
    assert {"Attention masks", "Layer normalisation"} == {
        one for one in ("Attention masks", "Layer normalisation") if one in first
    }
    assert second.startswith("Cy Day and Dan Kay : Attention masks identical")
    form = {"left": "ada", "right": "bob", "katas": "masks layer-norm", "back": "/alike"}
    made = desk.ask("POST", "/do/verdict", urlencode({**form, "comment": "talked to, cleared"}))
    assert made.status == 303
    page = compared(desk)
    assert ("To look at: 1" in page, "Settled: 1" in page) == (True, True)
    assert [one.split(" : ")[0] for one in listed(page)] == ["Cy Day and Dan Kay", "Ada Lovelace and Bob Roe"]
    assert listed(page)[1].count("talked to, cleared") >= 2
    assert "talked to, cleared" in desk.mark("bob", "masks")
    number = made.headers["location"].rpartition("just=")[2].partition("&")[0]
    undone = {"number": number, "comment": "not yet", "back": "/alike"}
    assert desk.ask("POST", "/do/withdraw", urlencode(undone)).status == 303
    assert "To look at: 2" in compared(desk)


@pytest.mark.nightly
def test_pairs_and_identical_files_lead_to_what_was_handed_in(desk: Running) -> None:
    compared(desk)
    page = compared(desk, kata="masks")
    pairs = [" ".join(one.split()) for one in re.findall(r"<summary><bdi>(.*?)</bdi>", page)]
    assert pairs == [
        "Ada Lovelace, attempt 1 and Bob Roe, attempt 1",
        "Cy Day, attempt 1 and Dan Kay, attempt 1",
    ]
    assert 'Also alike in <a href="/alike?kata=layer-norm">' in page
    links = re.findall(r'<li>masks\.py: <a href="/mark\?([^"]*)"', page)
    assert len(links) == 2
    for link in links:
        shown = desk.ask("GET", f"/mark?{link.replace('&amp;', '&')}")
        assert shown.status == 200
        assert 'class="file" open' in shown.text


@pytest.mark.nightly
def test_a_cluster_is_one_row_and_gets_one_verdict(desk: Running, tmp_path: Path) -> None:
    with Gradebook.open(str(tmp_path / "gradebook.sqlite"), create=False) as book:
        run = book.start_run({})
        for learner in ("eve", "fay"):
            files = {"masks.py": OTHER.encode()}
            given = Submission(learner=learner, kata="masks", bundle=Bundle("masks.py", files))
            run.record(given, key(given), report(learner, "masks"))
        run.finish()
    page = compared(desk)
    assert "To look at: 2" in page
    (row,) = (one for one in page.split("<li>") if "A verdict for all 4" in one)
    assert "6 pairs, 6 copies" in row
    form = dict(re.findall(r'name="(pair:\d)" value="([^"]*)"', row))
    assert len(form) == 6
    form = {name: value.replace("&amp;", "&") for name, value in form.items()}
    made = desk.ask("POST", "/do/verdict", urlencode({**form, "comment": "copied", "back": "/alike"}))
    assert made.status == 303
    assert "To look at: 1" in compared(desk)
    with Gradebook.open(str(tmp_path / "gradebook.sqlite"), create=False) as book:
        assert len(book.standing(events.Alike)) == 6


def pair(left: str, right: str, *katas: str, share: float = 0.5, rarity: float = 40.0) -> AlikePair:
    side = SimpleNamespace(share=share)
    found = SimpleNamespace(left=side, right=side, rarity=rarity, identical=False)
    return AlikePair((left, right), dict.fromkeys(katas, found), {})


def test_clusters_are_who_is_connected_copies_first() -> None:
    found = clusters(
        [
            pair("a", "b", "x", "y"),
            pair("c", "d", "x", rarity=90.0),
            pair("e", "f", "x", share=1.0),
            pair("b", "g", "x"),
            pair("g", "h", "x"),
            pair("d", "h", "y"),
        ]
    )
    assert [sorted(cluster.learners) for cluster in found] == [["e", "f"], ["a", "b", "c", "d", "g", "h"]]
    assert [len(cluster.pairs) for cluster in found] == [1, 5]
    assert found[0].copies == {"x": 1}
    settled = AlikePair(("a", "b"), {"x": None}, {"x": None})  # type: ignore[dict-item]
    assert clusters([settled]) == []
