"""Words that hurt a reader, counted by folder, and sentences of mistakes in which a rule looks like a consequence: part
of `make lint`, which fails where a count grows, or where there is such a sentence.

`python benchmarks/words.py --list grader/cli` prints each place. "Behind the proxy" and "stands for" are English:
the list warns, it does not judge. A ceiling is what was counted when it was last lowered, and may only fall.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from house import ROOT, lines, listed

CEILINGS = {
    "CHANGELOG.md": 1, "benchmarks": 3, "demo": 3, "docs": 7, "grader/author": 2, "grader/engine": 6,
    "katas/9.2-positional-encoding": 2, "katas/9.3-encoder-vs-decoder": 25,
    "katas/9.4-encoder-decoder": 5, "katas/9.5-around-the-model": 2, "katas/9.6-pretraining": 6,
    "katas/9.7-look-inside": 1,
    "katas/9.8-modern-variants": 3, "katas/9.9-capstones": 8,
    "solutions/9.3-encoder-vs-decoder": 1, "solutions/9.4-encoder-decoder": 2,
}  # fmt: skip
BETTER = {
    r"hangs? on(?! to)": "depends on",
    r"(?<!left )behind": "after, unless it is a place",
    r"beside": "next to, with, besides",
    r"st[ao]nds? (?:in(?! for)|at|behind)": "is in, occurs, comes after",
    r"(?<!there )(?:is|are|was|were) no(?! longer| more| less)(?= [a-z])": "is not a",
    r"whoever": "if you, anyone who",
    r"counted too|are not counted, too": "are left out as well",
    r"wants memory": "needs memory",
    r"of the equal ones": "on a tie",
    r"dearer|thousand million|some thousand": "more expensive, billion, a few thousand",
}
"""Patterns of prose, and what to write instead."""
NAMES = re.compile(r"\b(?:def |class )?_?(?:told|said|asked|kept|meant|lent)\b(?= *[=(:,)])")
"""Verbs for names, in grader/ alone: a name says what it holds."""
# A word of a name that hyphens join is not prose.
PROSE = re.compile("|".join(rf"(?<!-)\b(?:{pattern})\b(?!-)" for pattern in BETTER), re.IGNORECASE)

SENTENCES = ("solutions/", "katas/", "tests/packs/", "benchmarks/peers/")
"""Where sentences of mistakes, and of causes, begin with `your` or `you`: learners read them after "likely"."""
RULE = re.compile(
    r"""\b(?:should|must|may|has[ ]to|have[ ]to)\b | ^`?(?:
    add|answer|apply|attend|average|begin|build|call|cast|change|check|clear|compare|compute|correct|count|cut|decode
    |divide|draw|drop|encode|end|exchange|fill|flatten|follow|give|hold|join|keep|leave|let|make|move|multiply|normalise
    |number|pass|permute|pool|project|put|raise|read|register|remove|reorder|restore|return|round|run|scale|send|set|skip|split
    |square|start|stay|stop|store|subtract|sum|switch|take|transpose|turn|unpack|use|wait|weigh|write)\b""",
    re.VERBOSE,
)
"""What may come after a colon or a semicolon: a rule, that is, a modal verb or one of these imperatives."""
UNCLEAR = re.compile(r"\b(?:alone|anew|asked for|wanted|hands? on|\w*(?:ormaliz|nitializ|okeniz)\w*)\b")


def folder_of(path: Path) -> str:
    """Return what a file is counted with: a room of grader/, a unit of katas/ or solutions/, another folder."""
    parts = path.relative_to(ROOT).parts
    return "/".join(parts[: 2 if parts[0] in ("grader", "katas", "solutions") and len(parts) > 2 else 1])


def places() -> Iterator[tuple[str, str, str]]:
    """Yield the folder, the place and the words of each hit."""
    for path in listed("*.py", "*.md", "*.toml", "*.html"):
        name = path.relative_to(ROOT).as_posix()
        if name.startswith(("tests/", "benchmarks/words.py")):
            continue
        for number, line in enumerate(lines(path), 1):
            hits = [*PROSE.finditer(line), *(NAMES.finditer(line) if name.startswith("grader/") else ())]
            for hit in hits:
                yield folder_of(path), f"{name}:{number}", hit[0].strip()


def sentences(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each sentence that is said to a learner."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            text = "".join(part.value if isinstance(part, ast.Constant) else "it" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        if re.match(r"(?:your|you) ", text) and "\n" not in text:
            yield node.lineno, text


def is_misread(sentence: str) -> bool:
    """Return whether a rule in it looks like a consequence, or it has a word that is not plain.

    >>> is_misread("your base is 1000: it is 10000"), is_misread("your base is 1000; it should be 10000")
    (True, False)
    >>> is_misread("your cosine starts at twice the peak: divide 1 + cos by 2")
    False
    """
    _, *rules = re.split(r"[:;] ", sentence)
    return not all(RULE.search(rule) for rule in rules) or bool(UNCLEAR.search(sentence))


def misread() -> Iterator[str]:
    """Yield the place and the text of each sentence of a mistake or a cause that is misread."""
    for path in listed("*.py"):
        name = path.relative_to(ROOT).as_posix()
        if name.startswith(SENTENCES):
            yield from (f"{name}:{line}: {text}" for line, text in sentences(path) if is_misread(text))


def main() -> int:
    """Print the counts, or with --list the places; fail where a count has grown or a sentence is misread."""
    counts = dict.fromkeys(CEILINGS, 0)
    for folder, place, words in places():
        counts[folder] = counts.get(folder, 0) + 1
        if sys.argv[1:2] == ["--list"] and place.startswith(tuple(sys.argv[2:] or [""])):
            print(f"{place}: {words}")
    beyond = {folder for folder, count in counts.items() if count > CEILINGS.get(folder, 0)}
    print(
        "words to replace: "
        + ", ".join(f"{folder} {count}" for folder, count in sorted(counts.items()) if count)
    )
    for folder in sorted(beyond):
        print(
            f"{folder}: {counts[folder]}, beyond the ceiling of {CEILINGS.get(folder, 0)}: "
            f"python benchmarks/words.py --list {folder}"
        )
    unclear = list(misread())
    for place in unclear:
        print(f"{place}\n    consequence or rule? your X does A, so B happens; it should C")
    return bool(beyond or unclear)


if __name__ == "__main__":
    sys.exit(main())
