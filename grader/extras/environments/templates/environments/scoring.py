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
import textwrap
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

TASKS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("tasks.json").read_text("utf-8"))
_REQUIRED: dict[str, list[str]] = {task["slug"]: task["required"] for task in TASKS}
LONGEST = 256_000
"""How many characters of a reply are read, from its end: Kata grades no longer module."""
# Without indented code and HTML, a fence counts however far it is indented and whatever tag it is in.
_MARKDOWN = MarkdownIt("zero", {"maxNesting": 10})
_MARKDOWN.enable(["fence", "list", "blockquote"]).disable(["inline", "text_join"])
_TOKENS = re.compile(
    r'''#[^\n]*|(?P<quotes>"""|\'\'\')(?:\\.|[^\\])*?(?:(?P=quotes)|(?P<open>\\?\Z))'''
    r"""|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|^[ \t]*(?:`{3}|~{3})(?P<info>[^\n]*)\n?""",
    re.M | re.S,
)
"""Comments and strings of Python, and fences outside of them, where Python has none."""
_FENCE = re.compile(r"^([ \t>]*)(?=`{3}|~{3})")
_IN_A_STRING = "\ufdd0"
_PYTHON = re.compile(r"\W*i?py(?:thon)?[\d.]*(?![^\W\d])", re.I)
_FUTURE = re.compile(r"^from __future__ import .*$", re.M)
_STATEMENT = re.compile(
    r'''from \S+ import |import \w|(?:async )?def |class |@\w|[rR]?(?:"""|\'\'\')|\w+ *='''
)
_CODE = re.compile(rf"[ \t]+\S|[)\]}}]|{_STATEMENT.pattern}")
_END_TAGS = re.compile(r"(?:\s*<[/|\uff5c][^<>\n]{1,40}>)+\s*\Z")
"""What templates and forms of answers leave at the end: </s>, <|im_end|>, </answer>."""
_END_OF_THOUGHTS = re.compile(r"""(?<!["'`])</think>(?!["'`])""")
"""Not where it is a text in a program."""
_LEFT_OUT = r"""(?:\s*(?:#.*|"{3}[^"]*"{3})\n)*\s*(?:\.\.\.|pass)[ \t]*(?:#.*)?$"""
_METHOD = re.compile(r"^[ \t]+(?:async +)?def +(\w+)", re.M)
_PASSED_ON = ("PATH", "KATA_PACKS", "KATA_SOLUTIONS", "TMPDIR")


@dataclass(frozen=True)
class Block:
    """A block of code in a reply."""

    info: str
    code: str


def code_in(reply: str, slug: str) -> str:
    """Return the module in a reply to a task: the last block that defines a name which the kata requires.

    If blocks before it define names that it lacks, the module came in pieces, which are joined. What is left out by
    dots, or is a class without the `__init__` that an earlier block has, is an excerpt, and defines nothing. Without
    such a block it is the text around blocks, if that defines one, else the last block of Python.
    """
    required = "|".join(_REQUIRED.get(slug, ())) or "(?!)"
    # Not by Python's own parser, whose time and stack a stranger's code can use up.
    names = re.compile(rf"^(?:(?:async +)?def +|class +|(?=\w+ *(?::[^=\n]*)?=(?!=)))({required})\b", re.M)
    whole = re.compile(rf"{names.pattern}(?! *= *\1\b)(?!.*:{_LEFT_OUT})", re.M)
    text = reply.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    # Thoughts are not part of a reply; a model that was cut off while it thought has not replied.
    text = re.split("^<think>", _END_OF_THOUGHTS.split(text)[-1], maxsplit=1, flags=re.M)[0][-LONGEST:]
    blocks, around = _read(text[:-500] + _END_TAGS.sub("\n", text[-500:]), names)
    python = [block.code for block in blocks if _PYTHON.match(block.info) or names.search(block.code)]
    defining: list[int] = []
    can_begin = False
    for number, code in enumerate(python):
        methods = set(_METHOD.findall(code))
        if whole.search(code) and not (can_begin and methods and "__init__" not in methods):
            defining.append(number)
            can_begin |= "__init__" in methods
    if not defining:
        if names.search(around) or not blocks:
            return _without_prose(around)
        return python[-1] if python else blocks[-1].code
    pieces = [
        code
        for number, code in enumerate(python[: defining[-1] + 1])
        if number in defining or not names.search(code)
    ]
    joined = "\n".join(pieces)
    if set(whole.findall(pieces[-1])) == set(whole.findall(joined)):
        return pieces[-1]
    # Python takes these imports at the top alone.
    return "\n".join([*dict.fromkeys(_FUTURE.findall(joined)), _FUTURE.sub("", joined)])


def _read(text: str, names: re.Pattern[str]) -> tuple[list[Block], str]:
    """Return the blocks of code of a Markdown text, and the lines around them."""
    lines = text.split("\n")
    for _ in range(4):
        fences = [token for token in _MARKDOWN.parse("\n".join(lines)) if token.type == "fence"]
        places = [range(*token.map) for token in fences if token.map]
        parts = [_split(token.info, token.content) for token in fences]
        # A fence in a string of Python is text, which Markdown does not know: it ends the block there.
        cut = (
            (place[-1], quotes)
            for place, (blocks, quotes) in zip(places, parts, strict=True)
            if quotes and names.search(blocks[-1].code)
        )
        if not _hide(lines, *next(cut, (0, ""))):
            break
    inside = {number for place in places for number in place}
    around = "\n".join(line for number, line in enumerate(lines) if number not in inside)
    return [block for blocks, _ in parts for block in blocks], around.replace(_IN_A_STRING, "")


def _split(info: str, content: str) -> tuple[list[Block], str]:
    """Return what fences make of a block that was not ended, and the quotes of a string that it ends in."""
    blocks, start, quotes = [], 0, ""
    content = content.replace(_IN_A_STRING, "")
    for token in _TOKENS.finditer(content):
        if token["info"] is not None:
            blocks.append(Block(info, textwrap.dedent(content[start : token.start()])))
            info, start = token["info"], token.end()
        elif token["open"] is not None:
            quotes = token["quotes"]
    return [*blocks, Block(info, textwrap.dedent(content[start:]))], quotes


def _hide(lines: list[str], first: int, quotes: str) -> bool:
    """Mark fences up to the line that ends a string; return whether there were any."""
    last = next((number for number in range(first, len(lines)) if quotes in lines[number]), first)
    for number in range(first, last):
        lines[number] = _FENCE.sub(rf"\1{_IN_A_STRING}", lines[number])
    return last > first


def _without_prose(text: str) -> str:
    """Return the lines from the first to the last that looks like Python."""
    lines = text.split("\n")
    first = next((n for n, line in enumerate(lines) if _STATEMENT.match(line)), 0)
    last = next((n for n in range(len(lines) - 1, first, -1) if _CODE.match(lines[n])), len(lines))
    return "\n".join(lines[first : last + 1]) + "\n"


@dataclass(eq=False)
class ModelReply:
    """What a model replied to a task, and the report of it, if it could be graded."""

    slug: str
    module: str
    text: str
    report: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        self.code = code_in(self.text, self.slug)


_waiting: list[ModelReply] = []
_turn = threading.Lock()


def score(slug: str, module: str, reply: str) -> dict[str, Any]:
    """Return what a reply is worth: a share of all points, the first message, its module, what traces are sorted by.

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
    return found(mine)


def found(reply: ModelReply) -> dict[str, Any]:
    """Return what a reply that was graded is worth.

    Raises:
        RuntimeError: it has no report, or one whose numbers are not a share.
    """
    # Not graded is not wrong: a zero would be learned from.
    if reply.report is None:
        raise RuntimeError(f"{reply.slug} was not graded")
    report = reply.report
    message = report.get("message") or next(
        (check["message"] for check in report["checks"] if check["message"]), ""
    )
    points: dict[str, float] = {}
    most: dict[str, float] = {}
    for check in report["checks"]:
        points[check["aspect"]] = points.get(check["aspect"], 0.0) + check["points"]
        most[check["aspect"]] = most.get(check["aspect"], 0.0) + check["max_points"]
    return {
        "score": share(report["score"], report["max_score"]),
        "passed": report["status"] == "pass",
        "message": message,
        "answer": reply.code,
        "details": {
            "status": report["status"],
            "failing": [check["id"] for check in report["checks"] if check["status"] != "pass"],
            "mistakes": sorted(
                {check["misconception"] for check in report["checks"] if check["misconception"]}
            ),
            "aspects": {name: share(points[name], most[name]) for name in sorted(most) if most[name]},
        },
    }


def share(points: float, most: float) -> float:
    """Return points as a share from 0 to 1.

    Raises:
        RuntimeError: they are none: JSON may hold NaN, and a reward beyond its range would be learned from.
    """
    if not (
        isinstance(points, (int, float))
        and isinstance(most, (int, float))
        and 0 <= points <= most
        and most > 0
    ):
        raise RuntimeError(f"{points!r} of {most!r} points is not a share from 0 to 1")
    return points / most


def canaries() -> list[dict[str, Any]]:
    """Return replies that must not earn more than their `ceiling`, each with the `slug` and `module` of its task."""
    folder = Path(__file__).with_name("canaries")
    documents = [json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))]
    facts = ("slug", "module")
    return [
        {**reply, **{name: document[name] for name in facts}}
        for document in documents
        for reply in document["replies"]
    ]


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
            (hand_in / f"{reply.module}.py").write_bytes((reply.code or "\n").encode("utf-8", "replace"))
        only = [part for slug in sorted({reply.slug for reply in replies}) for part in ("--only", slug)]
        try:
            _kata(place, "grade", "class", *only, "--json", "reports.jsonl", *options)
        except RuntimeError:
            if len(replies) == 1:
                raise
            # What cannot be graded is not a zero, and takes nothing from what can.
            for reply in replies:
                with contextlib.suppress(RuntimeError):
                    grade([reply], *options)
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
