"""Answers put to the real suites of our katas, each collected once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from grader.catalogue import load_pack
from grader.report.report import KataReport
from tests.policy.frames import filled

ROOT = Path(__file__).parents[2]

SOME = "scratch or values or output or weights or gradients or gradient_of_x or gelu_gradient or pre_norm"
"""Of each kata's checks: the one in question, and those of numbers and gradients, which must not suffer."""
Answers = Mapping[str, tuple[str, ...]]
"""By name: the kata's slug, module-level lines if there are any, the lines of one function."""


@pytest.fixture(scope="session")
def graded(
    request: pytest.FixtureRequest, launcher: Any, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Answers, str], KataReport]:
    """Grade one of these answers; all that this run asks for of a kata at once, so that it is collected once."""
    from grader.engine.runner.suite import Suite, suites_of

    katas = {kata.slug: kata for kata in load_pack(ROOT / "katas").katas}
    asked = {name for item in request.session.items if (name := _name(item)) is not None}
    done: dict[tuple[int, str], KataReport] = {}

    def grade(answers: Answers, name: str) -> KataReport:
        slug = answers[name][0]
        kata = katas[slug]

        def check(suites: dict[str, Suite]) -> dict[str, KataReport]:
            reports = {}
            for one, (other, *prelude, body) in answers.items():
                if other == slug and one in asked:
                    file = tmp_path_factory.mktemp("answer") / f"{kata.module}.py"
                    file.write_text(filled(slug, "".join(prelude), body))
                    reports[one] = suites[slug].check(file, launcher)
            return reports

        if (id(answers), name) not in done:
            with suites_of([kata], keyword=SOME) as suites:
                reports = check(suites)
            done.update({(id(answers), one): report for one, report in reports.items()})
        return done[id(answers), name]

    return grade


def _name(item: pytest.Item) -> str | None:
    """Return which answer a test is about, if it asks for one."""
    case = getattr(item, "callspec", None)
    return case.params.get("name") if case is not None and "graded" in item.fixturenames else None  # type: ignore[attr-defined]
