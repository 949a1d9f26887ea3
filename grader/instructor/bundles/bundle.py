"""Bundles for hand-in systems: one file to upload, made from katas and the Kata that is installed here."""

from __future__ import annotations

import json
import math
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib import resources
from pathlib import Path

from grader.author.build import files_of, refuse_leaks
from grader.catalogue import Kata, Pack
from grader.catalogue.catalogue import builtin_folder
from grader.catalogue.pack_code import marked_checks, read_tree
from grader.commands import load
from grader.errors import PackError, UsageError
from grader.files import write_zip
from grader.instructor.bundles import FOLDERS, PUBLIC, FolderBundle, wheels
from grader.instructor.bundles.impossible import impossible_pack
from grader.learner.workspace.tools import WORKFLOW, filled, workflow

PROGRAMS = frozenset({"setup.sh", "run_autograder"})

STEPS: dict[str, tuple[str, ...]] = {
    "gradescope": (
        "next  a programming assignment on Gradescope, {points} autograder points; upload the archive under",
        "      Configure Autograder, with the newest Ubuntu that it offers",
        "      Anyone who can edit the assignment can download the answers.",
    ),
    "classroom50": (
        "next  unpack it into CLASSROOM/autograders/ASSIGNMENT/ of the classroom50 repository, and push",
        "      Everybody can read this bundle; it holds no hidden check and no answer.",
    ),
    "actions": (
        "next  unpack it into the template repository that learners start from, and push",
        "      Everybody can read this bundle; it holds no hidden check and no answer.",
    ),
}


@dataclass(frozen=True)
class HandInBundle:
    """A bundle that was written."""

    path: Path
    system: str
    katas: tuple[str, ...]
    points: float
    """What it can give: hidden checks count where they are in it."""
    files: int
    size: int
    """In bytes."""
    steps: tuple[str, ...]
    """What to do with it, a line each."""


@dataclass(frozen=True)
class BundleOptions:
    """Options of a bundle."""

    python: str
    wheels: Path | None = None
    """Where wheels lie; None downloads them."""
    online: bool = False
    """Whether the system downloads them itself, and the bundle holds Kata's alone."""
    perf: bool = True
    """Whether speed is measured, where the system runs hidden checks; it is shown and not marked."""
    marks_speed: bool = False
    impossible: bool = False
    """Whether the one visible check of each kata contradicts its lesson."""


def default_python() -> str:
    """Return the version of this Python, as bundles name it."""
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def write_bundle(
    system: str, pack: Pack, katas: Sequence[Kata], target: Path, wanted: BundleOptions
) -> HandInBundle:
    """Write the bundle of some katas of one pack.

    Raises:
        UsageError: a kata has no reference here though the system needs it, no impossible form, or wheels could not
            be had.
        PackError: something of the solutions would get into a public bundle.
    """
    kind: FolderBundle | None = load(FOLDERS[system]) if system in FOLDERS else None
    public = system in PUBLIC if kind is None else kind.public
    if wanted.impossible:
        if kind is None or not kind.holds_pack:
            able = [name for name, target in FOLDERS.items() if load(target).holds_pack]
            raise UsageError(
                f"{system} cannot hold impossible katas.",
                f"These can: {', '.join(able)}, whose verifier is in them.",
            )
        with tempfile.TemporaryDirectory(prefix="kata-impossible-") as name:
            flipped = impossible_pack(pack, katas, Path(name))
            return write_bundle(system, flipped, flipped.katas, target, replace(wanted, impossible=False))
    if not public and (bare := [kata.slug for kata in katas if kata.solution is None]):
        raise UsageError(
            f"There are no solutions here of {', '.join(bare)}, so hidden checks would be missing.",
            "Make this bundle where the pack and its solutions are, or name them in KATA_SOLUTIONS.",
        )
    slugs = tuple(kata.slug for kata in katas)
    points = sum(kata.points + (0 if public else kata.hidden_points) for kata in katas)
    sentences = STEPS[system] if kind is None else kind.steps
    steps = tuple(step.format(points=f"{points:g}", path=target) for step in sentences)
    if kind is not None:
        # A kata is taken by itself, so what verifies it holds its own pack's part and no other.
        files = kind.write(pack, katas, lambda kata: _pack(pack, [kata], public=False), target, wanted.python)
        size = sum(path.stat().st_size for path in files)
        return HandInBundle(target, system, slugs, points, len(files), size, steps)
    contents = _pack(pack, katas, public=public)
    prefix = ".kata/" if system == "actions" else ""
    texts = {**_templates(system, pack, wanted), **_settings(system, katas, wanted)}
    with tempfile.TemporaryDirectory(prefix="kata-bundle-") as name:
        folder = Path(name)
        # Always with it: this version of Kata need not be on any index.
        wheels.own_wheel(folder)
        offline = not (public or wanted.online)
        if offline and wanted.wheels is None:
            wheels.download(folder, wanted.python)
        elif offline and wanted.wheels is not None:
            wheels.copy(wanted.wheels, folder)
        contents |= {f"wheels/{path.name}": path for path in sorted(folder.glob("*.whl"))}
        # Relative to the file for pip, and for uv as its version will have it: the workflow names the folder itself.
        lines = [
            *([] if system == "actions" else ["--find-links wheels"]),
            *(["--no-index"] if offline else []),
        ]
        lines += wheels.lines(wanted.python)
        texts[f"{prefix}requirements.txt"] = "\n".join(lines) + "\n"
        parts: dict[str, bytes | Path] = {f"{prefix}{name}": path for name, path in contents.items()}
        parts |= {name: text.encode() for name, text in texts.items()}
        write_zip(target, dict(sorted(parts.items())), programs=PROGRAMS)
    return HandInBundle(target, system, slugs, points, len(parts), target.stat().st_size, steps)


def _pack(pack: Pack, katas: Sequence[Kata], *, public: bool) -> dict[str, Path]:
    """Return by name in the bundle the files of a pack: what Kata's wheel lacks, answers where they may be."""
    contents: dict[str, Path] = {}
    if not _comes_with_kata(pack):
        contents |= {f"pack/katas/{_under(path, pack.root)}": path for path in files_of(pack.root)}
        if public:
            refuse_leaks(pack, contents)
    if not public:
        if pack.solutions is None:
            raise PackError(f"{pack.name} has no solutions here.")
        others = {
            kata.solution.parent for kata in pack.katas if kata.solution is not None and kata not in katas
        }
        for path in files_of(pack.solutions):
            if others.isdisjoint(path.parents):
                contents[f"pack/solutions/{_under(path, pack.solutions)}"] = path
    return contents


def _templates(system: str, pack: Pack, wanted: BundleOptions) -> dict[str, str]:
    """Return the system's own files with what is particular to this bundle."""
    if system == "actions":
        return {
            WORKFLOW: workflow(".kata", wanted.python, pack=None if _comes_with_kata(pack) else "pack/katas")
        }
    variables = ['KATA_SOLUTIONS="$root/source/pack/solutions"']
    if not _comes_with_kata(pack):
        variables.append('KATA_PACKS="$root/source/pack/katas"')
    words = {"PYTHON": wanted.python, "VARIABLES": " ".join(variables)}
    top = resources.files("grader.instructor.bundles") / "templates" / system
    with resources.as_file(top) as folder:
        # Not what an installer compiled there.
        return {_under(path, folder): filled(path.read_text("utf-8"), words) for path in files_of(folder)}


def _settings(system: str, katas: Iterable[Kata], wanted: BundleOptions) -> dict[str, str]:
    """Return `bundle.json`, by which the program that runs there knows what it grades."""
    if system == "actions":
        return {}
    chosen = sorted(katas, key=lambda kata: kata.key)
    settings: dict[str, object] = {
        "katas": [{"kata": kata.slug, "number": kata.number, "points": kata.points} for kata in chosen]
    }
    if system == "gradescope":
        settings |= {"perf": wanted.perf, "marks_speed": wanted.marks_speed}
    else:
        settings |= {"parts": _parts(chosen)}
    return {"bundle.json": json.dumps(settings, indent=2) + "\n"}


def _parts(katas: Iterable[Kata]) -> int:
    """Return the smallest number by which the points of every visible check become whole numbers."""
    worth = {kata.points for kata in katas}
    # A kata's total hides what its checks are worth: two of half a point make a whole one.
    worth |= {check.points for kata in katas for check in marked_checks(read_tree(kata.checks).body)}
    # Of what is written, 0.1, not of the binary number nearest to it, whose denominator is 2**55.
    return math.lcm(*(Fraction(str(points)).denominator for points in worth))


def _comes_with_kata(pack: Pack) -> bool:
    """Return whether Kata's own wheel holds the pack."""
    builtin = builtin_folder()
    return builtin is not None and pack.root.resolve() == builtin.resolve()


def _under(path: Path, top: Path) -> str:
    return path.relative_to(top).as_posix()
