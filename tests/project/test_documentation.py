"""What the documentation says is there."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import click
import pytest

from grader import DISTRIBUTION
from grader.cli.main import cli
from tests import cases
from tests.conftest import invoke

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
OURS = ("README.md", "docs/learners.md", "docs/instructors.md", "docs/authors.md", "docs/benchmarks.md")


def commands() -> dict[str, click.Command]:
    """Every command by the words one types, subcommands too."""
    found: dict[str, click.Command] = {}
    context = click.Context(cli)

    def walk(group: click.Group, words: tuple[str, ...]) -> None:
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None, name
            found[" ".join((*words, name))] = command
            if isinstance(command, click.Group):
                walk(command, (*words, name))

    walk(cli, ("kata",))
    return found


COMMANDS = commands()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name: str) -> None:
    text = COMMANDS[name].help or ""
    assert "Example:" in text
    assert name in text.partition("Example:")[2]
    assert COMMANDS[name].short_help or text.strip()


@pytest.mark.parametrize("name", [name for name in COMMANDS if name.count(" ") == 1])
def test_every_command_is_documented(name: str) -> None:
    learners, instructors, reference = (
        (ROOT / "docs" / page).read_text(encoding="utf-8")
        for page in ("learners.md", "instructors.md", "instructors-reference.md")
    )
    assert f"### `{name}`" in learners or f"$ {name}" in instructors + reference


@pytest.mark.parametrize("name", [name for name in COMMANDS if name.count(" ") == 2])
def test_every_subcommand_is_documented_somewhere(name: str) -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert f"`{name}" in pages


def test_every_option_of_check_is_documented() -> None:
    page = (ROOT / "docs" / "learners.md").read_text(encoding="utf-8")
    section = page.partition("### `kata check`")[2].partition("###")[0]
    for parameter in COMMANDS["kata check"].params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            assert any(f"`{name}" in section for name in parameter.opts), parameter.opts


@pytest.mark.parametrize("page", OURS)
def test_commands_in_the_text_exist(page: str) -> None:
    """`kata word` in code is a command, unless the page says that it is not there yet."""
    text = (ROOT / page).read_text(encoding="utf-8")
    missing = {"kata " + word for word in ("grade", "gradebook", "report")}
    for line in re.findall(r"(?m)(?:^\$? ?|`)(kata [a-z]+)\b", text):
        assert line in COMMANDS or line in missing, line


@pytest.mark.slow
@pytest.mark.parametrize("page", [str(page.relative_to(ROOT)) for page in PAGES])
def test_relative_links_lead_somewhere(page: str) -> None:
    path = ROOT / page
    for target in LINK.findall(path.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        file, _, anchor = target.partition("#")
        there = (path.parent / file).resolve() if file else path
        assert there.exists(), f"{page}: {target}"
        if anchor:
            assert anchor in anchors(there), f"{page}: {target}"


def anchors(page: Path) -> set[str]:
    heads = re.findall(r"(?m)^#+ (.+)$", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_the_readme_begins_where_kata_begins(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In an empty folder both say what to type, and it is the same."""
    monkeypatch.setenv("COLUMNS", "200")
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    begin = invoke("--json").json["next"]
    assert re.findall(r"(?m)^\$ (kata start .+)$", page) == [begin]
    assert [line for line in invoke().out.splitlines() if line not in page.splitlines()] == []


def test_make_targets_in_the_text_exist() -> None:
    targets = set(re.findall(r"(?m)^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8")))
    for page in PAGES:
        for target in re.findall(r"(?m)(?:^|`)make ([a-z]+)", page.read_text(encoding="utf-8")):
            assert target in targets, f"{page.name}: make {target}"


def test_the_documentation_is_listed() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name == "README.md" or f"({page.name})" in index, page.name
    records = (ROOT / "docs" / "decisions" / "README.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs" / "decisions").glob("0*.md"):
        assert f"({page.name})" in records, page.name


def test_the_page_of_cases_is_what_the_tests_hold() -> None:
    assert cases.PAGE.read_text(encoding="utf-8") == cases.page(), "python -m tests.cases writes it"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cases, "CASES", (("1", "in", "out", "project/test_documentation.py::test_nothing"),))
        assert "test_nothing" not in cases.page()


def test_no_file_names_a_package_registry() -> None:
    """Where packages come from is the business of whoever installs them."""
    hosts = (b"pypi" + b".org", b"python" + b"hosted.org", b"download.pytorch" + b".org", b"conda" + b".io")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("this is no checkout")
    for name in listed.stdout.decode().split("\0"):
        path = ROOT / name
        if name and path.is_file():
            assert not any(host in path.read_bytes() for host in hosts), name


def test_no_hint_installs_the_project_of_somebody_else() -> None:
    """The name `kata` on the public index is not ours."""
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["name"]
    assert ours == DISTRIBUTION
    named = re.compile(r"(?:pip|pipx|uv tool) (?:install|run) +['\"]?(?P<name>kata)(?![\w-])")
    for path in [*PAGES, *(ROOT / "grader").rglob("*.py"), *(ROOT / "katas").rglob("*.md")]:
        assert not named.search(path.read_text(encoding="utf-8")), path
