"""What people really hand in: 48 kinds of input that graders were reported to get wrong, and all layouts of a download.

`python -m tests.cases` writes docs/cases.md from `cases.txt` and `submissions/test_downloads.py`. A case whose test is
not in this tree is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "cases.md"

CASES = tuple(
    tuple(line.split(" | ")) for line in (ROOT / "tests" / "cases.txt").read_text("utf-8").splitlines()
)
"""Number, input, verdict, test."""


def there(test: str) -> bool:
    """Return whether a test is in this tree."""
    file, _, name = test.partition("::")
    path = ROOT / "tests" / file
    return path.is_file() and re.search(rf"^def {name}\(", path.read_text("utf-8"), re.MULTILINE) is not None


def layouts() -> list[tuple[str, str, str, str]]:
    """Return what a download looks like, and what is read from it."""
    from tests.submissions.test_downloads import DOWNLOADS

    rows = []
    for name, one in DOWNLOADS.items():
        files = ", ".join(f"`{file}`" for file in list(one.files)[:2])
        verdict = ", ".join(one.works) + ("; times" if one.times else "")
        late = f"; late without a time: {', '.join(one.late)}" if one.late else ""
        rows.append((name, files, verdict + late, f"submissions/test_downloads.py::test_a_download[{name}]"))
    return rows


def table(rows: Iterable[Sequence[str]]) -> str:
    """Return a table of Markdown."""
    cells = (" | ".join((*row[:3], f"`{row[3]}`")) for row in rows)
    return "|  | input | verdict | test |\n|---|---|---|---|\n" + "".join(f"| {row} |\n" for row in cells)


def page() -> str:
    """Return docs/cases.md."""
    cases = [case for case in CASES if there(case[3])]
    counted = {number for case in cases for number in case[0].split(", ")}
    return f"""\
# What people really hand in

Written by `python -m tests.cases`. Other graders were reported to get these inputs wrong; each test gives Kata the
input and states the verdict. {len(counted)} of the 48 reports have a test here.

{table(cases)}
## Layouts of downloads

Two files of each, and the learners that are read from it.

{table(layouts())}"""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
