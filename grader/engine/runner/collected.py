"""The collected checks of one kata: what their authors said of each, and which of them are meant."""

from __future__ import annotations

import types
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import pytest

from grader.catalogue import Kata
from grader.engine.checks.decorators import CheckInfo
from grader.engine.checks.stand_ins import stand_ins_of
from grader.engine.host.limits import Terms
from grader.engine.mistakes.mistakes import Mistake, load_trusted, mistakes
from grader.engine.mistakes.recognise import Fingerprints
from grader.engine.runner.kata_terms import terms_for
from grader.engine.runner.outcome import Outcome
from grader.engine.runner.plugin import KataPlugin, info_of, threshold_of
from grader.errors import PackError
from grader.report.report import CheckReport


@dataclass(frozen=True, eq=False)
class Collected:
    """Checks of a kata, collected once."""

    kata: Kata
    plugin: KataPlugin
    items: tuple[pytest.Item, ...]
    complete: bool = True
    """Whether these are all that the kata has for such a run."""
    rest: tuple[pytest.Item, ...] = ()
    """Those that `-k` left out."""
    _mistakes: dict[str, Mistake] = field(default_factory=dict)
    """The kata's catalogue by name, once it was asked for; every part of these checks has the same."""
    controls: dict[tuple[str, int], Outcome] = field(default_factory=dict)
    """How the reference ended, by check and seed, where a submission had failed."""

    def __len__(self) -> int:
        return len(self.items)

    @cached_property
    def terms(self) -> Terms:
        """What the kata grants a submission and asks of it."""
        return terms_for(self.kata)

    @cached_property
    def fingerprints(self) -> Fingerprints:
        """What the kata's catalogued mistakes leave."""
        return Fingerprints.load(self.kata.fingerprints)

    def reference(self) -> types.ModuleType:
        """Return the reference, imported into this process.

        Raises:
            PackError: there is none.
        """
        if self.kata.solution is None:
            raise PackError(
                f"{self.kata.slug}: there is no reference in this install, and a check asks for one."
            )
        return load_trusted(self.kata.solution, self.terms.given)

    def catalogued(self, name: str) -> Mistake | None:
        """Return a catalogued mistake; None: it is not known."""
        # Read when a mistake is needed: a learner's install has none, and most runs name none.
        if not self._mistakes and self.kata.solution is not None:
            self._mistakes.update({one.name: one for one in mistakes(self.kata)})
        return self._mistakes.get(name)

    def stand_ins(self, item: pytest.Item, names: Collection[str]) -> dict[str, Callable[..., Any]]:
        """Return the author's functions of these names for a check: those of its file, or else the reference's.

        Raises:
            PackError: there is none.
        """
        own = stand_ins_of(getattr(item, "module", None))
        found = {name: own.get(name) for name in names}
        for name in [name for name, function in found.items() if function is None]:
            # The reference only where the file has none: it takes time to import.
            found[name] = getattr(self.reference(), name, None)
            if found[name] is None:
                raise PackError(f"{item.path}: {item.name} names the stand-in {name}, and nobody defines it.")
        return {name: function for name, function in found.items() if function is not None}

    @cached_property
    def _infos(self) -> dict[pytest.Item, CheckInfo]:
        return {item: _with_points(item, self.kata) for item in (*self.items, *self.rest)}

    def info(self, item: pytest.Item) -> CheckInfo:
        """Return what the author said of a check."""
        return self._infos[item]

    def infos(self) -> list[CheckInfo]:
        """Return what the authors said of each check."""
        return [self.info(item) for item in self.items]

    def max_score(self, *, timed: bool) -> float:
        """Return the points of these checks: of those for being right, or of those for being fast."""
        return sum(info.points for info in self.infos() if (info.threshold is not None) is timed)

    def empty_report(self, item: pytest.Item) -> CheckReport:
        """Return the report of a check of which nothing is known yet: no points, and nothing against it."""
        info = self.info(item)
        return CheckReport(
            name=info.title,
            id=item.name,
            aspect=info.aspect,
            # By the file, not by a mark: learners do not have that file.
            hidden=item.path.name == "hidden_checks.py",
            status="pass",
            points=0.0,
            max_points=info.points,
        )

    # Which of them ------------------------------------------------------------------------------------------------

    def trained(self) -> set[str]:
        """Return the checks that look at a trained model."""
        return {item.name for item in self.items if self.info(item).trained}

    def visible_names(self) -> set[str]:
        """Return the checks that learners have."""
        return {item.name for item in self.items if item.path == self.kata.checks}

    def speed_names(self) -> set[str]:
        """Return the checks of speed and memory."""
        return {item.name for item in self.items if self.info(item).threshold is not None}

    def select(self, names: Collection[str]) -> Self:
        """Return these checks alone."""
        return replace(self, items=tuple(item for item in self.items if item.name in names), complete=False)

    def exclude(self, names: Collection[str]) -> Self:
        """Return the other checks."""
        return self.select({item.name for item in self.items} - set(names))


def _with_points(item: pytest.Item, kata: Kata) -> CheckInfo:
    """Return what the author said of a check; the points of a speed check are those of its threshold."""
    info, threshold = info_of(item), threshold_of(item, kata)
    return info if threshold is None else replace(info, points=threshold.points)
