"""The notebooks of `kata pack bundle colab`, run from their first cell to their last by real kernels.

Each with a right answer typed in, as it comes, and with three catalogued mistakes. `--python` names a Python with torch
and ipykernel and without Kata, such as a hosted notebook has; the first cell installs Kata there.

    python benchmarks/notebooks.py --python /tmp/hosted/bin/python 9.3
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbclient
import nbformat

from grader.catalogue import Catalogue, Kata
from grader.engine.mistakes.mistakes import mistakes
from grader.learner.workspace.notebook import split_source

TRIED = 3
FACTS = (
    "import json\n"
    "print(json.dumps([[report.status, [check.misconception for check in report.checks if check.misconception]]"
    " for report in _.reports]))"
)
"""After the cell that checks: its verdict as data."""


def cases(kata: Kata) -> Iterator[tuple[str, str | None, str]]:
    """Yield what is typed in, None for nothing, and the verdict that it has to get."""
    assert kata.solution is not None
    yield "right", kata.solution.read_text("utf-8"), "pass"
    yield "stub", None, "not_started"
    every = mistakes(kata)
    for place in range(TRIED):
        mistake = every[place * len(every) // TRIED]
        yield mistake.name, mistake.text, "named"


def typed(notebook: Path, answer: str | None) -> Any:
    """Return a notebook with an answer in the place of the stub's cells."""
    book: Any = nbformat.read(notebook, as_version=4)  # type: ignore[no-untyped-call]
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    text = [cell for cell in book.cells if cell.cell_type != "code"]
    asks = [place for place, cell in enumerate(code) if cell.source.startswith("#@title")]
    stub = code[asks[0] + 1 : asks[1]]
    if answer is not None:
        stub = [nbformat.v4.new_code_cell(part) for part in split_source(answer)[1]]  # type: ignore[no-untyped-call]
    after = code[asks[1] :]
    facts = nbformat.v4.new_code_cell(FACTS)  # type: ignore[no-untyped-call]
    book.cells = [code[asks[0]], *text, *stub, after[0], facts, *after[1:]]
    return book


def played(book: Any, folder: Path, kernel: str) -> tuple[str, list[str], float, list[str]]:
    """Run every cell; return the status, the named mistakes, seconds to the first verdict, and errors of cells."""
    seconds: dict[int, float] = {}
    began = time.monotonic()
    client = nbclient.NotebookClient(
        book,
        timeout=600,
        kernel_name=kernel,
        allow_errors=True,
        resources={"metadata": {"path": str(folder)}},
        on_cell_executed=lambda cell, cell_index, **_: seconds.__setitem__(
            cell_index, time.monotonic() - began
        ),
    )
    client.execute()
    place = next(place for place, cell in enumerate(book.cells) if cell.source == FACTS)
    errors = [
        f"{output.ename}: {output.evalue}"
        for cell in book.cells
        for output in cell.get("outputs", ())
        if output.output_type == "error"
    ]
    printed = "".join(output.get("text", "") for output in book.cells[place].outputs)
    if not printed:
        return "no verdict", [], 0.0, errors
    ((status, named),) = json.loads(printed)
    return status, named, seconds[place - 1], errors


def main() -> int:
    """Print a line for each run; the exit code is 0 if all are as they should be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", type=Path, default=Path(sys.executable))
    parser.add_argument("ids", nargs="+")
    chosen = parser.parse_args()
    catalogue = Catalogue.discover()
    katas = [kata for id_ in chosen.ids for kata in catalogue.resolve(id_)]
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="kata-notebooks-") as name:
        place = Path(name)
        bundle = place / "notebooks"
        command = [
            sys.executable,
            "-m",
            "grader",
            "pack",
            "bundle",
            "colab",
            *chosen.ids,
            "--out",
            str(bundle),
        ]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        spec = place / "jupyter" / "kernels" / "hosted" / "kernel.json"
        spec.parent.mkdir(parents=True)
        argv = [str(chosen.python.absolute()), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        spec.write_text(json.dumps({"argv": argv, "display_name": "hosted", "language": "python"}))
        os.environ["JUPYTER_PATH"] = str(place / "jupyter")
        # All right answers first: what goes wrong there goes wrong everywhere.
        for round_ in zip(*([(kata, *case) for case in cases(kata)] for kata in katas), strict=True):
            for kata, what, answer, expected in round_:
                folder = place / "run"
                shutil.copytree(bundle / "wheels", folder / "wheels")
                status, named, seconds, errors = played(
                    typed(bundle / f"{kata.module}.ipynb", answer), folder, "hosted"
                )
                # With a mistake a cell of the learner may raise.
                good = bool(named) if expected == "named" else status == expected
                good = good and not (errors and expected != "named")
                wrong += not good
                line = (
                    f"{kata.slug:22} {what:34} {status:12} {seconds:6.1f} s  {', '.join(sorted(set(named)))}"
                )
                print(line.rstrip(), "" if good else f"  << {expected} was expected {errors}", flush=True)
                shutil.rmtree(folder)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
