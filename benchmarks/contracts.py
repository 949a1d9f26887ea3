"""Which check notices what: docs/contracts.md, from the saboteurs of every kata on three seeds.

make contracts
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from table import DOCS

from grader.author.contracts import counted

SEEDS = 3
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


if __name__ == "__main__":
    found = subprocess.run(
        [sys.executable, "-m", "grader", "pack", "contracts", "--seeds", str(SEEDS), "--json"],
        stdout=subprocess.PIPE, check=False,
    )  # fmt: skip
    page = [HEAD.rstrip(), *sections(json.loads(found.stdout)["katas"])]
    (DOCS / "contracts.md").write_text("\n".join(page) + "\n", encoding="utf-8")
    raise SystemExit(found.returncode)
