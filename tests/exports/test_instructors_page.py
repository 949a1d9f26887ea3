"""What docs/instructors.md shows of `kata gradebook` is what the commands print."""

from __future__ import annotations

import re
import shlex
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from grader.cli.main import cli
from grader.instructor.gradebook.store import Gradebook

from .conftest import record
from .made_up import WHEN, check, report

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "instructors.md"
REFERENCE = PAGE.with_name("instructors-reference.md")
SESSION = re.compile(r"(?ms)^```console\n(.*?)^```$")


def sessions() -> list[tuple[str, str]]:
    """Every `$ kata gradebook ...` of the page and what it prints, up to the next one."""
    found = []
    for block in SESSION.findall(PAGE.read_text(encoding="utf-8") + REFERENCE.read_text(encoding="utf-8")):
        for part in re.split(r"(?m)^\$ ", block)[1:]:
            command, _, output = part.partition("\n")
            if command.startswith("kata gradebook"):
                found.append((command, output))
    return found


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page's class."""
    monkeypatch.chdir(tmp_path)
    for name in ("KATA_PACKS", "KATA_SOLUTIONS", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("getpass.getuser", lambda: "kim")
    (tmp_path / "course.toml").write_text(
        'name = "Transformers"\nroster = "roster.csv"\n'
        f"[due]\n'9.3' = {(WHEN - timedelta(days=1)).isoformat()}\n[late]\npercent_per_day = 10\n"
    )
    (tmp_path / "roster.csv").write_text(
        "learner,name,email\nada,Ada Lovelace,ada@example.org\ngrace,Grace Hopper,grace@example.org\n"
    )
    seen = check(
        "fail",
        name="each query sees itself and the keys before it, nothing later",
        message="called  causal_mask(seq_len=4)\nfirst difference  mask[query 0, key 1]  got True  want False",
        likely="your causal mask also allows the key after the query; "
        "a query should see only itself and the keys before it",
    )
    rest = check(name="a causal mask is boolean [T, T]", max_points=6.0)
    other = check(
        "fail", name="sizes that no visible check uses", hidden=True, message="mask[query 6, key 7]"
    )
    with Gradebook.open("gradebook.sqlite", create=True) as book:
        run = book.start_run({})
        in_time, late = WHEN - timedelta(days=2), WHEN + timedelta(hours=1)
        record(book, run, "ada", report("masks", "fail", [rest, seen, other], seed=7), in_time)
        record(book, run, "ada", report("masked-attention", checks=[check(max_points=20.0)]), late)
        record(book, run, "ada", report("layer-norm", "not_started", [], max_score=20.0), in_time)
        record(book, run, "grace", report("masks", checks=[check(max_points=10.0)]), in_time)
        record(book, run, "grace", report("masked-attention", "timeout", [], max_score=20.0), in_time)
        record(book, run, "grace", report("layer-norm", checks=[check(max_points=20.0)]), in_time)
        record(book, run, "linus", report("masks", "missing", [], max_score=10.0))
        broken = "masked_attention.py, line 12: invalid syntax"
        record(
            book,
            run,
            "linus",
            report("masked-attention", "error", [], max_score=20.0, message=broken),
            in_time,
        )
        record(book, run, "linus", report("layer-norm", "missing", [], max_score=20.0))
        run.finish()


def test_the_page_shows_what_the_commands_print(example: None) -> None:
    told = sessions()
    assert len(told) >= 6
    for command, output in told:
        result = CliRunner().invoke(cli, shlex.split(command)[1:])
        assert result.exit_code == 0, (command, result.output)
        assert plain(result.output) == plain(output), command


def plain(text: str) -> str:
    """What a page keeps of an output: no blanks at the ends of lines, and any day for any other."""
    lines = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "DAY", text).splitlines()
    return "\n".join(line.rstrip() for line in lines).strip()
