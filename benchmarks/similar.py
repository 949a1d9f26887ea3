"""How well, how fast and how cheaply does `kata similar` find what is alike?

    .venv/bin/python benchmarks/similar.py                  the table for the page, some three minutes
    .venv/bin/python benchmarks/similar.py masks            one kata, without the large class
    .venv/bin/python benchmarks/similar.py --write          renew docs/benchmarks.md
    .venv/bin/python benchmarks/similar.py --copydetect     the same pairs for copydetect, where it is installed

Independent answers are those of `tests/answers/*/right.py` and the catalogued alternatives: written for other
purposes, each by itself. A class holds them all and, for each, a copy that a tool disguised: renamed, reordered,
reformatted, all of these at once, or half copied (half of its definitions go into another independent answer). A pair
of an answer and its own copy should be found, no other should be. The thresholds were chosen on the answers of nine
katas; those of later katas took no part in that, and have a table of their own. The catalogued alternatives take no
part in what is left out, since here they are learners; the reference does.
"""

from __future__ import annotations

import argparse
import ast
import io
import random
import resource
import statistics
import sys
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[1:1] = [str(ROOT), str(ROOT / "benchmarks")]

from table import Figures, rewrite, verdict  # noqa: E402

from grader.catalogue import Catalogue, Kata  # noqa: E402
from grader.reports.style import console  # noqa: E402
from grader.similarity import DEFAULTS, Candidate, Settings, compare  # noqa: E402
from grader.submissions import Bundle  # noqa: E402
from tests import answers  # noqa: E402

PAGE = ROOT / "docs" / "benchmarks.md"
LARGE = 2000
CHOSEN_ON = frozenset(
    {
        "self-attention", "positional-encoding", "masks", "masked-attention", "layer-norm", "feed-forward",
        "encoder-layer", "classifier", "decoder-lm",
    }
)  # fmt: skip
"""The katas whose answers were there when the defaults were chosen; the defaults have not changed since."""
Pairs = set[frozenset[str]]


IN_SAMPLE = "Copies among independent answers, of the katas that the thresholds were chosen on"
OUT = "The same out of sample: of katas whose answers came after the thresholds"

# --- copies, as a tool makes them ---


class _Renamed(ast.NodeTransformer):
    """Gives every local variable, argument, helper and attribute of its own another name; required names stay."""

    def __init__(self, tree: ast.Module, kept: set[str], shuffled: random.Random) -> None:
        bound = {
            node.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
        bound |= {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        self._names = {
            name: f"{shuffled.choice('abcdefg')}_{n}" for n, name in enumerate(sorted(bound - kept))
        }
        stored = {
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        }
        self._attributes = {name: f"m_{n}" for n, name in enumerate(sorted(stored - kept))}

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(ast.Name(self._names.get(node.id, node.id), node.ctx), node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        self.generic_visit(node)
        node.arg = self._names.get(node.arg, node.arg)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        node.attr = self._attributes.get(node.attr, node.attr)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.name = self._names.get(node.name, node.name)
        return node


def renamed(text: str, kata: Kata, rng: random.Random) -> str:
    tree = ast.parse(text)
    return ast.unparse(_Renamed(tree, set(kata.required) | {"self", "forward", "__init__"}, rng).visit(tree))


def reordered(text: str, kata: Kata, rng: random.Random) -> str:
    tree = ast.parse(text)
    definitions = (ast.FunctionDef, ast.ClassDef)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            rng.shuffle(node.keywords)
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        if isinstance(node, ast.Module | ast.ClassDef):
            moved = [part for part in body if isinstance(part, definitions)]
            rng.shuffle(moved)
            node.body = [part for part in body if not isinstance(part, definitions)] + moved
        else:  # neighbours that do not need each other change places
            place = 0
            while place + 1 < len(body):
                if _independent(body[place], body[place + 1]):
                    body[place], body[place + 1] = body[place + 1], body[place]
                    place += 1
                place += 1
    return ast.unparse(tree)


def _independent(one: ast.stmt, other: ast.stmt) -> bool:
    if not (isinstance(one, ast.Assign) and isinstance(other, ast.Assign)):
        return False
    stored = [
        {n.id for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        for s in (one, other)
    ]
    used = [{n.id for n in ast.walk(s) if isinstance(n, ast.Name)} for s in (one, other)]
    return not (stored[0] & used[1] or stored[1] & used[0])


def reformatted(text: str, kata: Kata, rng: random.Random) -> str:
    """Other layout, comments, docstrings, quotes and annotations, a print here and there."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            for argument in node.args.args:
                argument.annotation = ast.Name("object", ast.Load())
            node.body.insert(0, ast.parse(f"'''Return it ({rng.random()}).'''").body[0])
            if len(node.body) > 2:
                node.body.insert(-1, ast.parse(f"print({rng.random()})").body[0])
    lines = ast.unparse(tree).replace("'''", '"""').replace("(", "( ").replace(", ", " ,").split("\n")
    shown = io.StringIO()
    for line in lines:
        if rng.random() < 0.2:
            shown.write(f"{line[: len(line) - len(line.lstrip())]}# step {rng.random():.3f}\n")
        shown.write(
            f"{line}   # {rng.randrange(99)}\n" if line.strip() and '"""' not in line else f"{line}\n"
        )
    try:
        ast.parse(shown.getvalue())
    except SyntaxError:  # a text over several lines
        return ast.unparse(tree)
    return shown.getvalue()


def disguised(text: str, kata: Kata, rng: random.Random) -> str:
    return reformatted(reordered(renamed(text, kata, rng), kata, rng), kata, rng)


DISGUISES: dict[str, Callable[[str, Kata, random.Random], str]] = {
    "renamed": renamed,
    "reordered": reordered,
    "reformatted": reformatted,
    "all three": disguised,
}


def half_copied(text: str, into: str, base: str) -> str | None:
    """Put half of what `text` does otherwise than `base` into another answer; None when it is one function."""
    own, theirs, common = (_functions(ast.parse(each)) for each in (text, into, base))
    different = [
        name
        for name in own
        if name in theirs and ast.dump(own[name][1]) != ast.dump(common.get(name, own[name])[1])
    ]
    different += [name for name in own if name in theirs and name not in common]
    different = [name for name in dict.fromkeys(different) if not name.endswith("__init__")]
    if len(different) < 2:
        return None
    tree = ast.parse(into)
    places = _functions(tree)
    for name in different[: (len(different) + 1) // 2]:
        body, node = places[name]
        body[body.index(node)] = own[name][1]
    return ast.unparse(tree)


def _functions(tree: ast.Module) -> dict[str, tuple[list[ast.stmt], ast.stmt]]:
    found: dict[str, tuple[list[ast.stmt], ast.stmt]] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = (tree.body, node)
        elif isinstance(node, ast.ClassDef):
            found |= {
                f"{node.name}.{part.name}": (node.body, part)
                for part in node.body
                if isinstance(part, ast.FunctionDef)
            }
    return found


# --- classes ---


def independent(kata: Kata) -> dict[str, str]:
    """Return the text of each independent answer by its name."""
    found = {path.stem: path.read_text() for path in kata.alternatives}
    return found | {answer.name: answer.text for answer in answers.right(kata)}


def alone(kata: Kata) -> Kata:
    """Return the kata as if no alternative were catalogued."""

    class Alone(Kata):
        alternatives = ()

    return Alone(**{name: getattr(kata, name) for name in kata.__dataclass_fields__})


def works(texts: dict[str, str], kata: Kata) -> list[Candidate]:
    name = f"{kata.module}.py"
    return [Candidate(learner, Bundle(name, {name: text.encode()})) for learner, text in texts.items()]


def with_copies(kata: Kata, texts: dict[str, str], kind: str) -> tuple[dict[str, str], Pairs, Pairs]:
    """Return a class with a copy of each answer, the pairs that should be found, and those that may be."""
    rng = random.Random(f"{kata.slug} {kind}")
    every, true, allowed = dict(texts), set(), set()
    names = sorted(texts)
    assert kata.solution is not None
    base = kata.solution.read_text()
    for place, name in enumerate(names):
        copy: str | None
        if kind == "half copied":
            into = names[(place + 1) % len(names)]
            copy = half_copied(texts[name], texts[into], base)
            allowed.add(frozenset((into, f"copy of {name}")))  # the other half is theirs
            allowed.add(frozenset((f"copy of {into}", f"copy of {name}")))
        else:
            copy = DISGUISES[kind](texts[name], kata, rng)
        if copy is not None:
            every[f"copy of {name}"] = copy
            true.add(frozenset((name, f"copy of {name}")))
    return every, true, allowed


Reported = dict[frozenset[str], float]
"""Pairs with the larger of the two shares."""


def ours(texts: dict[str, str], kata: Kata, settings: Settings = DEFAULTS) -> Reported:
    found = compare(kata, works(texts, kata), settings=settings)
    return {
        frozenset((pair.left.learner, pair.right.learner)): max(pair.left.share, pair.right.share)
        for pair in found.pairs
    }


def copydetects(texts: dict[str, str], kata: Kata) -> Reported:
    """Do the same with copydetect at its defaults: the stub and the reference are boilerplate, a third is alike."""
    from copydetect import CodeFingerprint, compare_files

    def prints(text: str, without: list[int]) -> CodeFingerprint:
        return CodeFingerprint("answer.py", 25, 6, without, fp=io.StringIO(text))

    assert kata.solution is not None
    given = set().union(*(prints(path.read_text(), []).hashes for path in (kata.stub, kata.solution)))
    each = {name: prints(text, list(given)) for name, text in texts.items()}
    found: Reported = {}
    for one, other in combinations(each, 2):
        _, shares, _ = compare_files(each[one], each[other])
        if max(shares) >= 0.33:
            found[frozenset((one, other))] = max(shares)
    return found


# --- figures ---


def quality(katas: list[Kata], how: Callable[[dict[str, str], Kata], Reported], title: str) -> Figures:
    figures = Figures(
        title,
        "Each answer with its copy: how many such pairs there are, how many were found (recall), how many pairs of "
        "strangers were reported, and which part of what was reported is right (precision).",
        ("copies", "pairs", "found", "recall", "strangers reported", "precision"),
    )
    for kind in (*DISGUISES, "half copied"):
        there = hit = wrong = 0
        for kata in katas:
            every, true, allowed = with_copies(kata, independent(kata), kind)
            reported = set(how(every, alone(kata)))
            there, hit = there + len(true), hit + len(true & reported)
            wrong += len(reported - true - allowed)
        figures.rows.append(
            (kind, str(there), str(hit), f"{hit / there:.0%}", str(wrong), f"{hit / max(hit + wrong, 1):.0%}")
        )
    return figures


def strangers(katas: list[Kata]) -> Figures:
    figures = Figures(
        "What independent honest answers score",
        "Classes without a copy: of every pair the larger share, whatever its rarity; and how many pairs are reported.",
        ("kata", "answers", "pairs", "median", "95 %", "highest", "reported"),
    )
    for kata in katas:
        texts = independent(kata)
        count = len(texts) * (len(texts) - 1) // 2
        every = ours(texts, alone(kata), Settings(share=0, rarity=0.001))
        shares = sorted(every.values())
        shares = [0.0] * (count - len(shares)) + shares
        figures.rows.append(
            (
                kata.slug, str(len(texts)), str(count), f"{statistics.median(shares):.0%}",
                f"{shares[int(0.95 * count)]:.0%}", f"{shares[-1]:.0%}", str(len(ours(texts, alone(kata)))),
            )
        )  # fmt: skip
    return figures


def large(kata: Kata) -> Figures:
    """Time and memory of a class of 2,000, most of it put together from definitions of independent answers."""
    rng = random.Random("large")
    texts = independent(kata)
    functions = {name: _functions(ast.parse(text)) for name, text in texts.items()}
    every: dict[str, str] = {}
    for number in range(LARGE):
        tree = ast.parse(texts[rng.choice(sorted(texts))])
        for name, (body, node) in _functions(tree).items():
            other = functions[rng.choice(sorted(functions))].get(name)
            if other is not None:
                body[body.index(node)] = other[1]
        every[f"l{number:04}"] = f"{ast.unparse(tree)}\n\ndef helper_{number}(x):\n    return {_noise(rng)}\n"
    begun = time.perf_counter()
    found = compare(kata, works(every, kata))
    took = time.perf_counter() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figures = Figures(
        f"{LARGE:,} hand-ins of one kata",
        f"`{kata.slug}`, of {sum(map(len, every.values())) // LARGE:,} characters each; memory is the process's peak, "
        "with the class in it.",
        ("", "measured", "goal", "kept"),
    )
    figures.rows += [
        ("time", f"{took:.1f} s", "60 s", verdict(took, 60)),
        ("memory", f"{peak:.0f} MB", "1,000 MB", verdict(peak, 1000)),
        ("pairs reported", f"{len(found.pairs) + found.more:,}", "", ""),
    ]
    return figures


def _noise(rng: random.Random) -> str:
    calls = ["softmax", "tanh", "relu", "exp", "cumsum", "roll", "flip", "sum", "mean", "sort"]
    return "x" + "".join(f".{rng.choice(calls)}({rng.randrange(9)})" for _ in range(30))


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("katas", nargs="*", metavar="ID", help="only these, without the large class")
    arguments.add_argument("--write", action="store_true", help="renew docs/benchmarks.md")
    arguments.add_argument("--copydetect", action="store_true", help="the same pairs for copydetect, instead")
    arguments.add_argument("--large", action="store_true", help="the large class alone")
    asked = arguments.parse_args()
    catalogue = Catalogue.discover()
    katas = [kata for kata in catalogue.katas if (answers.HERE / kata.slug.replace("-", "_")).is_dir()]
    if asked.katas:
        katas = [kata for text in asked.katas for kata in catalogue.resolve(text)]
    if asked.copydetect:
        figures = [quality(katas, copydetects, "The same pairs, by copydetect 0.5.0")]
    elif asked.large:
        figures = [large(catalogue.resolve_one("masked-attention"))]
    else:
        figures = (
            [] if asked.katas else [large(catalogue.resolve_one("masked-attention"))]
        )  # first: memory's peak
        since = [kata for kata in katas if kata.slug not in CHOSEN_ON]
        before = [kata for kata in katas if kata.slug in CHOSEN_ON]
        figures += [quality(some, ours, title) for some, title in ((before, IN_SAMPLE), (since, OUT)) if some]
        figures.append(strangers(katas))
    out = console()
    for one in figures:
        one.show(out)
    if asked.write:
        rewrite(PAGE, "similar", "\n\n".join(one.markdown() for one in figures))


if __name__ == "__main__":
    main()
