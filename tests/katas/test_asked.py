"""What a check of ours demands is in the stub or a lesson, and `kata pack asked` says where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.author.requirements_trace import complaints, place_of
from grader.catalogue import load_pack
from grader.engine.checks.decorators import CheckInfo
from grader.engine.runner.suite import suites_of
from tests.conftest import Run

ROOT = Path(__file__).resolve().parents[2]
KATAS = load_pack(ROOT / "katas").katas


def infos() -> dict[str, list[CheckInfo]]:
    """Return what the authors said of every check, hidden ones and those of speed included."""

    def read(suites: dict[str, Any]) -> dict[str, list[CheckInfo]]:
        return {slug: suite.infos() for slug, suite in suites.items()}

    with suites_of(KATAS, hidden=True, speed=True) as suites:
        return read(suites)


@pytest.fixture(scope="module")
def said() -> dict[str, list[CheckInfo]]:
    return infos()


@pytest.mark.slow
def test_every_check_quotes_the_words_that_ask_for_it(said: dict[str, list[CheckInfo]]) -> None:
    silent = [f"{slug}: {info.title}" for slug, found in said.items() for info in found if not info.asked]
    assert silent == []


def test_the_words_stand_where_learners_read_them(said: dict[str, list[CheckInfo]]) -> None:
    assert [line for kata in KATAS for line in complaints(kata, said[kata.slug])] == []


def test_the_command_lists_the_words_of_each_check(kata: Run) -> None:
    ran = kata("pack", "asked", "masks").done()
    assert "each query sees itself and the keys before it, nothing later" in ran.out
    assert "“bool [T, T], True where key <= query.”" in ran.out


def test_words_are_found_across_lines_and_comments_and_nowhere_else() -> None:
    [kata] = [kata for kata in KATAS if kata.slug == "masked-attention"]
    wrapped = "Give it harmless scores before the softmax and zero weights after it"
    assert place_of(wrapped, kata) == kata.stub
    assert place_of("queries and keys come from different sequences", kata) == kata.lesson
    assert place_of("who may look at whom", kata) == kata.folder.parent / "README.md"
    assert place_of("harmless scores after the softmax", kata) is None
