"""What a check of ours demands stands where learners read it, and docs/authors.md says where.

.venv/bin/python -m tests.katas.test_asked      renews the table
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.catalogue import load_pack
from grader.checks import CheckInfo
from grader.packs.asked import complaints, place_of, table
from grader.running.suite import with_suites

ROOT = Path(__file__).resolve().parents[2]
KATAS = load_pack(ROOT / "katas").katas
PAGE = ROOT / "docs" / "authors.md"
BEGIN, END = "<!-- asked -->", "<!-- /asked -->"


def infos() -> dict[str, list[CheckInfo]]:
    """Return what the authors said of every check, hidden ones and those of speed included."""

    def read(suites: dict[str, Any]) -> dict[str, list[CheckInfo]]:
        return {slug: suite.infos() for slug, suite in suites.items()}

    return with_suites(KATAS, read, hidden=True, speed=True)


@pytest.fixture(scope="module")
def said() -> dict[str, list[CheckInfo]]:
    return infos()


def page_of(said: dict[str, list[CheckInfo]]) -> str:
    parts = []
    for kata in KATAS:
        parts += [f"### {kata.number} {kata.slug}", "", *table(kata, said[kata.slug]), ""]
    return "\n".join(parts)


def test_every_check_quotes_the_words_that_ask_for_it(said: dict[str, list[CheckInfo]]) -> None:
    silent = [f"{slug}: {info.title}" for slug, found in said.items() for info in found if not info.asked]
    assert silent == []


def test_the_words_stand_where_learners_read_them(said: dict[str, list[CheckInfo]]) -> None:
    assert [line for kata in KATAS for line in complaints(kata, said[kata.slug])] == []


def test_the_table_in_the_docs_is_that_of_the_checks(said: dict[str, list[CheckInfo]]) -> None:
    kept = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0].strip()
    assert kept == page_of(said).strip(), "renew it: python -m tests.katas.test_asked"


def test_words_are_found_across_lines_and_comments_and_nowhere_else() -> None:
    [kata] = [kata for kata in KATAS if kata.slug == "masked-attention"]
    wrapped = "Give it harmless scores before the softmax and zero weights after it"
    assert place_of(wrapped, kata) == kata.stub
    assert place_of("queries and keys come from different sequences", kata) == kata.lesson
    assert place_of("who may look at whom", kata) == kata.folder.parent / "README.md"
    assert place_of("harmless scores after the softmax", kata) is None


if __name__ == "__main__":
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    tail = rest.partition(END)[2]
    PAGE.write_text(f"{head}{BEGIN}\n\n{page_of(infos()).strip()}\n\n{END}{tail}", encoding="utf-8")
