"""Put a kata's files into a workspace, never over something; put them back, never without a backup."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from grader import files
from grader.catalogue import Kata
from grader.catalogue.answer_sheet import NAME, sheet_for
from grader.catalogue.given import BLOCKS, Blocks, blocks_of, given_files
from grader.catalogue.markdown import pictures
from grader.data_files import read_bounded, read_bytes
from grader.errors import EngineError, UsageError
from grader.learner.workspace.folder import Workspace
from grader.learner.workspace.locate import submissions_at
from grader.learner.workspace.notebook import is_notebook, notebook_text
from grader.learner.workspace.progress import Progress, edit_progress, load_progress, now
from grader.report.style import IN_NOTEBOOK

Action = Literal["written", "kept", "restored", "unchanged"]


@dataclass(frozen=True)
class FileResult:
    """What happened to one file."""

    path: Path
    action: Action


@dataclass(frozen=True)
class Started:
    """What `start` did for one kata."""

    kata: Kata
    folder: Path
    submission: Path
    files: tuple[FileResult, ...]
    resumed: bool
    """Whether the answer's file was there already."""
    unopened: Blocks | None = None
    """Blocks that the kata is given and that do not lie in its folder."""
    older: tuple[Path, ...] = ()
    """What was there and is not what the pack has now, besides what the learner writes."""


@dataclass(frozen=True)
class Reset:
    """What `reset` did for one kata."""

    kata: Kata
    files: tuple[FileResult, ...]
    backup: Path | None
    """The folder with what was replaced; None when nothing had to be."""


def start(
    katas: Sequence[Kata], workspace: Workspace, *, notebook: bool | None = None, blocks: bool = False
) -> list[Started]:
    """Scaffold `katas` in `workspace` and note them as started; files that are there stay as they are.

    What was started goes on in its form. `notebook` says it for what is new; where it is None, that takes the form of
    the kata that was started last, and inside a notebook it is one. With `blocks`, `blocks.py` is written too, and the
    katas whose answers it shows before they have passed are noted as given up.

    Raises:
        UsageError: the other form of an answer is there, something that is not a file is in the way, or the
            progress file is damaged; nothing has been written then.
        EngineError: the file system refused.
    """
    progress = load_progress(workspace.root)
    begun = [(entry.started, slug) for slug, entry in progress.katas.items() if entry.started is not None]
    # Kata names hold nothing that a pattern would read; others in a damaged file find nothing.
    last_is_notebook = bool(begun) and any(workspace.root.glob(f"*/{max(begun)[1]}/*.ipynb"))
    usual = bool(os.environ.get(IN_NOTEBOOK)) or last_is_notebook
    # All plans and all refusals first: a start that is refused at its third kata would leave two half of a
    # unit.
    plans = [_plan(kata, workspace, notebook, blocks, usual) for kata in katas]
    for plan in plans:
        for path in plan.contents:
            _refuse_obstacle(path, workspace.root)
    done: list[Started] = []
    seen: set[Path] = set()
    for plan in plans:
        resumed = os.path.lexists(plan.submission)
        results = tuple(
            FileResult(path, "written" if files.create_new(path, data, workspace.root) else "kept")
            for path, data in plan.contents.items()
            if path not in seen  # the unit's lesson belongs to all of its katas
        )
        own = (plan.submission, workspace.kata_folder(plan.kata) / NAME)
        older = tuple(
            file.path
            for file in results
            if file.action == "kept"
            and file.path not in own
            and not _holds(file.path, plan.contents[file.path])
        )
        seen.update(plan.contents)
        folder = workspace.kata_folder(plan.kata)
        shown = os.path.lexists(folder / BLOCKS) or plan.kata.adapter is not None
        unopened = None if shown else blocks_of(plan.kata)
        done.append(Started(plan.kata, folder, plan.submission, results, resumed, unopened, older))
    # Only blocks that this start wrote: a second start must not give up a kata that was opened long ago.
    opened = {file.path for begun in done for file in begun.files if file.action == "written"}
    with edit_progress(workspace.root) as progress:
        for kata in katas:
            entry = progress.of(kata.slug)
            # The first start holds, or a learner who looks in again would have begun today.
            entry.started = entry.started or now()
            if workspace.kata_folder(kata) / BLOCKS in opened:
                for other in unrevealed_katas(kata, progress):
                    progress.of(other.slug).gave_up = now()
    return done


def unrevealed_katas(kata: Kata, progress: Progress) -> list[Kata]:
    """Return the katas whose answers the blocks of `kata` would show before they have passed or were given up."""
    blocks = blocks_of(kata)
    shown = blocks.shows if blocks is not None else ()
    entries = {other: progress.get(other.slug) for other in shown}
    return [other for other, entry in entries.items() if entry.passed is None and entry.gave_up is None]


def changed_blocks(kata: Kata, folder: Path) -> Path | None:
    """Return the blocks in a kata's folder when they are not what the kata gives: nobody is graded with those."""
    path = folder / BLOCKS
    blocks = blocks_of(kata) if os.path.lexists(path) else None
    return path if blocks is not None and not _holds(path, blocks.data) else None


def reset(kata: Kata, workspace: Workspace) -> Reset:
    """Restore a kata's files to what `start` wrote, after copying those that differ to `backups/`.

    The progress keeps the best score, the pass, the attempts and the hints. Files of the learner's own are
    not touched.

    Raises:
        UsageError: the kata was not started in this workspace, or a folder of it is a link that leads elsewhere.
        EngineError: the file system refused; what had been copied is named.
    """
    if kata.adapter is not None:
        raise UsageError(
            f"{kata.number} {kata.slug} is in a file of your course, {kata.answer}, which Kata did not write.",
            "Take it from your course again.",
        )
    folder = workspace.kata_folder(kata)
    if not folder.is_dir():
        raise UsageError(
            f"{kata.number} {kata.slug} was not started in {workspace.root}, so there is nothing to reset.",
            f"Start it: kata start {kata.slug}",
        )
    # A damaged progress file is found before anything is overwritten.
    load_progress(workspace.root)
    present = submissions_at(kata, folder)
    notebooks = [path for path in present if is_notebook(path)]
    contents = _contents(kata, folder, notebook=bool(notebooks))
    if len(present) > 1:
        contents[folder / f"{kata.module}.py"] = read_bytes(kata.stub)
    # A folder that is a link could lead out of the workspace, and files there would be replaced.
    for place in {workspace.backups(kata), *(path.parent for path in contents)}:
        files.within(place, workspace.root)
    changed = [path for path, data in contents.items() if os.path.lexists(path) and not _holds(path, data)]
    backup = _new_backup_folder(workspace.backups(kata)) if changed else None
    results: list[FileResult] = []
    try:
        if backup is not None:
            for path in changed:
                # All copies before the first replacement: a full disk must not cost the only text.
                _back_up(path, backup / path.name)
        for path, data in contents.items():
            if path in changed:
                files.write_atomic(path, data)
                path.chmod(path.stat().st_mode | stat.S_IWUSR)  # what was there may have been read-only
                results.append(FileResult(path, "restored"))
            else:
                created = files.create_new(path, data, workspace.root)
                results.append(FileResult(path, "written" if created else "unchanged"))
    except EngineError as error:
        if backup is not None:
            raise EngineError(
                error.message, f"Your files are safe in {backup}. {error.hint or ''}".strip()
            ) from error
        raise
    with edit_progress(workspace.root) as progress:
        entry = progress.of(kata.slug)
        entry.status = "not_started"
        entry.score = 0.0
        entry.wrong = []
    return Reset(kata, tuple(results), backup)


@dataclass(frozen=True)
class _Plan:
    kata: Kata
    submission: Path
    contents: dict[Path, bytes]


def _plan(kata: Kata, workspace: Workspace, notebook: bool | None, blocks: bool, usual: bool) -> _Plan:
    if kata.adapter is not None:
        return _plan_adapted(kata, workspace, notebook)
    folder = workspace.kata_folder(kata)
    present = submissions_at(kata, folder)
    modules = [path for path in present if not is_notebook(path)]
    if notebook and modules:
        raise UsageError(
            f"{kata.number} {kata.slug} was started as a module: {modules[0]}.",
            f"Go on there, or move that file away and type again: kata start {kata.slug} --notebook",
        )
    if len(present) > 1:
        raise UsageError(
            f"{kata.number} {kata.slug} exists twice: {present[0]} and {present[1]}.",
            "Keep the one you work in and move the other away.",
        )
    wanted = usual if notebook is None else notebook
    as_notebook = is_notebook(present[0]) if present else wanted
    contents = {workspace.unit_folder(kata.unit) / "README.md": read_bytes(kata.unit.lesson)}
    contract = kata.unit.pack.contract
    if contract is not None:
        # As far above the kata's folder as in the pack, so that the links in lessons lead there.
        contents[workspace.root / contract.name] = read_bytes(contract)
    contents |= _contents(kata, folder, notebook=as_notebook, blocks=blocks)
    sheet = sheet_for(kata)
    if sheet is not None:  # `reset` leaves it alone: it is nothing but the learner's own words
        contents[folder / NAME] = sheet.encode("utf-8")
    submission = folder / (kata.module + (".ipynb" if as_notebook else ".py"))
    return _Plan(kata, submission, contents)


def _plan_adapted(kata: Kata, workspace: Workspace, notebook: bool | None) -> _Plan:
    """Return the plan of a kata that is asked of a course's files, which are there: only its lesson is written.

    Raises:
        UsageError: they are not, or a notebook was asked for.
    """
    submission = workspace.answer(kata)
    if notebook:
        raise UsageError(
            f"{kata.number} {kata.slug} is in a file of your course, {kata.answer}, and in no notebook."
        )
    if not submission.is_file():
        raise UsageError(
            f"{submission}: your course's file for {kata.number} {kata.slug} is not there.",
            f"Type it again in the folder of your course's files, the one that {kata.answer} begins in.",
        )
    folder = workspace.kata_folder(kata)
    lesson = kata.lesson_text()
    shown = pictures(kata, lesson)
    contents = {
        folder / "README.md": lesson.encode(),
        **{folder / name: data for name, data in shown.items()},
    }
    return _Plan(kata, submission, contents)


def _contents(kata: Kata, folder: Path, *, notebook: bool, blocks: bool = False) -> dict[Path, bytes]:
    """Return what a fresh start writes into a kata's folder; blocks that are there already are what it has written."""
    contents: dict[Path, bytes] = {}
    if notebook:
        contents[folder / f"{kata.module}.ipynb"] = notebook_text(kata).encode("utf-8")
    else:
        contents[folder / f"{kata.module}.py"] = read_bytes(kata.stub)
    lesson = kata.lesson_text()
    contents[folder / "README.md"] = lesson.encode()
    for name, data in pictures(kata, lesson).items():
        contents[folder / name] = data
    for name, data in given_files(kata).items():
        # Blocks give earlier answers away, so they come only when they are wanted.
        if name != BLOCKS or blocks or os.path.lexists(folder / BLOCKS):
            contents[folder / name] = data
    return contents


def _holds(path: Path, data: bytes) -> bool:
    """Return whether `path` is a file with exactly this content; a link, and what cannot be read, is different."""
    try:
        return not path.is_symlink() and read_bounded(path, len(data)) == data
    except (OSError, ValueError):
        return False


def _refuse_obstacle(path: Path, root: Path) -> None:
    if path.is_dir():
        raise UsageError(
            f"{path} is a folder, but a file of that name is needed.", "Move it away, then try again."
        )
    place = path.parent
    while place != root and place.is_relative_to(root):
        if os.path.lexists(place) and not place.is_dir():
            raise UsageError(
                f"{place} is not a folder, but a folder of that name is needed.",
                "Move it away, then try again.",
            )
        place = place.parent
    files.within(path.parent, root)


def _new_backup_folder(parent: Path) -> Path:
    """Make a folder named after the time; two resets within a second get different ones."""
    stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%SZ")
    for suffix in ("", *(f"-{count}" for count in range(2, 1000))):
        folder = parent / (stamp + suffix)
        try:
            # Made, not looked for: two resets at once cannot take one name.
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise EngineError(
                f"{folder}: no backup can be made ({error.strerror}), so nothing was reset."
            ) from error
        return folder
    raise EngineError(f"{parent}: no free name for a backup, so nothing was reset.")


def _back_up(path: Path, copy: Path) -> None:
    """Copy a file; move what cannot be copied (a link, a folder, a file that may not be read)."""
    try:
        if path.is_file() and not path.is_symlink() and os.access(path, os.R_OK):
            shutil.copy2(path, copy)
        else:
            os.replace(path, copy)
    except OSError as error:
        raise EngineError(f"{path}: cannot be backed up ({error.strerror}), so it was not reset.") from error
