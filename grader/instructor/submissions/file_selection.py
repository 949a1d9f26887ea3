"""Which of a learner's files answers a kata, and what is next to it. Never a guess: two that differ are an error."""

from __future__ import annotations

import ast
import difflib
import os
import re
from collections.abc import Callable, Sequence
from datetime import datetime

import msgspec

from grader.catalogue import Kata
from grader.catalogue.answer_sheet import is_sheet
from grader.data_files import UnreadableSubmission, read_text
from grader.engine.host.source import MAX_NOTEBOOK, MAX_SOURCE
from grader.instructor.submissions.entry import Entry
from grader.instructor.submissions.listing import Listing
from grader.instructor.submissions.names import module_rank
from grader.instructor.submissions.submission import Bundle, Proposal, Submission
from grader.notebooks import UnreadableNotebook, code_cells
from grader.words import printable

MAX_BESIDE = 256
"""Files in a bundle."""
MAX_BESIDE_BYTES = 16 << 20
"""Bytes of the files next to the module."""
MAX_COMPARED = 20
"""Files that could be one kata's answer, compared with each other."""


class Missing(Exception):
    """There is no file for the kata."""

    def __init__(self, message: str, proposal: Proposal | None = None) -> None:
        super().__init__(message)
        self.proposal = proposal
        """A file of another name that may be meant."""


When = Callable[[Entry], datetime | None]
"""Tells when a file was handed in, as the system says."""


def choose(
    kata: Kata, listing: Listing, begun: Submission, assignment: str = "", when: When | None = None
) -> tuple[Entry, Submission]:
    """Return the file that answers `kata`, and the submission with it.

    A file that somebody said is the answer, `begun.taken`, is it where it is there.

    A file's exact name goes before one that differs in case, and that before a renamed copy. Among several, an
    untouched stub steps back, then a file in a folder named after the kata, its assignment or its unit goes first,
    then equal contents count as one, then what was handed in last.

    Args:
        kata: which is to be answered.
        listing: the learner's files.
        begun: the submission without what is found here.
        assignment: the course's, that the kata is in.
        when: for systems that keep a learner's assignments side by side, each with its time.

    Raises:
        Missing: no file has the name.
        UnreadableSubmission: files have it, and none can be read, or they differ.
    """
    taken, named = begun.taken, _named(kata, listing)
    everything = (*listing.files, *listing.spare)
    decided = [file for file in everything if taken in ("/".join(file.path), file.name)] if taken else []
    if decided:
        # The shortest path: a copy further down in a folder of backups has the same name.
        named = [(0, min(decided, key=lambda file: len(file.path)))]
    if not named:
        raise Missing(*_missing(kata, listing))
    notes: list[str] = []
    readable = [(rank, file) for rank, file in named if not file.kind]
    if not readable:
        # Not Missing: a file was handed in, and what is wrong with it can be put right.
        raise UnreadableSubmission("; ".join(f"{file.label} {file.kind}" for _, file in named[:3]))
    best = min(rank for rank, _ in readable)
    files = [file for rank, file in readable if rank == best]
    notes += [f"{file.label} {file.kind}" for _, file in named if file.kind][:5]
    notes += [
        f"{file.label} was left out: {files[0].label} has the right name" for r, file in readable if r > best
    ][:5]
    file = (
        files[0] if len(files) == 1 else _one_of(kata, _read(listing, files, notes), notes, assignment, when)
    )
    # Also of `masks.py.txt`
    notebook = ".ipynb" in file.name.lower()[-12:] and kata.adapter is None
    main = str(kata.answer.with_suffix(".ipynb") if notebook else kata.answer)
    if decided:
        # The decision has the file's name, which systems change: `…_9001_my_masks-1.py`.
        called = "" if file.label.endswith(file.name) else f" ({file.name})"
        notes.append(f"{file.label}{called} was taken for {main}, as was decided")
    elif taken:
        notes.append(
            # The decision was about an earlier hand-in; a new one without the file is graded all the same,
            # with a note.
            f"{taken}, which was decided to be the answer, is missing; {file.label} was taken instead"
        )
    elif best:
        notes.append(f"{file.label} was taken for {main}")
    bundle = _bundle(main, file, listing, notes, decided=bool(decided))
    return file, msgspec.structs.replace(
        begun,
        bundle=bundle,
        origin=printable(file.label),
        notes=tuple(notes),
        taken=file.name if decided else None,
    )


def matches_a_module(name: str, modules: Sequence[str]) -> bool:
    """Whether a file of this name could answer one of the katas with these modules."""
    return any(module_rank(name, module) is not None for module in modules)


def could_match(name: str, kata: Kata) -> bool:
    """Whether a file of this name answers a kata, or would be proposed for it by its name."""
    if module_rank(name, kata.answer.stem) is not None:
        return True
    others = {other.answer.stem for other in kata.unit.pack.katas} - {kata.answer.stem}
    stem = _stem(name)
    return bool(_LIKE_CODE.search(name)) and stem not in others and bool(_called_like(stem, kata.answer.stem))


def _named(kata: Kata, listing: Listing) -> list[tuple[int, Entry]]:
    ranked = [(module_rank(file.name, kata.answer.stem), file) for file in listing.files]
    # A course has it in a folder: the files that it imports are found from there.
    home = kata.answer.parts[:-1]
    ranked = [(rank, file) for rank, file in ranked if file.folder[len(file.folder) - len(home) :] == home]
    found = [(rank, file) for rank, file in ranked if rank is not None]
    # Packs may each have a module of this name: what lies in another kata's folder is that one's.
    others = {
        other.slug for other in kata.unit.pack.katas if other.answer == kata.answer and other.adapter is None
    } - {kata.slug}
    found = [(rank, file) for rank, file in found if not others.intersection(file.folder[-1:])]
    return sorted(found, key=lambda pair: (pair[0], len(pair[1].path), pair[1].label))


def _read(listing: Listing, files: list[Entry], notes: list[str]) -> dict[Entry, bytes]:
    """Return what several files of a name hold, without those that cannot be read, unless none can."""
    if len(files) > MAX_COMPARED:
        raise UnreadableSubmission(f"{len(files)} files could be the answer: {_listed(files)}")
    contents: dict[Entry, bytes] = {}
    for file in files:
        try:
            contents[file] = listing.read(file, _limit(file))
        except UnreadableSubmission as refused:
            notes.append(f"{file.label} {refused}")
    if not contents:
        raise UnreadableSubmission(notes[-1])
    return contents


def _one_of(
    kata: Kata, contents: dict[Entry, bytes], notes: list[str], assignment: str, when: When | None
) -> Entry:
    """Return the one of several files that counts, as `choose` says."""
    left = list(contents)
    stub = _Stub(kata)
    # Somebody who worked in a notebook has the module next to it still as it was given.
    worked = [file for file in left if not stub.is_unmodified(file, contents[file])]
    if worked and len(worked) < len(left):
        notes += [f"{file.label} was left out: an untouched stub" for file in left if file not in worked]
        left = worked
    for own, whose in _own_folders(kata, assignment):
        there = [file for file in left if own(file.folder)]
        if there:
            notes += [
                f"{file.label} was left out: {there[0].label} is in the {whose}'s folder"
                for file in left
                if file not in there and contents[file] != contents[there[0]]
            ]
            left = there
            break
    # With the ending: the same bytes as a module and as a notebook are two answers.
    distinct = {(os.path.splitext(file.name)[1].lower(), contents[file]) for file in left}
    last = _last(left, when) if len(distinct) > 1 and when is not None else None
    if last is not None:
        notes += [
            f"{file.label} was left out: {last.label} was handed in later"
            for file in left
            if file is not last
        ]
        return last
    if len(distinct) > 1:
        raise UnreadableSubmission(
            f"{'two' if len(left) == 2 else len(left)} files could be the answer, and they differ: {_listed(left)}. "
            f"Keep one, or put it in a folder called {kata.slug}"
        )
    if len(left) > 1:
        notes.append(f"{_listed(left[1:])}: the same as {left[0].label}")
    return left[0]


def _last(files: Sequence[Entry], when: When) -> Entry | None:
    """Return what was handed in last; None where that is not known of every file, or of two at once."""
    times = [(at, file) for file in files if (at := when(file)) is not None]
    newest = max((at for at, _ in times), default=None)
    found = [file for at, file in times if at == newest]
    return found[0] if len(times) == len(files) and len(found) == 1 else None


def _own_folders(kata: Kata, assignment: str) -> list[tuple[Callable[[tuple[str, ...]], bool], str]]:
    """Return tests of a folder, the surest first, each with whose folder it is."""
    unit = {name.casefold() for name in (kata.unit.folder.name, kata.unit.slug, kata.unit.number)}
    slug = {kata.slug.casefold(), kata.number}

    def both(folder: tuple[str, ...]) -> bool:
        return len(folder) > 1 and folder[-1].casefold() in slug and folder[-2].casefold() in unit

    def kata_folder(folder: tuple[str, ...]) -> bool:
        return bool(folder) and folder[-1].casefold() in slug

    def unit_folder(folder: tuple[str, ...]) -> bool:
        return bool(folder) and folder[-1].casefold() in unit

    def assignment_folder(folder: tuple[str, ...]) -> bool:
        return assignment.casefold() in (name.casefold() for name in folder)

    return [
        (both, "kata"),
        (kata_folder, "kata"),
        *([(assignment_folder, "assignment")] if assignment else []),
        (unit_folder, "unit"),
    ]


class _Stub:
    """What `kata start` writes, compared by its lines: nothing of a learner is parsed as code here."""

    def __init__(self, kata: Kata) -> None:
        text = read_text(kata.stub)
        tree = ast.parse(text)
        self._lines = _lines(text)
        first = tree.body[0] if tree.body else None
        # In a notebook the docstring is a text cell of its own.
        introduced = ast.get_docstring(tree) is not None and first is not None
        self._cells = _code(
            "\n".join(text.split("\n")[(first.end_lineno or 0) if introduced and first else 0 :])
        )

    def is_unmodified(self, file: Entry, data: bytes) -> bool:
        """Whether the file is the stub still, but for empty lines and line endings."""
        if not file.name.lower().endswith(".ipynb"):
            return _lines(data.decode("utf-8-sig", "replace")) == self._lines
        try:
            code = [text or "" for text in code_cells(data)]
        except UnreadableNotebook:
            return False
        return _code("\n".join(code)) == self._cells


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def _code(text: str) -> list[str]:
    """Return the lines of cells but for magics and comments, which are not work: the last cell's check is both."""
    return [line for line in _lines(text) if not line.lstrip().startswith(("%", "#"))]


def _bundle(main: str, file: Entry, listing: Listing, notes: list[str], *, decided: bool) -> Bundle:
    """Return the file as `main`, with the files next to it that are not the answer to something else."""
    try:
        data = listing.read(file, _limit(file))
    except UnreadableSubmission as refused:
        raise UnreadableSubmission(f"{file.label} {refused}") from None
    # Where a course has the file in a folder, what is next to that folder comes along.
    depth = max(len(file.folder) - main.count("/"), 0)
    extras: list[tuple[str, Entry]] = []
    # What belongs to one attempt lies in one space: a file of an earlier one must not complete a later.
    for other in listing.spare if file in listing.spare else listing.files:
        if (
            other is file
            or other in listing.of_system
            or other.space != file.space
            or other.folder[:depth] != file.folder[:depth]
        ):
            continue
        name = "/".join(other.path[depth:])
        # Kept by itself: it must not make another attempt.
        if depth == len(other.folder) and is_sheet(other.name):
            continue
        if decided and name == main:  # somebody said which of the two it is
            notes.append(f"{other.label} was left out")
            continue
        problem = other.kind or _unusable(name)
        if problem is not None:
            notes.append(f"{other.label} {problem}")
        else:
            extras.append((name, other))
    if not _fits(extras):
        # Where there is too much, it is most often data: code is what an answer needs to run.
        python = [(name, other) for name, other in extras if name.casefold().endswith(".py")]
        if not _fits(python):
            raise UnreadableSubmission(
                f"there are {len(extras)} files next to {file.label}; at most {MAX_BESIDE} files "
                f"and {MAX_BESIDE_BYTES >> 20} MB are taken with it. Hand in the kata's folder alone"
            )
        notes.append(
            f"of {len(extras)} files next to {file.label}, only the .py files were taken: there are "
            f"more than {MAX_BESIDE} files or {MAX_BESIDE_BYTES >> 20} MB"
        )
        extras = python
    files = {main: data}
    for name, other in sorted(extras, key=lambda pair: pair[0]):
        try:
            content = listing.read(other, MAX_BESIDE_BYTES)
        except UnreadableSubmission as refused:
            notes.append(f"{other.label} {refused}")
            continue
        if files.get(name, content) != content:
            raise UnreadableSubmission(f"{other.label} is there twice, and the two files differ")
        files[name] = content
    # Two attempts in one download may have `data` as a file and `data/x.txt`: no folder can hold both.
    folders = {name[:place] for name in files for place, char in enumerate(name) if char == "/"}
    for name in sorted(folders & files.keys()):
        if name == main:
            files = {inner: content for inner, content in files.items() if not inner.startswith(f"{main}/")}
        else:
            del files[name]
        notes.append(f"{name} is both a file and a folder next to {file.label}; one of them was left out")
    # A learner's files say how many notes there are, and somebody has to read them.
    del notes[20:]
    return Bundle(main, files)


def _fits(files: list[tuple[str, Entry]]) -> bool:
    return len(files) < MAX_BESIDE and sum(other.size for _, other in files) <= MAX_BESIDE_BYTES


def _unusable(name: str) -> str | None:
    try:
        parts = name.encode().split(b"/")
    except UnicodeEncodeError:
        return "was left out: its name is not valid text"
    if b"\0" in name.encode() or max(map(len, parts)) > 255 or len(name.encode()) > 1024:
        return "was left out: its name is too long or holds a zero byte"
    return None


def _limit(file: Entry) -> int:
    return MAX_NOTEBOOK if file.name.lower().endswith(".ipynb") else MAX_SOURCE


def _missing(kata: Kata, listing: Listing) -> tuple[str, Proposal | None]:
    expected = f"{kata.module}.py or {kata.module}.ipynb" if kata.adapter is None else str(kata.answer)
    message = f"there is no {expected}"
    proposed = proposal(kata, listing)
    if proposed is not None:
        message += f"; was {proposed.origin} meant?"
    blocked = [file for file in listing.files if file.kind]
    if blocked:
        message += f"; {blocked[0].label} {blocked[0].kind}"
    return message, proposed


_LIKE_CODE = re.compile(r"(?i)\.(?:py|ipynb)(?:w|[^a-z0-9].{0,12})?\Z")
"""`.py` and `.ipynb`, also with what is added: `masks.pyw`, `masks.py.txt`, `masks.py.bak`, `masks.py `."""
_PROSE = (".md", ".rst", ".html", ".htm", ".pdf")
"""Files that may quote an answer, such as the exercise itself, and are none."""
_MOST_LOOKED_AT = 40
"""Files whose text is looked into for the names that a module must have."""


def proposal(kata: Kata, listing: Listing) -> Proposal | None:
    """Return the file that may be the answer, and why: its name, or what it defines. Nothing is run or parsed."""
    for file in listing.spare:
        if (
            not file.kind
            and module_rank(file.name.replace("-checkpoint.", "."), kata.answer.stem) is not None
        ):
            return _proposed(file, "it is called so, and is not among what counts")
    known = {other.answer.stem for other in kata.unit.pack.katas} - {kata.answer.stem}
    files = [file for file in listing.files if not file.kind and _stem(file.name) not in known][:200]
    called = [
        (_called_like(_stem(file.name), kata.answer.stem), file)
        for file in files
        if _LIKE_CODE.search(file.name)
    ]
    text = [file for file in files if not file.name.casefold().endswith(_PROSE)]
    # Code first, since only so many files are looked into.
    text.sort(key=lambda file: _LIKE_CODE.search(file.name) is None)
    defines = [(_defined(kata, listing, file), file) for file in text[:_MOST_LOOKED_AT]]
    most, best = max(defines, key=lambda pair: pair[0], default=(0, None))
    if best is not None and 2 * most > len(kata.required):
        names = f"{most} of {len(kata.required)}" if len(kata.required) > 1 else "the"
        return _proposed(
            best,
            f"it defines {names} name{'s' if len(kata.required) > 1 else ''} that {kata.answer} must have",
        )
    found = sorted((pair for pair in called if pair[0]), key=lambda pair: (-len(pair[0]), pair[1].label))
    return _proposed(found[0][1], found[0][0]) if found else None


def _proposed(file: Entry, reason: str) -> Proposal:
    return Proposal(file="/".join(file.path), origin=file.label, reason=reason)


def _stem(name: str) -> str:
    return _LIKE_CODE.sub("", name)


def _called_like(stem: str, module: str) -> str:
    """Say how a file's name is like the module's; nothing when it is not."""
    words = re.sub(r"[\W_]+", "_", stem.casefold()).strip("_")
    if words == module.casefold():
        return "it has this name with another ending"
    if f"_{module.casefold()}_" in f"_{words}_":
        return "its name contains the module's"
    return "its name is similar" if difflib.get_close_matches(module, [stem], n=1, cutoff=0.75) else ""


def _defined(kata: Kata, listing: Listing, file: Entry) -> int:
    """Return how many of the names that the kata asks for a file seems to define."""
    try:
        text = listing.read(file, _limit(file)).decode("utf-8", "replace")
    except UnreadableSubmission:
        return 0
    # In a notebook a line is in quotes, and its end is written out.
    names = set(
        re.findall(r"(?:^|\\n|\")\s{0,8}(?:def|class) ([A-Za-z_][A-Za-z_0-9]{0,80})\b", text, re.MULTILINE)
    )
    return len(names.intersection(name.partition(".")[0] for name in kata.required))


def _listed(files: Sequence[Entry]) -> str:
    shown = " and ".join(file.label for file in files[:4])
    return shown if len(files) <= 4 else f"{shown} and {len(files) - 4} more"
