"""One exercise, graded by Kata and by others, each in an environment of its own."""

from __future__ import annotations

from peers.runners import EVERYONE, PEERS, Outcome, Runner

__all__ = ["EVERYONE", "PEERS", "Outcome", "Runner"]
