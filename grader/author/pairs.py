"""Two catalogued mistakes in one answer, as a learner makes them: what each of them changes, in one text."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import combinations, product

from grader.engine.mistakes.mistakes import Mistake
from grader.engine.mistakes.recognise import Fingerprints, Mark, MutantSignatures, equal_fingerprints

Edit = tuple[int, int, tuple[str, ...]]
"""Which lines of the base, from and up to, become which."""


_WORDS = re.compile(r"\w+|\s+|.")
_UNBOUND = ("NameError", "UnboundLocalError")
"""What is raised when a line of one mistake reads what the other no longer has: nobody hands that in."""


FIRST = 4
"""So many checks that two mistakes fail are looked at, the first that run."""
HandIn = tuple[Mistake, Collection[str]]
"""An answer, and the checks to hand it in to."""


def candidates(
    mistakes: Collection[Mistake], prints: Fingerprints, needs: Mapping[str, Collection[str]]
) -> list[HandIn]:
    """Return pairs of mistakes in one function, with the checks that may not name either of them.

    `needs` has all checks, in order, and which others they need.
    """
    found: list[HandIn] = []
    for first, other in combinations(mistakes, 2):
        # Of two functions, checks that call one alone name its mistake; within one the second changes what the
        # first returns.
        text = paired(first, other) if first.changed & other.changed else None
        if text is not None:
            wrong = prints.mutants[first.name].checks.keys() | prints.mutants[other.name].checks.keys()
            run = [check for check in needs if check in wrong and wrong.isdisjoint(needs[check])][:FIRST]
            found.append((replace(first, name=f"{first.name}+{other.name}", text=text), run))
    return found


def unlike_either(pair: Mistake, marks: Mapping[str, list[Mark]], prints: Fingerprints) -> bool:
    """Return whether a pair leaves something that neither of its mistakes leaves alone."""
    parts = [prints.mutants[name].checks for name in pair.name.split("+")]
    unbound = any(mark.get("raised") in _UNBOUND for left in marks.values() for mark in left)
    return not unbound and any(
        not any(equal_fingerprints(part.get(check), left) for part in parts) for check, left in marks.items()
    )


def known(pairs: Mapping[str, MutantSignatures], mistakes: Collection[Mistake]) -> list[HandIn]:
    """Return the pairs of a catalogue, with the checks that they fail; those that are none any more are left out."""
    by_name = {mistake.name: mistake for mistake in mistakes}
    found: list[HandIn] = []
    for name, kept in pairs.items():
        one, other = (by_name.get(part) for part in name.split("+"))
        text = paired(one, other) if one is not None and other is not None else None
        if one is not None and text is not None:
            found.append((replace(one, name=name, text=text), kept.checks))
    return found


def paired(one: Mistake, other: Mistake) -> str | None:
    """Return the base with both mistakes in it; None where both change the same lines, or differ from two answers."""
    if one.base != other.base:
        return None
    base = one.base.splitlines()
    mine, theirs = _edits(base, one.text.splitlines()), _edits(base, other.text.splitlines())
    edits = {*mine, *theirs}
    for a, b in product(mine, theirs):
        if _meet(a, b):
            line = _line_of_both(base, a, b)
            if line is None:
                return None
            edits = (edits - {a, b}) | {(*a[:2], (line,))}
    text = "\n".join(_applied(base, edits)) + "\n"
    try:
        ast.parse(text)
    except SyntaxError:
        return None
    return text


def _line_of_both(base: list[str], one: Edit, other: Edit) -> str | None:
    """Return a line that both change, with both changes; None where nobody can say what both together are."""
    if one[:2] != other[:2] or not one[1] - one[0] == len(one[2]) == len(other[2]) == 1:
        return None
    words, mine, theirs = (_WORDS.findall(line) for line in (base[one[0]], *one[2], *other[2]))
    changes, others = _edits(words, mine), _edits(words, theirs)
    if any(_meet(a, b) for a, b in product(changes, others)):
        return None
    return "".join(_applied(words, {*changes, *others}))


def _applied(base: list[str], edits: Collection[Edit]) -> list[str]:
    changed = list(base)
    for first, last, new in sorted(edits, reverse=True):
        changed[first:last] = new
    return changed


def _edits(base: list[str], text: list[str]) -> list[Edit]:
    codes = SequenceMatcher(None, base, text, autojunk=False).get_opcodes()
    return [(first, last, tuple(text[a:b])) for kind, first, last, a, b in codes if kind != "equal"]


def _meet(one: Edit, other: Edit) -> bool:
    """Return whether two edits change the same lines, unless they change them alike: an import that both need."""
    return one != other and one[0] <= other[1] and other[0] <= one[1]
