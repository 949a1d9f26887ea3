"""`answers.md`: what `kata start` lays for the questions of a kata, and how what comes back is read."""

from __future__ import annotations

import hashlib
import re

from grader.catalogue.katas import Kata
from grader.catalogue.markdown import in_code, sections
from grader.data_files import read_text

NAME = "answers.md"
LIMIT_BYTES = 1 << 20
"""Of a sheet that is handed in."""
MOST_QUESTIONS = 50

_NAMED = re.compile(r"(?i)(?:[^/]{0,200}[\W_])?answers(?:[\W_][^/]{0,200})?\.md(?:\.txt)?\Z")
_ANY = re.compile(".*")
_OF_KATA = re.compile(r"<!-- {0,9}kata: {0,9}(?P<slug>[a-z0-9-]{1,100})\b")
_NUMBERED = re.compile(r"^##[ \t]{1,8}(?P<number>\d{1,2})[.)](?:[ \t].*)?$")


def questions_of(kata: Kata) -> tuple[str, ...]:
    """Return what a kata's `reflect.md` asks, in order; nothing where it has none.

    Raises:
        PackError: the file cannot be read.
    """
    if not kata.reflections.is_file():
        return ()
    text = read_text(kata.reflections, what="the questions")
    return tuple(title[0].strip() for title, _ in sections(text, _ANY))[:MOST_QUESTIONS]


def sheet_for(kata: Kata) -> str | None:
    """Return a sheet for a learner to write on; None where the kata asks nothing."""
    questions = questions_of(kata)
    if not questions:
        return None
    head = (
        f"# Answers to {kata.number} {kata.title}\n\n"
        f"<!-- kata: {kata.slug}. Write below each heading and leave the headings as they are.\n"
        f"     Hand this file in together with {kata.module}.py. -->\n"
    )
    return head + "".join(f"\n## {number}. {text}\n\n\n" for number, text in enumerate(questions, 1))


def is_sheet(name: str) -> bool:
    """Whether a file's name is that of a sheet: `answers.md`, also as a system or a learner renamed it."""
    return _NAMED.match(name) is not None


def kata_named(data: bytes) -> str | None:
    """Return the slug of the kata that a sheet says it belongs to."""
    found = _OF_KATA.search(as_text(data[:4000]))
    return found["slug"] if found else None


def as_text(data: bytes) -> str:
    """Return a sheet as text; what is not valid UTF-8 becomes a replacement character, and nothing is refused."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):  # as Windows editors save it
        return data.decode("utf-16", "replace")
    return data.decode("utf-8-sig", "replace")


def answers_in(data: bytes) -> dict[int, str]:
    """Return what was written, by question; 0 is what stands under no question's number. Empty answers are left out.

    Where all of it stands under none, the headings are lost: then it is shown, and marked, as the first question's.
    """
    parts: dict[int, list[str]] = {}
    place = 0
    lines = as_text(data).splitlines()
    code = in_code(lines)
    for number, line in enumerate(lines):
        # In a block of code, `## 2.` is a comment of the learner's.
        heading = _NUMBERED.match(line) if number not in code else None
        if heading is not None and 0 < int(heading["number"]) <= MOST_QUESTIONS:
            place = int(heading["number"])
            parts.setdefault(place, [])
        elif not (place == 0 and line.startswith("# ")):
            parts.setdefault(place, []).append(line)
    texts = {number: _without_comments("\n".join(part)).strip() for number, part in parts.items()}
    found = {number: text for number, text in texts.items() if text}
    return {1: found[0]} if list(found) == [0] else found


def digest_of_answer(text: str) -> str:
    """Return what tells one answer from another, whatever the blanks around its words."""
    return hashlib.sha256(" ".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _without_comments(text: str) -> str:
    """Return Markdown without its comments, in one pass however many are opened."""
    pieces, place = [], 0
    while (start := text.find("<!--", place)) >= 0 and (end := text.find("-->", start)) >= 0:
        pieces.append(text[place:start])
        place = end + 3
    return "".join([*pieces, text[place:]])
