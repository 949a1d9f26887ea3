"""Notebooks for hosted services, Colab among them: the first cell installs Kata, the others are a whole kata.

A notebook holds lesson, pictures, stub and cells that ask Kata. It has no reference and no hidden check, nor has the
wheel that it installs.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from grader.api import (
    DISTRIBUTION,
    FolderBundle,
    Kata,
    Pack,
    UsageError,
    __version__,
    embedded,
    filled,
    given_files,
    notebook_text,
    wheels,
    write_atomic,
)

_LESSON, _LEAD, _CHECK = 0, 1, -1
"""Cells of a started notebook that are other ones here."""
_ASKS = {
    "check": "Check what you ran",
    "try": "The failing call: inputs, yours and expected become names here",
    "hint": "A hint; run it again for the next",
    "demo": "The idea, live",
}
"""The cells at the end: a command, and its title."""


def write_notebooks(
    pack: Pack,
    katas: Sequence[Kata],
    _contents: Callable[[Kata], dict[str, Path]],
    target: Path,
    _python: str,
) -> list[Path]:
    """Write a notebook for each kata, Kata's wheel, and a page of badges into a new folder; return the files.

    Raises:
        UsageError: the folder holds something, or the wheel of Kata could not be made.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{target} holds something already.", "Name another folder with --out.")
    (target / "wheels").mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix=".kata-wheel-", dir=target) as name:
        wheel = wheels.own_wheel(Path(name))
        files = [Path(shutil.move(wheel, target / "wheels" / wheel.name))]
    # As it is handed in: by the name of the module.
    texts = {f"{kata.module}.ipynb": hosted_notebook(kata) for kata in katas}
    for name, text in {**texts, "README.md": _badges(pack, katas)}.items():
        write_atomic(target / name, text)
        files.append(target / name)
    return files


def hosted_notebook(kata: Kata) -> str:
    """Return a kata as a notebook that begins on a machine without Kata, the same text every time."""
    book = json.loads(notebook_text(kata))
    cells = book["cells"]
    cells[_LESSON]["source"] = embedded(kata, _text(cells[_LESSON]))
    # Nothing is saved as a file of a workspace here.
    saved = f" In a terminal, `kata check {kata.slug}` checks what is saved."
    cells[_LEAD]["source"] = _text(cells[_LEAD]).replace(saved, "")
    words = {
        "GIVEN": _template("given.py.txt") if given_files(kata) else "",
        "VERSION": __version__,
        "DISTRIBUTION": DISTRIBUTION,
        "SLUG": kata.slug,
    }
    asks = {
        command: filled(_template("ask.py.txt"), {"TITLE": title, "COMMAND": command, "SLUG": kata.slug})
        for command, title in _ASKS.items()
        if command != "demo" or kata.demo.is_file()
    }
    install = _code(kata, "install", filled(_template("install.py.txt"), words))
    questions = [_code(kata, name, source) for name, source in asks.items()]
    book["cells"] = [install, *cells[:_CHECK], *questions]
    book["metadata"]["colab"] = {"name": f"{kata.number} {kata.slug}", "provenance": []}
    return json.dumps(book, ensure_ascii=False, indent=1) + "\n"


def _template(name: str) -> str:
    return (Path(__file__).parent / "templates" / name).read_text("utf-8")


def _text(cell: dict[str, Any]) -> str:
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


def _code(kata: Kata, name: str, source: str) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": f"{kata.slug[:48]}-{name}",
        # Folded: if you learn here, you have something else to read.
        "metadata": {"jupyter": {"source_hidden": True}, "cellView": "form"},
        "outputs": [],
        "source": source.strip(),
    }


def _badges(pack: Pack, katas: Sequence[Kata]) -> str:
    """Return a page with a badge for each notebook, in the repository that GitHub's workflows name."""
    hub = "https://colab.research.google.com"
    where = f"{hub}/github/{os.environ.get('GITHUB_REPOSITORY', 'OWNER/REPOSITORY')}/blob/HEAD/notebooks"
    badge = f"[![Open in Colab]({hub}/assets/colab-badge.svg)]"
    lines = [f"| {kata.number} {kata.title} | {badge}({where}/{kata.module}.ipynb) |" for kata in katas]
    words = {"TITLE": pack.title, "VERSION": __version__, "LINES": "\n".join(lines)}
    return filled(_template("badges.md"), words)


COLAB = FolderBundle(
    write_notebooks,
    (
        "next  put the folder into a public repository as notebooks/, and lines of its README.md into yours,",
        "      with that repository's name for OWNER/REPOSITORY",
        "      Everybody can read this bundle; it holds no hidden check and no answer.",
    ),
    public=True,
)
