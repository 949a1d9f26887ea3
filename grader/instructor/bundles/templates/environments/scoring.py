"""Asks Kata, from outside, what replies are worth: `kata grade` in a new folder, hidden checks included.

KATA_PYTHON names the Python that Kata is installed for, if it is another one than this. Nothing of a reply runs in this
process, and neither a reference nor a hidden check is in this package.
"""

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
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


@dataclass(eq=False)
class ModelReply:
    """What a model replied to a task, and the report of it, if it could be graded."""

    slug: str
    module: str
    text: str
    report: dict[str, Any] | None = None


_waiting: list[ModelReply] = []
_turn = threading.Lock()


def score(slug: str, module: str, reply: str) -> dict[str, Any]:
    """Return the share of all points, whether everything passed, the first message, and what traces are sorted by.

    Raises:
        RuntimeError: it could not be graded; that is not a zero.
    """
    mine = ModelReply(slug, module, reply)
    _waiting.append(mine)
    with _turn:
        # To load torch takes longer than most answers: the thread whose turn it is takes along all that wait by now.
        if mine in _waiting:
            taken = [_waiting.pop(0) for _ in range(len(_waiting))]
            grade(taken)
    # Not graded is not wrong: a zero would be learned from.
    if mine.report is None:
        raise RuntimeError(f"{slug} was not graded")
    report = mine.report
    message = report.get("message") or next(
        (one["message"] for one in report["checks"] if one["message"]), ""
    )
    share = report["score"] / report["max_score"]
    return {
        "score": share,
        "passed": report["status"] == "pass",
        "message": message,
        "details": {
            "status": report["status"],
            "failing": [one["id"] for one in report["checks"] if one["status"] != "pass"],
            "mistakes": sorted({one["misconception"] for one in report["checks"] if one["misconception"]}),
        },
    }


def grade(replies: list[ModelReply], *options: str) -> None:
    """Grade replies in one run, each in a folder of its own; those that cannot be graded get no report.

    Raises:
        RuntimeError: none of them could be graded.
    """
    with tempfile.TemporaryDirectory() as place:
        for number, reply in enumerate(replies):
            hand_in = Path(place, "class", f"reply-{number}")
            hand_in.mkdir(parents=True)
            # A reply may hold half of a surrogate pair, which no file does.
            code = (code_in(reply.text) or "\n").encode("utf-8", "replace")
            (hand_in / f"{reply.module}.py").write_bytes(code)
        only = [part for slug in sorted({one.slug for one in replies}) for part in ("--only", slug)]
        try:
            _kata(place, "grade", "class", *only, "--json", "reports.jsonl", *options)
        except RuntimeError:
            if len(replies) == 1:
                raise
            # What cannot be graded is not a zero, and takes nothing from what can.
            for one in replies:
                with contextlib.suppress(RuntimeError):
                    grade([one], *options)
            return
        for line in Path(place, "reports.jsonl").read_text("utf-8").splitlines():
            report = json.loads(line)
            reply = replies[int(report["learner"].removeprefix("reply-"))]
            if report["kata"] == reply.slug:
                reply.report = report


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
