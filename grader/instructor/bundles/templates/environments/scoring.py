"""Asks Kata, from outside, what a reply is worth: a process of its own, in a new folder, hidden checks included.

KATA_PYTHON names the Python that Kata is installed for, if it is another one than this. Nothing of a reply runs in this
process, and neither a reference nor a hidden check is in this package.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

TASKS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("tasks.json").read_text("utf-8"))
_FENCED = re.compile(r"^[ \t]*```[ \t]*(?:python|py)?[ \t]*\n(.*?)^[ \t]*```[ \t]*$", re.M | re.S | re.I)
_PASSED_ON = ("PATH", "KATA_PACKS", "KATA_SOLUTIONS", "TMPDIR")


def code_in(reply: str) -> str:
    """Return the last block of code in a reply; without one the reply as a whole."""
    text = reply.replace("\r\n", "\n")
    found = _FENCED.findall(text)
    return found[-1] if found else text


def score(slug: str, module: str, reply: str) -> dict[str, Any]:
    """Return the share of all points, whether everything passed, and the first message.

    Raises:
        RuntimeError: it could not be graded; that is not a zero.
    """
    with tempfile.TemporaryDirectory() as place:
        hand_in = Path(place, "class", "answer")
        hand_in.mkdir(parents=True)
        (hand_in / f"{module}.py").write_text(code_in(reply) or "\n", encoding="utf-8")
        _kata(place, "grade", "class", "--only", slug, "--json", "reports.jsonl")
        file = Path(place, "reports.jsonl")
        # Not graded is not wrong: a zero would be learned from.
        if not file.is_file():
            raise RuntimeError(f"{slug} was not graded")
        report = json.loads(file.read_text("utf-8"))
    message = report.get("message") or next(
        (one["message"] for one in report["checks"] if one["message"]), ""
    )
    share = report["score"] / report["max_score"]
    return {"score": share, "passed": report["status"] == "pass", "message": message}


def reference(slug: str) -> str:
    """Return the reference as a reply, from Kata: to prove that a right answer gets everything."""
    with tempfile.TemporaryDirectory() as place:
        _kata(place, "start", slug)
        shown = json.loads(_kata(place, "solution", slug, "--give-up", "--json"))
    return f"```python\n{shown['solution']}```\n"


def _kata(place: str, *arguments: str) -> str:
    variables = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    variables |= {"LANG": "C.UTF-8", "HOME": place, "KATA_WARM": "0"}
    done = subprocess.run(
        [os.environ.get("KATA_PYTHON") or sys.executable, "-I", "-B", "-m", "grader", *arguments],
        cwd=place, env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode not in (0, 1):
        raise RuntimeError(f"kata {arguments[0]}: {done.stderr.strip()[-500:]}")
    return done.stdout
