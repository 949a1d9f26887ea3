"""When is a ratio surely below its threshold? A sequential sign test; `benchmarks/odds.py` says what it errs, exactly.

Each round says one thing: the submission's ratio to the baseline is over the threshold, or it is not. How far over
never matters, so one slow round (a neighbour woke up) counts once. The walk ends when one side leads by enough
(Wald, "Sequential Tests of Statistical Hypotheses", 1945, with equal steps), or at the cap, inconclusive.
Rounds that are all far over end it sooner: no neighbour triples the time of every call.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FAR = 3.0
"""So many times the threshold is far over it."""

Verdict = Literal["pass", "fail", "inconclusive"]


@dataclass(frozen=True)
class StoppingRule:
    """When to stop: leads in rounds, and how many rounds at most."""

    pass_lead: int = 4
    fail_lead: int = 5
    cap: int = 41
    far_lead: int = 3

    def verdict(self, under: int, over: int, far: int = 0) -> Verdict | None:
        """Return the verdict after so many rounds under and over the threshold; None while it is open.

        `far` of those that are over are so by `FAR`.
        """
        if not under and far >= self.far_lead:
            return "fail"
        if under - over >= self.pass_lead:
            return "pass"
        if over - under >= self.fail_lead:
            return "fail"
        return "inconclusive" if under + over >= self.cap else None
