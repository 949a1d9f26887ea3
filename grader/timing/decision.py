"""When is a ratio surely below its threshold? A sequential sign test; `benchmarks/odds.py` says what it errs, exactly.

Each round says one thing: the submission's ratio to the baseline is over the threshold, or it is not. How far over
never matters, so one slow round (a neighbour woke up) counts once. The walk ends when one side leads by enough
(Wald, "Sequential Tests of Statistical Hypotheses", 1945, with equal steps), or at the cap, inconclusive.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["pass", "fail", "inconclusive"]


@dataclass(frozen=True)
class StoppingRule:
    """When to stop: leads in rounds, and how many rounds at most."""

    pass_lead: int = 4
    fail_lead: int = 5
    cap: int = 41

    def verdict(self, under: int, over: int) -> Verdict | None:
        """Return the verdict after so many rounds under and over the threshold; None while it is open."""
        if under - over >= self.pass_lead:
            return "pass"
        if over - under >= self.fail_lead:
            return "fail"
        return "inconclusive" if under + over >= self.cap else None
