"""The warm process: one that stands by with torch and the engine imported, and the ways to it and out of it."""

from __future__ import annotations
