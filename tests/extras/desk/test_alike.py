"""Pairs that are alike have names and links, and what somebody found out about them is not asked again."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlencode

import pytest

from grader.catalogue import Catalogue
from grader.instructor.gradebook.store import Gradebook
from grader.instructor.submissions import Bundle, Submission
from tests import answers
from tests.extras.desk.conftest import Open, Running
from tests.gradebook.handmade import key, report
from tests.ours import OWN

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
    assert ("Pairs to look at: 1" in page, "Settled: 1" in page) == (True, True)
    assert [one.split(" : ")[0] for one in listed(page)] == ["Cy Day and Dan Kay", "Ada Lovelace and Bob Roe"]
    assert listed(page)[1].count("talked to, cleared") >= 2
    assert "talked to, cleared" in desk.mark("bob", "masks")
    number = made.headers["location"].rpartition("just=")[2].partition("&")[0]
    undone = {"number": number, "comment": "not yet", "back": "/alike"}
    assert desk.ask("POST", "/do/withdraw", urlencode(undone)).status == 303
    assert "Pairs to look at: 2" in compared(desk)


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
