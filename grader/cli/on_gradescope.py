"""What Gradescope runs for one submission: grade it as `kata grade` grades a class of one, and leave results.json.

`python -I -m grader.cli.on_gradescope FOLDER`; nobody types this. The layout is that of
gradescope-autograders.readthedocs.io: `submission/`, `source/` with the bundle, `results/`. This runs as root in a
container that refuses namespaces; submissions run as nobody, so neither the results nor the bundle are in their reach.
`run_autograder` has left results that say "not graded" before anything else: only whole ones replace them.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import sys
import tempfile
from pathlib import Path

from grader.cli.main import cli
from grader.files import write_atomic
from grader.gradebook.store import Gradebook
from grader.handin.gradescope import results

LEARNER = "submission"


def main(arguments: list[str]) -> int:
    """Grade what was handed in below a folder such as /autograder; 0 says that its results are there."""
    (root,) = map(Path, arguments)
    settings = json.loads((root / "source" / "bundle.json").read_text("utf-8"))
    katas = [kata["kata"] for kata in settings["katas"]]
    with tempfile.TemporaryDirectory(prefix="kata-gradescope-") as name:
        work = Path(name)
        for folder in ("class", "stand"):
            (work / folder).mkdir(mode=0o700)
        # Links stay links: the class's reader follows none.
        shutil.copytree(root / "submission", work / "class" / LEARNER, symlinks=True)
        book = work / "gradebook.sqlite"
        # Named as well, so that a file with a wrong name is this learner's "missing" and no refusal of the class.
        chosen = [part for word in (LEARNER, *katas) for part in ("--only", word)]
        speed = ["--perf"] if settings["perf"] else []
        code: object = 0
        # Here: another interpreter would import all of it anew.
        with contextlib.chdir(work / "stand"):
            try:
                cli.main(["grade", str(work / "class"), *chosen, *speed, "-j", "1", "--gradebook", str(book)])
            except SystemExit as end:
                code = end.code
        if code != 0:
            print("kata grade ended with", code, file=sys.stderr)
            return 1
        with Gradebook.open(str(book), create=False) as gradebook:
            rows = list(gradebook.rows(katas=katas))
        document = results(rows, marks_speed=settings["marks_speed"])
    write_atomic(root / "results" / "results.json", json.dumps(document, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
