"""The items of docs/curriculum-items.md: each has its command, which works and shows what is quoted."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from grader.catalogue import load_pack
from grader.engine.runner.suite import suites_of
from tests import ours
from tests.conftest import Run
from tests.demos.test_demos import Shared, once

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "curriculum-items.md").read_text(encoding="utf-8")
FOUND = re.findall(r"^\| (\d+) \| [^|]+ \| (\w+) \| ([^|]+) \| (`kata [^`]+`|–) \|$", TEXT, re.M)
ROWS = {int(number): (where, command) for number, _, where, command in FOUND}
WORDS = {"kata check": "done", "kata demo": "seen", "kata show": "read"}
MISSING = {number for number, (_, command) in ROWS.items() if command == "–"}
TYPED = sorted({command.strip("`") for _, command in ROWS.values() if command != "–"})


def phrases(command: str) -> list[str]:
    """Return what the rows with this command quote of what it shows."""
    rows = [where for where, typed in ROWS.values() if typed == f"`{command}`"]
    return [phrase for where in rows for phrase in re.findall("“(.+?)”", where)]


def plain(text: str) -> str:
    """Return a text without its markup and line ends."""
    return " ".join(re.sub(r"[*`_│]", "", text).split())


def test_153_items_are_listed_once_each() -> None:
    assert sorted(ROWS) == list(range(1, 154))
    assert all("not built yet" in ROWS[number][0] for number in MISSING)


def test_an_item_is_done_where_a_check_looks_seen_in_a_demo_and_else_read() -> None:
    assert [
        number for number, word, _, command in FOUND if WORDS[command.strip("`")[:10].strip()] != word
    ] == []
    for word in WORDS.values():
        assert f"**{word}** ({sum(found == word for _, found, _, _ in FOUND)})" in TEXT


def test_every_item_quotes_three_words_that_are_no_heading() -> None:
    """A heading is there whatever stands below it, so it shows nothing."""
    pages = [*ROOT.glob("katas/*/README.md"), *ROOT.glob("katas/*/*/README.md")]
    headings = {
        plain(one) for page in pages for one in re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.M)
    }

    def shows(phrase: str) -> bool:
        return len(re.findall(r"\w+", phrase)) >= 3 and not any(plain(phrase) in one for one in headings)

    empty = [
        number for number, (where, _) in ROWS.items() if not any(map(shows, re.findall("“(.+?)”", where)))
    ]
    assert empty == []


@pytest.mark.slow
@pytest.mark.parametrize("command", [one for one in TYPED if one.startswith("kata show")])
def test_a_lesson_says_it(command: str, kata: Run, folder: Path) -> None:
    ran = kata(*shlex.split(command)[1:]).done()
    shown = plain(ran.out)
    assert [phrase for phrase in phrases(command) if plain(phrase) not in shown] == []


@pytest.mark.slow
@pytest.mark.parametrize("command", [one for one in TYPED if one.startswith("kata check")])
def test_a_right_answer_passes_it(command: str, kata: Run, folder: Path, everything: bool) -> None:
    """Typed by `make everything`; else what it selects is looked at, since references pass every check anyway."""
    name, *options = shlex.split(command)[2:]
    one = ours.katas()[name]
    assert one.solution is not None
    if everything:
        (folder / f"{one.module}.py").write_text(one.solution.read_text(encoding="utf-8"), encoding="utf-8")
        ran = kata("check", f"{one.module}.py", *options, "-v").done()
        shown = ran.out
    else:
        keyword = options[options.index("-k") + 1] if options else None
        with suites_of([one], keyword=keyword) as suites:
            selected = suites[name].infos()
        assert selected
        shown = "\n".join(info.title for info in selected)
    assert [phrase for phrase in phrases(command) if plain(phrase) not in plain(shown)] == []


@pytest.mark.gate
@pytest.mark.parametrize("command", [one for one in TYPED if one.startswith("kata demo")])
def test_a_demo_shows_it(command: str, shared: Shared, launcher: Any) -> None:
    name = command.split()[-1]
    demo = next(path for of, path in ours.demos().items() if of == name or of.startswith(f"{name}-"))
    titles = [exhibit.title for exhibit in once(demo, shared, launcher, load_pack(ROOT / "katas"))]
    assert [phrase for phrase in phrases(command) if not any(phrase in title for title in titles)] == []
