"""Which check notices what: docs/contracts.md, from the saboteurs of every kata on three seeds.

make contracts
python benchmarks/contracts.py masks layer-norm
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from typing import Any

from table import DOCS

from grader.author.contracts import counted
from grader.catalogue.load import load_pack

SEEDS = 3
SECTION = re.compile(r"^(## \S+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
HEAD = """# What the checks look at

For each function and method that a kata requires, a right answer is broken in one property at a time (by *saboteurs*)
and handed in. The table names the checks that notice first, and after each the properties. Hidden
checks tell learners nothing. What is in no row cannot be broken there: a function without a mask has no padding. This
page is made by `make contracts`; [for authors](authors-checks.md#one-contract-for-each-part) says how such checks are
written.
"""


def sections(katas: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Return the page's lines: a heading, a sentence and a table for each kata."""
    lines = []
    for slug, cells in katas.items():
        lines += ["", f"## {slug}", "", f"{counted([cell['state'] for cell in cells], SEEDS)}."]
        lines += ["", "| part | noticed by |", "|---|---|"]
        parts: dict[str, dict[str, dict[str, None]]] = {}
        for cell in cells:
            check = f"`{cell['caught']}`" + " (hidden)" * cell["hidden"] if cell["caught"] else "**nobody**"
            if cell["reason"]:
                check = f"not asked for ({cell['reason'].rstrip('.')})"
            parts.setdefault(cell["part"], {}).setdefault(check, {})[cell["property"]] = None
        for part, checks in parts.items():
            noticed = (f"{check}: {', '.join(properties)}" for check, properties in checks.items())
            lines.append(f"| `{part}` | {'; '.join(noticed)} |")
    return lines


def main() -> int:
    """Write the page, or the sections of some katas; the exit code is that of `kata pack contracts`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "katas", nargs="*", metavar="KATA", help="renew only their sections; all take half an hour"
    )
    chosen = parser.parse_args().katas
    page = DOCS / "contracts.md"
    known = dict(SECTION.findall(page.read_text(encoding="utf-8")))
    order = [f"## {kata.slug}" for kata in load_pack(page.parents[1] / "katas").katas]
    codes = []
    for kata in chosen or [""]:
        command = ["contracts", *filter(None, [kata]), "--seeds", str(SEEDS), "--json"]
        found = subprocess.run(
            [sys.executable, "-m", "grader", "pack", *command], stdout=subprocess.PIPE, check=False
        )
        codes.append(found.returncode)
        made = "\n".join(sections(json.loads(found.stdout)["katas"])) + "\n"
        known |= SECTION.findall(made)
    parts = [f"{heading}\n{known[heading].rstrip()}\n" for heading in order if heading in known]
    page.write_text("\n".join([HEAD, *parts]), encoding="utf-8")
    return max(codes)


if __name__ == "__main__":
    raise SystemExit(main())
