"""`kata similar`: what hand-ins share that others do not have."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.api import (
    READING,
    Catalogue,
    Kata,
    console,
    counted,
    course_option,
    escape_controls,
    gathered,
    gradebook_option,
    json_option,
    note,
    print_json,
    regular_file,
    safe_text,
    write_atomic,
)

if TYPE_CHECKING:
    from rich.console import Console

    from grader.extras.similar.findings import Findings, Pair, Passage
    from grader.extras.similar.tokenized_submission import Candidate

SHOWN = 20
"""Pairs of a kata that a terminal shows; pages and JSON have more."""
IN_PAGE = 100
"""Pairs of a kata that a page shows line by line: each holds two hand-ins."""


@dataclass(frozen=True)
class SimilarOptions:
    """What is compared with what, and what is shown of it."""

    where: str
    course_file: Path | None
    only: tuple[str, ...]
    against: tuple[str, ...]
    share: float
    rarity: float
    common: float
    page_file: Path | None


@click.command(short_help="Show hand-ins that are alike; those that share what is rarest come first.")
@click.argument("submissions", required=False, type=click.Path(path_type=Path))
@gathered(
    SimilarOptions,
    gradebook_option,
    course_option,
    click.option(
        "--only", multiple=True, metavar="ID", help="Only this assignment, unit or kata; repeat it for more."
    ),
    click.option(
        "--against",
        multiple=True,
        metavar="TERM",
        help="An earlier term: a folder or an archive as kata grade reads it, or a gradebook; repeat it for more.",
    ),
    click.option(
        "--share",
        type=click.FloatRange(0, 100),
        default=40,
        show_default=True,
        metavar="PERCENT",
        help="Show pairs in which one hand-in has at least this share of the other's own words.",
    ),
    click.option(
        "--rarity",
        type=click.FloatRange(0),
        default=30,
        show_default=True,
        metavar="BITS",
        help="Show pairs that share something at least this rare.",
    ),
    click.option(
        "--common",
        type=click.FloatRange(1, 100),
        default=30,
        show_default=True,
        metavar="PERCENT",
        help="Leave out what at least this percentage of the learners have.",
    ),
    click.option(
        "--html",
        "page_file",
        metavar="FILE",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Also write a page with the pairs side by side.",
    ),
)
@json_option
def similar(submissions: Path | None, as_json: bool, options: SimilarOptions) -> None:
    """Show hand-ins that are alike; those that share what is rarest come first.

    It compares every attempt that the gradebook keeps or, if given, SUBMISSIONS, a class as kata grade reads it.
    Names, comments, layout and the order of definitions do not count. The stub, given files, lessons, the pack's
    solutions and what many of the class have are left out on both sides. Nothing that was handed in is run, and no
    mark changes.

    Alike does not mean copied: read both before you conclude anything.

    \b
    Example:
      kata similar
      kata similar submissions/ --only masks --html alike.html
      kata similar --against last-year.sqlite --against 2024/submissions
    """
    from grader.extras.similar.pages import WORDS, similar_page

    catalogue = Catalogue.discover()
    katas = _chosen(options, catalogue)
    found, unread = _compared(submissions, options, catalogue, katas)
    # The page is written in any case: --json says what is printed, not what is written.
    if options.page_file is not None:
        titles = {kata.slug: kata.title for kata in katas}
        write_atomic(options.page_file, similar_page(found, unread, titles, most=IN_PAGE))
    if as_json:
        print_json(_document(found, unread))
        return
    out = console()
    for findings in found:
        _print(findings, out)
    _lines(out, [f"not compared  {who}: {why}" for who, why in unread], "that could not be read")
    if not found:
        out.print("Nothing to compare: nothing was handed in for these katas.")
    elif options.page_file is not None:
        out.print(f"\npage  {escape_controls(str(options.page_file))}", soft_wrap=True)
    elif any(findings.pairs for findings in found):
        out.print("\nside by side: the same command with --html alike.html")
    # Nobody should be accused by a table: what alike means is said where something is.
    if any(findings.pairs or findings.identical or findings.known for findings in found):
        note(WORDS)


def _compared(
    submissions: Path | None, options: SimilarOptions, catalogue: Catalogue, katas: list[Kata]
) -> tuple[list[Findings], list[tuple[str, str]]]:
    """Read what was handed in, now and in earlier terms, and return what is alike, and what could not be read."""
    from grader.extras.similar.compare import Settings, compare

    settings = Settings(options.share / 100, options.rarity, options.common / 100)
    with console(stderr=True).status("reading") as line:
        if submissions is not None:
            mine = _from_folder(submissions, katas, "")
        else:
            mine = _from_gradebook(options.where, options.course_file, catalogue, katas, "")
        earlier = [_earlier(text, catalogue, katas) for text in options.against]
        found: list[Findings] = []
        for kata in katas:
            if works := mine.works[kata.slug]:
                line.update(f"comparing  {kata.slug}")
                others = (work for term in earlier for work in term.works[kata.slug])
                found.append(compare(kata, works, others, settings))
    return found, [entry for term in (mine, *earlier) for entry in term.unread]


# --- where hand-ins come from ---


@dataclass
class _Term:
    """What one class handed in, by kata, and what of it could not be read."""

    works: dict[str, list[Candidate]] = field(default_factory=lambda: defaultdict(list))
    unread: list[tuple[str, str]] = field(default_factory=list)
    """Who and which kata, and why."""


def _chosen(options: SimilarOptions, catalogue: Catalogue) -> list[Kata]:
    from grader.api import Course, slugs_meant

    if not options.only:
        return list(catalogue.katas)
    course = Course.find(options.where, options.course_file, catalogue)
    slugs = {slug for word in options.only for slug in slugs_meant(course, word)}
    return [kata for kata in catalogue.katas if kata.slug in slugs]


def _earlier(text: str, catalogue: Catalogue, katas: list[Kata]) -> _Term:
    term = Path(text.rstrip("/")).name if "://" not in text else text.rpartition("/")[2]
    is_gradebook = "://" in text
    if not is_gradebook and Path(text).is_file():
        with regular_file(os.open(text, READING)) as file:
            # By the first bytes: a gradebook may have any name, and a class may be one archive.
            is_gradebook = file.read(16) == b"SQLite format 3\0"
    if is_gradebook:
        return _from_gradebook(text, None, catalogue, katas, term)
    return _from_folder(Path(text), katas, term)


def _from_folder(root: Path, katas: list[Kata], term: str) -> _Term:
    from grader.api import find_learners
    from grader.extras.similar.tokenized_submission import Candidate

    read = _Term()
    for learner in find_learners(root, katas).learners:
        for submission in learner.submissions(katas):
            if submission.bundle is not None:
                read.works[submission.kata].append(
                    Candidate(submission.learner, submission.bundle, term=term)
                )
            elif submission.status == "error":
                who = f"{submission.learner}, {submission.kata}" + (f" ({term})" if term else "")
                read.unread.append((who, submission.message or ""))
    return read


def _from_gradebook(
    where: str, course_file: Path | None, catalogue: Catalogue, katas: list[Kata], term: str
) -> _Term:
    from grader.api import Course, Gradebook
    from grader.extras.similar.tokenized_submission import Candidate

    read = _Term()
    # An earlier term had another course: today's roster would lead its names to today's learners.
    course = Course.find(where, course_file, catalogue) if not term else Course()
    with Gradebook.open(where, create=False, course=course) as book:
        for kata in katas:
            for learner, attempt, bundle in book.contents_of_kata(kata.slug):
                read.works[kata.slug].append(Candidate(learner, bundle, attempt, term))
    return read


# --- how it is shown ---


def _document(found: list[Findings], unread: list[tuple[str, str]]) -> dict[str, Any]:
    import msgspec

    plain = [msgspec.to_builtins(findings) for findings in found]
    return {
        "katas": [{name: value for name, value in fields.items() if name != "texts"} for fields in plain],
        "unread": [{"who": who, "why": why} for who, why in unread],
    }


def _print(findings: Findings, out: Console) -> None:
    from grader.api import listed

    people = f"{findings.learners} learners, {findings.handed_in} hand-ins" + (
        f", {findings.earlier} learners of earlier terms" if findings.earlier else ""
    )
    out.print(f"\n{findings.number}  {findings.kata}", style="bold", end="")
    out.print(f"   {people}", style="dim")
    if not findings.has_solutions:
        note(f"warning: this install has no solutions of {findings.kata}; what is in them is not left out.")
    relevant = [same for same in findings.identical if same.is_relevant]
    for same in relevant:
        names = list(dict.fromkeys(side.name for side in same.where))
        known = f", {same.known} unchanged" if same.known else ""
        _line(out, f"  identical  {same.file}{known}: {listed(names, SHOWN)}")
    if findings.pairs:
        _line(out, "  rarity  share        pair and lines, the rarest first")
    for pair in findings.pairs[:SHOWN]:
        _line(out, _pair(pair))
    # Findings hold the first pairs alone; the others are counted.
    more = len(findings.pairs) + findings.more - SHOWN
    if more > 0:
        _line(out, f"  … and {more} more pairs")
    for cluster in findings.clusters:
        _line(out, f"  together   {listed(cluster, SHOWN)}")
    # A hand-in that is close to the pack itself is not a pair: it may have been copied from there.
    close = [
        f"  {near.rarity:6.0f}  {near.side.share:4.0%} in {near.to}: {near.side.name}{_where(near.passages)}"
        for near in findings.known
    ]
    _lines(out, close, "that are close to what the pack holds", indent="  ")
    if not (findings.pairs or findings.known or relevant):
        _line(out, "  no two hand-ins share anything that few others have")
    unread = []
    for each in findings.unread:
        attempt = f", attempt {each.attempt}" if each.attempt is not None else ""
        term = f" ({each.term})" if each.term else ""
        unread.append(f"  not compared  {each.learner}{attempt}{term}: {each.why}")
    _lines(out, unread, "that could not be compared", indent="  ")


def _pair(pair: Pair) -> str:
    same = "  identical" if pair.identical else ""
    more = f"  and {pair.others} more attempts" if pair.others else ""
    shares = f"{pair.left.share:4.0%} {pair.right.share:4.0%}"
    names = f"{pair.left.name} – {pair.right.name}"
    return f"  {pair.rarity:6.0f}  {shares}    {names}{_where(pair.passages)}{same}{more}"


def _where(passages: Sequence[Passage]) -> str:
    if not passages:
        return ""
    first = passages[0]
    left = len(passages) - 1
    more = f" and {counted(left, 'more place')}" if left else ""
    return f", lines {first.left[0]}–{first.left[1]} and {first.right[0]}–{first.right[1]}{more}"


def _line(out: Console, text: str) -> None:
    out.print(safe_text(text), soft_wrap=True)


def _lines(out: Console, lines: Sequence[str], what: str, *, indent: str = "") -> None:
    """Print the first lines, and how many more there are of `what`."""
    for line in lines[:SHOWN]:
        _line(out, line)
    if len(lines) > SHOWN:
        _line(out, f"{indent}… and {len(lines) - SHOWN} more {what}")
