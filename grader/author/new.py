"""`kata pack new`: a complete small kata, to be turned into another one piece by piece.

What is written passes the gate as it is. The author changes it and keeps the gate green: an example that works says
more than placeholders do.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from grader.author.split import split_pack
from grader.catalogue import Kata, load_pack
from grader.errors import UsageError
from grader.files import create_new
from grader.learner.workspace.tools import filled

TEMPLATE = "template"


@dataclass(frozen=True)
class NewKata:
    """What was written."""

    kata: Kata
    files: tuple[Path, ...]


def new_kata(root: Path, number: str, slug: str, unit_slug: str) -> NewKata:
    """Write a kata into the pack at `root` (made when it is not there), with its solutions next to the pack.

    Args:
        root: the pack's folder, e.g. `my-course/katas`.
        number: e.g. `1.2.3`; the unit is `1.2`.
        slug: e.g. `dot-product`; the module is `dot_product`.
        unit_slug: e.g. `vectors`; the unit's folder is `1.2-vectors`.

    Raises:
        UsageError: the kata is there already, or the number has no unit.
    """
    unit_number, _, last = number.rpartition(".")
    if not unit_number or not last.isdecimal():
        raise UsageError(
            f"{number} is not a kata's number.",
            "It must begin with the number of the unit: 1.2.3 is kata 3 of unit 1.2.",
        )
    # By number: the folder of a unit that is there may have another slug than the given one.
    units = [path for path in root.glob(f"{unit_number}-*") if path.is_dir()] if root.is_dir() else []
    unit = units[0].name if units else f"{unit_number}-{unit_slug}"
    # Before the first file: the template must not be mixed with a kata that is there.
    if (root / unit / slug).exists():
        raise UsageError(f"{root / unit / slug} already exists; nothing was written.")
    words = {
        "PACK_NAME": _slug_of(root),
        "UNIT_NUMBER": unit_number,
        "UNIT": unit,
        "NUMBER": number,
        "SLUG": slug,
        "MODULE": slug.replace("-", "_"),
    }
    written: list[Path] = []
    template = resources.files("grader.author") / TEMPLATE
    with resources.as_file(template) as source:
        for path in sorted(source.rglob("*.txt")):
            name = filled(path.relative_to(source).as_posix().removesuffix(".txt"), words)
            base = root if name.startswith("katas/") else root.parent / "solutions"  # from answers/
            target = base / name.partition("/")[2]
            if create_new(target, filled(path.read_text(encoding="utf-8"), words), base):
                written.append(target)
    # The template is written once, and its checks come out of it as those of every other kata do: it passes the
    # gate as it stands.
    split_pack(root)
    kata = next(kata for kata in load_pack(root).katas if kata.slug == slug)
    return NewKata(kata, tuple(written))


def _slug_of(root: Path) -> str:
    name = root.absolute().parent.name if root.name == "katas" else root.name
    slug = "-".join(
        part for part in "".join(c if c.isalnum() and c.isascii() else " " for c in name.lower()).split()
    )
    return slug if slug and slug[0].isalpha() else f"pack-{slug}".rstrip("-")
