"""How long a call is waited for, by what of the same submission has not answered before."""

from __future__ import annotations

import ast
import math
from collections import defaultdict
from collections.abc import Collection, Hashable
from contextlib import suppress
from functools import cached_property

from grader.engine.host.errors import StillHangs, WorkerTimeout
from grader.engine.host.source import (
    MAX_CODE,
    UNPARSED,
    Definition,
    Source,
    base_name,
    body_of,
    flat,
    globals_of,
    own_nodes,
    reached,
)
from grader.machine import pace

AGAIN_S = 1.0
"""What a call is given that leads to a loop which was seen already: what was only slow goes on, and the same loop is
not waited for as long again."""


class Patience:
    """The loops of one submission, as far as they were seen, and how long its calls are waited for because of them."""

    def __init__(self, source: Source, required: Collection[str]) -> None:
        self.hurried = False
        """Whether a person waits for the report."""
        self._source = source
        self._required = required
        self._loops = 0
        """How many were waited for."""
        self._hung: dict[str, None] = {}
        """The functions and classes in which they are, and by which they were called."""
        self._given_up: set[Hashable] = set()
        """Calls that did not answer where that was foreseen: nobody waits for them once more."""

    def seconds(self, name: str, involved: Collection[str], limit_s: float) -> float:
        """Return how long a call is waited for; without end where the check's own limit is all.

        Args:
            name: what the check calls.
            involved: that, and what its arguments were made by.
            limit_s: what the check may take.

        Raises:
            StillHangs: nobody waits for it.
        """
        short_s = AGAIN_S * pace()
        if self._kind(name, involved) in self._given_up:
            raise StillHangs(name, short_s, self._first)
        if not self._hung:
            return math.inf
        # Of what has no name nobody knows where it leads.
        if not involved or not self._hung.keys().isdisjoint(reached(self._reads, involved)):
            return short_s
        # Another loop, or only slow. A person who waits for the report has one to mend already.
        return max(limit_s / 2**self._loops, short_s) if self.hurried else math.inf

    def note(self, name: str, involved: Collection[str], error: WorkerTimeout, waited_s: float) -> None:
        """Remember a call that did not answer; `waited_s` is without end where it had all the check's time.

        Raises:
            StillHangs: it had less.
        """
        before = self._first
        self._loops += waited_s > AGAIN_S * pace()
        self._hung |= dict.fromkeys(filter(None, (self._owner(error), name)))
        if waited_s < math.inf:
            self._given_up.add(self._kind(name, involved))
            raise StillHangs(name, waited_s, before) from None

    def _kind(self, name: str, involved: Collection[str]) -> Hashable:
        # What is given along with the submission may be asked about other parts of it.
        return name if name in self._required else frozenset(involved)

    @property
    def _first(self) -> str:
        return next(iter(self._hung), "")

    @cached_property
    def _body(self) -> list[ast.stmt]:
        """The statements of the file; none where it is too long to be read for this."""
        with suppress(*UNPARSED):
            return list(flat(body_of(self._source))) if len(self._source.data) <= MAX_CODE else []
        return []

    @cached_property
    def _reads(self) -> dict[str, set[str]]:
        """What each name of the module leads to."""
        reads: dict[str, set[str]] = defaultdict(set)
        for node in self._body:
            parts = list(own_nodes(node))
            if isinstance(node, Definition):
                made = {node.name}
            else:
                made = {
                    base_name(part) for part in parts if isinstance(getattr(part, "ctx", None), ast.Store)
                }
            for name in made:
                reads[name].update(globals_of(node, parts))
        return reads

    def _owner(self, error: WorkerTimeout) -> str:
        """Return the function or class of the file in which a call was stopped; nothing where that is not known."""
        source, at = self._source, error.frame
        if at is None or source.is_notebook or at.file != str(source.path.relative_to(source.root)):
            return ""
        definitions = (node for node in self._body if isinstance(node, Definition))
        around = (node.name for node in definitions if node.lineno <= at.line <= (node.end_lineno or 0))
        return next(around, "")
