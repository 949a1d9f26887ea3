"""Packs, units and katas: read from data files and checked; what an ID names.

May import the modules at the top; never the engine, and no torch.
"""

from __future__ import annotations

from grader.catalogue.catalogue import Catalogue
from grader.catalogue.katas import ARCHIVES, SUBMISSION_SUFFIXES, Kata, Pack, Unit
from grader.catalogue.load import load_pack
from grader.catalogue.markdown import TIERS, read_hints

__all__ = [
    "ARCHIVES",
    "SUBMISSION_SUFFIXES",
    "TIERS",
    "Catalogue",
    "Kata",
    "Pack",
    "Unit",
    "load_pack",
    "read_hints",
]
