"""Item analysis on simulated classes, in which it is known how hard each check is and which ones are bad."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.instructor.gradebook.store import Gradebook
from grader.instructor.grading.items import ItemAnalysis, items
from tests.gradebook import handmade
from tests.pages.builders import check, failed, row

LEARNERS, GOOD = 300, 40


def simulated(seed: int) -> tuple[list[ItemAnalysis], dict[str, float]]:
    """A class of the two-parameter logistic model, with four bad checks; and how hard the good ones are."""
    draw = np.random.default_rng(seed)
    ability = draw.normal(size=LEARNERS)
    hard, sharp = draw.uniform(-2, 2, GOOD), draw.uniform(0.8, 2.0, GOOD)
    passed = draw.random((LEARNERS, GOOD)) < 1 / (1 + np.exp(-sharp * (ability[:, None] - hard)))
    by_chance = draw.random(LEARNERS) < 0.5
    reverse = draw.random(LEARNERS) < 1 / (1 + np.exp(1.5 * ability))
    bad = {"never": ability > -99, "always": ability > 99, "chance": by_chance, "reverse": reverse}
    columns = {f"c{place:02}": passed[:, place] for place in range(GOOD)} | bad
    rows = [
        row(
            f"s{who}",
            checks=[(check if column[who] else failed)(name, id=name) for name, column in columns.items()],
        )
        for who in range(LEARNERS)
    ]
    return items(rows), {f"c{place:02}": float(hard[place]) for place in range(GOOD)}


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_difficulty_comes_back_and_bad_checks_are_flagged(seed: int) -> None:
    found, hard = simulated(seed)
    ranks = [hard[one.name] for one in found if one.name in hard]
    order = np.argsort(np.argsort(ranks))
    spearman = np.corrcoef(order, np.arange(GOOD)[::-1])[0, 1]
    assert spearman >= 0.95
    assert {one.name: one.flag for one in found if one.flag} == {
        "never": "never fails", "always": "never passes", "chance": "tells nothing",
        "reverse": "tells the opposite",
    }  # fmt: skip


def test_what_was_not_judged_counts_nowhere() -> None:
    skipped = {"status": "skipped", "points": 0.0}
    rows = [
        row("a", checks=[failed("one"), check("two", **skipped)], attempts=4),
        row("b", checks=[check("one"), failed("two", misconception="shifted")], attempts=2),
        row("c", status="missing", checks=[failed("one")]),
    ]
    one, two = sorted((found for found in items(rows) if found.kind == "check"), key=lambda found: found.name)
    assert (one.results, one.difficulty, one.attempts) == (2, 0.5, 2)
    assert (two.results, two.difficulty, two.flag) == (1, 1, "never passes")
    (mistake,) = [found for found in items(rows) if found.kind == "mistake"]
    assert (mistake.name, mistake.results, mistake.difficulty) == ("shifted", 2, 0.5)


def test_nobody_handed_anything_in() -> None:
    assert items([]) == []


def test_the_command_says_it(kata: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Gradebook.open(str(tmp_path / "gradebook.sqlite"), create=True) as book:
        run = book.start_run({})
        for learner, made in (("a", handmade.check("one")), ("b", handmade.check("one", "fail"))):
            given = handmade.submission(learner, source=f"x = '{learner}'")
            report = handmade.report(learner, checks=[made])
            run.record(given, handmade.key(given), report)
        run.finish()
    (one,) = kata("gradebook", "items", "masks", "--json").json["items"]
    assert (one["name"], one["results"], one["difficulty"]) == ("one", 2, 0.5)
    assert "50 %" in kata("gradebook", "items").out
