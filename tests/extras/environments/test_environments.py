"""Packages for Inspect and verifiers: what is in them, and what their scorer says, without either framework."""

from __future__ import annotations

import ast
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from benchmarks import proof
from tests import ours
from tests.conftest import TESTS, evenly, invoke
from tests.extras.environments import replies

pytestmark = pytest.mark.slow


def made(framework: str, target: Path, *ids: str) -> Path:
    done = invoke("pack", "bundle", framework, *ids, "--out", str(target))
    assert done.code == 0, done.text
    return target


@pytest.fixture(scope="module")
def scoring(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The scorer of a package, imported as the framework does."""
    package = made("inspect", tmp_path_factory.mktemp("made") / "inspect", "masks")
    return ours.module(package / "kata_inspect" / "scoring.py")


@pytest.mark.parametrize(("framework", "needs"), [("inspect", "inspect-ai"), ("verifiers", "verifiers")])
def test_a_package_declares_what_it_needs_and_holds_no_answer(
    framework: str, needs: str, tmp_path: Path
) -> None:
    package = made(framework, tmp_path / "made", "masks", "layer-norm")
    project = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    assert [one.partition(">")[0] for one in project["dependencies"]] == [needs, "markdown-it-py"]
    texts = {path.name: path.read_text() for path in package.rglob("*") if path.is_file()}
    compile(texts["tasks.py"], "tasks.py", "exec")
    for slug in ("masks", "layer-norm"):
        kata = ours.katas()[slug]
        assert kata.solution is not None
        assert kata.hidden_checks is not None
        for secret in (kata.solution, kata.hidden_checks):
            long = [
                line for line in secret.read_text().splitlines() if len(line) > 60 and "import" not in line
            ]
            stub = kata.stub.read_text() + kata.lesson.read_text()
            assert not [
                line for line in long if line.strip() not in stub and any(line in t for t in texts.values())
            ]
    again = invoke("pack", "bundle", framework, "masks", "--out", str(package))
    assert again.code == 2


@pytest.mark.parametrize("form", [*replies.RIGHT, *replies.FENCES_INSIDE])
def test_the_right_code_is_found_in_every_form_of_a_reply(form: str, scoring: Any) -> None:
    reply = replies.RIGHT.get(form) or replies.FENCES_INSIDE[form]
    right = replies.CODE if form in replies.RIGHT else replies.WITH_FENCES
    assert ast.dump(ast.parse(scoring.code_in(reply, "masks"))) == ast.dump(ast.parse(right))


@pytest.mark.parametrize("form", replies.PIECES)
def test_a_module_in_pieces_is_put_together(form: str, scoring: Any) -> None:
    names: dict[str, Any] = {}
    exec(compile(scoring.code_in(replies.PIECES[form], "masks"), "masks.py", "exec"), names)
    assert {*ours.katas()["masks"].required} <= {*names}
    assert names["causal_mask"](2).tolist() == [[True, False], [True, True]]


@pytest.mark.parametrize("form", replies.NONE)
def test_a_reply_without_an_answer_defines_nothing(form: str, scoring: Any) -> None:
    assert "def " not in scoring.code_in(replies.NONE[form], "masks")


@pytest.mark.parametrize("form", replies.LONG)
def test_the_work_grows_with_the_reply_and_no_faster(form: str, scoring: Any) -> None:
    def steps(count: int) -> int:
        events: list[str] = []
        sys.setprofile(lambda frame, event, value: events.append(event))
        try:
            scoring.code_in(replies.LONG[form] * count, "masks")
        finally:
            sys.setprofile(None)
        return len(events)

    assert steps(800) < 10 * steps(100) + 5_000


def test_of_a_long_reply_the_end_is_read(scoring: Any) -> None:
    thoughts = "I see.\n" * scoring.LONGEST
    assert scoring.code_in(thoughts + replies.BLOCK, "masks") == replies.CODE


@pytest.mark.nightly
def test_replies_that_come_at_once_are_graded_together_and_each_gets_its_own(scoring: Any) -> None:
    right = scoring.reference("masks")
    windows = f"Here it is:\r\n\r\n{right}\r\nDone.".replace("\n", "\r\n").replace("\r\r", "\r")
    late = right.replace("key <= query", "key < query")
    assert late != right
    replies = [right, scoring.TASKS[0]["prompt"], windows, "no code at all, and half a pair: \ud800", late]
    with ThreadPoolExecutor(len(replies)) as threads:
        found = list(threads.map(lambda reply: scoring.score("masks", "masks", reply), replies))
    assert [(one["score"], one["passed"]) for one in found[:4]] == [(1.0, True), (0.0, False)] * 2
    details = [one["details"] for one in found]
    aspects = details[0].pop("aspects")
    assert set(aspects.values()) == {1.0}
    assert details[0] == {"status": "pass", "failing": [], "mistakes": []}
    assert details[1]["status"] == "not_started"
    assert "test_causal_values" in details[4]["failing"]
    assert len(details[4]["mistakes"]) == 1


@pytest.mark.gate
@pytest.mark.sampled(1)
@pytest.mark.parametrize("slug", ours.katas())
def test_what_is_known_of_replies_is_what_they_get(
    slug: str, scoring: Any, launcher: Any, everything: bool
) -> None:
    known = proof.known_replies([ours.katas()[slug]], launcher, everything=everything)
    some = [one for one in known if everything or one.seed < 2]
    assert not proof.troubles(scoring, some).values()


@pytest.mark.gate
def test_hostile_replies_earn_nothing_that_is_not_theirs(
    scoring: Any, everything: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KATA_PACKS", str(TESTS / "packs" / "tiny"))
    every = list(proof.hostile())
    assert len(every) > 200
    assert not proof.troubles(scoring, every if everything else evenly(every, 12)).values()


def test_what_cannot_be_graded_is_no_zero(scoring: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATA_PYTHON", str(Path(sys.executable).with_name("kata")))
    with pytest.raises(RuntimeError):
        scoring.score("masks", "masks", "x = 1")
